package local

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
)

// machine drives an index with random commits and choices, and recounts
// everything after each.
type machine struct {
	x     *index
	now   time.Time
	jobs  map[engine.JobID]*engine.Job // live ones, as committed
	lanes map[engine.JobID]string
	taken map[engine.JobID]*entry
	next  int

	queues map[engine.Queue]engine.QueueState
}

const knownKind, unknownKind engine.Kind = "known", "unknown"

func newMachine() *machine {
	x := newIndex(map[engine.Kind]*engine.KindSpec{knownKind: {Kind: knownKind}})
	x.begin()
	x.open()
	return &machine{x: x, now: time.Unix(1_800_000_000, 0), jobs: map[engine.JobID]*engine.Job{}, lanes: map[engine.JobID]string{}, taken: map[engine.JobID]*entry{}, queues: map[engine.Queue]engine.QueueState{}}
}

func (m *machine) apply(c engine.Change, lane string) {
	m.x.apply(0, []engine.Change{c}, []string{lane}, m.now)
}

func (m *machine) commit(j *engine.Job) {
	m.apply(engine.Change{Job: j}, m.lanes[j.ID])
	if j.State.Terminal() {
		delete(m.jobs, j.ID)
		delete(m.taken, j.ID)
	} else {
		m.jobs[j.ID] = j
	}
}

func (m *machine) insert(t *rapid.T) {
	m.next++
	j := &engine.Job{
		ID: engine.JobID(fmt.Sprint(m.next)), Rev: 1, Kind: knownKind,
		Queue:    rapid.SampledFrom([]engine.Queue{"q1", "q2"}).Draw(t, "queue"),
		Lock:     rapid.SampledFrom([]string{"", "", "l1", "l2"}).Draw(t, "lock"),
		Owner:    rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "owner"),
		Priority: engine.Priority(rapid.IntRange(0, 5).Draw(t, "priority")),
		State:    rapid.SampledFrom([]engine.State{engine.Available, engine.Available, engine.Scheduled, engine.Pending}).Draw(t, "state"),
		Due:      m.now.Add(time.Duration(rapid.IntRange(0, 60).Draw(t, "due")) * time.Second),
		Front:    rapid.IntRange(0, 9).Draw(t, "front") == 0,
	}
	if rapid.IntRange(0, 9).Draw(t, "unknown") == 0 {
		j.Kind = unknownKind
	}
	if rapid.IntRange(0, 9).Draw(t, "suspect") == 0 {
		j.Crashes, j.Front = engine.SuspectAfter, false
	}
	m.lanes[j.ID] = rapid.SampledFrom([]string{"", "europe", "asia"}).Draw(t, "lane")
	m.commit(j)
}

// move commits a next value of a random live job.
func (m *machine) move(t *rapid.T) {
	j := m.draw(t)
	if j == nil {
		return
	}
	after := *j
	after.Rev++
	after.CancelAsked = false
	after.State = rapid.SampledFrom(engine.States()).Draw(t, "to")
	if after.State == engine.Running && m.taken[j.ID] == nil {
		after.State = engine.Available // only what was taken runs
	}
	if after.State == engine.Scheduled {
		after.Hold = engine.HoldThrottled
	} else {
		after.Hold = engine.HoldNone
	}
	m.commit(&after)
	if after.State != engine.Available {
		delete(m.taken, j.ID)
	}
}

func (m *machine) draw(t *rapid.T) *engine.Job {
	if len(m.jobs) == 0 {
		return nil
	}
	n := rapid.IntRange(1, m.next).Draw(t, "job")
	for range m.next {
		if j := m.jobs[engine.JobID(fmt.Sprint(n))]; j != nil {
			return j
		}
		n = n%m.next + 1
	}
	return nil
}

func (m *machine) take(t *rapid.T) {
	c, ok := m.x.next(m.now)
	if !ok {
		return
	}
	e := c.e
	j := m.jobs[e.id]
	switch {
	case j == nil || j.State != engine.Available || j.Kind != knownKind || j.Rev != e.rev:
		t.Fatalf("took %+v, committed %+v", e, j)
	case m.x.queues[j.Queue].closed():
		t.Fatalf("took job %s of a paused queue", e.id)
	case e.suspect && m.x.busy != 1:
		t.Fatalf("suspect %s taken beside %d others", e.id, m.x.busy-1)
	}
	for id, other := range m.jobs {
		if id != e.id && other.Lock == j.Lock && j.Lock != "" && m.x.jobs[id].busy() {
			t.Fatalf("took job %s although %s has lock %s", e.id, id, j.Lock)
		}
	}
	m.taken[e.id] = e
}

func (m *machine) decide(t *rapid.T) {
	for id, e := range m.taken {
		if rapid.Bool().Draw(t, "refused") {
			m.x.refuse(claim{e: e, lane: m.lanes[id]}, engine.Admission{Until: m.now.Add(5 * time.Second), Reason: "full"}, m.now)
		} else {
			m.x.giveBack(e)
		}
		delete(m.taken, id)
		return
	}
}

