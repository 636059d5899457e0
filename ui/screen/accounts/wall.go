package accounts

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// wall is every match of an account as one cell, in the order of play.
//
//	▓▓▓░▓▓  ▓▓▓▓▓▓ ·····
//	▓▓▓▓▓▓  ▓▓×▓▓▓ ·····       stored, gave up, to come
//	▓▓▓▓▓▓  ▓▓▓▓▓  ····›
//
// The engine sends one letter for each match (engine.CellStored …), so that a player's ten thousand
// matches are ten kilobytes and not ten thousand rows.
// The oldest is first. A match without a known date stands where its number puts it, as Riot counts
// up. Older counts those before the first cell, of which no letter is kept.
type wall struct {
	page.Answer
	engine.MatchCells
	of   page.MadeOf // what rows are made of
	rows []engine.AccountRow
}

// wallEvery is how long the cells hold while matches come.
const wallEvery = time.Second

// want asks for the cells anew when the database has moved, once a second at most, and at once when the sync has come
// to another phase.
// The second is counted from the last question. A clock that was put back asks at once.
func (w *wall) want(v *page.View, account string) engine.Query {
	now, live := v.Live.Account(account)
	turned := live && (now.Run != w.Row.Run || now.Status != w.Row.Status || now.Phase != w.Row.Phase)
	if w.Have && !turned && v.Now.Sub(w.At) >= 0 && v.Now.Sub(w.At) < v.Unhurried(wallEvery) {
		return nil
	}
	// The pace is kept above, so the one that Due keeps for lists is switched off here.
	if w.At = (time.Time{}); !w.Due(v, v.Seq) {
		return nil
	}
	return engine.MatchCellsQuery{Account: account}
}

// got takes them in.
func (w *wall) got(v *page.View, a engine.Answer, err error) {
	if w.Take(v, err) {
		w.MatchCells, _ = a.(engine.MatchCells)
	}
}

// even puts the account's row of the wall's reading in the place of a newer one, so that all that a frame tells of its
// matches is of one reading. The rows of a reading are made once, and not for each frame.
func (w *wall) even(d *page.Data) {
	if of := (page.MadeOf{Version: d.Version, Came: w.Came}); of != w.of || w.rows == nil {
		w.of, w.rows = of, w.evened(d.Accounts)
	}
	d.Accounts = w.rows
}

// evened are the rows of all accounts with the wall's own. Whose it is, what keeps it and when it ends is told as it is
// known.
func (w *wall) evened(rows []engine.AccountRow) []engine.AccountRow {
	i := slices.IndexFunc(rows, func(a engine.AccountRow) bool { return a.ID == w.Account })
	if i < 0 || rows[i].Run != w.Row.Run {
		return rows
	}
	row, now := w.Row, rows[i]
	row.RiotID, row.Tags, row.Policy, row.Tracked, row.Stand, row.ETA = now.RiotID, now.Tags, now.Policy, now.Tracked, now.Stand, now.ETA
	rows = slices.Clone(rows)
	if rows[i] = row; row.Status != now.Status {
		page.SortAccounts(rows)
	}
	return rows
}

// known are all matches that are listed, those included that no cell is kept of.
func (w *wall) known() int { return w.Older + len(w.Cells) }

// count is how many cells have a letter.
func (w *wall) count(letter byte) int { return strings.Count(w.Cells, string(letter)) }

// stored are the cells whose match is stored.
func (w *wall) stored() int { return w.count(engine.CellStored) + w.count(engine.CellHad) }

// last is how many were stored within a time before now.
// Newest holds at most 60 of them, so of a very fast sync the count stops there.
func (w *wall) last(now time.Time, within time.Duration) (n int) {
	for _, s := range w.Newest {
		if now.Sub(s.Stored) < within {
			n++
		}
	}
	return n
}

// wallColumn is a column of cells, the first at from; months are those that begin in it.
type wallColumn struct {
	from, to int
	x        int    // of its first cell
	month    string // that begins in it: "Jan 26"; "" = none
	odd      bool   // it begins in a month that is drawn in the second tone
}

// columns puts the newest cells into columns that fit w cells, of as few rows as fill the
// width best, h at most. Each month begins a column of its own after a gap where all of them
// have room, else months follow each other. While a sync learns dates they do, too: no cell
// changes its place.
// first is the cell at which the drawn ones begin; above 0 only where some are left out. The search
// goes from the flattest wall up, as a flat one has its months farther apart and named in full.
func (w *wall) columns(width, h int, open bool) (out []wallColumn, rows, first int) {
	if len(w.Cells) == 0 {
		return nil, min(leastWall, h), 0
	}
	// Of all heights the one whose columns reach farthest to the right is kept.
	for _, apart := range []bool{true, false} {
		for n := min(leastWall, h); n <= h && !(apart && open); n++ {
			all := stretched(w.from(0, n, apart), width)
			if last := all[len(all)-1].x; last < width && (out == nil || last > out[len(out)-1].x+1) {
				out, rows = all, n
			}
		}
		if out != nil {
			return out, rows, 0
		}
	}
	// Even the densest has no room for all: the oldest are left out, and the note says so.
	first = max(len(w.Cells)-width*h, 0)
	return w.from(first, h, false), h, first
}

