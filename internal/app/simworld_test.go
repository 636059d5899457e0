package app

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/wall"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// A simulated stretch of time: the whole engine on a real store, in a bubble of
// virtual time, against the simulated Riot in memory.
// What happens follows from the seed by keyed hashes; the order of what happens
// at one instant does not.

// stretch says what is simulated.
type stretch struct {
	seed     uint64
	accounts int
	from     time.Time // by the wall clock
	span     time.Duration
	zone     string // of schedules
	scenes   []scene
	recount  time.Duration // between two full recounts
}

// scene is something that happens at an instant of the stretch.
type scene struct {
	at   time.Duration
	name string
	play func(*world)
}

// Keys of the operator. The first three are of one project; the last is not.
const (
	firstKey   = "RGAPI-00000001-cafe-4bad-8bad-c0ffee000000"
	secondKey  = "RGAPI-00000002-cafe-4bad-8bad-c0ffee000000"
	foreignKey = "RGAPI-00000003-cafe-4bad-8bad-c0ffee000000"
)

// world is one stretch while it is simulated.
type world struct {
	*stretch
	t     *testing.T
	dir   string
	sim   *sim.Sim
	keys  *keyring.Ring
	task  *process
	check *checker
	ticks *tickBook
	began time.Time // by the bubble's clock
	env   map[string]string

	lowest, highest time.Time // that the wall clock has shown since the schedules have their zone

	key      string // in use
	lawful   int    // calls that may repeat a delivery: their payload found no room, or they prove that a lane works
	proofs   int    // calls of the latter kind
	seen     *process
	seq      uint64 // of the last call of that engine that was looked at
	repeated int    // calls that did, outside such times
	full     bool   // the disk is full
}

var simOperator = engine.Actor{User: "ana", Via: "console"}

// simulate plays a stretch in a bubble and proves what must hold at its end.
func simulate(t *testing.T, s stretch) {
	t.Helper()
	if paceMatters { // not under the race detector
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // one thing at a time, as virtual time has it
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // little lives, much is thrown away
	dir := filepath.Join(scratch.Memory(t), "data")
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(s.from))
		w := newWorld(t, s, dir)
		w.start()
		w.trackAll()
		w.play()
		w.settle()
		w.prove()
		w.stop()
	})
}

func newWorld(t *testing.T, s stretch, dir string) *world {
	w := &world{stretch: &s, t: t, dir: dir, key: firstKey, began: time.Now(), lowest: s.from, highest: s.from}
	w.env = map[string]string{
		"FARSIGHT_DATA_DIR": dir, "CRON_TZ": s.zone, "CRON_RANK_DAILY": "30 2 * * *", "REPORT_TZ": "Europe/Berlin",
		"BACKUP_EVERY": "0s", "FARSIGHT_LOG_LEVEL": "error",
	}
	w.sim = sim.New(sim.Options{
		Seed: s.seed, Players: w.players(), Epoch: s.from,
		Limits: sim.Limits{App: []sim.Limit{{N: 500, Per: 10 * time.Second}, {N: 30000, Per: 10 * time.Minute}}},
		Keys:   map[string]sim.Key{foreignKey: {Project: "other"}},
		Faults: w.background(),
	})
	w.check = newChecker(w)
	w.ticks = newTickBook(time.Time{})
	return w
}

// draw is a number from the seed, a name and an index, below n.
func (w *world) draw(name string, i, n int) int {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d/%s/%d", w.seed, name, i)
	x := h.Sum64() // the low bits of FNV alone are poor
	return int((x ^ x>>32) * 0x9E3779B97F4A7C15 >> 33 % uint64(n))
}

