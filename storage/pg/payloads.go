package pg

import (
	"context"
	"fmt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/both"
)

var tPayloads = declare("fs_payload", 2, func(p *both.Payload) []column {
	return []column{
		{"match", (*text)(&p.Match)},
		{"part", (*text)(&p.Part)},
		{"month", (*text)(&p.Month)},
		{"codec", (*text)(&p.Codec)},
		{"size", &p.Size},
		{"raw_len", &p.RawLen},
		{"crc", &p.CRC},
		{"body", &p.Body},
	}
})

// PutPayload commits a payload before any state names it. It is idempotent.
func (db *DB) PutPayload(ctx context.Context, match string, p league.Part, ref league.PayloadRef, body []byte) error {
	if len(body) != ref.Size {
		return fmt.Errorf("%s of %s: %d bytes, its reference says %d: %w", p, match, len(body), ref.Size, engine.ErrInvalid)
	}
	return db.Write(ctx, func(tx engine.Tx) error {
		tPayloads.put(own(tx), both.Payload{Match: match, Part: p, PayloadRef: ref, Body: body})
		return nil
	})
}

// Raw gives Riot's JSON of a match or its timeline. engine.ErrNotFound, both.ErrDropped.
func (db *DB) Raw(ctx context.Context, match string, part league.Part) (raw []byte, err error) {
	err = db.view(ctx, func(t *txn) error {
		m, err := db.Match(t, match)
		if err == nil && m.Of(part).Ref.Dropped() {
			err = both.ErrDropped
		}
		if err != nil {
			return err
		}
		p, err := tPayloads.want(t, "it", tPayloads.get, (*text)(&match), (*text)(&part))
		if err == nil {
			raw, err = rawOf(p)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s payload of %s: %w", part, match, err)
	}
	return raw, nil
}

// rawOf inflates a payload and proves it.
func rawOf(p both.Payload) ([]byte, error) {
	raw, known, err := both.Inflate(p.PayloadRef, p.Body)
	switch {
	case err != nil:
		return nil, err
	case !known:
		return nil, fmt.Errorf("codec %q is not known", p.Codec)
	}
	return raw, both.Prove(p.PayloadRef, raw)
}

// FindPayload looks for a payload that a crash left without state.
func (db *DB) FindPayload(ctx context.Context, match string, p league.Part) (ref league.PayloadRef, body []byte, ok bool, err error) {
	err = db.view(ctx, func(t *txn) error {
		found, there, err := tPayloads.find(t, (*text)(&match), (*text)(&p))
		ref, body, ok = found.PayloadRef, found.Body, there
		return err
	})
	return ref, body, ok, err
}
