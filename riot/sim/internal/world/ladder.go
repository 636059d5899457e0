package world

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim/internal/keyed"
)

// LadderSpec is a ranked queue of a platform, whose players play it with each other on evenings and weekends.
type LadderSpec struct {
	Platform route.Platform
	Queue    string // RANKED_SOLO_5x5 or RANKED_FLEX_SR
	Players  int
	// Tier and Division are of all of them: "DIAMOND", "II". Empty: a tenth is in Challenger, a fifth in
	// Grandmaster, the others in Master.
	Tier, Division string
	Days           int   // how far back they have played; 0: 30
	Shape          Shape // of all games; "" is the queue's own
}

// Rung is the place of a player in a ladder.
type Rung struct {
	Queue, Tier, Division string
	Points, Wins, Losses  int
}

// rungKey names a league: all who stand there are listed by the same calls.
type rungKey struct {
	platform              route.Platform
	queue, tier, division string
}

// ladderShapes are the games of a ranked queue.
var ladderShapes = map[string]Shape{"RANKED_SOLO_5x5": Ranked, "RANKED_FLEX_SR": Flex}

// CheckLadders reports every fault of the ladders at once, each as a sentence.
func CheckLadders(specs []LadderSpec) error {
	var faults []error
	for _, l := range specs {
		switch {
		case !slices.Contains(route.Platforms(), l.Platform):
			faults = append(faults, fmt.Errorf("ladder of %q: unknown platform", l.Platform))
		case ladderShapes[l.Queue] == "":
			faults = append(faults, fmt.Errorf("ladder of %q: unknown queue %q: use RANKED_SOLO_5x5 or RANKED_FLEX_SR", l.Platform, l.Queue))
		case l.Players < 0 || l.Players > 100_000:
			faults = append(faults, fmt.Errorf("ladder of %q: %d players are out of range 0 to 100000", l.Platform, l.Players))
		case l.Days < 0 || l.Days > 3650:
			faults = append(faults, fmt.Errorf("ladder of %q: %d days are out of range 0 to 3650", l.Platform, l.Days))
		case l.Shape != "" && shapes[l.Shape].queue != shapes[ladderShapes[l.Queue]].queue:
			faults = append(faults, fmt.Errorf("ladder of %q: games of shape %q are of another queue", l.Platform, l.Shape))
		}
	}
	return errors.Join(faults...)
}

const (
	// rankedFrom is the first number of a player of a ladder: accounts of the options count from 0, invented ones
	// from inventedFrom.
	rankedFrom = 1 << 30
	// ladderDays is how far back ladders were played that do not say it.
	ladderDays = 30
)

// AddLadder makes the players of a ladder and what they have played.
func (w *World) AddLadder(l LadderSpec) {
	players := make([]*Account, l.Players)
	for i := range players {
		n := w.ranked
		w.ranked++
		h := keyed.Start(w.seed).Str("rung").Num(uint64(n)).Stream()
		name := fmt.Sprintf("%s %s %d", firstWords[h.Below(len(firstWords))], lastWords[h.Below(len(lastWords))], n)
		tag := strings.ToUpper(string(l.Platform))
		a := w.newAccount(rankedFrom|uint32(n), Spec{RiotID: name + "#" + tag, Platform: l.Platform})
		a.lives = l.Platform
		r := Rung{Queue: l.Queue, Tier: l.Tier, Division: cmp.Or(l.Division, "I"), Wins: h.Between(20, 300), Losses: h.Between(20, 300)}
		switch {
		case l.Tier != "":
			r.Points = h.Below(100)
		case i < l.Players/10:
			r.Tier, r.Points = "CHALLENGER", 1500-i
		case i < l.Players*3/10:
			r.Tier, r.Points = "GRANDMASTER", 900-i
		default:
			r.Tier, r.Points = "MASTER", h.Below(500)
		}
		a.rung, players[i] = &r, a
		k := rungKey{l.Platform, r.Queue, r.Tier, r.Division}
		w.ladders[k] = append(w.ladders[k], a)
	}
	w.playLadder(l, players)
	for _, a := range players {
		// What they play besides: games of other queues, by themselves.
		for n := range 3 {
			w.addGame(a, n, w.Epoch.Add(-time.Duration(n*9+1)*day-time.Duration(w.hash(a, "aside", n).Below(86_400))*time.Second))
		}
		slices.SortStableFunc(a.Games, newestFirst)
	}
}

// playLadder makes the games of a ladder: at each hour of play those who are there are put together by tens, in the
// order of their ranks; who is left over plays with strangers.
func (w *World) playLadder(l LadderSpec, players []*Account) {
	ahead := longitude[l.Platform.Region()]
	midnight := w.Epoch.Add(ahead).Truncate(day)
	for d := range cmp.Or(l.Days, ladderDays) {
		date := midnight.Add(-time.Duration(d) * day)
		first, rounds := 19, 3
		if date.Weekday() == time.Saturday || date.Weekday() == time.Sunday {
			first, rounds = 14, 7
		}
		for round := range rounds {
			h := keyed.Start(w.seed).Str("round").Str(string(l.Platform)).Str(l.Queue).Str(l.Tier + l.Division).Num(uint64(d*100 + round))
			at := date.Add(time.Duration(first+round)*hour - ahead)
			here := slices.DeleteFunc(slices.Clone(players), func(a *Account) bool {
				return h.Num(uint64(a.Me.n)).Below(100) >= 20
			})
			for lobby := range slices.Chunk(here, 10) {
				start := at.Add(time.Duration(h.Num(uint64(lobby[0].Me.n)).Below(2400)) * time.Second)
				if start.Before(w.Epoch) {
					w.addLobby(l, lobby, start, h)
				}
			}
		}
	}
}

// addLobby makes one game that several players of a ladder have played.
func (w *World) addLobby(l LadderSpec, lobby []*Account, at time.Time, h keyed.Hash) {
	e := eraOf(w.Epoch.Sub(at))
	g := &Game{Platform: l.Platform, At: at, Shape: cmp.Or(l.Shape, ladderShapes[l.Queue])}
	f := shapes[g.Shape]
	g.era, g.Queue = f.pin(e), f.queue
	w.number(g, h.Num(uint64(lobby[0].Me.n)).Str("number"))
	for slot, a := range lobby {
		g.known = append(g.known, member{a.Me, slot})
		a.Games = append(a.Games, g)
	}
	w.Games[g.ID] = g
}

// League is who stands in a tier and division of a platform's queue, by rank; nil = nobody.
func (w *World) League(p route.Platform, queue, tier, division string) []*Account {
	return w.ladders[rungKey{p, queue, tier, division}]
}

// RungOf is the place of a player in a ladder; nil = none.
func (w *World) RungOf(p Person) *Rung {
	if a := w.Known(p); a != nil {
		return a.rung
	}
	return nil
}

// Rung is a's place in a ladder; nil = none.
func (a *Account) Rung() *Rung { return a.rung }
