package playtime

import "time"

// MondayOf is the start of the week of an instant, in a zone.
func MondayOf(t time.Time, zone *time.Location) time.Time {
	local := t.In(zone)
	back := (int(local.Weekday()) + 6) % 7
	return time.Date(local.Year(), local.Month(), local.Day()-back, 0, 0, 0, 0, zone)
}

// slice is the part of a game that lies in one hour of one weekday. One of 30 minutes that begins on Friday
// at 12:45 has two: 15 minutes of hour 12 of day 4, and 15 of hour 13.
type slice struct {
	at        time.Time // when it begins
	day, hour int       // 0 = Monday; 0 to 23
	length    time.Duration
}

// LongestGame bounds what a payload can claim: no game lasts a day, and a hostile
// duration must not fill the report.
const LongestGame = 24 * time.Hour

// split cuts a game at the edges of local hours. It goes on in real time, so that
// an hour that a change of clocks repeats counts twice into its cell, a skipped
// one not at all, and the parts always add up to the whole.
func split(start time.Time, length time.Duration, zone *time.Location) []slice {
	var parts []slice
	length = min(max(length, 0), LongestGame)
	for at := start; length > 0; {
		step := min(toEdge(at, zone), length)
		day, hour := hourOf(at, zone)
		parts = append(parts, slice{at, day, hour, step})
		at, length = at.Add(step), length-step
	}
	return parts
}

// toEdge is how long the local hour of t still lasts, in real time. A change of
// clocks by less than an hour (Lord Howe: 30 minutes) ends it early.
func toEdge(t time.Time, zone *time.Location) time.Duration {
	local := t.In(zone)
	left := time.Hour - time.Duration(local.Minute())*time.Minute -
		time.Duration(local.Second())*time.Second - time.Duration(local.Nanosecond())
	if _, end := local.ZoneBounds(); !end.IsZero() && end.Sub(t) < left {
		return end.Sub(t)
	}
	return left
}

// hourOf is the cell of an instant: the weekday from Monday on and the hour, as the zone's clock shows
// them.
func hourOf(t time.Time, zone *time.Location) (day, hour int) {
	local := t.In(zone)
	return (int(local.Weekday()) + 6) % 7, local.Hour()
}
