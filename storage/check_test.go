package storage

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/commit"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

// world is a small store with something in every table.
func world(t testing.TB) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "data")
	db, err := Open(Options{Dir: dir})
	must(t, err)
	stop := serve(t, db)
	saveAccount(t, db, account("01A", "A", "1"))
	sync := enqueue(t, db, engine.Spec{Kind: "account.sync", Queue: "q", Key: "full:01A", Owner: "01A"})
	kid := enqueue(t, db, engine.Spec{Kind: "match.fetch", Queue: "q", Key: "match:EUW1_1", Owner: "01A", Parents: []engine.GroupID{{Parent: sync.ID, Group: 1}}})
	dead := move(t, db, enqueue(t, db, engine.Spec{Kind: "match.fetch", Queue: "q", Key: "match:EUW1_2"}), engine.Discarded)
	ref, body := gzipped(`{"metadata":{}}`)
	must(t, db.PutPayload(context.Background(), "EUW1_1", league.PartMatch, ref, body))
	must(t, db.PutPayload(context.Background(), "EUW1_7", league.PartTimeline, ref, body))
	write(t, db, func(tx engine.Tx) error {
		return errors.Join(
			db.AddAttempt(tx, kid.ID, engine.Attempt{Number: 1}),
			db.AddHistory(tx, string(dead.ID), engine.Transition{To: "discarded"}),
			db.SaveRun(tx, league.Run{ID: "R1", Account: "01A", Job: string(sync.ID)}),
			db.SaveMatch(tx, league.Match{ID: "EUW1_1", Played: noon, Match: league.Fetch{Status: league.Success, Ref: ref}}, false),
			db.SaveMatch(tx, league.Match{ID: "EUW1_2", Match: league.Fetch{Status: league.PermanentlyUnfetchable}}, false),
			db.SaveParticipants(tx, "EUW1_1", []league.Participant{{PUUID: "puuid-01A"}}))
	})
	stop()
	must(t, db.Close())
	return dir
}

func check(t testing.TB, dir string) CheckReport {
	t.Helper()
	db, err := OpenReadOnly(Options{Dir: dir})
	must(t, err)
	defer db.Close()
	r, err := db.Check(context.Background())
	must(t, err)
	return r
}

func TestCheckOfASoundStoreCounts(t *testing.T) {
	dir := world(t)
	r := check(t, dir)
	if !r.Sound() || r.Payloads != 2 || r.Orphans != 1 || r.Bytes == 0 || r.Rows["matches"] != 2 || r.Rows["job_state"] != 2 || r.Rows["archive"] != 1 {
		t.Errorf("%+v", r)
	}
	findings, err := CheckFiles(Options{Dir: dir})
	if err != nil || len(findings) != 0 {
		t.Errorf("%v %v", findings, err)
	}
}

