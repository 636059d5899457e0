package local

import (
	"context"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
)

// Why says why a job does not run, until when if that is known, and where it
// stands in its line (1 = next, 0 = in none, or too far back to count). The reason
// is empty for a job that runs or has ended. One reason is given: the first thing
// that would have to change.
func (b *Backend) Why(j engine.Job) (reason string, until time.Time, place int) {
	switch {
	case j.State.Terminal():
		return "", time.Time{}, 0
	case j.State == engine.Running:
		return b.whyRunning(j)
	case b.kinds[j.Kind] == nil:
		return "no handler here", time.Time{}, 0
	case j.State == engine.Pending:
		return b.whyPending(j), time.Time{}, 0
	case b.idx.isForeign(j.ID):
		return notServed, time.Time{}, 0
	}
	held := b.Held(j)
	if j.State == engine.Available {
		reason, until, place = b.whyAvailable(j.ID, time.Now())
	} else {
		reason, until = whyLater(j), j.Due
	}
	switch {
	case held.Reason == "":
	case held.Until.IsZero() || held.Until.After(until) || place > 0:
		return held.Reason, held.Until, place
	default: // its own instant comes later
		return held.Reason, until, place
	}
	return reason, until, place
}

// Held is what keeps a job from starting wherever it stands in line and whenever it is
// due: what has halted the engine, its queue's pause, what its lane waits for.
func (b *Backend) Held(j engine.Job) (h engine.Held) {
	if !j.State.Live() || j.State == engine.Running || j.State == engine.Pending {
		return h
	}
	if h = b.idx.held(j.Queue); h.Reason != "" {
		return h
	}
	stands, ok := b.opt.Admitter.(holder)
	if lane := b.opt.Admitter.Lane(j); ok && lane != "" {
		return stands.Held(lane)
	}
	return h
}

// held is what keeps a queue's jobs from starting, of what the index knows.
func (x *index) held(name engine.Queue) (h engine.Held) {
	x.mu.Lock()
	defer x.mu.Unlock()
	q := x.queues[name]
	switch {
	case x.loaded && x.stopped() != "":
		return engine.Held{Reason: x.stopped(), Stand: engine.StandHeld}
	case q != nil && q.Paused:
		return engine.Held{Reason: q.Pause(), Stand: engine.StandPaused}
	}
	return h
}

// standing is why an available job does not run.
type standing struct {
	reason string
	until  time.Time
	place  int
	// lane and calls are what has to go before and with it; calls is 0 where until
	// does not depend on them.
	lane  string
	calls int
	shut  bool // the lane is: until is when it is asked again, such as the probe of an outage
}

// alike are instants that only the time between two questions parts: those of two lines that wait for one window are one.
const alike = 10 * time.Millisecond

// whyAvailable asks the index, and the limits when the job's place comes: what went
// a minute ago says little of what they let through next.
func (b *Backend) whyAvailable(id engine.JobID, now time.Time) (reason string, until time.Time, place int) {
	pacer, paced := b.opt.Admitter.(Pacer)
	s := b.idx.whyAvailable(id, now, pacer)
	if paced && s.calls > 0 && s.lane != "" {
		if wait, known := pacer.Wait(s.lane, s.calls); known {
			s.until = now.Add(wait)
		}
	}
	return s.reason, s.until.Round(alike), s.place
}

// Waiting says why nothing of an owner's work may have moved for as long as patience
// without anybody being needed: it waits for an instant, for its turn in a line that
// moves, or for something that is told elsewhere, such as a paused queue or a full disk.
// "" = nothing excuses it: its jobs run, wait for each other, or should have begun.
func (b *Backend) Waiting(owner string, patience time.Duration) string {
	now, x := time.Now(), b.idx
	x.mu.Lock()
	defer x.mu.Unlock()
	if why := x.stopped(); why != "" {
		return why
	}
	for _, e := range x.jobs {
		if e.owner != owner {
			continue
		}
		if why := e.excuse(now, patience); why != "" {
			return why
		}
	}
	return ""
}

// excuse is Waiting for one job.
func (e *entry) excuse(now time.Time, patience time.Duration) string {
	switch {
	case e.foreign:
		return notServed
	case e.queue.Paused:
		return e.queue.Pause()
	case e.inHeap && e.wake.After(now):
		return "waits for its instant"
	case e.line == nil:
		return ""
	case e.lane.shut(now):
		return e.lane.reason
	case !e.lane.began.IsZero() && now.Sub(e.lane.began) < patience:
		return "in a line that moves"
	}
	return ""
}

// notServed is why a job waits that is no part of the one sync that is worked on.
const notServed = "not part of this sync"

