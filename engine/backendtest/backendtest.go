// Package backendtest says what every job engine must do, as test functions over
// one small interface. Each function is named after the acceptance row it proves
// and runs inside a synctest bubble: hours pass in no time.
//
// A function gets a fresh [Site] and opens nodes on it. A node that is cut commits
// nothing more, like a process that was killed; the next one on the same site is
// the restart.
package backendtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Backend is what a job engine offers besides its handlers.
type Backend interface {
	Run(ctx context.Context) error
	Insert(ctx context.Context, specs ...engine.Spec) ([]engine.Enqueued, error)
	// Act carries an operation out on one job.
	Act(ctx context.Context, c engine.Command) (engine.Receipt, error)
	Bulk(ctx context.Context, c engine.Command) (engine.Receipt, error)
	Undo(ctx context.Context, moves []engine.JobMove, by engine.Actor, reason string, dry bool) (engine.Receipt, error)
	Pause(ctx context.Context, q engine.Queue, by engine.Actor, reason string) (engine.Receipt, error)
	Resume(ctx context.Context, q engine.Queue, by engine.Actor, reason string) (engine.Receipt, error)
	Why(j engine.Job) (reason string, until time.Time, place int)
	Queues() []engine.QueueRow
}

// live are the counts of the queue of all jobs.
func live(b Backend) map[engine.State]int {
	for _, q := range b.Queues() {
		if q.Name == queue {
			return q.Counts
		}
	}
	return nil
}

// Node is one process: a backend on an open store.
type Node interface {
	Backend
	Detail(ctx context.Context, q engine.JobQuery) (engine.JobDetail, error)
	Write(ctx context.Context, fn func(engine.Tx) error) error
	// Cut lets n more commits succeed and fails all later ones.
	Cut(n int)
	// Spoil makes a live job's record unreadable, as a bad disk does.
	Spoil(id engine.JobID) error
	// Recount compares every stored sum with the rows that it is of.
	Recount() error
	Close() error
}

// Site is a durable place. Open must not be called while another node is open.
type Site interface {
	Open(Setup) (Node, error)
}

// Setup is what a test asks of a node.
type Setup struct {
	Kinds   []engine.KindSpec
	Workers int
	Boot    string
	OnNote  func(engine.Note)
}

// Policies are the retry policies of every node.
func Policies() engine.Policies { return engine.DefaultPolicies() }

// ErrCut is what a cut node's commits fail with.
var ErrCut = errors.New("the process was killed")

// Names that the tests use.
const (
	queue engine.Queue = "ingest.summoner.full"
	kind  engine.Kind  = "match.fetch"
)

var ana = engine.Actor{User: "ana", Via: "test"}

// rig drives one site through its nodes.
type rig struct {
	t       testing.TB
	site    Site
	node    Node
	stop    context.CancelFunc
	ended   chan error
	boots   int
	workers int
	kinds   []engine.KindSpec
	alive   bool // the node is open

	mu    sync.Mutex
	notes []engine.Note
}

// newRig makes a rig with one kind, whose handler is h.
func newRig(t testing.TB, s Site, h engine.Handler) *rig {
	r := &rig{t: t, site: s, workers: 8}
	r.kinds = []engine.KindSpec{{Kind: kind, Policy: engine.PolicyMatch, Handler: h}}
	t.Cleanup(r.tidy)
	return r
}

// open opens a node without running it.
func (r *rig) open() *rig {
	r.t.Helper()
	r.boots++
	n, err := r.site.Open(Setup{Kinds: r.kinds, Workers: r.workers, Boot: fmt.Sprintf("boot-%d", r.boots), OnNote: r.addNote})
	if err != nil {
		r.t.Fatal(err)
	}
	r.node = n
	return r
}

// start opens a node and runs it.
func (r *rig) start() *rig {
	r.t.Helper()
	r.open()
	r.run()
	return r
}

func (r *rig) run() {
	ctx, cancel := context.WithCancel(context.Background())
	r.stop, r.ended = cancel, make(chan error, 1)
	node, ended := r.node, r.ended
	r.alive = true
	go func() { ended <- node.Run(ctx) }()
	synctest.Wait()
}

// tidy ends what a failed test has left, so that its bubble can end.
func (r *rig) tidy() {
	if r.alive {
		r.node.Cut(0)
		r.bury()
	}
}

// down ends the node in order.
func (r *rig) down() {
	r.t.Helper()
	r.stop()
	if err := <-r.ended; err != nil {
		r.t.Errorf("Run = %v", err)
	}
	r.close()
}

// crash kills the node: nothing it does from now on is stored.
func (r *rig) crash() {
	r.t.Helper()
	r.node.Cut(0)
	r.bury()
}

// bury ends a node that is cut.
func (r *rig) bury() {
	r.t.Helper()
	r.stop()
	if err := <-r.ended; err != nil && !errors.Is(err, ErrCut) {
		r.t.Errorf("Run after the cut = %v", err)
	}
	r.close()
}

func (r *rig) close() {
	r.t.Helper()
	r.alive = false
	if err := r.node.Close(); err != nil {
		r.t.Errorf("Close = %v", err)
	}
}

func (r *rig) addNote(n engine.Note) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes = append(r.notes, n)
}

// noted counts the notes that hold a text.
func (r *rig) noted(text string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, note := range r.notes {
		if strings.Contains(note.Text, text) {
			n++
		}
	}
	return n
}

func spec(key string) engine.Spec { return engine.Spec{Kind: kind, Queue: queue, Key: key} }

