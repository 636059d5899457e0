package logbook

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/journal"
	"github.com/farsight-console/farsight/internal/leak"
	"github.com/farsight-console/farsight/internal/sdnotify"
)

// No goroutine outlives the tests.
func TestMain(m *testing.M) { leak.Main(m) }

// canary is a key that must be nowhere, and canaryTail what gives it away.
const (
	canary     = "RGAPI-dec0de00-cafe-4bad-8bad-" + canaryTail
	canaryTail = "c0ffee000000"
)

// Row P-40: no key gets into the ring or the file, whatever a layer above wrote,
// and both hold the same records.
func TestP40_TheRingHoldsNoKey(t *testing.T) {
	dir := t.TempDir()
	log, file := New(dir, "debug")
	jobs := Area(log, AreaJobs)
	jobs.Error().Str("err", "the token "+canary+" is tired").Str("job", "17").Msg("said " + canary + "\x1b[31m")
	jobs.Debug().Str(canary, "as a key").Msg("odd")
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	rows := file.Ring.After(0, 10)
	stored := journal.NewRing(10, 1<<20)
	tail := journal.NewTail(Path(dir), nil)
	defer tail.Close()
	if err := tail.Fill(stored); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || len(stored.After(0, 10)) != 2 {
		t.Fatalf("%d records in memory, %d in the file", len(rows), len(stored.After(0, 10)))
	}
	for _, r := range append(rows, stored.After(0, 10)...) {
		text := r.Text + string(r.Job) + r.Area
		for _, f := range r.Fields {
			text += f.Key + f.Value
		}
		if strings.Contains(text, canaryTail) {
			t.Errorf("the key is in %+v", r)
		}
	}
	if r := rows[0]; r.Level != "error" || r.Area != "jobs" || r.Job != "17" || time.Since(r.At) > time.Minute || !strings.Contains(r.Text, "RGAPI-****") {
		t.Errorf("%+v", r)
	}
	raw, err := os.ReadFile(Path(dir))
	if err != nil || strings.Contains(string(raw), canaryTail) || strings.Contains(string(raw), "\x1b") {
		t.Errorf("the file holds %q, %v", raw, err)
	}
}

