package charts

import (
	"sort"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
)

// pastSpan is how far back a screen remembers: five windows of two minutes, and as far as
// the engine does.
const pastSpan = 10 * time.Minute

// Past is how the engine stood in each second of the last minutes. The engine's own record of them
// is asked for once; from then on the page adds what it sees. The zero Past knows nothing yet.
type Past struct {
	page.Answer
	seen []engine.Moment // the oldest first
}

// Want asks for the engine's record. nil = no question is due, see [Past.See].
func (p *Past) Want(v *page.View) engine.Query {
	if v.Frozen || v.Engine.State == engine.EngineBrowse || !p.Due(v, v.Restarts) {
		return nil
	}
	return engine.MomentsQuery{From: v.Now.Add(-pastSpan), To: v.Now}
}

// Got puts the engine's record before what the page has seen. An error leaves the page with what it
// saw by itself, and the question is asked again later.
func (p *Past) Got(v *page.View, q engine.Query, a engine.Answer, err error) {
	if _, ok := q.(engine.MomentsQuery); !ok || !p.Take(v, err) {
		return
	}
	answer, _ := a.(engine.MomentsAnswer)
	all := answer.Moments
	// What the page has seen only goes on where the engine's record ends.
	for _, own := range p.seen {
		if n := len(all); n == 0 || own.At.After(all[n-1].At) {
			all = append(all, own)
		}
	}
	p.seen = all
}

// See adds how the engine stands now, at most once a second, and lets go of what is a minute older
// than pastSpan. The copy is of a few words: its rows are shared with the view. After a gap of five
// seconds, in which another screen was open, the engine is asked again for what was in it: here,
// since the first frame would hide the gap from Want.
func (p *Past) See(v *page.View) {
	// The Limits are the clock: they come with every update, so that a moment has the time at which it
	// was true, and not the time of the frame.
	n := len(p.seen)
	switch {
	case v.Frozen || v.Limits.At.IsZero():
		return
	case n > 0 && v.Limits.At.Sub(p.seen[n-1].At) < time.Second:
		return
	case n > 0 && v.Limits.At.Sub(p.seen[n-1].At) > 5*time.Second:
		p.Forget()
	}
	p.seen = append(p.seen, engine.Moment{At: v.Limits.At, Engine: v.Engine, Queues: v.Queues, Limits: v.Limits})
	old := 0
	for old < n && v.Limits.At.Sub(p.seen[old].At) > pastSpan+time.Minute {
		old++
	}
	p.seen = p.seen[old:]
}

// MomentAt is the last moment before an instant; nil = none is known. It is the past's own: nobody
// may change it.
func (p *Past) MomentAt(when time.Time) *engine.Moment {
	n := sort.Search(len(p.seen), func(i int) bool { return !p.seen[i].At.Before(when) })
	if n == 0 {
		return nil
	}
	return &p.seen[n-1]
}

// opened is one window of a limit, as the moments of the past show it.
type opened struct{ begin, end time.Time }

// windows are those of a bucket that were open after an instant, the oldest first, the present one
// last. A window begins with its first call, so there may be time between two of them.
func (p *Past) windows(b engine.BucketRow, after time.Time) (out []opened) {
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

// Since are the moments from an instant on, the oldest first. They are the past's own: nobody may
// change them.
func (p *Past) Since(at time.Time) []engine.Moment {
	return p.seen[sort.Search(len(p.seen), func(i int) bool { return !p.seen[i].At.Before(at) }):]
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
