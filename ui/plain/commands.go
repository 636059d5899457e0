package plain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/ui/line"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
	"github.com/farsight-console/farsight/ui/screen"
	"github.com/farsight-console/farsight/ui/screen/report"
)

// mostLines is how many rows of a list are said at once: a screen reader cannot be stopped in the
// middle by looking away.
const mostLines = 40

// command is what a line may begin with.
type command struct {
	name, arg, help string // without help it is not listed, and answers why it is not here
	run             func(p *plain, arg string)
}

// commands are the words that every console knows, with the operations among them. They are made of the
// same two tables as the palette's: the words (package line) and the operations. The operations stand
// where reset stands, which is one of them in all but name.
var commands []command

// The table cannot be declared at once: help, which is in it, goes through it.
func init() {
	list := func(s page.Screen) func(p *plain, arg string) {
		return func(p *plain, arg string) { p.list(page.Target{Screen: s}, arg) }
	}
	runs := map[string]func(p *plain, arg string){
		"help": (*plain).help, "status": (*plain).status, "quit": func(p *plain, _ string) { p.done = true },
		"accounts": list(page.ScreenAccounts), "jobs": list(page.ScreenJobs), "retries": list(page.ScreenRetries),
		"alerts": list(page.ScreenAlerts), "schedules": list(page.ScreenSchedules), "audit": list(page.ScreenAudit),
		"collections": list(page.ScreenCollections), "members": list(page.ScreenMembers), "logs": list(page.ScreenLogs),
		"limits": (*plain).limits, "matches": (*plain).matches, "account": (*plain).account,
		"report": (*plain).report, "job": (*plain).job, "chaos": (*plain).chaos,
		"reset": func(p *plain, _ string) { p.say("Nothing was done: " + line.ResetElsewhere + ".") },
	}
	for _, w := range line.Words {
		if w.Name == "reset" {
			for _, o := range operation.Lines() {
				run := func(p *plain, arg string) { p.operate(o, arg) }
				commands = append(commands, command{o.Word(), o.Line.Args, o.Line.Help, run})
			}
		}
		run := runs[w.Name]
		if run == nil { // such as theme: the word is known, so that it can say what to do instead
			run = func(p *plain, _ string) { p.say("Not in this console: " + w.Not + ".") }
		}
		commands = append(commands, command{w.Name, w.Args, w.Help, run})
	}
}

// find is the command of a word in lower case; exit and q are what people type to leave.
func find(name string) (command, bool) {
	if name == "exit" || name == "q" {
		name = "quit"
	}
	i := slices.IndexFunc(commands, func(c command) bool { return c.name == name })
	if i < 0 {
		return command{}, false
	}
	return commands[i], true
}

