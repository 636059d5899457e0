package storage

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/key"
)

// A record whose checksum or shape does not hold is set aside: its raw bytes go to table state under corrupt/table/key, from
// where they can be exported, and what it was about goes on without it.

// classUndecodable is the error class of a job that was discarded because its records cannot be read (P-28).
const classUndecodable engine.Class = "undecodable"

// classCorrupt is the error class of a part whose stored bytes cannot be read; it is fetched again.
const classCorrupt = "corrupt"

const asidePrefix = "corrupt/"

// Aside is a record that could not be read, as it lay in its table.
type Aside struct {
	Table string `json:"table"`
	Key   []byte `json:"key"`
	Value []byte `json:"value"`
}

func asideName(tb *table, k []byte) []byte {
	return []byte(asidePrefix + tb.name + "/" + hex.EncodeToString(k))
}

// setAside keeps the raw bytes of a record, if there is one.
func (t *Tx) setAside(tb *table, k []byte) error {
	v := t.bucket(tb).Get(k)
	if v == nil {
		return nil
	}
	return t.putBlob(tState, asideName(tb, k), v)
}

// SetAside lists the records that could not be read and were set aside.
func (db *DB) SetAside(ctx context.Context) (list []Aside, err error) {
	err = db.view(ctx, func(t *Tx) error {
		for r := range t.rows(tState, []byte(asidePrefix)) {
			value, err := tState.blobOf(r.k, r.v)
			if err != nil {
				continue // check names it
			}
			name, k, _ := strings.Cut(strings.TrimPrefix(string(r.k), asidePrefix), "/")
			raw, err := hex.DecodeString(k)
			if err != nil {
				return tState.corrupt(r.k, err)
			}
			list = append(list, Aside{Table: name, Key: raw, Value: value})
		}
		return nil
	})
	return list, err
}

// MarkCorrupt takes a part whose stored bytes cannot be read back to unfetched, so that it is fetched again, and says why
// in its row. If the match's own record cannot be read it is set aside, and both parts are unfetched: payloads that are
// whole are then adopted (FindPayload). A part that is not a success is left as it is.
func (db *DB) MarkCorrupt(ctx context.Context, match string, part league.Part) error {
	return db.Write(ctx, func(tx engine.Tx) error {
		t := own(tx)
		m, err := t.match(match)
		if _, corrupt := disk.AsCorrupt(err); corrupt {
			return t.replaceMatch(match)
		}
		if err != nil {
			return err
		}
		f := &m.Match
		if part == league.PartTimeline {
			f = &m.Timeline
		}
		if f.Status != league.Success {
			return nil
		}
		f.Status, f.Ref = league.Unfetched, league.PayloadRef{}
		f.LastError, f.LastClass = "what was stored of it cannot be read: it is fetched again", classCorrupt
		if err := db.SaveMatch(t, m, true); err != nil {
			return err
		}
		return db.AddHistory(t, match, engine.Transition{At: t.now, From: "success", To: "unfetched", Reason: "the stored " + string(part) + " is corrupt", Actor: "engine"})
	})
}

// replaceMatch puts an empty row in the place of one that cannot be read. What the old one counted as is unknown, so the
// counters are made anew from all rows.
func (t *Tx) replaceMatch(id string) error {
	k := []byte(id)
	if err := t.setAside(tMatches.table, k); err != nil {
		return err
	}
	m := league.Match{ID: id, Listed: t.now}
	m.Match.LastError, m.Match.LastClass = "its record cannot be read: it is fetched again", classCorrupt
	if err := errors.Join(tMatches.put(t, k, &m), t.feedMatch(league.Match{}, m, false)); err != nil {
		return err
	}
	if t.has(tFeedOf, feedOfKey(tagTimelines, id)) {
		if err := t.toEnd(tagTimelines, id); err != nil {
			return err
		}
	}
	for _, s := range []league.Status{league.TemporaryFailure, league.PermanentlyUnfetchable} {
		if t.has(matchStatus.table, statusKey(s, id)) {
			if err := t.remove(matchStatus.table, statusKey(s, id)); err != nil {
				return err
			}
		}
	}
	for _, account := range t.accountsOf(id) {
		if err := t.listMatch(account, id, m.Played); err != nil {
			return err
		}
	}
	return t.recountMatches()
}

