package ui

import (
	"strconv"
	"strings"

	"github.com/farsight-console/farsight/ui/page"
)

// where is a set of contexts in which a key means something.
type where uint32

// Contexts. The first ones are the screens, in the order of page.Screen.
const (
	onOverview where = 1 << iota
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
	inDialog
	inHelp
	inMenu

	// onLists can be filtered, onTables sorted, narrowed and marked as well.
	// onWork are the screens of accounts, jobs and queues, where work is steered.
	// onItems show one thing of a list.
	onTables = onAccounts | onJobs | onRetries | onMatches | onSchedules | onAlerts | onAudit | onMessages | onClasses | onEvidence | onEntry
	onLists  = onTables | onLimits | onLogs
	onWork   = onOverview | onAccounts | onJobs | onRetries | onLimits | onMatches | onReports | onAccount | onJob | onSchedules
	onItems  = onAccount | onJob | onForensics | onRecord | onEvidence | onEntry
	onPages  = onWork | onLists | onForensics | onRecord | onChaos
)

// Actions of the app itself; those of pages are in package page.
const (
	actFilter   page.Action = "filter"
	actFreeze   page.Action = "freeze"
	actLive     page.Action = "live"
	actEarlier  page.Action = "second back"
	actLater    page.Action = "second on"
	actFarBack  page.Action = "ten seconds back"
	actFarOn    page.Action = "ten seconds on"
	actHelp     page.Action = "help"
	actMessages page.Action = "messages"
	actBack     page.Action = "back"
	actPrevious page.Action = "previous screen"
	actNextTab  page.Action = "next screen"
	actReload   page.Action = "reload"
	actRepaint  page.Action = "repaint"
	actSuspend  page.Action = "suspend"
	actQuit     page.Action = "quit"
	actDetach   page.Action = "detach"
	actExit     page.Action = "exit"
	actPalette  page.Action = "palette"
	actSort     page.Action = "sort"
	actColumns  page.Action = "columns"
	actCopy     page.Action = "copy"
	actCopyRows page.Action = "copy rows"
	actExport   page.Action = "export"
	actThemes   page.Action = "themes"
	actUndo     page.Action = "undo"
	actSave     page.Action = "save filter"
	actWatch    page.Action = "watch"
	actLogs     page.Action = "logs of the job"
	actAudit    page.Action = "audit"
	actChaos    page.Action = "chaos"
	actReason   page.Action = "reason"
	actMouse    page.Action = "mouse"

	actYes    page.Action = "yes"
	actNo     page.Action = "no"
	actSwitch page.Action = "other answer"
	actChoose page.Action = "choose"
	actClose  page.Action = "close"
)

// binding is one line of the table of keys. The table is the only place where a
// key is named: dispatch, hint line and help are read from it.
type binding struct {
	keys  []string // as Bubble Tea names them; the first one is shown
	act   page.Action
	in    where
	group string
	hint  string // word of the hint line; "" = not there
	help  string
}

// Groups of the help screen, in order.
const (
	groupAct  = "Act"
	groupMove = "Move"
	groupView = "Look"
	groupApp  = "Farsight"
)

