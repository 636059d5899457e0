package storage

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
)

// path leads a new job to each state by legal moves.
var path = map[engine.State][]engine.State{
	engine.Pending:   {engine.Running, engine.Pending},
	engine.Available: {},
	engine.Scheduled: {engine.Scheduled},
	engine.Running:   {engine.Running},
	engine.Retryable: {engine.Running, engine.Retryable},
	engine.Completed: {engine.Running, engine.Completed},
	engine.Cancelled: {engine.Cancelled},
	engine.Discarded: {engine.Running, engine.Discarded},
}

func TestP05_OnlyLiveJobsHoldTheirKey(t *testing.T) {
	db := start(t, "")
	for _, state := range engine.States() {
		spec := engine.Spec{Kind: "match.fetch", Queue: "q", Key: "match:" + state.String()}
		j := enqueue(t, db, spec)
		for _, to := range path[state] {
			j = move(t, db, j, to)
		}
		var again []engine.Enqueued
		write(t, db, func(tx engine.Tx) (err error) {
			again, err = tx.Enqueue(spec)
			return err
		})
		if got, want := again[0].Duplicate, state.Live(); got != want {
			t.Errorf("%s: a new insert is a duplicate: %t, want %t", state, got, want)
		}
		if again[0].Duplicate && (again[0].ID != j.ID || again[0].State != state) {
			t.Errorf("%s: %+v names another job than %s", state, again[0], j.ID)
		}
		read(t, db, func(tx *txn) error {
			holder, err := db.JobByKey(tx, spec.Key)
			if err != nil || holder.ID != again[0].ID {
				t.Errorf("%s: the key is held by %s, %v", state, holder.ID, err)
			}
			return nil
		})
	}
}

func TestP03_AnOlderRevisionIsRefused(t *testing.T) {
	db := start(t, "")
	j := enqueue(t, db, engine.Spec{Kind: "k", Queue: "q"})
	j = move(t, db, j, engine.Running)
	late := j
	j = move(t, db, j, engine.Available)
	j = move(t, db, j, engine.Running)
	late.State = engine.Completed
	for _, rev := range []engine.Revision{0, 1, late.Rev, j.Rev} {
		late.Rev = rev
		err := db.Write(context.Background(), func(tx engine.Tx) error { return db.SaveJob(tx, late) })
		if !errors.Is(err, engine.ErrStale) {
			t.Errorf("revision %d: %v", rev, err)
		}
	}
	wantJob(t, db, j)
}

func wantJob(t testing.TB, db *DB, want engine.Job) {
	t.Helper()
	read(t, db, func(tx *txn) error {
		got, err := tx.job(want.ID)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("stored %+v\nwant   %+v (%v)", got, want, err)
		}
		return nil
	})
}

func TestP06_RetryOfADeadJobMeetsALiveOneWithItsKey(t *testing.T) {
	db := start(t, "")
	spec := engine.Spec{Kind: "match.fetch", Queue: "q", Key: "match:X"}
	dead := move(t, db, enqueue(t, db, spec), engine.Cancelled)
	live := enqueue(t, db, spec)
	again := dead
	again.State, again.Rev = engine.Available, dead.Rev+1
	err := db.Write(context.Background(), func(tx engine.Tx) error { return db.SaveJob(tx, again) })
	p := wantError[*engine.Problem](t, err)
	if !errors.Is(err, engine.ErrConflict) || p.Job != live.ID || p.Do == "" {
		t.Errorf("%+v", p)
	}
	wantJob(t, db, dead)
	move(t, db, live, engine.Cancelled)
	again = move(t, db, dead, engine.Available)
	wantJob(t, db, again)
}

func TestJobsComeBackAsTheyWere(t *testing.T) {
	db := start(t, "")
	at := time.Date(2026, 11, 21, 12, 0, 0, int(5*time.Millisecond), time.UTC)
	full := engine.Job{
		Kind: "k", Queue: "q", Key: "key", Lock: "l", Owner: "o", Args: []byte(`{"n":9007199254740993}`), Priority: 4, Policy: "match",
		Hold: engine.HoldOutage, Due: at, Front: true, Phase: 2, Round: 3, Tries: 4, Attempts: 17, Holds: 200, Crashes: 2,
		HasParents: true, Group: 1, CancelAsked: true, Boot: "0123456789abcdef", Class: "503", LastError: "line\x1b[31m", Created: at,
		Started: at, Finished: at,
	}
	for _, state := range engine.States() {
		full.Key = "key:" + state.String()
		j := enqueue(t, db, engine.Spec{Kind: "k", Queue: "q", Key: full.Key})
		full.ID, full.Rev = j.ID, j.Rev+1
		full.State = state
		write(t, db, func(tx engine.Tx) error { return db.SaveJob(tx, full) })
		wantJob(t, db, full)
	}
	read(t, db, func(tx *txn) error {
		for r := range tx.Rows(tJobState.Table, nil) {
			if len(r.Value) > 80 { // every field set at once; the usual record has 20 to 40
				t.Errorf("a state record of %d bytes", len(r.Value))
			}
		}
		return nil
	})
}

