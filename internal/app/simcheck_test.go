package app

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/wall"
)

// checker sees every commit and proves, from the changes alone, the promises of
// the store that can be seen in them. It keeps a picture of its
// own, so that a change which does not follow from the one before is found at its
// commit and not at the end.
type checker struct {
	w *world

	mu       sync.Mutex
	seq      uint64
	jobs     map[engine.JobID]seenJob // live ones
	ended    map[engine.JobID]seenJob
	keys     map[string]engine.JobID // of live jobs
	locks    map[string]engine.JobID // of running jobs
	accounts map[string]engine.AccountRow
	totals   engine.Totals
	closed   map[engine.Queue]bool // queues whose pause was acknowledged
	blind    bool                  // nothing moves: the disk is full, or nobody runs

	commits, moves, attempts int
	inserted                 map[engine.Kind]int
	refusals                 map[string]int
	faults                   []string
}

// seenJob is what is remembered of a job.
type seenJob struct {
	rev   engine.Revision
	state engine.State
	key   string
	lock  string
	// Of one that the engine makes wait: since when, and for how long, both by the clock
	// that nobody sets.
	since time.Time
	wait  time.Duration
}

func newChecker(w *world) *checker {
	return &checker{
		w: w, jobs: map[engine.JobID]seenJob{}, ended: map[engine.JobID]seenJob{}, keys: map[string]engine.JobID{},
		locks: map[string]engine.JobID{}, accounts: map[string]engine.AccountRow{}, closed: map[engine.Queue]bool{},
		inserted: map[engine.Kind]int{}, refusals: map[string]int{},
	}
}

// restarted is told when another process takes over.
func (c *checker) restarted() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seq = 0 // opening the store commits too, unseen
	c.forgetWaits()
}

// standsStill tells that nothing can move for a while, or that it can again.
func (c *checker) standsStill(still bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.blind = still
	c.forgetWaits()
}

func (c *checker) forgetWaits() {
	for id, s := range c.jobs {
		s.since = time.Time{}
		c.jobs[id] = s
	}
}

// maxFaults bounds what a broken engine writes.
const maxFaults = 20

func (c *checker) bad(format string, args ...any) {
	if len(c.faults) < maxFaults {
		c.faults = append(c.faults, fmt.Sprintf("seed %d, commit %d, %s: %s", c.w.seed, c.seq, wall.Now().Format(time.DateTime), fmt.Sprintf(format, args...)))
	}
}

// look is the observer of commits.
func (c *checker) look(seq uint64, changes []engine.Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if seq <= c.seq {
		c.bad("P1: commit %d was told after commit %d", seq, c.seq)
	}
	c.seq = seq
	c.commits++
	for i := range changes {
		ch := &changes[i]
		if ch.Seq != seq {
			c.bad("a change of commit %d says %d", seq, ch.Seq)
		}
		c.one(ch)
	}
}

func (c *checker) one(ch *engine.Change) {
	switch {
	case ch.Job != nil:
		c.job(ch)
	case ch.Deleted != "":
		c.deleted(ch.Deleted)
	case ch.Attempt != nil:
		c.attempt(ch.Of, *ch.Attempt)
	case ch.Account != nil:
		c.account(*ch.Account)
	case ch.Queue != nil:
		if !ch.Queue.Paused {
			delete(c.closed, ch.Queue.Name)
		}
	case ch.Totals != nil:
		c.total(*ch.Totals)
	}
}

// job proves one move: it follows from the one before, by the table.
func (c *checker) job(ch *engine.Change) {
	j := ch.Job
	before, known := c.jobs[j.ID]
	if !known {
		before, known = c.ended[j.ID]
	}
	switch {
	case ch.New && known:
		c.bad("job %s is inserted twice", j.ID)
	case ch.New:
		c.inserted[j.Kind]++
		if j.State != engine.Pending && j.State != engine.Available && j.State != engine.Scheduled {
			c.bad("job %s is born %s", j.ID, j.State)
		}
	case !known:
		c.bad("job %s moves to %s and was never inserted", j.ID, j.State)
	case len(ch.Joined) > 0 && j.Rev == before.rev: // somebody else waits for it too
	default:
		c.follows(before, ch)
	}
	c.stands(*j)
	c.remember(*j)
}

