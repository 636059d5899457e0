package app

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage"
)

// storedMonth is one that has long ended.
const storedMonth = "2025-03"

// filledDir is a closed data directory with n stored matches.
func filledDir(t *testing.T, n int) string {
	t.Helper()
	dir := freshDir(t)
	db, err := storage.Open(storage.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- db.Serve(ctx) }()
	for i := range n {
		if err := storeOne(ctx, db, i); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	if err := errors.Join(<-served, db.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

func storeOne(ctx context.Context, db *storage.DB, i int) error {
	id := fmt.Sprintf("EUW1_%d", i)
	raw := []byte(fmt.Sprintf(`{"metadata":{"matchId":%q},"info":{"gameDuration":%d,"numbers":[%s0]}}`, id, 1500+i, strings.Repeat(fmt.Sprint(i*31, ","), 400)))
	var body bytes.Buffer
	w := gzip.NewWriter(&body)
	_, err := w.Write(raw)
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	ref := league.PayloadRef{Month: storedMonth, Codec: "gzip", Size: body.Len(), RawLen: len(raw), CRC: crc32.Checksum(raw, crc32.MakeTable(crc32.Castagnoli))}
	if err := db.PutPayload(ctx, id, league.PartMatch, ref, body.Bytes()); err != nil {
		return err
	}
	return db.Write(ctx, func(tx engine.Tx) error {
		return db.SaveMatch(tx, league.Match{ID: id, Match: league.Fetch{Status: league.Success, FetchedAt: time.Now(), Ref: ref}}, false)
	})
}

func in(dir string, args ...string) command {
	return command{args: append(args, "--data-dir", dir)}
}

func TestBackupRestoreAndCompact(t *testing.T) {
	t.Parallel()
	dir := filledDir(t, 12)
	if r := in(dir, "backup", "--list").asked(t).wants(t, exitDone); !strings.Contains(r.stdout, "no backup") {
		t.Errorf("list of nothing: %s", r.stdout)
	}
	if r := in(dir, "backup").asked(t).wants(t, exitDone); strings.Contains(r.stdout, "unchanged") {
		t.Errorf("the first backup: %s", r.stdout)
	}
	r := in(dir, "backup", "--list", "--json").asked(t).wants(t, exitDone)
	var kept struct {
		Name     string
		Verified bool
		Bytes    int64
	}
	if err := json.Unmarshal([]byte(r.stdout), &kept); err != nil || !kept.Verified || kept.Bytes == 0 {
		t.Fatalf("%s: %v", r.stdout, err)
	}

	state := filepath.Join(dir, "state.db")
	if err := os.WriteFile(state, []byte("a note that went astray"), 0o600); err != nil {
		t.Fatal(err)
	}
	in(dir, "check").asked(t).wants(t, exitIncomplete)
	if r := in(dir, "restore").asked(t).wants(t, exitUsage); !strings.Contains(r.stderr, "--yes") {
		t.Errorf("it does not say what to do: %s", r.stderr)
	}
	in(dir, "restore", "--dry-run").asked(t).wants(t, exitDone)
	if raw, _ := os.ReadFile(state); string(raw) != "a note that went astray" {
		t.Error("a dry run changed something")
	}
	if r := in(dir, "restore", "20200101T000000Z", "--yes").asked(t).wants(t, exitIncomplete); !strings.Contains(r.stderr, kept.Name) {
		t.Errorf("it does not say which there are: %s", r.stderr)
	}
	in(dir, "restore", kept.Name, "--yes").asked(t).wants(t, exitDone)
	in(dir, "check").asked(t).wants(t, exitDone)
	aside, err := filepath.Glob(state + ".before-restore-*")
	if err != nil || len(aside) != 1 {
		t.Errorf("kept: %v %v", aside, err)
	}

	if r := in(dir, "compact", "--dry-run").asked(t).wants(t, exitDone); !strings.Contains(r.stdout, "12 of 12 payloads to pack, 1 s at most") {
		t.Errorf("dry run: %s", r.stdout)
	}
	r = in(dir, "compact", "--json").asked(t).wants(t, exitDone)
	var shrunk engine.CompactDone
	if err := json.Unmarshal([]byte(r.stdout), &shrunk); err != nil || len(shrunk.Months) != 1 || shrunk.Months[0].Packed != 12 {
		t.Errorf("%s: %v", r.stdout, err)
	}
	in(dir, "check").asked(t).wants(t, exitDone)
	if r := in(dir, "export", "matches", "--payload").asked(t).wants(t, exitDone); strings.Count(r.stdout, `"gameDuration"`) != 12 {
		t.Errorf("export of archived payloads: %s", tail(r.stdout, 300))
	}
}

func TestUpkeepOfAHeldOrWrongDirectory(t *testing.T) {
	t.Parallel()
	dir := filledDir(t, 1)
	for _, args := range [][]string{{"backup", "--keep", "0"}, {"compact", "--month", "yesterday"}, {"compact", "--workers", "-1"}, {"restore", "a", "b"}} {
		in(dir, args...).asked(t).wants(t, exitUsage)
	}
	in(dir, "restore", "--yes").asked(t).wants(t, exitIncomplete) // there is no backup
	none := filepath.Join(t.TempDir(), "none")
	for _, args := range [][]string{{"backup"}, {"compact"}} {
		if r := in(none, args...).asked(t).wants(t, exitIncomplete); !strings.Contains(r.stderr, none) {
			t.Errorf("%v names no path: %s", args, r.stderr)
		}
	}
	letGo := holdDir(t, dir)
	for _, args := range [][]string{{"backup"}, {"compact"}, {"restore", "--yes"}, {"restore", "--dry-run"}} {
		r := in(dir, args...).asked(t).wants(t, exitHeld)
		if !strings.Contains(r.stderr, fmt.Sprint(os.Getpid())) {
			t.Errorf("%v does not name the holder: %s", args, r.stderr)
		}
		if args[0] == "restore" {
			oneSentence(t, r.stderr, "for itself", fmt.Sprintf("`kill %d`", os.Getpid()))
		}
	}
	letGo()
}

// flipBehind damages whatever stands behind a key, in pages that are in use and in old ones.
func flipBehind(key string) func([]byte) []byte {
	return func(b []byte) []byte {
		for i := 0; ; {
			n := bytes.Index(b[i:], []byte(key))
			if n < 0 || i+n+10 >= len(b) {
				return b
			}
			i += n + len(key)
			b[i+4] ^= 1
		}
	}
}

// TestDamagedStoresAreNamedAndLeftAlone is the golden corpus as a script sees it; package storage has it whole.
func TestDamagedStoresAreNamedAndLeftAlone(t *testing.T) {
	t.Parallel()
	sound := filledDir(t, 12)
	shard := filepath.Join("payload", storedMonth+".db")
	cases := map[string]struct {
		file   string
		damage func([]byte) []byte
	}{
		"empty":           {"state.db", func([]byte) []byte { return nil }},
		"text":            {"state.db", func([]byte) []byte { return []byte("dear operator") }},
		"truncated":       {"state.db", func(b []byte) []byte { return b[:9000] }},
		"meta 0 zeroed":   {"state.db", func(b []byte) []byte { clear(b[:4096]); return b }},
		"meta 1 zeroed":   {"state.db", func(b []byte) []byte { clear(b[4096:8192]); return b }},
		"records flipped": {"state.db", flipBehind("EUW1_5")},
		"shard truncated": {shard, func(b []byte) []byte { return b[:9000] }},
		"payload flipped": {shard, func(b []byte) []byte { b[bytes.LastIndex(b, []byte{0x1f, 0x8b, 8})+40] ^= 1; return b }},
	}
	for name, c := range cases {
		dir := filepath.Join(t.TempDir(), "data")
		if err := errors.Join(os.CopyFS(dir, os.DirFS(sound)), os.Chmod(dir, 0o700)); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, c.file)
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		raw = c.damage(raw)
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		r := in(dir, "check").asked(t)
		if r.code != exitIncomplete || !strings.Contains(r.stdout+r.stderr, dir) {
			t.Errorf("%s: exit %d: %s%s", name, r.code, r.stdout, r.stderr)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, raw) {
			t.Errorf("%s: the file was changed", name)
		}
	}
}
