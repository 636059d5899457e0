package hub_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/hub"
	"github.com/farsight-console/farsight/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// still is telemetry that never moves, and rows that carry the job alone.
type still struct{}

func (still) Engine() (*engine.EngineRow, *engine.LimitsRow) {
	return &engine.EngineRow{State: engine.EngineLive}, &engine.LimitsRow{}
}
func (still) Queues() []engine.QueueRow              { return nil }
func (still) CallsAfter(uint64) []engine.CallRow     { return nil }
func (still) ETA(string) engine.ETA                  { return engine.ETA{} }
func (still) Start(engine.JobID) (time.Time, string) { return time.Time{}, "" }
func (still) Row(j engine.Job) engine.JobRow         { return engine.JobRow{Job: j} }

func stored(rows ...engine.AccountRow) hub.Accounts {
	return func(context.Context, engine.AccountsQuery) (engine.AccountsPage, error) {
		return engine.AccountsPage{Accounts: rows, Total: len(rows)}, nil
	}
}

func job(id string, rev engine.Revision, s engine.State) engine.Change {
	return engine.Change{Job: &engine.Job{ID: engine.JobID(id), Rev: rev, State: s}}
}

func account(id string, stored int) engine.Change {
	return engine.Change{Account: &engine.AccountRow{ID: id, Matches: engine.Progress{Stored: stored}}}
}

// view folds updates the way a console does.
type view struct {
	jobs     map[engine.JobID]engine.JobRow
	accounts map[string]engine.AccountRow
	gaps     int
}

func (v *view) apply(u engine.Update) {
	if u.Snapshot {
		v.jobs, v.accounts = map[engine.JobID]engine.JobRow{}, map[string]engine.AccountRow{}
	}
	if u.Gap {
		v.gaps++
	}
	for _, j := range u.Jobs {
		v.jobs[j.ID] = j
	}
	for _, id := range u.Gone {
		delete(v.jobs, id)
	}
	for _, a := range u.Accounts {
		v.accounts[a.ID] = a
	}
}

// watch reads updates until the hub has nothing more to say; pause is how long
// the reader's terminal takes for each.
func watch(ctx context.Context, h *hub.Hub, v *view, pause time.Duration) {
	for u := range h.Watch(ctx) {
		v.apply(u)
		if pause > 0 {
			time.Sleep(pause)
		}
	}
}

func TestASnapshotThenMergedUpdates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hub.New(hub.Options{Source: still{}, Accounts: stored(engine.AccountRow{ID: "a"}, engine.AccountRow{ID: "b"})})
		h.Publish(1, []engine.Change{account("a", 7)})
		ctx, cancel := context.WithCancel(t.Context())
		var v view
		done := make(chan struct{})
		go func() { defer close(done); watch(ctx, h, &v, 0) }()
		synctest.Wait()
		if v.accounts["a"].Matches.Stored != 7 || len(v.accounts) != 2 {
			t.Fatalf("the snapshot must lay changes over what is stored: %+v", v.accounts)
		}
		h.Publish(2, []engine.Change{job("1", 2, engine.Running), job("2", 2, engine.Available), account("b", 3)})
		h.Publish(3, []engine.Change{job("1", 3, engine.Completed), job("3", 5, engine.Retryable)})
		synctest.Wait()
		cancel()
		<-done
		if ids := slices.Sorted(maps.Keys(v.jobs)); !slices.Equal(ids, []engine.JobID{"3"}) {
			t.Errorf("live jobs = %v, want the one that waits to retry", ids)
		}
		if v.accounts["b"].Matches.Stored != 3 {
			t.Errorf("account b = %+v", v.accounts["b"])
		}
	})
}

