package jobs

import (
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// slot is a row of a group: a job that stands there, or the last one that did.
type slot struct {
	row   engine.JobRow // as it was last seen
	shown engine.JobRow
	left  time.Time // zero = it is there
}

// leave notes that the job of a slot is not there any more, and says what became of it; false = it left long ago, or
// nothing is known of it.
func (s *slot) leave(v *page.View) (became part.Cell, keep bool) {
	if s.left.IsZero() {
		s.left = v.Now
	}
	c, made := lastCall(v, &s.row)
	if age := v.Now.Sub(s.left); age < 0 || age > block.KeepLines || !made && age > time.Second {
		return became, false
	}
	now, live := v.Job(s.row.ID)
	switch s.shown = s.row; {
	case live:
		s.row, s.shown = now, now
	case made && page.FailedCall(&c):
		s.shown.State = engine.Discarded
	case made:
		s.shown.State = engine.Completed
	default: // how its try ended is not known yet
		s.shown.State, s.shown.Tries = engine.Cancelled, max(s.row.Tries-1, 0)
	}
	if made {
		became = charts.Became(v, &c, page.Some(c.Status)+" in ")
	}
	return became, true
}

// keepRunning lets the rows of what runs stand where they stood. One that has left stays with what became
// of it until another takes its place: most calls are over before their row could be read. So one row each [legible] gives
// way to calls that have just begun, where there are several.
func (g *inGroups) keepRunning(v *page.View, group *block.JobGroup, h int) {
	lines := g.keeps(v, group.GroupKey, len(group.Rows), h)
	running := map[engine.JobID]*engine.JobRow{}
	for _, j := range group.Rows {
		running[j.ID] = j
	}
	kept := g.slots[:0]
	group.Left = map[engine.JobID]part.Cell{}
	for _, s := range g.slots {
		if j := running[s.row.ID]; j != nil {
			delete(running, j.ID)
			kept = append(kept, slot{row: *j, shown: *j})
		} else if became, keep := s.leave(v); keep {
			group.Left[s.row.ID] = became
			kept = append(kept, s)
		} else {
			kept = append(kept, slot{row: s.row, left: longAgo})
		}
	}
	g.slots = kept
	for _, j := range group.Rows {
		if running[j.ID] == nil {
			continue
		}
		oldest := longestGone(g.slots)
		free := oldest >= 0 && g.slots[oldest].left.Equal(longAgo)
		switch {
		case free:
			g.slots[oldest] = slot{row: *j, shown: *j}
		case len(g.slots) < lines:
			g.slots = append(g.slots, slot{row: *j, shown: *j})
		case oldest < 0: // it is counted in the heading
		case lines < runLines || v.Beat().Sub(j.Started) >= longCall || v.Beat().Sub(g.gaveWay) >= legible || v.Beat().Before(g.gaveWay):
			g.slots[oldest], g.gaveWay = slot{row: *j, shown: *j}, v.Beat()
		}
	}
	g.slots = slices.DeleteFunc(g.slots, func(s slot) bool { return s.left.Equal(longAgo) })
	group.Rows = shownIn(g.slots)
}

// forgetEnded frees the slots of jobs that the list of live ones shows among those that have ended: a job stands once.
func (g *inGroups) forgetEnded() {
	n := slices.IndexFunc(g.groups, func(o block.JobGroup) bool { return o.State == engine.Completed })
	if n < 0 {
		return
	}
	g.slots = slices.DeleteFunc(g.slots, func(s slot) bool {
		return slices.ContainsFunc(g.groups[n].Rows, func(j *engine.JobRow) bool { return j.ID == s.row.ID })
	})
}

// longAgo is when a job left whose slot is free.
var longAgo = time.Unix(0, 0)

// longCall is how long a call has taken that is shown at once, and legible how long it takes to read one of the others.
const (
	longCall = 3 * time.Second
	legible  = 2 * time.Second
)

// longestGone is the slot whose job left first; -1 = all are there.
func longestGone(slots []slot) int {
	oldest := -1
	for i := range slots {
		if s := &slots[i]; !s.left.IsZero() && (oldest < 0 || s.left.Before(slots[oldest].left)) {
			oldest = i
		}
	}
	return oldest
}

// shownIn are the rows of slots, as they are drawn.
func shownIn(slots []slot) []*engine.JobRow {
	rows := make([]*engine.JobRow, len(slots))
	for i := range slots {
		rows[i] = &slots[i].shown
	}
	return rows
}
