package inspector

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// Draw implements Page.
// The job's payload and record stand beside it on a wide screen, and in its place elsewhere.
func (p *Job) Draw(v *page.View) []string {
	if !p.Have {
		text := "loading the job…"
		if p.Err != nil {
			text = page.Sentence(p.Err)
		}
		return v.Whole(part.Section{Title: "JOB", Rows: []string{v.Row(v.Inner(v.W), part.Plain("   "+text))}})
	}
	switch {
	case v.Size == page.L:
		left := v.W - rawWidth
		return part.Beside(p.inspector(v, left),
			v.Sections(left, 0, rawWidth, v.H, p.rawPanel(v, v.Inner(rawWidth), v.H-1, p.raw.on)))
	case p.raw.on:
		return v.Whole(p.rawPanel(v, v.Inner(v.W), v.H-1, false))
	}
	return p.inspector(v, v.W)
}

// inspector is all that is known of the job on outer cells: how it stands and why, its tries on
// one axis, what Riot answered, whose it is, what became of it.
// The tries have their place before all but the head and the reason; log and calls come last, as
// they have screens of their own.
func (p *Job) inspector(v *page.View, outer int) []string {
	// The parts measure the screen by the view: they get one that is as wide as the inspector.
	n := *v
	n.W = outer
	w, j := n.Inner(outer), p.row(v)
	why := charts.WhyOf(&n, &j, w)
	facts := p.triedRows(&n, w)
	rungs := len(p.rungs(&n))
	// A section has a row for its title besides its own.
	one := func(s func(h int) part.Section) func(y, h int) []string {
		return func(y, h int) []string { return n.Sections(0, y, outer, h, s(h-1)) }
	}
	all := []page.Band{
		{Least: 2, Most: 2, Draw: one(func(int) part.Section {
			return part.Section{Title: "JOB", Note: string(p.ID), Tail: p.Told(v), Rows: []string{p.headRow(&n, w)}}
		})},
		{Least: 1 + len(why.Rows), Most: 1 + len(why.Rows), Draw: one(func(int) part.Section { return why })},
		{Least: min(rungs, 3) + 2 + len(facts), Most: max(rungs, 1) + 3 + len(facts), Keep: 1,
			Draw: one(func(h int) part.Section { return p.tries(&n, w, h, facts) })},
		{Least: 4, Most: 10, Keep: 2, Draw: func(y, h int) []string { return n.Abreast(y, h, p.Blocks(&n)) }},
	}
	if rows := p.match.rows(); rows > 0 {
		all = append(all, page.Band{Least: 2, Most: 1 + rows, Keep: 3,
			Draw: one(func(h int) part.Section { return p.match.section(&n, w, h, p.Detail.Account) })})
	}
	if rows := block.LogRows(&n, w, n.H, p.ID); len(rows) > 0 {
		all = append(all, page.Band{Least: 2, Most: 1 + len(rows), Keep: 3, Draw: one(func(h int) part.Section {
			return part.Section{Title: "LOG", Tail: v.Keyed("{logs of the job} shows all"),
				Rows: rows[:min(len(rows), h)]}
		})})
	}
	var calls []engine.CallRow // a few of thousands
	for i := range v.Calls {
		if c := &v.Calls[i]; v.Size == page.L && c.Job == p.ID {
			calls = append(calls, *c)
		}
	}
	// Two calls stand beside each other.
	if h := len(calls)/2 + 2; len(calls) > 0 {
		all = append(all, page.Band{Least: 2, Most: h, Keep: 4, Draw: one(func(h int) part.Section {
			return part.Section{Title: "CALLS", Note: "of this job; ms = Riot, s = our limiter",
				Rows: charts.CallColumns(&n, calls, w, h)}
		})})
	}
	rows := block.Fill(&n, n.Stacked(all...), nil)
	v.Ticks = v.Ticks || n.Ticks
	return rows
}

