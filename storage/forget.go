package storage

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/league"
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

// Forget deletes all that is stored of an account, by id or Riot ID, and of the players of collections who are the same
// person; of such players alone, by PUUID or Riot ID; or of a collection, by id. cancelled jobs of it were
// cancelled just now for it; none may be live. It needs Serve. engine.ErrNotFound;
// engine.ErrRefused while a sync of it is open, a job of it lives, or a collection that it concerns is
// under way. An error that comes later leaves a mark: FinishForgotten goes on. audit is the number of the
// entry that tells of it, which is written with the last transaction: who is forgotten is in the audit, and once.
func (db *DB) Forget(
	ctx context.Context, account string, by engine.Actor, reason string, cancelled int,
) (done engine.ForgetDone, audit uint64, err error) {
	db.forgets.Lock()
	defer db.forgets.Unlock()
	var f Forgotten
	if err = db.unask(ctx, account); err != nil {
		return engine.ForgetDone{}, 0, err
	}
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

// trimLog removes what the log of a shared store has told.
func (db *DB) trimLog() error {
	if db.share == nil {
		return nil
	}
	r, err := db.share.leads()
	if err == nil {
		err = db.share.Trim(r.over, r.term)
	}
	return err
}

// unask deletes what has been asked elsewhere for who is about to be forgotten.
func (db *DB) unask(ctx context.Context, what string) error {
	if db.share == nil {
		return nil
	}
	r, err := db.share.leads()
	if err != nil {
		return err
	}
	names, err := readIn(ctx, db, func(t *txn) (names []string, err error) {
		persons, _, _, err := t.identify(what, &Forgotten{})
		for _, a := range persons {
			names = append(names, a.RiotID())
		}
		return names, err
	})
	if err != nil {
		return err
	}
	return db.share.Unask(r.over, r.term, names)
}

// SameRiotID reports whether two Riot IDs are of one name, without what copying them from a page may have added.
func SameRiotID(a, b string) bool { return bareRiotID(a) == bareRiotID(b) }

func bareRiotID(riotID string) string {
	name, tag, _ := strings.Cut(riotID, "#")
	part := func(s string) string {
		return fold(strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) }))
	}
	return part(name) + "#" + part(tag)
}

// FinishForgotten goes on with what a crash, or a caller who has left, has left half done, and
// tells of each account once it is gone; the audit tells of it, too.
func (db *DB) FinishForgotten(ctx context.Context, tell func(Forgotten)) error {
	db.forgets.Lock()
	defer db.forgets.Unlock()
	list, err := readIn(ctx, db, (*txn).forgetting)
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
			db.files.Doomed.Add(slices.DeleteFunc(f.Doomed, t.fetched))
		}
		return nil
	})
}

// fetched reports whether a match row names a payload.
func (t *txn) fetched(match string) bool {
	m, err := t.match(match)
	return !disk.IsNotFound(err) && (err != nil || m.Match.Status == league.Success || m.Timeline.Status == league.Success)
}

// beginForget takes the account or the collection away with what is found by it, and leaves the mark.
func (t *txn) beginForget(what string, f *Forgotten) error {
	// The look for live jobs is in the transaction that takes the account away: none can be added
	// in between.
	persons, mine, bequeathed, err := t.identify(what, f)
	if err != nil {
		return err
	}
	if len(mine) > 0 {
		return engine.Problemf(engine.ErrRefused, "cancel them, or wait for their end",
			"%s of what is to be deleted came up meanwhile", human.Counted(len(mine), "job", "jobs"))
	}
	f.Began = t.Now
	var errs []error
	if len(persons) == 0 {
		id := []byte(f.Account)
		errs = append(errs, t.Remove(tCollections.Table, id), t.Remove(tCollected.Table, id))
	}
	for _, a := range persons {
		if a.Collection != "" {
			errs = append(errs, t.dropPlayer(a))
		} else {
			errs = append(errs, tAccounts.Drop(t, []byte(a.ID), &a), t.Remove(tReports.Table, []byte(a.ID)))
		}
		errs = append(errs, t.uncache(a), t.scrubStates(a))
	}
	for _, j := range bequeathed {
		errs = append(errs, t.saveJob(j))
	}
	t.Emit(engine.Change{Forgotten: f.Account})
	return errors.Join(append(errs, t.putForgotten(*f))...)
}

