package app

import (
	"flag"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

var killsFlag = flag.Int("kills", scratch.Sized(4, 200), "how often the kill tests kill")

func envNumber(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// dice is a generator whose seed is printed, so that a failure can be repeated
// as far as the kernel's scheduling allows.
func dice(t testing.TB) *rand.Rand {
	seed := envNumber("FARSIGHT_SEED", int(time.Now().UnixNano()%1_000_000_007))
	t.Logf("seed: FARSIGHT_SEED=%d", seed)
	return rand.New(rand.NewPCG(uint64(seed), 9))
}

// killWorkers is the ceiling of calls in flight in the kill tests: as many may be
// repeated for each kill, and no more.
const killWorkers = 6

// story is what all runs on one directory said, one after the other.
type story struct {
	stage int
	done  map[string]int
	total map[string]int
}

// stages are the phases of a sync in the order in which a person sees them.
var stages = []string{"list", "matches", "report", "timelines"}

// goesOn checks that progress never went back, neither within a run nor over a
// kill.
func (s *story) goesOn(t testing.TB, lines []progressLine) {
	t.Helper()
	if s.done == nil {
		s.done, s.total = map[string]int{}, map[string]int{}
	}
	for _, p := range lines {
		at := indexOf(stages, p.Phase)
		switch {
		case at < 0:
			t.Errorf("unknown phase %q", p.Phase)
		case at < s.stage:
			t.Errorf("phase %s came after %s", p.Phase, stages[s.stage])
		case p.Done < s.done[p.Phase]:
			t.Errorf("phase %s went back from %d to %d", p.Phase, s.done[p.Phase], p.Done)
		case s.total[p.Phase] > 0 && p.Total != s.total[p.Phase]:
			t.Errorf("the total of phase %s changed from %d to %d", p.Phase, s.total[p.Phase], p.Total)
		case p.Total >= 0 && p.Done > p.Total:
			t.Errorf("phase %s has %d of %d done", p.Phase, p.Done, p.Total)
		}
		s.stage, s.done[p.Phase] = max(s.stage, at), max(s.done[p.Phase], p.Done)
		if p.Total > 0 {
			s.total[p.Phase] = p.Total
		}
	}
}

func indexOf(list []string, s string) int {
	for i, v := range list {
		if v == s {
			return i
		}
	}
	return -1
}

// repeats counts the calls for matches and timelines beyond the first of each,
// but for those that a fault of the plan has made necessary.
func repeats(s *simulator) (n int) {
	for _, f := range s.Fetches() {
		n += f.Calls - 1
	}
	for _, f := range s.Faults() {
		n -= f.Hits
	}
	return n
}

// weather is what Riot is like on a bad day: each kind of trouble hits some of the
// calls for matches and timelines, whichever attempt they are.
var weather = slices.Concat(
	faultsOf(0.015, sim.Unavailable, sim.ServerError, sim.Reset, sim.Truncate),
	faultsOf(0.002, sim.Hang, sim.LimitApp, sim.LimitMethod, sim.LimitService))

// faultsOf makes faults of some kinds, each of which hits a share of the calls.
func faultsOf(rate float64, kinds ...sim.Kind) (list []sim.Fault) {
	for _, kind := range kinds {
		for _, m := range []route.Method{route.Match, route.Timeline} {
			list = append(list, sim.Fault{Name: string(kind) + " " + string(m), Kind: kind, RetryAfter: "1", Match: sim.Match{Method: m, Rate: rate, Each: true}})
		}
	}
	return list
}

// The real binary is killed at moments that are counted in calls and then moved
// by some milliseconds, so that a slow machine and a fast one kill equally often
// before the sync has ended.
func TestP01_S1_8_S3_4_KilledAtRandomMoments(t *testing.T) {
	t.Parallel()
	kills := *killsFlag
	r := dice(t)
	who := player("Nine Lives#KILL", min(max(8*kills, 100), 1000)) // Riot lists 1,000 at most
	s := startSim(t, sim.Options{
		Seed: 3, Limits: limits("200:1,1000:10"), Latency: sim.Latency{Base: 12 * time.Millisecond, Jitter: 8 * time.Millisecond},
		Players: []sim.PlayerSpec{who}, Faults: weather,
	})
	dir := freshDir(t)
	cmd := s.sync(who.RiotID, dir)
	maps.Copy(cmd.env, map[string]string{
		"WORKER_CONCURRENCY": strconv.Itoa(killWorkers), "RIOT_HTTP_TIMEOUT_MS": "10000", "FARSIGHT_RETRY_MATCH": "100ms,100ms,200ms,200ms",
	})

	var told story
	share := (2*who.Matches + 2) / (kills + 12) // of a sync's calls, for each kill; some are left for its end
	for n := range kills {
		from, plan := s.calls.Load(), int64((n+1)*share)
		after := min(from+int64(r.IntN(2*share+1)), plan)
		s.upTo(plan + killWorkers) // however late the kill comes: no sync ends before it
		p := cmd.start(t)
		p.until("the next calls", func() bool { return s.calls.Load() >= after })
		time.Sleep(time.Duration(r.IntN(25_000)) * time.Microsecond)
		res := p.kill()
		if res.code != -1 {
			t.Fatalf("kill %d found the process ended with %d: %s%s", n+1, res.code, res.stderr, tail(res.stdout, 400))
		}
		s.rests(t)
		told.goesOn(t, res.progress(t))
		if again := repeats(s); again > (n+1)*killWorkers {
			t.Errorf("after kill %d %d calls were repeated, more than %d in flight each", n+1, again, killWorkers)
		}
	}
	s.upTo(0)
	res := cmd.run(t).wants(t, exitDone)
	told.goesOn(t, res.progress(t))

	sum := res.summary(t)
	if sum.Result != "completed" || sum.Matches.Success != who.Matches || sum.Timelines.Success != who.Matches {
		t.Errorf("summary %+v", sum)
	}
	noViolations(t, s)
	wholeHistory(t, s, who.RiotID, dir)
	sound(t, dir)
	struck := 0
	for _, f := range s.Faults() {
		struck += f.Hits
	}
	if struck == 0 {
		t.Error("no fault of the plan struck")
	}
	t.Logf("%d kills, %d matches: %d calls, %d struck by faults, %d repeated; %d early", kills, who.Matches, s.Stats().Calls, struck, repeats(s), s.Stats().Early)
}

// Row S3-3: whatever page or commit the kill hits, the children of the run are
// all there or none is.
func TestS3_3_KilledWhileListingLeavesAllChildrenOrNone(t *testing.T) {
	t.Parallel()
	r := dice(t)
	who := sim.PlayerSpec{RiotID: "Long List#KILL", Platform: route.EUW1, Matches: 879, Span: 500 * 24 * time.Hour}
	all, none := 0, 0
	for range max(4, *killsFlag/3) {
		s := startSim(t, sim.Options{Seed: 5, Limits: limits("500:1"), Latency: sim.Latency{Base: 2 * time.Millisecond}, Players: []sim.PlayerSpec{who}})
		dir := freshDir(t)
		p := s.sync(who.RiotID, dir, "--timelines", "none").start(t)
		// Most kills fall around the last page, whose commit makes the children.
		page := int64(9 - max(0, r.IntN(12)-8))
		p.until("the listing", func() bool { return s.pages.Load() >= page })
		time.Sleep(time.Duration(r.IntN(100_000)) * time.Microsecond)
		p.kill()
		switch n := children(t, dir); n {
		case 0:
			none++
		case who.Matches:
			all++
		default:
			t.Errorf("killed at page %d: %d of %d children", page, n, who.Matches)
		}
		s.pages.Store(0)
		p = s.sync(who.RiotID, dir, "--timelines", "none").start(t)
		p.until("the children", func() bool { return strings.Contains(p.out.String(), `"total":879`) })
		p.kill()
		if n := children(t, dir); n != who.Matches {
			t.Errorf("killed at page %d and started again: %d children", page, n)
		}
		noViolations(t, s)
		cleared(t, dir)
	}
	t.Logf("killed with no children %d times, with all of them %d times", none, all)
}

// children counts the match jobs of a directory, ended ones too. It has none
// before the first start got as far as making state.db.
func children(t *testing.T, dir string) int {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, "state.db")); err != nil {
		return 0
	}
	c, db := look(t, dir)
	defer db.Close()
	return len(allJobs(t, c, "match.fetch"))
}

