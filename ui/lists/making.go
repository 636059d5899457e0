package lists

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/ui/page"
)

// screenful is up to how many rows a list follows at once. A longer one moves with the seconds of the clock: a row
// that leaves it moves all that are below, and a terminal is sent them anew, six kilobytes.
const screenful = 30

// slowList is from how many rows on a list takes some ten milliseconds to be made, so that a key does not have
// it made with each update; the longest, the jobs that fit a filter, has 20,000.
const slowList = 4_000

// waits reports whether what is wanted is newer rows and nothing else, and those are not due yet.
func (l *List[T]) waits(v *page.View, now Recipe) bool {
	if !l.placed || l.Asked || now.gen != l.Made.gen || now.by != l.Made.by || now.down != l.Made.down {
		return false
	}
	every := time.Duration(0)
	switch {
	case v.Hurry && l.All > slowList:
		every = page.CalmEvery
	case !v.Hurry && l.All > screenful:
		every = v.Unhurried(time.Second)
	}
	if age := v.Now.Sub(l.begun.Truncate(every)); age < 0 || age >= every {
		return false
	}
	v.Ticks = true // there are newer rows to show within the second
	return true
}

// build makes the list. Rows that are equal in order are ordered by their ids, so that they do not change places from
// one making to the next; without an order all stay as they came. Shown points into rows: a row is hundreds of bytes.
func (l *List[T]) build(rows []T, now Recipe, at time.Time) {
	l.Shown, l.All = make([]*T, 0, len(rows)), len(rows)
	for i := range rows {
		if l.fit.Match(&rows[i], at) {
			l.Shown = append(l.Shown, &rows[i])
		}
	}
	if order := l.order(); order != nil {
		slices.SortFunc(l.Shown, func(a, b *T) int { return cmp.Or(order(a, b), strings.Compare(l.key(a), l.key(b))) })
	}
	l.at = make(map[string]int32, len(l.Shown))
	for i, row := range l.Shown {
		l.at[l.key(row)] = int32(i)
	}
	l.Asked = l.Asked || now.gen != l.Made.gen
	l.Made, l.placed, l.begun = now, true, at
}

// order compares rows as the operator wants them; nil = they stay as they come.
func (l *List[T]) order() func(a, b *T) int {
	if l.By == 0 || l.By > len(l.Fields) {
		return nil
	}
	order := l.Fields[l.By-1].Order
	if l.down {
		return func(a, b *T) int { return order(b, a) }
	}
	return order
}

// sortText names the order of the list; "" = as it comes.
func (l *List[T]) sortText(v *page.View) string {
	if l.By == 0 {
		return ""
	}
	return "sort: " + strings.ToLower(l.Fields[l.By-1].Head.Title) + " " + l.arrow(v)
}
