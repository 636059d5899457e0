package engine

import (
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine/human"
)

// Change is a committed fact. Exactly one of its pointers is set, but for
// Ended. Changes leave
// storage in commit order, after the commit returned nil.
type Change struct {
	Seq    uint64 `json:"-"` // version of the database that holds it; set at publication
	Job    *Job   `json:"job,omitempty"`
	Before State  `json:"before"`          // of Job; equal to Job.State for a new job or one that kept its state
	New    bool   `json:"new,omitempty"`   // Job was inserted by this change
	Ended  *Job   `json:"ended,omitempty"` // Job as it had ended, when this change has opened it again
	// Joined are the groups that wait for Job from this change on: those of a new
	// job, or of a spec whose key Job held already. Its revision stays.
	Joined  []GroupID `json:"joined,omitempty"`
	Deleted JobID     `json:"deleted,omitempty"`
	// Attempt is an attempt or a hold that has ended, of the job Of.
	Attempt *Attempt    `json:"attempt,omitempty"`
	Of      JobID       `json:"of,omitempty"`
	Account *AccountRow `json:"account,omitempty"`
	// Forgotten is the id of an account that was deleted.
	Forgotten string         `json:"forgotten,omitempty"`
	Queue     *QueueState    `json:"queue,omitempty"`
	Audit     *AuditEntry    `json:"audit,omitempty"`
	Totals    *Totals        `json:"totals,omitempty"`
	Discards  *QueueDiscards `json:"discards,omitempty"`
}

// Moved is the change of a job from one value to the next.
func Moved(from, to *Job) Change {
	c := Change{Job: to, Before: from.State}
	if from.State.Terminal() && !to.State.Terminal() {
		was := *from
		c.Ended = &was
	}
	return c
}

// QueueDiscards is how many discarded jobs a queue has kept. A recount must equal it (P6).
type QueueDiscards struct {
	Queue Queue
	Jobs  int
}

// SyncStatus is how an account's sync stands.
type SyncStatus uint8

// Sync statuses of an account.
const (
	SyncNever SyncStatus = iota
	SyncPending
	Syncing
	SyncCompleted
	SyncFailed // resolving or listing failed
	SyncCancelled
)

var syncNames = [...]string{"never", "pending", "syncing", "completed", "failed", "cancelled"}

// String is the status's word; "?" of one that a newer engine has made.
func (s SyncStatus) String() string {
	if int(s) < len(syncNames) {
		return syncNames[s]
	}
	return "?"
}

// MarshalText writes the status's word.
func (s SyncStatus) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the status's word.
func (s *SyncStatus) UnmarshalText(b []byte) error {
	if err := human.ReadWord(syncNames[:], "sync status", b, s); err != nil {
		return Problemf(ErrInvalid, "", "%v", err)
	}
	return nil
}

// Open reports whether a run is under way.
func (s SyncStatus) Open() bool { return s == SyncPending || s == Syncing }

// Phase is the stage of a sync that a person sees.
type Phase string

// Phases of a sync, in order.
const (
	PhaseResolve   Phase = "resolve"
	PhaseList      Phase = "list"
	PhaseMatches   Phase = "matches"
	PhaseReport    Phase = "report"
	PhaseTimelines Phase = "timelines"
	PhaseDone      Phase = "done"
)

// Progress counts the items of one stage of a run. At every commit
// Stored+Had+Failed+TooOld+Unaskable+Cancelled+Open == Total (promise P5); Retrying is
// part of Open. While pages are still listed, Total is unknown (-1).
type Progress struct {
	Total     int `json:"total"`     // -1 = not known yet
	Stored    int `json:"stored"`    // by this run
	Had       int `json:"had"`       // were stored before this run
	Retrying  int `json:"retrying"`  // part of Open: failed, has a next try
	Failed    int `json:"failed"`    // gave up
	TooOld    int `json:"too_old"`   // beyond what Riot keeps
	Unaskable int `json:"unaskable"` // listed by an id that names no platform: nobody can be asked
	Cancelled int `json:"cancelled"`
	Open      int `json:"open"` // not settled yet
}

// Done is how many items have come to their end; it never falls within a run. What
// an operator cancelled is not open any more, but it is not done: an undo or a retry
// takes it up again.
func (p Progress) Done() int { return p.Stored + p.Had + p.Failed + p.TooOld + p.Unaskable }

