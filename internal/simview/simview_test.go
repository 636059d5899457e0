package simview

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/sim"
)

// client calls a simulator of two calls a second and three in ten, in memory.
type client struct {
	t   *testing.T
	sim *sim.Sim
}

func newClient(t *testing.T, faults ...sim.Fault) client {
	return client{t, sim.New(sim.Options{Latency: sim.Instant, Faults: faults, Limits: sim.Limits{App: []sim.Limit{{N: 2, Per: time.Second}, {N: 3, Per: 10 * time.Second}}}})}
}

func (c client) call() {
	c.t.Helper()
	r, err := http.NewRequest("GET", "https://euw1.api.riotgames.com/lol/status/v4/platform-data", nil)
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("X-Riot-Token", "RGAPI-00000000-0000-0000-0000-00000000beef")
	a, err := c.sim.RoundTripper().RoundTrip(r)
	if err != nil {
		c.t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, a.Body)
}

// script makes five calls: the fourth breaks a limit, six seconds early, and the fifth
// comes during its Retry-After.
func (c client) script() {
	c.call()
	c.call()
	time.Sleep(4 * time.Second)
	c.call()
	c.call()
	time.Sleep(2 * time.Second)
	c.call()
}

// Each call is a line, in order, that tells what the limits made of it.
func TestFollow_TellsEachCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, sim.Fault{Kind: sim.Slow, Name: "late", Count: 1})
		var out bytes.Buffer
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- Follow(ctx, c.sim, &out, false) }()
		c.script()
		time.Sleep(time.Second)
		c.sim.Reset() // what follows is told, too
		c.call()
		stop()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		want := [][]string{
			{" 200 euw1", "application 1/2 in 1 s", "fault late"}, {"application 2/2 in 1 s"}, {"application 3/3 in 10 s"},
			{" 429 euw1", "application 4/3 in 10 s", "BROKE THE LIMIT, 6 s early", "Retry-After "},
			{" 429 euw1", "application 5/3 in 10 s", "BROKE THE LIMIT, 4 s early", "before its Retry-After was over"},
			{"application 1/2 in 1 s"},
		}
		if len(lines) != len(want) {
			t.Fatalf("%d lines:\n%s", len(lines), out.String())
		}
		for i, texts := range want {
			for _, text := range texts {
				if !strings.Contains(lines[i], text) {
					t.Errorf("%q is not in line %d: %s", text, i+1, lines[i])
				}
			}
		}
		if strings.Contains(lines[2], "early") {
			t.Errorf("a lawful call: %s", lines[2])
		}
	})
}

func TestFollow_JSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t)
		c.script()
		ctx, stop := context.WithCancel(context.Background())
		stop() // what is in the log is told all the same
		var out bytes.Buffer
		if err := Follow(ctx, c.sim, &out, true); err != nil {
			t.Fatal(err)
		}
		var calls []sim.Call
		for d := json.NewDecoder(&out); d.More(); {
			var call sim.Call
			if err := d.Decode(&call); err != nil {
				t.Fatal(err)
			}
			calls = append(calls, call)
		}
		if len(calls) != 5 || !calls[3].Violation || calls[3].Early != 6*time.Second || calls[4].Hasty == 0 {
			t.Errorf("%+v", calls)
		}
	})
}

// What a call asks for is the client's text: it reaches no terminal as it is.
func TestLine_IsClean(t *testing.T) {
	if text := line(sim.Call{Host: "\x1b[31m", ID: "a\u202eb"}); strings.ContainsAny(text, "\x1b\u202e") {
		t.Errorf("%q", text)
	}
}

// The console shows the windows and calls as the simulator counts them, tells of a 429,
// and refuses everything else.
func TestConsole_IsFedByTheSimulator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t)
		con := NewConsole(c.sim, "clients")
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		var all []engine.CallRow
		var last engine.Update
		done := make(chan struct{})
		go func() {
			defer close(done)
			for u := range con.Watch(ctx) {
				last = u
				all = append(all, u.Calls...)
			}
		}()
		synctest.Wait()
		if !last.Snapshot {
			t.Error("it does not begin with a snapshot")
		}
		c.script()
		time.Sleep(time.Second)
		stop()
		<-done
		if len(all) != 5 || all[0].Seq != 1 || all[4].Status != 429 || !all[4].Unforeseen {
			t.Errorf("calls: %+v", all)
		}
		b := last.Limits.Buckets[0]
		if b.Host != "euw1" || b.Kind != "app" || b.Window != 10*time.Second || b.Used != 5 || b.Limit != 3 || b.NextFree.IsZero() || b.BlockedBy == "" {
			t.Errorf("the full window: %+v", b)
		}
		if e := last.Engine; e.Key != "…beef" || e.Throttled != 2 || !strings.Contains(e.Why, "5 calls, 2 broke a limit, 1 before") {
			t.Errorf("%+v", e)
		}
		f, err := con.Find(ctx, engine.ForensicsQuery{Seq: 4})
		if s := f.(engine.Forensics).Spent; len(s) != 1 || s[0].Calls != 4 || s[0].What != "lol-status-v4.platform-data" {
			t.Errorf("who spent the window: %+v", s)
		}
		if err != nil || !strings.Contains(f.(engine.Forensics).Text, "4 calls where 3 are allowed in 10 s: this one came 6 s early") {
			t.Errorf("%+v, %v", f, err)
		}
		if _, err := con.Find(ctx, engine.ForensicsQuery{Seq: 2}); !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("a call that was no 429: %v", err)
		}
		if _, err := con.Find(ctx, engine.JobsQuery{}); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("jobs: %v", err)
		}
		if _, err := con.Do(ctx, engine.Command{Op: engine.OpTrigger}); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("a command: %v", err)
		}
	})
}

// A second without calls: the windows are told all the same, for they end by themselves.
func TestConsole_TellsWindowsThatEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t)
		c.call()
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		n := 0
		for u := range NewConsole(c.sim, "clients").Watch(ctx) {
			if n++; n == 3 {
				if b := u.Limits.Buckets[1]; b.Window != time.Second || b.Used != 0 || u.Snapshot || len(u.Calls) != 0 {
					t.Errorf("%+v", u)
				}
				return
			}
		}
	})
}
