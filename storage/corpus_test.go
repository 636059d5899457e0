package storage

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
)

var corpusTo = flag.String("corpus", "", "write the damaged stores of TestCrashCorpus to this folder, one small data directory each: ../internal/app/testdata/crash")

// damagedStore is one entry of the corpus of damaged stores: a golden store with one thing wrong. Whatever it is, `check`
// ends with 3 and names the file.
type damagedStore struct {
	name   string
	file   string // of the data directory
	damage func([]byte) []byte
	opens  bool // the store opens all the same: check finds the damage
}

var oldShard = filepath.Join(payload.Dir, oldMonth+payload.Ext)

var crashCorpus = []damagedStore{
	{"state-truncated", disk.StateFile, func(b []byte) []byte { return b[:usedPages(b)*4096/2] }, false},
	{"state-cut-by-a-page", disk.StateFile, func(b []byte) []byte { return b[:usedPages(b)*4096-4096] }, false},
	{"state-meta0-zeroed", disk.StateFile, func(b []byte) []byte { clear(b[:4096]); return b }, false},
	{"state-meta1-zeroed", disk.StateFile, func(b []byte) []byte { clear(b[4096:8192]); return b }, false},
	{"state-pages-swapped", disk.StateFile, swapRoot, false},
	{"state-empty", disk.StateFile, func([]byte) []byte { return nil }, false},
	{"state-text", disk.StateFile, func([]byte) []byte { return bytes.Repeat([]byte("dear operator, "), 1000) }, false},
	{"state-record-flipped", disk.StateFile, nil, true},
	{"state-newer", disk.StateFile, nil, false},
	{"shard-truncated", oldShard, func(b []byte) []byte { return b[:len(b)/3] }, true},
	{"shard-text", oldShard, func([]byte) []byte { return []byte("no payloads here") }, true},
	{"shard-missing", oldShard, nil, true},
	{"payload-flipped", oldShard, nil, true},
}

// swapRoot exchanges the root page and another one, headers and all.
func swapRoot(b []byte) []byte {
	a := rootPage(b)
	other := 2
	if a == other {
		other = 3
	}
	root := bytes.Clone(page(b, a))
	copy(page(b, a), page(b, other))
	copy(page(b, other), root)
	return b
}

// special are the damages that take more than a file's bytes.
var special = map[string]func(t testing.TB, dir string){
	"state-newer": func(t testing.TB, dir string) {
		edit(t, disk.StatePath(dir), func(tx *txn) error { return tx.PutNumber(tMeta, disk.MetaSchema, newestSchema()+1) })
	},
	"state-record-flipped": flipRecord,
	"shard-missing":        func(t testing.TB, dir string) { must(t, os.Remove(filepath.Join(dir, oldShard))) },
	"payload-flipped": func(t testing.TB, dir string) {
		flipPayload(t, filepath.Join(dir, oldShard))
	},
}

// flipRecord damages one record of the state.
func flipRecord(t testing.TB, dir string) {
	t.Helper()
	edit(t, disk.StatePath(dir), func(tx *txn) error {
		k := []byte("EUW1_0000")
		v := bytes.Clone(tx.Bucket(tMatches.Table).Get(k))
		v[len(v)/2] ^= 1
		return tx.Bucket(tMatches.Table).Put(k, v)
	})
}

// flipPayload changes one byte of a stored body, behind the back of bbolt.
func flipPayload(t testing.TB, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	zstdMagic := []byte{0x28, 0xb5, 0x2f, 0xfd}
	b[bytes.LastIndex(b, zstdMagic)+40] ^= 16
	must(t, os.WriteFile(path, b, 0o600))
}

func (d damagedStore) make(t testing.TB, dir string) {
	t.Helper()
	if f := special[d.name]; f != nil {
		f(t, dir)
		return
	}
	path := filepath.Join(dir, d.file)
	b, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, d.damage(b), 0o600))
}

// keep writes the store to the corpus folder, without the room that bbolt has reserved at the ends of files, and without
// what nobody gets to read.
func (d damagedStore) keep(t testing.TB, dir string) {
	t.Helper()
	to := filepath.Join(*corpusTo, d.name)
	must(t, os.RemoveAll(to))
	for path, text := range bytesOf(t, dir) {
		name, err := filepath.Rel(dir, path)
		must(t, err)
		if !d.opens && name != disk.StateFile {
			continue
		}
		b := withoutReserve([]byte(text))
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(to, name), b, 0o644))
	}
}

// withoutReserve cuts a file behind its last page in use, as either of its meta pages tells.
func withoutReserve(b []byte) []byte {
	if len(b) < 8192 {
		return b
	}
	m0, _ := disk.ReadMeta(b)
	m1, _ := disk.ReadMeta(b[4096:])
	used := 4096 * max(m0.High, m1.High)
	if used == 0 || used > uint64(len(b)) {
		return b
	}
	return b[:used]
}

// bytesOf reads all files of a directory but the lock, which tells who came last.
func bytesOf(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == disk.LockFile {
			return err
		}
		b, err := os.ReadFile(path)
		files[path] = string(b)
		return err
	}))
	return files
}

// TestCrashCorpus: each damaged store is recognised before anything is written, nothing of it is changed, and a sound part
// of it stays readable.
func TestCrashCorpus(t *testing.T) {
	sound := oldStore(t, goldenMatches)
	db, err := Open(Options{Dir: sound})
	must(t, err)
	archive(t, db, payload.ArchiveOptions{})
	must(t, db.Close())
	for _, d := range crashCorpus {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			dir := copyDir(t, sound)
			d.make(t, dir)
			before := bytesOf(t, dir)
			if code := checkCode(dir); code != 3 {
				t.Errorf("check ends with %d", code)
			}
			db, err := OpenReadOnly(Options{Dir: dir})
			if (err == nil) != d.opens {
				t.Errorf("opened to browse: %v", err)
			}
			if err == nil {
				must(t, db.Close())
			} else if !disk.IsDamage(err) {
				wantError[*disk.ErrNewer](t, err)
			}
			if !d.opens {
				_, err = Open(Options{Dir: dir})
				if err == nil || !bytes.Contains([]byte(err.Error()), []byte(filepath.Join(dir, d.file))) {
					t.Errorf("opened: %v, which must name the file", err)
				}
			}
			after := bytesOf(t, dir)
			if fmt.Sprint(len(after)) != fmt.Sprint(len(before)) {
				t.Errorf("%d files before, %d after", len(before), len(after))
			}
			for path, b := range before {
				if after[path] != b {
					t.Errorf("%s was changed", path)
				}
			}
			if *corpusTo != "" {
				d.keep(t, dir)
			}
		})
	}
}

// checkCode is what `farsight check` ends with. (Its page check runs in a process of its own; here the preflight, which
// comes before every page, has to do, and the child of TestP01_EveryAcknowledgedWriteSurvivesKill9 shows the rest.)
func checkCode(dir string) int {
	findings, err := CheckFiles(Options{Dir: dir})
	if err != nil || len(findings) > 0 {
		return 3
	}
	db, err := OpenReadOnly(Options{Dir: dir})
	if err != nil {
		return 3
	}
	r, err := db.Check(context.Background())
	if err = errors.Join(err, db.Close()); err != nil || !r.Sound() {
		return 3
	}
	return 0
}
