// Package memstore is the store of the job engine in memory: the model that the
// real one is compared with. It is honest about transactions: an op is all or
// nothing, ops are serial, and changes are published after the commit, in order,
// before the writer is answered. What it holds survives its engine, so a crash is
// an engine that was cut off and another one that was put on the same store.
package memstore

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Store is a model of the engine's store. The zero value is not usable: see New.
type Store struct {
	mu       sync.Mutex
	seq      uint64
	last     uint64 // job id
	jobs     map[engine.JobID]engine.Job
	keys     map[string]engine.JobID // of live jobs
	attempts map[engine.JobID][]engine.Attempt
	members  map[engine.GroupID]map[engine.JobID]member
	memberOf map[engine.JobID][]engine.GroupID
	history  map[string][]engine.Transition
	queues   map[engine.Queue]engine.QueueState

	bad map[engine.JobID]bool // their records cannot be read

	onCommit func(seq uint64, changes []engine.Change)
	fault    func() error
	again    int
}

type member struct {
	mark             engine.Mark
	calls, throttled int
}

// New makes an empty store.
func New() *Store {
	return &Store{
		jobs: map[engine.JobID]engine.Job{}, keys: map[string]engine.JobID{},
		attempts: map[engine.JobID][]engine.Attempt{}, members: map[engine.GroupID]map[engine.JobID]member{},
		memberOf: map[engine.JobID][]engine.GroupID{}, history: map[string][]engine.Transition{},
		queues: map[engine.Queue]engine.QueueState{}, bad: map[engine.JobID]bool{},
	}
}

// OnCommit names the one function that gets the changes of every commit.
func (s *Store) OnCommit(f func(seq uint64, changes []engine.Change)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onCommit = f
}

// Fault is asked before every commit; its error fails the commit. nil = none.
func (s *Store) Fault(f func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// RunTwice lets every n-th op run twice, the first time for nothing, as a real
// store does when a neighbour of the same commit fails. 0 = never.
func (s *Store) RunTwice(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.again = n
}

// tx is one transaction; undo takes back what it wrote, last first.
type tx struct {
	s        *Store
	writable bool
	now      time.Time
	undo     []func()
	changes  []engine.Change
}

// Write runs fn as one transaction.
func (s *Store) Write(ctx context.Context, fn func(engine.Tx) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.again > 0 && int(s.seq)%s.again == 0 {
		t := s.begin(true)
		_ = fn(t)
		t.rollback()
	}
	t := s.begin(true)
	if err := fn(t); err != nil {
		t.rollback()
		return err
	}
	if s.fault != nil {
		if err := s.fault(); err != nil {
			t.rollback()
			return err
		}
	}
	if len(t.undo) == 0 && len(t.changes) == 0 {
		return nil
	}
	s.seq++
	for i := range t.changes {
		t.changes[i].Seq = s.seq
	}
	if s.onCommit != nil {
		s.onCommit(s.seq, t.changes)
	}
	return nil
}

// Read runs fn on what is committed.
func (s *Store) Read(ctx context.Context, fn func(engine.Tx) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return fn(s.begin(false))
}

func (s *Store) begin(writable bool) *tx {
	return &tx{s: s, writable: writable, now: time.Now().UTC().Truncate(time.Millisecond)}
}

func (t *tx) rollback() {
	for _, f := range slices.Backward(t.undo) {
		f()
	}
	t.undo, t.changes = nil, nil
}

// set writes m[k] = v and remembers what was there.
func set[K comparable, V any](t *tx, m map[K]V, k K, v V) {
	if !t.writable {
		panic("memstore: write in a reading transaction")
	}
	old, had := m[k]
	t.undo = append(t.undo, func() {
		if had {
			m[k] = old
		} else {
			delete(m, k)
		}
	})
	m[k] = v
}

func unset[K comparable, V any](t *tx, m map[K]V, k K) {
	if old, had := m[k]; had {
		t.undo = append(t.undo, func() { m[k] = old })
		delete(m, k)
	}
}

func own(x engine.Tx) *tx { return x.(*tx) }

// Emit adds a change that is published after the commit.
func (t *tx) Emit(c engine.Change) { t.changes = append(t.changes, c) }

// Job gives a live or ended job.
func (s *Store) Job(x engine.Tx, id engine.JobID) (engine.Job, error) { return own(x).job(id) }

func (t *tx) job(id engine.JobID) (engine.Job, error) {
	j, ok := t.s.jobs[id]
	if t.s.bad[id] {
		return engine.Job{}, errBad
	}
	if !ok {
		return engine.Job{}, fmt.Errorf("job %s: %w", id, engine.ErrNotFound)
	}
	return j, nil
}

// JobByKey gives the live job that holds the key.
func (s *Store) JobByKey(x engine.Tx, key string) (engine.Job, error) {
	id, ok := s.keys[key]
	if !ok || key == "" {
		return engine.Job{}, fmt.Errorf("live job with key %q: %w", key, engine.ErrNotFound)
	}
	return own(x).job(id)
}

// SaveJob stores a newer revision of a job.
func (s *Store) SaveJob(x engine.Tx, j engine.Job) error {
	t := own(x)
	old, err := t.job(j.ID)
	if err != nil {
		return err
	}
	if j.Rev <= old.Rev {
		return fmt.Errorf("job %s at revision %d, stored is %d: %w", j.ID, j.Rev, old.Rev, engine.ErrStale)
	}
	if holder, held := s.keys[j.Key]; held && holder != j.ID && j.State.Live() {
		return engine.Problemf(engine.ErrConflict, "", "job %s holds %s", holder, j.Key)
	}
	j.HasParents = j.HasParents || old.HasParents
	set(t, s.jobs, j.ID, j)
	switch {
	case j.Key == "":
	case j.State.Live():
		set(t, s.keys, j.Key, j.ID)
	case s.keys[j.Key] == j.ID:
		unset(t, s.keys, j.Key)
	}
	t.Emit(engine.Moved(&old, &j))
	return nil
}

// AddAttempt appends one closed attempt or hold, and emits the change.
func (s *Store) AddAttempt(x engine.Tx, id engine.JobID, a engine.Attempt) error {
	set(own(x), s.attempts, id, append(slices.Clone(s.attempts[id]), a))
	own(x).Emit(engine.Change{Attempt: &a, Of: id})
	return nil
}

// AddHistory appends one transition.
func (s *Store) AddHistory(x engine.Tx, id string, tr engine.Transition) error {
	tr.Seq = uint64(len(s.history[id])) + 1
	set(own(x), s.history, id, append(slices.Clone(s.history[id]), tr))
	return nil
}

// Queue gives a queue's pause switch.
func (s *Store) Queue(_ engine.Tx, name engine.Queue) (engine.QueueState, error) {
	q := s.queues[name]
	q.Name = name
	return q, nil
}

// SetQueue stores a queue's pause switch.
func (s *Store) SetQueue(x engine.Tx, q engine.QueueState) error {
	set(own(x), s.queues, q.Name, q)
	own(x).Emit(engine.Change{Queue: &q})
	return nil
}

// Queues gives the pause switches.
func (s *Store) Queues(context.Context) ([]engine.QueueState, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.queues)), nil
}

