package part

// click is what a click at a cell of a rectangle means, counted from the rectangle's
// first cell. It returns the name of the action that follows, such as "open"; "" = none.
type click func(x, y int) (action string)

// After is the same click once something has been done: the keys go to its section, say.
func (c click) After(do func()) click {
	return func(x, y int) string {
		do()
		return c(x, y)
	}
}

// below is the same click for a rectangle that begins so many rows above and cells before.
func (c click) below(rows, cells int) click {
	if c == nil {
		return nil
	}
	return func(x, y int) string { return c(x-cells, y-rows) }
}

// Hits are the rectangles of a screen that can be clicked, noted by whoever draws them.
type Hits []hit

type hit struct {
	x, y, w, h int
	click      click
}

// Add notes a rectangle; nothing where there is nothing to note it in or to do.
func (h *Hits) Add(x, y, w, rows int, click click) {
	if h != nil && click != nil && w > 0 && rows > 0 {
		*h = append(*h, hit{x, y, w, rows, click})
	}
}

// Lay notes what was drawn somewhere else and now stands x cells and y rows further on.
func (h *Hits) Lay(x, y int, drawn Hits) {
	for _, r := range drawn {
		h.Add(x+r.x, y+r.y, r.w, r.h, r.click)
	}
}

// Click does what a click at a cell means: of rectangles that overlap the one that was
// drawn last. found is false when nothing there can be clicked.
func (h Hits) Click(x, y int) (action string, found bool) {
	for i := len(h) - 1; i >= 0; i-- {
		if r := h[i]; x >= r.x && x < r.x+r.w && y >= r.y && y < r.y+r.h {
			return r.click(x-r.x, y-r.y), true
		}
	}
	return "", false
}
