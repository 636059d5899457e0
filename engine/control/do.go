package control

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/operation"
)

// commands is the table of what an operator can ask for.
var commands = map[engine.Op]func(*Control, context.Context, engine.Command) (engine.Receipt, error){
	engine.OpTrigger:        (*Control).trigger,
	engine.OpCancel:         (*Control).onJobs,
	engine.OpRetry:          (*Control).onJobs,
	engine.OpForce:          (*Control).onJobs,
	engine.OpReschedule:     (*Control).onJobs,
	engine.OpReclass:        (*Control).onJobs,
	engine.OpUndo:           (*Control).undo,
	engine.OpPause:          (*Control).pause,
	engine.OpResume:         (*Control).resume,
	engine.OpFreeze:         (*Control).freeze,
	engine.OpThaw:           (*Control).thaw,
	engine.OpTrack:          (*Control).track,
	engine.OpUntrack:        (*Control).untrack,
	engine.OpKey:            (*Control).replaceKey,
	engine.OpRunSchedule:    (*Control).onSchedule,
	engine.OpPauseSchedule:  (*Control).onSchedule,
	engine.OpResumeSchedule: (*Control).onSchedule,
	engine.OpEditSchedule:   (*Control).onSchedule,

	engine.OpAck:     (*Control).ack,
	engine.OpSilence: (*Control).silence,

	engine.OpTrackMany: (*Control).inDomain,
	engine.OpReresolve: (*Control).inDomain,

	engine.OpBackup: (*Control).backup,
	engine.OpPrune:  (*Control).prune,
	engine.OpForget: (*Control).forget,

	engine.OpPage: (*Control).page,
	engine.OpCall: (*Control).call,
}

// auditTime is how long an audit entry may take to be on disk.
const auditTime = 30 * time.Second

// Do carries out one command and writes an audit entry, whatever came of it.
// Errors are *engine.Problem.
func (c *Control) Do(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	run, ok := commands[cmd.Op]
	if !ok {
		return engine.Receipt{}, engine.Problemf(engine.ErrInvalid, "", "this Farsight does not know the command %q", cmd.Op)
	}
	r, err := run(c, ctx, cmd)
	if err != nil {
		err = problem(err)
	}
	if cmd.DryRun {
		if err == nil && r.Cost != nil && r.Cost.Delays == nil && r.Cost.Unknown == "" {
			c.addDelays(ctx, r.Cost, false)
		}
		return r, err
	}
	// What was done is written down, also when whoever asked for it has gone since.
	auditing, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditTime)
	defer cancel()
	e, auditErr := c.audit(auditing, cmd, r, err)
	r.Audit, r.Undo = e.Seq, operation.Undoable(e)
	if err == nil {
		c.tell(cmd, r)
	}
	if auditErr != nil && err == nil {
		return r, problem(fmt.Errorf("the command was carried out, but its audit entry was not written: %w", auditErr))
	}
	return r, err
}

func (c *Control) audit(ctx context.Context, cmd engine.Command, r engine.Receipt, err error) (engine.AuditEntry, error) {
	if r.Audit != 0 { // the store wrote it in one transaction with what was done
		return engine.AuditEntry{Seq: r.Audit}, nil
	}
	e := engine.AuditEntry{
		At: time.Now(), By: cmd.By, Op: cmd.Op, Target: targetOf(cmd, r), Reason: cmd.Reason,
		Result: r.Text, Matched: r.Matched, Applied: r.Applied, Moves: r.Moves, Queue: r.Queue, Schedule: r.Schedule,
	}
	if err != nil {
		e.Result = err.Error()
	}
	err = c.opt.Store.Write(ctx, func(tx engine.Tx) (err error) {
		e.Seq, err = c.opt.Store.AddAudit(tx, e)
		return err
	})
	return e, err
}

// targetOf is target, but for an account that was forgotten: it is not named again.
func targetOf(cmd engine.Command, r engine.Receipt) string {
	if cmd.Op == engine.OpForget {
		return r.Forget.Target()
	}
	return target(cmd)
}

// target names what a command is about. The key of OpKey is never named.
func target(cmd engine.Command) string {
	switch {
	case cmd.Select != nil:
		return describe(*cmd.Select)
	case cmd.Audit != 0:
		return fmt.Sprintf("command #%d", cmd.Audit)
	case cmd.Job != "":
		return "job " + string(cmd.Job)
	case cmd.Schedule != "":
		return "schedule " + cmd.Schedule
	case cmd.Alert != "":
		return "alert " + cmd.Alert
	case cmd.Account != "":
		return "account " + cmd.Account
	case cmd.Call != nil:
		return "number " + engine.CutNumber(cmd.Call.To)
	case cmd.Channel != "":
		return "pager " + cmd.Channel
	case operation.Of(cmd.Op).About != "":
		return operation.Of(cmd.Op).About
	case cmd.Queue != "":
		return "queue " + string(cmd.Queue)
	case cmd.Bucket.Host != "":
		return "bucket " + bucketName(cmd.Bucket)
	}
	return string(cmd.Op)
}

