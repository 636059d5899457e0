package storage

import (
	"errors"
	"fmt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

func runRecord(r league.Run) *rec.Enc {
	e := rec.NewEnc(fRun, 240)
	e.Str(r.Account)
	e.Str(r.Job)
	e.Str(r.Ask.Mode)
	e.Int(int64(r.Ask.Count))
	e.Time(r.Ask.Floor)
	e.Str(string(r.Ask.Timelines))
	e.Bool(r.Ask.Force)
	e.Str(r.Phase)
	e.Time(r.Anchor)
	for _, n := range []int{r.Start, r.Pages, r.Staged} {
		e.Int(int64(n))
	}
	e.Bool(r.OldPart)
	for _, n := range []int{r.Listed, r.Had, r.TooOld, r.TimelinesHad, r.TimelinesTooOld, r.TimelinesNone, r.Lost, r.Resumed, r.ResumedAt} {
		e.Int(int64(n))
	}
	e.Time(r.Triggered)
	e.Time(r.Started)
	e.Time(r.Finished)
	e.Str(r.Result)
	e.Str(r.Error)
	e.Str(r.By)
	e.Str(string(r.Ask.Filter))
	e.Int(int64(r.List))
	e.Int(int64(r.From))
	for _, n := range []int{r.TimelinesLost, r.Left, r.TimelinesLeft} {
		e.Int(int64(n))
	}
	e.Time(r.Closed)
	e.Str(r.Before)
	return e
}

func decodeRun(k, v []byte) (r league.Run, err error) {
	d, err := tRuns.open(k, v, fRun)
	if err != nil {
		return r, err
	}
	r.ID = string(k)
	r.Account, r.Job = d.Str(), d.Str()
	r.Ask = league.Ask{Mode: d.Str(), Count: d.Num(), Floor: d.Time(), Timelines: league.Timelines(d.Str()), Force: d.Bool()}
	r.Phase, r.Anchor = d.Str(), d.Time()
	r.Start, r.Pages, r.Staged = d.Num(), d.Num(), d.Num()
	r.OldPart = d.Bool()
	for _, n := range []*int{&r.Listed, &r.Had, &r.TooOld, &r.TimelinesHad, &r.TimelinesTooOld, &r.TimelinesNone, &r.Lost, &r.Resumed, &r.ResumedAt} {
		*n = d.Num()
	}
	r.Triggered, r.Started, r.Finished = d.Time(), d.Time(), d.Time()
	r.Result, r.Error, r.By = d.Str(), d.Str(), d.Str()
	if d.More() {
		r.Ask.Filter, r.List, r.From = league.Filter(d.Str()), d.Num(), d.Num()
	}
	if d.More() {
		r.TimelinesLost, r.Left, r.TimelinesLeft, r.Closed = d.Num(), d.Num(), d.Num(), d.Time()
	}
	if d.More() {
		r.Before = d.Str()
	}
	return r, tRuns.done(k, d)
}

// Run gives a run by its id; engine.ErrNotFound.
func (db *DB) Run(tx engine.Tx, id string) (league.Run, error) { return own(tx).run(id) }

func (t *Tx) run(id string) (league.Run, error) {
	v := t.bucket(tRuns).Get([]byte(id))
	if v == nil {
		return league.Run{}, fmt.Errorf("run %q: %w", id, engine.ErrNotFound)
	}
	return decodeRun([]byte(id), v)
}

// SaveRun stores the run and emits its account's row.
func (db *DB) SaveRun(tx engine.Tx, r league.Run) error {
	t := own(tx)
	if r.ID == "" || r.Account == "" {
		return fmt.Errorf("save run %q of account %q: both need an id: %w", r.ID, r.Account, engine.ErrInvalid)
	}
	if r.Job != "" {
		if err := t.bindRun(r); err != nil {
			return err
		}
	}
	t.touch(r.Account)
	return t.put(tRuns, []byte(r.ID), runRecord(r))
}

// jobRun says which run a sync job carries, and what the job itself has cost: its children count in their groups.
type jobRun struct {
	run, account     string
	calls, throttled int
}

// bindRun lets the job's groups and attempts find the run.
func (t *Tx) bindRun(r league.Run) error {
	k, err := jobKey(engine.JobID(r.Job))
	if err != nil {
		return err
	}
	b, ok, err := t.runOfJob(k)
	if err != nil || ok && b.run == r.ID {
		return err
	}
	return t.putRunOfJob(k, jobRun{run: r.ID, account: r.Account, calls: b.calls, throttled: b.throttled})
}

func (t *Tx) runOfJob(k []byte) (b jobRun, ok bool, err error) {
	d, ok, err := t.get(tRunOfJob, k, fRunOfJob)
	if err != nil || !ok {
		return b, false, err
	}
	b = jobRun{run: d.Str(), account: d.Str(), calls: d.Num(), throttled: d.Num()}
	return b, true, tRunOfJob.done(k, d)
}

func (t *Tx) putRunOfJob(k []byte, b jobRun) error {
	e := rec.NewEnc(fRunOfJob, 64)
	e.Str(b.run)
	e.Str(b.account)
	e.Int(int64(b.calls))
	e.Int(int64(b.throttled))
	return t.put(tRunOfJob, k, e)
}

// countCalls adds a sync job's own call to its run. A call was made when there was an answer or time on the wire.
func (t *Tx) countCalls(k []byte, a engine.Attempt) error {
	if a.Status == 0 && a.HTTP == 0 {
		return nil
	}
	b, ok, err := t.runOfJob(k)
	if err != nil || !ok {
		return err
	}
	b.calls++
	if a.Status == statusThrottled {
		b.throttled++
	}
	t.touch(b.account)
	return t.putRunOfJob(k, b)
}

// statusThrottled is HTTP's 429 Too Many Requests.
const statusThrottled = 429

// touchRunOf asks for the row of the account whose sync job k is, if it is one.
func (t *Tx) touchRunOf(k []byte) error {
	b, ok, err := t.runOfJob(k)
	if ok {
		t.touch(b.account)
	}
	return err
}

// Stage adds listed ids to the run, each once and in order, and answers how many were new. An id that any page gave as too
// old stays too old.
func (db *DB) Stage(tx engine.Tx, run string, ids []league.Staged) (added int, err error) {
	t := own(tx)
	prefix := key.Strings(run)
	n, err := t.lastNumber(tStaged, prefix)
	if err != nil {
		return 0, err
	}
	for _, s := range ids {
		at, known, err := t.number(tStagedID, key.Strings(run, s.ID))
		if err != nil {
			return added, err
		}
		if known && !s.TooOld {
			continue
		}
		if !known {
			n++
			added++
			at = n
			if err := t.putNumber(tStagedID, key.Strings(run, s.ID), at); err != nil {
				return added, err
			}
		}
		if err := t.put(tStaged, key.AppendUint64(key.Strings(run), at), stagedRecord(s)); err != nil {
			return added, err
		}
	}
	return added, nil
}

func stagedRecord(s league.Staged) *rec.Enc {
	e := rec.NewEnc(fStaged, 20)
	e.Str(s.ID)
	e.Bool(s.TooOld)
	return e
}

// Staged gives the run's ids in the order they were staged.
func (db *DB) Staged(tx engine.Tx, run string) (ids []league.Staged, err error) {
	for r := range own(tx).rows(tStaged, key.Strings(run)) {
		d, err := tStaged.open(r.k, r.v, fStaged)
		if err != nil {
			return nil, err
		}
		s := league.Staged{ID: d.Str(), TooOld: d.Bool()}
		if err := tStaged.done(r.k, d); err != nil {
			return nil, err
		}
		ids = append(ids, s)
	}
	return ids, nil
}

// Unstage drops the run's staged ids.
func (db *DB) Unstage(tx engine.Tx, run string) error {
	t := own(tx)
	return errors.Join(t.removeAll(tStaged, key.Strings(run)), t.removeAll(tStagedID, key.Strings(run)))
}
