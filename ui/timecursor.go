package ui

import (
	"slices"
	"sort"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/page"
)

// backFor is how far back a frozen view can step, in steps of a second.
const backFor = 10 * time.Minute

// Steps of the time cursor.
const (
	shortStep = time.Second
	longStep  = 10 * time.Second
)

// moments are how the engine stood, at most one per second, the oldest first.
type moments []engine.Moment

// add keeps the first moment of each second of the last ten minutes. What it
// holds is shared with the rows: a moment costs its own few words.
func (m moments) add(d *page.Data, now time.Time) moments {
	if n := len(m); n > 0 && now.Sub(m[n-1].At) < shortStep && !now.Before(m[n-1].At) {
		return m
	}
	m = append(m, engine.Moment{At: now, Engine: d.Engine, Queues: d.Queues, Limits: d.Limits})
	if n := m.before(now.Add(-backFor)); n > 0 && n >= len(m)/4 {
		m = slices.Clone(m[n:])
	}
	return m
}

// before is how many moments are older than an instant.
func (m moments) before(at time.Time) int {
	return sort.Search(len(m), func(i int) bool { return !m[i].At.Before(at) })
}

// at is the last moment that is not after an instant, to the second: the step that
// an instant falls in shows it.
func (m moments) at(at time.Time) (engine.Moment, bool) {
	n := sort.Search(len(m), func(i int) bool { return m[i].At.After(at) })
	if n == 0 {
		return engine.Moment{}, false
	}
	return m[n-1], true
}

// with takes what the engine itself recorded in: it knows more than a console
// that was opened a minute ago. This console's own fill the seconds it lacks.
func (m moments) with(engines []engine.Moment) moments {
	if len(engines) == 0 {
		return m
	}
	out := slices.Clone(moments(engines))
	sort.SliceStable(out, func(i, j int) bool { return out[i].At.Before(out[j].At) })
	known := len(out)
	for _, own := range m {
		n := moments(out[:known]).before(own.At.Add(-shortStep))
		if n < known && out[n].At.Sub(own.At) <= shortStep {
			continue
		}
		out = append(out, own)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].At.Before(out[j].At) })
	return out
}

// timeCursor is where a frozen view stands in the last ten minutes.
type timeCursor struct {
	gen     int // counts the freezes
	held    page.Data
	from    time.Time // of the freeze
	moments moments
	asked   bool // the engine's own record is on its way
}

// remembered is the engine's own record of the last minutes.
type remembered struct {
	gen    int
	answer engine.Answer
	err    error
}

// freeze holds the view where it is, or lets it go. The engine never stops.
func (m *Model) freeze(now time.Time) tea.Cmd {
	if m.frozen != nil {
		return m.thaw(now)
	}
	held := m.rows.Data
	m.frozen, m.since, m.changes = &held, now, 0
	m.then = timeCursor{gen: m.then.gen + 1, held: held, from: now, moments: slices.Clone(m.seen), asked: true}
	return m.askMoments(now)
}

func (m *Model) askMoments(now time.Time) tea.Cmd {
	console, ctx, gen := m.console, m.ctx, m.then.gen
	return func() tea.Msg {
		a, err := console.Find(ctx, engine.MomentsQuery{From: now.Add(-backFor), To: now})
		return remembered{gen, a, err}
	}
}

// takeMoments adds the engine's record to the console's own. Without it the
// console goes back as far as it saw by itself.
func (m *Model) takeMoments(r remembered) {
	if m.frozen == nil || r.gen != m.then.gen {
		return
	}
	m.then.asked = false
	a, ok := r.answer.(engine.MomentsAnswer)
	if r.err != nil || !ok {
		return
	}
	fit := slices.DeleteFunc(slices.Clone(a.Moments), func(x engine.Moment) bool { return x.At.After(m.then.from) })
	m.then.moments = m.then.moments.with(fit)
}

func (m *Model) thaw(time.Time) tea.Cmd {
	m.frozen, m.changes = nil, 0
	m.then = timeCursor{gen: m.then.gen}
	return nil
}

// stepper is an action that moves the time cursor.
func stepper(by time.Duration) func(m *Model, now time.Time) tea.Cmd {
	return func(m *Model, now time.Time) tea.Cmd {
		m.step(by, now)
		return nil
	}
}

// step moves the time cursor, and with it the cursor of a page that stands on an
// instant.
func (m *Model) step(by time.Duration, now time.Time) {
	if m.frozen == nil && m.neighbour(by, now) {
		return
	}
	if m.frozen == nil {
		m.say(m.keyed("{freeze} freezes the view first; then {second back} and {second on} step through the last ten minutes, {ten seconds back} and {ten seconds on} by ten seconds"))
		return
	}
	at, ok := m.reach(m.since.Add(by))
	if !ok {
		m.say(m.edgeOfTime(by))
		return
	}
	m.seek(at)
	if p, ok := m.page().(page.Timed); ok {
		p.ToInstant(m.view(now), m.since)
	}
}

// reach is the instant that a step to at comes to; false when it leads nowhere.
func (m *Model) reach(at time.Time) (time.Time, bool) {
	if len(m.then.moments) == 0 {
		return at, false
	}
	first := m.then.moments[0].At
	if oldest := m.then.from.Add(-backFor); oldest.After(first) {
		first = oldest
	}
	switch {
	case at.Before(first):
		at = first
	case at.After(m.then.from):
		at = m.then.from
	}
	return at, !at.Equal(m.since) && !at.After(m.then.from)
}

// edgeOfTime says why a step leads nowhere.
func (m *Model) edgeOfTime(by time.Duration) string {
	switch {
	case by > 0:
		return m.keyed("this is where the view was frozen: {live} goes back to live")
	case m.then.asked:
		return "the record of the last ten minutes is still being read"
	}
	return "there is no older record: it goes back ten minutes at most"
}

// seek shows counters, queues and limits as they stood at an instant. Lists stay
// as they were at the freeze: what a job was a minute ago is in its history.
func (m *Model) seek(at time.Time) {
	d := m.then.held
	if x, ok := m.then.moments.at(at); ok && at.Before(m.then.from) {
		d.Engine, d.Queues, d.Limits = x.Engine, x.Queues, x.Limits
	}
	m.frozen, m.since = &d, at.In(m.opt.Location())
}

// followPage moves the time cursor to where the cursor of a page stands.
func (m *Model) followPage(before time.Time, now time.Time) {
	if m.frozen == nil {
		return
	}
	at, ok := m.instant(now)
	if !ok || at.Equal(before) {
		return
	}
	if at.After(m.then.from) {
		at = m.then.from
	}
	m.seek(at)
}

// instant is where the cursor of the page on top stands, if it has a time.
func (m *Model) instant(now time.Time) (time.Time, bool) {
	p, ok := m.page().(page.Timed)
	if !ok || m.frozen == nil {
		return time.Time{}, false
	}
	return p.Instant(m.view(now))
}

// frozenText is what the last row of the page says of a frozen view.
func (m *Model) frozenText() string {
	g := m.theme.Glyphs
	sep := " " + g.Sep + " "
	text := m.theme.State("FROZEN").Glyph + " FROZEN " + m.since.Format("15:04:05")
	if back := m.then.from.Sub(m.since); back >= shortStep {
		text += ", " + human.Dur(back.Round(shortStep)) + " back" + sep + "lists as of " + m.then.from.Format("15:04:05")
	}
	return text + sep + m.keyed("{second back} {second on} step") + sep + m.keyed("{live} live")
}
