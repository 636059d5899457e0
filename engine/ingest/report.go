package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// report is the phase of a sync behind its matches: the play-time report is
// built from what is stored, in the transaction that lets the sync go on.
func (in *Ingest) report(_ context.Context, _ engine.Run, p pass) engine.Outcome {
	return engine.Wait(league.GroupTimelines, func(tx engine.Tx) error {
		return in.change(tx, p.args, func(a *league.Account, run *league.Run) error {
			run.Phase = string(engine.PhaseTimelines)
			missing, err := in.missingMatches(tx, *run)
			if err != nil {
				return err
			}
			return in.saveReport(tx, a.ID, missing)
		})
	})
}

// saveReport builds the report of an account from what is stored, and says how
// many matches are missing.
func (in *Ingest) saveReport(tx engine.Tx, account string, missing lack) error {
	b := newReport(account, in.opt.Zone, now())
	for g, err := range in.store.Games(tx, account) {
		if err != nil {
			return fmt.Errorf("read the games of account %s: %w", account, err)
		}
		b.add(g)
	}
	b.out.Missing, b.out.Cancelled = missing.matches, missing.cancelled
	if err := in.store.SaveReport(tx, b.out); err != nil {
		return fmt.Errorf("save the report of account %s: %w", account, err)
	}
	return nil
}

// lack is how many matches a report misses, and how many of them were cancelled.
type lack struct{ matches, cancelled int }

// missingMatches is what a run wanted and has not got.
func (in *Ingest) missingMatches(tx engine.Tx, run league.Run) (lack, error) {
	g, err := in.store.Group(tx, engine.GroupID{Parent: engine.JobID(run.Job), Group: league.GroupMatches})
	if err != nil {
		return lack{}, fmt.Errorf("read the matches of run %s: %w", run.ID, err)
	}
	return lack{g.Dead + g.Cancelled + run.Lost - run.TimelinesLost + run.Left, g.Cancelled + run.Left}, nil
}

// rebuild builds anew what was built without a match that has come late: the
// account's report, and that of the week the match was played in. late is the run
// that has missed it, if one is known.
func (in *Ingest) rebuild(tx engine.Tx, account string, late *league.Run, played time.Time) error {
	a, err := in.store.Account(tx, account)
	if err != nil {
		return fmt.Errorf("load account %s: %w", account, err)
	}
	had, err := in.store.PlayReport(tx, account)
	if err != nil {
		return fmt.Errorf("load the report of account %s: %w", account, err)
	}
	if had != nil {
		missing, err := in.missingNow(tx, a, late, lack{had.Missing, had.Cancelled})
		if err != nil {
			return err
		}
		if err := in.saveReport(tx, account, missing); err != nil {
			return err
		}
	}
	if !a.Tracked || played.IsZero() {
		return nil
	}
	return in.rebuildWeek(tx, mondayOf(played, in.opt.Zone).Format(time.DateOnly))
}

// missingNow is what the report of an account misses: by the last run that has built
// one. That is the last one of all, unless that has not come so far.
func (in *Ingest) missingNow(tx engine.Tx, a league.Account, late *league.Run, had lack) (lack, error) {
	last, err := in.store.Run(tx, a.Run)
	switch phase := engine.Phase(last.Phase); {
	case err != nil && !errors.Is(err, engine.ErrNotFound):
		return lack{}, fmt.Errorf("load run %s: %w", a.Run, err)
	case phase == engine.PhaseTimelines || phase == engine.PhaseDone:
		return in.missingMatches(tx, last)
	case late != nil:
		return in.missingMatches(tx, *late)
	}
	return had, nil
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
