package ui

import (
	"context"
	"errors"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
	"github.com/farsight-console/farsight/ui/session"
)

// What comes back from a goroutine: the answer to a command, and to a page's query. page is who asked, who may not be on top
// any more.
type (
	answered struct {
		command engine.Command
		receipt engine.Receipt
		err     error
	}
	found struct {
		by     asker
		query  engine.Query
		answer engine.Answer
		err    error
	}
)

// asker is a page, or what is kept from one page to the next.
type asker interface {
	Want(v *page.View) engine.Query
	Got(v *page.View, q engine.Query, a engine.Answer, err error)
}

// do asks the engine to carry out a command. The rows change when Watch says so.
func (m *model) do(c engine.Command) tea.Cmd {
	c.By = m.opt.By()
	c.Reason = m.why.because(c.Reason, m.now())
	// Copied before the goroutine begins, which must not read the model.
	console, ctx := m.console, m.ctx
	return func() tea.Msg {
		r, err := console.Do(ctx, c)
		return answered{c, r, err}
	}
}

// weighed is what the engine says a command would do, and the question that follows from that.
type weighed struct {
	confirm page.Confirm
	command engine.Command
	receipt engine.Receipt
	err     error
	free    int // calls that need no question
	plans   []engine.ScheduleRow
	all     []engine.Command // several that are one act; command is the first
}

// try asks the engine what a command would do before it is confirmed: how many jobs it would
// change, and what that costs (I-2). A command that costs more calls than free is shown beside the
// scheduled runs, so those are read too.
func (m *model) try(confirm page.Confirm, c engine.Command, free int) tea.Cmd {
	c.By, c.DryRun = m.opt.By(), true
	console, ctx := m.console, m.ctx
	return func() tea.Msg {
		r, err := console.Do(ctx, c)
		// What is confirmed is the same command, carried out this time.
		c.DryRun = false
		t := weighed{confirm: confirm, command: c, receipt: r, err: err, free: free}
		if err == nil && r.Cost != nil && r.Cost.Calls > free {
			t.plans = plansOf(ctx, console)
		}
		return t
	}
}

// plansOf are the schedules. An error gives none: the question then says less, and can be answered
// all the same.
func plansOf(ctx context.Context, console engine.Console) []engine.ScheduleRow {
	a, _ := console.Find(ctx, engine.SchedulesQuery{})
	plans, _ := a.(engine.SchedulesPage)
	return plans.Schedules
}

// tryAll asks what several syncs would cost together. One that would be refused costs nothing, and
// is told when it is started. All of them ask for the same kind of sync.
func (m *model) tryAll(confirm page.Confirm, all []engine.Command) tea.Cmd {
	console, ctx := m.console, m.ctx
	q := engine.CostQuery{Sync: all[0].Sync}
	for _, c := range all {
		q.Accounts = append(q.Accounts, c.Account)
	}
	return func() tea.Msg {
		a, err := console.Find(ctx, q)
		t := weighed{confirm: confirm, command: all[0], err: err, plans: plansOf(ctx, console), all: all}
		if cost, ok := a.(engine.Cost); ok {
			t.receipt.Cost = &cost
		}
		return t
	}
}

// leastFigured is how many rows a screen must have for the figure of a cost to be shown in the
// question.
const leastFigured = 20

// askWeighed asks, with what the engine has counted; what is confirmed is exactly that. A command
// that costs next to nothing is carried out without a question.
func (m *model) askWeighed(t weighed, now time.Time) tea.Cmd {
	if t.err != nil {
		m.answered(answered{t.command, t.receipt, t.err}, now)
		return nil
	}
	if t.receipt.Nothing { // a question whose yes does nothing is none
		m.answered(answered{command: t.command, receipt: t.receipt}, now)
		return nil
	}
	lines, unasked := page.Tried(&t.command, t.receipt, t.free, now)
	if unasked {
		return m.do(t.command)
	}
	t.confirm.Lines = append(t.confirm.Lines, lines...)
	m.over = confirmOver(t.confirm, func() tea.Cmd {
		// Several syncs are one question and one answer, but a command each.
		if len(t.all) > 0 {
			return m.doAll(t.all)
		}
		return m.do(t.command)
	})
	if c := t.receipt.Cost; c != nil && m.w >= part.DialogWidth && m.h >= leastFigured {
		v := m.view(now)
		// The figure lies on the dialog's ground, which is not that of the page.
		v.Theme = v.Theme.Raised()
		m.over.dialog.Figure = charts.Budgeted(v, *c, t.plans, part.FigureWidth)
	}
	return nil
}

