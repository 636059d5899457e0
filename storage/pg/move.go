package pg

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// Move is a schema that takes the place of a data directory, or that a directory takes the place of.
//
// It is closed to engines by a text in fs_store, of which the first line says why, the second what to do, and the
// third whose store it is:
//
//	has not got all that is stored in /var/lib/farsight yet
//	let `farsight migrate` of that end, or drop the schema
//	9f3c5a1e77d04b12
type Move struct {
	*DB
	*Log
	closed string // by this move
	Again  bool   // it was closed by an earlier try. One that was left for a directory has nothing to be done any more
}

// OpenToFill opens a schema, or makes it, and closes it to all but who copies a directory there, which has a name and
// an instance. *disk.ErrHeld while engines work on it; engine.ErrRefused of one in which something else is stored.
func OpenToFill(ctx context.Context, o Options, dir, instance string, dryRun bool) (*Move, error) {
	m := &Move{closed: fmt.Sprintf("has not got all that is stored in %s yet\nlet `farsight migrate` of that end, or drop the schema\n%s", dir, instance)}
	return m.open(ctx, o, func(ctx context.Context, c *pgx.Conn, schema string) error {
		prepare := migrate
		if dryRun {
			prepare = lookAt
		}
		err := prepare(ctx, c, schema)
		if dryRun && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return m.claim(ctx, c, schema, dryRun)
	})
}

// claim closes an empty schema, or one that was closed for the same copy.
func (m *Move) claim(ctx context.Context, c *pgx.Conn, schema string, dryRun bool) error {
	if free, err := deserted(ctx, c); err != nil {
		return unreachable(err)
	} else if !free {
		return &disk.ErrHeld{Store: "schema " + schema}
	}
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		var closed string
		var empty bool
		err := tx.QueryRow(ctx, `select closed, seq = 0 and not exists (select from fs_log) and not exists (select from fs_row)
from fs_store for update`).Scan(&closed, &empty)
		switch {
		case err != nil:
			return unreachable(err)
		case closed != "" && closed != m.closed:
			return closedFor(schema, closed)
		case closed == "" && !empty:
			return engine.Problemf(engine.ErrRefused,
				"name an empty one, or one that is not there, as in postgres://…/database?search_path=farsight2", "schema %s has what Farsight has stored there", schema)
		}
		if m.Again = closed != ""; dryRun {
			return nil
		}
		_, err = tx.Exec(ctx, "update fs_store set closed = $1", m.closed)
		return err
	})
}

// OpenToLeave opens a schema that a directory is to take the place of.
func OpenToLeave(ctx context.Context, o Options, dir string) (*Move, error) {
	m := &Move{closed: fmt.Sprintf("was moved to %s\nname that with --data-dir", dir)}
	return m.open(ctx, o, func(ctx context.Context, c *pgx.Conn, schema string) error {
		if err := lookAt(ctx, c, schema); err != nil {
			return err
		}
		var closed string
		if err := c.QueryRow(ctx, "select closed from fs_store").Scan(&closed); err != nil {
			return unreachable(err)
		}
		if m.Again = strings.HasPrefix(closed, m.closed+"\n"); closed != "" && !m.Again {
			return closedFor(schema, closed)
		}
		return nil
	})
}

func (m *Move) open(ctx context.Context, o Options, prove func(context.Context, *pgx.Conn, string) error) (_ *Move, err error) {
	if m.DB, err = opened(ctx, o, prove); err != nil {
		return nil, err
	}
	m.Log = m.DB.Log()
	return m, nil
}

// Refused says why no engine opens the schema.
func (m *Move) Refused() error { return closedFor(m.Schema(), m.closed) }

// Instance is that of the store.
func (m *Move) Instance(ctx context.Context) (instance string, err error) {
	err = m.pool.QueryRow(ctx, "select instance from fs_store").Scan(&instance)
	return instance, err
}

