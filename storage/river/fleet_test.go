package river

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/internal/pgtest"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/storage/pg"
)

// rig is a strict Riot, and members as processes of their own.
type rig struct {
	t      *testing.T
	url    string
	sim    *sim.Sim
	riot   *httptest.Server
	before func(*http.Request) // sees each call before it is answered; nil = nobody does
	db     *pg.DB
	conn   *pgx.Conn
	leads  chan string // ids of members that begin to lead; "" = one could not begin
	ended  sync.WaitGroup
	mu     sync.Mutex
	procs  map[string]*proc
	leader string

	inserted int
}

type proc struct {
	*exec.Cmd
	in io.Closer
}

func newRig(t *testing.T, url string, limits string, rule sim.WindowRule, latency sim.Latency) *rig {
	t.Helper()
	app, err := sim.ParseLimits(limits)
	must(t, err)
	r := &rig{t: t, url: url, procs: map[string]*proc{}, leads: make(chan string, 1000)}
	r.sim = sim.New(sim.Options{
		Seed: 1, Limits: sim.Limits{App: app, Methods: map[route.Method][]sim.Limit{route.Match: {{N: 100_000, Per: 10 * time.Second}}}},
		WindowRule: rule, Latency: latency, Retention: sim.KeepForever, Players: players(sized(1, 6)),
	})
	r.riot = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if r.before != nil {
			r.before(q)
		}
		r.sim.ServeHTTP(w, q)
	}))
	r.db, err = pg.Open(t.Context(), pg.Options{URL: url, Conns: 2})
	must(t, err)
	r.conn, err = r.db.Connect(t.Context())
	must(t, err)
	t.Cleanup(func() {
		for id := range r.procs {
			r.signal(id, syscall.SIGKILL)
		}
		r.ended.Wait()
		_ = r.conn.Close(context.Background())
		must(t, r.db.Close())
		r.riot.Close()
	})
	return r
}

// players have 1,000 matches each.
func players(n int) (all []sim.PlayerSpec) {
	for i := range n {
		all = append(all, sim.PlayerSpec{RiotID: fmt.Sprintf("Player %d#SIM", i), Platform: route.EUW1, Matches: 1000})
	}
	return all
}

func (r *rig) start(id string) {
	r.t.Helper()
	c := exec.Command(os.Args[0], id, r.riot.URL)
	c.Env = append(os.Environ(), envMember+"="+r.url)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	must(r.t, err)
	out, err := c.StdoutPipe()
	must(r.t, err)
	must(r.t, c.Start())
	r.mu.Lock()
	r.procs[id] = &proc{c, in}
	r.mu.Unlock()
	r.ended.Go(func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var epoch int64
			if n, _ := fmt.Sscanf(lines.Text(), "leads %d", &epoch); n != 1 {
				r.t.Errorf("%s %s", id, lines.Text())
				r.leads <- ""
				continue
			}
			r.mu.Lock()
			r.leader = id
			r.mu.Unlock()
			r.leads <- id
		}
		_ = c.Wait()
	})
}

// begins starts members, and waits until all are there and one of them leads.
func (r *rig) begins(ids ...string) {
	r.t.Helper()
	for _, id := range ids {
		r.start(id)
	}
	if <-r.leads == "" {
		r.t.FailNow()
	}
	for r.count("select count(*) from fs_member") < len(ids) && !r.t.Failed() {
		time.Sleep(10 * time.Millisecond)
	}
}

func (r *rig) leading() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.leader
}

func (r *rig) signal(id string, s syscall.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.procs[id].Process.Signal(s)
	if s == syscall.SIGKILL {
		delete(r.procs, id)
	}
}

// insert makes n jobs, each of another match. It is for once.
func (r *rig) insert(n int) {
	r.t.Helper()
	var ids []string
	for _, p := range r.sim.Players() {
		ids = append(ids, r.sim.MatchIDs(p.RiotID)...)
	}
	if len(ids) < n {
		r.t.Fatalf("%d matches, want %d", len(ids), n)
	}
	specs := make([]engine.Spec, n)
	for i := range specs {
		a, err := json.Marshal(args{Match: ids[i]})
		must(r.t, err)
		specs[i] = engine.Spec{Kind: testKind, Queue: "q", Key: "m:" + ids[i], Args: a}
	}
	asked, err := json.Marshal(specs)
	must(r.t, err)
	_, err = r.give(asked, engine.ErrRefused, engine.ErrBroken) // node.enqueue obeys once
	must(r.t, err)
	r.inserted = n
}

