package charts

import (
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
)

// opened is one window of a limit, as the moments of the past show it.
type opened struct{ begin, end time.Time }

// windows are those of a bucket that were open after an instant, the oldest first, the present one
// last. A window begins with its first call, so there may be time between two of them.
func windows(p *page.Past, b engine.BucketRow, after time.Time) (out []opened) {
	hint, seen := 0, p.Since(after.Add(-b.Window))
	for i := range seen {
		was, at, ok := sameBucket(seen[i].Limits.Buckets, b, hint)
		// A window that was over at its moment, or before the axis begins, is not drawn.
		if hint = at; !ok || was.Window <= 0 || !was.Reset.After(seen[i].At) || !was.Reset.After(after) {
			continue
		}
		if n := len(out); n > 0 && was.Reset.Sub(out[n-1].end).Abs() < was.Window/2 { // the same, by a clock that was corrected
			continue
		}
		out = append(out, opened{was.Reset.Add(-was.Window), was.Reset})
	}
	return out
}

// sameBucket finds a bucket among others. It looks first at index hint, where it stood last time,
// since buckets seldom change places; at is where it stands now.
func sameBucket(rows []engine.BucketRow, b engine.BucketRow, hint int) (*engine.BucketRow, int, bool) {
	same := func(r *engine.BucketRow) bool {
		return r.Window == b.Window && r.Kind == b.Kind && r.Method == b.Method && r.Host == b.Host
	}
	if hint < len(rows) && same(&rows[hint]) {
		return &rows[hint], hint, true
	}
	for i := range rows {
		if same(&rows[i]) {
			return &rows[i], i, true
		}
	}
	return nil, 0, false
}
