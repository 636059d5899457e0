package line

import "slices"

// Word is what a line may begin with that is no operation: it shows something, or is about
// the console itself. `jobs state:failed` in the palette goes to the screen of jobs with
// that filter, in the plain console it lists those jobs.
type Word struct {
	Name string
	// Hint is what the palette shows behind it where it takes an argument: "a filter".
	Hint string
	// Args and Help are what the plain console's help says of it; without Help it is not
	// there, and Not says why.
	Args, Help, Not string
}

// ResetElsewhere says who can begin anew: whoever sees a console has an engine, and that
// holds what would be replaced.
const ResetElsewhere = "end the engine first, then run `farsight reset`"

// Words are all of them, in the order of the plain console's help; operations stand before
// the last ones, which begin with reset. The palette asks here for the Hint
// of those that it has.
var Words = []Word{
	{Name: "help", Help: "these commands"},
	{Name: "status", Help: "how everything stands"},
	{Name: "accounts", Hint: "a filter", Args: "[filter]", Help: "accounts and how their syncs stand"},
	{Name: "jobs", Hint: "a filter: jobs state:failed", Args: "[filter]", Help: "jobs, such as jobs state:failed"},
	{Name: "retries", Hint: "a filter", Args: "[filter]", Help: "jobs that wait for their next try"},
	{Name: "limits", Hint: "a filter of calls: limits status:429", Help: "rate limits and who waits"},
	{
		Name: "matches", Hint: "a filter: matches champion:ahri", Args: "[Name#TAG or filter]",
		Help: "matches of all accounts, or of one",
	},
	{Name: "alerts", Hint: "a filter: alerts state:firing", Args: "[filter]", Help: "alerts"},
	{Name: "schedules", Args: "[filter]", Help: "recurring work"},
	{Name: "collections", Args: "[filter]", Help: "what is collected, and how far"},
	{Name: "members", Args: "[filter]", Help: "processes that share the database"},
	{Name: "audit", Args: "[filter]", Help: "who did what"},
	{Name: "logs", Hint: "a filter: logs area:limiter", Args: "[filter]", Help: "the newest records of the log"},
	{Name: "account", Hint: "Name#TAG", Args: "Name#TAG", Help: "one account"},
	{Name: "report", Hint: "Name#TAG", Args: "Name#TAG", Help: "when an account plays"},
	{Name: "job", Hint: "an id or a key: job match:KR_1", Args: "KEY or id", Help: "one job with its tries"},
	{
		Name: "chaos", Hint: "503 5% · timeout once · slow off · key expires · off", Args: "[NAME once, 5% or off]",
		Help: "break the simulated Riot of the demo",
	},

	{Name: "reset", Not: ResetElsewhere},
	{
		Name: "f", Hint: "a saved filter of this screen; f -NAME forgets it",
		Not: "saved filters belong to screens: give the filter behind the list's name",
	},
	{Name: "theme", Hint: "its name", Not: "there are no colours here"},
	{Name: "fps", Hint: "updates a second, 1 to 10", Not: "start with --plain-every to say changes more or less often"},
	{Name: "tour", Not: "? lists what can be typed here"},
	{
		Name: "key",
		Not:  "a key that is typed here would stay on the screen: replace it in the full console, or in the key file",
	},
	{Name: "quit", Help: "leave"},
}

// Hint is that of the word of a name, which must be one of Words.
func Hint(name string) string {
	return Words[slices.IndexFunc(Words, func(w Word) bool { return w.Name == name })].Hint
}
