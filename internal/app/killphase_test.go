package app

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// TestP01_KilledInSpecialPhases kills the real binary again and again while it
// recovers, migrates, backs up, compacts and restores, each time at a moment
// between its start and its usual end. After each kill the store is sound, and in
// the end the command does what it would have done at first.
func TestP01_KilledInSpecialPhases(t *testing.T) {
	t.Parallel()
	// Syncs are killed by TestP01_S1_8_S3_4_KilledAtRandomMoments.
	for _, scene := range someScenes(dice(t), func(c crashScene) bool { return c.disturb == nil && c.name != "sync" }) {
		t.Run(scene.name, func(t *testing.T) {
			t.Parallel()
			scene.killed(t, max(2, *killsFlag/8))
		})
	}
}

// killed kills the scene's command so many times on one directory; when it got to
// its end before, on a fresh one.
func (c crashScene) killed(t *testing.T, times int) {
	r, template := dice(t), c.dir(t)
	usual := c.usual(t, template)
	dir, s, ended := copied(t, template), startSim(t, forgiving()), 0
	late := 0
	for range times {
		p := c.do(s, dir).start(t)
		time.Sleep(time.Duration(r.Int64N(int64(usual))))
		if res := p.kill(); res.code != -1 {
			if !c.over(res) {
				res.wants(t, exitDone)
			}
			o := outcome{dir, copied(t, template), ended}
			c.proves(t, s, o)
			cleared(t, o.dir, o.before)
			dir, s, ended = copied(t, template), startSim(t, forgiving()), 0
			late++
			continue
		}
		ended++
		if !c.unread {
			soundInside(t, dir)
		}
	}
	c.again(t, s, dir)
	sound(t, dir)
	nothingHalfMade(t, dir)
	c.proves(t, s, outcome{dir, copied(t, template), ended})
	t.Logf("%d of %d kills came in time, within %v", times-late, times, usual)
}

// forgiving is a Riot whose window soon passes: a process that was killed before it
// saved any count waits for as long.
func forgiving() sim.Options {
	o := quick(crashPlayer)
	o.Limits = limits("500:1")
	return o
}

// usual is how long the command takes when nobody disturbs it.
func (c crashScene) usual(t *testing.T, template string) time.Duration {
	t.Helper()
	s, dir, began := startSim(t, forgiving()), copied(t, template), time.Now()
	c.do(s, dir).run(t).wants(t, exitDone)
	return time.Since(began)
}

// What Riot asks to wait for outlives a kill: the next process makes no call of
// the blocked method before its time.
func TestP09_KilledWhileARetryAfterRuns(t *testing.T) {
	t.Parallel()
	who := player("Patience#KILL", 30)
	s := startSim(t, sim.Options{
		Seed: 9, Limits: limits("200:1"), Latency: sim.Latency{Base: 10 * time.Millisecond}, Players: []sim.PlayerSpec{who},
		Faults: []sim.Fault{{Name: "enough", Kind: sim.LimitMethod, RetryAfter: "10", Count: 1, Match: sim.Match{Method: route.Match}}},
	})
	dir := freshDir(t)
	cmd := s.sync(who.RiotID, dir)
	cmd.env["WORKER_CONCURRENCY"] = "1" // no other call is on its way, however long, when the 429 is sent
	p := cmd.start(t)
	p.until("the 429", func() bool { return s.Stats().Injected["method"] > 0 })
	p.until("its Retry-After in the store", func() bool { return p.still(t, func() bool { return blocked(t, dir) }) })
	p.kill()
	s.rests(t)
	cmd.run(t).wants(t, exitDone)
	if st := s.Stats(); st.Early != 0 || st.Violations != 0 {
		t.Errorf("%d calls came while the Retry-After ran, %d violations", st.Early, st.Violations)
	}
}

// still stops the process while f looks at its files: between two system calls, as the end
// of a process would, so that what f sees is what a kill leaves. Then the process goes on for
// as long as the look took, at least: on a slow machine, too, it gets somewhere.
func (p *child) still(t *testing.T, f func() bool) (ok bool) {
	t.Helper()
	began := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return false // it has ended
	}
	if ok = f(); ok {
		return true // and it is never to go on
	}
	if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	time.Sleep(max(10*time.Millisecond, time.Since(began)))
	return false
}

