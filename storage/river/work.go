package river

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/remote"
	"github.com/farsight-console/farsight/storage/pg"
)

// attempt is what a row of River says of one.
type attempt struct {
	Job engine.JobID    `json:"job"`
	Rev engine.Revision `json:"rev"`
}

// Kind is the word for it in River's tables.
func (attempt) Kind() string { return kindAttempt }

// worker carries attempts out.
type worker struct {
	river.WorkerDefaults[attempt]
	c *Carrier
}

// Timeout is none: the engine has its own.
func (w *worker) Timeout(*river.Job[attempt]) time.Duration { return -1 }

// Work carries one attempt out. It returns no error: what became of the attempt its job tells.
func (w *worker) Work(ctx context.Context, row *river.Job[attempt]) error {
	w.c.carry(ctx, row)
	return nil
}

func (c *Carrier) carry(ctx context.Context, row *river.Job[attempt]) {
	job, rev := row.Args.Job, row.Args.Rev
	began := time.Now() // before the begin is: the call is written within two seconds of it
	ours, err := c.begin(ctx, job, rev)
	if err != nil {
		c.opt.Log.Warn().Err(err).Str("job", string(job)).Msg("an attempt is left")
		c.leave(ctx, job, rev, remote.Report{How: remote.Unused})
		return
	}
	if !ours {
		return // another has it, or nobody may any more
	}
	call := c.opt.Calls.Begin(job, began)
	defer c.opt.Calls.End(job)
	err = c.opt.Attempts.Attempt(ctx, job, rev, func(tx engine.Tx) error {
		if err := tell(tx, job, rev, call.Report()); err != nil {
			return err
		}
		return complete(ctx, tx, row)
	})
	if err != nil {
		c.opt.Log.Warn().Err(err).Str("job", string(job)).Msg("an attempt came to nothing")
		c.leave(ctx, job, rev, call.Report())
	}
}

// complete ends the row of an attempt. One that River has taken for abandoned has ended already.
func complete(ctx context.Context, tx engine.Tx, row *river.Job[attempt]) error {
	return pg.Along(tx, func(_ context.Context, tx pgx.Tx) error {
		_, err := river.JobCompleteTx[*riverpgxv5.Driver](context.WithoutCancel(ctx), tx, row)
		if errors.Is(err, rivertype.ErrNotFound) {
			return nil
		}
		return err
	})
}

const (
	// leavePatience is how long a permit's end is kept for a store that is away; leavePause is between
	// two tries.
	leavePatience = 5 * time.Minute
	leavePause    = time.Second
)

// leave ends the permit of an attempt that wrote nothing: the leader gives its job back. A begin
// that was not answered may have been another's.
func (c *Carrier) leave(ctx context.Context, job engine.JobID, rev engine.Revision, r remote.Report) {
	n, err := pg.JobNumber(job)
	if err != nil {
		return
	}
	const left = `update fs_permit set ended = clock_timestamp(), how = $3, status = $4, class = $5
where job = $1 and rev = $2 and ended is null and member in ('', $6)`
	for began := time.Now(); time.Since(began) < leavePatience; {
		_, err := c.pool.Exec(context.WithoutCancel(ctx), left, n, int64(rev), r.How.String(), r.Status, r.Class, c.opt.Member)
		if err == nil {
			return
		}
		if !await.Pause(ctx, leavePause) {
			return
		}
	}
}
