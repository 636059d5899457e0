package app

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/creack/pty"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/demo"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/ui/chaos"
)

// rehearsal is a demo in a bubble, with its simulator in memory.
type rehearsal struct {
	*demoRun
	t      *testing.T
	states map[engine.EngineState]bool // that a console has seen
	boots  map[string]bool
	says   []string
	mu     sync.Mutex
}

// few is the world of a demo in which the accounts are soon done: what f looks at is something else.
func few(o *sim.Options) {
	for i := range o.Players {
		p := &o.Players[i]
		p.Matches, p.Shared = min(p.Matches, 20), min(p.Shared, 10)
	}
}

// rehearse runs f with a demo whose syncs have begun.
func rehearse(t *testing.T, speed float64, f func(r *rehearsal), tune ...func(*sim.Options)) {
	t.Helper()
	t.Parallel()
	dir := scratch.Memory(t)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 3, 3, 12, 0, 0, 0, time.UTC)))
		cfg, err := config.Load(config.Inputs{Getenv: func(name string) (string, bool) { return dir, name == "FARSIGHT_DATA_DIR" }})
		if err != nil {
			t.Fatal(err)
		}
		d := setDemo(cfg, demo.World{Seed: defaultSeed, Speed: speed}, dir, func(o *sim.Options) {
			for i := range o.Players { // the smallest games of all
				if p := &o.Players[i]; p.Shapes == nil && p.ShareWith == "" {
					p.Shapes = []sim.Shape{"aborted", "swarm"}
				}
			}
			for i := range o.Ladders {
				o.Ladders[i].Shape = "remake"
			}
			for _, change := range tune {
				change(o)
			}
		})
		d.transport = d.Sim.RoundTripper()
		d.phone = demo.NewPhone("127.0.0.1:9", d.cfg.Policies[engine.PolicyCall], d.Sim)
		d.dials = inMemory{d.phone}
		r := &rehearsal{demoRun: d, t: t, states: map[engine.EngineState]bool{}, boots: map[string]bool{}}
		ctx, done := context.WithCancel(context.Background())
		var over atomic.Bool // what ends now ends because it is asked to
		ended := func() {
			if !over.Load() {
				t.Error("the engine ended by itself")
			}
			done()
		}
		if err := d.Stage.Begin(ctx, ended); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		wg.Go(func() { d.Chaos.Run(ctx) })
		wg.Go(func() { r.watch(ctx) })
		if err := d.Trigger(ctx); err != nil {
			t.Fatal(err)
		}
		f(r)
		over.Store(true)
		done()
		wg.Wait()
		if err := d.Stage.Stop(); err != nil {
			t.Error(err)
		}
		r.sound()
	})
}

// watch is a console that stays open.
func (r *rehearsal) watch(ctx context.Context) {
	for u := range r.Stage.Console().Watch(ctx) {
		r.mu.Lock()
		if u.Engine != nil {
			r.states[u.Engine.State] = true
			r.boots[u.Engine.Boot] = true
		}
		for _, n := range u.Notes {
			r.says = append(r.says, n.Text)
		}
		r.mu.Unlock()
	}
}

