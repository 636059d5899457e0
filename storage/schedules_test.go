package storage

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/cron"
)

func TestP24_ATickIsRecordedOnce(t *testing.T) {
	db := start(t, "")
	tick := func(name string, at time.Time) cron.Tick {
		return cron.Tick{ID: name + "@" + at.Format(time.RFC3339), Schedule: name, Planned: at, At: at}
	}
	record := func(k cron.Tick) (fresh bool) {
		write(t, db, func(tx engine.Tx) (err error) { fresh, err = db.RecordTick(tx, k); return err })
		return fresh
	}
	daily, hourly := tick("daily", noon), tick("hourly", noon)
	if !record(daily) || !record(hourly) || record(daily) {
		t.Error("a tick is not unique")
	}
	for i := range 300 { // twelve days of hourly ticks
		record(tick("hourly", noon.Add(time.Duration(i+1)*time.Hour)))
	}
	read(t, db, func(tx *txn) error {
		n := 0
		for range tx.Rows(tTickIDs, nil) {
			n++
		}
		if n != lastTicks+1 {
			t.Errorf("%d ticks are kept, want the last %d of one schedule and one of the other", n, lastTicks)
		}
		return nil
	})
	if record(daily) || !record(hourly) {
		t.Error("the last tick of a schedule was forgotten, or a very old one was not")
	}
	wantSound(t, db)
}

func TestSchedulesSurvive(t *testing.T) {
	db := start(t, "")
	want := cron.State{
		Name: "latest", Rev: 7, Expr: "0 * * * *", Zone: "Europe/Berlin", Next: noon, AsOf: noon.Add(-time.Hour), Paused: true,
		By: engine.Actor{User: "ana", Via: "cli"}, Since: noon, Reason: "holidays",
		Edit:    engine.ScheduleEdit{Expr: "0 * * * *", Zone: "Europe/Berlin", By: engine.Actor{User: "ana", Via: "cli"}, At: noon, Reason: "nights"},
		Last:    engine.ScheduleTick{ID: "latest@1", Planned: noon, Last: noon, Count: 1, At: noon, Result: engine.TickRan, Job: "j", Jobs: 3},
		Skipped: []engine.ScheduleTick{{Planned: noon, Last: noon, Count: 2, At: noon, Result: engine.TickSkipped, Reason: "x"}},
	}
	read(t, db, func(tx *txn) error {
		if _, err := db.Schedule(tx, "latest"); !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("before the first save: %v", err)
		}
		return nil
	})
	write(t, db, func(tx engine.Tx) error { return db.SaveSchedule(tx, want) })
	read(t, db, func(tx *txn) error {
		got, err := db.Schedule(tx, "latest")
		must(t, err)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
		return nil
	})
	wantSound(t, db)
}
