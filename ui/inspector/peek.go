package inspector

import (
	"slices"
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

// PeekWidth is what the inspector beside a list takes on a screen of w cells: an
// attempt on one line where the list keeps what matters of it.
func PeekWidth(w int) int { return page.Clamp(w-132, 52, 72) }

// Peek is the inspector beside the list of jobs: it follows the cursor. Only one
// question is under way at a time, so that a cursor which runs down the list asks
// for the jobs it rests on and not for all it passes.
type Peek struct {
	Job *Job
	// Of any job: the answer to the one before has to come first.
	pending bool
	Stays   time.Duration // how long it shows a job at least while nobody has chosen a row
	since   time.Time
	held    *Job                // as of the last beat of the list; until the next one is known, the one before
	calls   charts.CallsInPlace // below the job
}

// Beat lets what is shown follow the answer. The list beside it stands still between two beats: of one job both
// tell the same.
func (k *Peek) Beat() {
	if k.Job != nil && k.Job.Have {
		job := *k.Job
		k.held = &job
	}
}

// shown is what is known of the job: of one that was known at the last beat, what was known then.
func (k *Peek) shown() *Job {
	if k.Job == nil || k.held == nil || k.Job.Have && k.held.ID != k.Job.ID {
		return k.Job
	}
	return k.held
}

// Want is the question about the job under the cursor; nil = none.
// list is the one whose cursor it follows.
func (k *Peek) Want(v *page.View, list *lists.List[engine.JobRow]) engine.Query {
	if k.pending {
		return nil
	}
	k.follow(v, list)
	if k.Job == nil {
		return nil
	}
	q := k.Job.Want(v)
	k.pending = q != nil
	return q
}

// follow turns to the job under the cursor; after a key at once, since that may act on it. Until the answer is here it
// shows what the list knows of the job. By itself it turns half a second beside the list, once the answer is here: no
// step moves both.
func (k *Peek) follow(v *page.View, list *lists.List[engine.JobRow]) {
	id, ok := list.ToOpen()
	chosen := v.Pressed || list.Cur.Held()
	until := k.since.Add(k.Stays).Truncate(time.Second).Add(time.Second / 2)
	switch {
	case !ok:
		k.Job, k.held = nil, nil
	case k.Job != nil && string(k.Job.ID) == id:
	case k.Job != nil && !chosen && !v.Now.Before(k.since) && v.Now.Before(until):
	default:
		if k.since = v.Now; chosen {
			k.held = nil
		}
		k.Job = NewJob(engine.JobID(id))
		k.Job.Detail.Job, _ = list.Selected()
		k.Job.Detail.Job.ID = k.Job.ID
	}
}

// Rev is the revision of the job that is looked at; 0 = none is known.
// Lists are made of it too: see [Peek.Newer].
func (k *Peek) Rev() uint64 {
	if k.Job == nil || !k.Job.Have {
		return 0
	}
	return uint64(k.shown().Detail.Job.Rev)
}

// Newer is a job as the inspector has it, where that is newer than in a list.
// A list is read from disk now and then, the job under the cursor whenever it moves.
func (k *Peek) Newer(j *engine.JobRow) (engine.JobRow, bool) {
	if k.Job == nil || k.Job.ID != j.ID || !k.Job.Have {
		return engine.JobRow{}, false
	}
	newer := k.shown().Detail.Job
	return newer, newer.Rev > j.Rev
}

// LastTry is the last try of the job under the cursor that ended; nil = it is not known.
// An attempt that still runs is left out: where its time went is not known yet.
func (k *Peek) LastTry(v *page.View, list *lists.List[engine.JobRow]) *engine.Attempt {
	k.follow(v, list)
	if k.Job == nil {
		return nil
	}
	for i := len(k.Job.Detail.Attempts) - 1; i >= 0; i-- {
		if a := &k.Job.Detail.Attempts[i]; !a.End.IsZero() {
			return a
		}
	}
	return nil
}

// Got takes an answer; the job drops it when it is about another one.
func (k *Peek) Got(v *page.View, q engine.Query, a engine.Answer, err error) {
	k.pending = false
	if k.Job != nil {
		k.Job.Got(v, q, a, err)
	}
}

// Draw is the block beside the list, h rows of w cells that begin at column x of the screen, with the limits or without.
// Beside groups, which have these below them, a job that nobody has chosen is told in short while calls are made.
func (k *Peek) Draw(v *page.View, list *lists.List[engine.JobRow], x, w, h int, limits bool) []string {
	k.follow(v, list)
	panels := []part.Section{{Title: "SELECTED", Empty: "no job is selected", Height: 1}}
	if k.Job != nil && !k.Job.Have && v.Now.Sub(k.since) > time.Second { // no answer comes
		k.held = nil
	}
	if job := k.shown(); job != nil {
		panels = job.beside(v, v.Inner(w), h, !limits && !list.Cur.Held() && v.Engine.CallsPerMin > 0)
		if id, _ := list.ToOpen(); id != string(job.ID) {
			panels[0].Tail = "the cursor is on another"
		}
	}
	return v.Sections(x, 0, w, h, block.Aside(v, panels, v.Inner(w), h, limits, &k.calls)...)
}

// beside are the panels of a job's inspector beside a list.
// From top to bottom: how it stands, its tries, its facts, then what became of it. In short it is told on as many rows
// for each job.
func (p *Job) beside(v *page.View, w, h int, short bool) []part.Section {
	j := p.row(v)
	if j.Kind == "" { // it has left the list, and the answer is not here yet
		return []part.Section{{Title: string(p.ID), Tail: p.Told(v), Empty: p.untried(), Height: 1}}
	}
	life := []string{v.Row(w, part.Plain(" "), v.State(columns.StateWord(&j.Job)), part.Plain("  "+p.triesText(v, j)))}
	if j.Place == 0 { // of one in line the list says why, with the place that it has by now
		life = append(life, p.wrapped(v, w, themes.Dim, "why: ", p.why(v))...)
	}
	life = append(life, p.wrapped(v, w, themes.Err, "last: ", columns.InShort(j.LastError))...)
	facts := p.factRows(v, w)
	if j.Retrying() && !short {
		facts = append(facts, p.wrapped(v, w, themes.Dim, "", charts.IfAgain(v, &j))...)
	}
	if p.Detail.Call != nil && !short {
		facts = append(facts, p.AnswerRows(v, w)...)
	}
	fold := p.foldRows(v, w)
	if len(fold) == 0 {
		fold = []string{v.Row(w, part.As(themes.Dim, " "+p.untried()))}
	}
	if short { // up to the try that it is at
		if next := slices.IndexFunc(p.rungs(v), func(r rung) bool { return r.Attempt == nil }); next >= 0 {
			fold = fold[:next+1]
		}
	}
	room := human.Either(short, 1, max(h-len(life)-len(facts)-6, 1))
	// Of more tries than there is room for the newest stay.
	tried := page.Clamp(len(fold), 1, room)
	panels := []part.Section{
		{Title: columns.JobKey(&j.Job), Note: string(j.ID), Tail: p.Told(v), Rows: life, Height: len(life)},
		{Title: "TRIES", Rows: fold[len(fold)-tried:], Height: tried},
		{Title: "FACTS", Rows: facts, Height: len(facts)},
	}
	if short {
		panels[0].Height, panels[2].Height = 2, 4
		return panels
	}
	return append(panels, p.pastPanels(v, w, room-tried-1)...)
}

// untried says why there is no attempt to show.
func (p *Job) untried() string { return human.Either(!p.Have, "loading the job…", "not tried yet") }

// wrapped writes a text on as many rows as it needs, three at most; none for "".
// A longer text is told in full on the job's own screen.
func (p *Job) wrapped(v *page.View, w int, t themes.Token, label, text string) []string {
	if text == "" {
		return nil
	}
	rows := v.Paragraph(w, t, label+text)
	return rows[:min(len(rows), 3)]
}

// leastLog is the height below which the log of a job is left to its own screen; parted is
// what a panel takes beside its rows, its title and the empty row above it.
const (
	leastLog = 4
	parted   = 2
)

// pastPanels tell in the room that is left what became of the job: its moves, and below
// them the newest records of its log, on half of what is left: the limits and calls have the rest.
// The history gets all rows when its log would have fewer than leastLog.
func (p *Job) pastPanels(v *page.View, w, room int) []part.Section {
	var out []part.Section
	if n := len(p.Detail.History); room > 0 && n > 0 {
		h := human.Either(room-n-parted >= leastLog, n, room)
		out = append(out, part.Section{Title: "HISTORY", Note: page.Some(n), Rows: p.historyRows(v, w, h), Height: h})
		room -= h + parted
	}
	if room < leastLog {
		return out
	}
	if rows := block.LogRows(v, w, max(room/2, leastLog), p.ID); len(rows) > 0 {
		out = append(out, part.Section{Title: "LOG", Tail: v.Keyed("{logs of the job} shows all"), Rows: rows,
			Height: len(rows)})
	}
	return out
}
