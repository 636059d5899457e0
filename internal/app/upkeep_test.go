package app

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/keep"
)

// TestServe_IsBackedUpAndPrunedWhileItSyncs: what a script does to a directory goes on
// while an engine works on it, and each copy is sound in itself.
func TestServe_IsBackedUpAndPrunedWhileItSyncs(t *testing.T) {
	t.Parallel()
	who := player("Copy Me#SOCK", 480) // four minutes of more and more matches
	s, dir := slowly(t, who), freshDir(t)
	d := s.serving(t, dir, nil)
	cli := func(args ...string) result { return in(dir, args...).asked(t) }
	stored := func() int {
		return strings.Count(cli("export", "matches").wants(t, exitDone).stdout, `"status":"success"`)
	}
	cli("trigger", who.RiotID, "--platform", "euw1").wants(t, exitDone)
	d.until("the first matches", func() bool { return stored() > 2 })

	before := stored()
	var copies []engine.BackupDone
	for range 2 { // the second one finds months that were copied before, and have grown
		var done engine.BackupDone
		text := cli("backup", "--json").wants(t, exitDone).stdout
		if err := json.Unmarshal([]byte(text), &done); err != nil || !done.Verified || done.Copied == 0 || filepath.Dir(done.Path) != keep.BackupsDir(dir) {
			t.Fatalf("%s: %v", text, err)
		}
		copies = append(copies, done)
		more := stored()
		d.until("more matches", func() bool { return stored() > more })
	}
	for _, c := range copies {
		text := in(c.Path, "check", "--json").asked(t).wants(t, exitDone).stdout
		var r checkReport
		if err := json.Unmarshal([]byte(text), &r); err != nil || !r.Sound || r.Rows["matches"] < before || r.Payloads == 0 {
			t.Errorf("%s: %s, %v; %d matches were stored before", c.Name, text, err, before)
		}
	}
	if list := cli("backup", "--list").wants(t, exitDone).stdout; strings.Count(list, "verified") != 2 {
		t.Errorf("the list: %s", list)
	}

	other := t.TempDir()
	text := command{args: []string{"backup", "--to", "elsewhere", "--no-payloads", "--data-dir", dir}, as: func(cmd *exec.Cmd) { cmd.Dir = other }}.run(t).wants(t, exitDone).stdout
	if !strings.HasPrefix(text, filepath.Join(other, "elsewhere")) {
		t.Errorf("a folder is seen from where the command runs: %s", text)
	}

	var r engine.PruneDone
	text = cli("prune", "--dry-run", "--completed", "1h", "--json").wants(t, exitDone).stdout
	if err := json.Unmarshal([]byte(text), &r); err != nil || r.Completed+r.Failed != 0 {
		t.Errorf("%s: %v", text, err)
	}
	if text := cli("prune").wants(t, exitDone).stdout; !strings.HasPrefix(text, "0 completed and 0 failed jobs were deleted") {
		t.Errorf("prune: %s", text)
	}
	audit := cli("audit", "--json").wants(t, exitDone).stdout
	if strings.Count(audit, `"op":"backup"`) != 3 || strings.Count(audit, `"op":"prune"`) != 1 || !strings.Contains(audit, "socket") {
		t.Errorf("the audit: %s", audit)
	}

	oneSentence(t, cli("check").wants(t, exitHeld).stderr, "is held by", "farsight backup", "farsight check --data-dir")
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	d.wait().wants(t, exitDone)
	cli("check").wants(t, exitDone)
}

// H-8: months are archived by the engine that works on them; state.db stays.
func TestH8_CompactBesideTheEngine(t *testing.T) {
	t.Parallel()
	s, dir := slowly(t, player("Copy Me#SOCK", 4)), filledDir(t, 12)
	d := s.serving(t, dir, nil)
	cli := func(args ...string) result { return in(dir, args...).asked(t) }
	if text := cli("compact", "--dry-run").wants(t, exitDone).stdout; !strings.Contains(text, "12 of 12 payloads to pack, 1 s at most") {
		t.Errorf("a dry run: %s", text)
	}
	var done engine.CompactDone
	text := cli("compact", "--json").wants(t, exitDone).stdout
	if err := json.Unmarshal([]byte(text), &done); err != nil || len(done.Months) != 1 || done.Months[0].Packed != 12 || done.Months[0].After >= done.Months[0].Before || done.StateLeft == "" {
		t.Errorf("%s: %v", text, err)
	}
	if text := cli("compact").wants(t, exitDone).stdout; !strings.Contains(text, "archived already") || !strings.Contains(text, "an engine works on it") {
		t.Errorf("again: %s", text)
	}
	cli("compact", "--state-only").wants(t, exitHeld)
	if text := cli("export", "matches", "--payload").wants(t, exitDone).stdout; strings.Count(text, `"gameDuration"`) != 12 {
		t.Errorf("archived payloads: %s", tail(text, 300))
	}
	cli("schedules", "--run", "compact").wants(t, exitDone)
	d.until("the schedule has run", func() bool {
		return strings.Contains(cli("jobs", "kind:compact", "--all", "--json").wants(t, exitDone).stdout, `"state":"completed"`)
	})
	if text := cli("audit", "--json").wants(t, exitDone).stdout; strings.Count(text, `"op":"compact"`) != 2 {
		t.Errorf("the audit: %s", text)
	}
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	d.wait().wants(t, exitDone)
	cli("check").wants(t, exitDone)
}

// TestUpkeep_SaysWhatStandsInTheWay: the store is not at fault for a folder or a rule
// that cannot be.
func TestUpkeep_SaysWhatStandsInTheWay(t *testing.T) {
	t.Parallel()
	dir := filledDir(t, 3)
	db, err := storage.Open(storage.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	u, file := upkeep{db: &store{DB: db}}, filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		ask  engine.BackupAsk
		code error
		says string
	}{
		{engine.BackupAsk{To: "backup"}, engine.ErrInvalid, "no absolute path"},
		{engine.BackupAsk{Keep: -1}, engine.ErrInvalid, "-1 backups"},
		{engine.BackupAsk{Keep: mostBackups + 1}, engine.ErrInvalid, "1001 backups"},
		{engine.BackupAsk{To: file}, engine.ErrRefused, file},
	} {
		if _, err := u.Backup(t.Context(), c.ask, nil); !errors.Is(err, c.code) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c.ask, err)
		}
	}
	if err := notBackedUp(&storage.ErrHeld{}); !errors.Is(err, engine.ErrRefused) || !strings.Contains(err.Error(), "under way") {
		t.Errorf("two at once: %v", err)
	}
	if err := notBackedUp(&storage.Damaged{Path: "state.db", Why: "page 7"}); !errors.Is(err, engine.ErrBroken) || !strings.Contains(err.Error(), "page 7") {
		t.Errorf("a copy that is not sound: %v", err)
	}
	for _, ask := range []engine.PruneAsk{{}, {KeepFailed: fewestFailed, Completed: -1}} {
		if _, err := u.Prune(t.Context(), &ask, true); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("%+v: %v", ask, err)
		}
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	lost := engine.Problemf(engine.ErrGone, "", "the request was given up")
	if err := leftOr(gone, lost); exitCode(err) != exitInterrupted || exitCode(leftOr(t.Context(), lost)) != exitFailed {
		t.Errorf("an interrupted command: %v", err)
	}
	if _, err := u.Prune(t.Context(), nil, true); err != nil {
		t.Errorf("by the rule of the schedule: %v", err)
	}
}
