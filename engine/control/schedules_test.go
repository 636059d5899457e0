package control_test

import (
	"context"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/cron"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/storage"
)

// hourly is one schedule on a store, not running.
func hourly(t *testing.T, db *storage.DB) operation.Schedules {
	t.Helper()
	r, err := cron.New(cron.Options{Store: db, Specs: []cron.Spec{{
		Name: "latest", Expr: "0 */1 * * *", Fire: cron.Insert(func(cron.Tick) []engine.Spec { return nil }),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Load(context.Background()); err != nil {
		t.Fatal(err)
	}
	return r
}

// plan is the schedule as a console lists it.
func (d *desk) plan() engine.ScheduleRow {
	d.t.Helper()
	a, err := d.Find(context.Background(), engine.SchedulesQuery{})
	if err != nil {
		d.t.Fatal(err)
	}
	return a.(engine.SchedulesPage).Schedules[0]
}

// An operator's edit is audited with what it was before, outlives the engine and can be
// taken back.
func TestScheduleIsEditedAuditedAndUndone(t *testing.T) {
	onDesk(t, func(d *desk) {
		edit := engine.Command{Op: engine.OpEditSchedule, Schedule: "latest", Expr: "0 */2 * * *", Zone: "Asia/Seoul", Reason: "fewer calls"}
		try := edit
		try.DryRun = true
		if r := d.do(try); !strings.Contains(r.Text, "Asia/Seoul = ") || r.Audit != 0 || d.plan().Edit.Expr != "" {
			t.Errorf("dry run: %+v, now %+v", r, d.plan())
		}
		r := d.do(edit)
		if !r.Undo || r.Audit == 0 {
			t.Errorf("edited: %+v", r)
		}
		d.off()
		d.on(false)
		row := d.plan()
		if row.Expr != "0 */2 * * *" || row.Zone != "Asia/Seoul" || row.Edit.Reason != "fewer calls" || row.Edit.By.User == "" || row.ConfigExpr != "0 */1 * * *" {
			t.Errorf("after a restart: %+v", row)
		}
		a, err := d.Find(context.Background(), engine.AuditQuery{Seq: r.Audit})
		if err != nil {
			t.Fatal(err)
		}
		e := a.(engine.AuditPage).Entries[0]
		if m := e.Schedule; m == nil || m.Before.Expr != "0 */1 * * *" || m.After.Zone != "Asia/Seoul" || e.Target != "schedule latest" || e.Reason != "fewer calls" {
			t.Errorf("audited: %+v, %+v", e, e.Schedule)
		}
		if u := d.do(engine.Command{Op: engine.OpUndo, Audit: r.Audit}); u.Applied != 1 || u.Undo {
			t.Errorf("undone: %+v", u)
		}
		if row := d.plan(); row.Edit.Expr != "" || row.Expr != row.ConfigExpr {
			t.Errorf("after the undo: %+v", row)
		}
		d.refuses(engine.Command{Op: engine.OpUndo, Audit: r.Audit}, engine.ErrConflict, "cannot be undone any more: schedule latest")
		edit.Expr = "61 * * * *"
		d.refuses(edit, engine.ErrInvalid, "0 to 59")
		p := d.do(engine.Command{Op: engine.OpPauseSchedule, Schedule: "latest"})
		if d.do(engine.Command{Op: engine.OpUndo}); !p.Undo || d.plan().Paused {
			t.Errorf("the undo of a pause: %+v, %+v", p, d.plan())
		}
	})
}
