package part

import (
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
)

// Dialog asks before something that costs. The safe answer is the default.
type Dialog struct {
	Title string
	// Body is wrapped; each string is a paragraph.
	Body []string
	// Figure are painted rows of at most FigureWidth cells below the text, on raised ground.
	Figure []string
	// Yes and No are the answers: the key, and what the answer does: "cancel 14 jobs".
	Yes, No Hint
	// OnYes says that Yes is chosen; the zero value is No.
	OnYes bool
	// Word, when set, must be typed into Input to agree.
	Word  string
	Input *Prompt
}

// DialogWidth is how wide a dialog is, in cells, where there is room; longer lines are hard to read.
const DialogWidth = 72

// FigureWidth is what a dialog has for a figure on a screen that is wide enough.
const FigureWidth = DialogWidth - 2*(PanelPad+1)

// View returns the dialog, w cells wide and at most h high, and the row of Input, 0 =
// it has none. What can be clicked is noted in hits.
func (d Dialog) View(th *themes.Theme, w, h int, hits *Hits) (panel []string, inputAt int) {
	th = th.Raised()
	inner := w - 2*PanelPad
	if inner < 3 || h < 2 {
		return nil, 0
	}
	rows := d.body(th, inner)
	for i, row := range d.Figure {
		if i == 0 {
			rows = append(rows, "")
		}
		rows = append(rows, fit(th, " "+row, inner))
	}
	rows = append(rows, "")
	asked := d.asked(th, inner) // what must stay visible, before the answers
	if asked != nil {
		asked = append(asked, "")
	}
	rows = append(rows[:max(min(len(rows), h-2-len(asked)), 0)], asked...)
	answers := len(rows)
	rows = append(rows, d.answers(th, inner, nil))
	panel, top := Panel(th, w, h, nil, Section{Title: d.Title, Rows: rows, Height: len(rows)})
	if asked != nil {
		inputAt = top + answers - 1
	}
	d.answers(th, inner, func(from, cells int, click click) { hits.Add(PanelPad+from, top+1+answers, cells, 1, click) })
	return panel, inputAt
}

// Lines are the dialog without a panel, rows of w cells: the question, what it says, and
// the answers.
func (d Dialog) Lines(th *themes.Theme, w int) []string {
	title := Row(th, w, As(themes.Focus, " "+d.Title))
	return slices.Concat([]string{title}, d.body(th, w), d.asked(th, w), []string{d.answers(th, w, nil)})
}

// body is what the dialog says, in rows of w cells with an empty one at either side.
func (d Dialog) body(th *themes.Theme, w int) (rows []string) {
	for _, paragraph := range d.Body {
		rows = append(rows, Paragraph(th, w, themes.Text, paragraph)...)
	}
	return rows
}

// asked is the word that must be typed, and the row where it is; nil = none must.
func (d Dialog) asked(th *themes.Theme, w int) []string {
	if d.Word == "" || d.Input == nil {
		return nil
	}
	input, _ := d.Input.View(th, w)
	return []string{Row(th, w, Plain(" type "), As(themes.Warn, d.Word), Plain(" to go on")), input}
}

// answers are both answers, the chosen one as a selected row is; noted is told where each
// stands.
func (d Dialog) answers(th *themes.Theme, w int, noted func(from, cells int, click click)) string {
	l := NewLine(th, w)
	for _, a := range []struct {
		Hint
		chosen bool
	}{{d.No, !d.OnYes}, {d.Yes, d.OnYes}} {
		from := l.at
		if a.chosen {
			l.On(themes.OnSel).Glyph(themes.Focus, th.Glyphs.Cursor, 1)
		} else {
			l.Gap(1)
		}
		l.Cells(As(themes.Focus, a.Key)).Gap(1).Cells(Plain(a.Does)).Gap(1).On(themes.OnPlain)
		if noted != nil {
			noted(from, l.at-from, a.Click)
		}
		l.Gap(2)
	}
	return l.String()
}

// Overlay lays box over base, w x h cells, with its corner in column x of row y.
func Overlay(th *themes.Theme, w, h int, base, box []string, x, y int) []string {
	out := Height(th, w, h, base)
	if len(box) == 0 || w <= 0 {
		return out
	}
	bw, _, _ := measure(box[0], false)
	bw = min(bw, w)
	for i, row := range box[:min(len(box), len(out)-y)] {
		under := out[y+i]
		out[y+i] = fit(th, fit(th, under, x)+fit(th, row, bw)+dropRow(under, x+bw), w)
	}
	return out
}

// Clause is the longest beginning of a sentence that ends with one of its clauses and fits w
// cells; "" = none does.
func Clause(text string, w int) string {
	for text != "" && safe.Width(text) > w {
		text = text[:max(strings.LastIndex(text, ", "), strings.LastIndex(text, ": "), strings.LastIndex(text, "; "), strings.LastIndex(text, " · "), 0)]
	}
	return text
}

// Paragraph is a text on as many rows of w cells as it takes, with a cell free at either side.
func Paragraph(th *themes.Theme, w int, t themes.Token, text string) (rows []string) {
	for _, line := range Wrap(text, max(w-2, 1)) {
		rows = append(rows, Row(th, w, As(t, " "+line)))
	}
	return rows
}

// Wrap breaks text into lines of at most w cells, at spaces where it can.
func Wrap(text string, w int) []string {
	if w <= 0 {
		return nil
	}
	var lines []string
	line := ""
	for _, word := range strings.Fields(safe.Text(text)) {
		if line != "" && safe.Width(line)+1+safe.Width(word) <= w {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for safe.Width(word) > w {
			part, n := cutRow(word, w)
			if n == 0 { // a wide rune in one cell
				return append(lines, safe.Cut(word, w))
			}
			lines = append(lines, part)
			word = word[len(part):]
		}
		line = word
	}
	return append(lines, line)
}
