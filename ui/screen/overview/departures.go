package overview

import (
	"cmp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// departure is a row of the board: a call that was made, one under way, or one that leaves next.
type departure struct {
	id            string
	job           engine.JobID
	row           engine.JobRow // as it was last seen; its ID is "" where the job was never seen here
	past          bool
	leaves        string
	call, target  string
	tries         int // of which this is the last, or will be; 0 = not known
	remark        part.Cell
	waited, why   string // from when it was asked for; what of: both only where there is room
	begins, under bool   // the first that leaves; under way
}

// departures are the calls in the order in which they leave, with the last that were made before them.
type departures struct {
	page.Answer
	soon  []engine.JobRow
	known map[engine.JobID]engine.JobRow // of the last answers: a call's job has left the newest by then
	at    time.Time
	rows  []departure
	first int // of rows that has not been made
	under int // of the next calls that are under way
}

// boardEvery is how often the board moves: each call that leaves moves all of its rows.
const boardEvery = time.Second

// mostKnown is of how many jobs is known whose they are.
const mostKnown = 1200

func (d *departures) want(v *page.View) engine.Query {
	if v.Engine.State == engine.EngineBrowse {
		return nil
	}
	return d.Ask(v, v.Seq, block.NextQuery)
}

// got takes the answer to one of its questions; false = it is to another one.
func (d *departures) got(v *page.View, q engine.JobsQuery, a engine.Answer, err error) bool {
	if !q.Soonest {
		return false
	}
	if !d.Take(v, err) {
		return true
	}
	answer, _ := a.(engine.JobsPage)
	d.at, d.soon = time.Time{}, answer.Jobs
	if len(d.known) > mostKnown || d.known == nil {
		d.known = map[engine.JobID]engine.JobRow{}
	}
	for _, j := range answer.Jobs {
		d.known[j.ID] = j
	}
	return true
}

// see takes the board anew when it is due: past of the calls that were made, then what leaves next, n
// rows in all.
func (d *departures) see(v *page.View, calls []engine.CallRow, past, n int) {
	age := v.Now.Sub(d.at)
	if !v.Frozen && !v.Hurry && age >= 0 && age < v.Unhurried(boardEvery) && len(d.rows) <= n {
		v.Ticks = true
		return
	}
	// Half a second beside the charts, which move with the seconds: no step moves both.
	d.at = v.Now.Add(boardEvery / 2).Truncate(boardEvery).Add(-boardEvery / 2)
	d.rows = d.rows[:0]
	made := map[engine.JobID]time.Time{} // when a job's last call was made
	for _, c := range calls[max(len(calls)-block.LeavingNext, 0):] {
		made[c.Job] = c.At
	}
	next := d.next(v, made)
	past = max(past, n-len(next))                         // at the end of the work the last calls stay
	last := slices.Clone(calls[max(len(calls)-past, 0):]) // by when they were answered
	sort.SliceStable(last, func(a, b int) bool { return last[a].At.Before(last[b].At) })
	for i := range last {
		d.rows = append(d.rows, d.landed(v, &last[i], next))
	}
	d.first = len(d.rows)
	for i := range next[:min(len(next), max(n-past, 0))] {
		d.rows = append(d.rows, leaving(v, &next[i], i == 0, i+1-d.under))
	}
	v.Ticks = v.Ticks || len(next) > 0
}

// next are the jobs to come: those under way, then those of the answer that have not left since.
func (d *departures) next(v *page.View, made map[engine.JobID]time.Time) (out []engine.JobRow) {
	for _, j := range v.Running() { // a call is told of before its job has moved on
		if made[j.ID].Before(j.Started) {
			out = append(out, j)
		}
	}
	d.under = len(out)
	for _, j := range d.soon {
		now, live := v.Job(j.ID)
		if live && now.Rev > j.Rev {
			j = now
		}
		if j.State == engine.Running || !j.Retrying() && made[j.ID].After(d.Answer.At) {
			continue
		}
		out = append(out, j)
	}
	v.Leaving(out[d.under:])
	return out
}

// landed is a call that was made, with what became of it.
func (d *departures) landed(v *page.View, c *engine.CallRow, next []engine.JobRow) departure {
	now, live := v.Job(c.Job)
	j := human.Either(live, now, d.known[c.Job])
	if whose, known := v.Account(c.Owner); known && j.ID == "" {
		j.Owner = whose.ID
	}
	row := departure{id: string(c.Job), job: c.Job, row: j, past: true, tries: c.Try, call: engine.MethodWord(c.Method),
		target: page.BriefTarget(c.Target), leaves: c.At.In(v.Now.Location()).Format("15:04:05.0")}
	// A job whose next try is listed below keeps its id there: the cursor follows what is to come.
	if c.Job == "" || slices.ContainsFunc(next, func(j engine.JobRow) bool { return j.ID == c.Job }) {
		row.id = "call " + strconv.FormatUint(c.Seq, 10)
	}
	if of, from, list := strings.Cut(row.target, " +"); list && of != "" { // a list of matches is asked for by an id
		row.target = "a list of matches"
		if from != "0" {
			row.target = "list from " + from
		}
	}
	row.remark = charts.Became(v, c, "landed ")
	row.waited = waited(c.Asked, c.At)
	switch goes := page.GoesAt(&now); {
	case c.Status == 200 && c.Paced >= 10*time.Millisecond:
		row.why = "paced " + human.Secs(c.Paced)
		if _, method, window, ok := engine.ParseLimit(c.PacedBy); ok { // the title has its host
			row.why += ": " + human.Either(method == "", human.Window(window)+" window", engine.MethodWord(method)+" "+human.Window(window))
		}
	case c.Status == 200:
	case live && now.State != engine.Running && !goes.IsZero():
		row.why = "again in " + charts.Soon(v, goes)
	default:
		row.why = columns.Answer(c.Class, strconv.Itoa(c.Status))
	}
	return row
}

// waited is for how long a job had been asked for at an instant; "" = not known.
func waited(asked, at time.Time) string {
	return human.If(!asked.IsZero(), human.Dur(at.Sub(asked)))
}

// leaving is a job whose call is under way or to come: the nth of those to come, whatever line it stands in.
func leaving(v *page.View, j *engine.JobRow, first bool, nth int) departure {
	call, fetches := strings.CutSuffix(string(j.Kind), ".fetch")
	_, target, _ := strings.Cut(j.Key, ":")
	if !fetches { // account.sync, rank.daily
		_, collected := engine.CollectionOf(j.Queue)
		_, step, of := strings.Cut(call, ".")
		switch {
		case collected && !of: // its round, which reads them
			call, target = "ladder", part.None
		case collected:
			call, target = step, "a player"
		case j.Owner != "":
			call, target = step, v.Whose(j)
		default:
			call = step
		}
	}
	row := departure{id: string(j.ID), job: j.ID, row: *j, begins: first, under: j.State == engine.Running,
		call: call, target: target, tries: j.Tries + 1, waited: waited(j.Created, v.Now), why: page.BriefWhy(v, j.Reason())}
	switch {
	case j.Tries > 0 && !row.under:
		row.why = "after " + columns.LastAnswer(&j.Job)
	case j.State == engine.Available && j.Stand == "" && j.Place > 0:
		row.why = human.Ordinal(nth) + " to leave"
	}
	at := page.GoesAt(j)
	if row.leaves = "in " + charts.Soon(v, at); at.IsZero() {
		row.leaves = part.None
	} else if at.Sub(v.Beat()) < charts.AtOnce {
		row.leaves = "now"
	}
	run := v.Theme.State("RUNNING")
	switch {
	case row.under:
		row.tries, row.waited, row.leaves = j.Tries, waited(j.Created, j.Started), j.Started.In(v.Now.Location()).Format("15:04:05.0")
		row.remark = part.As(run.Token, run.Glyph+" in the air")
	case j.Stand != "":
		sign := v.Theme.State(string(j.Stand))
		row.leaves, row.remark = part.None, part.As(sign.Token, sign.Glyph+" "+strings.ToLower(string(j.Stand)))
	case charts.LateBy(v, j) >= time.Second: // "late 0:00" says nothing
		row.remark = part.As(themes.Warn, "late "+human.Stopwatch(charts.LateBy(v, j)))
	case j.Hold == engine.HoldThrottled:
		row.remark = part.As(themes.Warn, "held by a 429")
	case j.State == engine.Pending:
		row.leaves, row.remark = part.None, part.As(themes.Dim, "after matches")
	case first && at.Sub(v.Now) < boardEvery:
		row.remark = part.As(run.Token, v.Theme.Glyphs.Crumb+" boarding")
	default:
		row.remark = part.As(themes.Dim, "on time")
	}
	return row
}

// leaves is the list of the board. The cursor rests on the first call that has not been made.
type leaves struct {
	part.Slice[departure]
	first int
}

// First implements [part.Cursor]'s rest.
func (l leaves) First() int { return l.first }

func (o *Screen) leaving() leaves {
	return leaves{part.Slice[departure]{Items: o.board.rows, Key: func(d departure) string { return d.id },
		Cells: lists.NoCells[departure]}, o.board.first}
}

// Cells of the board's columns; what is left is shared by whose the call is and what it asks for.
const (
	leavesWide, callWide, tryWide, remarkWide = 11, 9, 4, 16
	mostTarget, mostName                      = 18, 24
	leastTry                                  = 28 // cells that those two keep when the tries are told
	waitedWide, leastWhy                      = 8, 24
)

// kinds are how the columns are cut.
var kinds = [...]part.Kind{3: part.ID, 7: part.Words}

// departuresBlock draws the board on h rows below its title: the heads, the calls, and how many follow.
func (o *Screen) departuresBlock(v *page.View, t *charts.Timetable, w, h int) part.Section {
	n := max(h-2, 1)
	o.board.see(v, o.tape.Take(v), n*3/10, n)
	rest, tries := max(w-1-leavesWide-callWide-remarkWide, 0), 0
	if rest >= leastTry+tryWide {
		tries, rest = tryWide, rest-tryWide
	}
	target := min(mostTarget, rest*11/20)
	name := min(mostName, rest-target)
	widths := [...]int{leavesWide, callWide, name, target, tries, remarkWide + rest - target - name, 0, 0}
	if left := rest - target - name; left >= waitedWide+leastWhy {
		widths[5], widths[6], widths[7] = remarkWide, waitedWide, left-waitedWide
	}
	head := part.NewLine(v.Theme, w).Gap(1)
	for i, name := range [...]string{"LEAVES", "CALL", "FOR", "MATCH", "TRY", "REMARK", "WAITED", "WHY"} {
		if widths[i] > 0 {
			head.Field(part.As(themes.Dim, name), widths[i]-1, kinds[i]).Gap(1)
		}
	}
	host := t.Host
	if !page.OneHost(v) { // the board is of all
		host = ""
	}
	note := "calls to Riot for match data, in the order they leave"
	if next := o.board.rows[o.board.first:]; len(next) == 0 {
		note = "the last calls to Riot for match data"
	} else if next[0].leaves == part.None {
		note = "calls to Riot for match data: none leaves now"
	}
	s := part.Section{Title: "DEPARTURES", Rows: []string{head.String()}, Note: page.Joined(v, host, note)}
	src := o.leaving()
	s = o.listed(v, paneDepartures, w, n+1, 1, src, s, func(l *part.Line, i, _ int) {
		d := &src.Items[i]
		on := o.focus == paneDepartures && i == o.panes[paneDepartures].Cur.At()
		figure := themes.Text
		switch far := i - src.first; {
		case on, d.begins:
			figure = themes.Figure
		case d.past:
			l.On(themes.Fade(min(0.44, 0.1*float64(-far))))
		default:
			l.On(themes.Fade(min(0.33, 0.03*float64(far))))
		}
		try := human.If(d.tries > 0, strconv.Itoa(d.tries))
		for n, c := range [...]part.Cell{part.As(figure, d.leaves), part.As(themes.Dim, d.call), part.As(figure, charts.PlayerName(v.Whose(&d.row))),
			part.As(figure, d.target), part.As(themes.Dim, try), d.remark, part.As(themes.Dim, d.waited), part.As(themes.Dim, d.why)} {
			if widths[n] > 0 {
				l.Field(c, widths[n]-1, kinds[n]).Gap(1)
			}
		}
	})
	if len(src.Items) == 0 {
		s.Note = ""
		s.Rows = append(s.Rows[:0], v.Row(w, part.As(themes.Dim, " "+cmp.Or(v.Waiting(), o.nothingLeaves(v)))))
	}
	for len(s.Rows) <= n {
		s.Rows = append(s.Rows, v.Row(w))
	}
	s.Rows, s.Height = append(s.Rows, o.follows(v, t, w)), h
	click := s.Click
	s.Click = func(x, y int) string { return click(x, y-1) } // below the heads
	return s
}

// follows says how many calls follow those on the board, and when the last of them leaves.
func (o *Screen) follows(v *page.View, t *charts.Timetable, w int) string {
	next := o.board.rows[o.board.first:]
	more := t.Leave - len(next)
	stuck := t.Plan != nil && t.Plan.Stuck
	if stuck { // nothing is planned: those in line
		more = charts.InLines(v.Queues)
		for i := range next {
			more -= page.Btoi(next[i].row.State == engine.Available && next[i].row.Tries == 0)
		}
	}
	if more <= 0 {
		rests := len(next) == 0 && v.Engine.State != engine.EngineNoKey // without a key what comes would wait
		return v.Row(w, part.As(themes.Dim, human.If(rests, part.Clause(byItself(v, t.Runs), w-1))))
	}
	text := " " + v.Theme.Glyphs.Ellipsis + " " + page.Count(more) + " more " + human.Either(stuck, "in line", "planned")
	text += human.If(t.Ends.After(v.Now), "; the last leaves "+t.Leaves(v))
	return v.Row(w, part.As(themes.Dim, text+"   "), part.As(themes.Accent, v.Keyed("{open}")), part.As(themes.Dim, " opens one"))
}

// brings says in few words what the schedules of the engine do, by name.
var brings = map[string]string{"latest": "new matches", "rank.daily": "ranks", "report.weekly": "weekly reports",
	"sweep": "failed matches again", "prune": "old jobs deleted", "compact": "months packed"}

// byItself is what the engine does next though nobody asks for it, and when; "" = nothing is known. Of what is fetched
// nothing comes where no account is tracked.
func byItself(v *page.View, runs []charts.Run) (text string) {
	tracked := slices.ContainsFunc(v.Accounts, func(a engine.AccountRow) bool { return a.Tracked })
	for i, r := range runs {
		again := slices.ContainsFunc(runs[:i], func(o charts.Run) bool { return o.Name == r.Name })
		if !again && (tracked || r.Name != "latest" && r.Name != "rank.daily") {
			text += human.Either(text == "", " next by itself: ", ", ") + cmp.Or(brings[r.Name], r.Name) + " at " + engine.When(r.At, v.Now)
		}
	}
	return text
}

// nothingLeaves says in place of calls why there are none.
func (o *Screen) nothingLeaves(v *page.View) string {
	return human.Either(o.board.Loading() && v.Engine.State != engine.EngineBrowse, "loading…", v.Start("no call waits", "{sync} starts a sync"))
}

// job is the one under the cursor of the departures.
func (o *Screen) job(v *page.View) (engine.JobRow, bool) {
	d, ok := lists.Selected(&o.panes[paneDepartures], o.leaving().Slice)
	if o.focus != paneDepartures || !ok || d.job == "" {
		return engine.JobRow{}, false
	}
	if j, live := v.Job(d.job); live {
		return j, true
	}
	d.row.ID, d.row.Key = d.job, cmp.Or(d.row.Key, d.target)
	return d.row, true
}

// whyNot says why an operation cannot be carried out on the job under the cursor; "" = it can.
func (o *Screen) whyNot(v *page.View, a page.Action) string {
	d, ok := lists.Selected(&o.panes[paneDepartures], o.leaving().Slice)
	switch j, _ := o.job(v); {
	case !ok || d.job == "":
		return lists.None(&o.panes[paneDepartures], "job")
	case d.past && !j.Retrying():
		return v.Keyed("that call has been made: {open} shows its job")
	default:
		return page.CannotOn(a, j)
	}
}
