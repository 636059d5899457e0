package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

func wantError[E error](t testing.TB, err error) (e E) {
	t.Helper()
	e, ok := errors.AsType[E](err)
	if !ok {
		t.Fatalf("got %v (%T), want a %T", err, err, e)
	}
	return e
}

// filled makes a closed store with some rows and gives its directory.
func filled(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	db, err := Open(Options{Dir: dir})
	must(t, err)
	stop := serve(t, db)
	write(t, db, func(tx engine.Tx) error {
		for i := range 400 {
			key := fmt.Sprintf("match:EUW1_%05d", i)
			args := []byte(`{"id":"` + strings.Repeat("x", 200) + `"}`)
			if _, err := tx.Enqueue(engine.Spec{Kind: "match.fetch", Queue: "q", Key: key, Args: args}); err != nil {
				return err
			}
		}
		return nil
	})
	stop()
	must(t, db.Close())
	return dir
}

func TestOpenMakesAPrivateDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "data")
	db := start(t, dir)
	if !db.Boot().New || !db.Boot().Clean || db.Boot().ID == "" {
		t.Errorf("boot %+v", db.Boot())
	}
	must(t, storeMatch(db, "EUW1_1"))
	modes := map[string]fs.FileMode{
		"": 0o700, "payload": 0o700, "state.db": 0o600, "farsight.lock": 0o600,
	}
	months, err := db.files.Months()
	must(t, err)
	modes["payload/"+months[0]+".db"] = 0o600
	for name, want := range modes {
		info, err := os.Stat(filepath.Join(dir, name))
		must(t, err)
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%q has mode %04o, want %04o", name, got, want)
		}
	}
}

func TestOpenRefusesDirectoriesThatCannotServe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	open := filepath.Join(t.TempDir(), "open")
	must(t, os.Mkdir(open, 0o700))
	must(t, os.WriteFile(filepath.Join(open, "notes.txt"), nil, 0o600))
	must(t, os.Chmod(open, 0o777))
	for name, dir := range map[string]string{"a file": file, "below a file": filepath.Join(file, "x"), "others may write": open} {
		_, err := Open(Options{Dir: dir})
		e := wantError[*disk.ErrUnusable](t, err)
		if e.Do == "" || strings.Contains(e.Error(), "\n") {
			t.Errorf("%s: %q does not say what to do", name, e)
		}
	}
	empty := filepath.Join(t.TempDir(), "empty")
	must(t, os.Mkdir(empty, 0o777))
	start(t, empty)
	if info, _ := os.Stat(empty); info.Mode().Perm() != 0o700 {
		t.Errorf("an empty directory was left at %04o", info.Mode().Perm())
	}
	_, err := OpenReadOnly(Options{Dir: filepath.Join(t.TempDir(), "none")})
	wantError[*disk.ErrUnusable](t, err)
}

func TestOpenRefusesASymbolicLink(t *testing.T) {
	dir := filled(t)
	real := filepath.Join(t.TempDir(), "elsewhere.db")
	must(t, os.Rename(filepath.Join(dir, disk.StateFile), real))
	must(t, os.Symlink(real, filepath.Join(dir, disk.StateFile)))
	_, err := Open(Options{Dir: dir})
	wantError[*disk.ErrUnusable](t, err)
}

