package local

import (
	"errors"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// because is who or what moves a job, and why.
type because struct {
	cause   engine.Cause
	reason  string
	actor   string
	by      string         // the operator, as a job names who asked; "" = nobody did
	outcome engine.Outcome // ByOutcome: for the kind's OnMove and the groups' sums
	now     time.Time
	parent  engine.JobID // ByParent: which
	trail   *trail       // of a command: what it did to jobs that it does not name; nil = nobody asks
}

// trail is what a command did to the children that cancelled parents took along.
type trail struct {
	moves []engine.JobMove
	was   map[engine.JobID]engine.Revision // before
}

func newTrail() *trail { return &trail{was: map[engine.JobID]engine.Revision{}} }

// noteChild notes a child that its parent took along.
func (w because) noteChild(before, after engine.Job) {
	if w.trail == nil || w.cause != engine.ByParent {
		return
	}
	m := moveOf(before, after)
	m.With = w.parent
	w.trail.moves = append(w.trail.moves, m)
	w.trail.was[after.ID] = before.Rev
}

// moveOf is a job's way from where it stood to where it stands, as the audit keeps it
// for undo.
func moveOf(before, after engine.Job) engine.JobMove {
	return engine.JobMove{Job: after.ID, Rev: after.Rev, Before: engine.StandOf(before), After: engine.StandOf(after)}
}

// actorEngine stands in the history where nobody asked.
const actorEngine = "engine"

// nameOf is an actor as the history shows it.
func nameOf(a engine.Actor) string {
	switch {
	case a.User == "" && a.Via == "":
		return actorEngine
	case a.Via == "":
		return a.User
	}
	return a.User + " via " + a.Via
}

// domainError is what a handler's Commit or a kind's OnMove answered: the domain
// refuses, the store is sound.
type domainError struct{ err error }

func (e *domainError) Error() string { return e.err.Error() }
func (e *domainError) Unwrap() error { return e.err }

// move writes one state move with all that belongs to it, inside a transaction:
// the job, its history, its mark on the groups that wait for it, the domain's
// side, the parents that may go on, and a cancelled job's children. It is the only
// way in which a job's state changes, so that none of these can be forgotten. It calls
// itself for parents and children; the table of legal moves ends that.
//
// The marks go before the domain, whose judgement of a run counts them as after the move, and the
// parents after it, since they go on with what it has written.
func (b *Backend) move(tx engine.Tx, before, after engine.Job, why because) error {
	if !engine.Legal(before.State, after.State, why.cause) {
		b.counts.illegal.Add(1)
		return fmt.Errorf("job %s may not go from %s to %s: %w", before.ID, before.State, after.State, engine.ErrBroken)
	}
	if why.by != "" {
		after.By = why.by
	}
	if err := b.opt.Store.SaveJob(tx, after); err != nil {
		return fmt.Errorf("save job %s: %w", after.ID, err)
	}
	why.noteChild(before, after)
	if err := b.chronicle(tx, before, after, why); err != nil {
		return err
	}
	groups, err := b.mark(tx, before, after, why)
	if err != nil {
		return err
	}
	if err := b.tellKind(tx, before, after, why); err != nil {
		return err
	}
	if err := b.wakeParents(tx, groups, why.now); err != nil || after.State != engine.Cancelled {
		return err
	}
	return b.cancelChildren(tx, after.ID, why)
}

// chronicle adds a row to the job's history. Claims, instants that came and good
// ends leave none: the job's attempts tell them, and they are most of all moves.
func (b *Backend) chronicle(tx engine.Tx, before, after engine.Job, why because) error {
	told := why.cause == engine.ByClaim || why.cause == engine.ByTime ||
		why.cause == engine.ByOutcome && after.State == engine.Completed
	if told {
		return nil
	}
	actor := why.actor
	if actor == "" {
		actor = actorEngine
	}
	err := b.opt.Store.AddHistory(tx, string(after.ID), engine.Transition{
		At: why.now, From: before.State.String(), To: after.State.String(), Reason: why.reason, Actor: actor,
	})
	if err != nil {
		return fmt.Errorf("add to the history of job %s: %w", after.ID, err)
	}
	return nil
}

// tellKind lets the kind keep its own records in step, in the same transaction, such as
// the state of the match that a match.fetch is about.
func (b *Backend) tellKind(tx engine.Tx, before, after engine.Job, why because) (err error) {
	switch k := b.kinds[after.Kind]; {
	case k == nil:
	case why.cause == engine.ByUndo && k.OnUndo != nil:
		err = k.OnUndo(tx, before, after)
	case k.OnMove != nil:
		err = k.OnMove(tx, before, after, why.outcome)
	}
	if err != nil {
		return &domainError{fmt.Errorf("the domain's side of job %s going %s: %w", after.ID, after.State, err)}
	}
	return nil
}

// mark tells the groups that wait for the job how it stands, and gives them back. An open child is
// marked only if that changes something: most moves of a child are claims and instants, and each mark
// would write a row per parent.
func (b *Backend) mark(tx engine.Tx, before, after engine.Job, why because) ([]engine.GroupStat, error) {
	if !after.HasParents {
		return nil, nil
	}
	o := why.outcome
	m, calls, throttled := markOf(after), o.Call.Calls, 0
	if calls > 0 && o.Call.Status == 429 {
		throttled = 1
	}
	if !m.Settled() {
		changed := before.State.Terminal() || after.State == engine.Retryable || calls > 0
		if !changed {
			return nil, nil
		}
		if late, err := b.late(tx, after.ID, why.cause); late || err != nil {
			return nil, err
		}
	}
	groups, err := b.opt.Store.Mark(tx, after.ID, m, calls, throttled)
	if err != nil {
		return nil, fmt.Errorf("mark job %s in its groups: %w", after.ID, err)
	}
	return groups, nil
}

// markOf is engine.MarkOf, but a job that has failed in this round stays marked
// so while it waits, runs or is held.
func markOf(j engine.Job) engine.Mark {
	m := engine.MarkOf(j.State)
	if m == engine.MarkOpen && j.Tries > 0 && j.State != engine.Running {
		return engine.MarkRetrying
	}
	return m
}

// late reports whether a child is late: a group that waits for it has settled
// already. An open child keeps all its groups open, so a settled one means that
// this child was settled in it and was retried since. Its groups are not opened
// again (P-18); only its new end is marked. A cancelled parent has not gone on:
// where a command is taken back, it comes after its children.
func (b *Backend) late(tx engine.Tx, child engine.JobID, cause engine.Cause) (bool, error) {
	parents, err := tx.Parents(child)
	if err != nil {
		return false, fmt.Errorf("read the parents of job %s: %w", child, err)
	}
	for _, p := range parents {
		if cause == engine.ByUndo && p.Job.State == engine.Cancelled {
			continue
		}
		g, err := b.opt.Store.Group(tx, engine.GroupID{Parent: p.Job.ID, Group: p.Group})
		if err != nil {
			return false, fmt.Errorf("read group %d of job %s: %w", p.Group, p.Job.ID, err)
		}
		if g.Settled() {
			return true, nil
		}
	}
	return false, nil
}

// wakeParents lets the parents go on whose group has just settled. A parent waits
// for one group and leaves it in this very transaction, so it goes on once. A parent that does not wait
// for the group has gone on, or waits for another one.
func (b *Backend) wakeParents(tx engine.Tx, groups []engine.GroupStat, now time.Time) error {
	for _, g := range groups {
		if !g.Settled() {
			continue
		}
		p, err := b.opt.Store.Job(tx, g.Parent)
		if errors.Is(err, engine.ErrNotFound) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read parent job %s: %w", g.Parent, err)
		}
		if p.State != engine.Pending || p.Group != g.Group {
			continue
		}
		after := goOn(p, atLeast(now))
		reason := fmt.Sprintf("goes on after the jobs that it waited for: %d done, %d dead, %d cancelled", g.Done, g.Dead, g.Cancelled)
		if many := b.bears(p).TooMany(g); many != "" {
			after, reason = orphaned(p, many, atLeast(now)), many
		}
		after.Rev++
		if err := b.move(tx, p, after, because{cause: engine.ByGroup, reason: reason, now: now}); err != nil {
			return err
		}
	}
	return nil
}

