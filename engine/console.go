package engine

import (
	"context"
	"iter"
	"time"
)

// Console is the product's contract: what a screen, a command or a remote
// client can see and do. It has three methods for good. One implementation runs
// in process (engine/control), one works on a directory that no engine holds.
type Console interface {
	// Watch yields a snapshot and then merged updates until ctx ends. It never
	// makes the engine wait: a slow reader gets the newest state, not every one.
	Watch(ctx context.Context) iter.Seq[Update]
	// Do carries out one command. Errors are *Problem.
	Do(ctx context.Context, c Command) (Receipt, error)
	// Find answers a typed query from what is on disk. Errors are *Problem.
	Find(ctx context.Context, q Query) (Answer, error)
}

// Update is what changed since the last one, merged: the last row per id wins.
// A Snapshot update replaces everything.
type Update struct {
	Seq      uint64       `json:"seq"`
	Snapshot bool         `json:"snapshot,omitempty"`
	Gap      bool         `json:"gap,omitempty"` // updates were dropped for this reader; a snapshot follows
	Engine   *EngineRow   `json:"engine,omitempty"`
	Queues   []QueueRow   `json:"queues,omitzero"`
	Accounts []AccountRow `json:"accounts,omitempty"`
	Jobs     []JobRow     `json:"jobs,omitempty"` // live ones that changed: running, and the next retries
	Gone     []JobID      `json:"gone,omitempty"` // left the live set since
	Limits   *LimitsRow   `json:"limits,omitempty"`
	Calls    []CallRow    `json:"calls,omitempty"` // new in the flight recorder, oldest first
	Alerts   []AlertRow   `json:"alerts,omitzero"` // all of them, when one has changed; nil = as before
	Logs     []LogRow     `json:"logs,omitempty"`  // new in the log, oldest first
	Notes    []Note       `json:"notes,omitempty"` // for the message line
}

// EngineState is the one word of the title bar.
type EngineState string

// Engine states.
const (
	EngineLive     EngineState = "LIVE"
	EnginePaused   EngineState = "PAUSED"
	EngineDegraded EngineState = "DEGRADED"
	EngineNoKey    EngineState = "NO KEY"
	EngineAPIDown  EngineState = "API DOWN"
	EngineHeld     EngineState = "HELD"    // work waits for a host that an operator has frozen
	EngineOpening  EngineState = "OPENING" // the data directory is being opened
	EngineBrowse   EngineState = "BROWSE"  // no engine: stored data only
	EngineStopping EngineState = "STOPPING"
	EngineBroken   EngineState = "BROKEN"
)

// EngineRow is the engine as a whole.
type EngineRow struct {
	State    EngineState `json:"state"`
	Why      string      `json:"why,omitempty"` // reason of any state but LIVE
	Key      string      `json:"key,omitempty"` // last four characters only: "…7f3a"
	KeySince time.Time   `json:"key_since,omitzero"`
	Demo     bool        `json:"demo,omitempty"`
	Boot     string      `json:"boot"`
	Started  time.Time   `json:"started,omitzero"`
	Workers  int         `json:"workers"`   // ceiling
	InFlight int         `json:"in_flight"` // running now

	Accounts int64 `json:"accounts"` // that are known
	Stored   int64 `json:"stored"`   // matches with status success, all accounts
	Failed   int64 `json:"failed"`   // permanently_unfetchable
	TooOld   int64 `json:"too_old"`  // outside_retention_window
	Retrying int   `json:"retrying"` // jobs in state retryable
	// Alerts is how many fire and are neither acknowledged nor silenced.
	Alerts   int    `json:"alerts"`
	LogDrops uint64 `json:"log_drops"` // records that the log file could not take
	// OnlyServed says that it is the engine of a `sync`: it works on what it is asked for
	// alone, and ends with its own sync.
	OnlyServed bool `json:"only_served,omitempty"`
	// KeyWorked says that the key has worked since the start, or that another one is to
	// be tried: it is worth waiting for while it is refused.
	KeyWorked bool `json:"key_worked"`
	// SinceStart says that the engine is not up for a minute yet: what is counted of the
	// last minute is all since the start, and no rate.
	SinceStart bool `json:"since_start,omitempty"`
	Meter
}

