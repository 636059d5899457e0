package pg

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/storage/internal/both"
)

// A schema takes the place of another store: all that is stored there is copied, table by table, in
// chunks. Each is one transaction, which also notes how far the copy is, in a table of its own:
//
//	 place
//	--------------------------------------------------------------------------------------
//	 {"from": "/var/lib/farsight", "at": "matches", "after": "RVVXMV83", "tables": {…}, …}
//
// So a copy that was cut off goes on where it stopped. While the table is there nobody else opens
// the schema; the other store is marked before the table goes, so that never both can be used.

// source is the store whose place is taken. Nothing in it changes meanwhile.
// storage.Handover is the only one. It is an interface so that this package does not need the
// bbolt store, and its tests can hand over what no store would.
type source interface {
	Name() string
	// Version tells one state of it from all others.
	Version(ctx context.Context) (string, error)
	Numbers(ctx context.Context) (both.Numbers, error)
	Collections(ctx context.Context) ([]both.Collection, error)
	// Each hands over the records of a collection that come after a key (nil = all), row by row,
	// until more says no; it gives the key of the last row, nil when there was none.
	Each(ctx context.Context, collection string, after []byte, take func(v any), more func(size int) bool) (last []byte, err error)
	// Complete proves that nothing stays behind, by the rows that each collection has handed over.
	Complete(ctx context.Context, handed map[string]int64) error
	// Leave marks it: nobody opens it any more.
	Leave(to string) error
}

// progress tells how much of a step is done: of Copying in bytes of the source, of comparing in rows.
type progress func(step string, done, total int64)

// The steps of a TakeOver.
const (
	Copying   = "copy"
	comparing = "compare"
)

// Taken is what was copied, or would be.
type Taken struct {
	// nothing was written: the sizes are those of the source
	DryRun   bool          `json:"dry_run,omitempty"`
	From     string        `json:"from"`
	To       string        `json:"to"`
	Rows     int64         `json:"rows"`  // of the source's tables
	Bytes    int64         `json:"bytes"` // of those rows, as the source stores them
	Payloads int64         `json:"payloads"`
	Resumed  bool          `json:"resumed,omitempty"` // an earlier copy was gone on with
	Took     time.Duration `json:"took_ns"`           // of a dry run: about how long it would take
}

const (
	movingTable = "fs_moving"
	makeMoving  = "create table " + movingTable + " (place json not null)"
	makeTaken   = "create table " + takenAttempts + " (like fs_attempt including identity)"
	putMoving   = "update " + movingTable + " set place = $1"

	// chunkBytes and chunkRows bound one transaction.
	// 8 MiB: large enough for COPY to run at the server's pace, and small enough for the bar to
	// move and for memory not to matter.
	chunkBytes = 8 << 20
	chunkRows  = 20_000
)

// copied is how far a copy is.
type copied struct {
	From string `json:"from"`
	// of the source when the copy began, and of the columns: "<instance>.<commit> 5f3a9c01"
	Version string           `json:"version"`
	At      string           `json:"at"`     // the collection that is being copied; "" = all are
	After   []byte           `json:"after"`  // the key of its last row that was
	Handed  map[string]int64 `json:"handed"` // rows by collection: see source.Complete
	Tables  map[string]tally `json:"tables"` // what has come into them
	// see mover.settle
	Settled bool     `json:"settled"`
	Proved  []string `json:"proved"` // tables that were read back and compared
}

// mover copies a source into a schema.
type mover struct {
	db    *DB
	from  source
	tell  progress
	at    copied
	types *pgtype.Map
	oids  map[string][]uint32 // of the columns of tables
	total int64               // bytes that are left to copy
	done  int64
}

// TakeOver copies all that a source stores into a schema, compares it, and marks the source. It goes
// on with what an earlier one of the same source has copied. Errors: those of Open; *both.ErrHeld;
// engine.ErrRefused of a schema in which something else is stored.
//
// The source is marked last, when everything has been read back and compared. Killed before that,
// the source is as it was; killed after it, the next run finds the mark and the schema whole but
// for the table fs_moving, which it drops.
func TakeOver(ctx context.Context, o Options, from source, tell progress) (r Taken, err error) {
	began := time.Now()
	version, err := from.Version(ctx)
	if err != nil {
		return r, err
	}
	db, err := opened(ctx, o, func(ctx context.Context, c *pgx.Conn, schema string) error {
		if _, err := mayTake(ctx, c, schema); err != nil {
			return err
		}
		return migrate(ctx, c, schema)
	})
	if err != nil {
		return r, err
	}
	defer func() {
		db.Abandon(engine.ErrShutdown) // no engine had it
		err = errors.Join(err, db.Close())
	}()
	alone, err := db.connectAs(ctx, "farsight migrate")
	if err != nil {
		return r, unreachable(err)
	}
	defer hangUp(alone)
	// A connection of its own, because an advisory lock belongs to the session that took it, and a
	// pool gives sessions away.
	if err := onlyOne(ctx, alone, db); err != nil {
		return r, err
	}
	serving, stop := context.WithCancel(ctx)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = db.Serve(serving) // another one finds the schema as this one has left it, in order
	}()
	defer func() {
		stop()
		<-served
	}()
	m := &mover{db: db, from: from, tell: tell, types: pgtype.NewMap(), oids: map[string][]uint32{},
		at: copied{From: from.Name(), Version: version + " " + layout()}}
	r, err = m.run(ctx)
	r.From, r.To, r.Took = from.Name(), db.Name(), time.Since(began)
	return r, err
}

