package cron

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// edit gives the schedule of hourly another plan.
func (b *bench) edit(r *Runner, expr, zone string, dry bool) engine.Receipt {
	b.t.Helper()
	got, err := r.Edit(b.t.Context(), "latest", engine.ScheduleEdit{Expr: expr, Zone: zone, By: ana, Reason: "night shift"}, dry)
	if err != nil {
		b.t.Fatalf("edit to %q: %v", expr, err)
	}
	return got
}

// An edit holds at once, over restarts and against another configuration, and an
// empty expression takes it back.
func TestSchedules_EditWinsOverTheConfiguration(t *testing.T) {
	in2026(t, func(b *bench) {
		r := b.start(hourly(All, 50))
		got := b.edit(r, " */20  * * * *", "", false)
		if got.Applied != 1 || got.Schedule == nil || got.Text != "latest: */20 * * * * UTC (was 0 */1 * * * UTC)" {
			t.Fatalf("edited: %+v", got)
		}
		b.pass(15 * time.Minute) // 12:25
		b.wantJobs("latest@2026-03-02T12:20:00Z")
		b.crash()
		b.pass(time.Minute)
		spec := hourly(All, 50)
		spec.Expr = "45 * * * *"
		r = b.start(spec)
		b.pass(20 * time.Minute) // 12:46
		b.wantJobs("latest@2026-03-02T12:20:00Z", "latest@2026-03-02T12:40:00Z")
		row := r.List()[0]
		if row.Expr != "*/20 * * * *" || row.ConfigExpr != "45 * * * *" || row.ConfigZone != "UTC" || row.Edit.By != ana || row.Edit.Reason != "night shift" {
			t.Errorf("row: %+v", row)
		}
		if got := b.edit(r, "", "", false); got.Applied != 1 || !strings.Contains(got.Text, "as the configuration says again: 45 * * * * UTC") {
			t.Errorf("reset: %+v", got)
		}
		b.pass(time.Hour) // 13:46
		b.wantJobs("latest@2026-03-02T12:20:00Z", "latest@2026-03-02T12:40:00Z", "latest@2026-03-02T13:45:00Z")
		if row := r.List()[0]; row.Edit.Expr != "" || row.Expr != row.ConfigExpr {
			t.Errorf("after the reset: %+v", row)
		}
	})
}

// A tick knows how long it is from one run to the next, by the plan in force: also by
// an operator's, and when it is run by hand.
func TestATickKnowsItsInterval(t *testing.T) {
	in2026(t, func(b *bench) { // Monday 12:10
		var seen []time.Duration
		spec := hourly(Skip, 0)
		fire := spec.Fire
		spec.Fire = func(tx engine.Tx, t Tick) (Fired, error) {
			seen = append(seen, t.Every)
			return fire(tx, t)
		}
		r := b.start(spec)
		b.pass(50 * time.Minute) // 13:00
		b.edit(r, "*/20 * * * *", "", false)
		b.pass(20 * time.Minute) // 13:20
		if _, err := r.RunNow(t.Context(), "latest", ana); err != nil {
			t.Fatal(err)
		}
		if want := []time.Duration{time.Hour, 20 * time.Minute, 20 * time.Minute}; !slices.Equal(seen, want) {
			t.Errorf("the ticks were told %v, want %v", seen, want)
		}
	})
}

// A dry run tells the next three runs in the schedule's zone and in UTC.
func TestSchedules_EditTriedFirst(t *testing.T) {
	in2026(t, func(b *bench) {
		r := b.start(hourly(Skip, 0))
		writes := b.store.writes
		got := b.edit(r, "30 2 * * *", "Asia/Seoul", true)
		want := "would be: latest: 30 2 * * * Asia/Seoul (was 0 */1 * * * UTC); " +
			"next Tue 3 Mar 02:30, Wed 4 Mar 02:30, Thu 5 Mar 02:30 Asia/Seoul = Mon 2 Mar 17:30, Tue 3 Mar 17:30, Wed 4 Mar 17:30 UTC"
		if got.Text != want || got.Applied != 0 || len(got.Runs) != 3 || got.Zone != "Asia/Seoul" {
			t.Errorf("dry run: %+v", got)
		}
		if b.store.writes != writes || r.List()[0].Edit.Expr != "" {
			t.Error("a dry run has changed something")
		}
		for _, same := range []string{"0 */1 * * *", ""} {
			if got := b.edit(r, same, "UTC", false); !got.Nothing {
				t.Errorf("what holds already, %q: %+v", same, got)
			}
		}
	})
}