func bucketName(b engine.Bucket) string {
	if b.Method == "" {
		return b.Host
	}
	return b.Host + " " + b.Method
}

func (c *Control) trigger(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	if !c.opt.SyncOn {
		return engine.Receipt{}, engine.Problemf(engine.ErrRefused, "set SYNC_ENABLE=true", "syncs are switched off")
	}
	if !cmd.DryRun {
		return c.opt.Syncer.Trigger(ctx, cmd.Account, cmd.Sync, cmd.By)
	}
	cost, err := c.opt.Syncer.Cost(ctx, engine.CostQuery{Account: cmd.Account, Sync: cmd.Sync})
	if err != nil {
		return engine.Receipt{}, err
	}
	c.addDelays(ctx, &cost, true)
	return engine.Receipt{Matched: 1, Cost: &cost, Text: "would make " + callsOf(cost)}, nil
}

func (c *Control) pause(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	return c.onQueue(ctx, cmd, c.opt.Backend.Pause)
}

func (c *Control) resume(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	return c.onQueue(ctx, cmd, c.opt.Backend.Resume)
}

type queueCommand func(context.Context, engine.Queue, engine.Actor, string) (engine.Receipt, error)

func (c *Control) onQueue(ctx context.Context, cmd engine.Command, run queueCommand) (engine.Receipt, error) {
	if cmd.Queue == "" {
		return engine.Receipt{}, engine.Problemf(engine.ErrInvalid, "name one, such as ingest.summoner.full", "no queue is named")
	}
	if !c.hasQueue(cmd.Queue) {
		return engine.Receipt{}, engine.Problemf(engine.ErrNotFound, "list them with `farsight queues`", "there is no queue %q", cmd.Queue)
	}
	if cmd.DryRun {
		return engine.Receipt{Matched: 1, Text: would(cmd.Op) + " " + string(cmd.Queue)}, nil
	}
	return run(ctx, cmd.Queue, cmd.By, cmd.Reason)
}

// hasQueue reports whether a queue is known: a mistyped one would be paused for
// nothing.
func (c *Control) hasQueue(name engine.Queue) bool {
	return len(c.opt.Lines) == 0 || slices.Contains(c.opt.Lines, name) ||
		slices.ContainsFunc(c.opt.Backend.Queues(), func(q engine.QueueRow) bool { return q.Name == name })
}

func (c *Control) freeze(_ context.Context, cmd engine.Command) (engine.Receipt, error) {
	r := engine.Receipt{Matched: 1, Text: "bucket " + bucketName(cmd.Bucket) + " frozen: its jobs wait, none fails"}
	if cmd.Bucket.Cap > 0 {
		r.Text = fmt.Sprintf("bucket %s capped at %d %%: what goes beyond it waits, none fails", bucketName(cmd.Bucket), cmd.Bucket.Cap)
	}
	if cmd.DryRun {
		r.Text = "would have " + r.Text
		return r, nil
	}
	if err := c.opt.Limiter.Freeze(cmd.Bucket, cmd.Reason); err != nil {
		return engine.Receipt{Matched: 1}, err
	}
	r.Applied = 1
	return r, nil
}

func (c *Control) thaw(_ context.Context, cmd engine.Command) (engine.Receipt, error) {
	r := engine.Receipt{Matched: 1, Text: "bucket " + bucketName(cmd.Bucket) + " open again"}
	if cmd.DryRun {
		r.Text = "would have " + r.Text
		return r, nil
	}
	frozen, err := c.opt.Limiter.Thaw(cmd.Bucket)
	if err != nil {
		return engine.Receipt{Matched: 1}, err
	}
	if !frozen {
		return engine.Receipt{Matched: 1, Nothing: true, Text: "bucket " + bucketName(cmd.Bucket) + " was not frozen"}, nil
	}
	r.Applied = 1
	return r, nil
}

func (c *Control) track(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	if cmd.DryRun {
		return engine.Receipt{Matched: 1, Text: "would track " + cmd.Account}, nil
	}
	return c.opt.Syncer.Track(ctx, cmd.Account, cmd.Sync)
}

func (c *Control) untrack(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	if cmd.DryRun {
		return engine.Receipt{Matched: 1, Text: "would stop tracking " + cmd.Account + "; its data stays"}, nil
	}
	return c.opt.Syncer.Untrack(ctx, cmd.Account, cmd.Sync.Platform)
}

func (c *Control) replaceKey(_ context.Context, cmd engine.Command) (engine.Receipt, error) {
	if err := c.opt.Keys.Replace(cmd.Key); err != nil {
		return engine.Receipt{}, engine.Problemf(engine.ErrInvalid, "", "%v", err)
	}
	c.opt.Limiter.KeyChanged()
	return engine.Receipt{Matched: 1, Applied: 1, Text: "API key replaced, now " + c.opt.Keys.Shown()}, nil
}
