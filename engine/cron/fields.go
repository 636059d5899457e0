package cron

import (
	"math/bits"
	"time"
)

const (
	minute   = 60 // seconds
	allHours = 1<<24 - 1
	// horizon is how far ahead a date is looked for: 29 February can be eight
	// years away, around a century's turn.
	horizon = 9 // years
)

// fields are the sets of a five-field expression: bit n stands for value n. They
// know local times only, no zone: a local time is written as the Unix seconds that
// a clock in UTC would show it at.
type fields struct {
	minute, hour, day, month, weekday uint64
	// both says that day and weekday must fit; else one of the two is enough.
	both bool
}

// next gives the first planned local time after another. ok is false when there
// is none within the horizon.
func (f fields) next(after int64) (local int64, ok bool) {
	from := time.Unix(floor(after, minute)+minute, 0).UTC()
	year, month, day := from.Date()
	at := from.Hour()*60 + from.Minute()
	end := from.AddDate(horizon, 0, 0)
	for date := time.Date(year, month, day, 0, 0, 0, 0, time.UTC); date.Before(end); at = 0 {
		if !has(f.month, int(date.Month())) {
			date = time.Date(date.Year(), date.Month()+1, 1, 0, 0, 0, 0, time.UTC)
			continue
		}
		if m, ok := f.timeOfDay(at); ok && f.fits(date) {
			return date.Unix() + int64(m)*minute, true
		}
		date = date.AddDate(0, 0, 1)
	}
	return 0, false
}

// fits reports whether a date's day and weekday are in the sets.
func (f fields) fits(date time.Time) bool {
	day, weekday := has(f.day, date.Day()), has(f.weekday, int(date.Weekday()))
	if f.both {
		return day && weekday
	}
	return day || weekday
}

// timeOfDay gives the first planned minute of a day that is at least from.
func (f fields) timeOfDay(from int) (minuteOfDay int, ok bool) {
	for hour, first := from/60, from%60; hour < 24; hour, first = hour+1, 0 {
		if !has(f.hour, hour) {
			continue
		}
		if left := f.minute >> first << first; left != 0 {
			return hour*60 + bits.TrailingZeros64(left), true
		}
	}
	return 0, false
}

// everyHour reports whether the hours are a wildcard, however it is written: *,
// */1 and 0-23 are the same.
func (f fields) everyHour() bool { return f.hour == allHours }

// has reports whether n is in a set.
func has(set uint64, n int) bool { return set>>n&1 == 1 }

// floor rounds down to a multiple of unit, also below zero.
func floor(n, unit int64) int64 { return n - ((n%unit)+unit)%unit }