// identify says whose rows are to go, and counts the one that goes with an account itself. It gives the account and the
// players that are the person, none of a collection, and the live jobs as liveOf does.
func (t *txn) identify(what string, f *Forgotten) (persons []league.Account, mine, bequeathed []engine.Job, err error) {
	c, ok, err := tCollections.Get(t, []byte(what))
	switch {
	case err != nil:
		return nil, nil, nil, err
	case ok:
		f.Account, f.Done.Collection, err = c.ID, c.Name, stillCollecting(c)
	default:
		persons, err = t.person(what)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	for i, a := range persons {
		if i == 0 {
			f.Account, f.PUUIDs = a.ID, puuidsOf(a)
			secret := a.ID // random
			if len(f.PUUIDs) > 0 {
				secret = f.PUUIDs[0]
			}
			// It names the account to those only who know its PUUID.
			f.Done.Mask = fmt.Sprintf("%x", sha256.Sum256([]byte(secret)))[:16]
		}
		if a.Collection != "" {
			f.Players, f.Listed = append(f.Players, a.ID), append(f.Listed, a.Collection)
			f.Done.Players++
		}
		for _, puuid := range puuidsOf(a) {
			if !slices.Contains(f.PUUIDs, puuid) {
				f.PUUIDs = append(f.PUUIDs, puuid)
			}
		}
		if t.Has(tReports.Table, []byte(a.ID)) {
			f.Done.Reports++
		}
	}
	f.Listed = slices.Compact(slices.Sorted(slices.Values(f.Listed)))
	mine, bequeathed, err = t.liveOf(f)
	return persons, mine, bequeathed, err
}

// person finds an account, by id or Riot ID, and behind it the players of collections who have a PUUID or the name of it;
// or such players alone. None of these collections may be under way: it would go on with them.
func (t *txn) person(who string) (persons []league.Account, err error) {
	a, missing := t.findAccount(who)
	if missing != nil && !disk.IsNotFound(missing) {
		return nil, missing
	}
	called := []string{who} // PUUIDs and Riot IDs to look for; it grows by those of each person that is found
	add := func(a league.Account) {
		persons = append(persons, a)
		called = append(called, append(puuidsOf(a), a.RiotID())...)
	}
	if missing == nil && a.Collection == "" {
		add(a)
	}
	all, err := collection.All(tCollections.Under(t, nil))
	if err != nil {
		return nil, err
	}
	platforms := make([][]string, len(all))
	for i, c := range all {
		platforms[i] = t.platformsOf(c.ID)
	}
	for i := 0; i < len(called); i++ {
		for at, c := range all {
			for _, p := range platforms[at] {
				player, ok, err := t.playerOf(c.ID, p, called[i])
				if !ok && err == nil || slices.ContainsFunc(persons, func(a league.Account) bool { return a.ID == player.ID }) {
					continue
				}
				if err = cmp.Or(err, stillCollecting(c)); err != nil {
					return nil, err
				}
				add(player)
			}
		}
	}
	if len(persons) == 0 {
		return nil, fmt.Errorf("account %q: %w", who, engine.ErrNotFound)
	}
	return persons, nil
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
	scrub, clean := newScrub(a, alone), map[string][]byte{}
	for r := range t.Rows(tState, nil) {
		if bytes.HasPrefix(r.Key, []byte(forgetPrefix)) {
			continue // the mark of another account that is half deleted: it is still needed
		}
		blob, err := tState.BlobOf(r.Key, r.Value)
		if err != nil {
			continue // check names it
		}
		if without, found := scrub.blob(blob); found {
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

// WouldForget counts what Forget would delete, and changes nothing. Errors as of Forget.
func (db *DB) WouldForget(ctx context.Context, what string) (engine.ForgetDone, error) {
	w := &forgetter{db: db, ctx: ctx, dry: true}
	err := db.view(ctx, func(t *txn) error {
		_, mine, _, err := t.identify(what, &w.f)
		w.f.Done.Cancelled, w.f.Done.Jobs = len(mine), len(mine) // they are cancelled before, and go as ended ones
		return err
	})
	if err == nil {
		err = w.run(w.matches, w.jobs, w.runs, w.ranks, w.weeklies, w.players)
	}
	return w.f.Done, err
}

// LiveJobsOf gives the live jobs of what Forget would delete, or that are about it, the oldest first. Those that wait and
// that another account's sync counts are left out: they become that account's. Errors as of Forget.
func (db *DB) LiveJobsOf(ctx context.Context, what string) (jobs []engine.Job, err error) {
	return readIn(ctx, db, func(t *txn) ([]engine.Job, error) {
		_, jobs, _, err := t.identify(what, &Forgotten{})
		return jobs, err
	})
}

// liveOf gives the live jobs that are an account's or about it, and as they are to be stored those
// that another account gets: the sync of that one counts them. No index tells whose a job is, so
// all specs are looked through for the account's id, which a job that is for it names: 100,000 of
// them take 25 ms.
func (t *txn) liveOf(f *Forgotten) (mine, bequeathed []engine.Job, err error) {
	for r := range t.Rows(tJobSpec.Table, nil) {
		if !bytes.Contains(r.Value, []byte(f.Account)) && !namesAny(r.Value, f.Players) {
			continue
		}
		j, ok, err := t.readLive(r.Key)
		if err != nil || !ok {
			return nil, nil, errors.Join(err, collection.ErrMissing)
		}
		heir, err := t.heirOf(r.Key, j, f)
		if err != nil {
			return nil, nil, err
		}
		if heir == "" || j.State == engine.Running {
			mine = append(mine, j)
			continue
		}
		if j.Owner == f.Account {
			j.Owner = heir
			j.Rev++
			bequeathed = append(bequeathed, j)
		}
	}
	return mine, bequeathed, nil
}

// uncache drops what Riot last answered for any name of the account.
func (t *txn) uncache(a league.Account) error {
	puuids := puuidsOf(a)
	return t.RemoveFitting(tPUUIDCache.Table, nil, func(r collection.Row) bool {
		cached, err := tPUUIDCache.Decode(r.Key, r.Value)
		return err == nil && (slices.Contains(puuids, cached.PUUID) ||
			cached.Name == fold(a.GameName) && cached.Tag == fold(a.TagLine))
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
	err = w.run(w.owned, w.payloads, w.matches, w.jobs, w.runs, w.ranks, w.weeklies, w.seats, w.players,
		func() error { return db.trimFeed(ctx) }, db.trimLog)
	if err != nil {
		return w.f.Done, 0, err
	}
	crash.Point("forget-before-end")
	err = db.Write(ctx, func(tx engine.Tx) error {
		t := own(tx)
		seq, err := db.AddAudit(t, engine.AuditEntry{
			At: t.Now, By: w.f.By, Op: engine.OpForget, Target: w.f.Done.Target(), Reason: w.f.Reason,
			Result: w.f.Done.Text(false) + "; " + engine.ForgetLeaves + note, Matched: 1, Applied: 1,
		})
		audit = seq
		return errors.Join(err, t.Remove(tState, forgetKey(f.Account)))
	})
	if err == nil {
		err = db.trimLog()
	}
	return w.f.Done, audit, err
}

// forgetter is at work on one account or collection.
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
	tb *collection.Table, prefix []byte, fits fitting, part func(t *txn, f *Forgotten, k []byte) error,
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
	tb *collection.Table, prefix []byte, fits fitting, work func(page [][]byte) error,
) error {
	return w.db.scan(w.ctx, tb, prefix, w.db.pages.Forget, fits, work)
}

// fitting reports whether a row is one of those to be worked on.
type fitting = func(t *txn, r collection.Row) bool

// clear removes all rows that fit.
func (w *forgetter) clear(
	tb *collection.Table, prefix []byte, fits fitting, count func(d *engine.ForgetDone),
) error {
	return w.sweep(tb, prefix, fits, func(t *txn, f *Forgotten, k []byte) error {
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
func (w *forgetter) owned() error {
	for _, tb := range collection.OwnedBy(ofAccount) {
		if err := w.clearTheirs(tb, nil); err != nil {
			return err
		}
	}
	return nil
}

// clearTheirs removes the rows of a table whose keys begin with one of those who are forgotten.
func (w *forgetter) clearTheirs(tb *collection.Table, count func(d *engine.ForgetDone)) error {
	if w.f.Done.Collection != "" { // one walk through the table, and not one for each of its players
		return w.clear(tb, nil, w.begins, count)
	}
	// The first player may stand for an account.
	for _, id := range slices.Compact(append([]string{w.f.Account}, w.f.Players...)) {
		if err := w.clear(tb, key.Strings(id), anyRow, count); err != nil {
			return err
		}
	}
	return nil
}

// begins reports whether a row's key begins with the id of one of those who are forgotten.
func (w *forgetter) begins(t *txn, r collection.Row) bool { return w.of(t, key.Read(r.Key).String()) }

// of reports whether an id is that of the account or collection, or of a player who is forgotten with it.
func (w *forgetter) of(t *txn, id string) bool {
	return id == w.f.Account || slices.Contains(w.f.Players, id) ||
		w.f.Done.Collection != "" && t.Has(playersOf.Table, key.Strings(w.f.Account, id))
}

// anyRow fits every row.
func anyRow(*txn, collection.Row) bool { return true }

// names reports whether a row names the account, by its id or a PUUID.
func (w *forgetter) names(_ *txn, r collection.Row) bool {
	// An id is 26 random characters and a PUUID 78: no other text contains one by chance.
	return bytes.Contains(r.Value, []byte(w.f.Account)) || bytes.Contains(r.Key, []byte(w.f.Account)) ||
		namesAny(r.Value, w.f.PUUIDs) || namesAny(r.Value, w.f.Players)
}

// namesAny reports whether a record has one of some ids in it.
func namesAny(v []byte, ids []string) bool {
	return slices.ContainsFunc(ids, func(id string) bool { return bytes.Contains(v, []byte(id)) })
}

// players deletes those of a collection.
func (w *forgetter) players() error {
	if w.f.Done.Collection == "" {
		return nil
	}
	return w.sweep(playersOf.Table, key.Strings(w.f.Account), anyRow, func(t *txn, f *Forgotten, k []byte) error {
		id := playersOf.Of(collection.Entry{Key: string(k)})
		a, ok, err := tPlayers.Get(t, id)
		if !ok || err != nil {
			return err
		}
		if f.Done.Players++; w.dry {
			return nil
		}
		return t.erasePlayer(id, a)
	})
}
