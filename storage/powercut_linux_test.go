package storage

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine/league"
)

func init() { children["powercut"] = storeAndSay }

// storeAndSay stores matches of two months, and says each on standard output once its
// commit has returned; it closes the store in between, so that the ends of both are cut.
func storeAndSay(dir string) int {
	for round := range 2 {
		if err := storeRound(dir, round); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return 0
}

func storeRound(dir string, round int) error {
	db, err := Open(Options{Dir: dir})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	served := make(chan error, 1)
	go func() { served <- db.Serve(ctx) }()
	for i, month := range []string{testMonth, oldMonth, testMonth} {
		match := fmt.Sprintf("EUW1_%d", 10*round+i)
		if err := storeMatchOf(db, match, month); err != nil {
			return err
		}
		fmt.Printf("stored %s\n", match)
	}
	cancel()
	return errors.Join(<-served, db.Close())
}

// A power cut at each step of storing, with every sort of loss: the store opens, what was
// said to be stored is there, and no match names a payload that is not whole.
func TestP1_P2_P3_APowerCutKeepsThePromises(t *testing.T) {
	if testing.Short() {
		t.Skip("opens hundreds of stores")
	}
	calls := traced(t, "powercut")
	d, said, cuts := newDisk(calls.root), []string(nil), 0
	for i, c := range calls.list {
		if c.stored != "" {
			said = append(said, c.stored)
		}
		c.happen(d)
		if !d.uncertain() && c.stored == "" {
			continue
		}
		for n, survives := range []luck{never, always, drawn(uint64(i)), drawn(uint64(i) + 1<<32)} {
			cuts++
			if !wantPromises(t, d, calls.root, said, survives) {
				t.Fatalf("after step %d of %d, %s, loss %d, with %v stored", i, len(calls.list), c.text, n, said)
			}
		}
	}
	if len(said) != 6 || cuts < 200 {
		t.Errorf("%d matches were stored and %d cuts tried", len(said), cuts)
	}
}

// wantPromises opens what a cut leaves.
func wantPromises(t *testing.T, d *recording, root string, said []string, survives luck) bool {
	t.Helper()
	dir, err := os.MkdirTemp("", "cut")
	must(t, err)
	defer os.RemoveAll(dir)
	d.after(t, root, dir, survives)
	data := filepath.Join(dir, "data")
	if _, err := os.Stat(data); err != nil && len(said) == 0 {
		return true // nothing had been promised yet
	}
	db, err := Open(Options{Dir: data})
	if err != nil {
		t.Errorf("the store does not open: %v", err)
		return false
	}
	defer db.Close()
	ok := true
	report, err := db.Check(context.Background())
	must(t, err)
	for _, f := range report.Findings {
		t.Errorf("check: %+v", f)
		ok = false
	}
	for _, match := range said { // P1, P3
		if _, err := rawPayload(db, match, league.PartMatch); err != nil {
			t.Errorf("%s was said to be stored: %v", match, err)
			ok = false
		}
	}
	read(t, db, func(tx *txn) error {
		for r := range tx.Rows(tMatches.Table, nil) {
			m, err := tMatches.Decode(r.Key, r.Value)
			if err == nil && m.Match.Status == league.Success {
				_, err = rawPayload(db, m.ID, league.PartMatch)
			}
			if err != nil {
				t.Errorf("a match that is stored: %v", err)
				ok = false
			}
		}
		return nil
	})
	return ok
}

// sysCall is one call of the kernel that changes or syncs a file below the root, or the
// line of standard output that says that a match is stored.
type sysCall struct {
	text   string
	stored string
	happen func(d *recording)
}

type sysCalls struct {
	root string
	list []sysCall
}

// traced runs a role and records what it does to the disk.
func traced(t *testing.T, role string) sysCalls {
	t.Helper()
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
	run := exec.CommandContext(ctx, strace, append([]string{
		"-f", "-qq", "-y", "-xx", "-s", "67108864", "-e", "signal=none", "-o", log, "-e",
		"trace=openat,mkdirat,mkdir,pwrite64,write,ftruncate,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,rmdir",
	}, cmd.Args...)...)
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
var (
	writesOf = []string{"pwrite64", "write", "ftruncate"}
)

// The forms of a line, such as `1234 pwrite64(7</tmp/x/state.db>, "\x00\x01", 2, 4096) = 2`.
// All texts are written in hexadecimal.
var (
	whole   = regexp.MustCompile(`^(\d+) +(\w+)\((.*)\) += (-?\d+)`)
	begun   = regexp.MustCompile(`^(\d+) +(\w+)\((.*) <unfinished \.\.\.>$`)
	resumed = regexp.MustCompile(`^(\d+) +<\.\.\. (\w+) resumed>(.*)\) += (-?\d+)`)
	quoted  = regexp.MustCompile(`"((?:\\x[0-9a-f]{2})*)"`)
	fileOf  = regexp.MustCompile(`^(\d+)<([^>]*)>`)
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
		line := lines.Text()
		if m := begun.FindStringSubmatch(line); m != nil {
			open[m[1]] = m[3]
			if slices.Contains(writesOf, m[2]) {
				calls.add(m[2], m[3])
			}
		} else if m := resumed.FindStringSubmatch(line); m != nil {
			if m[4][0] != '-' && !slices.Contains(writesOf, m[2]) {
				calls.add(m[2], open[m[1]]+m[3])
			}
		} else if m := whole.FindStringSubmatch(line); m != nil && m[4][0] != '-' {
			calls.add(m[2], m[3])
		}
	}
	must(t, lines.Err())
	return calls
}

// add notes a call whose effect the model knows.
func (s *sysCalls) add(name, args string) {
	var texts []string
	for _, m := range quoted.FindAllStringSubmatch(args, -1) {
		texts = append(texts, unhex(m[1]))
	}
	fd, file := "", ""
	if m := fileOf.FindStringSubmatch(args); m != nil {
		fd, file = m[1], unhex(m[2])
	}
	if name == "write" && fd == "1" {
		s.say(texts[0])
		return
	}
	if file == "" && len(texts) > 0 {
		file = texts[len(texts)-1] // of a rename: the new name
	}
	if !strings.HasPrefix(file, s.root) {
		return
	}
	if do := effect(name, args, file, texts); do != nil {
		s.list = append(s.list, sysCall{text: name + " " + file, happen: do})
	}
}

func (s *sysCalls) say(line string) {
	if match, ok := strings.CutPrefix(strings.TrimSpace(line), "stored "); ok {
		s.list = append(s.list, sysCall{text: line, stored: match, happen: func(*recording) {}})
	}
}

// effect is what a call does to the model; nil = nothing.
func effect(name, args, file string, texts []string) func(d *recording) {
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
			return func(d *recording) { d.create(file, false) }
		}
	case "mkdir", "mkdirat":
		return func(d *recording) { d.create(file, true) }
	case "rename", "renameat", "renameat2":
		return func(d *recording) { d.rename(texts[0], texts[1]) }
	case "unlink", "unlinkat", "rmdir":
		return func(d *recording) { d.remove(file) }
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
