package part

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"golang.org/x/text/unicode/norm"

	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/engine/table"
	"github.com/farsight-console/farsight/themes"
)

// maxInput bounds what a prompt takes: a pasted file is not an answer.
const maxInput = 4096

// Prompt is a one-line input. The zero value is empty and ready.
type Prompt struct {
	// Label stands before the input, such as "/" or "type purge:".
	Label string
	// Ghost is shown, dimmed, while the input is empty.
	Ghost string
	// Mask draws dots instead of what is typed: keys and tokens.
	Mask bool
	// Bad marks the rune from which the input is wrong; 0 means it is not, 1
	// the first rune.
	Bad int

	edit *textinput.Model // nil until the first edit
}

// input is the editor behind the prompt: what a key does to a line of text is a
// library's business, how it is drawn is ours.
func (p *Prompt) input() *textinput.Model {
	if p.edit == nil {
		m := textinput.New()
		m.CharLimit = maxInput
		m.SetVirtualCursor(false)
		m.Focus()
		p.edit = &m
	}
	return p.edit
}

// Value returns what was typed, as typed.
func (p *Prompt) Value() string {
	if p.edit == nil {
		return ""
	}
	return p.edit.Value()
}

// at is the cursor's place, in runes.
func (p *Prompt) at() int {
	if p.edit == nil {
		return 0
	}
	return p.edit.Position()
}

// Set replaces the input and puts the cursor behind it.
func (p *Prompt) Set(s string) {
	p.edit, p.Bad = nil, 0
	p.Insert(s)
}

// Insert types text, composed, at the cursor. Line breaks end pasted text;
// what a terminal could not show is dropped.
func (p *Prompt) Insert(s string) {
	line, _, _ := strings.Cut(strings.ReplaceAll(norm.NFC.String(s), "\r", "\n"), "\n")
	graphic := func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return -1
		}
		return r
	}
	p.update(tea.PasteMsg{Content: strings.Map(graphic, line)})
}

// update hands the editor a key or text; what was wrong with the input before is settled then.
func (p *Prompt) update(msg tea.Msg) {
	p.Bad = 0
	m, _ := p.input().Update(msg)
	p.edit = &m
}

// edits are the keys a prompt understands, named as Bubble Tea names them. The editor knows more,
// such as ctrl+d and ctrl+k, which are left to those who delete by them elsewhere.
var edits = []string{"left", "right", "home", "ctrl+a", "end", "ctrl+e", "backspace", "delete", "ctrl+w", "ctrl+u"}

// Edit applies an editing key; false when the key is not one.
func (p *Prompt) Edit(key string) bool {
	ok := slices.Contains(edits, key)
	if ok {
		p.update(tea.KeyPressMsg{Text: key}) // the editor compares names: a key's code adds nothing
	}
	return ok
}

// View returns the row and the column where the terminal's cursor belongs.
// Long input scrolls so that the cursor stays visible.
func (p *Prompt) View(th *themes.Theme, w int) (row string, cursor int) {
	l := NewLine(th, w)
	l.Gap(1).Put(themes.Accent, p.Label)
	if p.Label != "" {
		l.Gap(1)
	}
	value, at := []rune(p.Value()), p.at()
	if len(value) == 0 {
		cursor = l.at
		l.Field(As(themes.Dim, p.Ghost), l.Room(), table.Sentence)
		return l.String(), min(cursor, max(w-1, 0))
	}
	for i := first(value[:at], l.Room()-1); i < len(value) && l.Room() > 0; i++ {
		if i == at {
			cursor = l.at
		}
		token := human.Either(p.Bad > 0 && i >= p.Bad-1, themes.Err, themes.Text)
		l.Put(token, p.shown(l, value[i]))
	}
	if at == len(value) {
		cursor = l.at
	}
	return l.String(), min(cursor, max(w-1, 0))
}

// first returns the first rune to draw so that the cursor behind them has its
// cell.
func first(before []rune, room int) int {
	i, w := len(before), 0
	for i > 0 {
		w += max(safe.RuneWidth(before[i-1]), 1)
		if w > room {
			break
		}
		i--
	}
	return i
}

// shown returns rune r as it is drawn. A rune that would join its neighbours
// on some terminals is spelled out: the cursor stands between single runes.
func (p *Prompt) shown(l *Line, r rune) string {
	switch {
	case p.Mask:
		return l.th.Glyphs.Mask
	case safe.Simple(r):
	case joins(r):
		return l.clean(fmt.Sprintf("‹U+%04X›", r), false)
	}
	return l.clean(string(r), false)
}

// joins reports whether r makes one cluster with a letter beside it: marks,
// spacing signs, conjoining Hangul.
func joins(r rune) bool {
	alone := "a" + string(r) + "a"
	return safe.RuneWidth(r) < 1 || r >= 0x1100 && r <= 0x11ff || r >= 0xa960 && r <= 0xa97f ||
		r >= 0xd7b0 && r <= 0xd7ff || safe.Text(alone) != alone
}
