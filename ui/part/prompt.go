package part

import (
	"fmt"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/farsight-console/farsight/engine/safe"
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

	value []rune
	at    int // cursor, 0..len(value)
}

// Value returns what was typed, as typed.
func (p *Prompt) Value() string { return string(p.value) }

// Set replaces the input and puts the cursor behind it.
func (p *Prompt) Set(s string) {
	p.value, p.at, p.Bad = nil, 0, 0
	p.Insert(s)
}

// Insert types text, composed, at the cursor. Line breaks end pasted text;
// what a terminal could not show is dropped.
func (p *Prompt) Insert(s string) {
	p.Bad = 0
	for _, r := range norm.NFC.String(s) {
		if r == '\n' || r == '\r' || len(p.value) >= maxInput {
			return
		}
		if !unicode.IsGraphic(r) {
			continue
		}
		p.value = append(p.value, 0)
		copy(p.value[p.at+1:], p.value[p.at:])
		p.value[p.at] = r
		p.at++
	}
}

// edits are the keys a prompt understands, named as Bubble Tea names them.
var edits = map[string]func(*Prompt){
	"left":      func(p *Prompt) { p.at = max(p.at-1, 0) },
	"right":     func(p *Prompt) { p.at = min(p.at+1, len(p.value)) },
	"home":      func(p *Prompt) { p.at = 0 },
	"ctrl+a":    func(p *Prompt) { p.at = 0 },
	"end":       func(p *Prompt) { p.at = len(p.value) },
	"ctrl+e":    func(p *Prompt) { p.at = len(p.value) },
	"backspace": func(p *Prompt) { p.remove(p.at-1, p.at) },
	"delete":    func(p *Prompt) { p.remove(p.at, p.at+1) },
	"ctrl+w":    func(p *Prompt) { p.remove(p.word(), p.at) },
	"ctrl+u":    func(p *Prompt) { p.remove(0, p.at) },
}

// Edit applies an editing key; false when the key is not one.
func (p *Prompt) Edit(key string) bool {
	edit, ok := edits[key]
	if ok {
		edit(p)
	}
	return ok
}

func (p *Prompt) remove(from, to int) {
	from, to = max(from, 0), min(to, len(p.value))
	if from >= to {
		return
	}
	p.value = append(p.value[:from], p.value[to:]...)
	p.at, p.Bad = from, 0
}

// word returns where the word before the cursor begins.
func (p *Prompt) word() int {
	i := p.at
	for i > 0 && unicode.IsSpace(p.value[i-1]) {
		i--
	}
	for i > 0 && !unicode.IsSpace(p.value[i-1]) {
		i--
	}
	return i
}

// View returns the row and the column where the terminal's cursor belongs.
// Long input scrolls so that the cursor stays visible.
func (p *Prompt) View(th *themes.Theme, w int) (row string, cursor int) {
	l := NewLine(th, w)
	l.Gap(1).Put(themes.Accent, p.Label)
	if p.Label != "" {
		l.Gap(1)
	}
	if len(p.value) == 0 {
		cursor = l.at
		l.Put(themes.Dim, p.Ghost)
		return l.String(), min(cursor, max(w-1, 0))
	}
	for i := p.first(l.Room() - 1); i < len(p.value) && l.Room() > 0; i++ {
		if i == p.at {
			cursor = l.at
		}
		token := themes.Text
		if p.Bad > 0 && i >= p.Bad-1 {
			token = themes.Err
		}
		l.Put(token, p.shown(l, i))
	}
	if p.at == len(p.value) {
		cursor = l.at
	}
	return l.String(), min(cursor, max(w-1, 0))
}

// first returns the first rune to draw so that the cursor has its cell.
func (p *Prompt) first(room int) int {
	i, w := p.at, 0
	for i > 0 {
		w += max(safe.RuneWidth(p.value[i-1]), 1)
		if w > room {
			break
		}
		i--
	}
	return i
}

// shown returns rune i as it is drawn. A rune that would join its neighbours
// on some terminals is spelled out: the cursor stands between single runes.
func (p *Prompt) shown(l *Line, i int) string {
	r := p.value[i]
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
		r >= 0xd7b0 && r <= 0xd7ff || len(safe.Text(alone)) < len(alone)
}
