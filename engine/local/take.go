package local

import (
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
)

const (
	// askAgain is how long a refused lane waits when the admitter named no end: a
	// lost signal must not hold it for ever.
	askAgain = time.Second
	// A suspect at the head of an open line lets others pass for suspectPatience;
	// then nothing else starts for at most suspectHush, so that it can run alone.
	suspectPatience = time.Minute
	suspectHush     = 30 * time.Second
)

// claim is one job that was chosen, on its way to running.
type claim struct {
	e    *entry // the index's: read and changed under its lock only
	id   engine.JobID
	rev  engine.Revision
	lane string // "" = it makes no call, and has no permit

	paced time.Duration // at its line's head, held by the limiter

	worker int // number of the one that will have it in hand

	refused error // the domain does not let it run: OnMove's answer

	// Set by the transaction, afresh each time it runs.
	job    engine.Job
	groups []engine.GroupStat
	ok     bool
	moved  *engine.Job // the store has another revision: what it has
	gone   bool        // the store does not have it
	bad    error       // its record cannot be read
	paused *engine.QueueState
}

// next chooses the job that goes next and marks it taken; false if none may.
// Whoever takes a job must claim it or give it back. It ends: each round that chooses nobody takes a
// job out of its line, to wait for a lock.
func (x *index) next(now time.Time) (claim, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.loaded || x.stopped() != "" {
		return claim{}, false
	}
	for {
		l, rank := x.best(now)
		if l == nil {
			return claim{}, false
		}
		e := l.pop(rank)
		if x.stepAside(e) {
			continue
		}
		x.served++
		l.served = x.served
		e.taken = true
		e.queue.taken++
		x.occupy(e)
		return claim{e: e, id: e.id, rev: e.rev, lane: e.lane.name}, true
	}
}

// best finds the line whose head goes next. Lines are few: one per queue and lane. While a suspect runs
// nothing else does, and before an impatient one nothing begins until all is quiet.
func (x *index) best(now time.Time) (found *line, rank int) {
	if x.alone != nil {
		return nil, 0
	}
	for _, l := range x.lines {
		if l.n == 0 || l.queue.closed() || l.lane.shut(now) {
			continue
		}
		if x.impatient(l, now) {
			return x.onlyIfQuiet(l)
		}
		r, ok := l.top(x.busy == 0)
		if ok && (found == nil || better(l, r, found, rank)) {
			found, rank = l, r
		}
	}
	return found, rank
}

// better reports whether line a (at rank ra) goes before line b. Who tries a lane that is down, the rank,
// then those who were sent back through no fault of theirs, then the line that was served longest ago.
func better(a *line, ra int, b *line, rb int) bool {
	fa, fb := a.levels[ra].front.n > 0, b.levels[rb].front.n > 0
	switch {
	case a.lane.untried != b.lane.untried:
		return a.lane.untried
	case ra != rb:
		return ra < rb
	case fa != fb:
		return fa
	}
	return a.served < b.served
}

// impatient reports whether a suspect at the head of l's last rank has waited
// long enough for the others to stop. It comes back in a rhythm, so that one job which never ends does
// not stop the rest for ever.
func (x *index) impatient(l *line, now time.Time) bool {
	head := l.levels[suspectRank].head()
	return head != nil && now.Sub(head.ready)%(suspectPatience+suspectHush) >= suspectPatience
}

// onlyIfQuiet gives the suspect's line once nothing runs, and until then nobody.
func (x *index) onlyIfQuiet(l *line) (*line, int) {
	if x.busy > 0 {
		return nil, 0
	}
	return l, suspectRank
}

// shut reports whether the lane's jobs are passed over: its head was refused, and the instant has not
// come.
func (l *lane) shut(now time.Time) bool { return l.closed && l.until.After(now) }

// expire opens the lanes whose instant has come.
func (x *index) expire(now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, l := range x.lanes {
		l.closed = l.shut(now)
	}
}

// stepAside parks e if another job has its lock. It lines up again when the lock
// is free.
func (x *index) stepAside(e *entry) bool {
	if e.lock == "" {
		return false
	}
	l := x.locks[e.lock]
	if l == nil || l.holder == nil || l.holder == e {
		return false
	}
	e.parked = l
	l.aside = append(l.aside, e)
	return true
}

