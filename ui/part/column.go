package part

import "github.com/farsight-console/farsight/engine/table"

// Column describes one column of a table, Kind how its text stands.
type (
	Column = table.Column
	Kind   = table.Kind
)

// The kinds of columns.
const (
	Words    = table.Words
	Number   = table.Number
	ID       = table.ID
	State    = table.State
	Progress = table.Progress
)

// pinned columns survive every width.
func pinned(c Column) bool { return c.Kind == State || c.Priority == 0 }

// Geometry of a row: the cursor's sign, the mark, a space; columns; one cell
// for the sign that more columns exist.
const (
	leftMargin  = 3
	rightMargin = 1
	columnGap   = 2
)

// slot is a column that made it onto the row.
type slot struct{ column, width int }

// layout chooses columns for w cells; more counts those that are missing. Without
// pan the least important are dropped. The first pan shows the leftmost
// instead, each further one skips an unpinned column, so panning reaches all.
func layout(columns []Column, w, pan int) (slots []slot, more int) {
	room := max(w-leftMargin-rightMargin, 0)
	slots = panned(columns, pan-1)
	for need(slots) > room {
		at := victim(columns, slots, pan > 0)
		if at < 0 {
			break
		}
		slots = append(slots[:at], slots[at+1:]...)
		more++
	}
	for need(slots) > room && len(slots) > 0 {
		if !shrink(columns, slots) {
			slots, more = drop(columns, slots), more+1
		}
	}
	grow(columns, slots, room-need(slots))
	return slots, more
}

// panned returns every column that panning leaves, at its least width.
func panned(columns []Column, pan int) []slot {
	slots := make([]slot, 0, len(columns))
	for i, c := range columns {
		if !pinned(c) && pan > 0 {
			pan--
			continue
		}
		slots = append(slots, slot{i, max(c.Min, 1)})
	}
	return slots
}

// need is the cells that slots take, with the gaps between them.
func need(slots []slot) int {
	w := columnGap * max(len(slots)-1, 0)
	for _, s := range slots {
		w += s.width
	}
	return w
}

// victim returns the slot to drop next: the highest priority number, the
// rightmost of equals; while panning plainly the rightmost. -1 when only
// pinned ones are left.
func victim(columns []Column, slots []slot, panning bool) int {
	at, worst := -1, 0
	for i, s := range slots {
		c := columns[s.column]
		if pinned(c) {
			continue
		}
		if panning || c.Priority >= worst {
			at, worst = i, c.Priority
		}
	}
	return at
}

// leastShrunk is how narrow other columns get before a state loses letters: its
// word is what a row is read for.
const leastShrunk = 9

// shrink takes one cell from the widest slot, from a state only when no other is wide
// enough; false when all are one cell.
func shrink(columns []Column, slots []slot) bool {
	widest, other := 0, -1
	for i, s := range slots {
		if s.width > slots[widest].width {
			widest = i
		}
		if columns[s.column].Kind != State && s.width > leastShrunk && (other < 0 || s.width > slots[other].width) {
			other = i
		}
	}
	if other >= 0 {
		widest = other
	}
	if slots[widest].width <= 1 {
		return false
	}
	slots[widest].width--
	return true
}

// drop removes the rightmost slot that is not the state; that one goes last.
func drop(columns []Column, slots []slot) []slot {
	for i := len(slots) - 1; i >= 0; i-- {
		if columns[slots[i].column].Kind != State {
			return append(slots[:i], slots[i+1:]...)
		}
	}
	return slots[:len(slots)-1]
}

// grow spends the spare cells: first up to the wanted widths, the important
// columns first, then by share.
func grow(columns []Column, slots []slot, spare int) {
	for priority := 0; spare > 0 && priority <= lastPriority(columns); priority++ {
		for i := range slots {
			c := columns[slots[i].column]
			if c.Priority != priority {
				continue
			}
			add := max(min(c.Width-slots[i].width, spare), 0)
			slots[i].width += add
			spare -= add
		}
	}
	flex(columns, slots, spare)
}

// flex shares the cells that are spare after that. Each share is of what is left, so that no cell is lost
// to rounding.
func flex(columns []Column, slots []slot, spare int) {
	total := 0
	for _, s := range slots {
		total += max(columns[s.column].Flex, 0)
	}
	for i := range slots {
		share := max(columns[slots[i].column].Flex, 0)
		if share == 0 || spare <= 0 {
			continue
		}
		add := spare * share / total
		slots[i].width += add
		spare -= add
		total -= share
	}
}

func lastPriority(columns []Column) int {
	last := 0
	for _, c := range columns {
		last = max(last, c.Priority)
	}
	return last
}
