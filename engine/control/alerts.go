package control

import (
	"context"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Alerts judge what the engine does, and know who has seen what of it.
type Alerts interface {
	// Rows are all alerts as they were evaluated last, shared: nobody changes them.
	Rows() []engine.AlertRow
	// Evaluated is the instant of that; zero when there was none yet.
	Evaluated() time.Time
	// Firing is how many fire that nobody has acknowledged or silenced.
	Firing() int
	// Metrics sums up a window that ends now, an hour for 0, of the jobs of one kind; "" =
	// of all.
	Metrics(kind engine.Kind, window time.Duration) (engine.Metrics, error)
	Acknowledge(ctx context.Context, id string, by engine.Actor) (engine.Receipt, error)
	Silence(ctx context.Context, id string, until time.Time, by engine.Actor) (engine.Receipt, error)
}

// Alerts lets the console of stored data show the alerts as the last engine left
// them.
func (b *Browse) Alerts(a Alerts) *Browse {
	b.alerts = a
	return b
}

// Open gives the accounts whose runs are under way.
func (c *Control) Open() []engine.AccountRow { return c.hub.Open() }

// alertRows is the hub's view of the alerts; nil when nobody evaluates any.
func (c *Control) alertRows() func() []engine.AlertRow {
	if c.opt.Alerts == nil {
		return nil
	}
	return c.opt.Alerts.Rows
}

func (c *Control) firing() int {
	if c.opt.Alerts == nil {
		return 0
	}
	return c.opt.Alerts.Firing()
}

// listAlerts gives rows that the caller may keep and change.
func (f finder) listAlerts() engine.AlertsAnswer {
	if f.alerts == nil {
		return engine.AlertsAnswer{}
	}
	return engine.AlertsAnswer{Alerts: slices.Clone(f.alerts.Rows()), At: f.alerts.Evaluated()}
}

// ack says that somebody has seen a firing alert.
func (c *Control) ack(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	if err := c.mayAlert(cmd); err != nil {
		return engine.Receipt{}, err
	}
	if cmd.DryRun {
		return c.wouldAck(cmd.Alert)
	}
	return c.opt.Alerts.Acknowledge(ctx, cmd.Alert, cmd.By)
}

// wouldAck tells whether the alert fires: others cannot be acknowledged.
func (c *Control) wouldAck(id string) (engine.Receipt, error) {
	for _, a := range c.opt.Alerts.Rows() {
		if a.ID == id && a.State == engine.AlertFiring {
			return engine.Receipt{Matched: 1, Text: "would acknowledge alert " + id}, nil
		}
	}
	return engine.Receipt{}, engine.Problemf(engine.ErrConflict, "list those that fire with `farsight alerts`", "alert %s is not firing", id)
}

// silence keeps an alert silent until an instant, or ends that.
func (c *Control) silence(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	if err := c.mayAlert(cmd); err != nil {
		return engine.Receipt{}, err
	}
	switch until := cmd.At; {
	case !cmd.DryRun:
		return c.opt.Alerts.Silence(ctx, cmd.Alert, until, cmd.By)
	case until.After(time.Now()):
		return engine.Receipt{Matched: 1, Due: until, Text: "would keep alert " + cmd.Alert + " silent until " + until.UTC().Format("2006-01-02 15:04 UTC")}, nil
	}
	return engine.Receipt{Matched: 1, Text: "would let alert " + cmd.Alert + " be heard again"}, nil
}

// mayAlert refuses what cannot be meant. A dry run knows the alerts that are told:
// a subject that is well may not be among them, but its rule is.
func (c *Control) mayAlert(cmd engine.Command) error {
	if c.opt.Alerts == nil {
		return engine.Problemf(engine.ErrRefused, "", "nobody evaluates alerts here")
	}
	if cmd.Alert == "" {
		return engine.Problemf(engine.ErrInvalid, "list them with `farsight alerts`", "no alert is named")
	}
	named := func(a engine.AlertRow) bool { return a.ID == cmd.Alert || a.Rule == cmd.Alert }
	if cmd.DryRun && !slices.ContainsFunc(c.opt.Alerts.Rows(), named) {
		return engine.Problemf(engine.ErrNotFound, "list them with `farsight alerts`", "there is no alert %q", cmd.Alert)
	}
	return nil
}
