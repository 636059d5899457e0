package ui

import (
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/ui/keys"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// step is one thing that a newcomer tries. It is done when its key is pressed,
// wherever that is; nothing else is in the way.
type step struct {
	act  page.Action
	text string
}

// steps follow the questions of somebody who has just arrived.
var steps = []step{
	{keys.GoTo(page.ScreenJobs), "what waits, why, and when it will run"},
	{page.Open, "the selected job whole: its tries on one axis"},
	{keys.GoTo(page.ScreenLimits), "the windows as they fill, our count beside Riot's"},
	{keys.Freeze, "stop the view; the engine goes on"},
	{keys.Earlier, "step back through the last ten minutes"},
	{keys.Live, "back to live"},
	{keys.GoTo(page.ScreenAccounts), "the accounts: how far each is, and its end"},
	{page.Trigger, "sync an account; what it costs is said first"},
	{keys.Palette, "every command, screen, account and job by name"},
	{keys.Help, "every key of the screen you are on"},
}

// greeting is how long a newcomer is told where to begin.
const greeting = 5 * time.Minute

// tour is how far somebody is through the steps; at 0 there is no tour.
type tour struct {
	at    int // step, from 1
	ended bool
}

// did takes an action into account.
func (t *tour) did(a page.Action) {
	t.ended = false
	if t.at == 0 || steps[t.at-1].act != a {
		return
	}
	t.at++
	if t.at > len(steps) {
		*t = tour{ended: true}
	}
}

// tourItem begins the tour, or ends the one that is under way.
func (m *Model) tourItem() item {
	if m.tour.at > 0 {
		return item{name: "end the tour", do: func(m *Model, _ time.Time) tea.Cmd { m.tour = tour{}; return nil }}
	}
	return item{name: "tour", what: "the console in ten keys", do: func(m *Model, _ time.Time) tea.Cmd { m.tour = tour{at: 1}; return nil }}
}

// guide is what the message line says to somebody who is new here; "" = nothing.
func (m *Model) guide(now time.Time) part.Toast {
	if t := m.tourText(); t.Text != "" {
		return t
	}
	at := keys.On(m.page().Screen())
	if m.opt.Mine.fresh && now.Sub(m.started) < greeting {
		key := func(a page.Action) string { return m.keys.First(at, a) }
		return part.Toast{Word: "NEW", Text: "try: " + key(page.Trigger) + " sync · " + key(keys.GoTo(page.ScreenLimits)) + " limits · " + key(keys.Help) + " keys · " + m.keyed("{:tour}")}
	}
	return part.Toast{}
}

// tourBelow reports whether the line of hints has to show the tour: something else stands
// on the message line.
func (m *Model) tourBelow() bool {
	t := m.tourText()
	return t.Text != "" && (m.prompt != nil || m.toasts.top(m.opt.Location()).Text != "" || m.standing() != t)
}

// tourText is the step of the tour that comes next; "" = there is no tour.
func (m *Model) tourText() part.Toast {
	at := keys.On(m.page().Screen())
	switch {
	case m.tour.at > 0:
		s := steps[m.tour.at-1]
		key := m.keys.First(at, s.act)
		if key == "" { // the screen that was left has it
			key = m.keys.First(keys.OnPages, s.act)
		}
		return part.Toast{Word: "TOUR", Text: strconv.Itoa(m.tour.at) + "/" + strconv.Itoa(len(steps)) + "  press " + key + ": " + s.text}
	case m.tour.ended:
		return part.Toast{Word: "TOUR", Text: m.keyed("that was all: {:tour} goes round again")}
	}
	return part.Toast{}
}
