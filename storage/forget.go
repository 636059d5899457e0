package storage

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/key"
)

// Forgetting an account deletes all that is stored of it. Its first transaction takes the account itself away, so that
// nobody can ask for anything of it any more, and leaves a mark in table state. The rest goes in transactions of bounded
// size, each of which brings the mark up to date; the last one removes it. Whatever happens between two of them, the store
// is sound and the mark leads to the end: every step looks for what is still there.

// Forgotten is an account that is being forgotten, or has been.
type Forgotten struct {
	Account string            `json:"account"` // its id with us
	PUUIDs  []string          `json:"puuids,omitempty"`
	By      engine.Actor      `json:"by"`
	Reason  string            `json:"reason,omitempty"`
	Began   time.Time         `json:"began"`
	Done    engine.ForgetDone `json:"done"`
	// Doomed are matches whose rows are gone and whose payloads are next.
	Doomed []string `json:"doomed,omitempty"`
}

// maskOf names an account to those only who know its PUUID.
func maskOf(a league.Account) string {
	secret := a.ID // random
	if puuids := puuidsOf(a); len(puuids) > 0 {
		secret = puuids[0]
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(secret)))[:16]
}

// Forget deletes all that is stored of an account, by id or Riot ID. cancelled jobs of it were cancelled just now for it;
// none may be live. It needs Serve. engine.ErrNotFound; engine.ErrRefused while a sync of it is open or a job of it lives.
// An error that comes later leaves a mark: FinishForgotten goes on. audit is the number of the entry that tells of it, which
// is written with the last transaction: who is forgotten is in the audit, and once.
func (db *DB) Forget(ctx context.Context, account string, by engine.Actor, reason string, cancelled int) (done engine.ForgetDone, audit uint64, err error) {
	db.forgets.Lock()
	defer db.forgets.Unlock()
	f, err := db.beginForget(ctx, account, Forgotten{By: by, Reason: reason, Done: engine.ForgetDone{Cancelled: cancelled}})
	if err != nil {
		return engine.ForgetDone{}, 0, err
	}
	crash.Point("forget-begun")
	return db.finishForget(ctx, f, "")
}

