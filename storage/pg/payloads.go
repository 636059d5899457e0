package pg

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"sync"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/internal/payload"
)

// A payload is stored as Riot sent it, or as JSON that can be asked for in SQL. The reference is of what Riot sent.

// unasked are characters that JSON may escape and text of PostgreSQL cannot have: a question about a
// document that has one would end with an error, and with it that about all others.
var unasked = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\u(0000|[dD][89a-fA-F])`) })

// asJSON gives what is stored in place of a payload's body; nil = nothing is. Matches are JSON where the server compresses
// it by lz4: analysts ask for what is in them, at 1.6 times the size of gzip. Timelines, which are four times
// as large, and what is no JSON stay as they came.
func (db *DB) asJSON(raw []byte) []byte {
	if !db.queryable || !utf8.Valid(raw) || !json.Valid(raw) || unasked().Match(raw) {
		return nil
	}
	return raw
}

const (
	// putPayload is within term $10, 0 = whoever leads; fs_untell makes room for what this one tells.
	putPayload = `with term as (
	select from fs_fleet where $10 = 0::bigint or epoch = $10 and expires > clock_timestamp() for key share
), put as (
	insert into fs_payload (match, part, month, codec, size, raw_len, crc, body, json) select $1, $2, $3, $4, $5, $6, $7, $8, $9 from term
	on conflict (match, part) do update set month = excluded.month, codec = excluded.codec, size = excluded.size,
		raw_len = excluded.raw_len, crc = excluded.crc, body = excluded.body, json = excluded.json
	returning match
), game as (
	insert into fs_told_matches select g.* from put, json_populate_recordset(null::fs_told_matches, $11) g
), seats as (
	insert into fs_told_participants select s.* from put, json_populate_recordset(null::fs_told_participants, $12) s
) select from put`
	selectPayload = "select month, codec, size, raw_len, crc, body, json from fs_payload where match = $1 and part = $2"
)

// PutPayload implements storage.Shared.
func (l *Log) PutPayload(ctx context.Context, term int64, p storage.Payload) error {
	body, asked, game, seats := p.Body, []byte(nil), "[]", "[]"
	if p.Part == league.PartMatch {
		if raw, err := payload.Raw(p.PayloadRef, p.Body, payload.Unknown); err == nil {
			asked = l.db.asJSON(raw)
			game, seats = toldBy(ctx, p.Match, raw)
		}
	}
	if asked != nil {
		body = nil
	}
	return l.try(ctx, func() error {
		put, err := l.db.pool.Exec(ctx, putPayload, p.Match, string(p.Part), p.Month, p.Codec, p.Size, p.RawLen, int64(p.CRC), body, asked, term, game, seats)
		if err == nil && put.RowsAffected() == 0 {
			err = ErrDeposed
		}
		return err
	})
}

// Payload implements storage.Shared.
func (l *Log) Payload(ctx context.Context, match string, part league.Part) (p storage.Payload, ok bool, err error) {
	p.Match, p.Part = match, part
	var crc int64
	var asked []byte
	err = l.try(ctx, func() error {
		return l.db.pool.QueryRow(ctx, selectPayload, match, string(part)).Scan(&p.Month, &p.Codec, &p.Size, &p.RawLen, &crc, &p.Body, &asked)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return p, false, nil
	}
	p.CRC = uint32(crc)
	if asked != nil {
		p.Codec, p.Size, p.Body = payload.CodecIdentity, len(asked), asked
	}
	return p, err == nil, err
}

// Payloads implements storage.Shared.
func (l *Log) Payloads(ctx context.Context, tell func(match string, part league.Part, month string, bytes int64)) error {
	return l.db.unhurried(ctx, func(tx pgx.Tx) error {
		var match, part, month string
		var size int64
		rows, _ := tx.Query(ctx, "select match, part, month, size from fs_payload order by match, part") // its error comes with the rows
		_, err := pgx.ForEachRow(rows, []any{&match, &part, &month, &size}, func() error {
			tell(match, league.Part(part), month, size)
			return nil
		})
		return err
	})
}

// ByMonth implements storage.Shared.
func (l *Log) ByMonth(ctx context.Context) (all []storage.MonthSize, err error) {
	err = l.try(ctx, func() error {
		rows, _ := l.db.pool.Query(ctx, "select month, count(*), sum(size)::bigint from fs_payload group by month order by month")
		all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[storage.MonthSize])
		return err
	})
	return all, err
}

// MonthBytes implements storage.Shared.
func (l *Log) MonthBytes(ctx context.Context, month string) (int64, error) {
	return l.bytes(ctx, "select coalesce(sum(size), 0)::bigint from fs_payload where month = $1", month)
}

// DiskBytes implements storage.Shared.
func (l *Log) DiskBytes(ctx context.Context) (int64, error) {
	return l.bytes(ctx, "select pg_total_relation_size('fs_payload')")
}

func (l *Log) bytes(ctx context.Context, ask string, args ...any) (n int64, err error) {
	err = l.try(ctx, func() error { return l.db.pool.QueryRow(ctx, ask, args...).Scan(&n) })
	return n, err
}

// DropPayloads implements storage.Shared.
func (l *Log) DropPayloads(ctx context.Context, term int64, month string) error {
	for { // each time so few that it takes no while: an election waits for it
		n, err := l.within(ctx, term, "delete from fs_payload where ctid = any(array(select ctid from fs_payload where month = $1 limit 1000))", month)
		if err != nil || n == 0 {
			return err
		}
	}
}

// ErasePayloads implements storage.Shared.
func (l *Log) ErasePayloads(ctx context.Context, term int64, matches []string) error {
	_, err := l.within(ctx, term, "delete from fs_payload where match = any($1)", matches)
	return err
}
