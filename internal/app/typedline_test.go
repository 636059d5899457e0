package app

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/ui/plain"
	"github.com/farsight-console/farsight/ui/session"
	"github.com/farsight-console/farsight/ui/uitest"
)

// linesOf types lines into a console of lines and gives what it says, line by line.
func linesOf(t *testing.T, fake engine.Console, readOnly bool, typed ...string) (said []string) {
	t.Helper()
	return linesBy(t, config.Config{}, fake, readOnly, typed...)
}

// linesBy is linesOf a console that was opened with a configuration.
func linesBy(t *testing.T, cfg config.Config, fake engine.Console, readOnly bool, typed ...string) (said []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		out, to := io.Pipe()
		ended := make(chan error, 1)
		opt := plain.Options{Every: time.Hour, Command: typedBy(cfg), Seat: session.Seat{
			Zone: uitest.Zone, Actor: engine.Actor{User: "ana"}, ReadOnly: readOnly, Output: to,
			Getenv: func(string) string { return "" }, Input: strings.NewReader(strings.Join(typed, "\n") + "\nquit\n"),
		}}
		go func() {
			ended <- plain.Run(withTree(t.Context()), fake, opt)
			_ = to.Close()
		}()
		for s := bufio.NewScanner(out); s.Scan(); {
			said = append(said, s.Text())
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return said
}

// The console of lines takes the command lines of the program, and says their tables as sentences.
func TestW5h_APlainConsoleTakesTheProgramsCommands(t *testing.T) {
	t.Setenv("FARSIGHT_DATA_DIR", t.TempDir())
	for _, c := range []struct{ typed, wants string }{
		{"jobs state:discarded", "job match:KR_6011000003, queue ingest.summoner.full, state DISCARDED"},
		{"jobs state:x", "state is never"},
		{"JOBS 'state:discarded err:404'", "match:KR_6011000003"},
		{`farsight jobs "state:discarded"`, "match:KR_6011000003"},
		{"jobs 'state", "A quote begins in this line and has no end."},
		{"accounts", "카인#KR1: platform kr, state SYNCING, matches 134/879"},
		{"limits", "scope app, "},
		{"reports 'Blue Heron#KR1'", "Most: played "},
		{"job match:KR_7214550881", "match:KR_7214550881 is RETRYABLE: 2 of 5 tries used"},
		{"job match:KR_7214550881", "try 2, "},
		{"logs --limit 3", "INFO"},
		{"collections", "kr-solo-master+"},
		{"retry match:KR_7214550881", "retry accepted"},
		{"pause ingest.rank.daily --reason deploy", "pause accepted"},
		{"forget 'Blue Heron#KR1'\nno", "Nothing was deleted: Blue Heron#KR1 was not typed"},
		{"sync 'Grey Stork#KR1'", "`farsight sync` is for a shell"},
		{"key set", "a key that is typed here would stay on the screen"},
		{"jobs --watch", "What changes is told here as it comes"},
		{"--read-only", "name a command alone"},
		{"jobz", "did you mean job or jobs? Help lists them."},
		{"frobnicate", `There is no command "frobnicate": help lists them.`},
		{"track --file -", "--file is for a shell"},
		{"track --file /etc/passwd", "--file is for a shell"},
		{"collect --players - --platform kr", "--players is for a shell"},
		{"jobs --data-dir /tmp", "--data-dir is for a shell"},
		{"trigger 'Blue Heron#KR1' --platform moon", "--platform: "},
		{"help", "jobs [FILTER]: List jobs."},
		{"help jobs", "Columns: job key id"},
	} {
		fake := uitest.New(uitest.Busy())
		if c.typed == "collections" {
			fake = uitest.New(uitest.Collecting())
		}
		said := strings.Join(linesOf(t, fake, false, c.typed), "\n")
		if !strings.Contains(said, c.wants) || strings.ContainsAny(said, "\x1b│╭█░") {
			t.Errorf("%q is answered without %q:\n%s", c.typed, c.wants, said)
		}
		for _, did := range fake.Did() {
			if did.By.User != "ana" {
				t.Errorf("%q did %+v", c.typed, did)
			}
		}
	}
}

// A console that may only look asks for nothing to be done, whatever is typed.
func TestW5h_AReadOnlyPlainConsoleRefuses(t *testing.T) {
	t.Setenv("FARSIGHT_DATA_DIR", t.TempDir())
	for _, typed := range []string{"retry match:KR_7214550881", "trigger 'Blue Heron#KR1' --platform kr", "pause ingest.rank.daily",
		"forget 'Blue Heron#KR1' --yes", "call +12025550143 --say Hello.", "undo", "collect master+ --platform kr --yes"} {
		fake := uitest.New(uitest.Busy())
		said := strings.Join(linesOf(t, fake, true, typed), "\n")
		if did := fake.Did(); len(did) > 0 || !strings.Contains(said, "Refused: this console is read only.") {
			t.Errorf("%q did %+v and said\n%s", typed, did, said)
		}
	}
}

// What is typed has the settings with which the console was opened, and none of the directory and the environment here.
func TestW5h_TypedLinesHaveTheConsolesSettings(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("FARSIGHT_DATA_DIR", dir)
	if err := os.WriteFile(filepath.Join(dir, config.FileName), []byte("platform = \"moon\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ opened, typed, wants string }{
		{"kr", "trigger 'Blue Heron#KR1'", "kr"},
		{"kr", "track 'Blue Heron#KR1'", "kr"},
		{"kr", "trigger 'Blue Heron#KR1' --platform EUW1", "euw1"},
		{"", "trigger 'Blue Heron#KR1'", ""}, // the engine knows it
		{"", "track 'Blue Heron#KR1'", ""},
	} {
		fake := uitest.New(uitest.Busy())
		said := linesBy(t, config.Config{Platform: c.opened}, fake, false, c.typed)
		if did := fake.Did(); len(did) != 1 || did[0].Sync.Platform != c.wants {
			t.Errorf("%q with %q did %+v and said\n%s", c.typed, c.opened, did, strings.Join(said, "\n"))
		}
	}
}

// A call that is asked for here is not waited for, since nothing would be told meanwhile.
func TestW5h_ACallIsNotWaitedFor(t *testing.T) {
	fake := uitest.New(uitest.Busy())
	fake.Answer = func(c engine.Command) (engine.Receipt, error) {
		return engine.Receipt{Job: fake.Scene.Jobs[0].ID, Text: "call accepted"}, nil
	}
	said := strings.Join(linesOf(t, fake, false, "call +12025550143 --say Hello."), "\n")
	for _, q := range fake.Asked() {
		if q, ok := q.(engine.JobQuery); ok {
			t.Errorf("waits for %v", q)
		}
	}
	if !strings.Contains(said, "call accepted") || strings.Contains(said, "has not ended") {
		t.Errorf("said\n%s", said)
	}
}

// Without a number undo takes back what was done last in this console, and nothing of anybody else.
func TestW5h_UndoTakesBackWhatWasDoneHere(t *testing.T) {
	for _, c := range []struct {
		typed []string
		wants []uint64 // audit numbers of the commands that take back
		says  string
	}{
		{[]string{"undo"}, nil, "Nothing of the last 10 seconds was done here"},
		{[]string{"undo 31"}, []uint64{31}, "undo accepted"},
		{[]string{"pause ingest.rank.daily", "undo --dry-run", "undo", "undo"}, []uint64{41, 41}, "Nothing of the last 10 seconds was done here"},
	} {
		fake := uitest.New(uitest.Busy())
		fake.Answer = func(c engine.Command) (engine.Receipt, error) {
			return engine.Receipt{Audit: 41, Undo: c.Op == engine.OpPause, Text: string(c.Op) + " accepted"}, nil
		}
		said := strings.Join(linesOf(t, fake, false, c.typed...), "\n")
		var back []uint64
		for _, did := range fake.Did() {
			if did.Op == engine.OpUndo {
				back = append(back, did.Audit)
			}
		}
		if !slices.Equal(back, c.wants) || !strings.Contains(said, c.says) {
			t.Errorf("%q took back %v, want %v, and said\n%s", c.typed, back, c.wants, said)
		}
	}
}

// TestALineLeavesNothingBehind: who types all day gets the memory of a line back.
func TestALineLeavesNothingBehind(t *testing.T) {
	inUse := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const lines = 40
	typed := func() {
		linesOf(t, uitest.New(uitest.Busy()), false, slices.Repeat([]string{"help jobs"}, lines)...)
	}
	typed()
	before := inUse()
	typed()
	if each := (int64(inUse()) - int64(before)) / lines; each > 40<<10 {
		t.Errorf("a line leaves %d bytes", each)
	}
}
