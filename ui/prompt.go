package ui

import (
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
	"github.com/farsight-console/farsight/ui/saved"
)

// prompt is a line of text that is being typed on the message line. Only one is open at a time, and
// it takes all keys.
type prompt struct {
	part.Prompt
	// typed is told of every change, done of enter. done keeps the prompt open by
	// returning a sentence that says what is wrong.
	typed func(text string) tea.Cmd
	done  func(text string) (cmd tea.Cmd, wrong string)
	wrong string

	filter page.Filterer // what the text is a filter of; nil = none
	gen    int           // of the text, for what comes back later
	past   recall

	rest func(text string) string  // what tab puts behind the text; nil = nothing
	try  func(text string) tea.Cmd // what the text would do, once it stands still; nil = is not asked
	left func()                    // is told when the prompt closes; nil = nobody
}

// recall is how far back in what was typed before a line is; 0 = it is a new one.
type recall int

// step goes back by 1 or, by -1, forward to what is newer; false = there is nothing there.
func (r *recall) step(typed []string, by int) (line string, ok bool) {
	at := int(*r) + by
	if at < 0 || at > len(typed) {
		return "", false
	}
	if *r = recall(at); at > 0 {
		line = typed[len(typed)-at]
	}
	return line, true
}

// debounce is how long a filter waits for the next letter before it is applied: a list of thousands
// of jobs is not filtered for each letter of a word that is typed quickly.
const debounce = 100 * time.Millisecond

// settled says that a filter's text has stood still for the debounce.
type settled struct {
	prompt *prompt
	gen    int
}

// askFilter types into the page's filter. The list follows once the letters pause, and enter does
// not have to be pressed to see what fits.
func (m *model) askFilter() tea.Cmd {
	f, ok := m.page().(page.Filterer)
	if !ok {
		return nil
	}
	p := m.openPrompt(part.Prompt{Label: "/", Ghost: "words, state:failed, age>1h, -queue:report.*, ~letters; tab completes"}, f.Filter(), nil)
	p.filter, p.typed = f, m.settles(p)
	p.done = func(text string) (tea.Cmd, string) {
		p.apply(text)
		return nil, p.wrong
	}
	return nil
}

// openPrompt opens a line to type in, in which text stands already.
func (m *model) openPrompt(line part.Prompt, text string, done func(text string) (tea.Cmd, string)) *prompt {
	m.prompt = &prompt{Prompt: line, done: done}
	m.prompt.Set(text)
	return m.prompt
}

// settles tells the app when the text has stood still for the debounce.
func (m *model) settles(p *prompt) func(string) tea.Cmd {
	return func(string) tea.Cmd {
		p.gen++
		return after(m.ctx, debounce, settled{p, p.gen})
	}
}

// applySettled applies the filter that is being typed, or tries the command, unless the text has changed
// or the prompt was closed since.
func (m *model) applySettled(s settled) tea.Cmd {
	switch {
	case m.prompt != s.prompt || s.prompt.gen != s.gen:
		return nil
	case s.prompt.try != nil:
		return s.prompt.try(s.prompt.Value())
	}
	s.prompt.apply(s.prompt.Value())
	return nil
}

// apply sets the filter. What is wrong with it is marked where it begins; the list stays as the
// last good filter left it.
func (p *prompt) apply(text string) {
	text = strings.TrimRight(text, " ")
	p.Bad, p.wrong = 0, ""
	err := p.filter.SetFilter(text)
	if err == nil {
		return
	}
	p.wrong = err.Error()
	if at, ok := errors.AsType[*filter.Error](err); ok {
		// The error counts bytes, the prompt letters from 1 on; 0 marks nothing.
		p.Bad = utf8.RuneCountInString(text[:min(at.At, len(text))]) + 1
	}
}

// faultText is what is wrong with a filter, in w cells. Without room for all of it the column goes
// first: where the fault begins is marked in the text anyway.
func (p *prompt) faultText(w int) string {
	if _, what, ok := strings.Cut(p.wrong, ": "); ok && p.Bad > 0 && safe.Width(safe.Text(p.wrong)) > w {
		return someOf(what, w)
	}
	return p.wrong
}

// someOf shortens a list of the words that may stand in a filter until it fits w cells: "use age,
// class, key and 9 more; tab completes".
func someOf(wrong string, w int) string {
	head, list, ok := strings.Cut(wrong, ": use ")
	words := strings.Split(strings.Replace(list, " or ", ", ", 1), ", ")
	for n := len(words); ok && n > 0; n-- {
		if safe.Width(safe.Text(wrong)) <= w {
			break
		}
		wrong = head + ": use " + strings.Join(words[:n], ", ") + " and " + strconv.Itoa(len(words)-n) + " more; tab completes"
	}
	return wrong
}

