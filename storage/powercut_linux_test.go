package storage

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/internal/outfile"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
	"github.com/farsight-console/farsight/storage/keep"
)

func init() {
	children["powercut"] = saying(storeAndSay)
	children["powercut-kept"] = saying(keepAndSay)
	children["powercut-copied"] = saying(copyAndSay)
}

func saying(role func(dir string) error) func(dir string) int {
	return func(dir string) int {
		disk.Now = func() time.Time { return noon }
		if err := role(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
}

// storeAndSay stores matches of two months, and says each on standard output once its
// commit has returned; it closes the store in between, so that the ends of both are cut.
func storeAndSay(dir string) error {
	for round := range 2 {
		err := opened(dir, func(db *DB) (errs error) {
			for i, month := range []string{testMonth, oldMonth, testMonth} {
				match := fmt.Sprintf("EUW1_%d", 10*round+i)
				errs = errors.Join(errs, storeMatchOf(db, match, month), say("stored %s", match))
			}
			return errs
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func say(format string, args ...any) error {
	_, err := fmt.Printf(format+"\n", args...)
	return err
}

// opened is one life of a store.
func opened(dir string, during func(db *DB) error) error {
	db, err := Open(Options{Dir: dir})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	served := make(chan error, 1)
	go func() { served <- db.Serve(ctx) }()
	err = during(db)
	cancel()
	return errors.Join(err, <-served, db.Close())
}

// keepAndSay does with a store whatever copies, replaces or removes its files.
func keepAndSay(dir string) error {
	ctx, other := context.Background(), filepath.Join(filepath.Dir(dir), "other")
	backups := filepath.Join(dir, "backup")
	backup := func(db *DB) error {
		r, err := db.Backup(ctx, keep.BackupOptions{Keep: 1})
		return errors.Join(err, say("backup %s", r.Name))
	}
	all := []func() error{
		func() error {
			return opened(dir, func(db *DB) error {
				// As a process has left them that was killed before it synced them.
				for _, made := range []string{db.files.Dir, backups, filepath.Join(backups, payload.Dir)} {
					if err := os.Mkdir(made, disk.DirMode); err != nil {
						return err
					}
				}
				err := errors.Join(storeOld(db, 0), say("stored EUW1_0000"), storeMatch(db, "EUW1_9"), say("stored EUW1_9"), backup(db))
				_, archived := db.files.Archive(ctx, payload.ArchiveOptions{})
				return errors.Join(err, archived, storeOld(db, 1), say("stored EUW1_0001"), backup(db))
			})
		},
		func() error {
			_, err := Compact(ctx, Options{Dir: dir}, keep.CompactOptions{State: true})
			return errors.Join(err, opened(dir, func(db *DB) error {
				return errors.Join(storeMatch(db, "EUW1_8"), say("stored EUW1_8"), backup(db))
			}))
		},
		func() error {
			_, err := Restore(ctx, Options{Dir: other}, keep.RestoreOptions{Backups: backups})
			return errors.Join(err, say("restored other"))
		},
		func() error {
			r, err := Restore(ctx, Options{Dir: dir}, keep.RestoreOptions{Backups: backups})
			return errors.Join(err, say("keeps %s", r.Files[0].Kept))
		},
		func() error {
			_, err := Reset(Options{Dir: dir}, keep.ResetOptions{})
			return errors.Join(err, say("without EUW1_0000"), opened(dir, func(db *DB) error {
				err := errors.Join(storeMatch(db, "EUW1_7"), say("stored EUW1_7"), storeMatchOf(db, "EUW1_6", "2026-01"))
				_, dropped := db.DropExpired(ctx, league.Span{Months: 3}, noon, false)
				return errors.Join(err, dropped, say("without EUW1_6"))
			}))
		},
		func() error {
			h, err := OpenHandover(Options{Dir: other})
			if err != nil {
				return err
			}
			return errors.Join(h.Leave("elsewhere"), say("left other"), h.Close())
		},
		func() error { return exportAndSay(filepath.Dir(dir)) },
	}
	for _, do := range all {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// copyAndSay is some of it on a file system that knows no second names: traced refuses them.
func copyAndSay(dir string) error {
	ctx, backups := context.Background(), keep.BackupsDir(dir)
	err := opened(dir, func(db *DB) error {
		err := errors.Join(storeMatch(db, "EUW1_9"), say("stored EUW1_9"))
		_, kept := db.Backup(ctx, keep.BackupOptions{})
		return errors.Join(err, kept)
	})
	if err != nil {
		return err
	}
	r, err := Restore(ctx, Options{Dir: dir}, keep.RestoreOptions{Backups: backups})
	if err = errors.Join(err, say("keeps %s", r.Files[0].Kept)); err != nil {
		return err
	}
	if _, err := Reset(Options{Dir: dir}, keep.ResetOptions{}); err != nil {
		return err
	}
	if err := opened(dir, func(db *DB) error { return storeMatch(db, "EUW1_8") }); err != nil {
		return err
	}
	_, err = Reset(Options{Dir: dir}, keep.ResetOptions{NoBackup: true})
	return errors.Join(err, say("without EUW1_8"), exportAndSay(filepath.Dir(dir)))
}

// exportAndSay writes what `export --out` does, at once and following, and a token for programs.
func exportAndSay(dir string) error {
	if _, err := api.LoadToken(dir); err != nil {
		return err
	}
	if err := say("wrote %s", api.TokenName); err != nil {
		return err
	}
	for name, follow := range map[string]bool{"whole": false, "followed": true} {
		f, err := outfile.Open(filepath.Join(dir, name), follow, false)
		if err != nil {
			return err
		}
		_, err = f.WriteString("line\n")
		if err = errors.Join(f.Finish(err), say("wrote %s", name)); err != nil {
			return err
		}
	}
	return nil
}

// A power cut at each step of storing, with every sort of loss: the store opens, what was
// said to be stored is there, and no match names a payload that is not whole.
func TestP1_P2_P3_APowerCutKeepsThePromises(t *testing.T) {
	t.Parallel()
	cutEverywhere(t, traced(t, "powercut"), 6, scratch.Sized(2, 1))
}

// The same of all that copies, replaces or removes files, where second names are known and where not.
func TestB19b_APowerCutKeepsWhatIsCopiedAndReplaced(t *testing.T) {
	t.Parallel()
	for role, said := range map[string]int{"powercut-kept": 16, "powercut-copied": 6} {
		t.Run(role, func(t *testing.T) {
			var refuse []string
			if role == "powercut-copied" {
				refuse = []string{"-e", "inject=link,linkat:error=EPERM"}
			}
			cutEverywhere(t, traced(t, role, refuse...), said, scratch.Sized(8, 1))
		})
	}
}

// cutEverywhere cuts the power before each sync and after each promise: in between there is but less
// to lose. Of the sorts of loss each cut has one in so many, in turn.
func cutEverywhere(t *testing.T, calls sysCalls, want, of int) {
	d, said := newDisk(calls.root), []string(nil)
	seen, seed, cuts := map[uint64]bool{}, maphash.MakeSeed(), 0
	for i, c := range calls.list {
		if c.said != "" {
			said = append(said, c.said)
		}
		c.happen(d)
		if c.said == "" && (i+1 == len(calls.list) || !calls.list[i+1].syncs) {
			continue
		}
		cuts++
		for n, survives := range []luck{never, named, written, drawn(uint64(i))} {
			if (n+cuts)%of != 0 {
				continue
			}
			left := d.after(survives)
			if sum := sumOf(seed, left, len(said)); seen[sum] {
				continue
			} else {
				seen[sum] = true
			}
			dir := t.TempDir()
			lay(t, left, dir)
			for _, fault := range broken(t, dir, said) {
				t.Errorf("after step %d of %d, %s, loss %d, with %q: %v", i, len(calls.list), c.text, n, said, fault)
			}
			must(t, os.RemoveAll(dir))
			if t.Failed() {
				return
			}
		}
	}
	t.Logf("%d ways of losing", len(seen))
	if len(said) != want || len(seen) < 20 {
		t.Errorf("%d promises were made and %d cuts tried", len(said), len(seen))
	}
}

func sumOf(seed maphash.Seed, left map[string][]byte, said int) (sum uint64) {
	for path, body := range left {
		sum += maphash.Comparable(seed, path) * (maphash.Bytes(seed, body) | 1)
	}
	return sum + uint64(said)
}

// broken are the promises that do not hold of what a cut left below dir.
func broken(t *testing.T, dir string, said []string) (faults []error) {
	note := func(err error) {
		if err != nil {
			faults = append(faults, err)
		}
	}
	data, live := filepath.Join(dir, "data"), map[string]bool{} // the matches of data and of what it has put aside
	look := func(path string, open func(Options) (*DB, error), and func(db *DB)) map[string]bool {
		if !exists(disk.StatePath(path)) {
			return nil
		}
		db, err := open(Options{Dir: path})
		if err != nil {
			note(fmt.Errorf("%s does not open: %w", path, err))
			return nil
		}
		defer db.Close()
		and(db)
		matches, err := soundMatches(t, db)
		note(err)
		return matches
	}
	// A store whose place another has taken is opened all the same.
	moved, _ := os.ReadFile(filepath.Join(dir, "other", movedFile))
	must(t, os.RemoveAll(filepath.Join(dir, "other", movedFile)))
	maps.Copy(live, look(data, Open, func(db *DB) {
		for _, line := range said {
			if match, is := strings.CutPrefix(line, "without "); is {
				if _, _, there, err := db.FindPayload(context.Background(), match, league.PartMatch); there || err != nil {
					note(fmt.Errorf("%s is there: %v", match, err))
				}
			}
		}
	}))
	stores, err := filepath.Glob(filepath.Join(data, "before-reset-*"))
	must(t, err)
	// Now that data has opened, which finishes a reset. One that was cut before has left a second name of
	// the state, without payloads.
	stores = slices.DeleteFunc(stores, func(path string) bool { return !exists(filepath.Join(path, payload.Dir)) })
	for _, path := range stores {
		maps.Copy(live, look(path, Open, func(*DB) {}))
	}
	other, backedUp := look(filepath.Join(dir, "other"), Open, func(*DB) {}), map[string]bool(nil)
	backups, err := keep.Backups(filepath.Join(data, "backup"))
	must(t, err)
	for i, b := range backups {
		if matches := look(b.Path, OpenReadOnly, func(*DB) {}); i == 0 { // the newest
			backedUp = matches
		}
		if b.Problem != "" {
			note(errors.New(b.Problem))
		} else if crc, _, err := disk.SumFile(context.Background(), disk.StatePath(b.Path)); err != nil || crc != b.State.CRC {
			note(fmt.Errorf("the state of %s is not what its manifest says: %v", b.Name, err))
		}
	}
	lacks := func(matches map[string]bool, said []string, where string) {
		for _, line := range said {
			if match, is := strings.CutPrefix(line, "stored "); is && !matches[match] {
				note(fmt.Errorf("%s is not %s", match, where))
			}
		}
	}
	lacks(live, said, "there")
	for i, line := range said {
		what, of, _ := strings.Cut(line, " ")
		switch what {
		case "restored":
			lacks(other, said[:i], "restored")
		case "backup":
			lacks(backedUp, said[:i], "in the newest backup")
		case "keeps":
			_, err := disk.Preflight(filepath.Join(data, of))
			note(err)
		case "left":
			if string(moved) != "elsewhere\n" {
				note(fmt.Errorf("it is marked as moved to %q", moved))
			}
		case "wrote":
			if text, err := os.ReadFile(filepath.Join(dir, of)); !strings.HasSuffix(string(text), "\n") {
				note(fmt.Errorf("%s holds %q: %v", of, text, err))
			}
		}
	}
	return faults
}

func exists(path string) bool {
	there, _ := disk.Exists(path)
	return there
}

// soundMatches are the matches of a store that are stored, each with its payload, and what is not
// sound in it.
func soundMatches(t *testing.T, db *DB) (found map[string]bool, err error) {
	report, checked := db.Check(context.Background())
	must(t, checked)
	for _, f := range report.Findings {
		err = errors.Join(err, fmt.Errorf("check: %+v", f))
	}
	found = map[string]bool{}
	read(t, db, func(tx *txn) error {
		for r := range tx.Rows(tMatches.Table, nil) {
			m, fault := tMatches.Decode(r.Key, r.Value)
			if fault == nil && m.Match.Status == league.Success && !m.Match.Ref.Dropped() {
				if _, fault = rawPayload(db, m.ID, league.PartMatch); fault == nil {
					found[m.ID] = true
				}
			}
			if fault != nil {
				err = errors.Join(err, fmt.Errorf("a match that is stored: %w", fault))
			}
		}
		return nil
	})
	return found, err
}

// sysCall is one call of the kernel that changes or syncs a file below the root, or the
// line of standard output that promises something.
type sysCall struct {
	text   string
	said   string
	syncs  bool
	happen func(d *recording)
}

type sysCalls struct {
	root string
	list []sysCall
}

// traced runs a role and records what it does to the disk.
func traced(t *testing.T, role string, more ...string) sysCalls {
	t.Helper()
	if testing.Short() {
		t.Skip("opens hundreds of stores")
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("strace is missing: the power cut cannot be tested")
		}
		t.Skip("needs strace to see what reaches the disk")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	log := filepath.Join(t.TempDir(), "calls")
	cmd := child(t, role, filepath.Join(root, "data"))
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, strace, slices.Concat([]string{
		"-f", "-qq", "-y", "-xx", "-s", "67108864", "-e", "signal=none", "-o", log, "-e",
		"trace=openat,mkdirat,mkdir,pwrite64,write,ftruncate,fsync,fdatasync,/^rename.*,/^link.*,unlink,unlinkat,rmdir",
	}, more, cmd.Args)...)
	run.Env, run.Stderr = cmd.Env, os.Stderr
	if err := run.Run(); err != nil {
		t.Fatalf("strace: %v", err)
	}
	f, err := os.Open(log)
	must(t, err)
	defer f.Close()
	return parseCalls(t, root, f)
}

// writesOf are the calls whose effect begins before they return.
var writesOf = []string{"pwrite64", "write", "ftruncate"}

// The forms of a line, such as `1234 pwrite64(7</tmp/x/state.db>, "\x00\x01", 2, 4096) = 2`.
// All texts are written in hexadecimal.
var (
	whole   = regexp.MustCompile(`^(\d+) +(\w+)\((.*)\) += (-?\d+)`)
	begun   = regexp.MustCompile(`^(\d+) +(\w+)\((.*) <unfinished \.\.\.>$`)
	resumed = regexp.MustCompile(`^(\d+) +<\.\.\. (\w+) resumed>(.*)\) += (-?\d+)`)
	fileOf  = regexp.MustCompile(`^(\d+)<([^>]*)>`)
	pathOf  = regexp.MustCompile(`(?:^|, )(?:\w+<([^>]*)>, )?"((?:\\x[0-9a-f]{2})*)"`)
	offset  = regexp.MustCompile(`, (\d+)$`)
)

// parseCalls reads strace's log. A write counts from when it begins, everything else from
// when it has returned, whatever other threads do in between.
func parseCalls(t *testing.T, root string, f *os.File) sysCalls {
	calls := sysCalls{root: root}
	open := map[string]string{} // the arguments of a call that has not returned, by thread
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 256<<20)
	for lines.Scan() {
		line := lines.Text() // up to tens of kilobytes: no pattern is tried on it in vain
		switch {
		case strings.HasSuffix(line, " <unfinished ...>"):
			if m := begun.FindStringSubmatch(line); m != nil {
				open[m[1]] = m[3]
				if slices.Contains(writesOf, m[2]) {
					calls.add(m[2], m[3])
				}
			}
		case strings.Contains(line[:min(len(line), 60)], " resumed>"):
			if m := resumed.FindStringSubmatch(line); m != nil && m[4][0] != '-' && !slices.Contains(writesOf, m[2]) {
				calls.add(m[2], open[m[1]]+m[3])
			}
		default:
			if m := whole.FindStringSubmatch(line); m != nil && m[4][0] != '-' {
				calls.add(m[2], m[3])
			}
		}
	}
	must(t, lines.Err())
	return calls
}

// add notes a call whose effect the model knows.
func (s *sysCalls) add(name, args string) {
	var texts, paths []string // a path may be told from a folder that is open
	for _, m := range pathOf.FindAllStringSubmatch(args, -1) {
		text := unhex(m[2])
		texts = append(texts, text)
		if !filepath.IsAbs(text) {
			text = filepath.Join(unhex(m[1]), text)
		}
		paths = append(paths, text)
	}
	if m := fileOf.FindStringSubmatch(args); m != nil && !strings.HasSuffix(name, "at") {
		if name == "write" && m[1] == "1" {
			line := strings.TrimSpace(texts[0])
			s.list = append(s.list, sysCall{text: line, said: line, happen: func(*recording) {}})
			return
		}
		paths = []string{unhex(m[2])}
	}
	if len(paths) == 0 || !strings.HasPrefix(paths[len(paths)-1], s.root) {
		return
	}
	if do := effect(name, args, texts, paths); do != nil {
		s.list = append(s.list, sysCall{text: fmt.Sprint(name, paths), syncs: strings.HasSuffix(name, "sync"), happen: do})
	}
}

// effect is what a call does to the model; nil = nothing.
func effect(name, args string, texts, paths []string) func(d *recording) {
	file := paths[0]
	switch name {
	case "fsync", "fdatasync":
		return func(d *recording) { d.sync(file) }
	case "pwrite64":
		return func(d *recording) { d.write(file, change{at: lastNumber(args), data: []byte(texts[0])}) }
	case "ftruncate":
		return func(d *recording) { d.write(file, change{at: lastNumber(args), truncate: true}) }
	case "write":
		return func(d *recording) { d.write(file, change{at: d.size(file), data: []byte(texts[0])}) }
	case "openat":
		if strings.Contains(args, "O_CREAT") {
			return func(d *recording) { d.create(file, &inode{}) }
		}
	case "mkdir", "mkdirat":
		return func(d *recording) { d.create(file, newFolder()) }
	case "link", "linkat":
		return func(d *recording) { d.name(d.linked(paths[1], d.at(file))) }
	case "rename", "renameat", "renameat2":
		return func(d *recording) { d.rename(file, paths[1]) }
	case "unlink", "unlinkat", "rmdir":
		return func(d *recording) { d.name(d.linked(file, nil)) }
	}
	return nil
}

func lastNumber(args string) int64 {
	n, err := strconv.ParseInt(offset.FindStringSubmatch(args)[1], 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// unhex reads a text of strace's, such as `\x2f\x74`.
func unhex(s string) string {
	b, err := hex.DecodeString(strings.ReplaceAll(s, `\x`, ""))
	if err != nil {
		panic(err)
	}
	return string(b)
}
