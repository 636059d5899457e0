package storage

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

// maxHistory transitions are kept per id.
const maxHistory = 50

// AddHistory appends one transition of anything that has an id. Seq is given here; the order is by it, not by time, since
// clocks step back.
func (db *DB) AddHistory(tx engine.Tx, id string, tr engine.Transition) error {
	t := own(tx)
	prefix := key.Strings(id)
	last, err := t.lastNumber(tHistory, prefix)
	if err != nil {
		return err
	}
	e := rec.NewEnc(fTransition, 48)
	e.Time(tr.At)
	e.Str(tr.From)
	e.Str(tr.To)
	e.Str(tr.Reason)
	e.Str(tr.Actor)
	if err := t.put(tHistory, key.AppendUint64(prefix, last+1), e); err != nil || last < maxHistory {
		return err
	}
	return t.remove(tHistory, key.AppendUint64(key.Strings(id), last+1-maxHistory))
}

// History gives the last transitions of an id, oldest first.
func (db *DB) History(tx engine.Tx, id string) ([]engine.Transition, error) {
	return own(tx).history(id)
}

func (t *Tx) history(id string) (list []engine.Transition, err error) {
	prefix := key.Strings(id)
	for r := range t.rows(tHistory, prefix) {
		d, err := tHistory.open(r.k, r.v, fTransition)
		if err != nil {
			return nil, err
		}
		tr := engine.Transition{Seq: key.Read(r.k[len(prefix):]).Uint64(), At: d.Time(), From: d.Str(), To: d.Str(), Reason: d.Str(), Actor: d.Str()}
		if err := tHistory.done(r.k, d); err != nil {
			return nil, err
		}
		list = append(list, tr)
	}
	return list, nil
}

// SetQueue stores a queue's pause switch and emits the change.
func (db *DB) SetQueue(tx engine.Tx, q engine.QueueState) error {
	t := own(tx)
	e := rec.NewEnc(fQueue, 48)
	e.Bool(q.Paused)
	encodeActor(e, q.By)
	e.Time(q.Since)
	e.Str(q.Reason)
	if err := t.put(tQueues, []byte(q.Name), e); err != nil {
		return err
	}
	t.Emit(engine.Change{Queue: &q})
	return nil
}

// Queues lists the stored queues by name.
func (db *DB) Queues(ctx context.Context) (list []engine.QueueState, err error) {
	err = db.view(ctx, func(t *Tx) error {
		for r := range t.rows(tQueues, nil) {
			d, err := tQueues.open(r.k, r.v, fQueue)
			if err != nil {
				return err
			}
			q := engine.QueueState{Name: engine.Queue(r.k), Paused: d.Bool(), By: decodeActor(d), Since: d.Time(), Reason: d.Str()}
			if err := tQueues.done(r.k, d); err != nil {
				return err
			}
			list = append(list, q)
		}
		return nil
	})
	return list, err
}

func encodeActor(e *rec.Enc, a engine.Actor) {
	e.Str(a.User)
	e.Str(a.Session)
	e.Str(a.Via)
}

func decodeActor(d *rec.Dec) engine.Actor {
	return engine.Actor{User: d.Str(), Session: d.Str(), Via: d.Str()}
}

// LoadState gives a small named blob; nil when there is none.
func (db *DB) LoadState(ctx context.Context, name string) (blob []byte, err error) {
	err = db.view(ctx, func(t *Tx) error {
		d, ok, err := t.get(tState, []byte(name), fBlob)
		if err != nil || !ok {
			return err
		}
		blob = d.Bytes()
		return tState.done([]byte(name), d)
	})
	return blob, err
}

// SaveState keeps a small named blob.
func (db *DB) SaveState(ctx context.Context, name string, blob []byte) error {
	return db.Write(ctx, func(tx engine.Tx) error { return db.PutState(tx, name, blob) })
}

// PutState is SaveState within a transaction.
func (db *DB) PutState(tx engine.Tx, name string, blob []byte) error {
	e := rec.NewEnc(fBlob, len(blob)+4)
	e.Bytes(blob)
	return own(tx).put(tState, []byte(name), e)
}

// SaveReport stores an account's play-time report in place of the one before. The report is a table of numbers that only
// people and exports read, so its body is JSON.
func (db *DB) SaveReport(tx engine.Tx, r engine.PlayReport) error {
	b, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("report of %s: %w", r.Account, err)
	}
	e := rec.NewEnc(fReport, len(b)+4)
	e.Bytes(b)
	return own(tx).put(tReports, []byte(r.Account), e)
}

// Report gives an account's stored report; nil when there is none.
func (db *DB) Report(ctx context.Context, account string) (r *engine.PlayReport, err error) {
	err = db.view(ctx, func(t *Tx) error {
		r, err = t.report(account)
		return err
	})
	return r, err
}

// PlayReport is Report inside a transaction.
func (db *DB) PlayReport(tx engine.Tx, account string) (*engine.PlayReport, error) {
	return own(tx).report(account)
}

func (t *Tx) report(account string) (*engine.PlayReport, error) {
	k := []byte(account)
	d, ok, err := t.get(tReports, k, fReport)
	if err != nil || !ok {
		return nil, err
	}
	r := new(engine.PlayReport)
	if err := json.Unmarshal(d.Bytes(), r); err != nil {
		return nil, tReports.corrupt(k, err)
	}
	return r, tReports.done(k, d)
}

// Names in table counters.
const (
	countAccounts  = "accounts"
	countMatches   = "matches." // and the word of a status
	countTimelines = "timelines.success"
)

// countTotal adds to one of the totals that consoles show.
func (t *Tx) countTotal(name string, n int) error {
	t.totalsChanged = true
	return t.count(name, n)
}

// Totals gives the stored counters of all matches.
func (db *DB) Totals(ctx context.Context) (totals engine.Totals, err error) {
	err = db.view(ctx, func(t *Tx) error {
		totals, err = t.totals()
		return err
	})
	return totals, err
}

func (t *Tx) totals() (engine.Totals, error) {
	var tot engine.Totals
	for name, n := range map[string]*int64{
		countAccounts:                                         &tot.Accounts,
		countTimelines:                                        &tot.Timelines,
		countMatches + league.Unfetched.String():              &tot.Unfetched,
		countMatches + league.Success.String():                &tot.Success,
		countMatches + league.TemporaryFailure.String():       &tot.Temporary,
		countMatches + league.PermanentlyUnfetchable.String(): &tot.Permanent,
		countMatches + league.OutsideRetentionWindow.String(): &tot.TooOld,
	} {
		v, _, err := t.number(tCounters, []byte(name))
		if err != nil {
			return tot, err
		}
		*n = int64(v)
	}
	tot.Matches = tot.Unfetched + tot.Success + tot.Temporary + tot.Permanent + tot.TooOld
	return tot, nil
}
