package ui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/screen/logs"
	"github.com/farsight-console/farsight/ui/session"
	"github.com/farsight-console/farsight/ui/terminal"
)

// goTo shows a numbered screen, without what was opened on top of the last one. A console that has
// one screen only says why.
func (m *model) goTo(s page.Screen) {
	if s != m.tab && m.opt.Only != "" {
		m.showMessage(m.opt.Only)
		return
	}
	m.show(s)
}

// nextTab shows the next numbered screen; after the last one comes the first.
func (m *model) nextTab(time.Time) tea.Cmd {
	tabs := m.shownTabs()
	for i, s := range tabs {
		if s == m.tab {
			m.goTo(tabs[(i+1)%len(tabs)])
			return nil
		}
	}
	return nil
}

// back is esc. It leaves one thing at a time, in this order: what the page has of its own to leave,
// the filter, the freeze, and the page on top. With it goes an error on the message line, which does
// not go by itself.
func (m *model) back(now time.Time) tea.Cmd {
	m.toasts.shown = slices.DeleteFunc(m.toasts.shown, func(x toast) bool { return x.end.IsZero() })
	// What the page has of its own to leave comes before the page itself.
	if b, ok := m.page().(page.Backer); ok && b.Back() {
		return nil
	}
	if f, ok := m.page().(page.Filterer); ok && f.Filter() != "" {
		_ = f.SetFilter("") // the empty query is always right
		return nil
	}
	if m.frozen != nil {
		return m.thaw(now)
	}
	m.pop()
	return nil
}

// reload makes a page that asks the engine ask again at once. Others are told of each change.
func (m *model) reload(now time.Time) tea.Cmd {
	if r, ok := m.page().(interface{ Reload() }); ok {
		r.Reload()
		return nil
	}
	return m.showMessage("this screen is always current")
}

// suspend stops the process as ctrl+z does in a shell, if there is one to let it go on.
func (m *model) suspend(now time.Time) tea.Cmd {
	if m.opt.SSH {
		return m.showMessage(m.keyed("{suspend} works on local terminals only"))
	}
	if !m.opt.canSuspend() {
		return m.showMessage("no shell with job control started this console: stopped, nobody could let it go on")
	}
	return terminal.Suspend
}

// quit leaves the page on top, or, on a numbered screen, the program.
func (m *model) quit(now time.Time) tea.Cmd {
	if m.pop() {
		return nil
	}
	return m.exit(now)
}

// exit ends the program. If an engine at work would end with it, that is asked first.
func (m *model) exit(time.Time) tea.Cmd {
	running := m.rows.Data.Engine.InFlight
	open := len(m.rows.Data.Syncing())
	// Nothing is stopped by leaving, so there is nothing to ask.
	if !m.owns() || running+open == 0 {
		return tea.Quit
	}
	left := stops(running, open, m.demo())
	if t := m.rows.Data.Engine.Term; t != nil && !t.Here && t.Leader != "" {
		left = t.String() + ": the work goes on."
	}
	m.over = confirmOver(page.Confirm{Question: "Quit Farsight?", Lines: []string{left}, Yes: "quit"}, func() tea.Cmd { return tea.Quit })
	// A second ctrl+c is meant: see overAct.
	m.over.exit = true
	return nil
}

// owns reports whether the engine ends with this console.
func (m *model) owns() bool { return m.opt.Embedded && (m.opt.Guest == nil || !m.opt.Guest()) }

// stops says what an engine at work leaves when it ends with this console, and what becomes of it.
func stops(running, open int, demo bool) string {
	what := human.If(running > 0, human.Counted(running, "running job", "running jobs")) +
		human.If(running > 0 && open > 0, " and ") + human.If(open > 0, human.Counted(open, "sync", "syncs"))
	kept := "It is kept and goes on at the next start."
	switch {
	case demo:
		kept = "The demo's directory is removed: the next one begins anew."
	case running+open > 1:
		kept = "All of it is kept and goes on at the next start."
	}
	return "It stops " + what + ". " + kept
}

