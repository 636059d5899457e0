package page

import "time"

// Timed is a page whose cursor stands on an instant. While the view is frozen it
// and the time cursor move together.
type Timed interface {
	// Instant is where the page's cursor stands; ok is false when it is on nothing
	// that has a time.
	Instant(v *View) (at time.Time, ok bool)
	// ToInstant puts the cursor on what was the newest at an instant.
	ToInstant(v *View, at time.Time)
}

// Instant implements Timed: the call under the recorder's cursor.
func (p *limitPage) Instant(v *View) (time.Time, bool) {
	id, ok := p.calls.cur.Selected()
	if !ok || !p.onCalls {
		return time.Time{}, false
	}
	src := p.source(v)
	i, ok := src.Find(id)
	if !ok {
		return time.Time{}, false
	}
	return src.at(i).At, true
}

// ToInstant implements Timed.
func (p *limitPage) ToInstant(v *View, at time.Time) {
	src := p.source(v)
	then := len(upTo(src.calls, at))
	if then == 0 {
		return
	}
	p.moved = true
	p.calls.cur.Go(src, src.Len()-then, p.calls.height)
}