// sound checks the store that was left.
func (r *rehearsal) sound() {
	r.t.Helper()
	cfg := config.Config{DataDir: r.Stage.Dir()}
	db, err := openStored(cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	report, err := db.Check(context.Background())
	if err != nil || !report.Sound() {
		r.t.Errorf("the store is not sound: %+v, %v", report, err)
	}
}

func (r *rehearsal) ask(line string) string {
	r.t.Helper()
	s := r.Chaos.State()
	ask, wrong := chaos.Parse(&s, line)
	if wrong != "" {
		r.t.Fatal(wrong)
	}
	said, err := r.Chaos.Inject(context.Background(), ask)
	if err != nil {
		r.t.Fatal(err)
	}
	return said
}

func (r *rehearsal) status() engine.StatusAnswer {
	r.t.Helper()
	return answered[engine.StatusAnswer](r, engine.StatusQuery{})
}

func (r *rehearsal) limits() engine.LimitsRow {
	r.t.Helper()
	return answered[engine.LimitsRow](r, engine.LimitsQuery{})
}

func answered[A any](r *rehearsal, q engine.Query) A {
	r.t.Helper()
	a, err := r.Stage.Console().Find(context.Background(), q)
	if err != nil {
		r.t.Fatal(err)
	}
	return a.(A)
}

// until lets time pass until ok, at most for span, and gives how long it took.
func (r *rehearsal) until(what string, span time.Duration, ok func() bool) time.Duration {
	r.t.Helper()
	began := time.Now()
	for synctest.Wait(); !ok(); synctest.Wait() { // nothing is under way when it is looked at
		if time.Since(began) > span {
			r.t.Fatalf("%s did not come within %s: %+v\n%s", what, span, r.status().Engine, r.story())
		}
		time.Sleep(betweenLooks(began))
	}
	return time.Since(began)
}

// usualPace skips a test under the race detector, where minutes of calls take as long;
// the kill and the faults from within are looked at there.
func usualPace(t *testing.T) {
	t.Helper()
	if !paceMatters {
		t.Skip("too slow under the race detector")
	}
}

func (r *rehearsal) state(want engine.EngineState) func() bool {
	return func() bool { return r.status().Engine.State == want }
}

func (r *rehearsal) row(name string) chaos.Row {
	r.t.Helper()
	time.Sleep(500 * time.Millisecond) // the sums are not read at every frame
	synctest.Wait()
	for _, row := range r.Chaos.State().Rows {
		if row.Name == name {
			return row
		}
	}
	r.t.Fatalf("there is no row %q", name)
	return chaos.Row{}
}

// sum is what became of what a row struck, when all that goes on at this instant is over.
func (r *rehearsal) sum(name string) demo.Sum {
	r.t.Helper()
	synctest.Wait()
	return r.Chaos.Sum(name)
}

// seen is what a console has seen: states, and how many engines.
func (r *rehearsal) seen() (states map[engine.EngineState]bool, boots int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.states), len(r.boots)
}

func (r *rehearsal) said(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Contains(strings.Join(r.says, "\n"), text)
}

func (r *rehearsal) story() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.says, "\n")
}

// buried are matches that were given up, but for those that the simulator has none of.
func (r *rehearsal) buried() int64 {
	missing := int64(0)
	for _, f := range r.Sim.Fetches() {
		missing += int64(min(f.Missing, 1))
	}
	return r.status().Engine.Failed - missing
}

// TestChaos_KeyExpires: every queue holds, nothing is charged, and a new key lets all
// go on where it stood.
func TestChaos_KeyExpires(t *testing.T) {
	usualPace(t)
	rehearse(t, 1, func(r *rehearsal) {
		time.Sleep(5 * time.Second)
		r.ask("key expires")
		r.until("NO KEY", time.Minute, r.state(engine.EngineNoKey))
		time.Sleep(15 * time.Second) // what was under way has ended: no call takes longer than its timeout of 10 s
		before := r.status().Engine.Stored
		time.Sleep(30 * time.Second)
		if after := r.status().Engine.Stored; after != before {
			t.Errorf("%d matches were stored without a key", after-before)
		}
		row, sum := r.row("key expires"), r.sum("key expires")
		if !row.On || row.Hits == 0 || sum.Held == 0 || sum.Retried+sum.GivenUp > 0 {
			t.Errorf("the row is %+v, of %+v", row, sum)
		}
		if _, err := r.Stage.Console().Do(context.Background(), engine.Command{Op: engine.OpKey, Key: "RGAPI-dec0de00-cafe-4bad-8bad-c0ffee000000", By: operator("demo")}); err != nil {
			t.Fatal(err)
		}
		r.until("LIVE", time.Minute, r.state(engine.EngineLive))
		r.until("more matches", time.Minute, func() bool { return r.status().Engine.Stored > before+20 })
		if row := r.row("key expires"); row.On {
			t.Errorf("with a new key the row is %+v", row)
		}
		if n := r.buried(); n != 0 {
			t.Errorf("%d matches were given up", n)
		}
	})
}