// An account that was deleted leaves every console, also one that was reading the list
// just then; that is no gap.
func TestADeletedAccountLeavesTheConsoles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h *hub.Hub
		reads := 0
		h = hub.New(hub.Options{Source: still{}, Accounts: func(context.Context, engine.AccountsQuery) (engine.AccountsPage, error) {
			if reads++; reads == 1 {
				h.Publish(2, []engine.Change{{Forgotten: "a"}})
				return engine.AccountsPage{Accounts: []engine.AccountRow{{ID: "a"}, {ID: "b"}, {ID: "c"}}}, nil
			}
			return engine.AccountsPage{Accounts: []engine.AccountRow{{ID: "b"}, {ID: "c"}}[:4-reads]}, nil
		}})
		h.Publish(1, []engine.Change{account("a", 7)})
		ctx, cancel := context.WithCancel(t.Context())
		var v view
		done := make(chan struct{})
		go func() { defer close(done); watch(ctx, h, &v, 0) }()
		synctest.Wait()
		if ids := slices.Sorted(maps.Keys(v.accounts)); !slices.Equal(ids, []string{"b", "c"}) {
			t.Errorf("accounts %v", ids)
		}
		h.Publish(3, []engine.Change{{Forgotten: "c"}})
		synctest.Wait()
		cancel()
		<-done
		if ids := slices.Sorted(maps.Keys(v.accounts)); !slices.Equal(ids, []string{"b"}) || v.gaps > 0 {
			t.Errorf("accounts %v, %d gaps", ids, v.gaps)
		}
	})
}

func TestAnOlderRevisionNeverReplacesANewer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hub.New(hub.Options{Source: still{}, Accounts: stored()})
		h.Publish(1, []engine.Change{job("1", 9, engine.Running), job("1", 8, engine.Retryable)})
		ctx, cancel := context.WithCancel(t.Context())
		var v view
		done := make(chan struct{})
		go func() { defer close(done); watch(ctx, h, &v, 0) }()
		synctest.Wait()
		cancel()
		<-done
		if got := v.jobs["1"]; got.Rev != 9 || got.State != engine.Running {
			t.Errorf("job = rev %d %s, want rev 9 running", got.Rev, got.State)
		}
	})
}

// A console that reads slowly is told of the gap and then sees exactly what a
// fast one sees, and nobody waited for it.
func TestP34_ASlowConsoleGetsAGapAndThenTheTruth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hub.New(hub.Options{Source: still{}, Accounts: stored()})
		ctx, cancel := context.WithCancel(t.Context())
		var fast, slow view
		done := make(chan struct{}, 2)
		go func() { watch(ctx, h, &fast, 0); done <- struct{}{} }()
		go func() { watch(ctx, h, &slow, time.Minute); done <- struct{}{} }()
		synctest.Wait()
		before := time.Now()
		for i := range 20_000 {
			s := engine.Running
			if i%3 == 0 {
				s = engine.Completed
			}
			h.Publish(uint64(i+1), []engine.Change{job(fmt.Sprint(i%9000), engine.Revision(i+1), s), account(fmt.Sprint(i%50), i)})
		}
		if waited := time.Since(before); waited != 0 {
			t.Errorf("the engine waited %s for a console", waited)
		}
		time.Sleep(10 * time.Minute)
		cancel()
		<-done
		<-done
		if slow.gaps == 0 {
			t.Error("the slow console was never told that it missed updates")
		}
		if !maps.EqualFunc(fast.jobs, slow.jobs, func(a, b engine.JobRow) bool { return a.Rev == b.Rev && a.State == b.State }) {
			t.Errorf("%d live jobs on the fast console, %d on the slow one", len(fast.jobs), len(slow.jobs))
		}
		if !maps.EqualFunc(fast.accounts, slow.accounts, func(a, b engine.AccountRow) bool { return a.Matches == b.Matches }) {
			t.Error("accounts differ between the consoles")
		}
	})
}

func TestAnIdleEngineWakesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hub.New(hub.Options{Source: still{}, Accounts: stored()})
		ctx, cancel := context.WithCancel(t.Context())
		updates := 0
		done := make(chan struct{}, 2)
		go func() { _ = h.Run(ctx); done <- struct{}{} }()
		go func() {
			for range h.Watch(ctx) {
				updates++
			}
			done <- struct{}{}
		}()
		time.Sleep(time.Hour)
		cancel()
		<-done
		<-done
		if updates != 1 {
			t.Errorf("%d updates in an idle hour, want the snapshot alone", updates)
		}
	})
}

// TestSnapshotHasAllPagesOfAccounts, not the first alone.
func TestSnapshotHasAllPagesOfAccounts(t *testing.T) {
	var rows []engine.AccountRow
	for i := range 7 {
		rows = append(rows, engine.AccountRow{ID: fmt.Sprint(i)})
	}
	pages := func(_ context.Context, q engine.AccountsQuery) (page engine.AccountsPage, err error) {
		from, _ := slices.BinarySearchFunc(rows, q.After, func(a engine.AccountRow, after string) int {
			if a.ID > after {
				return 1
			}
			return -1
		})
		to := min(from+q.Limit, len(rows))
		if page.Accounts = rows[from:to]; to < len(rows) {
			page.Next = rows[to-1].ID
		}
		return page, nil
	}
	h := hub.New(hub.Options{Source: still{}, Accounts: pages, AccountsPage: 2})
	for u := range h.Watch(t.Context()) {
		if len(u.Accounts) != len(rows) {
			t.Errorf("%d of %d accounts", len(u.Accounts), len(rows))
		}
		break
	}
}

// Consoles see what is stored; what is told of while it is read is newer.
func TestWhatIsStoredIsTakenIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(context.Background())
		h := hub.New(hub.Options{Source: still{}, Accounts: stored()})
		h.Publish(1, []engine.Change{job("ended", 1, engine.Running), job("moved", 1, engine.Running), job("kept", 1, engine.Running), account("gone", 1), account("newer", 1)})
		v := &view{}
		done := make(chan struct{})
		go func() { defer close(done); watch(ctx, h, v, 0) }()
		synctest.Wait()
		must(t, h.Load(func(yield func(engine.Job, error) bool) {
			_ = yield(*job("kept", 1, engine.Running).Job, nil) && yield(*job("begun", 1, engine.Running).Job, nil) &&
				yield(engine.Job{ID: "bent"}, engine.ErrUnreadable) && yield(*job("moved", 1, engine.Running).Job, nil)
			h.Publish(2, []engine.Change{job("moved", 2, engine.Completed), job("begun", 2, engine.Retryable), job("late", 1, engine.Running), account("newer", 3)})
		}, func() ([]engine.AccountRow, error) {
			return []engine.AccountRow{*account("newer", 2).Account, *account("open", 1).Account}, nil
		}))
		synctest.Wait()
		if v.gaps != 0 || len(v.jobs) != 3 || v.jobs["kept"].Rev != 1 || v.jobs["begun"].Rev != 2 || v.jobs["late"].Rev != 1 {
			t.Errorf("%d gaps, jobs %v", v.gaps, v.jobs)
		}
		if len(v.accounts) != 2 || v.accounts["newer"].Matches.Stored != 3 || v.accounts["open"].Matches.Stored != 1 {
			t.Errorf("accounts %v", v.accounts)
		}
		if err := h.Load(func(func(engine.Job, error) bool) {}, func() ([]engine.AccountRow, error) { return nil, engine.ErrNotFound }); err == nil {
			t.Error("what cannot be read is loaded")
		}
		stop()
		<-done
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// publish tells a hub of accounts and jobs.
func publish(h *hub.Hub, accounts []engine.AccountRow, jobs ...engine.Job) {
	var changes []engine.Change
	for i := range accounts {
		changes = append(changes, engine.Change{Account: &accounts[i]})
	}
	for i := range jobs {
		changes = append(changes, engine.Change{Job: &jobs[i]})
	}
	h.Publish(0, changes)
}
