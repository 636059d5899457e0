package ingest

import (
	"context"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// report is the phase of a sync behind its matches: the play-time report is
// built from what is stored, in the transaction that lets the sync go on.
func (in *Ingest) report(_ context.Context, r engine.Run, p pass) engine.Outcome {
	matches := r.Group(league.GroupMatches)
	return engine.Wait(league.GroupTimelines, func(tx engine.Tx) error {
		if err := in.saveReport(tx, p.args, matches); err != nil {
			return err
		}
		return in.change(tx, p.args, func(_ *league.Account, run *league.Run) error {
			run.Phase = string(engine.PhaseTimelines)
			return nil
		})
	})
}

func (in *Ingest) saveReport(tx engine.Tx, args syncArgs, matches engine.GroupStat) error {
	run, err := in.store.Run(tx, args.Run)
	if err != nil {
		return fmt.Errorf("load run %s: %w", args.Run, err)
	}
	b := newReport(args.Account, in.opt.Zone, now())
	for g, err := range in.store.Games(tx, args.Account) {
		if err != nil {
			return fmt.Errorf("read the games of account %s: %w", args.Account, err)
		}
		b.add(g)
	}
	b.out.Missing = matches.Dead + matches.Cancelled + run.Lost
	if err := in.store.SaveReport(tx, b.out); err != nil {
		return fmt.Errorf("save the report of account %s: %w", args.Account, err)
	}
	return nil
}

// reporter builds a play-time report. Games come oldest first, so that the sums
// are the same to the last bit whatever order they were fetched in (S3-13).
type reporter struct {
	zone *time.Location
	out  engine.PlayReport
}

func newReport(account string, zone *time.Location, built time.Time) *reporter {
	return &reporter{zone: zone, out: engine.PlayReport{
		Account: account, Zone: zone.String(), Built: built, ByQueue: map[int]int{},
	}}
}

// add counts one stored game. A match without the player is left out; one that
// tells no time or was never played has nothing to count.
func (b *reporter) add(g league.Game) {
	if !g.Here {
		b.out.LeftOut++
		return
	}
	b.out.Matches++
	b.out.ByQueue[g.QueueID]++
	if g.Played.IsZero() {
		return
	}
	if b.out.First.IsZero() || g.Played.Before(b.out.First) {
		b.out.First = g.Played
	}
	if g.Played.After(b.out.Last) {
		b.out.Last = g.Played
	}
	day, hour := cell(g.Played, b.zone)
	b.out.Games[day][hour]++
	for _, s := range split(g.Played, g.Duration, b.zone) {
		b.out.Minutes[s.day][s.hour] += s.length.Minutes()
	}
}

// slice is the part of a game that lies in one hour of one weekday.
type slice struct {
	day, hour int // 0 = Monday; 0 to 23
	length    time.Duration
}

// longestGame bounds what a payload can claim: no game lasts a day, and a hostile
// duration must not fill the report.
const longestGame = 24 * time.Hour

// split cuts a game at the edges of local hours. It goes on in real time, so that
// an hour that a change of clocks repeats counts twice into its cell, a skipped
// one not at all, and the parts always add up to the whole.
func split(start time.Time, length time.Duration, zone *time.Location) []slice {
	var parts []slice
	length = min(max(length, 0), longestGame)
	for at := start; length > 0; {
		step := min(toEdge(at, zone), length)
		day, hour := cell(at, zone)
		parts = append(parts, slice{day, hour, step})
		at, length = at.Add(step), length-step
	}
	return parts
}

// toEdge is how long the local hour of t still lasts, in real time. A change of
// clocks by less than an hour (Lord Howe: 30 minutes) ends it early.
func toEdge(t time.Time, zone *time.Location) time.Duration {
	local := t.In(zone)
	left := time.Hour - time.Duration(local.Minute())*time.Minute -
		time.Duration(local.Second())*time.Second - time.Duration(local.Nanosecond())
	if _, end := local.ZoneBounds(); !end.IsZero() && end.Sub(t) < left {
		return end.Sub(t)
	}
	return left
}

func cell(t time.Time, zone *time.Location) (day, hour int) {
	local := t.In(zone)
	return (int(local.Weekday()) + 6) % 7, local.Hour()
}
