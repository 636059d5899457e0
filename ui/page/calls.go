package page

import (
	"slices"
	"strconv"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// tapeEvery is how often a list of calls moves on. Each new call moves all of its
// rows: ten times a second that would be most of what a terminal is sent.
// The overview only gives an impression: its panels move less often.
const (
	tapeEvery    = time.Second
	overviewTape = 3 * time.Second
)

// tape is the flight recorder as it was at most `every` ago.
type tape struct {
	every time.Duration
	then  bool // a view that was frozen shows only what there was at its instant
	calls []engine.CallRow
	at    time.Time
}

// Take gives the calls to show.
func (t *tape) Take(v *View) []engine.CallRow {
	if t.then && v.Frozen {
		return upTo(v.Calls, v.Now)
	}
	if age := v.Now.Sub(t.at); age >= v.unhurried(t.every) || age < 0 || len(t.calls) == 0 || v.Frozen {
		t.calls, t.at = v.Calls, v.Now
	}
	if lastSeq(t.calls) != lastSeq(v.Calls) {
		v.Ticks = true // there are newer ones to show within the second
	}
	return t.calls
}

// upTo are the calls that there were at an instant.
func upTo(calls []engine.CallRow, at time.Time) []engine.CallRow {
	n := len(calls)
	for n > 0 && calls[n-1].At.After(at) {
		n--
	}
	return calls[:n]
}

func lastSeq(calls []engine.CallRow) uint64 {
	if len(calls) == 0 {
		return 0
	}
	return calls[len(calls)-1].Seq
}

// recorder is the flight recorder as a list, newest first.
type recorder struct {
	v     *View
	calls []engine.CallRow // oldest first
}

// picked are the calls that a filter leaves, until there are others.
type picked struct {
	calls []engine.CallRow
	seq   uint64
	n     int
	gen   int
	have  bool
}

func (p *picked) of(v *View, calls []engine.CallRow, q *Query[engine.CallRow]) recorder {
	if !q.On() {
		return recorder{v, calls}
	}
	if seq := lastSeq(calls); !p.have || p.seq != seq || p.n != len(calls) || p.gen != q.Gen {
		*p = picked{q.Pick(calls, v.Now), seq, len(calls), q.Gen, true}
	}
	return recorder{v, p.calls}
}

func (r recorder) at(i int) engine.CallRow { return r.calls[len(r.calls)-1-i] }

// Len implements part.Source.
func (r recorder) Len() int { return len(r.calls) }

// ID implements part.Source.
func (r recorder) ID(i int) string { return strconv.FormatUint(r.at(i).Seq, 10) }

// Find implements part.Source.
func (r recorder) Find(id string) (int, bool) {
	seq, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return 0, false
	}
	i, ok := slices.BinarySearchFunc(r.calls, seq, func(c engine.CallRow, seq uint64) int {
		switch {
		case c.Seq < seq:
			return -1
		case c.Seq > seq:
			return 1
		}
		return 0
	})
	return len(r.calls) - 1 - i, ok
}

// recorderShown are the columns of the recorder. A narrow screen tells whole seconds.
var recorderShown = columns.CallList.Drawn("at", ByView(func(v *View, c *engine.CallRow) part.Cell {
	layout := "15:04:05.000"
	if v.Size == S {
		layout = "15:04:05"
	}
	return part.As(themes.Dim, c.At.In(v.Now.Location()).Format(layout))
}))

func recorderColumns(size Size) []part.Column {
	heads := recorderShown.Heads()
	if size == S {
		heads[0].Min, heads[0].Width = 8, 8
	}
	return heads
}

// Row implements part.Source.
func (r recorder) Row(i int, cells []part.Cell) []part.Cell {
	c := r.at(i)
	for n := range recorderShown {
		cells = append(cells, recorderShown[n].Cell(Pen{r.v}, &c))
	}
	return cells
}
