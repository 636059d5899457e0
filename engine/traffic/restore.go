package traffic

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/wall"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/riot/route"
)

// Restore takes over from the run before: call it once, before the backend runs.
// fresh says that the directory is new: then there is nothing to restore. live
// are all live jobs as the run before left them.
//
// The state on disk may be a second old, and that second's calls are what a
// restart could burst over. The store knows them: each attempt that was opened
// since the save counts as one call.
func (l *Limits) Restore(ctx context.Context, fresh bool, live iter.Seq2[engine.Job, error]) error {
	if fresh {
		// From here on there is a state: a kill within the first second must not
		// look as if it had been lost.
		l.dirty.Store(true)
		l.save(ctx)
		return nil
	}
	l.cases.restore(ctx)
	blob, err := l.opt.Store.LoadState(ctx, LimiterState)
	if err != nil {
		return fmt.Errorf("load the limiter's state: %w", err)
	}
	var st limit.State
	if json.Unmarshal(blob, &st) != nil {
		st = limit.State{} // as if lost: the windows count as full
	}
	saved := time.UnixMilli(st.Stamp)
	opened, err := l.openedSince(ctx, saved, live)
	if err != nil {
		return fmt.Errorf("count the calls since the limiter's state was saved: %w", err)
	}
	if blob == nil && len(opened) == 0 {
		return nil // no call was ever made from here
	}
	off := time.Duration(st.Off) * time.Millisecond
	if st.Stamp > 0 {
		l.stamp = saved.Add(-off)
	}
	// By two clocks that may be off each other: no call shall seem older than it is.
	l.limiter.Restore(st, wall.Now().Add(-off-wall.Off()), opened)
	return nil
}

// Adopt takes over a call that is open since another process let it go, so long ago. A leader calls it
// for each call that the leader before it has let go and that has not been answered: Riot may have
// counted it.
func (l *Limits) Adopt(at Lane, job engine.JobID, ago time.Duration) *limit.Permit {
	l.dirty.Store(true)
	return l.limiter.Adopt(requestOf(at, job, limit.Bulk), ago)
}

// Stamp is an instant of the wall clock before that of the state from which Restore has taken over;
// the zero time when there was none.
func (l *Limits) Stamp() time.Time { return l.stamp }

// openedSince counts by scope the calls that may have been made since the state was saved: those of
// jobs that were running when the process ended, and those of attempts that had ended by then.
func (l *Limits) openedSince(ctx context.Context, saved time.Time,
	live iter.Seq2[engine.Job, error]) (map[limit.Scope]int, error) {
	opened := map[limit.Scope]int{}
	for j, err := range live {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil || j.State != engine.Running || j.Started.Before(saved) {
			continue
		}
		if at, _ := l.opt.Lanes(j); at != (Lane{}) {
			opened[limit.Scope{Host: at.Host, Method: at.Method}]++
		}
	}
	return opened, l.endedSince(ctx, saved, opened)
}

// endedSince adds the attempts that ended since. They tell no method; the host
// is that of their account, whose buckets are the tight ones, and of a collection
// each of its hosts.
func (l *Limits) endedSince(ctx context.Context, saved time.Time, opened map[limit.Scope]int) error {
	add := func(owner string, hosts ...string) error {
		attempts, err := l.opt.Store.Recent(ctx, owner, 2*saveAfter)
		if n := callsSince(saved, attempts); n > 0 {
			for _, host := range hosts {
				opened[limit.Scope{Host: host}] += n
			}
		}
		return err
	}
	for row, err := range engine.EachAccount(ctx, l.opt.Store.Accounts, engine.AccountsQuery{}) {
		if err == nil && (row.Status.Open() || !row.Updated.Before(saved)) {
			err = add(row.ID, string(route.Platform(row.Platform).Region()))
		}
		if err != nil {
			return err
		}
	}
	if l.opt.Collections == nil {
		return nil
	}
	rows, err := l.opt.Collections(ctx)
	for _, r := range rows {
		var hosts []string
		for _, p := range r.Platforms {
			hosts = append(hosts, p, string(route.Platform(p).Region())) // ladders are on the platform itself
		}
		slices.Sort(hosts)
		if err == nil && (r.Result == "" || !r.Finished.Before(saved)) {
			err = add(r.ID, slices.Compact(hosts)...)
		}
	}
	return err
}

// callsSince counts the attempts that made a call: it was answered, or was on the wire for a time.
func callsSince(saved time.Time, attempts []engine.Attempt) (n int) {
	for _, a := range attempts {
		if !a.Start.Before(saved) && (a.Status != 0 || a.HTTP > 0) {
			n++
		}
	}
	return n
}
