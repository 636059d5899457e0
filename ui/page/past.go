package page

import (
	"slices"
	"sort"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// PastSpan is how far back a console remembers, which is as far as the engine does: five windows of two
// minutes.
const PastSpan = 10 * time.Minute

// Past is how the engine stood in each second of the last minutes, kept from one page to the next. The
// engine's own record of them is asked for once; from then on the console adds what it sees. The zero
// Past knows nothing yet.
type Past struct {
	Answer
	seen []engine.Moment // the oldest first
}

// Want asks for the engine's record; nil = no question is due, see [Past.See].
func (p *Past) Want(v *View) engine.Query {
	p.Acts = v.Acts // what was is not changed by a command
	if v.Frozen || v.Engine.State == engine.EngineBrowse || !p.Due(v, v.Restarts) {
		return nil
	}
	return engine.MomentsQuery{From: v.Now.Add(-PastSpan), To: v.Now}
}

// Got puts the engine's record before what the console has seen. An error leaves what it saw by itself,
// and the question is asked again later.
func (p *Past) Got(v *View, _ engine.Query, a engine.Answer, err error) {
	if !p.Take(v, err) {
		return
	}
	answer, _ := a.(engine.MomentsAnswer)
	all := answer.Moments
	// What was seen here only goes on where the engine's record ends.
	for _, own := range p.seen {
		if n := len(all); n == 0 || own.At.After(all[n-1].At) {
			all = append(all, own)
		}
	}
	p.seen = all
}

// See adds how the engine stands now, at most once a second, and lets go of what is a minute older than
// PastSpan. A moment costs its own few words: its rows are shared with the view. After a gap of five
// seconds, in which the console was stopped, say, the engine is asked again for what was in it.
func (p *Past) See(d *Data, now time.Time) {
	if n := len(p.seen); n > 0 {
		gap := now.Sub(p.seen[n-1].At)
		if gap < time.Second {
			return
		}
		if gap > 5*time.Second {
			p.Forget()
		}
	}
	p.seen = append(p.seen, engine.Moment{At: now, Engine: d.Engine, Queues: d.Queues, Limits: d.Limits})
	p.seen = p.Since(now.Add(-PastSpan - time.Minute))
}

// At is the last moment that is not after an instant; nil = none is known. It is the past's own: nobody
// may change it.
func (p *Past) At(at time.Time) *engine.Moment {
	n := sort.Search(len(p.seen), func(i int) bool { return p.seen[i].At.After(at) })
	if n == 0 {
		return nil
	}
	return &p.seen[n-1]
}

// Since are the moments from an instant on, the oldest first. They are the past's own: nobody may change
// them.
func (p *Past) Since(at time.Time) []engine.Moment {
	return p.seen[sort.Search(len(p.seen), func(i int) bool { return !p.seen[i].At.Before(at) }):]
}

// UpTo is what is known of the time up to an instant, apart from what comes later.
func (p *Past) UpTo(at time.Time) Past {
	return Past{seen: slices.DeleteFunc(slices.Clone(p.seen), func(m engine.Moment) bool { return m.At.After(at) })}
}