// Meter is what the calls of this process add up to.
type Meter struct {
	CallsPerMin float64       `json:"calls_per_min"`
	Spark       []int         `json:"spark,omitempty"`   // calls per 5 s, oldest first
	P50         time.Duration `json:"p50_ns"`            // of the last 200 answers
	Answered    time.Time     `json:"answered,omitzero"` // when the newest of them was asked for
	Throttled   int64         `json:"rate_limited"`      // 429s since start
	Unforeseen  int64         `json:"unforeseen"`        // 429s our limiter did not expect
}

// Calls are the calls of the last minute, rounded.
func (m Meter) Calls() int { return int(m.CallsPerMin + 0.5) }

// old is from which age on a reading is shown with it.
const old = time.Minute

// OldReading is the age of a reading that says little of now; 0 = it is a fresh one, or
// nobody knows when it was taken.
func OldReading(at, now time.Time) time.Duration {
	if age := now.Sub(at); !at.IsZero() && age >= old {
		return age
	}
	return 0
}

// QueueRow is one queue with its counts.
type QueueRow struct {
	QueueState
	Counts    map[State]int `json:"counts"`  // live jobs, and the discarded ones that are kept
	Held      int           `json:"held"`    // scheduled with a hold; part of Counts[Scheduled]
	PerMin    float64       `json:"per_min"` // jobs settled
	OldestDue time.Time     `json:"oldest_due,omitzero"`
	Why       string        `json:"why,omitempty"` // why its head does not start
	Until     time.Time     `json:"until,omitzero"`
	Stand     Stand         `json:"stand,omitempty"` // nothing of what waits may start: what keeps it; "" = nothing does
}

// JobRow is a job with the one computed reason why it does not run (I-1).
type JobRow struct {
	Job
	Why   string    `json:"why,omitempty"`   // "app:europe 97/100", "queue paused by ana", "9th in line"
	Until time.Time `json:"until,omitzero"`  // when the reason ends; zero = unknown
	Place int       `json:"place,omitempty"` // in its line, 1 = next
	Stand Stand     `json:"stand,omitempty"` // what stands before any limit; "" = nothing
	// Player is whose sync it is, as a Riot ID; "" of other jobs.
	Player string `json:"player,omitempty"`
	// By the retry policy in force, see Policies.Row.
	MaxAttempts int           `json:"max_attempts,omitempty"` // of a round, the first included; 0 = not known
	Delay       time.Duration `json:"delay_ns,omitempty"`     // retryable: from its last failure to its next try
}

// LimitsRow is a live reading of the limiter.
type LimitsRow struct {
	At      time.Time   `json:"at"`
	Buckets []BucketRow `json:"buckets"`
	Waiting []WaiterRow `json:"waiting,omitempty"`
	Hosts   []LimitHost `json:"hosts,omitempty"`
	// Breakers are the endpoints that are down: no call goes there but a try.
	Breakers []BreakerRow `json:"breakers,omitempty"`
}

// BreakerRow is an endpoint that is down.
type BreakerRow struct {
	Host    string    `json:"host"`
	Method  string    `json:"method"`
	Since   time.Time `json:"since"`
	Next    time.Time `json:"next,omitzero"`    // the next try; zero = one is under way
	Waiting int       `json:"waiting"`          // jobs that stand behind it
	Proven  bool      `json:"proven,omitempty"` // what it answered before fails too
}

