// Package table has the words that everybody shares who describes a table or draws one:
// a column, its width, and a cell.
package table

import "github.com/farsight-console/farsight/themes"

// Kind says how a column's text stands and how it is cut.
type Kind uint8

// The kinds. Words and State stand left and lose their end, a Sentence whole
// clauses of it as long as one is left; Number stands right; ID loses its
// middle; Progress is a bar and its text. A State column is never dropped.
const (
	Words Kind = iota
	Number
	ID
	State
	Progress
	Sentence
)

// Column describes one column of a table. Widths are cells.
type Column struct {
	Title string
	Kind  Kind
	// Min is the least useful width, Width the wanted one (at least Min).
	Min, Width int
	// Flex is the column's share of the room that is left over; 0 takes none.
	Flex int
	// Tail is what a Progress column keeps for its text; 0 means 8.
	Tail int
	// Priority orders dropping: the highest number goes first, 0 never.
	Priority int
}

// Cell is a piece of text and what it means.
type Cell struct {
	Text  string
	Token themes.Token
	// Clean says that Text went through safe.Text already, so that a hot row
	// need not look at it again.
	Clean bool
	// Ratio is the fill of a Progress column, 0 to 1; negative means no bar.
	Ratio float64
	// Parts are drawn in place of Text where it has several colours; none = Text is.
	Parts []Cell
}

// Plain returns a cell of ordinary text.
func Plain(s string) Cell { return Cell{Text: s} }

// As returns a cell that means t.
func As(t themes.Token, s string) Cell { return Cell{Text: s, Token: t} }
