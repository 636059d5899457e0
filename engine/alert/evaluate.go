package alert

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Evaluate judges every rule and gives its alerts: what fires first, then pending,
// acknowledged, silenced and ok, each in the order of the rules. A rule with
// nothing to tell gives one row that is ok, of several subjects the one nearest to
// the limit. Call it at least once a minute: a gap of more than two proves nothing,
// and what was pending waits anew.
func (m *Monitor) Evaluate(now time.Time) []engine.AlertRow {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now.Before(m.seen) {
		m.setBack(now)
	}
	m.seen = now
	if m.began.IsZero() || m.began.After(now) {
		m.began = now
	}
	m.tidy(now)
	for _, r := range m.rules {
		m.judge(r, now)
	}
	return m.rows(now)
}

// Rows gives the alerts as the last evaluation left them, with the acknowledgements
// and silences of now, in the order of Evaluate.
func (m *Monitor) Rows(now time.Time) []engine.AlertRow {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rows(now)
}

// Seen is the instant of the last evaluation; zero when there was none yet.
func (m *Monitor) Seen() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.seen
}

// rows are the alerts in the order of Evaluate. The lock is held.
func (m *Monitor) rows(now time.Time) []engine.AlertRow {
	rows := make([]engine.AlertRow, 0, len(m.rules))
	for _, r := range m.rules {
		rows = append(rows, m.rowsOf(r, now)...)
	}
	slices.SortStableFunc(rows, func(a, b engine.AlertRow) int { return cmp.Compare(rank[a.State], rank[b.State]) })
	return rows
}

// rank orders states by how much somebody is needed.
var rank = map[engine.AlertState]int{
	engine.AlertFiring: 0, engine.AlertPending: 1, engine.AlertAcknowledged: 2, engine.AlertSilenced: 3,
	engine.AlertOK: 4,
}

// setBack drops what lies in the future, now that the clock was set back: else it would be counted with
// what happens at those instants when they come again.
func (m *Monitor) setBack(now time.Time) {
	for _, r := range m.rings() {
		r.forget(now)
	}
	for id, t := range m.trails {
		m.trails[id] = slices.DeleteFunc(t, func(e engine.Evidence) bool { return e.At.After(now) })
	}
}

// judge takes a rule's samples and moves its alerts. An alert whose subject was
// not measured has nothing that holds. Of more subjects than maxSubjects those with the greatest values
// count: what is near its limit must not be lost among hosts that are well.
func (m *Monitor) judge(r Rule, now time.Time) {
	samples := measures[r.Measure](m, r, now)
	if len(samples) > maxSubjects {
		slices.SortStableFunc(samples, func(a, b sample) int { return cmp.Compare(b.value, a.value) })
		samples = samples[:maxSubjects]
	}
	measured := map[string]bool{}
	for _, s := range samples {
		a := m.alertOf(r.Name, s.subject)
		measured[s.subject] = true
		a.holding = r.holds(s) && !m.over(r, s.evidence, now)
		if a.holding && s.said != "" {
			e := engine.Evidence{At: now, Kind: "reading", ID: r.Name, Text: s.said}
			if len(a.last.evidence) > 0 { // an evaluation alone is no news
				e.At = a.last.evidence[0].At
			}
			s.evidence = []engine.Evidence{e}
		}
		if len(s.evidence) == 0 && a.State == engine.AlertFiring { // why it fires, until it ends
			s.evidence = a.last.evidence
		}
		a.last = s
	}
	for _, a := range m.of[r.Name] {
		if !measured[a.subject] {
			a.last, a.holding = sample{subject: a.subject, limit: cmp.Or(a.last.limit, r.Limit)}, false
		}
		a.step(a.holding, r.For, now)
		a.history.keep(now, a.last)
		if !measured[a.subject] && a.idle(now) {
			m.drop(a)
		}
	}
}

// Trouble that leaves no trace for so long is over, where what it is about succeeds again; or where nobody knows, because
// nothing of it is tried. That is longer than the delays of retries.
const (
	lately    = 2 * time.Minute
	longSince = 10 * time.Minute
)

// over reports whether a trouble that is counted over an hour has ended before the hour is over: for three times the median
// pause between its traces, which come latest first, there was none. The median, since two short troubles in an hour are
// not one long. Jobs that are given up stay so, until somebody retries them.
func (m *Monitor) over(r Rule, traces []engine.Evidence, now time.Time) bool {
	var well *ring
	switch t := m.tallyOf(r.Kind); r.Measure {
	case spike:
		well = t.completed
	case retriesWon:
		well = t.won
	default:
		return false
	}
	if len(traces) == 0 {
		return true
	}
	var pauses []time.Duration
	for i, e := range traces[1:] {
		pauses = append(pauses, traces[i].At.Sub(e.At))
	}
	least, age := longSince, now.Sub(traces[0].At)
	if well.sum(now, age, 0) > 0 {
		least = lately
	}
	return age > max(least, 3*median(pauses))
}

// rowsOf gives a rule's alerts that are worth telling, at least one row.
func (m *Monitor) rowsOf(r Rule, now time.Time) []engine.AlertRow {
	rows := make([]engine.AlertRow, 0, max(1, len(m.of[r.Name])))
	for _, a := range m.of[r.Name] {
		rows = append(rows, m.row(a, r, now))
	}
	if len(rows) == 0 {
		rows = append(rows, m.row(&alert{rule: r.Name, last: sample{limit: r.Limit}}, r, now))
	}
	return worth(rows)
}

