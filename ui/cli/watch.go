package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Watch shows one thing again and again, and writes only what has changed: a terminal is drawn
// anew, a pipe is given the rows that are new or have changed.
type Watch struct {
	o      Out
	last   string // what was shown
	lines  int    // that stand on the terminal
	seen   *seen  // nil where a terminal is drawn on: it shows all rows
	rounds int    // so far
}

// NewWatch makes a Watch that writes to o.
func NewWatch(o Out) *Watch {
	w := &Watch{o: o}
	if o.Height == 0 {
		w.seen = &seen{}
	}
	return w
}

// Round shows it once. Errors: those of show and of writing. What show has printed before it failed is
// not shown: the last whole round stays.
func (w *Watch) Round(show func(Out) error) error {
	var b bytes.Buffer
	o := w.o
	o.W, o.View.seen = &b, w.seen
	o.View.NoHeaders = o.View.NoHeaders || w.seen != nil && w.rounds > 0 // a pipe has its head already
	if err := show(o); err != nil {
		return err
	}
	w.rounds++
	w.seen.round()
	text := w.o.fit(b.String())
	if text == w.last {
		return nil
	}
	again := ""
	if w.o.Height > 0 && w.lines > 0 {
		again = fmt.Sprintf("\x1b[%dA\r\x1b[J", w.lines) // up to its first line, and clear from there on
	}
	w.last, w.lines = text, strings.Count(text, "\n")
	_, err := io.WriteString(w.o.W, again+text)
	return err
}

// fit cuts a text to the terminal, one line of which the prompt needs; without a
// terminal it stays whole.
func (o Out) fit(text string) string {
	if o.Height == 0 {
		return text
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if most := max(o.Height-1, 2); len(lines) > most {
		left := len(lines) - most + 1
		lines = append(lines[:most-1], "and "+count(left)+" more: --limit and --sort choose")
	}
	for i := range lines {
		lines[i] = o.cut(lines[i], o.Width)
	}
	return strings.Join(lines, "\n") + "\n"
}

// seen is which rows the round before had. A nil *seen has had none.
type seen struct{ before, now map[string]bool }

// news notes a row and reports whether the round before lacked it.
func (s *seen) news(row string) bool {
	if s == nil {
		return true
	}
	if s.now == nil {
		s.now = map[string]bool{}
	}
	s.now[row] = true
	return !s.before[row]
}

// round ends a round: what it has seen is what the next one compares with. A row that went away and
// comes back is news again.
func (s *seen) round() {
	if s != nil {
		s.before, s.now = s.now, nil
	}
}
