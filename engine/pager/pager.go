package pager

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
)

// Pager turns alerts and events into jobs, and handles them. Make it with New, take
// over with Load, give it the job engine with Use, then Run.
//
//	alerts ─ Alerts ─▶ compareAlerts ─▶ jobs: a call, and one per channel      (watch.go)
//	moves  ─ OnMove ──────────────────▶ jobs: one per hook, in the move's own transaction (event.go)
//	jobs   ─ Kinds ─────────▶ a telephone call, a POST, a command
//
// Its methods may be called by several goroutines; Run by one.
type Pager struct {
	opt       Options
	store     Store
	transport http.RoundTripper
	log       zerolog.Logger
	jobs      Jobs

	set       atomic.Pointer[setup] // who is told; Prepare puts another in its place
	ledger    *ledger
	book      *book
	following atomic.Int64
	news      await.Bell

	mu    sync.Mutex
	rows  []engine.AlertRow // the latest; shared, never changed
	known bool              // there was a first evaluation

	told told // only Run uses it
}

// Use names the job engine, which is made with the pager's kinds.
func (p *Pager) Use(j Jobs) { p.jobs = j }

// Following is how many calls are placed or followed right now. Each holds a
// worker that waits most of the time: let there be as many more.
func (p *Pager) Following() int { return int(p.following.Load()) }

// Alerts takes the alerts as they stand. It does not block. The rows are shared
// and must not be changed any more.
func (p *Pager) Alerts(rows []engine.AlertRow) {
	p.mu.Lock()
	p.rows, p.known = rows, true
	p.mu.Unlock()
	p.news.Ring()
}

// wanted reports whether the alert of a page still fires unseen. Before the first
// evaluation nobody knows: a page too many is the smaller harm. A test is always
// wanted: no alert is behind it.
func (p *Pager) wanted(n notice) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.known || n.Test || n.Own != nil {
		return true
	}
	for _, a := range p.rows {
		if a.ID == n.Alert {
			return a.State == engine.AlertFiring && stamp(a.Since) == stamp(n.Since)
		}
	}
	return false
}

// evidence is what speaks for the alert of a notice right now.
func (p *Pager) evidence(n notice) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.rows {
		if a.ID == n.Alert {
			return a.Said()
		}
	}
	return ""
}

// announce puts a message on every console's message line.
func (p *Pager) announce(level engine.Level, job engine.JobID, format string, args ...any) {
	p.opt.OnNote(engine.Note{At: time.Now(), Level: level, Text: fmt.Sprintf(format, args...), Job: job})
}