// carriedOut counts the attempts that came to their end, by phase: the listing
// has one per page, the report one.
func carriedOut(attempts []engine.Attempt) map[int]int {
	n := map[int]int{}
	for _, a := range attempts {
		if a.Verb != engine.VerbInterrupted {
			n[a.Phase]++
		}
	}
	return n
}

// Row S3-4 as it stands: killed after 134 of 879, the other 745 run once each,
// and the report is made once.
func TestS3_4_KilledAfter134Of879(t *testing.T) {
	longest(t)
	t.Parallel()
	who := sim.PlayerSpec{RiotID: "Restart At 134#KILL", Platform: route.EUW1, Matches: 879, Span: 500 * 24 * time.Hour}
	s := startSim(t, quick(who))
	letGo, dir := s.holdFrom(t, 140), freshDir(t)
	cmd := s.sync(who.RiotID, dir, "--timelines", "none")
	cmd.env["WORKER_CONCURRENCY"] = strconv.Itoa(killWorkers)

	p := cmd.start(t)
	p.until("134 matches", func() bool { return s.Stats().Matches >= 134 })
	first := p.kill()
	letGo()
	s.rests(t)
	atKill := s.Stats().Matches
	res := cmd.run(t).wants(t, exitDone)
	var told story
	told.goesOn(t, append(first.progress(t), res.progress(t)...))

	if again := repeats(s); again > killWorkers {
		t.Errorf("%d calls were repeated after one kill with %d in flight", again, killWorkers)
	}
	if sum := res.summary(t); sum.Matches.Success != who.Matches {
		t.Errorf("summary %+v", sum)
	}
	c, db := look(t, dir)
	defer db.Close()
	row := ask[engine.AccountDetail](t, c, engine.AccountQuery{ID: who.RiotID})
	if r := row.Report; r == nil || r.Matches+r.LeftOut != who.Matches || r.Missing != 0 {
		t.Errorf("the report is not of all matches: %+v", r)
	}
	if row.Row.Resumed != 1 || row.Row.ResumedAt < atKill-killWorkers || row.Row.ResumedAt > atKill {
		t.Errorf("resumed %d times, at %d; killed with %d delivered", row.Row.Resumed, row.Row.ResumedAt, atKill)
	}
	parent := ask[engine.JobDetail](t, c, engine.JobQuery{ID: row.Row.Job})
	for phase, n := range carriedOut(parent.Attempts) {
		if n != 1 {
			t.Errorf("phase %d of the sync ran %d times", phase, n)
		}
	}
	t.Logf("killed at %d, resumed at %d, %d phases, %d repeated", atKill, row.Row.ResumedAt, parent.Job.Phase, repeats(s))
	noViolations(t, s)
	sound(t, dir)
}
