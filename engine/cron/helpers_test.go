package cron

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// memory is a store with honest transactions: an op is all or nothing, and every
// third one runs twice, the first time for nothing.
type memory struct {
	mu     sync.Mutex
	rows   rows
	writes int
	fail   func() error // asked before each commit
}

type rows struct {
	states map[string]State
	ticks  map[string]Tick
	jobs   []engine.Job
}

func newMemory() *memory {
	return &memory{rows: rows{states: map[string]State{}, ticks: map[string]Tick{}}}
}

func (r rows) clone() rows {
	c := rows{states: map[string]State{}, ticks: map[string]Tick{}, jobs: slices.Clone(r.jobs)}
	for k, v := range r.states {
		v.Skipped = slices.Clone(v.Skipped)
		c.states[k] = v
	}
	for k, v := range r.ticks {
		c.ticks[k] = v
	}
	return c
}

type memTx struct{ rows *rows }

func (m *memory) Write(ctx context.Context, fn func(engine.Tx) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.writes++; m.writes%3 == 0 {
		lost := m.rows.clone()
		_ = fn(&memTx{&lost})
	}
	next := m.rows.clone()
	if err := fn(&memTx{&next}); err != nil {
		return err
	}
	if m.fail != nil {
		if err := m.fail(); err != nil {
			return err
		}
	}
	m.rows = next
	return nil
}

func (m *memory) Read(ctx context.Context, fn func(engine.Tx) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return fn(&memTx{&m.rows})
}

func (m *memory) Schedule(tx engine.Tx, name string) (State, error) {
	s, ok := tx.(*memTx).rows.states[name]
	if !ok {
		return State{}, fmt.Errorf("schedule %s: %w", name, engine.ErrNotFound)
	}
	s.Skipped = slices.Clone(s.Skipped)
	return s, nil
}

func (m *memory) SaveSchedule(tx engine.Tx, s State) error {
	tx.(*memTx).rows.states[s.Name] = s
	return nil
}

func (m *memory) RecordTick(tx engine.Tx, t Tick) (bool, error) {
	if _, ok := tx.(*memTx).rows.ticks[t.ID]; ok {
		return false, nil
	}
	tx.(*memTx).rows.ticks[t.ID] = t
	return true, nil
}

func (t *memTx) Enqueue(specs ...engine.Spec) (out []engine.Enqueued, err error) {
	for _, s := range specs {
		if s.Key != "" {
			i := slices.IndexFunc(t.rows.jobs, func(j engine.Job) bool { return j.Key == s.Key && j.State.Live() })
			if i >= 0 {
				out = append(out, engine.Enqueued{ID: t.rows.jobs[i].ID, Duplicate: true, State: t.rows.jobs[i].State})
				continue
			}
		}
		j := engine.Job{ID: engine.JobID(fmt.Sprint(len(t.rows.jobs) + 1)), Kind: s.Kind, Key: s.Key, State: engine.Available}
		t.rows.jobs = append(t.rows.jobs, j)
		out = append(out, engine.Enqueued{ID: j.ID, State: j.State})
	}
	return out, nil
}

func (t *memTx) Parents(engine.JobID) ([]engine.Parent, error) { return nil, nil }
func (t *memTx) Emit(engine.Change)                            {}

// keys gives the keys of all jobs ever inserted, in order.
func (m *memory) keys() (keys []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, j := range m.rows.jobs {
		keys = append(keys, j.Key)
	}
	return keys
}

// end ends every job, so that its key is free.
func (m *memory) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.rows.jobs {
		m.rows.jobs[i].State = engine.Completed
	}
}

func (m *memory) state(name string) State {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rows.states[name]
}

// perTick inserts one job per tick, under the tick's id.
func perTick() Fire {
	return Insert(func(t Tick) []engine.Spec { return []engine.Spec{{Kind: "test", Key: t.ID}} })
}

// oneKey inserts a job under one key: the run before must have ended.
func oneKey(key string) Fire {
	return Insert(func(Tick) []engine.Spec { return []engine.Spec{{Kind: "test", Key: key}} })
}

// bench is a bubble with a movable wall clock and notes.
type bench struct {
	t     *testing.T
	store *memory
	mu    sync.Mutex
	shift time.Duration
	notes []string
	ticks []engine.ScheduleTick // as OnTick told them
	stop  []func()
}

// in2026 runs a test in a bubble whose wall clock starts at 2026-03-02 (a Monday)
// 12:10 UTC.
func in2026(t *testing.T, body func(*bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{t: t, store: newMemory()}
		b.shift = time.Until(time.Date(2026, 3, 2, 12, 10, 0, 0, time.UTC))
		was := wallNow
		wallNow = b.now
		defer func() {
			b.crash()
			wallNow = was
		}()
		body(b)
	})
}

func (b *bench) now() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return time.Now().Add(b.shift).UTC().Round(0)
}

// move sets the wall clock ahead or back; the monotonic one does not notice.
func (b *bench) move(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shift += d
}

// start runs a new engine's schedules on the store.
func (b *bench) start(specs ...Spec) *Runner {
	b.t.Helper()
	r, err := New(Options{Store: b.store, Specs: specs, OnNote: b.note, OnTick: b.tick, NoRoom: func(err error) bool { return errors.Is(err, errFull) }})
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	b.stop = append(b.stop, func() {
		cancel()
		if err := <-ended; err != nil {
			b.t.Errorf("Run ended with %v", err)
		}
	})
	synctest.Wait()
	return r
}

// crash ends all engines; the store stays.
func (b *bench) crash() {
	for _, stop := range b.stop {
		stop()
	}
	b.stop = nil
}

func (b *bench) note(n engine.Note) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notes = append(b.notes, n.Text)
}

func (b *bench) tick(_ string, t engine.ScheduleTick) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ticks = append(b.ticks, t)
}

// told gives the results of the ticks that were told since it was last asked.
func (b *bench) told() (results []engine.TickResult) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range b.ticks {
		results = append(results, t.Result)
	}
	b.ticks = nil
	return results
}

func (b *bench) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// wantJobs compares the keys of all jobs ever inserted.
func (b *bench) wantJobs(want ...string) {
	b.t.Helper()
	if got := b.store.keys(); !slices.Equal(got, want) {
		b.t.Errorf("jobs are\n%q, want\n%q", got, want)
	}
}

var errFull = errors.New("no room")

var ana = engine.Actor{User: "ana", Via: "console"}
