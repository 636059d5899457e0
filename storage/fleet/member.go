package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/wall"
	"github.com/farsight-console/farsight/storage/pg"
)

// Options says what a member is.
type Options struct {
	ID      string // random per start of a program
	Host    string
	Version string
	// Key gives a fingerprint of the API key, never the key; "" = there is none. nil = it needs none.
	Key func() string
	// TTL is how long a term lasts without a renewal, the same in all members; 0 = 3 s.
	TTL time.Duration
	// Lead is called when this member leads, and must return soon after its context has ended.
	// An error within the term ends Run. nil = this member never leads.
	Lead func(ctx context.Context, t *Term) error
	// Idle is of a member that makes no calls for who leads.
	Idle bool
	// Looks reports whether this member only looks on for now: it neither leads nor makes calls. nil = no.
	Looks func() bool
	// Lacks reports whether this member has not got all yet that is stored, and does not lead before. nil = it has.
	Lacks func() bool
	// CutOff is since when this process cannot reach Riot; the zero time when it can. It leaves the
	// lead to a member with its key that does. nil = it can.
	CutOff func() time.Time
	// InHand is how many attempts it carries out that no permit was written down for. nil = none.
	InHand func() int
	// Late is how many results it has brought of which the jobs had moved on. nil = none.
	Late func() int
	// OnLook gets the members after each look. It must not block. nil = nobody is told.
	OnLook func(engine.MembersPage)
}

// UsualTTL is how long a term lasts without a renewal, unless Options say otherwise.
const UsualTTL = 3 * time.Second

// usual is a term's length, with 0 for UsualTTL.
func usual(ttl time.Duration) time.Duration {
	if ttl == 0 {
		return UsualTTL
	}
	return ttl
}

// member is one call of Run. Only Run's goroutine uses it.
type member struct {
	Options
	db      *pg.DB
	run     context.Context
	conn    *pgx.Conn
	channel string        // where elections are told of: "farsight." and the schema
	term    *Term         // nil = it does not lead
	ahead   time.Duration // how far this machine's clock is ahead of the database's; less than 0 = behind
	left    time.Duration // of the term that goes on, at the last look

	// last is the renewal that was seen last, and when, by this process's stopwatch.
	last   struct{ epoch, beat int64 }
	lastAt time.Time
}

// Run keeps a process a member until its context ends, and lets it lead when it is its turn. All
// members keep the database's clock (package wall), whatever those of their machines show. A
// lost connection is made again; what ends Run but that is an error of Lead, or a schema that
// another version of the program has changed.
func Run(ctx context.Context, db *pg.DB, o Options) error {
	o.TTL = usual(o.TTL)
	zero(&o.Key)
	zero(&o.Looks)
	zero(&o.Lacks)
	zero(&o.CutOff)
	zero(&o.InHand)
	zero(&o.Late)
	m := &member{Options: o, db: db, run: ctx}
	defer wall.Release()
	defer m.leave()
	for m.term != nil || ctx.Err() == nil { // a term is renewed until all that it is for has ended
		err := m.beat()
		if end, ok := errors.AsType[ending](err); ok {
			return end.error
		}
		if err != nil {
			m.hangUp()
		}
		m.wait()
	}
	return nil
}

// zero puts a function that gives the zero value in place of an option that was left out: there is
// no key, nothing is in hand.
func zero[T any](option *func() T) {
	if *option == nil {
		*option = func() (none T) { return none }
	}
}

// mayLead reports whether this member leads when it is its turn.
func (m *member) mayLead() bool { return m.Lead != nil && !m.Looks() && !m.Lacks() }

// leadPatience is how long a member may be cut off before it leaves the lead to others.
const leadPatience = 3 * time.Second

// leaves reports whether this member is cut off for so long.
func (m *member) leaves() bool {
	cut := m.CutOff()
	return !cut.IsZero() && time.Since(cut) >= leadPatience
}

// known is an instant by the clock that members keep; nil of the zero time.
func known(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	at = wall.At(at)
	return &at
}

// ending is what ends Run.
type ending struct{ error }

