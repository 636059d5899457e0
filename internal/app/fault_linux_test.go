package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/storage"
)

func init() { roles["store"] = func() int { return storeSome(os.Args[1], os.Stdout) } }

// storedByRole is how many matches the role stores.
const storedByRole = 3

// storeSome opens a data directory, stores some matches and closes it. It writes to out
// what was acknowledged. A full disk is waited for, as the engine does. It gives the exit
// code of a process that does this.
func storeSome(dir string, out io.Writer) int {
	say := func(words ...any) { _, _ = fmt.Fprintln(out, words...) }
	db, err := storage.Open(storage.Options{Dir: dir})
	if err != nil {
		say("open:", err)
		return 1
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- db.Serve(ctx) }()
	for i := range storedByRole {
		if err := storeWithPatience(ctx, db, i); err != nil {
			say("store:", err)
			stop()
			say("end:", errors.Join(<-served, db.Close()))
			return 1
		}
		say("stored", i)
	}
	stop()
	if err := errors.Join(<-served, db.Close()); err != nil {
		say("close:", err)
		return 1
	}
	return 0
}

func storeWithPatience(ctx context.Context, db *storage.DB, i int) (err error) {
	for range 4 {
		if err = storeOne(ctx, db, i); !errors.Is(err, storage.ErrDiskFull) {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return err
}

// faultStep is how many operations lie between two that are made to fail.
var faultStep = scratch.Sized(47, 1)

var faultErrnos = []unix.Errno{unix.ENOSPC, unix.EIO, unix.EROFS}

// TestReliability5_6_EveryFileOperationFails makes the first, the second, ... file operation
// of a store's whole life fail, once or from then on for ever, until a life passes
// without a fault. What was acknowledged is there afterwards, the store is sound,
// and it goes on.
func TestReliability5_6_EveryFileOperationFails(t *testing.T) {
	t.Parallel()
	r := dice(t)
	for _, errno := range faultErrnos {
		for _, forever := range []bool{false, true} {
			first := 1 + r.IntN(faultStep)
			t.Run(fmt.Sprintf("%s forever=%t", unix.ErrnoName(errno), forever), func(t *testing.T) {
				t.Parallel()
				lives := 0
				for n := first; lifeWithFault(t, &injector{nth: n, errno: errno, forever: forever}); n += faultStep {
					lives++
				}
				t.Logf("%d lives with a fault", lives)
			})
		}
	}
}

// lifeWithFault runs one life of a store; false when nothing failed in it.
func lifeWithFault(t *testing.T, i *injector) bool {
	i.dir = freshDir(t)
	p := i.start(t, command{args: []string{i.dir}, env: map[string]string{roleEnv: "store"}})
	res := p.wait()
	what := i.failed()
	name := fmt.Sprintf("operation %d (%v)", i.nth, first(what))
	if len(what) == 0 {
		res.wants(t, 0)
		return false
	}
	acknowledged := strings.Count("\n"+res.stdout, "\nstored ")
	if strings.Contains(res.stderr, "panic") || res.code != 0 && res.code != 1 {
		t.Errorf("%s: exit %d: %s%s", name, res.code, res.stdout, res.stderr)
	}
	if i.errno == unix.ENOSPC && !i.forever && res.code != 0 && strings.Contains(res.stdout, "store:") && !strings.Contains(res.stdout, "unknown") {
		t.Errorf("%s: a disk that was full for a moment ended the store: %s", name, res.stdout)
	}
	db, err := storage.Open(storage.Options{Dir: i.dir})
	if err != nil {
		t.Fatalf("%s: it does not open again: %v\n%s", name, err, res.stdout)
	}
	for n := range acknowledged {
		if raw, err := db.Raw(t.Context(), fmt.Sprintf("EUW1_%d", n), league.PartMatch); err != nil || len(raw) < 100 {
			t.Errorf("%s: acknowledged, and lost: %v", name, err)
		}
	}
	if r, err := db.Check(t.Context()); err != nil || !r.Sound() {
		t.Errorf("%s: %+v %v", name, r.Findings, err)
	}
	if err := db.Close(); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	var said strings.Builder
	if code := storeSome(i.dir, &said); code != 0 {
		t.Errorf("%s: it does not go on: %s", name, &said)
	}
	nothingHalfMade(t, i.dir)
	return true
}

func first(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return list[0]
}

// faultySync is a sync that is under way, with the injector of its file operations. It
// does not come to its end before it is let go.
func faultySync(t *testing.T) (s *simulator, i *injector, cmd command, p *child, letGo func()) {
	t.Helper()
	s = startSim(t, sim.Options{Seed: 6, Limits: limits("40:1"), Latency: sim.Latency{Base: 10 * time.Millisecond}, Players: []sim.PlayerSpec{crashPlayer}})
	letGo = s.holdFrom(t, 5)
	i = &injector{dir: freshDir(t)}
	cmd = syncForCrash(s, i.dir)
	p = i.start(t, cmd)
	p.until("some matches", func() bool { return s.Stats().Matches >= 4 })
	// A commit that a fault meets half way may be on disk or not, which ends the engine: none is under way.
	var last, since time.Time
	p.until("the end of their commits", func() bool {
		now, err := os.Stat(filepath.Join(i.dir, "state.db"))
		if err != nil || !now.ModTime().Equal(last) {
			if since = time.Now(); err == nil {
				last = now.ModTime()
			}
			return false
		}
		return time.Since(since) > time.Second
	})
	return s, i, cmd, p, letGo
}

// A disk that fills up stops the work and ends nothing: no attempt is used, and when
// there is room again the same process brings the sync to its end.
func TestReliability3_DiskFullPausesAndResumes(t *testing.T) {
	t.Parallel()
	s, i, _, p, letGo := faultySync(t)
	i.arm(unix.ENOSPC)
	letGo()
	i.failures(p, 3)
	calls := s.calls.Load()
	time.Sleep(1500 * time.Millisecond)
	if n := s.calls.Load() - calls; n > crashWorkers {
		t.Errorf("%d calls were made while the disk was full", n)
	}
	i.lift()
	sum := p.wait().wants(t, exitDone).summary(t)
	if sum.Matches.Success != crashPlayer.Matches || sum.Timelines.Success != crashPlayer.Matches {
		t.Errorf("summary %+v", sum)
	}
	for id, e := range exported(t, i.dir) {
		if e.Attempts != 1 {
			t.Errorf("%s used %d attempts: %v", id, e.Attempts, e.LastError)
		}
	}
	provesSync(t, s, outcome{i.dir, "", 1})
	sound(t, i.dir)
}

// A disk that cannot be trusted ends the engine with one sentence; what was
// acknowledged is there, and the same command goes on.
func TestReliability1_DiskErrorEndsTheEngine(t *testing.T) {
	t.Parallel()
	for errno, says := range map[unix.Errno]string{unix.EIO: "input/output error", unix.EROFS: "read-only"} {
		t.Run(unix.ErrnoName(errno), func(t *testing.T) {
			t.Parallel()
			s, i, cmd, p, letGo := faultySync(t)
			i.arm(errno)
			letGo()
			res := p.wait()
			if res.code != exitFailed && res.code != exitIncomplete {
				t.Errorf("exit %d", res.code)
			}
			oneSentence(t, res.stderr, says, i.dir)
			soundInside(t, i.dir)
			cmd.run(t).wants(t, exitDone)
			provesSync(t, s, outcome{i.dir, "", 1})
			sound(t, i.dir)
		})
	}
}

// The commands as they are shipped, with one operation failing somewhere in them:
// a clear end, nothing lost, and the same command afterwards does its work.
func TestReliability5_6_CommandsSurviveAFault(t *testing.T) {
	t.Parallel()
	r := dice(t)
	step := scratch.Sized(40, 20) * faultStep // most of these processes wait for the disk, or for a retry
	for _, scene := range someScenes(r, func(c crashScene) bool { return c.disturb == nil }) {
		t.Run(scene.name, func(t *testing.T) {
			t.Parallel()
			template := scene.dir(t)
			for n := 1 + r.IntN(min(step, 40)); ; n += 1 + r.IntN(2*step) {
				i := &injector{nth: n, errno: faultErrnos[r.IntN(len(faultErrnos))], forever: r.IntN(2) == 0}
				if !scene.faulty(t, template, i) {
					return
				}
			}
		})
	}
}

// faulty runs the scene's command with a fault; false when it came to its end
// without.
func (c crashScene) faulty(t *testing.T, template string, i *injector) bool {
	t.Helper()
	i.dir = copied(t, template)
	s := startSim(t, forgiving())
	p := i.start(t, c.do(s, i.dir))
	if i.forever && i.errno == unix.ENOSPC { // it would wait for ever
		p.until("failures", func() bool { return len(i.failed()) >= 5 })
		i.lift()
	}
	res := p.wait()
	what := first(i.failed())
	name := fmt.Sprintf("%s, forever=%t, operation %d (%s)", unix.ErrnoName(i.errno), i.forever, i.nth, what)
	if what == "none" {
		res.wants(t, exitDone)
		return false
	}
	switch res.code {
	case exitDone:
	case exitFailed, exitIncomplete:
		if !strings.HasPrefix(res.stderr, "farsight: ") || strings.Contains(res.stderr, "goroutine ") {
			t.Errorf("%s: %q", name, res.stderr)
		}
	default:
		t.Errorf("%s: exit %d: %s", name, res.code, res.stderr)
	}
	if !c.unread {
		soundInside(t, i.dir)
	}
	c.again(t, s, i.dir)
	sound(t, i.dir)
	nothingHalfMade(t, i.dir)
	c.proves(t, s, outcome{i.dir, copied(t, template), 1})
	if t.Failed() {
		t.Fatalf("after %s", name)
	}
	return true
}

// A disk that fails cancels what else is under way; a script must not take that
// for an interruption.
func TestExitCode_DiskFaultIsNoInterruption(t *testing.T) {
	for _, fault := range []error{storage.ErrDiskFull, storage.ErrUnknown} {
		if code := exitCode(errors.Join(fault, context.Canceled)); code != exitFailed {
			t.Errorf("%v: exit %d", fault, code)
		}
	}
	if !errors.Is(fmt.Errorf("write: %w", storage.ErrDiskFull), unix.ENOSPC) {
		t.Error("a full disk is not known as one to those who do not see storage")
	}
}