// BucketRow is one rate limit window.
type BucketRow struct {
	Host      string        `json:"host"`
	Method    string        `json:"method,omitempty"` // "" = application
	Kind      string        `json:"kind"`             // app, method, service
	Window    time.Duration `json:"window_ns"`
	Limit     int           `json:"limit"`
	Used      int           `json:"used"` // own, in flight and foreign together, at most Limit; Server tells of more
	InFlight  int           `json:"in_flight"`
	Foreign   int           `json:"foreign"`
	Server    int           `json:"server"`             // last count the server told; -1 = none yet
	ServerAt  time.Time     `json:"server_at,omitzero"` // when it told
	Reset     time.Time     `json:"reset,omitzero"`
	NextFree  time.Time     `json:"next_free,omitzero"` // zero = now
	Blocked   time.Time     `json:"blocked,omitzero"`
	BlockedBy string        `json:"blocked_by,omitempty"` // 429 application, 429 method, 429 service, frozen
	Cap       int           `json:"cap,omitempty"`        // operator's cap in percent, 0 = none
	Thaws     time.Time     `json:"thaws,omitzero"`       // when a freeze or cap ends by itself; zero = not
	FreezeWhy string        `json:"freeze_why,omitempty"` // its reason
	Mode      string        `json:"mode"`                 // A or C
	Waiting   int           `json:"waiting"`
	Name      string        `json:"name,omitempty"`  // as reasons and estimates call it: "app:europe 120s"
	Paces     bool          `json:"paces,omitempty"` // sets the pace of what waits at its host, or would: one a host
}

// WaiterRow is a call that waits for a permit, and why.
type WaiterRow struct {
	Job    JobID     `json:"job"`
	Host   string    `json:"host"`
	Method string    `json:"method"`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until"`
	Reason string    `json:"reason"`
}

// CallRow is one call in the flight recorder.
type CallRow struct {
	Seq        uint64        `json:"seq"`
	At         time.Time     `json:"at"`
	Host       string        `json:"host"`
	Method     string        `json:"method"`
	Target     string        `json:"target"`          // match id, or a cut PUUID
	Proof      bool          `json:"proof,omitempty"` // not for its answer: to find out whether the endpoint, or the key, works
	Job        JobID         `json:"job,omitempty"`
	Status     int           `json:"status"` // 0 = no answer
	Class      Class         `json:"class,omitempty"`
	Took       time.Duration `json:"took_ns"`
	Paced      time.Duration `json:"paced_ns"`
	PacedBy    string        `json:"paced_by,omitempty"`
	App        string        `json:"app,omitempty"` // count header as received
	MethodUsed string        `json:"method_used,omitempty"`
	RetryAfter time.Duration `json:"retry_after_ns,omitempty"`
	Unforeseen bool          `json:"unforeseen,omitempty"`
	// Early is how much later the call would have kept the limit that it broke: a
	// simulator knows, Riot does not say.
	Early time.Duration `json:"early_ns,omitempty"`
	// Counts are our counts beside the server's at the answer, of a 429 only.
	Counts []WindowCount `json:"counts,omitempty"`
	// Headers are all of the answer's, "Name: value"; only of a job's last call.
	Headers []string `json:"headers,omitempty"`
}

// Level is how much a note matters.
type Level string

// Levels of notes.
const (
	LevelOK   Level = "ok"
	LevelInfo Level = "info"
	LevelWarn Level = "warn"
	LevelErr  Level = "error"
)

// Note is a message for the message line and the list behind it.
type Note struct {
	At    time.Time `json:"at"`
	Level Level     `json:"level"`
	Text  string    `json:"text"`
	Job   JobID     `json:"job,omitempty"`
	By    Actor     `json:"by,omitzero"` // whose action it tells of; zero = the engine itself
}

// Op is a command's verb.
type Op string

// Commands of an operator.
const (
	OpTrigger Op = "trigger" // start a sync of an account
	OpCancel  Op = "cancel"  // a job; a sync job cancels its run
	OpRetry   Op = "retry"   // now, in queue order, through the limiter
	OpPause   Op = "pause"   // a queue
	OpResume  Op = "resume"
	OpFreeze  Op = "freeze" // a bucket until an instant, or cap it
	OpThaw    Op = "thaw"
	OpTrack   Op = "track"
	OpUntrack Op = "untrack"
	OpKey     Op = "key" // replace the API key
)

