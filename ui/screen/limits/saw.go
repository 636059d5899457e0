package limits

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// sawSteps are what a cell of the limits' axis may stand for: a window of 12 s has six cells
// of 2 s, one of 2 min twelve of 10 s.
var sawSteps = []time.Duration{2 * time.Second, 10 * time.Second, time.Minute, 5 * time.Minute, time.Hour}

// sawStep is the shortest step in which a window has at most twelve cells.
func sawStep(window time.Duration) time.Duration {
	for _, step := range sawSteps {
		if window <= 12*step {
			return step
		}
	}
	// Riot has no window this long; a limit of days would still be drawn.
	return 24 * time.Hour
}

// bucketsBy are all that limits calls: first the window that sets the pace, then what is
// down, the other windows of its host, and those of other hosts.
func bucketsBy(v *page.View, first engine.BucketRow) []engine.BucketRow {
	all := page.LimitsOf(v)
	rank := func(b engine.BucketRow) int {
		switch {
		case b.Limit > 0 && bucketKey(b) == bucketKey(first):
			return 0
		case b.Kind == page.KindBreaker:
			return 1
		case b.Host == first.Host:
			return 2
		}
		return 3
	}
	sort.SliceStable(all, func(i, k int) bool { return rank(all[i]) < rank(all[k]) })
	return all
}

// bucketKey is the identity of a bucket in the list. One method may have several windows.
func bucketKey(b engine.BucketRow) string {
	return b.Host + "|" + b.Method + "|" + b.Kind + "|" + b.Window.String()
}

// callShare is who gets some of the next calls.
type callShare struct {
	name  string
	calls int
	retry bool
}

// nextCalls says who gets the calls to come: its syncs, the most first, then what
// belongs to none; how many of all are retries; and how many there are.
func nextCalls(v *page.View, t *charts.Timetable) (out []callShare, all int) {
	some := slices.ContainsFunc(t.Lanes, func(l charts.AccountLane) bool { return l.Left > 0 && !l.Still })
	for _, l := range t.Lanes {
		if l.Left > 0 && !(some && l.Still) { // one that stands gets none while others go
			out, all = append(out, callShare{name: l.Name, calls: l.Left}), all+l.Left
		}
	}
	for i := range v.Queues { // of collections what has been found so far is in line; no plan knows of what stands
		q := &v.Queues[i]
		n := q.Counts[engine.Available]
		if t.Plan == nil || !t.Plan.Stuck {
			n = min(n, t.All-all)
		}
		if name, ok := engine.CollectionOf(q.Name); ok && n > 0 {
			out, all = append(out, callShare{name: name, calls: n}), all+n
		}
	}
	slices.SortStableFunc(out, func(x, y callShare) int { return cmp.Compare(y.calls, x.calls) })
	// Calls that no sync made: ranks, summoners, single matches that were asked for.
	if rest := t.All - all; rest > 0 {
		out, all = append(out, callShare{name: "others", calls: rest}), all+rest
	}
	if t.Plan != nil && t.Plan.Retries > 0 {
		out = append(out, callShare{name: "of these, retries", calls: t.Plan.Retries, retry: true})
	}
	return out, all
}

// resetRow is a window that ends next, and what that brings.
type resetRow struct {
	at     time.Time
	name   string
	back   int // calls that may be made again
	goes   int // calls in line that go then; 0 = there is room as it is
	frozen bool
}

// nextResets are the windows that have something in them, the first to end first.
// A window without a call in it has nothing to give back.
func nextResets(v *page.View, t *charts.Timetable) (out []resetRow) {
	hosts := page.HostsOf(v)
	for _, b := range v.Limits.Buckets {
		n := b.Counted(v.Now)
		if n == 0 || b.Limit <= 0 || !b.Reset.After(v.Now) {
			continue
		}
		row := resetRow{at: b.Reset, name: block.ScopeName(b) + " " + human.Window(b.Window), back: n,
			frozen: b.Frozen()}
		if len(hosts) > 1 {
			row.name = b.Host + " " + row.name
		}
		for i := 1; b.Paces && b.Host == t.Host && t.Plan != nil && i < len(t.Plan.Windows); i++ {
			if w := &t.Plan.Windows[i]; w.Begin.Sub(b.Reset).Abs() < b.Window/2 && w.Calls() > 0 {
				// With the plan the whole limit is free again: the calls of the old window are over.
				row.back, row.goes = b.Most(), w.Calls()
			}
		}
		out = append(out, row)
	}
	slices.SortStableFunc(out, func(x, y resetRow) int { return x.at.Compare(y.at) })
	return out
}

// hitRow is a 429: what the server had counted beside us.
type hitRow struct {
	call  *engine.CallRow
	worst engine.WindowCount // the window in which the counts differ most; Limit 0 = none was told
}

// lastHits are the 429s of the flight recorder from an instant on, and so many whenever they
// came, the newest first.
func lastHits(calls []engine.CallRow, from time.Time, n int) (out []hitRow) {
	for i := len(calls) - 1; i >= 0; i-- {
		c := &calls[i]
		if len(out) >= n && c.At.Before(from) {
			break
		}
		if c.Status != 429 {
			continue
		}
		row := hitRow{call: c}
		for _, w := range c.Counts {
			if row.worst.Limit == 0 || w.Drift() > row.worst.Drift() {
				row.worst = w
			}
		}
		out = append(out, row)
	}
	return out
}

// reaches is how far ahead the axis goes.
func reaches(a charts.TimeAxis) time.Duration { return time.Duration(a.Width-a.Back) * a.Step }

// cellsBack is how many cells of the axis are before now: about a third of the chart.
var cellsBack = map[page.Size]int{page.S: 15, page.M: 30, page.L: 45}

// axisOf is the axis of the limits in a block whose rows have w cells, of which the
// fields take the first ones.
// One cell stays free at the right end. Charts are at least two cells wide, for now and what comes.
func axisOf(v *page.View, window time.Duration, w, gutter int) charts.TimeAxis {
	now, _ := charts.ChartNow(v)
	width := max(w-gutter-1, 2)
	return charts.TimeAxis{Axis: part.NewAxis(now, sawStep(window), min(cellsBack[v.Size], width/2), width)}
}
