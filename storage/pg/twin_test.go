package pg

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/alert"
	"github.com/farsight-console/farsight/engine/control"
	"github.com/farsight-console/farsight/engine/cron"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/local"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/engine/pager"
	"github.com/farsight-console/farsight/internal/pgtest"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/internal/both"
)

// store is what both stores are asked: what every part of the engine needs of one.
type store interface {
	local.Store
	control.Store
	cron.Store
	ingest.Store
	operation.Forgetting
	Prune(ctx context.Context, rule engine.PruneAsk, now time.Time, dryRun bool) (engine.PruneDone, error)
	DropExpired(ctx context.Context, keep league.Span, now time.Time, dryRun bool) ([]both.DroppedMonth, error)
	Recent(ctx context.Context, account string, n int) ([]engine.Attempt, error)
	OnCommit(func(seq uint64, changes []engine.Change))
}

var (
	_ pager.Store = (*DB)(nil)
	_ alert.Store = (*DB)(nil)
)

// twins are the store in a directory and the one on PostgreSQL, to which the same is done. The
// first is the oracle of the second.
type twins struct {
	dir   string
	t     testing.TB
	both  [2]store
	mu    sync.Mutex         // a store tells of what it does by itself, too
	told  [2][]engine.Change // under mu
	jobs  []engine.JobID
	round int
}

// eachTwin runs a test on twins, in a bubble, so that both have the same time.
func eachTwin(t *testing.T, test func(w *twins)) {
	url, dir := pgtest.Schema(t), t.TempDir()+"/data"
	synctest.Test(t, func(t *testing.T) {
		disk, err := storage.Open(storage.Options{Dir: dir})
		must(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- disk.Serve(ctx) }()
		server, err := Open(ctx, Options{URL: url})
		must(t, err)
		w := &twins{dir: dir, t: t, both: [2]store{disk, server}}
		for i, s := range w.both {
			s.OnCommit(func(_ uint64, changes []engine.Change) {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.told[i] = append(w.told[i], changes...)
			})
		}
		defer func() {
			if r, err := server.Check(ctx); err != nil || !r.Sound() {
				t.Error(r.Findings, err)
			}
			cancel()
			if err := errors.Join(<-ended, disk.Close(), server.Close()); err != nil {
				t.Error(err)
			}
		}()
		test(w)
	})
}

// same asks both and wants one answer.
func (w *twins) same(what string, ask func(s store) (any, error)) {
	w.t.Helper()
	var said [2]string
	for i, s := range w.both {
		v, err := ask(s)
		b, bad := json.Marshal(v)
		must(w.t, bad)
		said[i] = string(b) + " " + kindOf(err)
	}
	if said[0] != said[1] {
		w.t.Fatalf("round %d, %s: the directory says\n%s\nPostgreSQL says\n%s", w.round, what, said[0], said[1])
	}
}

// kindOf is what callers can tell of an error.
func kindOf(err error) string {
	for _, kind := range []error{engine.ErrNotFound, engine.ErrConflict, engine.ErrRefused, engine.ErrInvalid, engine.ErrStale} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	return fmt.Sprint(err)
}

// write does the same in a transaction of each.
func (w *twins) write(what string, fn func(s store, tx engine.Tx) (any, error)) {
	w.t.Helper()
	w.same(what, func(s store) (v any, err error) {
		err = s.Write(context.Background(), func(tx engine.Tx) (err error) {
			v, err = fn(s, tx)
			return err
		})
		return v, err
	})
}

// sameChanges wants that both have told of the same.
func (w *twins) sameChanges() {
	w.t.Helper()
	w.mu.Lock()
	told := w.told
	w.told = [2][]engine.Change{}
	w.mu.Unlock()
	for i := range told {
		for j := range told[i] {
			told[i][j].Seq = 0
		}
	}
	i := -1
	w.same("what was told of", func(store) (any, error) { i++; return told[i], nil })
}

