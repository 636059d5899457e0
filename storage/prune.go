package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/key"
)

// PruneRule says which ended jobs may go, by how long ago they ended. 0 keeps them for ever.
type PruneRule struct {
	Completed time.Duration
	Failed    time.Duration // discarded and cancelled
	// Classes overrules Failed for jobs whose last error was of a class; "404" stands for "404.x", too.
	Classes    map[engine.Class]time.Duration
	KeepFailed int // the newest failed ones that stay whatever their age
}

// age is how long a job that has ended is kept; 0 = for ever.
func (r PruneRule) age(j engine.Job) time.Duration {
	if !listed(j.State) {
		return r.Completed
	}
	if age, ok := r.Classes[j.Class]; ok {
		return age
	}
	family, _, _ := strings.Cut(string(j.Class), ".")
	if age, ok := r.Classes[engine.Class(family)]; ok && family != "" {
		return age
	}
	return r.Failed
}

// PruneReport is what Prune removed, or would remove.
type PruneReport struct {
	Completed int `json:"completed"`
	Failed    int `json:"failed"`
	Attempts  int `json:"attempts"`
	Spared    int `json:"spared"` // old enough, but a job that is kept waits for them or shows them, or they have open children
	// Classes are the failed ones by the class of their last error.
	Classes map[engine.Class]int `json:"classes,omitempty"`
}

// Prune removes ended jobs with their attempts, groups and history, oldest first, a page per transaction (P-33). Data,
// counters and runs stay. It needs Serve, unless dryRun.
func (db *DB) Prune(ctx context.Context, rule PruneRule, now time.Time, dryRun bool) (r PruneReport, err error) {
	var after []byte
	for {
		page, next, err := db.prunable(ctx, rule, now, after)
		if err != nil {
			return r, err
		}
		for some := range slices.Chunk(page, db.pages.Prune) {
			part, err := db.prunePage(ctx, some, dryRun)
			if err != nil {
				return r, err
			}
			r.add(part)
		}
		if next == nil {
			if !dryRun && r.Completed+r.Failed > 0 {
				err = db.trimFeed(ctx)
			}
			return r, err
		}
		after = next
	}
}

func (r *PruneReport) add(o PruneReport) {
	r.Completed += o.Completed
	r.Failed += o.Failed
	r.Attempts += o.Attempts
	r.Spared += o.Spared
	for class, n := range o.Classes {
		r.class(class, n)
	}
}

func (r *PruneReport) class(c engine.Class, n int) {
	if r.Classes == nil {
		r.Classes = map[engine.Class]int{}
	}
	r.Classes[c] += n
}

func (db *DB) prunePage(ctx context.Context, page [][]byte, dryRun bool) (r PruneReport, err error) {
	if dryRun {
		err = db.view(ctx, func(t *Tx) error {
			r, err = t.prune(page, false)
			return err
		})
		return r, err
	}
	err = db.Write(ctx, func(tx engine.Tx) error {
		r, err = own(tx).prune(page, true)
		return err
	})
	return r, err
}

// prunable looks at the next ended jobs and gives those that are old enough.
func (db *DB) prunable(ctx context.Context, rule PruneRule, now time.Time, after []byte) (page [][]byte, next []byte, err error) {
	err = db.view(ctx, func(t *Tx) error {
		spare := t.newestFailed(rule.KeepFailed)
		looked := 0
		for r := range t.rowsFrom(tArchive.table, nil, after) {
			if looked++; looked > db.pages.Scan {
				next = bytes.Clone(r.k)
				return nil
			}
			j, err := tArchive.decode(r.k, r.v)
			if err != nil {
				continue // check names it
			}
			if age := rule.age(j); age > 0 && now.Sub(j.Finished) > age && !spare[j.ID] {
				page = append(page, bytes.Clone(r.k))
			}
		}
		return nil
	})
	return page, next, err
}

// newestFailed are the last n discarded and cancelled jobs.
func (t *Tx) newestFailed(n int) map[engine.JobID]bool {
	var ids []uint64
	for _, s := range []engine.State{engine.Discarded, engine.Cancelled} {
		seen := 0
		for r := range t.rowsBack(archiveState.table, []byte{byte(s)}, nil) {
			if seen++; seen > n {
				break
			}
			ids = append(ids, key.Read(r.k[1:]).Uint64())
		}
	}
	slices.Sort(ids)
	spare := map[engine.JobID]bool{}
	for _, id := range ids[max(len(ids)-n, 0):] {
		spare[jobID(id)] = true
	}
	return spare
}

