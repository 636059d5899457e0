package playtime

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// newestStored is how many of the matches that were stored last are told with the instant.
const newestStored = 60

// cell is a match with its place: EUW1_6741269343 is the number 6741269343 on EUW1.
type cell struct {
	league.Match
	corrupt  bool
	platform string
	number   uint64
	at       time.Time // when it was played, else when one beside it was
}

// Cells puts the matches of an account in the order in which they were played. A cell is a letter, such
// as engine.CellStored, so that thousands of matches are one short text.
type Cells struct {
	cells []cell
	since time.Time
}

// NewCells begins with none. What was stored before since was here before the sync that is
// under way; zero = none is.
func NewCells(since time.Time) *Cells { return &Cells{since: since} }

// Add takes a match, in any order. Of a corrupt one only the id is known.
func (b *Cells) Add(m league.Match, corrupt bool) {
	c := cell{Match: m, corrupt: corrupt, at: m.Played}
	platform, number, _ := strings.Cut(m.ID, "_")
	c.platform = platform
	c.number, _ = strconv.ParseUint(number, 10, 64)
	b.cells = append(b.cells, c)
}

// Done gives the letters.
func (b *Cells) Done(account string) engine.MatchCells {
	b.place()
	out := engine.MatchCells{Account: account, Older: max(len(b.cells)-engine.MostCells, 0)}
	letters := make([]byte, 0, len(b.cells)-out.Older)
	month := ""
	for i, c := range b.cells[out.Older:] {
		letters = append(letters, b.letter(&c))
		if c.Match.Match.Status == league.Success && !c.corrupt {
			out.Newest = append(out.Newest, engine.StoredCell{Cell: i, Stored: c.Match.Match.FetchedAt})
		}
		if c.Played.IsZero() {
			out.Undated++
			continue
		}
		if m := c.Played.UTC().Format("2006-01"); m != month {
			month = m
			out.Months = append(out.Months, engine.MonthCell{Cell: i, Played: c.Played})
		}
	}
	out.Cells = string(letters)
	slices.SortStableFunc(out.Newest, func(a, b engine.StoredCell) int { return b.Stored.Compare(a.Stored) })
	out.Newest = slices.Clip(out.Newest[:min(len(out.Newest), newestStored)])
	return out
}

// place sorts the matches. Those without a date go beside the next newer one of their
// platform that has one, else beside the next older one.
func (b *Cells) place() {
	byNumber := func(a, b cell) int {
		return cmp.Or(strings.Compare(a.platform, b.platform), cmp.Compare(a.number, b.number),
			strings.Compare(a.ID, b.ID))
	}
	slices.SortFunc(b.cells, byNumber)
	for i := len(b.cells) - 2; i >= 0; i-- {
		b.beside(i, i+1)
	}
	for i := 1; i < len(b.cells); i++ {
		b.beside(i, i-1)
	}
	slices.SortStableFunc(b.cells, func(a, b cell) int { return a.at.Compare(b.at) })
}

// beside gives a match without a date that of its neighbour on the platform, whose numbers are taken to
// grow with time.
func (b *Cells) beside(i, next int) {
	if b.cells[i].at.IsZero() && b.cells[i].platform == b.cells[next].platform {
		b.cells[i].at = b.cells[next].at
	}
}

// letter is how a match stands. Corrupt goes before all else, and cancelled before waiting.
func (b *Cells) letter(c *cell) byte {
	switch f := c.Match.Match; {
	case c.corrupt:
		return engine.CellCorrupt
	case f.Status == league.Success && f.FetchedAt.Before(b.since):
		return engine.CellHad
	case f.Status == league.Success:
		return engine.CellStored
	case f.Status == league.PermanentlyUnfetchable:
		return engine.CellGaveUp
	case f.Status == league.OutsideRetentionWindow:
		return engine.CellTooOld
	case f.Cancelled != league.NotCancelled:
		return engine.CellCancelled
	case f.Status == league.TemporaryFailure:
		return engine.CellRetrying
	}
	return engine.CellToCome
}
