package control

import (
	"context"
	"fmt"

	"github.com/farsight-console/farsight/engine"
)

// Upkeep looks after the store while the engine works on it.
type Upkeep interface {
	// Backup copies the store and proves the copy.
	Backup(ctx context.Context, ask engine.BackupAsk) (engine.BackupDone, error)
	// Prune deletes old jobs, or counts them; nil = by the rule of the daily schedule.
	Prune(ctx context.Context, ask *engine.PruneAsk, dry bool) (engine.PruneDone, error)
}

// upkeepTargets are what the commands of upkeep are about, in the audit.
var upkeepTargets = map[engine.Op]string{engine.OpBackup: "data directory", engine.OpPrune: "jobs"}

func (c *Control) backup(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	if err := c.cares(); err != nil {
		return engine.Receipt{}, err
	}
	var ask engine.BackupAsk
	if cmd.Backup != nil {
		ask = *cmd.Backup
	}
	if cmd.DryRun {
		return engine.Receipt{Matched: 1, Text: "would copy the data directory"}, nil
	}
	done, err := c.opt.Upkeep.Backup(ctx, ask)
	if err != nil {
		return engine.Receipt{}, givenUp(ctx, err)
	}
	r := engine.Receipt{Matched: 1, Applied: 1, Backup: &done, Text: fmt.Sprintf("copied to %s, verified, %d bytes written", done.Path, done.Copied)}
	if n := len(done.Failed); n > 0 {
		r.Text += fmt.Sprintf("; %d months of payloads have no new copy", n)
	}
	return r, nil
}

func (c *Control) prune(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	if err := c.cares(); err != nil {
		return engine.Receipt{}, err
	}
	done, err := c.opt.Upkeep.Prune(ctx, cmd.Prune, cmd.DryRun)
	r := engine.Receipt{Matched: done.Completed + done.Failed + done.Spared, Prune: &done, Text: done.Text(cmd.DryRun)}
	if cmd.DryRun {
		r.Would = done.Completed + done.Failed
	} else {
		r.Applied = done.Completed + done.Failed
	}
	if err != nil { // what was deleted before it failed is gone
		return r, givenUp(ctx, err)
	}
	return r, nil
}

func (c *Control) cares() error {
	if c.opt.Upkeep == nil {
		return engine.Problemf(engine.ErrRefused, "", "nobody looks after the store here")
	}
	return nil
}

// givenUp tells a command that its caller has left from one that failed.
func givenUp(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return engine.Problemf(engine.ErrGone, "", "it was given up before it was done: whoever asked for it has gone")
	}
	return err
}