// TestChaos_Outage: the breaker opens, what it holds is not charged, and when it is
// over nothing has been given up.
func TestChaos_Outage(t *testing.T) {
	longest(t)
	usualPace(t)
	rehearse(t, 1, func(r *rehearsal) {
		time.Sleep(5 * time.Second)
		r.ask("outage 2 min")
		r.until("API DOWN", time.Minute, r.state(engine.EngineAPIDown))
		time.Sleep(45 * time.Second) // in its midst, however long that took
		row, sum := r.row("outage 2 min"), r.sum("outage 2 min")
		if !row.On || sum.Held == 0 || sum.Retried > 40 || sum.GivenUp > 0 || !strings.Contains(row.Did, "0 given up") {
			t.Errorf("in the outage the row is %+v, of %+v", row, sum)
		}
		r.until("LIVE", 15*time.Minute, r.state(engine.EngineLive))
		before := r.status().Engine.Stored
		r.until("more matches", 5*time.Minute, func() bool { return r.status().Engine.Stored > before+50 })
		if row := r.row("outage 2 min"); row.On || r.buried() != 0 {
			t.Errorf("after the outage the row is %+v, and %d matches were given up", row, r.buried())
		}
	})
}

// TestChaos_ProbesFollowTheSpeed: in a demo that runs ten times as fast the outage is
// over after 12 seconds, and the breaker asks after it by tenths of a minute at most: at the
// usual pace its second probe would already be announced for later than that.
func TestChaos_ProbesFollowTheSpeed(t *testing.T) {
	longest(t)
	usualPace(t)
	rehearse(t, 10, func(r *rehearsal) {
		time.Sleep(time.Second)
		r.ask("outage 2 min")
		r.until("API DOWN", 10*time.Second, r.state(engine.EngineAPIDown))
		announced := 0
		r.until("LIVE", 5*time.Minute, func() bool {
			for _, b := range r.limits().Breakers {
				announced++
				if ahead := time.Until(b.Next); ahead > 6*time.Second {
					t.Fatalf("the next probe of %s is announced for %s from now", b.Method, ahead)
				}
			}
			return r.status().Engine.State == engine.EngineLive
		})
		if announced == 0 {
			t.Error("no probe was announced")
		}
		if n := r.buried(); n != 0 {
			t.Errorf("%d matches were given up", n)
		}
	})
}

// TestChaos_EachFaultOnce: a single fault strikes one call, and the engine does about
// it what the panel says it will.
func TestChaos_EachFaultOnce(t *testing.T) {
	longest(t)
	usualPace(t)
	// The demo's own faults may have used up the tries before: then it is the last one.
	retried := func(s demo.Sum) int { return s.Retried + s.GivenUp }
	held := func(s demo.Sum) int { return s.Held }
	well := func(s demo.Sum) int { return s.Well }
	cases := []struct {
		fault string
		did   func(s demo.Sum) int
	}{
		{"429 app", held}, {"429 method", held}, {"429 service", held}, {"503", retried}, {"timeout", retried}, {"slow", well},
		{"cut body", retried}, {"bad JSON", retried}, {"404", func(s demo.Sum) int { return s.GivenUp }}, {"key expiry", held}, {"clock skew", well},
	}
	rehearse(t, 1, func(r *rehearsal) {
		time.Sleep(8 * time.Second)
		for _, c := range cases {
			r.ask(c.fault + " once")
			r.until(c.fault, 5*time.Minute, func() bool { s := r.sum(c.fault); return s.Hits == 1 && s.Open() == 0 })
			if s := r.sum(c.fault); c.did(s) != 1 {
				t.Errorf("of %s became %+v", c.fault, s)
			}
			if row := r.row(c.fault); row.On || row.Hits != 1 || row.Did == "" {
				t.Errorf("the row is %+v", row)
			}
		}
	})
}