// damages are what can happen to a state file, made from a sound one.
var damages = map[string]func(b []byte) []byte{
	"truncated to half":       func(b []byte) []byte { return b[:usedPages(b)*4096/2] },
	"truncated by one page":   func(b []byte) []byte { return b[:usedPages(b)*4096-4096] },
	"truncated in page 0":     func(b []byte) []byte { return b[:100] },
	"truncated after page 0":  func(b []byte) []byte { return b[:4096] },
	"truncated to ten bytes":  func(b []byte) []byte { return b[:10] },
	"empty":                   func([]byte) []byte { return nil },
	"text":                    func([]byte) []byte { return []byte(strings.Repeat("dear operator, ", 1000)) },
	"zeros":                   func(b []byte) []byte { return make([]byte, len(b)) },
	"meta 0 zeroed":           func(b []byte) []byte { clear(b[:4096]); return b },
	"meta 1 zeroed":           func(b []byte) []byte { clear(b[4096:8192]); return b },
	"both metas torn":         func(b []byte) []byte { b[16+48]++; b[4096+16+48]++; return b },
	"page size absurd":        func(b []byte) []byte { b[16+8] = 7; return b },
	"root page zeroed":        func(b []byte) []byte { clear(page(b, rootPage(b))); return b },
	"two pages swapped":       swapPages,
	"element outside of page": func(b []byte) []byte { disk.ByteOrder.PutUint32(page(b, rootPage(b))[16+4:], 1<<30); return b },
	"page number wrong":       func(b []byte) []byte { page(b, rootPage(b))[0]++; return b },
	"page kind wrong":         func(b []byte) []byte { page(b, rootPage(b))[8] = 0x40; return b },
	"overflow past the end":   func(b []byte) []byte { disk.ByteOrder.PutUint32(page(b, rootPage(b))[12:], 1<<20); return b },
}

func usedPages(b []byte) int {
	m0, _ := disk.ReadMeta(b)
	m1, _ := disk.ReadMeta(b[4096:])
	if m1.Txid > m0.Txid {
		return int(m1.High)
	}
	return int(m0.High)
}

func rootPage(b []byte) int {
	m0, _ := disk.ReadMeta(b)
	m1, _ := disk.ReadMeta(b[4096:])
	if m1.Txid > m0.Txid {
		return int(m1.Root)
	}
	return int(m0.Root)
}

func page(b []byte, n int) []byte { return b[n*4096 : (n+1)*4096] }

// swapPages exchanges the first two used leaves behind the root, headers and all.
func swapPages(b []byte) []byte {
	var leaves []int
	root := page(b, rootPage(b))
	for i := range int(disk.ByteOrder.Uint16(root[10:])) {
		at := 16 + i*16
		start := at + int(disk.ByteOrder.Uint32(root[at+4:])) + int(disk.ByteOrder.Uint32(root[at+8:]))
		if id := disk.ByteOrder.Uint64(root[start:]); id != 0 {
			leaves = append(leaves, int(id))
		}
	}
	x, y := page(b, leaves[0]), page(b, leaves[1])
	tmp := bytes.Clone(x)
	copy(x, y)
	copy(y, tmp)
	return b
}

func TestDamagedStateIsRefusedAndLeftAlone(t *testing.T) {
	t.Parallel()
	if os.Getpagesize() != 4096 {
		t.Skip("the corpus is made for pages of 4096 bytes")
	}
	dir := filled(t)
	path := filepath.Join(dir, disk.StateFile)
	sound, err := os.ReadFile(path)
	must(t, err)
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			bad := damage(bytes.Clone(sound))
			must(t, os.WriteFile(path, bad, 0o600))
			for what, open := range map[string]func(Options) (*DB, error){"Open": Open, "OpenReadOnly": OpenReadOnly} {
				_, err := open(Options{Dir: dir, Sealed: true})
				if d := wantError[*disk.Damaged](t, err); d.Path != path || d.Why == "" {
					t.Errorf("%s: %v", what, d)
				}
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, bad) {
				t.Error("the damaged file was changed")
			}
			names, err := os.ReadDir(dir)
			if err != nil || len(names) != 2 {
				t.Errorf("the directory holds %v", names)
			}
		})
	}
	must(t, os.WriteFile(path, sound, 0o600))
	start(t, dir)
}

