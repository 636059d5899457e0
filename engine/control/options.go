package control

import (
	"context"
	"iter"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/operation"
)

// Alerts judge what the engine does, and know who has seen what of it.
type Alerts interface {
	operation.Alerts
	// Evaluated is the instant of that; zero when there was none yet.
	Evaluated() time.Time
	// Firing is how many fire that nobody has acknowledged or silenced.
	Firing() int
	// Traffic is the half hour that has begun, in which so many matches are stored by now.
	Traffic(stored int64) engine.TrafficSpan
	// Metrics sums up a window that ends now, an hour for 0, of the jobs of one kind; "" =
	// of all.
	Metrics(kind engine.Kind, window time.Duration) (engine.Metrics, error)
}

// Finder answers queries of a domain that the console itself knows nothing of.
type Finder interface {
	// Find answers q; known is false when it is not one of the domain's.
	Find(ctx context.Context, q engine.Query) (a engine.Answer, known bool, err error)
}

// Domain is a Finder that carries out the domain's own commands, too.
type Domain interface {
	Finder
	operation.Domain
}

// Payloads reads Riot's JSON of a stored match or timeline; engine.ErrNotFound
// when there is none.
type Payloads func(ctx context.Context, q engine.PayloadQuery) ([]byte, error)

// Members tells who works on the database.
type Members func(ctx context.Context) (engine.MembersPage, error)

// Logs are the newest records of the engine's log.
type Logs interface {
	Page(q engine.LogsQuery) engine.LogsPage
	// After gives the records after a number, oldest first, at most the newest n.
	After(seq uint64, n int) []engine.LogRow
	// Dropped is how many records the log file could not take.
	Dropped() uint64
}

// Backend is the job engine.
type Backend interface {
	operation.Backend
	Run(ctx context.Context) error
	// Follow shows what a backend of another process works on.
	Follow(ctx context.Context) error
	// Why says why the job does not run, until when, and its place in line.
	Why(j engine.Job) (reason string, until time.Time, place int)
	NextRetries(ctx context.Context, n int) ([]engine.Job, error)
	// Soonest gives the n live jobs that go next, and perhaps others.
	Soonest(ctx context.Context, n int) ([]engine.Job, error)
	// Externals are the ids that the other side has given to attempts under way.
	Externals() map[engine.JobID]string
	// Load is how many jobs run and of how many at most.
	Load() (running, workers int)
	// Reading says that the stored jobs are still being read, so that nobody knows what waits; "" = they are.
	Reading() string
	// Halted says why no job is started at all, such as a full disk; "" = they are.
	Halted() string
	// Held is what keeps a job from starting wherever it stands in line.
	Held(j engine.Job) engine.Held
}

// Syncer starts and plans syncs.
type Syncer interface {
	operation.Syncer
	// Resume notes on every open run that the engine was started again.
	Resume(ctx context.Context) error
}

// Limiter reads and steers the rate limiter, the gate before it and the flight
// recorder.
type Limiter interface {
	operation.Limiter
	Run(ctx context.Context) error
	// Restore takes over what the process before knew; fresh = a new directory.
	Restore(ctx context.Context, fresh bool, live iter.Seq2[engine.Job, error]) error
	Rows() engine.LimitsRow
	Calls(q engine.CallsQuery) engine.CallsPage
	// LastCall gives the newest recorded call of a job with what its answer said; nil = none is.
	LastCall(job engine.JobID) *engine.CallRow
	CallsAfter(seq uint64) []engine.CallRow
	// CallsBy are the calls of the past minute by account, in steps of a Forecast.
	CallsBy() map[string][]int
	Meter() engine.Meter
	// Health tells of trouble that holds everything: no key, no network.
	Health() (state engine.EngineState, why string)
	// Held says what stands before all limits of a lane, such as europe/match-v5.match.
	Held(lane string) engine.Held
}

// Keys is the API key in use.
type Keys interface {
	operation.Keys
	Since() time.Time
}

// Runner is a part that blocks until ctx ends.
type Runner interface {
	Run(ctx context.Context) error
}

// Forecaster knows which calls a scheduled run will make.
type Forecaster interface {
	// Forecast are the calls that the run of a schedule at an instant is expected to
	// make; none for a schedule that makes no calls.
	Forecast(ctx context.Context, schedule string, at time.Time) ([]engine.Load, error)
}

