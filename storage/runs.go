package storage

import (
	"context"
	"errors"
	"fmt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

// A run is one sync of an account. What it has listed is staged until its children are made, so
// that a crash in the middle of a listing of thousands of ids loses none of them:
//
//	runs        "01J…"                 -> account, mode, phase, page to go on with, what was had and lost …
//	run_of_job  job 7                  -> run "01J…", its account, 12 calls, 0 of them 429
//	staged      run "01J…", 1          -> "KR_7214550881"
//	staged_id   run "01J…", "KR_7214…" -> 1, so that an id that two pages give is staged once
var (
	tRuns = collection.Declare(collection.New("runs", "id", "one sync of an account").Grows(), collection.Records[league.Run]{
		Format: 18, Key: func(c *key.Coder, r *league.Run) { c.Rest(&r.ID) }, Fields: runFields,
	})
	tRunOfJob = collection.Declare(
		collection.New("run_of_job", "u64 id of the sync job", "run id, calls and 429s of the job's own attempts").Grows(),
		collection.Records[jobRun]{Format: 19, Fields: func(c *rec.Coder, b *jobRun) {
			c.Str(&b.run, &b.account)
			c.Int(&b.calls, &b.throttled)
		}})
	tStaged = collection.Declare(
		collection.New("staged", "str run, u64 n", "one listed id, in the order of the listing").BelongsTo(ofRun),
		collection.Records[league.Staged]{Format: 20, Fields: func(c *rec.Coder, s *league.Staged) {
			c.Str(&s.ID)
			c.Bool(&s.TooOld)
			if c.More(s.List > 0) {
				c.Int(&s.List)
			}
		}})
	tStagedID = collection.New("staged_id", "str run, str match", "u64 n").BelongsTo(ofRun)
)

// runFields are in the order in which versions of the program added them: a record that an earlier
// one wrote ends before what came later (More).
func runFields(c *rec.Coder, r *league.Run) {
	c.Str(&r.Account, &r.Job, &r.Ask.Mode)
	c.Int(&r.Ask.Count)
	c.Time(&r.Ask.Floor)
	c.Str((*string)(&r.Ask.Timelines))
	c.Bool(&r.Ask.Force)
	c.Str(&r.Phase)
	c.Time(&r.Anchor)
	c.Int(&r.Start, &r.Pages, &r.Staged)
	c.Bool(&r.OldPart)
	c.Int(&r.Listed, &r.Had, &r.TooOld, &r.TimelinesHad, &r.TimelinesTooOld, &r.TimelinesNone)
	c.Int(&r.Lost, &r.Resumed, &r.ResumedAt)
	c.Time(&r.Triggered, &r.Started, &r.Finished)
	c.Str(&r.Result, &r.Error, &r.By)
	if c.More(true) {
		c.Str((*string)(&r.Ask.Filter))
		c.Int(&r.List, &r.From)
	}
	if c.More(true) {
		c.Int(&r.TimelinesLost, &r.Left, &r.TimelinesLeft)
		c.Time(&r.Closed)
	}
	if c.More(true) {
		c.Str(&r.Before)
	}
	if c.More(true) {
		c.Int(&r.Ends, &r.Looks, &r.Unaskable)
		c.Bool(&r.Again, &r.Mingled, &r.Ask.Whole)
	}
}

// Run gives a run by its id; engine.ErrNotFound.
func (db *DB) Run(tx engine.Tx, id string) (league.Run, error) { return own(tx).run(id) }

func (t *txn) run(id string) (league.Run, error) {
	return tRuns.Want(t, []byte(id), "run %q", id)
}

// Runs lists the last n runs of an account, the newest first. One that is not kept any more ends
// the list.
func (db *DB) Runs(ctx context.Context, account string, n int) ([]engine.RunRow, error) {
	return readIn(ctx, db, func(t *txn) (list []engine.RunRow, err error) {
		a, err := t.account(account)
		if err != nil {
			return nil, err
		}
		for id := a.Run; id != "" && len(list) < n; {
			r, err := t.run(id)
			var work *runWork
			if err == nil {
				work, err = t.workOf(r)
			}
			if disk.IsNotFound(err) {
				return list, nil
			}
			if err != nil {
				return nil, err
			}
			row := withRun(engine.AccountRow{}, r, work)
			list, id = append(list, engine.RunRow{
				ID: r.ID, Kind: row.Kind, By: r.By, Triggered: row.Triggered, Started: row.Started, Finished: row.Finished, Result: row.Result,
				Error: r.Error, Matches: row.Matches, Calls: row.Calls,
			}), r.Before
		}
		return list, nil
	})
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
	return tRuns.Put(t, []byte(r.ID), &r)
}

// jobRun says which run a sync job carries, and what the job itself has cost: its children count in
// their groups.
type jobRun struct {
	run, account     string
	calls, throttled int
}

// bindRun lets the job's groups and attempts find the run.
func (t *txn) bindRun(r league.Run) error {
	k, err := jobKey(engine.JobID(r.Job))
	if err != nil {
		return err
	}
	b, ok, err := tRunOfJob.Get(t, k)
	// A run is saved at each step; its job leads to it from the first one on.
	if err != nil || ok && b.run == r.ID {
		return err
	}
	b.run, b.account = r.ID, r.Account
	return tRunOfJob.Put(t, k, &b)
}

// countCalls adds a sync job's own call to its run. A call was made when there was an answer or
// time on the wire.
func (t *txn) countCalls(k []byte, a engine.Attempt) error {
	// An attempt that waited for the limiter and was stopped has made none.
	if a.Status == 0 && a.HTTP == 0 {
		return nil
	}
	b, ok, err := tRunOfJob.Get(t, k)
	if err != nil || !ok {
		return err
	}
	b.calls++
	if a.Status == statusThrottled {
		b.throttled++
	}
	t.touch(b.account)
	return tRunOfJob.Put(t, k, &b)
}

// statusThrottled is HTTP's 429 Too Many Requests.
const statusThrottled = 429

// touchRunOf asks for the row of the account whose sync job k is, if it is one.
func (t *txn) touchRunOf(k []byte) error {
	b, ok, err := tRunOfJob.Get(t, k)
	if ok {
		t.touch(b.account)
	}
	return err
}

// Stage adds listed ids to the run, each once and in order, and answers how many were new. An id
// that any page gave as inside retention is not too old, whichever page came first.
func (db *DB) Stage(tx engine.Tx, run string, ids []league.Staged) (added int, err error) {
	t := own(tx)
	prefix := key.Strings(run)
	n, err := t.LastNumber(tStaged.Table, prefix)
	if err != nil {
		return 0, err
	}
	for _, s := range ids {
		at, known, err := t.Number(tStagedID, key.Strings(run, s.ID))
		if err != nil {
			return added, err
		}
		// Lists overlap: a game that is played while an account is listed moves all ids by one, and
		// the next page begins with the last of this one.
		if known && s.TooOld {
			continue
		}
		if !known {
			n++
			added++
			at = n
			if err := t.PutNumber(tStagedID, key.Strings(run, s.ID), at); err != nil {
				return added, err
			}
		}
		if err := tStaged.Put(t, key.AppendUint64(key.Strings(run), at), &s); err != nil {
			return added, err
		}
	}
	return added, nil
}

// Staged gives the run's ids in the order they were staged.
func (db *DB) Staged(tx engine.Tx, run string) ([]league.Staged, error) {
	return collection.All(tStaged.Under(own(tx), key.Strings(run)))
}

// Unstage drops the run's staged ids.
func (db *DB) Unstage(tx engine.Tx, run string) error {
	t := own(tx)
	return errors.Join(t.RemoveAll(tStaged.Table, key.Strings(run)), t.RemoveAll(tStagedID, key.Strings(run)))
}

// lastRun reports whether an account still shows the run.
func (t *txn) lastRun(b jobRun) bool {
	// An account that cannot be read shows nothing: its runs may go.
	a, err := t.account(b.account)
	return err == nil && a.Run == b.run
}

// What runs wanted and have not got. A row lasts until the part is there, whoever brings it, or
// until a later run of the account has taken the match over.

// "EUW1_7012345678", run "01J…", "timeline" -> account "01J…", job "c812", not left
var tGaps = collection.Declare(
	collection.New("gaps", "str match, str run, str part", "whose run it is, and its job that ended without the part"),
	collection.Records[league.Gap]{Format: 35,
		Key: func(c *key.Coder, g *league.Gap) { c.Str(&g.Match, &g.Run, (*string)(&g.Part)) },
		Fields: func(c *rec.Coder, g *league.Gap) {
			c.Str(&g.Account, &g.Job)
			c.Bool(&g.Left)
		}})

// Gaps lists what any run misses of a match.
func (db *DB) Gaps(tx engine.Tx, match string) ([]league.Gap, error) {
	return collection.All(tGaps.Under(own(tx), key.Strings(match)))
}

// SaveGap notes what a run misses, in place of what was noted before; added is false when the run
// missed that part already.
func (db *DB) SaveGap(tx engine.Tx, g league.Gap) (added bool, err error) { return own(tx).saveGap(g) }

func (t *txn) saveGap(g league.Gap) (added bool, err error) {
	k := tGaps.KeyOf(&g)
	// Has is asked before Put: Go evaluates results in their order.
	return !t.Has(tGaps.Table, k), tGaps.Put(t, k, &g)
}

// DropGap takes the note away.
func (db *DB) DropGap(tx engine.Tx, g league.Gap) error {
	return own(tx).Remove(tGaps.Table, tGaps.KeyOf(&g))
}