// whyRunning says what is odd about a job that runs; mostly nothing is.
func (b *Backend) whyRunning(j engine.Job) (string, time.Time, int) {
	switch {
	case j.CancelAsked:
		return "being cancelled", time.Time{}, 0
	case b.idx.isGhost(j.ID):
		return "stuck: its handler ignores that it was ended", time.Time{}, 0
	}
	return "", time.Time{}, 0
}

// whyPending counts the open children; the only reason that is read from the store.
func (b *Backend) whyPending(j engine.Job) string {
	var g engine.GroupStat
	err := b.opt.Store.Read(context.Background(), func(tx engine.Tx) (err error) {
		g, err = b.opt.Store.Group(tx, engine.GroupID{Parent: j.ID, Group: j.Group})
		return err
	})
	if err != nil {
		return "waits for other jobs"
	}
	if g.Open == 1 {
		return "waits for one other job"
	}
	return fmt.Sprintf("waits for %d other jobs", g.Open)
}

// whyLater is the reason of a job with an instant.
func whyLater(j engine.Job) string {
	switch {
	case j.Hold != engine.HoldNone:
		return j.Hold.Reason()
	case j.State == engine.Retryable:
		return engine.NextTry(j.Tries)
	}
	return "scheduled"
}

// isGhost reports whether a running job's handler has ignored that it was ended.
func (x *index) isGhost(id engine.JobID) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	e := x.jobs[id]
	return e != nil && e.ghost
}

// whyAvailable is the part of [Backend.Why] that needs the index: the first thing in the way, from the
// job itself over its lock to its line. p is only asked which lanes take from a limit; the wait is asked
// for without the lock.
func (x *index) whyAvailable(id engine.JobID, now time.Time, p Pacer) standing {
	x.mu.Lock()
	defer x.mu.Unlock()
	e := x.jobs[id]
	switch {
	case e == nil && x.loaded:
		return standing{reason: engine.JustMoved}
	case x.loading:
		return standing{reason: beingRead}
	case !x.loaded:
		return standing{reason: "no engine runs"}
	case e.taken:
		return standing{reason: engine.StartsNow, until: now}
	case e.parked != nil:
		return standing{reason: x.whyParked(e)}
	case e.line == nil:
		return standing{reason: engine.JustMoved}
	}
	if l := x.locks[e.lock]; e.lock != "" && l != nil && l.holder != nil {
		return standing{reason: fmt.Sprintf("lock of #%s", l.holder.id)}
	}
	s := e.whyInLine(now, x.alone)
	if s.calls == 0 {
		return s
	}
	if p != nil {
		s.lane, s.calls = e.lane.name, s.calls+x.beside(e, s.place, p)
	}
	if s.shut && s.calls == 1 { // nothing goes before it
		s.calls = 0
	}
	return s
}

// beside counts the jobs of other lines that go before the nth of e's and take from the same limit: all of a better
// rank, and of its own those that have their turn before it: a line whose turn comes first has one more. What an outage
// keeps goes before nobody.
func (x *index) beside(e *entry, n int, p Pacer) (calls int) {
	rank := rankOf(e)
	for r := range rank {
		n -= e.line.levels[r].n
	}
	passed := false // of two that nothing parts the first of x.lines goes first
	for _, l := range x.lines {
		passed = passed || l == e.line
		if l == e.line || l.n == 0 || l.queue.closed() || !p.Goes(l.lane.name, e.lane.name) {
			continue
		}
		for r := range rank {
			calls += l.levels[r].n
		}
		turns := n
		if better(e.line, rank, l, rank) || passed && !better(l, rank, e.line, rank) {
			turns--
		}
		calls += min(l.levels[rank].n, turns)
	}
	return calls
}

// whyParked is the reason of a job that stepped aside: who has its lock, such as "lock of #b41".
func (x *index) whyParked(e *entry) string {
	if e.parked.holder == nil {
		return "lock " + e.lock
	}
	return fmt.Sprintf("lock of #%s", e.parked.holder.id)
}

// whyInLine is the reason of a job that stands in a line: its lane's, else its place,
// such as "3rd in line".
func (e *entry) whyInLine(now time.Time, alone *entry) standing {
	place := e.line.place(e)
	s := standing{place: place, calls: place}
	switch {
	case e.lane.shut(now):
		// The lane's reason goes before the place: until it opens nobody in the line moves.
		s.reason, s.shut, s.until = e.lane.reason, true, e.lane.known
		if place == 0 { // it goes long after that
			s.reason, s.until = engine.FarBack+": "+s.reason, time.Time{}
		}
		return s
	case alone != nil:
		return standing{reason: fmt.Sprintf("suspect #%s runs alone", alone.id), place: place}
	case e.suspect:
		return standing{reason: "suspect: runs last and alone", place: place}
	case place == 0:
		return standing{reason: engine.FarBack}
	}
	s.reason = human.Ordinal(place) + " in line"
	return s
}
