// Package keys has the table of keys: which key means what on which screen, the words of it
// in the hint line and the help, and how a user's file binds keys anew.
package keys

import (
	"strconv"
	"strings"

	"github.com/farsight-console/farsight/ui/page"
)

// Context is a set of contexts in which a key means something. A binding has one bit for each context in
// which it holds; two bindings of one key must have none in common, which a test holds them to.
type Context uint32

// Contexts. The first ones are the screens, in the order of page.Screen: the bit of a screen is 1 shifted
// by it, see On.
const (
	onOverview Context = 1 << iota
	onAccounts
	onJobs
	onRetries
	onLimits
	onMatches
	onReports
	onLogs
	onAlerts
	onAccount
	onJob
	onSchedules
	onAudit
	onMessages
	onClasses
	onForensics
	onRecord
	onEvidence
	onEntry
	onChaos
	onMembers
	onCollections
	onCollection
	InDialog
	InHelp
	InMenu

	onCollects = onCollections | onCollection

	// onLists can be filtered, onTables sorted, narrowed and marked as well.
	// onWork are the screens of accounts, jobs and queues, where work is steered.
	// onItems show one thing of a list.
	onTables = onAccounts | onJobs | onRetries | onMatches | onSchedules | onAlerts |
		onAudit | onMessages | onClasses | onEvidence | onEntry | onMembers | onCollections
	onLists = onTables | onLimits | onLogs
	onWork  = onOverview | onAccounts | onJobs | onRetries | onLimits |
		onMatches | onReports | onAccount | onJob | onSchedules | onCollects
	onItems = onAccount | onCollection | onJob | onForensics | onRecord | onEvidence | onEntry
	OnPages = onWork | onLists | onForensics | onRecord | onChaos
)

// Actions of the app itself; those of pages are in package page.
const (
	// A keys file names actions by these texts: none may change.
	Filter page.Action = "filter"
	// Freeze stops the view and not the engine; the four behind Live step through what was, which is kept
	// for ten minutes.
	Freeze   page.Action = "freeze"
	Live     page.Action = "live"
	Earlier  page.Action = "second back"
	Later    page.Action = "second on"
	FarBack  page.Action = "ten seconds back"
	FarOn    page.Action = "ten seconds on"
	Help     page.Action = "help"
	Messages page.Action = "messages"
	Back     page.Action = "back"
	Previous page.Action = "previous screen"
	NextTab  page.Action = "next screen"
	Reload   page.Action = "reload"
	Repaint  page.Action = "repaint"
	Suspend  page.Action = "suspend"
	// Quit goes back from an inner screen, and asks before it ends an engine that works. Exit, ctrl+c,
	// quits from anywhere. Detach leaves the console and lets the engine go on.
	Quit     page.Action = "quit"
	Detach   page.Action = "detach"
	Exit     page.Action = "exit"
	Palette  page.Action = "palette"
	Sort     page.Action = "sort"
	Columns  page.Action = "columns"
	Copy     page.Action = "copy"
	CopyRows page.Action = "copy rows"
	Export   page.Action = "export"
	Themes   page.Action = "themes"
	Undo     page.Action = "undo"
	Save     page.Action = "save filter"
	Watch    page.Action = "watch"
	Logs     page.Action = "logs of the job"
	Audit    page.Action = "audit"
	Chaos    page.Action = "chaos"
	Reason   page.Action = "reason"
	Mouse    page.Action = "mouse"

	// Actions of questions, menus and the help.
	Yes    page.Action = "yes"
	No     page.Action = "no"
	Switch page.Action = "other answer"
	Choose page.Action = "choose"
	Close  page.Action = "close"
)

// Binding is one line of the table of keys. The table is the only place where a
// key is named: dispatch, hint line, help, palette and docs/keys.md are read from it.
type Binding struct {
	Keys  []string // as Bubble Tea names them; the first one is shown
	Act   page.Action
	In    Context
	Group string
	Hint  string // word of the hint line; "" = not there
	Help  string // what the help says; "" only in overlays, which have none
}