// Live iterates the live jobs in id order.
func (s *Store) Live(context.Context) iter.Seq2[engine.Job, error] {
	s.mu.Lock()
	var live []engine.Job
	for _, j := range s.jobs {
		if j.State.Live() {
			live = append(live, j)
		}
	}
	s.mu.Unlock()
	slices.SortFunc(live, func(a, b engine.Job) int {
		return cmp.Compare(a.ID, b.ID)
	})
	return func(yield func(engine.Job, error) bool) {
		for _, j := range live {
			var err error
			if s.isBad(j.ID) {
				j, err = engine.Job{ID: j.ID}, errBad
			}
			if !yield(j, err) {
				return
			}
		}
	}
}

// Enqueue inserts jobs. A spec whose key a live job holds adds its parents to
// that job.
func (t *tx) Enqueue(specs ...engine.Spec) ([]engine.Enqueued, error) {
	out := make([]engine.Enqueued, 0, len(specs))
	for _, spec := range specs {
		out = append(out, t.enqueue(spec))
	}
	return out, nil
}

func (t *tx) enqueue(spec engine.Spec) engine.Enqueued {
	if id, held := t.s.keys[spec.Key]; held && spec.Key != "" {
		return t.join(t.s.jobs[id], spec.Parents)
	}
	t.s.last++ // a rolled back id is not used again
	j := t.newJob(engine.JobID(fmt.Sprintf("m%09d", t.s.last)), spec)
	set(t, t.s.jobs, j.ID, j)
	if j.Key != "" {
		set(t, t.s.keys, j.Key, j.ID)
	}
	t.addParents(j, spec.Parents)
	t.Emit(engine.Change{Job: &j, Before: j.State, New: true, Joined: spec.Parents})
	return engine.Enqueued{ID: j.ID, State: j.State}
}

func (t *tx) newJob(id engine.JobID, spec engine.Spec) engine.Job {
	j := engine.Job{
		ID: id, Rev: 1, Round: 1, State: engine.Available, Created: t.now, Kind: spec.Kind, Queue: spec.Queue,
		Key: spec.Key, Lock: spec.Lock, Owner: spec.Owner, Args: spec.Args, Priority: spec.Priority, Policy: spec.Policy,
		By: spec.By, HasParents: len(spec.Parents) > 0,
	}
	if j.Priority == 0 {
		j.Priority = engine.PriorityNormal
	}
	if spec.RunAt.After(t.now) {
		j.State, j.Due = engine.Scheduled, spec.RunAt
	}
	return j
}

func (t *tx) join(j engine.Job, parents []engine.GroupID) engine.Enqueued {
	t.addParents(j, parents)
	if len(parents) > 0 && !j.HasParents {
		j.HasParents = true
		set(t, t.s.jobs, j.ID, j)
	}
	if len(parents) > 0 {
		t.Emit(engine.Change{Job: &j, Before: j.State, Joined: parents})
	}
	return engine.Enqueued{ID: j.ID, Duplicate: true, State: j.State}
}
