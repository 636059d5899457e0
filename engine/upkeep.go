package engine

import (
	"fmt"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine/human"
)

// Commands that look after the store while its engine runs. They take as long as
// they take: minutes on a large store.
const (
	OpBackup  Op = "backup"  // copy the data directory, as Command.Backup says; Receipt.Backup tells
	OpCompact Op = "compact" // archive closed months, as Command.Compact says; Receipt.Compact tells
	OpPrune   Op = "prune"   // delete jobs that ended long ago, by the rule Command.Prune; Receipt.Prune tells
	// OpForget deletes what is stored of the account or player Command.Account, or of the collection of the name in
	// Command.Collect; Receipt.Forget tells.
	OpForget Op = "forget"
)

// BackupAsk says how to back up.
type BackupAsk struct {
	// To is the folder of the backups, an absolute path of the engine's host; "" = backup/
	// in the data directory. From elsewhere only the owner of the engine may name one.
	To        string `json:"to,omitempty"`
	Keep      int    `json:"keep,omitempty"`       // newest backups to keep, 1 to 1000; 0 = 7
	StateOnly bool   `json:"state_only,omitempty"` // no payloads
}

// BackupFile is one file of a backup.
type BackupFile struct {
	Name     string    `json:"name"` // relative to the folder of the backups
	Month    string    `json:"month,omitempty"`
	Size     int64     `json:"size"` // bytes
	CRC      uint32    `json:"crc32c"`
	Seq      uint64    `json:"seq"` // transaction that was copied
	Instance string    `json:"instance,omitempty"`
	Taken    time.Time `json:"taken"`
}

// BackupDone is what a backup did. It is verified, unless it came with an error.
type BackupDone struct {
	Name     string       `json:"name"`
	Taken    time.Time    `json:"taken"`
	Schema   int          `json:"schema"`
	Note     string       `json:"note,omitempty"`
	Verified bool         `json:"verified"`
	State    BackupFile   `json:"state"`
	Months   []BackupFile `json:"months"`
	// Failed names months of payloads that have no new copy, and why.
	Failed  map[string]string `json:"failed,omitempty"`
	Path    string            `json:"path"`
	Copied  int64             `json:"copied"`            // bytes written
	Reused  int               `json:"reused"`            // months whose copy was up to date
	Removed []string          `json:"removed,omitempty"` // older backups
	Took    time.Duration     `json:"took_ns"`
}

// CompactAsk says what to archive.
type CompactAsk struct {
	// Months are those to archive, closed or not, such as "2026-10"; none = all that ended a week ago or earlier.
	Months  []string `json:"months,omitempty"`
	Workers int      `json:"workers,omitempty"` // payloads packed at once, 1 to 256; 0 = 1
}

// CompactDone is what was shrunk. Sizes are bytes in use.
type CompactDone struct {
	DryRun      bool            `json:"dry_run,omitempty"`
	StateBefore int64           `json:"state_before"`
	StateAfter  int64           `json:"state_after"`
	StateLeft   string          `json:"state_left,omitempty"` // why state.db was left as it is
	Months      []ArchivedMonth `json:"months"`
	Before      int64           `json:"before"` // of all that was looked at
	After       int64           `json:"after"`
}

// ArchivedMonth is what became of the payloads of one month.
type ArchivedMonth struct {
	Month    string        `json:"month"`
	Payloads int           `json:"payloads"`
	Packed   int           `json:"packed"`         // packed now (dry run: that would be)
	ToPack   int64         `json:"to_pack"`        // bytes of those before they were
	Bad      int           `json:"bad,omitempty"`  // cannot be read: kept as they are; `check` names them
	Before   int64         `json:"before"`         // bytes in use in the file
	After    int64         `json:"after"`          // the same as Before when nothing was done
	Left     string        `json:"left,omitempty"` // why it was left alone
	Took     time.Duration `json:"took_ns"`
}

