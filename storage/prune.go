package storage

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
	"github.com/farsight-console/farsight/storage/key"
)

// Prune removes ended jobs with their attempts, groups and history, oldest first, a page per
// transaction (P-33). Data, counters and runs stay. It needs Serve, unless dryRun.
func (db *DB) Prune(
	ctx context.Context, rule engine.PruneAsk, now time.Time, dryRun bool,
) (done engine.PruneDone, err error) {
	// They are chosen once, before anything is removed: chosen anew for each page, older ones would
	// move up into the places of those that went.
	var spare map[engine.JobID]bool
	err = db.view(ctx, func(t *txn) error {
		spare = t.newestFailed(rule.KeepFailed)
		return nil
	})
	if err != nil {
		return done, err
	}
	old := func(_ *txn, r collection.Row) bool {
		j, err := tArchive.Decode(r.Key, r.Value) // check names one that cannot be read
		age := keptFor(rule, j)
		return err == nil && age > 0 && now.Sub(j.Finished) > age && !spare[j.ID]
	}
	err = db.scan(ctx, tArchive.Table, nil, db.pages.Prune, old, func(page [][]byte) error {
		var next engine.PruneDone
		err := db.do(ctx, dryRun, func(t *txn) error {
			// The function may run again when a neighbour of its group has failed, so it counts
			// from where the last page ended, in a map of its own.
			next = done
			next.Classes = maps.Clone(done.Classes)
			return t.prune(page, &next, dryRun)
		})
		if err == nil {
			done = next
		}
		return err
	})
	if err == nil && !dryRun && done.Completed+done.Failed > 0 {
		// Places of pruned jobs lead nowhere. They are not removed job by job, since a place is not
		// found by its job.
		err = db.trimFeed(ctx)
	}
	return done, err
}

// newestFailed are the last n discarded and cancelled jobs, which stay whatever their age. Those
// that fail while others are pruned are too young to go.
func (t *txn) newestFailed(n int) map[engine.JobID]bool {
	var ids []uint64
	for _, s := range []engine.State{engine.Discarded, engine.Cancelled} {
		seen := 0
		for r := range t.RowsBack(archiveState.Table, []byte{byte(s)}, nil) {
			if seen++; seen > n {
				break
			}
			ids = append(ids, key.Read(r.Key[1:]).Uint64())
		}
	}
	// Numbers rise with the creation of jobs: the last n of both states together are the newest.
	slices.Sort(ids)
	spare := map[engine.JobID]bool{}
	for _, id := range ids[max(len(ids)-n, 0):] {
		spare[jobID(id)] = true
	}
	return spare
}

// prune removes the ended jobs under the keys, but for those that others still need, and counts
// them.
func (t *txn) prune(page [][]byte, done *engine.PruneDone, dry bool) error {
	gone := map[string][]uint64{} // by owner
	keys := map[string]bool{}
	for _, k := range page {
		j, ok, err := tArchive.Get(t, k)
		if err != nil || !ok {
			continue // revived meanwhile
		}
		if t.needed(k) {
			done.Spared++
			continue
		}
		countPruned(done, j, t.CountUnder(tAttempts.Table, k))
		if dry {
			continue
		}
		if err := t.pruneJob(k, j); err != nil {
			return fmt.Errorf("prune job %s: %w", j.ID, err)
		}
		gone[j.Owner] = append(gone[j.Owner], key.Read(k).Uint64())
		keys[j.Key] = true
	}
	// An owner's list has 200 rows. It is read once for a page of jobs, and not once for each.
	for owner, ids := range gone {
		if err := t.forgetRecent(owner, ids); err != nil {
			return err
		}
	}
	return t.repoint(keys)
}

// needed reports whether a stored job waits for this one or shows it, whether it has open children,
// or whether its groups are the progress that its account shows.
func (t *txn) needed(k []byte) bool {
	// What cannot be read is needed: it is never removed for what is not known of it.
	if b, ok, err := tRunOfJob.Get(t, k); err != nil || ok && t.lastRun(b) {
		return true
	}
	if t.HasUnder(memberOf.Table, k) {
		return true
	}
	for g, err := range tGroups.Under(t, k) {
		if err != nil || g.Open > 0 {
			return true
		}
	}
	return false
}

