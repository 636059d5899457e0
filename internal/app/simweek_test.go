package app

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/wall"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// A week of 30 accounts with all that happens in one, over the ends of summer
// time in Europe and in America.
func TestP22_AWeekOfEverything(t *testing.T) {
	longest(t)
	simulate(t, stretch{
		seed: 1, accounts: 30, zone: "Europe/Berlin", from: time.Date(2026, 10, 24, 20, 0, 0, 0, time.UTC),
		span: 7*24*time.Hour + 12*time.Hour, recount: 24 * time.Hour, scenes: weekScenes(),
	})
}

// A day of a few accounts, over the beginning of summer time, with the same
// scenes in a row.
func TestP26_ADayOfEverything(t *testing.T) {
	longest(t)
	simulate(t, aDay(1))
}

// The schedules move from one zone to another with a restart, in the night in
// which the second one doubles the hour from one to two.
func TestP22_AnotherZoneAndItsDoubledHour(t *testing.T) {
	longest(t)
	simulate(t, stretch{
		seed: 9, accounts: 8, zone: "Europe/Berlin", from: time.Date(2026, 10, 31, 20, 0, 0, 0, time.UTC), span: 13 * time.Hour, recount: 6 * time.Hour,
		scenes: scenesAt(map[string]time.Duration{
			"a whole history is asked for": 10 * time.Minute,
			"another zone and a restart":   hm(4, 0) + 3*time.Second,
		}),
	})
}

// One match answers 500 for ever among healthy ones: its calls are those of its
// policy, exactly, and it holds nobody up.
func TestP11_OneMatchThatAlwaysFails(t *testing.T) {
	t.Parallel()
	simulate(t, stretch{
		seed: 7, accounts: 6, zone: "UTC", from: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), span: 2 * time.Hour, recount: time.Hour,
		scenes: scenesAt(map[string]time.Duration{"a whole history is asked for": 10 * time.Minute}),
	})
}

// No wait and no run is negative, and they add up, while the wall clock jumps
// about in the midst of work. Scenes ask for Player 4: with fewer than five accounts nobody has that name, and
// what was asked for it is forgotten.
func TestP36_NoDurationIsNegativeOverClockJumps(t *testing.T) {
	long(t)
	simulate(t, stretch{
		seed: 8, accounts: scratch.Sized(5, 12), zone: "Asia/Seoul", from: time.Date(2026, 11, 20, 12, 30, 0, 0, time.UTC), span: 4 * time.Hour, recount: time.Hour,
		scenes: scenesAt(map[string]time.Duration{
			"a whole history is asked for": 10 * time.Minute,
			"the clock is set back":        hm(0, 30) + time.Second,
			"the clock is set ahead":       hm(1, 30) + time.Second,
			"the machine sleeps 8 hours":   hm(2, 30) + time.Second,
			"the clock is set back again":  hm(3, 30) + time.Second,
		}),
	})
}

// Seeds that once failed, and FARSIGHT_SEEDS more.
func TestP26_ADayOfMoreSeeds(t *testing.T) {
	seeds := corpus(t)
	n, _ := strconv.Atoi(os.Getenv("FARSIGHT_SEEDS"))
	for i := range n {
		seeds = append(seeds, uint64(i+2))
	}
	for _, seed := range seeds {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) { simulate(t, aDay(seed)) })
	}
}

// aDay crosses the night in which Berlin skips the hour from two to three.
func aDay(seed uint64) stretch {
	return stretch{
		seed: seed, accounts: 24, zone: "Europe/Berlin", from: time.Date(2027, 3, 27, 20, 0, 0, 0, time.UTC),
		span: 24 * time.Hour, recount: 6 * time.Hour, scenes: dayScenes(),
	}
}

// corpus reads testdata/seeds: a number per line, # begins a comment.
func corpus(t *testing.T) (seeds []uint64) {
	f, err := os.Open(filepath.Join("testdata", "seeds"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		word, _, _ := strings.Cut(lines.Text(), "#")
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		seed, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			t.Fatalf("testdata/seeds: %v", err)
		}
		seeds = append(seeds, seed)
	}
	return seeds
}

// scenesAt lays scenes out in time.
func scenesAt(at map[string]time.Duration) []scene {
	list := make([]scene, 0, len(at))
	for name, when := range at {
		list = append(list, scene{when, name, scenes[name]})
	}
	return list
}

