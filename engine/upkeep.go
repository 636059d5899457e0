package engine

import (
	"fmt"
	"time"
)

// Commands that look after the store while its engine runs. Both take as long as
// they take: minutes on a large store.
const (
	OpBackup Op = "backup" // copy the data directory, as Command.Backup says; Receipt.Backup tells
	OpPrune  Op = "prune"  // delete jobs that ended long ago, by the rule Command.Prune; Receipt.Prune tells
)

// BackupAsk says how to back up.
type BackupAsk struct {
	To        string `json:"to,omitempty"`         // folder of the backups, an absolute path; "" = backup/ in the data directory
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

// Text says it in words; dry: what would be.
func (d PruneDone) Text(dry bool) string {
	did := "were deleted"
	if dry {
		did = "would be deleted"
	}
	return fmt.Sprintf("%d completed and %d failed jobs %s, %d are still needed", d.Completed, d.Failed, did, d.Spared)
}