// onlyOne takes a schema for one copy: no other one goes on, and there are no members. The server
// gives it back with the session, which it ends a little after the process that was killed.
func onlyOne(ctx context.Context, c *pgx.Conn, db *DB) (err error) {
	mine := false
	// The session of a copy that was killed is there until the server notices.
	for began := time.Now(); err == nil && !mine && time.Since(began) < deserting; {
		err = c.QueryRow(ctx, "select pg_try_advisory_lock(hashtextextended('farsight.move.'||$1, 0))", db.schema).Scan(&mine)
		if !mine {
			await.Pause(ctx, lostPause)
		}
	}
	if err == nil && mine {
		mine, err = deserted(ctx, c)
	}
	switch {
	case err != nil:
		return unreachable(err)
	case !mine:
		return &both.ErrHeld{Store: db.Name()}
	}
	return nil
}

// mayTake refuses a schema in which there is something else than an earlier copy has left.
// A schema of ours in which nothing is stored yet may be taken.
func mayTake(ctx context.Context, c *pgx.Conn, schema string) (moving bool, err error) {
	var tables, ours bool
	err = c.QueryRow(ctx, `select exists (select from pg_class where relnamespace = to_regnamespace(quote_ident($1))),
	to_regclass('fs_schema') is not null, to_regclass('fs_moving') is not null`, schema).
		Scan(&tables, &ours, &moving)
	switch {
	case err != nil:
		return false, unreachable(err)
	case moving || !tables:
		return moving, nil
	case !ours:
		return false, notEmpty(schema, "tables of another program")
	}
	var used bool
	err = c.QueryRow(ctx, "select exists (select from fs_state where name not in "+stays+`)
	or exists (select from fs_account) or exists (select from fs_job_ended) or exists (select from fs_match)`).Scan(&used)
	if err != nil {
		return false, unreachable(err)
	}
	if used {
		return false, notEmpty(schema, "what Farsight has stored there")
	}
	return false, nil
}

// notEmpty refuses a schema, and says which one to name instead.
func notEmpty(schema, what string) error {
	return engine.Problemf(engine.ErrRefused,
		"name an empty one, or one that is not there, as in postgres://…/database?search_path=farsight2", "schema %s has %s", schema, what)
}

// refuseMoving refuses a schema that is not whole yet.
// Half of what was stored would look like all of it, and the engine would fetch the other half
// again.
func refuseMoving(ctx context.Context, c *pgx.Conn, schema string) error {
	moving, err := has(ctx, c, movingTable)
	if err != nil || !moving {
		return unreachable(err)
	}
	var at copied
	var text []byte
	if err := c.QueryRow(ctx, "select place from fs_moving").Scan(&text); err == nil {
		_ = json.Unmarshal(text, &at)
	}
	return engine.Problemf(engine.ErrRefused, "let `farsight migrate` of that end, which goes on where it stopped",
		"schema %s has not got all that is stored in %s yet", schema, at.From)
}

// run goes through the steps in their order. Each notes in fs_moving that it is done, so that a
// copy that was killed in any of them goes on with that one.
func (m *mover) run(ctx context.Context) (r Taken, err error) {
	all, err := m.from.Collections(ctx)
	if err != nil {
		return r, err
	}
	if r, err = sizeOf(all); err != nil {
		return r, err
	}
	if r.Resumed, err = m.begin(ctx); err != nil {
		return r, err
	}
	if err := m.copyAll(ctx, all); err != nil {
		return r, err
	}
	if err := m.settle(ctx); err != nil {
		return r, err
	}
	if err := m.proveAll(ctx); err != nil {
		return r, err
	}
	if err := errors.Join(m.from.Complete(ctx, m.at.Handed), context.Cause(ctx)); err != nil {
		return r, err
	}
	r.Payloads = m.at.Tables[tPayloads.name].Rows
	if err := m.from.Leave(m.db.Name()); err != nil {
		return r, err
	}
	return r, m.write(ctx, func(t *txn) error {
		t.exec("drop table " + movingTable)
		return nil
	})
}

