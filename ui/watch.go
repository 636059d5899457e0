package ui

import (
	"strconv"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// How the pace of a watched account is measured: over the last minute, and told once ten seconds of
// that have passed.
const (
	rateOver = time.Minute
	rateFrom = 10 * time.Second
)

// watch is the one account that is pinned to the bottom of every screen, and how it came on lately.
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

// follow notes how far the account has come; it reports whether its sync has just ended.
func (w *watch) follow(row engine.AccountRow, now time.Time) (ended bool) {
	was := w.open
	w.open = row.Status.Open()
	// It is told once: the next call finds it closed before, too.
	if was && !w.open {
		return true
	}
	// Both are calls, and go at the same pace.
	done := row.Matches.Done() + row.Timelines.Done()
	// One reading a second is enough: updates come up to ten times as often.
	if n := len(w.seen); n == 0 || now.Sub(w.seen[n-1].at) >= time.Second {
		w.seen = append(w.seen, passed{now, done})
	}
	for len(w.seen) > 1 && now.Sub(w.seen[0].at) > rateOver {
		w.seen = w.seen[1:]
	}
	return false
}

// perMinute is the pace of the watched account, in matches and timelines a minute. false = too
// little was seen, or a new run has begun and its count with it.
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

// strip is the pinned account in one row: its phase, how far it is, its pace, what holds it up, and
// when it will be done. It is live while the view is frozen too: that is what it is pinned for.
func (w *watch) strip(v *page.View) string {
	d := human.Either(v.Frozen, v.Live, v.Data)
	row, ok := d.Account(w.id)
	l := part.NewLine(v.Theme, v.W).Gap(1)
	l.Cells(part.As(themes.Focus, v.Theme.Glyphs.Focus+" ")).Field(part.Plain(row.RiotID), min(20, v.W/4), part.Words).Gap(2)
	if !ok {
		return l.Cells(part.As(themes.Dim, "the watched account has gone")).String()
	}
	l.Cells(part.StateCell(v.Theme, d.SyncWord(row))).Gap(2)
	if row.Status.Open() {
		w.progress(v, l, row)
	} else {
		l.Cells(part.As(themes.Dim, columns.SyncText(row)))
	}
	return l.Right(part.As(themes.Accent, "w"), part.As(themes.Dim, " unpins ")).String()
}

// progress is what the strip says of a sync that is under way.
func (w *watch) progress(v *page.View, l *part.Line, row engine.AccountRow) {
	done, total := row.Matches.Done(), row.Matches.Total
	if row.Phase == engine.PhaseTimelines {
		done, total = row.Timelines.Done(), row.Timelines.Total
	}
	rate, known := w.perMinute()
	if bar := v.W/6 - 4; total > 0 && bar >= 8 {
		l.Bar(themes.Run, bar, float64(done)/float64(total)).Gap(2)
	}
	// What holds the sync up stands before its forecast, which depends on that.
	l.Cells(v.Join(
		part.Plain(string(row.Phase)+" "+part.Of(int64(done), int64(total))),
		part.If(known, part.Plain(strconv.Itoa(int(rate+0.5))+"/min")),
		part.As(themes.Held, charts.BlockedBy(v, row, row.ETA)),
		part.If(row.ETA.Known && row.ETA.Calls > 0, part.Plain(human.ETA(row.ETA.Low, row.ETA.High))),
	)...)
}