// Command is something an operator asks for.
type Command struct {
	Op      Op       `json:"op"`
	Job     JobID    `json:"job,omitempty"`
	IfRev   Revision `json:"if_rev,omitempty"`  // 0 = any; a console always sends what it showed
	Account string   `json:"account,omitempty"` // account id, or "Name#TAG"
	Queue   Queue    `json:"queue,omitempty"`
	// Schedule is the name of one, for the commands on schedules.
	Schedule string `json:"schedule,omitempty"`
	// Expr and Zone are the plan for OpEditSchedule: see there.
	Expr    string  `json:"expr,omitempty"`
	Zone    string  `json:"zone,omitempty"`
	Bucket  Bucket  `json:"bucket,omitzero"`
	Alert   string  `json:"alert,omitempty"`   // id of one, for OpAck and OpSilence
	Channel string  `json:"channel,omitempty"` // OpPage: whom, such as call or discord; "" = all
	Sync    SyncAsk `json:"sync,omitzero"`
	// Select makes a bulk command of cancel, retry, force, reschedule or reclass.
	Select  *Selection  `json:"select,omitempty"`
	Confirm string      `json:"confirm,omitempty"` // ConfirmAll: a selection without a criterion is meant
	Canary  bool        `json:"canary,omitempty"`  // retry, reclass: one job first, the rest when it has succeeded
	At      time.Time   `json:"at,omitzero"`       // OpReschedule: the instant; the past means now
	Audit   uint64      `json:"audit,omitempty"`   // OpUndo: of which command; 0 = the last one that can be undone
	Key     string      `json:"-"`                 // OpKey: the new key, never printed
	Lines   []TrackLine `json:"lines,omitempty"`   // OpTrackMany
	Backup  *BackupAsk  `json:"backup,omitempty"`  // OpBackup; nil = as the schedule does it
	Prune   *PruneAsk   `json:"prune,omitempty"`   // OpPrune; nil = by the rule of the schedule
	Call    *CallAsk    `json:"call,omitempty"`    // OpCall
	Reason  string      `json:"reason,omitempty"`
	DryRun  bool        `json:"dry_run,omitempty"`
	By      Actor       `json:"by"`
}

// Bucket names a limit to freeze or cap.
type Bucket struct {
	Host   string    `json:"host"`
	Method string    `json:"method,omitempty"` // "" = the whole host
	Until  time.Time `json:"until,omitzero"`
	Cap    int       `json:"cap,omitempty"` // percent of the limit, 0 = nothing may go
}

// SyncAsk says what a sync shall cover.
type SyncAsk struct {
	Platform  string    `json:"platform,omitempty"`
	Mode      string    `json:"mode,omitempty"`  // full (default) or latest
	Count     int       `json:"count,omitempty"` // newest N; 0 = all
	Since     time.Time `json:"since,omitzero"`
	Timelines string    `json:"timelines,omitempty"` // all (default), ranked, none
	Force     bool      `json:"force,omitempty"`
	Track     bool      `json:"track,omitempty"`
	Tags      []string  `json:"tags,omitempty"`   // track: tags to add
	Policy    string    `json:"policy,omitempty"` // track: "queues=420 cadence=6h"; "default" removes it
	Cause     string    `json:"cause,omitempty"`  // "" = manual; linked, stale: see the constants
}

// Causes of a sync besides an operator's own command (S1-1).
const (
	CauseLinked = "linked" // an account was linked: everything is fetched, and it is tracked
	CauseStale  = "stale"  // a login: only if the stored data is stale
)

