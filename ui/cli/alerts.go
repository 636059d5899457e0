package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
)

// Alerts prints every alert: those that fire first.
func Alerts(ctx context.Context, c engine.Console, o Out) error {
	a, err := ask[engine.AlertsAnswer](ctx, c, engine.AlertsQuery{})
	if err != nil {
		return err
	}
	if o.JSON {
		return lines(o, a.Alerts)
	}
	if err := list(o, columns.AlertLines, a.Alerts); err != nil {
		return err
	}
	when := "alerts are evaluated while an engine runs; none has run here yet"
	if !a.At.IsZero() {
		when = "evaluated " + human.SpanAgo(a.At, time.Now())
	}
	_, err = fmt.Fprintln(o.W, when)
	return err
}
