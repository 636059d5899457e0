package operation

import (
	"context"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/forecast"
)

// Store is what operations read and change besides what their parts do.
type Store interface {
	jobStore
	Write(ctx context.Context, fn func(engine.Tx) error) error
	// Detail gives what is stored about one job: attempts, holds, groups, parents,
	// history. By key: the live, else the latest, job of it. engine.ErrNotFound.
	Detail(ctx context.Context, q engine.JobQuery) (engine.JobDetail, error)
	Accounts(ctx context.Context, q engine.AccountsQuery) (engine.AccountsPage, error)
	// AccountRow finds by id or "Name#TAG"; engine.ErrNotFound.
	AccountRow(ctx context.Context, id string) (engine.AccountRow, error)
	Queues(ctx context.Context) ([]engine.QueueState, error)
	AddAudit(tx engine.Tx, e engine.AuditEntry) (uint64, error)
	// Audit gives the last n commands, newest first; AuditEntry one with what it has
	// changed, engine.ErrNotFound.
	Audit(ctx context.Context, n int) ([]engine.AuditEntry, error)
	AuditEntry(ctx context.Context, seq uint64) (engine.AuditEntry, error)
	// LoadState and SaveState keep small named blobs; nil when there is none.
	LoadState(ctx context.Context, name string) ([]byte, error)
	SaveState(ctx context.Context, name string, blob []byte) error
}

// Backend is the part of the job engine that operations act on.
type Backend interface {
	// Act carries an operation out on one job.
	Act(ctx context.Context, c engine.Command) (engine.Receipt, error)
	// Bulk acts on exactly the jobs of c.Select; with c.DryRun it tells what it would.
	Bulk(ctx context.Context, c engine.Command) (engine.Receipt, error)
	// Undo takes job moves back, each unless something has happened to its job since.
	Undo(ctx context.Context, moves []engine.JobMove, by engine.Actor, reason string, dry bool) (engine.Receipt, error)
	Pause(ctx context.Context, q engine.Queue, by engine.Actor, reason string) (engine.Receipt, error)
	Resume(ctx context.Context, q engine.Queue, by engine.Actor, reason string) (engine.Receipt, error)
	// RestoreQueue lets a queue stand as q says; by and reason are of who asks for it.
	RestoreQueue(ctx context.Context, q engine.QueueState, by engine.Actor, reason string) (engine.Receipt, error)
	Queues() []engine.QueueRow
}

// Syncer starts and plans syncs.
type Syncer interface {
	Trigger(ctx context.Context, account string, ask engine.SyncAsk, by engine.Actor) (engine.Receipt, error)
	// Track marks an account for recurring syncs, with the ask's tags and policy.
	Track(ctx context.Context, account string, ask engine.SyncAsk) (engine.Receipt, error)
	Untrack(ctx context.Context, account, platform string) (engine.Receipt, error)
	Cost(ctx context.Context, q engine.CostQuery) (engine.Cost, error)
}

// Limiter is steered by operators, and says how long calls take.
type Limiter interface {
	Freeze(b engine.Bucket, reason string) error
	Thaw(b engine.Bucket) (held string, err error) // held: what it ended; "" = nothing
	// Outlook is how the limits of a host stand now.
	Outlook(host string) forecast.Limits
	// KeyChanged ends the hold of a refused key.
	KeyChanged()
}

// Keys is the API key that can be replaced while running. It never shows more
// than the last four characters.
type Keys interface {
	Replace(key string) error
	Shown() string
}

// Schedules are what recurs.
type Schedules interface {
	List() []engine.ScheduleRow
	RunNow(ctx context.Context, name string, by engine.Actor) (engine.Receipt, error)
	Pause(ctx context.Context, name string, by engine.Actor, reason string) (engine.Receipt, error)
	Resume(ctx context.Context, name string, by engine.Actor, reason string) (engine.Receipt, error)
	// Edit gives one another plan; an edit without an expression takes that back. dry
	// changes nothing.
	Edit(ctx context.Context, name string, edit engine.ScheduleEdit, dry bool) (engine.Receipt, error)
	// Undo takes a command back; engine.ErrConflict when another has come since.
	Undo(ctx context.Context, m engine.ScheduleMove, dry bool) (engine.Receipt, error)
}

// Alerts judge what the engine does, and know who has seen what of it.
type Alerts interface {
	// Rows are all alerts as they were evaluated last, shared: nobody changes them.
	Rows() []engine.AlertRow
	Acknowledge(ctx context.Context, id string, by engine.Actor) (engine.Receipt, error)
	Silence(ctx context.Context, id string, until time.Time, by engine.Actor) (engine.Receipt, error)
}

