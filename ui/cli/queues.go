package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine"
)

// Queues prints the queues with their counts, and why their heads do not start.
// filter is part of a name.
func Queues(ctx context.Context, c engine.Console, filter string, o Out) error {
	s, err := ask[engine.StatusAnswer](ctx, c, engine.StatusQuery{})
	if err != nil {
		return err
	}
	rows := slices.DeleteFunc(s.Queues, func(q engine.QueueRow) bool { return !strings.Contains(string(q.Name), filter) })
	if !o.JSON {
		return queues(o, rows)
	}
	for _, q := range rows {
		if err := o.json(q); err != nil {
			return err
		}
	}
	return nil
}
