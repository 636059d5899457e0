package ui

import (
	"maps"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
)

// recorderSize is how many calls the flight recorder keeps.
const recorderSize = 2000

// rows folds updates into what pages draw. Every change makes new slices, so
// that a copy of data is a frozen view that costs nothing.
type rows struct {
	data     page.Data
	accounts map[string]engine.AccountRow
	jobs     map[engine.JobID]engine.JobRow
}

// apply takes an update in and returns how many rows changed.
func (r *rows) apply(u engine.Update, now time.Time) int {
	if u.Snapshot {
		r.accounts, r.jobs = nil, nil
		r.data.Calls, r.data.Logs = nil, nil
		r.data.Restarts++
	}
	d := &r.data
	d.Version++
	d.Seq, d.At, d.Ready, d.Lost = max(u.Seq, d.Seq), now, d.Ready || u.Snapshot, time.Time{}
	if u.Engine != nil {
		d.Engine = *u.Engine
	}
	if u.Queues != nil {
		d.Queues = u.Queues
	}
	if u.Limits != nil {
		d.Limits = *u.Limits
	}
	if u.Alerts != nil || u.Snapshot {
		d.Alerts = u.Alerts
	}
	r.addCalls(u.Calls)
	r.addLogs(u.Logs)
	if u.Snapshot || len(u.Accounts) > 0 {
		r.foldAccounts(u.Accounts)
	}
	if u.Snapshot || len(u.Jobs)+len(u.Gone) > 0 {
		r.foldJobs(u.Jobs, u.Gone)
	}
	return len(u.Accounts) + len(u.Jobs) + len(u.Gone) + len(u.Calls)
}

// keptLogs is how many records of the log a console holds. What is older is read
// from the engine.
const keptLogs = 2000

func (r *rows) addLogs(logs []engine.LogRow) {
	all := append(r.data.Logs, logs...)
	r.data.Logs = all[max(len(all)-keptLogs, 0):]
}

func (r *rows) addCalls(calls []engine.CallRow) {
	all := append(r.data.Calls, calls...)
	r.data.Calls = all[max(len(all)-recorderSize, 0):]
}

func (r *rows) foldAccounts(changed []engine.AccountRow) {
	if r.accounts == nil {
		r.accounts = map[string]engine.AccountRow{}
	}
	for _, a := range changed {
		r.accounts[a.ID] = a
	}
	list := slices.Collect(maps.Values(r.accounts))
	page.SortAccounts(list)
	r.data.Accounts = list
	r.dropETAs()
}

// dropETAs forgets the estimates of runs that are over.
func (r *rows) dropETAs() {
	kept := map[string]engine.ETA{}
	for id, e := range r.data.ETA {
		if r.accounts[id].Status.Open() {
			kept[id] = e
		}
	}
	r.data.ETA = kept
}

func (r *rows) foldJobs(changed []engine.JobRow, gone []engine.JobID) {
	if r.jobs == nil {
		r.jobs = map[engine.JobID]engine.JobRow{}
	}
	for _, j := range changed {
		if old, ok := r.jobs[j.ID]; ok && old.Rev > j.Rev {
			continue // a late row may not take a job back
		}
		r.jobs[j.ID] = j
	}
	for _, id := range gone {
		delete(r.jobs, id)
	}
	list := slices.Collect(maps.Values(r.jobs))
	page.SortJobs(list)
	at := make(map[engine.JobID]int, len(list))
	for i := range list {
		at[list[i].ID] = i
	}
	r.data.Jobs, r.data.JobAt = list, at
}

// setETA takes an estimate in; it is shown anew only if it moved by more than a
// tenth, so that the figure can be read.
func (r *rows) setETA(id string, e engine.ETA) {
	old, ok := r.data.ETA[id]
	if ok && old.Known == e.Known && old.Why == e.Why && !moved(old.High, e.High) && !moved(old.Low, e.Low) {
		return
	}
	etas := maps.Clone(r.data.ETA)
	if etas == nil {
		etas = map[string]engine.ETA{}
	}
	etas[id] = e
	r.data.ETA = etas
}

func moved(a, b time.Duration) bool {
	d := a - b
	if d < 0 {
		d = -d
	}
	return d*10 > a
}
