package pg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/cron"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/internal/pgtest"
)

// Sixteen write at once, each transaction as long as it likes, and one follows: it is told of
// every match as it is in the end, of no state of one twice, and of none that an other has
// followed.
func TestAFollowerMissesNothingUnderSixteenWriters(t *testing.T) {
	at := pgtest.Schema(t)
	dbs := []*DB{open(t, at), open(t, at)}
	const writers, matches, changes = 16, 10, 3
	var all sync.WaitGroup
	for n := range writers {
		all.Go(func() {
			r := rand.New(rand.NewPCG(8, uint64(n)))
			db := dbs[n%2]
			for version := 1; version <= changes; version++ {
				for i := range matches {
					m := league.Match{ID: fmt.Sprintf("EUW1_%d_%d", n, i)}
					err := db.Write(context.Background(), func(tx engine.Tx) error {
						m.Match.Status, m.Match.Attempts = league.TemporaryFailure, version
						err := db.SaveMatch(tx, m, false)
						_ = own(tx).flush() // its place is taken; others take theirs before it is committed
						time.Sleep(rand.N(time.Duration(r.IntN(5)+1) * time.Millisecond))
						return err
					})
					if err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	ended := make(chan struct{})
	go func() { all.Wait(); close(ended) }()
	seen := map[string]int{}
	follow := func(after string) string {
		for {
			page, err := dbs[0].Feed(context.Background(), engine.FeedQuery{Kind: engine.FeedMatches, Page: engine.Page{After: after, Limit: 7}})
			if err != nil {
				t.Error(err)
				return after
			}
			for _, row := range page.Rows {
				if seen[row.ID] >= row.Match.Attempts {
					t.Errorf("%s came as version %d after version %d", row.ID, row.Match.Attempts, seen[row.ID])
				}
				seen[row.ID] = row.Match.Attempts
			}
			if after = page.Next; !page.More {
				return after
			}
		}
	}
	cursor := ""
	for going := true; going; {
		select {
		case <-ended:
			going = false
		default:
		}
		cursor = follow(cursor)
	}
	follow(cursor)
	for id, version := range seen {
		if version != changes {
			t.Errorf("%s was last seen as version %d", id, version)
		}
	}
	if len(seen) != writers*matches {
		t.Errorf("%d matches were seen of %d", len(seen), writers*matches)
	}
}

// A cursor is of one feed of one store.
func TestACursorThatIsNone(t *testing.T) {
	db, other := open(t, pgtest.Schema(t)), open(t, pgtest.Schema(t))
	for _, s := range []*DB{db, other} {
		must(t, s.Write(t.Context(), func(tx engine.Tx) error { return s.SaveMatch(tx, league.Match{ID: "EUW1_1"}, false) }))
	}
	query := func(s *DB, kind engine.FeedKind, after string) (engine.FeedPage, error) {
		return s.Feed(t.Context(), engine.FeedQuery{Kind: kind, Page: engine.Page{After: after}})
	}
	page, err := query(db, engine.FeedMatches, "")
	must(t, err)
	if again, err := query(db, engine.FeedMatches, page.Next); err != nil || len(again.Rows) != 0 || again.Next != page.Next {
		t.Errorf("after the last: %+v, %v", again, err)
	}
	_, err = query(other, engine.FeedMatches, page.Next)
	refused(t, err, engine.ErrInvalid, "is of another store")
	for _, bad := range []string{"x", "m", "m1.2", "j" + page.Next[1:], page.Next + "0", "m1.2.3" + page.Next[len(page.Next)-9:]} {
		if _, err := query(db, engine.FeedMatches, bad); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("cursor %q: %v", bad, err)
		}
	}
	_, err = query(db, engine.FeedMatches, "m99999999.1"+page.Next[len(page.Next)-9:])
	refused(t, err, engine.ErrInvalid, "lies ahead")
	_, err = query(db, "nonsense", "")
	refused(t, err, engine.ErrInvalid, "there is no feed")
}

// A copy that was restored elsewhere tells of all that it has, although its server has not reached
// the transactions in which that was written, and then of what comes next. Cursors of the original
// are of another store.
func TestARestoredCopyTellsOfEverything(t *testing.T) {
	at := pgtest.Schema(t)
	db := open(t, at)
	save := func(db *DB, id string) {
		must(t, db.Write(t.Context(), func(tx engine.Tx) error { return db.SaveMatch(tx, league.Match{ID: id}, false) }))
	}
	save(db, "EUW1_1")
	save(db, "EUW1_2")
	query := engine.FeedQuery{Kind: engine.FeedMatches}
	page, err := db.Feed(t.Context(), query)
	must(t, err)
	query.After = page.Next
	do(t, at, "update fs_match set feed_xid = '999999999999' where id = 'EUW1_2'", "update fs_state set blob = 'elsewhere' where name = 'cluster'")
	for range 2 { // it settles in once
		db = open(t, at)
	}
	_, err = db.Feed(t.Context(), query)
	refused(t, err, engine.ErrInvalid, "is of another store")
	save(db, "EUW1_3")
	page, err = db.Feed(t.Context(), engine.FeedQuery{Kind: engine.FeedMatches})
	must(t, err)
	var ids []string
	for _, row := range page.Rows {
		ids = append(ids, row.ID)
	}
	if len(ids) != 3 || ids[2] != "EUW1_3" {
		t.Errorf("%v", ids)
	}
	query.After = page.Next
	open(t, at)
	if _, err = db.Feed(t.Context(), query); err != nil {
		t.Errorf("a cursor of the copy's own: %v", err)
	}
}

// A payload is there before any state names it, and once however often it is put.
func TestAPayloadWithoutState(t *testing.T) {
	db := open(t, pgtest.Schema(t))
	body := []byte{0x1f, 0x8b, 0, 0xff}
	ref := league.PayloadRef{Month: "2026-11", Codec: "gzip", Size: len(body), RawLen: 9, CRC: 4_000_000_000}
	for range 2 {
		must(t, db.PutPayload(t.Context(), "EUW1_1", league.PartMatch, ref, body))
	}
	got, found, ok, err := db.FindPayload(t.Context(), "EUW1_1", league.PartMatch)
	if err != nil || !ok || got != ref || !bytes.Equal(found, body) {
		t.Errorf("%+v %x %t %v", got, found, ok, err)
	}
	if _, _, ok, err := db.FindPayload(t.Context(), "EUW1_1", league.PartTimeline); ok || err != nil {
		t.Errorf("a part that is not there: %t %v", ok, err)
	}
	ref.Size++
	if err := db.PutPayload(t.Context(), "EUW1_2", league.PartMatch, ref, body); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("a payload that is not as long as it should be: %v", err)
	}
}

// A tick that several members find due at once is recorded by one of them.
func TestF3_ATickIsRecordedOnce(t *testing.T) {
	at := pgtest.Schema(t)
	dbs := []*DB{open(t, at), open(t, at), open(t, at)}
	for round := range 20 {
		tick := cron.Tick{ID: fmt.Sprint("daily@", round), Schedule: "daily", At: time.Now()}
		var all sync.WaitGroup
		var recorded, inserted atomic.Int64
		for _, db := range dbs {
			all.Go(func() {
				var fresh bool
				var out []engine.Enqueued
				err := db.Write(context.Background(), func(tx engine.Tx) (err error) {
					if fresh, err = db.RecordTick(tx, tick); err != nil || !fresh {
						return err
					}
					out, err = tx.Enqueue(spec(tick.ID))
					return err
				})
				if err != nil {
					t.Error(err)
				}
				if fresh {
					recorded.Add(1)
					inserted.Add(int64(len(out)))
				}
			})
		}
		all.Wait()
		if recorded.Load() != 1 || inserted.Load() != 1 {
			t.Errorf("round %d: recorded %d times, %d jobs", round, recorded.Load(), inserted.Load())
		}
	}
}
