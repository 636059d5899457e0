package cli

import (
	"context"
	"slices"

	"github.com/farsight-console/farsight/engine"
)

// Queues prints the queues with their counts, and why their heads do not start.
// filter is part of a name.
func Queues(ctx context.Context, c engine.Console, filter string, o Out) error {
	s, err := ask[engine.StatusAnswer](ctx, c, engine.StatusQuery{})
	if err != nil {
		return err
	}
	rows := slices.DeleteFunc(s.Queues, func(q engine.QueueRow) bool { return !part(filter, string(q.Name)) })
	if o.JSON {
		return lines(o, rows)
	}
	return queues(o, rows, filter)
}