// complete puts the first thing that may stand at the end of the text there; false if nothing may.
func (p *prompt) complete() bool {
	text := p.Value()
	all := p.filter.Complete(text, len(text))
	if len(all) == 0 {
		return false
	}
	p.Set(text[:all[0].From] + all[0].Text + text[all[0].To:])
	return true
}

// askText opens a prompt that a page reads by itself. The page may want to see what the text would
// do while it is typed, such as the next runs of a schedule.
func (m *model) askText(t page.Text) tea.Cmd {
	p := m.openPrompt(part.Prompt{Label: t.Label, Ghost: t.Ghost}, t.Start, func(text string) (tea.Cmd, string) {
		c, wrong := t.Read(text, m.now())
		if wrong != "" {
			return nil, wrong
		}
		return m.do(c), ""
	})
	// Most pages only read the text once it is accepted.
	if t.Tried == nil {
		return nil
	}
	// What the text would have done must not stay on the screen without it.
	p.left = func() { t.Tried(nil, "") }
	p.try = func(text string) tea.Cmd { return m.tryText(p, t, text) }
	p.typed = m.settles(p)
	return p.try(t.Start)
}

// foreseen is what the command of a text that is being typed would do.
type foreseen struct {
	prompt  *prompt
	gen     int
	told    func(*engine.Receipt, string)
	receipt engine.Receipt
	err     error
}

// tryText asks the engine in a dry run what the command of a text would do. A text that cannot be
// read is told at once, without the engine.
func (m *model) tryText(p *prompt, t page.Text, text string) tea.Cmd {
	c, wrong := t.Read(text, m.now())
	if wrong != "" {
		t.Tried(nil, wrong)
		return nil
	}
	c.By, c.DryRun = m.opt.By(), true
	console, ctx, out := m.console, m.ctx, foreseen{prompt: p, gen: p.gen, told: t.Tried}
	return func() tea.Msg {
		out.receipt, out.err = console.Do(ctx, c)
		return out
	}
}

// answer tells the page what came back, unless the text has changed since: it would be told of a
// command that nobody sees any more.
func (t foreseen) answer(open *prompt) {
	switch {
	case open != t.prompt || t.prompt.gen != t.gen:
	case t.err != nil:
		t.told(nil, page.Sentence(t.err))
	default:
		t.told(&t.receipt, "")
	}
}

// ask opens a prompt that a page wants and cannot read by itself.
func (m *model) ask(kind page.Prompt) {
	switch kind {
	case page.AskSync:
		p := m.openPrompt(part.Prompt{Label: "sync", Ghost: syncGhost(m.opt.Platform)}, "", func(text string) (tea.Cmd, string) {
			return m.operate(operation.Of(engine.OpTrigger), text, m.now())
		})
		// tab completes an account that is known already: most syncs are of those.
		p.rest = func(text string) string { return restOfName(text, m.rows.Data.Accounts) }
	case page.AskKey:
		line := part.Prompt{Label: "new API key", Ghost: "paste it: only its last four characters are ever shown", Mask: true}
		// Which key is given up stands in the prompt, by its last four characters.
		if v := m.view(m.now()); v.Engine.Key != "" {
			line.Ghost = "in place of " + keyText(v) + ": paste it, only its last four characters are ever shown"
		}
		m.openPrompt(line, "", func(text string) (tea.Cmd, string) {
			if wrong := m.opt.keyFault(text); wrong != "" {
				return nil, wrong
			}
			return m.replaceKey(strings.TrimSpace(text)), ""
		})
	}
}

// replaceKey uses another key. A key that works is only given up after a question, which shows the
// last four characters of both: enough to notice a slip. One that Riot refuses has nothing to lose.
func (m *model) replaceKey(key string) tea.Cmd {
	c := engine.Command{Op: engine.OpKey, Key: key}
	e := m.rows.Data.Engine
	if e.State == engine.EngineNoKey || e.Key == "" {
		return m.do(c)
	}
	return m.confirm(page.Confirm{
		Question: "Replace the API key?",
		Lines: []string{
			"The key " + e.Key + " is given up, all calls from now on are made with the new one, " + lastOf(key) + ", unless Riot refuses it. Nothing is stopped or lost.",
			"A key of another project knows players by other ids: their syncs pause until that is settled.",
		},
		Yes: "replace it",
	}, func() tea.Cmd { return m.do(c) })
}