// headRow is the job in one line.
// Such as "match:KR_7214550881   ◌ RETRYABLE  2 of 5 tries used, next +0:12".
// A stand, such as DOWN, is a word beside the state that tells more than it.
func (p *Job) headRow(v *page.View, w int) string {
	j := p.row(v)
	l := part.NewLine(v.Theme, w).Gap(1).Cells(part.Plain(columns.JobKey(&j.Job))).Gap(3).
		Cells(v.State(columns.StateWord(&j.Job))).Gap(2)
	if word := string(j.Stand); word != "" && word != columns.StateWord(&j.Job) {
		l.Cells(v.State(word)).Gap(2)
	}
	l.Cells(part.Plain(p.triesText(v, j)))
	right := v.Join(part.As(themes.Dim, string(j.Queue)), part.Plain(p.Detail.Account))
	return l.Gap(3).Right(append(right, part.Plain(" "))...).String()
}

// triesText is how many tries were used of those that the policy has, in the present round: a retry
// by hand begins a new one, and so does each phase of a sync.
// Before the answer the policy's number of tries is not known.
func (p *Job) triesText(v *page.View, j engine.JobRow) string {
	text := human.Counted(j.Tries, "try", "tries") + " used"
	if p.Detail.MaxAttempts > 0 {
		text = strconv.Itoa(j.Tries) + " of " + strconv.Itoa(p.Detail.MaxAttempts) + " tries used"
	}
	text += human.Either(j.Round-j.Phase > 1, " since it was retried", human.If(j.Phase > 0, " since it went on"))
	if j.State == engine.Retryable || j.State == engine.Scheduled {
		text += ", next " + v.Until(j.Due)
	}
	return text
}

// why is the one computed reason why the job does not run.
// Such as "2 min window paces, in 41 s, place 12 in line"; "" = it runs, has ended, or needs no
// reason.
func (p *Job) why(v *page.View) string {
	j := p.row(v)
	if j.Why == "" {
		return ""
	}
	return page.BriefWhy(v, j.Why) + human.If(j.Until.After(v.Now), ", in "+v.In(j.Until)) +
		human.If(j.Place > 0, ", place "+strconv.Itoa(j.Place)+" in line")
}

// waitEnd is when the wait after the last attempt ends or has ended, as far as the
// job's row tells; zero = as the attempt planned it.
func waitEnd(j engine.JobRow) time.Time { return human.Either(j.State.Terminal(), j.Finished, j.Due) }

// inLineFrom is when an attempt began to stand in line: it could have run from then on.
// An attempt is stored with its start at the wire; the wait for a worker and for the limiter, which
// were before it, are stored as spans.
func inLineFrom(a engine.Attempt) time.Time {
	return a.Start.Add(-max(a.Paced, 0) - charts.InLine(a))
}

// waitText tells how long was waited, and of how much where it was cut short.
// A wait may be shorter than planned (somebody retried by hand) or longer (there was no room).
// A hold is called by its reason. A second more or less than
// planned is the clock's and not told.
func waitText(a engine.Attempt, from, ended time.Time) string {
	name := human.Either(a.Number == 0, a.Hold.String(), "wait")
	d, planned := ended.Sub(from), a.Next.Sub(from)
	switch {
	case (planned - d).Abs() < time.Second:
		return name + " " + human.Window(planned.Round(time.Second))
	case d > planned:
		return name + " " + human.Window(d.Round(time.Second))
	}
	return name + " " + human.Dur(d) + " of " + human.Window(planned.Round(time.Second))
}

// pacedText says how long the limiter held a call, and for which window.
func pacedText(v *page.View, c *engine.CallRow) part.Cell {
	return part.If(c.Paced > 0, part.As(themes.Dim, "paced "+human.Secs(c.Paced)+human.If(c.PacedBy != "", " for "+v.WindowCalled(c.PacedBy))))
}

// labelled is a fact with its name; one that is not known is no cell at all.
func labelled(name, text string) part.Cell {
	return part.If(text != "", part.As(themes.Dim, name+" "+text))
}

