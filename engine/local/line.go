package local

import (
	"cmp"
	"slices"

	"github.com/farsight-console/farsight/engine"
)

// Ranks of a line: one per priority, then the suspects.
const (
	ranks       = int(engine.PriorityLow) + 1
	suspectRank = ranks - 1
)

// rankOf gives the rank of an entry: 0 runs first.
func rankOf(e *entry) int {
	if e.suspect {
		return suspectRank
	}
	if e.priority == 0 {
		return int(engine.PriorityNormal - engine.PriorityOperator)
	}
	return int(min(e.priority, engine.PriorityLow) - engine.PriorityOperator)
}

// line is the order in which jobs of one queue and one lane start. With 889 matches of
// one account and 40 of another in it, the two take turns: the small sync does not wait
// for the large one.
type line struct {
	queue  *queue
	lane   *lane
	levels [ranks]level
	n      int
	served uint64 // when it last gave a job, to take turns between lines
}

// level is the part of a line with one rank: those at the front, then the owners
// in turn.
type level struct {
	front  fifo
	owners map[string]*fifo
	turn   *fifo // whose turn it is, in a ring of owners that have jobs
	n      int
}

// fifo is a list of entries in the order in which they might have run. That is
// stored with the jobs: a restart changes no place, nor does a command that was taken
// back. It links through the entries, so that one can leave from the middle at the
// same cost, whatever its length: a cancelled sync takes thousands out.
type fifo struct {
	owner      string
	head, tail *entry
	last       *entry // where one came in last: the next mostly belongs beside it, or at the tail
	n          int
	prev, next *fifo // ring of owners
}

// before orders the entries of one fifo.
func (e *entry) before(o *entry) bool {
	if !e.turn.Equal(o.turn) {
		return e.turn.Before(o.turn)
	}
	return e.id < o.id
}

// insert puts e where its turn is. It mostly belongs at the tail, or beside the one that
// came last: looking there first spares a walk through a line of thousands.
func (f *fifo) insert(e *entry) {
	at := f.tail
	if at != nil && e.before(at) && f.last != nil {
		for at = f.last; at.next != nil && at.next.before(e); {
			at = at.next
		}
	}
	for at != nil && e.before(at) {
		at = at.prev
	}
	f.linkAfter(at, e)
	e.in, f.last = f, e
	f.n++
}

// insertEarly is insert for an entry that stood near the head before.
func (f *fifo) insertEarly(e *entry) {
	var at *entry
	for next := f.head; next != nil && next.before(e); next = next.next {
		at = next
	}
	f.linkAfter(at, e)
	e.in = f
	f.n++
}

// linkAfter links e behind at; nil = at the head.
func (f *fifo) linkAfter(at, e *entry) {
	e.prev = at
	if at == nil {
		e.next, f.head = f.head, e
	} else {
		e.next, at.next = at.next, e
	}
	if e.next == nil {
		f.tail = e
	} else {
		e.next.prev = e
	}
}

// remove takes an entry out from wherever it stands, at the same cost.
func (f *fifo) remove(e *entry) {
	if e.prev == nil {
		f.head = e.next
	} else {
		e.prev.next = e.next
	}
	if e.next == nil {
		f.tail = e.prev
	} else {
		e.next.prev = e.prev
	}
	if f.last == e {
		f.last = cmp.Or(e.prev, e.next)
	}
	e.prev, e.next, e.in = nil, nil, nil
	f.n--
}

// add puts e in its line. again says that it stood near the head before.
func (l *line) add(e *entry, again bool) {
	lv := &l.levels[rankOf(e)]
	f := lv.fifoOf(e)
	if again {
		f.insertEarly(e)
	} else {
		f.insert(e)
	}
	e.line = l
	l.n++
	lv.n++
}

// remove takes e out, wherever it stands.
func (l *line) remove(e *entry) {
	lv := &l.levels[rankOf(e)]
	f := e.in
	f.remove(e)
	e.line = nil
	l.n--
	lv.n--
	if f.n == 0 && f != &lv.front {
		lv.dropOwner(f)
	}
}

