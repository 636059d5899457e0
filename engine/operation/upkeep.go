package operation

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// backup copies the store while the engine works on it. Running tells meanwhile how far it is.
func (o *Operator) backup(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	if err := o.cares(); err != nil {
		return engine.Receipt{}, err
	}
	var ask engine.BackupAsk
	if cmd.Backup != nil {
		ask = *cmd.Backup
	}
	if cmd.DryRun {
		return engine.Receipt{Matched: 1, Text: "would copy the data directory"}, nil
	}
	// A copy takes minutes: consoles ask meanwhile how far it is.
	run := o.running.begin(cmd)
	defer o.running.end(run)
	done, err := o.opt.Upkeep.Backup(ctx, ask, func(done, total int64) { o.running.progressed(run, done, total) })
	if err != nil {
		return engine.Receipt{}, givenUp(ctx, err)
	}
	r := engine.Receipt{Matched: 1, Applied: 1, Backup: &done,
		Text: fmt.Sprintf("copied to %s, verified, %d bytes written", done.Path, done.Copied)}
	if n := len(done.Failed); n > 0 {
		r.Text += fmt.Sprintf("; %d months of payloads have no new copy", n)
	}
	return r, nil
}

// compact archives months while the engine works on them. Running tells meanwhile how far it is.
func (o *Operator) compact(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	if err := o.cares(); err != nil {
		return engine.Receipt{}, err
	}
	var ask engine.CompactAsk
	if cmd.Compact != nil {
		ask = *cmd.Compact
	}
	run := o.running.begin(cmd)
	defer o.running.end(run)
	done, err := o.opt.Upkeep.Compact(ctx, ask, cmd.DryRun, func(done, total int64) { o.running.progressed(run, done, total) })
	r := engine.Receipt{Matched: len(done.Months), Compact: &done, Text: done.Text(cmd.DryRun)}
	if !cmd.DryRun {
		r.Applied = r.Matched
	}
	if err != nil { // months that were archived before it failed are
		return r, givenUp(ctx, err)
	}
	return r, nil
}

// prune deletes jobs that ended long ago, or counts them. It goes in steps, so that one that fails has
// deleted some: the receipt tells them beside the error.
func (o *Operator) prune(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	if err := o.cares(); err != nil {
		return engine.Receipt{}, err
	}
	done, err := o.opt.Upkeep.Prune(ctx, cmd.Prune, cmd.DryRun)
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

// cares refuses where nobody looks after the store.
func (o *Operator) cares() error {
	if o.opt.Upkeep == nil {
		return engine.Problemf(engine.ErrRefused, "", "nobody looks after the store here")
	}
	return nil
}

// givenUp tells a command that its caller has left from one that failed.
func givenUp(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return engine.GivenUp()
	}
	return err
}

// Running answers UpkeepQuery.
func (o *Operator) Running() engine.UpkeepAnswer {
	a := engine.UpkeepAnswer{Running: []engine.UpkeepRun{}}
	if o == nil { // no engine: nothing is under way
		return a
	}
	o.running.mu.Lock()
	defer o.running.mu.Unlock()
	for _, run := range o.running.runs {
		a.Running = append(a.Running, *run)
	}
	return a
}

// upkeeps are the backups under way, the oldest first.
type upkeeps struct {
	mu   sync.Mutex
	runs []*engine.UpkeepRun
}

// begin adds a run; told and end are about what it gave.
func (u *upkeeps) begin(cmd engine.Command) *engine.UpkeepRun {
	run := &engine.UpkeepRun{Op: cmd.Op, By: cmd.By, Began: time.Now()}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.runs = append(u.runs, run)
	return run
}

// progressed notes how far a run is, in bytes. Running copies the runs under the same lock.
func (u *upkeeps) progressed(run *engine.UpkeepRun, done, total int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	run.Done, run.Total = done, total
}

func (u *upkeeps) end(run *engine.UpkeepRun) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.runs = slices.DeleteFunc(u.runs, func(r *engine.UpkeepRun) bool { return r == run })
}

// maxOwn is how many bytes a user's own command may have.
const maxOwn = 4 << 10

// shell lets a console run a command of its user's own: it is in the audit before it runs. It does not
// run here: the console does that, at its user's own place, once this has answered.
func (o *Operator) shell(_ context.Context, cmd engine.Command) (engine.Receipt, error) {
	switch own := cmd.Own; {
	case own == nil || own.Name == "" || own.Run == "":
		return refuse(engine.ErrInvalid, "say its name and its line", "no command of a user's own is described")
	case len(own.Name)+len(own.Run)+len(own.On) > maxOwn:
		return refuse(engine.ErrInvalid, "call a script", "the command is longer than %d bytes", maxOwn)
	}
	return engine.Receipt{Matched: 1, Applied: 1, Text: "runs where the console is: " + cmd.Own.Run}, nil
}
