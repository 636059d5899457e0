package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim/internal/keyed"
	"github.com/farsight-console/farsight/riot/sim/internal/world"
)

// lie is a page of match ids that is not what was asked for: of the games that there are, newest first, and of the
// query. Fault.IDs says how many ids it is about.
type lie func(s *Sim, f *Fault, q idQuery, games []*world.Game) []string

// lies are the ways in which a list of match ids is wrong. Each is a page that a client of Riot has met, or one that
// nothing in the answer would tell from such a page.
var lies = map[Kind]lie{
	ListShort: func(_ *Sim, f *Fault, q idQuery, games []*world.Game) []string {
		ids := q.page(games)
		return ids[:min(len(ids), cmp.Or(f.IDs, len(ids)/2))]
	},
	ListEnds: func(_ *Sim, f *Fault, q idQuery, games []*world.Game) []string {
		return q.page(games[:min(len(games), cmp.Or(f.IDs, len(games)/2))])
	},
	ListLate: func(_ *Sim, f *Fault, q idQuery, games []*world.Game) []string {
		return q.page(games[min(len(games), cmp.Or(f.IDs, 10)):])
	},
	ListHoles: func(s *Sim, f *Fault, q idQuery, games []*world.Game) []string {
		return q.page(slices.DeleteFunc(games, func(g *world.Game) bool {
			return keyed.Start(s.opt.Seed).Str("hole").Str(g.ID).Below(cmp.Or(f.IDs, 10)) == 0
		}))
	},
	ListSkips: func(_ *Sim, f *Fault, q idQuery, games []*world.Game) []string {
		if q.start > 0 {
			q.start += cmp.Or(f.IDs, 3)
		}
		return q.page(games)
	},
	DuplicateIDs: func(_ *Sim, f *Fault, q idQuery, games []*world.Game) []string {
		before := min(q.start, cmp.Or(f.IDs, 3))
		q.start, q.count = q.start-before, q.count+before
		ids := q.page(games)
		if len(ids) > 1 {
			ids = slices.Insert(ids, 1, ids[1])
		}
		return ids
	},
	ListIgnoresTimes: func(_ *Sim, _ *Fault, q idQuery, games []*world.Game) []string {
		q.from, q.to = time.Time{}, time.Time{}
		return q.page(games)
	},
	ListIgnoresStart: func(_ *Sim, _ *Fault, q idQuery, games []*world.Game) []string {
		q.start = 0
		return q.page(games)
	},
	ListEndless: func(s *Sim, _ *Fault, q idQuery, games []*world.Game) []string {
		// Well formed, and of no game: only a bound of the client's own ends it.
		ids := q.page(games)
		for n := q.start + len(ids); len(ids) < q.count && len(games) > 0; n++ {
			ids = append(ids, fmt.Sprintf("%s_%d", strings.ToUpper(string(games[0].Platform)), 9_000_000_000+n))
		}
		return ids
	},
	ListOddIDs: func(_ *Sim, _ *Fault, q idQuery, games []*world.Game) []string {
		ids := q.page(games)
		if len(ids) > 0 {
			ids = slices.Insert(ids, len(ids)/2, "ESPORTSTMNT01_123", "XX9_5551234567")
		}
		return ids
	},
}

// limitLies are the kinds that state other limits than those that are enforced, by the header that they are about.
var limitLies = map[Kind]int{AppLimits: 0, MethodLimits: 1}

// concerns reports whether a call is one that a kind is about: a lie about lists strikes no match.
func (k Kind) concerns(c *call) bool {
	switch {
	case lies[k] != nil:
		return c.Method == route.MatchIDs
	case k == Firewall || k == Undecryptable:
		return c.params["puuid"] != ""
	}
	return true
}

// lying is the effect of a lie.
func lying(l lie) effect {
	return func(s *Sim, f *Fault, c *call, normal func() *answer) *answer {
		c.list = func(q idQuery, games []*world.Game) []string { return l(s, f, q, games) }
		return normal()
	}
}
