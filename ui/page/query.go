package page

import (
	"errors"
	"time"

	"github.com/farsight-console/farsight/engine/filter"
)

// query is the filter of a list: what was typed, and the last of it that could
// be used.
type query[T any] struct {
	schema *filter.Schema[T]
	text   string
	fit    filter.Filter[T]
	used   string // the text that fit was made of
	err    *filter.Error
	gen    int // counts the changes of fit
}

// Filter implements Filterer.
func (q *query[T]) Filter() string { return q.text }

// SetFilter implements Filterer. A query that is wrong leaves the last good one
// in force.
func (q *query[T]) SetFilter(text string) error {
	q.text, q.err = text, nil
	fit, err := filter.Parse(text, q.schema)
	if err != nil {
		errors.As(err, &q.err)
		return err
	}
	if text != q.used {
		q.fit, q.used = fit, text
		q.gen++
	}
	return nil
}

// Complete implements Filterer.
func (q *query[T]) Complete(text string, at int) []filter.Suggestion {
	return q.schema.Complete(text, at)
}

// on reports whether rows may be left out.
func (q *query[T]) on() bool { return !q.fit.Empty() }

// pick keeps the rows that fit. Without a filter it is rows itself.
func (q *query[T]) pick(rows []T, now time.Time) []T {
	if !q.on() {
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

// told is how the filter stands in a title; "" = there is none.
func (q *query[T]) told() string {
	if q.text == "" {
		return ""
	}
	switch {
	case q.err != nil && q.used == "":
		return "filter not applied"
	case q.err != nil:
		return "/" + q.used + " still"
	}
	return "/" + q.used
}