// blocked reports whether a directory knows of a limit that Riot has closed for a while.
func blocked(t *testing.T, dir string) bool {
	t.Helper()
	to := freshDir(t)
	raw, err := os.ReadFile(filepath.Join(dir, "state.db"))
	if err = errors.Join(err, os.MkdirAll(to, 0o700), os.WriteFile(filepath.Join(to, "state.db"), raw, 0o600)); err != nil {
		t.Fatal(err)
	}
	defer cleared(t, to)
	c, db := look(t, to)
	defer db.Close()
	return slices.ContainsFunc(ask[engine.LimitsRow](t, c, engine.LimitsQuery{}).Buckets, func(b engine.BucketRow) bool { return strings.HasPrefix(b.BlockedBy, "429") })
}

// stopped is longer than the gap from which on the limiter trusts no count.
const stopped = 11 * time.Second

// TestP10_StoppedForLonger stops the real binary (SIGSTOP; a closed laptop is the
// same to it) with retries waiting, calls under way and a window half used. When it
// goes on it does not burst, and makes up for the retries that fell due meanwhile.
func TestP10_StoppedForLonger(t *testing.T) {
	t.Parallel()
	longest(t)
	who := player("Deep Sleeper#STOP", 45)
	o := sim.Options{
		Seed: 4, Limits: limits("20:1,60:6"), Latency: sim.Latency{Base: 20 * time.Millisecond, Jitter: 20 * time.Millisecond},
		Players: []sim.PlayerSpec{who},
	}
	ids := sim.New(o).MatchIDs(who.RiotID)
	for i, kind := range []sim.Kind{sim.Unavailable, sim.Reset, sim.Truncate, sim.ServerError} {
		o.Faults = append(o.Faults, sim.Fault{Name: string(kind), Kind: kind, Match: sim.Match{Method: route.Match, ID: ids[2*i], Attempts: 1}})
	}
	s := startSim(t, o)
	letGo, dir := s.holdFrom(t, 26), freshDir(t)
	cmd := s.sync(who.RiotID, dir)
	// What fails at first fails within the first calls, and falls due while it is stopped.
	const due = stopped + 2*time.Second
	maps.Copy(cmd.env, map[string]string{"FARSIGHT_RETRY_MATCH": due.String() + ",60s,60s,60s", "WORKER_CONCURRENCY": "8", "RIOT_HTTP_TIMEOUT_MS": "10000"})
	began := time.Now()
	p := cmd.start(t)
	p.until("twenty matches", func() bool { return s.Stats().Matches >= 20 })
	signal := func(sig syscall.Signal) {
		if err := p.cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
	}
	signal(syscall.SIGSTOP)
	letGo()
	inTime := time.Since(began) < due // none of them was under way again
	time.Sleep(due + time.Second)     // and the retries with it
	at := s.calls.Load()
	signal(syscall.SIGCONT)
	p.until("the next call", func() bool { return s.calls.Load() > at })
	signal(syscall.SIGSTOP) // and again, in the midst of catching up
	time.Sleep(300 * time.Millisecond)
	signal(syscall.SIGCONT)
	sum := p.wait().wants(t, exitDone).summary(t)
	if sum.Matches.Success != who.Matches || sum.Timelines.Success != who.Matches {
		t.Errorf("summary %+v", sum)
	}
	noViolations(t, s)
	got := exported(t, dir)
	for i := range o.Faults {
		if e := got[ids[2*i]]; e.Attempts < 2 || e.Attempts > 2 && inTime {
			t.Errorf("%s: %d attempts, want 2", e.ID, e.Attempts)
		}
	}
	// The calls that were under way are out of time when the process goes on.
	if n := repeats(s); n > 8 {
		t.Errorf("%d calls were made again, of at most 8 under way", n)
	}
	wholeHistory(t, s, who.RiotID, dir)
	sound(t, dir)
}