// Empty deletes the rows that an earlier copy has left.
func (m *Move) Empty(ctx context.Context) error {
	return m.atLeisure(ctx, func(tx pgx.Tx) error {
		for _, table := range append(storage.ReadableTables(), "fs_row", "fs_number") {
			there, err := has(ctx, tx, table)
			if err == nil && there {
				_, err = tx.Exec(ctx, "truncate "+table)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Fill adds rows and numbers.
func (m *Move) Fill(ctx context.Context, page []storage.Step) error {
	steps := make(map[string]storage.Step, len(page))
	for _, s := range page {
		steps[s.Table+"\x00"+string(s.Key)] = s
	}
	return m.atLeisure(ctx, func(tx pgx.Tx) error { return m.write(ctx, tx, steps) })
}

// atLeisure is a transaction that may be carried out twice, and takes as long as it takes.
func (m *Move) atLeisure(ctx context.Context, do func(tx pgx.Tx) error) error {
	return m.try(ctx, func() error {
		return pgx.BeginFunc(ctx, m.pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "set local statement_timeout = 0"); err != nil {
				return err
			}
			return do(tx)
		})
	})
}

// Filled opens the schema to engines, as the store of an instance. The first number of its log is above those of all
// logs that this instance ever had: a file that has followed one of those does not go on with it. restored is when the
// directory was set back, if it was.
func (m *Move) Filled(ctx context.Context, instance string, restored time.Time) error {
	var copied *time.Time
	if !restored.IsZero() {
		copied = &restored
	}
	return m.atLeisure(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "update fs_store set closed = '', instance = $2, seq = $3, copied = $4 where closed = $1", m.closed, instance, time.Now().UnixMilli(), copied)
		return err
	})
}

// Settled lets the rows follow the log to its end, within a term.
func (m *Move) Settled(ctx context.Context, term int64) error {
	for {
		if n, _, err := m.fold(ctx, term); err != nil || n == 0 {
			return err
		}
	}
}

// Leave closes the schema, within a term: the next one is nobody's.
func (m *Move) Leave(ctx context.Context, term int64) error {
	_, err := m.within(ctx, term, "update fs_store set closed = $1 || E'\\n' || instance", m.closed)
	return err
}

// Weigh counts the rows, and their bytes.
func (m *Move) Weigh(ctx context.Context) (rows, bytes int64, err error) {
	err = m.unhurried(ctx, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, "select count(*), coalesce(sum(octet_length(k) + octet_length(v)), 0)::bigint from fs_row").Scan(&rows, &bytes)
	})
	return rows, bytes, err
}

// InMonth implements storage.Payloads.
func (m *Move) InMonth(ctx context.Context, month string) (all map[storage.PayloadName]league.PayloadRef, err error) {
	err = m.unhurried(ctx, func(tx pgx.Tx) error {
		all = map[storage.PayloadName]league.PayloadRef{}
		var name storage.PayloadName
		var part string
		var crc int64
		ref := league.PayloadRef{Month: month}
		rows, _ := tx.Query(ctx, "select match, part, raw_len, crc from fs_payload where month = $1", month) // its error comes with the rows
		_, err := pgx.ForEachRow(rows, []any{&name.Match, &part, &ref.RawLen, &crc}, func() error {
			name.Part, ref.CRC = league.Part(part), uint32(crc)
			all[name] = ref
			return nil
		})
		return err
	})
	return all, err
}

// Body implements storage.Payloads.
func (m *Move) Body(ctx context.Context, _ string, name storage.PayloadName) (storage.Payload, error) {
	p, ok, err := m.Payload(ctx, name.Match, name.Part)
	if err == nil && !ok {
		err = engine.ErrNotFound
	}
	return p, err
}

// PutPayload implements storage.Payloads: nobody leads.
func (m *Move) PutPayload(ctx context.Context, p storage.Payload) error {
	return m.Log.PutPayload(ctx, 0, p)
}

// DropMonth implements storage.Payloads.
func (m *Move) DropMonth(ctx context.Context, month string) error {
	return m.atLeisure(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "delete from fs_payload where month = $1", month)
		return err
	})
}
