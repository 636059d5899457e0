package ui

import (
	"time"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/ui/keys"
	"github.com/farsight-console/farsight/ui/line"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/screen"
	"github.com/farsight-console/farsight/ui/session"
)

// key gives a key its meaning. A prompt takes it first, then what lies over the page, then the
// page. What is typed into takes letters as text, so that no letter of a name or a reason is a
// command.
func (m *model) key(k tea.Key, now time.Time) tea.Cmd {
	if m.prompt != nil {
		return m.promptKey(k)
	}
	// The order matters: of a palette that was opened over a question, the palette takes the key.
	if m.over != nil && m.over.menu != nil && m.over.menu.typing {
		return m.paletteKey(k, now)
	}
	if m.over != nil && m.over.word() != "" {
		return m.wordKey(k)
	}
	if m.over != nil && m.over.find != nil {
		return m.helpKey(k, now)
	}
	at := keys.On(m.page().Screen())
	if m.over != nil {
		at = m.over.context()
	}
	// Keys are looked up for what is on top, so that one key may mean another thing there.
	act, ok := m.keys.Meaning(at, k.String())
	if !ok {
		// Under an input method of Korean or another script all keys would be dead without a word.
		if r, _ := utf8.DecodeRuneInString(k.Text); unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) {
			m.showMessage("keys need Latin letters: switch the input method")
		}
		return nil
	}
	if m.over != nil {
		return m.overAct(act, now)
	}
	return m.perform(m.inTime(act), now)
}

// appActs are the actions of the app itself; all others are the page's, see perform. It is filled
// by init, since its functions lead back to it, which Go takes for a circle.
var appActs map[page.Action]func(m *model, now time.Time) tea.Cmd

func init() {
	appActs = map[page.Action]func(m *model, now time.Time) tea.Cmd{
		keys.Filter:   func(m *model, _ time.Time) tea.Cmd { return m.askFilter() },
		keys.Save:     (*model).askSave,
		keys.Watch:    (*model).toggleWatch,
		keys.Freeze:   (*model).freeze,
		keys.Live:     (*model).thaw,
		keys.Earlier:  stepper(-shortStep),
		keys.Later:    stepper(shortStep),
		keys.FarBack:  stepper(-longStep),
		keys.FarOn:    stepper(longStep),
		keys.Help:     func(m *model, _ time.Time) tea.Cmd { m.over = helpOver(); return nil },
		keys.Messages: (*model).openMessages,
		keys.Logs:     (*model).openLogs,
		keys.Audit:    (*model).openAudit,
		keys.Chaos:    (*model).openChaos,
		keys.Back:     (*model).back,
		keys.Previous: func(m *model, _ time.Time) tea.Cmd { m.goTo(m.previous); return nil },
		keys.NextTab:  (*model).nextTab,
		keys.Reload:   (*model).reload,
		keys.Repaint:  func(*model, time.Time) tea.Cmd { return tea.ClearScreen },
		keys.Suspend:  (*model).suspend,
		keys.Quit:     (*model).quit,
		keys.Detach:   (*model).detach,
		keys.Exit:     (*model).exit,
		keys.Palette:  (*model).openPalette,
		keys.Sort:     (*model).openSort,
		keys.Columns:  (*model).openColumns,
		keys.Copy:     (*model).openCopy,
		keys.CopyRows: (*model).copyRows,
		keys.Export:   (*model).exportRows,
		keys.Themes:   (*model).openThemes,
		keys.Undo:     (*model).undoLast,
		keys.Reason:   (*model).askReason,
		keys.Mouse:    (*model).toggleMouse,
	}
}

// onRow are the actions on the row under the cursor, besides those that write (see
// page.Action.Writes).
var onRow = map[page.Action]bool{
	page.Open: true, page.Mark: true, page.MarkRange: true, page.Recorder: true, keys.Copy: true, keys.Logs: true, keys.Watch: true, keys.Reason: true, keys.Palette: true,
}

// hold keeps the row that the operator acts on under the cursor: a key is meant for the row that
// was on the screen when it was pressed, and not for one that has just moved there.
func (m *model) hold(a page.Action) {
	if h, ok := m.page().(page.Holder); ok && (onRow[a] || a.Writes()) {
		h.Hold()
	}
}

