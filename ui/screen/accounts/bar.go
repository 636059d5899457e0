package accounts

import (
	"math"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// course is how far the matches of an account's sync are and where they will be: what the bar that
// tells the time is drawn of. With an account at rest, or without a forecast, only done and total
// are set.
type course struct {
	done, total int
	at          time.Time // of the forecast
	step        time.Duration
	// Cumulated, so that it never falls: of 879 matches with 134 done {140, 146, 152, …}.
	steps []int // matches that will be settled by the end of each step from at on
	ends  time.Time
}

// courseOf follows the calls that are planned for an account: its matches go before its
// timelines.
// The forecast does not say which planned calls are for timelines. Capping the sum at the total is
// right as long as all matches go first.
func courseOf(f *page.Forecast, a engine.AccountRow) course {
	c := course{done: a.Matches.Done(), total: max(a.Matches.Total, 0)}
	if !a.Status.Open() {
		return c
	}
	for _, row := range f.Plan.Accounts {
		if row.Account != a.ID {
			continue
		}
		c.at, c.step, c.ends = f.Plan.At, f.Plan.Step, row.Ends
		sum := 0
		for _, n := range row.Planned {
			sum += n
			c.steps = append(c.steps, min(c.done+sum, c.total))
		}
	}
	return c
}

// ratio is how much of the whole is done.
func (c *course) ratio() float64 {
	return human.Either(c.total == 0, 0, float64(c.done)/float64(c.total))
}

// mark is an instant with the cell that the bar reaches by then.
type mark struct {
	cell int
	in   time.Duration
}

// marks are instants to come at which the bar reaches cells of w, apart cells from one
// another and from both ends, in steps that people count in.
// It takes the first of the steps whose marks do not collide, so that a bar that fills in a minute
// is marked every 30 s and one that takes an hour every 5 minutes. Nil when none fits.
func (c *course) marks(now time.Time, w, apart int) (out []mark) {
	if c.step <= 0 {
		return nil
	}
	for _, every := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute} {
		out = nil
		last := c.cell(c.done, w)
		for in := every; ; in += every {
			// steps[i] is the state at the end of step i, which is where the instant's step begins.
			i := int(now.Add(in).Sub(c.at)/c.step) - 1
			if i < 0 || i >= len(c.steps) || c.steps[i] >= c.total {
				break
			}
			cell := c.cell(c.steps[i], w)
			if cell-last < apart || w-cell < apart {
				if len(out) == 0 && w-cell >= apart { // too near to now: the next one may do
					continue
				}
				out = nil
				break
			}
			out, last = append(out, mark{cell, in}), cell
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// cell is where the bar ends with so many done.
// Rounded and not cut, so that the bar's end and the figure below it stand in the same column.
func (c *course) cell(done, w int) int {
	return int(math.Round(float64(done) / float64(max(c.total, 1)) * float64(w)))
}

// head is the account in a row: who it is, how it stands, and when it is done.
// Such as "카인#KR1  kr · tracked · full sync   ● SYNCING            done ~12:48:10, in 17:02".
func (p *Account) head(v *page.View, a engine.AccountRow, w int) string {
	l := part.NewLine(v.Theme, w).Gap(1).Put(themes.Figure, a.RiotID).Gap(2)
	kind := a.Kind + " sync"
	if a.Kind == "" {
		kind = ""
	} else if len(p.detail.Runs) == 1 {
		kind += ", the first"
	}
	told := p.when(v, a)
	// 12 cells are the state's sign and the gaps around the state and before the end. Facts that do
	// not fit in what is left go; name, state and end never do.
	room := w - l.At() - len("SYNCING") - safe.Width(told) - 12
	about := v.Fitting(room, part.As(themes.Dim, a.Platform), part.As(themes.Dim, block.Tracked(a)),
		part.As(themes.Dim, kind), part.As(themes.Dim, a.Policy))
	l.Cells(about...)
	if v.Size != page.S {
		// On wider screens the state has a column of its own, which does not move from account to
		// account.
		l.To(max(57, l.At()+3))
	} else if len(about) > 0 {
		l.Gap(2)
	}
	l.Cells(v.State(v.SyncWord(a)))
	return l.Right(part.Plain(told + " ")).String()
}

// when is the end of an open run as a clock shows it and how far away it is, or since when
// an account is as it is.
// It tries the most exact first: the end by the forecast, then the engine's estimate, then only the
// stage. An estimate that is not known says why, such as "waiting for 카인#KR1".
func (p *Account) when(v *page.View, a engine.AccountRow) string {
	c := courseOf(p.calls, a)
	switch e := p.eta(v); {
	case !a.Status.Open() && a.LastSync.IsZero():
		return "never synced"
	case !a.Status.Open() && (a.Status == engine.SyncFailed || a.Status == engine.SyncCancelled):
		return "ended " + v.Ago(a.Finished) + ", complete " + v.Ago(a.LastSync)
	case !a.Status.Open():
		return "synced " + v.Clock(a.LastSync) + ", " + v.Ago(a.LastSync)
	case e.Why != "" && !e.Known:
		return e.Why
	case !c.ends.IsZero() && c.ends.After(v.Now):
		return "done ~" + v.Clock(c.ends) + ", in " + human.Stopwatch(c.ends.Sub(v.Beat()))
	case page.ETA(e) != "":
		return "done in " + page.ETA(e)
	}
	return charts.StageOf(v, a)
}

// percentWidth is what a percentage in tall digits takes: 100 with its sign and a gap.
const percentWidth = 13

// timeBar draws the bar with what it has come to, h rows: all but the last of the bar, and
// one that says where it will be. Beside three of them stand the percents.
func (p *Account) timeBar(v *page.View, a engine.AccountRow, w, h int) []string {
	c := courseOf(p.calls, a)
	left := 1
	if h == 3 {
		left += percentWidth
	}
	width := w - left - 2
	rows := make([]string, 0, h)
	for y := range h {
		l := part.NewLine(v.Theme, w).Gap(1)
		if h == 3 {
			l.Digits(y, percentFigure(c))
			if y == h-1 {
				l.Gap(1).Put(themes.Dim, "%")
			}
		}
		switch l.To(left); {
		case y == h-1:
			p.ticks(v, l, &c, width)
		case c.total == 0:
			l.NoBar(width)
		default:
			l.Meter(width, c.ratio(), a.Status.Open())
		}
		rows = append(rows, l.String())
	}
	return rows
}

// percentFigure is the whole percents that are done: 46. Only all is 100.
// The float is cut and not rounded, for 99.6 % is not done yet.
func percentFigure(c course) string { return page.Count(int(c.ratio() * 100)) }

// ticks are the row below the bar: how many are done at its end, the instants to come
// where it will be then, and all of them at its right.
// What would touch the text before it or the total at the right is left out.
func (p *Account) ticks(v *page.View, l *part.Line, c *course, w int) *part.Line {
	at := l.At()
	if c.total == 0 {
		return l.Put(themes.Dim, "how many matches there are is known when their ids are listed")
	}
	total, done := human.Counted(c.total, "match", "matches"), page.Count(c.done)
	end := w - len(total)
	// Centred on its cell, but never beyond the bar's ends.
	put := func(cell int, t themes.Token, text string) {
		x := page.Clamp(cell-safe.Width(text)/2, 0, w-safe.Width(text))
		if x > 0 && at+x <= l.At() || x+safe.Width(text) >= end {
			return
		}
		l.To(at+x).Put(t, text)
	}
	here := c.cell(c.done, w)
	switch {
	case c.done == c.total:
		l.Put(themes.Dim, "0")
		return l.To(at+end).Put(themes.Figure, total)
	case here > len(done):
		l.Put(themes.Dim, "0")
		put(min(here, end-len(done)-1), themes.Figure, done)
	default:
		l.Put(themes.Figure, done)
	}
	for _, m := range c.marks(v.Now, w, 12) {
		put(m.cell, themes.Dim, "+"+human.Distance(m.in))
	}
	return l.To(at+end).Put(themes.Dim, total)
}