// beat renews what this member is, looks who else is there, and draws its conclusions.
func (m *member) beat() error {
	ctx, cancel := context.WithTimeout(context.Background(), m.TTL)
	defer cancel()
	err := m.connect(ctx)
	// Without a connection too: a Lead that has failed ends the process now, not when the database is
	// back.
	if end := m.ended(ctx); end != nil {
		return end
	}
	if err != nil {
		return err
	}
	// A term is counted here from before it is asked for, and in the database from when that arrives:
	// it ends here first, however long the way is.
	began := time.Now()
	l := look{ttl: m.TTL}
	var version int
	renewed := m.term == nil
	key, cut, leaves := m.Key(), m.CutOff(), m.leaves()
	b := &pgx.Batch{}
	b.Queue("select max(version) from fs_schema").QueryRow(func(r pgx.Row) error { return r.Scan(&version) })
	b.Queue(saveMember, m.ID, m.Host, m.Version, key, m.mayLead(), !m.Idle && !m.Looks(), m.ahead.Milliseconds(),
		known(cut), m.InHand(), m.Late())
	if m.term != nil {
		b.Queue(renew, m.term.Epoch, m.ID, m.TTL).Query(func(rows pgx.Rows) error {
			renewed = rows.Next()
			return nil
		})
		m.noteKey(b, key)
	}
	l.ask(b)
	asked := time.Now()
	if err := m.conn.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	wall.Keep(asked, time.Now(), l.At)
	m.ahead, m.left = wall.Own().Sub(l.At), l.left
	switch {
	case version != pg.Version():
		return ending{engine.Problemf(engine.ErrRefused, "start the program of the version that the others have",
			"another member has brought the schema to version %d, this program knows %d", version, pg.Version())}
	case !renewed:
		m.term.End()
	case m.term != nil && (key == "" || leaves) && l.yields(key, leaves):
		m.term.End() // to a member who has a key, or reaches Riot
	case m.term != nil:
		m.term.extend(began.Add(m.TTL))
	}
	m.publish(l)
	return m.stand(ctx, l)
}

const (
	saveMember = `insert into fs_member (id, host, version, key_fp, may_lead, works, ahead_ms, cut_off, in_hand, late)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
on conflict (id) do update set key_fp = excluded.key_fp, may_lead = excluded.may_lead, works = excluded.works,
	ahead_ms = excluded.ahead_ms, cut_off = excluded.cut_off, in_hand = excluded.in_hand, late = excluded.late, seen = clock_timestamp()`

	// renew gives no row of a term that is over: another has it, or it was ended by a new version of
	// the schema.
	renew = `update fs_fleet set beat = beat + 1, expires = clock_timestamp() + $3::interval
where epoch = $1 and holder = $2 returning beat`

	// elect succeeds when nobody has renewed or won meanwhile. The term before, if it did not end by
	// itself, has ended when it was not renewed any more.
	elect = `with won as (
	update fs_fleet set epoch = epoch + 1, holder = $1, beat = beat + 1,
		since = clock_timestamp(), expires = clock_timestamp() + $2::interval
	where epoch = $3 and beat = $4 returning epoch, since
), lapsed as (
	update fs_term t set until = least($6, won.since), lapsed = true from won where t.epoch = $3 and until is null
), old as (
	delete from fs_term t using won where t.epoch <= won.epoch - 100
), begun as (
	insert into fs_term (epoch, holder, host, since) select epoch, $1, $5, since from won
) select epoch, since from won`

	resign = `with gone as (
	update fs_fleet set beat = beat + 1, holder = '', expires = '-infinity' where epoch = $1 and holder = $2 returning epoch
), ended as (
	update fs_term t set until = clock_timestamp() from gone where t.epoch = gone.epoch and until is null
) select pg_notify($3, 'resigned') from gone`

	// ledWith keeps the fingerprint of the key that the fleet works with.
	ledWith = "update fs_fleet set led_with = $1 where led_with <> $1"

	// dropMembers is for those that have not left in order, and are not looked for any more.
	dropMembers = "delete from fs_member where seen < clock_timestamp() - $1::interval"
)

