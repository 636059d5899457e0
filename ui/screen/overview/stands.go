package overview

import (
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// tallDigits is how many rows the countdown of an engine that stands takes.
const tallDigits = 3

// cause is what an engine that stands shows first, on h rows: the cause, and in tall digits when
// something goes on; below it the window that sets the pace, where there is room.
func (o *Screen) cause(v *page.View, t *charts.Timetable, w, h int) part.Section {
	word, cause := string(v.Engine.State), v.Engine.Why
	at, then := goesOn(v)
	if !v.Lost.IsZero() { // no key acts, and nobody knows what goes on
		word, cause, at, then = "DISCONNECTED", v.Gone(), time.Time{}, ""
	}
	s := part.Section{Title: v.Theme.State(word).Glyph + " " + word, Note: since(v), Height: h, Rows: make([]string, 0, h)}
	left := ""
	if at.After(v.Now) {
		left = human.Stopwatch(at.Sub(v.Beat()) + time.Second - 1) // a second that has begun counts, as in v.In
		v.Ticks = true
	}
	words := 1
	if left != "" {
		words += part.DigitsWidth(v.Theme, left) + 3
	}
	said := part.Wrap(cause, w-words-1)
	if last := tallDigits - 2; len(said) > last+1 { // cut at the end of its row, with a sign
		said = append(said[:last], strings.Join(said[last:], " "))
	}
	l := part.NewLine(v.Theme, w)
	for y := range min(tallDigits, h) {
		l.Reset(w, false)
		if l.Gap(1); left != "" {
			l.Digits(y, left)
		}
		switch l.To(words); {
		case y < len(said):
			l.Put(themes.Figure, said[y])
		case y == len(said):
			l.Put(v.Theme.Title(), then)
		}
		s.Rows = append(s.Rows, l.String())
	}
	if rest := h - tallDigits; rest >= 2 && v.Size != page.S {
		s.Rows = append(s.Rows, o.tightest(v, t, w, rest).Rows...)
	}
	return s
}

// goesOnBySelf stands beside the countdown to a call that asks whether what holds the others still does: nobody need act.
const goesOnBySelf = "it goes on by itself: next try"

// goesOn is when something goes on by itself, and in words what; or what somebody can do. The zero
// time = nobody knows.
func goesOn(v *page.View) (next time.Time, then string) {
	see := func(at time.Time, what string) {
		if at.After(v.Now) && (next.IsZero() || at.Before(next)) {
			next, then = at, what+" at "+v.Clock(at)
		}
	}
	waits := slices.ContainsFunc(v.Limits.Breakers, func(b engine.BreakerRow) bool { return b.Waiting > 0 })
	for _, b := range v.Limits.Breakers {
		if waits == (b.Waiting > 0) { // a try is a call of what waits there
			see(b.Next, goesOnBySelf)
		}
	}
	for _, b := range v.Limits.Holds {
		see(b.Asks, goesOnBySelf)
	}
	for _, b := range v.Limits.Hosts {
		see(b.Opens, "calls to "+b.Host+" go again")
	}
	for _, b := range v.Limits.Buckets {
		if b.Frozen() {
			see(b.Thaws, "the freeze ends")
		}
	}
	switch v.Engine.State {
	case engine.EngineNoKey:
		if v.Engine.Key == "" {
			return time.Time{}, v.Keyed("{key} gives one")
		}
		if next, then = v.Limits.KeyAsks, v.Keyed("{key} gives another key"); next.After(v.Now) {
			then = "one call asks at " + v.Clock(next) + "; " + then
		}
		return next, then
	case engine.EnginePaused:
		if !slices.ContainsFunc(v.Queues, func(q engine.QueueRow) bool { return q.Paused }) { // by the disk or the store
			return time.Time{}, ""
		}
		return time.Time{}, v.Keyed("{pause} resumes the queue of the call under the cursor")
	case engine.EngineHeld:
		if next.IsZero() && slices.ContainsFunc(v.Limits.Buckets, engine.BucketRow.Frozen) {
			then = v.Keyed("{limits} shows it; {limits/pause} there resumes it")
		}
		return next, then
	case engine.EngineAPIDown, engine.EngineDegraded:
		return next, then
	}
	return time.Time{}, then
}

// since says when it began to stand, and by whom; "" = that is not known.
func since(v *page.View) string {
	at, by := v.Lost, ""
	switch {
	case !at.IsZero():
	case v.Engine.State == engine.EnginePaused: // by the pause that left nothing to do
		for _, q := range v.Queues {
			if q.Paused && q.Since.After(at) {
				at, by = q.Since, q.By.User
			}
		}
	case v.Engine.State == engine.EngineNoKey:
		at = v.Limits.KeyRefused
	default:
		for _, b := range v.Limits.Breakers {
			if at.IsZero() || b.Since.Before(at) {
				at = b.Since
			}
		}
	}
	if at.IsZero() {
		return ""
	}
	if by != "" {
		by = " by " + by
	}
	return "since " + v.Clock(at) + by
}
