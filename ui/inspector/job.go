// Package inspector shows one job: as a screen of its own, and as what stands beside a list of jobs. Lists
// of jobs, retries and error classes use it; it knows none of them.
package inspector

import (
	"cmp"
	"slices"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// Job is the inspector: one job's life on one axis, every attempt with what it waited for and where
// its next instant comes from. Three kinds of screen use it: by itself it is a page; a list of jobs
// has it beside itself as a [Peek]; error classes and retries show its blocks.
type Job struct {
	ID   engine.JobID
	key  string // instead of id, until the first answer
	list lists.Pane
	page.Answer
	// The answer: attempts, holds, history, the last call. Before it, at most the row of a list.
	Detail engine.JobDetail
	match  fetched
	raw    raw
}

// NewJob makes the inspector of a job.
func NewJob(id engine.JobID) *Job { return &Job{ID: id} }

// NewJobOf makes the inspector of a key's live job, or else its latest.
// A key is such as "match:KR_7214550881"; with the first answer the job is known by its id.
func NewJobOf(key string) *Job { return &Job{key: key} }

// Screen implements Page.
func (p *Job) Screen() page.Screen { return page.ScreenJob }

// Crumb implements Page.
func (p *Job) Crumb(v *page.View) string {
	if !p.Have {
		return cmp.Or(p.key, string(p.ID))
	}
	j := p.row(v)
	return columns.JobKey(&j.Job)
}

// row is the newest row there is: Watch's, else the answer's.
// The row of a list that is newer wins at once, so that the state on the screen is never older than
// in the list beside it.
func (p *Job) row(v *page.View) engine.JobRow {
	if now, ok := v.Job(p.ID); ok && now.Rev >= p.Detail.Job.Rev {
		return now
	}
	return p.Detail.Job
}

// Want implements Page.
// The job goes before the match that it has fetched.
func (p *Job) Want(v *page.View) engine.Query {
	if q := p.Ask(v); q != nil {
		return q
	}
	if j := p.row(v); p.Have && v.Size != page.S {
		if q := p.match.want(v, &j); q != nil {
			return q
		}
	}
	return nil
}

// Ask is the question about the job: the detail moves with it, and one that has left
// the live rows is looked up once more as long as the database moves.
// nil = what is known is new enough. Screens that show the job's blocks without its match ask with
// it.
func (p *Job) Ask(v *page.View) engine.Query {
	version := uint64(p.row(v).Rev)
	if _, live := v.Job(p.ID); !live && p.Detail.Job.State.Live() {
		version = v.Seq
	}
	// Another version makes the question due again, at the pace that lists have.
	if p.unnamed() {
		version++
	}
	if !p.DueFor(v, p.moved(v), version) {
		return nil
	}
	return engine.JobQuery{ID: p.ID, Key: p.key}
}

// moved changes whenever the job does, as far as Watch tells: with each revision of
// its row, and when it leaves the live rows.
// Of one that has left it is the inverted revision, which no live row has.
func (p *Job) moved(v *page.View) uint64 {
	if now, live := v.Job(p.ID); live {
		return uint64(now.Rev)
	}
	return ^uint64(p.Detail.Job.Rev)
}

// unnamed reports whether a telephone call is being placed: a moment later the other
// side gives it an id, and the job's revision does not tell.
func (p *Job) unnamed() bool {
	n := len(p.Detail.Attempts)
	return p.Detail.Job.Kind == engine.KindCall && n > 0 && p.Detail.Attempts[n-1].End.IsZero() &&
		p.Detail.Attempts[n-1].External == ""
}

// Got implements Page.
// Answers about another job, or to the key before the id was known, are dropped.
func (p *Job) Got(v *page.View, q engine.Query, a engine.Answer, err error) {
	p.match.got(v, q, a, err)
	asked, ok := q.(engine.JobQuery)
	if !ok || asked.ID != p.ID || asked.Key != p.key || !p.Take(v, err) {
		return
	}
	p.Detail, _ = a.(engine.JobDetail)
	p.ID, p.key = p.Detail.Job.ID, ""
	p.Seq = uint64(p.Detail.Job.Rev)
	if p.row(v).Rev == p.Detail.Job.Rev { // else the row moved on meanwhile, which is asked for at once
		p.Own = p.moved(v)
	}
}

// Cannot implements Page.
// Before the answer nothing may be done to the job, as its state is not known. To start a sync or
// change the key has nothing to do with it.
func (p *Job) Cannot(v *page.View, a page.Action) string {
	if !p.Have && a.Writes() && a != page.Trigger && a != page.Key {
		return cmp.Or(p.Told(v), "the job is not loaded yet")
	}
	switch a {
	case page.Recorder:
		if p.Detail.Call == nil {
			return "no call of this job is in the flight recorder"
		}
	case page.Open:
		if p.row(v).Owner == "" {
			return "this job belongs to no account"
		}
	}
	return page.CannotOn(a, p.row(v))
}

// Act implements Page.
// Keys that scroll go to the raw record first, where it stands instead of the inspector.
func (p *Job) Act(v *page.View, a page.Action) page.Effect {
	if p.raw.act(a) || p.list.Steer(p.source(v), a) {
		return page.Effect{}
	}
	row := p.row(v)
	switch a {
	case page.Raw:
		p.raw.on, p.raw.top = !p.raw.on, 0
		return page.Effect{}
	case page.Trigger:
		return page.Effect{Ask: page.AskSync}
	case page.Open:
		return page.Effect{Open: page.ToAccount(row.Owner)}
	case page.Pause:
		return page.PauseQueue(v, row.Queue)
	case page.Recorder:
		return page.Effect{Open: &page.Target{Screen: page.ScreenLimits, Seq: p.Detail.Call.Seq}}
	}
	return page.ActJob(v, row, a)
}

// Back implements Backer: the raw record closes first.
func (p *Job) Back() bool {
	was := p.raw.on
	p.raw.on = false
	return was
}

// runs are attempts and holds together, in order of time.
// A hold is a run that was sent back to wait without a try being charged; its number is 0.
func (p *Job) runs() []engine.Attempt {
	all := append(slices.Clone(p.Detail.Attempts), p.Detail.Holds...)
	slices.SortStableFunc(all, func(a, b engine.Attempt) int {
		return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.Number, b.Number))
	})
	return all
}

// resultCell is the sign of an attempt's end and what the other side said.
// Such as "✗ 503 service unavailable". What went well and only goes on later ("wait") has no error.
func resultCell(v *page.View, a engine.Attempt) part.Cell {
	sign := v.Theme.State(charts.ResultWord(a))
	text := human.If(a.Err != "" || a.Class != "", columns.Answer(a.Class, a.Err))
	switch {
	case a.End.IsZero():
		text = "RUNNING " + v.Age(a.Start)
	case text == "" && a.Verb == engine.VerbWait:
		text = "went on"
	case text == "":
		text = a.Verb.String()
	}
	return part.Cell{Text: sign.Glyph + " " + text, Token: sign.Token}
}

// SelectedJob implements Jobber.
func (p *Job) SelectedJob(v *page.View) (engine.JobID, string) { return page.Named(p.row(v), p.Have) }

// Copies implements Copier.
// The row is the newest one, the rest as it was answered.
func (p *Job) Copies(v *page.View) []page.Copy {
	if !p.Have {
		return nil
	}
	d := p.Detail
	d.Job = p.row(v)
	return page.CopiesOf(v, []any{d}, func(int) string { return string(d.Job.ID) })
}
