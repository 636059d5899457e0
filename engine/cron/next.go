package cron

import (
	"math"
	"time"
)

// Schedule is a parsed expression in its zone. The zero value has no next time.
type Schedule struct {
	expr   string
	zone   *time.Location
	fields fields
	every  int64 // seconds between two ticks of @every; 0 = by fields
}

// Expr is the expression, with single blanks.
func (s Schedule) Expr() string { return s.expr }

// Zone is the IANA name of the schedule's zone.
func (s Schedule) Zone() string { return s.zone.String() }

// Next gives the first tick after an instant, always strictly later, in the
// schedule's zone and on a whole minute of its clock (@every: on a whole second).
// The zero time says that there is none within nine years.
func (s Schedule) Next(after time.Time) time.Time {
	if s.zone == nil {
		return time.Time{}
	}
	t, ok := s.nextUnix(after.Unix())
	if !ok {
		return time.Time{}
	}
	return time.Unix(t, 0).In(s.zone)
}

// Every is the time from the next tick after an instant to the one behind it; 0 when
// there are none.
func (s Schedule) Every(after time.Time) time.Duration {
	first := s.Next(after)
	second := s.Next(first)
	if first.IsZero() || second.IsZero() {
		return 0
	}
	return second.Sub(first)
}

// nextUnix is Next in Unix seconds; ok is false when there is none.
func (s Schedule) nextUnix(after int64) (int64, bool) {
	switch {
	case s.every > 0:
		return floor(after, s.every) + s.every, true
	case s.fields.everyHour():
		return s.nextReal(after)
	}
	return s.nextFixed(after)
}

// nextReal looks at every instant: what counts is what the clock shows then, in
// each pass of a doubled hour and not at all in a skipped one.
func (s Schedule) nextReal(after int64) (int64, bool) {
	for from := after + 1; ; {
		span := spanAt(from, s.zone)
		local, ok := s.fields.next(from - 1 + span.offset)
		if !ok {
			return 0, false
		}
		if t := local - span.offset; t < span.end {
			return t, true
		}
		from = span.end
	}
}

// nextFixed looks at local times: each is due at the first minute at which the
// clock shows it or a later one. That instant never falls as local times grow, so
// the first local time which has not been shown yet gives the next tick.
func (s Schedule) nextFixed(after int64) (int64, bool) {
	local, ok := s.fields.next(s.shown(after))
	if !ok {
		return 0, false
	}
	for span := spanAt(after, s.zone); ; span = spanAt(span.end, s.zone) {
		first := -floor(-(span.start + span.offset), minute) // whole minute of the clock
		if span.start == math.MinInt64 {
			first = math.MinInt64
		}
		if t := max(local, first) - span.offset; t < span.end {
			return t, true
		}
	}
}

// backMost is more than any zone has ever set its clock back: Kwajalein's 23 hours
// of 1969.
const backMost = 48 * 60 * minute

// shown gives the latest whole minute that the zone's clock has shown up to an
// instant. After it was set back, that lies ahead of what it shows now.
func (s Schedule) shown(at int64) int64 {
	latest := int64(math.MinInt64)
	for span := spanAt(at, s.zone); ; span = spanAt(span.start-1, s.zone) {
		last := floor(min(at, span.end-1)+span.offset, minute)
		if span.start == math.MinInt64 || last >= span.start+span.offset {
			latest = max(latest, last)
		}
		if span.start <= at-backMost {
			return latest
		}
	}
}

// span is a time during which a zone's clock runs evenly, in Unix seconds: it
// shows offset seconds more than UTC. The next span may run as fast.
type span struct{ start, end, offset int64 }

// tzStep divides the instants at which zones change: a quarter of an hour.
const tzStep = 15 * minute

// spanAt gives the span that an instant lies in.
func spanAt(t int64, zone *time.Location) span {
	at := time.Unix(t, 0).In(zone)
	start, end := at.ZoneBounds()
	_, offset := at.Zone()
	s := span{start: math.MinInt64, end: math.MaxInt64, offset: int64(offset)}
	if !start.IsZero() {
		s.start = min(start.Unix(), t)
	}
	if !end.IsZero() {
		s.end = end.Unix()
	}
	if s.end <= t {
		// Beyond its table (2037) the time package lets every year end after 365
		// days: on the last day of a leap year the bound lies behind us.
		s.end = floor(t, tzStep) + tzStep
	}
	return s
}
