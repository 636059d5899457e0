package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/key"
)

// flip damages the record under k.
func flip(t testing.TB, db *DB, tb *collection.Table, k []byte) (raw []byte) {
	t.Helper()
	write(t, db, func(tx engine.Tx) error {
		b := own(tx).Bucket(tb)
		raw = bytes.Clone(b.Get(k))
		raw[len(raw)/2] ^= 8
		own(tx).Dirty = true
		return b.Put(k, raw)
	})
	return raw
}

// TestP28_ACorruptJobAloneIsDiscarded: the storage side. Whichever of its records is bad, the job ends as undecodable, its
// raw bytes are kept, its key is free, its group settles, and its neighbours never notice.
func TestP28_ACorruptJobAloneIsDiscarded(t *testing.T) {
	for _, tb := range []*collection.Table{tJobState.Table, tJobSpec.Table, tJobError.Table} {
		db := start(t, "")
		parent := enqueue(t, db, engine.Spec{Kind: "account.sync", Queue: "q", Key: "full:01A"})
		group := engine.GroupID{Parent: parent.ID, Group: 1}
		kid := enqueue(t, db, engine.Spec{Kind: "match.fetch", Queue: "q", Key: "match:EUW1_1", Parents: []engine.GroupID{group}})
		next := enqueue(t, db, engine.Spec{Kind: "match.fetch", Queue: "q", Key: "match:EUW1_2", Parents: []engine.GroupID{group}})
		kid.Class, kid.LastError = "5xx", "503"
		kid = move(t, db, kid, engine.Retryable)
		k, err := jobKey(kid.ID)
		must(t, err)
		raw := flip(t, db, tb, k)

		var sick []engine.JobID
		for j, err := range db.Live(context.Background()) {
			if err != nil {
				sick = append(sick, j.ID)
			}
		}
		if len(sick) != 1 || sick[0] != kid.ID {
			t.Fatalf("%s: unreadable jobs %v", tb.Name, sick)
		}
		write(t, db, func(tx engine.Tx) error {
			if _, err := db.DiscardUnreadable(tx, next.ID); !errors.Is(err, engine.ErrRefused) {
				t.Errorf("a sound job: %v", err)
			}
			j, err := db.DiscardUnreadable(tx, kid.ID)
			if err != nil || j.State != engine.Discarded || j.Class != undecodable {
				t.Errorf("%s: %+v %v", tb.Name, j, err)
			}
			g, err := db.Mark(tx, kid.ID, engine.MarkDead, 0, 0)
			if err == nil && (len(g) != 1 || g[0].Dead != 1 || g[0].Open != 1) {
				t.Errorf("%s: groups %+v", tb.Name, g)
			}
			return err
		})
		aside, err := db.LoadState(context.Background(), string(asideName(tb, k)))
		if err != nil || !bytes.Equal(aside, raw) {
			t.Errorf("%s: the raw record is gone: %x %v", tb.Name, aside, err)
		}
		if again := enqueue(t, db, engine.Spec{Kind: "match.fetch", Queue: "q", Key: "match:EUW1_1"}); again.ID == kid.ID {
			t.Errorf("%s: the corpse holds the key", tb.Name)
		}
		if d, err := db.Detail(context.Background(), engine.JobQuery{ID: kid.ID}); err != nil || d.Job.State != engine.Discarded {
			t.Errorf("%s: %+v %v", tb.Name, d.Job, err)
		}
	}
}

