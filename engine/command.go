package engine

import (
	"context"
	"time"
)

type orderKey struct{}

// AsOrder marks the writes made under ctx as an operator's, such as a cancel: on a full disk a store may
// keep some room for them.
func AsOrder(ctx context.Context) context.Context { return context.WithValue(ctx, orderKey{}, true) }

// IsOrder reports whether AsOrder has marked ctx.
func IsOrder(ctx context.Context) bool { return ctx.Value(orderKey{}) != nil }

// Command is something an operator asks for.
type Command struct {
	Op      Op       `json:"op"`
	Job     JobID    `json:"job,omitempty"`     // or the key of one, which has a colon
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
	Collect *CollectAsk `json:"collect,omitempty"` // OpCollect
	Lines   []TrackLine `json:"lines,omitempty"`   // OpTrackMany
	Backup  *BackupAsk  `json:"backup,omitempty"`  // OpBackup; nil = as the schedule does it
	Compact *CompactAsk `json:"compact,omitempty"` // OpCompact; nil = as the schedule does it
	Prune   *PruneAsk   `json:"prune,omitempty"`   // OpPrune; nil = by the rule of the schedule
	Call    *CallAsk    `json:"call,omitempty"`    // OpCall
	Own     *OwnAsk     `json:"own,omitempty"`     // OpShell
	Reason  string      `json:"reason,omitempty"`
	DryRun  bool        `json:"dry_run,omitempty"`
	By      Actor       `json:"by"`
}

// Bucket names a limit to freeze or cap.
type Bucket struct {
	Host   string    `json:"host"`
	Method string    `json:"method,omitempty"` // "" = the whole host
	Until  time.Time `json:"until,omitzero"`   // when it ends by itself; zero = it does not
	Cap    int       `json:"cap,omitempty"`    // percent of the limit, 0 = nothing may go
}

// PUUIDLength is how many characters a PUUID has, by Riot's documentation; Command.Account may be one.
const PUUIDLength = 78

// SyncAsk says what a sync shall cover.
type SyncAsk struct {
	Platform  string    `json:"platform,omitempty"`  // euw1, kr; needed for an account that is new here
	Mode      string    `json:"mode,omitempty"`      // full (default) or latest
	Count     int       `json:"count,omitempty"`     // newest N; 0 = all
	Since     time.Time `json:"since,omitzero"`      // nothing played before is listed; zero = no floor
	Timelines string    `json:"timelines,omitempty"` // all (default), ranked, none
	Force     bool      `json:"force,omitempty"`     // also inside the cooldown, and what had been given up
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
	Seq     uint64 `json:"seq"` // the change is visible from this version on
	Job     JobID  `json:"job,omitempty"`
	Account string `json:"account,omitempty"`
	// Collection is the name of the one that OpCollect has started, or met.
	Collection string         `json:"collection,omitempty"`
	Joined     bool           `json:"joined,omitempty"`  // a run was pending already: this is it
	Nothing    bool           `json:"nothing,omitempty"` // there was nothing to do; Text says why
	Matched    int            `json:"matched"`           // how many it was about
	Applied    int            `json:"applied"`           // how many of these it has changed
	Skipped    map[string]int `json:"skipped,omitempty"` // reason -> how many
	Would      int            `json:"would,omitempty"`   // dry run of a command on jobs: how many it would act on
	Attempt    int            `json:"attempt,omitempty"` // retry, force: the number of the attempt to come
	Sample     []string       `json:"sample,omitempty"`  // a few of the jobs, by key or id
	Audit      uint64         `json:"audit,omitempty"`   // number of its audit entry
	Undo       bool           `json:"undo,omitempty"`    // it can be undone, by that number
	// Select is what a dry run has counted, frozen: the command to confirm.
	Select *Selection `json:"select,omitempty"`
	// when the job runs next, or when it makes sense to ask again
	Due  time.Time   `json:"due,omitzero"`
	Runs []time.Time `json:"runs,omitempty"` // OpEditSchedule: the next runs by the new plan
	Zone string      `json:"zone,omitempty"` // OpEditSchedule: in which zone it is read
	// OpEditSchedule: of the zone at the first of them, in seconds
	UTCOffset int           `json:"utc_offset_s,omitempty"`
	Cost      *Cost         `json:"cost,omitempty"`    // nil = it makes no calls, or nobody has counted
	Rejects   []TrackReject `json:"rejects,omitempty"` // lines of a list that make no sense
	Backup    *BackupDone   `json:"backup,omitempty"`
	Compact   *CompactDone  `json:"compact,omitempty"`
	Prune     *PruneDone    `json:"prune,omitempty"`
	Forget    *ForgetDone   `json:"forget,omitempty"`
	Text      string        `json:"text"` // one sentence for a person

	Moves []JobMove  `json:"-"` // for the audit
	Queue *QueueMove `json:"-"`

	Schedule *ScheduleMove `json:"-"`
}
