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
func (s *slot) leave(v *page.View, well string) (became part.Cell, keep bool) {
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
	case well != "": // how its try ended is not known yet
		s.shown.State, s.shown.Tries = engine.Cancelled, max(s.row.Tries-1, 0)
	default: // when it goes is past
		s.shown.Until, s.shown.Due = time.Time{}, time.Time{}
	}
	if made {
		if well != "" {
			well = page.Some(c.Status) + well
		}
		became = charts.Became(v, &c, well)
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
		} else if became, keep := s.leave(v, " in "); keep {
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

// keepPlaces lets the rows of the other groups stand where they stood too, as far as they have lines. The place of a
// job that has left is another's, of those without a place the one that goes first; until then it stays with what
// became of it. Where somebody has chosen an order, or looks for something, all stand in that.
func (g *inGroups) keepPlaces(v *page.View, p *Screen) {
	stood := g.stood
	g.stood = map[block.GroupKey][]slot{}
	if p.By != 0 || p.On() {
		return
	}
	again := !g.moved.Equal(v.Beat()) || v.Hurry
	g.moved = v.Beat()
	for i := range g.groups {
		if group := &g.groups[i]; group.State != engine.Running && !group.Folded {
			slots := p.placed(v, group, stood[group.GroupKey], again, stood == nil)
			g.stood[group.GroupKey] = slots
			group.Places = shownIn(slots)
		}
	}
}

// turns is how many rows of a group become another's in a second: the eye follows no more, and a step of the screen stays
// below 300 cells.
const turns = 3

// placed are the slots of a group as they are now; again says that they may be others', fresh that the list is new.
func (p *Screen) placed(v *page.View, group *block.JobGroup, slots []slot, again, fresh bool) []slot {
	at := make(map[engine.JobID]int, len(group.Rows))
	for i, j := range group.Rows {
		at[j.ID] = i
	}
	room := group.Shows()
	for len(slots) > room { // of a group that is shorter now first goes who is not in it
		i := slices.IndexFunc(slots, func(s slot) bool { _, there := at[s.row.ID]; return !there })
		if i < 0 {
			i = len(slots) - 1
		}
		slots = slices.Delete(slots, i, i+1)
	}
	slots = p.stay(v, group, slots, at)
	has := map[engine.JobID]bool{}
	for _, s := range slots {
		has[s.row.ID] = true
	}
	next := slices.DeleteFunc(slices.Clone(group.Rows), func(j *engine.JobRow) bool { return has[j.ID] })
	turned := 0
	for (again || fresh) && len(slots) < room && len(next) > 0 && turned < turns {
		slots = append(slots, slot{row: *next[0], shown: *next[0]})
		if next = next[1:]; !v.Hurry && !fresh {
			turned++
		}
	}
	if !again {
		return slots
	}
	// What goes before the next second would not be read.
	if soon := slices.IndexFunc(next, func(j *engine.JobRow) bool { return page.GoesAt(j).Sub(v.Beat()) > time.Second }); soon > 0 {
		next = next[soon:]
	}
	for ; len(next) > 0 && turned < turns; turned++ {
		i := p.giving(slots, at, at[next[0].ID]+room)
		if i < 0 {
			break
		}
		n := slices.IndexFunc(next, func(j *engine.JobRow) bool { return page.GoesAt(j).Sub(v.Beat()) > longRest })
		if i > 0 || n < 0 { // a cursor at rest is not to move each second
			n = 0
		}
		delete(group.Left, slots[i].row.ID)
		slots[i] = slot{row: *next[n], shown: *next[n]}
		if next = slices.Delete(next, n, n+1); i == 0 { // with it the sentences about it
			break
		}
	}
	return slots
}

// stay brings slots up to date: the jobs that stand there, and for some time what became of those that have left.
func (p *Screen) stay(v *page.View, group *block.JobGroup, slots []slot, at map[engine.JobID]int) []slot {
	waits := group.State == engine.Available || group.State == engine.Retryable // others will come
	group.Left = map[engine.JobID]part.Cell{}
	kept, left := slots[:0], 0
	for _, s := range slots {
		n, there := at[s.row.ID]
		switch {
		case there:
			s = slot{row: *group.Rows[n], shown: *group.Rows[n]}
		case s.left.IsZero() && left == turns: // next time
		default:
			if s.left.IsZero() {
				left++
			}
			became, keep := s.leave(v, "")
			if !keep && !waits && !p.chosen(s) {
				continue
			}
			group.Left[s.row.ID] = became
		}
		kept = append(kept, s)
	}
	return kept
}

// giving is the slot that another job gets: that of one that has left, or of the last one, if that is behind a place in
// the line; -1 = none. The one that an operator has chosen stays.
func (p *Screen) giving(slots []slot, at map[engine.JobID]int, behind int) int {
	i := longestGone(slots)
	if len(slots) > 0 && !slots[0].left.IsZero() { // where a cursor at rest stands
		i = 0
	}
	if i < 0 {
		for n := range slots {
			if i < 0 || at[slots[n].row.ID] > at[slots[i].row.ID] {
				i = n
			}
		}
		if i < 0 || at[slots[i].row.ID] <= behind {
			return -1
		}
	}
	if p.chosen(slots[i]) {
		return -1
	}
	return i
}

// chosen reports whether a cursor that was moved stands on a slot.
func (p *Screen) chosen(s slot) bool {
	id, _ := p.Cur.Selected()
	return p.Cur.Held() && id == string(s.row.ID)
}

// longRest is for how long the job under a cursor at rest stays there, where the line is long enough.
const longRest = 5 * time.Second
