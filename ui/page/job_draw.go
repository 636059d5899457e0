package page

import (
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// Draw implements Page.
func (p *Job) Draw(v *View) []string {
	if !p.have {
		text := "loading the job…"
		if p.err != nil {
			text = Sentence(p.err)
		}
		return v.whole(part.Section{Title: "JOB", Rows: []string{v.row(v.inner(v.W), part.Plain("   "+text))}})
	}
	switch {
	case v.Size == L:
		left := v.W - rawWidth
		return part.Beside(p.inspector(v, left), v.sections(left, 0, rawWidth, v.H, p.rawPanel(v, v.inner(rawWidth), v.H-1, p.raw.on)))
	case p.raw.on:
		return v.whole(p.rawPanel(v, v.inner(v.W), v.H-1, false))
	}
	return p.inspector(v, v.W)
}

// inspector is the job's life in a frame of outer cells.
func (p *Job) inspector(v *View, outer int) []string {
	w := v.inner(outer)
	life := p.life(v, w)
	call := p.callRows(v, w)
	facts := p.factRows(v, w)
	panels := []part.Section{{Title: "JOB", Note: string(p.id), Tail: p.told(v), Rows: life, Height: len(life)}}
	room := max(v.H-len(life)-len(call)-len(facts)-5, 1)
	if v.Size == S {
		panels = append(panels, p.foldPanel(v, w, room))
	} else {
		panels = append(panels, p.attemptPanel(v, w, room))
	}
	if len(call) > 0 {
		panels = append(panels, part.Section{Title: "LAST CALL", Rows: call, Height: len(call)})
	}
	panels = append(panels, part.Section{Title: "FACTS", Rows: facts, Height: len(facts)})
	panels = append(panels, p.pastPanels(v, w, room-panels[1].Height-1)...)
	return v.sections(0, 0, outer, v.H, panels...)
}

// attemptPanel lists the attempts as a table.
func (p *Job) attemptPanel(v *View, w, room int) part.Section {
	src := p.source(v)
	t := part.Table{Columns: attemptColumns, Title: "TRIES", Empty: "not tried yet"}
	h := clamp(src.Len(), 1, room)
	return part.Section{Head: t.Header(v.Theme, w), Rows: p.list.body(v, t, w, h, src), Height: h, Click: func(_, y int) string { return p.list.clicked(src, y) }}
}

// foldPanel has one line for each attempt instead of axis and table.
func (p *Job) foldPanel(v *View, w, room int) part.Section {
	fold := p.timeline(v).Fold(v.Theme, w-1)
	p.list.height = room
	p.list.cur.Sync(p.source(v), room)
	at := p.list.cur.At()
	for i := range fold {
		sign := " "
		if i == at && i < len(p.runs()) {
			sign = v.Theme.Paint(themes.Focus, v.Theme.Glyphs.Cursor)
		}
		fold[i] = sign + fold[i]
	}
	if len(fold) == 0 {
		fold = []string{v.row(w, part.As(themes.Dim, "   not tried yet"))}
	}
	top := clamp(at-room/2, 0, max(len(fold)-room, 0))
	fold = fold[top:]
	return part.Section{Title: "ATTEMPTS", Rows: fold, Height: clamp(len(fold), 1, room)}
}

// life is the head line, the axis, and the reason why the job waits.
func (p *Job) life(v *View, w int) []string {
	rows := []string{p.headRow(v, w)}
	if line := p.timeline(v); len(line.Stages) > 0 && v.Size != S {
		rows = append(rows, line.View(v.Theme, w)...)
	}
	if why := p.why(v); why != "" {
		rows = append(rows, p.whyRows(v, w, why)...)
	}
	return rows
}

// whyRows are the reason on as many rows as it takes.
func (p *Job) whyRows(v *View, w int, why string) []string {
	const label = " why: "
	var rows []string
	for i, line := range part.Wrap(why, max(w-len(label)-1, 10)) {
		head := part.As(themes.Dim, label)
		if i > 0 {
			head = part.Plain(strings.Repeat(" ", len(label)))
		}
		rows = append(rows, v.row(w, head, part.Plain(line)))
	}
	return rows
}

// headRow is the job in one line.
func (p *Job) headRow(v *View, w int) string {
	j := p.row(v)
	l := part.NewLine(v.Theme, w).Gap(1).Cells(part.Plain(columns.JobKey(&j.Job))).Gap(3).Cells(v.state(columns.StateWord(&j.Job))).Gap(2)
	if word := string(j.Stand); word != "" && word != columns.StateWord(&j.Job) {
		l.Cells(v.state(word)).Gap(2)
	}
	l.Cells(part.Plain(p.triesText(v, j)))
	right := v.join(part.As(themes.Dim, string(j.Queue)), part.Plain(p.detail.Account))
	return l.Gap(3).Right(append(right, part.Plain(" "))...).String()
}

func (p *Job) triesText(v *View, j engine.JobRow) string {
	text := human.Counted(j.Tries, "try", "tries") + " used"
	if p.detail.MaxAttempts > 0 {
		text = strconv.Itoa(j.Tries) + " of " + strconv.Itoa(p.detail.MaxAttempts) + " tries used"
	}
	if j.Round > 1 {
		text += " in round " + strconv.Itoa(j.Round)
	}
	if j.State == engine.Retryable || j.State == engine.Scheduled {
		text += ", next " + v.until(j.Due)
	}
	return text
}

// why is the one computed reason why the job does not run.
func (p *Job) why(v *View) string {
	j := p.row(v)
	if j.Why == "" {
		return ""
	}
	text := j.Why
	if j.Until.After(v.Now) {
		text += ", in " + v.in(j.Until)
	}
	if j.Place > 0 {
		text += ", place " + strconv.Itoa(j.Place) + " in line"
	}
	return text
}

// timeline turns attempts into stages: what was, what is due, what is planned.
func (p *Job) timeline(v *View) part.Timeline {
	t := part.Timeline{Now: v.Now, Zone: v.Now.Location(), Real: v.Size == L}
	j := p.row(v)
	runs := p.runs()
	for i, a := range runs {
		ended := waitEnd(j)
		if i+1 < len(runs) {
			ended = inLineFrom(runs[i+1])
		}
		t.Stages = append(t.Stages, p.stage(v, a, ended))
	}
	if j.State == engine.Available && len(runs) > 0 && j.Due.Before(v.Now) {
		v.Ticks = true
		t.Stages = append(t.Stages, part.Stage{Head: strconv.Itoa(j.Attempts+1) + " in line", At: j.Due, Segments: []part.Segment{{Kind: part.Queued, Start: j.Due, End: v.Now}}})
	}
	if j.State != engine.Retryable && j.State != engine.Scheduled {
		return t
	}
	v.Ticks = true // the marker of now moves
	head := "due"
	if j.State == engine.Retryable {
		head = strconv.Itoa(j.Attempts+1) + " due"
	}
	t.Stages = append(t.Stages, part.Stage{Head: head, At: j.Due})
	if j.State == engine.Retryable {
		t.Stages = append(t.Stages, p.planned(j)...)
	}
	return t
}

// planned are the tries that follow only if the next one fails too.
func (p *Job) planned(j engine.JobRow) []part.Stage {
	var out []part.Stage
	at, before := j.Due, j.Attempts-j.Tries // numbers on the axis run over all rounds
	for try := j.Tries + 1; try < p.detail.MaxAttempts && try-1 < len(p.detail.Policy.Delays); try++ {
		delay := p.detail.Policy.Delays[try-1]
		at = at.Add(delay)
		out = append(out, part.Stage{Head: strconv.Itoa(before+try+1) + " +" + human.Seconds(delay), At: at, Planned: true})
	}
	return out
}

// planText says what happens if every further try fails.
func (p *Job) planText(v *View, j engine.JobRow) string {
	if j.State != engine.Retryable || p.detail.MaxAttempts <= 0 {
		return ""
	}
	text := "tries at " + v.clock(j.Due)
	for _, s := range p.planned(j) {
		text += ", " + v.clock(s.At)
	}
	return text + ", then DISCARDED"
}

// waitEnd is when the wait after the last attempt ends or has ended, as far as the
// job's row tells; zero = as the attempt planned it.
func waitEnd(j engine.JobRow) time.Time {
	if j.State.Terminal() {
		return j.Finished
	}
	return j.Due
}

// inLineFrom is when an attempt began to stand in line: it could have run from then on.
func inLineFrom(a engine.Attempt) time.Time {
	return a.Start.Add(-max(a.Paced, 0) - inLine(a))
}

// stage is one attempt: the line, the limiter, the wire, and the wait that
// followed it. That one ended as planned, or sooner or later: an operator's word
// moves it.
func (p *Job) stage(v *View, a engine.Attempt, ended time.Time) part.Stage {
	s := part.Stage{At: a.Start, Head: strconv.Itoa(a.Number), Note: attemptNote(a), Result: resultWord(a)}
	wait := part.Backoff
	if a.Number == 0 {
		s.Head, wait = v.Theme.Glyphs.Snoozed, part.Snoozed
	}
	head := a.Start.Add(-max(a.Paced, 0)) // first in line: only the limiter held it from here on
	s.At = inLineFrom(a)
	s.Segments = []part.Segment{{Kind: part.Queued, Start: s.At, End: head}}
	if a.End.IsZero() {
		s.Segments = append(s.Segments,
			part.Segment{Kind: part.Limiter, Start: head, End: a.Start}, part.Segment{Kind: p.runningKind(v), Start: a.Start, End: v.Now})
		v.Ticks = true
		return s
	}
	permit := a.Start.Add(max(a.Limiter, 0))
	answered := permit.Add(max(a.HTTP, 0))
	s.Segments = append(s.Segments,
		part.Segment{Kind: part.Limiter, Start: head, End: permit},
		part.Segment{Kind: part.HTTP, Start: permit, End: answered},
	)
	if ended.IsZero() {
		ended = a.Next
	}
	if a.Next.After(answered) && ended.After(answered) {
		s.Segments = append(s.Segments, part.Segment{Kind: wait, Start: answered, End: ended, Text: waitText(a, answered, ended)})
	}
	return s
}

// waitText tells how long was waited, and of how much where it was cut short.
func waitText(a engine.Attempt, from, ended time.Time) string {
	name := "wait"
	if a.Number == 0 {
		name = a.Hold.String()
	}
	d, planned := ended.Sub(from), a.Next.Sub(from)
	switch {
	case (planned - d).Abs() < time.Second:
		return name + " " + human.Seconds(planned.Round(time.Second))
	case d > planned:
		return name + " " + human.Seconds(d.Round(time.Second))
	}
	return name + " " + human.Dur(d) + " of " + human.Seconds(planned.Round(time.Second))
}

// runningKind says what a running attempt does now.
func (p *Job) runningKind(v *View) part.SegmentKind {
	for _, w := range v.Limits.Waiting {
		if w.Job == p.id {
			return part.Limiter
		}
	}
	return part.HTTP
}

// callRows are the last call of the job as the flight recorder has it.
func (p *Job) callRows(v *View, w int) []string {
	c := p.detail.Call
	if c == nil || v.H < 18 {
		return nil
	}
	first := v.join(part.Plain("GET "+c.Host+" "+c.Method+" "+c.Target), columns.StatusCell(c), part.Plain(human.Millis(c.Took)))
	second := v.join(pacedText(*c), labelled("app", c.App), labelled("method", c.MethodUsed), columns.NoteCell(c), part.As(themes.Dim, v.clock(c.At)))
	return []string{
		v.row(w, append([]part.Cell{part.Plain(" ")}, first...)...),
		v.row(w, append([]part.Cell{part.Plain(" ")}, second...)...),
	}
}

// pacedText says how long the limiter held a call, and for which window.
func pacedText(c engine.CallRow) part.Cell {
	if c.Paced <= 0 {
		return part.Cell{}
	}
	return part.As(themes.Dim, strings.TrimSpace("paced "+human.Secs(c.Paced)+" for "+c.PacedBy))
}

func labelled(name, text string) part.Cell {
	if text == "" {
		return part.Cell{}
	}
	return part.As(themes.Dim, name+" "+text)
}

// factRows are what is known of the job and of the attempt under the cursor.
func (p *Job) factRows(v *View, w int) []string {
	j := p.row(v)
	about := []part.Cell{
		part.Plain(string(j.Kind)), part.Plain(policyText(or(p.detail.Policy.Name, j.Policy))),
		part.Plain("created " + v.clock(j.Created)), part.Plain(human.Counted(j.Attempts, "attempt", "attempts")), part.Plain(holdText(j)), endedCell(v, j),
	}
	waits := part.Plain(parentText(p.detail.Parents, j.State.Terminal()))
	if v.Size == S { // the head line has no room for queue and account
		about = append(about, part.Plain(string(j.Queue)), part.Plain(p.detail.Account))
	}
	rows := v.flow(w, append(append(about, waits), handsOf(&j)...)...)
	rows = append(rows, p.wrapped(v, w, themes.Dim, "if it keeps failing: ", p.planText(v, j))...)
	if a, ok := selected(&p.list, p.source(v)); ok {
		rows = append(rows, v.flow(w, p.attemptFacts(v, a)...)...)
	}
	return rows
}

func endedCell(v *View, j engine.JobRow) part.Cell {
	if !j.State.Terminal() {
		return part.Cell{}
	}
	return part.Plain("ended " + v.clock(j.Finished))
}

// handsOf are whose hands a job went through, and what they have brought.
func handsOf(j *engine.JobRow) (facts []part.Cell) {
	if j.By != "" {
		facts = append(facts, part.Plain("asked for by "+j.By))
	}
	switch {
	case j.Worker > 0 && j.State == engine.Running:
		facts = append(facts, part.Plain("worker "+strconv.Itoa(j.Worker)+" has it"))
	case j.Worker > 0:
		facts = append(facts, part.As(themes.Dim, "last had by worker "+strconv.Itoa(j.Worker)))
	}
	if j.Bytes > 0 {
		facts = append(facts, part.Plain("fetched "+human.Bytes(int64(j.Bytes))))
	}
	return facts
}

func policyText(name string) string {
	if name == "" {
		return ""
	}
	return "policy " + name
}

func holdText(j engine.JobRow) string {
	if j.Holds == 0 {
		return ""
	}
	return human.Counted(j.Holds, "hold", "holds") + " uncharged"
}

// parentText says how many syncs wait for the job, or did until it ended.
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
	if k == engine.KindCall {
		return "call"
	}
	return "Riot's trace id"
}

