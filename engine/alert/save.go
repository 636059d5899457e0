package alert

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// saved is a monitor as it is stored. What is read anew at each start, the
// reading and the sequence of calls, is not part of it. The numbers of cells are
// those of ring.number, so that a blob that is a day old fills no window of an hour.
//
//	{"version":1,"rings":{"completed":{"29921281":12}},"statuses":{"503":{"5984257":3}},
//	 "alerts":{"503":[{"subject":"europe","life":{"State":"firing",…},"value":3,"limit":2}]}}
type saved struct {
	Version int       `json:"version"`
	Seen    time.Time `json:"seen,omitzero"`
	Began   time.Time `json:"began,omitzero"`
	Sums    sums      `json:"sums,omitzero"`
	savedTally
	Kinds       map[engine.Kind]savedTally `json:"kinds,omitempty"`
	Ends        engine.Ends                `json:"ends,omitempty"`
	Unavailable map[string]cells           `json:"unavailable,omitempty"`
	Trails      map[string]trail           `json:"trails,omitempty"`
	Alerts      map[string][]storedAlert   `json:"alerts,omitempty"` // by rule
	// Started is when each queue began a job last.
	Started map[engine.Queue]time.Time `json:"started,omitempty"`
}

// savedTally is a tally as it is stored; the rings of that of all have those that are of
// no kind beside them.
type savedTally struct {
	Rings    map[string]cells `json:"rings,omitempty"`
	Statuses map[string]cells `json:"statuses,omitempty"`
	Lately   map[string]cells `json:"lately,omitempty"`
	Tries    map[string]cells `json:"tries,omitempty"`
}

// copied is the tally without what is empty.
func (t *tally) copied() savedTally {
	return savedTally{Rings: filled(t.named()), Statuses: filled(t.statuses), Lately: filled(t.lately),
		Tries: filled(t.tries)}
}

// fill takes over a saved tally, within the same bounds as what is counted here.
func (t *tally) fill(s savedTally) {
	for name, r := range t.named() {
		r.fill(s.Rings[name])
	}
	for name, c := range s.Statuses {
		ringOf(t.statuses, bounded(t.statuses, name, maxStatuses), perSpike, day+reach).fill(c)
	}
	for name, c := range s.Lately {
		ringOf(t.lately, bounded(t.lately, name, maxStatuses), perMinute, reach).fill(c)
	}
	for try := 1; try <= engine.TriesTold; try++ {
		made, won := tryNames(try)
		for _, name := range []string{made, won} {
			if c := s.Tries[name]; c != nil {
				ringOf(t.tries, name, perMinute, reach).fill(c)
			}
		}
	}
}

const savedVersion = 1

// cells are the counts of a ring that are not 0, by the number of the cell.
type cells map[int64]int

// storedAlert is an alert. Its id is not stored: it follows from the rule and the subject.
type storedAlert struct {
	Subject  string            `json:"subject,omitempty"`
	Life     life              `json:"life"`
	History  history           `json:"history"`
	Evidence []engine.Evidence `json:"evidence,omitempty"`
	// What was measured last, for those who only look.
	Value float64 `json:"value,omitempty"`
	Known bool    `json:"known,omitempty"`
	Limit float64 `json:"limit,omitempty"`
	Holds bool    `json:"holds,omitempty"`
}

// Save gives the monitor as a blob for Load: some kilobytes. It is encoded outside
// of the lock: a commit must not wait for that.
func (m *Monitor) Save() ([]byte, error) {
	blob, err := json.Marshal(m.copied())
	if err != nil {
		return nil, fmt.Errorf("encode the alerts: %w", err)
	}
	return blob, nil
}

// copied shares nothing with the monitor that it changes later.
func (m *Monitor) copied() saved {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := saved{
		Version: savedVersion, Seen: m.seen, Began: m.began, Sums: m.sums.copied(m.seen), Trails: map[string]trail{},
		savedTally: m.tally.copied(), Unavailable: filled(m.unavailable), Kinds: map[engine.Kind]savedTally{},
		Ends:   maps.Clone(m.ends),
		Alerts: map[string][]storedAlert{}, Started: maps.Clone(m.started),
	}
	maps.Copy(s.Rings, filled(m.named()))
	for kind, t := range m.kinds {
		s.Kinds[kind] = t.copied()
	}
	for id, t := range m.trails {
		s.Trails[id] = slices.Clone(t)
	}
	for _, r := range m.rules {
		for _, a := range m.of[r.Name] {
			s.Alerts[r.Name] = append(s.Alerts[r.Name], storedAlert{
				Subject: a.subject, Life: a.life, History: a.history, Evidence: slices.Clone(a.last.evidence),
				Value: a.last.value, Known: a.last.known, Limit: a.last.limit, Holds: a.holding,
			})
		}
	}
	return s
}

