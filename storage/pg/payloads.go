package pg

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"unicode/utf8"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/both"
)

// kept is a payload as it is stored: as Riot sent it, or as JSON that can be asked for in SQL. The
// reference is of what Riot sent.
type kept struct {
	both.Payload
	json []byte // in place of the body
}

// unasked are characters that JSON may escape and text of PostgreSQL cannot have: a question about a
// document that has one would end with an error, and with it that about all others.
var unasked = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\u(0000|[dD][89a-fA-F])`) })

// keptAs says how a payload is stored. Matches are JSON where the server compresses it by lz4:
// analysts ask for what is in them, at 1.6 times the size of gzip. Timelines, which are four times
// as large, and what is no JSON stay as they came.
func (db *DB) keptAs(p both.Payload) kept {
	k := kept{Payload: p}
	if p.Part != league.PartMatch || !db.queryable {
		return k
	}
	if raw, err := k.raw(); err == nil && utf8.Valid(raw) && json.Valid(raw) && !unasked().Match(raw) {
		k.json, k.Body = raw, nil
	}
	return k
}

// lookAtServer finds out what the server can do: the schema sets lz4 where the server was built
// with it.
func (db *DB) lookAtServer(ctx context.Context) error {
	return db.view(ctx, func(t *txn) (err error) {
		db.queryable, _, err = value[bool](t, `select attcompression = 'l' from pg_attribute
where attrelid = 'fs_payload'::regclass and attname = 'json'`)
		return err
	})
}

var (
	tPayloads = declare("fs_payload", "match, part", func(p *kept) []column {
		return append(payloadColumns(&p.Payload), column{"json", &p.json})
	})
	payloadColumns = fields[both.Payload](nil)
)

// PutPayload commits a payload before any state names it. It is idempotent.
func (db *DB) PutPayload(ctx context.Context, match string, p league.Part, ref league.PayloadRef, body []byte) error {
	if len(body) != ref.Size {
		return fmt.Errorf("%s of %s: %d bytes, its reference says %d: %w", p, match, len(body), ref.Size, engine.ErrInvalid)
	}
	return db.Write(ctx, func(tx engine.Tx) error {
		tPayloads.put(own(tx), db.keptAs(both.Payload{Match: match, Part: p, PayloadRef: ref, Body: body}))
		return nil
	})
}

// Raw gives Riot's JSON of a match or its timeline. engine.ErrNotFound, both.ErrDropped.
func (db *DB) Raw(ctx context.Context, match string, part league.Part) ([]byte, error) {
	raw, err := answer(ctx, db, func(t *txn) ([]byte, error) {
		m, err := db.Match(t, match)
		if err == nil && m.Of(part).Ref.Dropped() {
			err = both.ErrDropped
		}
		if err != nil {
			return nil, err
		}
		p, err := tPayloads.need(t, "it", (*text)(&match), (*text)(&part))
		if err != nil {
			return nil, err
		}
		return p.raw()
	})
	if err != nil {
		return nil, fmt.Errorf("%s payload of %s: %w", part, match, err)
	}
	return raw, nil
}

// CheckPayload proves that a stored part is whole. Errors as of Raw.
func (db *DB) CheckPayload(ctx context.Context, match string, part league.Part) error {
	_, err := db.Raw(ctx, match, part)
	return err
}

// raw gives the JSON of a payload, proved: it has the length and the checksum of what Riot sent.
func (p *kept) raw() ([]byte, error) {
	if p.json != nil {
		return p.json, both.Prove(p.PayloadRef, p.json)
	}
	return both.Raw(p.PayloadRef, p.Body, func() ([]byte, error) { return nil, errors.New("codec is not known") })
}

// FindPayload looks for a payload that a crash left without state.
func (db *DB) FindPayload(ctx context.Context, match string, p league.Part) (ref league.PayloadRef, body []byte, ok bool, err error) {
	found, err := answer(ctx, db, func(t *txn) (found kept, err error) {
		found, ok, err = tPayloads.find(t, (*text)(&match), (*text)(&p))
		return found, err
	})
	if found.json != nil {
		found.Codec, found.Size, found.Body = both.CodecIdentity, len(found.json), found.json
	}
	return found.PayloadRef, found.Body, ok, err
}