// TestChaos_PatchDay: a bad day costs tries and time, and no match but one that it struck
// at each of its tries.
func TestChaos_PatchDay(t *testing.T) {
	longest(t)
	usualPace(t)
	rehearse(t, 2, func(r *rehearsal) {
		r.ask("patch day")
		time.Sleep(30 * time.Second)
		sum := r.sum("patch day")
		if !r.row("patch day").On || sum.Retried+sum.Held == 0 || sum.Well == 0 {
			t.Errorf("the row is %+v, of %+v", r.row("patch day"), sum)
		}
		r.ask("off")
		if r.row("patch day").On {
			t.Error("0 does not end it")
		}
		before := r.status().Engine.Stored
		r.until("calm", 5*time.Minute, func() bool { e := r.status().Engine; return e.Stored > before+100 && e.State == engine.EngineLive })
		sum = r.sum("patch day") // what it had struck last was open
		if st := r.Sim.Stats(); st.Violations > 0 || r.buried() > int64(sum.GivenUp) {
			t.Errorf("%d calls over the limits, %d matches given up", st.Violations, r.buried())
		}
	})
}

// TestChaos_RestartAt134 is the show: the engine is killed with the account at exactly
// 134 of 879, within 20 seconds, and goes on there; nothing is fetched twice. In the whole test the
// account is past it then, and the demo begins anew.
func TestChaos_RestartAt134(t *testing.T) {
	long(t)
	rehearse(t, 1, func(r *rehearsal) {
		time.Sleep(2 * time.Second)
		r.restart()
		if !paceMatters || !scratch.Whole {
			return
		}
		time.Sleep(10 * time.Second)
		if row := r.row("restart at 134/879"); row.Sure == nil {
			t.Errorf("past the mark the row is %+v", row)
		}
		r.restart()
		if _, boots := r.seen(); boots != 4 {
			t.Errorf("%d engines were seen, want 4", boots)
		}
	})
}

// restart sets the trap and sees it through.
func (r *rehearsal) restart() {
	r.t.Helper()
	r.mu.Lock()
	r.says = nil
	clear(r.states)
	r.mu.Unlock()
	r.ask("restart at 134/879")
	took := r.until("the restart", 2*time.Minute, func() bool { return r.said("resumed at 134/879") })
	if took > 20*time.Second {
		r.t.Errorf("it took %s, want 20 s at most", took)
	}
	states, _ := r.seen()
	if !states[engine.EngineOpening] || states[engine.EngineBroken] || !r.said("was killed with Night Heron#DEMO at 134/879") {
		r.t.Errorf("the console saw %v and %q", states, r.story())
	}
	if row := r.row("restart at 134/879"); row.On || !strings.HasPrefix(row.Did, "resumed 134/879, 0 fetched twice") {
		r.t.Errorf("the row is %+v", row)
	}
	before := r.status().Engine.Stored
	r.until("more matches", 2*time.Minute, func() bool { return r.status().Engine.Stored > before+10 })
	if st := r.Sim.Stats(); st.Violations > 0 || st.Repeated > 0 {
		r.t.Errorf("%d calls over the limits, %d for what had been delivered", st.Violations, st.Repeated)
	}
}