// pageAct lets the page act, or says why it cannot: a key that did nothing and said nothing would
// look like a fault.
func (m *model) pageAct(a page.Action, now time.Time) tea.Cmd {
	v := m.view(now)
	if why := m.cannot(v, a); why != "" {
		return m.showMessage(why)
	}
	if a == page.Key {
		m.ask(page.AskKey)
		return nil
	}
	// In a frozen view the time follows the page's cursor, if the action has moved that.
	before, _ := m.instant(now)
	// The page acts on the very view that Cannot was asked about.
	effect := m.page().Act(v, a)
	m.followPage(before, now)
	cmd := m.carryOut(effect, now)
	// [ and ] go from it to its neighbours in the list, see route.neighbour.
	if a == page.Open && effect.Open != nil {
		m.listed = append(m.listed, m.page())
	}
	return cmd
}

// inTime is what a key means while the view is frozen. On the reports, [ and ] go to another
// report; they step in time then, as they do on every other screen.
func (m *model) inTime(a page.Action) page.Action {
	if m.frozen == nil || m.page().Screen() != page.ScreenReports {
		return a
	}
	switch a {
	case page.Previous:
		return keys.Earlier
	case page.Next:
		return keys.Later
	}
	return a
}

// cannot says why an action has no effect here and now; "" = it has one. The hints and the help ask
// it too, so that a dimmed key and its answer always agree.
func (m *model) cannot(v *page.View, a page.Action) string {
	if a.Writes() {
		if why := m.refuses(); why != "" {
			return why
		}
	}
	if _, own := m.keys.Own[a]; own {
		return m.refusesOwn()
	}
	if a == keys.Chaos && m.opt.Chaos == nil {
		return session.NoChaos
	}
	if a == page.Mark || a == page.MarkRange || a == page.MarkAll {
		if f, ok := m.page().(page.Filterer); ok {
			// Marks are held by id, so a mark on nothing would stay without a row.
			if shown, _ := f.Fit(); shown == 0 {
				return "there is no row to mark"
			}
		}
	}
	return m.page().Cannot(v, a)
}

// refuses says why nothing can be changed from this console.
func (m *model) refuses() string { return m.opt.Refuses(&m.rows.Data) }

// carryOut does what an effect asks for. Pages do nothing themselves: their effects are carried out
// here, and by the plain console, which has the same pages, in its own way.
func (m *model) carryOut(e page.Effect, now time.Time) tea.Cmd {
	// An effect may be several things at once, such as a sentence and a screen to open.
	if e.Say.Text != "" {
		m.toasts.add(e.Say, now)
	}
	if e.Open != nil {
		m.stack = append(m.stack, screen.New(e.Open))
	}
	if e.Go != nil {
		m.goTo(*e.Go)
	}
	if e.Ask != page.NoPrompt {
		m.ask(e.Ask)
	}
	if e.Text != nil {
		return m.askText(*e.Text)
	}
	if e.Chaos != nil {
		return m.disturb(e)
	}
	all := e.DoAll
	if e.Do != nil {
		all = append(all, *e.Do)
	}
	switch {
	case len(all) == 0:
		return nil
	// It is tried first: the question tells what it would do and cost.
	case e.Try && e.Do != nil && e.Confirm != nil:
		return m.try(*e.Confirm, *e.Do, e.Free)
	case e.Try && len(e.DoAll) > 0 && e.Confirm != nil:
		return m.tryAll(*e.Confirm, e.DoAll)
	// The question holds the commands: yes carries out what was asked about, whatever is selected
	// by then.
	case e.Confirm != nil:
		return m.confirm(*e.Confirm, func() tea.Cmd { return m.doAll(all) })
	}
	return m.doAll(all)
}

// operate carries out the operation that a line of the palette or a prompt asks for, after its question.
func (m *model) operate(o operation.Operation, arg string, now time.Time) (tea.Cmd, string) {
	if why := m.refuses(); why != "" {
		return nil, why
	}
	e, wrong := line.Read(m.view(now), o, arg)
	if wrong != "" {
		return nil, wrong
	}
	return m.carryOut(e, now), ""
}

// doAll carries out commands one after the other. At once would be wrong: of two that act on one
// job, the second has to find what the first has left.
func (m *model) doAll(all []engine.Command) tea.Cmd {
	cmds := make([]tea.Cmd, len(all))
	for i, c := range m.allBecause(all) {
		cmds[i] = m.do(c)
	}
	return tea.Sequence(cmds...)
}

// allBecause gives several commands that are one act the same reason. It takes the reason that
// waits before the first of them would: the others would have none.
func (m *model) allBecause(all []engine.Command) []engine.Command {
	if len(all) < 2 {
		return all
	}
	text := m.why.because("", m.now())
	out := make([]engine.Command, len(all))
	for i, c := range all {
		if out[i] = c; c.Reason == "" {
			out[i].Reason = text
		}
	}
	return out
}