// What check must find: each entry breaks one rule with sound checksums, and names the table that a finding must be about.
var breakages = map[string]struct {
	table string
	do    func(*txn) error
}{
	"a counter is off":           {"counters", func(t *txn) error { return t.PutNumber(collection.Counters, []byte("matches.success"), 7) }},
	"a counter counts nothing":   {"counters", func(t *txn) error { return t.PutNumber(collection.Counters, []byte("matches.temporary_failure"), 1) }},
	"a key held by a corpse":     {"job_key", func(t *txn) error { return t.PutNumber(tJobKey, []byte("match:EUW1_2"), 3) }},
	"a key that leads nowhere":   {"job_key", func(t *txn) error { return t.PutNumber(tJobKey, []byte("match:X"), 99) }},
	"a live job without its key": {"job_state", func(t *txn) error { return t.Remove(tJobKey, []byte("match:EUW1_1")) }},
	"a job without its spec":     {"job_spec", func(t *txn) error { return t.Remove(tJobSpec.Table, key.Uint64(1)) }},
	"a spec without its job":     {"job_spec", func(t *txn) error { return t.Remove(tJobState.Table, key.Uint64(2)) }},
	"a dead job not listed":      {"archive", func(t *txn) error { return t.Remove(archiveState.Table, stateKey(engine.Discarded, key.Uint64(3))) }},
	"a dead job listed wrongly":  {"archive_state", func(t *txn) error { return t.Mark(archiveState.Table, stateKey(engine.Cancelled, key.Uint64(3))) }},
	"an ended job not found":     {"archive", func(t *txn) error { return t.Remove(tArchiveKey, []byte("match:EUW1_2")) }},
	"a group that drifted": {"groups", func(t *txn) error {
		return tGroups.Put(t, groupKey(1, 1), &engine.GroupStat{Total: 2, Open: 2})
	}},
	"a group without totals":     {"members", func(t *txn) error { return t.Remove(tGroups.Table, groupKey(1, 1)) }},
	"a child that knows nothing": {"members", func(t *txn) error { return wipe(t, memberOf.Table, key.Uint64(2)) }},
	"a group without its child":  {"member_of", func(t *txn) error { return wipe(t, tMembers.Table, groupKey(1, 1)) }},
	"an attempt of nobody": {"attempts", func(t *txn) error {
		return tAttempts.Put(t, key.AppendUint64(key.Uint64(77), 1), &engine.Attempt{})
	}},
	"a call of nobody":          {"call_sid", func(t *txn) error { return t.PutNumber(tCallSID, []byte("CA1"), 2) }},
	"an attempt that vanished":  {"recent", func(t *txn) error { return t.RemoveAll(tAttempts.Table, key.Uint64(2)) }},
	"an account without a name": {"accounts", func(t *txn) error { return t.RemoveAll(accountName.Table, nil) }},
	"a name of nobody":          {"account_name", func(t *txn) error { return t.Mark(accountName.Table, key.Strings("x", "y", "euw1", "01X")) }},
	"a PUUID that leads astray": {"accounts", func(t *txn) error { return t.PutText(accountPUUID.Table, []byte("puuid-01A"), "01B") }},
	"an open sync without a run": {"accounts", func(t *txn) error {
		return tAccounts.Put(t, []byte("01A"), &league.Account{ID: "01A", GameName: "A", TagLine: "1", Platform: "euw1", Status: "syncing", Run: "R9"})
	}},
	"a run of nobody":         {"runs", func(t *txn) error { return tRuns.Put(t, []byte("R2"), &league.Run{ID: "R2", Account: "01Z"}) }},
	"a run that is not found": {"runs", func(t *txn) error { return t.Remove(tRunOfJob.Table, key.Uint64(1)) }},
	"a lost match not listed": {"matches", func(t *txn) error {
		return t.Remove(matchStatus.Table, statusKey(league.PermanentlyUnfetchable, "EUW1_2"))
	}},
	"a match listed wrongly":     {"match_status", func(t *txn) error { return t.Mark(matchStatus.Table, statusKey(league.TemporaryFailure, "EUW1_1")) }},
	"a list without its reverse": {"by_account", func(t *txn) error { return wipe(t, tAccountsOf.Table, nil) }},
	"a reverse without its list": {"accounts_of", func(t *txn) error { return wipe(t, byAccount.Table, nil) }},
	"success without a payload": {"matches", func(t *txn) error {
		return tMatches.Put(t, []byte("EUW1_1"), &league.Match{Played: noon, Match: league.Fetch{Status: league.Success, Ref: league.PayloadRef{Month: "2026-01", Codec: "gzip", RawLen: 1}}})
	}},
	"success with another payload": {"matches", func(t *txn) error {
		return tMatches.Put(t, []byte("EUW1_1"), &league.Match{Played: noon, Match: league.Fetch{Status: league.Success, Ref: league.PayloadRef{Month: testMonth, Codec: "gzip", RawLen: 1}}})
	}},
	"a gap of no run": {"gaps", func(t *txn) error {
		_, err := t.saveGap(league.Gap{Match: "EUW1_2", Part: league.PartMatch, Run: "R9", Account: "01A"})
		return err
	}},
	"a gap where nothing is missing": {"gaps", func(t *txn) error {
		_, err := t.saveGap(league.Gap{Match: "EUW1_1", Part: league.PartMatch, Run: "R1", Account: "01A"})
		return err
	}},
	"a record under another key": {"runs", func(t *txn) error {
		return t.Bucket(tRuns.Table).Put([]byte("R9"), t.Bucket(tRuns.Table).Get([]byte("R1")))
	}},
	"a record of another shape": {"accounts", func(t *txn) error {
		empty := collection.Shape[int]{Format: tAccounts.Format, Fields: func(*rec.Coder, *int) {}}
		return empty.Put(t, tAccounts.Table, []byte("01A"), 0)
	}},
}