// FinishForgotten goes on with what a crash, or a caller who has left, has left half done, and tells of each account once it
// is gone; the audit tells of it, too.
func (db *DB) FinishForgotten(ctx context.Context, tell func(Forgotten)) error {
	db.forgets.Lock()
	defer db.forgets.Unlock()
	list, err := db.forgetting(ctx)
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

func (db *DB) forgetting(ctx context.Context) (list []Forgotten, err error) {
	err = db.view(ctx, func(t *Tx) error {
		list, err = t.forgetting()
		return err
	})
	return list, err
}

func (t *Tx) forgetting() (list []Forgotten, err error) {
	for r := range t.rows(tState, []byte(forgetPrefix)) {
		mark, err := tState.blobOf(r.k, r.v)
		if err != nil {
			return nil, err
		}
		var f Forgotten
		if err := json.Unmarshal(mark, &f); err != nil {
			return nil, tState.corrupt(r.k, err)
		}
		list = append(list, f)
	}
	return list, nil
}

// doomAgain takes up what the process before had doomed. What has been fetched again since is safe.
func (db *DB) doomAgain() error {
	return db.view(context.Background(), func(t *Tx) error {
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
func (t *Tx) fetched(match string) bool {
	m, err := t.match(match)
	return !disk.IsNotFound(err) && (err != nil || m.Match.Status == league.Success || m.Timeline.Status == league.Success)
}

// beginForget leaves the mark, in one transaction with taking the account away. The live jobs are looked through before, and
// only those that were seen to be the account's, or came up since, are looked at again.
func (db *DB) beginForget(ctx context.Context, account string, f Forgotten) (Forgotten, error) {
	a, err := db.findAccount(ctx, account)
	if err != nil {
		return f, err
	}
	if err := db.watchSpecs(ctx, []byte(a.ID)); err != nil {
		return f, err
	}
	// It fails only when the store has ended, which whoever writes next is told.
	defer func() { _ = db.watchSpecs(context.WithoutCancel(ctx), nil) }()
	specs, err := db.specsOf(ctx, a.ID)
	if err != nil {
		return f, err
	}
	crash.Point("forget-looked")
	next := f
	err = db.Write(ctx, func(tx engine.Tx) error {
		try := f
		err := own(tx).beginForget(a.ID, db.specs.with(specs), &try)
		next = try
		return err
	})
	return next, err
}

// beginForget takes the account away with what is found by it, and leaves the mark. specs are the keys of all live jobs that
// may be the account's.
func (t *Tx) beginForget(account string, specs [][]byte, f *Forgotten) error {
	a, err := t.findAccount(account)
	if err != nil {
		return err
	}
	mine, bequeathed, err := t.liveOf(a.ID, specs)
	if err != nil {
		return err
	}
	if n := len(mine); n > 0 {
		return engine.Problemf(engine.ErrRefused, "cancel them, or wait for their end", "%s of the account came up meanwhile", human.Counted(n, "job", "jobs"))
	}
	f.Account, f.PUUIDs, f.Began, f.Done.Mask = a.ID, puuidsOf(a), t.now, maskOf(a)
	if t.has(tReports.table, []byte(a.ID)) {
		f.Done.Reports++
	}
	errs := []error{
		tAccounts.drop(t, []byte(a.ID), &a), t.remove(tReports.table, []byte(a.ID)), t.uncache(a),
	}
	for _, j := range bequeathed {
		errs = append(errs, t.saveJob(j))
	}
	t.Emit(engine.Change{Forgotten: a.ID})
	return errors.Join(append(errs, t.putForgotten(*f))...)
}

func (db *DB) findAccount(ctx context.Context, account string) (a league.Account, err error) {
	err = db.view(ctx, func(t *Tx) error {
		a, err = t.findAccount(account)
		return err
	})
	return a, err
}

// LiveJobsOf gives the live jobs that are an account's, or are about it, the oldest first; by id or Riot ID. Those that wait
// and that another account's sync counts are left out: they become that account's. engine.ErrNotFound.
func (db *DB) LiveJobsOf(ctx context.Context, account string) (jobs []engine.Job, err error) {
	a, err := db.findAccount(ctx, account)
	if err != nil {
		return nil, err
	}
	keys, err := db.specsOf(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	err = db.view(ctx, func(t *Tx) error {
		jobs, _, err = t.liveOf(a.ID, keys)
		return err
	})
	return jobs, err
}

// uncache drops what Riot last answered for any name of the account.
func (t *Tx) uncache(a league.Account) error {
	puuids := puuidsOf(a)
	var gone [][]byte
	for r := range t.rows(tPUUIDCache.table, nil) {
		read := key.Read(r.k)
		_, name, tag := read.String(), read.String(), read.String()
		cached, err := tPUUIDCache.decode(r.k, r.v)
		if err == nil && (slices.Contains(puuids, cached.puuid) || name == fold(a.GameName) && tag == fold(a.TagLine)) {
			gone = append(gone, bytes.Clone(r.k))
		}
	}
	return t.removeKeys(tPUUIDCache.table, gone)
}

func (t *Tx) putForgotten(f Forgotten) error {
	b, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("mark of account %s: %w", f.Done.Mask, err)
	}
	return t.putBlob(tState, forgetKey(f.Account), b)
}

// finishForget deletes what is left, and then removes the mark in one transaction with the entry in the audit, whose result
// ends with note.
func (db *DB) finishForget(ctx context.Context, f Forgotten, note string) (done engine.ForgetDone, audit uint64, err error) {
	w := &forgetter{db: db, ctx: ctx, f: f}
	for _, step := range []func() error{w.owned, w.payloads, w.matches, w.jobs, w.runs, w.ranks, w.weeklies, w.seats} {
		if err := step(); err != nil {
			return w.f.Done, 0, err
		}
	}
	if err := db.trimFeed(ctx); err != nil {
		return w.f.Done, 0, err
	}
	crash.Point("forget-before-end")
	err = db.Write(ctx, func(tx engine.Tx) error {
		t := own(tx)
		seq, err := db.AddAudit(t, w.f.entry(t.now, note))
		audit = seq
		return errors.Join(err, t.remove(tState, forgetKey(f.Account)))
	})
	return w.f.Done, audit, err
}

// entry is what the audit says of it.
func (f Forgotten) entry(at time.Time, note string) engine.AuditEntry {
	return engine.AuditEntry{
		At: at, By: f.By, Op: engine.OpForget, Target: f.Done.Target(), Reason: f.Reason,
		Result: f.Done.Text(false) + "; " + engine.ForgetLeaves + note, Matched: 1, Applied: 1,
	}
}

// forgetter is at work on one account.
type forgetter struct {
	db  *DB
	ctx context.Context
	f   Forgotten // as the mark has it
}

// commit deletes a part in one transaction with the mark that tells of it.
func (w *forgetter) commit(part func(t *Tx, f *Forgotten) error) error {
	next := w.f
	err := w.db.Write(w.ctx, func(tx engine.Tx) error {
		try := w.f
		if err := part(own(tx), &try); err != nil {
			return err
		}
		next = try
		return own(tx).putForgotten(try)
	})
	if err != nil {
		return err
	}
	w.f = next
	crash.Point("forget-batch")
	return nil
}

// sweep goes through a table, and lets part delete what fits, a page per transaction. A row may have gone meanwhile.
func (w *forgetter) sweep(tb *table, prefix []byte, fits func(k, v []byte) bool, part func(t *Tx, f *Forgotten, k []byte) error) error {
	return w.sweepPages(tb, prefix, fits, func(t *Tx, f *Forgotten, page [][]byte) error {
		for _, k := range page {
			if err := part(t, f, k); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *forgetter) sweepPages(tb *table, prefix []byte, fits func(k, v []byte) bool, part func(t *Tx, f *Forgotten, page [][]byte) error) error {
	from := prefix
	for {
		page, next, err := w.look(tb, prefix, from, fits)
		if err != nil {
			return err
		}
		for some := range slices.Chunk(page, w.db.pages.Forget) {
			if err := w.commit(func(t *Tx, f *Forgotten) error { return part(t, f, some) }); err != nil {
				return err
			}
		}
		if next == nil {
			return nil
		}
		from = next
	}
}

// look gives the keys of the next rows of a table that fit.
func (w *forgetter) look(tb *table, prefix, from []byte, fits func(k, v []byte) bool) (page [][]byte, next []byte, err error) {
	err = w.db.view(w.ctx, func(t *Tx) error {
		looked := 0
		for r := range t.rowsFrom(tb, prefix, from) {
			if looked++; looked > w.db.pages.Scan {
				next = bytes.Clone(r.k)
				return nil
			}
			if fits(r.k, r.v) {
				page = append(page, bytes.Clone(r.k))
			}
		}
		return nil
	})
	return page, next, err
}

// clear removes all rows under a prefix.
func (w *forgetter) clear(tb *table, prefix []byte, count func(d *engine.ForgetDone)) error {
	return w.sweep(tb, prefix, anyRow, func(t *Tx, f *Forgotten, k []byte) error {
		if t.has(tb, k) && count != nil {
			count(&f.Done)
		}
		return t.removeRow(tb, k)
	})
}

// owned removes the rows of all tables that belong to the account.
func (w *forgetter) owned() error { return w.clearOwned(ofAccount, w.f.Account) }

func (w *forgetter) clearOwned(by owner, id string) error {
	for _, tb := range owned(by) {
		if err := w.clear(tb, key.Strings(id), nil); err != nil {
			return err
		}
	}
	return nil
}

func anyRow(_, _ []byte) bool { return true }

// names reports whether a row names the account, by its id or a PUUID.
func (w *forgetter) names(k, v []byte) bool {
	if bytes.Contains(v, []byte(w.f.Account)) || bytes.Contains(k, []byte(w.f.Account)) {
		return true
	}
	return slices.ContainsFunc(w.f.PUUIDs, func(p string) bool { return bytes.Contains(v, []byte(p)) })
}
