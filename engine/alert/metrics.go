package alert

import (
	"strconv"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// StatusOK is the status of an attempt that succeeded.
const StatusOK = "ok"

// Metrics are what the jobs and attempts of a window add up to (S2-9, S4-11).
type Metrics struct {
	Window    time.Duration `json:"window_ns"`
	Completed int           `json:"completed"`
	Discarded int           `json:"discarded"`
	Cancelled int           `json:"cancelled"`
	AtMax     int           `json:"at_max"` // of Discarded: had used up their attempts
	// MeanAttempts is per completed or discarded job, over all rounds; 0 without any.
	MeanAttempts float64 `json:"mean_attempts"`
	// A retry is a charged attempt after the first one of its round.
	Retries    int            `json:"retries"`
	RetriesWon int            `json:"retries_won"`
	Statuses   map[string]int `json:"statuses"` // ended attempts and holds, by how they ended
}

// Finished are the jobs that ended by themselves, well or not.
func (m Metrics) Finished() int { return m.Completed + m.Discarded }

// RetrySuccess is the share of retries that succeeded; ok is false without any.
func (m Metrics) RetrySuccess() (share float64, ok bool) { return ratio(m.RetriesWon, m.Retries) }

// GiveUps is the share of finished jobs that had used up their attempts; ok is
// false without any.
func (m Metrics) GiveUps() (share float64, ok bool) { return ratio(m.AtMax, m.Finished()) }

// FailureRate is the share of finished jobs that were discarded; ok is false
// without any.
func (m Metrics) FailureRate() (share float64, ok bool) { return ratio(m.Discarded, m.Finished()) }

func ratio(part, whole int) (float64, bool) {
	if whole <= 0 {
		return 0, false
	}
	return float64(part) / float64(whole), true
}

// Metrics sums up the last hour.
func (m *Monitor) Metrics(now time.Time) Metrics {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.metrics(now, reach)
}

func (m *Monitor) metrics(now time.Time, window time.Duration) Metrics {
	sum := func(r *ring) int { return r.sum(now, window, 0) }
	out := Metrics{
		Window: window, Completed: sum(m.completed), Discarded: sum(m.discarded), Cancelled: sum(m.cancelled),
		AtMax: sum(m.atMax), Retries: sum(m.retries), RetriesWon: sum(m.won), Statuses: map[string]int{},
	}
	if n := out.Finished(); n > 0 {
		out.MeanAttempts = float64(sum(m.attempts)) / float64(n)
	}
	for name, r := range m.statuses {
		if n := sum(r); n > 0 {
			out.Statuses[name] = n
		}
	}
	return out
}

// statusOf names how an attempt ended. told is false for one that was cut off: it
// says nothing about the other side.
func statusOf(a engine.Attempt) (status string, told bool) {
	switch a.Verb {
	case engine.VerbDone, engine.VerbWait:
		return StatusOK, true
	case engine.VerbInterrupted, engine.VerbAbort:
		return "", false
	}
	switch {
	case a.Class != "":
		return string(a.Class), true
	case a.Status != 0:
		return strconv.Itoa(a.Status), true
	case a.Hold != engine.HoldNone:
		return a.Hold.String(), true
	}
	return "error", true
}
