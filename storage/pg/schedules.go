package pg

import (
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/cron"
)

var _ cron.Store = (*DB)(nil)

// recurring is a schedule as a row. There are a handful, and only people read most of it.
type recurring struct {
	name  string
	state cron.State
}

var tSchedules = declare("fs_schedule", "name", func(s *recurring) []column {
	return []column{{"name", (*text)(&s.name)}, {"state", &s.state}}
})

// Schedule gives a schedule's state; engine.ErrNotFound before the first save.
func (db *DB) Schedule(tx engine.Tx, name string) (cron.State, error) {
	t := own(tx)
	s, err := tSchedules.need(t, fmt.Sprintf("schedule %q", name), (*text)(&name))
	return s.state, err
}

// SaveSchedule stores a schedule's state.
func (db *DB) SaveSchedule(tx engine.Tx, s cron.State) error {
	tSchedules.put(own(tx), recurring{s.Name, s})
	return nil
}

// How long ticks are kept: so long, and the last hundred of a schedule for longer.
const (
	keepTicks = 48 * time.Hour

	dropTicks = `delete from fs_tick where schedule = $1 and at < $2 and id not in (
	select id from fs_tick where schedule = $1 order by at desc, id desc limit 100)`
)

// RecordTick stores a tick under its id, which is unique for ever; fresh is false when it is
// there already. Ticks go that are 48 hours older than this one and not among the last hundred
// of their schedule.
func (db *DB) RecordTick(tx engine.Tx, tick cron.Tick) (fresh bool, err error) {
	t := own(tx)
	t.dirty = true
	_, fresh, err = value[string](t, "insert into fs_tick (id, schedule, at) values ($1, $2, $3) on conflict do nothing returning id",
		(*text)(&tick.ID), (*text)(&tick.Schedule), (*instant)(&tick.At))
	if fresh {
		before := instant(tick.At.Add(-keepTicks))
		t.exec(dropTicks, (*text)(&tick.Schedule), &before)
	}
	return fresh, err
}
