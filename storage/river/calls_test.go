package river

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/internal/pgtest"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/fleet"
	storagekey "github.com/farsight-console/farsight/storage/key"
	"github.com/farsight-console/farsight/storage/pg"
)

// desk is a rig with a leader that hands calls on, and carriers that nobody runs.
type desk struct {
	*rig
	a, b  *Carrier
	term  *fleet.Term
	calls *Calls
	after func() // ends the term
}

// relay is how b makes a call.
type relay = func(context.Context, riot.Carried, time.Time) (*riot.Answer, bool, error)

func newDesk(t *testing.T, by relay) *desk {
	d := &desk{rig: newRig(t, made(t), "20:1", sim.FixedLazy, sim.Instant)}
	for id, c := range map[string]**Carrier{"a": &d.a, "b": &d.b} {
		var err error
		*c, err = Open(t.Context(), Options{
			DB: d.db, Member: id, Key: func() string { return "fp" }, TTL: 500 * time.Millisecond, Relay: by,
			Reach: NewReach(func(context.Context, string) error { return nil }, zerolog.Nop()),
		})
		must(t, err)
		t.Cleanup((*c).Close)
	}
	d.lead()
	return d
}

// lead begins the next term.
func (d *desk) lead() {
	term, release, err := fleet.Take(d.t.Context(), d.db, fleet.Options{ID: fmt.Sprint("l", time.Now().UnixNano()), TTL: time.Hour})
	must(d.t, err)
	d.term, d.calls = term, d.a.Lead(term, nil, func() {})
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- d.calls.Run(ctx) }()
	end := func() { stop(); must(d.t, errors.Join(<-done, release())) }
	d.t.Cleanup(func() {
		if end != nil {
			end()
		}
	})
	d.after = func() { end(); end = nil }
}

// given is what Carry gives.
type given struct {
	a     *riot.Answer
	begun bool
	err   error
}

// carry hands a call on, and gives its row of River.
func (d *desk) carry(ctx context.Context) (row *river.Job[callArgs], got chan given) {
	d.t.Helper()
	got = make(chan given, 1)
	before := d.calls.Open()
	go func() {
		a, begun, err := d.calls.Carry(ctx, riot.Carried{Host: "europe", Method: "match-v5.match", Path: "/lol/match/v5/matches/EUW1_1", Job: storagekey.JobID(7)})
		got <- given{a, begun, err}
	}()
	until(func() bool { return d.calls.Open() > before })
	row = &river.Job[callArgs]{JobRow: &rivertype.JobRow{}}
	must(d.t, d.ask("select id, args from river_job order by id desc limit 1").Scan(&row.ID, &row.Args))
	must(d.t, d.ask("update river_job set state = 'running', attempted_at = clock_timestamp() where id = $1 returning id", row.ID).Scan(&row.ID))
	row.State = rivertype.JobStateRunning
	return row, got
}

// A call is made once, by one of two members that take it up, and its answer comes as it was; neither the address nor
// the answer stays.
func TestH13a_ACallIsMadeOnce(t *testing.T) {
	t.Parallel()
	var made atomic.Int64
	d := newDesk(t, func(_ context.Context, c riot.Carried, by time.Time) (*riot.Answer, bool, error) {
		made.Add(1)
		if c.Host != "europe" || c.Method != "match-v5.match" || c.Path != "/lol/match/v5/matches/EUW1_1" || time.Until(by) > writeWithin {
			t.Errorf("%+v by %s", c, time.Until(by))
		}
		return &riot.Answer{Status: 404, Header: http.Header{"X-App-Rate-Limit": {"20:1"}}, Body: []byte{0, 1, 2}}, true, nil
	})
	row, got := d.carry(t.Context())
	both := make(chan struct{})
	for _, c := range []*Carrier{d.a, d.b} {
		go func() { c.make(context.Background(), row); both <- struct{}{} }()
	}
	<-both
	<-both
	g := <-got
	if g.err != nil || !g.begun || g.a.Status != 404 || string(g.a.Body) != "\x00\x01\x02" || g.a.Header.Get("X-App-Rate-Limit") != "20:1" || made.Load() != 1 {
		t.Errorf("%+v, %d calls", g, made.Load())
	}
	if n := d.count("select count(*) from fs_call where how = 'answered' and path = '' and body is null and job = 7"); n != 1 {
		t.Error("its address or its answer stays")
	}
	if n := d.count("select count(*) from river_job where scheduled_at = created_at and scheduled_at between clock_timestamp() - interval '1 minute' and clock_timestamp() and max_attempts = 1"); n != 1 {
		t.Error("its row is not dated by the database")
	}
}