var bindings = []binding{
	{[]string{"enter"}, page.Open, onPages &^ (onChaos | onJob), groupMove, "open", "open the selected"},
	{[]string{"enter", "v"}, page.Raw, onJob, groupView, "raw", "its record and headers, raw"},
	{[]string{"a"}, page.Open, onJob, groupMove, "account", "its account"},
	{[]string{"enter"}, page.Inject, onChaos, groupAct, "inject", "inject once; preset on, off"},
	{[]string{"l", "right"}, page.More, onChaos, groupAct, "more often", "more often, in percent"},
	{[]string{"h", "left"}, page.Less, onChaos, groupAct, "less often", "less often, then off"},
	{[]string{"0"}, page.ClearChaos, onChaos, groupAct, "clear all", "end all that was injected"},
	{[]string{"t"}, page.Trigger, onPages, groupAct, "sync", "sync an account"},
	{[]string{"r"}, page.Retry, onWork &^ onSchedules, groupAct, "retry", "retry the job now"},
	{[]string{"r"}, page.Retry, onClasses, groupAct, "retry class", "retry it, one job first"},
	{[]string{"C"}, page.Reopen, onClasses, groupAct, "open again", "reopen discarded, one first"},
	{[]string{"a"}, page.Ack, onAlerts, groupAct, "acknowledge", "acknowledge the alert"},
	{[]string{"S"}, page.Silence, onAlerts, groupAct, "silence", "silence the alert for a time"},
	{[]string{"r"}, page.Retry, onSchedules, groupAct, "run now", "run the schedule now"},
	{[]string{"x"}, page.Cancel, onWork, groupAct, "cancel", "cancel the job or sync"},
	{[]string{"p"}, page.Pause, onWork &^ (onLimits | onSchedules), groupAct, "pause", "pause, resume the queue"},
	{[]string{"p"}, page.Pause, onLimits, groupAct, "freeze bucket", "freeze, cap, resume bucket"},
	{[]string{"@"}, page.Due, onJobs | onRetries | onJob, groupAct, "", "run a waiting job at a time"},
	{[]string{"p"}, page.Pause, onSchedules, groupAct, "pause", "pause, resume the schedule"},
	{[]string{"E"}, page.Edit, onSchedules, groupAct, "edit", "edit when the schedule runs"},
	{[]string{"!"}, page.Force, onJobs | onRetries | onJob, groupAct, "", "force the job, with a reason"},
	{[]string{"S"}, page.Calendar, onOverview, groupMove, "", "schedules"},
	{[]string{"z"}, actUndo, onPages &^ onAudit, groupAct, "", "undo the last action"},
	{[]string{"z"}, page.TakeBack, onAudit, groupAct, "undo", "undo the selected command"},
	{[]string{"space"}, page.Mark, onTables, groupAct, "mark", "mark, unmark the row"},
	{[]string{"v"}, page.MarkRange, onTables, groupAct, "", "mark up to the last mark"},
	{[]string{"A"}, page.MarkAll, onTables, groupAct, "", "mark all rows shown"},
	{[]string{"u"}, page.Unmark, onTables, groupAct, "", "unmark all rows"},
	{[]string{"K"}, page.Key, onPages, groupAct, "", "replace the API key"},
	{[]string{"a"}, page.Track, onAccounts | onAccount, groupAct, "", "track, untrack the account"},
	{[]string{"D"}, page.Purge, onJobs, groupAct, "", "purge jobs that ended"},
	{[]string{";"}, actReason, onPages | inDialog, groupAct, "", "say why, for the next act"},
	{[]string{"/"}, actFilter, onLists, groupView, "filter", "show matching rows"},
	{[]string{"*"}, actSave, onLists, groupView, "", "save the filter"},
	{[]string{"s"}, page.States, onJobs, groupView, "live/failed/all", "live, failed or all jobs"},
	{[]string{"s"}, page.States, onMatches, groupView, "state", "next state of matches"},
	{[]string{"H"}, page.Hidden, onMatches, groupView, "hidden", "show what cannot be had"},
	{[]string{"#"}, page.ByClass, onJobs | onRetries, groupView, "error classes", "group by error class"},
	{[]string{"b"}, page.ByReason, onJobs | onRetries, groupView, "reasons", "group by why they wait"},
	{[]string{"s"}, page.States, onLogs, groupView, "level", "least level shown"},
	{[]string{"W"}, page.Wide, onLogs, groupView, "wrap", "wrap long records"},
	{[]string{"Z"}, page.Clock, onLogs, groupView, "time", "time of day, or how long ago"},
	{[]string{"n"}, page.Next, onLogs, groupMove, "", "next match, or next warning"},
	{[]string{"N"}, page.Previous, onLogs, groupMove, "", "previous match or warning"},
	{[]string{"c"}, page.Recorder, onJob | onForensics, groupMove, "recorder", "its call in the recorder"},
	{[]string{"s"}, page.States, onReports, groupView, "weeks", "the weeks of all accounts"},
	{[]string{"n"}, page.Numbers, onReports, groupView, "numbers", "numbers in the cells"},
	{[]string{"Z"}, page.Zone, onReports, groupView, "zone", "distance from UTC"},
	{[]string{"["}, page.Previous, onReports, groupMove, "previous", "previous account or week"},
	{[]string{"]"}, page.Next, onReports, groupMove, "next", "next account or week"},
	{[]string{"o"}, actSort, onTables, groupView, "sort", "sort by a column"},
	{[]string{"O"}, page.Invert, onTables, groupView, "", "turn the order"},
	{[]string{"c"}, actColumns, onTables, groupView, "", "choose columns"},
	{[]string{"W"}, page.Wide, onTables, groupView, "", "wide columns"},
	{[]string{"y"}, actCopy, onPages, groupView, "", "copy: id, row, JSON, curl"},
	{[]string{"Y"}, actCopyRows, onTables | onReports | onLogs, groupView, "", "copy all rows shown"},
	{[]string{"e"}, actExport, onTables | onReports | onLogs, groupView, "", "write the list to a file"},
	{[]string{"T"}, actThemes, onPages, groupView, "", "choose a theme"},
	{[]string{":", "ctrl+p"}, actPalette, onPages, groupApp, "command", "commands, screens, names"},
	{[]string{"f"}, actFreeze, onPages, groupView, "freeze", "freeze the view only"},
	{[]string{"."}, actLive, onPages, groupView, "", "back to live"},
	{[]string{"["}, actEarlier, onPages &^ (onReports | onItems), groupView, "", "frozen: a second back"},
	{[]string{"]"}, actLater, onPages &^ (onReports | onItems), groupView, "", "frozen: a second on"},
	{[]string{"{"}, actFarBack, onPages, groupView, "", "frozen: ten seconds back"},
	{[]string{"}"}, actFarOn, onPages, groupView, "", "frozen: ten seconds on"},
	{[]string{"w"}, actWatch, onPages, groupView, "", "watch this account, or stop"},
	{[]string{"M"}, actMessages, onPages, groupView, "", "all messages"},
	{[]string{"L"}, actLogs, onPages, groupView, "", "log of the selected job"},
	{[]string{"m"}, actMouse, onPages, groupView, "", "mouse on or off"},
	{[]string{"X"}, actChaos, onPages, groupApp, "", "break Riot (the demo only)"},
	{[]string{"U"}, actAudit, onPages, groupView, "", "who did what (audit)"},
	{[]string{"j", "down"}, page.Down, onPages, groupMove, "", "down"},
	{[]string{"k", "up"}, page.Up, onPages, groupMove, "", "up"},
	{[]string{"g", "home"}, page.Home, onPages, groupMove, "", "first row"},
	{[]string{"G", "end"}, page.End, onPages &^ onLogs, groupMove, "", "last row"},
	{[]string{"G", "end"}, page.End, onLogs, groupMove, "follow", "follow the newest"},
	{[]string{"pgdown"}, page.PageDown, onPages, groupMove, "", "a screen down"},
	{[]string{"pgup"}, page.PageUp, onPages, groupMove, "", "a screen up"},
	{[]string{"ctrl+d"}, page.HalfDown, onPages, groupMove, "", "half a screen down"},
	{[]string{"ctrl+u"}, page.HalfUp, onPages, groupMove, "", "half a screen up"},
	{[]string{"h", "left"}, page.Left, onPages &^ onChaos, groupMove, "", "columns left"},
	{[]string{"l", "right"}, page.Right, onPages &^ onChaos, groupMove, "", "columns right"},
	{[]string{"Q"}, page.Queues, onJobs, groupMove, "queues", "choose the queue"},
	{[]string{"<"}, page.Nearer, onRetries, groupView, "", "look less far ahead"},
	{[]string{">"}, page.Farther, onRetries, groupView, "", "look farther ahead"},
	{[]string{"tab"}, page.NextPane, onOverview | onLimits | onJobs, groupMove, "next pane", "next pane"},
	{[]string{"tab"}, actNextTab, onPages &^ (onOverview | onLimits | onJobs), groupMove, "next screen", "next screen"},
	{[]string{"1"}, goTo(page.ScreenOverview), onPages, groupMove, "", "Overview"},
	{[]string{"2"}, goTo(page.ScreenAccounts), onPages, groupMove, "", "Accounts"},
	{[]string{"3"}, goTo(page.ScreenJobs), onPages, groupMove, "", "Jobs"},
	{[]string{"4"}, goTo(page.ScreenRetries), onPages, groupMove, "", "Retries"},
	{[]string{"5"}, goTo(page.ScreenLimits), onPages, groupMove, "", "Limits"},
	{[]string{"6"}, goTo(page.ScreenMatches), onPages &^ onAccount, groupMove, "", "Matches"},
	{[]string{"7"}, goTo(page.ScreenReports), onPages &^ onAccount, groupMove, "", "Reports"},
	{[]string{"6"}, page.Matches, onAccount, groupMove, "matches", "matches of this account"},
	{[]string{"7"}, page.Report, onAccount, groupMove, "report", "report of this account"},
	{[]string{"["}, actEarlier, onItems, groupMove, "", "previous; frozen: 1 s back"},
	{[]string{"]"}, actLater, onItems, groupMove, "next", "next; frozen: 1 s on"},
	{[]string{"8"}, goTo(page.ScreenLogs), onPages, groupMove, "", "Logs"},
	{[]string{"9"}, goTo(page.ScreenAlerts), onPages, groupMove, "", "Alerts"},
	{[]string{"-"}, actPrevious, onPages, groupMove, "", "previous screen"},
	{[]string{"esc"}, actBack, onPages, groupMove, "", "back, or clear"},
	{[]string{"?"}, actHelp, onPages, groupApp, "keys", "these keys"},
	{[]string{"R"}, actReload, onPages, groupApp, "", "read the list again"},
	{[]string{"ctrl+l"}, actRepaint, onPages, groupApp, "", "paint the screen again"},
	{[]string{"ctrl+z"}, actSuspend, onPages, groupApp, "", "suspend"},
	{[]string{"d"}, actDetach, onPages, groupApp, "", "leave, the engine goes on"},
	{[]string{"q"}, actQuit, onPages, groupApp, "quit", "back, or quit"},
	{[]string{"ctrl+c"}, actExit, onPages | inDialog | inHelp | inMenu, groupApp, "", "quit"},

	{[]string{"y"}, actYes, inDialog, "", "yes", ""},
	{[]string{"n", "esc", "q"}, actNo, inDialog, "", "no", ""},
	{[]string{"tab", "left", "right", "h", "l"}, actSwitch, inDialog, "", "other answer", ""},
	{[]string{"enter"}, actChoose, inDialog, "", "answer", ""},

	{[]string{"esc", "?", "enter"}, actClose, inHelp, "", "close", ""},
	{[]string{"down"}, page.Down, inHelp, "", "down", ""},
	{[]string{"up"}, page.Up, inHelp, "", "up", ""},
	{[]string{"pgdown", "ctrl+d"}, page.PageDown, inHelp, "", "", ""},
	{[]string{"pgup"}, page.PageUp, inHelp, "", "", ""},

	{[]string{"esc", "q"}, actClose, inMenu, "", "close", ""},
	{[]string{"enter", "space"}, actChoose, inMenu, "", "choose", ""},
	{[]string{"j", "down"}, page.Down, inMenu, "", "down", ""},
	{[]string{"k", "up"}, page.Up, inMenu, "", "up", ""},
	{[]string{"g", "home"}, page.Home, inMenu, "", "", ""},
	{[]string{"G", "end"}, page.End, inMenu, "", "", ""},
}

const goPrefix = "screen "

func goTo(s page.Screen) page.Action { return page.Action(goPrefix + strconv.Itoa(int(s))) }

// screenOf is the numbered screen an action goes to.
func screenOf(a page.Action) (page.Screen, bool) {
	number, ok := strings.CutPrefix(string(a), goPrefix)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(number)
	return page.Screen(n), err == nil
}

// contextOf is the context of a screen.
func contextOf(s page.Screen) where { return 1 << s }

// arrows stand for the names of keys that are drawn on them.
var arrows = map[string]string{"up": "↑", "down": "↓", "left": "←", "right": "→"}

func shownKeys(keys []string) string {
	shown := make([]string, len(keys))
	for i, k := range keys {
		shown[i] = k
		if sign, ok := arrows[k]; ok {
			shown[i] = sign
		}
	}
	return strings.Join(shown, " ")
}