// PruneAsk says which ended jobs may go, by how long ago they ended; 0 keeps them
// for ever.
type PruneAsk struct {
	Completed time.Duration `json:"completed_ns"`
	Failed    time.Duration `json:"failed_ns"` // discarded and cancelled
	// Classes overrules Failed for an error class; "404" stands for "404.x", too.
	Classes    map[Class]time.Duration `json:"classes_ns,omitempty"`
	KeepFailed int                     `json:"keep_failed"` // the newest failed ones that stay whatever their age
}

// PruneDone is what a prune removed, or would remove.
type PruneDone struct {
	Completed int `json:"completed"`
	Failed    int `json:"failed"`
	Attempts  int `json:"attempts"`
	Spared    int `json:"spared"` // old enough, but still needed
	// Classes are the failed ones by the class of their last error.
	Classes map[Class]int `json:"classes,omitempty"`
}

// UpkeepQuery asks how far the backups and compactions are that operators have asked for; answered by
// UpkeepAnswer.
type UpkeepQuery struct{}

// UpkeepAnswer answers UpkeepQuery, the oldest first.
type UpkeepAnswer struct {
	Running []UpkeepRun `json:"running"`
}

// UpkeepRun is a backup or compaction under way.
type UpkeepRun struct {
	Op    Op        `json:"op"`
	By    Actor     `json:"by"`
	Began time.Time `json:"began"`
	Done  int64     `json:"done"`  // bytes; of a compaction those of the month it is at
	Total int64     `json:"total"` // bytes; 0 = not known yet
}

func (UpkeepQuery) query() {}

// Text says it in words; dry: what would be.
func (d CompactDone) Text(dry bool) string {
	packed, months := 0, 0
	var before, after int64
	for _, m := range d.Months {
		if m.Packed > 0 && m.Left == "" {
			packed, months, before, after = packed+m.Packed, months+1, before+m.Before, after+m.After
		}
	}
	of := human.Counted(packed, "payload", "payloads") + " of " + human.Counted(months, "month", "months")
	switch {
	case packed == 0:
		return "no closed month has anything to pack"
	case dry:
		return of + " would be packed, of " + human.Bytes(before)
	}
	return fmt.Sprintf("%s packed: %s -> %s", of, human.Bytes(before), human.Bytes(after))
}

// Text says it in words; dry: what would be.
func (d PruneDone) Text(dry bool) string {
	did := "were deleted"
	if dry {
		did = "would be deleted"
	}
	return fmt.Sprintf("%d completed and %d failed jobs %s, %d are still needed", d.Completed, d.Failed, did, d.Spared)
}

// ForgetDone is what forgetting an account or a collection deleted, or would delete. It names nobody:
// it goes into the audit.
type ForgetDone struct {
	// Mask is the beginning of the SHA-256 of the player's id at Riot: who has that id
	// can prove that it was this account, and nobody can tell the id or the name from it.
	Mask       string `json:"mask,omitempty"`
	Collection string `json:"collection,omitempty"` // which one was forgotten, by its name; "" = an account
	Players    int    `json:"players,omitempty"`    // of collections: all of that one, or those that were the same person
	Matches    int    `json:"matches"`              // deleted with their timelines
	Shared     int    `json:"shared"`               // of its list that stay, since another stored account has them
	Seats      int    `json:"seats"`                // of matches that stay: the player's seat has no name any more; 0 in a dry run
	Jobs       int    `json:"jobs"`                 // live and ended
	Attempts   int    `json:"attempts"`             // of those jobs
	Runs       int    `json:"runs"`                 // its syncs
	Reports    int    `json:"reports"`              // its play-time report, and the weekly ones that named it
	Ranks      int    `json:"ranks"`                // of its rank history
	Cancelled  int    `json:"cancelled"`            // waiting jobs that are cancelled first; part of Jobs
	Bytes      int64  `json:"bytes"`                // of payloads
	// Left names months of payloads that cannot be read, so that what they hold stays.
	Left []string `json:"left,omitempty"`
}

// Target names the account in the audit and to others.
func (d *ForgetDone) Target() string {
	switch {
	case d != nil && d.Collection != "":
		return "collection " + d.Collection
	case d == nil || d.Mask == "":
		return "an account"
	}
	return "account " + d.Mask + "…"
}

