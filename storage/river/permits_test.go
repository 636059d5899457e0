package river

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/remote"
	"github.com/farsight-console/farsight/internal/pgtest"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/storage/key"
)

// desk is a rig with two members that carry nothing out.
type desk struct {
	*rig
	a, b *Carrier
}

func newDesk(t *testing.T) *desk {
	d := &desk{rig: newRig(t, pgtest.Schema(t), "20:1", sim.FixedLazy, sim.Instant)}
	for id, c := range map[string]**Carrier{"a": &d.a, "b": &d.b} {
		var err error
		*c, err = Open(t.Context(), Options{DB: d.db, Member: id, Key: func() string { return "fp" }, TTL: time.Hour})
		must(t, err)
		t.Cleanup((*c).Close)
	}
	return d
}

func job(n int) engine.JobID { return engine.JobID(key.JobID(uint64(n))) }

func (d *desk) grant(n int) remote.Grant {
	d.t.Helper()
	g := remote.Grant{Job: job(n), Rev: 3, Host: "europe", Method: "match-v5.match"}
	must(d.t, d.db.Write(d.t.Context(), func(tx engine.Tx) error { return d.a.Grant(tx, g) }))
	return g
}

func (d *desk) write(fn func(engine.Tx) error) error { return d.db.Write(d.t.Context(), fn) }

// standing is how a permit stands for a leader that knows of it.
func (d *desk) standing(g remote.Grant) remote.Standing {
	d.t.Helper()
	all, why, err := d.a.Look(d.t.Context(), []remote.Grant{g})
	must(d.t, err)
	if len(all) != 1 || why != "" {
		d.t.Fatalf("%d permits, %q", len(all), why)
	}
	return all[0]
}

// A permit is begun once, by one member.
func TestAPermitIsBegunOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	g := d.grant(1)
	if s := d.standing(g); s.Grant != g || s.Begun || s.Expired || s.Report.How != remote.Open {
		t.Errorf("%+v", s)
	}
	begun := make(chan bool)
	for i := range 8 {
		go func() {
			c := []*Carrier{d.a, d.b}[i%2]
			ours, err := c.begin(t.Context(), g.Job, g.Rev)
			if err != nil {
				t.Error(err)
			}
			begun <- ours
		}()
	}
	n := 0
	for range 8 {
		if <-begun {
			n++
		}
	}
	if s := d.standing(g); n != 1 || !s.Begun || !s.Gone { // its member is in no table
		t.Errorf("begun %d times: %+v", n, s)
	}
}

// A permit that has expired is not begun, and one that was begun does not come back unused: of the
// leader and a member one is first.
func TestAPermitEndsOrBegins(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	g := d.grant(1)
	end := func(how remote.How) error {
		return d.write(func(tx engine.Tx) error { return d.a.End(tx, g.Job, g.Rev, how) })
	}
	if err := end(remote.Unused); !errors.Is(err, remote.ErrMoved) {
		t.Errorf("one that has not expired: %v", err)
	}
	d.do("update fs_permit set expires = clock_timestamp()")
	if ours, err := d.b.begin(t.Context(), g.Job, g.Rev); ours || err != nil {
		t.Errorf("one that has expired: %t, %v", ours, err)
	}
	must(t, end(remote.Unused))
	if s, rows := d.standing(g), d.count("select count(*) from river_job"); s.Report.How != remote.Unused || rows != 0 {
		t.Errorf("%+v, %d rows of River", s, rows)
	}
	if err := end(remote.Lost); !errors.Is(err, remote.ErrMoved) {
		t.Errorf("one that has ended: %v", err)
	}
	g = d.grant(2)
	if ours, err := d.b.begin(t.Context(), g.Job, g.Rev); !ours || err != nil {
		t.Errorf("%t, %v", ours, err)
	}
	d.do("update fs_permit set expires = clock_timestamp() - interval '1 hour'")
	if err := end(remote.Unused); !errors.Is(err, remote.ErrMoved) {
		t.Errorf("one that was begun: %v", err)
	}
	must(t, end(remote.Lost))
	if s := d.standing(g); s.Report.How != remote.Lost {
		t.Errorf("%+v", s)
	}
}