func (m *machine) pause(t *rapid.T) {
	name := rapid.SampledFrom([]engine.Queue{"q1", "q2"}).Draw(t, "queue")
	q := engine.QueueState{Name: name, Paused: rapid.Bool().Draw(t, "paused")}
	m.queues[name] = q
	m.apply(engine.Change{Queue: &q}, "")
}

// restart forgets all, and reads what is stored, page by page, while commits are heard.
func (m *machine) restart(t *rapid.T) {
	clear(m.taken)
	m.x.begin()
	m.some(t, 3)
	queues := slices.Collect(maps.Values(m.queues))
	m.some(t, 3)
	m.x.loadQueues(queues)
	for n := 1; n <= m.next; n++ {
		id := engine.JobID(fmt.Sprint(n))
		if j := m.jobs[id]; j != nil {
			read := *j
			m.some(t, 1)
			m.x.load(read, m.lanes[id], m.now)
		}
	}
	m.some(t, 3)
	m.x.open()
}

// some commits at most so many changes.
func (m *machine) some(t *rapid.T, most int) {
	for range rapid.IntRange(0, most).Draw(t, "commits") {
		rapid.SampledFrom([]func(*rapid.T){m.insert, m.move, m.move, m.pause}).Draw(t, "commit")(t)
	}
}

func (m *machine) pass(t *rapid.T) {
	m.now = m.now.Add(time.Duration(rapid.IntRange(0, 30).Draw(t, "seconds")) * time.Second)
	m.x.expire(m.now)
}

// check recounts.
func (m *machine) check(t *rapid.T) {
	x := m.x
	if len(x.jobs) != len(m.jobs) {
		t.Fatalf("%d entries for %d live jobs", len(x.jobs), len(m.jobs))
	}
	busy, inLines, inHeap, parked := 0, 0, 0, 0
	taken, lanes := map[*queue]int{}, map[*lane]int{}
	counts, held := map[*queue]map[engine.State]int{}, map[*queue]int{}
	for id, e := range x.jobs {
		j := m.jobs[id]
		if e.state != j.State || e.rev != j.Rev {
			t.Fatalf("entry %+v, committed %+v", e, j)
		}
		if counts[e.queue] == nil {
			counts[e.queue] = map[engine.State]int{}
		}
		counts[e.queue][e.state]++
		if e.hold != engine.HoldNone {
			held[e.queue]++
		}
		if e.lane.name != "" && (e.state == engine.Available && !e.queue.Paused || e.state == engine.Running) {
			lanes[e.lane]++
		}
		if e.taken {
			taken[e.queue]++
		}
		if e.busy() {
			busy++
		}
		places := 0
		for at, in := range map[*int]bool{&inLines: e.line != nil, &inHeap: e.inHeap, &parked: e.parked != nil} {
			if in {
				*at++
				places++
			}
		}
		wantPlace := 0
		if e.known && !e.busy() && (e.state == engine.Available || e.state == engine.Scheduled || e.state == engine.Retryable) {
			wantPlace = 1
		}
		if places != wantPlace {
			t.Fatalf("entry %+v stands in %d places, want %d", e, places, wantPlace)
		}
	}
	if x.busy != busy {
		t.Fatalf("busy %d, recount %d", x.busy, busy)
	}
	for name, q := range m.queues {
		if x.queueOf(name).QueueState != q {
			t.Fatalf("queue %+v, committed %+v", x.queueOf(name).QueueState, q)
		}
	}
	m.checkSums(t, inLines, inHeap, taken, lanes, counts, held)
}

func (m *machine) checkSums(t *rapid.T, inLines, inHeap int, taken map[*queue]int, lanes map[*lane]int, counts map[*queue]map[engine.State]int, held map[*queue]int) {
	n := 0
	for _, l := range m.x.lines {
		n += l.n
		levels := 0
		for i := range l.levels {
			levels += l.levels[i].n
		}
		if levels != l.n {
			t.Fatalf("line of %d holds %d", l.n, levels)
		}
		first := l.first(maxPlace)
		for i, e := range first {
			if l.place(e) != i+1 {
				t.Fatalf("place %d is listed as %d", l.place(e), i+1)
			}
		}
		if len(first) != l.n {
			t.Fatalf("%d of %d are listed", len(first), l.n)
		}
	}
	if n != inLines || len(m.x.due) != inHeap {
		t.Fatalf("lines hold %d of %d, heap %d of %d", n, inLines, len(m.x.due), inHeap)
	}
	for _, q := range m.x.queues {
		if q.taken != taken[q] || q.held != held[q] {
			t.Fatalf("queue %s: taken %d of %d, held %d of %d", q.Name, q.taken, taken[q], q.held, held[q])
		}
		for _, s := range engine.States() {
			if q.counts[s] != counts[q][s] {
				t.Fatalf("queue %s: %d %s, recount %d", q.Name, q.counts[s], s, counts[q][s])
			}
		}
	}
	for _, l := range m.x.lanes {
		if l.jobs != lanes[l] {
			t.Fatalf("lane %s: %d, recount %d", l.name, l.jobs, lanes[l])
		}
	}
	for i := 1; i < len(m.x.due); i++ {
		if m.x.due[i].wake.Before(m.x.due[(i-1)/2].wake) {
			t.Fatal("the heap is out of order")
		}
	}
}

