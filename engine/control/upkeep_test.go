package control_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/control"
)

// caretaker is an Upkeep that takes until it is let go.
type caretaker struct {
	asked  engine.BackupAsk
	rule   *engine.PruneAsk
	dry    bool
	fails  error
	begun  chan struct{} // a backup is under way until its caller goes; nil = it is done at once
	failed map[string]string

	compact engine.CompactAsk
}

func (u *caretaker) Backup(ctx context.Context, ask engine.BackupAsk, tell func(done, total int64)) (engine.BackupDone, error) {
	u.asked = ask
	if u.begun != nil {
		tell(3, 7)
		close(u.begun)
		<-ctx.Done()
		return engine.BackupDone{}, context.Cause(ctx)
	}
	return engine.BackupDone{Path: "/kept/1", Verified: true, Copied: 7, Failed: u.failed}, u.fails
}

func (u *caretaker) Compact(_ context.Context, ask engine.CompactAsk, dry bool, _ func(done, total int64)) (engine.CompactDone, error) {
	u.compact, u.dry = ask, dry
	return engine.CompactDone{Months: []engine.ArchivedMonth{{Month: "2026-10", Packed: 7, Before: 300, After: 100}}}, u.fails
}

func (u *caretaker) Prune(_ context.Context, ask *engine.PruneAsk, dry bool) (engine.PruneDone, error) {
	u.rule, u.dry = ask, dry
	return engine.PruneDone{Completed: 3, Failed: 2, Spared: 1}, u.fails
}

// entry is the newest line of the audit.
func (r *rig) entry(t *testing.T, op engine.Op) engine.AuditEntry {
	t.Helper()
	all, err := r.db.Audit(t.Context(), 100)
	if err != nil || len(all) == 0 {
		t.Fatalf("the audit: %v, %v", all, err)
	}
	newest := all[0]
	for _, e := range all {
		if e.Seq > newest.Seq {
			newest = e
		}
	}
	if newest.Op != op || newest.By != ana || newest.At.IsZero() {
		t.Errorf("the audit says %+v", newest)
	}
	return newest
}