// A log that cannot be written stops nobody: what it could not take is counted,
// and still to be seen.
func TestLogDropsAreCounted(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(Path(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	log, file := New(dir, "info")
	log.Info().Msg("one")
	log.Warn().Msg("two")
	log.Debug().Msg("not of this level")
	if rows := file.Ring.After(0, 10); len(rows) != 2 || file.Ring.Dropped() != 2 {
		t.Errorf("%d records, %d dropped", len(rows), file.Ring.Dropped())
	}
	if err := os.Remove(Path(dir)); err != nil {
		t.Fatal(err)
	}
	log.Info().Msg("three")
	if raw, err := os.ReadFile(Path(dir)); err != nil || !strings.Contains(string(raw), "three") || file.Ring.Dropped() != 2 {
		t.Errorf("the file is there again: %q, %v, %d dropped", raw, err, file.Ring.Dropped())
	}
	if err := file.Close(); err != nil {
		t.Error(err)
	}
}

// What is below the level of the file stays in memory, where a console can see it.
func TestLogKeepsDebugInMemory(t *testing.T) {
	dir := t.TempDir()
	log, file := New(dir, "info")
	log.Debug().Str("err", "with "+canary).Msg("a call")
	log.Info().Msg("an event")
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(Path(dir))
	if err != nil || strings.Contains(string(raw), "a call") || !strings.Contains(string(raw), "an event") {
		t.Errorf("the file holds %q, %v", raw, err)
	}
	page := file.Ring.Page(engine.LogsQuery{Level: "debug"})
	if len(page.Logs) != 2 || page.Logs[1].Text != "a call" || page.Logs[1].Level != "debug" || strings.Contains(page.Logs[1].Fields[0].Value, canaryTail) {
		t.Errorf("%+v", page.Logs)
	}
}

func TestNarrator_TellsSyncsCommandsAndTicks(t *testing.T) {
	log, file := New(t.TempDir(), "info")
	defer file.Close()
	n := NewNarrator(log, "v1")
	began := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	row := engine.AccountRow{ID: "a", RiotID: "Ana#EUW", Run: "1", Status: engine.SyncPending, Job: "7", Kind: "full"}
	steps := []engine.AccountRow{row, row, row, {ID: "b", RiotID: "Bob#EUW", Status: engine.SyncCompleted}}
	steps[1].Status = engine.Syncing
	steps[2].Status, steps[2].Result, steps[2].Started, steps[2].Finished = engine.SyncCompleted, "completed", began, began.Add(time.Minute)
	late, old := steps[2], steps[3] // a match came after the end; of an earlier engine that is known
	late.Closed, old.Closed = time.Now().Add(time.Minute), began.AddDate(-1, 0, 0)
	steps = append(steps, late, late, old)
	for i := range steps {
		n.Changes([]engine.Change{{Account: &steps[i]}})
	}
	n.Changes([]engine.Change{{Audit: &engine.AuditEntry{Seq: 4, Op: engine.OpPause, Target: "queue ingest", By: engine.Actor{User: "ana", Via: "console"}, Result: "paused", Reason: "lunch"}}})
	n.Tick("rank.daily", engine.ScheduleTick{Planned: began, Result: engine.TickRan, Jobs: 2, Job: "9"})
	n.Tick("rank.daily", engine.ScheduleTick{Planned: began, Result: engine.TickSkipped, Count: 3, Reason: "the engine was not running"})
	n.Note(AreaSchedule, engine.Note{Level: engine.LevelWarn, Text: "the clock moved", Job: "3"})
	n.Stopped(errors.New("disk gone"))
	var got []string
	for _, r := range file.Ring.After(0, 100) {
		got = append(got, r.Level+" "+r.Area+" "+string(r.Job)+" "+r.Text)
	}
	want := []string{
		"info sync 7 sync begun", "info sync 7 sync ended", "info sync 7 sync complete: its last gap is closed", "info engine  command", "info schedule 9 schedule ran",
		"warn schedule  ticks skipped", "warn schedule 3 the clock moved", "error engine  engine broke",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The rotation keeps one file back, and readers find both.
func TestLogRotates(t *testing.T) {
	dir := t.TempDir()
	log, file := New(dir, "info")
	log.Info().Msg("old")
	file.size = maxLog + 1
	log.Info().Msg("new")
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{Path(dir): "new", Path(dir) + ".1": "old"} {
		if raw, err := os.ReadFile(path); err != nil || !strings.Contains(string(raw), text) {
			t.Errorf("%s: %q, %v", filepath.Base(path), raw, err)
		}
	}
	s := StoredIn(dir)
	if page := s.Page(engine.LogsQuery{}); len(page.Logs) != 2 || page.Logs[0].Text != "new" {
		t.Errorf("%+v", page)
	}
}

// Every level has its priority, and a record of the journal says all that the line does.
func TestRecordOfTheJournal(t *testing.T) {
	for _, level := range engine.LogLevels() {
		if priorities[level] == 0 {
			t.Errorf("%s has no priority", level)
		}
	}
	p, message, fields := record([]byte(`{"level":"error","area":"jobs","job":"17","err":"no answer","at-host":"a\nb","message":"attempt ended"}`))
	want := []sdnotify.JournalField{{Name: "FARSIGHT_AREA", Value: "jobs"}, {Name: "FARSIGHT_JOB", Value: "17"}, {Name: "FARSIGHT_ERR", Value: "no answer"}, {Name: "FARSIGHT_AT_HOST", Value: "a\nb"}}
	if p != sdnotify.Err || message != `attempt ended job=17 err="no answer" at-host="a\nb"` || !slices.Equal(fields, want) {
		t.Errorf("%d %s %q", p, message, fields)
	}
}

// A link in the place of the log would have us write anywhere.
func TestB14a_TheLogFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	if err := errors.Join(os.WriteFile(elsewhere, nil, 0o600), os.Symlink(elsewhere, Path(dir))); err != nil {
		t.Fatal(err)
	}
	if err := Usable(dir); err == nil || !strings.Contains(err.Error(), Path(dir)) {
		t.Errorf("a start says %v", err)
	}
	log, l := New(dir, "info")
	log.Info().Msg("a line")
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(elsewhere); err != nil || len(text) > 0 {
		t.Errorf("%q was written through the link: %v", text, err)
	}
}