// near are the three commands that are most like a word; of equals those that help names first.
func near(word string) []string {
	var names []string
	// What is not in this console is no help to whoever mistyped.
	for _, c := range commands {
		if c.help != "" {
			names = append(names, c.name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return filter.Distance(word, a) - filter.Distance(word, b) })
	return names[:3]
}

// status says how everything stands.
func (p *plain) status(string) { p.say(p.statusLines()...) }

// help lists the commands with a sentence each.
func (p *plain) help(string) {
	for _, c := range commands {
		if c.help != "" {
			p.say(strings.TrimSpace(c.name+" "+c.arg) + ": " + c.help + ".")
		}
	}
	// These are the forms that most people need; a filter that is wrong is answered with what it lacks.
	p.say("A filter is words and fields: state:failed, age over 1 h as age>1h, -word to leave out.")
}

// list says the rows of a screen. It is the screen itself, asked for its export: the plain console has
// the same rows in the same order, and none of its own.
func (p *plain) list(of page.Target, filter string) {
	// A screen of its own for each list: nothing is left of the filter before.
	pg, v := screen.New(&of), p.view()
	if f, ok := pg.(page.Filterer); ok && filter != "" {
		if err := f.SetFilter(filter); err != nil {
			p.say("The filter is wrong: " + err.Error() + ".")
			return
		}
	}
	if !p.load(pg, v) {
		return
	}
	x, ok := pg.(lists.Exporter)
	if !ok {
		return
	}
	_, rows := x.Export(v, false)
	// A long list is worked out apart from the screen, which must not wait for it. Here somebody does.
	if w, ok := pg.(lists.Worker); ok {
		if work := w.Work(); work != nil {
			w.Done(work())
			_, rows = x.Export(v, false)
		}
	}
	p.sayRows(rows)
}

// load asks what a page wants to know, until it wants no more; false when the engine could not answer,
// which was said then.
func (p *plain) load(pg page.Page, v *page.View) bool {
	// A page that shows one thing first asks for that, and then for what it leads to.
	for {
		q := pg.Want(v)
		if q == nil {
			return true
		}
		a, err := p.console.Find(p.ctx, q)
		pg.Got(v, q, a, err)
		if err != nil {
			p.say("That could not be read: " + page.Sentence(err) + ".")
			return false
		}
	}
}

// sayRows says each row of a table as a sentence: its name, which is the first field, then what is
// known. Empty fields are left out: a screen reader would read "none" forty times.
//
//	match:KR_7214550881: queue ingest.summoner.full, state RETRYABLE, try 2/5, last result 503.
func (p *plain) sayRows(rows [][]string) {
	if len(rows) < 2 {
		p.say("There are none.")
		return
	}
	head := rows[0]
	for _, row := range rows[1:min(len(rows), mostLines+1)] {
		var facts []string
		for i, text := range row {
			if i == 0 || i >= len(head) || text == "" || text == part.None {
				continue
			}
			name, _, _ := strings.Cut(strings.ToLower(head[i]), ",") // without its unit: "SIZE, B"
			facts = append(facts, name+" "+wordOf(head[i], text))
		}
		p.say(row[0] + ": " + strings.Join(facts, ", ") + ".")
	}
	// The rows that were left out are counted: a list must not seem to end where it was cut.
	if more := len(rows) - 1 - mostLines; more > 0 {
		p.say("And " + human.Counted(more, "more", "more") + ": a filter narrows the list.")
	}
}

// wordOf leaves a state word without its sign: a reader would say "black circle running".
func wordOf(title, text string) string {
	if title != "STATE" {
		return text
	}
	return strings.TrimLeftFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '(' })
}

// limits says how each limit stands; its export has figures that only a column explains. A window that
// has no limit, such as that of a service, has no count either.
//
//	asia app per 2 minutes: 83 of 100 used, resets in 41 seconds, 3 calls wait.
func (p *plain) limits(string) {
	now := time.Now()
	if len(p.rows.Data.Limits.Buckets) == 0 {
		p.say("No limit is known yet: the first answer tells them.")
	}
	for _, b := range p.rows.Data.Limits.Buckets {
		text := fmt.Sprintf("%s: %d of %d used", bucketName(b), b.Used, b.Limit)
		if b.Limit <= 0 {
			text = bucketName(b) + ": no count"
		}
		// A window that is over counts from its next call on.
		if b.Reset.After(now) && b.Limit > 0 {
			text += ", resets in " + human.Spoken(b.Reset.Sub(now))
		}
		if b.BlockedBy != "" {
			text += ", " + b.BlockedBy
		}
		if b.Waiting > 0 {
			text += ", " + human.Counted(b.Waiting, "call waits", "calls wait")
		}
		p.say(text + ".")
	}
}

// matches lists those of an account, if that is what was typed, else those of all that a filter fits.
func (p *plain) matches(arg string) {
	if a, ok := line.Stored(&p.rows.Data, arg); ok {
		p.list(page.Target{Screen: page.ScreenMatches, ID: a.ID}, "")
		return
	}
	p.list(page.Target{Screen: page.ScreenMatches}, arg)
}

