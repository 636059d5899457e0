package local

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
)

// Whatever comes and goes in whatever order, and from whichever end it is put in: a
// fifo is in the order of the instants from which on its jobs might have run, and of
// their ids within one.
func TestAFifoIsInTheOrderOfItsInstants(t *testing.T) {
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		var f fifo
		var want []*entry
		for n := range rapid.IntRange(1, 80).Draw(t, "steps") {
			if len(want) > 0 && rapid.IntRange(0, 2).Draw(t, "leaves") == 0 {
				at := rapid.IntRange(0, len(want)-1).Draw(t, "which")
				f.remove(want[at])
				want = slices.Delete(want, at, at+1)
				continue
			}
			e := &entry{
				id:   engine.JobID(fmt.Sprintf("m%03d", rapid.IntRange(0, 3).Draw(t, "id")*100+n)),
				turn: start.Add(time.Duration(rapid.IntRange(0, 9).Draw(t, "turn")) * time.Second),
			}
			if rapid.Bool().Draw(t, "early") {
				f.insertEarly(e)
			} else {
				f.insert(e)
			}
			want = append(want, e)
			slices.SortFunc(want, func(a, b *entry) int {
				if a.before(b) {
					return -1
				}
				return 1
			})
		}
		var got []*entry
		for e := f.head; e != nil; e = e.next {
			got = append(got, e)
		}
		if !slices.Equal(got, want) || f.n != len(want) || len(want) > 0 && f.tail != want[len(want)-1] {
			t.Fatalf("%d of %d in another order", len(got), len(want))
		}
	})
}

// TestV7j_WhatIsFarBackHasNoInstant: a job whose place is not counted does not go when its lane opens, as the first does.
func TestV7j_WhatIsFarBackHasNoInstant(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	opens := now.Add(time.Second)
	l := &line{lane: &lane{closed: true, until: opens, known: opens, reason: "app 99/100"}}
	var all []*entry
	for n := range maxPlace + 1 {
		e := &entry{id: engine.JobID(fmt.Sprintf("m%04d", n)), lane: l.lane}
		l.add(e, false)
		all = append(all, e)
	}
	if s := all[0].whyInLine(now, nil); s.place != 1 || !s.until.Equal(opens) {
		t.Errorf("the first: %+v", s)
	}
	if s := all[maxPlace].whyInLine(now, nil); s.place != 0 || !s.until.IsZero() || s.reason != engine.FarBack+": app 99/100" {
		t.Errorf("the last: %+v", s)
	}
}