// stand lets this member stand for election when nobody leads: the term has ended by the database's
// clock, or this process has seen no renewal for two terms by its own.
func (m *member) stand(ctx context.Context, l look) error {
	if seen := (struct{ epoch, beat int64 }{l.Epoch, l.beat}); seen != m.last || m.lastAt.IsZero() {
		m.last, m.lastAt = seen, time.Now()
	}
	led := l.left > 0 && time.Since(m.lastAt) < 2*m.TTL
	if led || !m.mayLead() || m.term != nil || m.run.Err() != nil || l.yields(m.Key(), m.leaves()) {
		return nil
	}
	began := time.Now()
	var epoch int64
	err := m.conn.QueryRow(ctx, elect, m.ID, m.TTL, l.Epoch, l.beat, m.Host, l.At.Add(l.left)).Scan(&epoch, &l.Since)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // another was faster
	}
	if err != nil {
		return err // it may have won all the same: the next look shows that, and the term ends unused
	}
	if err := m.db.DetachCopy(ctx, m.conn); errors.Is(err, engine.ErrRefused) {
		return ending{err}
	} else if err != nil {
		return err // as above
	}
	m.term = newTerm(m.run, epoch, began.Add(m.TTL), m.Lead)
	b := &pgx.Batch{}
	b.Queue("select pg_notify($1, 'elected')", m.channel)
	m.noteKey(b, m.Key())
	b.Queue(dropMembers, forget)
	l.Epoch, l.Leader, l.left = epoch, m.ID, m.TTL
	m.publish(l)
	return m.conn.SendBatch(ctx, b).Close()
}

// noteKey adds to a batch that the fleet works with a key.
func (m *member) noteKey(b *pgx.Batch, key string) {
	if key != "" {
		b.Queue(ledWith, key)
	}
}

// ended takes note of a term whose Lead has returned, and resigns, so that another need not wait
// for its end. An error of Lead that is none of the term's end ends Run.
func (m *member) ended(ctx context.Context) error {
	if m.term == nil {
		return nil
	}
	select {
	case err := <-m.term.ended:
		t := m.term
		m.term = nil
		var bad error
		if m.conn != nil { // else the others wait for the end of the term
			_, bad = m.conn.Exec(ctx, resign, t.Epoch, m.ID, m.channel)
		}
		if err != nil && !errors.Is(err, pg.ErrDeposed) && !errors.Is(err, context.Cause(m.run)) {
			return ending{fmt.Errorf("lead: %w", err)}
		}
		return bad
	default:
		return nil
	}
}

// publish hands on what was seen, so that who asks this process need not ask the database.
func (m *member) publish(l look) {
	if m.OnLook != nil {
		m.OnLook(l.view())
	}
}

// connect makes a connection, if there is none, that hears of elections.
func (m *member) connect(ctx context.Context) (err error) {
	if m.conn != nil {
		return nil
	}
	if m.conn, err = m.db.Connect(ctx); err != nil {
		return err
	}
	if err = m.conn.QueryRow(ctx, "select 'farsight.' || current_schema()").Scan(&m.channel); err == nil {
		_, err = m.conn.Exec(ctx, "listen "+pgx.Identifier{m.channel}.Sanitize())
	}
	return err
}

// hangUp closes the connection, if there is one, with a patience of its own: the process may be ending.
func (m *member) hangUp() {
	if m.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), m.TTL)
		defer cancel()
		_ = m.conn.Close(ctx)
		m.conn = nil
	}
}

// wait waits for the next beat, an election, the return of Lead, or the end. Who does not lead
// looks again when the term that it has seen last runs out, if that is sooner. The end of the
// process does not cut a wait within a term: Lead returns first.
func (m *member) wait() {
	beat, of := m.TTL/3, m.run
	if m.term != nil {
		of = context.WithoutCancel(of)
	} else if m.left > 0 {
		beat = min(beat, m.left)
	}
	ctx, cancel := context.WithTimeout(of, beat)
	defer cancel()
	if m.term != nil {
		defer context.AfterFunc(m.term.done, cancel)()
	}
	if m.conn == nil {
		<-ctx.Done()
		return
	}
	if _, err := m.conn.WaitForNotification(ctx); err != nil && ctx.Err() == nil {
		m.hangUp()
	}
}

// leave ends a term that goes on, and takes this member off the list.
func (m *member) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), m.TTL)
	defer cancel()
	if m.term != nil {
		m.term.End()
		<-m.term.done.Done()
	}
	if m.conn != nil {
		_, _ = m.conn.Exec(ctx, "delete from fs_member where id = $1", m.ID) // else it is dropped later
	}
	m.hangUp()
}
