package engine

import "time"

// AuditEntry is one operator command that was carried out or refused.
type AuditEntry struct {
	Seq     uint64    `json:"seq"`
	At      time.Time `json:"at"`
	By      Actor     `json:"by"`
	Op      Op        `json:"op"`
	Target  string    `json:"target"`
	Reason  string    `json:"reason,omitempty"`
	Result  string    `json:"result"`
	Matched int       `json:"matched"`
	Applied int       `json:"applied"`

	// What it changed, with how it stood before and after.
	Moves []JobMove  `json:"moves,omitempty"`
	Queue *QueueMove `json:"queue,omitempty"`

	Schedule *ScheduleMove `json:"schedule,omitempty"`
}
