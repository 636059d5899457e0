package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
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
	now := time.Now()
	rows := make([][]string, len(a.Alerts))
	for i, r := range a.Alerts {
		rows[i] = []string{r.ID, strings.ToUpper(string(r.State)), ago(r.Since, now), r.Now(), r.Bound(), r.About, alertRemark(r, now)}
	}
	cols := []column{{title: "ALERT"}, {title: "STATE"}, {title: "SINCE"}, {title: "NOW", right: true}, {title: "LIMIT", right: true}, {title: "WHAT", flex: true}, {title: "REMARK", flex: true}}
	if err := o.table(cols, rows); err != nil {
		return err
	}
	when := "alerts are evaluated while an engine runs; none has run here yet"
	if !a.At.IsZero() {
		when = "evaluated " + ago(a.At, now)
	}
	_, err = fmt.Fprintln(o.W, when)
	return err
}

// alertRemark is what a person wants to know of an alert in its state.
func alertRemark(r engine.AlertRow, now time.Time) string {
	switch r.State {
	case engine.AlertPending:
		return "fires in " + in(r.Fires, now) + " if it stays"
	case engine.AlertAcknowledged:
		return "seen by " + r.By.User
	case engine.AlertSilenced:
		return "by " + r.By.User + ", for " + in(r.Until, now)
	case engine.AlertFiring:
		if !r.Clears.IsZero() {
			return "ends in " + in(r.Clears, now) + " if it stays clear"
		}
		return r.Next
	}
	return ""
}
