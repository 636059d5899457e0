package sim

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

const byRiotID = "/europe/riot/account/v1/accounts/by-riot-id/"

// inventing is a simulator that makes players up, and one that somebody has asked for.
func inventing(t *testing.T, seed uint64, name string) *Sim {
	t.Helper()
	o := quick(PlayerSpec{RiotID: "A#A", Platform: "euw1", Matches: 3})
	o.Seed, o.Invent = seed, true
	s := New(o)
	if r := get(t, s, byRiotID+url.PathEscape(name)+"/EUW"); r.status != 200 || !strings.Contains(r.body, name) {
		t.Fatalf("%s: %d %s", name, r.status, r.body)
	}
	return s
}

// A name that nobody has finds a player whose games the seed and the name decide, in the
// evenings and at weekends.
func TestInventedPlayersPlayAtHumanHours(t *testing.T) {
	s := inventing(t, 3, "Odd Sock")
	list := idsOf(t, s, "europe", "Odd Sock#EUW", "count=100")
	if n := len(s.MatchIDs("Odd Sock#EUW")); n < 40 || n > 160 || len(list) != min(n, 100) {
		t.Fatalf("%d of %d games are listed", len(list), n)
	}
	late := epoch
	for _, g := range s.world.Named("Odd Sock#EUW").Games {
		at := g.At.UTC().Add(time.Hour)
		weekend := at.Weekday() == time.Saturday || at.Weekday() == time.Sunday
		if first := map[bool]int{true: 12, false: 18}[weekend]; at.Hour() < first || g.At.After(late) {
			t.Errorf("a game at %s, after one at %s", at.Format("Mon 15:04"), late)
		}
		late = g.At
		if r := get(t, s, "/europe/lol/match/v5/matches/"+g.ID); r.status != 200 || !strings.Contains(r.body, s.PUUID("Odd Sock#EUW", "")) {
			t.Fatalf("%s: %d", g.ID, r.status)
		}
	}
	again := inventing(t, 3, "Odd Sock")
	other := inventing(t, 4, "Odd Sock")
	same := func(o *Sim) bool { return slices.Equal(list, idsOf(t, o, "europe", "Odd Sock#EUW", "count=100")) }
	if !same(again) || same(other) || again.PUUID("Odd Sock#EUW", "") != s.PUUID("Odd Sock#EUW", "") {
		t.Error("seed and name do not decide")
	}
	if len(s.Players()) != 1 {
		t.Errorf("among those that the options name: %+v", s.Players())
	}
}

// An invented player lives on the platform that is asked first, and is unknown on all others.
func TestInventedPlayersLiveWhereTheyAreAskedForFirst(t *testing.T) {
	for first, others := range map[string][]string{"euw1": {"tr1", "na1"}, "tr1": {"euw1", "kr"}, "kr": {"jp1", "euw1"}} {
		s := inventing(t, 3, "Odd Sock")
		puuid := s.PUUID("Odd Sock#EUW", "")
		ask := func(host string) int { return get(t, s, "/"+host+"/lol/summoner/v4/summoners/by-puuid/"+puuid).status }
		if got := ask(first); got != 200 {
			t.Errorf("%s: %d", first, got)
		}
		for _, other := range others {
			if got := ask(other); got != 404 {
				t.Errorf("after %s, %s: %d", first, other, got)
			}
		}
		if ids := idsOf(t, s, "americas", "Odd Sock#EUW", ""); len(ids) != 0 {
			t.Errorf("after %s, %d games in another region", first, len(ids))
		}
		if got := ask(first); got != 200 {
			t.Errorf("%s again: %d", first, got)
		}
	}
}

// Without the option a name that nobody has is a 404, and with it there is an end to them.
func TestInventedPlayersAreBounded(t *testing.T) {
	if r := get(t, New(quick(onePlayer())), byRiotID+"Odd%20Sock/EUW"); r.status != 404 {
		t.Errorf("not asked for: %d", r.status)
	}
	s := inventing(t, 3, "Odd Sock")
	for n := 1; n < 200; n++ {
		if r := get(t, s, fmt.Sprintf("%sName%d/EUW", byRiotID, n)); r.status != 200 {
			t.Fatalf("name %d: %d", n, r.status)
		}
	}
	if r := get(t, s, byRiotID+"OneMore/EUW"); r.status != 404 {
		t.Errorf("one more than %d: %d", 200, r.status)
	}
	if r := get(t, s, byRiotID+"oddsock/euw"); r.status != 200 || !strings.Contains(r.body, "Odd Sock") {
		t.Errorf("one of them again: %d %s", r.status, r.body)
	}
}

// TestV10b_TheDemosPlayersPlayInTheEvening: all games of the demo are of evenings and weekends, with a peak that a
// reader recognises, and none is older than Riot keeps them.
func TestV10b_TheDemosPlayersPlayInTheEvening(t *testing.T) {
	o := Demo(7)
	o.Epoch = epoch
	s := New(o)
	for _, p := range s.Players() {
		var hours [24]int
		games := s.world.Named(p.RiotID).Games
		for _, g := range games {
			hours[g.At.UTC().Add(time.Hour).Hour()]++
			if epoch.Sub(g.At) > 700*24*time.Hour {
				t.Errorf("%s: a game of %s", p.RiotID, g.At)
			}
		}
		night, evening := 0, 0
		for h, n := range hours {
			switch {
			case h < 12:
				night += n
			case h >= 18 && h < 22:
				evening += n
			}
		}
		if len(games) != p.Matches || night > 0 || 2*evening < len(games) {
			t.Errorf("%s: %d games, %d before noon, %d in the evening", p.RiotID, len(games), night, evening)
		}
	}
}
