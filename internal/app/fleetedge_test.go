package app

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/internal/pgtest"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// keyless is a command of a process that has no API key but that in its data directory; "" = none.
func (f *inFleet) keyless(key string, args ...string) (c command, dir string) {
	f.t.Helper()
	beside := f.inSchema
	beside.dir = freshDir(f.t)
	if key != "" {
		if err := os.MkdirAll(beside.dir, 0o700); err != nil {
			f.t.Fatal(err)
		}
		write(f.t, filepath.Join(beside.dir, "riot.key"), key+"\n")
	}
	c = beside.command(args...)
	delete(c.env, "RIOT_API_KEY")
	return c, beside.dir
}

// joins notes a member that was started.
func (f *inFleet) joins(p *child, dir string) int {
	pid := p.cmd.Process.Pid
	f.members[pid], f.dirs[pid] = p, dir
	return pid
}

// ends ends all members in order.
func (f *inFleet) ends() {
	f.t.Helper()
	for _, p := range f.members {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		p.wait().wants(f.t, exitDone)
	}
}

// A member that cannot reach Riot leaves the lead and the calls to others, which carry the sync to its
// end: what it lacks is said wherever members are told of.
func TestPostgres_AMemberThatIsCutOff(t *testing.T) {
	longest(t) // TestH14g_ALeaderThatIsCutOff of storage/fleet holds who leads then
	t.Parallel()
	const who, matches = "Cut Off#EUW", 40
	f := newFleet(t, sim.Options{Seed: 3, Limits: limits("20:1"), Latency: sim.Instant, Players: []sim.PlayerSpec{player(who, matches)}})
	c, dir := f.keyless(canary, "serve", "--base-url", "http://127.0.0.1:1/{routing}") // nobody listens there
	p := c.start(t)
	p.says("ready: process")
	cut := f.joins(p, dir)
	if pid := f.leader(0); pid != cut {
		t.Errorf("%d leads", pid)
	}
	f.join()
	f.join()
	f.run(exitDone, "sync", who, "--platform", "euw1") // carried out by whoever leads
	f.until("what is wrong with it", func(all map[int]engine.MemberRow) bool {
		return !all[cut].CutOff.IsZero() && all[cut].Role != engine.MemberLeads
	})
	if f.leader(0) == cut {
		t.Error("who is cut off leads")
	}
	for _, args := range [][]string{{"members"}, {"doctor"}} {
		// Without a store in the data directory of its own a command asks the database.
		if r := f.command(args...).asked(t); !strings.Contains(r.stdout, "cannot reach Riot: no calls") {
			t.Errorf("%s: %s", args[0], r.stdout)
		}
	}
	if log, err := os.ReadFile(filepath.Join(dir, "farsight.log")); err != nil || !strings.Contains(string(log), "this machine cannot reach Riot: it makes no calls") {
		t.Errorf("its log: %v", err)
	}
	// It takes up no call any more: three may be under way when it is found out, and one after each knock.
	if n := sql(t, f.at, "select count(*)::text from fs_call where how = 'answered' and member like $1 || '-%'", strconv.Itoa(cut))[0]; n != "0" {
		t.Errorf("%s calls of it were answered", n)
	}
	if s := f.sim.Stats(); s.Violations != 0 {
		t.Errorf("%d violations of the limits", s.Violations)
	}
	f.ends()
	f.sound()
}