// TestP33_PruneTakesNoEvidence: nothing younger than its rule, no newest failures, nothing that others show or wait for, no
// counter.
func TestP33_PruneTakesNoEvidence(t *testing.T) {
	db := start(t, "")
	now := time.Now()
	end := func(key string, s engine.State, ago time.Duration, parents ...engine.GroupID) engine.Job {
		j := enqueue(t, db, engine.Spec{Kind: "match.fetch", Queue: "q", Key: key, Owner: "01A", Parents: parents})
		write(t, db, func(tx engine.Tx) error {
			return errors.Join(db.AddAttempt(tx, j.ID, engine.Attempt{Number: 1}),
				db.AddHistory(tx, string(j.ID), engine.Transition{To: s.String()}))
		})
		j.Finished = now.Add(-ago)
		j = move(t, db, j, s)
		write(t, db, func(tx engine.Tx) error {
			_, err := db.Mark(tx, j.ID, engine.MarkOf(s), 0, 0)
			return err
		})
		return j
	}
	day := 24 * time.Hour
	parent := enqueue(t, db, engine.Spec{Kind: "account.sync", Queue: "q", Key: "full:01A", Owner: "01A"})
	kid := end("match:kid", engine.Completed, 90*day, engine.GroupID{Parent: parent.ID, Group: 1})
	opened := enqueue(t, db, engine.Spec{Kind: "account.sync", Queue: "q", Key: "full:01B"})
	enqueue(t, db, engine.Spec{Kind: "match.fetch", Queue: "q", Key: "match:open", Parents: []engine.GroupID{{Parent: opened.ID, Group: 1}}})
	opened.Finished = now.Add(-90 * day)
	move(t, db, opened, engine.Cancelled) // with a child that goes on
	twice := end("match:twice", engine.Discarded, 20*day)
	later := end("match:twice", engine.Completed, 19*day)
	young := end("match:young", engine.Completed, day)
	old := end("match:old", engine.Discarded, 90*day)
	failed := end("match:failed", engine.Discarded, 80*day)
	rule := engine.PruneAsk{Completed: 7 * day, Failed: 30 * day, KeepFailed: 1}

	dry, err := db.Prune(context.Background(), rule, now, true)
	must(t, err)
	r, err := db.Prune(context.Background(), rule, now, false)
	if err != nil || !reflect.DeepEqual(r, dry) || r.Completed != 1 || r.Failed != 1 || r.Spared != 2 || r.Attempts != 2 {
		t.Errorf("%+v, dry %+v, %v", r, dry, err)
	}
	for j, want := range map[engine.JobID]bool{parent.ID: true, kid.ID: true, opened.ID: true, twice.ID: true, later.ID: false, young.ID: true, old.ID: false, failed.ID: true} {
		if _, err := db.Detail(context.Background(), engine.JobQuery{ID: j}); (err == nil) != want {
			t.Errorf("job %s: %v, want it kept: %t", j, err, want)
		}
	}
	if d, err := db.Detail(context.Background(), engine.JobQuery{Key: "match:twice"}); err != nil || d.Job.ID != twice.ID {
		t.Errorf("the key finds %s, %v", d.Job.ID, err)
	}
	read(t, db, func(tx *txn) error {
		d, err := tx.day(engine.UTCDay(now.Add(-90 * day)))
		if d.all.Discarded != 1 || d.pruned.Discarded != 1 || err != nil {
			t.Errorf("the day's sums are %+v, %v", d, err)
		}
		return nil
	})
	wantSound(t, db)

	// When the parent has ended and is old, it goes, and then nobody shows the child any more.
	parent.Finished = now.Add(-80 * day)
	move(t, db, parent, engine.Completed)
	for range 2 {
		_, err = db.Prune(context.Background(), rule, now, false)
		must(t, err)
	}
	for _, id := range []engine.JobID{parent.ID, kid.ID} {
		if _, err := db.Detail(context.Background(), engine.JobQuery{ID: id}); !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("job %s is still there: %v", id, err)
		}
	}
	if r, err := db.Prune(context.Background(), engine.PruneAsk{}, now, false); err != nil || !reflect.DeepEqual(r, engine.PruneDone{}) {
		t.Errorf("no rule: %+v %v", r, err)
	}
}

// TestP33_PruneSparesTheRunThatAnAccountShows: its counts are those of the sync job's groups.
func TestP33_PruneSparesTheRunThatAnAccountShows(t *testing.T) {
	db, now := start(t, ""), time.Now()
	syncOf := func(run string) engine.Job {
		j := enqueue(t, db, engine.Spec{Kind: "account.sync", Queue: "q", Key: "full:" + run, Owner: "01A"})
		write(t, db, func(tx engine.Tx) error {
			return errors.Join(db.SaveRun(tx, league.Run{ID: run, Account: "01A", Job: string(j.ID)}),
				db.SaveAccount(tx, league.Account{ID: "01A", GameName: "a", TagLine: "b", Platform: "euw1", Run: run}))
		})
		j.Finished = now.Add(-90 * 24 * time.Hour)
		return move(t, db, j, engine.Completed)
	}
	before, last := syncOf("r1"), syncOf("r2")
	r, err := db.Prune(context.Background(), engine.PruneAsk{Completed: 24 * time.Hour}, now, false)
	if err != nil || r.Completed != 1 || r.Spared != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	for j, want := range map[engine.JobID]bool{before.ID: false, last.ID: true} {
		if _, err := db.Detail(context.Background(), engine.JobQuery{ID: j}); (err == nil) != want {
			t.Errorf("job %s: %v, want it kept: %t", j, err, want)
		}
	}
	wantSound(t, db)
}

