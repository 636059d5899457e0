package part

import "slices"

// Marked reports whether id is marked.
func (c *Cursor) Marked(id string) bool {
	_, ok := c.marks[id]
	return ok
}

// MarkCount returns how many rows are marked, those outside of the filter
// included.
func (c *Cursor) MarkCount() int { return len(c.marks) }

// Toggle marks or unmarks the selected row and remembers it as the start of a
// range.
func (c *Cursor) Toggle() {
	id, ok := c.Selected()
	if !ok {
		return
	}
	c.from = id
	if c.Marked(id) {
		delete(c.marks, id)
		return
	}
	c.Mark(id)
}

// Mark marks ids.
func (c *Cursor) Mark(ids ...string) {
	if c.marks == nil {
		c.marks = make(map[string]struct{}, len(ids))
	}
	for _, id := range ids {
		c.marks[id] = struct{}{}
	}
}

// MarkRange marks all rows between the last toggled one and the cursor.
func (c *Cursor) MarkRange(src Source) {
	from, ok := src.Find(c.from)
	if !ok {
		from = c.at
	}
	for i := min(from, c.at); i <= max(from, c.at) && i < src.Len(); i++ {
		c.Mark(src.ID(i))
	}
}

// Unmark takes all marks away.
func (c *Cursor) Unmark() { c.marks, c.from = nil, "" }

// Slice is a Source over a slice, for lists of a few thousand rows.
type Slice[T any] struct {
	Items []T
	Key   func(T) string
	Cells func(T, []Cell) []Cell
}

// Len implements Source.
func (s Slice[T]) Len() int { return len(s.Items) }

// ID implements Source.
func (s Slice[T]) ID(i int) string { return s.Key(s.Items[i]) }

// Find implements Source.
func (s Slice[T]) Find(id string) (int, bool) {
	i := slices.IndexFunc(s.Items, func(item T) bool { return s.Key(item) == id })
	return i, i >= 0
}

// Row implements Source.
func (s Slice[T]) Row(i int, cells []Cell) []Cell { return s.Cells(s.Items[i], cells) }
