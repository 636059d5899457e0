package ingest_test

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/local"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/storage"
)

const testKey = "RGAPI-00000000-cafe-4bad-8bad-c0ffee000000"

var operator = engine.Actor{User: "ana", Via: "cli"}

// rig is a whole engine on a real store, with a simulated Riot behind it.
type rig struct {
	t        testing.TB
	dir      string
	sim      *sim.Sim
	db       *storage.DB
	limits   *traffic.Limits
	keys     *riot.Keys
	in       *ingest.Ingest
	backend  *local.Backend
	projects *ingest.Projects
	notes    []string
	killed   atomic.Bool // it makes no call any more
	stopped  bool
	stops    []func() // in order

	mu   sync.Mutex
	rows map[string][]engine.AccountRow // every committed row of an account
	done map[engine.JobID]int           // how often a job was committed as completed
}

// narrow is a store that gives two accounts at a time, so that whatever goes through all
// of them has to turn pages.
type narrow struct{ *storage.DB }

func (n narrow) Accounts(ctx context.Context, q engine.AccountsQuery) (engine.AccountsPage, error) {
	q.Limit = 2
	return n.DB.Accounts(ctx, q)
}

// setup changes what a rig is made of.
type setup struct {
	ingest    ingest.Options
	workers   int
	transport http.RoundTripper              // nil = the simulator's
	projects  bool                           // keys of several projects are told apart
	store     func(*storage.DB) ingest.Store // what ingestion sees of the store; nil = all as it is
	log       zerolog.Logger                 // of the limits
}

// inBubble runs a test in virtual time that begins in November 2026, beside others: a
// bubble shares nothing with its neighbours.
func inBubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)))
		f(t)
	})
}

// generous are limits that never make a test wait.
var generous = sim.Limits{App: []sim.Limit{{N: 500, Per: 10 * time.Second}}}

func newSim(o sim.Options) *sim.Sim {
	if o.Limits.App == nil {
		o.Limits = generous
	}
	return sim.New(o)
}

// player is an account with so many games, one every 8 hours. They are of one player each,
// a sixth of what a game of ten takes, though it was remade.
func player(riotID string, matches int) sim.PlayerSpec {
	return sim.PlayerSpec{RiotID: riotID, Platform: route.EUW1, Matches: matches, Shapes: []sim.Shape{"swarm"}}
}

// remade is player with games of ten players, which can be shared; they have the queue 420.
func remade(riotID string, matches int) sim.PlayerSpec {
	spec := player(riotID, matches)
	spec.Shapes = []sim.Shape{"remake"}
	return spec
}

// short is player with games that were aborted: their payloads are tiny, which is
// all that a test of lists needs.
func short(riotID string, matches int) sim.PlayerSpec {
	spec := player(riotID, matches)
	spec.Shapes = []sim.Shape{"aborted"}
	return spec
}

func start(t testing.TB, s *sim.Sim, change ...func(*setup)) *rig {
	return open(t, s, filepath.Join(t.TempDir(), "data"), change...)
}

func open(t testing.TB, s *sim.Sim, dir string, change ...func(*setup)) *rig {
	t.Helper()
	set := setup{workers: 8, ingest: ingest.Options{
		Matches: league.Span{Years: 2}, Timelines: league.Span{Years: 1}, Zone: time.UTC,
	}}
	for _, f := range change {
		f(&set)
	}
	if set.transport == nil {
		set.transport = s.RoundTripper()
	}
	r := &rig{t: t, dir: dir, sim: s, rows: map[string][]engine.AccountRow{}, done: map[engine.JobID]int{}}
	var err error
	r.db, err = storage.Open(storage.Options{Dir: dir})
	must(t, err)
	limiter := limit.New(limit.Options{})
	r.limits = traffic.New(traffic.Options{Store: narrow{r.db}, Limiter: limiter, Lanes: ingest.LaneOf, Log: set.log})
	key, err := riot.ParseKey(testKey)
	must(t, err)
	r.keys = riot.NewKeys(key)
	client, err := riot.New(riot.Options{Keys: r.keys, Limiter: riot.LimitedBy(limiter), Transport: mortal{r, set.transport}, OnCall: r.limits.OnCall})
	must(t, err)
	set.ingest.Store, set.ingest.API, set.ingest.Limits = narrow{r.db}, client, r.limits
	if set.store != nil {
		set.ingest.Store = set.store(r.db)
	}
	set.ingest.Restored = r.db.Boot().Restored
	if set.projects {
		r.projects = ingest.NewProjects(ingest.ProjectsOptions{
			Store: r.db, API: client, Limits: r.limits, Fingerprint: func() string { return r.keys.Get().Fingerprint() },
			OnNote: func(n engine.Note) {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.notes = append(r.notes, n.Text)
			},
		})
		set.ingest.Projects = r.projects
	}
	r.in = ingest.New(set.ingest)
	r.backend, err = local.New(local.Options{
		Store: r.db, Admitter: r.limits, Kinds: r.in.Kinds(), Policies: engine.DefaultPolicies(),
		Boot: r.db.Boot().ID, Workers: func() int { return set.workers },
	})
	must(t, err)
	r.db.OnCommit(func(seq uint64, changes []engine.Change) {
		r.backend.Apply(seq, changes)
		r.watch(changes)
	})
	r.serve()
	t.Cleanup(r.stop)
	return r
}

