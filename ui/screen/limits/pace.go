package limits

import (
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// pace draws the window that sets the pace on h rows.
// It has the tallest chart because it is the answer to "why not faster"; what it says in words
// stands below its figures.
// h is at least 1; rows from the third on hold the words.
func (d *chartBlock) pace(b engine.BucketRow, h int) {
	y := d.pacing
	d.t.DrawSaw(d.View, d.chart, y, h, d.t.SawOf(d.View, b, d.Calls))
	says, at := d.paceText(b, h-2), d.fieldsFrom()
	for i := range h {
		d.left[y+i] = func(l *part.Line) {
			switch {
			case i == 0:
				d.fields(l, b, themes.Figure)
			case i == 1:
				l.To(at).Bar(themes.Run, bucketUsed+bucketLimit+1, d.Ratio(b))
				if b.Waiting > 0 && d.Size != page.L { // which has a column of it
					l.Field(part.As(themes.Dim, page.Count(b.Waiting)+" wait"), at+bucketFigures-l.At(), part.Number)
				}
			case i-2 < len(says):
				l.To(at).Cells(says[i-2])
			}
			if d.Size == page.S {
				return
			}
			scale := ""
			switch i {
			case 0:
				// The scale: the limit at the top, half of it in the middle.
				scale = block.BriefCount(b.Limit)
			case h / 2:
				scale = block.BriefCount(b.Limit / 2)
			}
			l.To(d.gutter-1-bucketScale).Field(part.As(themes.Dim, scale), bucketScale, part.Number)
		}
	}
}

// paceText says in at most h lines what the plan is: how much is left of the window that is
// open, what comes then, and when there is room.
// Words are wrapped at the width of the figures above them.
func (d *chartBlock) paceText(b engine.BucketRow, h int) []part.Cell {
	var lines []part.Cell
	add := func(t themes.Token, text string) {
		for _, line := range part.Wrap(text, bucketFigures) {
			lines = append(lines, part.As(t, line))
		}
	}
	if word, more := block.BucketState(d.View, b); word != "OPEN" {
		sign := d.Theme.State(word)
		add(sign.Token, sign.Glyph+" "+word)
		for fact := range strings.SplitSeq(more, ", ") {
			add(sign.Token, fact)
		}
	}
	switch plan := d.t.Plan; {
	case plan == nil || plan.Stuck || len(plan.Windows) == 0:
	case d.t.Left == 0:
		add(themes.Text, "nothing waits, room for "+page.Count(max(plan.Limit-b.Counted(d.Now), 0)))
	default:
		d.planText(plan, b.Used > b.Counted(d.Now), add)
	}
	if b.CountsMore(d.Now) {
		add(themes.Dim, "we count any "+human.Window(b.Window)+": "+page.Count(b.Used))
	}
	return lines[:min(len(lines), max(h, 0))]
}

// planText tells of a plan; other says that what is shown as used is not Riot's count of its
// window, by which a plan goes, but more: what we count in any such span.
// The numbers are those of the forecast and not worked out here: "180 left, 120 planned", "then
// 200 a window, 3 times", "then 40, and there is room".
func (d *chartBlock) planText(plan *engine.HostForecast, other bool, add func(themes.Token, string)) {
	open, whose := plan.Windows[0], ""
	if other {
		whose = "Riot: "
	}
	switch left := plan.Limit - open.Made; {
	case left <= 0:
		add(themes.Text, "full: the next go in "+d.In(open.End))
	// All places of the open window are planned, so the calls are spread over what is left of it.
	case open.Calls() == plan.Limit && open.End.After(d.Now):
		text := whose + page.Count(left) + " left, spread over " + d.In(open.End)
		if len(text) > bucketFigures { // its unit would stand alone in a line
			text = strings.Replace(text, "spread ", "", 1)
		}
		add(themes.Text, text)
	default:
		add(themes.Text, whose+page.Count(left)+" left, "+page.Count(open.Calls()-open.Made)+" planned")
	}
	full, rest := 0, 0
	for _, w := range plan.Windows[1:] {
		switch calls := w.Calls(); {
		// Only full windows that follow each other are counted together: behind one that is not full there
		// is nothing left to deal out.
		case calls == plan.Limit && rest == 0:
			full++
		default:
			rest += calls
		}
	}
	if full == 1 {
		add(themes.Dim, "then "+page.Count(plan.Limit)+" in the next window")
	} else if full > 1 {
		add(themes.Dim, "then "+page.Count(plan.Limit)+" a window, "+page.Count(full)+" times")
	}
	told := rest + full*plan.Limit + open.Calls() - open.Made
	switch more := plan.Line + plan.Retries - told; {
	case more > 0: // in windows that were not asked for
		add(themes.Dim, "then "+page.Count(rest+more)+" more")
	case rest > 0:
		add(themes.Dim, "then "+page.Count(rest)+", and there is room")
	default:
		add(themes.Dim, "then there is room")
	}
}
