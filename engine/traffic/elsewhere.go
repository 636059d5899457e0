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
// to show whether its lane, the network or the key works.
func (l *Limits) Take(j engine.Job) (at Lane, p *limit.Permit) {
	at, _ = l.opt.Lanes(j)
	if at == (Lane{}) || l.gate.doubts(at) {
		return at, nil
	}
	return at, l.limiter.TakeOver(requestOf(at, j.ID, priorityOf(j)))
}

// Adopt takes over a call that is open since another process let it go, so long ago.
func (l *Limits) Adopt(at Lane, job engine.JobID, ago time.Duration) *limit.Permit {
	l.dirty.Store(true)
	return l.limiter.Adopt(requestOf(at, job, limit.Bulk), ago)
}

// Told takes in how a call went that another process has made for an account's work, as if it had
// been made here. That its machine has no network says nothing of this one.
func (l *Limits) Told(at Lane, job engine.JobID, owner string, c riot.Call) {
	l.OnCall(c)
	l.calls.own(owner, 1, time.Now())
	e := riot.Told(c.Class, c.Status)
	switch {
	case e != nil && e.Reason == riot.Local, e == nil && c.Status != 200:
		l.gate.quit(job)
	default:
		l.gate.answer(at, job, e, time.Now())
	}
}
