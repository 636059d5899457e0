// Package hub folds committed changes into rows and hands each console a
// snapshot and then merged updates. It keeps only what is live: accounts that
// changed, running jobs and waiting retries; everything else is paged from disk.
//
// Publish is called on the committer's goroutine and Watch on a console's: one
// mutex lies between them, held for map writes only, so that no terminal can
// make the engine wait.
//
//	Publish ─▶ fold ─▶ accounts, jobs          what is live, for snapshots
//	              └──▶ a mailbox per console   what that one has not read yet
//	Watch   ◀── next: the mailbox, or a snapshot, and what of the telemetry has changed
//
// Begin to read with [Hub.Publish] and [Hub.Watch]; mailbox.go says what is merged and when a reader is
// given up on. A row that a console gets was committed before; telemetry (limits, the engine's row,
// what is foreseen) alone is not stored. [Moments] keeps how the engine stood in the last minutes, for
// the time cursor.
package hub

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
)

// Source is where the hub reads what is telemetry, not committed fact. Its methods are called by the
// goroutines of all readers, without the hub's lock.
type Source interface {
	// Engine is the engine's row, and the limits that it was made from.
	Engine() (*engine.EngineRow, *engine.LimitsRow)
	Queues() []engine.QueueRow
	// CallsAfter gives the flight recorder's calls after a sequence, oldest first.
	CallsAfter(seq uint64) []engine.CallRow
	// Row adds to a job why it does not run.
	Row(j engine.Job) engine.JobRow
	// ETA is when an account's open run ends, and Start when a job goes that waits for an
	// instant after trouble: what is foreseen now.
	ETA(account string) engine.ETA
	Start(id engine.JobID) (at time.Time, lateBy string)
}

// Accounts reads a page of stored accounts for a snapshot.
type Accounts func(ctx context.Context, q engine.AccountsQuery) (engine.AccountsPage, error)

// Options of a Hub.
type Options struct {
	Source   Source
	Accounts Accounts
	// Logs gives the log's records after a number, oldest first, at most the newest
	// n; nil = there is no log.
	Logs func(seq uint64, n int) []engine.LogRow
	// Alerts gives all alerts as they were evaluated last; nil = nobody evaluates any.
	// The rows are shared: nobody changes them.
	Alerts func() []engine.AlertRow
	// AccountsPage is how many accounts are read at once; 0 = 500.
	AccountsPage int
	// Tick is how often telemetry is read while somebody watches and something changes; 0 = 250 ms.
	Tick time.Duration
}

// Limits of what one console's mailbox holds before it is replaced by a
// snapshot, and of what a snapshot carries.
const (
	mailboxJobs      = 5000
	snapshotAccounts = 10_000 // of more, those and the ones whose syncs are under way
	accountsPage     = 500
	snapshotCalls    = 2000
	mailboxLogs      = 1000
	defaultTick      = 250 * time.Millisecond
	restTick         = time.Second // while nothing changes; what is committed is told at once
)

// Hub merges changes for every console that watches.
type Hub struct {
	opt Options

	mu       sync.Mutex
	seq      uint64
	accounts map[string]engine.AccountRow // every one that changed since the start
	jobs     map[engine.JobID]engine.Job  // live ones worth showing
	boxes    map[*mailbox]struct{}
	news     []news      // of the commit that is folded, for the boxes
	heard    *heard      // what is folded while Load reads; nil = it does not
	watched  await.Bell  // signalled when the first console comes
	told     atomic.Bool // somebody was told something since the last beat
}

// New makes a hub; Run moves its telemetry.
func New(opt Options) *Hub {
	if opt.Tick <= 0 {
		opt.Tick = defaultTick
	}
	if opt.AccountsPage <= 0 {
		opt.AccountsPage = accountsPage
	}
	return &Hub{
		opt:      opt,
		accounts: map[string]engine.AccountRow{},
		jobs:     map[engine.JobID]engine.Job{},
		boxes:    map[*mailbox]struct{}{},
		watched:  await.NewBell(),
	}
}

