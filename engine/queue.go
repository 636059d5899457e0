package engine

import "time"

// QueueState is a queue's pause switch.
type QueueState struct {
	Name   Queue     `json:"name"`
	Paused bool      `json:"paused"`
	By     Actor     `json:"by,omitzero"`
	Since  time.Time `json:"since,omitzero"` // of the last pause or resume
	Reason string    `json:"reason,omitempty"`
}

// Pause is why nothing of a paused queue begins: "queue paused by ana".
func (q QueueState) Pause() string {
	if q.By.User == "" {
		return "queue paused"
	}
	return "queue paused by " + q.By.User
}

// QueueRow is one queue with its counts.
type QueueRow struct {
	QueueState
	Counts    map[State]int `json:"counts"`              // live jobs, and the discarded ones that are kept
	Again     int           `json:"again,omitempty"`     // available for another try; part of Counts[Available]
	Held      int           `json:"held"`                // scheduled with a hold; part of Counts[Scheduled]
	PerMin    float64       `json:"per_min"`             // jobs settled
	OldestDue time.Time     `json:"oldest_due,omitzero"` // since when the first in line may run; zero = nobody waits
	Why       string        `json:"why,omitempty"`       // why its head does not start
	Until     time.Time     `json:"until,omitzero"`      // when Why ends; zero = nobody knows
	// nothing of what waits may start: what keeps it; "" = nothing does
	Stand Stand `json:"stand,omitempty"`
}

// Retrying is how many jobs wait for another try, see Job.Retrying.
func (q *QueueRow) Retrying() int { return q.Counts[Retryable] + q.Again }