// players have between none and twenty games of the last weeks and go on playing;
// some have games together, some listed games that are gone, one a whole history.
func (w *world) players() []sim.PlayerSpec {
	list := make([]sim.PlayerSpec, w.accounts)
	for i := range list {
		p := sim.PlayerSpec{
			RiotID: fmt.Sprintf("Player %d#SIM", i), Platform: []route.Platform{route.EUW1, route.NA1, route.KR}[i%3],
			Matches: w.draw("matches", i, 16), Span: 20 * 24 * time.Hour,
			Grow:   time.Duration(3+w.draw("grow", i, 60)) * 50 * time.Minute,
			Shapes: []sim.Shape{"swarm", "swarm", "aborted"},
		}
		if i%11 == 5 && list[i-3].Matches > 3 {
			p.Matches += 3
			p.ShareWith, p.Shared = list[i-3].RiotID, 3
		}
		switch {
		case i == 0:
			p.ShareWith, p.Shared = "", 0
			p.Matches, p.Span = 60, 900*24*time.Hour // reaches beyond retention
		case i == 1:
			p.Matches++ // at least the one that always fails
		case i%7 == 3:
			p.Matches, p.Missing = p.Matches+3, 1
		case i%5 == 4:
			p.Grow = 0 // has stopped playing
		}
		list[i] = p
	}
	return list
}

// background is what is wrong at any time. Nothing of it lasts for one thing but
// the one match that always fails.
func (w *world) background() []sim.Fault {
	first := sim.Match{Attempts: 1}
	some := func(rate float64) sim.Match { m := first; m.Rate = rate; return m }
	return []sim.Fault{
		{Name: "restarts", Match: some(.004), Kind: sim.Unavailable},
		{Name: "overload", Match: some(.002), Kind: sim.LimitService, RetryAfter: "2"},
		{Name: "broken off", Match: some(.002), Kind: sim.Reset},
		{Name: "cut", Match: some(.002), Kind: sim.Truncate},
		{Name: "slow", Match: some(.002), Kind: sim.Slow, Delay: 2 * time.Second},
		{Name: "twice", Match: sim.Match{Attempts: 2, Rate: .001}, Kind: sim.ServerError},
		{Name: "stubborn", Match: sim.Match{Method: route.Match, ID: w.stubborn()}, Kind: sim.ServerError},
	}
}

// stubborn is the id of a match that answers 500 for ever (P-11): the newest of
// the second account.
func (w *world) stubborn() string {
	ids := sim.New(sim.Options{Seed: w.seed, Players: w.players(), Epoch: w.from}).MatchIDs("Player 1#SIM")
	if len(ids) == 0 {
		return "EUW1_0"
	}
	return ids[0]
}

// start opens the data directory and runs an engine on it.
func (w *world) start() {
	w.t.Helper()
	cfg, err := config.Load(config.Inputs{Getenv: func(name string) (string, bool) { v, ok := w.env[name]; return v, ok }})
	if err != nil {
		w.t.Fatal(err)
	}
	if w.keys == nil {
		key, err := riot.ParseKey(w.key)
		if err != nil {
			w.t.Fatal(err)
		}
		w.keys = keyring.Of(key, "simulation", filepath.Join(w.dir, "riot.key"))
	}
	p, err := open(cfg, role{keys: w.keys, transport: w.sim.RoundTripper(), moments: 10 * time.Minute, watch: w.check.look})
	if err != nil {
		w.t.Fatal(err)
	}
	w.check.restarted()
	p.start(context.Background(), func() {})
	w.task = p
}

// stop drains the engine; nothing may have gone wrong in it.
func (w *world) stop() {
	w.t.Helper()
	s := w.task.engine.Load().backend.Stats()
	if s.Illegal+s.Late+s.Panics+s.Stuck+s.LeftAlone+s.Rescued != 0 {
		w.errorf("the engine counted what must not be: %+v", s)
	}
	if err := w.task.stop(); err != nil {
		w.errorf("the engine stopped with: %v", err)
	}
}

// do carries out a command of the operator. A refusal that names its reason is an
// answer; an invariant that does not hold is not.
func (w *world) do(c engine.Command) engine.Receipt {
	w.t.Helper()
	c.By = simOperator
	c.Reason = cmp.Or(c.Reason, "simulation")
	r, err := w.task.front.Do(context.Background(), c)
	if err != nil {
		w.check.refusal(c, err)
	}
	return r
}

func (w *world) trackAll() {
	lines := make([]engine.TrackLine, 0, w.accounts)
	for i, p := range w.sim.Players() {
		lines = append(lines, engine.TrackLine{Line: i + 1, Account: p.RiotID, Platform: string(p.Platform)})
	}
	if r := w.do(engine.Command{Op: engine.OpTrackMany, Lines: lines}); r.Applied != w.accounts {
		w.errorf("%d of %d accounts are tracked: %s", r.Applied, w.accounts, r.Text)
	}
}

