package local

import (
	"context"
	"iter"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Store is the part of storage that the backend works on. Methods that take a
// Tx must be called inside Write or Read, with the Tx they gave.
type Store interface {
	// Write runs fn in the next group commit and returns after it. fn checks
	// before it writes, touches nothing but tx, and may run again if a neighbour
	// in the group failed. Its error refuses this op only. A store that fails at a
	// method keeps that error, and Write returns it, whatever fn says.
	Write(ctx context.Context, fn func(engine.Tx) error) error
	Read(ctx context.Context, fn func(engine.Tx) error) error

	// Job gives a live or ended job; engine.ErrNotFound, engine.ErrUnreadable. Any other
	// error is the store's own, and ends Run.
	Job(tx engine.Tx, id engine.JobID) (engine.Job, error)
	// JobByKey gives the live job that holds the key; engine.ErrNotFound.
	JobByKey(tx engine.Tx, key string) (engine.Job, error)
	// SaveJob stores j where its state belongs (live table or archive), takes or
	// frees its key, and emits the change. It refuses a revision that is not
	// newer than the stored one (engine.ErrStale) and a taken key
	// (engine.ErrConflict).
	SaveJob(tx engine.Tx, j engine.Job) error
	// DiscardUnreadable ends a live job whose record cannot be read: discarded, class
	// "undecodable", with what can still be told of it; its raw bytes are kept and
	// its key is free. engine.ErrRefused when it can be read.
	DiscardUnreadable(tx engine.Tx, id engine.JobID) (engine.Job, error)
	// AddAttempt appends one closed attempt or hold.
	AddAttempt(tx engine.Tx, id engine.JobID, a engine.Attempt) error

	// Mark sets the child's mark in every group that waits for it, adds calls and
	// throttled to their sums, and returns the groups as they stand now.
	Mark(tx engine.Tx, child engine.JobID, m engine.Mark, calls, throttled int) ([]engine.GroupStat, error)
	// Group gives one group's summary; an empty one if it has no child.
	Group(tx engine.Tx, id engine.GroupID) (engine.GroupStat, error)
	Groups(tx engine.Tx, parent engine.JobID) ([]engine.GroupStat, error)
	// OpenChildren lists children of a parent that are not settled.
	OpenChildren(tx engine.Tx, parent engine.JobID) ([]engine.JobID, error)

	// Live iterates all live jobs in id order; used once, to build the index. A
	// job that cannot be read is yielded with engine.ErrUnreadable and skipped.
	Live(ctx context.Context) iter.Seq2[engine.Job, error]

	// AddHistory appends one transition of anything that has an id.
	AddHistory(tx engine.Tx, id string, t engine.Transition) error
	// Queue gives a queue's pause switch, an open one if nobody has set it. In a writing
	// transaction nobody else changes it before the commit.
	Queue(tx engine.Tx, name engine.Queue) (engine.QueueState, error)
	// SetQueue stores a queue's pause switch and emits the change.
	SetQueue(tx engine.Tx, q engine.QueueState) error
	Queues(ctx context.Context) ([]engine.QueueState, error)
}

// Admitter says whether a job's call may go now. It is asked before a job is
// claimed, so that a job which would wait costs no write. No method may block, nor
// call the backend.
type Admitter interface {
	// Lane names what a job's next call competes for: jobs of one lane are let
	// through in line, and a refused head stands for all behind it. "" = no call.
	// It is asked whenever a job has moved, and must depend on the job alone.
	Lane(j engine.Job) string
	// Admit reserves a permit for the job, or says until when and why not.
	Admit(j engine.Job) engine.Admission
	// Withdraw gives an unused reservation back. It is called once for each Admit
	// that was OK: when the claim failed, or when the attempt's handler has returned.
	// A reservation that was used is not given back: then it does nothing.
	Withdraw(id engine.JobID)
	// Changed is signalled when a refused lane may be worth asking again before
	// its instant.
	Changed() <-chan struct{}
	// Backlog tells how many jobs wait or run in a lane.
	Backlog(lane string, jobs int)
}

// Pacer is an Admitter that can tell how long calls of a lane will wait. Like the
// others its methods may neither block nor call the backend.
type Pacer interface {
	// Wait is until the last of so many further calls may go, if all go as early as
	// the limits let them; known is false while nobody can say.
	Wait(lane string, calls int) (wait time.Duration, known bool)
	// Goes reports whether what stands in line on the first lane takes from the limit that the second one waits
	// for: not where something else than limits keeps it.
	Goes(before, lane string) bool
}

// holder is an Admitter that knows what stands before all limits of a lane, such as
// an outage. Like the others its methods may neither block nor call the backend.
type holder interface {
	Held(lane string) engine.Held
}
