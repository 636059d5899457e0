package cli

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/engine/table"
)

// Out is where a command prints and how.
type Out struct {
	W      io.Writer
	JSON   bool
	CSV    bool // rows as CSV; only lists of rows can
	Width  int  // of the terminal; 0 = no terminal, nothing is cut
	Height int  // of a terminal that can be drawn on anew; 0 = of none
	ASCII  bool // the terminal has 7 bits only
	Spoken bool // it is listened to: rows are sentences
	View   View // what of a list is printed

	// Wait shows how far a long search has come, beside what W gets; "" clears it, nil = nobody sees it.
	Wait func(text string)
}

// column is one column of a table. Numbers stand right; a flexible one gives way when the
// terminal is narrow. Widths of a screen's columns have no meaning here: a table is as wide as its cells.
type column = table.Column

// number is the kind of a column that stands right.
const number = table.Number

// The columns of tables that are no lists: words stand left, figures right, and wide ones give way.
func words(title string) column   { return column{Title: title} }
func wide(title string) column    { return column{Title: title, Flex: 1} }
func figures(title string) column { return column{Title: title, Kind: number} }

// minFlex is what a flexible column keeps at the least, in cells: enough to tell a name or a reason.
const minFlex = 8

// table prints aligned rows. Cells are cleaned here, so no caller can forget. Columns are two cells
// apart, and nothing stands behind the last one: a line has no spaces at its end.
func (o Out) table(cols []column, rows [][]string) error {
	if o.Spoken {
		return o.sentences(cols, rows)
	}
	clean := make([][]string, 0, len(rows)+1)
	head := make([]string, len(cols))
	for i, c := range cols {
		head[i] = c.Title
	}
	clean = append(clean, head)
	for _, r := range rows {
		line := make([]string, len(cols))
		for i := range cols {
			line[i] = o.clean(r[i])
		}
		clean = append(clean, line)
	}
	alone := o.View.NoHeaders && o.View.seen == nil // a head that stands above already is as wide
	if alone {
		clean = clean[1:]
	}
	widths := o.widths(cols, clean)
	if o.View.NoHeaders && !alone {
		clean = clean[1:]
	}
	w := bufio.NewWriter(o.W)
	for _, r := range clean {
		_, _ = w.WriteString(o.row(cols, widths, r))
		_ = w.WriteByte('\n')
	}
	return w.Flush()
}

// mostSpoken is how many rows are said at once, unless --limit asks for more: who listens cannot look away.
const mostSpoken = 40

// sentences says each row by itself: its first cell, then what is known of the others.
//
//	d3: job match:KR_7214550881, queue ingest.summoner.full, state RETRYABLE, try 2/5.
func (o Out) sentences(cols []column, rows [][]string) error {
	most := len(rows)
	if o.View.Brief {
		most = min(most, mostSpoken)
	}
	var b strings.Builder
	for _, r := range rows[:most] {
		var facts []string
		for i, text := range r[1:] {
			if text != "" && text != "-" {
				facts = append(facts, strings.TrimSpace(strings.ToLower(cols[i+1].Title)+" "+text))
			}
		}
		b.WriteString(o.clean(r[0]+": "+cmp.Or(strings.Join(facts, ", "), "none")) + ".\n")
	}
	if more := len(rows) - most; more > 0 {
		b.WriteString("And " + count(more) + " more: --limit takes more of them.\n")
	}
	_, err := io.WriteString(o.W, b.String())
	return err
}

// tableOf is table with a row for each value.
func tableOf[T any](o Out, cols []column, values []T, row func(T) []string) error {
	rows := make([][]string, len(values))
	for i, v := range values {
		rows[i] = row(v)
	}
	return o.table(cols, rows)
}

// further is tableOf below what is printed already, after an empty line; nothing for no values.
func further[T any](o Out, cols []column, values []T, row func(T) []string) error {
	if len(values) == 0 {
		return nil
	}
	_, _ = fmt.Fprintln(o.W)
	return tableOf(o, cols, values, row)
}

// printSentence prints a sentence, in the place of an empty table or below a full one.
func (o Out) printSentence(text string) error {
	_, err := fmt.Fprintln(o.W, o.clean(text))
	return err
}

// count prints a number with thousands apart.
func count[T int | int64](n T) string { return human.Count(int64(n)) }

// clean makes text from outside harmless to the terminal that it is printed on.
func (o Out) clean(s string) string {
	if o.ASCII {
		return safe.ASCII(s)
	}
	return safe.Letters(s)
}

// widths gives each column its widest cell, then takes from the flexible ones
// what the terminal does not have.
func (o Out) widths(cols []column, rows [][]string) []int {
	widths := make([]int, len(cols))
	total := 2 * (len(cols) - 1)
	for i := range cols {
		for _, r := range rows {
			widths[i] = max(widths[i], safe.Width(r[i]))
		}
		total += widths[i]
	}
	if o.Width <= 0 { // a pipe or a file takes lines of any length
		return widths
	}
	// A cell at a time from the widest, so that in the end the flexible ones are about as wide as each other.
	for over := total - o.Width; over > 0; {
		at := -1
		for i, c := range cols {
			if c.Flex > 0 && widths[i] > minFlex && (at < 0 || widths[i] > widths[at]) {
				at = i
			}
		}
		if at < 0 { // the terminal wraps the lines then: to leave out a column would hide it
			break
		}
		widths[at]--
		over--
	}
	return widths
}

// cut shortens clean text to cells, with a sign at its end that the terminal has: … or ~.
func (o Out) cut(s string, cells int) string {
	if o.ASCII {
		return safe.CutEnd(s, cells, "~")
	}
	return safe.Cut(s, cells)
}

// row is a line of a table, its cells cut or filled to their widths.
func (o Out) row(cols []column, widths []int, cells []string) string {
	var b strings.Builder
	for i, c := range cols {
		if i > 0 {
			b.WriteString("  ")
		}
		if c.Kind == number {
			b.WriteString(safe.PadLeft(o.cut(cells[i], widths[i]), widths[i]))
		} else {
			b.WriteString(safe.PadRight(o.cut(cells[i], widths[i]), widths[i]))
		}
	}
	return strings.TrimRight(b.String(), " ")
}
