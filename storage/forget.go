package storage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/both"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/key"
)

// Forgetting an account, or a collection with its players, deletes all that is stored of it. Its first
// transaction takes the account itself away, so that nobody can ask for anything of it any more, and
// leaves a mark in table state. The rest goes in transactions of bounded size, each of which brings the mark up to date;
// the last one removes it. Whatever happens between two of them, the store is sound and the mark
// leads to the end: every step looks for what is still there. A dry run goes the same way, counts,
// and deletes nothing. The rows of a collection's players go last: they tell whose all others are.

// Forgotten is an account or a collection that is being forgotten, or has been.
type Forgotten = both.Forgotten

// Forget deletes all that is stored of an account, by id or Riot ID. cancelled jobs of it were
// cancelled just now for it; none may be live. It needs Serve. engine.ErrNotFound;
// engine.ErrRefused while a sync of it is open or a job of it lives. An error that comes later
// leaves a mark: FinishForgotten goes on. audit is the number of the entry that tells of it, which
// is written with the last transaction: who is forgotten is in the audit, and once.
func (db *DB) Forget(
	ctx context.Context, account string, by engine.Actor, reason string, cancelled int,
) (done engine.ForgetDone, audit uint64, err error) {
	db.forgets.Lock()
	defer db.forgets.Unlock()
	var f Forgotten
	err = db.Write(ctx, func(tx engine.Tx) error {
		f = Forgotten{By: by, Reason: reason, Done: engine.ForgetDone{Cancelled: cancelled}}
		return own(tx).beginForget(account, &f)
	})
	if err != nil {
		return engine.ForgetDone{}, 0, err
	}
	crash.Point("forget-begun")
	return db.finishForget(ctx, f, "")
}

// FinishForgotten goes on with what a crash, or a caller who has left, has left half done, and
// tells of each account once it is gone; the audit tells of it, too.
func (db *DB) FinishForgotten(ctx context.Context, tell func(Forgotten)) error {
	db.forgets.Lock()
	defer db.forgets.Unlock()
	list, err := look(ctx, db, (*txn).forgetting)
	if err != nil {
		return err
	}
	for _, f := range list {
		if f.Done, _, err = db.finishForget(ctx, f, "; it had been interrupted"); err != nil {
			return fmt.Errorf("go on with forgetting account %s: %w", f.Done.Mask, err)
		}
		tell(f)
	}
	return nil
}

// forgetting lists the accounts that are half forgotten, by their marks.
func (t *txn) forgetting() (list []Forgotten, err error) {
	for r := range t.Rows(tState, []byte(forgetPrefix)) {
		mark, err := tState.BlobOf(r.Key, r.Value)
		if err != nil {
			return nil, err
		}
		var f Forgotten
		if err := json.Unmarshal(mark, &f); err != nil {
			return nil, tState.Corrupt(r.Key, err)
		}
		list = append(list, f)
	}
	return list, nil
}

// doomAgain takes up what the process before had doomed. What has been fetched again since is safe.
func (db *DB) doomAgain() error {
	return db.view(context.Background(), func(t *txn) error {
		list, err := t.forgetting()
		if err != nil && !disk.IsDamage(err) { // check names a mark that cannot be read
			return err
		}
		for _, f := range list {
			db.payloads.Doomed.Add(slices.DeleteFunc(f.Doomed, t.fetched))
		}
		return nil
	})
}

// fetched reports whether a match row names a payload.
func (t *txn) fetched(match string) bool {
	m, err := t.match(match)
	return !disk.IsNotFound(err) && (err != nil || m.Match.Status == league.Success || m.Timeline.Status == league.Success)
}

// beginForget takes the account away with what is found by it, and leaves the mark.
func (t *txn) beginForget(account string, f *Forgotten) error {
	// The look for live jobs is in the transaction that takes the account away: none can be added
	// in between.
	a, err := t.findAccount(account)
	if err != nil {
		return err
	}
	mine, bequeathed, err := t.liveOf(a.ID)
	if err != nil {
		return err
	}
	if err := both.StillLive(len(mine)); err != nil {
		return err
	}
	f.Began = t.Now
	t.identify(a, f)
	errs := []error{
		tAccounts.Drop(t, []byte(a.ID), &a), t.Remove(tReports.Table, []byte(a.ID)), t.uncache(a),
	}
	for _, j := range bequeathed {
		errs = append(errs, t.saveJob(j))
	}
	errs = append(errs, t.scrubStates(a))
	t.Emit(engine.Change{Forgotten: a.ID})
	return errors.Join(append(errs, t.putForgotten(*f))...)
}

