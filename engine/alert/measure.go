package alert

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
)

// sample is a rule's value for one subject at an instant.
type sample struct {
	subject  string
	value    float64
	limit    float64
	known    bool // false: too little was seen to judge
	evidence []engine.Evidence
	said     string // speaks for what is read, not counted
}

// take is how a measure is taken.
type take = func(m *Monitor, r Rule, now time.Time) []sample

// measures say how each measure is taken: one sample per subject.
var measures = map[measure]take{
	giveUps:     (*Monitor).giveUps,
	retriesWon:  (*Monitor).retriesWon,
	spike:       (*Monitor).spikes,
	unforeseen:  counted(func(c *counts) *ring { return c.unforeseen }),
	unavailable: (*Monitor).bursts,
	keyLife:     (*Monitor).keyLife,
	keyRefused:  while(func(r *Reading) (bool, string) { return r.KeyRejected, r.Cause }),
	longHold:    (*Monitor).longHolds,
	silence:     (*Monitor).silence,
	queueAge:    (*Monitor).queueAges,
	writeTime:   (*Monitor).writeTimes,
	logDrops:    (*Monitor).logDrops,
	oddCalls:    counted(func(c *counts) *ring { return c.odd }), // that ended with a status which is in no table
	clockOff:    (*Monitor).clockOff,
	freeRoom:    (*Monitor).freeRoom,
	noWrites:    while(func(r *Reading) (bool, string) { return r.Stopped != "", r.Stopped }),
	cutOff:      while(func(r *Reading) (bool, string) { return r.State == engine.EngineDegraded, r.Cause }), // no call leaves this machine
	outage:      (*Monitor).outages,
	noBackup:    while(func(r *Reading) (bool, string) { return r.Backup != "", r.Backup }), // since a scheduled one has failed
	lost:        (*Monitor).lost,
}

// total is the one sample of a rule without subjects, with its trail.
func (m *Monitor) total(r Rule, value float64, known bool, now time.Time) []sample {
	return []sample{{value: value, limit: r.Limit, known: known, evidence: m.trails[r.Name].within(now, r.Window)}}
}

// counted is how many events a ring has in the rule's window.
func counted(of func(c *counts) *ring) take {
	return func(m *Monitor, r Rule, now time.Time) []sample {
		return m.total(r, float64(of(&m.counts).sum(now, r.Window, 0)), true, now)
	}
}

// while is 1 as long as something is so by the reading, and what it says for itself.
func while(so func(r *Reading) (is bool, said string)) take {
	return func(m *Monitor, r Rule, now time.Time) []sample {
		value := 0.0
		is, said := so(&m.reading)
		if is {
			value = 1
		}
		s := m.total(r, value, m.read, now)
		s[0].said = said
		return s
	}
}

// giveUps is the share of finished jobs that have used up their attempts. With fewer than Min of them
// it is not known: one of two is no half.
func (m *Monitor) giveUps(r Rule, now time.Time) []sample {
	sum := func(of func(*tally) *ring) int { return m.sum(r, of, now, 0) }
	finished := sum(func(t *tally) *ring { return t.completed }) + sum(func(t *tally) *ring { return t.discarded })
	share, ok := ratio(sum(func(t *tally) *ring { return t.atMax }), finished)
	return m.total(r, share, ok && finished >= r.Min, now)
}

// retriesWon is the share of retries that succeeded, of at least Min.
func (m *Monitor) retriesWon(r Rule, now time.Time) []sample {
	retries := m.sum(r, func(t *tally) *ring { return t.retries }, now, 0)
	share, ok := ratio(m.sum(r, func(t *tally) *ring { return t.won }, now, 0), retries)
	return m.total(r, share, ok && retries >= r.Min, now)
}