// worth leaves out subjects that are ok, but for the one nearest to its limit when
// all of them are. rows must not be empty.
func worth(rows []engine.AlertRow) []engine.AlertRow {
	nearest := slices.MaxFunc(rows, func(a, b engine.AlertRow) int { return cmp.Compare(a.Value/a.Limit, b.Value/b.Limit) })
	rows = slices.DeleteFunc(rows, func(r engine.AlertRow) bool { return r.State == engine.AlertOK })
	if len(rows) == 0 {
		return []engine.AlertRow{nearest}
	}
	return rows
}

// tidy forgets statuses and hosts of which nothing is counted any more, so that their names make room for
// others. What speaks for an alert stays as long as the alert does.
func (m *Monitor) tidy(now time.Time) {
	empty := func(what measure) func(string, *ring) bool {
		return func(subject string, r *ring) bool {
			if !r.empty(now) {
				return false
			}
			for _, rule := range m.rules {
				if id := idOf(rule.Name, subject); rule.Measure == what && m.alerts[id] == nil {
					delete(m.trails, id)
				}
			}
			return true
		}
	}
	for _, t := range m.tallies() {
		maps.DeleteFunc(t.statuses, empty(spike))
		maps.DeleteFunc(t.lately, func(_ string, r *ring) bool { return r.empty(now) })
	}
	maps.DeleteFunc(m.unavailable, empty(unavailable))
}

// alertOf gives the alert of a rule and a subject, and makes it when it is asked for first. The zero life
// counts as ok since always.
func (m *Monitor) alertOf(rule, subject string) *alert {
	id := idOf(rule, subject)
	a, ok := m.alerts[id]
	if !ok {
		a = &alert{rule: rule, subject: subject}
		m.alerts[id] = a
		m.of[rule] = append(m.of[rule], a)
		slices.SortFunc(m.of[rule], func(a, b *alert) int { return cmp.Compare(a.subject, b.subject) })
	}
	return a
}

// drop forgets an alert with what spoke for it.
func (m *Monitor) drop(a *alert) {
	id := idOf(a.rule, a.subject)
	delete(m.alerts, id)
	m.of[a.rule] = slices.DeleteFunc(slices.Clone(m.of[a.rule]), func(o *alert) bool { return o == a }) // a copy: callers drop alerts while they range over the list
	delete(m.trails, id)
}

// row is the alert as a console shows it. A silence of the rule as a whole covers
// all its subjects.
func (m *Monitor) row(a *alert, r Rule, now time.Time) engine.AlertRow {
	out := engine.AlertRow{
		ID: idOf(r.Name, a.subject), Rule: r.Name, Severity: cmp.Or(r.Severity, engine.SeverityWarning), About: r.About, Subject: a.subject, Holds: a.holding,
		Unit: r.Unit, Value: a.last.value, Known: a.last.known, Limit: a.last.limit, Below: r.Below,
		AtLimit: r.Measure == spike,
		History: a.history.values(now), Evidence: slices.Clone(a.last.evidence), Next: r.Next,
	}
	mute := &a.life
	if whole, ok := m.alerts[r.Name]; ok && whole.Until.After(a.Until) {
		mute = &whole.life
	}
	out.State, out.Since = a.shown(mute, now)
	switch out.State {
	case engine.AlertSilenced:
		out.Until, out.By = mute.Until, mute.MuteBy
	case engine.AlertPending:
		out.Fires = a.Since.Add(r.For)
	case engine.AlertAcknowledged:
		out.By = a.AckBy
	}
	if !a.Clear.IsZero() {
		out.Clears = a.Clear.Add(r.For)
	}
	return out
}

// rings lists every window.
func (m *Monitor) rings() []*ring {
	all := slices.Collect(maps.Values(m.named()))
	for _, t := range m.tallies() {
		all = slices.AppendSeq(all, maps.Values(t.named()))
		all = slices.AppendSeq(all, maps.Values(t.statuses))
		all = slices.AppendSeq(all, maps.Values(t.lately))
	}
	return slices.AppendSeq(all, maps.Values(m.unavailable))
}

// history is a rule's value per five minutes, for the last hour. Cells have the number of their five minutes
// since 1970, from 1 on: 0 is a place that was never used. It is stored as it is.
type history struct {
	Cell  [historyCells]int64
	Value [historyCells]float64
}

const (
	historyCells = 12
	historyCell  = 5 * 60 // seconds
)

// keep keeps the latest value of a cell; -1 = not known.
func (h *history) keep(now time.Time, s sample) {
	cell := max(now.Unix(), 0)/historyCell + 1
	h.Cell[cell%historyCells], h.Value[cell%historyCells] = cell, -1
	if s.known {
		h.Value[cell%historyCells] = s.value
	}
}

// values gives them oldest first; nil when nothing was ever put.
func (h *history) values(now time.Time) (out []float64) {
	if *h == (history{}) {
		return nil
	}
	last := max(now.Unix(), 0)/historyCell + 1
	for cell := last - historyCells + 1; cell <= last; cell++ {
		v := -1.0
		if cell > 0 && h.Cell[cell%historyCells] == cell {
			v = h.Value[cell%historyCells]
		}
		out = append(out, v)
	}
	return out
}