// stretched are columns with an empty one after each where there is room for all.
// A wall of few matches then fills its width, with one column in each two cells.
func stretched(columns []wallColumn, width int) []wallColumn {
	if n := len(columns); n > 0 && 2*columns[n-1].x < width {
		for i := range columns {
			columns[i].x *= 2
		}
	}
	return columns
}

// height is how many rows the section of the wall takes, up to h rows of cells.
// The three rows are those of the title, the months and the legend.
func (w *wall) height(v *page.View, h int, row engine.AccountRow) int {
	_, rows, _ := w.columns(v.Inner(v.W)-3, h, row.Status.Open())
	return rows + 3
}

// from makes the columns of the cells from one on.
// apart says that each month begins a column of its own, after an empty one.
func (w *wall) from(first, h int, apart bool) (out []wallColumn) {
	month, x := 0, 0
	// The year stands only with the first month of it that is drawn: "Dec 25", "Jan 26", "Feb".
	year := ""
	for month < len(w.Months) && w.Months[month].Cell < first {
		month++
	}
	for at := first; at < len(w.Cells); {
		c := wallColumn{from: at, to: min(at+h, len(w.Cells)), x: x, odd: month%2 == 1}
		if month < len(w.Months) && apart && w.Months[month].Cell > at {
			c.to = min(c.to, w.Months[month].Cell)
		}
		for month < len(w.Months) && w.Months[month].Cell < c.to {
			played := w.Months[month].Played.UTC()
			if c.month = played.Format("Jan"); played.Format("06") != year {
				year = played.Format("06")
				c.month += " " + year
			}
			if apart && at > first {
				x++
				c.x = x
			}
			c.odd = month%2 == 1
			month++
		}
		out = append(out, c)
		at, x = c.to, x+1
	}
	return out
}

// How many rows the cells of an account have: at least, and at most.
const leastWall, wallHeight = 3, 8

// section draws the wall: the months, h-2 rows of cells, and how many of each there are.
func (w *wall) section(v *page.View, width, h int, row engine.AccountRow, next string) part.Section {
	s := part.Section{Title: page.Count(w.known()) + " MATCHES", Note: "one cell each, by the day they were played",
		Tail: "newest " + v.Theme.Glyphs.Focus, Height: h}
	if w.known() == 0 {
		s.Title, s.Tail = "MATCHES", ""
		s.Note = "one cell each, once their ids are listed"
		text := cmp.Or(w.Absent(v, "the matches", "the matches"), "no id is known yet")
		if row.Status == engine.SyncNever {
			text = v.Start("none is known",
				"{sync} starts a sync: one call for the account, one for each 100 ids, one for each match and one for its timeline")
		}
		s.Rows = v.Said(width, text)
		return s
	}
	columns, rows, first := w.columns(width-3, max(h-2, 1), row.Status.Open())
	if shown := len(w.Cells) - first; shown < w.known() {
		s.Note = "the newest " + page.Count(shown) + ", by the day they were played"
	}
	s.Rows = append(s.Rows, w.months(v, columns, width))
	for y := range rows {
		s.Rows = append(s.Rows, w.row(v, columns, y, width))
	}
	s.Rows = append(s.Rows, w.legend(v, width, row.Status.Open(), next))
	return s
}

// months names those that begin, as far as there is room, and says where no date is known.
// A month whose name would run into the one before it goes unnamed.
func (w *wall) months(v *page.View, columns []wallColumn, width int) string {
	l := part.NewLine(v.Theme, width).Gap(2)
	undated := -1 // column at which cells without a date begin
	for i, c := range columns {
		// A column is undated when all its cells are still to come and no month begins in it.
		if undated < 0 && c.month == "" && strings.Trim(w.Cells[c.from:c.to], string(engine.CellToCome)) == "" {
			undated = i
		}
		if c.month == "" || l.At() > 2+c.x || l.At() > 2 && l.At() == 2+c.x {
			continue
		}
		if undated >= 0 {
			l = sayUndated(l, columns[undated].x, c.x)
			undated = -2
		}
		if end := 2 + c.x + safe.Width(c.month); end < width {
			l.To(2+c.x).Put(themes.Dim, c.month)
		}
	}
	if undated >= 0 {
		sayUndated(l, columns[undated].x, width-3)
	}
	return l.String()
}

// sayUndated says from one column to before another that the cells have no date yet.
// It tries the long words, then the short ones, then says nothing.
func sayUndated(l *part.Line, from, to int) *part.Line {
	for _, text := range []string{"no date before they are fetched", "no date yet"} {
		if at := max(l.At()+1, 2+from); 2+to-at > safe.Width(text) {
			return l.To(at).Put(themes.Dim, text)
		}
	}
	return l
}