// Receipt answers a command.
type Receipt struct {
	Seq     uint64         `json:"seq"` // the change is visible from this version on
	Job     JobID          `json:"job,omitempty"`
	Account string         `json:"account,omitempty"`
	Joined  bool           `json:"joined,omitempty"`  // a run was pending already: this is it
	Nothing bool           `json:"nothing,omitempty"` // there was nothing to do; Text says why
	Matched int            `json:"matched"`
	Applied int            `json:"applied"`
	Skipped map[string]int `json:"skipped,omitempty"` // reason -> how many
	Would   int            `json:"would,omitempty"`   // dry run of a command on jobs: how many it would act on
	Attempt int            `json:"attempt,omitempty"` // retry, force: the number of the attempt to come
	Sample  []string       `json:"sample,omitempty"`  // a few of the jobs, by key or id
	Audit   uint64         `json:"audit,omitempty"`   // number of its audit entry
	Undo    bool           `json:"undo,omitempty"`    // it can be undone, by that number
	// Select is what a dry run has counted, frozen: the command to confirm.
	Select    *Selection    `json:"select,omitempty"`
	Due       time.Time     `json:"due,omitzero"`
	Runs      []time.Time   `json:"runs,omitempty"`         // OpEditSchedule: the next runs by the new plan
	Zone      string        `json:"zone,omitempty"`         // OpEditSchedule: in which zone it is read
	UTCOffset int           `json:"utc_offset_s,omitempty"` // OpEditSchedule: of the zone at the first of them, in seconds
	Cost      *Cost         `json:"cost,omitempty"`
	Rejects   []TrackReject `json:"rejects,omitempty"`
	Backup    *BackupDone   `json:"backup,omitempty"`
	Prune     *PruneDone    `json:"prune,omitempty"`
	Forget    *ForgetDone   `json:"forget,omitempty"`
	Text      string        `json:"text"` // one sentence for a person

	Moves []JobMove  `json:"-"` // for the audit
	Queue *QueueMove `json:"-"`

	Schedule *ScheduleMove `json:"-"`
}

// Cost is what a command will take (S3-12).
type Cost struct {
	Calls  int           `json:"calls"`
	Takes  time.Duration `json:"takes_ns"`
	Bucket string        `json:"bucket"` // the tightest one
	// AtMost says that Calls and Takes are the worst case, and so is what they delay:
	// nobody has counted yet how many games the account has.
	AtMost bool `json:"at_most,omitempty"`
	// Delays is what ends later for it, the scheduled runs first; nil = nobody has looked,
	// empty = nothing does. Unknown says why it cannot be told, of some hosts or of all.
	Delays  []Delay `json:"delays,omitzero"`
	Unknown string  `json:"unknown,omitempty"`
	Loads   []Load  `json:"-"` // the calls by who makes them, for Delays
}

// Query is one of the query types below.
type Query interface{ query() }

// Answer is the answer type that belongs to the query's type.
type Answer any

// Page asks for part of a list.
type Page struct {
	After string `json:"after,omitempty"` // cursor of the page before; "" = the first
	Limit int    `json:"limit,omitempty"` // 0 = 100, at most 500
}

// JobsQuery lists jobs, newest first; answered by JobsPage.
type JobsQuery struct {
	Page
	States []State `json:"states,omitempty"` // none = all live states
	Queue  Queue   `json:"queue,omitempty"`
	Kind   Kind    `json:"kind,omitempty"`
	Owner  string  `json:"owner,omitempty"`
	Text   string  `json:"text,omitempty"`  // part of the key
	Ended  bool    `json:"ended,omitempty"` // terminal ones too, from the archive
	// Oldest lists live jobs alone, the oldest first: of very many, those that go next.
	Oldest bool `json:"oldest,omitempty"`
	// Filter, Class and Reason leave out what does not fit. To find what does the engine
	// looks at some of the jobs, wherever they stand, and Next says where the others begin:
	// a page may have fewer rows than asked for, or none, and not be the last.
	Filter string `json:"filter,omitempty"` // in the filter language
	Class  Class  `json:"class,omitempty"`  // "503", or the ID of an ErrorClass
	Reason string `json:"reason,omitempty"` // the Shape of a ReasonRow
}

// Sifts reports whether jobs have to be looked at one by one to find those that fit.
func (q JobsQuery) Sifts() bool { return q.Filter != "" || q.Class != "" || q.Reason != "" }

// JobsPage answers JobsQuery.
type JobsPage struct {
	Jobs []JobRow `json:"jobs"`
	Next string   `json:"next,omitempty"` // cursor; "" = the end
	// Total is how many live jobs fit, told with the first page; -1 = not counted.
	Total  int `json:"total"`
	Looked int `json:"looked,omitempty"` // jobs that were looked at, see JobsQuery.Sifts
}

