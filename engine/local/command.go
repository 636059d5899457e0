package local

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/wall"
)

// Insert stores new jobs. A key that a live job holds is no error: see Enqueued.
// Errors are *engine.Problem for a spec that makes no sense. All of them are inserted or none.
func (b *Backend) Insert(ctx context.Context, specs ...engine.Spec) ([]engine.Enqueued, error) {
	for _, s := range specs {
		// A kind without a handler here is let in: another version may have one.
		if s.Kind == "" || s.Queue == "" {
			return nil, engine.Problemf(engine.ErrInvalid, "name both", "a job needs a kind and a queue")
		}
		if _, ok := b.opt.Policies[s.Policy]; s.Policy != "" && !ok {
			return nil, engine.Problemf(engine.ErrInvalid, "use a policy that the configuration names",
				"there is no retry policy %q", s.Policy)
		}
	}
	var out []engine.Enqueued
	err := b.write(ctx, func(tx engine.Tx) (err error) {
		out, err = tx.Enqueue(specs...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("insert %d jobs: %w", len(specs), err)
	}
	return out, nil
}

// order is a command on its way to jobs. A command on a selection makes one order, which
// is carried out on each of the jobs. It is passed by value, but its why.trail is shared by all copies.
type order struct {
	op  engine.Op
	at  time.Time // OpReschedule
	why because
	// fits takes a job's revision's place where jobs were counted by a criterion.
	fits func(engine.Job) bool
	undo
}

// act carries an order out on one job, inside a transaction: it refuses before it
// writes, or lets move refuse.
type act func(*Backend, engine.Tx, engine.Job, order) (engine.Receipt, error)

// acts is what can be done to jobs.
var acts = map[engine.Op]act{
	engine.OpCancel:     (*Backend).cancelOne,
	engine.OpRetry:      (*Backend).retryOne,
	engine.OpForce:      (*Backend).forceOne,
	engine.OpReclass:    (*Backend).reclassOne,
	engine.OpReschedule: (*Backend).rescheduleOne,
	engine.OpUndo:       (*Backend).undoOne,
}

// orderOf leaves why.now and why.trail to the transaction: each time it runs they begin anew.
func orderOf(c engine.Command) order {
	why := because{cause: engine.ByOperator, reason: c.Reason, actor: nameOf(c.By), by: c.By.Name()}
	return order{op: c.Op, at: c.At, why: why}
}

// Act carries an operation out on the one job c.Job, if it is at c.IfRev, 0 = at any
// revision. Errors are *engine.Problem.
func (b *Backend) Act(ctx context.Context, c engine.Command) (engine.Receipt, error) {
	if acts[c.Op] == nil || c.Op == engine.OpUndo {
		return engine.Receipt{}, engine.Problemf(engine.ErrInvalid, "", "%s does not act on a job", c.Op)
	}
	return b.command(ctx, c.Job, c.IfRev, orderOf(c))
}

// cancelOne ends a job for good. One that runs is told at once and ends as cancelled
// whatever it brings; a parent takes the children along that only it wants.
func (b *Backend) cancelOne(tx engine.Tx, j engine.Job, o order) (engine.Receipt, error) {
	switch {
	case j.State == engine.Cancelled:
		return nothing(j, "it is cancelled already"), nil
	case j.State.Terminal():
		return engine.Receipt{}, conflict(j, j.State.String(), "it has ended: %s", j.State)
	case j.CancelAsked:
		return nothing(j, "it is being cancelled already"), nil
	case j.State == engine.Running:
		return receipt(j, "job %s is told to stop", j.ID), b.askToStop(tx, j, o.why)
	}
	r := receipt(j, "job %s is cancelled", j.ID)
	if j.State == engine.Retryable {
		r.Text += ", and its next try at " + j.Due.Format(time.RFC3339) + " with it"
	}
	r.Due = time.Time{}
	return r, b.cancel(tx, j, o.why)
}

// alsoCancelled is added to what a cancel answers about the job that it names.
func alsoCancelled(n int) string {
	if n == 0 {
		return ""
	}
	return ", and with it " + human.Counted(n, "job that only it wanted", "jobs that only it wanted")
}

// retryOne lets a job run now, in queue order and through the limiter. Attempts it
// has used are not counted any more: a new round begins. A completed or running
// job, and one whose key another live job holds, is refused, and so is a telephone call
// that was made as often as it may be: there only a force begins to count anew.
func (b *Backend) retryOne(tx engine.Tx, j engine.Job, o order) (engine.Receipt, error) {
	if r, err := b.mayRetry(tx, j); r.Nothing || err != nil {
		return r, err
	}
	if p := b.policyOf(j); o.op != engine.OpForce && p.Name == engine.PolicyCall && j.Tries >= p.Max {
		return engine.Receipt{}, refusal(j, "every attempt is used", fmt.Sprintf("all %d calls were made", p.Max),
			"force it, with a reason, if somebody is to be called all the same")
	}
	return b.again(tx, j, o)
}

// again lets a job run now: the answer names the attempt to come (S2-8). Whether it is late is asked
// before the move, since the history tells it as the move's reason.
func (b *Backend) again(tx engine.Tx, j engine.Job, o order) (engine.Receipt, error) {
	after := runNow(j, o.why.now)
	if o.op != engine.OpForce && b.policyOf(j).Name == engine.PolicyCall {
		after.Tries = j.Tries
	}
	r := receipt(after, "job %s runs when its turn comes, from %s on: attempt %d", j.ID,
		after.Due.Format(time.RFC3339), j.Attempts+1)
	r.Attempt = j.Attempts + 1
	late := false
	if j.HasParents && j.State.Terminal() {
		var err error
		if late, err = b.late(tx, j.ID, o.why.cause); err != nil {
			return r, err
		}
	}
	if late {
		r.Text += "; late child: those that waited for it have gone on"
		o.why.reason = strings.TrimSpace(o.why.reason + " (late child)")
	}
	return r, b.move(tx, j, after, o.why)
}

// forceOne is retryOne for a completed job too: what it has brought is done again. It
// needs a reason.
func (b *Backend) forceOne(tx engine.Tx, j engine.Job, o order) (engine.Receipt, error) {
	switch {
	case strings.TrimSpace(o.why.reason) == "":
		return engine.Receipt{}, engine.Problemf(engine.ErrInvalid, "say why: it is kept with the job",
			"force needs a reason")
	case j.State != engine.Completed:
		return b.retryOne(tx, j, o)
	}
	if err := b.keyIsFree(tx, j); err != nil {
		return engine.Receipt{}, err
	}
	if j.Tries == 0 { // settled without an attempt of this round: it opens one all the same
		j.Tries = 1
	}
	return b.again(tx, j, o)
}

// reclassOne opens a discarded job again: what it was about is unfetched again,
// and a new round of attempts begins.
func (b *Backend) reclassOne(tx engine.Tx, j engine.Job, o order) (engine.Receipt, error) {
	if j.State != engine.Discarded {
		return nothing(j, "it is "+j.State.String()), nil
	}
	return b.retryOne(tx, j, o)
}

// mayRetry says what stands against a retry.
func (b *Backend) mayRetry(tx engine.Tx, j engine.Job) (engine.Receipt, error) {
	switch j.State {
	case engine.Available:
		return nothing(j, "it stands in line already"), nil
	case engine.Running:
		return engine.Receipt{}, conflict(j, "running", "it is running now (rev %d)", j.Rev)
	case engine.Completed:
		return engine.Receipt{}, refusal(j, "completed", "it is completed", "a completed job can only be forced")
	case engine.Pending:
		return engine.Receipt{}, b.waitsForChildren(tx, j)
	case engine.Discarded, engine.Cancelled:
		return engine.Receipt{}, b.keyIsFree(tx, j)
	}
	return engine.Receipt{}, nil
}

// waitsForChildren refuses a retry of a job whose children are not settled: what it would go on with is
// not there. A job that waits although they are is let go on.
func (b *Backend) waitsForChildren(tx engine.Tx, j engine.Job) error {
	g, err := b.opt.Store.Group(tx, engine.GroupID{Parent: j.ID, Group: j.Group})
	if err != nil || g.Settled() {
		return err
	}
	return refusal(j, "waits for other jobs", "it waits for "+human.Counted(g.Open, "other job", "other jobs"), "retry or cancel those")
}

// keyIsFree refuses to revive a job whose key another live job has taken (P-06).
func (b *Backend) keyIsFree(tx engine.Tx, j engine.Job) error {
	if j.Key == "" {
		return nil
	}
	holder, err := b.opt.Store.JobByKey(tx, j.Key)
	if errors.Is(err, engine.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	taken := fmt.Sprintf("unique: #%s holds %s", holder.ID, j.Key)
	p := refusal(j, taken, taken, "look at that job instead")
	p.Job = holder.ID
	return p
}

// runNow is a job as an operator's retry leaves it. A job that was never tried keeps its round: there
// is nothing that must not count.
func runNow(j engine.Job, now time.Time) engine.Job {
	if j.State == engine.Pending {
		j = goOn(j, now)
	} else if j.Tries > 0 {
		j = newRound(j)
	}
	j.Rev++
	j.State, j.Due, j.Hold, j.Front = engine.Available, now, engine.HoldNone, false
	j.CancelAsked, j.Crashes, j.Finished = false, 0, time.Time{}
	return j
}

// rescheduleOne moves a waiting job to an instant; the past means now. A retryable one stays retryable:
// its tries go on counting.
func (b *Backend) rescheduleOne(tx engine.Tx, j engine.Job, o order) (engine.Receipt, error) {
	after := j
	switch j.State {
	case engine.Scheduled, engine.Retryable:
	case engine.Available:
		after.State = engine.Scheduled
	case engine.Running:
		return engine.Receipt{}, conflict(j, "running", "it is running now (rev %d)", j.Rev)
	default:
		return engine.Receipt{}, refusal(j, j.State.String(), fmt.Sprintf("it is %s", j.State),
			"only a job that waits for its turn has an instant")
	}
	after.Rev++
	after.Due, after.Hold = atLeast(engine.Latest(o.at, o.why.now)), engine.HoldNone
	return receipt(after, "job %s is due at %s", j.ID, after.Due.Format(time.RFC3339)), b.move(tx, j, after, o.why)
}

// command carries out one order on one job, in one transaction.
func (b *Backend) command(
	ctx context.Context, id engine.JobID, ifRev engine.Revision, o order,
) (engine.Receipt, error) {
	var r engine.Receipt
	err := b.write(ctx, func(tx engine.Tx) (err error) {
		o.why.now, o.why.trail = atLeast(wall.Now()), newTrail()
		r, err = b.carryOut(tx, id, ifRev, o)
		return err
	})
	if err != nil {
		return engine.Receipt{}, err
	}
	r.Seq = b.idx.version()
	return r, nil
}

// carryOut finds the job, makes sure that it is unchanged since shown, and acts.
//
// A criterion replaces the revision for a selection: a job that has moved on and still fits is what the
// operator meant.
func (b *Backend) carryOut(tx engine.Tx, id engine.JobID, ifRev engine.Revision, o order) (engine.Receipt, error) {
	j, err := b.opt.Store.Job(tx, id)
	if errors.Is(err, engine.ErrNotFound) {
		p := engine.Problemf(engine.ErrNotFound, "look at the list of jobs for its id", "there is no job %s", id)
		p.Job, p.Why = id, "not found"
		return engine.Receipt{}, p
	}
	if err != nil {
		return engine.Receipt{}, fmt.Errorf("read job %s: %w", id, err)
	}
	if moved := ifRev != j.Rev; moved && o.fits != nil {
		if !o.fits(j) {
			return engine.Receipt{}, conflict(j, meanwhile(j), "it does not fit any more: %s", meanwhile(j))
		}
	} else if moved && ifRev != 0 {
		return engine.Receipt{}, conflict(j, engine.WhyChanged, "changed since shown: now %s (rev %d)", j.State, j.Rev)
	}
	along := len(o.why.trail.moves)
	r, err := acts[o.op](b, tx, j, o)
	if err != nil || r.Nothing {
		return r, err
	}
	// Read again: move has added what the act does not know, such as who asked.
	after, err := b.opt.Store.Job(tx, id)
	if err != nil {
		return engine.Receipt{}, fmt.Errorf("read job %s again: %w", id, err)
	}
	also := o.why.trail.moves[along:]
	r.Moves = append([]engine.JobMove{moveOf(j, after)}, also...)
	r.Text += alsoCancelled(len(also))
	return r, nil
}

// meanwhile says what became of a job that fitted when it was counted.
func meanwhile(j engine.Job) string {
	switch j.State {
	case engine.Running, engine.Completed, engine.Retryable, engine.Discarded:
		return "ran meanwhile"
	case engine.Cancelled:
		return "cancelled meanwhile"
	}
	return "moved on meanwhile"
}

// version is the commit that the index shows: a console that has seen it has seen the command's effect.
func (x *index) version() uint64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.seq
}

// receipt is the answer to a command that changed the one job j.
func receipt(j engine.Job, format string, args ...any) engine.Receipt {
	return engine.Receipt{Job: j.ID, Matched: 1, Applied: 1, Due: j.Due, Text: fmt.Sprintf(format, args...)}
}

// nothing is the answer to a command that finds the job as it wants it. That is no
// error: asking twice is safe.
func nothing(j engine.Job, why string) engine.Receipt {
	return engine.Receipt{
		Job: j.ID, Matched: 1, Nothing: true, Skipped: map[string]int{why: 1},
		Text: fmt.Sprintf("nothing to do for job %s: %s", j.ID, why),
	}
}

// conflict is a refusal because the job has moved; why is the reason alone.
func conflict(j engine.Job, why, format string, args ...any) *engine.Problem {
	p := engine.Problemf(engine.ErrConflict, "look at it again", "job %s: %s", j.ID, fmt.Sprintf(format, args...))
	p.Job, p.Why = j.ID, why
	return p
}

// refusal says that a command makes no sense for the job as it is, and what would.
func refusal(j engine.Job, why, sentence, do string) *engine.Problem {
	p := engine.Problemf(engine.ErrRefused, do, "job %s is left as it is: %s", j.ID, sentence)
	p.Job, p.Why = j.ID, why
	return p
}