// sum counts what a rule looks at in a window so much earlier. Telephone calls have a rule of their own, and count in no
// other.
func (m *Monitor) sum(r Rule, of func(*tally) *ring, now time.Time, back time.Duration) int {
	n := of(m.tallyOf(r.Kind)).sum(now, r.Window, back)
	if r.Kind == "" {
		n -= of(m.tallyOf(engine.KindCall)).sum(now, r.Window, back)
	}
	return n
}

// spikes compares each failure's count of the last window with the median of the
// 24 hours before it, in windows of the same length. What nobody watched counts as
// none: on the first day the least count alone decides.
//
//	503   4 an hour by the median of the day, 14 in the last hour   limit 3 × 4 = 12: it holds
//	404   1 an hour, 5 in the last hour                             limit 10, the least count: it does not
func (m *Monitor) spikes(r Rule, now time.Time) (out []sample) {
	t := m.tallyOf(r.Kind)
	for _, status := range slices.Sorted(maps.Keys(t.statuses)) {
		if engine.Succeeded(status) || ours[status] {
			continue
		}
		of := func(t *tally) *ring { return t.statuses[status] }
		var before []float64
		for back := r.Window; back <= day; back += r.Window {
			before = append(before, float64(m.sum(r, of, now, back)))
		}
		out = append(out, sample{
			subject: status, value: float64(m.sum(r, of, now, 0)), limit: max(r.Limit, r.Factor*median(before)),
			known:    true,
			evidence: m.trails[idOf(r.Name, status)].within(now, r.Window),
		})
	}
	return out
}

// ours are the statuses of attempts that the engine itself sent back before the other
// side said anything: what stopped them is told by the engine's state.
var ours = map[string]bool{engine.HoldKeyInvalid.String(): true, engine.HoldLocalNetwork.String(): true,
	engine.HoldDiskFull.String(): true, engine.HoldFrozen.String(): true}

