package charts

import (
	"math"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/fold"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// TimeAxis is the time of a screen's charts, with what is counted on it.
type TimeAxis struct{ part.Axis }

// holds reports whether an instant is on the axis.
func (a TimeAxis) holds(at time.Time) bool {
	cell := a.At(at)
	return cell >= 0 && cell < a.Width
}

// Begin is when the first cell begins.
func (a TimeAxis) Begin() time.Time { return a.Start(0) }

// Unknown are cells of which nothing is known.
func (a TimeAxis) Unknown() []float64 {
	out := make([]float64, a.Width)
	for i := range out {
		out[i] = math.NaN()
	}
	return out
}

// deal adds a count evenly to the cells of a stretch of time; those of them that lie
// beyond the axis are lost.
func (a TimeAxis) deal(cells []float64, from, to time.Time, n int) {
	if n == 0 || !to.After(from) {
		return
	}
	begins, ends := from.Sub(a.Now), to.Sub(a.Now)
	for i := max(a.At(from), 0); i < len(cells); i++ {
		start := time.Duration(i-a.Back) * a.Step
		if start >= ends {
			return
		}
		shared := min(start+a.Step-begins, a.Step, ends-start, ends-begins)
		if math.IsNaN(cells[i]) {
			cells[i] = 0
		}
		cells[i] += float64(n) * float64(shared) / float64(ends-begins)
	}
}

// Planned spreads the calls in line of a host's windows over the cells from now on: a
// window has them at the pace at which it would be used up. A retry is a call at its
// instant.
func (a TimeAxis) Planned(h *engine.HostForecast, due []time.Time) []float64 {
	out := a.Unknown()
	if h == nil {
		return out
	}
	for _, w := range h.Windows {
		calls := w.Line + w.Command
		if free := h.Limit - w.Made; free > 0 {
			a.deal(out, w.Begin, w.Begin.Add(w.End.Sub(w.Begin)*time.Duration(calls)/time.Duration(free)), calls)
		}
	}
	for _, at := range due {
		if cell := a.At(at); cell >= 0 && cell < len(out) {
			if math.IsNaN(out[cell]) {
				out[cell] = 0
			}
			out[cell]++
		}
	}
	return out
}

// steps spreads what was counted by steps over the cells of a stretch.
func (a TimeAxis) steps(begin time.Time, step time.Duration, counts []int, end time.Time) []float64 {
	out := a.Unknown()
	for i, n := range counts {
		from := begin.Add(time.Duration(i) * step)
		to := from.Add(step)
		if !end.IsZero() && to.After(end) { // it is still being counted
			to = end
		}
		a.deal(out, from, to, n)
	}
	return out
}

// restsAfter is how long after the last call a screen on which nothing waits comes to rest.
const restsAfter = 10 * time.Second

// ChartNow is where the charts of a screen stand: now, and at rest they move with the clock
// in the title alone, since an idle screen is silent.
func ChartNow(v *page.View) (now time.Time, rests bool) {
	last := v.Engine.Started
	if n := len(v.Calls); n > 0 {
		last = v.Calls[n-1].At
	}
	switch end := last.Add(restsAfter); {
	case v.Frozen, v.Now.Before(end), v.Engine.InFlight > 0, InLines(v.Queues) > 0, len(v.Retries()) > 0:
		return v.Now, false
	default:
		return engine.Latest(end, v.Now.Truncate(time.Minute)), true
	}
}

// RecordedSince is since when all calls are in the flight recorder: it lets go of the
// oldest once it is full.
func RecordedSince(d *page.Data) time.Time {
	if len(d.Calls) >= fold.KeptCalls {
		return d.Calls[0].At
	}
	return d.Engine.Started
}

// InLines counts the jobs that could go but for the limits and each other.
func InLines(queues []engine.QueueRow) (n int) {
	for _, q := range queues {
		n += q.Counts[engine.Available]
	}
	return n
}