// give gives an order, again while the answer is one of these: on a busy machine who leads may lose its term, and nobody
// may lead for longer than an order waits.
func (r *rig) give(order []byte, again ...error) (out []byte, err error) {
	for end := time.Now().Add(patience); ; {
		out, err = Give(r.t.Context(), r.db, order)
		if r.t.Failed() || time.Now().After(end) || !slices.ContainsFunc(again, func(e error) bool { return errors.Is(err, e) }) {
			return out, err
		}
	}
}

// finish waits until each job has ended, and calls meanwhile, if it is not nil, again and again.
func (r *rig) finish(meanwhile func()) {
	r.t.Helper()
	for ended := 0; ended < r.inserted; {
		if r.t.Failed() {
			r.t.FailNow() // a member that could not begin is missed for ever
		}
		if meanwhile != nil {
			meanwhile()
		}
		time.Sleep(100 * time.Millisecond)
		if err := r.ask("select count(*) from jobs where finished is not null").Scan(&ended); err != nil {
			_ = r.conn.Close(context.Background())
			if c, err := r.db.Connect(context.Background()); err == nil {
				r.conn = c
			}
		}
	}
}

func (r *rig) ask(sql string, args ...any) pgx.Row {
	return r.conn.QueryRow(context.Background(), sql, args...)
}

func (r *rig) count(sql string, args ...any) (n int) {
	r.t.Helper()
	must(r.t, r.ask(sql, args...).Scan(&n))
	return n
}

// givenBack counts what may be made twice: the attempts that were under way when the leader was gone, and the calls that
// were when their member was.
const givenBack = `select (select count(*) from attempts where verb = 'interrupted') + (select count(*) from fs_call where how = 'lost')`

// sound wants that no limit was passed, that each match is there, once, and that none was fetched
// again but for an attempt that was given back.
func (r *rig) sound(n int) sim.Stats {
	r.t.Helper()
	s := r.sim.Stats()
	if s.Violations > 0 || s.Early > 0 {
		r.t.Errorf("%d calls over the limit, %d while a 429 held", s.Violations, s.Early)
	}
	if done := r.count("select count(*) from jobs where state = 'completed'"); done != n || s.Matches != n {
		r.t.Errorf("%d of %d jobs are done, %d matches were delivered", done, n, s.Matches)
	}
	back := r.count(givenBack)
	r.t.Logf("%d calls, %d repeated; %d attempts given back, used %.3f", s.Calls, s.Repeated, back, s.Budget[0].Used())
	if s.Repeated > back {
		r.t.Errorf("%d matches were fetched twice, %d attempts given back:\n%s", s.Repeated, back, r.notDone())
	}
	return s
}