// What a member tells is read as it was told; a claim that is taken back leaves nothing.
func TestAReport(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	g := d.grant(1)
	told := remote.Report{
		How: remote.Answered, Ago: 1500 * time.Microsecond, Status: 429, Class: "429.app", Latency: 30 * time.Millisecond, Bytes: 12,
		Headers: map[string]string{"Retry-After": "7", "X-Rate-Limit-Type": "application"},
	}
	must(t, d.write(func(tx engine.Tx) error { return tell(tx, g.Job, g.Rev, told) }))
	s := d.standing(g)
	if s.Report.Headers["Retry-After"] != "7" || len(s.Report.Headers) != 2 {
		t.Errorf("%v", s.Report.Headers)
	}
	s.Report.Headers, told.Headers = nil, nil
	if got, want := s.Report, told; got.How != want.How || got.Ago != want.Ago || got.Status != want.Status || got.Class != want.Class || got.Latency != want.Latency || got.Bytes != want.Bytes {
		t.Errorf("%+v, want %+v", got, want)
	}
	refused := errors.New("no")
	if err := d.write(func(tx engine.Tx) error {
		return errors.Join(d.a.Grant(tx, remote.Grant{Job: job(2), Rev: 1}), refused)
	}); !errors.Is(err, refused) {
		t.Error(err)
	}
	if n, rows := d.count("select count(*) from fs_permit"), d.count("select count(*) from river_job"); n != 1 || rows != 1 {
		t.Errorf("%d permits, %d rows of River", n, rows)
	}
	d.do("update fs_permit set granted = granted - interval '2 days'")
	open := d.grant(3)
	d.do("update fs_permit set granted = granted - interval '2 days'")
	must(t, d.a.prune(t.Context()))
	if all, _, err := d.a.Look(t.Context(), nil); err != nil || len(all) != 1 || all[0].Grant != open {
		t.Errorf("%v, %+v", err, all)
	}
}

// Who leads next asks for the calls that Riot may have counted since an instant: not for those that
// are open, nor for those that nobody has made.
func TestCallsThatHaveEnded(t *testing.T) {
	d := newDesk(t)
	before := d.grant(1)
	d.do("update fs_permit set granted = granted - interval '1 minute'")
	answered, lost, unused := d.grant(2), d.grant(3), d.grant(4)
	d.grant(5)
	for g, how := range map[remote.Grant]remote.How{before: remote.Answered, answered: remote.Answered, lost: remote.Lost, unused: remote.Unused} {
		must(t, d.write(func(tx engine.Tx) error { return tell(tx, g.Job, g.Rev, remote.Report{How: how, Ago: time.Second}) }))
	}
	var since time.Time
	must(t, d.ask("select clock_timestamp() - interval '30 seconds'").Scan(&since))
	all, err := d.a.Ended(t.Context(), since)
	must(t, err)
	told := map[remote.Grant]remote.Report{}
	for _, s := range all {
		told[s.Grant] = s.Report
	}
	if len(told) != 2 || told[answered].How != remote.Answered || told[answered].Ago != time.Second || told[lost].How != remote.Lost {
		t.Errorf("%+v", all)
	}
}

// A row of River is dated by the database, whose members else would wait for a leader's clock that
// is ahead.
func TestARowIsDatedByTheDatabase(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.grant(1)
	if n := d.count("select count(*) from river_job where state = 'available' and scheduled_at = created_at and scheduled_at between clock_timestamp() - interval '1 minute' and clock_timestamp() and max_attempts = 1"); n != 1 {
		t.Error("it is not due")
	}
}

func (d *desk) do(sql string) {
	d.t.Helper()
	_, err := d.conn.Exec(d.t.Context(), sql)
	must(d.t, err)
}

// Who gets another key takes up what is let go for that one, and nothing of the old one any more.
func TestANewKeyHasAnotherQueue(t *testing.T) {
	r := newRig(t, pgtest.Schema(t), "20:1", sim.FixedLazy, sim.Instant)
	var key atomic.Value
	key.Store("")
	c, err := Open(t.Context(), Options{
		DB: r.db, Member: "a", Key: func() string { return key.Load().(string) }, TTL: time.Hour, Workers: 1,
		Trigger: func(context.Context, string, engine.SyncAsk) error { return nil },
	})
	must(t, err)
	defer c.Close()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- c.Run(ctx) }()
	tries := func(queue string) {
		var id int64
		var state string
		must(t, c.pool.QueryRow(t.Context(), `insert into river_job (kind, queue, args, max_attempts) values ($1, $2, '{"job": "a1", "rev": 1}', 1) returning id`, kindAttempt, queue).Scan(&id))
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