// What a member tells of a call that has no answer: whether Riot may have counted it, and whether it is made again.
func TestH13b_WhatAMemberTells(t *testing.T) {
	t.Parallel()
	var says given
	d := newDesk(t, func(context.Context, riot.Carried, time.Time) (*riot.Answer, bool, error) {
		return nil, says.begun, says.err
	})
	for name, c := range map[string]struct {
		said  error
		wrote bool
		want  error  // nil = none of ours
		text  string // of the error
	}{
		"no network":        {&riot.Error{Class: riot.ClassLocal}, false, riot.ErrNotCarried, ""},
		"not read":          {&riot.Error{Class: riot.ClassUnread}, true, riot.ErrNotCarried, ""},
		"not in time":       {&riot.Error{Class: riot.ClassTimeout}, true, riot.ErrTimeout, ""},
		"the member stops":  {context.Canceled, true, riot.ErrNotCarried, ""},
		"it never began":    {context.Canceled, false, riot.ErrNotCarried, ""},
		"broken off by any": {&riot.Error{Class: "reset", Message: "the line is dead"}, true, nil, "the line is dead"},
	} {
		t.Run(name, func(t *testing.T) {
			says = given{begun: c.wrote, err: c.said}
			row, got := d.carry(t.Context())
			d.b.make(t.Context(), row)
			g := <-got
			if g.begun != c.wrote || g.a != nil || c.want != nil && !errors.Is(g.err, c.want) || c.text != "" && !strings.Contains(fmt.Sprint(g.err), c.text) {
				t.Errorf("%+v", g)
			}
		})
	}
}

// A call that nobody begins is taken back, and its row; one whose caller waits no longer is given up.
func TestH13b_ACallThatIsGivenUp(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	row, got := d.carry(t.Context())
	if g := <-got; g.begun || !errors.Is(g.err, riot.ErrNotCarried) {
		t.Errorf("nobody took it up: %+v", g)
	}
	d.b.make(t.Context(), row) // it comes late, and makes nothing
	why := errors.New("the job was cancelled")
	for _, begun := range []bool{false, true} {
		ctx, end := context.WithCancelCause(t.Context())
		row, got := d.carry(ctx)
		if begun {
			d.begin(row)
		}
		end(why)
		if g := <-got; g.begun != begun || !errors.Is(g.err, why) {
			t.Errorf("nobody waits: %v, begun %v", g.err, g.begun)
		}
	}
}

// A call that nobody begins, and that the database does not take back in time, is taken back later.
func TestH13b_ACallThatIsTakenBackLate(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	other, err := d.db.Connect(t.Context())
	must(t, err)
	defer other.Close(context.Background())
	asks := func() bool {
		return d.count("select count(*) from pg_stat_activity where $1 = any(pg_blocking_pids(pid))", other.PgConn().PID()) > 0
	}
	var got chan given
	for inTime := true; inTime; { // on a busy machine it may be taken back before it is locked
		tx, err := other.Begin(t.Context())
		must(t, err)
		var row *river.Job[callArgs]
		row, got = d.carry(t.Context())
		_, err = tx.Exec(t.Context(), "select from fs_call where id = $1 for update", row.ID)
		must(t, err)
		until(func() bool { return asks() || len(got) > 0 })
		inTime = len(got) > 0
		until(func() bool { return !asks() })
		must(t, tx.Rollback(t.Context()))
	}
	select {
	case g := <-got:
		if g.begun || !errors.Is(g.err, riot.ErrNotCarried) {
			t.Errorf("%+v", g)
		}
	case <-time.After(patience):
		t.Error("it is never taken back")
	}
}

func (d *desk) begin(row *river.Job[callArgs]) {
	d.t.Helper()
	var host, method, path string
	must(d.t, d.ask(begin, row.ID, "b", "fp").Scan(&host, &method, &path))
}

// A member that has begun a call and shows no sign of life: the call is made again, and what the member tells of it
// later is late.
func TestH13b_AMemberThatIsGone(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	row, got := d.carry(t.Context())
	d.begin(row)
	if g := <-got; !g.begun || !errors.Is(g.err, riot.ErrNotCarried) {
		t.Errorf("%+v", g)
	}
	late, err := d.b.report(t.Context(), row.ID, ending{how: answered, status: 200, body: []byte("x")})
	if err != nil || !late {
		t.Errorf("late %v, %v", late, err)
	}
	if n := d.count("select count(*) from fs_call where how = 'lost' and body is null"); n != 1 {
		t.Error("a late answer is kept")
	}
}

