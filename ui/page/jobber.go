package page

import (
	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
)

// Jobber is a page on which a job may be selected, so that its log can be shown.
type Jobber interface {
	// SelectedJob is that job and how it is named; "" = none.
	SelectedJob(v *View) (id engine.JobID, name string)
}

// quiet is a page that asks the engine nothing: what it shows comes with Watch.
type quiet struct{}

// Want implements Page.
func (quiet) Want(*View) engine.Query { return nil }

// Got implements Page.
func (quiet) Got(*View, engine.Query, engine.Answer, error) {}

// SelectedJob implements Jobber.
func (p *Jobs) SelectedJob(v *View) (engine.JobID, string) {
	p.refresh(v)
	return named(p.selected())
}

// SelectedJob implements Jobber.
func (p *Retries) SelectedJob(v *View) (engine.JobID, string) {
	p.refresh(v)
	return named(p.selected())
}

// SelectedJob implements Jobber.
func (p *Job) SelectedJob(v *View) (engine.JobID, string) { return named(p.row(v), p.have) }

// SelectedJob implements Jobber: the job of the call under the cursor.
func (p *Limits) SelectedJob(v *View) (engine.JobID, string) {
	c, ok := p.call(v)
	if !ok || !p.onCalls {
		return "", ""
	}
	return c.Job, string(c.Job)
}

// SelectedJob implements Jobber: a job of the next retries.
func (o *Overview) SelectedJob(v *View) (engine.JobID, string) {
	if o.focus != paneRetries {
		return "", ""
	}
	return named(selected(&o.panes[paneRetries], o.retries(v)))
}

// SelectedJob implements Jobber: the sync of the account.
func (p *Account) SelectedJob(v *View) (engine.JobID, string) {
	row := p.row(v)
	return row.Job, row.RiotID
}

func named(j engine.JobRow, ok bool) (engine.JobID, string) {
	if !ok {
		return "", ""
	}
	return j.ID, columns.JobKey(&j.Job)
}

// Holder is a page with a list that has a cursor.
type Holder interface {
	// Hold keeps the row under the cursor as it was last drawn: somebody acts on it.
	Hold()
	// Place is the id of the row under the cursor, "" = there is none.
	Place() string
}

// Hold implements Holder.
func (p *pane) Hold() { p.cur.Hold() }

// Place implements Holder.
func (p *pane) Place() string {
	id, _ := p.cur.Selected()
	return id
}

// Hold implements Holder.
func (o *Overview) Hold() { o.panes[o.focus].Hold() }

// Place implements Holder.
func (o *Overview) Place() string { return o.panes[o.focus].Place() }

// Hold implements Holder.
func (p *Account) Hold() { p.matches.Hold() }

// Place implements Holder.
func (p *Account) Place() string { return p.matches.Place() }

// Hold implements Holder.
func (p *Limits) Hold() { p.focused().Hold() }

// Place implements Holder.
func (p *Limits) Place() string { return p.focused().Place() }

func (p *Limits) focused() *pane {
	if p.onCalls {
		return &p.calls
	}
	return &p.buckets
}
