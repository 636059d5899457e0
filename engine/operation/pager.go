package operation

import (
	"context"

	"github.com/farsight-console/farsight/engine"
)

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