// pruneJob removes an ended job with all that belongs to it. Which job its key finds then is decided by
// repoint.
func (t *txn) pruneJob(k []byte, j engine.Job) error {
	t.onDay(j.Finished).pruned.CountEnded(j.State, 1) // the sums of days survive what they counted
	for r := range t.Rows(tAttempts.Table, k) {
		if a, err := tAttempts.Decode(r.Key, r.Value); err == nil {
			t.onDay(a.End).pruned.CountAttempt(a, 1)
		}
	}
	if err := t.forgetCalls(j); err != nil {
		return err
	}
	err := errors.Join(t.RemoveOwned(ofJob, k),
		t.RemoveAll(tHistory.Table, key.Strings(string(j.ID))), tArchive.Drop(t, k, &j))
	if err != nil || j.Key == "" {
		return err
	}
	// The key may lead to a later job already, which stays.
	if n, ok, err := t.Number(tArchiveKey, []byte(j.Key)); err != nil || !ok || n != key.Read(k).Uint64() {
		return err
	}
	return t.Remove(tArchiveKey, []byte(j.Key))
}

// forgetRecent takes pruned jobs out of what their owner did last.
func (t *txn) forgetRecent(owner string, ids []uint64) error {
	return t.RemoveFitting(tRecent.Table, key.Strings(owner), func(r collection.Row) bool {
		at, err := tRecent.Decode(r.Key, r.Value)
		return err == nil && slices.Contains(ids, at.job)
	})
}

// repoint makes a failed job that stays the one that its key finds, now that a later one with that
// key is gone.
func (t *txn) repoint(keys map[string]bool) error {
	delete(keys, "")
	if len(keys) == 0 {
		return nil
	}
	// The archive is not found by key, but only failed jobs are kept so long that an earlier one
	// with the same key may still be there: those few are looked through.
	latest := map[string]uint64{}
	for r := range t.Rows(archiveState.Table, nil) {
		j, ok, err := tArchive.Get(t, r.Key[1:])
		if ok && err == nil && keys[j.Key] {
			latest[j.Key] = max(latest[j.Key], key.Read(r.Key[1:]).Uint64())
		}
	}
	for name, n := range latest {
		if t.Has(tArchiveKey, []byte(name)) {
			continue
		}
		if err := t.PutNumber(tArchiveKey, []byte(name), n); err != nil {
			return err
		}
	}
	return nil
}

// keptFor is how long a job that has ended is kept; 0 = for ever. The class "404.match" has the
// age of "404" if it has none of its own.
func keptFor(rule engine.PruneAsk, j engine.Job) time.Duration {
	if !failed(j.State) {
		return rule.Completed
	}
	family, _, _ := strings.Cut(string(j.Class), ".")
	for _, class := range []engine.Class{j.Class, engine.Class(family)} {
		if age, ok := rule.Classes[class]; ok && (class != "" || class == j.Class) {
			return age
		}
	}
	return rule.Failed
}

// failed reports whether a job that ended so counts as failed when old ones are removed: a
// cancelled one does, as somebody may ask why it was.
func failed(s engine.State) bool { return s == engine.Discarded || s == engine.Cancelled }

// countPruned counts a job that is removed.
func countPruned(done *engine.PruneDone, j engine.Job, attempts int) {
	done.Attempts += attempts
	if !failed(j.State) {
		done.Completed++
		return
	}
	done.Failed++
	if done.Classes == nil {
		done.Classes = map[engine.Class]int{}
	}
	done.Classes[j.Class]++
}

// DroppedMonth is what retention did, or would do, with one month.
type DroppedMonth struct {
	Month    string `json:"month"`
	Payloads int    `json:"payloads"` // that matches name and that go with the file
	Bytes    int64  `json:"bytes"`
	Left     string `json:"left,omitempty"` // why the file stays
}

