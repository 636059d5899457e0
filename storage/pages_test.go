package storage

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/engine/league"
)

// many is more than three pages of every loop have rows, whatever a page holds in these tests.
const many = 13

// What was pruned, and what ran again, leaves no place in the feed, however many there are.
func TestTheFeedIsTrimmedToItsEnd(t *testing.T) {
	db := start(t, "")
	for i := range many {
		ended(t, db, fmt.Sprint("match:EUW1_", i), engine.Completed, "", 2)
	}
	kept := ended(t, db, "match:EUW1_kept", engine.Completed, "", 0)
	report, err := db.Prune(context.Background(), engine.PruneAsk{Completed: 24 * time.Hour}, noon, false)
	must(t, err)
	if report.Completed != many {
		t.Errorf("pruned %d of %d", report.Completed, many)
	}
	read(t, db, func(tx *txn) error {
		if n := tx.rowCount(tFeed.Table); n != 1 || !stays(t, db, kept) {
			t.Errorf("the feed has %d places, of one job that is left", n)
		}
		return nil
	})
}

// Payloads that no match names are all counted.
func TestP3_EveryOrphanIsFound(t *testing.T) {
	db := start(t, "")
	ctx := context.Background()
	for i := range many {
		ref, body := gzipped(fmt.Sprint(`{"orphan":`, i, `}`))
		must(t, db.PutPayload(ctx, fmt.Sprintf("EUW1_%04d", i), league.PartMatch, ref, body))
	}
	if r, err := db.Check(ctx); err != nil || r.Orphans != many {
		t.Errorf("found %d of %d, %v", r.Orphans, many, err)
	}
}

// However many syncs an account has and however many children each: no transaction takes more than a page out of them.
func TestForgettingTakesAPageAtATime(t *testing.T) {
	db := start(t, "")
	people(t, db, nil)
	for i := range 5 {
		write(t, db, func(tx engine.Tx) error { return endedSync(db, own(tx), forgetters[0], i) })
	}
	var left []int
	defer crash.Arm(func(name string) {
		if name == "forget-batch" {
			read(t, db, func(tx *txn) error { left = append(left, tx.rowCount(tMembers.Table)); return nil })
		}
	})()
	_, _, err := db.Forget(context.Background(), forgetters[0], engine.Actor{}, "asked", 0)
	must(t, err)
	wantNoTrace(t, db, traces(forgetters[0]), tAudit.Table)
	if left[0] < 4*many || left[len(left)-1] != 0 {
		t.Errorf("members after each transaction: %v", left)
	}
	for i := 1; i < len(left); i++ {
		if n := left[i-1] - left[i]; n > fewRows.Forget {
			t.Errorf("one transaction took %d members out", n)
		}
	}
}

// endedSync is a sync with many children, all of which have ended.
func endedSync(db *DB, t *txn, account string, n int) error {
	sync, err := t.Enqueue(engine.Spec{Kind: "account.full", Queue: "q", Key: fmt.Sprint("full:", n), Lock: "account:" + account, Owner: account})
	if err != nil {
		return err
	}
	parent := sync[0].ID
	for i := range many {
		child, err := t.Enqueue(engine.Spec{Kind: "match.fetch", Queue: "q", Key: fmt.Sprintf("match:EUW1_%d_%d", n, i), Owner: account, Parents: []engine.GroupID{{Parent: parent}}})
		if err == nil {
			err = endJob(db, t, child[0].ID, engine.MarkDone)
		}
		if err != nil {
			return err
		}
	}
	return endJob(db, t, parent, engine.MarkDone)
}
