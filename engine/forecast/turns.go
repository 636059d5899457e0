package forecast

import (
	"math"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Share is a load in line on one host: whose end it counts for, and when it joins.
type Share struct {
	engine.Load
	Of   int           // index of what is to end; below 0 = nobody asks
	From time.Duration // from now
}

// Shares are loads that all count for one end and join at one instant.
func Shares(loads []engine.Load, of int, from time.Duration) []Share {
	out := make([]Share, len(loads))
	for i, l := range loads {
		out[i] = Share{Load: l, Of: of, From: from}
	}
	return out
}

// Counting are the same shares, counting for another end; for none below 0. Whoever asks when a command's
// calls are made has those of all others count for none.
func Counting(shares []Share, of int) []Share {
	out := slices.Clone(shares)
	for i := range out {
		out[i].Of = of
	}
	return out
}

// turn is shares that are alike while calls are dealt: very many runs of a schedule
// make as many calls each.
type turn struct {
	alike
	of   []int   // what each of them counts for
	left float64 // calls of each
	pace float64 // that each makes a second at present
}

// alike is what shares have in common that end together.
type alike struct {
	calls    float64
	from     time.Duration
	line     int
	priority engine.Priority
}

// Turns deals a host's calls out as the engine does, at an even pace of so many a
// second: the better priority first, queues take turns, and so do the owners in one. It
// gives the end of each of n that the shares count for; one without calls ends at once.
//
// It is the pace of the long run: a window that is still empty lets a few calls go
// earlier than this says, and one that is full later.
func Turns(shares []Share, perSecond float64, n int) []time.Duration {
	ends := make([]time.Duration, n)
	dealt(shares, perSecond, func(t *turn, _, now time.Duration) {
		for _, of := range t.of {
			if of >= 0 && t.over(now) {
				ends[of] = max(ends[of], now)
			}
		}
	})
	return ends
}

// dealt tells of each turn what goes on while the paces stay the same, step by step. It takes as many
// steps as shares end or join, however many calls they have.
func dealt(shares []Share, perSecond float64, tell func(t *turn, from, to time.Duration)) {
	left, lines := line(shares)
	owners := make([]int, lines)
	for now := time.Duration(0); len(left) > 0; {
		deal(left, owners, perSecond, now)
		step := nextTurn(left, now)
		now += step
		for i := range left {
			left[i].left -= left[i].pace * step.Seconds()
			tell(&left[i], now-step, now)
		}
		left = slices.DeleteFunc(left, func(t turn) bool { return t.over(now) })
	}
}

// over reports whether a turn has no calls left at an instant.
func (t *turn) over(now time.Duration) bool { return t.left < spentCalls && t.from <= now }

// spentCalls is so little of a call that it is none: what is left of a rounding.
const spentCalls = 1e-6

// line puts shares in line, and counts the lines: one per queue.
func line(shares []Share) (out []turn, lines int) {
	var queues []engine.Queue
	seen := map[alike]int{}
	for _, s := range shares {
		if s.Calls <= 0 {
			continue
		}
		at := slices.Index(queues, s.Queue)
		if at < 0 {
			at, queues = len(queues), append(queues, s.Queue)
		}
		priority := s.Priority
		if priority == 0 {
			priority = engine.PriorityNormal
		}
		kind := alike{s.Calls, s.From, at, priority}
		if i, ok := seen[kind]; ok {
			out[i].of = append(out[i].of, s.Of)
			continue
		}
		seen[kind] = len(out)
		out = append(out, turn{alike: kind, of: []int{s.Of}, left: s.Calls})
	}
	return out, len(queues)
}

// deal says how many calls a second each one makes at an instant. owners is room for its counts, which
// the caller keeps between steps.
func deal(left []turn, owners []int, perSecond float64, now time.Duration) {
	best := engine.Priority(math.MaxUint8)
	for _, t := range left {
		if t.from <= now {
			best = min(best, t.priority)
		}
	}
	clear(owners)
	lines := 0
	for _, t := range left {
		if t.from > now || t.priority != best {
			continue
		}
		if owners[t.line] == 0 {
			lines++
		}
		owners[t.line] += len(t.of)
	}
	for i := range left {
		t := &left[i]
		t.pace = 0
		if t.from <= now && t.priority == best {
			t.pace = perSecond / float64(lines) / float64(owners[t.line])
		}
	}
}

// nextTurn is how long it goes on like this: until the first one has no calls left, or
// another one joins.
func nextTurn(left []turn, now time.Duration) time.Duration {
	step := time.Duration(math.MaxInt64)
	for _, t := range left {
		switch {
		case t.from > now:
			step = min(step, t.from-now)
		case t.pace > 0:
			step = min(step, seconds(t.left/t.pace)+1) // rounded up: none is left then
		}
	}
	return step
}

// seconds is a span, of some decades at most.
func seconds(s float64) time.Duration {
	return time.Duration(min(s, 1e9) * float64(time.Second))
}