func TestAStateRecordIsSmall(t *testing.T) {
	db := start(t, "")
	j := enqueue(t, db, engine.Spec{Kind: "match.fetch", Queue: "ingest.summoner.full", Key: "match:EUW1_1", Args: []byte(`{"match":"EUW1_1"}`)})
	j.Boot, j.Started, j.Tries, j.Attempts = db.Boot().ID, time.Now(), 1, 1
	move(t, db, j, engine.Running)
	read(t, db, func(tx *txn) error {
		for r := range tx.Rows(tJobState.Table, nil) {
			if len(r.Value) > 48 {
				t.Errorf("the state record of a running job has %d bytes", len(r.Value))
			}
		}
		return nil
	})
}

func TestEnqueueSchedulesAndEmits(t *testing.T) {
	db := start(t, "")
	var got []engine.Change
	db.OnCommit(func(_ uint64, changes []engine.Change) { got = append(got, changes...) })
	later := time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)
	now := enqueue(t, db, engine.Spec{Kind: "k", Queue: "q", RunAt: time.Now().Add(-time.Hour)})
	then := enqueue(t, db, engine.Spec{Kind: "k", Queue: "q", RunAt: later, Priority: engine.PriorityLow})
	if now.State != engine.Available || !now.Due.IsZero() || now.Priority != engine.PriorityNormal || now.Round != 1 || now.Rev != 1 {
		t.Errorf("past: %+v", now)
	}
	if then.State != engine.Scheduled || !then.Due.Equal(later) || then.Priority != engine.PriorityLow {
		t.Errorf("future: %+v", then)
	}
	move(t, db, now, engine.Running)
	if len(got) != 3 || !got[0].New || !got[1].New || got[2].New || got[2].Before != engine.Available || got[2].Job.State != engine.Running {
		t.Errorf("changes: %+v", got)
	}
	if now.ID >= then.ID {
		t.Error("ids do not ascend")
	}
}

func TestJobIDsSortAsText(t *testing.T) {
	last := jobID(1)
	for _, n := range []uint64{2, 9, 10, 11, 99, 100, 812, 1 << 40, 1<<64 - 1} {
		id := jobID(n)
		if id <= last {
			t.Errorf("%s is not after %s", id, last)
		}
		if back, err := jobNumber(id); back != n || err != nil {
			t.Errorf("%s reads as %d, %v", id, back, err)
		}
		last = id
	}
	for _, bad := range []engine.JobID{"", "a", "7", "a07", "b7", "x812", "c81x", "c-12", "a0", "c 12"} {
		if _, err := jobNumber(bad); !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("P-13: %q: %v", bad, err)
		}
	}
}

func TestLiveYieldsEveryLiveJobInOrder(t *testing.T) {
	db := start(t, "")
	var want []engine.JobID
	write(t, db, func(tx engine.Tx) error {
		want = want[:0]
		for range engine.LargestPage + 20 {
			a, err := tx.Enqueue(engine.Spec{Kind: "k", Queue: "q"})
			if err != nil {
				return err
			}
			want = append(want, a[0].ID)
		}
		return nil
	})
	var first engine.Job
	for j, err := range db.Live(context.Background()) {
		must(t, err)
		first = j
		break
	}
	move(t, db, first, engine.Cancelled)
	var got []engine.JobID
	for j, err := range db.Live(context.Background()) {
		must(t, err)
		got = append(got, j.ID)
	}
	if !slices.Equal(got, want[1:]) {
		t.Errorf("%d jobs, want %d, in order", len(got), len(want)-1)
	}
}