func TestIndexEqualsARecount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine()
		t.Repeat(map[string]func(*rapid.T){
			"insert": m.insert, "insert2": m.insert, "move": m.move, "take": m.take, "take2": m.take,
			"decide": m.decide, "pause": m.pause, "pass": m.pass, "": m.check,
		})
	})
}

// Who reads what is stored while commits are heard knows what one knows that has heard all.
func TestALoadedIndexEqualsARecount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine()
		t.Repeat(map[string]func(*rapid.T){"insert": m.insert, "move": m.move, "take": m.take, "decide": m.decide, "restart": m.restart, "": m.check})
	})
}

// A lane that is refused is not asked again before its instant, by nobody.
func TestRefusedLaneStaysShut(t *testing.T) {
	m := newMachine()
	for i := range 3 {
		id := engine.JobID(fmt.Sprint(i))
		m.lanes[id] = "europe"
		m.commit(&engine.Job{ID: id, Rev: 1, Kind: knownKind, Queue: "q", State: engine.Available})
	}
	head, _ := m.x.next(m.now)
	m.x.refuse(head, engine.Admission{Until: m.now.Add(time.Minute)}, m.now)
	if _, ok := m.x.next(m.now.Add(59 * time.Second)); ok {
		t.Error("asked again too early")
	}
	if again, ok := m.x.next(m.now.Add(time.Minute)); !ok || again.id != head.id {
		t.Errorf("took %+v, want the same head", again)
	}
}

// A suspect waits for the end of its line, and no longer than its patience for
// silence.
func TestSuspectGetsItsTurn(t *testing.T) {
	m := newMachine()
	add := func(id engine.JobID, crashes int) {
		m.commit(&engine.Job{ID: id, Rev: 1, Kind: knownKind, Queue: "q", State: engine.Available, Crashes: crashes})
	}
	add("s", engine.SuspectAfter)
	add("a", 0)
	add("b", 0)
	a, _ := m.x.next(m.now)
	if a.id != "a" {
		t.Fatalf("took %s first", a.id)
	}
	later := m.now.Add(suspectPatience)
	if e, ok := m.x.next(later); ok {
		t.Errorf("took %s although the suspect waits for silence", e.id)
	}
	m.commit(&engine.Job{ID: "a", Rev: 2, Kind: knownKind, Queue: "q", State: engine.Completed})
	if e, ok := m.x.next(later); !ok || e.id != "s" {
		t.Errorf("took %+v, want the suspect", e)
	}
	if e, ok := m.x.next(later); ok {
		t.Errorf("took %s beside the suspect", e.id)
	}
}

func TestRate(t *testing.T) {
	var r rate
	now := time.Unix(1000, 0)
	for range 30 {
		r.add(now)
		now = now.Add(time.Second)
	}
	if got := r.perMinute(now); got != 30 {
		t.Errorf("rate %v, want 30", got)
	}
	if got := r.perMinute(now.Add(45 * time.Second)); got != 14 {
		t.Errorf("rate %v after 45 s, want 14", got)
	}
	if got := r.perMinute(now.Add(-time.Hour)); got != 0 {
		t.Errorf("rate %v after the clock went back, want 0", got)
	}
}

// The wall clock is read again at the latest after a second, so that a jump of it
// neither makes the engine deaf nor wakes anything early (P-26, the engine's part).
func TestP26_WaitsAreReadAgain(t *testing.T) {
	m := newMachine()
	due := m.now.Add(time.Hour)
	m.commit(&engine.Job{ID: "1", Rev: 1, Kind: knownKind, Queue: "q", State: engine.Retryable, Due: due})
	for _, jump := range []time.Duration{0, -24 * time.Hour, -time.Hour, 59 * time.Minute} {
		now := m.now.Add(jump)
		if wait := m.x.nextWake(now); wait > time.Second {
			t.Errorf("clock moved %s: sleeps %s", jump, wait)
		}
		if got := m.x.dueNow(now, 10); len(got) != 0 {
			t.Errorf("clock moved %s: %d jobs are due", jump, len(got))
		}
	}
	if got := m.x.dueNow(due, 10); len(got) != 1 {
		t.Error("clock moved to the instant: nothing is due")
	}
}
