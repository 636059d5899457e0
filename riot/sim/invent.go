package sim

import (
	"cmp"
	"sync"
	"time"

	"github.com/farsight-console/farsight/riot/route"
)

// mostInvented bounds what names that nobody has can take of memory.
const mostInvented = 200

// inventedFrom is the first number of an invented person: accounts of the options count from 0.
const inventedFrom = 1 << 31

// invented are the players who were made up for names that somebody asked for. They come while calls are
// answered, so they have a lock of their own; it is never held while another is taken.
type invented struct {
	mu     sync.RWMutex
	byN    map[uint32]*account
	byName map[string]*account
}

func newInvented() invented {
	return invented{byN: map[uint32]*account{}, byName: map[string]*account{}}
}

// account is the one of a person who is no stranger; nil when nobody was made up by that number.
func (w *world) account(n uint32) *account {
	if n < inventedFrom {
		if int(n) < len(w.accounts) {
			return w.accounts[n]
		}
		return nil
	}
	w.invented.mu.RLock()
	defer w.invented.mu.RUnlock()
	return w.invented.byN[n]
}

// named is the account with a Riot ID, made up or not; nil = nobody has it.
func (w *world) named(riotID string) *account {
	name := foldRiotID(riotID)
	if a := w.byName[name]; a != nil {
		return a
	}
	w.invented.mu.RLock()
	defer w.invented.mu.RUnlock()
	return w.invented.byName[name]
}

// invent makes up the player with a Riot ID, who lives nowhere yet. The seed and the name decide who that
// is. nil when there are as many as there may be.
func (w *world) invent(riotID string) *account {
	w.invented.mu.Lock()
	defer w.invented.mu.Unlock()
	name := foldRiotID(riotID)
	if a := w.invented.byName[name]; a != nil || len(w.invented.byName) >= mostInvented {
		return a
	}
	n := inventedFrom | uint32(start(w.seed).str("invented").str(name)>>33)
	for w.invented.byN[n] != nil {
		n = inventedFrom | (n + 1)
	}
	a := &account{spec: PlayerSpec{RiotID: riotID}, me: person{n: n}}
	a.name, a.tag = cutRiotID(riotID)
	w.invented.byN[n], w.invented.byName[name] = a, a
	return a
}

// mainPlatforms is where an invented player of a region has their games.
var mainPlatforms = map[route.Region]route.Platform{
	route.Europe: route.EUW1, route.Americas: route.NA1, route.Asia: route.KR, route.Sea: route.SG2,
}

// moveIn gives an invented player a past in the region that is asked about them first, for the list of
// matches is asked of one, and an account on the platform there that is. The caller holds the lock of Sim.
func (w *world) moveIn(c *call) {
	if c.who.stranger || c.who.n < inventedFrom {
		return
	}
	a := w.account(c.who.n)
	if home := w.platform(c.who); home == "" {
		w.settle(a, regionOf(c))
	}
	w.invented.mu.Lock()
	defer w.invented.mu.Unlock()
	if c.method != route.MatchIDs && a.lives == "" && a.spec.Platform.Region() == regionOf(c) {
		a.lives = route.Platform(c.host)
	}
}

// regionOf is the region of the host that was called.
func regionOf(c *call) route.Region {
	return cmp.Or(route.Platform(c.host).Region(), route.Region(c.host))
}

func (w *world) settle(a *account, region route.Region) {
	w.invented.mu.Lock()
	a.spec.Platform = mainPlatforms[region]
	w.invented.mu.Unlock()
	for n, at := range humanHours(w.epoch, w.nameHash(a), longitude[region]) {
		w.addGame(a, n, at)
	}
}

// homes are the calls by which an invented player is looked for where they might live.
var homes = map[route.Method]bool{route.MatchIDs: true, route.Summoner: true, route.LeagueEntries: true}

// livesAt reports whether a platform knows a player.
func (w *world) livesAt(p person, platform string) bool {
	if p.stranger || p.n < inventedFrom {
		return string(w.platform(p)) == platform
	}
	a := w.account(p.n)
	w.invented.mu.RLock()
	defer w.invented.mu.RUnlock()
	return string(a.lives) == platform
}

func (w *world) nameHash(a *account) hash {
	return start(w.seed).str("invented").str(foldRiotID(a.spec.RiotID))
}

// longitude is how far a region's evenings are ahead of UTC.
var longitude = map[route.Region]time.Duration{route.Europe: hour, route.Americas: -6 * hour, route.Asia: 9 * hour, route.Sea: 8 * hour}

// humanHours are the starts of a person's games, newest first: some evenings of the week, longer weekends.
// h decides how many, and when.
func humanHours(epoch time.Time, h hash, ahead time.Duration) []time.Time {
	want := 40 + h.str("games").below(120)
	times := make([]time.Time, 0, want)
	midnight := epoch.Add(ahead).Truncate(day)
	for d := 0; len(times) < want; d++ {
		r := h.str("day").num(uint64(d)).stream()
		date := midnight.Add(-time.Duration(d) * day)
		first, games, plays := 18*hour+time.Duration(r.below(120))*time.Minute, 1+r.below(3), r.chance(55)
		if free := date.Weekday() == time.Saturday || date.Weekday() == time.Sunday; free {
			first, games, plays = 12*hour+time.Duration(r.below(360))*time.Minute, 2+r.below(4), r.chance(85)
		}
		for i := games - 1; plays && i >= 0; i-- {
			at := date.Add(first + time.Duration(i)*50*time.Minute + time.Duration(r.below(10))*time.Minute - ahead)
			if !at.After(epoch) && len(times) < want {
				times = append(times, at)
			}
		}
	}
	return times
}