// lookEvery is how often the world is looked at from outside.
const lookEvery = 10 * time.Minute

// play lets time pass, scene by scene.
func (w *world) play() {
	slices.SortStableFunc(w.scenes, func(a, b scene) int { return cmp.Compare(a.at, b.at) })
	counted := time.Duration(0)
	for _, s := range w.scenes {
		w.passUntil(s.at, &counted)
		w.glance()
		w.t.Logf("%s %s", wall.Now().Format("Mon 02 15:04:05"), s.name)
		s.play(w)
	}
	w.passUntil(w.span, &counted)
}

func (w *world) passUntil(at time.Duration, counted *time.Duration) {
	for {
		since := time.Since(w.began)
		if since >= at {
			return
		}
		time.Sleep(min(at-since, lookEvery))
		w.glance()
		if since := time.Since(w.began); since-*counted >= w.recount {
			*counted = since
			w.sound()
		}
	}
}

// countProofs counts the answered calls for something stored, which only ask whether a
// lane works.
func (w *world) countProofs() {
	if w.seen != w.task {
		w.seen, w.seq = w.task, 0
	}
	for _, c := range w.task.engine.Load().limits.CallsAfter(w.seq) {
		w.seq = c.Seq
		if c.Proof && c.Status == 200 && (c.Method == string(route.Match) || c.Method == string(route.Timeline)) {
			w.proofs++
		}
	}
}

// glance notes what would be forgotten, and what must not grow.
func (w *world) glance() {
	w.countProofs()
	st := w.sim.Stats()
	if n := st.Repeated - w.repeated - w.lawful; n > 0 {
		proofs := min(n, w.proofs)
		if w.full {
			proofs = n
		}
		w.proofs -= min(proofs, w.proofs)
		w.lawful += proofs
		w.repeated += n - proofs
	}
	answer, err := w.task.front.Find(context.Background(), engine.SchedulesQuery{})
	if err != nil {
		w.t.Fatal(err)
	}
	w.ticks.note(answer.(engine.SchedulesPage).Schedules)
}

// sound recounts the whole store (P6).
func (w *world) sound() {
	w.t.Helper()
	r, err := w.task.store.Check(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range r.Findings {
		w.errorf("P6: recount: %+v", f)
	}
}

// settle ends the stretch: everybody is looked at once more, and all that waits
// for minutes has its time.
func (w *world) settle() {
	time.Sleep(2 * time.Minute)
	w.glance() // a run by hand hides the one before it
	w.do(engine.Command{Op: engine.OpRunSchedule, Schedule: "latest"})
	for i := 0; i < 60 && (i == 0 || w.open() > 0); i++ {
		time.Sleep(time.Minute)
	}
	if n := w.open(); n > 0 {
		w.errorf("%d jobs have not ended within an hour", n)
	}
	w.glance()
	w.sound()
}

// open counts the jobs that have not ended.
func (w *world) open() (n int) {
	for _, err := range w.task.store.Live(context.Background()) {
		if err != nil {
			w.errorf("a live job cannot be read: %v", err)
		}
		n++
	}
	return n
}

// errorf names seed and commit, by which a failure is found again.
func (w *world) errorf(format string, args ...any) {
	w.t.Helper()
	w.t.Errorf("seed %d, commit %d, %s: %s", w.seed, w.task.store.Seq(), wall.Now().Format(time.DateTime), fmt.Sprintf(format, args...))
}

// accountRow is an account as it stands.
func (w *world) accountRow(riotID string) engine.AccountRow {
	w.t.Helper()
	row, err := w.task.store.AccountRow(context.Background(), riotID)
	if err != nil {
		w.t.Fatal(err)
	}
	return row
}

// matches are all that is stored, by id.
func (w *world) matches() map[string]engine.MatchRow {
	w.t.Helper()
	all := map[string]engine.MatchRow{}
	q := engine.MatchesQuery{All: true, Page: engine.Page{Limit: 500}}
	for {
		answer, err := w.task.front.Find(context.Background(), q)
		if err != nil {
			w.t.Fatal(err)
		}
		page := answer.(engine.MatchesPage)
		for _, m := range page.Matches {
			all[m.ID] = m
		}
		if q.After = page.Next; q.After == "" {
			return all
		}
	}
}
