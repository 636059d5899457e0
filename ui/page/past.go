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
// engine's own record of each of them is asked for once; between two questions the console adds what it
// sees. The zero Past knows nothing yet.
type Past struct {
	Answer
	seen []engine.Moment // the oldest first
	gaps uint64          // in what was seen
	told time.Time       // up to then by the engine
}

// Want asks for the engine's record; nil = no question is due, see [Past.See].
func (p *Past) Want(v *View) engine.Query {
	p.Acts = v.Acts // what was is not changed by a command
	if v.Engine.State == engine.EngineBrowse || !p.Due(v, v.Restarts+p.gaps) {
		return nil
	}
	q := engine.MomentsQuery{From: v.Now.Add(-PastSpan), To: v.Now}
	if p.told.After(q.From) {
		q.From = p.told
	}
	return q
}

// Got puts the engine's record in the place of what the console has seen in the same seconds: an engine
// that was started anew knows nothing of before. An error leaves what it saw by itself, and the question is
// asked again later.
func (p *Past) Got(v *View, q engine.Query, a engine.Answer, err error) {
	if !p.Take(v, err) {
		return
	}
	answer, _ := a.(engine.MomentsAnswer)
	record := Past{seen: answer.Moments}
	p.seen = append(slices.DeleteFunc(p.seen, func(own engine.Moment) bool {
		next := record.Since(own.At)
		return record.At(own.At) != nil && len(next) > 0 && next[0].At.Sub(own.At) <= time.Second
	}), answer.Moments...)
	slices.SortStableFunc(p.seen, func(a, b engine.Moment) int { return a.At.Compare(b.At) })
	p.told = q.(engine.MomentsQuery).To
}

// See adds how the engine stands now, at most once a second, and lets go of what is a minute older than
// PastSpan. A moment costs its own few words: its rows are shared with the view. After a gap of five
// seconds the engine is asked for what was in it: nothing changed, or the console was stopped.
func (p *Past) See(d *Data, now time.Time) {
	if n := len(p.seen); n > 0 {
		gap := now.Sub(p.seen[n-1].At)
		if gap < time.Second {
			return
		}
		if gap > 5*time.Second {
			p.gaps++
		}
	}
	p.seen = append(p.seen, engine.Moment{At: now, Engine: d.Engine, Queues: d.Queues, Limits: d.Limits})
	p.seen = p.Since(now.Add(-PastSpan - time.Minute))
}

// At is the last moment that is not after an instant; nil = none is known. It is the past's own: nobody
// may change it.
func (p *Past) At(at time.Time) *engine.Moment {
	n := p.count(at)
	if n == 0 {
		return nil
	}
	return &p.seen[n-1]
}

// count is how many moments are not after an instant.
func (p *Past) count(at time.Time) int {
	return sort.Search(len(p.seen), func(i int) bool { return p.seen[i].At.After(at) })
}

// Since are the moments from an instant on, the oldest first. They are the past's own: nobody may change
// them.
func (p *Past) Since(at time.Time) []engine.Moment {
	return p.seen[sort.Search(len(p.seen), func(i int) bool { return !p.seen[i].At.Before(at) }):]
}

// UpTo is what is known of the time up to an instant, apart from what comes later.
func (p *Past) UpTo(at time.Time) Past {
	return Past{Answer: p.Answer, seen: slices.Clone(p.seen[:p.count(at)])}
}
