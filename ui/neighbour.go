package ui

import (
	"slices"
	"time"

	"github.com/farsight-console/farsight/ui/page"
)

// farthest is how many rows that open nothing of the kind are passed over.
const farthest = 100

// neighbour turns from a thing that was opened from a list to the one before or
// after it there, and takes the cursor of the list along: esc goes back to where one
// has come to. False when what is on top came from no list.
func (m *Model) neighbour(by time.Duration, now time.Time) bool {
	top := m.page()
	if !slices.Contains(m.listed, top) {
		return false
	}
	m.pop()
	next := m.beside(top.Screen(), by, now)
	if next == nil {
		m.put(top)
		m.say(edgeOfList(by))
		return true
	}
	m.put(next)
	return true
}

// put puts a page that the list under it has opened on top.
func (m *Model) put(p page.Page) {
	m.push(p)
	m.listed = append(m.listed, p)
}

// beside moves the cursor of the list on top to the next row that opens a screen, and
// gives that; nil when there is none, with the cursor where it was.
func (m *Model) beside(s page.Screen, by time.Duration, now time.Time) page.Page {
	there, back := page.Down, page.Up
	if by < 0 {
		there, back = page.Up, page.Down
	}
	list, ok := m.page().(page.Holder)
	if !ok {
		return nil
	}
	v := m.view(now)
	moved := 0
	for ; moved < farthest; moved++ {
		before := list.Place()
		if m.page().Act(v, there); list.Place() == before {
			break
		}
		if m.page().Cannot(v, page.Open) != "" {
			continue
		}
		if next := m.page().Act(v, page.Open).Open; next != nil && next.Screen == s {
			return page.New(next)
		}
	}
	for range moved {
		m.page().Act(v, back)
	}
	return nil
}

func edgeOfList(by time.Duration) string {
	if by < 0 {
		return "this is the first one of its list"
	}
	return "this is the last one of its list"
}
