package ui

import "github.com/farsight-console/farsight/ui/page"

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

// resize takes the terminal's size.
func (m *Model) resize(w, h int) {
	first := m.w == 0 && m.h == 0
	m.w, m.h = max(w, 0), max(h, 0)
	m.size = page.Size(class(m.w, int(m.size), edgeM, edgeL, first))
	m.tall = page.Tall(class(m.h, int(m.tall), edgeNormal, edgeHigh, first))
}

// class is 0, 1 or 2 for n, which stays what it was until an edge is passed by
// more than the overshoot.
func class(n, was, low, high int, first bool) int {
	now := 0
	if n >= low {
		now++
	}
	if n >= high {
		now++
	}
	if first || now == was {
		return now
	}
	slack := overshoot
	if now > was {
		slack = -overshoot
	}
	again := 0
	if n+slack >= low {
		again++
	}
	if n+slack >= high {
		again++
	}
	if now > was {
		return max(again, was)
	}
	return min(again, was)
}

// tiny reports whether there is no room for a screen.
func (m *Model) tiny() bool { return m.w < leastW || m.h < leastH }

// chrome is how many rows the frame takes: tabs and state, message, hints; where there is
// room tabs apart from the state, and an empty row above and below the page.
func (m *Model) chrome() int {
	if m.tall == page.Short {
		return 3
	}
	return 6
}

func (m *Model) bodyHeight() int { return max(m.h-m.chrome()-m.stripHeight(), 0) }
