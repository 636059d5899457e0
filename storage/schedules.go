package storage

import (
	"bytes"
	"errors"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/cron"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

var _ cron.Store = (*DB)(nil)

var (
	// There are a handful of schedules, and only people read most of it, so a record's body is
	// JSON.
	tSchedules = collection.Declare(
		collection.New("schedules", "name", "its next run, pause, edit, last ticks"),
		collection.Records[cron.State]{Format: 31, Fields: func(c *rec.Coder, s *cron.State) { c.JSON(s) }})
	tTicks   = collection.New("ticks", "str schedule, time, str id", "marker: a run that was planned and recorded").Grows()
	tTickIDs = collection.New("tick_ids", "tick id", "when it was recorded")
)

// How long ticks are kept: so long, and the last ones of a schedule for longer.
const (
	keepTicks = 48 * time.Hour
	lastTicks = 100
)

// Schedule gives a schedule's state; engine.ErrNotFound before the first save.
func (db *DB) Schedule(tx engine.Tx, name string) (cron.State, error) {
	return tSchedules.Want(own(tx), []byte(name), "schedule %q", name)
}

// SaveSchedule stores a schedule's state.
func (db *DB) SaveSchedule(tx engine.Tx, s cron.State) error {
	return tSchedules.Put(own(tx), []byte(s.Name), &s)
}

// RecordTick stores a tick under its id, which is unique for ever; fresh is false when it is there
// already. Ticks go that are 48 hours older than this one and not among the last hundred of their
// schedule.
func (db *DB) RecordTick(tx engine.Tx, t cron.Tick) (fresh bool, err error) {
	own := own(tx)
	// The id is made of schedule and instant, so that a start after a crash plans the same tick
	// under the same id.
	if own.Has(tTickIDs, []byte(t.ID)) {
		return false, nil
	}
	err = errors.Join(
		own.PutInstant(tTickIDs, []byte(t.ID), t.At),
		own.Mark(tTicks, key.AppendString(key.AppendTime(key.Strings(t.Schedule), t.At), t.ID)),
		own.dropTicks(t.Schedule, t.At.Add(-keepTicks)))
	return err == nil, err
}

func (t *txn) dropTicks(schedule string, before time.Time) error {
	var old [][]byte
	seen, first := 0, key.AppendTime(key.Strings(schedule), before)
	for r := range t.RowsBack(tTicks, key.Strings(schedule), nil) {
		if seen++; seen > lastTicks && bytes.Compare(r.Key, first) < 0 {
			old = append(old, bytes.Clone(r.Key))
		}
	}
	// The id ends the key, behind the schedule's name and the time.
	for _, k := range old {
		read := key.Read(k)
		_, _ = read.String(), read.Time()
		id := read.String()
		if err := read.Done(); err != nil {
			return tTicks.Corrupt(k, err)
		}
		if err := errors.Join(t.Remove(tTicks, k), t.Remove(tTickIDs, []byte(id))); err != nil {
			return err
		}
	}
	return nil
}
