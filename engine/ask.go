package engine

import (
	"context"
	"fmt"
	"time"
)

// Ask puts a question to a console, for an answer of the type that stands in the query's comment:
//
//	page, err := engine.Ask[engine.JobsPage](ctx, console, engine.JobsQuery{})
//
// An answer of another type is a fault of the console, and no *Problem: nobody can do anything about it.
func Ask[T any](ctx context.Context, c Console, q Query) (answer T, err error) {
	a, err := c.Find(ctx, q)
	if err != nil {
		return answer, err
	}
	answer, ok := a.(T)
	if !ok {
		return answer, fmt.Errorf("the engine answered %T with %T", q, a)
	}
	return answer, nil
}

// Latest is the latest of some instants. The zero one is before all others.
func Latest(at time.Time, others ...time.Time) time.Time {
	for _, o := range others {
		if o.After(at) {
			at = o
		}
	}
	return at
}