// heard is what was told of while what is stored is read.
type heard struct {
	jobs     map[engine.JobID]struct{}
	accounts map[string]struct{}
}

// Load takes in what is stored, at the start. What is published meanwhile is newer. A job that cannot be read is not shown.
func (h *Hub) Load(live iter.Seq2[engine.Job, error], open func() ([]engine.AccountRow, error)) error {
	h.mu.Lock()
	h.heard = &heard{map[engine.JobID]struct{}{}, map[string]struct{}{}}
	h.mu.Unlock()
	jobs := map[engine.JobID]engine.Job{}
	for j, err := range live {
		if err == nil && shown(j) {
			jobs[j.ID] = j
		}
	}
	accounts, err := open()
	h.mu.Lock()
	defer h.mu.Unlock()
	// What was published while this read is newer than what was read, deletions too, so that it stays
	// as it is.
	newer := h.heard
	h.heard = nil
	if err != nil {
		return err
	}
	for id := range newer.jobs {
		delete(jobs, id)
		if j, ok := h.jobs[id]; ok {
			jobs[id] = j
		}
	}
	h.jobs = jobs
	maps.DeleteFunc(h.accounts, func(id string, _ engine.AccountRow) bool { _, ok := newer.accounts[id]; return !ok })
	for _, a := range accounts {
		if _, ok := newer.accounts[a.ID]; !ok {
			h.accounts[a.ID] = a
		}
	}
	for b := range h.boxes {
		b.again()
	}
	return nil
}

// Open gives the accounts whose runs are under way, in the order they were added.
func (h *Hub) Open() []engine.AccountRow {
	h.mu.Lock()
	defer h.mu.Unlock()
	var open []engine.AccountRow
	for _, a := range h.accounts {
		if a.Status.Open() {
			open = append(open, a)
		}
	}
	slices.SortFunc(open, func(a, b engine.AccountRow) int { return cmp.Compare(a.ID, b.ID) })
	return open
}

// Waiting gives the jobs that wait for an instant after trouble, by their instants.
func (h *Hub) Waiting() (jobs []engine.Job) {
	return h.byDue(func(s engine.State) bool { return s != engine.Running && s != engine.Available })
}

// byDue gives the jobs in some states, by their instants.
func (h *Hub) byDue(fits func(engine.State) bool) (jobs []engine.Job) {
	h.mu.Lock()
	for _, j := range h.jobs {
		if fits(j.State) {
			jobs = append(jobs, j)
		}
	}
	h.mu.Unlock()
	slices.SortFunc(jobs, func(a, b engine.Job) int { return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.ID, b.ID)) })
	return jobs
}

// overdue gives the first n jobs whose instant has come and that wait for their turn since.
func (h *Hub) overdue(n int) (jobs []engine.Job) {
	jobs = h.byDue(func(s engine.State) bool { return s == engine.Available })
	return jobs[:min(n, len(jobs))]
}

// Publish folds the changes of one commit. It never blocks. It comes in the order of commits.
func (h *Hub) Publish(seq uint64, changes []engine.Change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seq = max(h.seq, seq)
	for i := range changes {
		h.fold(&changes[i])
	}
	for b := range h.boxes {
		b.deliver(h.seq, h.news)
		b.bell.Ring()
	}
	clear(h.news)
	h.news = h.news[:0]
}

// Note puts a message on every console's message line.
func (h *Hub) Note(n engine.Note) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for b := range h.boxes {
		b.note(n)
		b.bell.Ring()
	}
}

// fold takes one change into what is live, and notes it for the mailboxes.
func (h *Hub) fold(c *engine.Change) {
	if h.heard != nil {
		if c.Job != nil {
			h.heard.jobs[c.Job.ID] = struct{}{}
		}
		if c.Deleted != "" {
			h.heard.jobs[c.Deleted] = struct{}{}
		}
		if c.Account != nil {
			h.heard.accounts[c.Account.ID] = struct{}{}
		}
		if c.Forgotten != "" {
			h.heard.accounts[c.Forgotten] = struct{}{}
		}
	}
	switch {
	case c.Account != nil:
		h.accounts[c.Account.ID] = *c.Account
		h.news = append(h.news, news{account: c.Account})
	case c.Job != nil:
		h.foldJob(*c.Job)
	case c.Forgotten != "":
		delete(h.accounts, c.Forgotten)
		h.news = append(h.news, news{renew: true})
	case c.Deleted != "":
		h.drop(c.Deleted)
	}
}

