package alert

import (
	"maps"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// sums are what of the store's own sums the windows have counted. Those are written with each job, these
// once a minute: by the difference a start finds what a crash has taken from the windows.
type sums struct {
	Days    map[string]engine.DaySum `json:"days,omitempty"` // by UTC day: the last two
	Matches int64                    `json:"matches"`        // stored ones
	At      time.Time                `json:"at,omitzero"`    // up to when; zero = nobody has counted yet
}

// on counts on the day of an instant.
func (s *sums) on(at time.Time, count func(*engine.DaySum)) {
	if at.IsZero() {
		return // no day of the store has it either
	}
	if s.Days == nil {
		s.Days = map[string]engine.DaySum{}
	}
	d := s.Days[engine.UTCDay(at)]
	count(&d)
	s.Days[engine.UTCDay(at)] = d
}

// grown counts by how many the stored matches have become more or fewer: one that is fetched anew is no second.
func (m *Monitor) grown(at time.Time, stored int64) {
	if !m.sums.At.IsZero() {
		m.stored.change(at, int(stored-m.sums.Matches))
	}
	m.sums.Matches = stored
}

// CatchUp takes over the store's sums of the last days and of the matches before anything is folded. What
// they have more than the windows was committed after the last save, and counts at that instant.
func (m *Monitor) CatchUp(now time.Time, days []engine.DaySum, stored int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.grown(m.sums.At, stored)
	if m.began.IsZero() {
		m.began = now
	}
	known := map[string]engine.DaySum{}
	for _, d := range days {
		was := m.sums.Days[d.Day]
		if !m.sums.At.IsZero() {
			for _, lost := range []struct {
				r *ring
				n int64
			}{
				{m.completed, d.Completed - was.Completed}, {m.discarded, d.Discarded - was.Discarded},
				{m.cancelled, d.Cancelled - was.Cancelled}, {m.retries, d.Retries - was.Retries}, {m.won, d.Won - was.Won},
				// Whose attempts they were no sum says: most are of the jobs that ended with them.
				{m.charged, d.Attempts - was.Attempts}, {m.attempts, d.Attempts - was.Attempts},
			} {
				lost.r.change(m.sums.At, int(lost.n))
			}
		}
		day := d.Day
		d.Day = ""
		known[day] = d
	}
	m.sums.Days, m.sums.At = known, now
}

// copied shares nothing with s.
func (s *sums) copied(seen time.Time) sums {
	maps.DeleteFunc(s.Days, func(day string, _ engine.DaySum) bool { return day < engine.UTCDay(seen.AddDate(0, 0, -1)) })
	return sums{maps.Clone(s.Days), s.Matches, engine.Latest(s.At, seen)}
}
