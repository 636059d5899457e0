package river

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/remote"
	"github.com/farsight-console/farsight/storage/fleet"
	"github.com/farsight-console/farsight/storage/key"
	"github.com/farsight-console/farsight/storage/pg"
)

// grant writes a permit and the row of River that carries it, and wakes the members. The row is
// dated by the database: River dates its own by the clock of the process, and one that is ahead
// would have the members wait.
const grant = `with carried as (
	insert into river_job (kind, queue, args, max_attempts)
	values ('` + kindAttempt + `', $6, jsonb_build_object('job', $7::text, 'rev', $2::bigint), 1)
), permitted as (
	insert into fs_permit (job, rev, epoch, host, method, key_fp) values ($1, $2, $3, $4, $5, $8)
)
select pg_notify(current_schema() || '.river_insert', json_build_object('queue', $6::text)::text)`

// Grant lets the call of a claimed job go, in the transaction of the claim.
func (c *Carrier) Grant(tx engine.Tx, g remote.Grant) error {
	n, err := pg.JobNumber(g.Job)
	if err == nil {
		pg.With(tx, grant, n, int64(g.Rev), pg.Epoch(tx), g.Host, g.Method, c.queue(), string(g.Job), c.opt.Key())
	}
	return err
}

// begin lets the call of a permit be made once: of two members that begin it at once the second
// waits for the row, and finds begun set. Expiry is by the database's clock, which is the same for
// all members.
const begin = `update fs_permit set member = $3, begun = clock_timestamp()
where job = $1 and rev = $2 and begun is null and ended is null and expires > clock_timestamp()`

// begin lets this member make a call, if no other has begun it and it has not expired. After an
// error nobody knows whether it did: then it must not make the call.
func (c *Carrier) begin(ctx context.Context, job engine.JobID, rev engine.Revision) (ours bool, err error) {
	n, err := pg.JobNumber(job)
	if err != nil {
		return false, err
	}
	done, err := c.pool.Exec(ctx, begin, n, int64(rev), c.opt.Member)
	if err != nil {
		return false, fmt.Errorf("begin the call of job %s: %w", job, err)
	}
	return done.RowsAffected() == 1, nil
}

// answer ends a permit with what its member tells. It changes nothing of one that the leader has
// ended as lost meanwhile: that one's job has gone back already.
const answer = `update fs_permit set ended = clock_timestamp(), how = $3, ago_us = $4,
	status = $5, headers = $6, class = $7, latency_us = $8, bytes = $9
where job = $1 and rev = $2 and ended is null`

func tell(tx engine.Tx, job engine.JobID, rev engine.Revision, r remote.Report) error {
	n, err := pg.JobNumber(job)
	if err != nil {
		return err
	}
	headers, err := json.Marshal(r.Headers)
	if err != nil {
		return err
	}
	pg.With(tx, answer, n, int64(rev), r.How.String(), r.Ago.Microseconds(), r.Status, headers, r.Class,
		r.Latency.Microseconds(), r.Bytes)
	return nil
}

// What the leader has seen in its last look is asked anew in the conditions of these: since then a
// member may have begun the call, or told of it. No row is changed then.
const (
	endUnused = `update fs_permit set ended = clock_timestamp(), how = 'unused'
where job = $1 and rev = $2 and ended is null and begun is null and expires < clock_timestamp()`
	endLost = `update fs_permit set ended = clock_timestamp(), how = 'lost'
where job = $1 and rev = $2 and ended is null and begun is not null`

	// dropAttempt takes back what nobody has taken up. A row that River has given to a member already ends
	// there by itself: the member cannot begin the permit any more.
	dropAttempt = `delete from river_job
where kind = '` + kindAttempt + `' and state = 'available' and args @> jsonb_build_object('job', $1::text, 'rev', $2::bigint)`
)