// Brief says in one row of a narrow screen what was deleted.
func (d ForgetDone) Brief() string {
	text := fmt.Sprintf("%s, %s, %s and %s were deleted",
		human.Counted(d.Matches, "match", "matches"), human.Counted(d.Jobs, "job", "jobs"),
		human.Counted(d.Reports, "report", "reports"), human.Bytes(d.Bytes))
	if len(d.Left) > 0 {
		text += "; damaged months keep theirs"
	}
	return text
}

// Text says it in words; dry: what would be.
func (d ForgetDone) Text(dry bool) string {
	did, cancelled := "were deleted", "cancelled"
	if dry {
		did, cancelled = "would be deleted", "would be cancelled"
	}
	reports := human.Counted(d.Reports, "report", "reports")
	if d.Collection != "" {
		reports = human.Counted(d.Players, "player", "players")
	}
	text := fmt.Sprintf("%s (%s shared with other accounts %s), %s, %s and %s of payloads %s",
		human.Counted(d.Matches, "match", "matches"), human.Count(int64(d.Shared)), stays(d.Shared),
		human.Counted(d.Jobs, "job", "jobs"), reports, human.Bytes(d.Bytes), did)
	if d.Collection == "" && d.Players > 0 {
		text += "; collections have them among their players no more, until they find them anew"
	}
	if d.Cancelled > 0 {
		text += fmt.Sprintf("; %s of the jobs %s first", human.Count(int64(d.Cancelled)), cancelled)
	}
	if len(d.Left) > 0 {
		text += "; what the damaged months " + strings.Join(d.Left, ", ") + " hold stays"
	}
	return text
}

func stays(n int) string {
	if n == 1 {
		return "stays"
	}
	return "stay"
}

// ForgetLeaves is what forgetting does not reach, for whoever must answer for it.
const ForgetLeaves = "the space is given back, but the old bytes are gone from the files only after `farsight compact`, on PostgreSQL after `vacuumdb --full`; backups, exports, the log, and audit entries from before keep what they have"

// Charged reports whether a is an attempt that counts: ended, and no hold.
func (a Attempt) Charged() bool { return a.Number > 0 && !a.End.IsZero() }

// Retry reports whether a is a retry: a charged attempt after the first one of its
// round that told something; and whether it was won, so that another was not
// needed. One that was cut off says nothing about the other side.
func (a Attempt) Retry() (retry, won bool) {
	told, won := a.Told()
	return told && a.Try > 1, won && a.Try > 1
}

// Told reports whether a is a charged attempt that told something of the other side, and
// whether it was won.
func (a Attempt) Told() (told, won bool) {
	if !a.Charged() || a.Try < 1 || a.Verb == VerbInterrupted || a.Verb == VerbAbort {
		return false, false
	}
	return true, a.Verb == VerbDone || a.Verb == VerbWait
}

// UTCDay names the UTC day of an instant as a DaySum does: 2026-11-21.
func UTCDay(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// CountEnded adds n jobs that ended in state s; other states count nothing.
func (d *DaySum) CountEnded(s State, n int64) {
	switch s {
	case Completed:
		d.Completed += n
	case Discarded:
		d.Discarded += n
	case Cancelled:
		d.Cancelled += n
	}
}

// CountAttempt adds n times an attempt that ended on the day; a hold counts
// nothing.
func (d *DaySum) CountAttempt(a Attempt, n int64) {
	if !a.Charged() {
		return
	}
	d.Attempts += n
	retry, won := a.Retry()
	if retry {
		d.Retries += n
	}
	if won {
		d.Won += n
	}
}

// Plus adds up two days' sums; the day stays d's.
func (d DaySum) Plus(o DaySum) DaySum {
	d.Completed += o.Completed
	d.Discarded += o.Discarded
	d.Cancelled += o.Cancelled
	d.Attempts += o.Attempts
	d.Retries += o.Retries
	d.Won += o.Won
	return d
}
