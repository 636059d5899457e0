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

// Tape is the flight recorder as it was at most Every ago. Whoever draws calls takes them through a
// Tape, which holds the old list until that time is over.
type Tape struct {
	Every time.Duration
	Then  bool // a view that was frozen shows only what there was at its instant
	Calls []engine.CallRow
	at    time.Time
}

// Take gives the calls to show, oldest first. It takes the newest at once if there were none, if
// the view is frozen, or if the clock was set back: age is below zero then, and a wait for it could
// take hours.
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

// UpTo are the calls that had been made by an instant. It looks from the end, since that instant is
// mostly a short time ago.
func UpTo(calls []engine.CallRow, at time.Time) []engine.CallRow {
	n := len(calls)
	for n > 0 && calls[n-1].At.After(at) {
		n--
	}
	return calls[:n]
}

// lastSeq is the number of the newest call, which tells one list of calls from another; 0 = there
// is no call.
func lastSeq(calls []engine.CallRow) uint64 {
	if len(calls) == 0 {
		return 0
	}
	return calls[len(calls)-1].Seq
}

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
	if seq := lastSeq(calls); !p.have || p.seq != seq || p.n != len(calls) || p.gen != q.Gen {
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
	layout := "15:04:05.000"
	if v.Size == page.S {
		layout = "15:04:05"
	}
	return part.As(themes.Dim, c.At.In(v.Now.Location()).Format(layout))
}))

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