// serve starts everything, and notes how to stop it: backend, limits, store.
func (r *rig) serve() {
	serve := func(run func(context.Context) error) {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- run(ctx) }()
		r.stops = append(r.stops, func() {
			cancel()
			if err := <-done; err != nil {
				r.t.Error(err)
			}
		})
	}
	serve(r.db.Serve)
	ctx := context.Background()
	must(r.t, r.limits.Restore(ctx, r.db.Boot().New, r.db.Live(ctx)))
	must(r.t, r.in.Resume(ctx))
	serve(r.limits.Run)
	if r.projects != nil {
		must(r.t, r.projects.Load(ctx))
		serve(r.projects.Run)
	}
	serve(r.backend.Run)
	slices.Reverse(r.stops)
}

// stop ends the engine in order; the store must be sound.
func (r *rig) stop() {
	if r.stopped {
		return
	}
	r.stopped = true
	for _, stop := range r.stops[:len(r.stops)-1] {
		stop()
	}
	r.sound()
	r.stops[len(r.stops)-1]()
	must(r.t, r.db.Close())
}

// sound proves that every counter equals a recount (P6), and that the key was
// written nowhere (P-40).
func (r *rig) sound() {
	r.t.Helper()
	paths, err := scratch.Holding(r.dir, testKey)
	must(r.t, err)
	if len(paths) > 0 {
		r.t.Errorf("P-40: %s hold the key", paths)
	}
	report, err := r.db.Check(context.Background())
	must(r.t, err)
	for _, f := range report.Findings {
		r.t.Errorf("check: %+v", f)
	}
}

// mortal is the way to Riot of a process that may be killed.
type mortal struct {
	r    *rig
	next http.RoundTripper
}

func (m mortal) RoundTrip(req *http.Request) (*http.Response, error) {
	if m.r.killed.Load() {
		return nil, syscall.ECONNREFUSED
	}
	return m.next.RoundTrip(req)
}

// crash takes the data directory as it is on disk at this instant, as a kill
// would leave it, and opens another engine on it. The first engine is gone.
func (r *rig) crash(change ...func(*setup)) *rig {
	r.t.Helper()
	synctest.Wait()
	dir := filepath.Join(r.t.(*testing.T).TempDir(), "data")
	must(r.t, scratch.Copy(r.dir, dir))
	r.killed.Store(true)
	r.stop()
	return open(r.t, r.sim, dir, change...)
}

// after ends the engine, and opens another on its directory when so long has passed: an engine that has nothing to do
// looks around each second of a day.
func (r *rig) after(d time.Duration) *rig {
	r.t.Helper()
	r.stop()
	time.Sleep(d)
	return open(r.t, r.sim, r.dir)
}

// watch keeps every committed row and proves the promises that hold at each
// commit (P5): the parts add up, and done never falls within a run.
func (r *rig) watch(changes []engine.Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range changes {
		if c.Job != nil && c.Job.State == engine.Completed && c.Before != engine.Completed {
			r.done[c.Job.ID]++
		}
		if c.Account == nil {
			continue
		}
		row := *c.Account
		for name, p := range map[string]engine.Progress{"matches": row.Matches, "timelines": row.Timelines} {
			if p.Total >= 0 && p.Done()+p.Cancelled+p.Open != p.Total {
				r.t.Errorf("P5: %s of %s: %+v", name, row.RiotID, p)
			}
		}
		if n := len(r.rows[row.ID]); n > 0 {
			before := r.rows[row.ID][n-1]
			if before.Run == row.Run && row.Matches.Done() < before.Matches.Done() {
				r.t.Errorf("P5: done of %s fell from %d to %d", row.RiotID, before.Matches.Done(), row.Matches.Done())
			}
		}
		r.rows[row.ID] = append(r.rows[row.ID], row)
	}
}

// completions is how often the job was committed as completed.
func (r *rig) completions(job engine.JobID) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.done[job]
}

// past is every row of an account that was committed, oldest first.
func (r *rig) past(account string) []engine.AccountRow {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.rows[account])
}

// trigger starts a sync and fails the test when it is refused.
func (r *rig) trigger(riotID string, ask engine.SyncAsk) engine.Receipt {
	r.t.Helper()
	if ask.Platform == "" {
		ask.Platform = "euw1"
	}
	out, err := r.in.Trigger(context.Background(), riotID, ask, operator)
	must(r.t, err)
	return out
}

