package ui

import (
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/page"
)

// Edges of the size classes, and by how much a class must be overshot before it
// changes: a window that is dragged along an edge must not flicker.
const (
	edgeM, edgeL         = 100, 160
	edgeNormal, edgeHigh = 30, 50
	overshoot            = 2
)

// Below this the screen is one line per fact.
const (
	leastW = 60
	leastH = 16
)

// screenSize is how large the terminal is, and the classes that pages go by.
type screenSize struct {
	w, h int
	size page.Size
	tall page.Tall
}

// resize takes the terminal's size.
func (z *screenSize) resize(w, h int) {
	first := z.w == 0 && z.h == 0
	z.w, z.h = max(w, 0), max(h, 0)
	z.size = page.Size(class(z.w, int(z.size), edgeM, edgeL, first))
	z.tall = page.Tall(class(z.h, int(z.tall), edgeNormal, edgeHigh, first))
}

// class is 0, 1 or 2 for a size n, by two edges. A class was stays until n is beyond its edge by
// more than the overshoot, in either direction; first says that there was none before.
func class(n, was, low, high int, first bool) int {
	of := func(n int) int { return page.Btoi(n >= low) + page.Btoi(n >= high) }
	// A window that has shrunk must be that much below the edge to lose its class, and one that has
	// grown that much beyond it to gain one.
	switch now := of(n); {
	case first:
		return now
	case now > was:
		return max(of(n-overshoot), was)
	}
	return min(of(n+overshoot), was)
}

// tiny reports whether there is no room for a screen.
func (z *screenSize) tiny() bool { return z.w < leastW || z.h < leastH }

// chrome is how many rows the frame takes: tabs and state, message, hints; where there is
// room tabs apart from the state, and an empty row above and below the page.
func (z *screenSize) chrome() int { return human.Either(z.tall == page.Short, 3, 6) }