// recountMatches sets the counters of matches to what the rows say.
func (t *Tx) recountMatches() error {
	counts := map[string]uint64{countTimelines: 0}
	for s := league.Unfetched; s <= league.OutsideRetentionWindow; s++ {
		counts[countMatches+s.String()] = 0
	}
	for m, err := range tMatches.under(t, nil) {
		if err == nil { // else another one to be set aside
			for _, name := range tMatches.counts(&m) {
				counts[name]++
			}
		}
	}
	for name, n := range counts {
		if err := t.setCounter(name, n); err != nil {
			return err
		}
	}
	return nil
}

// DiscardUnreadable ends a live job whose records cannot be read (Live yields it with its error): it is discarded as
// undecodable with what can still be read of it, its raw records are set aside, its key is free. Whoever calls this settles
// the job's groups in the same transaction (Mark). engine.ErrRefused when the job can be read.
func (db *DB) DiscardUnreadable(tx engine.Tx, id engine.JobID) (engine.Job, error) {
	t := own(tx)
	k, err := jobKey(id)
	if err != nil {
		return engine.Job{}, err
	}
	_, ok, err := t.readLive(k)
	if _, corrupt := disk.AsCorrupt(err); !corrupt {
		if err == nil && ok {
			err = fmt.Errorf("job %s can be read: %w", id, engine.ErrRefused)
		}
		if err == nil {
			err = noJob(id)
		}
		return engine.Job{}, err
	}
	j := t.salvage(k)
	j.State, j.Finished, j.Hold = engine.Discarded, t.now, 0
	j.Rev++
	j.Class, j.LastError = classUndecodable, "its record cannot be read: "+err.Error()
	if err := t.bury(k, j); err != nil {
		return j, fmt.Errorf("discard job %s: %w", id, err)
	}
	t.Emit(engine.Change{Job: &j, Before: engine.Available})
	return j, nil
}

// salvage reads what can be read of a job.
func (t *Tx) salvage(k []byte) engine.Job {
	var j engine.Job
	if spec, ok, err := tJobSpec.get(t, k); ok && err == nil {
		j = spec
	}
	whole := j
	if ok, err := tJobState.add(t, k, &whole); ok && err == nil {
		j = whole
	}
	j.ID = jobID(key.Read(k).Uint64())
	j.HasParents = len(t.groupsOf(key.Read(k).Uint64())) > 0
	return j
}

// bury moves a job to the archive, whatever state its records are in.
func (t *Tx) bury(k []byte, j engine.Job) error {
	for _, tb := range []*table{tJobState.table, tJobSpec.table, tJobError.table} {
		v := t.bucket(tb).Get(k)
		if v == nil {
			continue
		}
		if err := errors.Join(t.setAside(tb, k), t.remove(tb, k)); err != nil {
			return err
		}
	}
	t.wrote(key.Read(k).Uint64(), engine.Job{})
	if err := t.freeKeysOf(k); err != nil {
		return err
	}
	t.countMove(&engine.Job{}, &j)
	return t.putEnded(key.Read(k).Uint64(), k, &j)
}

// freeKeysOf frees the unique key that a job holds, which its own record may no longer tell.
func (t *Tx) freeKeysOf(k []byte) error {
	var held [][]byte
	for r := range t.rows(tJobKey, nil) {
		if n, _, err := t.number(tJobKey, r.k); err == nil && bytes.Equal(key.Uint64(n), k) {
			held = append(held, bytes.Clone(r.k))
		}
	}
	for _, h := range held {
		if err := t.remove(tJobKey, h); err != nil {
			return err
		}
	}
	return nil
}