// TestP16_GroupsEqualTheirMembers drives groups at random; the check at its end recounts them.
func TestP16_GroupsEqualTheirMembers(t *testing.T) {
	db := start(t, "")
	rapid.Check(t, func(rt *rapid.T) {
		parent := enqueue(t, db, engine.Spec{Kind: "account.sync", Queue: "q"})
		var kids []engine.Job
		n := rapid.IntRange(0, 8).Draw(rt, "children")
		for i := range n {
			groups := []engine.GroupID{{Parent: parent.ID, Group: 1}}
			if rapid.Bool().Draw(rt, "both") {
				groups = append(groups, engine.GroupID{Parent: parent.ID, Group: 2})
			}
			kids = append(kids, enqueue(t, db, engine.Spec{Kind: "k", Queue: "q", Key: fmt.Sprintf("%s/%d", parent.ID, i), Parents: groups}))
		}
		calls := 0
		for range rapid.IntRange(0, 10).Draw(rt, "moves") {
			if n == 0 {
				break
			}
			i := rapid.IntRange(0, n-1).Draw(rt, "which")
			to := rapid.SampledFrom([]engine.State{engine.Running, engine.Retryable, engine.Completed, engine.Discarded, engine.Cancelled, engine.Available}).Draw(rt, "to")
			kids[i].State = to
			kids[i].Rev++
			j := kids[i]
			write(t, db, func(tx engine.Tx) error {
				if err := db.SaveJob(tx, j); err != nil {
					return err
				}
				groups, err := db.Mark(tx, j.ID, engine.MarkOf(to), 1, 0)
				if err == nil && len(groups) == 0 {
					err = errors.New("no group was marked")
				}
				return err
			})
			calls++
		}
		read(t, db, func(tx *txn) error {
			g, err := db.Group(tx, engine.GroupID{Parent: parent.ID, Group: 1})
			must(t, err)
			open := 0
			for _, k := range kids {
				if k.State.Live() {
					open++
				}
			}
			if g.Total != n || g.Open != open || g.Done+g.Dead+g.Cancelled+g.Open != n || g.Calls != calls || g.Settled() != (open == 0) {
				rt.Fatalf("%+v, want %d children, %d open, %d calls", g, n, open, calls)
			}
			children, err := db.OpenChildren(tx, parent.ID)
			if err != nil || len(children) != open {
				rt.Fatalf("open children: %v, %v", children, err)
			}
			return nil
		})
	})
}

func TestS3_3_AllChildrenAppearInOneTransaction(t *testing.T) {
	db := start(t, "")
	parent := enqueue(t, db, engine.Spec{Kind: "account.sync", Queue: "q"})
	before := db.Seq()
	write(t, db, func(tx engine.Tx) error {
		for i := range 879 {
			spec := engine.Spec{Kind: "match.fetch", Queue: "q", Key: fmt.Sprintf("match:EUW1_%d", i), Parents: []engine.GroupID{{Parent: parent.ID, Group: 1}}}
			if _, err := tx.Enqueue(spec, spec); err != nil { // twice: a key is one job
				return err
			}
		}
		return nil
	})
	if db.Seq() != before+1 {
		t.Errorf("%d commits", db.Seq()-before)
	}
	read(t, db, func(tx *txn) error {
		groups, err := db.Groups(tx, parent.ID)
		if err != nil || len(groups) != 1 || groups[0].Total != 879 || groups[0].Open != 879 {
			t.Errorf("%+v %v", groups, err)
		}
		return nil
	})
}

func TestAMatchWantedTwiceIsOneJobWithTwoParents(t *testing.T) {
	db := start(t, "")
	a := enqueue(t, db, engine.Spec{Kind: "account.sync", Queue: "q", Key: "full:a"})
	b := enqueue(t, db, engine.Spec{Kind: "account.sync", Queue: "q", Key: "full:b"})
	alone := enqueue(t, db, engine.Spec{Kind: "match.fetch", Queue: "q", Key: "match:X"})
	running := move(t, db, alone, engine.Running)
	for _, p := range []engine.Job{a, b} {
		j := enqueue(t, db, engine.Spec{Kind: "match.fetch", Queue: "q", Key: "match:X", Parents: []engine.GroupID{{Parent: p.ID, Group: 1}}})
		if j.ID != alone.ID || !j.HasParents || j.Rev != running.Rev {
			t.Errorf("joined job %+v", j)
		}
	}
	// The worker read the job before it was joined: its write must not lose the parents.
	done := move(t, db, running, engine.Completed)
	done.HasParents = true
	wantJob(t, db, done)
	write(t, db, func(tx engine.Tx) error {
		groups, err := db.Mark(tx, done.ID, engine.MarkDone, 1, 0)
		if err == nil && (len(groups) != 2 || !groups[0].Settled() || !groups[1].Settled()) {
			t.Errorf("groups %+v", groups)
		}
		return err
	})
	read(t, db, func(tx *txn) error {
		parents, err := tx.Parents(done.ID)
		if err != nil || len(parents) != 2 || parents[0].Job.ID != a.ID || parents[1].Job.ID != b.ID || parents[0].Group != 1 {
			t.Errorf("%+v %v", parents, err)
		}
		return nil
	})
}