// detach leaves the console and lets the engine go on. An attached console is left as by quitting:
// the engine is not its own.
func (m *model) detach(now time.Time) tea.Cmd {
	if m.owns() && !m.opt.CanDetach {
		return m.showMessage("this engine ends with its console: it cannot be detached")
	}
	// Run tells its caller, who keeps the engine running.
	m.detached = m.owns()
	return tea.Quit
}

// openMessages shows all messages, those on the message line among them.
func (m *model) openMessages(time.Time) tea.Cmd {
	m.toasts.shown = nil // they are all on the screen now
	m.open(page.ScreenMessages)
	return nil
}

// openAudit shows what operators have done, whatever page is on top.
func (m *model) openAudit(time.Time) tea.Cmd {
	m.open(page.ScreenAudit)
	return nil
}

// openLogs shows the log of the job under the cursor.
func (m *model) openLogs(now time.Time) tea.Cmd {
	holder, ok := m.page().(page.Jobber)
	if !ok {
		return m.showMessage(m.keyed("no job is selected on this screen: {logs} shows the whole log"))
	}
	id, name := holder.SelectedJob(m.view(now))
	if id == "" {
		return m.showMessage(m.keyed("no job is selected here: {logs} shows the whole log"))
	}
	m.push(logs.New(id, name))
	return nil
}

// openChaos shows the panel on which the demo's simulator can be made to go wrong.
func (m *model) openChaos(time.Time) tea.Cmd {
	if m.opt.Chaos == nil {
		return m.showMessage(session.NoChaos)
	}
	m.open(page.ScreenChaos)
	return nil
}

// toggleWatch pins the account under the cursor, or takes the strip away.
func (m *model) toggleWatch(now time.Time) tea.Cmd {
	id := ""
	if p, ok := m.page().(page.AccountHolder); ok {
		id = p.SelectedAccount(m.view(now))
	}
	switch {
	case id == "" && m.watch.id == "":
		m.showMessage(m.keyed("go to an account first: {watch} pins it below every screen"))
	// The same key takes the strip away: on the account that is pinned, and where there is none.
	case id == "" || id == m.watch.id:
		m.watch = watch{}
	default:
		m.watch = watch{id: id}
		m.follows(now)
	}
	return nil
}

// freeze holds the view where it is, or lets it go. The engine never stops.
func (m *model) freeze(now time.Time) tea.Cmd {
	if m.frozen != nil {
		return m.thaw(now)
	}
	at := m.asOf(now)
	m.stop(m.rows.Data, m.past.UpTo(at), at)
	return nil
}

// thaw goes back to the present.
func (m *model) thaw(time.Time) tea.Cmd {
	m.release()
	return nil
}

// stepper is an action that moves the time cursor.
func stepper(by time.Duration) func(m *model, now time.Time) tea.Cmd {
	return func(m *model, now time.Time) tea.Cmd { return m.step(by, now) }
}

// step moves the time cursor, and with it the cursor of a page that stands on an instant. While the
// view is not frozen it goes to the neighbour of what is shown instead.
func (m *model) step(by time.Duration, now time.Time) tea.Cmd {
	if m.frozen == nil {
		// [ and ] go through a list's things while the view is live.
		edge, ok := m.neighbour(m.view(now), by)
		if !ok {
			edge = m.keyed("{freeze} freezes the view first; then {second back} and {second on} step through the last ten minutes, {ten seconds back} and {ten seconds on} by ten seconds")
		}
		if edge == "" {
			return nil
		}
		return m.showMessage(edge)
	}
	at, ok := m.reach(m.since.Add(by))
	if !ok {
		return m.showMessage(m.keyed(m.edge(by)))
	}
	m.seek(at)
	if p, ok := m.page().(page.Timed); ok {
		p.ToInstant(m.view(now), m.since)
	}
	return nil
}

// followPage moves the time cursor to where the cursor of a page stands.
func (m *model) followPage(before time.Time, now time.Time) {
	if at, ok := m.instant(now); ok && !at.Equal(before) {
		m.seek(at)
	}
}

// instant is where the cursor of the page on top stands; false if that is nowhere in time, or if
// the view is not frozen.
func (m *model) instant(now time.Time) (time.Time, bool) {
	p, ok := m.page().(page.Timed)
	if !ok || m.frozen == nil {
		return time.Time{}, false
	}
	return p.Instant(m.view(now))
}
