package part

import "github.com/farsight-console/farsight/themes"

// Group is a titled list of keys.
type Group struct {
	Name  string
	Hints []Hint
}

// HelpColumn is the width of one column of keys, helpKey of the key in it, and
// HelpLabel of what the key does.
const (
	HelpColumn = 39
	HelpLabel  = HelpColumn - helpKey - 3
	helpKey    = 8
)

// Help draws groups of keys in as many columns as fit, h rows of w cells,
// from line top on.
func Help(th *themes.Theme, w, h int, groups []Group, top int) []string {
	if h <= 0 {
		return nil
	}
	lines := helpLines(groups)
	lines = lines[clamp(top, 0, len(lines)):]
	columns := max(w/HelpColumn, 1)
	out := make([]string, 0, h)
	l := NewLine(th, w)
	for i := range h {
		l.Reset(w, false)
		for c := range columns {
			l.To(c * HelpColumn)
			if at := c*h + i; at < len(lines) {
				lines[at].draw(l, columns)
			}
		}
		out = append(out, l.String())
	}
	return out
}

// HelpLines returns how many lines groups have, for scrolling.
func HelpLines(groups []Group) int { return len(helpLines(groups)) }

// helpLine is a title, a hint or nothing.
type helpLine struct {
	title string
	hint  Hint
}

func helpLines(groups []Group) []helpLine {
	var lines []helpLine
	for i, g := range groups {
		if i > 0 {
			lines = append(lines, helpLine{})
		}
		lines = append(lines, helpLine{title: g.Name})
		for _, h := range g.Hints {
			lines = append(lines, helpLine{hint: h})
		}
	}
	return lines
}

func (h helpLine) draw(l *Line, columns int) {
	if h.title != "" {
		l.Gap(1).Put(themes.Focus, h.title)
		return
	}
	key, does := themes.Accent, themes.Text
	if h.hint.Off {
		key, does = themes.Off, themes.Off
	}
	room := HelpColumn
	if columns == 1 {
		room = l.Room()
	}
	l.Gap(1).Field(As(key, h.hint.Key), helpKey, Words).Gap(1).Field(As(does, h.hint.Does), room-helpKey-3, Words)
}
