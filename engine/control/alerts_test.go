package control_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/alert"
	"github.com/farsight-console/farsight/engine/control"
	"github.com/farsight-console/farsight/storage"
)

// alertRig is a control on a real store with real alerts; the key can be refused.
type alertRig struct {
	*control.Control
	db      *storage.DB
	alerts  *alert.Runner
	backend *backend
	refused atomic.Bool
	stop    func()
}

// inAlertRig runs a test on a rig in virtual time that begins late on a day in November 2026.
func inAlertRig(t *testing.T, f func(t *testing.T, r *alertRig)) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 20, 22, 30, 0, 0, time.UTC)))
		r := openAlertRig(t, dir)
		f(t, r)
		r.stop()
	})
}

func openAlertRig(t *testing.T, dir string) *alertRig {
	t.Helper()
	db, err := storage.Open(storage.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	r := &alertRig{db: db, backend: &backend{}}
	monitor := alert.New(alert.Options{Policies: engine.DefaultPolicies()})
	r.alerts = alert.NewRunner(alert.RunnerOptions{
		Monitor: monitor, Store: db, OnNote: func(n engine.Note) { r.Note(n) },
		Read: func(context.Context, time.Time) alert.Reading { return alert.Reading{KeyRejected: r.refused.Load()} },
	})
	r.alerts.Load(t.Context())
	r.Control = control.New(control.Options{
		Store: db, Backend: r.backend, Syncer: syncer{}, Limiter: &limiter{state: engine.EngineLive}, Keys: &keys{},
		Alerts: r.alerts, Also: []control.Runner{r.alerts}, Policies: engine.DefaultPolicies(), Boot: "boot",
	})
	db.OnCommit(func(seq uint64, changes []engine.Change) {
		r.Publish(seq, changes)
		r.alerts.Publish(changes)
	})
	serving, stopStore := context.WithCancel(context.Background())
	running, stopEngine := context.WithCancel(context.Background())
	served, ran := make(chan error, 1), make(chan error, 1)
	go func() { served <- db.Serve(serving) }()
	go func() { ran <- r.Run(running) }()
	r.stop = func() {
		stopEngine()
		err := <-ran
		stopStore()
		if err := errors.Join(err, <-served, db.Close()); err != nil {
			t.Error(err)
		}
	}
	return r
}

func answer[T any](t *testing.T, c engine.Console, q engine.Query) T {
	t.Helper()
	a, err := c.Find(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return a.(T)
}

func stateOf(t *testing.T, c engine.Console, id string) engine.AlertState {
	t.Helper()
	for _, a := range answer[engine.AlertsAnswer](t, c, engine.AlertsQuery{}).Alerts {
		if a.ID == id {
			return a.State
		}
	}
	return ""
}

// A console sees an alert fire, acknowledges it, silences it and lets it be heard
// again; each of it is audited, and refusals are too.
func TestS2_10_AcknowledgeAndSilenceThroughTheConsole(t *testing.T) {
	inAlertRig(t, func(t *testing.T, r *alertRig) {
		watching, leave := context.WithCancel(t.Context())
		var seen []engine.AlertState
		var notes []string
		left := make(chan struct{})
		go func() {
			defer close(left)
			for u := range r.Watch(watching) {
				for _, a := range u.Alerts {
					if n := len(seen); a.ID == "key" && (n == 0 || seen[n-1] != a.State) {
						seen = append(seen, a.State)
					}
				}
				for _, n := range u.Notes {
					notes = append(notes, n.Text)
				}
			}
		}()
		time.Sleep(10 * time.Second)
		do := func(c engine.Command, want engine.AlertState, firing int) engine.Receipt {
			t.Helper()
			c.By, c.Reason = ana, "because"
			got, err := r.Do(t.Context(), c)
			if err != nil || got.Text == "" || got.Audit == 0 {
				t.Errorf("%s %s: %+v %v", c.Op, c.Alert, got, err)
			}
			status := answer[engine.StatusAnswer](t, r, engine.StatusQuery{})
			if s := stateOf(t, r, c.Alert); s != want || status.Engine.Alerts != firing {
				t.Errorf("after %s: %s with %d firing, want %s with %d", c.Op, s, status.Engine.Alerts, want, firing)
			}
			time.Sleep(time.Second)
			return got
		}
		refuse := func(code error, c engine.Command) {
			t.Helper()
			if _, err := r.Do(t.Context(), c); !errors.Is(err, code) {
				t.Errorf("%+v: %v, want %v", c, err, code)
			}
		}
		now := time.Now()
		refuse(engine.ErrConflict, engine.Command{Op: engine.OpAck, Alert: "key", By: ana})
		refuse(engine.ErrNotFound, engine.Command{Op: engine.OpAck, Alert: "nonsense", By: ana})
		refuse(engine.ErrInvalid, engine.Command{Op: engine.OpSilence, By: ana})
		refuse(engine.ErrInvalid, engine.Command{Op: engine.OpSilence, Alert: "key", At: now.Add(8 * 24 * time.Hour), By: ana})
		refuse(engine.ErrNotFound, engine.Command{Op: engine.OpSilence, Alert: "nonsense", At: now.Add(time.Hour), By: ana})
		refuse(engine.ErrNotFound, engine.Command{Op: engine.OpSilence, Alert: "nonsense", At: now.Add(time.Hour), DryRun: true})
		refuse(engine.ErrConflict, engine.Command{Op: engine.OpAck, Alert: "key", DryRun: true})

		r.refused.Store(true)
		time.Sleep(6 * time.Second)
		if got, err := r.Do(t.Context(), engine.Command{Op: engine.OpAck, Alert: "key", DryRun: true}); err != nil || got.Applied != 0 || stateOf(t, r, "key") != engine.AlertFiring {
			t.Errorf("dry run: %+v %v", got, err)
		}
		do(engine.Command{Op: engine.OpAck, Alert: "key"}, engine.AlertAcknowledged, 0)
		if got := do(engine.Command{Op: engine.OpAck, Alert: "key"}, engine.AlertAcknowledged, 0); !got.Nothing {
			t.Errorf("twice: %+v", got)
		}
		until := time.Now().Add(2 * time.Hour)
		if got := do(engine.Command{Op: engine.OpSilence, Alert: "key", At: until}, engine.AlertSilenced, 0); !got.Due.Equal(until) {
			t.Errorf("silenced: %+v", got)
		}
		do(engine.Command{Op: engine.OpSilence, Alert: "key"}, engine.AlertAcknowledged, 0)
		r.refused.Store(false)
		time.Sleep(6 * time.Second)
		leave()
		<-left

		if want := []engine.AlertState{engine.AlertOK, engine.AlertFiring, engine.AlertAcknowledged, engine.AlertSilenced, engine.AlertAcknowledged, engine.AlertOK}; !slices.Equal(seen, want) {
			t.Errorf("a console saw %v, want %v", seen, want)
		}
		told := strings.Join(notes, "\n")
		if !strings.Contains(told, "alert: no valid key") || !strings.Contains(told, "alert is over: no valid key") {
			t.Errorf("notes: %q", notes)
		}
		entries, err := r.db.Audit(t.Context(), 100)
		if err != nil || len(entries) != 9 {
			t.Fatalf("%d audit entries, %v", len(entries), err)
		}
		for _, e := range entries {
			if e.By != ana || e.Result == "" {
				t.Errorf("audit entry %+v lacks who or what came of it", e)
			}
		}
		if e := entries[0]; e.Op != engine.OpSilence || e.Target != "alert key" || e.Reason != "because" {
			t.Errorf("the last entry is %+v", e)
		}
	})
}

// Who browses sees the alerts and metrics as the last engine left them.
func TestBrowseAnswersAlertsFromWhatIsStored(t *testing.T) {
	inAlertRig(t, func(t *testing.T, r *alertRig) {
		r.refused.Store(true)
		time.Sleep(6 * time.Second)
		if _, err := r.Do(t.Context(), engine.Command{Op: engine.OpAck, Alert: "key", By: ana}); err != nil {
			t.Fatal(err)
		}
		live := answer[engine.AlertsAnswer](t, r, engine.AlertsQuery{})
		monitor := alert.New(alert.Options{})
		stored := alert.NewRunner(alert.RunnerOptions{Monitor: monitor, Store: r.db})
		stored.Load(t.Context())
		b := browse(r.db, control.Stored{Do: "start it", Alerts: stored})
		got := answer[engine.AlertsAnswer](t, b, engine.AlertsQuery{})
		if len(got.Alerts) != len(live.Alerts) || !got.At.Equal(live.At) || stateOf(t, b, "key") != engine.AlertAcknowledged {
			t.Errorf("stored: %+v, live: %+v", got, live)
		}
		if _, err := b.Do(t.Context(), engine.Command{Op: engine.OpAck, Alert: "key"}); !errors.Is(err, engine.ErrReadOnly) {
			t.Errorf("acknowledged without an engine: %v", err)
		}
		if m := answer[engine.Metrics](t, b, engine.MetricsQuery{Days: 3}); len(m.Days) != 1 || m.Until.IsZero() {
			t.Errorf("metrics: %+v", m)
		}
		none := browse(r.db, control.Stored{Do: "start it"})
		if a := answer[engine.AlertsAnswer](t, none, engine.AlertsQuery{}); len(a.Alerts) != 0 || !a.At.IsZero() {
			t.Errorf("without alerts: %+v", a)
		}
	})
}

// Speed, failure rate, retry rate and queue length come in one answer, with the
// stored sums of days.
func TestS4_11_Metrics(t *testing.T) {
	inAlertRig(t, func(t *testing.T, r *alertRig) {
		queues := []engine.QueueRow{{
			QueueState: engine.QueueState{Name: "q"},
			Counts:     map[engine.State]int{engine.Available: 3, engine.Scheduled: 2, engine.Retryable: 4, engine.Running: 7, engine.Pending: 9},
		}}
		rewrite(func() { r.backend.queues = queues })
		ends := func(state engine.State, tries int) {
			err := r.db.Write(t.Context(), func(tx engine.Tx) error {
				got, err := tx.Enqueue(engine.Spec{Kind: "k", Queue: "q"})
				if err != nil {
					return err
				}
				j, err := r.db.Job(tx, got[0].ID)
				if err != nil {
					return err
				}
				j.State, j.Rev, j.Attempts, j.Tries = engine.Running, 2, tries, tries
				if err := r.db.SaveJob(tx, j); err != nil {
					return err
				}
				verb := map[bool]engine.Verb{true: engine.VerbDone, false: engine.VerbRetry}
				for n := 1; n <= tries; n++ {
					a := engine.Attempt{Number: n, Try: n, End: time.Now(), Verb: verb[n == tries && state == engine.Completed], Class: "503"}
					if err := r.db.AddAttempt(tx, j.ID, a); err != nil {
						return err
					}
				}
				j.State, j.Rev, j.Finished = state, 3, time.Now()
				return r.db.SaveJob(tx, j)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		ends(engine.Completed, 1)
		ends(engine.Completed, 2)
		ends(engine.Completed, 1)
		ends(engine.Discarded, 5)
		m := answer[engine.Metrics](t, r, engine.MetricsQuery{Window: 10 * time.Minute, Days: 7})
		if m.Completed != 3 || m.Discarded != 1 || m.AtMax != 1 || m.PerMin != 0.4 || m.FailureRate != 0.25 || m.MeanAttempts != 2.25 {
			t.Errorf("jobs: %+v", m)
		}
		if m.Retries != 5 || m.RetriesWon != 1 || m.RetrySuccess != 0.2 || m.RetryRate != 5.0/9 || m.Statuses["503"] != 6 || m.Statuses["ok"] != 3 {
			t.Errorf("attempts: %+v", m)
		}
		if len(m.Waiting) != 1 || m.Waiting["q"] != 9 {
			t.Errorf("queue lengths: %v", m.Waiting)
		}
		want := engine.DaySum{Day: "2026-11-20", Completed: 3, Discarded: 1, Attempts: 9, Retries: 5, Won: 1}
		if len(m.Days) != 1 || m.Days[0] != want {
			t.Errorf("days: %+v, want %+v", m.Days, want)
		}
		time.Sleep(2 * time.Hour) // another day
		m = answer[engine.Metrics](t, r, engine.MetricsQuery{Days: 7})
		if m.Completed != 0 || m.FailureRate != 0 || len(m.Days) != 2 || m.Days[0] != want || m.Days[1] != (engine.DaySum{Day: "2026-11-21"}) {
			t.Errorf("the next day: %+v", m)
		}
		for _, q := range []engine.MetricsQuery{{Days: -1}, {Days: 401}, {Window: 2 * time.Hour}, {Window: -time.Minute}} {
			if _, err := r.Find(t.Context(), q); !errors.Is(err, engine.ErrInvalid) {
				t.Errorf("%+v: %v", q, err)
			}
		}
		log := answer[engine.JobLogPage](t, r, engine.JobLogQuery{})
		if len(log.Jobs) != 4 || log.Jobs[0].Status != engine.Discarded || log.Jobs[0].Retries != 4 {
			t.Errorf("S4-10: %+v", log)
		}
	})
}
