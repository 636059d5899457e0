package river

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/storage/fleet"
	"github.com/farsight-console/farsight/storage/key"
	"github.com/farsight-console/farsight/storage/pg"
)

// Calls lets members make the calls of a term: it is the riot.Carrier of who leads.
type Calls struct {
	c     *Carrier
	term  *fleet.Term
	there func() (elsewhere, only bool)

	mu      sync.Mutex
	waiting map[int64]chan struct{} // closed when the call has ended
	paused  atomic.Bool             // somebody has paused its queue of River
	signal  func()                  // paused has changed
	silent  map[int64]time.Time     // since when each look has shown the member of a call to be gone; Run's
}

// Lead makes the calls of a term. there says whether another member makes calls with the key in use, and
// whether this one makes none; signal is called when Halt says something else.
func (c *Carrier) Lead(t *fleet.Term, there func() (elsewhere, only bool), signal func()) *Calls {
	return &Calls{c: c, term: t, there: there, waiting: map[int64]chan struct{}{}, silent: map[int64]time.Time{}, signal: signal}
}

// Open is how many calls members have in hand, or will.
func (l *Calls) Open() int { return len(l.open()) }

func (l *Calls) open() []int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Keys(l.waiting))
}

// Carries implements riot.Carrier.
func (l *Calls) Carries() (elsewhere, only bool) { return l.there() }

// Halt says why no call may be made at all; "" = they go.
func (l *Calls) Halt() string {
	if l.paused.Load() {
		return fmt.Sprintf("River's queue %s is paused", l.c.queue())
	}
	return ""
}

const (
	// letGo writes a call with the row of River that carries it, and wakes the members. Both are dated by the
	// database: River dates its rows by the clock of the process, and one that is ahead would have the
	// members wait. An election waits for it, as for every write of a term.
	letGo = `with term as (
	select from fs_fleet where epoch = $1 and expires > clock_timestamp() for key share
), carried as (
	insert into river_job (kind, queue, args, max_attempts)
	select '` + kindCall + `', $2, jsonb_build_object('job', $3::text, 'host', $4::text, 'method', $5::text), 1 from term
	returning id
), call as (
	insert into fs_call (id, epoch, job, host, method, path, key_fp) select id, $1, $8, $4, $5, $6, $7 from carried
) select id, pg_notify(current_schema() || '.river_insert', json_build_object('queue', $2::text)::text) from carried`

	// find gives the call that was let go without an answer.
	find = "select id from fs_call where epoch = $1 and job = $2 and path = $3 order by id desc limit 1"

	// endUnused and endLost ask anew what was so when the leader looked last: since then a member may
	// have begun the call, or told of it.
	endUnused = "update fs_call set ended = clock_timestamp(), how = 'unused', path = '' where id = $1 and ended is null and begun is null"
	endLost   = "update fs_call set ended = clock_timestamp(), how = 'lost', path = '' where id = $1 and ended is null"
	// dropRow takes the row back that nobody will begin. One that River has given to a member ends by itself.
	dropRow = "delete from river_job where id = $1 and state = 'available'"

	// selectSilent gives which calls are in the hand of a member that shows no sign of life.
	selectSilent = `select id from fs_call c where id = any($1) and ended is null and begun is not null
	and not exists (select from fs_member m where m.id = c.member and m.seen > clock_timestamp() - $2::interval)`
	endSilent = endLost + " and begun is not null"

	readAnswer = "select how, status, coalesce(headers, '{}'), body, class, said from fs_call where id = $1 and ended is not null"
	// dropAnswer is for one that was read, and might be asked for again until it was.
	dropAnswer = "update fs_call set path = '', body = null, headers = null where id = $1"
)

// How a call ended.
const (
	answered = "answered" // Riot has counted it
	unused   = "unused"   // it was not made
	lost     = "lost"     // it may have been made
)

const (
	// takenWithin is for how long a call may be begun, as the schema has it, and a little for the way.
	takenWithin = 2500 * time.Millisecond
	// writeWithin is for how long after its begin it may be written.
	writeWithin = 2 * time.Second
	// straggle is how late a written call may arrive.
	straggle = time.Second
)

