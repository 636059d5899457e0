package pg

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/storage/internal/both"
)

// tally is the checksum of some rows, whatever their order: the sum of a part of each one's
// SHA-256. The server gives rows back in an order of its own. A sum sees a row that came twice,
// which an exclusive or would not.
type tally struct {
	Rows int64  `json:"rows"`
	Sum  uint64 `json:"sum"`
}

func (t *tally) add(row []byte) {
	h := sha256.Sum256(row)
	t.Rows++
	t.Sum += binary.BigEndian.Uint64(h[:])
}

// encoded are rows of one table as COPY takes them.
type encoded struct {
	taker taker
	bytes []byte
	tally
}

// copyHeader begins COPY's binary format: no flags, no extension. (PostgreSQL 14, SQL Commands,
// COPY, "Binary Format".) After it a row is the number of its values in two bytes, then for each
// its length in four bytes, -1 for null, and its bytes; -1 in place of the number of values ends it
// all.
//
//	00 02  00 00 00 04 "EUW1"  ff ff ff ff     two values: a text, and null
const copyHeader = "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// encode adds one record. It is made here and not by pgx's own COPY, because the same bytes are summed
// up, and are sent again when a transaction is tried again.
func (m *mover) encode(ctx context.Context, rows *encoded, v any) error {
	tk := takers()[reflect.TypeOf(v)]
	if rows.bytes == nil {
		rows.taker, rows.bytes = tk, []byte(copyHeader)
	}
	oids, err := m.oidsOf(ctx, tk)
	if err != nil {
		return err
	}
	if p, is := v.(both.Payload); is {
		v = m.db.keptAs(p)
	}
	values := tk.values(v)
	rows.bytes = binary.BigEndian.AppendUint16(rows.bytes, uint16(len(values)))
	begin := len(rows.bytes) // the number of values is the same in all rows, and no part of the checksum
	for i, at := range values {
		length := len(rows.bytes)
		rows.bytes = binary.BigEndian.AppendUint32(rows.bytes, 0xffffffff) // null
		out, err := m.types.Encode(oids[i], pgx.BinaryFormatCode, at, rows.bytes)
		if err != nil {
			return fmt.Errorf("column %s of %s: %w", tk.columns[i], tk.table, err)
		}
		if out != nil {
			rows.bytes = out
			binary.BigEndian.PutUint32(rows.bytes[length:], uint32(len(rows.bytes)-length-4))
		}
	}
	rows.add(rows.bytes[begin:])
	return nil
}

// oidsOf are the types of the columns: the server tells them once per table, and from then on each
// value is written in the form of its column's type.
func (m *mover) oidsOf(ctx context.Context, tk taker) ([]uint32, error) {
	if oids, known := m.oids[tk.table]; known {
		return oids, nil
	}
	c, err := m.db.pool.Acquire(ctx)
	if err != nil {
		return nil, unreachable(err)
	}
	defer c.Release()
	described, err := c.Conn().Prepare(ctx, "", "select "+tk.sql()+" from "+tk.table)
	if err != nil {
		return nil, unreachable(err)
	}
	for _, f := range described.Fields {
		m.oids[tk.table] = append(m.oids[tk.table], f.DataTypeOID)
	}
	return m.oids[tk.table], nil
}

// copyIn brings rows into their table. What the transaction has queued goes before: COPY takes the
// connection for itself.
func (t *txn) copyIn(tk taker, rows []byte) {
	t.dirty = true
	if t.flush() != nil {
		return
	}
	end := binary.BigEndian.AppendUint16(nil, 0xffff)
	_, err := t.conn.PgConn().CopyFrom(t.ctx, bytes.NewReader(slices.Concat(rows, end)),
		"copy "+tk.table+" ("+tk.sql()+") from stdin (format binary)")
	t.fail(err)
}

// tallyOf reads the rows of a table as they were sent: in binary form, value by value, so that
// nothing of ours interprets what is compared. told is called for each row.
func (m *mover) tallyOf(ctx context.Context, tk taker, told func()) (sum tally, err error) {
	sql := "select " + tk.sql() + " from " + tk.table
	if tk.table == "fs_state" { // which has rows of this schema's own
		sql += " where name not in " + stays
	}
	err = m.db.view(ctx, func(t *txn) error {
		sum = tally{}
		t.unhurried()
		if err := t.flush(); err != nil {
			return err
		}
		rows, err := t.conn.Query(t.ctx, sql, pgx.QueryResultFormats{pgx.BinaryFormatCode})
		if err != nil {
			return err
		}
		defer rows.Close()
		var row []byte
		for rows.Next() && ctx.Err() == nil {
			row = row[:0]
			for _, v := range rows.RawValues() {
				if v == nil {
					row = binary.BigEndian.AppendUint32(row, 0xffffffff)
					continue
				}
				row = append(binary.BigEndian.AppendUint32(row, uint32(len(v))), v...)
			}
			sum.add(row)
			told()
		}
		rows.Close()
		return cmp.Or(context.Cause(ctx), rows.Err())
	})
	return sum, said(ctx, err)
}
