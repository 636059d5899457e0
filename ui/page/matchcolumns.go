package page

import (
	"cmp"
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// matchFields are the columns of the matches of one account. Those of all accounts
// have no player: nobody's champion, score or result.
var matchFields = []field[engine.MatchRow]{
	{part.Column{Title: "MATCH", Kind: part.ID, Min: 15, Width: 15}, func(a, b *engine.MatchRow) int { return strings.Compare(a.ID, b.ID) }},
	{part.Column{Title: "PLAYED", Kind: part.Words, Min: 12, Width: 12, Priority: 1}, func(a, b *engine.MatchRow) int { return b.Played.Compare(a.Played) }},
	{part.Column{Title: "QUEUE", Kind: part.Words, Min: 12, Width: 12, Priority: 5}, func(a, b *engine.MatchRow) int {
		return strings.Compare(modeName(a.QueueID, a.Mode), modeName(b.QueueID, b.Mode))
	}},
	{part.Column{Title: "LEN", Kind: part.Number, Min: 5, Width: 5, Priority: 8}, func(a, b *engine.MatchRow) int { return cmp.Compare(b.Duration, a.Duration) }},
	{part.Column{Title: "CHAMPION", Kind: part.Words, Min: 12, Width: 14, Priority: 2}, func(a, b *engine.MatchRow) int { return strings.Compare(a.Champion, b.Champion) }},
	{part.Column{Title: "K/D/A", Kind: part.Words, Min: 8, Width: 8, Priority: 4}, func(a, b *engine.MatchRow) int {
		return cmp.Or(cmp.Compare(b.Kills+b.Assists, a.Kills+a.Assists), cmp.Compare(a.Deaths, b.Deaths))
	}},
	{part.Column{Title: "RESULT", Kind: part.Words, Min: 6, Width: 6, Priority: 3}, nil},
	{part.Column{Title: "STATE", Kind: part.State, Min: 11, Width: 11}, func(a, b *engine.MatchRow) int { return strings.Compare(a.Status, b.Status) }},
	{part.Column{Title: "TIMELINE", Kind: part.Words, Min: 11, Width: 11, Priority: 10}, func(a, b *engine.MatchRow) int { return strings.Compare(a.Timeline, b.Timeline) }},
	{part.Column{Title: "TRIES", Kind: part.Number, Min: 5, Width: 5, Priority: 9}, func(a, b *engine.MatchRow) int { return cmp.Compare(b.Attempts, a.Attempts) }},
	{part.Column{Title: "FETCHED", Kind: part.Words, Min: 12, Width: 12, Priority: 7}, func(a, b *engine.MatchRow) int { return b.FetchedAt.Compare(a.FetchedAt) }},
	{part.Column{Title: "SIZE", Kind: part.Number, Min: 7, Width: 8, Priority: 6}, func(a, b *engine.MatchRow) int { return cmp.Compare(b.Bytes, a.Bytes) }},
	{part.Column{Title: "ERROR", Kind: part.Words, Min: 14, Width: 24, Flex: 1, Priority: lastColumn}, func(a, b *engine.MatchRow) int { return strings.Compare(faultOf(a), faultOf(b)) }},
}

// The errors have their room before most other columns, or after all of them while
// there are none.
const firstColumn, lastColumn = 2, 11

// faultOf is what is wrong with a match; what once went wrong with one that is stored
// has been made good.
func faultOf(m *engine.MatchRow) string {
	if m.Status == "success" && !m.Corrupt {
		return ""
	}
	return m.LastError
}

// seatFrom and seatTo are the columns that say how the player of the list fared.
const seatFrom, seatTo = 4, 7

// allMatchFields are the columns of the matches of all accounts.
var allMatchFields = slices.Delete(slices.Clone(matchFields), seatFrom, seatTo)

// seatedCells are the cells of a match of one account.
func seatedCells(v *View, m engine.MatchRow, cells []part.Cell) []part.Cell {
	none := part.As(themes.Dim, part.None)
	played, mode, size, fetched, length := part.As(themes.Dim, v.clock(m.Played)), none, none, none, none
	champion, score, result := none, none, none
	word, tries := matchWord(m.Status), part.As(themes.Dim, count(m.Attempts))
	if !m.FetchedAt.IsZero() {
		mode, length = part.Plain(modeName(m.QueueID, m.Mode)), part.Plain(gameLength(m.Duration))
		fetched, size = part.As(themes.Dim, v.clock(m.FetchedAt)), part.As(themes.Dim, part.Bytes(int64(m.Bytes)))
		champion, score, result = seatCells(m)
	}
	if m.Corrupt {
		word = "ERROR"
	}
	if m.Attempts > 1 {
		tries.Token = themes.Wait
	}
	return append(cells, part.Plain(m.ID), played, mode, length, champion, score, result, v.state(word), timelineCell(v, &m), tries, fetched, size,
		part.As(themes.Err, inShort(faultOf(&m))))
}

// unseatedCells are the cells of a match of all accounts.
func unseatedCells(v *View, m engine.MatchRow, cells []part.Cell) []part.Cell {
	n := len(cells)
	cells = seatedCells(v, m, cells)
	return slices.Delete(cells, n+seatFrom, n+seatTo)
}

// timelineCell is how the timeline of a match stands; one that nobody wants yet has
// none.
func timelineCell(v *View, m *engine.MatchRow) part.Cell {
	if m.Timeline == "" || m.Timeline == "unfetched" {
		return part.As(themes.Dim, part.None)
	}
	return v.state(matchWord(m.Timeline))
}
