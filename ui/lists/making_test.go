package lists

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
)

func manyJobs(n int) []engine.JobRow {
	rows := make([]engine.JobRow, n)
	for i := range rows {
		j := &rows[i]
		j.ID, j.Key, j.Queue = engine.JobID(fmt.Sprintf("j%07d", i)), fmt.Sprintf("match:KR_%010d", i*7919%n), "ingest.summoner.full"
		j.State, j.Tries = engine.Retryable, i%5
		if i%3 == 0 {
			j.State = engine.Discarded
		}
	}
	return rows
}

func longList(n int) (*List[engine.JobRow], *page.View, func() []engine.JobRow) {
	l := New(columns.Jobs, columns.JobList, func(j *engine.JobRow) string { return string(j.ID) })
	rows := manyJobs(n)
	v := &page.View{Data: &page.Data{Ready: true}, Theme: themes.NewMono(themes.Unicode), Now: time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC), W: 120, H: 40}
	return &l, v, func() []engine.JobRow { return rows }
}

// TestLongListsFollowByTheSecond: newer rows of a list that is longer than a screen come with the next second, what the
// operator asks for at once.
func TestLongListsFollowByTheSecond(t *testing.T) {
	l, v, rows := longList(screenful + 1)
	l.Put(v, 1, rows)
	l.Draw(v, 100, 20, "")
	v.Now = v.Now.Add(900 * time.Millisecond)
	l.Put(v, 2, func() []engine.JobRow { return rows()[1:] })
	if shown, _ := l.Fit(); shown != screenful+1 || !v.Ticks {
		t.Errorf("shows %d rows within the second; draws again: %v", shown, v.Ticks)
	}
	if err := l.SetFilter("state:discarded"); err != nil {
		t.Fatal(err)
	}
	l.Put(v, 2, rows)
	if shown, _ := l.Fit(); shown != (screenful+1+2)/3 {
		t.Errorf("the filter waits: %d rows", shown)
	}
	l.Draw(v, 100, 20, "")
	v.Now = v.Now.Add(time.Second)
	l.Put(v, 3, func() []engine.JobRow { return rows()[3:] })
	if shown, all := l.Fit(); all != screenful+1-3 {
		t.Errorf("newer rows never come: %d of %d", shown, all)
	}
}

// TestAFilteredListIsMadeForAReason: as time goes on only one whose filter has an age is made anew, and a very long one
// seldom.
func TestAFilteredListIsMadeForAReason(t *testing.T) {
	for _, c := range []struct {
		rows   int
		filter string
		want   int // of 20 seconds
	}{
		{50, "state:discarded", 0}, {50, "-age>1h", 20}, {slowList + 1, "state:discarded", 0}, {slowList + 1, "-age>1h", 2},
	} {
		l, v, rows := longList(c.rows)
		if err := l.SetFilter(c.filter); err != nil {
			t.Fatal(err)
		}
		made := 0
		put := func() { l.Put(v, 1, func() []engine.JobRow { made++; return rows() }) }
		put()
		put() // how long it is is known by now
		l.Draw(v, 100, 20, "")
		made = 0
		for range 20 {
			v.Now = v.Now.Add(time.Second)
			put()
		}
		if made != c.want {
			t.Errorf("%d rows that fit %s are made %d times, want %d", c.rows, c.filter, made, c.want)
		}
	}
}

// TestRowsThatLeftCanBeOpened: enter looks at a row that left, and no other key
// acts on it.
func TestRowsThatLeftCanBeOpened(t *testing.T) {
	l, v, rows := longList(10)
	l.Put(v, 1, rows)
	l.Draw(v, 100, 20, "")
	l.Hold()
	l.Put(v, 2, func() []engine.JobRow { return rows()[1:] })
	l.Draw(v, 100, 20, "")
	if _, ok := l.Selected(); ok {
		t.Error("a row that left is still selected")
	}
	if id, ok := l.ToOpen(); !ok || id != "j0000000" || l.CannotOpen("job") != "" {
		t.Errorf("opens %q, %v", id, ok)
	}
}

// cpuTime is what this process has used: on a machine that others use too it says
// more than the clock.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkLongList filters, and sorts, the longest list there is, which is done once a second. The target is 100 ms.
func BenchmarkLongList(b *testing.B) {
	for _, c := range []struct {
		name, text string
		by         int
	}{{"filter", "state:discarded KR_00000", 0}, {"sort", "", 1}, {"filter-sort", "state:retryable -KR_00001", 4}} {
		b.Run(c.name, func(b *testing.B) {
			l, v, rows := longList(20_000)
			if err := l.SetFilter(c.text); err != nil {
				b.Fatal(err)
			}
			l.By = c.by
			used := cpuTime(b)
			for b.Loop() {
				l.build(rows(), Recipe{}, v.Now)
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/op")
			b.ReportMetric(float64((cpuTime(b)-used).Microseconds())/1000/float64(b.N), "cpu-ms/op")
		})
	}
}

// BenchmarkListCursorMove moves the cursor and draws, at a thousand rows and at a
// million: the cost may not grow with them (at most 1.2 times). Both take turns, so that a machine at other work slows both.
func BenchmarkListCursorMove(b *testing.B) {
	const turn = 200
	sizes := [2]int{1_000, 1_000_000}
	var lists [2]*List[engine.JobRow]
	var took [2]time.Duration
	var v *page.View
	for i, n := range sizes {
		l, view, rows := longList(n)
		l.Put(view, 1, rows)
		lists[i], v = l, view
	}
	runtime.GC()
	b.ReportAllocs()
	for b.Loop() {
		for i, l := range lists {
			used := cpuTime(b)
			for range turn {
				l.Act(v, page.Down)
				l.Draw(v, 118, 36, "")
			}
			took[i] += cpuTime(b) - used
		}
	}
	b.ReportMetric(float64(took[0].Microseconds())/float64(b.N*turn), "cpu-us/move-1k")
	b.ReportMetric(float64(took[1].Microseconds())/float64(b.N*turn), "cpu-us/move-1M")
	b.ReportMetric(float64(took[1])/float64(took[0]), "ratio")
}
