package demo

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/ui/chaos"
)

// TestChaos_SameSeedSameRun: what a rate strikes follows from the seed.
func TestChaos_SameSeedSameRun(t *testing.T) {
	struck := func(seed uint64) string {
		c, out := newChaos(seed, 1, ""), strings.Builder{}
		for _, m := range []string{slowDisk, workerCrash} {
			for i := range 200 {
				if c.chosen(mischiefOf(m), 5, strings.Repeat("x", i)) {
					out.WriteString(m + strings.Repeat("x", i))
				}
			}
		}
		return out.String()
	}
	first, again := struck(7), struck(7)
	if first != again || first == struck(8) || first == "" {
		t.Error("the choice is not the seed's")
	}
}

// panel is the chaos of a demo whose engine has not started.
func panel() *Chaos {
	return New(Options{World: World{Seed: 7, Speed: 1}, Key: func() string { return "one" }}).Chaos
}

func rowOf(t *testing.T, c *Chaos, name string) chaos.Row {
	t.Helper()
	for _, r := range c.State().Rows {
		if r.Name == name {
			return r
		}
	}
	t.Fatalf("there is no row %q", name)
	return chaos.Row{}
}

// Every row can be asked for, says so while it is on, and is ended by its name and by
// clearing all.
func TestEveryRowIsOnAndOff(t *testing.T) {
	for _, m := range alone {
		asks := []chaos.Ask{{Name: m.name, Once: true}, {Name: m.name, Rate: 5}}
		if m.preset { // they are started, and take no rate
			asks = asks[:1]
		}
		for _, ask := range asks {
			for _, off := range []chaos.Ask{{Name: m.name, Off: true}, {Off: true}} {
				c := panel()
				said, err := c.Inject(context.Background(), ask)
				if err != nil || said == "" {
					t.Fatalf("%s: %q, %v", m.name, said, err)
				}
				if r := rowOf(t, c, m.name); !r.On || r.Told == "" || r.Rate != ask.Rate {
					t.Errorf("asked for, %s is %+v", m.name, r)
				}
				if _, err := c.Inject(context.Background(), off); err != nil {
					t.Fatal(err)
				}
				if r := rowOf(t, c, m.name); r.On || r.Rate != 0 {
					t.Errorf("ended, %s is %+v", m.name, r)
				}
			}
		}
	}
	if _, err := panel().Inject(context.Background(), chaos.Ask{Name: "rain"}); err == nil || !strings.Contains(err.Error(), "rain") {
		t.Errorf("an unknown fault: %v", err)
	}
}

// A key that has expired is a row that is on until another key is in place.
func TestANewKeyEndsTheExpiry(t *testing.T) {
	key := "one"
	c := New(Options{World: World{Seed: 7, Speed: 1}, Key: func() string { return key }}).Chaos
	if _, err := c.Inject(context.Background(), chaos.Ask{Name: keyExpires, Once: true}); err != nil {
		t.Fatal(err)
	}
	if r := rowOf(t, c, keyExpires); !r.On {
		t.Errorf("%+v", r)
	}
	key = "two"
	if r := rowOf(t, c, keyExpires); r.On {
		t.Errorf("with a new key: %+v", r)
	}
}

// What became of a strike is what the struck attempt ended as.
func TestTally(t *testing.T) {
	for _, c := range []struct {
		verb  engine.Verb
		state engine.State
		said  string
	}{
		{engine.VerbRetry, engine.Retryable, "1 retried, 0 given up"},
		{engine.VerbRetry, engine.Discarded, "1 given up"},
		{engine.VerbSnooze, engine.Scheduled, "1 held, 0 given up"},
		{engine.VerbDone, engine.Completed, "1 went well"},
		{engine.VerbFail, engine.Discarded, "1 given up"},
		{engine.VerbInterrupted, engine.Available, "1 interrupted"},
	} {
		y := newTally()
		y.call("503", route.Match, "EUW1_1")
		if s := y.total("503"); s.Hits != 1 || s.Open() != 1 || s.String() != "1 open" {
			t.Errorf("struck: %+v, %q", s, s)
		}
		y.observe([]engine.Change{
			{Job: &engine.Job{ID: "7", Key: "match:EUW1_1", State: c.state}},
			{Of: "7", Attempt: &engine.Attempt{Verb: c.verb}},
		})
		if s := y.total("503"); s.Open() != 0 || s.String() != c.said {
			t.Errorf("%v, %v: %+v, %q, want %q", c.verb, c.state, s, s, c.said)
		}
	}
	y := newTally()
	y.hit("slow disk")
	if s := y.total("slow disk", "503"); s.Hits != 1 || s.Open() != 0 {
		t.Errorf("a strike that no attempt ends with: %+v", s)
	}
}

// Where the database has members nothing begins anew; this one can be killed, and what the simulator
// does is asked of the process that has it.
func TestTheRowsOfAMember(t *testing.T) {
	d := New(Options{World: World{Seed: 7, Speed: 1}, Members: true, Key: func() string { return "one" }})
	c := d.Chaos
	if _, err := c.Inject(t.Context(), chaos.Ask{Name: restartAt, Once: true}); err == nil {
		t.Error("the demo begins anew under the hands of others")
	}
	d.Host.serves.Store(false)
	for _, name := range []string{"503", keyExpires, "patch day"} {
		if _, err := c.Inject(t.Context(), chaos.Ask{Name: name, Once: true}); err == nil || !strings.Contains(err.Error(), "started first") {
			t.Errorf("%s away from the simulator: %v", name, err)
		}
	}
	for _, name := range []string{slowDisk, killMember} {
		if _, err := c.Inject(t.Context(), chaos.Ask{Name: name, Once: true}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := c.Inject(t.Context(), chaos.Ask{Name: killMember, Once: true}); err == nil {
		t.Error("it is killed while it is being killed")
	}
	if r := rowOf(t, c, killMember); r.Hits != 1 || r.On || r.Did == "" {
		t.Errorf("the row is %+v", r)
	}
}

// However late the commits come, the account stands at exactly 134 when the engine is killed: what was
// given out counts as if it were on disk.
func TestTheTrapCountsWhatIsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const account = "Night Heron#DEMO"
		a, row := newArmed(account), engine.AccountRow{RiotID: account, Status: engine.Syncing, Matches: engine.Progress{Total: 879}}
		a.arm(true)
		commit := func(given []string) bool {
			changes := []engine.Change{}
			for _, id := range given {
				changes = append(changes, engine.Change{Job: &engine.Job{Key: "match:" + id, State: engine.Completed}})
			}
			row.Matches.Stored += len(given)
			return a.observe(append(changes, engine.Change{Account: &row}))
		}
		commit(nil)
		ctx, cancel := context.WithCancel(t.Context())
		given := make(chan string, 300)
		for i := range cap(given) {
			go func() {
				a.door(ctx, route.Match, strconv.Itoa(i))
				given <- strconv.Itoa(i)
			}()
		}
		drawn := func() (ids []string) {
			for synctest.Wait(); len(given) > 0; {
				ids = append(ids, <-given)
			}
			return ids
		}
		first := drawn()
		if len(first) != fallAt-singly || commit(first) {
			t.Fatalf("%d matches were given out before one was on disk", len(first))
		}
		for n := fallAt - singly + 1; n <= fallAt; n++ {
			if one := drawn(); len(one) != 1 || commit(one) != (n == fallAt) {
				t.Fatalf("at %d of %d %v were given out", n, fallAt, one)
			}
		}
		if more := drawn(); len(more) > 0 {
			t.Errorf("after the kill %v were given out", more)
		}
		cancel()
		synctest.Wait()
	})
}
