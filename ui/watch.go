package ui

import (
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// rateOver is the time over which the pace of a watched account is measured, and
// rateFrom how much of it must have passed before it is told.
const (
	rateOver = time.Minute
	rateFrom = 10 * time.Second
)

// watch is the one account that is pinned to the bottom of every screen (I-12).
type watch struct {
	id   string // "" = none
	open bool   // its sync was under way when it was last seen
	seen []passed
}

// passed is how many items of the run were settled at an instant.
type passed struct {
	at   time.Time
	done int
}

// toggleWatch pins the account under the cursor, or takes the strip away.
func (m *Model) toggleWatch(now time.Time) tea.Cmd {
	id := ""
	if p, ok := m.page().(page.AccountHolder); ok {
		id = p.SelectedAccount(m.view(now))
	}
	switch {
	case id == "" && m.watch.id == "":
		m.say(m.keyed("go to an account first: {watch} pins it below every screen"))
	case id == "" || id == m.watch.id:
		m.watch = watch{}
	default:
		m.watch = watch{id: id}
		m.follows(now)
	}
	return nil
}

// follows notes how far the watched account has come. When its sync ends the
// terminal rings once.
func (m *Model) follows(now time.Time) tea.Cmd {
	row, ok := m.rows.Data.Account(m.watch.id)
	if m.watch.id == "" || !ok {
		return nil
	}
	w := &m.watch
	was := w.open
	w.open = row.Status.Open()
	if was && !w.open {
		m.toasts.add(engine.Note{Level: engine.LevelOK, Text: row.RiotID + ": the sync " + columns.SyncText(row)}, now)
		return tea.Raw("\a")
	}
	done := row.Matches.Done() + row.Timelines.Done()
	if n := len(w.seen); n == 0 || now.Sub(w.seen[n-1].at) >= time.Second {
		w.seen = append(w.seen, passed{now, done})
	}
	for len(w.seen) > 1 && now.Sub(w.seen[0].at) > rateOver {
		w.seen = w.seen[1:]
	}
	return nil
}

// perMinute is the pace of the watched account; false while too little was seen.
func (w *watch) perMinute() (float64, bool) {
	if len(w.seen) < 2 {
		return 0, false
	}
	first, last := w.seen[0], w.seen[len(w.seen)-1]
	span := last.at.Sub(first.at)
	if span < rateFrom || last.done < first.done {
		return 0, false
	}
	return float64(last.done-first.done) / span.Minutes(), true
}

// stripHeight is how many rows the strip takes of the body.
func (m *Model) stripHeight() int {
	if m.watch.id == "" || m.tiny() {
		return 0
	}
	return 1
}

// strip is the pinned account in one row: phase, how far, pace, what blocks it,
// and when it will be done. It is live also while the view is frozen.
func (m *Model) strip(v *page.View) string {
	row, ok := m.rows.Data.Account(m.watch.id)
	l := part.NewLine(m.theme, m.w).Gap(1)
	l.Cells(part.As(themes.Focus, m.theme.Glyphs.Focus+" ")).Field(part.Plain(row.RiotID), min(20, m.w/4), part.Words).Gap(2)
	if !ok {
		return l.Cells(part.As(themes.Dim, "the watched account has gone")).String()
	}
	l.Cells(part.StateCell(m.theme, m.rows.Data.SyncWord(row))).Gap(2)
	if row.Status.Open() {
		m.stripOpen(v, l, row)
	} else {
		l.Cells(part.As(themes.Dim, columns.SyncText(row)))
	}
	return l.Right(part.As(themes.Accent, "w"), part.As(themes.Dim, " unpins ")).String()
}

func (m *Model) stripOpen(v *page.View, l *part.Line, row engine.AccountRow) {
	done, total := row.Matches.Done(), row.Matches.Total
	if row.Phase == engine.PhaseTimelines {
		done, total = row.Timelines.Done(), row.Timelines.Total
	}
	facts := []part.Cell{part.Plain(string(row.Phase) + " " + part.Of(int64(done), int64(total)))}
	if rate, ok := m.watch.perMinute(); ok {
		facts = append(facts, part.Plain(strconv.Itoa(int(rate+0.5))+"/min"))
	}
	eta := row.ETA
	if text := page.BlockedBy(v, row, eta); text != "" {
		facts = append(facts, part.As(themes.Held, text))
	}
	if eta.Known && eta.Calls > 0 {
		facts = append(facts, part.Plain(human.ETA(eta.Low, eta.High)))
	}
	if bar := m.w/6 - 4; total > 0 && bar >= 8 {
		l.Bar(themes.Run, bar, float64(done)/float64(total)).Gap(2)
	}
	for i, f := range facts {
		if i > 0 {
			l.Cells(part.As(themes.Dim, " "+m.theme.Glyphs.Sep+" "))
		}
		l.Cells(f)
	}
}
