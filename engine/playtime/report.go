// Package playtime adds up when an account played: by hour of the week, by week, by
// champion. It knows games and zones, and neither stores nor calls.
//
// Each sum is begun by a New function, gets one game after the other and is Done: [Report] of all
// games, [Recent] of the last weeks, [Week] of one week of several accounts, [Cells] of the matches in
// their order. None of them may be used by two goroutines. Games go by the clock of a zone and in real
// time, see split.
package playtime

import (
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// Report builds a play-time report. Games come oldest first, so that the sums
// are the same to the last bit whatever order they were fetched in (S3-13).
type Report struct {
	zone *time.Location
	out  engine.PlayReport
}

// NewReport begins the report of an account.
func NewReport(account string, zone *time.Location, built time.Time) *Report {
	return &Report{zone: zone, out: engine.PlayReport{
		Account: account, Zone: zone.String(), Built: built, ByQueue: map[int]int{},
	}}
}

// Add counts one stored game. A match without the player is left out; one that
// tells no time or was never played has nothing to count.
func (b *Report) Add(g league.Game) {
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
	day, hour := hourOf(g.Played, b.zone)
	b.out.Games[day][hour]++
	for _, s := range split(g.Played, g.Duration, b.zone) {
		b.out.Minutes[s.day][s.hour] += s.length.Minutes()
	}
}

// Done gives the report. The caller says what is missing in it.
func (b *Report) Done() engine.PlayReport { return b.out }

// MondayOf is the start of the week of an instant, in a zone.
func MondayOf(t time.Time, zone *time.Location) time.Time {
	local := t.In(zone)
	back := (int(local.Weekday()) + 6) % 7
	return time.Date(local.Year(), local.Month(), local.Day()-back, 0, 0, 0, 0, zone)
}

// slice is the part of a game that lies in one hour of one weekday. One of 30 minutes that begins on Friday
// at 12:45 has two: 15 minutes of hour 12 of day 4, and 15 of hour 13.
type slice struct {
	at        time.Time // when it begins
	day, hour int       // 0 = Monday; 0 to 23
	length    time.Duration
}

// LongestGame bounds what a payload can claim: no game lasts a day, and a hostile
// duration must not fill the report.
const LongestGame = 24 * time.Hour

// split cuts a game at the edges of local hours. It goes on in real time, so that
// an hour that a change of clocks repeats counts twice into its cell, a skipped
// one not at all, and the parts always add up to the whole.
func split(start time.Time, length time.Duration, zone *time.Location) []slice {
	var parts []slice
	length = min(max(length, 0), LongestGame)
	for at := start; length > 0; {
		step := min(toEdge(at, zone), length)
		day, hour := hourOf(at, zone)
		parts = append(parts, slice{at, day, hour, step})
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

// hourOf is the cell of an instant: the weekday from Monday on and the hour, as the zone's clock shows
// them.
func hourOf(t time.Time, zone *time.Location) (day, hour int) {
	local := t.In(zone)
	return (int(local.Weekday()) + 6) % 7, local.Hour()
}

// Week adds accounts up. Each comes with its games in order, so that sums
// are the same to the last bit whatever order they were fetched in.
type Week struct {
	zone *time.Location
	out  engine.WeeklyReport
}

// NewWeek begins the report of a week, from its Monday to the Monday after.
func NewWeek(week string, from, to time.Time, zone *time.Location, built time.Time) *Week {
	return &Week{zone: zone, out: engine.WeeklyReport{Week: week, From: from.UTC(), To: to.UTC(), Zone: zone.String(),
		Built: built}}
}

// has reports whether an instant lies in the week.
func (b *Week) has(at time.Time) bool { return !at.Before(b.out.From) && at.Before(b.out.To) }

// Add counts an account, whose games come in order.
func (b *Week) Add(a engine.WeeklyAccount, games []league.Game) {
	a.ByQueue = map[int]int{}
	for _, g := range games {
		if g.Here && !g.Played.IsZero() {
			b.game(&a, g)
		}
	}
	if a.Missing == "" {
		b.out.Complete++
	}
	b.out.Played += a.Games
	b.out.Accounts = append(b.out.Accounts, a)
}

// game counts the minutes that lie in the week, and the game if it began in it: one that is played over
// Sunday's midnight is a game of the week before, with minutes in both.
func (b *Week) game(a *engine.WeeklyAccount, g league.Game) {
	for _, s := range split(g.Played, g.Duration, b.zone) {
		if b.has(s.at) {
			b.out.Minutes[s.day][s.hour] += s.length.Minutes()
			a.Minutes += s.length.Minutes()
		}
	}
	if !b.has(g.Played) {
		return
	}
	day, hour := hourOf(g.Played, b.zone)
	b.out.Games[day][hour]++
	a.Games++
	a.ByQueue[g.QueueID]++
	count(g, &a.Wins, &a.Remakes)
}

// count counts a game that was won, or that nobody has won.
func count(g league.Game, wins, remakes *int) {
	switch {
	case g.Remake:
		*remakes++
	case g.Won:
		*wins++
	}
}

// Done gives the report, the accounts by name.
func (b *Week) Done() engine.WeeklyReport {
	slices.SortStableFunc(b.out.Accounts, func(a, c engine.WeeklyAccount) int { return strings.Compare(a.RiotID, c.RiotID) })
	return b.out
}
