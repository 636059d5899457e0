package control

import (
	"context"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// maxDays is how many stored days one answer gives at most.
const maxDays = 400

// metrics puts together the window, the stored days and the queues as they are now.
func (f finder) metrics(ctx context.Context, q engine.MetricsQuery) (m engine.Metrics, err error) {
	if q.Days < 0 || q.Days > maxDays {
		return m, engine.Problemf(engine.ErrInvalid, "ask for at most 400", "metrics of %d days make no sense", q.Days)
	}
	now := time.Now()
	m = engine.Metrics{Kind: q.Kind, Since: now, Until: now, Statuses: map[string]int{}}
	if f.alerts != nil {
		if m, err = f.alerts.Metrics(q.Kind, q.Window); err != nil {
			return m, err
		}
	}
	if !q.Traffic {
		m.Traffic = nil
	}
	if q.Kind != "" { // days and queues are of all kinds
		return m, nil
	}
	// Days are stored and outlive the engine; the window is in the memory of this process.
	if m.Days, err = f.store.Days(ctx, q.Days, now); err != nil {
		return m, err
	}
	_, queues, _, err := f.live.status(ctx)
	if err != nil {
		return m, err
	}
	// Of the present and not of the window, of which nobody has kept the lengths.
	m.Waiting = map[engine.Queue]int{}
	for _, row := range queues {
		m.Waiting[row.Name] = waiting(row)
	}
	return m, nil
}

// waiting is a queue's length: its jobs that wait for their turn or their instant.
// One that waits for children has had its turn.
func waiting(q engine.QueueRow) int {
	return q.Counts[engine.Available] + q.Counts[engine.Scheduled] + q.Counts[engine.Retryable]
}
