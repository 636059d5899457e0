package lists

import (
	"errors"
	"time"

	"github.com/farsight-console/farsight/engine/filter"
)

// Query is the filter of a list: the text that was typed, and the last text that could be used,
// which stays in force while a wrong one is being mended.
type Query[T any] struct {
	Schema *filter.Schema[T]
	text   string
	fit    filter.Filter[T]
	Used   string // the text that fit was made of
	err    *filter.Error
	Gen    int // counts the changes of fit
}

// Filter implements Filterer.
func (q *Query[T]) Filter() string { return q.text }

// SetFilter implements Filterer. A query that is wrong leaves the last good one
// in force.
func (q *Query[T]) SetFilter(text string) error {
	q.text, q.err = text, nil
	fit, err := filter.Parse(text, q.Schema)
	if err != nil {
		errors.As(err, &q.err)
		return err
	}
	if text != q.Used {
		q.fit, q.Used = fit, text
		q.Gen++
	}
	return nil
}

// Complete implements Filterer.
func (q *Query[T]) Complete(text string, at int) []filter.Suggestion {
	return q.Schema.Complete(text, at)
}

// On reports whether rows may be left out.
func (q *Query[T]) On() bool { return !q.fit.Empty() }

// Pick keeps the rows that fit. Without a filter it is rows itself.
func (q *Query[T]) Pick(rows []T, now time.Time) []T {
	if !q.On() {
		return rows
	}
	var fit []T
	for i := range rows {
		if q.fit.Match(&rows[i], now) {
			fit = append(fit, rows[i])
		}
	}
	return fit
}

// Told is how the filter stands in a title; "" = there is none. While the text is wrong it names
// the one that is still in force.
func (q *Query[T]) Told() string {
	if q.text == "" {
		return ""
	}
	switch {
	case q.err != nil && q.Used == "":
		return "filter not applied"
	case q.err != nil:
		return "/" + q.Used + " still"
	}
	return "/" + q.Used
}
