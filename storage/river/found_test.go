package river

import (
	"slices"
	"testing"

	"github.com/farsight-console/farsight/internal/pgtest"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/storage/pg"
)

// How River's tables stand is found: none, those of this program, later ones, and what nobody takes up.
func TestHowTheTablesStand(t *testing.T) {
	t.Parallel()
	bare, err := pg.Open(t.Context(), pg.Options{URL: pgtest.Schema(t)})
	must(t, err)
	defer bare.Close()
	if f, err := Find(t.Context(), bare); err != nil || f.Version != 0 || f.Known == 0 {
		t.Errorf("none: %+v, %v", f, err)
	}
	d := newRig(t, made(t), "20:1", sim.FixedLazy, sim.Instant)
	c, err := Open(t.Context(), Options{DB: d.db, Member: "a", Key: func() string { return "fp" }})
	must(t, err)
	defer c.Close()
	do := func(sql string) {
		t.Helper()
		_, err := d.conn.Exec(t.Context(), sql)
		must(t, err)
	}
	const row = "insert into river_job (kind, queue, args, max_attempts) values ('farsight.call', 'call_fp', '{}', 1)"
	do(row)
	f, err := Find(t.Context(), d.db)
	if err != nil || f.Version != f.Known || f.Waiting != 0 || f.Stuck != 0 || len(f.Paused) != 0 {
		t.Errorf("%+v, %v", f, err)
	}
	do(row)
	do("update river_job set scheduled_at = scheduled_at - interval '1 hour'")
	do(row)
	do("update river_job set state = 'running', attempted_at = clock_timestamp() - interval '1 hour' where id = (select max(id) from river_job)")
	do("insert into river_queue (name, created_at, updated_at, paused_at) values ('call_fp', now(), now(), now())")
	do("insert into river_migration (line, version) select 'main', max(version) + 1 from river_migration")
	f, err = Find(t.Context(), d.db)
	if err != nil || f.Version != f.Known+1 || f.Waiting != 2 || f.Stuck != 1 || !slices.Equal(f.Paused, []string{"call_fp"}) {
		t.Errorf("%+v, %v", f, err)
	}
}
