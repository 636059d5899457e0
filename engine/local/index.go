package local

import (
	"container/heap"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// entry is what the index keeps of a live job: what decides when it runs. The rest
// stays in the store, so that very many waiting jobs fit into memory. What an entry says
// of its job comes from commits; taken, ghost and run are of this process alone.
type entry struct {
	id       engine.JobID
	rev      engine.Revision
	owner    string
	lock     string
	queue    *queue
	lane     *lane
	priority engine.Priority
	state    engine.State
	hold     engine.Hold
	front    bool
	suspect  bool
	known    bool      // a handler of its kind is here
	again    bool      // in line for another try
	foreign  bool      // no part of the trees that are served
	cancel   bool      // a cancel was asked for
	taken    bool      // chosen, its claim is not committed yet
	ghost    bool      // it runs, but its handler does not answer: no longer counted as busy
	due      time.Time // by the wall clock
	wake     time.Time // the same by the process's own, for those in the heap
	putOff   bool      // it waits for a while, not for an instant
	run      *run      // the last one begun here

	// Where it stands. At most one of line, heap and parked holds it.
	turn       time.Time // from when on it might have run: its place among its owner's
	ready      time.Time // since when it stands in a line
	line       *line
	in         *fifo
	prev, next *entry
	inHeap     bool
	heapAt     int
	parked     *lock
	counted    bool
}

// busy reports whether e occupies a slot, a lock and the engine's solitude.
func (e *entry) busy() bool { return e.taken || e.state == engine.Running }

// queue is the part of the index about one queue. Counts, again and held are kept as jobs
// come and go: a screen asks for them ten times a second.
type queue struct {
	engine.QueueState
	counts  map[engine.State]int
	again   int
	held    int
	taken   int // chosen jobs whose claim is not decided yet
	pausing int // Pause calls under way: nothing is chosen meanwhile
	settled rate
}

func (q *queue) closed() bool { return q.Paused || q.pausing > 0 }

// lane is what is known of one of the admitter's lanes: jobs whose calls take from the
// same limits, such as match-v5 on the host europe. When the limiter refuses a lane's
// head, everything behind it would be refused too, so the lane is closed until the
// instant that the limiter named and none of its jobs is asked about before.
type lane struct {
	name    string
	closed  bool // the head was refused
	until   time.Time
	known   time.Time // the end as the admitter told it; zero = unknown
	reason  string
	rank    int  // of the refused head: a better one is asked again
	untried bool // see Releaser
	jobs    int  // those that run, and those that are available and not in a paused queue
	dirty   bool
	began   time.Time // when its last job started
	paced   bool      // the head has been refused since
}

// lock is a concurrency key with the job that has it and those that stepped aside, such
// as the syncs of one account, of which one runs at a time.
type lock struct {
	name   string
	holder *entry
	aside  []*entry
}

// place names a line: jobs of one queue and one lane share it.
type place struct {
	queue *queue
	lane  *lane
}

// index is all live jobs, arranged by what they wait for:
//
//	a turn     in a line, one for each queue and lane (lines, lineOf)
//	an instant in a heap by that instant (due): retries, snoozes, schedules
//	a lock     beside the job that holds it (locks)
//	children   nowhere: a pending job is moved by the end of its group
//
// The store is the truth. The index shows it as of commit seq, and is read anew when
// commits may have been missed.
type index struct {
	mu  sync.Mutex
	seq uint64 // version of the store that it shows

	jobs   map[engine.JobID]*entry
	queues map[engine.Queue]*queue
	lanes  map[string]*lane
	locks  map[string]*lock
	lineOf map[place]*line
	lines  []*line
	due    dueHeap
	dirty  []*lane
	served uint64

	runs  map[*run]struct{}
	busy  int    // taken and running ones, without ghosts
	alone *entry // the suspect that runs now
	slots int    // workers at work
	seats []bool // seats[n-1]: worker n exists, though its handler may not answer any more
	trees *trees // the only jobs that run here; nil = all

	loading  bool
	loaded   bool
	gone     map[engine.JobID]struct{} // left while loading
	turned   map[engine.Queue]struct{} // whose switch has changed while loading
	halted   string                    // why nothing is chosen at all; "" = go
	low      string                    // the same for want of room on the disk
	released map[engine.Hold]time.Time // when a hold was last found to have ended
	kinds    map[engine.Kind]*engine.KindSpec
	clock    clock
}

func newIndex(kinds map[engine.Kind]*engine.KindSpec) *index {
	x := &index{kinds: kinds, queues: make(map[engine.Queue]*queue), clock: newClock()}
	x.clear()
	return x
}

// clear forgets all jobs, before they are read anew. Queues stay, with their switches
// but without their counts.
func (x *index) clear() {
	x.jobs = make(map[engine.JobID]*entry)
	for _, q := range x.queues { // kept: a Pause may be under way
		q.counts, q.again, q.held, q.taken = make(map[engine.State]int), 0, 0, 0
	}
	x.lanes = make(map[string]*lane)
	x.locks = make(map[string]*lock)
	x.lineOf = make(map[place]*line)
	x.runs = make(map[*run]struct{})
	x.gone, x.turned = make(map[engine.JobID]struct{}), make(map[engine.Queue]struct{})
	x.lines, x.due, x.dirty = nil, nil, nil
	x.busy, x.slots, x.seats, x.alone = 0, 0, nil, nil
	x.loaded, x.halted, x.low = false, "", ""
	x.released = make(map[engine.Hold]time.Time)
}

// queueOf gives the queue of a name and makes an open one at its first job, or its first pause. Queues
// never go.
func (x *index) queueOf(name engine.Queue) *queue {
	q := x.queues[name]
	if q == nil {
		q = &queue{QueueState: engine.QueueState{Name: name}, counts: make(map[engine.State]int)}
		x.queues[name] = q
	}
	return q
}

// turn sets the switch of a queue.
func (x *index) turn(s engine.QueueState) {
	q := x.queueOf(s.Name)
	count := func(n int) {
		for _, e := range x.jobs {
			if e.queue == q && e.counted {
				x.addToLane(e, n)
			}
		}
	}
	turned := q.Paused != s.Paused
	if turned {
		count(-1)
	}
	if q.QueueState = s; turned {
		count(+1)
	}
}

// laneOf gives the lane of a name; that of "" is the one of jobs that make no call, and is never
// closed.
func (x *index) laneOf(name string) *lane {
	l := x.lanes[name]
	if l == nil {
		l = &lane{name: name}
		x.lanes[name] = l
	}
	return l
}

// lineFor gives the line of an entry's queue and lane. An empty line stays: it keeps when it was served
// last.
func (x *index) lineFor(e *entry) *line {
	at := place{e.queue, e.lane}
	l := x.lineOf[at]
	if l == nil {
		l = &line{queue: e.queue, lane: e.lane}
		x.lineOf[at] = l
		x.lines = append(x.lines, l)
	}
	return l
}

// upsert takes in a committed job. An older revision than the known one changes
// nothing. It answers the run that must be told of a cancel.
func (x *index) upsert(j *engine.Job, lane string, now time.Time) (cancel *run) {
	e := x.jobs[j.ID]
	if e != nil && j.Rev <= e.rev {
		return nil
	}
	if j.State.Terminal() {
		x.drop(j.ID)
		x.queueOf(j.Queue).settled.add(now)
		if x.trees != nil && j.HasParents && j.State == engine.Completed { // a collection has a million
			delete(x.trees.ids, j.ID)
		}
		return nil
	}
	if e == nil {
		e = &entry{id: j.ID}
		x.jobs[j.ID] = e
	}
	x.lift(e)
	x.describe(e, j, lane, now)
	x.place(e, now)
	if e.cancel && e.state == engine.Running {
		return e.run
	}
	return nil
}

// describe copies what decides about a job into its entry. It must stand between lift
// and settle: where an entry is filed follows from these fields.
func (x *index) describe(e *entry, j *engine.Job, lane string, now time.Time) {
	e.rev, e.owner, e.lock = j.Rev, j.Owner, j.Lock
	e.queue, e.lane = x.queueOf(j.Queue), x.laneOf(lane)
	e.priority, e.state, e.hold, e.due = j.Priority, j.State, j.Hold, x.dueOf(j)
	e.wake, e.putOff = x.wakeAt(j, now), putOff(j)
	e.turn = couldRun(j)
	e.front, e.suspect, e.cancel = j.Front, j.Suspect(), j.CancelAsked
	e.known, e.again = x.kinds[j.Kind] != nil, j.InLineAgain()
	e.foreign = !x.trees.has(j.ID)
	// Else the choice is void: the claim has succeeded, or somebody has moved the job before it.
	e.taken = e.taken && e.state == engine.Available
}

// lift takes e out of wherever it stands and out of all counts.
func (x *index) lift(e *entry) {
	if !e.counted {
		return
	}
	e.counted = false
	e.queue.counts[e.state]--
	if e.again {
		e.queue.again--
	}
	if e.hold != engine.HoldNone {
		e.queue.held--
	}
	x.addToLane(e, -1)
	switch {
	case e.line != nil:
		e.line.remove(e)
	case e.inHeap:
		heap.Remove(&x.due, e.heapAt)
	case e.parked != nil:
		for i, w := range e.parked.aside {
			if w == e {
				e.parked.aside = append(e.parked.aside[:i], e.parked.aside[i+1:]...)
				break
			}
		}
		e.parked = nil
	}
	if e.taken {
		e.queue.taken--
	}
	if e.busy() {
		x.free(e)
	}
}

// place counts e and puts it where its state belongs.
func (x *index) place(e *entry, now time.Time) {
	e.counted = true
	e.queue.counts[e.state]++
	if e.again {
		e.queue.again++
	}
	if e.hold != engine.HoldNone {
		e.queue.held++
	}
	x.addToLane(e, +1)
	if e.taken {
		e.queue.taken++
	}
	switch {
	case e.busy():
		x.occupy(e)
	// It is counted and shown, and nobody runs it here.
	case !e.known || e.foreign:
	case e.state == engine.Available:
		e.ready = now
		x.lineUp(e, false)
	case e.state == engine.Scheduled || e.state == engine.Retryable:
		heap.Push(&x.due, e)
	}
}

// lineUp puts e in its line. A better job than the refused head opens the lane.
func (x *index) lineUp(e *entry, again bool) {
	x.lineFor(e).add(e, again)
	if e.lane.closed && rankOf(e) < e.lane.rank {
		e.lane.closed = false
	}
}

// addToLane counts a job that takes from its lane's limit, or will as soon as it may: not in a queue that is paused.
// Lanes whose count has changed are told to the admitter before the next pick.
func (x *index) addToLane(e *entry, n int) {
	waits := e.state == engine.Available && !e.queue.Paused
	if e.lane.name == "" || e.foreign || !waits && e.state != engine.Running {
		return
	}
	e.lane.jobs += n
	if !e.lane.dirty {
		e.lane.dirty = true
		x.dirty = append(x.dirty, e.lane)
	}
}

// occupy gives e its slot and its lock, and to a suspect the engine for itself.
func (x *index) occupy(e *entry) {
	x.busy++
	e.ghost = false
	if e.suspect {
		x.alone = e
	}
	if e.lock == "" {
		return
	}
	l := x.locks[e.lock]
	if l == nil {
		l = &lock{name: e.lock}
		x.locks[e.lock] = l
	}
	l.holder = e
}

// free gives back what e occupied and lets those that wait for its lock line up.
func (x *index) free(e *entry) {
	if !e.ghost {
		x.busy--
	}
	e.ghost = false
	if x.alone == e {
		x.alone = nil
	}
	l := x.locks[e.lock]
	if l == nil || l.holder != e {
		return
	}
	delete(x.locks, e.lock)
	for _, w := range l.aside {
		w.parked = nil
		x.lineUp(w, true)
	}
}

// drop takes a job out that is live no more. While the index is being read from the
// store, the job is remembered as gone: the reader may still meet it in an older page.
func (x *index) drop(id engine.JobID) {
	if x.loading {
		x.gone[id] = struct{}{}
	}
	if e := x.jobs[id]; e != nil {
		x.lift(e)
		e.taken = false // whoever chose it finds it gone
		delete(x.jobs, id)
	}
}

// dueHeap orders waiting jobs by their instant, then by arrival of the instant.
type dueHeap []*entry

// Len, Less and Swap are for container/heap. Each entry knows its place, so that it can leave from the
// middle.
func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return h[i].wake.Before(h[j].wake) }
func (h dueHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].heapAt, h[j].heapAt = i, j
}

// Push is for container/heap.
func (h *dueHeap) Push(v any) {
	e := v.(*entry)
	e.inHeap, e.heapAt = true, len(*h)
	*h = append(*h, e)
}

// Pop is for container/heap.
func (h *dueHeap) Pop() any {
	old := *h
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	e.inHeap = false
	return e
}
