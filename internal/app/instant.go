package app

import "time"

// flagged is what a flag was given.
type flagged struct{ flag, value string }

// instant reads a flag for an instant or one for a time from now; exactly one of them.
func instant(at, in flagged, now time.Time) (time.Time, error) {
	switch {
	// both, or none
	case (at.value == "") == (in.value == ""):
		return time.Time{}, usagef("say when: --%[1]s 18:30, --%[1]s 2026-11-21T18:30:00Z or --%[2]s 10m", at.flag, in.flag)
	case in.value != "":
		d, err := time.ParseDuration(in.value)
		if err != nil || d < 0 {
			return time.Time{}, usagef("--%s %q is no time from now: use 90s, 10m or 2h", in.flag, in.value)
		}
		return now.Add(d), nil
	}
	return clock(at.value, now)
}

// ahead is an instant that is still to come.
// An instant that has passed would freeze nothing and look as if it had; [instant] takes one,
// because a job that is due in the past is merely due.
func ahead(at, in flagged, now time.Time) (time.Time, error) {
	t, err := instant(at, in, now)
	if err != nil || t.After(now) {
		return t, err
	}
	if at.value == "" {
		at = in
	}
	return t, usagef("--%s %q has passed: give an instant in the future", at.flag, at.value)
}

// clock reads an instant: RFC 3339, or a time of day, the next one to come.
func clock(s string, now time.Time) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	// 23:50 typed at 00:10 is tonight, 00:05 is tomorrow: nobody who plans ahead means a time that
	// has gone by. The date is put together from its fields, so that a change of the clocks between
	// now and then does not move the hour.
	for _, layout := range []string{"15:04", "15:04:05"} {
		d, err := time.ParseInLocation(layout, s, now.Location())
		if err != nil {
			continue
		}
		at := time.Date(now.Year(), now.Month(), now.Day(), d.Hour(), d.Minute(), d.Second(), 0, now.Location())
		if !at.After(now) {
			at = at.AddDate(0, 0, 1)
		}
		return at, nil
	}
	return time.Time{}, usagef("%q is no instant: use 18:30 or 2026-11-21T18:30:00Z", s)
}
