package block

import (
	"slices"
	"strconv"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// CallList is the flight recorder as a list, newest first. It turns the order around as rows are
// asked for, so that no list of thousands of calls is copied for each frame.
type CallList struct {
	v     *page.View
	Calls []engine.CallRow // oldest first
}

// Picked are the calls that a filter leaves. They are kept until a call comes, the oldest one is
// let go of, or the filter changes: a frame that only moves the cursor filters nothing.
type Picked struct {
	Calls []engine.CallRow
	// These three name what Calls was picked from: the newest call, how many there were, and the
	// query's number. have tells a list that was picked and is empty from one never picked.
	seq  uint64
	n    int
	gen  int
	have bool
}

// Of is the list of the calls that fit the query; all of them while no query is on.
func (p *Picked) Of(v *page.View, calls []engine.CallRow, q *lists.Query[engine.CallRow]) CallList {
	if !q.On() {
		return CallList{v, calls}
	}
	if seq := page.LastSeq(calls); !p.have || p.seq != seq || p.n != len(calls) || p.gen != q.Gen {
		*p = Picked{q.Pick(calls, v.Now), seq, len(calls), q.Gen, true}
	}
	return CallList{v, p.Calls}
}

// At is the call in row i; row 0 is the newest.
func (r CallList) At(i int) engine.CallRow { return r.Calls[len(r.Calls)-1-i] }

// Len implements part.Source.
func (r CallList) Len() int { return len(r.Calls) }

// ID implements part.Source.
func (r CallList) ID(i int) string { return strconv.FormatUint(r.At(i).Seq, 10) }

// Find implements part.Source. The number of a call grows with time, so its place is found by a
// binary search in the order that Calls has.
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

// recorderShown are the columns of the recorder. The time of a call is drawn here, and not by its
// column, because it depends on the width of the screen: a narrow one tells whole seconds.
var recorderShown = columns.CallList.Drawn("at", page.ByView(func(v *page.View, c *engine.CallRow) part.Cell {
	layout := human.Either(v.Size == page.S, "15:04:05", "15:04:05.000")
	return part.As(themes.Dim, c.At.In(v.Now.Location()).Format(layout))
})).Drawn("target", page.ByView(charts.Wanted))

// RecorderColumns are the heads of the recorder. Those of a narrow screen give the time the 8 cells
// of "15:04:05", and the rest to what was asked for.
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
