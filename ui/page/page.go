// Package page holds the screens. A page turns rows, a size and a theme into
// painted lines, and a key's meaning into an Effect that the app carries out.
// It starts nothing, asks nobody and knows no terminal, so that every screen
// can be tested as a function.
package page

import (
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/ui/chaos"
)

// Screen names a kind of page.
type Screen uint8

// Screens. Those up to Alerts have a number of their own, 1 to 9; the others
// open on top of them.
const (
	ScreenOverview Screen = iota
	ScreenAccounts
	ScreenJobs
	ScreenRetries
	ScreenLimits
	ScreenMatches
	ScreenReports
	ScreenLogs
	ScreenAlerts
	ScreenAccount
	ScreenJob
	ScreenSchedules
	ScreenAudit
	ScreenMessages
	ScreenClasses
	ScreenForensics
	ScreenRecord
	ScreenEvidence
	ScreenEntry
	ScreenChaos
	ScreenMembers
	ScreenCollections
	ScreenCollection
)

// Tabs lists the screens with a number, in order.
func Tabs() []Screen {
	return []Screen{ScreenOverview, ScreenAccounts, ScreenJobs, ScreenRetries, ScreenLimits, ScreenMatches, ScreenReports, ScreenLogs, ScreenAlerts}
}

var screenNames = [...]string{"Overview", "Accounts", "Jobs", "Retries", "Limits", "Matches", "Reports", "Logs", "Alerts", "Account", "Job", "Schedules",
	"Audit", "Messages", "Error classes", "Rate limit hit", "Log record", "Evidence", "Command", "Chaos", "Members", "Collections", "Collection"}

// String is the screen's name as titles and tabs write it.
func (s Screen) String() string { return screenNames[s] }

// Action is what a key means. The table of keys is in package ui.
type Action string

// Actions that pages carry out; the app has more of its own.
const (
	Up        Action = "up"
	Down      Action = "down"
	PageUp    Action = "page up"
	PageDown  Action = "page down"
	HalfUp    Action = "half page up"
	HalfDown  Action = "half page down"
	Home      Action = "first row"
	End       Action = "last row"
	Left      Action = "columns left"
	Right     Action = "columns right"
	Open      Action = "open"
	NextPane  Action = "next pane"
	Queues    Action = "queues"
	Nearer    Action = "nearer"
	Farther   Action = "farther"
	Raw       Action = "raw"
	States    Action = "states"
	Hidden    Action = "hidden rows"
	Previous  Action = "previous item"
	Next      Action = "next item"
	Numbers   Action = "numbers"
	Zone      Action = "zone"
	Matches   Action = "matches"
	Report    Action = "report"
	Calendar  Action = "schedules"
	ByMember  Action = "members"
	Collected Action = "collections"
	ByClass   Action = "error classes"
	ByReason  Action = "reasons"
	Recorder  Action = "its call"
	Clock     Action = "clock"

	Timetable Action = "timetable"

	Mark      Action = "mark"
	MarkRange Action = "mark range"
	MarkAll   Action = "mark all"
	Unmark    Action = "unmark"
	Invert    Action = "invert order"
	Wide      Action = "wide"

	Trigger  Action = "sync"
	Cancel   Action = "cancel"
	Retry    Action = "retry"
	Pause    Action = "pause"
	Key      Action = "key"
	Due      Action = "reschedule"
	Force    Action = "force"
	Reopen   Action = "reclass"
	TakeBack Action = "take back"
	Track    Action = "track"
	Purge    Action = "purge"
	Forget   Action = "forget"
	Ack      Action = "acknowledge"
	Silence  Action = "silence"
	Edit     Action = "edit"

	Inject     Action = "inject"
	More       Action = "more often"
	Less       Action = "less often"
	ClearChaos Action = "clear chaos"
)

// Writes reports whether the action changes anything in the engine.
func (a Action) Writes() bool {
	switch a {
	case Trigger, Cancel, Retry, Pause, Key, Due, Force, Reopen, TakeBack, Track, Purge, Forget, Ack, Silence, Edit, Inject, More, Less, ClearChaos:
		return true
	}
	return false
}

// Page is one screen.
type Page interface {
	Screen() Screen
	// Crumb is what the title says behind the screen's name; "" = nothing.
	Crumb(v *View) string
	// Act carries out a key's meaning. A pause changes nothing of the page itself: what it would do is asked for
	// the row of hints.
	Act(v *View, a Action) Effect
	// Cannot says why an action has nothing to act on here and now; "" = it can.
	Cannot(v *View, a Action) string
	// Want is the question the page has for the engine now; nil = none.
	Want(v *View) engine.Query
	// Got takes the answer to a question.
	Got(v *View, q engine.Query, a engine.Answer, err error)
	// Draw gives v.H rows of v.W cells.
	Draw(v *View) []string
}

// Teller is a page with a sentence of its own on why it is not faster. Where it gives none, the engine's is
// shown.
type Teller interface {
	Tell(v *View) string
}

// Evener is a page with an answer that tells of rows which Watch tells of, too: Even puts its own into the data of the
// frame, so that all of that tells the same.
type Evener interface {
	Even(d *Data)
}

// Backer is a page with something of its own to leave before esc leaves the page.
type Backer interface {
	// Back leaves it; false when there is nothing to leave.
	Back() bool
}

