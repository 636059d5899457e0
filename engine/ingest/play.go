package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// Bounds of an answer to engine.PlayQuery.
const (
	playWeeks     = 4
	mostPlayWeeks = 12
	playGames     = 5000 // of an account that are looked at: one read must be short
	mostChampions = 30
)

// play reads an account's newest games and adds them up.
func (s Stored) play(ctx context.Context, q engine.PlayQuery) (engine.Play, error) {
	zone, err := time.LoadLocation(q.Zone)
	if err != nil {
		return engine.Play{}, engine.Problemf(engine.ErrInvalid, "write a name such as Europe/Berlin or UTC", "%q is no time zone", q.Zone)
	}
	weeks := min(max(cmp.Or(q.Weeks, playWeeks), 1), mostPlayWeeks)
	var b *playBuilder
	err = s.Store.Read(ctx, func(tx engine.Tx) error {
		b = &playBuilder{zone: zone, most: weeks, champions: map[string]*engine.PlayShare{}}
		for g, err := range s.Store.GamesSince(tx, q.Account, time.Time{}) {
			if err != nil {
				return err
			}
			if b.out.Cut = b.out.Games == playGames; b.out.Cut {
				return nil
			}
			b.add(g)
		}
		return nil
	})
	if errors.Is(err, engine.ErrNotFound) {
		return engine.Play{}, engine.Problemf(engine.ErrNotFound, "list them with `farsight accounts`", "there is no account %s", q.Account)
	}
	if err != nil {
		return engine.Play{}, fmt.Errorf("read the games of account %s: %w", q.Account, err)
	}
	out := b.done()
	out.Account, out.Zone = q.Account, zone.String()
	return out, nil
}

// playBuilder adds games up that come newest first.
type playBuilder struct {
	zone      *time.Location
	most      int // weeks
	starts    []time.Time
	champions map[string]*engine.PlayShare
	out       engine.Play
}

// add counts a game of the account. Where it tells no time it has no week.
func (b *playBuilder) add(g league.Game) {
	if !g.Here {
		return
	}
	b.out.Games++
	length := min(max(g.Duration, 0), longestGame)
	b.champion(g, length)
	if g.Played.IsZero() {
		return
	}
	if len(b.starts) == 0 {
		b.open(g.Played.Add(length))
	}
	if i := b.week(g.Played); i >= 0 {
		b.out.Weeks[i].Games++
		if g.Won {
			b.out.Weeks[i].Wins++
		}
	}
	at := g.Played
	for _, s := range split(g.Played, length, b.zone) {
		if i := b.week(at); i >= 0 {
			b.out.Weeks[i].Minutes[s.day][s.hour] += s.length.Minutes()
		}
		at = at.Add(s.length)
	}
}

func (b *playBuilder) champion(g league.Game, length time.Duration) {
	c := b.champions[g.Champion]
	if c == nil {
		c = &engine.PlayShare{Name: g.Champion}
		b.champions[g.Champion] = c
	}
	c.Games++
	c.Minutes += length.Minutes()
	if g.Won {
		c.Wins++
	}
}

// open makes the weeks, from the one in which the newest game ended backwards.
func (b *playBuilder) open(end time.Time) {
	monday := mondayOf(end, b.zone)
	for i := range b.most {
		start := time.Date(monday.Year(), monday.Month(), monday.Day()-7*i, 0, 0, 0, 0, b.zone)
		b.starts = append(b.starts, start)
		b.out.Weeks = append(b.out.Weeks, engine.PlayWeek{Week: start.Format(time.DateOnly)})
	}
}

// week is the place of the week that an instant lies in; -1 = before all of them.
func (b *playBuilder) week(at time.Time) int {
	return slices.IndexFunc(b.starts, func(start time.Time) bool { return !at.Before(start) })
}

func (b *playBuilder) done() engine.Play {
	for _, c := range b.champions {
		b.out.Champions = append(b.out.Champions, *c)
	}
	slices.SortFunc(b.out.Champions, func(a, c engine.PlayShare) int {
		return cmp.Or(cmp.Compare(c.Games, a.Games), cmp.Compare(c.Minutes, a.Minutes), strings.Compare(a.Name, c.Name))
	})
	if more := len(b.out.Champions) - mostChampions; more > 0 {
		b.out.More, b.out.Champions = more, b.out.Champions[:mostChampions]
	}
	return b.out
}
