package control

import (
	"context"

	"github.com/farsight-console/farsight/engine"
)

// Pager tells people of alerts.
type Pager interface {
	// Try lets those of one name, or all for "", hear a test; dry only says who would.
	Try(ctx context.Context, name string, by engine.Actor, dry bool) (engine.Receipt, error)
	// Place places a call of a user's own; dry only says whether it would.
	Place(ctx context.Context, ask engine.CallAsk, by engine.Actor, dry bool) (engine.Receipt, error)
}

// page lets people hear a test. Nothing is sent in a demo, whatever is configured.
func (c *Control) page(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	switch {
	case c.opt.Demo:
		return engine.Receipt{}, engine.Problemf(engine.ErrRefused, "try it with an engine of your own", "the demo tells nobody")
	case c.opt.Pager == nil:
		return engine.Receipt{}, engine.Problemf(engine.ErrRefused, "", "nobody is told of anything here")
	}
	return c.opt.Pager.Try(ctx, cmd.Channel, cmd.By, cmd.DryRun)
}

// call places a call of a user's own. In a demo the telephone is simulated, too.
func (c *Control) call(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	switch {
	case cmd.Call == nil:
		return engine.Receipt{}, engine.Problemf(engine.ErrInvalid, "say whom, and what to say", "no call is described")
	case c.opt.Serves != nil:
		return engine.Receipt{}, engine.Problemf(engine.ErrRefused, "start `farsight serve` for calls", "this engine works on one sync and calls nobody")
	case c.opt.Pager == nil:
		return engine.Receipt{}, engine.Problemf(engine.ErrRefused, "", "nobody is called from here")
	}
	return c.opt.Pager.Place(ctx, *cmd.Call, cmd.By, cmd.DryRun)
}
