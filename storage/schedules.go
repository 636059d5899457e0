package storage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/cron"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

var _ cron.Store = (*DB)(nil)

// How long ticks are kept: so long, and the last ones of a schedule for longer.
const (
	keepTicks = 48 * time.Hour
	lastTicks = 100
)

// Schedule gives a schedule's state; engine.ErrNotFound before the first save.
func (db *DB) Schedule(tx engine.Tx, name string) (s cron.State, err error) {
	k := []byte(name)
	d, ok, err := own(tx).get(tSchedules, k, fSchedule)
	if err != nil {
		return s, err
	}
	if !ok {
		return s, fmt.Errorf("schedule %q: %w", name, engine.ErrNotFound)
	}
	if err := json.Unmarshal(d.Bytes(), &s); err != nil {
		return s, tSchedules.corrupt(k, err)
	}
	return s, tSchedules.done(k, d)
}

// SaveSchedule stores a schedule's state. There are a handful of them and only people read the rest, so its body is JSON.
func (db *DB) SaveSchedule(tx engine.Tx, s cron.State) error {
	b, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("state of schedule %s: %w", s.Name, err)
	}
	e := rec.NewEnc(fSchedule, len(b)+4)
	e.Bytes(b)
	return own(tx).put(tSchedules, []byte(s.Name), e)
}

// RecordTick stores a tick under its id, which is unique for ever; fresh is false when it is there already. Ticks go that
// are 48 hours older than this one and not among the last hundred of their schedule.
func (db *DB) RecordTick(tx engine.Tx, t cron.Tick) (fresh bool, err error) {
	own := own(tx)
	if own.has(tTickIDs, []byte(t.ID)) {
		return false, nil
	}
	err = errors.Join(
		own.putTime(tTickIDs, []byte(t.ID), t.At),
		own.mark(tTicks, tickKey(t.Schedule, t.At, t.ID)),
		own.dropTicks(t.Schedule, t.At.Add(-keepTicks)))
	return err == nil, err
}

func tickKey(schedule string, at time.Time, id string) []byte {
	return key.AppendString(key.AppendTime(key.Strings(schedule), at), id)
}

func (t *Tx) dropTicks(schedule string, before time.Time) error {
	var old [][]byte
	seen := 0
	for r := range t.rowsBack(tTicks, key.Strings(schedule), nil) {
		if seen++; seen > lastTicks && bytes.Compare(r.k, key.AppendTime(key.Strings(schedule), before)) < 0 {
			old = append(old, bytes.Clone(r.k))
		}
	}
	for _, k := range old {
		read := key.Read(k)
		_, _ = read.String(), read.Time()
		id := read.String()
		if err := read.Done(); err != nil {
			return tTicks.corrupt(k, err)
		}
		if err := errors.Join(t.remove(tTicks, k), t.remove(tTickIDs, []byte(id))); err != nil {
			return err
		}
	}
	return nil
}
