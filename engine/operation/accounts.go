package operation

import (
	"context"

	"github.com/farsight-console/farsight/engine"
)

// trigger starts a sync of an account, which need not be stored yet. Its dry run costs it as if nothing
// stood against it: whether it waits, joins or is refused is decided by the run itself.
func (o *Operator) trigger(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	if !o.opt.SyncOn {
		return refuse(engine.ErrRefused, "set SYNC_ENABLE=true", "syncs are switched off")
	}
	if !cmd.DryRun {
		return o.opt.Syncer.Trigger(ctx, cmd.Account, cmd.Sync, cmd.By)
	}
	// What would end later for it is asked here and not in Do, which does not know that these are syncs.
	cost, err := o.opt.Syncer.Cost(ctx, engine.CostQuery{Account: cmd.Account, Sync: cmd.Sync})
	if err != nil {
		return engine.Receipt{}, err
	}
	o.opt.Delays(ctx, &cost, true)
	return engine.Receipt{Matched: 1, Cost: &cost, Text: "would make " + callsOf(cost)}, nil
}

// track marks an account for recurring syncs; without an account it sets the policy of tags.
func (o *Operator) track(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	if cmd.DryRun {
		return engine.Receipt{Matched: 1, Text: "would track " + cmd.Account}, nil
	}
	return o.opt.Syncer.Track(ctx, cmd.Account, cmd.Sync)
}

// untrack takes the mark off. It starts and ends no sync.
func (o *Operator) untrack(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	if cmd.DryRun {
		return engine.Receipt{Matched: 1, Text: "would stop tracking " + cmd.Account + "; its data stays"}, nil
	}
	return o.opt.Syncer.Untrack(ctx, cmd.Account, cmd.Sync.Platform)
}

// inDomain is a command of the domain. The domain does its dry run by itself.
func (o *Operator) inDomain(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	if o.opt.Domain != nil {
		if r, known, err := o.opt.Domain.Do(ctx, cmd); known {
			return r, err
		}
	}
	return unknown(cmd.Op)
}
