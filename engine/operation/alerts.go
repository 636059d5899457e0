package operation

import (
	"context"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// ack says that somebody has seen a firing alert.
func (o *Operator) ack(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	if err := o.mayAlert(cmd); err != nil {
		return engine.Receipt{}, err
	}
	if cmd.DryRun {
		for _, a := range o.opt.Alerts.Rows() {
			if a.ID == cmd.Alert && a.State == engine.AlertFiring {
				return engine.Receipt{Matched: 1, Text: "would acknowledge alert " + cmd.Alert}, nil
			}
		}
		return refuse(engine.ErrConflict, "list those that fire with `farsight alerts`", "alert %s is not firing", cmd.Alert)
	}
	return o.opt.Alerts.Acknowledge(ctx, cmd.Alert, cmd.By)
}

// silence keeps an alert silent until an instant, or ends that.
func (o *Operator) silence(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	if err := o.mayAlert(cmd); err != nil {
		return engine.Receipt{}, err
	}
	// An instant that has passed ends a silence: `silence 429 now`.
	switch until := cmd.At; {
	case !cmd.DryRun:
		return o.opt.Alerts.Silence(ctx, cmd.Alert, until, cmd.By)
	case until.After(time.Now()):
		return engine.Receipt{Matched: 1, Due: until,
			Text: "would keep alert " + cmd.Alert + " silent until " + until.UTC().Format("2006-01-02 15:04 UTC")}, nil
	}
	return engine.Receipt{Matched: 1, Text: "would let alert " + cmd.Alert + " be heard again"}, nil
}

// mayAlert refuses what cannot be meant. A dry run knows the alerts that are told:
// a subject that is well may not be among them, but its rule is.
func (o *Operator) mayAlert(cmd engine.Command) error {
	if o.opt.Alerts == nil {
		return engine.Problemf(engine.ErrRefused, "", "nobody evaluates alerts here")
	}
	if cmd.Alert == "" {
		return engine.Problemf(engine.ErrInvalid, "list them with `farsight alerts`", "no alert is named")
	}
	named := func(a engine.AlertRow) bool { return a.ID == cmd.Alert || a.Rule == cmd.Alert }
	if cmd.DryRun && !slices.ContainsFunc(o.opt.Alerts.Rows(), named) {
		return engine.Problemf(engine.ErrNotFound, "list them with `farsight alerts`", "there is no alert %q", cmd.Alert)
	}
	return nil
}

// page lets people hear a test. Nothing is sent in a demo, whatever is configured.
func (o *Operator) page(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	switch {
	case o.opt.Demo:
		return refuse(engine.ErrRefused, "try it with an engine of your own", "the demo tells nobody")
	case o.opt.Pager == nil:
		return refuse(engine.ErrRefused, "", "nobody is told of anything here")
	}
	return o.opt.Pager.Try(ctx, cmd.Channel, cmd.By, cmd.DryRun)
}

// call places a call of a user's own. In a demo the telephone is simulated, too.
func (o *Operator) call(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	switch {
	case cmd.Call == nil:
		return refuse(engine.ErrInvalid, "say whom, and what to say", "no call is described")
	case o.opt.OneSync:
		return refuse(engine.ErrRefused, "start `farsight serve` for calls", "this engine works on one sync and calls nobody")
	case o.opt.Pager == nil:
		return refuse(engine.ErrRefused, "", "nobody is called from here")
	}
	return o.opt.Pager.Place(ctx, *cmd.Call, cmd.By, cmd.DryRun)
}