// foldJob keeps a job that is worth a row and drops one that is not any more.
func (h *Hub) foldJob(j engine.Job) {
	if !shown(j) {
		h.drop(j.ID)
		return
	}
	old, known := h.jobs[j.ID]
	if known && old.Rev > j.Rev {
		return // changes of one job may not go back
	}
	h.jobs[j.ID] = j
	h.news = append(h.news, news{job: &j, first: !known})
}

// drop takes a job's row back, if it has one.
func (h *Hub) drop(id engine.JobID) {
	if _, ok := h.jobs[id]; !ok {
		return
	}
	delete(h.jobs, id)
	h.news = append(h.news, news{gone: id})
}

// shown reports whether a job is worth a row without being asked for: it runs, or
// after trouble it waits for an instant, or for its turn since that has come.
func shown(j engine.Job) bool {
	switch j.State {
	case engine.Running, engine.Retryable:
		return true
	case engine.Scheduled:
		return j.Hold != engine.HoldNone
	}
	return j.InLineAgain()
}

// Run reads telemetry for the consoles while there are any.
func (h *Hub) Run(ctx context.Context) error {
	for quiet := 0; ; {
		every := h.opt.Tick
		if quiet++; h.told.Swap(false) {
			quiet = 0
		}
		if quiet > 1 { // one quiet beat is not enough: what the last one found may be told only now
			every = max(every, restTick)
		}
		if !await.Pause(ctx, await.ToBeat(time.Now(), every)) {
			return nil
		}
		if !h.anyone() && !h.waitForConsole(ctx) {
			return nil
		}
		h.nudge()
	}
}

// anyone reports whether a console watches.
func (h *Hub) anyone() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.boxes) > 0
}

// waitForConsole sleeps until the first console comes, so that an engine nobody looks at reads no
// telemetry; false when ctx has ended.
func (h *Hub) waitForConsole(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-h.watched:
		return true
	}
}

// nudge wakes every console to look at the telemetry.
func (h *Hub) nudge() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for b := range h.boxes {
		b.bell.Ring()
	}
}

// Watch yields a snapshot and then merged updates until ctx ends or the reader
// stops.
func (h *Hub) Watch(ctx context.Context) iter.Seq[engine.Update] {
	return func(yield func(engine.Update) bool) {
		b := h.join()
		defer h.leave(b)
		for {
			u, ok := h.next(ctx, b)
			if !ok {
				return
			}
			if !empty(u) {
				if h.told.Store(true); !yield(u) {
					return
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-b.bell:
			}
		}
	}
}

// join adds a console's mailbox. From here on it misses nothing.
func (h *Hub) join() *mailbox {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := newMailbox()
	h.boxes[b] = struct{}{}
	h.watched.Ring()
	return b
}

// leave takes a mailbox out: nothing is kept for a console that has gone.
func (h *Hub) leave(b *mailbox) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.boxes, b)
}

// next takes what the mailbox holds, as a snapshot when it is new or overflowed.
func (h *Hub) next(ctx context.Context, b *mailbox) (engine.Update, bool) {
	if b.fresh() {
		return h.snapshot(ctx, b)
	}
	u, renew := h.drain(b)
	if !u.Gap && !renew {
		h.telemetry(b, &u)
		return u, true
	}
	whole, ok := h.snapshot(ctx, b)
	whole.Gap, whole.Notes = u.Gap, append(u.Notes, whole.Notes...)
	return whole, ok
}

