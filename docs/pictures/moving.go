package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// span is when a row looks as it does: from one frame up to another.
type span struct{ from, to int }

// moving is an animation of frames. Each look of a row is drawn once and shown while
// it lasts; where nobody wants motion the first frame stands.
func moving(frames []frame, every time.Duration, p paper) string {
	k := newInks(p)
	var body strings.Builder
	spans := map[span]bool{}
	for y := range frames[0] {
		for _, look := range looks(frames, y, k) {
			class := ""
			if look.span != (span{0, len(frames)}) {
				class = look.class()
				spans[look.span] = true
			}
			body.WriteString(at(y, look.row, class))
		}
	}
	return page(frames[0], k, timing(spans, len(frames), every), body.String())
}

// look is how a row looks for a while.
type look struct {
	span
	row string
}

func (s span) class() string { return fmt.Sprintf("k%d-%d", s.from, s.to) }

func looks(frames []frame, y int, k *inks) []look {
	var all []look
	for i, f := range frames {
		row := drawRow(f[y], k)
		if n := len(all); n > 0 && all[n-1].row == row {
			all[n-1].to = i + 1
			continue
		}
		all = append(all, look{span{i, i + 1}, row})
	}
	return all
}

// timing is the style sheet that shows each span when it is due.
func timing(spans map[span]bool, frames int, every time.Duration) string {
	var b strings.Builder
	total := (time.Duration(frames) * every).Seconds()
	percent := func(i int) string { return num(100 * float64(i) / float64(frames)) }
	for _, s := range slices.SortedFunc(maps.Keys(spans), func(a, b span) int { return cmp.Or(a.from-b.from, a.to-b.to) }) {
		name, steps := s.class(), "0%{visibility:visible}"
		if s.from > 0 {
			steps = "0%{visibility:hidden}" + percent(s.from) + "%{visibility:visible}"
		}
		if s.to < frames {
			steps += percent(s.to) + "%{visibility:hidden}"
		}
		fmt.Fprintf(&b, ".%s{animation:%[1]s %gs step-end infinite}@keyframes %[1]s{%[3]s}", name, total, steps)
		if s.from > 0 {
			fmt.Fprintf(&b, ".%s{visibility:hidden}", name)
		}
	}
	return b.String() + "@media(prefers-reduced-motion:reduce){g{animation:none!important}}"
}
