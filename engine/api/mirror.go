package api

import (
	"github.com/farsight-console/farsight/engine"
)

// Bounds of what a snapshot carries of that which is only ever added.
const (
	mirrorCalls = 2000
	mirrorLogs  = 1000
)

// mirror is what the watchers of a relay have been told so far, as rows: whoever
// comes later is given it as their snapshot, and from then on what all are given.
// Everything else would be a state that the updates to come do not fit on: they name
// only what differs from what was told before.
type mirror struct {
	now      engine.Update
	accounts map[string]engine.AccountRow
	jobs     map[engine.JobID]engine.JobRow
}

// fold lays an update over the rows.
func (m *mirror) fold(u engine.Update) {
	if u.Snapshot || m.accounts == nil {
		m.now = engine.Update{}
		m.accounts = make(map[string]engine.AccountRow, len(u.Accounts))
		m.jobs = make(map[engine.JobID]engine.JobRow, len(u.Jobs))
	}
	m.whole(u)
	for _, a := range u.Accounts {
		m.accounts[a.ID] = a
	}
	for _, j := range u.Jobs {
		m.jobs[j.ID] = j
	}
	for _, id := range u.Gone {
		delete(m.jobs, id)
	}
}

// whole takes over what comes whole, and adds what is only ever added. Notes are not
// kept: they were for those who were there.
func (m *mirror) whole(u engine.Update) {
	n := &m.now
	takeWhole(n, u)
	n.Calls = last(append(n.Calls, u.Calls...), mirrorCalls)
	n.Logs = last(append(n.Logs, u.Logs...), mirrorLogs)
}

// snapshot is a copy of it all, in order of the ids. It stays as it is while the
// mirror goes on: calls and logs are only appended to, or cloned.
func (m *mirror) snapshot(gap bool) engine.Update {
	u := m.now
	u.Snapshot, u.Gap = true, gap
	u.Calls, u.Logs = u.Calls[:len(u.Calls):len(u.Calls)], u.Logs[:len(u.Logs):len(u.Logs)]
	u.Accounts, u.Jobs = inOrder(m.accounts), inOrder(m.jobs)
	return u
}
