package charts

import (
	"cmp"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// LifeWidth is how many of w cells the life of the jobs takes beside their list; 0 = there is no
// room for one that tells anything.
func LifeWidth(w int) int {
	const list, least = 66, 24
	if w-list < least {
		return 0
	}
	return min(w-list, 60)
}

// LifeAxis is an axis that holds jobs from when each begins to when it goes. Jobs that have ended
// count only where there are no others: an old one would press the life of those that matter
// together.
func LifeAxis(now time.Time, jobs []*engine.JobRow, begins func(j *engine.JobRow) time.Time, w int) part.Axis {
	var past, ahead time.Duration
	live := slices.ContainsFunc(jobs, func(j *engine.JobRow) bool { return !j.State.Terminal() })
	for _, j := range jobs {
		if !live || !j.State.Terminal() {
			past = max(past, min(now.Sub(begins(j)), longestLife))
			ahead = max(ahead, min(page.GoesAt(j).Sub(now), longestLife))
		}
	}
	return FitAxis(now, past, ahead, w)
}

// longestLife is how far an axis of lives reaches either way. What lies beyond is drawn from the
// axis's edge on.
const longestLife = 2 * time.Hour

// DrawLife draws one job on row y: when it was made, tried and failed, and when it goes.
//
//	○────×──×─────│      ◌     made, failed twice, tried again in a while
func DrawLife(v *page.View, c *part.Chart, y int, j *engine.JobRow) {
	made, end := c.At(j.Created), c.Back
	goes := page.GoesAt(j)
	if j.State.Terminal() {
		end = c.At(j.Finished)
	}
	// What has passed since it was made, in a thin line; its failures are drawn over it.
	c.Run(y, made+1, min(end, c.Width), themes.Tick, v.Theme.Glyphs.Waited)
	if made >= 0 {
		c.Sign(y, made, themes.Dim, v.Theme.State("AVAILABLE").Glyph)
	}
	bad := v.Theme.State("FAILED")
	for _, at := range j.Failed {
		c.Sign(y, min(c.At(at), c.Back), bad.Token, bad.Glyph) // the row may be newer than the axis
	}
	switch {
	// Its failures are not known any more, but its end is one of them.
	case j.State == engine.Discarded && len(j.Failed) == 0:
		c.Sign(y, end, bad.Token, bad.Glyph)
	case j.State == engine.Running:
		run := v.Theme.State("RUNNING")
		c.Sign(y, c.Back, run.Token, run.Glyph)
	case j.State == engine.Retryable && !goes.IsZero():
		again := v.Theme.State("RETRYABLE")
		// A retry that is overdue stands at now, and not where it should have gone.
		c.Sign(y, max(c.At(goes), c.Back), again.Token, again.Glyph)
	case !j.State.Terminal() && !goes.IsZero():
		c.Sign(y, max(c.At(goes), c.Back), themes.Run, v.Theme.Glyphs.Mark)
	}
}

// Became is what a call has come to: well, in so long as follows the words given, or else what its job does now.
func Became(v *page.View, c *engine.CallRow, well string) part.Cell {
	now, live := v.Job(c.Job)
	sign, text := v.Theme.State("COMPLETED"), well+human.Millis(c.Took)
	switch {
	case c.Status == 429:
		sign, text = v.Theme.State("WARN"), "429, holds"
	case page.FailedCall(c):
		sign, text = v.Theme.State("FAILED"), cmp.Or(page.Some(c.Status), "no answer")
		text += human.If(live && now.Retrying(), ", holds")
	case c.Took >= time.Second:
		text = well + human.Secs(c.Took)
	}
	return part.As(sign.Token, sign.Glyph+" "+text)
}
