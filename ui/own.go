package ui

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/child"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/ui/keys"
	"github.com/farsight-console/farsight/ui/page"
)

// refusesOwn says why no command of the user's own can run; "" = it can.
func (m *Model) refusesOwn() string { return cmp.Or(m.refuses(), m.opt.NoOwn) }

// askOwn asks before a command of the user's own is run on the row under the cursor.
func (m *Model) askOwn(c keys.Command, now time.Time) tea.Cmd {
	if why := m.refusesOwn(); why != "" {
		m.say(why)
		return nil
	}
	var row page.Copy
	for _, form := range m.copies(now) {
		if form.Name == "JSON" {
			row = form
		}
	}
	switch {
	case row.Text == "":
		m.say(c.Name + " is about a row: go to one")
		return nil
	case strings.HasPrefix(row.Text, "["):
		m.say(c.Name + " is about one row: unmark the others")
		return nil
	}
	env, id := rowEnv(row.Text), m.copies(now)[0].Text
	m.over = confirmOver(page.Confirm{
		Question: "Run " + c.Name + " on " + id + "?", Yes: "run it",
		Lines: []string{safe.Text(c.Run), "A shell reads this on the host of this console, as your own user."},
	}, func() tea.Cmd { return m.runOwn(c, id, row.Text, env) })
	return nil
}

// runOwn runs a command once the engine has written it down.
func (m *Model) runOwn(c keys.Command, id, row string, env []string) tea.Cmd {
	console, ctx := m.console, m.ctx
	ask := engine.Command{Op: engine.OpShell, Own: &engine.OwnAsk{Name: c.Name, Run: c.Run, On: id}, By: m.opt.By(), Reason: m.why.because("", m.now())}
	p := child.Program{Args: []string{"sh", "-c", c.Run}, Env: slices.Concat(withoutSecrets(os.Environ()), m.opt.OwnEnv, []string{"FARSIGHT_ID=" + id}, env), Stdin: row + "\n", Keep: ownOutput}
	return func() tea.Msg { return runShell(ctx, console, ask, p) }
}

// tellOwn says how a command of the user's own has ended; of one that failed it shows the
// end of the output.
func (m *Model) tellOwn(e ownEnded, now time.Time) {
	n, lines := e.note(now)
	m.toasts.add(n, now)
	if e.err == nil || m.over != nil || m.prompt != nil || len(lines) == 0 {
		return
	}
	m.over = confirmOver(page.Confirm{Question: n.Text, Lines: lines, Yes: "close"}, func() tea.Cmd { return nil })
	m.over.dialog.No = answer("esc", "close", keys.No)
}