// find asks the engine a page's question.
func (m *model) find(by asker, q engine.Query) tea.Cmd {
	console, ctx := m.console, m.ctx
	return func() tea.Msg {
		a, err := console.Find(ctx, q)
		return found{by, q, a, err}
	}
}

// answered tells the operator what became of a command: the engine's own sentence, or the error's.
// A broken engine is an error; a refused command is only a warning.
func (m *model) answered(a answered, now time.Time) {
	n := engine.Note{At: now, Level: engine.LevelOK, Text: a.receipt.Text, Job: a.receipt.Job}
	switch {
	// Nothing can be trusted then, and the message stays until it is read.
	case errors.Is(a.err, engine.ErrBroken):
		n.Level = engine.LevelErr
	case a.err != nil:
		n.Level = engine.LevelWarn
	case a.receipt.Nothing:
		n.Level = engine.LevelInfo
	}
	if a.err != nil {
		n.Text, n.Job = page.Sentence(a.err), a.command.Job
	}
	if a.receipt.Forget != nil && a.err == nil {
		n.Text = a.receipt.Forget.Brief() // the audit has the rest
	}
	if n.Text == "" {
		// Not every command has a sentence as its answer.
		n.Text = string(a.command.Op) + " done"
	}
	undo := ""
	if a.err == nil && m.undo.Keep(a.receipt, now) {
		undo = " · " + m.keyed("{undo} undo ") + strconv.Itoa(int(session.UndoFor/time.Second)) + " s"
	}
	if a.command.Select != nil && a.err == nil && !a.command.DryRun {
		m.page().Act(m.view(now), page.Unmark) // what was marked has been dealt with
	}
	if m.frozen != nil {
		// The rows on the screen do not change, so it must be said that something did.
		n.Text += " (live; the view is frozen)"
	}
	m.toasts.add(n, now)
	m.toasts.shown[len(m.toasts.shown)-1].Text += undo // the list of messages outlasts it
}

// follow asks what the page on top wants to know.
func (m *model) follow(now time.Time) tea.Cmd {
	v := m.view(now)
	var cmds []tea.Cmd
	for _, by := range []asker{m.page(), &m.foot, &m.past} {
		if q := by.Want(v); q != nil {
			cmds = append(cmds, m.find(by, q))
		}
		v.Now = now // that of a frozen page stands still, and a question that failed would not be asked again
	}
	return tea.Batch(cmds...)
}

// undoLast takes the last command back, within session.UndoFor of it.
func (m *model) undoLast(now time.Time) tea.Cmd {
	if !m.undo.Open(now) {
		return m.showMessage(m.keyed("there is nothing to undo: {undo} takes a " + operation.UndoWords("or") + " back within " + human.Window(session.UndoFor)))
	}
	if why := m.refuses(); why != "" {
		return m.showMessage(why)
	}
	return m.do(m.undo.Take())
}

// armed is the reason that waits for its command; "" = none.
func (m *model) armed() string { return m.why.armed(m.now()) }

// disturbed is how the demo's simulator answered an ask of the chaos panel.
type disturbed struct {
	said string
	err  error
}

// disturb asks the demo's simulator to go wrong in some way, after a question if there is one.
// There is no simulator behind a real key, and nothing to disturb.
func (m *model) disturb(e page.Effect) tea.Cmd {
	ask := *e.Chaos
	run := func() tea.Cmd {
		chaos, ctx := m.opt.Chaos, m.ctx
		return func() tea.Msg {
			said, err := chaos.Inject(ctx, ask)
			return disturbed{said, err}
		}
	}
	if m.opt.Chaos == nil {
		return m.showMessage(session.NoChaos)
	}
	if e.Confirm != nil {
		return m.confirm(*e.Confirm, run)
	}
	return run()
}

// tellDisturbed puts that answer on the message line.
func (m *model) tellDisturbed(d disturbed, now time.Time) {
	n := engine.Note{At: now, Level: engine.LevelInfo, Text: d.said}
	if d.err != nil {
		n.Level, n.Text = engine.LevelWarn, page.Sentence(d.err)
	}
	m.toasts.add(n, now)
}