func weekScenes() []scene {
	return scenesAt(map[string]time.Duration{
		"a whole history is asked for": 90 * time.Minute,
		"an outage of 15 minutes":      hm(9, 58),
		"a queue is paused":            hm(19, 55),
		"the queue goes on":            hm(20, 35),
		"the key expires":              hm(30, 0) + 2*time.Second,
		"a new key is put in":          hm(31, 20),
		"the disk is full":             hm(40, 0) + time.Second,
		"there is room again":          hm(40, 25),
		"the machine sleeps 8 hours":   hm(50, 30),
		"a bucket is frozen":           hm(60, 59),
		"the clock is set back":        hm(66, 30),
		"the clock is set ahead":       hm(70, 20),
		"another zone and a restart":   hm(76, 0) + 3*time.Second,
		"a key of another project":     hm(90, 30),
		"the project is accepted":      hm(92, 40),
		"a class is tried again":       hm(100, 10),
		"a sync is cancelled":          hm(101, 10),
		"a match is forced":            hm(102, 10),
		"the clock is set back again":  hm(120, 0) + time.Second,
	})
}

func dayScenes() []scene {
	return scenesAt(map[string]time.Duration{
		"a whole history is asked for": 10 * time.Minute,
		"an outage of 15 minutes":      hm(2, 58),
		"a queue is paused":            hm(4, 55),
		"the queue goes on":            hm(5, 35),
		"the key expires":              hm(7, 0) + 2*time.Second,
		"a new key is put in":          hm(7, 50),
		"the disk is full":             hm(9, 0) + time.Second,
		"there is room again":          hm(9, 25),
		"the machine sleeps 8 hours":   hm(11, 30),
		"a bucket is frozen":           hm(12, 59),
		"the clock is set back":        hm(14, 30),
		"a restart":                    hm(15, 0) + 3*time.Second,
		"the clock is set ahead":       hm(16, 20),
		"a key of another project":     hm(17, 30),
		"the project is accepted":      hm(18, 40),
		"a class is tried again":       hm(19, 10),
		"a sync is cancelled":          hm(20, 10),
		"a match is forced":            hm(21, 10),
		"the clock is set back again":  hm(22, 0) + time.Second,
	})
}

func hm(hours, minutes int) time.Duration {
	return time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
}

// scenes by name.
var scenes = map[string]func(*world){
	"a whole history is asked for": func(w *world) {
		w.do(engine.Command{Op: engine.OpTrigger, Account: "Player 0#SIM", Sync: engine.SyncAsk{Platform: "euw1"}})
	},
	"an outage of 15 minutes": func(w *world) { w.inject(sim.Fault{Name: "outage", Kind: sim.Unavailable, Until: 15 * time.Minute}) },
	"a queue is paused": func(w *world) {
		w.do(engine.Command{Op: engine.OpPause, Queue: ingest.QueueLatest})
		w.check.pausedNow(ingest.QueueLatest)
	},
	"the queue goes on":          func(w *world) { w.do(engine.Command{Op: engine.OpResume, Queue: ingest.QueueLatest}) },
	"the key expires":            func(w *world) { w.sim.SetKey(firstKey, sim.Key{State: sim.KeyExpired}) },
	"a new key is put in":        func(w *world) { w.put(secondKey) },
	"the disk is full":           (*world).fillDisk,
	"there is room again":        (*world).freeDisk,
	"the machine sleeps 8 hours": func(w *world) { w.step(8 * time.Hour) },
	"a bucket is frozen": func(w *world) {
		w.do(engine.Command{Op: engine.OpFreeze, Bucket: engine.Bucket{Host: string(route.Europe), Until: time.Now().Add(5 * time.Minute)}})
	},
	"the clock is set back":       func(w *world) { w.step(-time.Hour) },
	"the clock is set back again": func(w *world) { w.step(-time.Hour) },
	"the clock is set ahead":      func(w *world) { w.step(time.Hour) },
	"a restart":                   (*world).restart,
	"another zone and a restart":  (*world).moveToNewYork,
	"a key of another project":    func(w *world) { w.put(foreignKey) },
	"the project is accepted":     (*world).acceptProject,
	"a class is tried again":      (*world).retryMissing,
	"a sync is cancelled":         (*world).cancelSync,
	"a match is forced":           (*world).forceMatch,
}