// drain empties the mailbox into an update. With renew the reader needs a snapshot: it
// may show what is no longer there. What a row adds to its job is asked for here, when it is to be
// shown, and not for each of its moves.
func (h *Hub) drain(b *mailbox) (u engine.Update, renew bool) {
	m := b.empty()
	u = m.rows.Update()
	u.Gap = m.overflow
	for i := range u.Jobs {
		u.Jobs[i] = h.opt.Source.Row(u.Jobs[i].Job)
	}
	return u, m.renew
}

// snapshot reads the stored accounts, then lays over them what has changed: the
// mailbox was joined before, so nothing falls between.
func (h *Hub) snapshot(ctx context.Context, b *mailbox) (engine.Update, bool) {
	stored, err := h.stored(ctx)
	if err != nil {
		return engine.Update{}, false
	}
	h.mu.Lock()
	m := b.empty()
	if m.renew {
		b.again() // the page may be from before the deletion
	}
	u := engine.Update{Seq: h.seq, Snapshot: true, Notes: m.rows.Whole().Notes}
	jobs := make([]engine.Job, 0, len(h.jobs))
	for _, j := range h.jobs {
		jobs = append(jobs, j)
	}
	u.Accounts = overlay(stored, h.accounts)
	h.mu.Unlock()

	for _, j := range jobs {
		u.Jobs = append(u.Jobs, h.opt.Source.Row(j))
	}
	b.calls, b.logs = 0, 0
	b.forget()
	h.telemetry(b, &u)
	return u, true
}

// stored reads the accounts of a snapshot, page by page.
func (h *Hub) stored(ctx context.Context) (rows []engine.AccountRow, err error) {
	q := engine.AccountsQuery{Page: engine.Page{Limit: h.opt.AccountsPage}}
	for row, err := range engine.EachAccount(ctx, h.opt.Accounts, q) {
		if err != nil {
			return nil, err
		}
		if rows = append(rows, row); len(rows) >= snapshotAccounts {
			break
		}
	}
	return rows, nil
}

// overlay gives the stored rows with newer ones in their place and unknown ones
// behind.
func overlay(stored []engine.AccountRow, newer map[string]engine.AccountRow) []engine.AccountRow {
	seen := make(map[string]bool, len(stored))
	out := make([]engine.AccountRow, 0, len(stored)+len(newer))
	for _, a := range stored {
		seen[a.ID] = true
		if n, ok := newer[a.ID]; ok && !n.Updated.Before(a.Updated) {
			a = n
		}
		out = append(out, a)
	}
	for id, a := range newer {
		if !seen[id] {
			out = append(out, a)
		}
	}
	return out
}

// telemetry adds those live readings that differ from what the reader saw last. Calls and log lines go
// by number: a reader that was slow gets the newest of them.
func (h *Hub) telemetry(b *mailbox, u *engine.Update) {
	src := h.opt.Source
	e, l := src.Engine()
	if changed(b.told, &b.engine, *e) {
		u.Engine = e
	}
	if q := src.Queues(); changed(b.told, &b.queues, q) {
		u.Queues = q
	}
	if b.changedLimits(*l) {
		u.Limits = l
	}
	b.told = true
	h.foresee(b, u)
	calls := src.CallsAfter(b.calls)
	if n := len(calls); n > 0 {
		b.calls = calls[n-1].Seq
		u.Calls = calls[max(0, n-snapshotCalls):]
	}
	if h.opt.Alerts != nil {
		u.Alerts = b.changedAlerts(h.opt.Alerts())
	}
	if h.opt.Logs == nil {
		return
	}
	if u.Logs = h.opt.Logs(b.logs, mailboxLogs); len(u.Logs) > 0 {
		b.logs = u.Logs[len(u.Logs)-1].Seq
	}
}

// empty reports whether an update says nothing: a console must not draw for it.
func empty(u engine.Update) bool {
	return !u.Snapshot && u.Engine == nil && u.Limits == nil && u.Alerts == nil &&
		len(u.Queues)+len(u.Accounts)+len(u.Jobs)+len(u.Gone)+len(u.Calls)+len(u.Logs)+len(u.Notes) == 0
}