// DropExpired deletes the payload files of months that lie wholly outside of keep, as seen at now,
// and nothing when keep is off. The matches stay: each payload's reference is marked as dropped
// first, so that a crash leaves a file that nobody names, which the next run deletes. A damaged
// file is never deleted. Only a retention rule that the operator configured may ask for this. It
// needs Serve, unless dryRun.
func (db *DB) DropExpired(
	ctx context.Context, keep league.Span, now time.Time, dryRun bool,
) (list []DroppedMonth, err error) {
	if keep.Off() {
		return nil, nil
	}
	months, err := db.payloads.Months()
	if err != nil {
		return nil, err
	}
	// A month counts as a whole: it goes when its last day is outside.
	for _, m := range months {
		if !expired(m, keep, now) {
			continue
		}
		d, err := db.weighMonth(m)
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	if len(list) == 0 {
		return nil, nil
	}
	// Those that name a payload of the months are marked, a page of matches per transaction.
	named := func(_ *txn, r collection.Row) bool { return countIn(list, r) }
	err = db.scan(ctx, tMatches.Table, nil, db.pages.Scan, named, func(page [][]byte) error {
		if dryRun {
			return nil
		}
		return db.do(ctx, false, func(t *txn) error { return t.dropRefs(page, list) })
	})
	if err != nil || dryRun {
		return list, err
	}
	crash.Point("retention-marked")
	// A file is deleted only after every reference to it is marked, a page of matches after the
	// other. Until then the marks say dropped of payloads that are still there, which is harmless.
	for _, d := range list {
		if d.Left != "" {
			continue
		}
		if err := db.payloads.Drop(d.Month); err != nil {
			return list, fmt.Errorf("drop %s: %w", d.Month, err)
		}
		db.log.Info().Str("month", d.Month).Int("payloads", d.Payloads).Int64("bytes", d.Bytes).
			Msg("retention dropped a month of payloads")
	}
	return list, nil
}

func (db *DB) weighMonth(month string) (d DroppedMonth, err error) {
	d.Month = month
	// Left says why a month stays, as "page 12 is out of place". A file that cannot be read may be
	// all that is left of its payloads, so it is a person who decides.
	if d.Bytes, err = db.payloads.Weigh(month); disk.IsDamage(err) {
		d.Left, err = err.Error(), nil
	}
	return d, err
}

// countIn counts a match's payloads that lie in the months, and reports whether there are any.
func countIn(list []DroppedMonth, r collection.Row) (any bool) {
	m, err := tMatches.Decode(r.Key, r.Value)
	if err != nil {
		return false // check names it
	}
	for _, f := range []*league.Fetch{&m.Match, &m.Timeline} {
		if d := dropping(list, f); d != nil {
			d.Payloads++
			any = true
		}
	}
	return any
}

// dropping finds the month of the list that holds a payload.
func dropping(list []DroppedMonth, f *league.Fetch) *DroppedMonth {
	if f.Status != league.Success || f.Ref.Dropped() {
		return nil
	}
	// A month that stays for its damage (Left) keeps its references, too.
	i := slices.IndexFunc(list, func(d DroppedMonth) bool { return d.Month == f.Ref.Month && d.Left == "" })
	if i < 0 {
		return nil
	}
	return &list[i]
}

func (t *txn) dropRefs(page [][]byte, list []DroppedMonth) error {
	for _, k := range page {
		m, err := t.match(string(k))
		// Check names a match that cannot be read; one that is gone was forgotten meanwhile.
		if disk.IsDamage(err) || disk.IsNotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		for _, f := range []*league.Fetch{&m.Match, &m.Timeline} {
			if dropping(list, f) != nil {
				// Month, length and checksum stay: they tell what there was, and which month it was
				// in.
				f.Ref.Codec, f.Ref.Size = league.CodecDropped, 0
			}
		}
		if err := tMatches.Put(t, k, &m); err != nil {
			return fmt.Errorf("mark the payloads of %s as dropped: %w", m.ID, err)
		}
	}
	return nil
}

// monthOverlap is how long after the end of its month a game of that month may still have begun:
// it is created while players choose.
const monthOverlap = 24 * time.Hour

// expired reports whether a month lies wholly outside of keep, as seen at now. What is no month
// never does: a rule that cannot tell how old something is deletes nothing.
func expired(month string, keep league.Span, now time.Time) bool {
	end := payload.MonthEnd(month)
	return !end.IsZero() && end.Add(monthOverlap).Before(keep.Before(now))
}
