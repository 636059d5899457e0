package local

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Queues gives every queue that is known, by name: its counts without zeroes, its pace, and why
// its head does not start.
func (b *Backend) Queues() []engine.QueueRow {
	now := time.Now()
	x := b.idx
	x.mu.Lock()
	defer x.mu.Unlock()
	rows := make(map[*queue]*engine.QueueRow, len(x.queues))
	for _, q := range x.queues {
		counts := maps.Clone(q.counts)
		maps.DeleteFunc(counts, func(_ engine.State, n int) bool { return n == 0 })
		rows[q] = &engine.QueueRow{
			QueueState: q.QueueState, Counts: counts, Again: q.again, Held: q.held, PerMin: q.settled.perMinute(now),
		}
	}
	stands, _ := b.opt.Admitter.(holder)
	free := map[*queue]bool{} // something that waits in it may start
	for _, l := range x.lines {
		if l.n > 0 && !x.headOf(l, rows[l.queue], stands, now) {
			free[l.queue] = true
		}
	}
	for q, row := range rows {
		switch {
		case q.Paused && row.Counts[engine.Available] > 0:
			row.Why, row.Until, row.Stand = q.Pause(), time.Time{}, engine.StandPaused
		case free[q]:
			row.Stand = ""
		}
	}
	out := make([]engine.QueueRow, 0, len(rows))
	for _, row := range rows {
		out = append(out, *row)
	}
	slices.SortStableFunc(out, func(a, b engine.QueueRow) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// headOf adds what a line's head tells to its queue's row: the oldest wait, and
// the refusal that ends first; what stands before all limits tells it before them. It
// reports whether that is so.
func (x *index) headOf(l *line, row *engine.QueueRow, stands holder, now time.Time) (held bool) {
	rank, ok := l.top(true)
	if !ok {
		return true
	}
	head := l.levels[rank].head()
	if row.OldestDue.IsZero() || head.turn.Before(row.OldestDue) {
		row.OldestDue = head.turn
	}
	if stands != nil && l.lane.name != "" {
		if h := stands.Held(l.lane.name); h.Reason != "" {
			row.Why, row.Until, row.Stand = h.Reason, h.Until, h.Stand
			return true
		}
	}
	if row.Stand == "" && l.lane.shut(now) && (row.Why == "" || sooner(l.lane.known, row.Until)) {
		row.Why, row.Until = l.lane.reason, l.lane.known
	}
	return false
}

// sooner reports whether a is before b; the zero time is unknown, and last.
func sooner(a, b time.Time) bool {
	return !a.IsZero() && (b.IsZero() || a.Before(b))
}

// RunningJob is a job at work here.
type RunningJob struct {
	Job   engine.Job
	Began time.Time
	Beat  time.Time // last sign of life
}

// Running gives the jobs at work, the longest first.
func (b *Backend) Running() []RunningJob {
	var out []RunningJob
	for _, r := range b.idx.running() {
		beat := time.Duration(r.beat.Load())
		r.mu.Lock()
		over := r.over || r.rescued
		r.mu.Unlock()
		if !over {
			out = append(out, RunningJob{Job: r.job, Began: r.job.Started, Beat: r.job.Started.Add(beat)})
		}
	}
	slices.SortStableFunc(out, func(a, b RunningJob) int {
		return cmp.Or(a.Began.Compare(b.Began), cmp.Compare(a.Job.ID, b.Job.ID))
	})
	return out
}

// Externals gives the ids that the other side has given to attempts under way, by
// their jobs, until what became of them is stored.
func (b *Backend) Externals() map[engine.JobID]string {
	out := map[engine.JobID]string{}
	for _, r := range b.idx.running() {
		r.mu.Lock()
		if r.external != "" && !r.rescued {
			out[r.job.ID] = r.external
		}
		r.mu.Unlock()
	}
	return out
}

// NextRetries gives at most n jobs that will run again by themselves, retries and
// held ones, by their instant. The index gives the order and the store the jobs, of which some may have
// moved between the two.
func (b *Backend) NextRetries(ctx context.Context, n int) ([]engine.Job, error) {
	return b.stored(ctx, b.idx.nextDue(n), func(j *engine.Job) bool { return comesBack(j.State, j.Hold) })
}

// Soonest gives the live jobs among which the n that go next are: all that run, the first of each line,
// those whose instants come next; where these are fewer, some of those that wait for other jobs.
func (b *Backend) Soonest(ctx context.Context, n int) ([]engine.Job, error) {
	return b.stored(ctx, b.idx.soonest(n), func(j *engine.Job) bool { return j.State.Live() })
}

// stored reads those jobs of ids that still fit.
func (b *Backend) stored(ctx context.Context, ids []engine.JobID, fits func(*engine.Job) bool) (out []engine.Job, err error) {
	err = b.opt.Store.Read(ctx, func(tx engine.Tx) error {
		out = out[:0]
		for _, id := range ids {
			j, err := b.opt.Store.Job(tx, id)
			if ofTheJob(err) || err == nil && !fits(&j) {
				continue // it has moved since, or will be found to be unreadable when it is due
			}
			if err != nil {
				return fmt.Errorf("read job %s: %w", id, err)
			}
			out = append(out, j)
		}
		return nil
	})
	return out, err
}

// soonest is Soonest in the index.
func (x *index) soonest(n int) (ids []engine.JobID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for r := range x.runs {
		ids = append(ids, r.job.ID)
	}
	ids = append(ids, x.due.first(n, func(*entry) bool { return true })...)
	for _, l := range x.lines {
		for _, e := range l.first(n) {
			ids = append(ids, e.id)
		}
	}
	if len(ids) >= n {
		return ids
	}
	var others []engine.JobID
	for id, e := range x.jobs {
		if !e.busy() && e.line == nil && !e.inHeap {
			others = append(others, id)
		}
	}
	slices.Sort(others)
	return append(ids, others[:min(n-len(ids), len(others))]...)
}

// comesBack reports whether a waiting job has been tried: it failed, or was put off.
// One that a schedule or a person has set for later is no retry.
func comesBack(s engine.State, h engine.Hold) bool {
	return s == engine.Retryable || s == engine.Scheduled && h != engine.HoldNone
}

// nextDue walks the heap in order of the instants; jobs of no handler here are
// not in it. To sort all of them would cost as many steps as jobs wait, and a screen asks again and
// again; this costs as many as it shows.
func (x *index) nextDue(n int) []engine.JobID {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.due.first(n, func(e *entry) bool { return comesBack(e.state, e.hold) })
}

// first gives the n jobs that fit whose instants come first.
func (h dueHeap) first(n int, fits func(*entry) bool) (ids []engine.JobID) {
	front := frontier{heap: h}
	front.push(0)
	for len(ids) < n && len(front.nodes) > 0 {
		i := front.pop()
		if e := h[i]; fits(e) {
			ids = append(ids, e.id)
		}
		front.push(2*i + 1)
		front.push(2*i + 2)
	}
	return ids
}

// frontier is the nodes of a heap that may come next, the earliest first.
type frontier struct {
	heap  dueHeap
	nodes []int
}

// push adds a node by its instant; one beyond the heap's end is none.
func (f *frontier) push(i int) {
	if i >= len(f.heap) {
		return
	}
	at, _ := slices.BinarySearchFunc(f.nodes, i, func(a, b int) int { return f.heap[a].wake.Compare(f.heap[b].wake) })
	f.nodes = slices.Insert(f.nodes, at, i)
}

// pop takes the earliest node out. There must be one.
func (f *frontier) pop() int {
	i := f.nodes[0]
	f.nodes = f.nodes[1:]
	return i
}

// Load is how many jobs run now, and of how many at most. Workers that are too many since the ceiling sank end with
// their job, and count until then.
func (b *Backend) Load() (running, workers int) {
	running = b.Stats().InFlight
	return running, max(running, b.opt.Workers())
}
