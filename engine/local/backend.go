package local

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
)

const (
	// grace is what running handlers get to end by themselves when the engine stops.
	grace = 2 * time.Second
	// stopPatience is how long a cancelled handler is waited for before its job is
	// handed back without it.
	stopPatience = 5 * time.Second
	// deafAfter is how long a cancelled handler may go on before its slot is
	// opened for another.
	deafAfter = 10 * time.Second
	// sweepEvery is how often silent jobs are looked for.
	sweepEvery = time.Minute
	// roomEvery is how often a write is tried again while the disk is full.
	roomEvery = time.Second
)

// Options says what a Backend works with. Store, Boot and at least one kind are
// needed.
type Options struct {
	Store    Store
	Admitter Admitter // nil = every job may go
	Kinds    []engine.KindSpec
	// Policies by name. Every kind's policy must be among them.
	Policies engine.Policies
	// Workers is asked for the ceiling of jobs at work; nil = 16.
	Workers func() int
	// Boot is random per process start: never the host's name nor a process id,
	// which come back.
	Boot string
	Log  zerolog.Logger
	// OnNote gets messages for people. It must not block. nil = none.
	OnNote func(engine.Note)
	// OnlyServed lets the backend run nothing but the jobs that Serve names and those
	// that wait in their groups; everything else stays as it is.
	OnlyServed bool
	// Room tells how many bytes are free on the disk and whether that is enough to go
	// on; it is asked every ten seconds. nil = nobody asks.
	Room func() (free uint64, ok bool)
	// NoRoom tells a write that failed for want of room: nothing was written, and
	// it may be tried again. nil = ENOSPC only.
	NoRoom func(error) bool
	// PerWrite bounds how many jobs one write moves; 0 = 256.
	PerWrite int
}

// defaultWorkers is the ceiling of jobs at work when nobody names one.
const defaultWorkers = 16

// Backend runs jobs. Make it with New, feed it with Apply, start it with Run. Its methods may
// be called by several goroutines, but for Run, Follow and Apply, of each of which there is one at a
// time.
type Backend struct {
	opt   Options // with what stands for nil and zero
	kinds map[engine.Kind]*engine.KindSpec
	idx   *index
	// Taken before the index's lock and never under it.
	picking sync.Mutex // one at a time asks the admitter, so that a lane's head is asked first
	wake    await.Bell
	counts  counters

	group sync.WaitGroup // workers
}

// session is one call of Run. Three contexts, since a stop has three steps: ctx ends the choosing at
// the signal, work ends the handlers when their grace is over, and write never ends, so that what was
// done can be written down after both.
type session struct {
	ctx   context.Context // ends with the signal, or with an error that ends Run
	end   context.CancelCauseFunc
	write context.Context // for writes that must outlive the signal
	work  context.Context // of the handlers
	stop  context.CancelCauseFunc

	mu  sync.Mutex
	err error // the first that ended Run
}

// newSession begins a session that chooses jobs until ctx ends. Call close when it is over.
func newSession(ctx context.Context) (s *session, close func()) {
	s = &session{write: context.WithoutCancel(ctx)}
	s.ctx, s.end = context.WithCancelCause(ctx)
	s.work, s.stop = context.WithCancelCause(s.write)
	return s, func() { s.stop(nil); s.end(nil) }
}

// fail ends the session with an error; the first one counts.
func (s *session) fail(err error) {
	s.mu.Lock()
	if s.err == nil {
		s.err = err
	}
	s.mu.Unlock()
	s.end(err)
}

// failure is the error that fail was told first; nil for a session that the signal ended.
func (s *session) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// note tells a person, on the screen of whoever looks; the log has a line of its own with fields.
func (b *Backend) note(level engine.Level, job engine.JobID, format string, args ...any) {
	b.opt.OnNote(engine.Note{At: time.Now(), Level: level, Text: fmt.Sprintf(format, args...), Job: job})
}

// of adds to a line of the log which job it is about.
func of(line *zerolog.Event, j engine.Job) *zerolog.Event {
	return line.Str("job", string(j.ID)).Str("kind", string(j.Kind))
}

// admitAll is the admitter of an engine without one.
type admitAll struct{}

// Lane and the others implement [Admitter]: no job competes for anything.
func (admitAll) Lane(engine.Job) string            { return "" }
func (admitAll) Admit(engine.Job) engine.Admission { return engine.Admission{OK: true} }
func (admitAll) Withdraw(engine.JobID)             {}
func (admitAll) Changed() <-chan struct{}          { return nil }
func (admitAll) Backlog(lane string, n int)        {}

// counters are the sums that Stats gives.
type counters struct {
	finished, late, rescued, deaf, panics, illegal, alone atomic.Int64
}

// Stats are sums since the backend was made.
type Stats struct {
	Finished  int64 // attempts whose outcome was written
	Late      int64 // results discarded because the job had moved on
	Rescued   int64 // running jobs given back for want of a sign of life
	Stuck     int64 // handlers that went on after they were cancelled
	Panics    int64 // handlers that panicked
	Illegal   int64 // moves that the table forbids; any is a bug
	LeftAlone int64 // jobs whose record cannot be read, or whose claim the domain refuses
	InFlight  int   // jobs running now
	Slots     int   // workers at work
}

// Stats gives the sums as they are.
func (b *Backend) Stats() Stats {
	c := &b.counts
	b.idx.mu.Lock()
	busy, slots := b.idx.busy, b.idx.slots
	b.idx.mu.Unlock()
	return Stats{
		Finished: c.finished.Load(), Late: c.late.Load(), Rescued: c.rescued.Load(), Stuck: c.deaf.Load(),
		Panics: c.panics.Load(), Illegal: c.illegal.Load(), LeftAlone: c.alone.Load(),
		InFlight: busy, Slots: slots,
	}
}

// usualPerWrite bounds how many jobs one write moves, unless Options say otherwise.
const usualPerWrite = 256