// Blocks are what Riot answered last, whose the job is, and what became of it, side by side.
// A small screen has room for two of them.
// The view is of the width in which they are drawn.
func (p *Job) Blocks(v *page.View) []func(w, h int) part.Section {
	all := []func(w, h int) part.Section{
		func(w, h int) part.Section {
			return part.Section{Title: "RIOT'S ANSWER", Note: p.AnsweredNote(v), Rows: p.AnswerRows(v, w), Height: h}
		},
		func(w, h int) part.Section { return part.Section{Title: "WHOSE", Rows: p.factRows(v, w), Height: h} },
	}
	if v.Size == page.S {
		return all
	}
	return append(all, func(w, h int) part.Section {
		return part.Section{Title: "HISTORY", Note: page.Count(len(p.moves(v))), Rows: p.historyRows(v, w, h), Height: h}
	})
}

// AnsweredNote is when the answer came.
// "" = no call is known.
func (p *Job) AnsweredNote(v *page.View) string {
	if p.Detail.Call == nil {
		return ""
	}
	return v.Clock(p.Detail.Call.At)
}

// AnswerRows are the last call of the job as the flight recorder has it.
// The recorder keeps the last calls of the process: of an older job only its attempts are known.
func (p *Job) AnswerRows(v *page.View, w int) []string {
	c := p.Detail.Call
	if c == nil {
		return []string{v.Row(w, part.As(themes.Dim, " no call of it is in the recorder"))}
	}
	rows := v.Flow(w, columns.StatusCell(c), part.Plain(human.Millis(c.Took)),
		part.Plain(engine.MethodWord(c.Method)+" call to "+c.Host), part.Plain(c.Target), columns.NoteCell(c))
	if c.Body != "" { // first Riot's own words: on a small screen the rest may be cut
		rows = append(rows, v.Paragraph(w, themes.Dim, c.Body)...)
	}
	rows = append(rows, v.Flow(w, pacedText(v, c))...)
	return append(rows, v.Flow(w, labelled("Riot counts", counted(c.App)), labelled(engine.MethodWord(c.Method)+" calls", counted(c.MethodUsed)))...)
}

// counted are Riot's counts of windows, which it tells as "17:1,84:120", in words: 17 in 1 s, 84 in 2 min.
func counted(header string) string {
	windows := strings.Split(header, ",")
	for i, w := range windows {
		n, secs, _ := strings.Cut(w, ":")
		if span, err := time.ParseDuration(secs + "s"); err == nil {
			windows[i] = n + " in " + human.Window(span)
		}
	}
	return strings.Join(windows, ", ")
}

// factRows are what the job is and whose.
// Facts that are "" take no place.
func (p *Job) factRows(v *page.View, w int) []string {
	j := p.row(v)
	rows := v.Flow(w, part.Plain(string(j.Kind)), part.Plain(policyText(cmp.Or(p.Detail.Policy.Name, j.Policy))),
		part.Plain(string(j.Queue)), part.Plain(p.Detail.Account))
	rows = append(rows, v.Flow(w, part.Plain("created "+v.Clock(j.Created)), part.Plain(allTries(j)),
		part.Plain(holdText(j)), endedCell(v, j))...)
	return append(rows, v.Flow(w,
		append([]part.Cell{part.Plain(parentText(p.Detail.Parents, j.State.Terminal()))}, handsOf(&j)...)...)...)
}

// allTries is how many tries a job has had where a retry by hand began to count anew; of its
// first round the head tells.
func allTries(j engine.JobRow) string {
	return human.If(j.Round-j.Phase > 1, human.Counted(j.Tried(), "try", "tries")+" in all")
}

// endedCell is when the job ended; none while it lives.
func endedCell(v *page.View, j engine.JobRow) part.Cell {
	return part.If(j.State.Terminal(), part.Plain("ended "+v.Clock(j.Finished)))
}

