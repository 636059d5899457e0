package playtime

import (
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

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
