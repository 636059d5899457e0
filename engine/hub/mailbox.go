package hub

import (
	"reflect"
	"slices"
	"sync"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/fold"
)

// mailbox merges what one console has not read yet: the last row per id wins.
// What it remembers of telemetry belongs to the reader's goroutine alone. Its mail
// has a mutex of its own: fifty readers that all took the hub's would make the
// committer stand in line behind them.
type mailbox struct {
	bell await.Bell // rung when there may be something to read

	mu sync.Mutex // guards mail; taken after the hub's, or alone
	mail

	read   bool // the first snapshot was taken
	told   bool // the fields below are what the reader knows
	calls  uint64
	logs   uint64
	alerts []engine.AlertRow // told last
	judged []engine.AlertRow // compared with them last
	engine engine.EngineRow
	queues []engine.QueueRow
	limits engine.LimitsRow
	foreseen
}

// mail is what has come since the reader was told last. Its jobs are bare: what a row
// adds to a job is read when the reader takes it.
type mail struct {
	rows     fold.Rows
	born     map[engine.JobID]struct{} // of the jobs, those that the reader has never seen
	overflow bool
	renew    bool // an account was deleted
}

// news is one change as mailboxes take it; one of account, job, gone and renew is set.
type news struct {
	account *engine.AccountRow
	job     *engine.Job
	first   bool // no console has been told of this job
	gone    engine.JobID
	renew   bool
}

func newMailbox() *mailbox {
	b := &mailbox{bell: await.NewBell()}
	b.clear()
	return b
}

// deliver takes what one commit has brought.
func (b *mailbox) deliver(seq uint64, all []news) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rows.Add(engine.Update{Seq: seq})
	for _, n := range all {
		switch {
		case n.account != nil:
			b.rows.PutAccount(*n.account)
		case n.job != nil:
			b.job(*n.job, n.first)
		case n.renew:
			b.renew = true
		default:
			b.leave(n.gone)
		}
	}
}

// job takes a row; first = no console has been told of this job.
func (b *mailbox) job(j engine.Job, first bool) {
	if first && !b.rows.Gone(j.ID) {
		b.born[j.ID] = struct{}{}
	}
	b.rows.PutJob(engine.JobRow{Job: j})
	b.bound()
}

// leave takes a row back. A job that began and ended since the last update is no
// news: at full speed that is most of them, times the consoles.
func (b *mailbox) leave(id engine.JobID) {
	if _, unseen := b.born[id]; unseen {
		delete(b.born, id)
		b.rows.ForgetJob(id)
		return
	}
	b.rows.DropJob(id)
	b.bound()
}

// bound gives up merging for a reader that fell too far behind: it will get a
// snapshot instead, and be told of the gap.
func (b *mailbox) bound() {
	if b.rows.Changed() <= mailboxJobs {
		return
	}
	notes := b.rows.Whole().Notes
	b.clear()
	b.rows.Add(engine.Update{Notes: notes})
	b.overflow = true
}

// clear drops all mail.
func (b *mailbox) clear() { b.mail = mail{born: map[engine.JobID]struct{}{}} }

// note lays a message down; notes are kept even when the rest is given up.
func (b *mailbox) note(n engine.Note) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rows.Add(engine.Update{Notes: []engine.Note{n}})
}

// again asks for another snapshot.
func (b *mailbox) again() {
	b.mu.Lock()
	b.renew = true
	b.mu.Unlock()
	b.bell.Ring()
}

// empty takes everything out.
func (b *mailbox) empty() mail {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.mail
	b.clear()
	return m
}

// fresh reports, once, that the reader has seen nothing yet.
func (b *mailbox) fresh() bool {
	first := !b.read
	b.read = true
	return first
}

// forget makes the next telemetry count as changed.
func (b *mailbox) forget() { b.told, b.alerts, b.judged = false, nil, nil }

// changed keeps what the reader knows of one kind of telemetry, and reports whether
// the newest reading says more.
func changed[T any](told bool, was *T, now T) bool {
	if told && reflect.DeepEqual(*was, now) {
		return false
	}
	*was = now
	return true
}

// changedLimits compares readings without their instant: an idle engine must
// not wake a screen.
func (b *mailbox) changedLimits(l engine.LimitsRow) bool {
	at := l.At
	l.At = b.limits.At
	if !changed(b.told, &b.limits, l) {
		return false
	}
	b.limits.At = at
	return true
}

// changedAlerts gives all alerts when the reader would see a difference, else nil.
func (b *mailbox) changedAlerts(rows []engine.AlertRow) []engine.AlertRow {
	if len(b.judged) == len(rows) && (len(b.judged) == 0 || &b.judged[0] == &rows[0]) {
		return nil
	}
	b.judged = rows
	if slices.EqualFunc(b.alerts, rows, looksSame) {
		return nil
	}
	b.alerts = rows
	return rows
}

// looksSame compares values in words: the time until a key expires differs each
// second, and an idle engine must not wake a screen. The last cell of the history is
// the value once more.
func looksSame(a, b engine.AlertRow) bool {
	if a.Now() != b.Now() || a.Bound() != b.Bound() {
		return false
	}
	a.Value, b.Value, a.Limit, b.Limit = 0, 0, 0, 0
	a.History, b.History = settled(a.History), settled(b.History)
	return reflect.DeepEqual(a, b)
}

// settled are the cells of a history that do not change any more.
func settled(history []float64) []float64 { return history[:max(len(history)-1, 0)] }