// Domain has operations of its own.
type Domain interface {
	// Do carries out cmd, or with DryRun says what it would cost; known is false when
	// it is not one of the domain's.
	Do(ctx context.Context, cmd engine.Command) (r engine.Receipt, known bool, err error)
}

// Pager tells people of alerts.
type Pager interface {
	// Try lets those of one name, or all for "", hear a test; dry only says who would.
	Try(ctx context.Context, name string, by engine.Actor, dry bool) (engine.Receipt, error)
	// Place places a call of a user's own; dry only says whether it would.
	Place(ctx context.Context, ask engine.CallAsk, by engine.Actor, dry bool) (engine.Receipt, error)
}

// Upkeep looks after the store while the engine works on it.
type Upkeep interface {
	// Backup copies the store and proves the copy; it tells how many bytes are done, of
	// how many.
	Backup(ctx context.Context, ask engine.BackupAsk, tell func(done, total int64)) (engine.BackupDone, error)
	// Compact archives closed months, or with dry counts what there is to pack; it tells as Backup does.
	Compact(ctx context.Context, ask engine.CompactAsk, dry bool, tell func(done, total int64)) (engine.CompactDone, error)
	// Prune deletes old jobs, or counts them; nil = by the rule of the daily schedule.
	Prune(ctx context.Context, ask *engine.PruneAsk, dry bool) (engine.PruneDone, error)
}

// Forgetting deletes what is stored of accounts. Accounts are ids or "Name#TAG".
type Forgetting interface {
	// LiveJobsOf are the live jobs of an account, the oldest first; engine.ErrNotFound.
	LiveJobsOf(ctx context.Context, account string) ([]engine.Job, error)
	WouldForget(ctx context.Context, account string) (engine.ForgetDone, error)
	// Forget tells how many jobs were cancelled for it, and writes the audit entry that
	// says that it is done, whose number is audit; engine.ErrRefused while a job of the
	// account is live.
	Forget(
		ctx context.Context, account string, by engine.Actor, reason string, cancelled int,
	) (done engine.ForgetDone, audit uint64, err error)
}

// Options of an Operator.
type Options struct {
	Store     Store
	Backend   Backend
	Syncer    Syncer
	Limiter   Limiter
	Keys      Keys
	Schedules Schedules      // nil = nothing recurs
	Alerts    Alerts         // nil = nobody evaluates any
	Pager     Pager          // nil = nobody can be tried
	Upkeep    Upkeep         // nil = the store cannot be backed up or pruned by command
	Forget    Forgetting     // nil = no account can be deleted
	Domain    Domain         // nil = it has no operations of its own
	Lines     []engine.Queue // that there are, used or not; none = every name is one
	Demo      bool
	SyncOn    bool
	OneSync   bool // the engine ends with the sync that it was started for

	// TryKey asks Riot about a key, "" = the one in use: nil = it is let in, engine.ErrRefused where Riot refuses it,
	// engine.ErrInvalid of what cannot be one, any other error where Riot could not be asked. nil = nobody can ask.
	TryKey func(ctx context.Context, key string) error
	// Audit writes an entry, and gives its number; nil = the store does.
	Audit  func(ctx context.Context, e engine.AuditEntry) (uint64, error)
	Find   func(ctx context.Context, q engine.Query) (engine.Answer, error)
	Note   func(n engine.Note)
	Lane   func(j engine.Job) string                                // where its calls go: "europe/match-v5.match"
	Player func(ctx context.Context, j engine.Job) string           // whose sync it is; "" of other jobs
	Delays func(ctx context.Context, cost *engine.Cost, syncs bool) // adds what ends later for it
}

// canaries wakes the runner when a canary has ended.
type canaries struct {
	mu sync.Mutex // over the stored plans: read, change, write
	// Look reads it in the committer, where nothing may wait for mu, which is held over writes.
	watched sync.Map // engine.JobID of the canaries
	wake    await.Bell
}

// Operator carries out what operators ask for. Several goroutines may use it; Run belongs to whoever
// supervises the engine.
type Operator struct {
	opt     Options
	canary  canaries
	running upkeeps
}

// New makes an operator; Run has to run for canaries to be followed.
func New(opt Options) *Operator {
	o := &Operator{opt: opt}
	o.canary.wake = await.NewBell()
	return o
}
