package operation

import (
	"context"
	"errors"
	"fmt"

	"github.com/farsight-console/farsight/engine"
)

// undoLook is how many commands are looked through for the last one that can be
// undone.
const undoLook = 50

// undo takes a command back: jobs to which nothing has happened since, a
// queue's switch or a schedule that nobody has changed since (I-11). engine.ErrConflict when nothing of
// it can be taken back any more; where a part can, that is done and the rest is told.
func (o *Operator) undo(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	e, err := o.toUndo(ctx, cmd.Audit)
	if err != nil {
		return engine.Receipt{}, err
	}
	reason := fmt.Sprintf("undo of %s #%d", e.Op, e.Seq)
	if cmd.Reason != "" {
		reason += ": " + cmd.Reason
	}
	if e.Queue != nil {
		return o.undoQueue(ctx, cmd, e, reason)
	}
	if e.Schedule != nil {
		return o.undoSchedule(ctx, cmd, e)
	}
	r, err := o.opt.Backend.Undo(ctx, e.Moves, cmd.By, reason, cmd.DryRun)
	if err != nil {
		return r, err
	}
	did := "undone " + string(e.Op) + " of"
	if cmd.DryRun {
		did = would(cmd.Op) + " " + string(e.Op) + " of"
	}
	r.Text = receiptText(did, r)
	// A command of which some jobs come back is undone; one of which none does is a conflict.
	if r.Applied == 0 {
		return r, engine.Problemf(engine.ErrConflict, "look at the jobs",
			"%s #%d cannot be undone any more: %s", e.Op, e.Seq, leftOut(r.Skipped))
	}
	if cmd.DryRun {
		r.Would, r.Applied, r.Moves = r.Applied, 0, nil
	}
	return r, nil
}

// toUndo finds the command: by number, or the last one that can be undone. Without a number, commands
// that were taken back are passed over: u twice takes two commands back and not the same one.
func (o *Operator) toUndo(ctx context.Context, seq uint64) (engine.AuditEntry, error) {
	if seq != 0 {
		e, err := o.opt.Store.AuditEntry(ctx, seq)
		if err == nil && !undoable(e) {
			return e, engine.Problemf(engine.ErrRefused, "only "+UndoWords("and")+" can be taken back",
				"%s #%d has nothing that could be taken back", e.Op, seq)
		}
		if errors.Is(err, engine.ErrNotFound) {
			err = engine.Problemf(engine.ErrNotFound, "list them with `farsight audit`", "there is no command #%d", seq)
		}
		return e, err
	}
	list, err := o.opt.Store.Audit(ctx, undoLook)
	if err != nil {
		return engine.AuditEntry{}, err
	}
	taken := map[string]bool{}
	for _, short := range list {
		// The list has the newest first, so that an undo comes before what it took back.
		if short.Op == engine.OpUndo && short.Applied > 0 {
			taken[short.Target] = true
			continue
		}
		// The list leaves out what each command has changed, which decides whether it can be taken
		// back.
		e, err := o.opt.Store.AuditEntry(ctx, short.Seq)
		if err != nil {
			return e, err
		}
		if undoable(e) && !taken[undoTarget(e.Seq)] {
			return e, nil
		}
	}
	return engine.AuditEntry{}, engine.Problemf(engine.ErrNotFound, "name one by its number", "%s", noneToUndo(len(list)))
}

// noneToUndo says of the last n commands that none can be undone.
func noneToUndo(n int) string {
	switch n {
	case 0:
		return "no command was given yet that can be undone"
	case 1:
		return "the one command so far is none that can be undone"
	}
	return fmt.Sprintf("none of the last %d commands can be undone", n)
}

// undoTarget is what the audit entry of an undo is about.
func undoTarget(seq uint64) string { return fmt.Sprintf("command #%d", seq) }

// undoQueue turns a queue's switch back if it stands as the command left it.
func (o *Operator) undoQueue(
	ctx context.Context, cmd engine.Command, e engine.AuditEntry, reason string,
) (engine.Receipt, error) {
	before, after := e.Queue.Before, e.Queue.After
	// By the instant too: a queue that was resumed and paused again is not as the command left it.
	stored, err := o.opt.Store.Queues(ctx)
	if err != nil {
		return engine.Receipt{}, err
	}
	for _, q := range stored {
		if q.Name == after.Name && (q.Paused != after.Paused || !q.Since.Equal(after.Since)) {
			return engine.Receipt{Matched: 1}, engine.Problemf(engine.ErrConflict, "look at the queue",
				"%s #%d cannot be undone any more: queue %s was changed by %s since", e.Op, e.Seq, q.Name, q.By.User)
		}
	}
	if cmd.DryRun {
		return engine.Receipt{Matched: 1, Text: fmt.Sprintf("would undo %s of queue %s", e.Op, after.Name)}, nil
	}
	before.Name = after.Name
	r, err := o.opt.Backend.RestoreQueue(ctx, before, cmd.By, reason)
	r.Queue = nil // an undo is not undone
	return r, err
}
