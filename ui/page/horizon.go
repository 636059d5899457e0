package page

import (
	"time"

	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// horizon is how far ahead the schedule looks. Its breaks are labelled and stand
// equally far apart, so that what is near has more room than what is far.
type horizon struct {
	breaks []time.Duration // the first is 0
	names  []string
}

var horizons = []horizon{
	{[]time.Duration{0, 10 * time.Second, 20 * time.Second, 30 * time.Second, 45 * time.Second, time.Minute}, []string{"now", "+10 s", "+20 s", "+30 s", "+45 s", "+1 min"}},
	{[]time.Duration{0, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute}, []string{"now", "+30 s", "+1 min", "+2 min", "+5 min", "+10 min"}},
	{[]time.Duration{0, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour}, []string{"now", "+2 min", "+5 min", "+15 min", "+30 min", "+1 h"}},
	{[]time.Duration{0, 15 * time.Minute, time.Hour, 4 * time.Hour, 12 * time.Hour, 24 * time.Hour}, []string{"now", "+15 min", "+1 h", "+4 h", "+12 h", "+24 h"}},
}

// cell is where an instant so far ahead stands on an axis of w cells; w when it
// lies beyond it.
func (h horizon) cell(ahead time.Duration, w int) int {
	ahead = max(ahead, 0)
	n := len(h.breaks) - 1
	for i := range n {
		if from, to := h.breaks[i], h.breaks[i+1]; ahead < to {
			at := float64(i) + float64(ahead-from)/float64(to-from)
			return min(int(at*float64(w)/float64(n)), w-1)
		}
	}
	return w
}

// ahead is the instant in the middle of a cell.
func (h horizon) ahead(cell, w int) time.Duration { return h.point(float64(cell)+0.5, w) }

// point is the instant so many cells along an axis of w.
func (h horizon) point(cell float64, w int) time.Duration {
	n := len(h.breaks) - 1
	at := cell * float64(n) / float64(w)
	i := min(int(at), n-1)
	from, to := h.breaks[i], h.breaks[i+1]
	return from + time.Duration((at-float64(i))*float64(to-from))
}

// labels are the breaks over an axis of w cells.
func (h horizon) labels(v *View, w int) string {
	l := part.NewLine(v.Theme, w)
	n := len(h.breaks) - 1
	for i, name := range h.names[:n] {
		l.To(i * w / n).Cells(part.As(themes.Dim, name))
	}
	return l.Right(part.As(themes.Dim, h.names[n])).String()
}