// handsOf are whose hands a job went through, and what they have brought.
// By is empty for what the engine made by itself.
func handsOf(j *engine.JobRow) []part.Cell {
	worker := part.As(themes.Dim, "last had by worker "+strconv.Itoa(j.Worker))
	if j.State == engine.Running {
		worker = part.Plain("worker " + strconv.Itoa(j.Worker) + " has it")
	}
	return []part.Cell{
		part.If(j.By != "", part.Plain("asked for by "+j.By)), part.If(j.Worker > 0, worker),
		part.If(j.Bytes > 0, part.Plain("fetched "+human.Bytes(int64(j.Bytes)))),
	}
}

// policyText names the policy of its retries.
func policyText(name string) string { return human.If(name != "", "policy "+name) }

// holdText is how often it was sent back to wait without a try being charged: a 429, an endpoint
// that is down, a paused queue.
func holdText(j engine.JobRow) string {
	return human.If(j.Holds != 0, human.Counted(j.Holds, "hold", "holds")+" uncharged")
}

// parentText says how many syncs wait for the job, or did until it ended.
// One match may be wanted by the syncs of several players; it is fetched once.
func parentText(parents []engine.JobID, ended bool) string {
	switch {
	case len(parents) == 0:
		return ""
	case ended:
		return human.Counted(len(parents), "sync", "syncs") + " waited for it"
	}
	return human.Counted(len(parents), "sync waits", "syncs wait") + " for it"
}

// traceName says what the other side's id of an attempt names.
func traceName(k engine.Kind) string {
	return human.Either(k == engine.KindCall, "call", "Riot's trace id")
}

// attemptFacts tell an attempt in full.
// What stands in the attempt's own row of the list is left out but for the error, which is cut
// there.
func (p *Job) attemptFacts(v *page.View, a *engine.Attempt) []part.Cell {
	dim := func(is bool, text string) part.Cell { return part.If(is, part.As(themes.Dim, text)) }
	return []part.Cell{
		part.As(themes.Accent, human.Either(a.Number == 0, "hold", "try "+strconv.Itoa(a.Try))),
		part.Plain(columns.InShort(a.Err)), part.As(themes.Dim, a.Decision),
		dim(a.Status > 0 && a.Err == "", "status "+strconv.Itoa(a.Status)),
		dim(!a.Next.IsZero(), "next at "+v.Clock(a.Next)),
		dim(a.External != "", traceName(p.row(v).Kind)+" "+a.External),
		dim(a.Worker > 0, "worker "+strconv.Itoa(a.Worker)),
	}
}

// moves are those that are stored, between when the job was made and, if nothing is stored of it, its end.
func (p *Job) moves(v *page.View) []engine.Transition {
	j, stored := p.row(v), p.Detail.History
	moves := append([]engine.Transition{{At: j.Created, To: "created", Actor: j.By}}, stored...)
	if j.State.Terminal() && (len(stored) == 0 || stored[len(stored)-1].To != j.State.String()) {
		moves = append(moves, engine.Transition{At: j.Finished, To: j.State.String()})
	}
	return moves
}

// historyRows are the last moves of the job, newest first.
// Such as "12:30:46 → retryable  503 service unavailable · system".
func (p *Job) historyRows(v *page.View, w, h int) []string {
	rows, moves := make([]string, 0, h), p.moves(v)
	for i := len(moves) - 1; i >= 0 && len(rows) < h; i-- {
		t := moves[i]
		l := part.NewLine(v.Theme, w).Gap(1).Field(part.As(themes.Dim, v.Clock(t.At)), 9, part.Words)
		l.Field(part.Plain(v.Theme.Glyphs.Next+" "+t.To), 12, part.Words).Gap(1)
		reason := columns.InShort(t.Reason)
		if safe.Width(safe.Text(reason)) < l.Room() {
			rows = append(rows, l.Cells(v.Fitting(l.Room()-1, part.Plain(reason),
				part.As(themes.Dim, t.Actor))...).String())
			continue
		}
		// In a narrow column the reason has rows of its own: it is never cut for who it was.
		rows = append(rows, l.String())
		for _, line := range part.Wrap(reason, max(w-11, 10)) {
			rows = append(rows, part.NewLine(v.Theme, w).Gap(10).Cells(part.Plain(line)).String())
		}
	}
	return rows[:min(len(rows), h)]
}
