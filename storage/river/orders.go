package river

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/storage/pg"
)

// queueOrders is where the leader is asked for something.
const queueOrders = "farsight"

// order is what somebody at another member asks for.
type order struct{ json.RawMessage }

// Kind is the word for it in River's tables.
func (order) Kind() string { return kindOrder }

// orders carries orders out, in the terms of this member.
type orders struct {
	river.WorkerDefaults[order]
	c *Carrier
}

// Timeout is none: whoever asked for something slow, such as forgetting a player, is told that it is slow.
func (w *orders) Timeout(*river.Job[order]) time.Duration { return -1 }

// Work carries an order out. What is refused is an answer, too.
func (w *orders) Work(ctx context.Context, row *river.Job[order]) error {
	out, err := w.c.opt.Order(ctx, row.Args.RawMessage)
	if err == nil {
		err = river.RecordOutput(ctx, json.RawMessage(out))
	}
	return err
}

// trigger is what another program asks for.
type trigger struct {
	RiotID   string `json:"riot_id"`
	Platform string `json:"platform"`
	Cause    string `json:"cause"`
}

// Kind is the word for it in River's tables.
func (trigger) Kind() string { return kindTrigger }

// triggers starts syncs that other programs ask for.
type triggers struct {
	river.WorkerDefaults[trigger]
	c *Carrier
}

// Work starts a sync. What is refused is not tried again: the row tells why.
func (w *triggers) Work(ctx context.Context, row *river.Job[trigger]) error {
	a := row.Args
	err := w.c.opt.Trigger(ctx, a.RiotID, engine.SyncAsk{Platform: a.Platform, Cause: a.Cause})
	if refusal, ok := errors.AsType[*engine.Problem](err); ok {
		return river.JobCancel(refusal)
	}
	return err
}

const (
	giveOrder = `with given as (
	insert into river_job (kind, queue, args, max_attempts) values ('` + kindOrder + `', '` + queueOrders + `', $1, 1) returning id
) select id, pg_notify(current_schema() || '.river_insert', '{"queue": "` + queueOrders + `"}') from given`
	lookOrder = "select state::text, metadata->'output', coalesce(errors[1]->>'error', '') from river_job where id = $1"
	dropOrder = "delete from river_job where id = $1 and (not $2 or state = 'available')"

	// orderPatience is how long an order waits for somebody who leads; orderLook is between two looks.
	orderPatience = 10 * time.Second
	orderLook     = 25 * time.Millisecond
)

func nobodyLeads() error {
	return engine.Problemf(engine.ErrRefused, "give it again when somebody leads", "nobody leads now who could carry it out")
}

// Give gives the leader an order and waits until it is carried out, whoever leads by then.
func Give(ctx context.Context, db *pg.DB, args []byte) (out []byte, err error) {
	conn, err := db.Connect(ctx)
	if err != nil {
		return nil, err
	}
	ending := context.WithoutCancel(ctx)
	defer func() { _ = conn.Close(ending) }()
	var id int64
	if err := conn.QueryRow(ctx, giveOrder, args).Scan(&id, nil); err != nil {
		if said, ok := errors.AsType[*pgconn.PgError](err); ok && said.Code == "42P01" { // no member has made River's tables yet
			return nil, nobodyLeads()
		}
		return nil, fmt.Errorf("hand an order to the leader: %w", err)
	}
	drop := func(unlessTaken bool) bool {
		done, err := conn.Exec(ending, dropOrder, id, unlessTaken)
		return err == nil && done.RowsAffected() > 0
	}
	for began := time.Now(); ; {
		var state, said string
		if err := conn.QueryRow(ctx, lookOrder, id).Scan(&state, &out, &said); err != nil && !errors.Is(err, pgx.ErrNoRows) && ctx.Err() == nil {
			return nil, fmt.Errorf("read what became of an order: %w", err)
		}
		switch state {
		case "completed":
			drop(false)
			return out, nil
		case "discarded", "cancelled":
			drop(false)
			return nil, engine.Problemf(engine.ErrBroken, "look whether it was carried out before you give it again", "the leader did not finish it: %s", said)
		}
		if wait := time.Since(began) > orderPatience; (wait || ctx.Err() != nil) && drop(true) {
			return nil, nobodyLeads()
		}
		if !await.Pause(ctx, orderLook) {
			return nil, engine.GivenUp()
		}
	}
}

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
