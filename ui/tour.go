package ui

import "github.com/farsight-console/farsight/ui/page"

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
		"Solid is what was done, dots are what is planned, the column between is now. It is so in every chart.",
	},
	{
		page.ScreenOverview, "DEPARTURES", []string{"SO FAR", "ARRIVALS"}, "THE NEXT CALLS",
		"In the order in which they leave, below the last ones with what became of them. {open} opens one.",
	},
	{
		page.ScreenOverview, "STATE", nil, "THE STATE",
		"How all of it stands, in one word, and in a sentence why it is not faster. Where the engine stands, the whole row stands out.",
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
