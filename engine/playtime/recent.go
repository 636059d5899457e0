package playtime

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// Bounds of what a Recent adds up.
const (
	usualWeeks    = 4
	mostWeeks     = 12
	mostGames     = 5000 // that are looked at: one read must be short
	mostChampions = 30
)

// Recent adds games up that come newest first.
type Recent struct {
	zone      *time.Location
	most      int // weeks
	starts    []time.Time
	champions map[string]*engine.PlayShare
	out       engine.Play
}

// NewRecent begins the sums of the last weeks in which the account played; 0 = 4 weeks.
func NewRecent(account string, zone *time.Location, weeks int) *Recent {
	b := &Recent{zone: zone, most: min(max(cmp.Or(weeks, usualWeeks), 1), mostWeeks),
		champions: map[string]*engine.PlayShare{}}
	b.out.Account, b.out.Zone = account, zone.String()
	return b
}

// Add counts a game of the account. Where it tells no time it has no week. more is false
// when no further one is looked at.
func (b *Recent) Add(g league.Game) (more bool) {
	if b.out.Cut = b.out.Games == mostGames; b.out.Cut {
		return false
	}
	if !g.Here {
		return true
	}
	b.out.Games++
	length := min(max(g.Duration, 0), LongestGame)
	c := b.champions[g.Champion]
	if c == nil {
		c = &engine.PlayShare{Name: g.Champion}
		b.champions[g.Champion] = c
	}
	c.Games++
	c.Minutes += length.Minutes()
	count(g, &c.Wins, &c.Remakes)
	if g.Played.IsZero() {
		return true
	}
	if len(b.starts) == 0 {
		monday := MondayOf(g.Played.Add(length), b.zone)
		for i := range b.most {
			start := time.Date(monday.Year(), monday.Month(), monday.Day()-7*i, 0, 0, 0, 0, b.zone)
			b.starts = append(b.starts, start)
			b.out.Weeks = append(b.out.Weeks, engine.PlayWeek{Week: start.Format(time.DateOnly)})
		}
	}
	if i := b.week(g.Played); i >= 0 {
		b.out.Weeks[i].Games++
		count(g, &b.out.Weeks[i].Wins, &b.out.Weeks[i].Remakes)
	}
	for _, s := range split(g.Played, length, b.zone) {
		if i := b.week(s.at); i >= 0 {
			b.out.Weeks[i].Minutes[s.day][s.hour] += s.length.Minutes()
		}
	}
	return true
}

// week is the place of the week that an instant lies in; -1 = before all of them.
func (b *Recent) week(at time.Time) int {
	return slices.IndexFunc(b.starts, func(start time.Time) bool { return !at.Before(start) })
}

// Done gives the sums.
func (b *Recent) Done() engine.Play {
	for _, c := range b.champions {
		b.out.Champions = append(b.out.Champions, *c)
	}
	slices.SortStableFunc(b.out.Champions, func(a, c engine.PlayShare) int {
		return cmp.Or(cmp.Compare(c.Games, a.Games), cmp.Compare(c.Minutes, a.Minutes), strings.Compare(a.Name, c.Name))
	})
	if more := len(b.out.Champions) - mostChampions; more > 0 {
		b.out.More, b.out.Champions = more, b.out.Champions[:mostChampions]
	}
	return b.out
}
