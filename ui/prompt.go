package ui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// prompt is a line of text that is being typed on the message line.
type prompt struct {
	part.Prompt
	// typed is told of every change, done of enter. done keeps the prompt open by
	// returning a sentence that says what is wrong.
	typed func(text string)
	done  func(text string) (cmd tea.Cmd, wrong string)
	wrong string
}

// askFilter types into the page's filter; the list follows each letter.
func (m *Model) askFilter() tea.Cmd {
	f, ok := m.page().(page.Filterer)
	if !ok {
		return nil
	}
	p := &prompt{Prompt: part.Prompt{Label: "/", Ghost: "words that a row must have"}}
	p.Set(f.Filter())
	p.typed = f.SetFilter
	p.done = func(text string) (tea.Cmd, string) {
		f.SetFilter(strings.TrimSpace(text))
		return nil, ""
	}
	m.prompt = p
	return nil
}

// ask opens a prompt that a page wants.
func (m *Model) ask(kind page.Prompt) {
	switch kind {
	case page.AskSync:
		p := &prompt{Prompt: part.Prompt{Label: "sync", Ghost: "Name#TAG platform, for example Blue Heron#KR1 kr"}}
		p.done = func(text string) (tea.Cmd, string) {
			c, wrong := parseSync(text)
			if wrong != "" {
				return nil, wrong
			}
			return m.do(c), ""
		}
		m.prompt = p
	case page.AskKey:
		p := &prompt{Prompt: part.Prompt{Label: "new API key", Ghost: "paste it: only its last four characters are ever shown", Mask: true}}
		p.done = func(text string) (tea.Cmd, string) {
			if wrong := keyFault(text); wrong != "" {
				return nil, wrong
			}
			return m.do(engine.Command{Op: engine.OpKey, Key: strings.TrimSpace(text)}), ""
		}
		m.prompt = p
	}
}

// parseSync reads "Name#TAG platform". A tag has no spaces, so what follows it is
// the platform.
func parseSync(text string) (engine.Command, string) {
	text = strings.TrimSpace(text)
	at := strings.LastIndexByte(text, '#')
	if at <= 0 {
		return engine.Command{}, "a Riot ID looks like Name#TAG: type it with the # and the tag"
	}
	rest := strings.Fields(text[at+1:])
	switch len(rest) {
	case 2:
		c := engine.Command{Op: engine.OpTrigger, Account: strings.TrimSpace(text[:at]) + "#" + rest[0]}
		c.Sync.Platform = strings.ToLower(rest[1])
		return c, ""
	case 1:
		return engine.Command{}, "say the platform too: " + text + " euw1 (or kr, na1, eun1, jp1, br1, …)"
	}
	return engine.Command{}, "type one Riot ID and its platform: Name#TAG euw1"
}

// keyFault says why a text cannot be an API key; it never repeats it.
func keyFault(text string) string {
	key := strings.TrimSpace(text)
	switch {
	case key == "":
		return "paste the key, or esc to leave it as it is"
	case strings.ContainsAny(key, " \t") || len(key) < 8:
		return "that is no API key: it looks like RGAPI- and 36 letters and digits"
	}
	return ""
}

// promptKey takes a key while a prompt is open.
func (m *Model) promptKey(k tea.Key) tea.Cmd {
	p := m.prompt
	name := k.String()
	if k.Text != "" {
		p.wrong = ""
		p.Insert(k.Text)
		p.change()
		return nil
	}
	switch name {
	case "esc", "ctrl+c":
		m.prompt = nil
		return nil
	case "enter":
		cmd, wrong := p.done(p.Value())
		p.wrong = wrong
		if wrong == "" {
			m.prompt = nil
		}
		return cmd
	}
	if p.Edit(name) {
		p.wrong = ""
		p.change()
	}
	return nil
}

func (p *prompt) change() {
	if p.typed != nil {
		p.typed(p.Value())
	}
}

// paste puts pasted text into the open prompt. Without one it means nothing: a
// paste must not be read as keys.
func (m *Model) paste(text string) {
	if m.prompt == nil {
		m.toasts.add(engine.Note{Level: engine.LevelInfo, Text: "nothing takes text here: t asks for an account, K for a key"}, time.Now())
		return
	}
	m.prompt.wrong = ""
	m.prompt.Insert(text)
	m.prompt.change()
}
