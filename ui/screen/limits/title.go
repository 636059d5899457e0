package limits

import (
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
)

// note says of which hosts the limits are, and when a header last told of other ones.
func note(v *page.View) string {
	if len(v.Limits.Buckets) == 0 {
		return ""
	}
	at := learntAt(v)
	return page.Joined(v, charts.HostNames(v), human.If(at != "", "learnt"+at))
}

// learntAt is when a header last told of other limits; "" = that is not known.
// Today it has only the time, else the day as well.
func learntAt(v *page.View) string {
	at := v.Limits.Learnt()
	if at.IsZero() {
		return ""
	}
	at = at.In(v.Now.Location())
	if at.Format(time.DateOnly) == v.Now.Format(time.DateOnly) {
		return " " + at.Format("15:04")
	}
	return " " + at.Format("2 Jan 15:04")
}

// howGood says how many 429s there were, and how good our counts are.
// A 429 that our count foresaw is part of how the limiter learns; one that it did not is a fault to
// look for.
func howGood(v *page.View) string {
	switch n := v.Engine.Unforeseen; {
	case !v.Ready:
		return ""
	case v.Engine.Throttled == 0:
		return "" // the list says so
	case n > 0 && v.Engine.State == engine.EngineBrowse: // where no engine runs, they are of a simulator's clients
		return page.Count(int(v.Engine.Throttled)) + ", " + page.Count(int(n)) + " broke a limit"
	}
	return page.Count(int(v.Engine.Throttled)) + ", " + block.Unexpected(v)
}
