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

// Unknown has a NaN for each cell: nothing is known of it, which is not the same as a count of 0.
func (a TimeAxis) Unknown() []float64 {
	out := make([]float64, a.Width)
	for i := range out {
		out[i] = math.NaN()
	}
	return out
}

// deal adds a count to the cells of a stretch of time, evenly: each gets the share that it holds of
// the stretch. Shares of cells that lie beyond the axis are lost.
func (a TimeAxis) deal(cells []float64, from, to time.Time, n int) {
	if n == 0 || !to.After(from) {
		return
	}
	begins, ends := from.Sub(a.Now), to.Sub(a.Now)
	for i := max(a.At(from), 0); i < len(cells); i++ {
		start, step := a.Start(i).Sub(a.Now), a.Start(i+1).Sub(a.Start(i))
		if start >= ends {
			return
		}
		// How much of the stretch lies in this cell: it may begin or end within it.
		shared := min(start+step-begins, step, ends-start, ends-begins)
		if math.IsNaN(cells[i]) {
			cells[i] = 0
		}
		cells[i] += float64(n) * float64(shared) / float64(ends-begins)
	}
}

// Planned spreads the calls in line of a host's windows over the cells from now on. Those of a
// window begin with it and come at the pace at which it would be used up. A retry is one call at
// its instant. h is nil if nothing is foreseen.
func (a TimeAxis) Planned(h *engine.HostForecast, due []time.Time) []float64 {
	out := a.Unknown()
	if h == nil {
		return out
	}
	for _, w := range h.Windows {
		calls := w.Line + w.Command
		// The calls end before their window does if there are fewer than it has room for.
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

// steps spreads counts over the cells of the axis: the first is of the step from begin on. end is
// until when was counted, in the middle of the last step; zero = all steps are whole.
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

// ChartNow is the present of a screen's charts, and whether they rest. At rest they move once a
// minute, with the clock in the title: an idle screen sends nothing else to the terminal.
func ChartNow(v *page.View) (now time.Time, rests bool) {
	// Before the first call the charts rest a while after the engine's start.
	last := v.Engine.Started
	if n := len(v.Calls); n > 0 {
		last = v.Calls[n-1].At
	}
	switch end := last.Add(restsAfter); {
	case v.Frozen, v.Now.Before(end), v.Engine.InFlight > 0, InLines(v.Queues) > 0, len(v.TryingAgain()) > 0:
		return v.Now, false
	default:
		return engine.Latest(end, v.Now.Truncate(time.Minute)), true
	}
}

// RecordedSince is since when the flight recorder has all calls. It lets go of the oldest call once
// it is full.
func RecordedSince(d *page.Data) time.Time {
	if len(d.Calls) >= fold.KeptCalls {
		return d.Calls[0].At
	}
	return d.Engine.Started
}

// InLines counts the jobs that could go at once if there were no limits and no other jobs. Those in line for
// another try are among the retries.
func InLines(queues []engine.QueueRow) (n int) {
	for _, q := range queues {
		n += q.Counts[engine.Available] - q.Again
	}
	return n
}