// TestChaos_FromWithin: a slow disk makes work wait, a crashed worker costs one try
// and leaves its stack in the log.
func TestChaos_FromWithin(t *testing.T) {
	rehearse(t, 1, func(r *rehearsal) {
		time.Sleep(3 * time.Second)
		r.ask("worker crash once")
		r.ask("worker crash 20%")
		r.ask("slow disk once")
		r.ask("slow disk 10%")
		time.Sleep(15 * time.Second)
		sum := r.sum("worker crash")
		if stats := r.Stage.Engine().(demoEngine).engine.Load().backend.Stats(); int(stats.Panics) != sum.Hits || sum.Hits < 5 || sum.Retried == 0 {
			t.Errorf("%d panics were caught, of %+v", stats.Panics, sum)
		}
		log, err := os.ReadFile(filepath.Join(r.Stage.Dir(), "farsight.log"))
		if err != nil || !strings.Contains(string(log), "the chaos panel crashed this worker") || !strings.Contains(string(log), "internal/demo/chaos.go") {
			t.Errorf("the log holds no stack, %v", err)
		}
		if row := r.row("slow disk"); row.Hits < 2 || !strings.HasPrefix(row.Did, "waited ") {
			t.Errorf("the slow disk is %+v", row)
		}
		r.ask("off")
		hits := r.row("worker crash").Hits
		time.Sleep(5 * time.Second)
		if row := r.row("worker crash"); row.On || row.Hits != hits {
			t.Errorf("after 0 the row is %+v, and had %d hits", row, hits)
		}
	})
}

// The demo collects the games of a small ladder beside its accounts, on another host: each is fetched once, and the
// accounts' calls leave as they would without it.
func TestL25_TheDemoCollectsALadder(t *testing.T) {
	usualPace(t)
	rehearse(t, 4, func(r *rehearsal) {
		var c engine.CollectionRow
		r.until("a collection that has ended", 2*time.Minute, func() bool {
			all := answered[engine.CollectionsAnswer](r, engine.CollectionsQuery{}).Collections
			if len(all) == 1 {
				c = all[0]
			}
			return c.Result != ""
		})
		if st := r.Sim.Stats(); c.Result != "completed" || c.Listed != 24 || c.Collected.Stored < 50 || st.Violations > 0 {
			t.Errorf("%+v, %d calls over the limits", c, st.Violations)
		}
	}, few)
}

// TestDemo_AStrangersName: whatever name somebody types, the demo has a player for it, who
// lives on the platform that was asked first, and on no other.
func TestDemo_AStrangersName(t *testing.T) {
	usualPace(t)
	rehearse(t, 4, func(r *rehearsal) {
		const name = "Somebody Else#XYZ"
		sync := func(platform string) engine.AccountRow {
			_, err := r.Stage.Console().Do(context.Background(), engine.Command{
				Op: engine.OpTrigger, Account: name, By: operator("demo"), Sync: engine.SyncAsk{Platform: platform, Count: 20},
			})
			if err != nil {
				t.Fatal(err)
			}
			var row engine.AccountRow
			r.until(name+" on "+platform, 10*time.Minute, func() bool {
				for _, a := range ask[engine.AccountsPage](t, r.Stage.Console(), engine.AccountsQuery{}).Accounts {
					if a.RiotID == name && a.Platform == platform {
						row = a
					}
				}
				return row.ID != "" && !row.Status.Open()
			})
			return row
		}
		if row := sync("tr1"); row.Status != engine.SyncCompleted || row.Listed != 20 {
			t.Errorf("the first platform: %+v", row)
		}
		if row := sync("na1"); row.Status != engine.SyncFailed || !strings.Contains(row.LastError, "on tr1: sync it with --platform tr1") {
			t.Errorf("another one: %+v", row)
		}
	}, few)
}