func TestUpkeepByCommandStandsInTheAudit(t *testing.T) {
	u := &caretaker{}
	r := newRigWith(t, func(o *control.Options) { o.Upkeep = u })
	do := func(c engine.Command) (engine.Receipt, error) {
		c.By, c.Reason = ana, "because"
		return r.Do(t.Context(), c)
	}
	got, err := do(engine.Command{Op: engine.OpBackup, Backup: &engine.BackupAsk{To: "/kept", Keep: 3}})
	if err != nil || got.Backup == nil || got.Backup.Path != "/kept/1" || got.Applied != 1 || u.asked.To != "/kept" || u.asked.Keep != 3 {
		t.Errorf("%+v, %v", got, err)
	}
	if e := r.entry(t, engine.OpBackup); e.Seq != got.Audit || e.Target != "data directory" || !strings.Contains(e.Result, "/kept/1") || e.Reason != "because" {
		t.Errorf("the audit says %+v", e)
	}
	u.failed = map[string]string{"2026-10": "page 7"}
	if got, err := do(engine.Command{Op: engine.OpBackup}); err != nil || !strings.Contains(got.Text, "1 months of payloads have no new copy") || u.asked != (engine.BackupAsk{}) {
		t.Errorf("a month that is damaged: %+v, %v", got, err)
	}

	rule := engine.PruneAsk{Completed: time.Hour, KeepFailed: 100}
	got, err = do(engine.Command{Op: engine.OpPrune, Prune: &rule})
	if err != nil || got.Prune == nil || got.Matched != 6 || got.Applied != 5 || got.Would != 0 || u.rule.Completed != time.Hour || u.dry {
		t.Errorf("%+v, %v", got, err)
	}
	if e := r.entry(t, engine.OpPrune); e.Target != "jobs" || e.Matched != 6 || e.Applied != 5 || !strings.HasPrefix(e.Result, "3 completed and 2 failed jobs were deleted") {
		t.Errorf("the audit says %+v", e)
	}
	seq := r.entry(t, engine.OpPrune).Seq
	if got, err = do(engine.Command{Op: engine.OpPrune, DryRun: true}); err != nil || got.Would != 5 || got.Applied != 0 || !u.dry || u.rule != nil {
		t.Errorf("a dry run: %+v, %v", got, err)
	}
	u.asked.To = "untouched"
	if got, err = do(engine.Command{Op: engine.OpBackup, DryRun: true}); err != nil || got.Applied != 0 || got.Text == "" || u.asked.To != "untouched" {
		t.Errorf("a dry run: %+v, %v", got, err)
	}
	if r.entry(t, engine.OpPrune).Seq != seq {
		t.Error("a dry run stands in the audit")
	}

	got, err = do(engine.Command{Op: engine.OpCompact, Compact: &engine.CompactAsk{Months: []string{"2026-10"}, Workers: 2}})
	if err != nil || got.Compact == nil || got.Applied != 1 || u.dry || len(u.compact.Months) != 1 || u.compact.Workers != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	if e := r.entry(t, engine.OpCompact); e.Target != "closed months" || e.Result != "7 payloads of 1 month packed: 300 B -> 100 B" {
		t.Errorf("the audit says %+v", e)
	}
	if got, err = do(engine.Command{Op: engine.OpCompact, DryRun: true}); err != nil || got.Applied != 0 || !u.dry || got.Text != "7 payloads of 1 month would be packed, of 300 B" {
		t.Errorf("a dry run: %+v, %v", got, err)
	}

	u.fails = engine.Problemf(engine.ErrRefused, "", "the disk is full")
	for _, op := range []engine.Op{engine.OpBackup, engine.OpPrune, engine.OpCompact} {
		if _, err := do(engine.Command{Op: op}); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("%s: %v", op, err)
		}
		if e := r.entry(t, op); !strings.Contains(e.Result, "the disk is full") || map[engine.Op]int{engine.OpPrune: 5, engine.OpCompact: 1}[op] != e.Applied {
			t.Errorf("the audit says %+v", e)
		}
	}
}

// Whoever asks is told how far a backup is; a caller who leaves ends it, and that is
// written down all the same.
func TestABackupEndsWithItsCaller(t *testing.T) {
	u := &caretaker{begun: make(chan struct{})}
	r := newRigWith(t, func(o *control.Options) { o.Upkeep = u })
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		defer leave()
		<-u.begun
		a, err := r.Find(ctx, engine.UpkeepQuery{})
		if got, _ := a.(engine.UpkeepAnswer); err != nil || len(got.Running) != 1 || got.Running[0].Done != 3 || got.Running[0].Total != 7 || got.Running[0].By != ana {
			t.Errorf("under way: %+v, %v", a, err)
		}
	}()
	if _, err := r.Do(ctx, engine.Command{Op: engine.OpBackup, By: ana}); !errors.Is(err, engine.ErrGone) {
		t.Errorf("%v", err)
	}
	if a, err := r.Find(t.Context(), engine.UpkeepQuery{}); err != nil || len(a.(engine.UpkeepAnswer).Running) != 0 {
		t.Errorf("afterwards: %+v, %v", a, err)
	}
	if e := r.entry(t, engine.OpBackup); !strings.Contains(e.Result, "given up") || e.Applied != 0 {
		t.Errorf("the audit says %+v", e)
	}
}

func TestAStoreThatNobodyLooksAfterIsLeftAlone(t *testing.T) {
	r := newRig(t)
	for _, op := range []engine.Op{engine.OpBackup, engine.OpPrune, engine.OpCompact} {
		if _, err := r.Do(t.Context(), engine.Command{Op: op, By: ana}); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("%s: %v", op, err)
		}
	}
}
