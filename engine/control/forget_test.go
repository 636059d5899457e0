package control_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/control"
	"github.com/farsight-console/farsight/engine/league"
)

const anaID = "01JD0000000000000000000001"

func (r *rig) account(t *testing.T, id, name, platform string) {
	t.Helper()
	err := r.db.Write(t.Context(), func(tx engine.Tx) error {
		return r.db.SaveAccount(tx, league.Account{ID: id, GameName: name, TagLine: "EUW", Platform: platform, Status: engine.SyncNever.String()})
	})
	if err != nil {
		t.Fatal(err)
	}
}

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
	if account != anaID {
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
	r.account(t, anaID, "Ana", "euw1")
	do := func(c engine.Command) (engine.Receipt, error) {
		c.Op, c.By, c.Reason = engine.OpForget, ana, "they asked"
		return r.Do(t.Context(), c)
	}
	got, err := do(engine.Command{Account: "Ana#EUW", DryRun: true})
	if err != nil || got.Would != 1 || got.Applied != 0 || e.asked != "" || got.Text != "7 matches (2 shared with other accounts stay), 9 jobs, 1 report and 3.1 MB of payloads would be deleted" {
		t.Errorf("a dry run: %+v, %v", got, err)
	}
	got, err = do(engine.Command{Account: "Ana#EUW"})
	if err != nil || got.Applied != 1 || got.Undo || e.asked != anaID || e.by != ana || !strings.Contains(got.Text, "were deleted") || !strings.Contains(got.Text, "backups") {
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
	r.account(t, anaID, "Ana", "euw1")
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

// Of two accounts of one name, the one on the platform that is told goes, and none if none
// is told or it is on another.
func TestForgetActsOnThePlatformItIsTold(t *testing.T) {
	e := &eraser{}
	r := newRigWith(t, func(o *control.Options) { o.Forget = e })
	r.account(t, "01JD0000000000000000000000", "Ana", "na1")
	r.account(t, anaID, "Ana", "euw1")
	r.account(t, "01JD0000000000000000000002", "Anabel", "kr")
	forget := func(account, platform string) error {
		e.asked = ""
		_, err := r.Do(t.Context(), engine.Command{Op: engine.OpForget, Account: account, Sync: engine.SyncAsk{Platform: platform}, By: ana})
		return err
	}
	if err := forget("ana#euw", "euw1"); err != nil || e.asked != anaID {
		t.Errorf("%q was forgotten, %v", e.asked, err)
	}
	if err := forget(anaID, "kr"); err != nil || e.asked != anaID { // an id says it all
		t.Errorf("%q was forgotten, %v", e.asked, err)
	}
	for platform, says := range map[string]string{
		"":    "Ana#EUW is stored on na1 and euw1: say which with --platform",
		"kr":  "Ana#EUW is not stored on kr, but on na1 and euw1: name that platform",
		"tw2": "Ana#EUW is not stored on tw2, but on na1 and euw1: name that platform",
	} {
		if err := forget("Ana#EUW", platform); err == nil || err.Error() != says || e.asked != "" {
			t.Errorf("on %q: %v, and %q was forgotten", platform, err, e.asked)
		}
	}
}