// row is one row of the cells.
// A match that was stored seconds ago glows; the frame then asks for another one, to let it fade.
func (w *wall) row(v *page.View, columns []wallColumn, y, width int) string {
	l := part.NewLine(v.Theme, width)
	fresh := map[int]time.Duration{}
	for _, s := range w.Newest {
		if age := v.Beat().Sub(s.Stored); age < freshFor {
			fresh[s.Cell] = age
		}
	}
	for _, c := range columns {
		i := c.from + y
		if i >= c.to {
			continue
		}
		age, isFresh := fresh[i]
		sign := cellSign(v, w.Cells[i], c.odd)
		if isFresh {
			v.Ticks = true
			sign.Token = freshToken(v, age)
		}
		l.To(2+c.x).Glyph(sign.Token, sign.Glyph, 1)
	}
	return l.String()
}

// freshFor is how long a match that was stored stands out.
const freshFor = 4 * time.Second

// freshToken is the brighter the younger.
// From the full colour of the ramp down to 0.6 of it.
func freshToken(v *page.View, age time.Duration) themes.Token {
	if v.Theme.Profile == themes.Mono {
		return themes.Sel
	}
	return themes.Flow(1 - 0.4*float64(max(age, 0))/float64(freshFor))
}

// cellSign is how a cell is drawn. Months take turns in two tones.
func cellSign(v *page.View, letter byte, odd bool) themes.State {
	g := v.Theme.Glyphs
	switch letter {
	case engine.CellStored:
		t := themes.Flow(0.5)
		switch {
		case v.Theme.Profile == themes.ANSI16:
			t = themes.Line // without a ramp the newest ones and what failed stand out
		case odd:
			t = themes.Odd(t)
		}
		return themes.State{Glyph: g.Cell, Token: t}
	case engine.CellHad:
		return themes.State{Glyph: g.Hollow, Token: themes.OK}
	case engine.CellToCome:
		return themes.State{Glyph: g.Dot, Token: themes.Tick}
	}
	s := v.Theme.State(cellWords[letter])
	if v.Theme.Profile == themes.Mono {
		s.Token = themes.Sel // among cells as bright as it is
	}
	return s
}

// cellWords are the states of matches that have a sign of their own.
var cellWords = map[byte]string{
	engine.CellRetrying: "RETRYABLE", engine.CellGaveUp: "GAVE UP", engine.CellTooOld: "TOO OLD",
	engine.CellCancelled: "CANCELLED", engine.CellCorrupt: "ERROR",
}

// legend counts the cells by their state; each number has its place whatever it is.
// An entry that is 0 is left out unless it is always there: the words to its right must not jump
// each time that a first match fails.
func (w *wall) legend(v *page.View, width int, open bool, next string) string {
	fresh := themes.State{Glyph: v.Theme.Glyphs.Cell, Token: freshToken(v, 0)}
	type entry struct {
		sign   themes.State
		n      int
		text   string
		always bool
	}
	sign := func(letter byte) themes.State { return cellSign(v, letter, false) }
	if next = ", next " + next; next == ", next " || v.Size == page.S { // each count has its word there
		next = ""
	}
	all := []entry{
		{sign(engine.CellStored), w.count(engine.CellStored), "stored", true},
		{fresh, w.last(v.Beat(), freshFor), "in the last " + human.Dur(freshFor), false},
		{sign(engine.CellHad), w.count(engine.CellHad), "was here", false},
		{sign(engine.CellRetrying), w.count(engine.CellRetrying), "retrying" + next, true},
		{sign(engine.CellGaveUp), w.count(engine.CellGaveUp), "gave up", true},
		{sign(engine.CellTooOld), w.count(engine.CellTooOld), "too old", false},
		{sign(engine.CellCancelled), w.count(engine.CellCancelled), "cancelled", false},
		{sign(engine.CellCorrupt), w.count(engine.CellCorrupt), "cannot be read", false},
		{sign(engine.CellToCome), w.count(engine.CellToCome), "to come", true},
	}
	l := part.NewLine(v.Theme, width).Gap(2)
	// Every number has the width that the largest possible one takes.
	digits, gap := len(page.Count(len(w.Cells))), 3
	if v.Size == page.S { // the rest needs the room of those that are counted twice
		all[1].n, gap = 0, 2
	}
	for i, e := range all {
		if !e.always && e.n == 0 && (i != 1 || v.Size == page.S || !open) {
			continue
		}
		if l.At() > 2 {
			l.Gap(gap)
		}
		figure := human.Either(e.n == 0, themes.Dim, themes.Figure)
		l.Glyph(e.sign.Token, e.sign.Glyph, 1).Gap(1).
			Field(part.As(figure, page.Count(e.n)), digits, part.Number).Gap(1).Put(themes.Dim, e.text)
	}
	return l.String()
}