// JobQuery asks for everything about one job; answered by JobDetail.
type JobQuery struct {
	ID  JobID  `json:"id,omitempty"`
	Key string `json:"key,omitempty"` // instead of ID: the live, else the latest, job of this key
	// External, instead of both, is the id that the other side gave to an attempt or hold
	// of the job: every one of a call, also while it is under way, of other kinds the
	// newest few thousand that have ended.
	External string `json:"external,omitempty"`
}

// JobDetail is everything the inspector shows. AttemptCount == len(Attempts).
type JobDetail struct {
	Job         JobRow       `json:"job"`
	Attempts    []Attempt    `json:"attempts"` // the running one last, with a zero End
	Holds       []Attempt    `json:"holds"`
	Groups      []GroupStat  `json:"groups,omitempty"`
	Parents     []JobID      `json:"parents,omitempty"`
	Account     string       `json:"account,omitempty"` // Riot ID of the owner, as received
	History     []Transition `json:"history,omitempty"`
	MaxAttempts int          `json:"max_attempts"`
	Policy      Policy       `json:"policy"`
	ShouldRetry bool         `json:"should_retry"`
	NextRetryAt time.Time    `json:"next_retry_at,omitzero"`
	Call        *CallRow     `json:"call,omitempty"` // last one in the flight recorder
}

// Transition is one row of history.
type Transition struct {
	Seq    uint64    `json:"seq"`
	At     time.Time `json:"at"`
	From   string    `json:"from"`
	To     string    `json:"to"`
	Reason string    `json:"reason,omitempty"`
	Actor  string    `json:"actor,omitempty"`
}

// AccountsQuery lists accounts; answered by AccountsPage.
type AccountsQuery struct {
	Page
	Text string `json:"text,omitempty"` // part of the Riot ID, or an account id
	Open bool   `json:"open,omitempty"` // only those whose syncs are under way
}

// AccountsPage answers AccountsQuery.
type AccountsPage struct {
	Accounts []AccountRow `json:"accounts"`
	Next     string       `json:"next,omitempty"`
	Total    int          `json:"total"`
}

// AccountQuery asks for one account in depth; answered by AccountDetail.
type AccountQuery struct {
	ID       string `json:"id"`                 // or "Name#TAG"
	Platform string `json:"platform,omitempty"` // of a "Name#TAG"; "" = any
}

// AccountDetail is what the account screen shows besides the row.
type AccountDetail struct {
	Row      AccountRow  `json:"account"`
	Recent   []MatchRow  `json:"recent"`          // last settled, oldest first, at most 60
	Waits    []Spent     `json:"waits,omitempty"` // of the last attempts, newest first
	ETA      ETA         `json:"eta"`
	Report   *PlayReport `json:"report,omitempty"`
	Identity []Identity  `json:"identity,omitempty"`
}

// Spent says where one attempt's time went.
type Spent struct {
	Limiter time.Duration `json:"limiter_ns"`
	HTTP    time.Duration `json:"http_ns"`
}

// Identity is a PUUID under one key project.
type Identity struct {
	Project string `json:"project"`
	PUUID   string `json:"puuid"`
}

// ETA says when work ends and what sets the pace (I-3).
type ETA struct {
	Calls  int           `json:"calls"` // still to make
	Low    time.Duration `json:"low_ns"`
	High   time.Duration `json:"high_ns"`
	Bucket string        `json:"bucket,omitempty"` // the tightest one: "app:europe 100/120s"
	Known  bool          `json:"known"`
	// Why says what decides in place of a bucket, or why nobody knows.
	Why   string `json:"why,omitempty"`
	Stand Stand  `json:"stand,omitempty"` // what keeps the run from going on; "" = nothing
}

// MatchesQuery lists matches, newest first; answered by MatchesPage.
type MatchesQuery struct {
	Page
	Account string `json:"account,omitempty"` // id or "Name#TAG"; "" = all, by id, the last first
	All     bool   `json:"all,omitempty"`     // also permanently_unfetchable ones (S0-8)
}