// Who leads no more lets nothing go, and who leads next ends what nobody has begun and counts the rest.
func TestH13c_TheNextTermCounts(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	first := d.calls
	ctx, end := context.WithCancel(t.Context())
	open, gotOpen := d.carry(ctx)
	d.begin(open)
	_, gotUnused := d.carry(ctx)
	row, got := d.carry(ctx)
	d.begin(row)
	_, err := d.b.report(ctx, row.ID, ending{how: answered, status: 200, headers: []byte("{}")})
	must(t, err)
	<-got
	d.after()
	if _, begun, err := first.Carry(t.Context(), riot.Carried{Host: "europe", Method: "match-v5.match"}); begun || !errors.Is(err, pg.ErrDeposed) {
		t.Errorf("begun %v, %v", begun, err)
	}
	d.lead()
	limiter := limit.New(limit.Options{})
	limits := traffic.New(traffic.Options{Limiter: limiter, Store: stored(t), Lanes: laneOf})
	must(t, d.calls.Inherit(t.Context(), limits))
	if n := d.count("select count(*) from fs_call where how = 'unused'"); n != 1 {
		t.Errorf("%d are taken back", n)
	}
	if len(limiter.Snapshot().Hosts) != 1 {
		t.Fatal("nothing is counted")
	}
	until(func() bool { return d.count("select count(*) from fs_call where ended is null") == 0 })
	if n := d.count("select count(*) from fs_call where how = 'lost'"); n != 1 {
		t.Errorf("%d are lost", n)
	}
	end()
	<-gotOpen
	<-gotUnused
}

// Who gets another key takes up what is let go for that one, and nothing of the old one any more.
func TestANewKeyHasAnotherQueue(t *testing.T) {
	t.Parallel()
	r := newRig(t, made(t), "20:1", sim.FixedLazy, sim.Instant)
	var key atomic.Value
	key.Store("")
	c, err := Open(t.Context(), Options{
		DB: r.db, Member: "a", Key: func() string { return key.Load().(string) }, TTL: time.Hour, Workers: 1,
		Reach: NewReach(func(context.Context, string) error { return nil }, zerolog.Nop()),
	})
	must(t, err)
	defer c.Close()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- c.Run(ctx) }()
	tries := func(queue string) {
		var id int64
		var state string
		must(t, c.pool.QueryRow(t.Context(), `insert into river_job (kind, queue, args, max_attempts) values ($1, $2, '{}', 1) returning id`, kindCall, queue).Scan(&id))
		until(func() bool {
			must(t, c.pool.QueryRow(t.Context(), "select state::text from river_job where id = $1", id).Scan(&state))
			return state == "completed"
		})
	}
	for _, next := range []string{"old", "new", "old"} {
		key.Store(next)
		tries("call_" + next)
	}
	stop()
	must(t, <-done)
	if c.serves != "call_old" {
		t.Errorf("at the end it serves %q", c.serves)
	}
}

// An order is carried out by who leads, once, and its answer comes back; what fails half way nobody calls done.
func TestH13d_AnOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t, pgtest.Schema(t), "20:1", sim.FixedLazy, sim.Instant)
	if _, err := Give(t.Context(), r.db, []byte(`"early"`)); !errors.Is(err, engine.ErrRefused) {
		t.Errorf("where nobody has led yet: %v", err)
	}
	fails := errors.New("the term is over")
	n := r.run("a", func(o *Options) {
		o.Order = func(_ context.Context, args []byte) ([]byte, error) {
			var asked string
			if err := json.Unmarshal(args, &asked); err != nil || asked == "fail" {
				return nil, errors.Join(err, fails)
			}
			return json.Marshal(asked + " is done")
		}
	})
	until(func() bool { return n.limits.Load() != nil }) // it leads
	out, err := r.give([]byte(`"pause"`), engine.ErrRefused)
	if err != nil || string(out) != `"pause is done"` {
		t.Errorf("%s, %v", out, err)
	}
	_, err = r.give([]byte(`"fail"`), engine.ErrRefused)
	if !errors.Is(err, engine.ErrBroken) || !strings.Contains(err.Error(), fails.Error()) {
		t.Errorf("%v", err)
	}
	if n := r.count("select count(*) from river_job where kind = 'farsight.order'"); n != 0 {
		t.Errorf("%d orders stay", n)
	}
}

// stored is a store of its own.
func stored(t *testing.T) *storage.DB {
	t.Helper()
	db, err := storage.Open(storage.Options{Dir: t.TempDir() + "/data"})
	must(t, err)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- db.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		must(t, errors.Join(<-served, db.Close()))
	})
	return db
}