// notDone tells of the attempts that were not done, and of the calls of jobs that had several.
func (r *rig) notDone() (told string) {
	r.t.Helper()
	must(r.t, r.ask(`select coalesce(string_agg(line, E'\n'), '') from (
	select to_jsonb(a)::text from attempts a where verb <> 'done'
	union all select (to_jsonb(c) - 'body')::text from fs_call c where job in (select job from fs_call group by job having count(*) > 1)
) lines(line)`).Scan(&told))
	return told
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// untilBegun tells how long calls waited for a member, and gives the longest of 99 %, in seconds.
func (r *rig) untilBegun() (p99 float64) {
	r.t.Helper()
	var p50 float64
	must(r.t, r.ask(`select percentile_disc(0.5) within group (order by s), percentile_disc(0.99) within group (order by s)
from (select extract(epoch from begun - granted)::float8 as s from fs_call where begun is not null) waits`).Scan(&p50, &p99))
	r.t.Logf("from the grant to the begin: half within %.1f ms, 99 %% within %.1f ms", 1000*p50, 1000*p99)
	return p99
}

// Four processes share the calls of one key: no limit is passed, and each has a part.
func TestShow2_FourProcessesOneLimit(t *testing.T) {
	t.Parallel()
	n, limits := sized(80, 5900), sized("50:2", "500:10")
	r := newRig(t, made(t), limits, sim.FixedLazy, sim.Latency{Base: 50 * time.Millisecond, Jitter: 20 * time.Millisecond})
	r.begins("a", "b", "c", "d")
	r.insert(n)
	began := time.Now()
	r.finish(nil)
	s := r.sound(n)
	t.Logf("in %v, %d at once", time.Since(began), s.Most)
	r.untilBegun()
	if *whole && s.Budget[0].Used() < 0.97 {
		t.Error("too slow")
	}
	for _, id := range []string{"a", "b", "c", "d"} {
		t.Logf("%s made %d", id, r.count("select count(*) from fs_call where member = $1", id))
	}
	if by := r.count("select count(distinct member) from fs_call where how = 'answered'"); by < sized(2, 4) {
		t.Errorf("%d members made calls", by)
	}
	until(func() bool { return r.count("select count(*) from river_job where state <> 'completed'") == 0 })
}

// At 50 calls a second a call is taken up at once by one of four members.
func TestShow7_FromTheGrantToTheBegin(t *testing.T) {
	if !*whole {
		t.Skip("a measurement: -whole makes it")
	}
	t.Parallel()
	const n = 1000
	r := newRig(t, made(t), "50:1", sim.FixedLazy, sim.Latency{Base: 50 * time.Millisecond, Jitter: 20 * time.Millisecond})
	r.begins("a", "b", "c", "d")
	r.insert(n)
	r.finish(nil)
	r.sound(n)
	if r.untilBegun() > 0.05 {
		t.Error("too slow")
	}
}

// Members that are killed, the leader among them, lose nothing and pass no limit.
func TestShow3_KilledMembers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		calls, kills int
		every        time.Duration
		used         float64 // of the limit, at least
	}{
		"one after another": {sized(150, 5400), sized(2, 33), sized(1100*time.Millisecond, 5*time.Second), 0},
		"one a minute":      {6000, 3, time.Minute, 0.9},
	} {
		t.Run(name, func(t *testing.T) {
			if !*whole && c.used > 0 {
				t.Skip("a measurement: -whole makes it")
			}
			t.Parallel()
			killMembers(t, c.calls, c.kills, c.every, c.used)
		})
	}
}

// usualLimits are less than go at once: who leads next must know them, however early.
const usualLimits = "30:1"

// A leader that is killed while its first calls take all places leaves the limits to the next one, which asks for
// none beside them.
func TestP10a_KilledInItsFirstBurst(t *testing.T) {
	t.Parallel()
	const n = 30
	r := newRig(t, made(t), fmt.Sprint(n, ":4"), sim.Sliding, sim.Latency{Base: 300 * time.Millisecond})
	r.begins("a", "b", "c")
	time.Sleep(await.ToBeat(time.Now(), time.Second)) // else the limits may be saved only because a second turns meanwhile
	r.insert(n)
	until(func() bool { return r.sim.Stats().Calls > n*9/10 })
	r.signal(r.leading(), syscall.SIGKILL)
	r.finish(nil)
	r.sound(n)
}

func killMembers(t *testing.T, n, kills int, every time.Duration, used float64) {
	r := newRig(t, made(t), sized(usualLimits, "300:10"), sim.Sliding, sim.Latency{Base: 100 * time.Millisecond, Jitter: 50 * time.Millisecond})
	r.begins("a", "b", "c")
	r.insert(n)
	killed := 0
	last := time.Now()
	r.finish(func() {
		if killed == kills || time.Since(last) < every {
			return
		}
		last = time.Now()
		id := r.leading()
		if killed%2 == 1 {
			for other := range r.procs {
				if other != id {
					id = other
				}
			}
		}
		r.signal(id, syscall.SIGKILL)
		killed++
		r.start(fmt.Sprint("new ", killed))
	})
	if s := r.sound(n); s.Budget[0].Used() < used {
		t.Error("too slow")
	}
	if killed < sized(1, kills) {
		t.Errorf("%d kills", killed)
	}
}