// bears is how many dead children a job bears.
func (b *Backend) bears(j engine.Job) *engine.ChildPolicy {
	if k := b.kinds[j.Kind]; k != nil {
		return k.Children
	}
	return nil
}

// cancel ends a job that does not run. The domain hears of it by move.
func (b *Backend) cancel(tx engine.Tx, j engine.Job, why because) error {
	after := j
	after.Rev++
	after.State, after.Hold, after.Front = engine.Cancelled, engine.HoldNone, false
	after.Finished, after.Due = why.now, time.Time{}
	return b.move(tx, j, after, why)
}

// cancelChildren cancels the open children of a job that has just been cancelled or
// told to stop, but for those that another live job waits for.
func (b *Backend) cancelChildren(tx engine.Tx, parent engine.JobID, why because) error {
	ids, err := b.opt.Store.OpenChildren(tx, parent)
	if err != nil {
		return fmt.Errorf("read the children of job %s: %w", parent, err)
	}
	why.cause, why.parent, why.outcome = engine.ByParent, parent, engine.Outcome{}
	why.reason = fmt.Sprintf("job %s was cancelled", parent)
	for _, id := range ids {
		if err := b.cancelChild(tx, id, why); err != nil {
			return err
		}
	}
	return nil
}

// cancelChild cancels one child, unless another parent that is live still wants it: a
// match of two accounts goes on when one of their syncs is cancelled.
func (b *Backend) cancelChild(tx engine.Tx, id engine.JobID, why because) error {
	parents, err := tx.Parents(id)
	if err != nil {
		return fmt.Errorf("read the parents of job %s: %w", id, err)
	}
	for _, p := range parents {
		if p.Job.State.Live() && !p.Job.CancelAsked {
			return nil
		}
	}
	j, err := b.opt.Store.Job(tx, id)
	switch {
	case err != nil:
		return fmt.Errorf("read child job %s: %w", id, err)
	case j.State.Terminal() || j.CancelAsked:
		return nil
	case j.State == engine.Running:
		return b.askToStop(tx, j, why)
	}
	return b.cancel(tx, j, why)
}

// askToStop notes that a running job shall end as cancelled, and takes its children
// along at once: whatever it brings, it goes on with none. Its worker is told when
// the commit has been applied.
func (b *Backend) askToStop(tx engine.Tx, j engine.Job, why because) error {
	after := j
	after.Rev++
	after.CancelAsked = true
	if err := b.move(tx, j, after, why); err != nil {
		return err
	}
	return b.cancelChildren(tx, j.ID, why)
}

// holds reports whether a running job is still the one that was claimed with this
// revision. Asking for a cancel bumps it once, and only once per claim.
func holds(j engine.Job, claimed engine.Revision) bool {
	return j.State == engine.Running && (j.Rev == claimed || j.CancelAsked && j.Rev == claimed+1)
}