// sizeOf adds up collections, each of which must have a table to come into.
// A collection without one is a fault of the program, found before the first row is copied.
func sizeOf(all []both.Collection) (r Taken, err error) {
	for _, c := range all {
		r.Rows += c.Rows
		r.Bytes += c.Bytes
		if _, known := takers()[c.Of]; !known {
			err = errors.Join(err, fmt.Errorf("no table takes what %s has", c.Name))
		}
	}
	return r, err
}

// write is DB.Write that says what to do about a database that takes none.
func (m *mover) write(ctx context.Context, fn func(t *txn) error) error {
	err := m.db.Write(ctx, func(tx engine.Tx) error {
		// A chunk takes longer than the statements that an engine's patience is made for.
		own(tx).unhurried()
		return fn(own(tx))
	})
	return said(ctx, err)
}

// said says of an error of the database what to do about it, if that is known.
// An error that the server has answered with is about the statement: advice on how to reach the
// server would lead astray.
func said(ctx context.Context, err error) error {
	if _, known := errors.AsType[*engine.Problem](err); err == nil || known || ctx.Err() != nil {
		return err
	}
	told := unreachable(err)
	if _, known := errors.AsType[*engine.Problem](told); !known {
		if _, answered := errors.AsType[*pgconn.PgError](err); answered {
			return err
		}
	}
	return told
}

// begin finds how far an earlier copy is. Of one whose source has changed since nothing is used.
// A source that has changed is copied anew from the start: rows that were copied may be gone.
func (m *mover) begin(ctx context.Context) (resumed bool, err error) {
	fresh := m.at
	fresh.Handed, fresh.Tables = map[string]int64{}, map[string]tally{}
	err = m.write(ctx, func(t *txn) error {
		// The transaction may be tried again after it had set them.
		m.at, resumed = fresh, false
		moving, _, err := value[bool](t, "select to_regclass('fs_moving') is not null")
		if err != nil {
			return err
		}
		if moving {
			if err := m.resume(t); err != nil {
				return err
			}
			if resumed = m.at.Version == fresh.Version; resumed {
				return nil
			}
			m.at = fresh
			clearTaken(t)
		}
		t.exec(makeMoving)
		t.exec(makeTaken)
		_ = t.flush() // the next statement is prepared against the table
		t.exec("insert into "+movingTable+" (place) values ($1)", &m.at)
		return nil
	})
	return resumed, err
}

// resume reads how far an earlier copy is, which must be of the same source.
func (m *mover) resume(t *txn) error {
	text, _, err := value[[]byte](t, "select place from "+movingTable)
	if err != nil {
		return err
	}
	var earlier copied
	if err := json.Unmarshal(text, &earlier); err != nil {
		return fmt.Errorf("read how far the copy is: %w", err)
	}
	if earlier.From != m.at.From {
		return engine.Problemf(engine.ErrRefused, "finish that, or name another schema",
			"schema %s has a copy of %s under way", t.db.schema, earlier.From)
	}
	m.at = earlier
	return nil
}

// stays is what a schema has of its own in table fs_state.
const stays = "('instance', 'cluster')"

// clearTaken deletes what an earlier copy has brought.
// The sequences are not put back: they are set when the copy is settled, and a number that is
// left out harms nothing.
func clearTaken(t *txn) {
	t.exec("drop table if exists " + movingTable + ", " + takenAttempts)
	tables := []string{tAttempts.name, "fs_counter"}
	for _, tk := range takers() {
		if tk.table != takenAttempts && tk.table != "fs_state" {
			tables = append(tables, tk.table)
		}
	}
	slices.Sort(tables)
	t.exec("truncate " + strings.Join(slices.Compact(tables), ", "))
	t.exec("delete from fs_state where name not in " + stays)
}

// copyAll copies what is left of all collections.
func (m *mover) copyAll(ctx context.Context, all []both.Collection) error {
	// The collections come in the same order each time: those before the one that is being copied
	// are copied.
	first := 0
	if m.at.At != "" {
		first = max(0, slices.IndexFunc(all, func(c both.Collection) bool { return c.Name == m.at.At }))
	}
	if m.at.Settled {
		first = len(all)
	}
	for _, c := range all[first:] {
		m.total += c.Bytes
	}
	for _, c := range all[first:] {
		if m.at.At != c.Name {
			m.at.At, m.at.After = c.Name, nil
		}
		// An empty answer and not a short one is the end: rows that hand nothing over fill chunks too.
		for more := true; more; {
			var err error
			if more, err = m.copyChunk(ctx, c.Name); err != nil {
				return fmt.Errorf("copy %s: %w", c.Name, err)
			}
		}
	}
	return nil
}

