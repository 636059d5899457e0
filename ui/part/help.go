package part

import (
	"strings"

	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
)

// Group is a titled list of keys.
type Group struct {
	Name  string
	Hints []Hint
}

// HelpColumn is the width of one column of keys, helpKey of the key in it, and
// HelpLabel of what the key does.
const (
	HelpColumn = 38
	HelpLabel  = HelpColumn - helpKey - 3
	helpKey    = 8
)

// Help draws groups of keys in as many columns as fit into rows of w cells.
func Help(th *themes.Theme, w int, groups []Group) []string {
	columns := max(w/HelpColumn, 1)
	flow := helpColumns(helpLines(groups), columns)
	var out []string
	l := NewLine(th, w)
	for y := 0; ; y++ {
		l.Reset(w, false)
		drawn := false
		for c, lines := range flow {
			l.To(c * HelpColumn)
			if y < len(lines) {
				lines[y].draw(l, columns)
				drawn = true
			}
		}
		if !drawn {
			return out
		}
		out = append(out, l.String())
	}
}

// helpColumns parts lines into columns that are as short as can be. None begins with an
// empty line or ends with a title.
func helpColumns(lines []helpLine, columns int) [][]helpLine {
	for h := max((len(lines)+columns-1)/columns, 1); ; h++ {
		var out [][]helpLine
		rest := lines
		for len(rest) > 0 {
			if rest[0] == (helpLine{}) {
				rest = rest[1:]
				continue
			}
			n := min(h, len(rest))
			if n < len(rest) && n > 1 && rest[n-1].title != "" {
				n--
			}
			column := rest[:n]
			if column[n-1] == (helpLine{}) {
				column = column[:n-1]
			}
			out, rest = append(out, column), rest[n:]
		}
		if len(out) <= columns {
			return out
		}
	}
}

// helpLine is a title, a hint or nothing.
type helpLine struct {
	title     string
	key, does string
	off       bool
}

// helpLines are the lines of all groups below each other, an empty one between two groups.
func helpLines(groups []Group) []helpLine {
	var lines []helpLine
	for i, g := range groups {
		if i > 0 {
			lines = append(lines, helpLine{})
		}
		lines = append(lines, helpLine{title: g.Name})
		for _, h := range g.Hints {
			lines = append(lines, helpLine{key: h.Key, does: h.Does, off: h.Off})
		}
	}
	return lines
}

// draw writes the line at the beginning of its column; where there is but one, it may take the whole row.
func (h helpLine) draw(l *Line, columns int) {
	if h.title != "" {
		l.Gap(1).Put(themes.Figure, strings.ToUpper(h.title))
		return
	}
	key, does := themes.Accent, themes.Text
	if h.off {
		key, does = themes.Off, themes.Off
	}
	room := human.Either(columns == 1, l.Room(), HelpLabel)
	l.Gap(1).Field(As(key, h.key), helpKey, Words).Gap(1).Field(As(does, h.does), room, Words)
}

// Terms draws groups of words beside what they mean, in rows of w cells: all meanings stand
// in one column.
func Terms(th *themes.Theme, w int, groups []Group) (rows []string) {
	name := 0
	for _, g := range groups {
		for _, h := range g.Hints {
			name = max(name, safe.Width(h.Key))
		}
	}
	name = min(name, w/3)
	for _, g := range groups {
		rows = append(append(rows, ""), terms(th, w, name, g)...)
	}
	return rows
}

// terms draws one group; a meaning that takes several rows is told by its word in the first.
func terms(th *themes.Theme, w, name int, g Group) (rows []string) {
	if g.Name != "" {
		rows = append(rows, Row(th, w, Plain(" "), As(themes.Figure, strings.ToUpper(g.Name))))
	}
	for _, h := range g.Hints {
		for i, line := range Wrap(h.Does, w-name-4) {
			l := NewLine(th, w).Gap(1)
			if i == 0 {
				l.Field(As(themes.Accent, h.Key), name, Words)
			}
			rows = append(rows, l.To(name+3).Cells(Plain(line)).String())
		}
	}
	return rows
}
