package alert

import (
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// maxWindow is the longest window that Metrics can sum up.
const maxWindow = reach

// Metrics sums up a window that ends with the present minute, in whole minutes, at most maxWindow (S2-9, S4-11), of the
// jobs of one kind; "" = of all. Waiting and Days are not the monitor's to know.
func (m *Monitor) Metrics(kind engine.Kind, now time.Time, window time.Duration) engine.Metrics {
	window = min(max(window.Round(perMinute), perMinute), maxWindow)
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tallyOf(kind)
	sum := func(r *ring) int { return r.sum(now, window, 0) }
	out := engine.Metrics{
		Kind: kind, Since: now.Truncate(perMinute).Add(perMinute - window), Until: now,
		Completed: sum(t.completed), Discarded: sum(t.discarded), Cancelled: sum(t.cancelled), AtMax: sum(t.atMax),
		Retries: sum(t.retries), RetriesWon: sum(t.won), Statuses: map[string]int{},
	}
	out.Traffic = m.traffic(now)
	finished := out.Completed + out.Discarded
	out.PerMin = float64(finished) / window.Minutes()
	out.MeanAttempts, _ = ratio(sum(t.attempts), finished)
	out.FailureRate, _ = ratio(out.Discarded, finished)
	out.RetryRate, _ = ratio(out.Retries, sum(t.charged))
	out.RetrySuccess, _ = ratio(out.RetriesWon, out.Retries)
	out.Tries = tries(t, sum)
	for name, r := range t.lately {
		if n := sum(r); n > 0 {
			out.Statuses[name] = n
		}
	}
	return out
}

// tries are the attempts of each try up to the last one that was made.
func tries(t *tally, sum func(*ring) int) (out []engine.TryCount) {
	for try := engine.TriesTold; try > 0; try-- {
		made, won := tryNames(try)
		if c := (engine.TryCount{Made: sum(t.tries[made]), Won: sum(t.tries[won])}); c.Made > 0 || len(out) > 0 {
			out = append(out, c)
		}
	}
	slices.Reverse(out)
	return out
}

// traffic gives the spans of the last day in which something was counted.
func (m *Monitor) traffic(now time.Time) (out []engine.TrafficSpan) {
	const span = engine.TrafficEvery
	if m.began.IsZero() {
		return nil
	}
	last := now.Truncate(span)
	at := last.Add(span - day)
	if from := m.began.Truncate(span); from.After(at) {
		at = from
	}
	for ; !at.After(last); at = at.Add(span) {
		out = append(out, m.span(at))
	}
	return out
}

// Present is the half hour that has begun, as far as it was folded; so many matches are stored, of which not each was.
func (m *Monitor) Present(now time.Time, stored int64) engine.TrafficSpan {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.grown(now, stored)
	return m.span(now.Truncate(engine.TrafficEvery))
}

// span is the half hour that begins at an instant.
func (m *Monitor) span(at time.Time) engine.TrafficSpan {
	sum := func(r *ring) int { return r.sum(at, engine.TrafficEvery, 0) }
	return engine.TrafficSpan{At: at, Calls: sum(m.calls), Throttled: sum(m.throttled), Stored: sum(m.stored)}
}

// ratio is part of whole; ok is false, and the ratio 0, when there is no whole.
func ratio(part, whole int) (share float64, ok bool) {
	if whole <= 0 {
		return 0, false
	}
	return float64(part) / float64(whole), true
}