// copyChunk copies some rows of a collection, if any are left.
// What it has read of the source is encoded outside of the transaction, and given whole to COPY:
// a transaction that is tried again (the server restarts, a failover) sends the same bytes.
func (m *mover) copyChunk(ctx context.Context, collection string) (more bool, err error) {
	var rows encoded
	var bad error
	size, n := 0, 0
	last, err := m.from.Each(ctx, collection, m.at.After, func(v any) {
		if bad == nil {
			bad = m.encode(ctx, &rows, v)
		}
	}, func(bytes int) bool {
		size, n = size+bytes, n+1
		return bad == nil && n < chunkRows && size < chunkBytes && len(rows.bytes) < 2*chunkBytes
	})
	if err := errors.Join(err, bad); err != nil || last == nil {
		return false, err
	}
	// The place goes with the rows in one transaction: no row is copied twice or left out.
	next := m.at.with(collection, rows.taker.table, last, rows.tally)
	err = m.write(ctx, func(t *txn) error {
		if rows.Rows > 0 {
			t.copyIn(rows.taker, rows.bytes)
		}
		t.exec(putMoving, &next)
		return nil
	})
	if err != nil {
		return false, err
	}
	m.at = next
	m.done += int64(size)
	m.tell(Copying, min(m.done, m.total), m.total)
	return true, nil
}

// with is the place after some rows more.
// It shares no map with p, which stays true when the transaction fails.
func (p copied) with(collection, table string, last []byte, rows tally) copied {
	p.Handed, p.Tables = maps.Clone(p.Handed), maps.Clone(p.Tables)
	p.After = last
	p.Handed[collection] += rows.Rows
	if table != "" {
		sum := p.Tables[table]
		p.Tables[table] = tally{sum.Rows + rows.Rows, sum.Sum + rows.Sum}
	}
	return p
}

// settle makes what follows from all rows: the order of attempts, the counters, and the numbers
// that were given out.
// Attempts come by job, and are told by the order in which they ended: they lie in a table of
// their own until all are there, and get their numbers here.
func (m *mover) settle(ctx context.Context) error {
	if m.at.Settled {
		return nil
	}
	numbers, err := m.from.Numbers(ctx)
	if err != nil {
		return err
	}
	next := m.at
	next.Settled, next.At, next.After = true, "", nil
	next.Tables = maps.Clone(m.at.Tables)
	next.Tables[tAttempts.name] = next.Tables[takenAttempts]
	delete(next.Tables, takenAttempts)
	err = m.write(ctx, func(t *txn) error {
		tk := takers()[reflect.TypeFor[both.Tried]()]
		// Clocks step back: of one job they stay in their order.
		t.exec("insert into fs_attempt (" + tk.sql() + ") select " + tk.sql() + `
from (select *, max(ended) over (partition by job order by id) as place from ` + takenAttempts + `) of
order by place nulls first, id`)
		t.exec("drop table " + takenAttempts)
		for sequence, n := range map[string]uint64{"fs_job_id": numbers.Job, "fs_audit_seq": numbers.Audit,
			"fs_feed": numbers.Place} {
			// setval refuses 0; the sequence of a store that has given out none begins as it is.
			if n > 0 {
				t.exec("select setval($1::regclass, $2)", sequence, int64(n))
			}
		}
		counted, err := t.recount()
		if err != nil {
			return err
		}
		for name, n := range counted {
			t.sums.count(name, n)
		}
		t.exec(putMoving, &next)
		return nil
	})
	if err == nil {
		m.at = next
	}
	return err
}

// proveAll reads back what was copied, and compares its checksums.
// The checksums of what was sent are compared with those of what the server gives back: a row that
// was lost, doubled or changed on its way is found here, while the source can still be used, and not
// by an operator a year later.
func (m *mover) proveAll(ctx context.Context) error {
	var done, total int64
	for table, sum := range m.at.Tables {
		if total += sum.Rows; slices.Contains(m.at.Proved, table) {
			total -= sum.Rows
		}
	}
	for _, tk := range takers() {
		if tk.table == takenAttempts {
			tk.table = tAttempts.name
		}
		if slices.Contains(m.at.Proved, tk.table) {
			continue
		}
		have, err := m.tallyOf(ctx, tk, func() {
			done++
			m.tell(comparing, done, total)
		})
		if err != nil {
			return fmt.Errorf("read %s back: %w", tk.table, err)
		}
		if want := m.at.Tables[tk.table]; have != want {
			return engine.Problemf(engine.ErrRefused, fmt.Sprintf("begin anew: drop schema %s", m.db.schema),
				"table %s has %d rows with checksum %016x, %d with %016x were copied",
				tk.table, have.Rows, have.Sum, want.Rows, want.Sum)
		}
		m.at.Proved = append(m.at.Proved, tk.table)
		if err := m.write(ctx, func(t *txn) error {
			// The planner knows nothing of rows that have just come: the first questions would read tables
			// whole.
			t.exec("analyze " + tk.table)
			t.exec(putMoving, &m.at)
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}
