package control_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/control"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/local"
	"github.com/farsight-console/farsight/storage"
)

const (
	fetch engine.Kind  = "match.fetch"
	fullQ engine.Queue = "ingest.summoner.full"
)

// desk is a control over the real job engine and the real store, in virtual time.
type desk struct {
	*control.Control
	t   *testing.T
	dir string
	db  *storage.DB
	off func()

	mu   sync.Mutex
	ans  map[string]func(engine.Run) engine.Outcome // by key; none = it completes
	runs map[string]int
}

// onDesk runs a test in a bubble.
func onDesk(t *testing.T, test func(d *desk)) {
	dir := t.TempDir() + "/data"
	synctest.Test(t, func(t *testing.T) {
		d := &desk{t: t, dir: dir, ans: map[string]func(engine.Run) engine.Outcome{}, runs: map[string]int{}}
		d.on(true)
		test(d)
		d.off()
	})
}

// on opens the directory; without an engine, commands are carried out all the same.
func (d *desk) on(engineRuns bool) {
	d.t.Helper()
	db, err := storage.Open(storage.Options{Dir: d.dir})
	if err != nil {
		d.t.Fatal(err)
	}
	d.db = db
	b, err := local.New(local.Options{
		Store: db, Boot: db.Boot().ID, Policies: engine.DefaultPolicies(),
		Kinds: []engine.KindSpec{{Kind: fetch, Policy: engine.PolicyMatch, Handler: d.handle}},
	})
	if err != nil {
		d.t.Fatal(err)
	}
	d.Control = control.New(control.Options{
		Store: db, Backend: b, Syncer: syncer{}, Limiter: &limiter{state: engine.EngineLive}, Keys: &keys{},
		Policies: engine.DefaultPolicies(), Boot: db.Boot().ID, SyncOn: true, Schedules: hourly(d.t, db),
		Lane: func(engine.Job) string { return "europe/match-v5.match" },
	})
	db.OnCommit(func(seq uint64, changes []engine.Change) {
		b.Apply(seq, changes)
		d.Publish(seq, changes)
	})
	ctx, cancel := context.WithCancel(context.Background())
	running, stop := context.WithCancel(context.Background())
	served, ran := make(chan error, 1), make(chan error, 1)
	go func() { served <- db.Serve(ctx) }()
	go func() {
		if !engineRuns {
			ran <- nil
			return
		}
		ran <- d.Run(running)
	}()
	d.off = func() {
		stop()
		err := <-ran
		cancel()
		if err := errors.Join(err, <-served, db.Close()); err != nil {
			d.t.Error(err)
		}
	}
	synctest.Wait()
}

func (d *desk) handle(_ context.Context, r engine.Run) engine.Outcome {
	d.mu.Lock()
	d.runs[r.Job.Key]++
	answer := d.ans[r.Job.Key]
	d.mu.Unlock()
	if answer == nil {
		return engine.Done(nil)
	}
	return answer(r)
}

func (d *desk) answer(key string, f func(engine.Run) engine.Outcome) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ans[key] = f
}

func (d *desk) ran(key string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.runs[key]
}

func dies(class engine.Class, message string) func(engine.Run) engine.Outcome {
	return func(engine.Run) engine.Outcome { return engine.Fail(errors.New(message)).As(class) }
}

func fails(engine.Run) engine.Outcome { return engine.Retry(errors.New("503 from europe")).As("503") }

