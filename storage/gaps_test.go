package storage

import (
	"errors"
	"fmt"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// gapWorld is an account whose last run has ended without parts of its matches: EUW1_0 was discarded, EUW1_1 cancelled by
// itself, the timeline of EUW1_2 discarded, EUW1_3 was fetched after all, EUW1_4 had been given up before.
func gapWorld(t *testing.T, db *DB) {
	t.Helper()
	a := account("01A", "A", "1")
	a.Run = "R1"
	saveAccount(t, db, a)
	sync := enqueue(t, db, engine.Spec{Kind: "account.sync", Queue: "q", Key: "full:01A", Owner: "01A"})
	in := func(group int) []engine.GroupID { return []engine.GroupID{{Parent: sync.ID, Group: group}} }
	kids := []struct {
		spec engine.Spec
		to   engine.State
		mark engine.Mark
	}{
		{engine.Spec{Kind: "match.fetch", Key: "match:EUW1_0", Args: []byte(`{"match":"EUW1_0"}`), Parents: in(league.GroupMatches)}, engine.Discarded, engine.MarkDead},
		{engine.Spec{Kind: "match.fetch", Key: "match:EUW1_1", Args: []byte(`{"match":"EUW1_1"}`), Parents: in(league.GroupMatches)}, engine.Cancelled, engine.MarkCancelled},
		{engine.Spec{Kind: "timeline.fetch", Key: "timeline:EUW1_2", Args: []byte(`{"match":"EUW1_2"}`), Parents: in(league.GroupTimelines)}, engine.Discarded, engine.MarkDead},
		{engine.Spec{Kind: "match.fetch", Key: "match:EUW1_3", Args: []byte(`{"match":"EUW1_3"}`), Parents: in(league.GroupMatches)}, engine.Discarded, engine.MarkDead},
	}
	write(t, db, func(tx engine.Tx) error {
		errs := []error{db.SaveRun(tx, league.Run{ID: "R1", Account: "01A", Job: string(sync.ID), Lost: 1, Result: "incomplete"})}
		for i, s := range []league.Status{league.PermanentlyUnfetchable, league.TemporaryFailure, league.Success, league.Success, league.PermanentlyUnfetchable} {
			m := league.Match{ID: fmt.Sprint("EUW1_", i), Match: league.Fetch{Status: s}}
			if s == league.Success {
				m.Match.Ref = league.PayloadRef{Codec: league.CodecDropped}
			}
			errs = append(errs, db.SaveMatch(tx, m, false), db.LinkMatch(tx, "01A", m.ID))
		}
		return errors.Join(errs...)
	})
	for _, kid := range kids {
		kid.spec.Queue = "q"
		j := move(t, db, enqueue(t, db, kid.spec), kid.to)
		write(t, db, func(tx engine.Tx) error { _, err := db.Mark(tx, j.ID, kid.mark, 2, 1); return err })
	}
}

// TestLeave: what a child has cost stays with the run when its part has come otherwise.
func TestLeave(t *testing.T) {
	db := start(t, "")
	gapWorld(t, db)
	before := rowOf(t, db)
	g := engine.GroupID{Parent: before.Job, Group: league.GroupMatches}
	for range 2 { // the second time there is nothing to do
		write(t, db, func(tx engine.Tx) error { return db.Leave(tx, g, "a2") })
	}
	after := rowOf(t, db)
	if before.Matches.Failed-after.Matches.Failed != 1 || before.Matches.Total-after.Matches.Total != 1 || after.Calls != before.Calls || after.Throttled != before.Throttled || before.Calls != 8 {
		t.Errorf("%+v, %d calls; was %+v, %d calls", after.Matches, after.Calls, before.Matches, before.Calls)
	}
}

func rowOf(t *testing.T, db *DB) (r engine.AccountRow) {
	t.Helper()
	read(t, db, func(tx *txn) error {
		a, err := tx.account("01A")
		if err != nil {
			return err
		}
		r, err = tx.accountRow(a)
		return err
	})
	return r
}
