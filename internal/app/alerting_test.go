package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// alertRig is the engine as `serve` runs it, in this process and in virtual time,
// with a simulated Riot and a console that watches.
type alertRig struct {
	t     *testing.T
	cfg   config.Config
	keys  *keyring.Ring
	sim   *sim.Sim
	desk  http.RoundTripper // where notices of alerts arrive; nil = nobody is told
	alone bool              // no console watches: for who looks at none, in half of the time
	*process
	leave func() // stops the console and the engine

	mu     sync.Mutex
	begun  time.Time
	states map[string][]string // by alert: the states a console saw, with the minute
	notes  []string
	prom   *api.Metrics // fed with every commit since the start
}

// inAlertRig runs a test on an engine that has just started.
func inAlertRig(t *testing.T, o sim.Options, f func(t *testing.T, r *alertRig)) {
	dir := filepath.Join(scratch.Memory(t), "data")
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)))
		cfg, err := config.Load(config.Inputs{Getenv: func(name string) (string, bool) { return dir, name == "FARSIGHT_DATA_DIR" }})
		key, keyErr := riot.ParseKey(canary)
		if err := errors.Join(err, keyErr, os.MkdirAll(dir, 0o700)); err != nil {
			t.Fatal(err)
		}
		cfg.BackupEvery = 0
		keys := keyring.Of(key, keyring.Env, filepath.Join(dir, "riot.key"))
		r := &alertRig{t: t, cfg: cfg, keys: keys, sim: sim.New(o), begun: time.Now(), states: map[string][]string{}}
		r.open()
		defer func() { r.leave() }()
		f(t, r)
	})
}

// open starts an engine on the directory, and a console on it.
func (r *alertRig) open() {
	r.t.Helper()
	if r.prom == nil {
		r.prom = api.NewMetrics(api.MetricsOptions{Console: nobody{}, Policies: r.cfg.Policies})
	}
	p, err := open(r.cfg, role{keys: r.keys, transport: r.sim.RoundTripper(), dials: r.desk, watch: func(_ uint64, changes []engine.Change) { r.prom.Publish(changes) }})
	if err != nil {
		r.t.Fatal(err)
	}
	p.start(context.Background(), func() {})
	r.process = p
	ctx, cancel := context.WithCancel(context.Background())
	left := make(chan struct{})
	go func() {
		defer close(left)
		if r.alone {
			return
		}
		for u := range p.front.Watch(ctx) {
			r.see(u)
		}
	}()
	r.leave = func() {
		cancel()
		<-left
		if err := r.stop(); err != nil && !errors.Is(err, errKilled) {
			r.t.Error(err)
		}
	}
}

// errKilled is the end of an engine that a test has killed.
var errKilled = errors.New("killed")

// nobody is a console that answers nothing.
type nobody struct{ engine.Console }

func (nobody) Find(context.Context, engine.Query) (engine.Answer, error) {
	return nil, engine.ErrNotFound
}

// counted is what Prometheus has counted of a metric with labels, over all queues.
func (r *alertRig) counted(name string, labels ...string) (sum float64) {
	r.t.Helper()
	text, err := r.prom.Text(context.Background())
	if err != nil {
		r.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		series, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if metric, _, _ := strings.Cut(series, "{"); metric != name {
			continue
		}
		if slices.ContainsFunc(labels, func(l string) bool { return !strings.Contains(series, l) }) {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			r.t.Fatal(err)
		}
		sum += n
	}
	return sum
}

// restart ends the engine and starts another on the same directory.
func (r *alertRig) restart(pause time.Duration) {
	r.t.Helper()
	r.leave()
	time.Sleep(pause)
	r.open()
}

func (r *alertRig) see(u engine.Update) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range u.Alerts {
		seen := r.states[a.ID]
		if len(seen) == 0 || !strings.HasPrefix(seen[len(seen)-1], string(a.State)+"@") {
			r.states[a.ID] = append(seen, fmt.Sprintf("%s@%d", a.State, int(time.Since(r.begun).Minutes())))
		}
	}
	for _, n := range u.Notes {
		if strings.HasPrefix(n.Text, "alert") {
			r.notes = append(r.notes, n.Text)
		}
	}
}

func (r *alertRig) told(part string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, text := range r.notes {
		if strings.Contains(text, part) {
			n++
		}
	}
	return n
}

func (r *alertRig) alert(id string) engine.AlertRow {
	r.t.Helper()
	for _, a := range ask[engine.AlertsAnswer](r.t, r.front, engine.AlertsQuery{}).Alerts {
		if a.ID == id {
			return a
		}
	}
	return engine.AlertRow{ID: id, State: engine.AlertOK}
}

func (r *alertRig) wants(states map[string]engine.AlertState) {
	r.t.Helper()
	for id, want := range states {
		if a := r.alert(id); a.State != want {
			r.t.Errorf("after %s %s is %s (%s, %s), want %s", time.Since(r.begun), id, a.State, a.Now(), a.Bound(), want)
		}
	}
}

func (r *alertRig) do(c engine.Command) engine.Receipt {
	r.t.Helper()
	c.By = engine.Actor{User: "ana", Via: "console"}
	got, err := r.front.Do(context.Background(), c)
	if err != nil {
		r.t.Fatalf("%s: %v", c.Op, err)
	}
	return got
}

