package app

import (
	"context"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/riot"
)

// mistyped takes accounts away that were made for a sync, and that Riot does not know, or
// not on that platform, whoever asked for the sync. The row stays as FAILED, with the
// reason, for as long as the account may not be synced again: consoles and programs read it
// there, and a look at its stats makes no call to Riot.
type mistyped struct {
	console engine.Console
	wait    time.Duration

	mu     sync.Mutex
	failed map[string]time.Time // account -> when its sync failed
}

// Times of looking for mistyped accounts.
const (
	mistypedLook  = time.Minute
	mistypedLeast = time.Minute // that the row is there, also without a cooldown
)

// newMistyped makes one that leaves an account's row for the cooldown of its syncs.
func newMistyped(cooldown time.Duration) *mistyped {
	return &mistyped{wait: max(cooldown, mistypedLeast), failed: map[string]time.Time{}}
}

// Publish notes the syncs that have failed in one commit. It never blocks.
func (m *mistyped) Publish(changes []engine.Change) {
	for i := range changes {
		if a := changes[i].Account; a != nil {
			m.note(a)
		}
	}
}

// note remembers a failed sync, or forgets about it once the account has become one to keep.
func (m *mistyped) note(a *engine.AccountRow) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case !neverSynced(a):
		delete(m.failed, a.ID)
	case m.failed[a.ID].IsZero():
		m.failed[a.ID] = time.Now()
	}
}

// neverSynced reports whether nothing but a sync that failed is known of an account.
func neverSynced(a *engine.AccountRow) bool {
	return a.Status == engine.SyncFailed && !a.Tracked && a.LastSync.IsZero()
}

// Run implements control.Runner. It finds those of earlier engines, too.
func (m *mistyped) Run(ctx context.Context) error {
	// The pause comes first: the console that is asked is wired by then.
	for first := true; await.Pause(ctx, mistypedLook); first = false {
		if first {
			m.find(ctx)
		}
		for _, id := range m.due() {
			forgetMistyped(ctx, m.console, id, engine.Actor{User: engine.ByEngine, Via: "engine"})
		}
	}
	return nil
}

// find notes what failed before this start, whose wait begins anew.
func (m *mistyped) find(ctx context.Context) {
	for q := (engine.AccountsQuery{Page: engine.Page{Limit: 500}}); ; {
		page := found[engine.AccountsPage](ctx, m.console, q)
		for i := range page.Accounts {
			m.note(&page.Accounts[i])
		}
		if q.After = page.Next; q.After == "" {
			return
		}
	}
}

// due takes out those that have stood for long enough.
func (m *mistyped) due() (ids []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, since := range m.failed {
		if time.Since(since) >= m.wait {
			ids = append(ids, id)
			delete(m.failed, id)
		}
	}
	return ids
}

// forgetMistyped takes an account away if it was mistyped. If it cannot be taken away it
// stays as FAILED.
func forgetMistyped(ctx context.Context, c engine.Console, id string, by engine.Actor) {
	d := found[engine.AccountDetail](ctx, c, engine.AccountQuery{ID: id})
	// Asked again: meanwhile somebody may have tracked it. An identity means that Riot has known it
	// once.
	if !neverSynced(&d.Row) || len(d.Identity) > 0 {
		return
	}
	job := found[engine.JobDetail](ctx, c, engine.JobQuery{ID: d.Row.Job})
	// Any other failure, such as a refused key, says nothing about the name.
	if job.Job.Class != riot.ClassMissing && job.Job.Class != ingest.ClassPlatform {
		return
	}
	_, _ = c.Do(ctx, engine.Command{Op: engine.OpForget, Account: d.Row.ID, Reason: "Riot knows no such account", By: by})
}

// found gives the answer to a query; its zero value when there is none.
func found[T any](ctx context.Context, c engine.Console, q engine.Query) T {
	answer, _ := engine.Ask[T](ctx, c, q)
	return answer
}