// lastOf is as much of a key as may be shown.
func lastOf(key string) string { return "…" + key[max(len(key)-4, 0):] }

// syncGhost says what is typed to sync an account.
func syncGhost(usual string) string {
	return human.Either(usual != "", "Name#TAG, and its platform if that is not "+usual, "Name#TAG platform, for example Blue Heron#KR1 kr")
}

// restOfName is what is left to type of the first account whose name begins with a text, in upper
// or lower case; "" = none does, or nothing was typed.
func restOfName(text string, known []engine.AccountRow) string {
	typed := []rune(text)
	for i := range known {
		name := []rune(safe.Text(known[i].RiotID))
		if len(typed) > 0 && len(name) > len(typed) && strings.EqualFold(string(name[:len(typed)]), text) {
			return string(name[len(typed):])
		}
	}
	return ""
}

// keyFault says why a text cannot be an API key; "" = it may be one.
func (o Options) keyFault(text string) string {
	if strings.TrimSpace(text) == "" {
		return "paste the key, or esc to leave it as it is"
	}
	if o.KeyForm == nil {
		return ""
	}
	if err := o.KeyForm(text); err != nil {
		return err.Error()
	}
	return ""
}

// promptKey takes a key while a prompt is open. enter leaves it open until what was typed can be
// used, and says what is wrong with it.
func (m *model) promptKey(k tea.Key) tea.Cmd {
	p := m.prompt
	name := k.String()
	if k.Text != "" {
		p.Insert(k.Text)
		p.past = 0
		return p.change()
	}
	by := map[string]int{"up": 1, "down": -1}[name]
	switch {
	case p.filter != nil && by != 0:
		line, ok := p.past.step(m.kept.Sought, by)
		if ok && line == p.Value() { // the filter in force was typed last
			line, ok = p.past.step(m.kept.Sought, by)
		}
		if !ok {
			return nil
		}
		p.Set(line)
		return p.change()
	case name == "esc" || name == "ctrl+c":
		m.leavePrompt()
		return nil
	case name == "enter":
		cmd, wrong := p.done(p.Value())
		p.wrong = wrong
		if wrong == "" {
			m.closePrompt()
		}
		return cmd
	case name == "tab" && p.rest != nil:
		p.Insert(p.rest(p.Value()))
		return p.change()
	case name == "tab" && p.filter != nil:
		if p.complete() {
			return p.change()
		}
		return nil
	}
	if p.Edit(name) {
		return p.change()
	}
	return nil
}

// leavePrompt closes the prompt without carrying it out. A filter that was right stays in force; a
// wrong one gives way to the last good one.
func (m *model) leavePrompt() {
	if p := m.prompt; p.filter != nil {
		p.apply(p.Value())
	}
	m.closePrompt()
}

// closePrompt closes it, and tells the page that nothing is typed any more.
func (m *model) closePrompt() {
	p := m.prompt
	if p.left != nil {
		p.left()
	}
	if p.filter != nil {
		m.kept.Sought = saved.AddLine(m.kept.Sought, p.filter.Filter())
	}
	m.prompt = nil
}

// change forgets what was wrong with the text before, and tells whoever listens.
func (p *prompt) change() tea.Cmd {
	p.wrong = ""
	if p.typed == nil {
		return nil
	}
	return p.typed(p.Value())
}

// paste puts pasted text where text is typed. Where none is, it does nothing: read as keys, a
// pasted name could cancel jobs.
func (m *model) paste(text string) tea.Cmd {
	switch {
	case m.prompt != nil:
		m.prompt.Insert(text)
		return m.prompt.change()
	case m.over != nil && m.over.menu != nil && m.over.menu.typing:
		m.over.menu.input.Insert(text)
		m.over.menu.narrow()
		return nil
	case m.over != nil && m.over.find != nil:
		m.over.find.Insert(text)
		m.over.top = 0
		return nil
	}
	return m.showMessage(m.keyed("nothing takes text here: {sync} asks for an account, {key} for a key"))
}

// askReason asks for the reason of the next command. Every command can have one; those that need
// one ask for it themselves.
func (m *model) askReason(time.Time) tea.Cmd {
	if why := m.refuses(); why != "" {
		return m.showMessage(why)
	}
	line := part.Prompt{Label: "because", Ghost: "why you do what comes next: the audit keeps it; empty takes it back"}
	m.openPrompt(line, m.armed(), func(text string) (tea.Cmd, string) {
		m.why = why{strings.TrimSpace(text), m.now().Add(whyFor)}
		return nil, ""
	})
	return nil
}
