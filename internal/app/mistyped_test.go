package app

import (
	"context"
	"iter"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot"
)

// failures is a console with accounts that have failed, and what was forgotten of them.
type failures struct {
	class map[engine.JobID]engine.Class

	mu        sync.Mutex
	accounts  []engine.AccountDetail
	forgotten []string
}

func (f *failures) comes(a engine.AccountDetail) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.accounts = append(f.accounts, a)
}

func (f *failures) gone() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.forgotten)
}

func (f *failures) Watch(context.Context) iter.Seq[engine.Update] { return nil }

func (f *failures) Do(_ context.Context, c engine.Command) (engine.Receipt, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c.Op == engine.OpForget && c.By.Via == "engine" && c.Reason != "" {
		f.forgotten = append(f.forgotten, c.Account)
	}
	return engine.Receipt{}, nil
}

func (f *failures) Find(_ context.Context, q engine.Query) (engine.Answer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch q := q.(type) {
	case engine.AccountsQuery: // a page of one
		i := slices.IndexFunc(f.accounts, func(a engine.AccountDetail) bool { return a.Row.ID == q.After }) + 1
		page := engine.AccountsPage{Accounts: []engine.AccountRow{f.accounts[i].Row}}
		if i+1 < len(f.accounts) {
			page.Next = f.accounts[i].Row.ID
		}
		return page, nil
	case engine.AccountQuery:
		i := slices.IndexFunc(f.accounts, func(a engine.AccountDetail) bool { return a.Row.ID == q.ID })
		return f.accounts[i], nil
	case engine.JobQuery:
		return engine.JobDetail{Job: engine.JobRow{Job: engine.Job{ID: q.ID, Class: f.class[q.ID]}}}, nil
	}
	return nil, engine.ErrInvalid
}

// An account that Riot does not know leaves when its cooldown is over, whoever has asked
// for it, also when an earlier engine was told so. What Riot knows, or has not answered
// for, stays.
func TestMistyped_LeavesAfterTheCooldown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		row := func(id string, class engine.Class) engine.AccountDetail {
			return engine.AccountDetail{Row: engine.AccountRow{ID: id, Status: engine.SyncFailed, Job: engine.JobID(class)}}
		}
		f := &failures{class: map[engine.JobID]engine.Class{riot.ClassMissing: riot.ClassMissing, "500": "500"}}
		f.accounts = []engine.AccountDetail{row("before", riot.ClassMissing), row("outage", "500"), row("known", riot.ClassMissing), row("tracked", riot.ClassMissing), row("once", riot.ClassMissing)}
		f.accounts[2].Identity = []engine.Identity{{}}
		f.accounts[3].Row.Tracked = true
		f.accounts[4].Row.LastSync = time.Now()
		m := newMistyped(5 * time.Minute)
		m.console = f
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- m.Run(ctx) }()
		time.Sleep(90 * time.Second)
		late := row("now", riot.ClassMissing)
		f.comes(late)
		m.Publish([]engine.Change{{Account: &late.Row}})
		time.Sleep(4 * time.Minute)
		if gone := f.gone(); len(gone) > 0 {
			t.Errorf("within the cooldown %q are gone", gone)
		}
		time.Sleep(2 * time.Minute)
		if gone := f.gone(); !slices.Equal(gone, []string{"before", "now"}) {
			t.Errorf("%q are gone", gone)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