// TestChaos_PagerCalls: a demo calls nobody until the panel says so. Then a test and every
// alert ring, until the panel ends it.
func TestChaos_PagerCalls(t *testing.T) {
	longest(t)
	usualPace(t)
	const row = "pager calls"
	rehearse(t, 1, func(r *rehearsal) {
		calls := func(states ...engine.State) []engine.JobRow {
			q := engine.JobsQuery{Kind: engine.KindCall, States: states, Ended: true}
			return ask[engine.JobsPage](t, r.Stage.Console(), q).Jobs
		}
		firing := func() (n int) {
			for _, a := range ask[engine.AlertsAnswer](t, r.Stage.Console(), engine.AlertsQuery{}).Alerts {
				if a.State == engine.AlertFiring {
					n++
				}
			}
			return n
		}
		r.ask("key expires")
		r.until("an alert", 10*time.Minute, func() bool { return firing() > 0 })
		time.Sleep(time.Minute)
		if list := calls(); len(list) != 0 {
			t.Fatalf("nobody asked for %+v", list)
		}
		r.ask("off")

		r.ask(row)
		r.until("an answered test call", 5*time.Minute, func() bool { return len(calls(engine.Completed)) > 0 })
		if panel := r.row(row); !panel.On || panel.Hits < 3 || !strings.Contains(panel.Did, " went well") {
			t.Errorf("the row is %+v", panel)
		}
		r.ask(row)
		r.until("a call that waits for its next try", 10*time.Minute, func() bool { return len(calls(engine.Retryable)) > 0 })
		r.ask(row + " off")
		r.until("the end of it", time.Minute, func() bool {
			return len(calls(engine.Retryable, engine.Available, engine.Running)) == 0 && !r.row(row).On
		})
	}, few)
}

// TestDemo_RestartOnScreen presses the keys in the real program on a terminal, and
// leaves nothing behind. At four times the speed a busy machine lets so many calls run out of time that the breaker opens.
func TestDemo_RestartOnScreen(t *testing.T) {
	longest(t)
	t.Parallel()
	tmp := t.TempDir()
	master, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo terminal here: %v", err)
	}
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 40, Cols: 120}); err != nil {
		t.Fatal(err)
	}
	g := newGlass(120, 40, func(answer string) { _, _ = master.WriteString(answer) })
	go func() {
		buf := make([]byte, 32<<10)
		for {
			n, err := master.Read(buf)
			if err != nil {
				return
			}
			_, _ = g.Write(buf[:n])
		}
	}()
	p := command{
		args: []string{"demo"}, env: map[string]string{"TMPDIR": tmp, "TERM": "xterm-256color", "LANG": "C.UTF-8", "NO_COLOR": "1"},
		as: func(c *exec.Cmd) {
			c.Stdin, c.Stdout, c.Stderr = tty, tty, tty
			c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		},
	}.start(t)
	defer func() { _, _ = tty.Close(), master.Close() }()
	until := func(what string, ok func(screen string) bool) {
		t.Helper()
		for end := time.Now().Add(patience); !ok(g.text()); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("the screen never shows %s:\n%s", what, g.text())
			}
		}
	}
	see := func(text string) {
		t.Helper()
		until(text, func(screen string) bool { return strings.Contains(screen, text) })
	}
	press := func(keys string) {
		for _, k := range keys {
			_, _ = master.WriteString(string(k))
			time.Sleep(20 * time.Millisecond)
		}
	}
	see("SYNCING")
	press("X")
	see("WHAT THE ENGINE DID")
	press("jjj\r")
	// Who comes when the account is past the mark is asked first. That nothing is fetched twice is told by
	// TestChaos_RestartAt134: on a busy machine calls run out of time, and are made again.
	asked, resumed := false, regexp.MustCompile(`resumed 134/879, \d+ fetched twice`)
	until("the restart", func(screen string) bool {
		if !asked && strings.Contains(screen, "Begin the demo anew?") {
			asked = true
			press("y")
		}
		return resumed.MatchString(screen)
	})
	see("DEMO")
	press("1q")
	see("Quit")
	press("y")
	select {
	case <-p.exited:
	case <-time.After(patience):
		t.Fatalf("it does not end:\n%s", g.text())
	}
	if left, _ := filepath.Glob(filepath.Join(tmp, "*")); p.code != exitDone || len(left) != 0 {
		t.Errorf("it ended with %d and left %v behind", p.code, left)
	}
}
