package hub

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/farsight-console/farsight/engine"
)

// mailbox merges what one console has not read yet: the last row per id wins.
// Its maps are guarded by the hub's mutex; what it remembers of telemetry
// belongs to the reader's goroutine alone.
type mailbox struct {
	bell chan struct{} // capacity 1: rung when there may be something to read

	seq      uint64
	accounts map[string]engine.AccountRow
	jobs     map[engine.JobID]engine.Job
	gone     map[engine.JobID]struct{}
	notes    []engine.Note
	overflow bool

	read   bool // the first snapshot was taken
	told   bool // the fields below are what the reader knows
	calls  uint64
	engine engine.EngineRow
	queues []engine.QueueRow
	limits engine.LimitsRow
}

func newMailbox() *mailbox {
	b := &mailbox{bell: make(chan struct{}, 1)}
	b.clear()
	return b
}

func (b *mailbox) clear() {
	b.accounts = map[string]engine.AccountRow{}
	b.jobs = map[engine.JobID]engine.Job{}
	b.gone = map[engine.JobID]struct{}{}
	b.notes = nil
	b.overflow = false
}

func (b *mailbox) ring() {
	select {
	case b.bell <- struct{}{}:
	default:
	}
}

func (b *mailbox) job(j engine.Job) {
	delete(b.gone, j.ID)
	b.jobs[j.ID] = j
	b.bound()
}

func (b *mailbox) leave(id engine.JobID) {
	delete(b.jobs, id)
	b.gone[id] = struct{}{}
	b.bound()
}

// bound gives up merging for a reader that fell too far behind: it will get a
// snapshot instead, and be told of the gap (P-34).
func (b *mailbox) bound() {
	if len(b.jobs)+len(b.gone) <= mailboxJobs {
		return
	}
	notes := b.notes
	b.clear()
	b.notes, b.overflow = notes, true
}

func (b *mailbox) note(n engine.Note) {
	b.notes = append(b.notes, n)
	if over := len(b.notes) - mailboxNotes; over > 0 {
		b.notes = slices.Delete(b.notes, 0, over)
	}
}

// empty takes everything out.
func (b *mailbox) empty() (engine.Update, []engine.Job) {
	u := engine.Update{Seq: b.seq, Gap: b.overflow, Notes: b.notes}
	for _, a := range b.accounts {
		u.Accounts = append(u.Accounts, a)
	}
	jobs := make([]engine.Job, 0, len(b.jobs))
	for _, j := range b.jobs {
		jobs = append(jobs, j)
	}
	for id := range b.gone {
		u.Gone = append(u.Gone, id)
	}
	slices.SortFunc(u.Accounts, func(x, y engine.AccountRow) int { return cmp.Compare(x.ID, y.ID) })
	slices.SortFunc(jobs, func(x, y engine.Job) int { return cmp.Compare(x.ID, y.ID) })
	slices.Sort(u.Gone)
	b.clear()
	return u, jobs
}

// fresh reports, once, that the reader has seen nothing yet.
func (b *mailbox) fresh() bool {
	first := !b.read
	b.read = true
	return first
}

// forget makes the next telemetry count as changed.
func (b *mailbox) forget() { b.told = false }

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
