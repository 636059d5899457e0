package api

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
)

// Bounds of what waits for a screen that does not take it.
const (
	boxJobs  = 20000 // changed and gone ones
	boxCalls = 2000
	boxLogs  = 2000
	boxNotes = 200
)

// errBehind says that too much waits: a snapshot costs less.
var errBehind = errors.New("too far behind")

// box merges updates until they are taken: the last row per id wins, what is only
// ever added is kept in order, up to a bound.
type box struct {
	bell await.Bell // capacity 1

	mu       sync.Mutex
	some     bool
	now      engine.Update
	accounts map[string]engine.AccountRow
	jobs     map[engine.JobID]engine.JobRow
	gone     map[engine.JobID]struct{}
	end      error
}

func newBox() *box {
	b := &box{bell: await.NewBell()}
	b.empty()
	return b
}

func (b *box) empty() {
	b.some, b.now = false, engine.Update{}
	b.accounts = map[string]engine.AccountRow{}
	b.jobs = map[engine.JobID]engine.JobRow{}
	b.gone = map[engine.JobID]struct{}{}
}

// put lays an update over what waits.
func (b *box) put(u engine.Update) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if u.Snapshot {
		notes, gap := b.now.Notes, b.now.Gap
		b.empty()
		b.now.Notes, b.now.Gap, b.now.Snapshot = notes, gap, true
	}
	b.some = true
	b.whole(u)
	for _, a := range u.Accounts {
		b.accounts[a.ID] = a
	}
	for _, j := range u.Jobs {
		delete(b.gone, j.ID)
		b.jobs[j.ID] = j
	}
	for _, id := range u.Gone {
		delete(b.jobs, id)
		b.gone[id] = struct{}{}
	}
	b.bell.Ring()
	if !b.now.Snapshot && len(b.jobs)+len(b.gone) > boxJobs {
		return errBehind
	}
	return nil
}

// whole takes over what comes whole, and adds what is only ever added.
func (b *box) whole(u engine.Update) {
	n := &b.now
	takeWhole(n, u)
	n.Gap = n.Gap || u.Gap
	n.Calls = last(append(n.Calls, u.Calls...), boxCalls)
	n.Logs = last(append(n.Logs, u.Logs...), boxLogs)
	n.Notes = last(append(n.Notes, u.Notes...), boxNotes)
}

// takeWhole lays what comes whole over what came before.
func takeWhole(n *engine.Update, u engine.Update) {
	n.Seq = max(n.Seq, u.Seq)
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
}

// last keeps the newest n in room of their own: the rest shall not be held.
func last[T any](all []T, n int) []T {
	if len(all) <= n {
		return all
	}
	return slices.Clone(all[len(all)-n:])
}

// close says that nothing more will come.
func (b *box) close(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end = err
	if errors.Is(err, errBehind) {
		b.empty()
	}
	b.bell.Ring()
}

// take waits for something and takes everything out. What came before the end is
// given first.
func (b *box) take(ctx context.Context) (engine.Update, error) {
	for {
		if u, ok, err := b.look(); ok || err != nil {
			return u, err
		}
		select {
		case <-b.bell:
		case <-ctx.Done():
			if u, ok, err := b.look(); ok || err != nil {
				return u, err
			}
			return engine.Update{}, context.Cause(ctx)
		}
	}
}

func (b *box) look() (u engine.Update, ok bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.some {
		return u, false, b.end
	}
	u = b.now
	u.Accounts = inOrder(b.accounts)
	u.Jobs = inOrder(b.jobs)
	u.Gone = slices.Sorted(maps.Keys(b.gone))
	b.empty()
	return u, true, nil
}

func inOrder[K ~string, V any](rows map[K]V) []V {
	var out []V
	for _, k := range slices.Sorted(maps.Keys(rows)) {
		out = append(out, rows[k])
	}
	return out
}
