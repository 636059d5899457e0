package forecast

import (
	"cmp"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
)

// mostShares is how many owners are told apart on a host.
const mostShares = 300

// Merged adds up the loads of one owner, queue and priority: an hourly run has up to three
// loads for each of 1,000 accounts. Very many owners are not told apart any more: their
// queue takes its turn all the same.
func Merged(loads []engine.Load) []engine.Load {
	sums := map[engine.Load]float64{}
	for _, l := range loads {
		calls := l.Calls
		l.Calls = 0
		sums[l] += calls
	}
	out := make([]engine.Load, 0, len(sums))
	for l, calls := range sums {
		l.Calls = calls
		out = append(out, l)
	}
	if len(out) > mostShares {
		for i := range out {
			out[i].Owner = ""
		}
		return Merged(out)
	}
	slices.SortStableFunc(out, func(a, b engine.Load) int {
		return cmp.Or(cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Priority, b.Priority))
	})
	return out
}

// InLine are the calls that a host's open syncs still make, of those that stand still the
// timelines that go all the same, and those in its line that belong to none of them. A share counts for the
// sync with its index in open.
func (s *State) InLine(host string, open []engine.AccountRow, begin time.Duration) (out []Share) {
	known, again, away := 0, s.again(false), s.again(true)
	for i, a := range open {
		if a.Region != host || s.paused(a.Queue) { // what is paused is in no line
			continue
		}
		if a.Matches.Total < 0 { // its one job is told below with the rest, but where it stands still
			known += human.Either(s.Still[a.ID] != "" && !s.down(host, ListMethod), 1, 0)
			continue
		}
		matches := max(a.Matches.Open-again[lane{a.ID, MatchMethod}], 0)
		timelines := max(a.Timelines.Open-again[lane{a.ID, TimelineMethod}], 0)
		high, late := matches, lateCalls(a)-a.Timelines.Open+timelines
		if !s.down(host, MatchMethod) {
			known += max(a.Matches.Open-away[lane{a.ID, MatchMethod}], 0)
		}
		if s.down(host, TimelineMethod) {
			late = 0
		} else {
			known += max(a.Timelines.Open-away[lane{a.ID, TimelineMethod}], 0)
		}
		if s.Still[a.ID] != "" {
			high, late = 0, human.Either(s.Late[a.ID], timelines, 0)
		}
		load := engine.Load{Host: host, Queue: a.Queue, Owner: a.ID, Priority: engine.PriorityHigh, Calls: float64(high)}
		last := load
		last.Priority, last.Calls = engine.PriorityLow, float64(late)
		if high+late > 0 {
			out = append(out, Shares([]engine.Load{load, last}, i, begin)...)
		}
	}
	for _, b := range s.Buckets {
		if b.Host != host || b.Kind != "app" {
			continue
		}
		if rest := b.Waiting - known; rest > 0 {
			out = append(out, Shares([]engine.Load{{Host: host, Priority: engine.PriorityHigh, Calls: float64(rest)}}, -1, begin)...)
		}
		break // all windows of a host have one line
	}
	return out
}

// lane is an account's calls of a method, which go to one host.
type lane struct{ owner, method string }

// again counts the calls that wait for an instant: they are dealt by that, see [calendar.Retry]. What is held
// without an end is dealt by none, and stands in no line of the engine either: it is counted if all are asked for.
func (s *State) again(all bool) map[lane]int {
	n := map[lane]int{}
	for i := range s.Waiting {
		if w := &s.Waiting[i]; all || !w.endless() {
			n[lane{w.Owner, w.Method}]++
		}
	}
	return n
}

// down reports whether an endpoint is, or is frozen until somebody resumes it: its jobs are in no line of its host.
func (s *State) down(host, method string) bool {
	return slices.ContainsFunc(s.Down, func(b engine.BreakerRow) bool { return b.Host == host && b.Method == method }) ||
		slices.ContainsFunc(s.Buckets, func(b engine.BucketRow) bool {
			return b.Host == host && b.Method == method && b.StaysFrozen()
		})
}

// paused reports whether a queue is.
func (s *State) paused(name engine.Queue) bool {
	return slices.ContainsFunc(s.Queues, func(q engine.QueueRow) bool { return q.Name == name && q.Paused })
}

// CallsLeft is how many calls a run still makes: one per open match and per open
// timeline, and one for each timeline that follows from an open match.
func CallsLeft(a engine.AccountRow) int { return a.Matches.Open + lateCalls(a) }

// lateCalls are those of them that are of timelines: they go behind all matches.
func lateCalls(a engine.AccountRow) int {
	n := a.Timelines.Open
	if a.WantsTimelines {
		n += a.Matches.Open
	}
	return n
}