// Gaps says what a stage lacks, in words; "" = nothing but what is too old.
func (p Progress) Gaps() string {
	gaps := Gaps(p.Failed, p.Cancelled)
	if p.Unaskable > 0 {
		gaps = strings.TrimPrefix(gaps+", "+human.Count(int64(p.Unaskable))+" cannot be asked for", ", ")
	}
	return gaps
}

// Gaps says how many items could not be had and how many were cancelled; "" = none.
func Gaps(failed, cancelled int) string {
	var parts []string
	if failed > 0 {
		parts = append(parts, human.Count(int64(failed))+" could not be had")
	}
	if cancelled > 0 {
		parts = append(parts, human.Count(int64(cancelled))+" cancelled")
	}
	return strings.Join(parts, ", ")
}

// AccountRow is an account as a console shows it: the account, its live or last
// run and that run's progress, all of one commit. Text is as received.
type AccountRow struct {
	ID       string     `json:"id"`
	RiotID   string     `json:"riot_id"` // "Name#TAG"
	Platform string     `json:"platform"`
	Region   string     `json:"region"`          // host of its matches: europe, asia
	PUUID    string     `json:"puuid,omitempty"` // under the present key project
	Tags     []string   `json:"tags,omitempty"`
	Policy   string     `json:"policy,omitempty"` // its own, as `track --policy` takes it
	Tracked  bool       `json:"tracked"`          // synced by the schedules
	Status   SyncStatus `json:"status"`
	Stand    Stand      `json:"stand,omitempty"` // what keeps an open run from going on
	ETA      ETA        `json:"eta,omitzero"`    // of an open run, when consoles are told of it
	Job      JobID      `json:"job,omitempty"`   // of the live or last run
	Run      string     `json:"run,omitempty"`   // id of the live or last run
	Kind     string     `json:"kind,omitempty"`  // "full", "latest"
	Queue    Queue      `json:"queue,omitempty"` // of the run's jobs
	Phase    Phase      `json:"phase,omitempty"`
	Pages    int        `json:"pages"`  // of match ids that were listed
	Listed   int        `json:"listed"` // match ids in them, each once

	Matches   Progress `json:"matches"`
	Timelines Progress `json:"timelines"`
	// WantsTimelines says that timelines follow from matches of this run.
	WantsTimelines bool `json:"wants_timelines"`
	Calls          int  `json:"calls"`        // to Riot, of the run
	Throttled      int  `json:"rate_limited"` // 429s among them
	Resumed        int  `json:"resumed"`      // restarts this run survived
	ResumedAt      int  `json:"resumed_at"`   // matches settled at the last one

	Triggered time.Time `json:"triggered,omitzero"`   // when the run was asked for
	Started   time.Time `json:"started,omitzero"`     // its first call; zero = it waits
	Finished  time.Time `json:"finished,omitzero"`    // zero = it is under way
	Closed    time.Time `json:"gaps_closed,omitzero"` // when it became complete, after it had ended incomplete
	LastSync  time.Time `json:"last_sync,omitzero"`   // last run that completed
	Result    string    `json:"result,omitempty"`     // completed, incomplete, failed, cancelled
	LastError string    `json:"last_error,omitempty"` // of the last failure, as received
	Updated   time.Time `json:"updated,omitzero"`     // last change of the account
}

// Incomplete reports whether the last sync ended with gaps: its account is completed
// all the same.
func (a *AccountRow) Incomplete() bool { return a.Status == SyncCompleted && a.Result == "incomplete" }

// Totals are the stored counters of all matches. A recount must equal them (P6).
type Totals struct {
	Accounts  int64 `json:"accounts"`
	Matches   int64 `json:"matches"`
	Unfetched int64 `json:"unfetched"`
	Success   int64 `json:"success"`
	Temporary int64 `json:"temporary_failure"`
	Permanent int64 `json:"permanently_unfetchable"`
	TooOld    int64 `json:"outside_retention_window"`
	Timelines int64 `json:"timelines"` // with status success
}

// Waiting is how many matches are listed and not settled.
func (t Totals) Waiting() int64 { return t.Unfetched + t.Temporary }
