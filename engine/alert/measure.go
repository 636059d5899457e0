package alert

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// sample is a rule's value for one subject at an instant.
type sample struct {
	subject  string
	value    float64
	limit    float64
	known    bool // false: too little was seen to judge
	evidence []engine.Evidence
}

// measures say how each measure is taken: one sample per subject.
var measures = map[measure]func(m *Monitor, r Rule, now time.Time) []sample{
	giveUps:     (*Monitor).giveUps,
	retriesWon:  (*Monitor).retriesWon,
	spike:       (*Monitor).spikes,
	unforeseen:  (*Monitor).unforeseen429,
	unavailable: (*Monitor).bursts,
	keyLife:     (*Monitor).keyLife,
	keyRefused:  (*Monitor).keyRefused,
	longHold:    (*Monitor).longHolds,
	silence:     (*Monitor).silence,
	queueAge:    (*Monitor).queueAges,
	writeTime:   (*Monitor).writeTimes,
	logDrops:    (*Monitor).logDrops,
	oddCalls:    (*Monitor).oddCalls,
	clockOff:    (*Monitor).clockOff,
}

// total is the one sample of a rule without subjects, with its trail.
func (m *Monitor) total(r Rule, value float64, known bool, now time.Time) []sample {
	return []sample{{value: value, limit: r.Limit, known: known, evidence: m.trails[r.Name].within(now, r.Window)}}
}

// giveUps is the share of finished jobs that have used up their attempts. With fewer than Min of them
// it is not known: one of two is no half.
func (m *Monitor) giveUps(r Rule, now time.Time) []sample {
	t := m.tallyOf(r.Kind)
	finished := t.completed.sum(now, r.Window, 0) + t.discarded.sum(now, r.Window, 0)
	share, ok := ratio(t.atMax.sum(now, r.Window, 0), finished)
	return m.total(r, share, ok && finished >= r.Min, now)
}

// retriesWon is the share of retries that succeeded, of at least Min.
func (m *Monitor) retriesWon(r Rule, now time.Time) []sample {
	t := m.tallyOf(r.Kind)
	retries := t.retries.sum(now, r.Window, 0)
	share, ok := ratio(t.won.sum(now, r.Window, 0), retries)
	return m.total(r, share, ok && retries >= r.Min, now)
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
		ring := t.statuses[status]
		var before []int
		for back := r.Window; back <= day; back += r.Window {
			before = append(before, ring.sum(now, r.Window, back))
		}
		out = append(out, sample{
			subject: status, value: float64(ring.sum(now, r.Window, 0)), limit: max(r.Limit, r.Factor*median(before)),
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
func median(values []int) float64 {
	n := len(values)
	if n == 0 {
		return 0
	}
	slices.Sort(values)
	return float64(values[(n-1)/2]+values[n/2]) / 2
}

// unforeseen429 counts the 429s that our own count did not expect.
func (m *Monitor) unforeseen429(r Rule, now time.Time) []sample {
	return m.total(r, float64(m.unforeseen.sum(now, r.Window, 0)), true, now)
}

// oddCalls counts telephone calls that ended with a status which is in no table.
func (m *Monitor) oddCalls(r Rule, now time.Time) []sample {
	return m.total(r, float64(m.odd.sum(now, r.Window, 0)), true, now)
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
	return m.total(r, at.Sub(now).Seconds(), m.read && !at.IsZero(), now)
}

// keyRefused is 1 while Riot refuses the key.
func (m *Monitor) keyRefused(r Rule, now time.Time) []sample {
	value := 0.0
	if m.reading.KeyRejected {
		value = 1
	}
	return m.total(r, value, m.read, now)
}

// longHolds are the waits that Riot asked for and that its word alone does not impose.
func (m *Monitor) longHolds(r Rule, now time.Time) (out []sample) {
	for _, h := range m.reading.Holds {
		out = append(out, sample{subject: strings.TrimSpace(h.Host + " " + h.Method), value: h.Until.Sub(now).Seconds(),
			limit: r.Limit, known: true})
	}
	return out
}

// clockOff is how far this machine's clock is from Riot's, where that is too far.
func (m *Monitor) clockOff(r Rule, now time.Time) []sample {
	return m.total(r, m.reading.ClockAhead.Abs().Seconds(), m.read, now)
}

// silence is one sample for all syncs, that of the one which was heard of longest ago; the evidence
// names each that is silent for too long.
func (m *Monitor) silence(r Rule, now time.Time) []sample {
	s := sample{limit: r.Limit, known: m.read}
	beats := slices.SortedFunc(slices.Values(m.reading.Syncing), func(a, b Beat) int { return a.Last.Compare(b.Last) })
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
// others all the time is not stuck, it is long.
func (m *Monitor) queueAges(r Rule, now time.Time) (out []sample) {
	for _, q := range m.reading.Queues {
		s := sample{subject: string(q.Name), limit: r.Limit, known: !q.Paused}
		if !q.OldestDue.IsZero() {
			s.value = max(now.Sub(engine.Latest(q.OldestDue, m.started[q.Name])).Seconds(), 0)
			s.evidence = []engine.Evidence{{At: q.OldestDue, Kind: "queue", ID: string(q.Name), Text: q.Why}}
		}
		out = append(out, s)
	}
	return out
}

// writeTimes are the times of writes as the last reading told them.
func (m *Monitor) writeTimes(r Rule, _ time.Time) (out []sample) {
	for _, store := range slices.Sorted(maps.Keys(m.reading.Writes)) {
		out = append(out, sample{subject: store, value: m.reading.Writes[store].Seconds(), limit: r.Limit, known: true})
	}
	return out
}

// logDrops counts the log lines that were lost.
func (m *Monitor) logDrops(r Rule, now time.Time) []sample {
	return m.total(r, float64(m.dropped.sum(now, r.Window, 0)), m.read, now)
}
