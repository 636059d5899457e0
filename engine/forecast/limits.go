// Package forecast says when work goes. It is a pure function of how the limits stand,
// of what waits, and of now: a job's start, a sync's end, what a command delays and the
// calls of the next windows follow from the same numbers, so that no two of them can
// disagree. Whoever shows one of them prints it.
//
// Begin to read with plan.go: a [State] makes a [Plan], and each answer is a method of it, worked out
// when it is first asked for. turns.go deals calls out as the engine's lines do; calendar.go deals them
// into the windows of a host's limit. A Plan belongs to one goroutine and one moment: whoever asks
// later makes another.
//
// It is a forecast and promises nothing: calls that nobody knows of yet, and answers that take long,
// are not in it.
package forecast

import (
	"cmp"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
)

// Limits are how the limits of one host stand: a value, which asking does not change.
type Limits interface {
	// After is when the last of n calls of a method from now goes, as early as the
	// limits let them.
	After(method string, n int) Wait
	// Turn is when the nth call in line goes, the spreading of calls included.
	Turn(method string, n int) Wait
	// Rate is calls per second in the long run, and the bucket that sets it; "" = no
	// limit is known.
	Rate(method string) (perSecond float64, bucket string)
}

// Wait is how long calls wait, and for which bucket.
type Wait struct {
	Wait    time.Duration
	Bucket  string // "app:europe 120s"; "" = nothing limits them
	Known   bool   // false: limits are not known yet, and Wait is the least
	Endless bool   // until a command or an answer: Wait means nothing
}

// ETA says how long so many calls of a method take, as a band: as early as the limits let
// them, and at their even pace. Calls of a sync are of several methods: it names that of
// most.
func ETA(l Limits, method string, calls int) engine.ETA {
	e := l.After(method, calls)
	out := engine.ETA{Calls: calls, Low: e.Wait, High: e.Wait, Bucket: e.Bucket, Known: e.Known}
	if rate, bucket := l.Rate(method); rate > 0 && bucket != "" {
		even := l.After(method, 0).Wait
		if calls > 0 { // from a call before the next one on: while a window is used up none goes
			even = max(even, l.Turn(method, 1).Wait-seconds(1/rate))
		}
		even += seconds(float64(calls) / rate)
		out.Low, out.High = min(e.Wait, even), max(e.Wait, even)
		out.Bucket = cmp.Or(out.Bucket, bucket)
	}
	return out
}

// ByWorkers are the limits of a host as so many workers meet them when an answer takes so long: two workers
// make four calls of half a second in a second, whatever the limits would let through.
func ByWorkers(l Limits, workers int, answer time.Duration) Limits {
	if workers <= 0 || answer <= 0 {
		return l
	}
	return byWorkers{l, human.Counted(workers, "worker", "workers"), float64(workers) / answer.Seconds()}
}

type byWorkers struct {
	Limits
	name      string
	perSecond float64
}

// After implements Limits.
func (l byWorkers) After(method string, n int) Wait { return l.slower(l.Limits.After(method, n), n) }

// Turn implements Limits. A call goes when those before it are answered.
func (l byWorkers) Turn(method string, n int) Wait { return l.slower(l.Limits.Turn(method, n), n-1) }

func (l byWorkers) slower(w Wait, calls int) Wait {
	if takes := seconds(float64(calls) / l.perSecond); takes > w.Wait && !w.Endless {
		w.Wait, w.Bucket = takes, l.name
	}
	return w
}

// Rate implements Limits.
func (l byWorkers) Rate(method string) (perSecond float64, bucket string) {
	perSecond, bucket = l.Limits.Rate(method)
	if bucket == "" || perSecond > l.perSecond {
		return l.perSecond, l.name
	}
	return perSecond, bucket
}