// row is the account as it stands.
func (r *rig) row(riotID string) engine.AccountRow {
	r.t.Helper()
	row, err := r.db.AccountRow(context.Background(), riotID)
	must(r.t, err)
	return row
}

// settle waits until the account's run has ended, at most so long.
func (r *rig) settle(riotID string, within time.Duration) engine.AccountRow {
	r.t.Helper()
	row := r.until(riotID, within, func(row engine.AccountRow) bool { return !row.Status.Open() })
	if row.Status == engine.SyncCompleted {
		r.reconcile(row)
	}
	return row
}

// reconcile proves that every listed match is counted once, and its timeline too.
func (r *rig) reconcile(row engine.AccountRow) {
	r.t.Helper()
	r.read(func(tx engine.Tx) error {
		run, err := r.db.Run(tx, row.Run)
		if err != nil {
			return err
		}
		sums := [2]int{run.Had + run.TooOld + run.Left, run.TimelinesHad + run.TimelinesTooOld + run.TimelinesNone + run.TimelinesLeft}
		for i, group := range []int{league.GroupMatches, league.GroupTimelines} {
			g, err := r.db.Group(tx, engine.GroupID{Parent: row.Job, Group: group})
			if err != nil {
				return err
			}
			if sums[i]+g.Total != run.Listed {
				r.t.Errorf("%s: group %d of %+v and %+v do not add up to what was listed", row.RiotID, group, g, run)
			}
		}
		return nil
	})
}

// until waits until the account's row is as wanted.
func (r *rig) until(riotID string, within time.Duration, wanted func(engine.AccountRow) bool) engine.AccountRow {
	r.t.Helper()
	var step time.Duration
	for waited := time.Duration(0); waited < within; waited += step {
		synctest.Wait() // nothing is under way between what is seen and what is done about it
		if row := r.row(riotID); wanted(row) {
			return row
		}
		step = max(100*time.Millisecond, waited/100) // a wait of half a day is not looked at 432,000 times
		time.Sleep(step)
	}
	r.t.Fatalf("%s after %v: %+v", riotID, within, r.row(riotID))
	return engine.AccountRow{}
}

func (r *rig) match(id string) (m league.Match) {
	r.t.Helper()
	r.read(func(tx engine.Tx) (err error) { m, err = r.db.Match(tx, id); return err })
	return m
}

func (r *rig) read(fn func(tx engine.Tx) error) {
	r.t.Helper()
	must(r.t, r.db.Read(context.Background(), fn))
}

// detail is everything about a job, by key.
func (r *rig) detail(key string) engine.JobDetail {
	r.t.Helper()
	d, err := r.db.Detail(context.Background(), engine.JobQuery{Key: key})
	must(r.t, err)
	return d
}

// calls counts what the simulator saw of a method.
func (r *rig) calls(m route.Method) (n int) {
	for _, k := range r.sim.Stats().ByMethod[string(m)] {
		n += k
	}
	return n
}

// callsFor lists the calls for one match or Riot ID.
func (r *rig) callsFor(m route.Method, id string) (calls []sim.Call) {
	for _, c := range r.sim.Calls(0, 100_000) {
		if c.Method == m && c.ID == id {
			calls = append(calls, c)
		}
	}
	return calls
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantProblem(t testing.TB, err, code error) *engine.Problem {
	t.Helper()
	p, ok := errors.AsType[*engine.Problem](err)
	if !ok || !errors.Is(err, code) {
		t.Fatalf("got %v, want a problem %v", err, code)
	}
	return p
}

// report is the play-time report of an account.
func report(t *testing.T, r *rig, account string) engine.PlayReport {
	t.Helper()
	p, err := r.db.Report(context.Background(), account)
	must(t, err)
	if p == nil {
		t.Fatal("there is no report")
	}
	return *p
}

// census counts the jobs in a copied data directory.
func census(t *testing.T, dir string) (syncs, children int) {
	t.Helper()
	db, err := storage.OpenReadOnly(storage.Options{Dir: dir})
	must(t, err)
	defer func() { must(t, db.Close()) }()
	for j, err := range db.Live(context.Background()) {
		must(t, err)
		if j.Kind == ingest.KindSync {
			syncs++
		} else {
			children++
		}
	}
	return syncs, children
}

// bareStore is a store that no engine works on.
type bareStore struct {
	*storage.DB
	close func()
}

func reopenStore(t *testing.T, dir string) bareStore {
	t.Helper()
	db, err := storage.Open(storage.Options{Dir: dir})
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- db.Serve(ctx) }()
	return bareStore{db, func() {
		cancel()
		must(t, <-done)
		must(t, db.Close())
	}}
}