// scrubStates takes the account, and the matches that only it has, out of what is kept as blobs. It
// goes with the account itself: what goes on with an interrupted one does not know the name any
// more.
func (t *txn) scrubStates(a league.Account) error {
	var alone []string
	for r := range t.Rows(byAccount.Table, key.Strings(a.ID)) {
		if l, err := listingAt(r.Key); err == nil && !t.hasOthers(l.Match, a.ID) {
			alone = append(alone, l.Match)
		}
	}
	scrub, clean := both.NewScrub(a, alone), map[string][]byte{}
	for r := range t.Rows(tState, nil) {
		// Several accounts may be half forgotten at once.
		if bytes.HasPrefix(r.Key, []byte(forgetPrefix)) {
			continue // who is half deleted has to be found
		}
		blob, err := tState.BlobOf(r.Key, r.Value)
		if err != nil {
			continue // check names it
		}
		if without, found := scrub.Blob(blob); found {
			clean[string(r.Key)] = without
		}
	}
	var errs []error
	for name, blob := range clean {
		errs = append(errs, t.PutBlob(tState, []byte(name), blob))
	}
	return errors.Join(errs...)
}

// hasOthers reports whether a match is in the list of another account.
func (t *txn) hasOthers(match, account string) bool {
	return slices.ContainsFunc(t.accountsOf(match), func(a string) bool { return a != account })
}

// identify says whose rows are to go, and counts the one that goes with the account itself.
func (t *txn) identify(a league.Account, f *Forgotten) {
	f.Identify(a)
	if t.Has(tReports.Table, []byte(a.ID)) {
		f.Done.Reports++
	}
}

// WouldForget counts what Forget would delete, and changes nothing. engine.ErrNotFound.
func (db *DB) WouldForget(ctx context.Context, account string) (engine.ForgetDone, error) {
	w := &forgetter{db: db, ctx: ctx, dry: true}
	err := db.view(ctx, func(t *txn) error {
		a, err := t.findAccount(account)
		if err != nil {
			return err
		}
		mine, _, err := t.liveOf(a.ID)
		t.identify(a, &w.f)
		w.f.Done.Cancelled, w.f.Done.Jobs = len(mine), len(mine) // they are cancelled before, and go as ended ones
		return err
	})
	if err == nil {
		err = w.run(w.matches, w.jobs, w.runs, w.ranks, w.weeklies)
	}
	return w.f.Done, err
}

// LiveJobsOf gives the live jobs that are an account's, or are about it, the oldest first; by id or
// Riot ID. Those that wait and that another account's sync counts are left out: they become that
// account's. engine.ErrNotFound.
func (db *DB) LiveJobsOf(ctx context.Context, account string) (jobs []engine.Job, err error) {
	return look(ctx, db, func(t *txn) ([]engine.Job, error) {
		a, err := t.findAccount(account)
		if err == nil {
			jobs, _, err = t.liveOf(a.ID)
		}
		return jobs, err
	})
}

// liveOf gives the live jobs that are an account's or about it, and as they are to be stored those
// that another account gets: the sync of that one counts them. No index tells whose a job is, so
// all specs are looked through for the account's id, which a job that is for it names: 100,000 of
// them take 25 ms.
func (t *txn) liveOf(account string) (mine, bequeathed []engine.Job, err error) {
	for r := range t.Rows(tJobSpec.Table, nil) {
		if !bytes.Contains(r.Value, []byte(account)) {
			continue
		}
		j, ok, err := t.readLive(r.Key)
		if err != nil || !ok {
			return nil, nil, errors.Join(err, collection.ErrMissing)
		}
		heir, err := t.heirOf(r.Key, account)
		if err != nil {
			return nil, nil, err
		}
		if heir == "" || j.State == engine.Running {
			mine = append(mine, j)
			continue
		}
		if j.Owner == account {
			j.Owner = heir
			j.Rev++
			bequeathed = append(bequeathed, j)
		}
	}
	return mine, bequeathed, nil
}

// uncache drops what Riot last answered for any name of the account.
func (t *txn) uncache(a league.Account) error {
	puuids := both.PUUIDsOf(a)
	return t.RemoveFitting(tPUUIDCache.Table, nil, func(r collection.Row) bool {
		cached, err := tPUUIDCache.Decode(r.Key, r.Value)
		return err == nil && (slices.Contains(puuids, cached.PUUID) ||
			cached.Name == both.Fold(a.GameName) && cached.Tag == both.Fold(a.TagLine))
	})
}