func (w *world) inject(f sim.Fault) {
	if err := w.sim.Inject(f); err != nil {
		w.t.Fatal(err)
	}
}

// step moves the wall clock, while some jobs wait for their retry; what time has
// passed does not change.
func (w *world) step(d time.Duration) {
	w.inject(sim.Fault{Name: "before the clock moves", Kind: sim.Unavailable, Until: 3 * time.Second})
	w.do(engine.Command{Op: engine.OpTrigger, Account: "Player 4#SIM", Sync: engine.SyncAsk{Platform: string(route.NA1), Force: true}})
	time.Sleep(3 * time.Second)
	w.seeWall()
	w.t.Cleanup(wall.Step(d))
	w.seeWall()
}

// seeWall keeps the bounds of what the wall clock has shown.
func (w *world) seeWall() {
	now := wall.Now()
	if now.Before(w.lowest) {
		w.lowest = now
	}
	if now.After(w.highest) {
		w.highest = now
	}
}

func (w *world) put(key string) {
	w.key = key
	w.do(engine.Command{Op: engine.OpKey, Key: key})
}

// fillDisk lets every commit fail for want of room. What is delivered meanwhile
// has nowhere to go, and is asked for again.
func (w *world) fillDisk() {
	w.full = true
	w.check.standsStill(true)
	w.t.Cleanup(crash.ArmFaults(func(string) error { return syscall.ENOSPC }))
}

func (w *world) freeDisk() {
	crash.ArmFaults(nil)()
	time.Sleep(5 * time.Minute) // what was under way is asked for again
	w.glance()
	w.check.standsStill(false)
	w.full = false
}

func (w *world) restart() {
	w.stop()
	w.start()
}

// moveToNewYork proves what was to run in the first zone, and goes on in another.
func (w *world) moveToNewYork() {
	w.proveTicks()
	w.stop()
	w.zone, w.lowest, w.highest = "America/New_York", wall.Now(), wall.Now()
	w.ticks = newTickBook(w.lowest)
	w.check.inserted[ingest.KindSweep] = 0
	w.env["CRON_TZ"] = w.zone
	w.start()
	time.Sleep(time.Minute)
}

// acceptProject looks that nothing was called meanwhile, and lets every account
// be resolved under the project of the key.
func (w *world) acceptProject() {
	before := w.sim.Stats().Calls
	time.Sleep(10 * time.Minute)
	if n := w.sim.Stats().Calls - before; n > 0 {
		w.errorf("%d calls were made with the key of another project", n)
	}
	if r := w.do(engine.Command{Op: engine.OpReresolve}); r.Applied == 0 {
		w.errorf("nothing is resolved again: %+v", r)
	}
}

func (w *world) retryMissing() {
	w.do(engine.Command{Op: engine.OpRetry, Select: &engine.Selection{Filter: &engine.JobFilter{
		States: []engine.State{engine.Discarded}, Kind: ingest.KindMatch, Class: "404",
	}}})
}

// cancelSync cancels a sync in its midst, and starts it again.
func (w *world) cancelSync() {
	const who = "Player 2#SIM"
	ask := engine.SyncAsk{Platform: string(route.KR), Force: true}
	r := w.do(engine.Command{Op: engine.OpTrigger, Account: who, Sync: ask})
	time.Sleep(200 * time.Millisecond)
	w.do(engine.Command{Op: engine.OpCancel, Job: r.Job})
	time.Sleep(10 * time.Second)
	w.do(engine.Command{Op: engine.OpTrigger, Account: who, Sync: ask})
}

// forceMatch fetches a stored match anew: the one lawful way to a second delivery.
func (w *world) forceMatch() {
	q := engine.JobsQuery{States: []engine.State{engine.Completed}, Kind: ingest.KindMatch, Page: engine.Page{Limit: 1}}
	answer, err := w.task.front.Find(context.Background(), q)
	if err != nil {
		w.t.Fatal(err)
	}
	jobs := answer.(engine.JobsPage).Jobs
	if len(jobs) == 0 {
		return
	}
	w.do(engine.Command{Op: engine.OpForce, Job: jobs[0].Job.ID, Reason: "simulation"})
	time.Sleep(time.Minute)
	st := w.sim.Stats()
	if n := st.Repeated - w.repeated - w.lawful; n > 2 {
		w.errorf("a forced match was fetched %d times", n)
	} else {
		w.lawful += n
	}
}
