package demo

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/pager/voice"
	"github.com/farsight-console/farsight/internal/leak"
)

// No goroutine outlives the tests.
func TestMain(m *testing.M) { leak.Main(m) }

// console is an engine's that knows nothing but what was asked of it.
type console struct {
	engine.Console
	asked  []engine.Command
	stored []string // ids of matches
}

func (c *console) Do(_ context.Context, cmd engine.Command) (engine.Receipt, error) {
	c.asked = append(c.asked, cmd)
	return engine.Receipt{}, nil
}

// Find gives one match per page.
func (c *console) Find(_ context.Context, q engine.Query) (engine.Answer, error) {
	at := 0
	if after := q.(engine.MatchesQuery).After; after != "" {
		at = len(after)
	}
	page := engine.MatchesPage{Matches: []engine.MatchRow{{ID: c.stored[at], Status: "success"}}}
	if at+1 < len(c.stored) {
		page.Next = strings.Repeat("x", at+1)
	}
	return page, nil
}

// Every player is asked for, and a match that is not stored is missed.
func TestTriggerAndAudit(t *testing.T) {
	con := &console{}
	d := New(Options{World: World{Seed: 7, Speed: 1, Headless: true}, By: engine.Actor{User: "ana"}})
	d.Stage.con.Up(con)
	if err := d.Trigger(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(con.asked) != len(d.Sim.Players()) || con.asked[0].Op != engine.OpTrigger || con.asked[0].By.User != "ana" {
		t.Errorf("asked %+v", con.asked)
	}
	for _, p := range d.Sim.Players() {
		con.stored = append(con.stored, d.Sim.MatchIDs(p.RiotID)...)
	}
	all, missing, err := d.Audit(t.Context())
	if err != nil || all == 0 || missing != 0 {
		t.Errorf("%d of %d are missing, %v", missing, all, err)
	}
	lost := con.stored[0]
	con.stored[0] = "EUW1_0"
	for i, id := range con.stored {
		if id == lost { // two players were in it
			con.stored[i] = "EUW1_0"
		}
	}
	if again, missing, err := d.Audit(t.Context()); err != nil || again != all || missing != 1 {
		t.Errorf("%d of %d are missing, want 1, %v", missing, again, err)
	}
}

// The demo's retry table is divided by its speed, the number of tries is not.
func TestPolicies(t *testing.T) {
	p := Policies(2)[engine.PolicyMatch]
	if p.Max != 5 || p.Delays[0] != 1500*time.Millisecond || len(p.Delays) != 4 {
		t.Errorf("policy %+v", p)
	}
}

// Two demos have two keys, the members of one have the same.
func TestKeysDiffer(t *testing.T) {
	w, other := NewWorld(), NewWorld()
	a, b := w.Key(), other.Key()
	if a.Equal(b) || !a.Equal(World{ID: w.ID}.Key()) || a.CheckForm() != nil {
		t.Errorf("equal %v, of the right form: %v", a.Equal(b), a.CheckForm())
	}
}

// The telephone answers beside what else is served at its address.
func TestPhoneBesideRiot(t *testing.T) {
	rest := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	p := NewPhone("127.0.0.1:9", Policies(1)[engine.PolicyCall], rest)
	for path, other := range map[string]bool{voice.Root + "x": false, "/lol/match/v5/matches/EUW1_1": true} {
		w := httptest.NewRecorder()
		p.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if (w.Code == http.StatusTeapot) != other {
			t.Errorf("%s was answered with %d", path, w.Code)
		}
	}
	if c := p.Calls(true); c.BaseURL != "http://127.0.0.1:9" || len(c.To) != 1 || c.Poll <= 0 {
		t.Errorf("%+v", c)
	}
}

// TestV10a_APlayerComesEachMinute: somebody further is synced each minute, and nobody twice.
func TestV10a_APlayerComesEachMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		d := &Demo{Stage: newStage(t.TempDir(), nil)}
		con := &console{}
		d.Stage.con.Up(con)
		done := make(chan struct{})
		go func() { d.Further(ctx, 1); close(done) }()
		time.Sleep(150*time.Minute + time.Second)
		cancel()
		<-done
		names := map[string]bool{}
		for _, c := range con.asked {
			names[c.Account] = true
			if c.Op != engine.OpTrigger || c.Sync.Platform == "" {
				t.Errorf("%+v", c)
			}
		}
		if len(con.asked) != mostFurther || len(names) != mostFurther {
			t.Errorf("%d commands for %d players", len(con.asked), len(names))
		}
	})
}
