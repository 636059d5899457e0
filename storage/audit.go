package storage

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

// AddAudit appends an operator's command, emits it and answers its number. What the command has changed is kept in a row
// of its own: most entries are listed, few are undone.
func (db *DB) AddAudit(tx engine.Tx, a engine.AuditEntry) (uint64, error) {
	t := own(tx)
	last, err := t.lastNumber(tAudit, nil)
	if err != nil {
		return 0, err
	}
	a.Seq = last + 1
	e := rec.NewEnc(fAudit, 96)
	e.Time(a.At)
	encodeActor(e, a.By)
	e.Str(string(a.Op))
	e.Str(a.Target)
	e.Str(a.Reason)
	e.Str(a.Result)
	e.Int(int64(a.Matched))
	e.Int(int64(a.Applied))
	if err := t.put(tAudit, key.Uint64(a.Seq), e); err != nil {
		return 0, err
	}
	if err := t.putMoves(a); err != nil {
		return 0, err
	}
	t.Emit(engine.Change{Audit: &a})
	return a.Seq, nil
}

// moved is what one command has changed. Only undo and people read it, so it is JSON.
type moved struct {
	Jobs  []engine.JobMove  `json:"jobs,omitempty"`
	Queue *engine.QueueMove `json:"queue,omitempty"`

	Schedule *engine.ScheduleMove `json:"schedule,omitempty"`
}

func (t *Tx) putMoves(a engine.AuditEntry) error {
	if len(a.Moves) == 0 && a.Queue == nil && a.Schedule == nil {
		return nil
	}
	b, err := json.Marshal(moved{a.Moves, a.Queue, a.Schedule})
	if err != nil {
		return fmt.Errorf("what %s has changed: %w", a.Op, err)
	}
	e := rec.NewEnc(fMoved, len(b)+4)
	e.Bytes(b)
	return t.put(tAuditMoves, key.Uint64(a.Seq), e)
}

// Audit gives the last n operator commands, newest first, without what each has changed.
func (db *DB) Audit(ctx context.Context, n int) (list []engine.AuditEntry, err error) {
	err = db.view(ctx, func(t *Tx) error {
		for r := range t.rowsBack(tAudit, nil, nil) {
			if len(list) == n {
				return nil
			}
			a, err := decodeAudit(r.k, r.v)
			if err != nil {
				return err
			}
			list = append(list, a)
		}
		return nil
	})
	return list, err
}

// AuditEntry gives one operator command with what it has changed; engine.ErrNotFound.
func (db *DB) AuditEntry(ctx context.Context, seq uint64) (a engine.AuditEntry, err error) {
	err = db.view(ctx, func(t *Tx) error {
		k := key.Uint64(seq)
		v := t.bucket(tAudit).Get(k)
		if v == nil {
			return fmt.Errorf("audit entry %d: %w", seq, engine.ErrNotFound)
		}
		if a, err = decodeAudit(k, v); err != nil {
			return err
		}
		d, ok, err := t.get(tAuditMoves, k, fMoved)
		if err != nil || !ok {
			return err
		}
		var m moved
		if err := json.Unmarshal(d.Bytes(), &m); err != nil {
			return tAuditMoves.corrupt(k, err)
		}
		a.Moves, a.Queue, a.Schedule = m.Jobs, m.Queue, m.Schedule
		return tAuditMoves.done(k, d)
	})
	return a, err
}

func decodeAudit(k, v []byte) (engine.AuditEntry, error) {
	d, err := tAudit.open(k, v, fAudit)
	if err != nil {
		return engine.AuditEntry{}, err
	}
	a := engine.AuditEntry{
		Seq: key.Read(k).Uint64(), At: d.Time(), By: decodeActor(d), Op: engine.Op(d.Str()), Target: d.Str(),
		Reason: d.Str(), Result: d.Str(), Matched: d.Num(), Applied: d.Num(),
	}
	return a, tAudit.done(k, d)
}