// Who leads and cannot reach Riot keeps the lead when nobody else may have it or makes calls: none is made, and every
// member, status, list and doctor says why and what to do. When the way is free again all goes on.
func TestPostgres_ALeaderThatIsCutOffAlone(t *testing.T) {
	longest(t)
	t.Parallel()
	const who, matches = "Cut Off Alone#EUW", 12
	f := newFleet(t, sim.Options{Seed: 3, Limits: limits("20:1"), Latency: sim.Instant, Players: []sim.PlayerSpec{player(who, matches)}})
	way := newWay(t, f.sim.addr)
	c, dir := f.keyless(canary, "serve", "--base-url", "http://"+way.at+"/{routing}")
	p := c.start(t)
	p.says("ready: process")
	leads := f.joins(p, dir)
	f.leader(0)
	looks := f.join("--no-lead", "--no-work")
	c, dir = f.keyless("", "serve") // it may lead, and has no key
	without := c.start(t)
	without.says("ready: process")
	f.joins(without, dir)
	beside := f.inSchema
	beside.dir = f.dirs[looks]
	beside.run(exitDone, "trigger", who, "--platform", "euw1")
	const why = "leads and cannot reach Riot, and no other member makes calls: none is made until its way to Riot is free, or a member with the same key is started"
	for pid, dir := range f.dirs {
		beside.dir = dir
		f.members[pid].until("the reason", func() bool { return strings.Contains(beside.run(exitDone, "status").stdout, why) })
	}
	for _, list := range []string{"members", "doctor"} {
		if r := f.command(list).asked(t); !strings.Contains(r.stdout, strconv.Itoa(leads)+"-") || !strings.Contains(r.stdout, why) {
			t.Errorf("%s: %s", list, r.stdout)
		}
	}
	if n := f.sim.Stats().Calls; n != 0 || f.leader(0) != leads {
		t.Errorf("%d calls were made, %d leads", n, f.leader(0))
	}
	way.open(t)
	f.stored(p, matches)
	if f.leader(0) != leads {
		t.Errorf("%d leads", f.leader(0))
	}
	p.until("no word of it", func() bool { return !strings.Contains(beside.run(exitDone, "status").stdout, "cannot reach Riot") })
	f.ends()
	f.sound()
}

// way is an address where nobody listens, until it leads to another.
type way struct{ at, to string }

func newWay(t *testing.T, to string) *way {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return &way{l.Addr().String(), to}
}

// open lets the way lead there until the test ends.
func (w *way) open(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", w.at)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	there := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: w.to}) }}
	go func() {
		defer close(done)
		_ = sim.Serve(ctx, l, there)
	}()
	t.Cleanup(func() { stop(); <-done })
}

// halfSynced is a leader at work on a sync that goes no further, and one of a process without a key that
// follows it.
func halfSynced(t *testing.T, who string) (f *inFleet, leads int, without *child) {
	t.Helper()
	f = newFleet(t, sim.Options{Seed: 3, Limits: limits("20:1"), Latency: sim.Instant, Players: []sim.PlayerSpec{player(who, 12)}})
	f.sim.upTo(5)
	leads = f.join()
	f.leader(0)
	c, _ := f.keyless("", "sync", who, "--platform", "euw1")
	without = c.start(t)
	without.says("matches")
	return f, leads, without
}

// A sync beside members goes on when the last of them is gone: with a key this process leads, without
// one it says what to do.
func TestPostgres_ASyncWhoseLastLeaderIsGone(t *testing.T) {
	longest(t)
	t.Parallel()
	const who = "Left Alone#EUW"
	f, leads, without := halfSynced(t, who)
	with := f.command("sync", who, "--platform", "euw1").start(t)
	with.says("matches")
	f.members[leads].kill()
	with.says("nobody leads any more: this process does")
	f.sim.upTo(0)
	with.wait().wants(t, exitDone)
	// Which of the two was first to see it is a matter of chance: a sync that leads is somebody who does.
	switch r := without.wait(); {
	case r.code == exitDone:
	case r.code == exitFailed && strings.Contains(r.stderr, "nobody leads the members any more"):
	default:
		t.Errorf("exit %d: %s", r.code, r.stderr)
	}
	f.sound()
}

