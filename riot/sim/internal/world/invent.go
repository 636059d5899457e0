package world

import (
	"cmp"
	"sync"
	"time"

	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim/internal/keyed"
)

// mostInvented bounds what names that nobody has can take of memory.
const mostInvented = 200

// inventedFrom is the first number of an invented person: accounts of the options count from 0.
const inventedFrom = 1 << 31

// invented are the players who were made up for names that somebody asked for. They come while calls are
// answered, so they have a lock of their own; it is never held while another is taken.
type invented struct {
	mu     sync.RWMutex
	byN    map[uint32]*Account
	byName map[string]*Account
}

func newInvented() invented {
	return invented{byN: map[uint32]*Account{}, byName: map[string]*Account{}}
}

// account is the one of a person who is no stranger; nil when nobody was made up by that number.
func (w *World) Account(n uint32) *Account {
	if n < inventedFrom {
		if int(n) < len(w.Accounts) {
			return w.Accounts[n]
		}
		return nil
	}
	w.invented.mu.RLock()
	defer w.invented.mu.RUnlock()
	return w.invented.byN[n]
}

// named is the account with a Riot ID, made up or not; nil = nobody has it.
func (w *World) Named(riotID string) *Account {
	name := fold(riotID)
	if a := w.byName[name]; a != nil {
		return a
	}
	w.invented.mu.RLock()
	defer w.invented.mu.RUnlock()
	return w.invented.byName[name]
}

// invent makes up the player with a Riot ID, who lives nowhere yet. The seed and the name decide who that
// is. nil when there are as many as there may be.
func (w *World) Invent(riotID string) *Account {
	w.invented.mu.Lock()
	defer w.invented.mu.Unlock()
	name := fold(riotID)
	if a := w.invented.byName[name]; a != nil || len(w.invented.byName) >= mostInvented {
		return a
	}
	n := inventedFrom | uint32(keyed.Start(w.seed).Str("invented").Str(name)>>33)
	for w.invented.byN[n] != nil {
		n = inventedFrom | (n + 1)
	}
	a := &Account{Spec: Spec{RiotID: riotID}, Me: Person{n: n}}
	a.name, a.tag = Cut(riotID)
	w.invented.byN[n], w.invented.byName[name] = a, a
	return a
}

// mainPlatforms is where an invented player of a region has their games.
var mainPlatforms = map[route.Region]route.Platform{
	route.Europe: route.EUW1, route.Americas: route.NA1, route.Asia: route.KR, route.Sea: route.SG2,
}

// MoveIn gives an invented player a past in the region of the host that is asked about them first, for a list of
// matches is asked of a region, and an account on the platform there that is. The caller holds the lock of Sim.
func (w *World) MoveIn(p Person, host string) {
	if p.Stranger || p.n < inventedFrom {
		return
	}
	a, platform := w.Account(p.n), route.Platform(host)
	region := cmp.Or(platform.Region(), route.Region(host))
	if w.Platform(p) == "" {
		w.settle(a, region)
	}
	w.invented.mu.Lock()
	defer w.invented.mu.Unlock()
	if platform.Region() != "" && a.lives == "" && a.Spec.Platform.Region() == region {
		a.lives = platform
	}
}

func (w *World) settle(a *Account, region route.Region) {
	w.invented.mu.Lock()
	a.Spec.Platform = mainPlatforms[region]
	w.invented.mu.Unlock()
	for n, at := range humanHours(w.Epoch, w.nameHash(a), longitude[region]) {
		w.addGame(a, n, at)
	}
}

// LivesAt reports whether a platform knows a player.
func (w *World) LivesAt(p Person, platform string) bool {
	if p.Stranger || p.n < inventedFrom {
		return string(w.Platform(p)) == platform
	}
	a := w.Account(p.n)
	w.invented.mu.RLock()
	defer w.invented.mu.RUnlock()
	return string(a.lives) == platform
}

func (w *World) nameHash(a *Account) keyed.Hash {
	return keyed.Start(w.seed).Str("invented").Str(fold(a.Spec.RiotID))
}

// longitude is how far a region's evenings are ahead of UTC.
var longitude = map[route.Region]time.Duration{route.Europe: hour, route.Americas: -6 * hour, route.Asia: 9 * hour, route.Sea: 8 * hour}

// humanHours are the starts of a person's games, newest first: some evenings of the week, longer weekends.
// h decides how many, and when.
func humanHours(epoch time.Time, h keyed.Hash, ahead time.Duration) []time.Time {
	want := 40 + h.Str("games").Below(120)
	times := make([]time.Time, 0, want)
	midnight := epoch.Add(ahead).Truncate(day)
	for d := 0; len(times) < want; d++ {
		r := h.Str("day").Num(uint64(d)).Stream()
		date := midnight.Add(-time.Duration(d) * day)
		first, games, plays := 18*hour+time.Duration(r.Below(120))*time.Minute, 1+r.Below(3), r.Chance(55)
		if free := date.Weekday() == time.Saturday || date.Weekday() == time.Sunday; free {
			first, games, plays = 12*hour+time.Duration(r.Below(360))*time.Minute, 2+r.Below(4), r.Chance(85)
		}
		for i := games - 1; plays && i >= 0; i-- {
			at := date.Add(first + time.Duration(i)*50*time.Minute + time.Duration(r.Below(10))*time.Minute - ahead)
			if !at.After(epoch) && len(times) < want {
				times = append(times, at)
			}
		}
	}
	return times
}