// Options of a Control.
type Options struct {
	Store   Store
	Backend Backend
	Syncer  Syncer
	Domain  Domain // nil = it has no queries and commands of its own
	// Schedules are listed and steered here, but run by whoever is among Also; nil =
	// nothing recurs.
	Schedules operation.Schedules
	Forecast  Forecaster // nil = nobody knows what a scheduled run will call
	Limiter   Limiter
	Logs      Logs            // nil = nothing is kept of the log
	Alerts    Alerts          // nil = nobody evaluates any
	Pager     operation.Pager // nil = nobody can be tried
	Keys      Keys
	// TryKey asks Riot about a key, see operation.Options; nil = nobody can ask.
	TryKey   func(ctx context.Context, key string) error
	Audit    func(ctx context.Context, e engine.AuditEntry) (uint64, error) // see operation.Options
	Payloads Payloads                                                       // nil = nobody can ask for them
	Upkeep   operation.Upkeep                                               // nil = the store cannot be backed up or pruned by command
	Forget   operation.Forgetting                                           // nil = no account can be deleted
	Also     []Runner                                                       // supervised with the rest
	Policies engine.Policies
	// Lines are the queues that there are, used or not; none = every name is one.
	Lines []engine.Queue
	// Term is who leads; nil = this process works alone.
	Term    func() *engine.Term
	Members Members // nil = nobody does but this process
	Boot    string
	Fresh   bool // the directory was made by this start
	Demo    bool
	SyncOn  bool
	// MomentEvery is how often a moment is kept for the time cursor; 0 = each second.
	MomentEvery time.Duration
	// Lane tells where a job's calls go: "europe/match-v5.match"; nil = nobody knows.
	Lane func(engine.Job) string
	// Look is how many jobs one answer about all of them looks at; 0 = 20,000.
	Look int
	// Serves reports whether the engine works on a job; nil = on every one. An engine
	// that has it ends with the sync that it was started for.
	Serves func(engine.JobID) bool
	// KeyWorked reports whether the key is worth waiting for while it is refused: it has
	// worked, or another source has one that nobody has tried; nil = it is.
	KeyWorked func() bool
}

// Store is the part of storage that queries and the audit work on. Everything it
// returns is as received; screens and commands clean it.
type Store interface {
	operation.Store
	// AccountRowOn is AccountRow for one platform of a "Name#TAG"; "" = any.
	AccountRowOn(ctx context.Context, id, platform string) (engine.AccountRow, error)
	Identities(ctx context.Context, account string) ([]engine.Identity, error)
	Matches(ctx context.Context, q engine.MatchesQuery) (engine.MatchesPage, error)
	// Settled lists the n matches of an account that were tried last, the oldest first.
	Settled(ctx context.Context, account string, n int) ([]engine.MatchRow, error)
	Report(ctx context.Context, account string) (*engine.PlayReport, error)
	// Spent tells where the time of an account's last n attempts went, the newest first.
	Spent(ctx context.Context, account string, n int) ([]engine.Spent, error)
	// Runs lists the last n syncs of an account, the newest first.
	Runs(ctx context.Context, account string, n int) ([]engine.RunRow, error)
	Totals(ctx context.Context) (engine.Totals, error)
	// QueueRows gives every queue, by name: its pause switch and its live jobs.
	QueueRows(ctx context.Context) ([]engine.QueueRow, error)
	// Discards gives the number of discarded jobs that are kept, by queue.
	Discards(ctx context.Context) (map[engine.Queue]int, error)
	// Feed reads one page of a durable order; a cursor that is none is ErrInvalid.
	Feed(ctx context.Context, q engine.FeedQuery) (engine.FeedPage, error)
	// Audits lists commands, newest first, without what each has changed.
	Audits(ctx context.Context, q engine.AuditQuery) (engine.AuditPage, error)
	// Days gives the sums of the last n UTC days, the oldest first and today's last.
	Days(ctx context.Context, n int, now time.Time) ([]engine.DaySum, error)
	// JobLog lists ended jobs, newest first; a cursor that is none is ErrInvalid.
	JobLog(ctx context.Context, q engine.JobLogQuery) (engine.JobLogPage, error)
}