func TestDetailTellsAllThatIsStoredOfAJob(t *testing.T) {
	db := start(t, "")
	ctx := context.Background()
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	j := enqueue(t, db, engine.Spec{Kind: "match.fetch", Queue: "q", Key: "match:X", Owner: "acc"})
	failed := engine.Attempt{
		Number: 1, Round: 1, Try: 1, Rev: 2, Start: at, End: at.Add(time.Second), Verb: engine.VerbRetry, Class: "503", Err: "upstream\x1b]0;x",
		External: "trace-1", Status: 503, Queued: time.Second, Paced: 900 * time.Millisecond, Limiter: 30 * time.Millisecond, HTTP: 70 * time.Millisecond, Next: at.Add(30 * time.Second), Decision: "policy match step 1: 30 s",
	}
	held := engine.Attempt{Round: 1, Start: at, End: at, Verb: engine.VerbSnooze, Hold: engine.HoldThrottled, Status: 429}
	write(t, db, func(tx engine.Tx) error {
		return errors.Join(db.AddAttempt(tx, j.ID, failed), db.AddAttempt(tx, j.ID, held),
			db.AddHistory(tx, string(j.ID), engine.Transition{At: at, From: "running", To: "retryable", Reason: "503", Actor: "engine"}))
	})
	j.Attempts, j.Tries, j.Started = 2, 2, at.Add(time.Minute)
	j = move(t, db, j, engine.Running)
	d, err := db.Detail(ctx, engine.JobQuery{Key: "match:X"})
	must(t, err)
	if len(d.Attempts) != j.Attempts || !reflect.DeepEqual(d.Attempts[0], failed) || d.Attempts[1].Number != 2 || !d.Attempts[1].End.IsZero() {
		t.Errorf("S2-4: attempts %+v", d.Attempts)
	}
	if len(d.Holds) != 1 || !reflect.DeepEqual(d.Holds[0], held) || len(d.History) != 1 || d.History[0].Seq != 1 || d.History[0].Reason != "503" {
		t.Errorf("holds %+v history %+v", d.Holds, d.History)
	}
	recent, err := db.Recent(ctx, "acc", 10)
	if err != nil || len(recent) != 2 || !reflect.DeepEqual(recent[1], failed) {
		t.Errorf("recent %+v %v", recent, err)
	}
	move(t, db, j, engine.Completed)
	want := engine.Spent{
		Kind: "match.fetch", End: failed.End, Line: 100 * time.Millisecond, Limiter: 930 * time.Millisecond, HTTP: 70 * time.Millisecond, Rest: 900 * time.Millisecond,
	}
	if spent, err := db.Spent(ctx, "acc", 10); err != nil || len(spent) != 2 || !reflect.DeepEqual(spent[1], want) {
		t.Errorf("spent %+v %v, want %+v", spent, err, want)
	}
	second := enqueue(t, db, engine.Spec{Kind: "match.fetch", Queue: "q", Key: "match:X"})
	if d, err := db.Detail(ctx, engine.JobQuery{Key: "match:X"}); err != nil || d.Job.ID != second.ID {
		t.Errorf("the live job comes first: %s %v", d.Job.ID, err)
	}
	move(t, db, second, engine.Cancelled)
	if d, err := db.Detail(ctx, engine.JobQuery{Key: "match:X"}); err != nil || d.Job.ID != second.ID {
		t.Errorf("then the latest: %s %v", d.Job.ID, err)
	}
	for _, q := range []engine.JobQuery{{ID: "c999"}, {ID: "nonsense"}, {Key: "none"}, {}} {
		if _, err := db.Detail(ctx, q); !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

func TestHistoryAndRecentAreTrimmed(t *testing.T) {
	db := start(t, "")
	j := enqueue(t, db, engine.Spec{Kind: "k", Queue: "q", Owner: "acc"})
	for round := range 3 {
		write(t, db, func(tx engine.Tx) error {
			for i := range 100 {
				n := round*100 + i + 1
				if err := db.AddHistory(tx, "acc", engine.Transition{Reason: fmt.Sprint(n)}); err != nil {
					return err
				}
				if err := db.AddAttempt(tx, j.ID, engine.Attempt{Number: n, Status: 200}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	read(t, db, func(tx *txn) error {
		h, err := tx.history("acc")
		if err != nil || len(h) != maxHistory || h[0].Reason != "251" || h[49].Seq != 300 {
			t.Errorf("%d rows of history, %v", len(h), err)
		}
		return nil
	})
	recent, err := db.Recent(context.Background(), "acc", 1000)
	if err != nil || len(recent) != maxRecent || recent[0].Number != 300 {
		t.Errorf("%d recent attempts, %v", len(recent), err)
	}
	d, err := db.Detail(context.Background(), engine.JobQuery{ID: j.ID})
	if err != nil || len(d.Attempts) != 300 {
		t.Errorf("%d attempts are kept, %v", len(d.Attempts), err)
	}
}

// TestP35_PagesOfJobsHaveNoHoleAndNoDouble walks random filters page by page and compares with a plain list.
func TestP35_PagesOfJobsHaveNoHoleAndNoDouble(t *testing.T) {
	db := start(t, "")
	var all []engine.Job
	states := []engine.State{engine.Available, engine.Running, engine.Completed, engine.Discarded, engine.Cancelled, engine.Retryable}
	write(t, db, func(tx engine.Tx) error {
		all = all[:0]
		for i := range 120 {
			a, err := tx.Enqueue(engine.Spec{Kind: engine.Kind(fmt.Sprint("k", i%3)), Queue: engine.Queue(fmt.Sprint("q", i%2)), Owner: fmt.Sprint("o", i%5), Key: fmt.Sprint("Match:", i)})
			if err != nil {
				return err
			}
			j, err := db.Job(tx, a[0].ID)
			if err != nil {
				return err
			}
			j.State, j.Rev = states[i*7%len(states)], 2
			if err := db.SaveJob(tx, j); err != nil {
				return err
			}
			all = append(all, j)
		}
		return nil
	})
	slices.Reverse(all)
	rapid.Check(t, func(rt *rapid.T) {
		q := engine.JobsQuery{
			States: rapid.SliceOfDistinct(rapid.SampledFrom(states), func(s engine.State) engine.State { return s }).Draw(rt, "states"),
			Queue:  rapid.SampledFrom([]engine.Queue{"", "", "q0", "q1"}).Draw(rt, "queue"),
			Kind:   rapid.SampledFrom([]engine.Kind{"", "", "k0", "k2"}).Draw(rt, "kind"),
			Owner:  rapid.SampledFrom([]string{"", "", "o3"}).Draw(rt, "owner"),
			Text:   rapid.SampledFrom([]string{"", "", "match:1"}).Draw(rt, "text"),
			Ended:  rapid.Bool().Draw(rt, "ended"),
			Oldest: rapid.Bool().Draw(rt, "oldest"),
		}
		q.Limit = rapid.IntRange(1, 50).Draw(rt, "limit")
		var want, got []engine.JobID
		live := 0
		for _, j := range all {
			if !fits(q, j) {
				continue
			}
			if j.State.Live() {
				live++
			}
			if j.State.Live() || !q.Oldest && (len(q.States) > 0 || q.Ended) {
				want = append(want, j.ID)
			}
		}
		if q.Oldest {
			slices.Reverse(want)
		}
		for {
			jobs, next, total, err := db.Jobs(context.Background(), q)
			must(t, err)
			want := live
			if q.After != "" {
				want = -1
			}
			if total != want {
				rt.Fatalf("total %d, want %d", total, want)
			}
			for _, j := range jobs {
				got = append(got, j.ID)
			}
			if next == "" {
				break
			}
			q.After = next
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("got %v\nwant %v", got, want)
		}
	})
	if _, _, _, err := db.Jobs(context.Background(), engine.JobsQuery{Page: engine.Page{After: "nonsense"}}); !errors.Is(err, engine.ErrInvalid) || !strings.HasPrefix(err.Error(), "after=\"nonsense\" is no place") {
		t.Errorf("a bad cursor: %v", err)
	}
}