// Members that stand still, the leader among them: what they bring later is late, and no call of
// theirs is written that nobody counts.
func TestShow4_FrozenMembers(t *testing.T) {
	t.Parallel()
	n, stops := sized(120, 5000), sized(2, 20)
	r := newRig(t, made(t), sized(usualLimits, "300:10"), sim.Sliding, sim.Latency{Base: 100 * time.Millisecond, Jitter: 50 * time.Millisecond})
	ids := []string{"a", "b", "c"}
	r.begins(ids...)
	r.insert(n)
	stopped := 0
	r.finish(func() {
		if stopped == stops {
			return
		}
		if stopped > 0 {
			time.Sleep(time.Second)
		}
		id := r.leading()
		if stopped%2 == 1 {
			id = ids[stopped%3]
		}
		stopped++
		r.signal(id, syscall.SIGSTOP)
		time.Sleep(sized(writeWithin+straggle/2, time.Duration(3+stopped%8)*time.Second)) // what it has begun must not be written any more
		r.signal(id, syscall.SIGCONT)
	})
	r.sound(n)
	if late, lost := r.count("select sum(late) from fs_member"), r.count("select count(*) from fs_call where how = 'lost'"); late > lost {
		t.Errorf("%d late results of %d calls whose jobs were given back", late, lost)
	}
	if stopped < sized(1, stops) {
		t.Errorf("%d stops", stopped)
	}
}

// What a member brings that stood still, until its job was given back, is discarded and counted among what is told of it.
func TestShow4_ALateResultIsCounted(t *testing.T) {
	t.Parallel()
	r := newRig(t, made(t), "60:2", sim.Sliding, sim.Latency{})
	arrived, goesOn := make(chan struct{}), make(chan struct{})
	var first, release sync.Once
	defer release.Do(func() { close(goesOn) })
	r.before = func(*http.Request) {
		held := false
		first.Do(func() { held = true })
		if held {
			close(arrived)
			<-goesOn
		}
	}
	r.run("leads", idle)
	const has = "led a"
	r.start(has)
	r.insert(1)
	<-arrived
	r.signal(has, syscall.SIGSTOP)
	r.start("led b")
	r.finish(nil) // which makes it
	release.Do(func() { close(goesOn) })
	r.signal(has, syscall.SIGCONT)
	for deadline := time.Now().Add(5 * time.Minute); r.count("select coalesce(sum(late), 0) from fs_member where id = $1", has) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no late result of %s is counted", has)
		}
	}
	r.sound(1)
	if n := r.count("select sum(late) from fs_member"); n != 1 {
		t.Errorf("%d late results are counted", n)
	}
}

// A server that crashes: nobody lets a call go meanwhile, and outcomes wait for it, but those of a
// leader whose term ends meanwhile.
func TestShow5_AServerThatCrashes(t *testing.T) {
	t.Parallel()
	n, crashes := sized(100, 3000), sized(1, 5)
	server := pgtest.Own(t)
	r := newRig(t, server.URL, sized(usualLimits, "300:10"), sim.Sliding, sim.Latency{Base: 100 * time.Millisecond, Jitter: 50 * time.Millisecond})
	// It crashes when so many calls were made; those after the last of these are answered when it is gone.
	next := func(crashed int) int64 { return int64(n * (crashed + 1) / (crashes + 1)) }
	var calls atomic.Int64
	gone := make(chan struct{})
	riot := r.riot.Config.Handler
	r.riot.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		riot.ServeHTTP(w, q)
		if calls.Add(1) > next(crashes-1) {
			select {
			case <-gone:
			case <-q.Context().Done():
			}
		}
	})
	r.begins("a", "b", "c")
	r.insert(n)
	crashed := 0
	r.finish(func() {
		if crashed < crashes && calls.Load() > next(crashed) {
			server.Stop(t)
			if crashed++; crashed == crashes {
				close(gone)
			}
			server.Start(t)
		}
	})
	r.sound(n)
}