// Who only reads looks at every page, unless the file is as a close in order left it: not after a kill, nor when anything
// has written to it since. Who writes always looks.
func TestWhatWasClosedInOrderIsNotWalked(t *testing.T) {
	dir := filled(t)
	path := filepath.Join(dir, disk.StateFile)
	sound, err := os.ReadFile(path)
	must(t, err)
	closed, err := os.Stat(path)
	must(t, err)
	read := func() error {
		t.Helper()
		db, err := OpenReadOnly(Options{Dir: dir, Sealed: true})
		if err == nil {
			err = db.Close()
		}
		return err
	}
	for n := usedPages(sound) - 1; ; n-- { // the last page that is in use
		bad := bytes.Clone(sound)
		page(bad, n)[0] ^= 0xFF // its number
		must(t, os.WriteFile(path, bad, 0o600))
		if _, err := disk.Preflight(path); err != nil {
			break
		}
	}
	wantError[*disk.Damaged](t, read())
	must(t, os.Chtimes(path, time.Time{}, closed.ModTime())) // as nothing does that writes
	must(t, read())
	_, err = Open(Options{Dir: dir, Sealed: true})
	wantError[*disk.Damaged](t, err)
	_, err = OpenReadOnly(Options{Dir: dir})
	wantError[*disk.Damaged](t, err)
	must(t, os.Truncate(path, closed.Size()-1))
	must(t, os.Chtimes(path, time.Time{}, closed.ModTime()))
	wantError[*disk.Damaged](t, read())

	// A transaction without a list of free pages, as the last one of a process that was killed.
	must(t, os.WriteFile(path, sound, 0o600))
	edit(t, path, func(tx *txn) error { return tx.PutNumber(tMeta, []byte("x"), 1) })
	if err := disk.Seal(path); err == nil {
		t.Error("a file that was not closed in order is told from no other")
	}
}

func TestAnotherProgramsDatabaseIsRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, disk.StateFile)
	b, err := bolt.Open(path, 0o600, nil)
	must(t, err)
	must(t, b.Close())
	_, err = Open(Options{Dir: dir})
	wantError[*disk.Damaged](t, err)
}

func TestANewerSchemaIsRefused(t *testing.T) {
	dir := filled(t)
	path := filepath.Join(dir, disk.StateFile)
	edit(t, path, func(tx *txn) error { return tx.PutNumber(tMeta, disk.MetaSchema, newestSchema()+1) })
	before, err := os.ReadFile(path)
	must(t, err)
	_, err = Open(Options{Dir: dir})
	if e := wantError[*disk.ErrNewer](t, err); e.Have != int(newestSchema())+1 || e.Know != int(newestSchema()) || e.Path != path {
		t.Errorf("%+v", e)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the newer file was changed")
	}
}

// edit changes a closed file with bbolt directly.
func edit(t testing.TB, path string, fn func(*txn) error) {
	t.Helper()
	b, err := bolt.Open(path, 0o600, &bolt.Options{NoFreelistSync: true})
	must(t, err)
	must(t, b.Update(func(tx *bolt.Tx) error { return fn(newTx(tx, time.Now())) }))
	must(t, b.Close())
}

// A torn meta page is what a power cut may leave of the commit that it hit: the store goes on from the other one.
func TestATornMetaPageIsNoDamage(t *testing.T) {
	if os.Getpagesize() != 4096 {
		t.Skip("made for pages of 4096 bytes")
	}
	for n := range 2 {
		dir := filled(t)
		path := filepath.Join(dir, disk.StateFile)
		b, err := os.ReadFile(path)
		must(t, err)
		b[n*4096+16+60] ^= 0xFF // in the checksum
		must(t, os.WriteFile(path, b, 0o600))
		note, err := disk.Preflight(path)
		if err != nil || !strings.Contains(note, fmt.Sprintf("meta page %d is torn", n)) {
			t.Errorf("note %q, %v", note, err)
		}
		start(t, dir)
	}
}

// One flipped byte of data that the page checks cannot see is one corrupt record, not a damaged file.
func TestAFlippedByteIsOneCorruptRecord(t *testing.T) {
	dir := filled(t)
	path := filepath.Join(dir, disk.StateFile)
	b, err := os.ReadFile(path)
	must(t, err)
	at := bytes.LastIndex(b[:usedPages(b)*4096], []byte(strings.Repeat("x", 100)))
	b[at] ^= 0x20
	must(t, os.WriteFile(path, b, 0o600))
	db, err := Open(Options{Dir: dir})
	must(t, err)
	defer db.Close()
	r, err := db.Check(context.Background())
	must(t, err)
	bad, good := 0, 0
	for _, err := range db.Live(context.Background()) {
		if err == nil {
			good++
			continue
		}
		bad++
		if e := wantError[*disk.ErrCorrupt](t, err); e.Bucket != tJobSpec.Name {
			t.Errorf("%v", e)
		}
	}
	if r.Sound() == (bad == 1) || good+bad != 400 || bad > 1 {
		t.Errorf("%d good, %d bad, %d findings", good, bad, len(r.Findings))
	}
}