func (c *checker) follows(before seenJob, ch *engine.Change) {
	j := ch.Job
	c.moves++
	if before.state != ch.Before {
		c.bad("job %s goes from %s to %s, but was %s", j.ID, ch.Before, j.State, before.state)
	}
	if j.Rev <= before.rev {
		c.bad("job %s: revision %d follows %d", j.ID, j.Rev, before.rev)
	}
	if !legalMove(before.state, j.State) {
		c.bad("job %s may not go from %s to %s", j.ID, before.state, j.State)
	}
	if !before.since.IsZero() && !c.blind {
		c.waited(before, j)
	}
	if j.State == engine.Running && before.state != engine.Running && c.closed[j.Queue] {
		c.bad("P-38: job %s starts in the paused queue %s", j.ID, j.Queue)
	}
}

// lateBy is how late a retry may be for want of anything but its instant.
const lateBy = 5 * time.Second

// waited proves that a retry did not wait for more than one and a half of its
// delay, wherever the wall clock went (P-26).
func (c *checker) waited(before seenJob, j *engine.Job) {
	if took := time.Since(before.since); took > before.wait*3/2+lateBy {
		c.bad("P-26: job %s waited %s, planned were %s", j.ID, took, before.wait)
	}
}

// legalMove asks the engine's table, whatever the cause.
func legalMove(from, to engine.State) bool {
	for cause := engine.ByOutcome; cause <= engine.ByUndo; cause++ {
		if engine.Legal(from, to, cause) {
			return true
		}
	}
	return false
}

// stands proves what holds of a job in any one commit.
func (c *checker) stands(j engine.Job) {
	maximum := engine.DefaultPolicies()[engine.PolicyMatch].Max
	waits := j.State == engine.Retryable || j.State == engine.Scheduled
	switch {
	case j.Tries < 0 || j.Tries > maximum || j.Attempts < j.Tries:
		c.bad("P8: job %s: %d tries, %d attempts", j.ID, j.Tries, j.Attempts)
	case j.ShouldRetry() == j.NextRetryAt().IsZero():
		c.bad("S2-5: job %s: should_retry %t, next_retry_at %s", j.ID, j.ShouldRetry(), j.NextRetryAt())
	case waits && j.Due.Sub(wall.Now()) > engine.MaxDelay:
		c.bad("job %s waits until %s", j.ID, j.Due)
	case j.Hold != engine.HoldNone && j.State != engine.Scheduled:
		c.bad("job %s is held (%s) and %s", j.ID, j.Hold, j.State)
	case j.State.Terminal() != !j.Finished.IsZero() && j.State.Terminal():
		c.bad("job %s is %s and has no end", j.ID, j.State)
	}
	if id, held := c.keys[j.Key]; j.Key != "" && j.State.Live() && held && id != j.ID {
		c.bad("jobs %s and %s live with the one key %s", id, j.ID, j.Key)
	}
	if id, held := c.locks[j.Lock]; j.Lock != "" && j.State == engine.Running && held && id != j.ID {
		c.bad("P4: jobs %s and %s run under the one lock %s", id, j.ID, j.Lock)
	}
}

func (c *checker) remember(j engine.Job) {
	if c.keys[j.Key] == j.ID {
		delete(c.keys, j.Key)
	}
	if c.locks[j.Lock] == j.ID {
		delete(c.locks, j.Lock)
	}
	s := seenJob{rev: j.Rev, state: j.State, key: j.Key, lock: j.Lock}
	if j.State == engine.Retryable || j.Hold != engine.HoldNone {
		s.since, s.wait = time.Now(), j.Due.Sub(wall.Now())
	}
	delete(c.jobs, j.ID)
	delete(c.ended, j.ID)
	if j.State.Terminal() {
		c.ended[j.ID] = s
		return
	}
	c.jobs[j.ID] = s
	if j.Key != "" {
		c.keys[j.Key] = j.ID
	}
	if j.Lock != "" && j.State == engine.Running {
		c.locks[j.Lock] = j.ID
	}
}