// Filterer is a page whose list can be filtered.
type Filterer interface {
	Filter() string
	// SetFilter takes a query; its error is a *filter.Error. The last query that
	// was right stays in force.
	SetFilter(text string) error
	// Complete lists what may stand at byte at of a query.
	Complete(text string, at int) []filter.Suggestion
	// Fit counts the rows that fit, and all.
	Fit() (shown, all int)
}

// Effect is what an action asks of the app. The zero Effect is none.
type Effect struct {
	Do      *engine.Command // carry out, after Confirm if there is one
	Confirm *Confirm
	Try     bool             // Do, or DoAll, is tried first: what it costs is told with Confirm
	Free    int              // with Try: what costs at most so many calls is carried out without a question
	Open    *Target          // on top of this one
	Go      *Screen          // to a numbered screen
	DoAll   []engine.Command // several commands, one after the other
	Ask     Prompt           // for text
	Text    *Text            // for text that becomes a command
	Chaos   *chaos.Ask       // of the demo's simulator, after Confirm if there is one
	Say     engine.Note      // on the message line
}

// Confirm is a question before a command; the answer is no until said.
type Confirm struct {
	Question string
	Lines    []string
	Yes      string // what yes does: "cancel it"
	// Word must be typed to agree, for what cannot be taken back; "" = yes is enough.
	Word string
}

// Text is a line of text that a page asks for and reads itself.
type Text struct {
	Label, Ghost string
	Start        string // what stands there already
	// Read makes a command of the text, or says what is wrong with it.
	Read func(text string, now time.Time) (c engine.Command, wrong string)
	// Tried, if not nil, is told what the command of the text that stands there would
	// do, as the engine answers a dry run, or what is wrong with it; nil and "" once
	// the prompt is closed.
	Tried func(r *engine.Receipt, wrong string)
}

// Prompt names a line of text the app asks for.
type Prompt uint8

// Prompts.
const (
	NoPrompt Prompt = iota
	AskSync
	AskKey
)

// PauseElsewhere is said of lists in which no queue can be selected.
const PauseElsewhere = "{overview/pause} pauses a queue: go to the overview or to the jobs"

// Say is an effect that only puts a sentence on the message line.
func Say(text string) Effect {
	return Effect{Say: engine.Note{Level: engine.LevelInfo, Text: text}}
}

// Do is an effect that carries a command out without a question.
func Do(c engine.Command) Effect { return Effect{Do: &c} }

// Jobber is a page on which a job may be selected, so that its log can be shown.
type Jobber interface {
	// SelectedJob is that job and how it is named; "" = none.
	SelectedJob(v *View) (id engine.JobID, name string)
}

// Holder is a page with a list that has a cursor.
type Holder interface {
	// Hold keeps the row under the cursor as it was last drawn: somebody acts on it.
	Hold()
	// Place is the id of the row under the cursor, "" = there is none.
	Place() string
}

// Shown says which jobs a list holds.
type Shown uint8

// Choices of jobs.
const (
	ShownLive Shown = iota
	ShownFailed
	ShownAll
)

// Target names a page to open by what it is of: no screen needs to know how another is
// made, see New.
type Target struct {
	Screen Screen
	ID     string       // of the job or the account, or of the job whose log it is
	Key    string       // of a job, in place of its ID; of its log, what it is called
	Seq    uint64       // of a call
	Queue  engine.Queue // "" = all
	Shown  Shown        // of the jobs
	Row    any          // the alert, command, class, reason or record that the page is of
}

// Where the screens of one job, one account and one queue's jobs are opened from others.
func ToJob(id engine.JobID) *Target    { return &Target{Screen: ScreenJob, ID: string(id)} }
func ToAccount(id string) *Target      { return &Target{Screen: ScreenAccount, ID: id} }
func ToCollection(name string) *Target { return &Target{Screen: ScreenCollection, ID: name} }
func ToQueue(q engine.Queue) *Target   { return &Target{Screen: ScreenJobs, Queue: q} }

// Timed is a page whose cursor stands on an instant. While the view is frozen it
// and the time cursor move together.
type Timed interface {
	// Instant is where the page's cursor stands; ok is false when it is on nothing
	// that has a time.
	Instant(v *View) (at time.Time, ok bool)
	// ToInstant puts the cursor on what was the newest at an instant.
	ToInstant(v *View, at time.Time)
}

// AccountHolder is a page on which an account may be selected, so that it can be
// watched.
type AccountHolder interface {
	// SelectedAccount is its id; "" = none.
	SelectedAccount(v *View) string
}

// ListState is what an operator chose of a list: it is kept from one start to the
// next. Columns are named, so that it outlives a new column.
type ListState struct {
	Sort   string   `json:"sort,omitempty"` // column; "" = as it comes
	Down   bool     `json:"down,omitempty"`
	Hidden []string `json:"hidden,omitempty"`
	Shown  []string `json:"shown,omitempty"` // of those that are not unless asked for
	Wide   bool     `json:"wide,omitempty"`
}

// Plain reports whether nothing was chosen.
func (s ListState) Plain() bool {
	return s.Sort == "" && !s.Down && len(s.Hidden)+len(s.Shown) == 0 && !s.Wide
}

// Equal reports whether the same was chosen.
func (s ListState) Equal(other ListState) bool {
	return s.Sort == other.Sort && s.Down == other.Down && s.Wide == other.Wide && slices.Equal(s.Hidden, other.Hidden) && slices.Equal(s.Shown, other.Shown)
}

// Keeper is a page whose list is remembered.
type Keeper interface {
	State() ListState
	Restore(s ListState)
}
