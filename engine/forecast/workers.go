package forecast

import (
	"time"

	"github.com/farsight-console/farsight/engine/human"
)

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