// fifoOf is the list that e belongs in: those at the front, or its owner's, which is
// made when it is the owner's first job.
func (lv *level) fifoOf(e *entry) *fifo {
	if e.front {
		return &lv.front
	}
	if f := lv.owners[e.owner]; f != nil {
		return f
	}
	f := &fifo{owner: e.owner}
	if lv.owners == nil {
		lv.owners = make(map[string]*fifo)
	}
	lv.owners[e.owner] = f
	lv.joinRing(f)
	return f
}

// joinRing puts a new owner last: just before the one whose turn it is.
func (lv *level) joinRing(f *fifo) {
	if lv.turn == nil {
		f.prev, f.next, lv.turn = f, f, f
		return
	}
	f.prev, f.next = lv.turn.prev, lv.turn
	f.prev.next, f.next.prev = f, f
}

// dropOwner takes an owner without jobs out of the ring. If it had the turn, the next
// one has it.
func (lv *level) dropOwner(f *fifo) {
	delete(lv.owners, f.owner)
	if f.next == f {
		lv.turn = nil
		return
	}
	f.prev.next, f.next.prev = f.next, f.prev
	if lv.turn == f {
		lv.turn = f.next
	}
}

// head is the entry that goes next, nil if there is none.
func (lv *level) head() *entry {
	switch {
	case lv.front.head != nil:
		return lv.front.head
	case lv.turn != nil:
		return lv.turn.head
	}
	return nil
}

// pop takes the head out and gives the turn to the next owner.
func (l *line) pop(rank int) *entry {
	lv := &l.levels[rank]
	e := lv.head()
	if e.in == lv.turn {
		lv.turn = lv.turn.next
	}
	l.remove(e)
	return e
}

// putBack undoes pop: e is the head again. Its owner has the turn again, or a lane that is refused
// again and again would let each owner lose turns.
func (l *line) putBack(e *entry) {
	l.add(e, true)
	if lv := &l.levels[rankOf(e)]; e.in != &lv.front {
		lv.turn = e.in
	}
}

// first gives the n entries that go next, in their order.
func (l *line) first(n int) (out []*entry) {
	for r := range l.levels {
		lv := &l.levels[r]
		for e := lv.front.head; e != nil && len(out) < n; e = e.next {
			out = append(out, e)
		}
		var turns []*entry // whose turn it is in a round
		for f := lv.turn; f != nil && len(turns) < n && (len(turns) == 0 || f != lv.turn); f = f.next {
			turns = append(turns, f.head)
		}
		for len(turns) > 0 && len(out) < n {
			out = append(out, turns[:min(len(turns), n-len(out))]...)
			for i := range turns {
				turns[i] = turns[i].next
			}
			turns = slices.DeleteFunc(turns, func(e *entry) bool { return e == nil })
		}
	}
	return out
}

// top is the best rank that has a job; suspects only when they may run.
func (l *line) top(suspects bool) (rank int, ok bool) {
	for r := range l.levels[:suspectRank] {
		if l.levels[r].n > 0 {
			return r, true
		}
	}
	return suspectRank, suspects && l.levels[suspectRank].n > 0
}

// maxPlace bounds how far a place in line is counted: screens ask for many.
const maxPlace = 1000

// place counts where e stands in its line, 1 = next; 0 = beyond maxPlace. Owners
// take turns, so each one ahead counts at most as many jobs as e has before it. Those of better ranks
// all go before it; what joins later is not foreseen.
func (l *line) place(e *entry) int {
	n := 0
	for r := range l.levels {
		lv := &l.levels[r]
		if r != rankOf(e) {
			n += lv.n
			continue
		}
		return within(n + lv.place(e))
	}
	return 0
}

// place counts the jobs of one level up to e. In each turn of the ring every owner
// starts one job, so an owner that is asked before e's own starts as many as e has up
// to itself, and one that is asked after it starts one less.
func (lv *level) place(e *entry) int {
	own := 0
	for at := e; at != nil && own <= maxPlace; at = at.prev {
		own++
	}
	if e.in == &lv.front {
		return own
	}
	n, passed, f := lv.front.n, false, lv.turn
	for range min(len(lv.owners), maxPlace) {
		switch {
		case f == e.in:
			n, passed = n+own, true
		case passed:
			n += min(f.n, own-1)
		default:
			n += min(f.n, own)
		}
		f = f.next
	}
	return n
}

// within is a place as it is told: 0 where it was not counted to its end.
func within(n int) int {
	if n > maxPlace {
		return 0
	}
	return n
}
