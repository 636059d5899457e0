// Package reference reads the command tree for pages about it, such as docs/commands.md, and writes
// farsight(1).
package reference

import (
	"strings"
	"unicode/utf8"
)

// Paragraph is one of a command's long text: to be filled, or verbatim.
type Paragraph struct {
	Text     string
	Verbatim bool // an example; its lines stay
}

// Paragraphs parts a long text, whose lines end where they do in the source. Lines that
// are set in by two spaces or a tab are verbatim.
func Paragraphs(long string) (all []Paragraph) {
	open := false // the last one goes on
	for line := range strings.SplitSeq(long, "\n") {
		verbatim := strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t")
		text := strings.TrimSpace(line)
		switch last := len(all) - 1; {
		case text == "":
			open = false
		case open && all[last].Verbatim == verbatim && verbatim:
			all[last].Text += "\n" + text
		case open && all[last].Verbatim == verbatim:
			all[last].Text += " " + text
		// A blank line, or a change between text and example, begins a paragraph.
		default:
			all, open = append(all, Paragraph{text, verbatim}), true
		}
	}
	return all
}

// Reflow fills the paragraphs of a long text anew, in lines of width columns.
func Reflow(long string, width int) string {
	var out []string
	for _, p := range Paragraphs(long) {
		if p.Verbatim {
			out = append(out, "  "+strings.ReplaceAll(p.Text, "\n", "\n  "))
			continue
		}
		out = append(out, Wrap(p.Text, width))
	}
	return strings.Join(out, "\n\n")
}

// Wrap breaks a text into lines of at most width columns, at its spaces alone: --dry-run
// stays whole. What is as wide as that already stays as it is, runs of spaces included.
func Wrap(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	var b strings.Builder
	used := 0
	// A word that is wider than the line stands on one of its own.
	for _, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case used == 0:
		case used+1+n > width:
			b.WriteByte('\n')
			used = 0
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
	}
	return b.String()
}
