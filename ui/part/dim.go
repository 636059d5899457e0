package part

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/themes"
)

// Dimmed takes the colours of rows of w cells away: they step back, and can still
// be read, while something lies over them. What is faint already stays as it is, so that a
// bar can be told from what it does not fill.
func Dimmed(th *themes.Theme, w int, rows []string) []string {
	d := dimmer{l: NewLine(th, w), marks: th.Marks(), bar: themes.Tick}
	if th.Open(themes.Tick) == th.Open(themes.Track) { // few colours
		d.bar = themes.Dim
	}
	out := make([]string, len(rows))
	for i, row := range rows {
		d.l.Reset(w, false)
		d.row(row)
		out[i] = d.l.String()
	}
	return out
}

// dimmer writes painted rows without their colours.
type dimmer struct {
	l     *Line
	marks map[string]themes.Token // what is faint, by its look
	bar   themes.Token            // what stands for the colours of bars and charts
}

// row writes one row, a look at a time.
func (d *dimmer) row(row string) {
	look := ""
	for row != "" {
		text, rest, found := strings.Cut(row, "\x1b[")
		d.text(look, text)
		end := strings.IndexByte(rest, 'm') + 1
		if !found || end == 0 {
			return
		}
		look, row = "\x1b["+rest[:end], rest[end:]
	}
}

// text writes what has one look.
func (d *dimmer) text(look, text string) {
	faint, isFaint := d.marks[look]
	for text = ansi.Strip(text); text != ""; {
		first, _ := utf8.DecodeRuneInString(text)
		kind := kindOf(first)
		end := strings.IndexFunc(text, func(r rune) bool { return kindOf(r) != kind })
		if end < 0 {
			end = len(text)
		}
		token := [...]themes.Token{isText: themes.Dim, isLine: themes.Hairline, isBar: d.bar}[kind]
		if isFaint {
			token = faint
		}
		d.l.write(token, text[:end], d.l.Room())
		text = text[end:]
	}
}

// runeKind is what a sign is a piece of.
type runeKind uint8

const (
	isText runeKind = iota
	isLine
	isBar // or a chart: blocks, cells and braille
)

func kindOf(r rune) runeKind {
	switch {
	case r >= 0x2500 && r <= 0x257f:
		return isLine
	case r >= 0x2580 && r <= 0x25a1 || r >= 0x2800 && r <= 0x28ff:
		return isBar
	}
	return isText
}