// Groups of the help, in order. Keys of overlays are in none: each overlay shows its own.
const (
	groupAct  = "Act"
	GroupMove = "Move"
	groupView = "Look"
	groupApp  = "Farsight"
)

// bindings are the keys as built in. Within a group they stand in the order of the help; of those that
// have a Hint the first ones are in the hint line of a narrow screen. An action that stands twice has
// other words, or another key, on some screens.
var bindings = []Binding{
	{[]string{"enter"}, page.Open, OnPages &^ (onChaos | onJob), GroupMove, "open", "open the selected"},
	// A job's screen is the end of the way in: enter shows the record itself there.
	{[]string{"enter", "v"}, page.Raw, onJob, groupView, "raw", "its record and headers, raw"},
	{[]string{"a"}, page.Open, onJob, GroupMove, "account", "its account"},
	{[]string{"enter"}, page.Inject, onChaos, groupAct, "inject", "inject once; preset on, off"},
	// On the panel of faults the arrows change a rate; on all other screens they pan columns.
	{[]string{"l", "right"}, page.More, onChaos, groupAct, "more often", "more often, in percent"},
	{[]string{"h", "left"}, page.Less, onChaos, groupAct, "less often", "less often, then off"},
	{[]string{"0"}, page.ClearChaos, onChaos, groupAct, "clear all", "end all that was injected"},
	// r, p and x do what is nearest to their word on each screen: r runs a schedule, p freezes a bucket.
	{[]string{"t"}, page.Trigger, OnPages, groupAct, "sync", "sync an account"},
	{[]string{"r"}, page.Retry, onWork &^ (onSchedules | onCollects), groupAct, "retry", "retry the job now"},
	{[]string{"r"}, page.Retry, onClasses, groupAct, "retry class", "retry it, one job first"},
	{[]string{"C"}, page.Reopen, onClasses, groupAct, "open again", "reopen discarded, one first"},
	{[]string{"a"}, page.Ack, onAlerts, groupAct, "acknowledge", "acknowledge the alert"},
	{[]string{"S"}, page.Silence, onAlerts, groupAct, "silence", "silence an alert for a time"},
	{[]string{"r"}, page.Retry, onSchedules, groupAct, "run now", "run the schedule now"},
	{[]string{"r"}, page.Retry, onCollects, groupAct, "retry", "retry what failed in it"},
	{[]string{"x"}, page.Cancel, onWork &^ onCollects, groupAct, "cancel", "cancel the job or sync"},
	{[]string{"x"}, page.Cancel, onCollects, groupAct, "cancel", "cancel the collection"},
	{[]string{"p"}, page.Pause, onCollects, groupAct, "pause", "pause, resume it"},
	{[]string{"p"}, page.Pause, onWork &^ (onLimits | onSchedules | onCollects), groupAct, "pause", "pause, resume the queue"},
	{[]string{"p"}, page.Pause, onLimits, groupAct, "freeze bucket", "freeze, cap, resume bucket"},
	{[]string{"@"}, page.Due, onJobs | onRetries | onJob, groupAct, "", "run a waiting job at a time"},
	{[]string{"p"}, page.Pause, onSchedules, groupAct, "pause", "pause, resume the schedule"},
	{[]string{"E"}, page.Edit, onSchedules, groupAct, "edit", "edit when the schedule runs"},
	{[]string{"!"}, page.Force, onJobs | onRetries | onJob, groupAct, "", "force the job with a reason"},
	{[]string{"b"}, page.Timetable, onOverview, groupView, "timetable", "the timetable, or the board"},
	{[]string{"S"}, page.Calendar, onOverview, GroupMove, "", "schedules"},
	{[]string{"C"}, page.Collected, onOverview | onAccounts, GroupMove, "", "collections"},
	{[]string{"V"}, page.ByMember, onOverview, GroupMove, "", "members of the database"},
	// In the audit z takes back the selected command instead of the last one.
	{[]string{"z"}, Undo, OnPages &^ onAudit, groupAct, "", "undo the last action"},
	{[]string{"z"}, page.TakeBack, onAudit, groupAct, "undo", "undo the selected command"},
	{[]string{"space"}, page.Mark, onTables, groupAct, "mark", "mark, unmark the row"},
	{[]string{"v"}, page.MarkRange, onTables, groupAct, "", "mark up to the last mark"},
	{[]string{"A"}, page.MarkAll, onTables, groupAct, "", "mark all rows shown"},
	{[]string{"u"}, page.Unmark, onTables, groupAct, "", "unmark all rows"},
	{[]string{"K"}, page.Key, OnPages, groupAct, "", "replace the API key"},
	{[]string{"a"}, page.Track, onAccounts | onAccount, groupAct, "", "track, untrack the account"},
	{[]string{"D"}, page.Purge, onJobs, groupAct, "", "purge jobs that ended"},
	{[]string{"D"}, page.Forget, onCollects, groupAct, "", "forget the collection"},
	{[]string{";"}, Reason, OnPages | InDialog, groupAct, "", "say why, for the next act"},
	{[]string{"/"}, Filter, onLists, groupView, "filter", "show matching rows"},
	{[]string{"*"}, Save, onLists, groupView, "", "save the filter"},
	{[]string{"s"}, page.States, onJobs, groupView, "live/failed/all", "live, failed or all jobs"},
	{[]string{"s"}, page.States, onMatches, groupView, "state", "next state of matches"},
	{[]string{"H"}, page.Hidden, onMatches, groupView, "hidden", "show what cannot be had"},
	{[]string{"#"}, page.ByClass, onJobs | onRetries, groupView, "error classes", "group by error class"},
	{[]string{"b"}, page.ByReason, onJobs | onRetries, groupView, "reasons", "group by why they wait"},
	{[]string{"s"}, page.States, onLogs, groupView, "level", "least level shown"},
	{[]string{"W"}, page.Wide, onLogs, groupView, "wrap", "wrap long records"},
	{[]string{"Z"}, page.Clock, onLogs, groupView, "time", "time of day or how long ago"},
	{[]string{"n"}, page.Next, onLogs, GroupMove, "", "next match, or next warning"},
	{[]string{"N"}, page.Previous, onLogs, GroupMove, "", "previous match or warning"},
	{[]string{"c"}, page.Recorder, onJob | onForensics, GroupMove, "recorder", "its call in the recorder"},
	{[]string{"s"}, page.States, onReports, groupView, "weeks", "the weeks of all accounts"},
	{[]string{"n"}, page.Numbers, onReports, groupView, "numbers", "numbers in the cells"},
	{[]string{"Z"}, page.Zone, onReports, groupView, "zone", "distance from UTC"},
	// Reports have no rows to step through in time: the brackets turn their pages, from account to account
	// or from week to week.
	{[]string{"["}, page.Previous, onReports, GroupMove, "previous", "previous account or week"},
	{[]string{"]"}, page.Next, onReports, GroupMove, "next", "next account or week"},
	{[]string{"o"}, Sort, onTables, groupView, "sort", "sort by a column"},
	{[]string{"O"}, page.Invert, onTables, groupView, "", "turn the order"},
	{[]string{"c"}, Columns, onTables, groupView, "", "choose columns"},
	{[]string{"W"}, page.Wide, onTables, groupView, "", "wide columns"},
	{[]string{"y"}, Copy, OnPages, groupView, "", "copy: id, command, JSON"},
	{[]string{"Y"}, CopyRows, onTables | onReports | onLogs, groupView, "", "copy all rows shown"},
	{[]string{"e"}, Export, onTables | onReports | onLogs, groupView, "", "write the list to a file"},
	{[]string{"T"}, Themes, OnPages, groupView, "", "choose a theme"},
	{[]string{":", "ctrl+p"}, Palette, OnPages, groupApp, "command", "commands, screens, names"},
	{[]string{"f"}, Freeze, OnPages, groupView, "freeze", "freeze the view only"},
	{[]string{"."}, Live, OnPages, groupView, "", "back to live"},
	{[]string{"["}, Earlier, OnPages &^ (onReports | onItems), groupView, "", "frozen: a second back"},
	{[]string{"]"}, Later, OnPages &^ (onReports | onItems), groupView, "", "frozen: a second on"},
	{[]string{"{"}, FarBack, OnPages, groupView, "", "frozen: ten seconds back"},
	{[]string{"}"}, FarOn, OnPages, groupView, "", "frozen: ten seconds on"},
	{[]string{"w"}, Watch, OnPages, groupView, "", "watch this account, or stop"},
	{[]string{"M"}, Messages, OnPages, groupView, "", "all messages"},
	{[]string{"L"}, Logs, OnPages, groupView, "", "log of the selected job"},
	{[]string{"m"}, Mouse, OnPages, groupView, "", "mouse on or off"},
	{[]string{"X"}, Chaos, OnPages, groupApp, "", "break Riot (the demo only)"},
	{[]string{"U"}, Audit, OnPages, groupView, "", "who did what (audit)"},
	{[]string{"j", "down"}, page.Down, OnPages, GroupMove, "", "down"},
	{[]string{"k", "up"}, page.Up, OnPages, GroupMove, "", "up"},
	{[]string{"g", "home"}, page.Home, OnPages, GroupMove, "", "first row"},
	{[]string{"G", "end"}, page.End, OnPages &^ onLogs, GroupMove, "", "last row"},
	{[]string{"G", "end"}, page.End, onLogs, GroupMove, "follow", "follow the newest"},
	{[]string{"pgdown"}, page.PageDown, OnPages, GroupMove, "", "a screen down"},
	{[]string{"pgup"}, page.PageUp, OnPages, GroupMove, "", "a screen up"},
	// As in vim. ctrl+d deletes nothing anywhere: hands remember what it does here.
	{[]string{"ctrl+d"}, page.HalfDown, OnPages, GroupMove, "", "half a screen down"},
	{[]string{"ctrl+u"}, page.HalfUp, OnPages, GroupMove, "", "half a screen up"},
	{[]string{"h", "left"}, page.Left, OnPages &^ onChaos, GroupMove, "", "columns left"},
	{[]string{"l", "right"}, page.Right, OnPages &^ onChaos, GroupMove, "", "columns right"},
	{[]string{"Q"}, page.Queues, onJobs, GroupMove, "queues", "choose the queue"},
	{[]string{"<"}, page.Nearer, onRetries, groupView, "", "look less far ahead"},
	{[]string{">"}, page.Farther, onRetries, groupView, "", "look farther ahead"},
	// tab goes through the panes of a screen that has several, else to the next screen.
	{[]string{"tab"}, page.NextPane, onOverview | onLimits | onJobs, GroupMove, "next pane", "next pane"},
	{[]string{"tab"}, NextTab, OnPages &^ (onOverview | onLimits | onJobs), GroupMove, "next screen", "next screen"},
	{[]string{"1"}, GoTo(page.ScreenOverview), OnPages, GroupMove, "", "Overview"},
	{[]string{"2"}, GoTo(page.ScreenAccounts), OnPages, GroupMove, "", "Accounts"},
	{[]string{"3"}, GoTo(page.ScreenJobs), OnPages, GroupMove, "", "Jobs"},
	{[]string{"4"}, GoTo(page.ScreenRetries), OnPages, GroupMove, "", "Retries"},
	{[]string{"5"}, GoTo(page.ScreenLimits), OnPages, GroupMove, "", "Limits"},
	{[]string{"6"}, GoTo(page.ScreenMatches), OnPages &^ onAccount, GroupMove, "", "Matches"},
	{[]string{"7"}, GoTo(page.ScreenReports), OnPages &^ onAccount, GroupMove, "", "Reports"},
	// An account's screen leads to what is its own, where the numbers lead to everybody's elsewhere.
	{[]string{"6"}, page.Matches, onAccount, GroupMove, "matches", "matches of this account"},
	{[]string{"7"}, page.Report, onAccount, GroupMove, "report", "report of this account"},
	{[]string{"["}, Earlier, onItems, GroupMove, "", "previous; frozen: 1 s back"},
	{[]string{"]"}, Later, onItems, GroupMove, "next", "next; frozen: 1 s on"},
	{[]string{"8"}, GoTo(page.ScreenLogs), OnPages, GroupMove, "", "Logs"},
	{[]string{"9"}, GoTo(page.ScreenAlerts), OnPages, GroupMove, "", "Alerts"},
	{[]string{"-"}, Previous, OnPages, GroupMove, "", "previous screen"},
	{[]string{"esc"}, Back, OnPages, GroupMove, "", "back, or clear"},
	{[]string{"?"}, Help, OnPages, groupApp, "keys", "these keys"},
	{[]string{"R"}, Reload, OnPages, groupApp, "", "read the list again"},
	{[]string{"ctrl+l"}, Repaint, OnPages, groupApp, "", "paint the screen again"},
	{[]string{"ctrl+z"}, Suspend, OnPages, groupApp, "", "suspend"},
	{[]string{"d"}, Detach, OnPages, groupApp, "", "leave, the engine goes on"},
	{[]string{"q"}, Quit, OnPages, groupApp, "quit", "back, or quit"},
	{[]string{"ctrl+c"}, Exit, OnPages | InDialog | InHelp | InMenu, groupApp, "", "quit"},

	// Questions: No is the default, so that enter alone does no harm.
	{[]string{"y"}, Yes, InDialog, "", "yes", ""},
	{[]string{"n", "esc", "q"}, No, InDialog, "", "no", ""},
	{[]string{"tab", "left", "right", "h", "l"}, Switch, InDialog, "", "other answer", ""},
	{[]string{"enter"}, Choose, InDialog, "", "answer", ""},

	// The help takes letters for its search: only keys that are none move it.
	{[]string{"esc", "?", "enter"}, Close, InHelp, "", "close", ""},
	{[]string{"tab"}, Switch, InHelp, "", "words", ""},
	{[]string{"down"}, page.Down, InHelp, "", "down", ""},
	{[]string{"up"}, page.Up, InHelp, "", "up", ""},
	{[]string{"pgdown", "ctrl+d"}, page.PageDown, InHelp, "", "", ""},
	{[]string{"pgup"}, page.PageUp, InHelp, "", "", ""},

	// Menus: of themes, columns, queues and of what can be copied.
	{[]string{"esc", "q"}, Close, InMenu, "", "close", ""},
	{[]string{"enter", "space"}, Choose, InMenu, "", "choose", ""},
	{[]string{"j", "down"}, page.Down, InMenu, "", "down", ""},
	{[]string{"k", "up"}, page.Up, InMenu, "", "up", ""},
	{[]string{"g", "home"}, page.Home, InMenu, "", "", ""},
	{[]string{"G", "end"}, page.End, InMenu, "", "", ""},
}

// goPrefix leads the names of the actions that go to a numbered screen: "screen 3".
const goPrefix = "screen "

// GoTo is the action that goes to a numbered screen, one of the first nine.
func GoTo(s page.Screen) page.Action { return page.Action(goPrefix + strconv.Itoa(int(s))) }

// ScreenOf is the numbered screen an action goes to; false of every other action.
func ScreenOf(a page.Action) (page.Screen, bool) {
	number, ok := strings.CutPrefix(string(a), goPrefix)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(number)
	return page.Screen(n), err == nil
}

// On is the context of a screen. It holds because the contexts of screens stand in the order of
// page.Screen.
func On(s page.Screen) Context { return 1 << s }

// arrows stand for the names of keys that are drawn on them.
var arrows = map[string]string{"up": "↑", "down": "↓", "left": "←", "right": "→"}

// Shown are keys as they are drawn: "j ↓". The names are Bubble Tea's (ctrl+c, pgdown, up): arrows alone
// have a sign that every font has.
func Shown(keys []string) string {
	shown := make([]string, len(keys))
	for i, k := range keys {
		shown[i] = k
		if sign, ok := arrows[k]; ok {
			shown[i] = sign
		}
	}
	return strings.Join(shown, " ")
}
