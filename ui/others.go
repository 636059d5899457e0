package ui

import (
	"time"

	"github.com/farsight-console/farsight/engine"
)

// othersEvery is how often lists are read anew at most because of what others do: a
// script that gives a hundred commands a second shall not make every console read.
const othersEvery = 500 * time.Millisecond

// others is what this console owes its lists for the commands of others.
type others struct {
	due  time.Time // when to read them anew; zero = nobody has done anything
	last time.Time // it was done
}

// othersFresh is how long the answer to such a reading may take to be shown as it comes.
const othersFresh = 300 * time.Millisecond

// fresh reports whether lists were read anew a moment ago.
func (o *others) fresh(now time.Time) bool { return now.Sub(o.last) < othersFresh }

// theirs reports whether a note tells of a command of somebody else.
func (m *Model) theirs(n engine.Note) bool {
	return n.By != (engine.Actor{}) && n.By != m.opt.By()
}

// acted notes that somebody else has changed something: Watch tells of live rows only,
// and what was cancelled in line was never among them.
func (o *others) acted(now time.Time) {
	if !o.due.IsZero() {
		return
	}
	o.due = now
	if soonest := o.last.Add(othersEvery); soonest.After(now) {
		o.due = soonest
	}
}

// reread makes the visible list due, once its time has come.
func (m *Model) reread(now time.Time) {
	o := &m.others
	if o.due.IsZero() || now.Before(o.due) {
		return
	}
	o.due, o.last = time.Time{}, now
	m.acts++
}