// account says how one stands, by its Riot ID or our id; with another name, how its sync is started.
func (p *plain) account(arg string) {
	a, ok := line.Stored(&p.rows.Data, arg)
	if !ok {
		p.say("There is no account " + arg + ": sync " + cmp.Or(arg, "Name#TAG") + " platform starts one.")
		return
	}
	p.say(a.RiotID + " on " + cmp.Or(a.Platform, "no platform") + ": its sync " + columns.SyncText(a) + ".")
	if a.Status.Open() {
		p.say(progressText(a) + ".")
	}
	if !a.LastSync.IsZero() {
		p.say("Its last complete sync ended at " + p.clock(a.LastSync, "2006-01-02 15:04:05 MST") + ".")
	}
	if a.LastError != "" {
		p.say("Its last error: " + a.LastError + ".")
	}
}

// report says when an account plays, in the sentences of the screen of reports. It is asked for: reports
// do not come with Watch.
func (p *plain) report(arg string) {
	a, ok := line.Stored(&p.rows.Data, arg)
	if !ok {
		p.say("There is no account " + cmp.Or(arg, "without a name") + ".")
		return
	}
	found, err := p.console.Find(p.ctx, engine.AccountQuery{ID: a.ID})
	if err != nil {
		p.say("The report could not be read: " + page.Sentence(err) + ".")
		return
	}
	d, _ := found.(engine.AccountDetail)
	// A report of no match has no hour that could be told.
	if d.Report == nil || d.Report.Matches == 0 {
		p.say("There is no report of " + a.RiotID + " yet: it is made at the end of each sync.")
		return
	}
	p.say(report.ReportLines(d.Report, a.RiotID)...)
}

// job says all that is known of one, by its id or its key: a key has a colon. Live ones are among the
// rows that the console has; of one that has ended the engine is asked.
func (p *plain) job(arg string) {
	// The palette's names of jobs begin with job: and may be pasted.
	arg = strings.TrimPrefix(arg, "job:")
	q := engine.JobQuery{ID: engine.JobID(arg)}
	if strings.Contains(arg, ":") {
		q = engine.JobQuery{Key: arg}
	}
	if j, ok := line.Live(&p.rows.Data, arg); ok { // a key may have ended jobs, too
		q = engine.JobQuery{ID: j.ID}
	}
	found, err := p.console.Find(p.ctx, q)
	if err != nil {
		p.say("The job could not be read: " + page.Sentence(err) + ".")
		return
	}
	d, _ := found.(engine.JobDetail)
	j := d.Job
	state := columns.StateWord(&j.Job)
	p.say(fmt.Sprintf("%s is %s: %d of %d tries used, queue %s.", thing(j.Job), state, j.Tries, d.MaxAttempts, j.Queue))
	if next := d.NextRetryAt; !next.IsZero() {
		p.say("It is tried again in " + human.Spoken(time.Until(next)) + ", at " + p.clock(next, "15:04:05 MST") + ".")
	}
	if j.Why != "" {
		p.say("It waits: " + engine.WhyUntil(j.Why, j.Until, time.Now()) + ".")
	}
	for _, a := range d.Attempts {
		p.say(p.attemptText(a))
	}
}

// attemptText is a try in a sentence: "Try 2 at 12:30:46: 503; retry in 10 s." What was decided after it
// stands behind the semicolon.
func (p *plain) attemptText(a engine.Attempt) string {
	text := fmt.Sprintf("Try %d at %s: ", a.Number, p.clock(a.Start, "15:04:05"))
	// Its error where it failed, else what it came to: done, snoozed, cancelled.
	switch {
	case a.End.IsZero():
		return text + "it runs."
	case a.Err != "":
		text += a.Err
	default:
		text += string(a.Verb)
	}
	if a.Decision != "" {
		text += "; " + a.Decision
	}
	return text + "."
}
