package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
)

// undo is what an order to take a command back knows of it.
type undo struct {
	was map[engine.JobID]engine.JobMove
	// stay are the jobs of this write that the domain does not let come back, with
	// the reason.
	stay map[engine.JobID]string
}

// stopTime is how long an undo waits for jobs that the command has told to stop.
const stopTime = 5 * time.Second

// stopLook is how often it looks.
const stopLook = 10 * time.Millisecond

// Undo takes back what a command has done to jobs, each of them only as long as
// nothing has happened to it since: its state, its tries, its instant and its place
// in line are as before. One that ran when it was cancelled goes first in its line,
// and its attempt is not counted. The others are skipped; without its parent no
// child comes back. A parent comes back in one transaction with the children that it
// took along, after them: it must not find them settled.
func (b *Backend) Undo(
	ctx context.Context, moves []engine.JobMove, by engine.Actor, reason string, dry bool,
) (engine.Receipt, error) {
	o := orderOf(engine.Command{Op: engine.OpUndo, By: by, Reason: reason})
	o.why.cause = engine.ByUndo
	o.was, o.stay = make(map[engine.JobID]engine.JobMove, len(moves)), map[engine.JobID]string{}
	// Backwards: children were noted after the parent that took them along, and come back before it.
	sel := engine.Selection{IDs: make([]engine.JobID, 0, len(moves))}
	for _, m := range slices.Backward(moves) {
		o.was[m.Job] = m
		sel.IDs = append(sel.IDs, m.Job)
	}
	if !dry {
		if err := b.awaitStops(ctx, moves); err != nil {
			return engine.Receipt{Matched: len(moves)}, err
		}
	}
	return b.each(ctx, sel, o, dry)
}

// whole is where a batch ends that is to end at end: not between a parent and the
// children that it took along.
func (u undo) whole(ids []engine.JobID, end int) int {
	for end < len(ids) && u.was[ids[end-1]].With != "" {
		end++
	}
	return end
}

// without notes a job that the domain does not let come back.
func (u undo) without(id engine.JobID, why string) {
	if u.stay != nil {
		u.stay[id] = why
	}
}

// awaitStops waits until the jobs that a command has told to stop have stopped. Those that take longer
// are refused by comesBack, with the advice to try again.
func (b *Backend) awaitStops(ctx context.Context, moves []engine.JobMove) error {
	told := slices.DeleteFunc(slices.Clone(moves), func(m engine.JobMove) bool { return m.After.State != engine.Running })
	for end := time.Now().Add(stopTime); len(told) > 0 && time.Now().Before(end); {
		err := b.opt.Store.Read(ctx, func(tx engine.Tx) (fault error) {
			told = slices.DeleteFunc(told, func(m engine.JobMove) bool {
				j, err := b.opt.Store.Job(tx, m.Job)
				if err != nil && !ofTheJob(err) {
					fault = err
				}
				return err != nil || j.Rev != m.Rev
			})
			return fault
		})
		if err != nil {
			return fmt.Errorf("look whether jobs have stopped: %w", err)
		}
		if len(told) > 0 && !await.Pause(ctx, stopLook) {
			return context.Cause(ctx)
		}
	}
	return nil
}

// undoOne puts one job back to where it stood.
func (b *Backend) undoOne(tx engine.Tx, j engine.Job, o order) (engine.Receipt, error) {
	m := o.was[j.ID]
	if err := b.comesBack(tx, j, m); err != nil {
		return engine.Receipt{}, err
	}
	if m.With != "" {
		if err := b.withParent(tx, j, o); err != nil {
			return engine.Receipt{}, err
		}
	}
	after, err := b.stoodAt(tx, j, m, o.why.now)
	if err != nil {
		return engine.Receipt{}, err
	}
	if !engine.Legal(j.State, after.State, engine.ByUndo) {
		return engine.Receipt{}, refusal(j, "it was "+after.State.String(),
			fmt.Sprintf("it was %s, and that cannot be brought back", after.State), "trigger or retry it instead")
	}
	after.Rev++
	return receipt(after, "job %s is %s again", j.ID, after.State), b.move(tx, j, after, o.why)
}

// comesBack says what stands against taking a move back.
func (b *Backend) comesBack(tx engine.Tx, j engine.Job, m engine.JobMove) error {
	switch {
	case !unchanged(j, m) && j.State == engine.Running && j.CancelAsked:
		return refusal(j, "still stopping", "it is still stopping", "try again in a moment")
	case !unchanged(j, m):
		return conflict(j, "changed since", "something has happened to it since: now %s (rev %d)", j.State, j.Rev)
	case j.State.Terminal():
		return b.keyIsFree(tx, j)
	}
	return nil
}

// unchanged reports whether a job stands as a command has left it. That a job which was
// told to stop has stopped, and that an instant has come, is nothing new.
func unchanged(j engine.Job, m engine.JobMove) bool {
	switch {
	case m.After.State == engine.Running:
		return j.State == engine.Cancelled && j.Rev == m.Rev+1
	case j.Rev == m.Rev:
		return true
	}
	waited := m.After.State == engine.Scheduled || m.After.State == engine.Retryable
	return waited && j.State == engine.Available && j.Rev == m.Rev+1 && j.Due.Equal(m.After.Due) &&
		j.Round == m.After.Round
}

// withParent refuses a child whose parent stays away. The parent comes back later in the same write, so
// that what stands against it is asked beforehand.
func (b *Backend) withParent(tx engine.Tx, j engine.Job, o order) error {
	id := o.was[j.ID].With
	p, err := b.opt.Store.Job(tx, id)
	switch {
	case errors.Is(err, engine.ErrNotFound):
		return refusal(j, "its parent is gone", "its parent is gone", "trigger a new sync")
	case err != nil:
		return fmt.Errorf("read parent job %s: %w", id, err)
	case p.State.Live():
		return nil
	case o.stay[id] != "":
		return refusal(j, o.stay[id], "its parent stays cancelled: "+o.stay[id], "trigger a new sync")
	}
	m, known := o.was[id]
	if !known {
		return refusal(j, "its parent stays cancelled", "its parent stays cancelled", "trigger a new sync")
	}
	return b.comesBack(tx, p, m)
}

// stoodAt is a job as it stood before a command. One that ran is given back as after
// an interruption. A parent whose children have all settled meanwhile goes on.
func (b *Backend) stoodAt(tx engine.Tx, j engine.Job, m engine.JobMove, now time.Time) (engine.Job, error) {
	after := m.Before.Put(j)
	switch after.State {
	case engine.Running:
		after.State, after.Front, after.Hold, after.Tries = engine.Available, true, engine.HoldNone, max(after.Tries-1, 0)
	case engine.Pending:
		g, err := b.opt.Store.Group(tx, engine.GroupID{Parent: j.ID, Group: j.Group})
		if err != nil {
			return j, fmt.Errorf("read group %d of job %s: %w", j.Group, j.ID, err)
		}
		if g.Settled() {
			after = goOn(after, now)
		}
	}
	return after, nil
}