// A sync that stands still for longer than a term leads again when nobody has led meanwhile, else it
// follows who does, to the end of the sync.
func TestPostgres_ASyncThatStoodStill(t *testing.T) {
	longest(t)
	t.Parallel()
	const who, matches = "Sleeper#EUW", 12
	f := newFleet(t, sim.Options{Seed: 3, Limits: limits("20:1"), Latency: sim.Instant, Players: []sim.PlayerSpec{player(who, matches)}})
	f.sim.upTo(5)
	p := f.command("sync", who, "--platform", "euw1", "--json").start(t)
	pid := p.cmd.Process.Pid
	f.members[pid] = p
	p.says(`"phase":"matches"`)
	sleep := func() {
		_ = p.cmd.Process.Signal(syscall.SIGSTOP)
		p.until("the end of its term", func() bool {
			return len(sql(t, f.at, "select holder from fs_fleet where expires < clock_timestamp()")) == 1
		})
	}
	wake := func() { _ = p.cmd.Process.Signal(syscall.SIGCONT) }
	sleep()
	before := sql(t, f.at, "select holder from fs_fleet")[0]
	wake()
	p.until("its next term", func() bool {
		at := sql(t, f.at, "select holder from fs_fleet where expires > clock_timestamp()")
		return len(at) == 1 && at[0] != before && strings.HasPrefix(at[0], strconv.Itoa(pid)+"-")
	})
	sleep()
	other := f.join()
	if leads := f.leader(pid); leads != other {
		t.Errorf("%d leads", leads)
	}
	wake()
	f.sim.upTo(0)
	r := p.wait().wants(t, exitDone)
	delete(f.members, pid)
	if strings.Count(r.stdout, `"event":"summary"`) != 1 || !strings.Contains(r.stdout, `"result":"completed"`) || r.stderr != "" {
		t.Errorf("it said %s%s", r.stdout, r.stderr)
	}
	if n := f.sim.Stats().Violations; n != 0 {
		t.Errorf("%d violations of the limits", n)
	}
	f.ends()
	f.sound()
}

// Without a key nobody takes the lead: the sync ends with what to do, and the same command goes on.
func TestPostgres_ASyncThatNobodyCarriesOut(t *testing.T) {
	longest(t)
	t.Parallel()
	const who = "No One Left#EUW"
	f, leads, p := halfSynced(t, who)
	f.members[leads].kill()
	r := p.wait().wants(t, exitFailed)
	for _, s := range []string{"nobody leads the members any more that share the database", "start `farsight serve` with an API key", "the same command goes on"} {
		if !strings.Contains(r.stderr, s) {
			t.Errorf("%q is not in %q", s, r.stderr)
		}
	}
	f.sim.upTo(0)
	f.run(exitDone, "sync", who, "--platform", "euw1")
	f.sound()
}

// Somebody who leads within three terms is waited for, and so is a database that does not tell.
func TestLeaderless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := errors.New("the database cannot be reached")
		began := time.Now()
		err := leaderless(t.Context(), func(context.Context) (*engine.Term, error) {
			switch s := time.Since(began) / time.Second; {
			case s == 8 || s == 16:
				return &engine.Term{Leader: "4711-9f3c on db"}, nil
			case s > 20 && s < 60:
				return nil, away
			}
			return &engine.Term{}, nil
		})
		if took := time.Since(began); !errors.Is(err, errLeaderless) || took != 68*time.Second {
			t.Errorf("%v after %s", err, took)
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if err := leaderless(ctx, nil); err != nil {
			t.Error(err)
		}
	})
}

// A console without a key looks on, and leaves the lead to others; when it is given one, it is a member
// like them: it makes calls, and leads when its turn comes.
func TestPostgres_AGuestThatIsGivenAKey(t *testing.T) {
	longest(t)
	t.Parallel()
	const who, matches = "Guest#EUW", 12
	f := newFleet(t, sim.Options{Seed: 3, Limits: limits("20:1"), Latency: sim.Instant, Players: []sim.PlayerSpec{player(who, matches)}})
	leads := f.join()
	f.leader(0)
	for what, give := range map[string]func(guest *child, dir string){
		"in the console": func(_ *child, dir string) {
			if _, err := attached(t, dir).Do(t.Context(), engine.Command{Op: engine.OpKey, Key: canary}); err != nil {
				t.Fatal(err)
			}
		},
		"in a file": func(p *child, dir string) {
			write(t, filepath.Join(dir, "riot.key"), canary+"\n")
			_ = p.cmd.Process.Signal(syscall.SIGHUP)
		},
	} {
		args := []string{"--plain"}
		if what == "in a file" {
			args = []string{"serve"}
		}
		c, dir := f.keyless("", args...)
		c.as = func(cmd *exec.Cmd) {
			in, err := cmd.StdinPipe() // it is never closed: the console stays
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = in.(io.Closer).Close() })
		}
		p := c.start(t)
		guest := f.joins(p, dir)
		f.until("a guest", func(all map[int]engine.MemberRow) bool {
			m, is := all[guest]
			return is && m.Key == "" && m.Alive()
		})
		client := api.NewClient(controlSocket(dir))
		p.until("its socket", func() bool { _, err := client.Hello(t.Context()); return err == nil })
		client.Close()
		give(p, dir)
		f.until("a member", func(all map[int]engine.MemberRow) bool {
			m := all[guest]
			return m.Key != "" && m.Works && m.Role == engine.MemberStandsBy
		})
		f.members[leads].kill()
		delete(f.members, leads)
		if leads = f.leader(leads); leads != guest {
			t.Errorf("%s: %d leads", what, leads)
		}
	}
	f.run(exitDone, "sync", who, "--platform", "euw1")
	f.sound()
}

