package local

import (
	"context"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
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
		return "not part of this sync", time.Time{}, 0
	case j.State == engine.Available:
		return b.idx.whyAvailable(j.ID, time.Now())
	}
	return whyLater(j), j.Due, 0
}

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
	err := b.store.Read(context.Background(), func(tx engine.Tx) (err error) {
		g, err = b.store.Group(tx, engine.GroupID{Parent: j.ID, Group: j.Group})
		return err
	})
	if err != nil {
		return "waits for its children"
	}
	if g.Open == 1 {
		return "waits for 1 child"
	}
	return fmt.Sprintf("waits for %d children", g.Open)
}

// whyLater is the reason of a job with an instant.
func whyLater(j engine.Job) string {
	switch {
	case j.Hold != engine.HoldNone:
		return "held: " + j.Hold.String()
	case j.State == engine.Retryable:
		return fmt.Sprintf("next try after %d failed", j.Tries)
	}
	return "scheduled"
}

func (x *index) isGhost(id engine.JobID) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	e := x.jobs[id]
	return e != nil && e.ghost
}

func (x *index) whyAvailable(id engine.JobID, now time.Time) (reason string, until time.Time, place int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	e := x.jobs[id]
	switch {
	case e == nil && x.loaded:
		return "has just moved", time.Time{}, 0
	case !x.loaded:
		return "no engine runs", time.Time{}, 0
	case x.stopped() != "":
		return x.stopped(), time.Time{}, 0
	case e.queue.Paused:
		return pausedWords(e.queue.QueueState), time.Time{}, 0
	case e.taken:
		return "starts now", now, 0
	case e.parked != nil:
		return x.whyParked(e), time.Time{}, 0
	case e.line == nil:
		return "has just moved", time.Time{}, 0
	}
	if l := x.locks[e.lock]; e.lock != "" && l != nil && l.holder != nil {
		return fmt.Sprintf("lock of #%s", l.holder.id), time.Time{}, 0
	}
	return e.whyInLine(now, x.alone)
}

func (x *index) whyParked(e *entry) string {
	if e.parked.holder == nil {
		return "lock " + e.lock
	}
	return fmt.Sprintf("lock of #%s", e.parked.holder.id)
}

func pausedWords(q engine.QueueState) string {
	if q.By.User == "" {
		return "queue paused"
	}
	return "queue paused by " + q.By.User
}

// whyInLine is the reason of a job that stands in a line: its lane's, else its
// place.
func (e *entry) whyInLine(now time.Time, alone *entry) (reason string, until time.Time, place int) {
	place = e.line.place(e)
	switch {
	case e.lane.shut(now):
		until = e.lane.known
		if place != 1 {
			until = e.estimate(now, place)
		}
		return e.lane.reason, until, place
	case alone != nil:
		return fmt.Sprintf("suspect #%s runs alone", alone.id), time.Time{}, place
	case e.suspect:
		return "suspect: runs last and alone", time.Time{}, place
	case place == 0:
		return "far back in line", time.Time{}, 0
	}
	return ordinal(place) + " in line", e.estimate(now, place), place
}

// estimate is when the place comes, at the pace of the lane's last minute; zero
// when there is no pace yet.
func (e *entry) estimate(now time.Time, place int) time.Time {
	r := &e.lane.starts
	if e.lane.name == "" {
		r = &e.queue.settled
	}
	pace := r.perMinute(now)
	if pace == 0 || place == 0 {
		return time.Time{}
	}
	return now.Add(time.Duration(float64(place) / pace * float64(time.Minute)))
}

// ordinal writes 1st, 2nd, 3rd, 4th, 11th, 21st …
func ordinal(n int) string {
	suffix := [...]string{"th", "st", "nd", "rd"}
	last := n % 10
	if last > 3 || n%100 >= 11 && n%100 <= 13 {
		last = 0
	}
	return fmt.Sprintf("%d%s", n, suffix[last])
}
