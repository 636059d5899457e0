package block

import (
	"slices"
	"strconv"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// TapeEvery is how often a list of calls moves on. Each new call moves all of its
// rows: ten times a second that would be most of what a terminal is sent.
// The overview only gives an impression: its panels move less often.
const (
	TapeEvery    = time.Second
	OverviewTape = 3 * time.Second
)

// Tape is the flight recorder as it was at most `every` ago.
type Tape struct {
	Every time.Duration
	Then  bool // a view that was frozen shows only what there was at its instant
	Calls []engine.CallRow
	at    time.Time
}

// Take gives the calls to show.
func (t *Tape) Take(v *page.View) []engine.CallRow {
	if t.Then && v.Frozen {
		return UpTo(v.Calls, v.Now)
	}
	if age := v.Now.Sub(t.at); age >= v.Unhurried(t.Every) || age < 0 || len(t.Calls) == 0 || v.Frozen {
		t.Calls, t.at = v.Calls, v.Now
	}
	if lastSeq(t.Calls) != lastSeq(v.Calls) {
		v.Ticks = true // there are newer ones to show within the second
	}
	return t.Calls
}

// UpTo are the calls that there were at an instant.
func UpTo(calls []engine.CallRow, at time.Time) []engine.CallRow {
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

// CallList is the flight recorder as a list, newest first.
type CallList struct {
	v     *page.View
	Calls []engine.CallRow // oldest first
}

// Picked are the calls that a filter leaves, until there are others.
type Picked struct {
	Calls []engine.CallRow
	seq   uint64
	n     int
	gen   int
	have  bool
}

func (p *Picked) Of(v *page.View, calls []engine.CallRow, q *lists.Query[engine.CallRow]) CallList {
	if !q.On() {
		return CallList{v, calls}
	}
	if seq := lastSeq(calls); !p.have || p.seq != seq || p.n != len(calls) || p.gen != q.Gen {
		*p = Picked{q.Pick(calls, v.Now), seq, len(calls), q.Gen, true}
	}
	return CallList{v, p.Calls}
}

func (r CallList) At(i int) engine.CallRow { return r.Calls[len(r.Calls)-1-i] }

// Len implements part.Source.
func (r CallList) Len() int { return len(r.Calls) }

// ID implements part.Source.
func (r CallList) ID(i int) string { return strconv.FormatUint(r.At(i).Seq, 10) }

// Find implements part.Source.
func (r CallList) Find(id string) (int, bool) {
	seq, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return 0, false
	}
	i, ok := slices.BinarySearchFunc(r.Calls, seq, func(c engine.CallRow, seq uint64) int {
		switch {
		case c.Seq < seq:
			return -1
		case c.Seq > seq:
			return 1
		}
		return 0
	})
	return len(r.Calls) - 1 - i, ok
}

// recorderShown are the columns of the recorder. A narrow screen tells whole seconds.
var recorderShown = columns.CallList.Drawn("at", page.ByView(func(v *page.View, c *engine.CallRow) part.Cell {
	layout := "15:04:05.000"
	if v.Size == page.S {
		layout = "15:04:05"
	}
	return part.As(themes.Dim, c.At.In(v.Now.Location()).Format(layout))
}))

func RecorderColumns(size page.Size) []part.Column {
	heads := recorderShown.Heads()
	if size == page.S {
		heads[0].Min, heads[0].Width = 8, 8
	}
	return heads
}

// Row implements part.Source.
func (r CallList) Row(i int, cells []part.Cell) []part.Cell {
	c := r.At(i)
	for n := range recorderShown {
		cells = append(cells, recorderShown[n].Cell(page.Pen{View: r.v}, &c))
	}
	return cells
}