func (c *checker) deleted(id engine.JobID) {
	if s, live := c.jobs[id]; live && s.state == engine.Running {
		c.bad("job %s is deleted while it runs", id)
	} else if live {
		delete(c.keys, s.key)
	}
	delete(c.jobs, id)
	delete(c.ended, id)
}

// attempt proves that no duration is negative, and that the parts are no more
// than the whole, whatever the wall clock did (P-36).
func (c *checker) attempt(of engine.JobID, a engine.Attempt) {
	c.attempts++
	took := a.End.Sub(a.Start)
	parts := []time.Duration{took, a.Queued, a.Paced, a.Limiter, a.HTTP}
	if slices.Min(parts) < 0 || a.Paced > a.Queued || a.Limiter+a.HTTP > took+2*time.Millisecond {
		c.bad("P-36: attempt %d of job %s: took %s, queued, paced, limiter, http %v", a.Number, of, took, parts[1:])
	}
}

// syncMoves lists how the status of an account's sync may move.
var syncMoves = map[[2]engine.SyncStatus]bool{
	{engine.SyncNever, engine.SyncPending}: true, {engine.SyncCompleted, engine.SyncPending}: true,
	{engine.SyncFailed, engine.SyncPending}: true, {engine.SyncCancelled, engine.SyncPending}: true,
	{engine.SyncPending, engine.Syncing}: true, {engine.Syncing, engine.SyncCompleted}: true,
	{engine.Syncing, engine.SyncFailed}: true, {engine.Syncing, engine.SyncCancelled}: true,
	{engine.SyncPending, engine.SyncCancelled}: true,
	{engine.Syncing, engine.SyncPending}:       true, // its claim was taken back
}

func (c *checker) account(row engine.AccountRow) {
	for name, p := range map[string]engine.Progress{"matches": row.Matches, "timelines": row.Timelines} {
		if p.Total >= 0 && p.Done()+p.Cancelled+p.Open != p.Total || p.Retrying > p.Open || p.Open < 0 {
			c.bad("P5: %s of %s: %+v", name, row.RiotID, p)
		}
	}
	before, known := c.accounts[row.ID]
	c.accounts[row.ID] = row
	if !known {
		return
	}
	if before.Status != row.Status && !syncMoves[[2]engine.SyncStatus{before.Status, row.Status}] && before.Run == row.Run {
		c.bad("the sync of %s goes from %s to %s", row.RiotID, before.Status, row.Status)
	}
	if before.Run != row.Run && before.Status.Open() {
		c.bad("P4: run %s of %s is %s, and run %s begins", before.Run, row.RiotID, before.Status, row.Run)
	}
	if before.Run == row.Run && row.Matches.Done() < before.Matches.Done() {
		c.bad("P5: done of %s fell from %d to %d", row.RiotID, before.Matches.Done(), row.Matches.Done())
	}
}

func (c *checker) total(now engine.Totals) {
	if sum := now.Unfetched + now.Success + now.Temporary + now.Permanent + now.TooOld; sum != now.Matches {
		c.bad("P6: the statuses add up to %d, there are %d matches", sum, now.Matches)
	}
	if now.Matches < c.totals.Matches || now.Accounts < c.totals.Accounts {
		c.bad("P11: totals fell from %+v to %+v", c.totals, now)
	}
	c.totals = now
}

// pausedNow is told when the pause of a queue was acknowledged: from then on
// nothing starts in it.
func (c *checker) pausedNow(q engine.Queue) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed[q] = true
}

// refusal takes the answer to a command that was not carried out.
func (c *checker) refusal(cmd engine.Command, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refusals[string(cmd.Op)]++
	p, ok := errors.AsType[*engine.Problem](err)
	if !ok || errors.Is(err, engine.ErrBroken) || p.Sentence == "" {
		c.bad("%s was refused with %v", cmd.Op, err)
	}
}

// report gives what was found.
func (c *checker) report() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.faults)
}