// Load takes over what Save gave, also from a process with other rules: what fits
// none is left out. It belongs before anything is folded. On an error the monitor
// is as it was.
func (m *Monitor) Load(blob []byte) error {
	var s saved
	if err := json.Unmarshal(blob, &s); err != nil {
		return fmt.Errorf("decode the alerts: %w", err)
	}
	if s.Version != savedVersion {
		return fmt.Errorf("decode the alerts: version %d is not known", s.Version)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen, m.began, m.sums = s.Seen, s.Began, s.Sums
	maps.Copy(m.started, s.Started)
	for name, r := range m.named() {
		r.fill(s.Rings[name])
	}
	m.tally.fill(s.savedTally)
	for kind, saved := range s.Kinds {
		if all := m.each(kind); len(all) > 1 {
			all[1].fill(saved)
		}
	}
	maps.Copy(m.ends, s.Ends)
	for name, c := range s.Unavailable {
		ringOf(m.unavailable, bounded(m.unavailable, name, maxHosts), perBurst, time.Minute).fill(c)
	}
	for _, r := range m.rules {
		for _, a := range s.Alerts[r.Name] {
			m.restore(r, a)
		}
		m.restoreTrails(r, s.Trails)
	}
	return nil
}

// restore takes over one alert, if it is one that step knows.
func (m *Monitor) restore(r Rule, from storedAlert) {
	switch from.Life.State {
	case "", engine.AlertOK, engine.AlertPending, engine.AlertFiring:
	default:
		return
	}
	if len(m.of[r.Name]) >= maxSubjects {
		return
	}
	a := m.alertOf(r.Name, from.Subject)
	a.life, a.history, a.holding = from.Life, from.History, from.Holds
	a.last = sample{
		subject: from.Subject, value: from.Value, known: from.Known, limit: cmp.Or(from.Limit, r.Limit),
		evidence: from.Evidence[:min(len(from.Evidence), maxTrail)],
	}
}

// restoreTrails takes over the evidence of a rule's subjects.
func (m *Monitor) restoreTrails(r Rule, trails map[string]trail) {
	subjects := map[string]bool{"": true}
	for name := range m.statuses {
		subjects[name] = true
	}
	for name := range m.unavailable {
		subjects[name] = true
	}
	for subject := range subjects {
		id := idOf(r.Name, subject)
		if t := trails[id]; len(t) > 0 {
			m.trails[id] = t[max(len(t)-maxTrail, 0):]
		}
	}
}

// named are the rings that are always there, and of no kind of jobs.
func (m *Monitor) named() map[string]*ring {
	return map[string]*ring{
		"unforeseen": m.unforeseen, "dropped": m.dropped, "odd_calls": m.odd, "calls": m.calls,
		"throttled": m.throttled, "stored": m.stored,
	}
}

// named are the rings that a tally always has.
func (t *tally) named() map[string]*ring {
	return map[string]*ring{
		"completed": t.completed, "discarded": t.discarded, "cancelled": t.cancelled, "at_max": t.atMax,
		"attempts": t.attempts,
		"charged":  t.charged, "retries": t.retries, "won": t.won,
	}
}

// filled are the rings in which something is counted.
func filled(rings map[string]*ring) map[string]cells {
	out := map[string]cells{}
	for name, r := range rings {
		if c := r.filled(); len(c) > 0 {
			out[name] = c
		}
	}
	return out
}

// fill puts saved cells in place of what is counted. A count that no ring can hold is left out.
func (r *ring) fill(c cells) {
	clear(r.stamp)
	clear(r.count)
	for cell, n := range c {
		if cell > 0 && n > 0 {
			r.addTo(cell, min(n, 1<<30))
		}
	}
}
