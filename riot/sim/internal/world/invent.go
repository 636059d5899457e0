package world

import (
	"cmp"
	"time"

	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim/internal/keyed"
)

// mostInvented bounds what names that nobody has can take of memory.
const mostInvented = 200

// inventedFrom is the first number of an invented person: accounts of the options count from 0.
const inventedFrom = 1 << 31

// Invent makes up the player with a Riot ID, who lives nowhere yet. The seed and the name decide who that
// is. nil when there are as many as there may be.
func (w *World) Invent(riotID string) *Account {
	w.mu.Lock()
	defer w.mu.Unlock()
	// Two calls may ask for the same name at a time: the second finds who was made up for the first.
	if a := w.byName[fold(riotID)]; a != nil || len(w.byNumber)-len(w.Accounts)-w.ranked >= mostInvented {
		return a
	}
	n := inventedFrom | uint32(w.nameHash(riotID)>>33)
	// Two names with one number are rare, and the next number is as good.
	for w.byNumber[n] != nil {
		n = inventedFrom | (n + 1)
	}
	return w.newAccount(n, Spec{RiotID: riotID})
}

// mainPlatforms is where an invented player of a region has their games.
var mainPlatforms = map[route.Region]route.Platform{
	route.Europe: route.EUW1, route.Americas: route.NA1, route.Asia: route.KR, route.Sea: route.SG2,
}

// MoveIn gives an invented player a past in the region of the host that is asked about them first, for a list of
// matches is asked of a region, and an account on the platform there that is.
func (w *World) MoveIn(p Person, host string) {
	if p.Stranger || p.n < inventedFrom {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	a, platform := w.byNumber[p.n], route.Platform(host)
	region := cmp.Or(platform.Region(), route.Region(host))
	// The first host decides. Afterwards another region answers as it does for everybody: with nothing.
	if a.Spec.Platform == "" {
		a.Spec.Platform = mainPlatforms[region]
		// Enough for two pages of ids, few enough to be synchronised within a minute or two.
		h := w.nameHash(a.Spec.RiotID)
		for n, at := range humanHours(w.Epoch, h, longitude[region], 40+h.Str("games").Below(120)) {
			w.addGame(a, n, at)
		}
	}
	if platform.Region() != "" && a.lives == "" && a.Spec.Platform.Region() == region {
		a.lives = platform
	}
}

// LivesAt reports whether a platform knows a player.
func (w *World) LivesAt(p Person, platform string) bool {
	if p.Stranger {
		return string(route.Platforms()[p.platform]) == platform
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	return string(w.byNumber[p.n].lives) == platform
}

func (w *World) nameHash(riotID string) keyed.Hash {
	return keyed.Start(w.seed).Str("invented").Str(fold(riotID))
}

// longitude is how far a region's evenings are ahead of UTC.
var longitude = map[route.Region]time.Duration{
	route.Europe: hour, route.Americas: -6 * hour, route.Asia: 9 * hour, route.Sea: 8 * hour,
}

// humanHours are the starts of so many games of a person, newest first: some evenings of the week, longer weekends.
// h decides when.
func humanHours(epoch time.Time, h keyed.Hash, ahead time.Duration, want int) []time.Time {
	times := make([]time.Time, 0, want)
	// Local midnight, written as if it were UTC.
	midnight := epoch.Add(ahead).Truncate(day)
	for d := 0; len(times) < want; d++ {
		// A stream for each day: a day more in the past changes none of the others.
		r := h.Str("day").Num(uint64(d)).Stream()
		date := midnight.Add(-time.Duration(d) * day)
		first, games, plays := 18*hour+time.Duration(r.Below(120))*time.Minute, 1+r.Below(3), r.Chance(55)
		if free := date.Weekday() == time.Saturday || date.Weekday() == time.Sunday; free {
			first, games, plays = 12*hour+time.Duration(r.Below(360))*time.Minute, 2+r.Below(4), r.Chance(85)
		}
		// The last game of a day first: the list is newest first.
		for i := games - 1; plays && i >= 0; i-- {
			at := date.Add(first + time.Duration(i)*50*time.Minute + time.Duration(r.Below(10))*time.Minute - ahead)
			if !at.After(epoch) && len(times) < want {
				times = append(times, at)
			}
		}
	}
	return times
}
