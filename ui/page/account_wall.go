package page

import (
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// wall is every match of an account as one sign, read page by page on wide screens.
type wall struct {
	answer
	all    []engine.MatchRow // newest first; nil until all pages have come
	coming []engine.MatchRow
	next   string
	more   bool // there are older ones than all
}

// The wall's rows are of so many matches; more than mostWalled of them are not
// read for it. It is read anew at most once in rewallEvery.
const (
	wallCells   = 60
	wallWidth   = wallCells + 4
	mostWalled  = 3000
	rewallEvery = 10 * time.Second
)

// want asks for the next page; nil = nothing is due.
func (w *wall) want(v *View, account string, version uint64) engine.Query {
	q := engine.MatchesQuery{Account: account, All: true, Page: engine.Page{Limit: listMost}}
	switch {
	case v.Size != L:
		return nil
	case w.next != "" && !w.pending && !v.Frozen:
		w.pending = true
		q.After, w.next = w.next, ""
		return q
	case w.have && v.Now.Sub(w.at) < rewallEvery, !w.due(v, version):
		return nil
	}
	return q
}

func (w *wall) got(v *View, q engine.MatchesQuery, a engine.Answer, err error) {
	if !w.take(v, err) {
		return
	}
	page, _ := a.(engine.MatchesPage)
	if q.After == "" {
		w.coming = nil
	}
	w.coming = append(w.coming, page.Matches...)
	if w.next = page.Next; w.next == "" || len(w.coming) >= mostWalled {
		w.all, w.more, w.coming, w.next = w.coming, w.next != "", nil, ""
	}
}

// panel draws the wall, oldest first; the match under the list's cursor stands out.
func (w *wall) panel(v *View, width, h int, selected string) part.Section {
	n := len(w.all)
	p := part.Section{Title: "ALL MATCHES", Note: some(n), Height: h}
	if w.more {
		p.Title, p.Note = "NEWEST MATCHES", some(n)
	}
	if w.all == nil {
		p.Rows = []string{v.row(width, part.As(themes.Dim, " loading all matches…"))}
		return p
	}
	at := slices.IndexFunc(w.all, func(m engine.MatchRow) bool { return m.ID == selected })
	first := 0
	if over := (n+wallCells-1)/wallCells - (h - 2); over > 0 { // the rows with the selected one, else the newest
		first = over
		if at >= 0 {
			first = clamp((n-1-at)/wallCells-h/2, 0, over)
		}
	}
	l := part.NewLine(v.Theme, width)
	for row := first; row*wallCells < n && len(p.Rows) < h-2; row++ {
		l.Reset(width, false)
		l.Gap(1)
		for i := row * wallCells; i < min((row+1)*wallCells, n); i++ {
			m := &w.all[n-1-i]
			if n-1-i == at {
				l.Glyph(themes.Focus, v.Theme.Glyphs.Cursor, 1)
				continue
			}
			sign := v.Theme.State(columns.MatchWord(m.Status))
			l.Glyph(sign.Token, sign.Glyph, 1)
		}
		p.Rows = append(p.Rows, l.String())
	}
	facts := matchCounts(v, w.all)
	for some := range slices.Chunk(facts, 3) {
		p.Rows = append(p.Rows, spaced(v, width, some))
	}
	return p
}

// matchCounts adds matches up by what became of them.
func matchCounts(v *View, all []engine.MatchRow) []part.Cell {
	counts := map[string]int{}
	for i := range all {
		counts[all[i].Status]++
	}
	var facts []part.Cell
	for _, s := range []struct{ status, word, name string }{
		{"success", "STORED", "stored"}, {"temporary_failure", "RETRYABLE", "retrying"}, {"permanently_unfetchable", "GAVE UP", "gave up"},
		{"outside_retention_window", "TOO OLD", "too old"}, {"unfetched", "UNFETCHED", "to come"},
	} {
		if n := counts[s.status]; n > 0 {
			sign := v.Theme.State(s.word)
			facts = append(facts, part.As(sign.Token, sign.Glyph+" "+count(n)+" "+s.name))
		}
	}
	if len(facts) == 0 {
		facts = []part.Cell{part.As(themes.Dim, "nothing is settled yet")}
	}
	return facts
}
