package ui

import (
	"strconv"
	"time"

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

// greeting is for how long after the very first start somebody is told where to begin.
const greeting = 5 * time.Minute

// tour is how far somebody is through the steps. It stands on the message line and takes no key:
// whoever does something else goes on with it later.
type tour struct {
	at    int // step, from 1
	ended bool
}

// did takes an action into account.
func (t *tour) did(a page.Action) {
	t.ended = false
	// Any other key is no mistake: the step waits.
	if t.at == 0 || steps[t.at-1].act != a {
		return
	}
	t.at++
	if t.at > len(steps) {
		*t = tour{ended: true}
	}
}

// text is the step that comes next, with the keys of a screen; "" = there is no tour.
func (t *tour) text(k *keys.Map, at keys.Context, keyed func(string) string) part.Toast {
	switch {
	case t.at > 0:
		s := steps[t.at-1]
		key := k.First(at, s.act)
		if key == "" { // the screen that was left has it
			key = k.First(keys.OnPages, s.act)
		}
		return part.Toast{Word: "TOUR", Text: strconv.Itoa(t.at) + "/" + strconv.Itoa(len(steps)) + "  press " + key + ": " + s.text}
	case t.ended:
		return part.Toast{Word: "TOUR", Text: keyed("that was all: {:tour} goes round again")}
	}
	return part.Toast{}
}