// Carry implements riot.Carrier.
func (l *Calls) Carry(ctx context.Context, call riot.Carried) (a *riot.Answer, begun bool, err error) {
	n, _ := key.JobNumber(call.Job) // none of a call that is no job's
	number := int64(n)
	var id int64
	err = l.c.pool.QueryRow(ctx, letGo, l.term.Epoch, l.c.queue(), call.Job, call.Host, call.Method, call.Path, l.c.opt.Key(), number).Scan(&id, nil)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, false, pg.ErrDeposed
	}
	if err != nil && !pg.Refused(err) { // it may stand there all the same, and be made
		err = l.persist(ctx, func(ctx context.Context) error {
			return l.c.pool.QueryRow(ctx, find, l.term.Epoch, number, call.Path).Scan(&id)
		})
	}
	if err != nil {
		return nil, true, fmt.Errorf("%w: %w", riot.ErrNotCarried, err)
	}
	done := make(chan struct{})
	l.mu.Lock()
	l.waiting[id] = done
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.waiting, id)
		l.mu.Unlock()
	}()
	taken := time.NewTicker(takenWithin) // again: the database may not have answered
	defer taken.Stop()
	for ctx.Err() == nil {
		select {
		case <-done:
			return l.read(ctx, id)
		case <-ctx.Done():
		case <-taken.C:
			switch err := l.end(endUnused, id); {
			case err == nil:
				return nil, false, riot.ErrNotCarried
			case errors.Is(err, pgx.ErrNoRows): // it was begun, or has ended
				taken.Stop()
			}
		}
	}
	switch {
	case l.end(endUnused, id) == nil:
		return nil, false, context.Cause(ctx)
	case l.end(endLost, id) != nil: // its end was reported just now, or the database does not answer
		return l.read(ctx, id)
	}
	return nil, true, context.Cause(ctx)
}

// brief bounds a question after the end of a call, for which its caller waits no longer.
const brief = time.Second

// end ends a call; pgx.ErrNoRows where that is no longer to be done.
func (l *Calls) end(sql string, id int64) error {
	ctx, cancel := context.WithTimeout(context.Background(), brief)
	defer cancel()
	done, err := l.c.pool.Exec(ctx, sql, id)
	if err != nil {
		return err
	}
	if done.RowsAffected() == 0 {
		return pgx.ErrNoRows
	}
	_, _ = l.c.pool.Exec(ctx, dropRow, id)
	return nil
}

// persist asks the database until it answers, or ctx ends.
func (l *Calls) persist(ctx context.Context, ask func(ctx context.Context) error) error {
	for {
		err := ask(ctx)
		if err == nil || errors.Is(err, pgx.ErrNoRows) || pg.Refused(err) || !await.Pause(ctx, lookEvery) {
			return err
		}
	}
}

// read gives what became of a call that has ended, for which its caller has as long as its context, and a little.
func (l *Calls) read(ctx context.Context, id int64) (*riot.Answer, bool, error) {
	patience := brief
	if end, has := ctx.Deadline(); has {
		patience = max(patience, time.Until(end))
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	a := &riot.Answer{}
	var how, class, said string
	var headers []byte
	err := l.persist(ctx, func(ctx context.Context) error {
		return l.c.pool.QueryRow(ctx, readAnswer, id).Scan(&how, &a.Status, &headers, &a.Body, &class, &said)
	})
	if err == nil {
		_, _ = l.c.pool.Exec(ctx, dropAnswer, id) // else the next term does it
		err = json.Unmarshal(headers, &a.Header)
	}
	switch {
	case err != nil:
		return nil, true, fmt.Errorf("%w: %w", riot.ErrNotCarried, err)
	case how == answered:
		return a, true, nil
	case how == unused, class == "", class == riot.ClassStopped, class == riot.ClassUnread: // "": its member was gone
		return nil, how == lost, riot.ErrNotCarried
	case class == riot.ClassTimeout:
		return nil, true, riot.ErrTimeout
	}
	return nil, true, errors.New(said)
}

const (
	lookEvery = 250 * time.Millisecond
	// selectEnded gives which of the calls that are waited for have ended.
	selectEnded = "select id from fs_call where id = any($1) and ended is not null"
	paused      = "select coalesce(bool_or(paused_at is not null), false) from river_queue where name in ($1, '*')"
)

// Run hears of the ends of calls until ctx ends.
func (l *Calls) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := l.listen(ctx); err != nil && ctx.Err() == nil {
			l.c.opt.Log.Warn().Err(err).Msg("what becomes of calls is not heard")
			await.Pause(ctx, lookEvery)
		}
	}
	return nil
}

// listen is Run on one connection.
func (l *Calls) listen(ctx context.Context) error {
	conn, err := l.c.opt.DB.Connect(ctx)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), brief)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	if _, err := conn.Exec(ctx, "listen "+pgx.Identifier{l.c.channel()}.Sanitize()); err != nil {
		return err
	}
	var looked time.Time
	for {
		if time.Since(looked) > lookEvery {
			looked = time.Now()
			var stopped bool
			if err := conn.QueryRow(ctx, paused, l.c.queue()).Scan(&stopped); err != nil {
				return err
			}
			if l.paused.Swap(stopped) != stopped {
				l.signal()
			}
			if err := l.giveUp(ctx, conn); err != nil {
				return err
			}
		}
		if err := l.ended(ctx, conn); err != nil {
			return err
		}
		wait, cancel := context.WithTimeout(ctx, lookEvery)
		_, err := conn.WaitForNotification(wait)
		cancel()
		if err != nil && (ctx.Err() != nil || conn.IsClosed()) {
			return err
		}
	}
}

// ended tells those who wait for calls that have ended.
func (l *Calls) ended(ctx context.Context, conn *pgx.Conn) error {
	open := l.open()
	if len(open) == 0 {
		return nil
	}
	rows, err := conn.Query(ctx, selectEnded, open)
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		if done := l.waiting[id]; done != nil {
			close(done)
			delete(l.waiting, id)
		}
	}
	return err
}