// putForgotten writes the mark, which is all that is left to find the account's rows by.
func (t *txn) putForgotten(f Forgotten) error {
	b, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("mark of account %s: %w", f.Done.Mask, err)
	}
	return t.PutBlob(tState, forgetKey(f.Account), b)
}

// finishForget deletes what is left, and then removes the mark in one transaction with the entry in
// the audit, whose result ends with note.
func (db *DB) finishForget(
	ctx context.Context, f Forgotten, note string,
) (done engine.ForgetDone, audit uint64, err error) {
	w := &forgetter{db: db, ctx: ctx, f: f}
	err = w.run(w.owned, w.payloads, w.matches, w.jobs, w.runs, w.ranks, w.weeklies, w.seats,
		func() error { return db.trimFeed(ctx) })
	if err != nil {
		return w.f.Done, 0, err
	}
	crash.Point("forget-before-end")
	err = db.Write(ctx, func(tx engine.Tx) error {
		t := own(tx)
		seq, err := db.AddAudit(t, w.f.Entry(t.Now, note))
		audit = seq
		return errors.Join(err, t.Remove(tState, forgetKey(f.Account)))
	})
	return w.f.Done, audit, err
}

// forgetter is at work on one account.
type forgetter struct {
	db  *DB
	ctx context.Context
	dry bool      // only count
	f   Forgotten // as the mark has it
}

// run does steps in their order; each looks for what is still there, so that it may be done again.
func (w *forgetter) run(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// commit counts and deletes a part in one transaction with the mark that tells of it.
func (w *forgetter) commit(part func(t *txn, f *Forgotten) error) error {
	next := w.f
	err := w.db.do(w.ctx, w.dry, func(t *txn) error {
		next = w.f
		if err := part(t, &next); err != nil || w.dry {
			return err
		}
		return t.putForgotten(next)
	})
	// Only what is committed counts: a page that failed is done again, from the same numbers.
	if err != nil {
		return err
	}
	w.f = next
	crash.Point("forget-batch")
	return nil
}

// sweep goes through a table, and lets part count and delete what fits, a page per transaction. A
// row may have gone meanwhile.
func (w *forgetter) sweep(
	tb *collection.Table, prefix []byte, fits func(k, v []byte) bool, part func(t *txn, f *Forgotten, k []byte) error,
) error {
	return w.pages(tb, prefix, fits, func(page [][]byte) error {
		return w.commit(func(t *txn, f *Forgotten) error {
			for _, k := range page {
				if err := part(t, f, k); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// pages gives work the keys of the rows that fit, as many at a time as one transaction may delete.
func (w *forgetter) pages(
	tb *collection.Table, prefix []byte, fits func(k, v []byte) bool, work func(page [][]byte) error,
) error {
	row := func(_ *txn, r collection.Row) bool { return fits(r.Key, r.Value) }
	return w.db.scan(w.ctx, tb, prefix, w.db.pages.Forget, row, work)
}

// clear removes all rows under a prefix.
func (w *forgetter) clear(tb *collection.Table, prefix []byte, count func(d *engine.ForgetDone)) error {
	return w.sweep(tb, prefix, anyRow, func(t *txn, f *Forgotten, k []byte) error {
		if t.Has(tb, k) && count != nil {
			count(&f.Done)
		}
		if w.dry {
			return nil
		}
		return t.RemoveRow(tb, k)
	})
}

// owned removes the rows of all tables that belong to the account.
func (w *forgetter) owned() error { return w.clearOwned(ofAccount, w.f.Account) }

// clearOwned removes the rows of all tables that belong to one thing, such as an account or a run.
func (w *forgetter) clearOwned(by collection.Owner, id string) error {
	for _, tb := range collection.OwnedBy(by) {
		if err := w.clear(tb, key.Strings(id), nil); err != nil {
			return err
		}
	}
	return nil
}

// anyRow fits every row.
func anyRow(_, _ []byte) bool { return true }

// names reports whether a row names the account, by its id or a PUUID.
func (w *forgetter) names(k, v []byte) bool {
	// An id is 26 random characters and a PUUID 78: no other text contains one by chance.
	if bytes.Contains(v, []byte(w.f.Account)) || bytes.Contains(k, []byte(w.f.Account)) {
		return true
	}
	return slices.ContainsFunc(w.f.PUUIDs, func(p string) bool { return bytes.Contains(v, []byte(p)) })
}
