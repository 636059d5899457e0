package page

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
)

var someTimes = []time.Time{
	{}, time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC), time.Date(2026, 1, 20, 12, 0, 0, 1, time.UTC), time.Date(2025, 1, 20, 12, 0, 0, 0, time.FixedZone("KST", 9*3600)),
}

var someTexts = []string{"", "match:KR_7214550881", "match:KR_7214550882", "match:KR_72145508821", "match:", "match:KR_7214\x00", "match:KR_7214", "카인", "카인\x00", "m"}

func someJob(t *rapid.T) engine.JobRow {
	text := func() string { return rapid.SampledFrom(someTexts).Draw(t, "text") }
	at := func() time.Time { return rapid.SampledFrom(someTimes).Draw(t, "time") }
	var j engine.JobRow
	j.ID, j.Key, j.Queue, j.Kind = engine.JobID(text()), text(), engine.Queue(text()), engine.Kind(text())
	j.State, j.Tries = engine.State(rapid.IntRange(0, 9).Draw(t, "state")), rapid.IntRange(0, 3).Draw(t, "tries")
	j.Due, j.Created, j.LastError, j.Why, j.Class = at(), at(), text(), text(), engine.Class(text())
	return j
}

func someAccount(t *rapid.T) engine.AccountRow {
	text := func() string { return rapid.SampledFrom(someTexts).Draw(t, "text") }
	n := func() int { return rapid.IntRange(0, 3).Draw(t, "n") }
	return engine.AccountRow{
		ID: text(), RiotID: text(), Region: text(), Status: engine.SyncStatus(n()), LastSync: rapid.SampledFrom(someTimes).Draw(t, "time"),
		Matches: engine.Progress{Total: n(), Stored: n(), Failed: n(), Retrying: n()},
	}
}

// TestRowsAreReadAsTheyAreCompared: what is read of a row once orders a list as its
// columns do, up and down, and every column that is read is one of the list's.
func TestRowsAreReadAsTheyAreCompared(t *testing.T) {
	readAsCompared(t, "jobs", jobReads, jobFields, someJob)
	readAsCompared(t, "retries", retryReads, retryFields, someJob)
	readAsCompared(t, "accounts", accountReads, accountFields, someAccount)
}

func readAsCompared[T any](t *testing.T, name string, r *reads[T], fields []field[T], some func(*rapid.T) T) {
	known := 0
	for _, f := range fields {
		read := r.by[f.Title]
		if read == nil {
			continue
		}
		known++
		t.Run(name+"/"+f.Title, rapid.MakeCheck(func(t *rapid.T) {
			rows := make([]*T, rapid.IntRange(0, 12).Draw(t, "rows"))
			for i := range rows {
				row := some(t)
				rows[i] = &row
			}
			down := rapid.Bool().Draw(t, "down")
			want, got := sorted(rows, r.id, f.order, down), sortByKey(rows, r, read, down, nil)
			same := func(a, b keyed[T]) bool { return a.key == b.key && f.order(a.row, b.row) == 0 }
			if !slices.EqualFunc(want, got, same) {
				t.Errorf("sorted by %s, down %v: %d rows are not where they belong", f.Title, down, len(rows))
			}
		}))
	}
	if known != len(r.by) {
		t.Errorf("%d of %d columns of %s are read: a title has changed", known, len(r.by), name)
	}
}

// TestLongWorkIsHalted when it is not wanted any more, and is never shown.
func TestLongWorkIsHalted(t *testing.T) {
	l, v, rows := longList(sortMost)
	l.SortBy(0)
	l.put(v, 1, rows)
	first := l.Work()
	l.SortBy(0) // the other way round
	l.put(v, 1, rows)
	second := l.Work()
	if m := first().(made[engine.JobRow]); !m.halted || len(m.shown) != 0 {
		t.Errorf("%d rows were made for nobody", len(m.shown))
	}
	l.SortBy(0) // as at first: what was halted has the same recipe
	l.put(v, 1, rows)
	third := l.Work()
	l.Done(second())
	l.Done(first())
	if len(l.shown) != 0 {
		t.Error("work that was halted is shown")
	}
	l.Done(third())
	if len(l.shown) != sortMost || l.shown[0].Key != "match:KR_0000000000" {
		t.Errorf("%d rows are shown", len(l.shown))
	}
}
