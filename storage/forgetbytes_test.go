package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
	"github.com/farsight-console/farsight/storage/keep"
)

// ofPlayer is JSON as Riot sends it, with the account's names in it as they are, and enough that no two have alike.
func ofPlayer(body, account string, i int) string {
	own := make([]byte, 6<<10)
	_, _ = rand.NewChaCha8([32]byte{byte(i)}).Read(own)
	return strings.Replace(body, `"metadata":{`, fmt.Sprintf(`"metadata":{"participants":["%s","%s"],"own":"%x",`, puuidOf(account), nameOf(account), own), 1)
}

// played stores matches from to to of a closed month, which only one account has.
func played(t testing.TB, db *DB, account string, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		must(t, storeOf(db, account, i))
	}
}

func storeOf(db *DB, account string, i int) error {
	id, ctx := fmt.Sprintf("EUW1_%04d", i), context.Background()
	mref, mbody := gzipped(ofPlayer(matchJSON(i), account, i))
	tref, tbody := gzipped(ofPlayer(timelineOf(i), account, i))
	mref.Month, tref.Month = oldMonth, oldMonth
	m := league.Match{ID: id, Played: noon, Match: league.Fetch{Status: league.Success, Ref: mref}, Timeline: league.Fetch{Status: league.Success, Ref: tref}}
	return errors.Join(
		db.PutPayload(ctx, id, league.PartMatch, mref, mbody), db.PutPayload(ctx, id, league.PartTimeline, tref, tbody),
		db.Write(ctx, func(tx engine.Tx) error {
			return errors.Join(db.SaveMatch(tx, m, false), db.LinkMatch(tx, account, id), db.SaveParticipants(tx, id, []league.Participant{seatOf(id, account, 0)}))
		}))
}

// filesWith lists the files of a directory whose raw bytes name an account.
func filesWith(t testing.TB, dir, account string) (list []string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		for _, trace := range traces(account) {
			if bytes.Contains(raw, []byte(trace)) {
				list = append(list, strings.TrimPrefix(path, dir+"/")+" has "+trace)
			}
		}
		return err
	}))
	return list
}

// atRest does something with a directory that is open in between only.
func atRest(t testing.TB, dir string, do func(db *DB)) {
	t.Helper()
	db, err := Open(Options{Dir: dir})
	must(t, err)
	stop := serve(t, db)
	do(db)
	stop()
	must(t, db.Close())
}

func compacted(t testing.TB, dir string) (month engine.ArchivedMonth) {
	t.Helper()
	r, err := Compact(context.Background(), Options{Dir: dir}, keep.CompactOptions{State: true, Months: true, Archive: payload.ArchiveOptions{Workers: 2}})
	must(t, err)
	for _, m := range r.Months {
		if m.Month == oldMonth {
			return m
		}
	}
	t.Fatalf("no month %s in %+v", oldMonth, r.Months)
	return month
}

// After `compact` no byte of the account is in any file, although its month had been archived before: free pages are gone,
// and so is what an archiver had left half made.
func TestNoByteOfAForgottenAccountIsLeftAfterCompact(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes whole months")
	}
	gone, other := forgetters[0], forgetters[1]
	for name, c := range map[string]struct {
		archivedFirst, halfMade bool
		theirs                  int // matches of the other account
	}{
		"never archived":      {theirs: 10},
		"archived before":     {archivedFirst: true, theirs: 10},
		"half archived":       {halfMade: true, theirs: 10},
		"nothing else stored": {archivedFirst: true},
	} {
		t.Run(name, func(t *testing.T) {
			atNow(t, noon)
			dir := t.TempDir() + "/data"
			atRest(t, dir, func(db *DB) {
				people(t, db, nil)
				played(t, db, gone, 0, 12)
				played(t, db, other, 12, 12+c.theirs)
			})
			if c.archivedFirst {
				compacted(t, dir)
			}
			half := filepath.Join(dir, payload.Dir, oldMonth+payload.Ext+payload.ArchiveExt)
			if c.halfMade {
				must(t, os.WriteFile(half, []byte("half made, with "+puuidOf(gone)), disk.FileMode))
			}
			atRest(t, dir, func(db *DB) {
				_, _, err := db.Forget(context.Background(), gone, engine.Actor{User: "ana"}, "asked for", 0)
				must(t, err)
			})
			before := strings.Join(filesWith(t, dir, gone), ", ")
			if !strings.Contains(before, disk.StateFile) {
				t.Fatalf("before compact only %s: this proves nothing", before)
			}
			if m := compacted(t, dir); m.Payloads != 2*c.theirs || !c.archivedFirst && m.Packed != 2*c.theirs || m.Left != "" {
				t.Errorf("%+v", m)
			}
			if left := filesWith(t, dir, gone); len(left) > 0 {
				t.Errorf("after compact %s", strings.Join(left, ", "))
			}
			if m := compacted(t, dir); m.Left != "archived already" {
				t.Errorf("again: %+v", m)
			}
			atRest(t, dir, func(db *DB) {
				wantSound(t, db)
				for i := 12; i < 12+c.theirs; i++ {
					wantPayload(t, db, i, other)
				}
			})
		})
	}
}

func wantPayload(t testing.TB, db *DB, i int, account string) {
	t.Helper()
	var m league.Match
	read(t, db, func(tx *txn) (err error) { m, err = tx.match(fmt.Sprintf("EUW1_%04d", i)); return err })
	raw, err := db.files.Raw(m.ID, league.PartMatch, m.Match.Ref)
	if err != nil || string(raw) != ofPlayer(matchJSON(i), account, i) {
		t.Errorf("match %s: %v", m.ID, err)
	}
	if raw, err = db.files.Raw(m.ID, league.PartTimeline, m.Timeline.Ref); err != nil || string(raw) != ofPlayer(timelineOf(i), account, i) {
		t.Errorf("timeline of %s: %v", m.ID, err)
	}
}
