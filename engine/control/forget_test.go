package control_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/control"
)

// eraser is a store whose account has so many live jobs.
type eraser struct {
	jobs      []engine.Job
	asked     string
	by        engine.Actor
	cancelled int
	audit     uint64
	fails     error
}

func (e *eraser) LiveJobsOf(_ context.Context, account string) ([]engine.Job, error) {
	if account != "Ana#EUW" {
		return nil, engine.ErrNotFound
	}
	return e.jobs, nil
}

func (e *eraser) WouldForget(context.Context, string) (engine.ForgetDone, error) {
	return engine.ForgetDone{Mask: "0123456789abcdef", Matches: 7, Shared: 2, Jobs: 9, Cancelled: len(e.jobs), Reports: 1, Bytes: 3 << 20}, nil
}

func (e *eraser) Forget(_ context.Context, account string, by engine.Actor, _ string, cancelled int) (engine.ForgetDone, uint64, error) {
	e.asked, e.by, e.cancelled = account, by, cancelled
	return engine.ForgetDone{Mask: "0123456789abcdef", Matches: 7, Shared: 1, Jobs: 9, Cancelled: cancelled, Reports: 1, Bytes: 3 << 20}, e.audit, e.fails
}

// What is deleted is said before and after. The store writes the entry of what it did; that of a failure names nobody.
func TestForgetNamesNobodyAfterwards(t *testing.T) {
	e := &eraser{audit: 41}
	r := newRigWith(t, func(o *control.Options) { o.Forget = e })
	do := func(c engine.Command) (engine.Receipt, error) {
		c.Op, c.By, c.Reason = engine.OpForget, ana, "they asked"
		return r.Do(t.Context(), c)
	}
	got, err := do(engine.Command{Account: "Ana#EUW", DryRun: true})
	if err != nil || got.Would != 1 || got.Applied != 0 || e.asked != "" || got.Text != "7 matches (2 shared with other accounts stay), 9 jobs, 1 report and 3.0 MiB of payloads would be deleted" {
		t.Errorf("a dry run: %+v, %v", got, err)
	}
	got, err = do(engine.Command{Account: "Ana#EUW"})
	if err != nil || got.Applied != 1 || got.Undo || e.asked != "Ana#EUW" || e.by != ana || !strings.Contains(got.Text, "were deleted") || !strings.Contains(got.Text, "backups") {
		t.Errorf("%+v, %v", got, err)
	}
	if all, err := r.db.Audit(t.Context(), 10); len(all) > 0 || err != nil || got.Audit != e.audit {
		t.Errorf("entry %d, and besides %+v %v", got.Audit, all, err)
	}
	for account, want := range map[string]error{"": engine.ErrInvalid, "Nobody#EUW": engine.ErrNotFound} {
		if _, err := do(engine.Command{Account: account}); !errors.Is(err, want) {
			t.Errorf("%q: %v", account, err)
		}
		if entry := r.entry(t, engine.OpForget); strings.Contains(entry.Target+entry.Result, "Nobody") {
			t.Errorf("the audit says %+v", entry)
		}
	}
	e.fails = errors.New("the disk is full")
	if _, err := do(engine.Command{Account: "Ana#EUW"}); err == nil {
		t.Error("a failure counts as done")
	}
	if entry := r.entry(t, engine.OpForget); entry.Target != "account 0123456789abcdef…" || entry.Reason != "they asked" || !strings.Contains(entry.Result, "the disk is full") || entry.Applied != 0 {
		t.Errorf("the audit says %+v", entry)
	}
}

// While a job of the account runs nothing is cancelled and nothing deleted.
func TestForgetIsRefusedWhileAJobRuns(t *testing.T) {
	e := &eraser{jobs: []engine.Job{{ID: "a1", State: engine.Retryable}, {ID: "a2", State: engine.Running}}}
	r := newRigWith(t, func(o *control.Options) { o.Forget = e })
	for _, dry := range []bool{true, false} {
		_, err := r.Do(t.Context(), engine.Command{Op: engine.OpForget, Account: "Ana#EUW", By: ana, DryRun: dry})
		if !errors.Is(err, engine.ErrRefused) || !strings.Contains(err.Error(), "1 job is running") || !strings.Contains(err.Error(), "cancel its sync first") {
			t.Errorf("%v", err)
		}
	}
	if e.asked != "" {
		t.Error("it was deleted all the same")
	}
}

func TestNothingIsForgottenWhereNobodyCan(t *testing.T) {
	r := newRig(t)
	if _, err := r.Do(t.Context(), engine.Command{Op: engine.OpForget, Account: "Ana#EUW", By: ana}); !errors.Is(err, engine.ErrRefused) {
		t.Errorf("%v", err)
	}
}