// median of an even number of values is the mean of the middle two.
func median[T float64 | time.Duration](values []T) T {
	n := len(values)
	if n == 0 {
		return 0
	}
	slices.Sort(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// bursts counts the 503s of each host. Its rings hold a minute, whatever the rule's window.
func (m *Monitor) bursts(r Rule, now time.Time) (out []sample) {
	for _, host := range slices.Sorted(maps.Keys(m.unavailable)) {
		out = append(out, sample{
			subject: host, value: float64(m.unavailable[host].sum(now, min(r.Window, time.Minute), 0)), limit: r.Limit,
			known:    true,
			evidence: m.trails[idOf(r.Name, host)].within(now, r.Window),
		})
	}
	return out
}

// keyLife is how many seconds the key still has; not known where nobody has told when it expires.
func (m *Monitor) keyLife(r Rule, now time.Time) []sample {
	at := m.reading.KeyExpires
	s := m.total(r, at.Sub(now).Seconds(), m.read && !at.IsZero(), now)
	s[0].said = "the key expires at " + human.Stamp(at)
	return s
}

// freeRoom is what the disk still takes. When that is too little to go on, disk-full says so.
func (m *Monitor) freeRoom(r Rule, now time.Time) []sample {
	s := m.total(r, float64(m.reading.Free), m.reading.Free > 0 && m.reading.Stopped == "", now)
	s[0].said = human.Bytes(m.reading.Free) + " are free"
	return s
}

// outages are the endpoints that are down.
func (m *Monitor) outages(r Rule, now time.Time) (out []sample) {
	for _, b := range m.reading.Down {
		out = append(out, sample{subject: b.Host + " " + b.Method, value: now.Sub(b.Since).Seconds(), limit: r.Limit, known: true,
			said: b.Outage()})
	}
	return out
}

// lost are the members that left without a word in the last hour, and that no later one of their host replaces.
func (m *Monitor) lost(r Rule, _ time.Time) (out []sample) {
	for _, gone := range m.reading.Members {
		if gone.Alive() || gone.Silent > time.Hour || slices.ContainsFunc(m.reading.Members, func(o engine.MemberRow) bool {
			return o.Alive() && o.Host == gone.Host && o.Since.After(gone.Seen)
		}) {
			continue
		}
		out = append(out, sample{subject: gone.ID, value: gone.Silent.Seconds(), limit: r.Limit, known: true,
			said: "member " + gone.ID + " on " + gone.Host + " gives no sign of life"})
	}
	return out
}

// longHolds are the waits that Riot asked for and that its word alone does not impose.
func (m *Monitor) longHolds(r Rule, now time.Time) (out []sample) {
	for _, h := range m.reading.Holds {
		out = append(out, sample{subject: strings.TrimSpace(h.Host + " " + h.Method), value: h.Until.Sub(now).Seconds(),
			limit: r.Limit, known: true, said: h.Why})
	}
	return out
}

// clockOff is how far this machine's clock is from Riot's, where that is too far.
func (m *Monitor) clockOff(r Rule, now time.Time) []sample {
	s := m.total(r, m.reading.ClockAhead.Abs().Seconds(), m.read, now)
	s[0].said = "this machine's clock is " + human.Span(m.reading.ClockAhead.Abs()) + " behind Riot's"
	if m.reading.ClockAhead < 0 {
		s[0].said = strings.Replace(s[0].said, "behind", "ahead of", 1)
	}
	return s
}

// silence is one sample for all syncs, that of the one which was heard of longest ago; the evidence
// names each that is silent for too long.
func (m *Monitor) silence(r Rule, now time.Time) []sample {
	s := sample{limit: r.Limit, known: m.read}
	beats := slices.SortedStableFunc(slices.Values(m.reading.Syncing), func(a, b Beat) int { return a.Last.Compare(b.Last) })
	for i, b := range beats {
		age := now.Sub(b.Last).Seconds()
		if i == 0 {
			s.value = max(age, 0)
		}
		if age > r.Limit && len(s.evidence) < maxTrail {
			s.evidence = append(s.evidence, engine.Evidence{At: b.Last, Kind: "account", ID: b.Account, Text: b.Name})
		}
	}
	return []sample{s}
}

// queueAges is how long each queue has had work and begun none: a queue with an old job that starts
// others all the time is not stuck, it is long. What keeps the whole engine from working is told by its state.
func (m *Monitor) queueAges(r Rule, now time.Time) (out []sample) {
	for _, q := range m.reading.Queues {
		s := sample{subject: string(q.Name), limit: r.Limit, known: !q.Paused && !still[m.reading.State]}
		if !q.OldestDue.IsZero() {
			s.value = max(now.Sub(engine.Latest(q.OldestDue, m.started[q.Name])).Seconds(), 0)
			s.evidence = []engine.Evidence{{At: q.OldestDue, Kind: "queue", ID: string(q.Name), Text: q.Why}}
			if m.reading.State != engine.EngineLive {
				s.evidence[0].Text = cmp.Or(m.reading.Cause, q.Why)
			}
		}
		out = append(out, s)
	}
	return out
}

// still are the states in which nothing is begun.
var still = map[engine.EngineState]bool{engine.EngineNoKey: true, engine.EngineDegraded: true, engine.EnginePaused: true,
	engine.EngineOpening: true, engine.EngineStopping: true}

// writeTimes are the times of writes as the last reading told them.
func (m *Monitor) writeTimes(r Rule, _ time.Time) (out []sample) {
	for _, store := range slices.Sorted(maps.Keys(m.reading.Writes)) {
		out = append(out, sample{subject: store, value: m.reading.Writes[store].Seconds(), limit: r.Limit, known: true,
			said: "a write to " + store + " takes " + human.Millis(m.reading.Writes[store])})
	}
	return out
}

// logDrops counts the log lines that were lost.
func (m *Monitor) logDrops(r Rule, now time.Time) []sample {
	n := m.dropped.sum(now, r.Window, 0)
	s := m.total(r, float64(n), m.read, now)
	s[0].said = human.Counted(n, "line", "lines") + " of the log could not be written in time"
	return s
}