// recount adds the stored attempts of all jobs up, by how they ended.
func (r *alertRig) recount() (statuses map[string]int, day engine.DaySum) {
	r.t.Helper()
	statuses = map[string]int{}
	for _, j := range ask[engine.JobLogPage](r.t, r.front, engine.JobLogQuery{Page: engine.Page{Limit: 500}}).Jobs {
		d := ask[engine.JobDetail](r.t, r.front, engine.JobQuery{ID: j.Job})
		day.CountEnded(j.Status, 1)
		retries := 0
		for _, a := range slices.Concat(d.Attempts, d.Holds) {
			day.CountAttempt(a, 1)
			if retry, _ := a.Retry(); retry {
				retries++
			}
			switch a.Verb {
			case engine.VerbDone, engine.VerbWait:
				statuses["ok"]++
			case engine.VerbRetry, engine.VerbFail:
				statuses[string(a.Class)]++
			}
		}
		if j.Retries != retries {
			r.t.Errorf("S4-10: job %s has %d retries in the log, %d in its attempts", j.Job, j.Retries, retries)
		}
	}
	return statuses, day
}

// The whole engine, over two restarts: half of the matches answer nonsense
// whatever is tried. The three alerts of S2-10 fire after their five minutes, an
// acknowledgement and what was pending survive the restarts, and all ends with its trouble: what
// was given up an hour later. What the metrics say is a recount of what is stored.
func TestS2_10_AlertsOfARunningEngine(t *testing.T) {
	long(t)
	t.Parallel()
	const spike = "spike/" + string(riot.ClassPayload)
	who := player("Half Broken#EUW", 60)
	inAlertRig(t, quick(who), func(t *testing.T, r *alertRig) {
		for _, id := range r.sim.MatchIDs(who.RiotID)[:30] {
			if err := r.sim.Inject(sim.Fault{Kind: sim.EmptyObject, Match: sim.Match{Method: route.Match, ID: id}}); err != nil {
				t.Fatal(err)
			}
		}
		r.do(engine.Command{Op: engine.OpTrigger, Account: who.RiotID, Sync: engine.SyncAsk{Platform: "euw1", Mode: "full", Timelines: string(league.TimelinesNone)}})
		time.Sleep(2 * time.Minute)
		r.wants(map[string]engine.AlertState{"give-ups": engine.AlertOK, spike: engine.AlertPending, "retries": engine.AlertPending})

		r.restart(20 * time.Second) // what is pending goes on
		time.Sleep(4 * time.Minute)
		r.wants(map[string]engine.AlertState{"give-ups": engine.AlertOK, spike: engine.AlertFiring, "retries": engine.AlertFiring})
		r.do(engine.Command{Op: engine.OpAck, Alert: spike, Reason: "Riot knows"})
		time.Sleep(8 * time.Minute) // the last attempts have failed: the jobs are given up
		r.wants(map[string]engine.AlertState{"give-ups": engine.AlertFiring, spike: engine.AlertAcknowledged, "retries": engine.AlertFiring})
		if a := r.alert("give-ups"); len(a.Evidence) == 0 || a.Evidence[0].Kind != "job" || a.Now() != "49 %" && a.Now() != "50 %" {
			t.Errorf("give-ups: %s, evidence %+v", a.Now(), a.Evidence)
		}

		m := ask[engine.Metrics](t, r.front, engine.MetricsQuery{Days: 1})
		statuses, day := r.recount()
		day.Day = "2026-11-20"
		if fmt.Sprint(m.Statuses) != fmt.Sprint(statuses) || m.Statuses[string(riot.ClassPayload)] != 150 || m.AtMax != 30 || m.Retries != 120 || m.RetriesWon != 0 || m.RetrySuccess != 0 {
			t.Errorf("S2-9: metrics %+v, a recount says %v", m, statuses)
		}
		if len(m.Days) != 1 || m.Days[0] != day || day.Discarded != 30 {
			t.Errorf("S4-11: days %+v, a recount says %+v", m.Days, day)
		}

		r.restart(30 * time.Second)
		time.Sleep(10 * time.Second)
		r.wants(map[string]engine.AlertState{"give-ups": engine.AlertFiring, spike: engine.AlertAcknowledged, "retries": engine.AlertFiring})
		if n := ask[engine.StatusAnswer](t, r.front, engine.StatusQuery{}).Engine.Alerts; n != 2 {
			t.Errorf("%d alerts fire unseen, want 2", n)
		}
		if again := ask[engine.Metrics](t, r.front, engine.MetricsQuery{}); fmt.Sprint(again.Statuses) != fmt.Sprint(statuses) {
			t.Errorf("after the restart: %v", again.Statuses)
		}
		time.Sleep(64 * time.Minute) // the last failure is an hour and five minutes ago
		r.wants(map[string]engine.AlertState{"give-ups": engine.AlertOK, spike: engine.AlertOK, "retries": engine.AlertOK})
		for _, id := range []string{"give-ups", spike, "retries"} {
			a := r.alert(id)
			if begun, over := r.told("alert: "+a.Name()), r.told("alert is over: "+a.Name()); begun != 1 || over != 1 {
				t.Errorf("%s: told %d times that it fires and %d times that it is over: %v", id, begun, over, r.states[id])
			}
		}
	})
}
