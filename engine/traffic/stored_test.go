package traffic

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine/wall"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// TestI3_WhoFollowsForeseesAsTheLeader: who makes no calls foresees those in line by what the one that makes them has
// stored of the limits, within what that may be old; by its own limits it knows nothing.
func TestI3_WhoFollowsForeseesAsTheLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)))
		s := sim.New(sim.Options{
			Limits:  sim.Limits{App: []sim.Limit{{N: 20, Per: time.Second}, {N: 100, Per: 2 * time.Minute}}},
			Latency: sim.Latency{Base: 50 * time.Millisecond}, Players: crowd(60),
		})
		key, err := riot.ParseKey("RGAPI-00000000-cafe-4bad-8bad-c0ffee000000")
		if err != nil {
			t.Fatal(err)
		}
		limiter := limit.New(limit.Options{})
		client, err := riot.New(riot.Options{Keys: riot.NewKeys(key), Limiter: riot.LimitedBy(limiter), Transport: s.RoundTripper()})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range games(s, 60)[:40] {
			if _, err := client.Match(t.Context(), route.Europe, id); err != nil {
				t.Fatal(err)
			}
		}
		blob, err := json.Marshal(limiter.Save(wall.Now()))
		if err != nil {
			t.Fatal(err)
		}
		store := &killed{blob: blob}
		leads := New(Options{Store: &state{}, Limiter: limiter, Lanes: laneOfMatch})
		follows := New(Options{Store: store, Limiter: limit.New(limit.Options{}), Lanes: laneOfMatch})
		if _, known := follows.Wait(matches.String(), 1); known {
			t.Error("it knows of itself when a call goes")
		}
		led, err := Stored(t.Context(), store)
		if err != nil {
			t.Fatal(err)
		}
		leads.Backlog(matches.String(), 300)
		led.Backlog(matches.String(), 300)
		follows.ForeseeBy(led)
		for _, n := range []int{1, 20, 61, 150, 300} {
			want, _ := leads.Wait(matches.String(), n)
			got, known := follows.Wait(matches.String(), n)
			if d := got - want; !known || d < -3*time.Second || d > 3*time.Second {
				t.Errorf("call %d: in %v, and in %v says who leads", n, got, want)
			}
			if got, want := follows.Outlook("europe").After("match-v5.match", n).Wait, leads.Outlook("europe").After("match-v5.match", n).Wait; got-want > 3*time.Second || want-got > 3*time.Second {
				t.Errorf("%d calls: in %v, and in %v says who leads", n, got, want)
			}
		}
	})
}
