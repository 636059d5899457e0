package sim

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/riot/route"
)

// TestTamper: faults come first in the plan and go by name, keys expire and work
// again, and strikes are told.
func TestTamper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var told, doors []string
		s := New(Options{
			Seed: 1, Latency: Instant, Players: []PlayerSpec{{RiotID: "A#B", Platform: route.EUW1, Matches: 3}},
			Faults:   []Fault{{Name: "own", Kind: ServerError}},
			OnStrike: func(fault string, m route.Method, id string) { told = append(told, fault+" "+string(m)+" "+id) },
			Door: func(_ context.Context, m route.Method, id string) {
				mu.Lock()
				defer mu.Unlock()
				doors = append(doors, string(m)+" "+id)
			},
		})
		id := s.MatchIDs("A#B")[0]
		status := func() int {
			r := httptest.NewRequest(http.MethodGet, "http://europe.api.riotgames.com/lol/match/v5/matches/"+id, nil)
			r.Header.Set("X-Riot-Token", "RGAPI-00000001-cafe-4bad-8bad-c0ffee000000")
			_, a := s.handle(r, r.Host)
			return a.status
		}
		if err := s.InjectFirst(Fault{Name: "mine", Kind: Unavailable}); err != nil {
			t.Fatal(err)
		}
		if s.InjectFirst(Fault{Kind: "earthquake"}) == nil {
			t.Error("an unknown kind is taken")
		}
		got := []int{status()}
		s.Remove("mine")
		got = append(got, status())
		s.Remove("own")
		got = append(got, status())
		if n := s.ExpireKeys(); n != 1 {
			t.Errorf("%d keys expired", n)
		}
		got = append(got, status())
		if n := s.RenewKeys(); n != 1 {
			t.Errorf("%d keys work again", n)
		}
		got = append(got, status())
		for i, want := range []int{503, 500, 200, 403, 200} {
			if got[i] != want {
				t.Errorf("answers %v, want %d at %d", got, want, i)
			}
		}
		m := string(route.Match) + " " + id
		want := []string{"mine " + m, "own " + m, ExpiredKey + " " + m}
		for i := range want {
			if len(told) != len(want) || told[i] != want[i] {
				t.Fatalf("told %q, want %q", told, want)
			}
		}
		if len(doors) != 5 || doors[0] != m {
			t.Errorf("the door saw %q", doors)
		}
		time.Sleep(time.Second)
	})
}
