package storage

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// The test binary runs itself as another process: what it does then is named by this variable, its last argument is the
// data directory.
const roleEnv = "FARSIGHT_STORAGE_TEST_ROLE"

// pointEnv names the crash point at which a child ends itself, and crashHitEnv at which hit.
const pointEnv = "FARSIGHT_STORAGE_TEST_POINT"

var children = map[string]func(dir string) int{
	"hold":  holdDir,
	"write": writeForEver,
	"crash": crashAtPoint,
	"check": checkDir,
}

func child(t *testing.T, role, dir string, env ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe, dir)
	cmd.Env = append(os.Environ(), roleEnv+"="+role)
	cmd.Env = append(cmd.Env, env...)
	cmd.Stderr = os.Stderr
	return cmd
}

// holdDir opens the directory, says so, and waits for its standard input to end.
func holdDir(dir string) int {
	db, err := Open(Options{Dir: dir})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("held")
	bufio.NewReader(os.Stdin).ReadString('\n')
	db.Close()
	return 0
}

// writeForEver writes from eight goroutines and names each job on standard output once its commit has returned.
func writeForEver(dir string) int {
	db, err := Open(Options{Dir: dir})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	go db.Serve(context.Background())
	var out sync.Mutex
	for w := range 8 {
		go func() {
			for i := 0; ; i++ {
				match := fmt.Sprintf("EUW1_%d", w*1_000_000+i)
				if err := storeMatch(db, match); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				out.Lock()
				fmt.Println(match)
				out.Unlock()
			}
		}()
	}
	time.Sleep(time.Minute) // the parent kills us long before
	return 1
}

// storeMatch does what a fetched match needs: payload first, then the state that names it.
func storeMatch(db *DB, match string) error { return storeMatchOf(db, match, testMonth) }

func storeMatchOf(db *DB, match, month string) error {
	ref, body := gzipped(`{"match":"` + match + `"}`)
	ref.Month = month
	ctx := context.Background()
	if err := db.PutPayload(ctx, match, league.PartMatch, ref, body); err != nil {
		return err
	}
	return db.Write(ctx, func(tx engine.Tx) error {
		if _, err := tx.Enqueue(engine.Spec{Kind: "match.fetch", Queue: "q", Key: "match:" + match}); err != nil {
			return err
		}
		m := league.Match{ID: match, Match: league.Fetch{Status: league.Success, Ref: ref}}
		return db.SaveMatch(tx, m, false)
	})
}

// crashAtPoint opens the directory, stores three matches and closes it, and ends itself at the named point and hit.
func crashAtPoint(dir string) int {
	var name string
	var hit int
	fmt.Sscanf(os.Getenv(pointEnv), "%s %d", &name, &hit)
	var mu sync.Mutex
	crash.Arm(func(at string) {
		mu.Lock()
		defer mu.Unlock()
		if at == name {
			if hit--; hit == 0 {
				os.Exit(3)
			}
		}
	})
	db, err := Open(Options{Dir: dir})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error)
	go func() { done <- db.Serve(ctx) }()
	for i := range 3 {
		if err := storeMatch(db, fmt.Sprintf("EUW1_%d", i)); err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println("stored", i)
	}
	cancel()
	<-done
	if err := db.Close(); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// checkDir is `farsight check`: bbolt's page check in a process of its own.
func checkDir(dir string) int {
	findings, err := CheckFiles(Options{Dir: dir})
	if err != nil || len(findings) > 0 {
		fmt.Println(err, findings)
		return 3
	}
	return 0
}

func TestASecondProcessIsToldWhoHoldsTheDirectory(t *testing.T) {
	dir := t.TempDir()
	cmd := child(t, "hold", dir)
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "held\n" {
		t.Fatalf("child said %q, %v", line, err)
	}
	for name, open := range map[string]func(Options) (*DB, error){"Open": Open, "OpenReadOnly": OpenReadOnly} {
		_, err := open(Options{Dir: dir})
		held := wantError[*disk.ErrHeld](t, err)
		if held.PID != cmd.Process.Pid || held.Store != "data directory "+dir || held.Host == "" || time.Since(held.Since) > time.Minute {
			t.Errorf("%s: %+v, want process %d", name, held, cmd.Process.Pid)
		}
	}
	in.Close()
	must(t, cmd.Wait())
	start(t, dir)
}

func TestP01_EveryAcknowledgedWriteSurvivesKill9(t *testing.T) {
	dir := t.TempDir()
	acknowledged := map[string]bool{}
	for round := range 4 {
		cmd := child(t, "write", dir)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for n := 1; lines.Scan(); n++ {
			if !strings.HasPrefix(lines.Text(), "EUW1_") {
				t.Fatalf("child: %s", lines.Text())
			}
			acknowledged[lines.Text()] = true
			if n == 3+round*17 { // at no particular moment of its own: seven others are writing
				cmd.Process.Kill()
			}
		}
		cmd.Wait()
		db, err := Open(Options{Dir: dir})
		must(t, err)
		if db.Boot().Clean {
			t.Errorf("round %d: a killed process counts as a clean shutdown", round)
		}
		read(t, db, func(tx *txn) error {
			for id := range acknowledged {
				if m, err := tx.match(id); err != nil || m.Match.Status != league.Success {
					t.Errorf("round %d: acknowledged match %s: %v", round, id, err)
				}
			}
			return nil
		})
		wantSound(t, db)
		must(t, db.Close())
		// The child begins at 0 again: a match that is there is written once more, which must change nothing.
	}
	if len(acknowledged) == 0 {
		t.Fatal("nothing was acknowledged")
	}
	t.Logf("%d acknowledged writes", len(acknowledged))
	if out, err := child(t, "check", dir).Output(); err != nil {
		t.Errorf("page check: %v %s", err, out)
	}
}

// TestP01_CrashAtEveryPoint ends a process at each named instant and looks at what it leaves.
func TestP01_CrashAtEveryPoint(t *testing.T) {
	points := []string{
		"creation-before-tables", "creation-before-sync", "creation-before-rename", "creation-after-rename",
		"before-payload-commit", "after-payload-commit", "before-state-commit", "after-state-commit",
		"shutdown-begin", "shutdown-marked",
	}
	for _, name := range points {
		for hit := 1; hit <= 2; hit++ {
			if strings.HasPrefix(name, "shutdown") && hit > 1 {
				continue
			}
			dir := t.TempDir()
			out, err := child(t, "crash", dir, fmt.Sprintf("%s=%s %d", pointEnv, name, hit)).Output()
			if code := exitCode(err); code != 3 {
				t.Errorf("%s hit %d: exit %d: %s", name, hit, code, out)
				continue
			}
			wantStored(t, dir, strings.Count(string(out), "stored"), name)
		}
	}
}

func exitCode(err error) int {
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return e.ExitCode()
	}
	return 0
}

// wantStored opens what a crash left: everything that was acknowledged is there, and the work can go on.
func wantStored(t *testing.T, dir string, acknowledged int, name string) {
	t.Helper()
	db, err := Open(Options{Dir: dir})
	if err != nil {
		t.Errorf("after %s: %v", name, err)
		return
	}
	stop := serve(t, db)
	read(t, db, func(tx *txn) error {
		for i := range acknowledged {
			if _, err := tx.match(fmt.Sprintf("EUW1_%d", i)); err != nil {
				t.Errorf("after %s: %v", name, err)
			}
		}
		return nil
	})
	must(t, storeMatch(db, "EUW1_2"))
	stop()
	wantSound(t, db)
	must(t, db.Close())
}