func (d *desk) add(keys ...string) (ids []engine.JobID) {
	d.t.Helper()
	err := d.db.Write(context.Background(), func(tx engine.Tx) error {
		ids = nil
		for _, key := range keys {
			got, err := tx.Enqueue(engine.Spec{Kind: fetch, Queue: fullQ, Key: key})
			if err != nil {
				return err
			}
			ids = append(ids, got[0].ID)
		}
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
	synctest.Wait()
	return ids
}

func (d *desk) job(id engine.JobID) engine.Job {
	d.t.Helper()
	synctest.Wait()
	a, err := d.Find(context.Background(), engine.JobQuery{ID: id})
	if err != nil {
		d.t.Fatal(err)
	}
	return a.(engine.JobDetail).Job.Job
}

func (d *desk) want(id engine.JobID, s engine.State) engine.Job {
	d.t.Helper()
	j := d.job(id)
	if j.State != s {
		d.t.Errorf("job %s (%s) is %s, want %s", id, j.Key, j.State, s)
	}
	return j
}

func (d *desk) do(c engine.Command) engine.Receipt {
	d.t.Helper()
	c.By = ana
	r, err := d.Do(context.Background(), c)
	if err != nil {
		d.t.Errorf("%s: %v", c.Op, err)
	}
	synctest.Wait()
	return r
}

func (d *desk) refuses(c engine.Command, code error, words string) engine.Receipt {
	d.t.Helper()
	c.By = ana
	r, err := d.Do(context.Background(), c)
	if !errors.Is(err, code) || !strings.Contains(err.Error(), words) {
		d.t.Errorf("%s = %v, want %v with %q", c.Op, err, code, words)
	}
	return r
}

// P-31, I-4: what was counted is what is acted on; rows that have changed since
// are skipped and counted by reason.
func TestP31_BulkActsOnTheFrozenSelection(t *testing.T) {
	onDesk(t, func(d *desk) {
		for _, key := range []string{"match:1", "match:2", "match:3", "match:4"} {
			d.answer(key, fails)
		}
		ids := d.add("match:1", "match:2", "match:3", "match:4")
		shown := d.do(engine.Command{Op: engine.OpCancel, DryRun: true, Select: &engine.Selection{Filter: &engine.JobFilter{Queue: fullQ}}})
		if shown.Matched != 4 || shown.Would != 4 || shown.Applied != 0 || len(shown.Sample) != 4 {
			t.Errorf("counted %+v", shown)
		}
		d.answer("match:2", nil)
		d.do(engine.Command{Op: engine.OpRetry, Job: ids[1]}) // it completes meanwhile
		d.do(engine.Command{Op: engine.OpReschedule, Job: ids[2], At: time.Now().Add(time.Hour)})
		late := d.add("match:later") // would fit, but was not counted
		d.answer("match:later2", fails)
		late = append(late, d.add("match:later2")...)
		marked := engine.Selection{IDs: shown.Select.IDs, Revs: shown.Select.Revs} // row by row, by no criterion
		r := d.do(engine.Command{Op: engine.OpCancel, Select: &marked})
		if want := map[string]int{"changed since shown": 2}; r.Matched != 4 || r.Applied != 2 || !maps.Equal(r.Skipped, want) {
			t.Errorf("bulk cancel = %+v, want 2 of 4, skipped %v", r, want)
		}
		for i, s := range []engine.State{engine.Cancelled, engine.Completed, engine.Retryable, engine.Cancelled} {
			d.want(ids[i], s)
		}
		d.want(late[1], engine.Retryable)
	})
}

// P-31: jobs that were counted by a criterion are asked for it again when it is carried
// out: what fits still is acted on, whatever has happened to it, and the rest is named.
// Nobody who was shown no revision is told of one.
func TestP31_TheClassIsTakenAfresh(t *testing.T) {
	for _, canary := range []bool{false, true} {
		onDesk(t, func(d *desk) {
			keys := []string{"match:0", "match:fits", "match:again", "match:done", "match:other", "match:gone"}
			for _, key := range keys {
				d.answer(key, fails)
			}
			ids := d.add(keys...)
			filter := &engine.JobFilter{Class: "503"}
			shown := d.do(engine.Command{Op: engine.OpRetry, DryRun: true, Select: &engine.Selection{Filter: filter}})
			if shown.Would != len(keys) {
				t.Errorf("counted %+v", shown)
			}
			for _, key := range keys[:3] {
				d.answer(key, nil)
			}
			meanwhile := func() {
				d.answer("match:again", fails)
				d.answer("match:done", nil)
				d.answer("match:other", dies("404", "no match"))
				for _, id := range ids[2:5] {
					d.do(engine.Command{Op: engine.OpRetry, Job: id})
				}
				d.do(engine.Command{Op: engine.OpCancel, Job: ids[5]})
				d.answer("match:again", nil)
			}
			if canary { // they move on while it runs
				d.answer("match:0", func(engine.Run) engine.Outcome { time.Sleep(time.Second); return engine.Done(nil) })
			} else {
				meanwhile()
			}
			r := d.do(engine.Command{Op: engine.OpRetry, Select: shown.Select, Canary: canary})
			text := r.Text
			if canary {
				meanwhile()
				time.Sleep(5 * time.Second)
				text = d.lastAudit().Result
			}
			if !strings.Contains(text, "left as they are: 1 cancelled meanwhile, 2 ran meanwhile") {
				t.Errorf("canary %t: it is told %q", canary, text)
			}
			for i, s := range []engine.State{engine.Completed, engine.Completed, engine.Completed, engine.Completed, engine.Discarded, engine.Cancelled} {
				d.want(ids[i], s)
			}
			if d.ran("match:other") != 2 || d.ran("match:done") != 2 {
				t.Errorf("what had moved on ran again")
			}
			if r := d.do(engine.Command{Op: engine.OpRetry, DryRun: true, Select: &engine.Selection{Filter: filter}}); !r.Nothing || !strings.HasPrefix(r.Text, "no job fits") {
				t.Errorf("nothing is left to do: %+v", r)
			}
		})
	}
}

// TestL28_ASyncOfACollectionIsToldByItsPlayer: by the Riot ID that the player was asked for by, or, of one that a ladder
// has named, by the PUUID.
func TestL28_ASyncOfACollectionIsToldByItsPlayer(t *testing.T) {
	onDesk(t, func(d *desk) {
		err := d.db.Write(context.Background(), func(tx engine.Tx) error {
			err := d.db.SaveCollection(tx, engine.Collection{ID: "c1", CollectAsk: engine.CollectAsk{Name: "kr", Platforms: []string{"kr"}}})
			for _, a := range []league.Account{
				{ID: "p1", GameName: "Ana", TagLine: "KR1"}, {ID: "p2", PUUIDs: map[string]string{"": "8Qfa91xyzw-and-so-on"}},
			} {
				a.Collection, a.Platform = "c1", "kr"
				err = errors.Join(err, d.db.SaveAccount(tx, a))
				_, enqueued := tx.Enqueue(engine.Spec{Kind: "account.sync", Queue: engine.CollectionQueue("kr"), Key: "full:" + a.ID, Owner: "c1"})
				err = errors.Join(err, enqueued)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		a, err := d.Find(context.Background(), engine.JobsQuery{})
		if err != nil {
			t.Fatal(err)
		}
		var players []string
		for _, j := range a.(engine.JobsPage).Jobs {
			players = append(players, j.Player)
		}
		if slices.Sort(players); !slices.Equal(players, []string{"Ana#KR1", "puuid 8Qfa91xy"}) {
			t.Errorf("players %q", players)
		}
	})
}

// A sync is told by its player, not by the ids of its account and its job.
func TestReceiptsNameASyncByItsPlayer(t *testing.T) {
	onDesk(t, func(d *desk) {
		const account = "01M7WD7TG04TNYKKS9Q445SW5V"
		var id engine.JobID
		err := d.db.Write(context.Background(), func(tx engine.Tx) error {
			a := league.Account{ID: account, GameName: "Ana", TagLine: "EUW", Platform: "euw1", Status: engine.SyncNever.String()}
			if err := d.db.SaveAccount(tx, a); err != nil {
				return err
			}
			got, err := tx.Enqueue(engine.Spec{Kind: "account.sync", Queue: fullQ, Key: "full:" + account, Owner: account})
			id = got[0].ID
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for where, c := range map[string]engine.Console{
			"the engine":            d.Control,
			"a directory at a stop": browse(d.db, control.Stored{Do: "start an engine"}),
		} {
			a, err := c.Find(context.Background(), engine.JobsQuery{})
			if err != nil {
				t.Fatal(err)
			}
			if rows := a.(engine.JobsPage).Jobs; len(rows) != 1 || rows[0].Player != "Ana#EUW" {
				t.Errorf("%s lists %+v", where, rows)
			}
		}
		tried := d.do(engine.Command{Op: engine.OpCancel, DryRun: true, Select: &engine.Selection{Filter: &engine.JobFilter{Queue: fullQ}}})
		done := d.do(engine.Command{Op: engine.OpCancel, Job: id})
		again := d.do(engine.Command{Op: engine.OpCancel, Job: id})
		if !slices.Equal(tried.Sample, []string{"the sync of Ana#EUW"}) || done.Text != "the sync of Ana#EUW is cancelled" || !strings.HasPrefix(again.Text, "nothing to do for the sync of Ana#EUW: ") {
			t.Errorf("told %q, %q, %q", tried.Sample, done.Text, again.Text)
		}
	})
}

// lastAudit is the last command as the audit has it.
func (d *desk) lastAudit() engine.AuditEntry {
	d.t.Helper()
	list, err := d.db.Audit(context.Background(), 1)
	if err != nil || len(list) != 1 {
		d.t.Fatal(list, err)
	}
	return list[0]
}

// Who came first is told; that a job has changed since shown only to those who were
// shown it.
func TestOnlyWhoWasShownARevisionIsToldOfIt(t *testing.T) {
	onDesk(t, func(d *desk) {
		d.answer("match:1", fails)
		id := d.add("match:1")[0]
		shown := d.want(id, engine.Retryable).Rev
		d.answer("match:1", nil)
		d.do(engine.Command{Op: engine.OpRetry, Job: id})
		d.refuses(engine.Command{Op: engine.OpCancel, Job: id, IfRev: shown}, engine.ErrConflict, "changed since shown: let run by ana")
		_, err := d.Do(context.Background(), engine.Command{Op: engine.OpCancel, Job: id})
		if err == nil || strings.Contains(err.Error(), "since shown") || !strings.Contains(err.Error(), "it has ended: completed: let run by ana") {
			t.Errorf("without a revision: %v", err)
		}
	})
}

// A command by a criterion acts on all that fit, also of jobs that have ended, beyond
// the first page of them.
func TestBulkActsBeyondTheFirstPage(t *testing.T) {
	const all = 2*500 + 7 // three pages of a store
	r := newRig(t)
	r.jobs(t, all, func(i int) string { return fmt.Sprint("match:EUW1_", i) })
	r.discardAll(t)
	c := engine.Command{Op: engine.OpReclass, Select: &engine.Selection{Filter: &engine.JobFilter{Class: "503"}}, DryRun: true, By: ana}
	shown, err := r.Do(t.Context(), c)
	if err != nil || len(shown.Select.IDs) != all || len(shown.Select.Revs) != all {
		t.Errorf("%d fit, want %d: %v", len(shown.Select.IDs), all, err)
	}
}

// P-31: the real reasons, one line each, and the rest of the batch is done.
func TestP31_SkippedByReason(t *testing.T) {
	onDesk(t, func(d *desk) {
		hang := make(chan struct{})
		d.answer("match:run", func(engine.Run) engine.Outcome { <-hang; return engine.Done(nil) })
		d.answer("match:dead", dies("404", "no match"))
		d.answer("match:twin", dies("404", "no match"))
		ids := d.add("match:run", "match:dead", "match:done", "match:twin")
		d.answer("match:twin", fails)
		holder := d.add("match:twin")[0] // holds the dead one's key
		r := d.do(engine.Command{Op: engine.OpRetry, Select: &engine.Selection{IDs: append(ids, "b99")}})
		want := map[string]int{"running": 1, "completed": 1, "not found": 1, fmt.Sprintf("unique: #%s holds match:twin", holder): 1}
		if r.Applied != 1 || !maps.Equal(r.Skipped, want) {
			t.Errorf("bulk retry = %+v, want 1 done and skipped %v", r, want)
		}
		close(hang)
	})
}

// P-32: a selection without a criterion is refused unless the word is given;
// count and sample are told.
func TestP32_AllNeedsItsWord(t *testing.T) {
	onDesk(t, func(d *desk) {
		d.answer("match:1", fails)
		d.answer("match:2", fails)
		ids := d.add("match:1", "match:2")
		for _, op := range []engine.Op{engine.OpCancel, engine.OpRetry, engine.OpReclass} {
			for _, sel := range []*engine.Selection{{}, {Filter: &engine.JobFilter{}}} {
				d.refuses(engine.Command{Op: op, Select: sel}, engine.ErrRefused, "nothing narrows this down")
				d.refuses(engine.Command{Op: op, Select: sel, Confirm: "yes"}, engine.ErrRefused, `the word "all"`)
			}
		}
		r := d.refuses(engine.Command{Op: engine.OpCancel, Select: &engine.Selection{}}, engine.ErrRefused, "would cancel 2 jobs such as match:1, match:2")
		if r.Matched != 2 || len(r.Sample) != 2 || r.Applied != 0 {
			t.Errorf("the refusal told %+v", r)
		}
		d.want(ids[0], engine.Retryable)
		if r := d.do(engine.Command{Op: engine.OpCancel, Select: &engine.Selection{}, Confirm: engine.ConfirmAll}); r.Applied != 2 {
			t.Errorf("with its word: %+v", r)
		}
		d.want(ids[1], engine.Cancelled)
	})
}

// I-4: a dry run tells what will be done, what is skipped and why, and what it
// costs, and changes nothing.
func TestI4_DryRunTellsTheCost(t *testing.T) {
	onDesk(t, func(d *desk) {
		var keys []string
		for i := range 60 {
			keys = append(keys, fmt.Sprint("match:", i))
			d.answer(keys[i], dies("404", "no match"))
		}
		ids := d.add(keys...)
		before := d.job(ids[0])
		r := d.do(engine.Command{Op: engine.OpRetry, DryRun: true, Select: &engine.Selection{Filter: &engine.JobFilter{Class: "404"}}})
		if r.Would != 60 || r.Cost == nil || r.Cost.Calls != 60 || r.Cost.Takes != time.Minute {
			t.Errorf("dry run = %+v, cost %+v", r, r.Cost)
		}
		for _, c := range []engine.Command{
			{Op: engine.OpForce, Job: ids[0], Reason: "why not"}, {Op: engine.OpReclass, Job: ids[0]}, {Op: engine.OpRetry, Job: ids[0]},
		} {
			c.DryRun = true
			if r := d.do(c); r.Would != 1 || r.Cost == nil || r.Cost.Calls != 1 {
				t.Errorf("dry run of %s = %+v", c.Op, r)
			}
		}
		if r := d.do(engine.Command{Op: engine.OpCancel, Job: ids[0], DryRun: true}); r.Would != 0 || r.Skipped["discarded"] != 1 {
			t.Errorf("dry run of a cancel that makes no sense: %+v", r)
		}
		if after := d.job(ids[0]); after.Rev != before.Rev || d.ran("match:0") != 1 {
			t.Errorf("a dry run changed the job: %+v", after)
		}
		d.refuses(engine.Command{Op: engine.OpForce, Job: ids[0], DryRun: true}, engine.ErrInvalid, "force needs a reason")
		d.refuses(engine.Command{Op: engine.OpReschedule, Job: ids[0]}, engine.ErrInvalid, "reschedule needs to know when")
		d.refuses(engine.Command{Op: engine.OpRetry, Job: "b77", DryRun: true}, engine.ErrNotFound, "there is no job b77")
		d.refuses(engine.Command{Op: engine.OpRetry}, engine.ErrInvalid, "no job is named")
		d.refuses(engine.Command{Op: engine.OpCancel, Job: ids[0], Canary: true}, engine.ErrInvalid, "a canary does not fit")
		if r := d.do(engine.Command{Op: engine.OpReschedule, DryRun: true, At: time.Now().Add(time.Hour), Select: &engine.Selection{IDs: ids[:1]}}); r.Would != 0 {
			t.Errorf("dry run of a reschedule: %+v", r)
		}
	})
}

// Only force opens a completed job again, and it says why.
func TestForceOpensACompletedJob(t *testing.T) {
	onDesk(t, func(d *desk) {
		id := d.add("match:1")[0]
		d.want(id, engine.Completed)
		d.refuses(engine.Command{Op: engine.OpRetry, Job: id}, engine.ErrRefused, "a completed job can only be forced")
		d.refuses(engine.Command{Op: engine.OpForce, Job: id, Reason: "  "}, engine.ErrInvalid, "force needs a reason")
		r := d.do(engine.Command{Op: engine.OpForce, Job: id, Reason: "payload looks odd"})
		if j := d.want(id, engine.Completed); j.Round != 2 || d.ran("match:1") != 2 || r.Attempt != 2 {
			t.Errorf("after force: %+v, %d runs, receipt %+v", j, d.ran("match:1"), r)
		}
	})
}

// I-11: cancel, reschedule, reclass and pause are undone while nothing ran: state,
// tries, instant and key are as before. Once something ran, the undo is refused.
func TestI11_Undo(t *testing.T) {
	onDesk(t, func(d *desk) {
		d.answer("match:1", fails)
		d.answer("match:2", dies("404", "no match"))
		ids := d.add("match:1", "match:2")
		time.Sleep(35 * time.Second) // two failures
		before := d.want(ids[0], engine.Retryable)
		dead := d.want(ids[1], engine.Discarded)

		same := func(id engine.JobID, was engine.Job) {
			t.Helper()
			if got := d.job(id); engine.StandOf(got) != engine.StandOf(was) || got.Attempts != was.Attempts {
				t.Errorf("after the undo %+v, before the command %+v", engine.StandOf(got), engine.StandOf(was))
			}
		}
		r := d.do(engine.Command{Op: engine.OpCancel, Job: ids[0]})
		if !r.Undo || r.Audit == 0 || !strings.Contains(r.Text, "next try at") {
			t.Errorf("cancel answered %+v", r)
		}
		time.Sleep(8 * time.Second)
		if u := d.do(engine.Command{Op: engine.OpUndo, Audit: r.Audit, DryRun: true}); u.Would != 1 {
			t.Errorf("dry run of an undo: %+v", u)
		}
		d.want(ids[0], engine.Cancelled)
		d.do(engine.Command{Op: engine.OpUndo, Audit: r.Audit})
		same(ids[0], before)
		d.refuses(engine.Command{Op: engine.OpUndo, Audit: r.Audit}, engine.ErrConflict, "cancel #1 cannot be undone any more: 1 changed since")

		d.do(engine.Command{Op: engine.OpReschedule, Job: ids[0], At: time.Now().Add(time.Hour)})
		d.do(engine.Command{Op: engine.OpUndo}) // the last one
		same(ids[0], before)

		d.do(engine.Command{Op: engine.OpPause, Queue: fullQ})
		r = d.do(engine.Command{Op: engine.OpReclass, Select: &engine.Selection{Filter: &engine.JobFilter{Class: "404"}}})
		d.want(ids[1], engine.Available)
		d.do(engine.Command{Op: engine.OpUndo, Audit: r.Audit})
		same(ids[1], dead)
		if u := d.do(engine.Command{Op: engine.OpUndo}); !strings.Contains(u.Text, "goes on") { // the pause is next
			t.Errorf("undo of the pause: %+v", u)
		}

		r = d.do(engine.Command{Op: engine.OpReschedule, Job: ids[0], At: time.Now().Add(time.Second)})
		time.Sleep(5 * time.Second) // it ran
		ran := d.want(ids[0], engine.Retryable)
		d.refuses(engine.Command{Op: engine.OpUndo, Audit: r.Audit}, engine.ErrConflict, "cannot be undone any more")
		same(ids[0], ran)

		rt := d.do(engine.Command{Op: engine.OpRetry, Job: ids[0]})
		d.refuses(engine.Command{Op: engine.OpUndo, Audit: rt.Audit}, engine.ErrRefused, "nothing that could be taken back")
		d.refuses(engine.Command{Op: engine.OpUndo, Audit: 4711}, engine.ErrNotFound, "4711")
	})
}

// A pause that somebody has renewed since is theirs: the undo of the first one, or of the
// resume between them, leaves the queue as it is.
func TestI11_NoUndoOfAPauseThatWasRenewed(t *testing.T) {
	bo := engine.Actor{User: "bo", Via: "cli"}
	for _, restart := range []bool{false, true} {
		onDesk(t, func(d *desk) {
			first := d.do(engine.Command{Op: engine.OpPause, Queue: fullQ, Reason: "deploy"})
			var between engine.Receipt
			for _, op := range []engine.Op{engine.OpResume, engine.OpPause} {
				time.Sleep(time.Second)
				r, err := d.Do(context.Background(), engine.Command{Op: op, Queue: fullQ, By: bo, Reason: "disk is full"})
				if err != nil {
					t.Fatal(err)
				}
				if op == engine.OpResume {
					between = r
				}
			}
			if restart {
				d.off()
				d.on(false)
			}
			for _, r := range []engine.Receipt{first, between} {
				for _, dry := range []bool{true, false} {
					d.refuses(engine.Command{Op: engine.OpUndo, Audit: r.Audit, DryRun: dry}, engine.ErrConflict, "queue "+string(fullQ)+" was changed by bo since")
				}
			}
			stored, err := d.db.Queues(context.Background())
			if err != nil || len(stored) != 1 || !stored[0].Paused || stored[0].By.User != "bo" || stored[0].Reason != "disk is full" {
				t.Errorf("restart %t: the queue is %+v, %v", restart, stored, err)
			}
		})
	}
}

// Who takes a resume back does not pause: the pause is whose it was, and the history says
// who brought it back. It can be taken back in its turn.
func TestI11_UndoOfAResumeRestoresThePause(t *testing.T) {
	onDesk(t, func(d *desk) {
		first := d.do(engine.Command{Op: engine.OpPause, Queue: fullQ, Reason: "deploy"})
		queue := func() engine.QueueState {
			stored, err := d.db.Queues(context.Background())
			if err != nil || len(stored) != 1 {
				t.Fatalf("the queues are %+v, %v", stored, err)
			}
			return stored[0]
		}
		was := queue()
		bo := engine.Actor{User: "bo", Via: "cli"}
		for _, op := range []engine.Op{engine.OpResume, engine.OpUndo} {
			time.Sleep(time.Second)
			if _, err := d.Do(context.Background(), engine.Command{Op: op, Queue: fullQ, By: bo, Reason: "looks good"}); err != nil {
				t.Fatal(err)
			}
		}
		if now := queue(); now != was || was.Reason != "deploy" {
			t.Errorf("the queue is %+v, was %+v", now, was)
		}
		d.do(engine.Command{Op: engine.OpUndo, Audit: first.Audit})
		if now := queue(); now.Paused {
			t.Errorf("the queue is %+v", now)
		}
	})
}

// The undo survives a restart: what a command has changed is in the audit.
func TestI11_UndoAfterRestart(t *testing.T) {
	onDesk(t, func(d *desk) {
		d.answer("match:1", fails)
		id := d.add("match:1")[0]
		before := d.want(id, engine.Retryable)
		r := d.do(engine.Command{Op: engine.OpCancel, Select: &engine.Selection{IDs: []engine.JobID{id}}})
		d.off()
		d.on(false)
		d.do(engine.Command{Op: engine.OpUndo, Audit: r.Audit})
		if got := d.job(id); engine.StandOf(got) != engine.StandOf(before) {
			t.Errorf("after the undo %+v, before %+v", engine.StandOf(got), engine.StandOf(before))
		}
		if r := d.do(engine.Command{Op: engine.OpPause, Queue: fullQ}); r.Nothing { // without an engine the store knows
			t.Errorf("pause: %+v", r)
		}
		if r := d.do(engine.Command{Op: engine.OpPause, Queue: fullQ}); !r.Nothing {
			t.Errorf("a second pause: %+v", r)
		}
	})
}

// I-6: failed jobs are grouped by class, place and message shape; what is told is
// what a command by that name acts on.
func TestI6_ErrorClasses(t *testing.T) {
	onDesk(t, func(d *desk) {
		var keys []string
		for i := range 9 {
			key := fmt.Sprint("match:", i)
			keys = append(keys, key)
			switch {
			case i < 5:
				d.answer(key, dies("404", fmt.Sprintf(`match EUW1_%d "x%d" not found`, i, i)))
			case i < 8:
				d.answer(key, fails)
			default:
				d.answer(key, dies("404", "gone for good"))
			}
		}
		ids := d.add(keys...)
		a, err := d.Find(t.Context(), engine.ClassesQuery{})
		if err != nil {
			t.Fatal(err)
		}
		classes := a.(engine.ClassesAnswer)
		if len(classes.Classes) != 3 || classes.Jobs != 9 {
			t.Fatalf("classes: %+v", classes)
		}
		big := classes.Classes[0]
		if big.Class != "404" || big.Jobs != 5 || big.Dead != 5 || big.Waiting != 0 || big.Host != "europe" || big.Method != "match-v5.match" || big.Shape != `match # "…" not found` || big.First.IsZero() || big.Last.Before(big.First) {
			t.Errorf("the largest class: %+v", big)
		}
		if n := big.Lately[engine.ClassSteps-1] + big.Lately[engine.ClassSteps-2]; n != 5 || big.Latest == "" || len(big.Lately) != engine.ClassSteps {
			t.Errorf("%d failures just now: %v, the latest of job %s", n, big.Lately, big.Latest)
		}
		if c := classes.Classes[1]; c.Class != "503" || c.Waiting != 3 || c.Share < 0.33 || c.Share > 0.34 {
			t.Errorf("the second class: %+v", c)
		}
		for _, key := range keys[:5] {
			d.answer(key, nil)
		}
		if r := d.do(engine.Command{Op: engine.OpReclass, Select: &engine.Selection{Filter: &engine.JobFilter{Class: engine.Class(big.ID)}}}); r.Applied != 5 {
			t.Errorf("reclass: %+v", r)
		}
		for _, id := range ids[:5] {
			if j := d.want(id, engine.Completed); j.Round != 2 {
				t.Errorf("job %s is in round %d", id, j.Round)
			}
		}
		d.want(ids[8], engine.Discarded) // of the same class word, another shape
	})
}

// I-6: one job goes first; the rest follow when it has succeeded, also over a
// restart, and are left alone when it has not.
func TestI6_Canary(t *testing.T) {
	onDesk(t, func(d *desk) {
		keys := []string{"match:1", "match:2", "match:3"}
		for _, key := range keys {
			d.answer(key, dies("404", "no match"))
		}
		ids := d.add(keys...)
		all := &engine.Selection{Filter: &engine.JobFilter{Class: "404"}}
		r := d.do(engine.Command{Op: engine.OpRetry, Select: all, Canary: true})
		first := r.Job
		if r.Applied != 1 || !slices.Contains(ids, first) || !strings.Contains(r.Text, "the other 2 follow") {
			t.Errorf("canary: %+v", r)
		}
		time.Sleep(time.Hour)
		if n := d.ran("match:1") + d.ran("match:2") + d.ran("match:3"); n != 4 { // the canary failed: no other ran
			t.Errorf("%d runs after a canary that failed, want 4", n)
		}
		d.off()
		for _, key := range keys {
			d.answer(key, nil)
		}
		d.on(false) // no engine: the canary is only put in line
		d.do(engine.Command{Op: engine.OpReclass, Select: all, Canary: true})
		d.off()
		d.on(true)
		time.Sleep(time.Minute)
		for _, id := range ids {
			if j := d.want(id, engine.Completed); j.Class != "404" {
				t.Errorf("%+v", j)
			}
		}
		entries, err := d.db.Audit(t.Context(), 1)
		if err != nil || entries[0].Op != engine.OpReclass || entries[0].Applied != 2 || !strings.Contains(entries[0].Reason, "has succeeded") || entries[0].By != ana {
			t.Errorf("the audit of the rest: %+v, %v", entries, err)
		}
	})
}