// attemptFacts tell the attempt under the cursor in full.
// The table of the wider screens says its result and its decision, so there one
// line is enough.
func (p *Job) attemptFacts(v *View, a engine.Attempt) []part.Cell {
	name := "try " + strconv.Itoa(a.Try)
	if a.Number == 0 {
		name = "hold"
	}
	trace := ""
	if a.External != "" {
		trace = traceName(p.row(v).Kind) + " " + a.External
	}
	next := ""
	if !a.Next.IsZero() {
		next = "next at " + v.clock(a.Next)
	}
	status := ""
	if a.Status > 0 {
		status = "status " + strconv.Itoa(a.Status)
	}
	if v.Size != S {
		return []part.Cell{part.As(themes.Accent, name), part.As(themes.Dim, status), part.As(themes.Dim, next), part.As(themes.Dim, trace), part.As(themes.Dim, a.Decision)}
	}
	return []part.Cell{
		part.As(themes.Accent, name), part.As(themes.Dim, or(columns.InShort(a.Err), status)), part.As(themes.Dim, a.Decision),
		part.As(themes.Dim, next), part.As(themes.Dim, trace),
	}
}

// leastLog is the height below which the log of a job is left to its own screen.
const leastLog = 4

// pastPanels tell in the room that is left what became of the job: its moves, and below
// them the newest records of its log.
func (p *Job) pastPanels(v *View, w, room int) []part.Section {
	var out []part.Section
	if n := len(p.detail.History); room > 0 && n > 0 {
		h := room
		if room-n-1 >= leastLog {
			h = n
		}
		out = append(out, part.Section{Title: "HISTORY", Note: some(n), Rows: p.historyRows(v, w, h), Height: h})
		room -= h + 1
	}
	if room < leastLog {
		return out
	}
	if rows := logRows(v, w, room, p.id); len(rows) > 0 {
		out = append(out, part.Section{Title: "LOG", Tail: v.keyed("{logs of the job} shows all"), Rows: rows, Height: room})
	}
	return out
}

// historyRows are the last moves of the job, newest first.
func (p *Job) historyRows(v *View, w, h int) []string {
	rows := make([]string, 0, h)
	for i := len(p.detail.History) - 1; i >= 0 && len(rows) < h; i-- {
		t := p.detail.History[i]
		l := part.NewLine(v.Theme, w).Gap(1).Field(part.As(themes.Dim, v.clock(t.At)), 13, part.Words)
		l.Field(part.Plain(or(t.From, "new")+" "+v.Theme.Glyphs.Next+" "+t.To), 26, part.Words)
		l.Cells(v.leading(l.Room(), part.Plain(columns.InShort(t.Reason)), part.As(themes.Dim, t.Actor))...)
		rows = append(rows, l.String())
	}
	return rows
}

// attemptNote stands below an attempt's tick: its status or class.
func attemptNote(a engine.Attempt) string {
	switch {
	case a.Number == 0 && a.Status > 0:
		return strconv.Itoa(a.Status) + ", free"
	case a.Status > 0:
		return strconv.Itoa(a.Status)
	}
	return string(a.Class)
}