// stillSilent is how long a member must have shown no sign of life: when a database comes back, none has for a while.
const stillSilent = 2 * time.Second

// giveUp ends the calls of members that are gone.
func (l *Calls) giveUp(ctx context.Context, conn *pgx.Conn) error {
	open := l.open()
	if len(open) == 0 {
		clear(l.silent)
		return nil
	}
	rows, err := conn.Query(ctx, selectSilent, open, fleet.Silence(l.c.opt.TTL))
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	seen := map[int64]time.Time{}
	for _, id := range ids {
		if seen[id] = l.silent[id]; seen[id].IsZero() {
			seen[id] = time.Now()
		}
		if time.Since(seen[id]) > stillSilent {
			_ = l.end(endSilent, id)
		}
	}
	l.silent = seen
	return err
}

const (
	// dropOld ends what the terms before have let go and nobody has begun: nobody can any more.
	dropOld = "update fs_call set ended = clock_timestamp(), how = 'unused', path = '' where epoch < $1 and ended is null and begun is null"
	// dropAnswers is for answers that nobody has read.
	dropAnswers = "update fs_call set path = '', body = null where epoch < $1 and ended is not null and path <> ''"
	// inherited are the calls of the terms before that Riot may have counted, and that the limiter of who leads now does not
	// know of: it was saved before.
	inherited = `select id, job, host, method, clock_timestamp() - granted, ended is not null from fs_call
where epoch < $1 and how <> 'unused' and (ended is null or granted >= $2)`
	selectOpen = "select id from fs_call where id = any($1) and ended is null"
)

// Inherit counts the calls that the terms before have let go: those that have ended since the limiter was saved,
// at once, and those that members have in hand, when it is known that they are written no more. Call it when the
// limits are restored, and before any call is let go.
func (l *Calls) Inherit(ctx context.Context, limits *traffic.Limits) error {
	type call struct {
		id, job      int64
		host, method string
		ago          time.Duration
		ended        bool
	}
	// A queue that was paused before this term is known as such before Run has looked.
	var stopped bool
	err := l.persist(ctx, func(ctx context.Context) error {
		return l.c.pool.QueryRow(ctx, paused, l.c.queue()).Scan(&stopped)
	})
	if err != nil {
		return fmt.Errorf("look whether the queue of the calls is paused: %w", cmp.Or(context.Cause(ctx), err))
	}
	l.paused.Store(stopped)
	for _, sql := range []string{dropOld, dropAnswers} {
		err := l.persist(ctx, func(ctx context.Context) error {
			_, err := l.c.pool.Exec(ctx, sql, l.term.Epoch)
			return err
		})
		if err != nil {
			return fmt.Errorf("end the calls of the terms before: %w", cmp.Or(context.Cause(ctx), err))
		}
	}
	since := limits.Stamp()
	if since.IsZero() {
		since = time.Now().Add(-fleetMemory)
	}
	var all []call
	err = l.persist(ctx, func(ctx context.Context) (err error) {
		rows, _ := l.c.pool.Query(ctx, inherited, l.term.Epoch, since) // its error comes with the rows
		all, err = pgx.CollectRows(rows, func(r pgx.CollectableRow) (c call, err error) {
			return c, r.Scan(&c.id, &c.job, &c.host, &c.method, &c.ago, &c.ended)
		})
		return err
	})
	if err != nil {
		return fmt.Errorf("count the calls of the terms before: %w", cmp.Or(context.Cause(ctx), err))
	}
	open := map[int64]*limit.Permit{}
	for _, c := range all {
		p := limits.Adopt(traffic.Lane{Host: c.host, Method: c.method}, engine.JobID(key.JobID(uint64(c.job))), c.ago)
		if c.ended {
			p.FirstByte()
			p.Lost()
		} else {
			open[c.id] = p
		}
	}
	if len(open) > 0 {
		go l.endPermits(open)
	}
	return nil
}

// fleetMemory is how far back calls are counted where no limiter was saved.
const fleetMemory = 5 * time.Minute

// endPermits ends the permits of calls that other terms have let go: when they were told of, or when this process has seen them
// open for so long that they have arrived, or never will.
func (l *Calls) endPermits(open map[int64]*limit.Permit) {
	ids := make([]int64, 0, len(open))
	for id := range open {
		ids = append(ids, id)
	}
	for began := time.Now(); len(ids) > 0 && time.Since(began) < writeWithin+straggle; time.Sleep(lookEvery) {
		ctx, cancel := context.WithTimeout(context.Background(), brief)
		rows, err := l.c.pool.Query(ctx, selectOpen, ids)
		if err == nil {
			var still []int64
			if still, err = pgx.CollectRows(rows, pgx.RowTo[int64]); err == nil {
				ids = still
			}
		}
		cancel()
	}
	for id, p := range open {
		p.FirstByte()
		p.Lost()
		_ = l.end(endLost, id)
	}
}
