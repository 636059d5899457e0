// Package playtime adds up when an account played: by hour of the week, by week, by
// champion. It knows games and zones, and neither stores nor calls.
//
// Each sum is begun by a New function, gets one game after the other and is Done: [Report] of all
// games, [Recent] of the last weeks, [Week] of one week of several accounts, [Cells] of the matches in
// their order. None of them may be used by two goroutines. Games go by the clock of a zone and in real
// time, see split.
package playtime

import (
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
