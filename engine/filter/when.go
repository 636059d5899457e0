package filter

import (
	"strings"
	"time"
)

// when is an instant or a stretch of time that depends on the present: 12:30 is
// today's, 2026-11-20 a day of the reader's zone.
type when struct {
	form  form
	wall  time.Time     // of a date or a clock: its numbers; its zone too if zoned
	zoned bool          // the query named a zone
	shift time.Duration // from now, of an instant
	days  int           // from today, of a named day
}

// form is how a time was written, and so how long a stretch it means.
type form uint8

const (
	instant form = iota // now-1h
	named               // today
	clock               // 12:30
	clockSec
	clockMilli
	minute // 2026-11-20T12:30
	second
	milli
	date
	month
	year
)

// layouts are the forms of a date and of a clock. Those with milliseconds stand before those without:
// time.Parse takes a fraction behind the seconds of a layout that names none.
var layouts = []struct {
	layout string
	form   form
}{
	{"2006", year}, {"2006-01", month}, {"2006-01-02", date},
	{"2006-01-02T15:04", minute}, {"2006-01-02T15:04:05.000", milli}, {"2006-01-02T15:04:05", second},
	{"15:04", clock}, {"15:04:05.000", clockMilli}, {"15:04:05", clockSec},
}

// days are the named ones, counted from today.
var days = map[string]int{"yesterday": -1, "today": 0, "tomorrow": 1}

// readWhen reads a time; an @ before it is allowed, as on the screens.
func readWhen(s string) (when, bool) {
	s = strings.ToLower(strings.TrimPrefix(s, "@"))
	if n, ok := days[s]; ok {
		return when{form: named, days: n}, true
	}
	if rest, ok := strings.CutPrefix(s, "now"); ok {
		return readNow(rest)
	}
	return readDate(strings.ToUpper(strings.Replace(s, " ", "t", 1)))
}

// readNow reads what stands behind "now": nothing, -1h or +30m.
func readNow(rest string) (when, bool) {
	if rest == "" {
		return when{}, true
	}
	sign := rest[0]
	q, ok := readQuantity(rest[1:], spans, 0)
	if !ok || q.n < 0 || (sign != '-' && sign != '+') {
		return when{}, false
	}
	if sign == '-' {
		q.n = -q.n
	}
	return when{shift: time.Duration(q.n)}, true
}

// readDate tries the layouts, each with a zone and without. A clock has no zone: it is the reader's.
func readDate(s string) (when, bool) {
	for _, l := range layouts {
		if t, err := time.Parse(l.layout, s); err == nil {
			return when{form: l.form, wall: t}, isClock(l.form) || sane(t)
		}
		if isClock(l.form) || l.form >= date {
			continue
		}
		if t, err := time.Parse(l.layout+"Z07:00", s); err == nil {
			return when{form: l.form, wall: t, zoned: true}, sane(t)
		}
	}
	return when{}, false
}

// isClock reports whether the form names no day: it is today's.
func isClock(f form) bool { return f >= clock && f <= clockMilli }

// sane keeps dates where nanoseconds since 1970 fit 64 bits.
func sane(t time.Time) bool { return t.Year() >= 1970 && t.Year() < 2200 }

// span is the stretch [from, to) in nanoseconds since 1970, seen from now.
func (w when) span(now time.Time) (from, to int64) {
	start := w.start(now)
	end := start
	switch w.form {
	case year:
		end = start.AddDate(1, 0, 0)
	case month:
		end = start.AddDate(0, 1, 0)
	case date, named:
		end = start.AddDate(0, 0, 1)
	case clock, minute:
		end = start.Add(time.Minute)
	case clockMilli, milli:
		end = start.Add(time.Millisecond)
	default:
		end = start.Add(time.Second)
	}
	return start.UnixNano(), end.UnixNano()
}

// start is the first instant that is meant, seen from now. Dates are those of now's zone unless the
// query named one.
func (w when) start(now time.Time) time.Time {
	y, m, d := now.Date()
	switch {
	case w.form == instant:
		return now.Add(w.shift)
	case w.form == named:
		return time.Date(y, m, d+w.days, 0, 0, 0, 0, now.Location())
	case w.zoned:
		return w.wall
	case !isClock(w.form):
		y, m, d = w.wall.Date()
	}
	h, mi, s := w.wall.Clock()
	return time.Date(y, m, d, h, mi, s, w.wall.Nanosecond(), now.Location())
}

// last is the last nanosecond that does not count as after the time. A day is
// over at its end; 12:30 is a moment, so 12:30:05 is after it.
func (w when) last(from, to int64) int64 {
	if w.form == named || w.form >= date {
		return to - 1
	}
	return from
}