// giveBack undoes take for a job that was not claimed.
func (x *index) giveBack(e *entry) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.untake(e)
}

// untake is giveBack under the lock.
func (x *index) untake(e *entry) {
	if !e.taken { // a commit has moved it meanwhile
		return
	}
	e.taken = false
	e.queue.taken--
	x.free(e)
	x.lineFor(e).putBack(e)
}

// refuse gives e back and closes its lane until the admitter lets it pass.
func (x *index) refuse(c claim, a engine.Admission, now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.untake(c.e)
	l := x.laneOf(c.lane)
	l.closed, l.known, l.reason, l.rank, l.paced = true, a.Until, a.Reason, rankOf(c.e), true
	l.until = a.Until
	if !a.Until.After(now) {
		l.until = now.Add(askAgain)
	}
}

// reopen lets every lane be asked again.
func (x *index) reopen(untried func(lane string) bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, l := range x.lanes {
		l.closed, l.untried = false, untried(l.name)
	}
}

// admitted notes that a job got its permit, and how long the limiter alone has
// held it: since it was the lane's head, if the lane was refused meanwhile.
func (x *index) admitted(c *claim, now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	l := x.laneOf(c.lane)
	if l.paced {
		c.paced = now.Sub(engine.Latest(l.began, c.e.ready))
	}
	l.closed, l.untried, l.paced, l.began = false, false, false, now
}

// forget drops a job that the store does not have any more, or cannot read.
func (x *index) forget(id engine.JobID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.drop(id)
}

// dueNow gives at most n jobs whose instant has come.
func (x *index) dueNow(now time.Time, n int) []claim {
	x.mu.Lock()
	defer x.mu.Unlock()
	var out []claim
	own := x.clock.own(now)
	x.walkDue(0, func(e *entry) bool {
		if len(out) == n || e.wake.After(own) {
			return false
		}
		out = append(out, claim{e: e, id: e.id, rev: e.rev})
		return true
	})
	return out
}

// walkDue visits the heap from node i down, a subtree only while its root is
// wanted. Of a heap's node that is not due nothing below it is either, so that only what is due is
// looked at.
func (x *index) walkDue(i int, want func(*entry) bool) {
	if i >= len(x.due) || !want(x.due[i]) {
		return
	}
	x.walkDue(2*i+1, want)
	x.walkDue(2*i+2, want)
}

// nextWake is how long the dispatcher may sleep: to the next instant that is
// due, or at which a closed lane may be asked. At most a second: the wall clock
// may have been set.
func (x *index) nextWake(now time.Time) time.Duration {
	x.mu.Lock()
	defer x.mu.Unlock()
	wait := await.ToBeat(now, time.Second)
	if len(x.due) > 0 {
		wait = min(wait, x.due[0].wake.Sub(x.clock.own(now)))
	}
	for _, l := range x.lanes {
		if l.closed && l.jobs > 0 {
			wait = min(wait, l.until.Sub(now))
		}
	}
	return max(wait, 0)
}

// enlist takes free slots below the ceiling, at most so many.
func (x *index) enlist(ceiling, most int) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := min(ceiling-x.slots, most)
	if n <= 0 {
		return 0
	}
	x.slots += n
	return n
}

// dismiss gives slots back.
func (x *index) dismiss(n int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.slots -= n
}

// seat gives each claim the lowest number that no worker has.
func (x *index) seat(batch []claim) {
	x.mu.Lock()
	defer x.mu.Unlock()
	at := 0
	for i := range batch {
		for at < len(x.seats) && x.seats[at] {
			at++
		}
		if at == len(x.seats) {
			x.seats = append(x.seats, false)
		}
		x.seats[at], batch[i].worker = true, at+1
	}
}

// vacate takes the numbers of workers that have gone.
func (x *index) vacate(batch ...claim) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, c := range batch {
		if c.worker > 0 && c.worker <= len(x.seats) {
			x.seats[c.worker-1] = false
		}
	}
}

// keeps reports whether a worker may take another job under the ceiling.
func (x *index) keeps(ceiling int) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.slots <= ceiling
}