func TestCheckFindsWhatIsBroken(t *testing.T) {
	t.Parallel()
	dir := world(t)
	path := filepath.Join(dir, disk.StateFile)
	sound, err := os.ReadFile(path)
	must(t, err)
	for name, b := range breakages {
		must(t, os.WriteFile(path, sound, 0o600))
		edit(t, path, b.do)
		db, err := openUnsampled(dir)
		must(t, err)
		r, err := db.Check(context.Background())
		must(t, errors.Join(err, db.Close()))
		found := false
		for _, f := range r.Findings {
			found = found || f.Table == b.table && f.Why != ""
		}
		if !found {
			t.Errorf("%s: nothing found in %s, but %+v", name, b.table, r.Findings)
		}
	}
	// A list that leads nowhere is seen at once, before any work.
	must(t, os.WriteFile(path, sound, 0o600))
	edit(t, path, breakages["a list without its reverse"].do)
	_, err = Open(Options{Dir: dir})
	wantError[*disk.Damaged](t, err)
}

// openUnsampled opens a store without the look at one account.
func openUnsampled(dir string) (*DB, error) {
	path := disk.StatePath(dir)
	b, err := disk.OpenFile(path, disk.BoltOptions(), Options{}.Log)
	if err != nil {
		return nil, err
	}
	files := payload.New(dir, true, Options{}.Log)
	return &DB{dir: dir, bolt: b, lock: &disk.Lock{}, readOnly: true, writer: commit.New(nil, nil), files: files, payloads: files}, nil
}

func TestCheckObeysItsContext(t *testing.T) {
	db, err := OpenReadOnly(Options{Dir: world(t)})
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := db.Check(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	must(t, db.Close())
}

// decoder reads the rows of one table.
type decoder struct {
	*collection.Table
	format byte
	decode func(k, v []byte) error
}

func decoderOf[T any](r *collection.Records[T]) decoder {
	return decoder{r.Table, r.Format, func(k, v []byte) error { _, err := r.Decode(k, v); return err }}
}

var decoders = []decoder{
	decoderOf(tArchive), decoderOf(tAttempts), decoderOf(tMembers), decoderOf(tGroups), decoderOf(tAccounts), decoderOf(tRuns),
	decoderOf(tMatches), decoderOf(tGaps), decoderOf(tParticipants), decoderOf(tReports), decoderOf(tFeed), decoderOf(tDays),
}

// FuzzRecords gives arbitrary bytes with a sound checksum to every decoder: none may panic, or ask for much memory.
func FuzzRecords(f *testing.F) {
	dir := world(f)
	db, err := OpenReadOnly(Options{Dir: dir})
	must(f, err)
	must(f, db.view(context.Background(), func(t *txn) error {
		for i, d := range decoders {
			for r := range t.Rows(d.Table, nil) {
				_, body, err := rec.TableSeed(d.Name).Open(r.Key, r.Value)
				must(f, err)
				f.Add(uint8(i), append([]byte(nil), body...))
			}
		}
		return nil
	}))
	must(f, db.Close())
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		d := decoders[int(which)%len(decoders)]
		c := rec.Write(nil, d.format)
		for _, b := range body {
			c.Byte(&b)
		}
		k := append(key.Uint64(1), 1)
		v, err := rec.TableSeed(d.Name).Seal(k, &c)
		must(t, err)
		if err := d.decode(k, v); err != nil {
			wantError[*disk.ErrCorrupt](t, err)
		}
	})
}

// wipe deletes rows and nothing that follows from them.
func wipe(t *txn, tb *collection.Table, prefix []byte) (err error) {
	var keys [][]byte
	for r := range t.Rows(tb, prefix) {
		keys = append(keys, bytes.Clone(r.Key))
	}
	for _, k := range keys {
		err = errors.Join(err, t.Remove(tb, k))
	}
	return err
}