// prune removes the ended jobs under the keys, but for those that others still need.
func (t *Tx) prune(page [][]byte, remove bool) (r PruneReport, err error) {
	gone := map[string][]uint64{} // by owner
	keys := map[string]bool{}
	for _, k := range page {
		j, ok, err := tArchive.get(t, k)
		if err != nil || !ok {
			continue // revived meanwhile
		}
		if t.needed(k) {
			r.Spared++
			continue
		}
		r.count(j)
		for range t.rows(tAttempts.table, k) {
			r.Attempts++
		}
		if !remove {
			continue
		}
		if err := t.pruneJob(k, j); err != nil {
			return r, fmt.Errorf("prune job %s: %w", j.ID, err)
		}
		gone[j.Owner] = append(gone[j.Owner], key.Read(k).Uint64())
		keys[j.Key] = true
	}
	for owner, ids := range gone {
		if err := t.forgetRecent(owner, ids); err != nil {
			return r, err
		}
	}
	return r, t.repoint(keys)
}

func (r *PruneReport) count(j engine.Job) {
	if listed(j.State) {
		r.Failed++
		r.class(j.Class, 1)
		return
	}
	r.Completed++
}

// needed reports whether a stored job waits for this one or shows it, whether it has open children, or whether its groups are
// the progress that its account shows.
func (t *Tx) needed(k []byte) bool {
	if b, ok, err := tRunOfJob.get(t, k); err != nil || ok && t.lastRun(b) {
		return true
	}
	for range t.rows(tMemberOf, k) {
		return true
	}
	for g, err := range tGroups.under(t, k) {
		if err != nil || g.Open > 0 {
			return true
		}
	}
	return false
}

func (t *Tx) pruneJob(k []byte, j engine.Job) error {
	t.onDay(j.Finished).pruned.CountEnded(j.State, 1) // the sums of days survive what they counted
	for r := range t.rows(tAttempts.table, k) {
		if a, err := tAttempts.decode(r.k, r.v); err == nil {
			t.onDay(a.End).pruned.CountAttempt(a, 1)
		}
	}
	if err := t.forgetCalls(j); err != nil {
		return err
	}
	var kids [][]byte
	for r := range t.rows(tMembers.table, k) {
		kids = append(kids, append(bytes.Clone(r.k[9:]), r.k[:9]...))
	}
	for _, kid := range kids {
		if err := t.remove(tMemberOf, kid); err != nil {
			return err
		}
	}
	err := errors.Join(t.removeOwned(ofJob, k),
		t.removeAll(tHistory.table, key.Strings(string(j.ID))), tArchive.drop(t, k, &j))
	if err != nil || j.Key == "" {
		return err
	}
	if n, ok, err := t.number(tArchiveKey, []byte(j.Key)); err != nil || !ok || n != key.Read(k).Uint64() {
		return err
	}
	return t.remove(tArchiveKey, []byte(j.Key))
}

// forgetRecent takes pruned jobs out of what their owner did last.
func (t *Tx) forgetRecent(owner string, ids []uint64) error {
	var gone [][]byte
	for r := range t.rows(tRecent.table, key.Strings(owner)) {
		at, err := tRecent.decode(r.k, r.v)
		if err == nil && slices.Contains(ids, at.job) {
			gone = append(gone, bytes.Clone(r.k))
		}
	}
	for _, k := range gone {
		if err := t.remove(tRecent.table, k); err != nil {
			return err
		}
	}
	return nil
}

// repoint makes a failed job that stays the one that its key finds, now that a later one with that key is gone.
func (t *Tx) repoint(keys map[string]bool) error {
	delete(keys, "")
	if len(keys) == 0 || !t.writable {
		return nil
	}
	latest := map[string]uint64{}
	for r := range t.rows(archiveState.table, nil) {
		j, ok, err := tArchive.get(t, r.k[1:])
		if ok && err == nil && keys[j.Key] {
			latest[j.Key] = max(latest[j.Key], key.Read(r.k[1:]).Uint64())
		}
	}
	for name, n := range latest {
		if t.has(tArchiveKey, []byte(name)) {
			continue
		}
		if err := t.putNumber(tArchiveKey, []byte(name), n); err != nil {
			return err
		}
	}
	return nil
}
