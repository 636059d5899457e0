package river

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/farsight-console/farsight/storage/pg"
)

// Found is how River's tables stand.
type Found struct {
	Version, Known int      // of the tables, 0 = there are none; and the latest that this program knows
	Paused         []string // queues
	Waiting        int      // rows that nobody has taken up for Late
	Stuck          int      // rows that are under way for longer, and that River has not cleared
	Late           time.Duration
}

// late is after how long a row that waits, or is under way, is worth a word.
const late = 5 * time.Minute

const (
	selectThere = `select to_regclass('river_job') is not null
	and to_regclass('river_migration') is not null and to_regclass('river_queue') is not null`
	selectVersion = "select coalesce(max(version), 0) from river_migration where line = 'main'"
	selectPaused  = "select name from river_queue where paused_at is not null order by name"
	selectLate    = `select count(*) filter (where state = 'available' and scheduled_at < clock_timestamp() - $1::interval),
	count(*) filter (where state = 'running' and attempted_at < clock_timestamp() - $1::interval)
from river_job where kind in ('` + kindCall + `', '` + kindOrder + `', '` + kindTrigger + `') and state in ('available', 'running')`
)

// Find looks at River's tables beside a store, and changes nothing.
func Find(ctx context.Context, db *pg.DB) (f Found, err error) {
	m, err := rivermigrate.New(riverpgxv5.New(nil), &rivermigrate.Config{Schema: db.Schema()})
	if err != nil {
		return f, fmt.Errorf("what River's tables should be: %w", err)
	}
	all := m.AllVersions()
	f.Known, f.Late = all[len(all)-1].Version, late
	err = db.Ask(ctx, func(tx pgx.Tx) error { return f.read(ctx, tx) })
	return f, err
}

func (f *Found) read(ctx context.Context, tx pgx.Tx) error {
	var there bool
	if err := tx.QueryRow(ctx, selectThere).Scan(&there); err != nil || !there {
		return err
	}
	if err := tx.QueryRow(ctx, selectVersion).Scan(&f.Version); err != nil {
		return err
	}
	if err := tx.QueryRow(ctx, selectLate, late).Scan(&f.Waiting, &f.Stuck); err != nil {
		return err
	}
	rows, err := tx.Query(ctx, selectPaused)
	if err == nil {
		f.Paused, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	return err
}