func TestReadersShareADirectoryAndKeepWritersOut(t *testing.T) {
	dir := filled(t)
	a, err := OpenReadOnly(Options{Dir: dir})
	must(t, err)
	b, err := OpenReadOnly(Options{Dir: dir})
	must(t, err)
	_, err = Open(Options{Dir: dir})
	if e := wantError[*disk.ErrHeld](t, err); e.PID != os.Getpid() {
		t.Errorf("%+v", e)
	}
	if err := a.Write(context.Background(), func(engine.Tx) error { return nil }); !errors.Is(err, disk.ErrReadOnly) {
		t.Errorf("write: %v", err)
	}
	_, _, total, err := a.Jobs(context.Background(), engine.JobsQuery{})
	if err != nil || total != 400 {
		t.Errorf("%d jobs, %v", total, err)
	}
	must(t, errors.Join(a.Close(), b.Close()))
	start(t, dir)
}

func TestBootTellsHowTheLastOneEnded(t *testing.T) {
	db, err := Open(Options{Dir: t.TempDir()})
	must(t, err)
	first := db.Boot()
	db = reopen(t, db, func() {})
	if b := db.Boot(); !b.Clean || b.New || b.Last.IsZero() || b.ID == first.ID {
		t.Errorf("P-04: after a clean stop: %+v", b)
	}
	must(t, db.bolt.Close()) // as a crash: nothing is marked
	db.lock.Release()
	db, err = Open(Options{Dir: db.dir})
	must(t, err)
	if b := db.Boot(); b.Clean || !b.Last.IsZero() {
		t.Errorf("after a crash: %+v", b)
	}
	must(t, db.Close())
}

func TestAReplacedFileStopsTheStore(t *testing.T) {
	dir := filled(t)
	synctest.Test(t, func(t *testing.T) {
		db, err := Open(Options{Dir: dir})
		must(t, err)
		done := make(chan error, 1)
		go func() { done <- db.Serve(t.Context()) }()
		path := filepath.Join(dir, disk.StateFile)
		b, err := os.ReadFile(path)
		must(t, err)
		time.Sleep(2 * watchEvery)
		must(t, db.Write(t.Context(), func(engine.Tx) error { return nil }))
		must(t, os.WriteFile(path+".copy", b, 0o600))
		must(t, os.Rename(path+".copy", path))
		time.Sleep(watchEvery + time.Second)
		if err := <-done; !errors.Is(err, disk.ErrReplaced) {
			t.Errorf("Serve ended with %v", err)
		}
		if err := db.Write(t.Context(), func(engine.Tx) error { return nil }); !errors.Is(err, disk.ErrClosed) || !errors.Is(err, disk.ErrReplaced) {
			t.Errorf("write afterwards: %v", err)
		}
		must(t, db.Close())
	})
}

func FuzzPreflight(f *testing.F) {
	dir := filled(f)
	sound, err := os.ReadFile(filepath.Join(dir, disk.StateFile))
	must(f, err)
	sound = sound[:usedPages(sound)*4096]
	f.Add(uint32(16+8), byte(0xFF), uint32(0))
	f.Add(uint32(5*4096+12), byte(0x01), uint32(0))
	f.Add(uint32(9000), byte(0x80), uint32(4096))
	f.Fuzz(func(t *testing.T, at uint32, flip byte, cut uint32) {
		bad := bytes.Clone(sound)
		bad[int(at)%len(bad)] ^= flip
		bad = bad[:len(bad)-int(cut)%len(bad)]
		path := filepath.Join(t.TempDir(), disk.StateFile)
		must(t, os.WriteFile(path, bad, 0o600))
		if _, err := disk.Preflight(path); err != nil {
			wantError[*disk.Damaged](t, err)
			return
		}
		// What passes must open: bbolt would end the process otherwise.
		b, err := disk.OpenFile(path, disk.BoltOptions(), Options{}.Log)
		if err != nil {
			t.Fatalf("passed the preflight, but: %v", err)
		}
		must(t, b.Close())
	})
}
