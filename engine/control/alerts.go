package control

import (
	"slices"

	"github.com/farsight-console/farsight/engine"
)

// Open gives the accounts whose runs are under way.
func (c *Control) Open() []engine.AccountRow { return c.hub.Open() }

// alertRows is the hub's view of the alerts; nil when nobody evaluates any.
func (c *Control) alertRows() func() []engine.AlertRow {
	if c.opt.Alerts == nil {
		return nil
	}
	return c.opt.Alerts.Rows
}

// firing is how many alerts fire that nobody has seen yet, for the engine's row.
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
