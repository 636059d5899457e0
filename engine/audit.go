package engine

import "time"

// AuditEntry is one operator command that was carried out or refused.
type AuditEntry struct {
	Seq     uint64    `json:"seq"` // its number, which undo takes
	At      time.Time `json:"at"`
	By      Actor     `json:"by"`
	Op      Op        `json:"op"`
	Target  string    `json:"target"` // what it was about, in words: "job b41"
	Reason  string    `json:"reason,omitempty"`
	Result  string    `json:"result"`
	Matched int       `json:"matched"` // how many it was about
	Applied int       `json:"applied"` // how many of these it has changed

	// What it changed, with how it stood before and after.
	Moves []JobMove  `json:"moves,omitempty"`
	Queue *QueueMove `json:"queue,omitempty"`

	Schedule *ScheduleMove `json:"schedule,omitempty"`
}