// MatchesPage answers MatchesQuery.
type MatchesPage struct {
	Matches []MatchRow `json:"matches"`
	Next    string     `json:"next,omitempty"`
	Hidden  int        `json:"hidden"` // not shown unless All
}

// MatchRow is a match as lists show it. Text is as received.
type MatchRow struct {
	ID            string        `json:"match_id"`
	Status        string        `json:"status"`
	Timeline      string        `json:"timeline_status"`
	Attempts      int           `json:"attempts"`
	Played        time.Time     `json:"played,omitzero"`
	Duration      time.Duration `json:"duration_ns,omitempty"`
	QueueID       int           `json:"queue_id,omitempty"`
	Mode          string        `json:"mode,omitempty"`
	Champion      string        `json:"champion,omitempty"`
	Kills         int           `json:"kills"`
	Deaths        int           `json:"deaths"`
	Assists       int           `json:"assists"`
	Won           bool          `json:"won"`
	FetchedAt     time.Time     `json:"fetched_at,omitzero"`
	LastAttemptAt time.Time     `json:"last_attempt_at,omitzero"`
	LastError     string        `json:"last_error,omitempty"`
	Bytes         int           `json:"bytes,omitempty"`
	Corrupt       bool          `json:"corrupt,omitempty"`
}

// PlayReport is the play-time report of an account: minutes per weekday and
// hour of day in Zone. Minutes are split at hour edges, games counted where they
// start. Row 0 is Monday.
type PlayReport struct {
	Account string         `json:"account"`
	Zone    string         `json:"zone"`
	Built   time.Time      `json:"built"`
	Minutes [7][24]float64 `json:"minutes"`
	Games   [7][24]int     `json:"games"`
	Matches int            `json:"matches"` // counted in it
	Missing int            `json:"missing"` // wanted, but could not be had or were cancelled
	// Cancelled is the part of Missing that an operator cancelled.
	Cancelled int         `json:"cancelled"`
	LeftOut   int         `json:"left_out"` // stored, but without this player
	First     time.Time   `json:"first,omitzero"`
	Last      time.Time   `json:"last,omitzero"`
	ByQueue   map[int]int `json:"by_queue,omitempty"`
}

// CallsQuery reads the flight recorder, newest first; answered by CallsPage.
type CallsQuery struct {
	Page
	Job    JobID `json:"job,omitempty"`
	Status int   `json:"status,omitempty"` // 0 = any
}

// CallsPage answers CallsQuery.
type CallsPage struct {
	Calls []CallRow `json:"calls"`
	Next  string    `json:"next,omitempty"`
}

// LimitsQuery asks for a reading of the limiter; answered by LimitsRow.
type LimitsQuery struct{}

// StatusQuery asks for the whole in one row each; answered by StatusAnswer.
type StatusQuery struct{}

// StatusAnswer answers StatusQuery.
type StatusAnswer struct {
	Engine EngineRow    `json:"engine"`
	Queues []QueueRow   `json:"queues"`
	Open   []AccountRow `json:"syncing"`
	Next   []JobRow     `json:"next_retries"`     // the next ten; Engine.Retrying counts all
	Pacing *BucketRow   `json:"pacing,omitempty"` // see LimitsRow.Pacing
}

// CostQuery asks what a sync would cost before it is confirmed; answered by Cost.
type CostQuery struct {
	Account string  `json:"account"`
	Sync    SyncAsk `json:"sync,omitzero"`
	// Accounts are several that are synced as one act, instead of Account.
	Accounts []string `json:"accounts,omitempty"`
}

func (JobsQuery) query()     {}
func (JobQuery) query()      {}
func (AccountsQuery) query() {}
func (AccountQuery) query()  {}
func (MatchesQuery) query()  {}
func (CallsQuery) query()    {}
func (LimitsQuery) query()   {}
func (StatusQuery) query()   {}
func (CostQuery) query()     {}
