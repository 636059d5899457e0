// Package fold lays updates of the console over each other. The last row per id wins,
// what comes whole replaces what was there, and what is only ever added (calls, log
// records, notes) is kept in order, up to a bound. A mailbox, a relay, an attached client
// and a screen all fold alike, so all of them end up with the same rows.
package fold

import (
	"cmp"
	"maps"
	"slices"

	"github.com/farsight-console/farsight/engine"
)

// How many of the newest are kept of what is only ever added.
const (
	KeptCalls = 2000
	keptLogs  = 2000
	KeptNotes = 200
)

// Rows are updates that were laid over each other. The zero value holds none. They are
// not safe for concurrent use.
type Rows struct {
	now      engine.Update // all but the accounts, the jobs and the gone ones
	accounts map[string]engine.AccountRow
	jobs     map[engine.JobID]engine.JobRow
	gone     map[engine.JobID]struct{} // a snapshot names what there is: after one it stays empty
}

// Add lays an update over the rows. A snapshot takes the place of all but the notes and
// the gap: they were not read yet, and it does not repeat them.
func (r *Rows) Add(u engine.Update) {
	if u.Snapshot {
		*r = Rows{now: engine.Update{Snapshot: true, Gap: r.now.Gap, Notes: r.now.Notes}}
	}
	r.whole(u)
	for i := range u.Accounts {
		r.PutAccount(u.Accounts[i])
	}
	for i := range u.Jobs {
		r.PutJob(u.Jobs[i])
	}
	for _, id := range u.Gone {
		r.DropJob(id)
	}
}

// whole takes over what comes whole, and adds what is only ever added.
func (r *Rows) whole(u engine.Update) {
	n := &r.now
	n.Seq, n.Gap = max(n.Seq, u.Seq), n.Gap || u.Gap
	if u.Engine != nil {
		n.Engine = u.Engine
	}
	if u.Limits != nil {
		n.Limits = u.Limits
	}
	if u.Queues != nil {
		n.Queues = u.Queues
	}
	if u.Alerts != nil {
		n.Alerts = u.Alerts
	}
	n.Calls = newest(append(n.Calls, u.Calls...), KeptCalls)
	n.Logs = newest(append(n.Logs, u.Logs...), keptLogs)
	n.Notes = newest(append(n.Notes, u.Notes...), KeptNotes)
}

// newest cuts all but the last n. Nothing is moved: a slice that was handed out keeps
// what it shows.
func newest[T any](all []T, n int) []T { return all[max(len(all)-n, 0):] }

// PutAccount lays one account over the rows.
func (r *Rows) PutAccount(a engine.AccountRow) {
	if r.accounts == nil {
		r.accounts = map[string]engine.AccountRow{}
	}
	r.accounts[a.ID] = a
}

// PutJob lays one job over the rows, unless a later revision of it is there.
func (r *Rows) PutJob(j engine.JobRow) {
	if old, ok := r.jobs[j.ID]; ok && old.Rev > j.Rev {
		return
	}
	if r.jobs == nil {
		r.jobs = map[engine.JobID]engine.JobRow{}
	}
	delete(r.gone, j.ID)
	r.jobs[j.ID] = j
}

// DropJob takes a job out, and remembers that the reader is to do so too.
func (r *Rows) DropJob(id engine.JobID) {
	r.ForgetJob(id)
	if r.now.Snapshot {
		return
	}
	if r.gone == nil {
		r.gone = map[engine.JobID]struct{}{}
	}
	r.gone[id] = struct{}{}
}

// ForgetJob takes a job out that the reader was never told of.
func (r *Rows) ForgetJob(id engine.JobID) { delete(r.jobs, id) }

// Changed is how many jobs wait to be told of, the gone ones included.
func (r *Rows) Changed() int { return len(r.jobs) + len(r.gone) }

// Gone reports whether a job has left since the last snapshot and not come back.
func (r *Rows) Gone(id engine.JobID) bool {
	_, gone := r.gone[id]
	return gone
}

// Whole is all but the accounts and jobs. What is added later does not change it.
func (r *Rows) Whole() engine.Update { return r.now }

// Accounts are the accounts in no order, in a slice of the caller's own.
func (r *Rows) Accounts() []engine.AccountRow { return slices.Collect(maps.Values(r.accounts)) }

// Account is one account; false when there is none with this id.
func (r *Rows) Account(id string) (engine.AccountRow, bool) {
	a, ok := r.accounts[id]
	return a, ok
}

// Jobs are the jobs in no order, in a slice of the caller's own.
func (r *Rows) Jobs() []engine.JobRow { return slices.Collect(maps.Values(r.jobs)) }

// Update is all of it as one update, in order of the ids. What is added later does not
// change it.
func (r *Rows) Update() engine.Update {
	u := r.now
	u.Accounts, u.Jobs, u.Gone = r.Accounts(), r.Jobs(), slices.Sorted(maps.Keys(r.gone))
	slices.SortFunc(u.Accounts, func(a, b engine.AccountRow) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(u.Jobs, func(a, b engine.JobRow) int { return cmp.Compare(a.ID, b.ID) })
	return u
}