// rounds changes both and looks at what they have told of, and asks them in every tenth round.
func (w *twins) rounds(n int, r *rand.Rand, change, ask func(*rand.Rand)) {
	for w.round = range n {
		change(r)
		w.sameChanges()
		if w.round%10 == 9 {
			ask(r)
		}
		time.Sleep(time.Duration(r.IntN(7200_000)) * time.Millisecond)
	}
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// Whatever becomes of jobs, families, pauses, schedules and commands: both stores say the same of
// it.
func TestBothStoresSayTheSameOfJobs(t *testing.T) {
	eachTwin(t, func(w *twins) {
		w.rounds(120, rand.New(rand.NewPCG(13, 1)), w.change, w.askOfJobs)
	})
}

func (w *twins) job(r *rand.Rand) engine.JobID {
	if len(w.jobs) == 0 {
		return "a1"
	}
	return w.jobs[r.IntN(len(w.jobs))]
}

// change does one thing to both.
func (w *twins) change(r *rand.Rand) {
	id, now := w.job(r), time.Now().UTC()
	by := engine.Actor{User: "ana", Session: "s1", Via: "tui"}
	switch r.IntN(10) {
	case 0, 1, 2:
		specs := make([]engine.Spec, 1+r.IntN(4))
		for i := range specs {
			specs[i] = engine.Spec{
				Kind: pick[engine.Kind](r, "match.fetch", engine.KindCall), Queue: pick[engine.Queue](r, "q1", "q2"),
				Owner: pick(r, "", "01A", "01B"), Args: json.RawMessage(`{"a": "\u0000é"}`), By: pick(r, "", "ana"),
			}
			if r.IntN(3) > 0 {
				specs[i].Key = fmt.Sprint("Match:", r.IntN(20))
			}
			if len(w.jobs) > 0 && r.IntN(2) == 0 {
				specs[i].Parents = []engine.GroupID{{Parent: w.job(r), Group: 1 + r.IntN(2)}}
			}
			if r.IntN(4) == 0 {
				specs[i].RunAt = now.Add(time.Hour)
			}
		}
		w.write("enqueue", func(_ store, tx engine.Tx) (any, error) {
			return tx.Enqueue(specs...)
		})
		w.remember()
	case 3, 4, 5, 6:
		to := pick(r, engine.Running, engine.Retryable, engine.Scheduled, engine.Available, engine.Completed, engine.Discarded, engine.Cancelled)
		a := engine.Attempt{
			Number: r.IntN(3), Round: 1, Try: 1 + r.IntN(2), Start: now.Add(-time.Minute), End: now, Verb: pick(r, engine.VerbDone, engine.VerbRetry, engine.VerbInterrupted),
			Hold: pick(r, engine.HoldNone, engine.HoldThrottled), Class: "503", Err: "oh\u202e", External: pick(r, "", "CA1", "CA2"), Status: 503,
			Queued: 1234567, HTTP: time.Second, Next: now.Add(time.Hour), Decision: "step 1", Worker: 3,
		}
		bump, throttled := engine.Revision(r.IntN(4)), r.IntN(2)
		w.write("move", func(s store, tx engine.Tx) (any, error) {
			j, err := s.Job(tx, id)
			if err != nil {
				return nil, err
			}
			if j.State.Terminal() && to.Terminal() {
				return nil, engine.ErrRefused // no job moves so
			}
			if j.Rev += bump; bump > 0 {
				j.State, j.Due, j.Class, j.LastError = to, now.Add(time.Minute), "503", "no"
				j.AddFailure(now)
				if j.Finished = (time.Time{}); to.Terminal() {
					j.Finished = now
				}
			}
			if err := s.SaveJob(tx, j); err != nil {
				return nil, err
			}
			if err := s.AddAttempt(tx, id, a); err != nil {
				return nil, err
			}
			if err := s.AddHistory(tx, string(id), engine.Transition{At: now, From: "a", To: "b", Reason: "r", Actor: "x"}); err != nil {
				return nil, err
			}
			groups, err := s.Mark(tx, id, engine.MarkOf(to), 1, throttled)
			if err != nil {
				return nil, err
			}
			parents, err := tx.Parents(id)
			return []any{groups, parents}, err
		})
	case 7:
		q := engine.QueueState{Name: pick[engine.Queue](r, "q1", "q2"), Paused: r.IntN(2) == 0, By: by, Since: now, Reason: "so"}
		w.write("pause", func(s store, tx engine.Tx) (any, error) {
			var seen [3]engine.QueueState
			for i, name := range []engine.Queue{q.Name, q.Name, "never set"} {
				var err error
				if seen[i], err = s.Queue(tx, name); err != nil {
					return nil, err
				}
				if i == 0 {
					if err := s.SetQueue(tx, q); err != nil {
						return nil, err
					}
				}
			}
			return seen, nil
		})
	case 8:
		e := engine.AuditEntry{
			At: now, By: by, Op: pick(r, engine.OpPause, engine.OpRetry), Target: fmt.Sprint("Target ", w.round), Result: "done", Matched: 3, Applied: 2,
			Moves: []engine.JobMove{{Job: id}}[:r.IntN(2)],
		}
		w.write("audit", func(s store, tx engine.Tx) (any, error) { return s.AddAudit(tx, e) })
	default:
		name := pick(r, "daily", "weekly")
		tick := cron.Tick{ID: fmt.Sprint(name, r.IntN(20)), Schedule: name, Planned: now, At: now}
		w.write("tick", func(s store, tx engine.Tx) (any, error) {
			state, err := s.Schedule(tx, name)
			if err != nil && !errors.Is(err, engine.ErrNotFound) {
				return nil, err
			}
			state.Name, state.Next, state.By = name, now.Add(time.Hour), by
			fresh, bad := s.RecordTick(tx, tick)
			return []any{state, kindOf(err), fresh}, errors.Join(bad, s.SaveSchedule(tx, state))
		})
		w.same("state", func(s store) (any, error) {
			return nil, s.SaveState(context.Background(), name, []byte{byte(w.round)})
		})
	}
}

// remember notes the ids of all jobs.
func (w *twins) remember() {
	w.jobs = nil
	q := engine.JobsQuery{Ended: true, Page: engine.Page{Limit: 500}}
	jobs, _, _, err := w.both[0].Jobs(context.Background(), q)
	must(w.t, err)
	for _, j := range jobs {
		w.jobs = append(w.jobs, j.ID)
	}
}

func (w *twins) askOfJobs(r *rand.Rand) {
	ctx, now := context.Background(), time.Now().UTC()
	page := engine.Page{Limit: pick(r, 0, 1, 3, 7)}
	for _, q := range []engine.JobsQuery{
		{}, {Ended: true}, {Oldest: true}, {Queue: "q1", Ended: true}, {Kind: engine.KindCall}, {Owner: "01A", Ended: true}, {Text: "mATCH:1", Ended: true},
		{States: []engine.State{engine.Discarded, engine.Cancelled}}, {States: []engine.State{engine.Running, engine.Completed}}, {Page: engine.Page{After: "nonsense"}},
	} {
		if q.After == "" {
			q.Page = page
		}
		w.same(fmt.Sprintf("jobs %+v", q), func(s store) (any, error) {
			var pages []any
			for q := q; ; {
				jobs, next, total, err := s.Jobs(ctx, q)
				pages = append(pages, jobs, total)
				if err != nil || next == "" {
					return pages, err
				}
				q.After = next
			}
		})
	}
	w.same("log", func(s store) (any, error) { return s.JobLog(ctx, engine.JobLogQuery{Page: page, Queue: "q1"}) })
	for _, id := range slices.Concat(w.jobs[:min(len(w.jobs), 40)], []engine.JobID{"z9", "a0"}) {
		w.same("detail", func(s store) (any, error) { return s.Detail(ctx, engine.JobQuery{ID: id}) })
		w.same("family", func(s store) (v any, err error) {
			err = s.Read(ctx, func(tx engine.Tx) error {
				groups, err := s.Groups(tx, id)
				open, bad := s.OpenChildren(tx, id)
				slices.Sort(open) // in any order
				v = []any{groups, open}
				return errors.Join(err, bad)
			})
			return v, err
		})
	}
	for _, q := range []engine.JobQuery{{Key: "Match:1"}, {Key: "Match:77"}, {External: "CA1"}, {External: "CA9"}} {
		w.same("detail", func(s store) (any, error) { return s.Detail(ctx, q) })
	}
	for _, q := range []engine.AuditQuery{{}, {Page: page}, {Op: engine.OpPause}, {Text: "TARGET 1"}, {Text: "ANA"}, {Seq: 2}, {Seq: 9999}, {Page: engine.Page{After: "5"}}, {Page: engine.Page{After: "x"}}} {
		w.same(fmt.Sprintf("audits %+v", q), func(s store) (any, error) { return s.Audits(ctx, q) })
	}
	w.same("audit", func(s store) (any, error) { return s.Audit(ctx, 3) })
	w.same("discards", func(s store) (any, error) { return s.Discards(ctx) })
	w.same("days", func(s store) (any, error) { return s.Days(ctx, 5, now) })
	w.same("recent", func(s store) (any, error) { return s.Recent(ctx, "01A", 5) })
	w.same("spent", func(s store) (any, error) { return s.Spent(ctx, "01A", 300) })
	w.same("queues", func(s store) (any, error) { return s.Queues(ctx) })
	w.same("state", func(s store) (any, error) { return s.LoadState(ctx, "daily") })
	w.same("no state", func(s store) (any, error) { return s.LoadState(ctx, "nothing") })
	w.same("totals", func(s store) (any, error) { return s.Totals(ctx) })
	w.same("live", func(s store) (any, error) {
		var live []engine.Job
		for j, err := range s.Live(ctx) {
			if err != nil {
				return nil, err
			}
			live = append(live, j)
		}
		return live, nil
	})
}
