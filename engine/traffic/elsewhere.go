package traffic

import (
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
)

// Calls that other processes make for jobs which this one has admitted.

// Take turns the place that Admit has reserved for a job into a permit, for a call that another
// process makes. nil = the call is better made here: its place is lost, or what it is answered is
// to show whether its lane, the network or the key works. A call that is to prove something must be
// made where its answer is judged.
func (l *Limits) Take(j engine.Job) (at Lane, p *limit.Permit) {
	at, _ = l.opt.Lanes(j)
	if at == (Lane{}) || l.gate.doubts(at) {
		return at, nil
	}
	return at, l.limiter.TakeOver(requestOf(at, j.ID, priorityOf(j)))
}

// Adopt takes over a call that is open since another process let it go, so long ago. A leader calls it
// for each call that the leader before it has let go and that has not been answered: Riot may have
// counted it.
func (l *Limits) Adopt(at Lane, job engine.JobID, ago time.Duration) *limit.Permit {
	l.dirty.Store(true)
	return l.limiter.Adopt(requestOf(at, job, limit.Bulk), ago)
}

// Told takes in how a call went that another process has made for an account's work, as if it had
// been made here. That its machine has no network says nothing of this one.
func (l *Limits) Told(at Lane, job engine.JobID, owner string, c riot.Call) {
	l.OnCall(c)
	l.calls.own(owner, 1, time.Now())
	// A call without a class that was not answered with 200 was never made, or stopped: it tells
	// nothing, and its job gives back the try that it may have had.
	e := riot.Told(c.Class, c.Status)
	switch {
	case e != nil && e.Reason == riot.Local, e == nil && c.Status != 200:
		l.gate.quit(job)
	default:
		l.gate.answer(at, job, e, time.Now())
	}
}
