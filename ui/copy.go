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
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/ui/keys"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// maxCopy is how many bytes are sent to the terminal's clipboard at most: beyond that, terminals
// and multiplexers drop the whole of it without a word.
const maxCopy = 64 << 10

// openCopy offers what is marked, or else the row under the cursor, in several forms.
func (m *model) openCopy(now time.Time) tea.Cmd {
	forms := m.copies(now)
	if len(forms) == 0 {
		return m.showMessage("nothing under the cursor can be copied: move it to a row")
	}
	n := &menu{title: "COPY"}
	for _, c := range forms {
		n.all = append(n.all, item{name: c.Name, what: c.What, do: func(m *model, _ time.Time) tea.Cmd { return m.copyText(c.Text) }})
	}
	m.openMenu(n)
	return nil
}

// copies are the forms in which something can be copied here: those of the page, then its rows as a
// table has them. A page without either offers what it is about, as its title has it.
func (m *model) copies(now time.Time) []page.Copy {
	v := m.view(now)
	var forms []page.Copy
	if c, ok := m.page().(page.Copier); ok {
		forms = c.Copies(v)
	}
	if x, ok := m.page().(lists.Exporter); ok {
		if _, rows := x.Export(v, true); len(rows) > 1 {
			// Behind the page's first form, which is what most want to copy.
			row := page.Copy{Name: "row", What: human.Counted(len(rows)-1, "row", "rows") + ", columns separated by tabs", Text: tabbed(rows[1:])}
			forms = slices.Insert(forms, min(1, len(forms)), row)
		}
	}
	if crumb := m.page().Crumb(v); crumb != "" && len(forms) == 0 {
		forms = []page.Copy{{Name: "name", What: safe.Text(crumb), Text: safe.Text(crumb)}}
	}
	return forms
}

// copyRows copies the whole list as it is shown, with its header, as lines with tabs.
func (m *model) copyRows(now time.Time) tea.Cmd {
	x, ok := m.page().(lists.Exporter)
	if !ok {
		return nil
	}
	_, rows := x.Export(m.view(now), false)
	if len(rows) < 2 {
		return m.showMessage("the list is empty")
	}
	return m.copyText(tabbed(rows))
}

// copyText gives text to the terminal's clipboard by OSC 52. The terminal never says whether it
// took it, so the message says by what means it was sent.
func (m *model) copyText(text string) tea.Cmd {
	// To cut it would give half a list to somebody who takes it for the whole.
	if len(text) > maxCopy {
		return m.showMessage(human.Bytes(int64(len(text))) + " are too much for a clipboard (64 KiB): " + m.keyed("{export} writes the list to a file"))
	}
	m.toasts.add(engine.Note{Level: engine.LevelOK, Text: "copied " + human.Bytes(int64(len(text))) + " (OSC 52; tmux needs set-clipboard on)"}, m.now())
	return tea.SetClipboard(text)
}

// exportRows asks for the file that the list is written to. The name it offers has the time in it,
// so that it is free.
func (m *model) exportRows(now time.Time) tea.Cmd {
	x, ok := m.page().(lists.Exporter)
	if !ok {
		return nil
	}
	name, rows := x.Export(m.view(now), false)
	if len(rows) < 2 {
		return m.showMessage("the list is empty")
	}
	file := "farsight-" + name + "-" + now.Format("20060102-150405") + ".csv"
	m.openPrompt(part.Prompt{Label: "write to", Ghost: "a new file, as CSV"}, file, func(path string) (tea.Cmd, string) {
		// An empty name would be that of the folder itself.
		if path = strings.TrimSpace(path); path == "" {
			return nil, "name a file, or esc to leave it"
		}
		return func() tea.Msg { return written{path, len(rows) - 1, writeRows(path, rows)} }, ""
	})
	return nil
}

// refusesOwn says why no command of the user's own can run; "" = it can.
func (m *model) refusesOwn() string { return cmp.Or(m.refuses(), m.opt.NoOwn) }

// askOwn asks before a command of the user's own is run on the row under the cursor. The row goes
// to it as JSON, which only one row has: several marked ones are a list.
func (m *model) askOwn(c keys.Command, now time.Time) tea.Cmd {
	if why := m.refusesOwn(); why != "" {
		return m.showMessage(why)
	}
	var row page.Copy
	for _, form := range m.copies(now) {
		// The JSON of a row has all that is known of it, whatever columns are shown.
		if form.Name == "JSON" {
			row = form
		}
	}
	switch {
	case row.Text == "":
		return m.showMessage(c.Name + " is about a row: go to one")
	case strings.HasPrefix(row.Text, "["):
		return m.showMessage(c.Name + " is about one row: unmark the others")
	}
	env, id := rowEnv(row.Text), m.copies(now)[0].Text
	return m.confirm(page.Confirm{
		Question: "Run " + c.Name + " on " + id + "?", Yes: "run it",
		Lines: []string{safe.Text(c.Run), "A shell reads this on the host of this console, as your own user."},
	}, func() tea.Cmd { return m.runOwn(c, id, row.Text, env) })
}

// runOwn runs such a command once the engine has written it into the audit. Keys and tokens are
// taken out of its environment, see withoutSecrets.
func (m *model) runOwn(c keys.Command, id, row string, env []string) tea.Cmd {
	console, ctx := m.console, m.ctx
	ask := engine.Command{Op: engine.OpShell, Own: &engine.OwnAsk{Name: c.Name, Run: c.Run, On: id}, By: m.opt.By(), Reason: m.why.because("", m.now())}
	p := child.Program{Args: []string{"sh", "-c", c.Run}, Env: slices.Concat(withoutSecrets(os.Environ()), m.opt.OwnEnv, []string{"FARSIGHT_ID=" + id}, env), Stdin: row + "\n", Keep: ownOutput}
	return func() tea.Msg { return runShell(ctx, console, ask, p) }
}

// tellOwn says how a command of the user's own has ended. If it failed, the end of its output is
// shown, unless something else is being typed or asked.
func (m *model) tellOwn(e ownEnded, now time.Time) {
	n, lines := e.note(now)
	m.toasts.add(n, now)
	if e.err == nil || m.over != nil || m.prompt != nil || len(lines) == 0 {
		return
	}
	m.over = confirmOver(page.Confirm{Question: n.Text, Lines: lines, Yes: "close"}, func() tea.Cmd { return nil })
	m.over.dialog.No = answer("esc", "close", keys.No)
}