// TestP35_PagingUnderChange pages through 3,000 jobs while others move as fast as they can: none is seen twice, none that
// stayed is missing.
func TestP35_PagingUnderChange(t *testing.T) {
	const n = 3000
	db := start(t, "")
	ctx, cancel := context.WithCancel(context.Background())
	var ids []engine.JobID
	write(t, db, func(tx engine.Tx) error {
		ids = ids[:0]
		for i := range n {
			a, err := tx.Enqueue(engine.Spec{Kind: "match.fetch", Queue: "q", Key: fmt.Sprint("match:", i)})
			if err != nil {
				return err
			}
			ids = append(ids, a[0].ID)
		}
		return nil
	})
	stays := func(i int) bool { return i%3 == 0 }
	done := make(chan int)
	go func() { // moves between states, into the archive, and new ones
		changes := 0
		for i := 0; ctx.Err() == nil; i = (i + 7) % n {
			if stays(i) {
				continue
			}
			for _, to := range []engine.State{engine.Running, engine.Completed} {
				if err := moveTo(db, ids[i], to); err == nil {
					changes++
				}
			}
		}
		done <- changes
	}()
	for range 3 {
		seen := map[engine.JobID]bool{}
		q := engine.JobsQuery{Page: engine.Page{Limit: 97}}
		for {
			jobs, next, _, err := db.Jobs(context.Background(), q)
			must(t, err)
			for _, j := range jobs {
				if seen[j.ID] {
					t.Fatalf("job %s came twice", j.ID)
				}
				seen[j.ID] = true
			}
			if next == "" {
				break
			}
			q.After = next
		}
		for i, id := range ids {
			if stays(i) && !seen[id] {
				t.Fatalf("job %s stayed and is missing", id)
			}
		}
	}
	cancel()
	if n := <-done; n == 0 {
		t.Error("nothing changed meanwhile")
	}
}

// TestP37_BigNumbersComeBack: arguments are kept as they were written, digit for digit.
func TestP37_BigNumbersComeBack(t *testing.T) {
	db := start(t, "")
	args := fmt.Sprintf(`{"a":%d,"b":%d,"c":9007199254740993,"d":-9007199254740993,"e":1e400,"f":0.10000000000000000001}`, math.MaxInt64, uint64(math.MaxUint64))
	j := enqueue(t, db, engine.Spec{Kind: "match.fetch", Queue: "q", Key: "k", Args: []byte(args)})
	if string(j.Args) != args {
		t.Errorf("live: %s", j.Args)
	}
	j = move(t, db, j, engine.Discarded)
	d, err := db.Detail(context.Background(), engine.JobQuery{ID: j.ID})
	if err != nil || string(d.Job.Args) != args {
		t.Errorf("ended: %s %v", d.Job.Args, err)
	}
	m := league.Match{ID: "EUW1_" + strings.Repeat("9", 18), QueueID: math.MaxInt32, Match: league.Fetch{Status: league.Success, Ref: league.PayloadRef{Month: testMonth, Codec: league.CodecDropped, CRC: math.MaxUint32}}}
	write(t, db, func(tx engine.Tx) error { return db.SaveMatch(tx, m, false) })
	read(t, db, func(tx *txn) error {
		got, err := tx.match(m.ID)
		if err != nil || got.Match.Ref != m.Match.Ref || got.QueueID != m.QueueID {
			t.Errorf("%+v %v", got, err)
		}
		return nil
	})
	if id := jobID(math.MaxUint64 >> 1); mustNumber(id) != math.MaxUint64>>1 || !bytes.Equal(key.Uint64(mustNumber(id)), key.Uint64(math.MaxUint64>>1)) {
		t.Errorf("id %s", id)
	}
}
