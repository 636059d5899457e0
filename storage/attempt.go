package storage

import (
	"bytes"
	"context"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

// attemptSize is a guess of what an attempt takes, in bytes.
func attemptSize(a *engine.Attempt) int { return 72 + len(a.Err) + len(a.External) + len(a.Decision) }

func encodeAttempt(e *rec.Enc, a *engine.Attempt) {
	e.Int(int64(a.Number))
	e.Int(int64(a.Round))
	e.Int(int64(a.Try))
	e.Int(int64(a.Phase))
	e.Uint(uint64(a.Rev))
	e.Time(a.Start)
	e.Time(a.End)
	e.Byte(byte(a.Verb))
	e.Byte(byte(a.Hold))
	e.Str(string(a.Class))
	e.Str(a.Err)
	e.Str(a.External)
	e.Int(int64(a.Status))
	e.Dur(a.Queued)
	e.Dur(a.Paced)
	e.Dur(a.Limiter)
	e.Dur(a.HTTP)
	e.Time(a.Next)
	e.Str(a.Decision)
	if a.Worker != 0 { // added later: rec.Dec.More
		e.Int(int64(a.Worker))
	}
}

func decodeAttempt(k, v []byte) (a engine.Attempt, err error) {
	d, err := tAttempts.open(k, v, fAttempt)
	if err != nil {
		return a, err
	}
	a.Number, a.Round, a.Try, a.Phase = d.Num(), d.Num(), d.Num(), d.Num()
	a.Rev = engine.Revision(d.Uint())
	a.Start, a.End = d.Time(), d.Time()
	a.Verb, a.Hold = engine.Verb(d.Byte()), engine.Hold(d.Byte())
	a.Class = engine.Class(d.Str())
	a.Err, a.External = d.Str(), d.Str()
	a.Status = d.Num()
	a.Queued, a.Paced, a.Limiter, a.HTTP = d.Dur(), d.Dur(), d.Dur(), d.Dur()
	a.Next = d.Time()
	a.Decision = d.Str()
	if d.More() {
		a.Worker = d.Num()
	}
	return a, tAttempts.done(k, d)
}

// attempts gives a job's closed attempts and its holds, oldest first. One that cannot be read is left out.
func (t *Tx) attempts(job []byte) (attempts, holds []engine.Attempt) {
	for r := range t.rows(tAttempts, job) {
		a, err := decodeAttempt(r.k, r.v)
		switch {
		case err != nil:
		case a.Number == 0:
			holds = append(holds, a)
		default:
			attempts = append(attempts, a)
		}
	}
	return attempts, holds
}

// runningAttempt is the attempt that a running job is in the middle of.
func runningAttempt(j engine.Job) engine.Attempt {
	return engine.Attempt{Number: j.Attempts, Round: j.Round, Try: j.Tries, Phase: j.Phase, Rev: j.Rev, Start: j.Started, Worker: j.Worker}
}

// Recent gives the attempts of an account's jobs that ended last, newest first, at most 200.
func (db *DB) Recent(ctx context.Context, account string, n int) (list []engine.Attempt, err error) {
	err = db.view(ctx, func(t *Tx) error {
		for r := range t.rowsBack(tRecent, key.Strings(account), nil) {
			if len(list) == n {
				return nil
			}
			d, err := tRecent.open(r.k, r.v, fRecent)
			if err != nil {
				continue // the list is a convenience; check names what is corrupt
			}
			k := key.AppendUint64(key.Uint64(d.Uint()), d.Uint())
			if a, err := decodeAttempt(k, bytes.Clone(t.bucket(tAttempts).Get(k))); err == nil {
				list = append(list, a)
			}
		}
		return nil
	})
	return list, err
}