// End ends a permit that was never begun, or whose member is gone, in a transaction of the
// leader's. remote.ErrMoved: it is not so any more.
func (c *Carrier) End(tx engine.Tx, job engine.JobID, rev engine.Revision, how remote.How) error {
	n, err := pg.JobNumber(job)
	if err != nil {
		return err
	}
	sql := endUnused
	if how == remote.Lost {
		sql = endLost
	}
	return pg.Along(tx, func(ctx context.Context, tx pgx.Tx) error {
		done, err := tx.Exec(ctx, sql, n, int64(rev))
		if err == nil && done.RowsAffected() == 0 {
			err = remote.ErrMoved
		}
		if err == nil && how == remote.Unused {
			_, err = tx.Exec(ctx, dropAttempt, string(job), int64(rev))
		}
		return err
	})
}

// how a permit stands: see standing.
const how = `select p.job, p.rev, p.host, p.method, clock_timestamp() - p.granted, p.expires < clock_timestamp(),
	p.begun is not null, coalesce(clock_timestamp() - p.begun, '0'),
	not exists (select from fs_member m where m.id = p.member and m.seen > clock_timestamp() - $1::interval),
	p.how, p.ago_us, p.status, p.headers, p.class, p.latency_us, p.bytes
from fs_permit p where `

const (
	// look gives all permits that are open, and those that the leader takes to be: one that has ended
	// since its last look would not be among the open ones, and its report would never be taken in.
	look = how + "p.ended is null or (p.job, p.rev) in (select * from unnest($2::bigint[], $3::bigint[]))"
	// lookBack gives those that were let go since, whose calls Riot may have counted and that have ended.
	lookBack = how + "p.granted >= $2 and p.how in ('answered', 'lost')"
)

const paused = "select coalesce(bool_or(paused_at is not null), false) from river_queue where name in ($1, '*')"

// Look tells how all permits stand that are open or that the leader takes to be so, and why no
// member takes any up; "" = they do.
func (c *Carrier) Look(ctx context.Context, open []remote.Grant) (all []remote.Standing, why string, err error) {
	jobs, revs := make([]int64, len(open)), make([]int64, len(open))
	for i, g := range open {
		if jobs[i], err = pg.JobNumber(g.Job); err != nil {
			return nil, "", err
		}
		revs[i] = int64(g.Rev)
	}
	stopped, queue := false, c.queue()
	err = c.opt.DB.Ask(ctx, c.pool, func(b *pgx.Batch) {
		b.Queue(paused, queue).QueryRow(func(r pgx.Row) error { return r.Scan(&stopped) })
		b.Queue(look, fleet.Silence(c.opt.TTL), jobs, revs).Query(into(&all))
	})
	if stopped {
		why = fmt.Sprintf("River's queue %s is paused", queue)
	}
	return all, why, err
}

// Ended tells of the calls that were let go since and that Riot may have counted.
func (c *Carrier) Ended(ctx context.Context, since time.Time) (all []remote.Standing, err error) {
	err = c.opt.DB.Ask(ctx, c.pool, func(b *pgx.Batch) {
		b.Queue(lookBack, fleet.Silence(c.opt.TTL), since).Query(into(&all))
	})
	return all, err
}

// into reads how permits stand.
func into(all *[]remote.Standing) func(pgx.Rows) error {
	return func(rows pgx.Rows) (err error) {
		*all, err = pgx.CollectRows(rows, standing)
		return err
	}
}

func standing(r pgx.CollectableRow) (s remote.Standing, err error) {
	var job, rev, ago, latency int64
	var how string
	var headers []byte
	err = r.Scan(&job, &rev, &s.Host, &s.Method, &s.GrantedAgo, &s.Expired, &s.Begun, &s.BegunAgo, &s.Gone,
		&how, &ago, &s.Report.Status, &headers, &s.Report.Class, &latency, &s.Report.Bytes)
	if err != nil {
		return s, err
	}
	s.Job, s.Rev = engine.JobID(key.JobID(uint64(job))), engine.Revision(rev)
	s.Report.Ago, s.Report.Latency = time.Duration(ago)*time.Microsecond, time.Duration(latency)*time.Microsecond
	if s.Report.How, err = remote.HowOf(how); err != nil || len(headers) == 0 {
		return s, err
	}
	return s, json.Unmarshal(headers, &s.Report.Headers)
}

// prune drops the permits that are older than a day.
func (c *Carrier) prune(ctx context.Context) error {
	_, err := c.pool.Exec(ctx, "delete from fs_permit where granted < clock_timestamp() - interval '1 day' and ended is not null")
	return err
}
