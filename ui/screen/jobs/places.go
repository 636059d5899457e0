package jobs

import (
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
// of it until another takes its place: most calls are over before their row could be read.
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
		}
	}
	g.slots = kept
	for _, j := range group.Rows {
		if running[j.ID] == nil {
			continue
		}
		if oldest := longestGone(g.slots); len(g.slots) < lines || oldest < 0 {
			g.slots = append(g.slots, slot{row: *j, shown: *j})
		} else {
			g.slots[oldest] = slot{row: *j, shown: *j}
		}
	}
	group.Rows = shownIn(g.slots)
}

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
