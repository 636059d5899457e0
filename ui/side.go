package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/ui/keys"
	"github.com/farsight-console/farsight/ui/page"
)

// sideScreens are the screens without a number of their own, as the palette
// names them.
var sideScreens = []struct {
	name string
	act  page.Action // that leads there from the screen; "" = none
	open func() page.Page
}{
	{"Schedules", page.Calendar, func() page.Page { return page.NewSchedules() }},
	{"Audit", keys.Audit, func() page.Page { return page.NewAudit() }},
	{"Messages", keys.Messages, func() page.Page { return page.NewMessages() }},
	{"Error classes", page.ByClass, func() page.Page { return page.NewClasses("") }},
}

// openMessages shows all messages, those on the message line among them.
func (m *Model) openMessages(time.Time) tea.Cmd {
	m.toasts.shown = nil // they are all on the screen now
	if m.page().Screen() != page.ScreenMessages {
		m.push(page.NewMessages())
	}
	return nil
}

func (m *Model) openAudit(time.Time) tea.Cmd {
	if m.page().Screen() != page.ScreenAudit {
		m.push(page.NewAudit())
	}
	return nil
}

// openLogs shows the log of the job under the cursor.
func (m *Model) openLogs(now time.Time) tea.Cmd {
	holder, ok := m.page().(page.Jobber)
	if !ok {
		m.say(m.keyed("no job is selected on this screen: {logs} shows the whole log"))
		return nil
	}
	id, name := holder.SelectedJob(m.view(now))
	if id == "" {
		m.say(m.keyed("no job is selected here: {logs} shows the whole log"))
		return nil
	}
	m.push(page.NewLogs(id, name))
	return nil
}
