package pager

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Names of what is kept in the store.
const (
	ledgerState = "pager calls"
	toldState   = "pager told"
	bookState   = "pager own calls"
)

// Bounds of the ledger. A job that has not called for so long will not go on with
// that call.
const (
	maxEntries = 256
	forgetCall = 24 * time.Hour
)

// entry is the call of one job's attempt.
type entry struct {
	Attempt int       `json:"attempt"` // of the job, all rounds
	At      time.Time `json:"at"`      // before the request
	SID     string    `json:"sid,omitempty"`
	// Refused says that the request was answered, and no call placed.
	Refused bool `json:"refused,omitempty"`
}

// lost reports whether a call may have been placed whose sid nobody knows.
func (e entry) lost() bool { return e.Attempt > 0 && e.SID == "" && !e.Refused }

// ledger remembers over a crash which calls were placed. It writes before and
// after each request.
type ledger struct {
	store Store

	mu      sync.Mutex
	entries map[engine.JobID]entry
	placed  []string // sids that are known, newest last
}

// ledgerBlob is the ledger as it is stored.
type ledgerBlob struct {
	Entries map[engine.JobID]entry `json:"entries"`
	Placed  []string               `json:"placed"`
}

// load reads the ledger that the process before has kept.
func (l *ledger) load(ctx context.Context) error {
	var blob ledgerBlob
	// What cannot be read is an error and not an empty ledger: that would place calls again.
	if _, err := engine.LoadStored(ctx, l.store, ledgerState, &blob); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries, l.placed = blob.Entries, blob.Placed
	if l.entries == nil {
		l.entries = map[engine.JobID]entry{}
	}
	return nil
}

// of is what is known of a job's call; the zero entry = nothing.
func (l *ledger) of(job engine.JobID) entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.entries[job]
}

// knows reports whether some job has placed a call.
func (l *ledger) knows(sid string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Contains(l.placed, sid)
}

// save notes the call of a job's attempt, and stores that. The lock is held while
// it is stored: of two blobs the later one must win.
func (l *ledger) save(ctx context.Context, job engine.JobID, e entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tidy(e.At)
	l.entries[job] = e
	if e.SID != "" && !slices.Contains(l.placed, e.SID) {
		l.placed = append(l.placed, e.SID)
		l.placed = l.placed[max(len(l.placed)-maxEntries, 0):]
	}
	return engine.SaveStored(ctx, l.store, ledgerState, ledgerBlob{Entries: l.entries, Placed: l.placed})
}

// tidy forgets old calls.
func (l *ledger) tidy(now time.Time) {
	for id, e := range l.entries {
		if now.Sub(e.At) > forgetCall || len(l.entries) >= maxEntries && now.Sub(e.At) > time.Hour {
			delete(l.entries, id)
		}
	}
}