func (r *rig) insert(specs ...engine.Spec) []engine.JobID {
	r.t.Helper()
	out, err := r.node.Insert(context.Background(), specs...)
	if err != nil {
		r.t.Fatal(err)
	}
	ids := make([]engine.JobID, len(out))
	for i, e := range out {
		ids[i] = e.ID
	}
	return ids
}

func (r *rig) add(s engine.Spec) engine.JobID { return r.insert(s)[0] }

func (r *rig) detail(id engine.JobID) engine.JobDetail {
	r.t.Helper()
	d, err := r.node.Detail(context.Background(), engine.JobQuery{ID: id})
	if err != nil {
		r.t.Fatalf("detail of job %s: %v", id, err)
	}
	return d
}

func (r *rig) job(id engine.JobID) engine.Job {
	r.t.Helper()
	return r.detail(id).Job.Job
}

// want checks a job's state, after everything has come to rest, and with it the
// rules that hold at every commit (S2-4, S2-5, P-36).
func (r *rig) want(id engine.JobID, s engine.State) engine.JobDetail {
	r.t.Helper()
	synctest.Wait()
	d := r.detail(id)
	if d.Job.State != s {
		r.t.Errorf("job %s is %s, want %s (class %q, error %q)", id, d.Job.State, s, d.Job.Class, d.Job.LastError)
	}
	r.sound(d)
	return d
}

func (r *rig) sound(d engine.JobDetail) {
	r.t.Helper()
	j := d.Job.Job
	if j.Attempts != len(d.Attempts) {
		r.t.Errorf("job %s: attempt count %d, but %d attempts", j.ID, j.Attempts, len(d.Attempts))
	}
	if j.Holds != len(d.Holds) {
		r.t.Errorf("job %s: hold count %d, but %d holds", j.ID, j.Holds, len(d.Holds))
	}
	if d.ShouldRetry != !d.NextRetryAt.IsZero() {
		r.t.Errorf("job %s: should_retry %v, next_retry_at %v", j.ID, d.ShouldRetry, d.NextRetryAt)
	}
	for i, a := range d.Attempts {
		if a.Number != i+1 {
			r.t.Errorf("job %s: attempt %d has number %d", j.ID, i+1, a.Number)
		}
	}
	for _, a := range slices.Concat(d.Attempts, d.Holds) {
		if a.End.IsZero() {
			continue
		}
		took := a.End.Sub(a.Start)
		if took < 0 || a.Queued < 0 || a.Limiter < 0 || a.HTTP < 0 || a.Limiter+a.HTTP > took {
			r.t.Errorf("job %s: durations do not add up: %+v", j.ID, a)
		}
	}
}

// commands that must succeed

func (r *rig) cancel(id engine.JobID) engine.Receipt {
	r.t.Helper()
	rc, err := r.node.Act(context.Background(), engine.Command{Op: engine.OpCancel, Job: id, By: ana, Reason: "test"})
	if err != nil {
		r.t.Errorf("cancel job %s: %v", id, err)
	}
	return rc
}

func (r *rig) retry(id engine.JobID) engine.Receipt {
	r.t.Helper()
	rc, err := r.node.Act(context.Background(), engine.Command{Op: engine.OpRetry, Job: id, By: ana, Reason: "test"})
	if err != nil {
		r.t.Errorf("retry job %s: %v", id, err)
	}
	return rc
}

func (r *rig) wantProblem(err error, code error, words string) {
	r.t.Helper()
	p, ok := errors.AsType[*engine.Problem](err)
	if !ok || !errors.Is(err, code) || !strings.Contains(p.Error(), words) {
		r.t.Errorf("error = %v, want %v with %q", err, code, words)
	}
}

// random is repeatable: its seed is in the failure.
func random(t testing.TB, seed uint64) *rand.Rand {
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// Handlers.

func succeed(context.Context, engine.Run) engine.Outcome { return engine.Done(nil) }

func failing(context.Context, engine.Run) engine.Outcome {
	return engine.Retry(errors.New("503")).As("503")
}

// hanging waits for its context, then says why.
func hanging(ctx context.Context, _ engine.Run) engine.Outcome {
	<-ctx.Done()
	return engine.Retry(context.Cause(ctx))
}

// shared is a map that handlers and tests share.
type shared[K comparable, V any] struct {
	mu sync.Mutex
	m  map[K]V
}

func (s *shared[K, V]) set(k K, v V) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.m == nil {
		s.m = map[K]V{}
	}
	s.m[k] = v
}

func (s *shared[K, V]) get(k K) V {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.m[k]
}

// tally counts runs per job.
type tally struct {
	mu   sync.Mutex
	runs map[engine.JobID]int
	at   map[engine.JobID][]time.Time
}

func newTally() *tally {
	return &tally{runs: map[engine.JobID]int{}, at: map[engine.JobID][]time.Time{}}
}

func (c *tally) add(id engine.JobID) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs[id]++
	c.at[id] = append(c.at[id], time.Now())
	return c.runs[id]
}

func (c *tally) of(id engine.JobID) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.runs[id]
}

func (c *tally) times(id engine.JobID) []time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.at[id])
}

func (c *tally) total() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, k := range c.runs {
		n += k
	}
	return n
}

// counting wraps a handler with a tally.
func (c *tally) counting(h engine.Handler) engine.Handler {
	return func(ctx context.Context, run engine.Run) engine.Outcome {
		c.add(run.Job.ID)
		return h(ctx, run)
	}
}
