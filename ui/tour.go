package ui

import (
	"strconv"
	"time"

	"github.com/farsight-console/farsight/ui/keys"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// card is one thing that a newcomer is shown, where it is.
type card struct {
	on     page.Screen
	at     string   // words of the screen that it points at; "" = the row of keys
	before []string // words of what follows, which the card covers: the first that stand there; nil = it lies beside at
	title  string
	text   string // with keys in braces, see model.keyed
}

// cards follow the questions of somebody who has just arrived.
var cards = []card{
	{
		page.ScreenOverview, "now  ", []string{"DEPARTURES", "TIMETABLE"}, "SOLID, NOW, DOTS",
		"Solid is what was done, the bright column is now, dots are what is planned. It is so in every chart.",
	},
	{
		page.ScreenOverview, "DEPARTURES", []string{"SO FAR", "ARRIVALS"}, "THE NEXT CALLS",
		"In the order in which they leave, below the last ones with what became of them. {open} opens one.",
	},
	{
		page.ScreenOverview, "STATE", nil, "THE STATE",
		"How all of it stands, in one word, and in a sentence why it is not faster. Its colour is that of the screen.",
	},
	{
		page.ScreenJobs, "WHY", nil, "WHY IT WAITS",
		"Of the selected job: what it waits for, until when, and what a key would change.",
	},
	{
		page.ScreenLimits, "RIOT SAYS", []string{"NEXT "}, "WHAT THE KEY ALLOWS",
		"The windows as they fill, our count beside Riot's own, and when each begins anew.",
	},
	{
		page.ScreenOverview, "", nil, "KEYS",
		"Each screen has its keys here; {help} shows all of them, and its words. {palette} finds every command, screen and account.",
	},
}

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