// Who the members are is told at once, also while nobody leads and no console can show anything.
func TestPostgres_MembersAreToldWithoutALeader(t *testing.T) {
	t.Parallel()
	dir := freshDir(t)
	env := map[string]string{"FARSIGHT_DATA_DIR": dir, "FARSIGHT_STORE": pgtest.Schema(t)}
	cfg, err := config.Load(config.Inputs{Getenv: func(name string) (string, bool) { v, is := env[name]; return v, is }})
	if err != nil {
		t.Fatal(err)
	}
	m, err := open(cfg, role{keys: keyring.Of(riot.Key{}, "nowhere", filepath.Join(dir, "riot.key")), guest: func() bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := m.close(); err != nil {
			t.Error(err)
		}
	}()
	ctx, stop := context.WithCancel(t.Context()) // who waits for a leader waits for ever
	stop()
	if _, err := m.front.Find(ctx, engine.StatusQuery{}); !errors.Is(err, engine.ErrGone) {
		t.Errorf("without an engine: %v", err)
	}
	a, err := m.front.Find(t.Context(), engine.MembersQuery{})
	if page, is := a.(engine.MembersPage); err != nil || !is || page.Leader != "" {
		t.Errorf("%+v, %v", a, err)
	}
}

// A key that is replaced in the files of two members is taken over by both: they go on with the new one,
// and nothing is fetched twice.
func TestPostgres_AKeyIsReplaced(t *testing.T) {
	longest(t)
	t.Parallel()
	const who, matches = "Rotates#EUW", 60
	f := newFleet(t, sim.Options{Seed: 3, Limits: limits("20:1"), Latency: sim.Instant, Players: []sim.PlayerSpec{player(who, matches)}})
	var one *child
	for range 2 {
		c, dir := f.keyless(keyOfFile, "serve")
		one = c.start(t)
		one.says("ready: process")
		f.joins(one, dir)
	}
	f.leader(0)
	f.until("two members", func(all map[int]engine.MemberRow) bool { return len(all) == 2 })
	f.sim.upTo(20)
	beside := f.inSchema
	beside.dir = f.dirs[one.cmd.Process.Pid]
	beside.run(exitDone, "trigger", who, "--platform", "euw1")
	f.stored(one, 5)
	for pid, p := range f.members {
		write(t, filepath.Join(f.dirs[pid], "riot.key"), keyLater+"\n")
		_ = p.cmd.Process.Signal(syscall.SIGHUP)
	}
	later, err := riot.ParseKey(keyLater)
	if err != nil {
		t.Fatal(err)
	}
	f.until("the new key", func(all map[int]engine.MemberRow) bool {
		for pid := range f.members {
			if all[pid].Key != later.Fingerprint() || all[pid].OtherKey {
				return false
			}
		}
		return true
	})
	f.sim.upTo(0)
	f.stored(one, matches)
	if made := sql(t, f.at, "select member from fs_call where how = 'answered' and key_fp = $1 group by member", later.Fingerprint()); len(made) != 2 {
		t.Errorf("%q go on with it", made)
	}
	f.noneTwice()
	f.ends()
	f.sound()
}

// noneTwice checks that no match was asked for again but by an attempt on record: of a call that
// had no answer in time, or whose member was not heard of on a busy machine.
func (f *inFleet) noneTwice() {
	f.t.Helper()
	again := 0
	for _, fetched := range f.sim.Fetches() {
		again += fetched.Calls - 1
	}
	tried := sql(f.t, f.at, "select concat_ws(' ', job_id, number, verb, status, class, error) from attempts where kind in ('match.fetch', 'timeline.fetch') and (verb <> 'done' or status <> 200)")
	if again > len(tried) {
		f.t.Errorf("%d calls for what had been fetched, on record are %q", again, tried)
	}
}

// Who follows shows what who leads does, key or not: its state, its calls by their numbers, what led to a 429,
// and that River's queue is paused, which both name first.
func TestPostgres_AFollowerShowsTheFleet(t *testing.T) {
	longest(t)
	t.Parallel()
	const who, matches = "Followed#EUW", 12
	f := newFleet(t, sim.Options{Seed: 3, Limits: limits("20:1"), Latency: sim.Instant, Players: []sim.PlayerSpec{player(who, matches)}})
	leads := f.join()
	f.leader(0)
	if err := f.sim.Inject(sim.Fault{Name: "429", Kind: sim.LimitApp, RetryAfter: "1", Count: 1, Match: sim.Match{Method: route.Match}}); err != nil {
		t.Fatal(err)
	}
	c, dir := f.keyless("", "serve", "--no-lead")
	p := c.start(t)
	p.says("ready: process")
	f.joins(p, dir)
	beside := f.inSchema
	beside.dir = dir
	beside.run(exitDone, "trigger", who, "--platform", "euw1")
	f.stored(p, matches)

	clients := map[string]*api.Client{"who leads": api.NewClient(controlSocket(f.dirs[leads])), "who follows": api.NewClient(controlSocket(dir))}
	status := func(by string) (row engine.EngineRow) {
		a, err := clients[by].Find(t.Context(), engine.StatusQuery{})
		if s, ok := a.(engine.StatusAnswer); err == nil && ok {
			row = s.Engine
		}
		return row
	}
	calls := func(by string) map[uint64]string {
		all := map[uint64]string{}
		if a, err := clients[by].Find(t.Context(), engine.CallsQuery{}); err == nil {
			for _, c := range a.(engine.CallsPage).Calls {
				all[c.Seq] = c.Method + " " + c.Target
			}
		}
		return all
	}
	p.until("the calls of who leads", func() bool {
		made := calls("who leads")
		return len(made) > matches && maps.Equal(made, calls("who follows"))
	})
	p.until("what led to the 429", func() bool {
		told := map[string]engine.Forensics{}
		for by, c := range clients {
			a, err := c.Find(t.Context(), engine.ForensicsQuery{})
			if f, ok := a.(engine.Forensics); err == nil && ok {
				told[by] = f
			}
		}
		a, b := told["who leads"], told["who follows"]
		return a.Call.Status == 429 && a.Kind == "application" && a.Call.Seq == b.Call.Seq && a.Text == b.Text && len(a.Windows) > 0 && len(a.Windows) == len(b.Windows)
	})
	if row := status("who follows"); row.State != engine.EngineLive || row.Key != "" || row.Term.Here {
		t.Errorf("who follows without a key: %s, %s", row.State, row.Why)
	}
	if said := beside.run(exitDone, "status").stdout; !strings.Contains(said, "; this process has no API key") {
		t.Errorf("status:\n%s", said)
	}
	for by := range clients {
		sql(t, f.at, "update river_queue set paused_at = now() where name like 'call_%' returning name")
		p.until("the pause at "+by, func() bool {
			row := status(by)
			return row.State == engine.EnginePaused && strings.HasPrefix(row.Why, "River's queue call_")
		})
		sql(t, f.at, "update river_queue set paused_at = null where name like 'call_%' returning name")
		p.until("its end at "+by, func() bool { return status(by).State == engine.EngineLive })
	}
	for _, c := range clients {
		c.Close()
	}
	f.ends()
}