func TestSchedules_EditRefusesWhatCannotBeRead(t *testing.T) {
	in2026(t, func(b *bench) {
		r := b.start(hourly(Skip, 0))
		for _, c := range []struct{ expr, zone, want string }{
			{"61 * * * *", "", `"61" in "61 * * * *" is no minute`},
			{"0 * * *", "", "has 4 fields, not five"},
			{"0 0 31 2 *", "", "never comes"},
			{"@often", "", `"@often" is no schedule`},
			{"0 * * * *", "Mars/Olympus", `"Mars/Olympus" is no time zone`},
		} {
			_, err := r.Edit(t.Context(), "latest", engine.ScheduleEdit{Expr: c.expr, Zone: c.zone}, false)
			if !errors.Is(err, engine.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q %q: %v, want %q", c.expr, c.zone, err, c.want)
			}
		}
		if _, err := r.Edit(t.Context(), "nightly", engine.ScheduleEdit{Expr: "@daily"}, true); !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("unknown schedule: %v", err)
		}
	})
}

// A command on a schedule can be taken back until the next one of its kind.
func TestI11_UndoOfASchedule(t *testing.T) {
	in2026(t, func(b *bench) {
		r := b.start(hourly(Skip, 0))
		first := b.edit(r, "30 * * * *", "", false).Schedule
		b.pass(time.Second)
		second := b.edit(r, "40 * * * *", "", false).Schedule
		if _, err := r.Undo(t.Context(), *first, false); !errors.Is(err, engine.ErrConflict) {
			t.Errorf("undo of the first of two edits: %v", err)
		}
		paused, err := r.Pause(t.Context(), "latest", ana, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []*engine.ScheduleMove{second, first, paused.Schedule} {
			if got, err := r.Undo(t.Context(), *m, true); err != nil || got.Applied != 0 || !strings.HasPrefix(got.Text, "would be: ") {
				t.Errorf("try to undo %+v: %+v, %v", m, got, err)
			}
			if got, err := r.Undo(t.Context(), *m, false); err != nil || got.Applied != 1 {
				t.Errorf("undo of %+v: %+v, %v", m, got, err)
			}
		}
		if row := r.List()[0]; row.Paused || row.Expr != "0 */1 * * *" || row.Edit.Expr != "" {
			t.Errorf("all undone: %+v", row)
		}
		b.pass(50 * time.Minute)
		b.wantJobs("latest@2026-03-02T13:00:00Z")
	})
}

// Who takes a resume back does not pause: the pause is whose it was.
func TestI11_UndoOfAResumeRestoresThePause(t *testing.T) {
	in2026(t, func(b *bench) {
		r := b.start(hourly(Skip, 0))
		if _, err := r.Pause(t.Context(), "latest", ana, "patch day"); err != nil {
			t.Fatal(err)
		}
		was := r.List()[0]
		b.pass(time.Minute)
		resumed, err := r.Resume(t.Context(), "latest", engine.Actor{User: "bo"}, "over")
		if err != nil {
			t.Fatal(err)
		}
		b.pass(time.Minute)
		if _, err := r.Undo(t.Context(), *resumed.Schedule, false); err != nil {
			t.Fatal(err)
		}
		if row := r.List()[0]; !row.Paused || row.By != ana || row.Reason != "patch day" || !row.Since.Equal(was.Since) {
			t.Errorf("paused again: %+v, was %+v", row, was)
		}
	})
}

// An edit whose zone this machine does not know is told, and the configuration holds.
func TestSchedules_EditThatCannotBeReadHere(t *testing.T) {
	in2026(t, func(b *bench) {
		b.store.rows.states["latest"] = State{Name: "latest", Edit: engine.ScheduleEdit{Expr: "5 * * * *", Zone: "Mars/Olympus", By: ana}}
		b.start(hourly(Skip, 0))
		b.pass(51 * time.Minute)
		b.wantJobs("latest@2026-03-02T13:00:00Z")
		if len(b.notes) != 1 || !strings.Contains(b.notes[0], "the edit of ana cannot be read here") {
			t.Errorf("told %q", b.notes)
		}
	})
}
