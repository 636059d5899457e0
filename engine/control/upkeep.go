package control

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Upkeep looks after the store while the engine works on it.
type Upkeep interface {
	// Backup copies the store and proves the copy; it tells how many bytes are done, of
	// how many.
	Backup(ctx context.Context, ask engine.BackupAsk, tell func(done, total int64)) (engine.BackupDone, error)
	// Prune deletes old jobs, or counts them; nil = by the rule of the daily schedule.
	Prune(ctx context.Context, ask *engine.PruneAsk, dry bool) (engine.PruneDone, error)
}

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
	run := c.caring.begin(cmd)
	defer c.caring.end(run)
	done, err := c.opt.Upkeep.Backup(ctx, ask, func(done, total int64) { c.caring.told(run, done, total) })
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
		return left()
	}
	return err
}

func left() *engine.Problem {
	return engine.Problemf(engine.ErrGone, "", "it was given up before it was done: whoever asked for it has gone")
}

// caring is what looks after the store right now, the oldest first.
type caring struct {
	mu   sync.Mutex
	runs []*engine.UpkeepRun
}

func (c *caring) begin(cmd engine.Command) *engine.UpkeepRun {
	run := &engine.UpkeepRun{Op: cmd.Op, By: cmd.By, Began: time.Now()}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs = append(c.runs, run)
	return run
}

func (c *caring) told(run *engine.UpkeepRun, done, total int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	run.Done, run.Total = done, total
}

func (c *caring) end(run *engine.UpkeepRun) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs = slices.DeleteFunc(c.runs, func(r *engine.UpkeepRun) bool { return r == run })
}

// list answers UpkeepQuery; without an engine nothing is under way.
func (c *caring) list() engine.UpkeepAnswer {
	a := engine.UpkeepAnswer{Running: []engine.UpkeepRun{}}
	if c == nil {
		return a
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, run := range c.runs {
		a.Running = append(a.Running, *run)
	}
	return a
}
