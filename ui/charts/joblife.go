package charts

import (
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// LifeWidth is what the life of the jobs takes of w cells beside the list.
func LifeWidth(w int) int {
	const list, least = 66, 24
	if w-list < least {
		return 0
	}
	return min(w-list, 60)
}

// LifeAxis is an axis that holds jobs from when each begins to when it goes; those that have
// ended count only where there are no others.
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

// longestLife is as far as an axis of lives reaches either way: what is beyond is drawn from
// its edge on.
const longestLife = 2 * time.Hour

// DrawLife draws one job on row y: made, tried, and when it goes.
//
//	○────×──×─────│······◌     made, failed twice, tried again in a while
func DrawLife(v *page.View, c *part.Chart, y int, j *engine.JobRow) {
	made, end := c.At(j.Created), c.Back
	goes := page.GoesAt(j)
	switch {
	case j.State.Terminal():
		end = c.At(j.Finished)
	case j.State == engine.Running:
	case !goes.IsZero():
		c.Run(y, c.Back+1, c.At(goes), themes.Planned(waitToken(j)), v.Theme.Glyphs.Ahead)
	}
	c.Run(y, made+1, end, themes.Tick, v.Theme.Glyphs.Waited)
	if made >= 0 {
		c.Sign(y, made, themes.Dim, v.Theme.State("AVAILABLE").Glyph)
	}
	bad := v.Theme.State("FAILED")
	for _, at := range j.Failed {
		c.Sign(y, c.At(at), bad.Token, bad.Glyph)
	}
	switch {
	case j.State == engine.Discarded && len(j.Failed) == 0:
		c.Sign(y, end, bad.Token, bad.Glyph)
	case j.State == engine.Running:
		run := v.Theme.State("RUNNING")
		c.Sign(y, c.Back, run.Token, run.Glyph)
	case j.State == engine.Retryable && !goes.IsZero():
		again := v.Theme.State("RETRYABLE")
		c.Sign(y, max(c.At(goes), c.Back), again.Token, again.Glyph)
	case !j.State.Terminal() && !goes.IsZero():
		c.Sign(y, max(c.At(goes), c.Back), themes.Run, v.Theme.Glyphs.Mark)
	}
}

// waitToken is the colour of a job's wait.
func waitToken(j *engine.JobRow) themes.Token {
	if j.State == engine.Retryable {
		return themes.Retry
	}
	return themes.Run
}
