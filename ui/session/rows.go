package session

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/fold"
	"github.com/farsight-console/farsight/ui/page"
)

// Rows are the folded updates as pages draw them. Every change makes new slices, so
// that a copy of Data is a frozen view that costs nothing.
type Rows struct {
	Data page.Data
	fold fold.Rows
	kept string // what keeps the engine's calls, by the last update
}

// Apply takes an update in and returns how many rows changed, and whether something else keeps the engine's calls now.
func (r *Rows) Apply(u engine.Update, now time.Time) (changed int, turned bool) {
	r.fold.Add(u)
	d, whole := &r.Data, r.fold.Whole()
	was, ready := r.kept, d.Ready
	if u.Snapshot {
		d.Restarts++
	}
	d.Version++
	d.Seq, d.At, d.Ready, d.Lost = max(u.Seq, d.Seq), now, d.Ready || u.Snapshot, time.Time{}
	d.Queues, d.Alerts, d.Calls, d.Logs = whole.Queues, whole.Alerts, whole.Calls, whole.Logs
	if u.Engine != nil {
		d.Engine = *u.Engine
	}
	if u.Limits != nil {
		d.Limits = *u.Limits
	}
	if u.Snapshot || len(u.Accounts) > 0 {
		d.Accounts = r.fold.Accounts()
		page.SortAccounts(d.Accounts)
	}
	if u.Snapshot || len(u.Jobs)+len(u.Gone) > 0 {
		r.listJobs()
	}
	r.kept = keeps(d)
	return len(u.Accounts) + len(u.Jobs) + len(u.Gone) + len(u.Calls), ready && r.kept != was
}

// keeps names all that keeps the engine from calling, so that two answers differ when that has changed.
func keeps(d *page.Data) string {
	parts := []string{string(d.Engine.State)}
	for i := range d.Queues {
		if q := &d.Queues[i]; q.Paused {
			parts = append(parts, string(q.Name))
		}
	}
	for i := range d.Limits.Buckets {
		if b := &d.Limits.Buckets[i]; b.Cap > 0 || b.Frozen() || b.Blocked.After(d.Limits.At) {
			parts = append(parts, fmt.Sprint(b.Host, b.Method, b.Window, b.Cap, b.BlockedBy))
		}
	}
	for _, b := range d.Limits.Breakers {
		parts = append(parts, b.Host+b.Method)
	}
	slices.Sort(parts) // hosts come in the order of what waits for them, which changes
	return strings.Join(parts, " ")
}

// listJobs puts the jobs in order.
func (r *Rows) listJobs() {
	list := r.fold.Jobs()
	page.SortJobs(list)
	at := make(map[engine.JobID]int, len(list))
	for i := range list {
		at[list[i].ID] = i
	}
	r.Data.Jobs, r.Data.JobAt = list, at
}
