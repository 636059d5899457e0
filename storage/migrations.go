package storage

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/key"
)

// migrations lead from the first schema to the present one. A variable so that tests can add to it.
//
// A version is either that of a migration or one that only brought tables (cameWith), never both:
// whoever adds either takes newestSchema()+1, and a test holds that there is no gap and nothing
// twice. A migration is for records that mean something else than before. A new table needs none,
// nor do fields that are added at the end of a record (rec.Coder.More).
var migrations = []migration{
	{2, "tables of the whole engine, and the feeds of what is there",
		through(nil, pass{tMatches.Table, nil, feedOldMatch}, pass{tParticipants.Table, nil, feedOldSeats},
			pass{tArchive.Table, nil, feedOldJob})},
	{3, "the sums of each day",
		through((*txn).takeOldPruned, pass{tArchive.Table, nil, countOldJob}, pass{tAttempts.Table, nil, countOldAttempt})},
	{4, "calls by their external ids", through(nil, pass{tAttempts.Table, nil, (*txn).noteOldExternal})},
	{5, "the discarded jobs of each queue",
		through(nil, pass{archiveState.Table, []byte{byte(engine.Discarded)}, countOldDiscard})},
	{6, "what is missing of the last syncs",
		through(nil, pass{archiveState.Table, nil, (*txn).gapsOfJob}, pass{tAccounts.Table, nil, (*txn).gapsOfAccount})},
	{8, "the days of collections", through(nil, pass{tCollected.Table, nil, daysOfCollection})},
}

// Version 2 gives everything that is exported its place. Afterwards anything goes on as if it had
// been stored in this order: matches by id, then seats by match, then ended jobs. A record that
// cannot be read has its place all the same where its key tells enough: check names it.

func feedOldMatch(t *txn, k []byte) error {
	m, _, err := tMatches.Get(t, k)
	if err != nil {
		m = league.Match{}
	}
	if err := t.toEnd(tagMatches, string(k)); err != nil {
		return err
	}
	if sameTimeline(m, league.Match{}) {
		return nil
	}
	return t.toEnd(tagTimelines, string(k))
}

func feedOldSeats(t *txn, k []byte) error { return t.toEnd(tagParticipants, string(k)) }

func feedOldJob(t *txn, k []byte) error {
	j, _, err := tArchive.Get(t, k)
	if _, corrupt := disk.AsCorrupt(err); corrupt {
		return nil
	}
	return errors.Join(err, t.feedEnded(&j))
}

// oldPruned was the counter of pruned jobs before there was a table of days: and a day and a state.
const oldPruned = "pruned."

// Version 3 makes the sums of the days from what is there. Attempts of jobs that were pruned before
// are not known any more. A record that cannot be read counts nowhere, as in a recount: check names
// it.

func countOldJob(t *txn, k []byte) error {
	if j, _, err := tArchive.Get(t, k); err == nil {
		t.onDay(j.Finished).all.CountEnded(j.State, 1)
	}
	return nil
}

func countOldAttempt(t *txn, k []byte) error {
	if a, _, err := tAttempts.Get(t, k); err == nil {
		t.onDay(a.End).all.CountAttempt(a, 1)
	}
	return nil
}

// takeOldPruned puts the counters of pruned jobs where they belong now.
func (t *txn) takeOldPruned() error {
	var names []string
	for r := range t.Rows(collection.Counters, []byte(oldPruned)) {
		names = append(names, string(r.Key))
	}
	for _, name := range names {
		n, _, err := t.Number(collection.Counters, []byte(name))
		if _, corrupt := disk.AsCorrupt(err); err != nil && !corrupt {
			return err
		}
		day, word, _ := strings.Cut(strings.TrimPrefix(name, oldPruned), ".")
		at, timeErr := time.Parse(time.DateOnly, day)
		state, stateErr := engine.ParseState(word)
		// A counter whose name cannot be read is dropped: it counted for no day.
		if err == nil && timeErr == nil && stateErr == nil {
			d := t.onDay(at)
			d.all.CountEnded(state, int64(n))
			d.pruned.CountEnded(state, int64(n))
		}
		if err := t.Remove(collection.Counters, []byte(name)); err != nil {
			return err
		}
	}
	return nil
}

// noteOldExternal adds an attempt of a file from before there was the index. It leaves out what
// cannot be read: check names it.
func (t *txn) noteOldExternal(k []byte) error {
	a, _, err := tAttempts.Get(t, k)
	if err != nil || a.External == "" || len(k) != 16 {
		return nil
	}
	j, ok, err := t.readJob(k[:8])
	if err != nil || !ok {
		return nil
	}
	return t.noteExternal(k[:8], j, a)
}

// countOldDiscard counts a discarded job of a file from before there was a counter of them, by its
// row in archive_state.
func countOldDiscard(t *txn, k []byte) error {
	j, ok, err := tArchive.Get(t, k[1:])
	if _, corrupt := disk.AsCorrupt(err); corrupt || !ok {
		return nil // check names it
	}
	return errors.Join(err, t.Count(countDiscards+string(j.Queue)))
}

// Version 6 notes what the last run of each account misses, and which parts were cancelled, of a
// file from before that was kept: first by the jobs that ended without them, then what those runs
// found given up already. Check names what cannot be read.

func (t *txn) gapsOfJob(stateKey []byte) error { return readable(t.gapOfJob(stateKey)) }

func (t *txn) gapsOfAccount(k []byte) error { return readable(t.gapsOfLastRun(k)) }

func readable(err error) error {
	if disk.IsDamage(err) || disk.IsNotFound(err) {
		return nil
	}
	return err
}

// Version 8 counts the matches of each collection by their days.
func daysOfCollection(t *txn, k []byte) error {
	n, err := t.collectedOf(string(k))
	if err != nil {
		return readable(err)
	}
	n.Days = nil
	for m, err := range t.matchesOf(string(k)) {
		if readable(err) != nil {
			return err
		}
		if err == nil {
			n.played(m.Played, 1)
		}
	}
	return tCollected.Put(t, k, &n)
}

// gapOfJob notes what a discarded or cancelled job has left open.
func (t *txn) gapOfJob(stateKey []byte) error {
	k := stateKey[1:]
	j, ok, err := tArchive.Get(t, k)
	if err != nil || !ok {
		return err
	}
	// The kinds as they were called then: a migration does not follow what is renamed later.
	part := map[engine.Kind]league.Part{"match.fetch": league.PartMatch, "timeline.fetch": league.PartTimeline}[j.Kind]
	var args struct {
		Match string `json:"match"`
	}
	if part == "" || json.Unmarshal(j.Args, &args) != nil {
		return nil
	}
	m, err := t.match(args.Match)
	if err != nil {
		return err
	}
	f := m.Of(part)
	if f.Status == league.Success || f.Status == league.OutsideRetentionWindow || t.Has(tJobKey, []byte(j.Key)) {
		return nil
	}
	parents, err := t.Parents(j.ID)
	if err != nil {
		return err
	}
	how := league.CancelledAlone
	for _, p := range parents {
		if p.Job.State == engine.Cancelled {
			how = league.CancelledAlong
		}
		if err := t.gapOfParent(p.Job.ID, league.Gap{Match: m.ID, Part: part, Job: string(j.ID)}); err != nil {
			return err
		}
	}
	if j.State != engine.Cancelled {
		return nil
	}
	f.Cancelled = how
	return tMatches.Put(t, []byte(m.ID), &m)
}

func (t *txn) gapOfParent(parent engine.JobID, g league.Gap) error {
	k, err := jobKey(parent)
	if err != nil {
		return err
	}
	b, ok, err := tRunOfJob.Get(t, k)
	if err != nil || !ok || !t.lastRun(b) {
		return err
	}
	g.Run, g.Account = b.run, b.account
	_, err = t.saveGap(g)
	return err
}

// gapsOfLastRun notes the matches that the account's last run found given up. Which they were it
// did not keep: all that are given up and that none of its own jobs tried are taken for them.
func (t *txn) gapsOfLastRun(k []byte) error {
	a, err := t.account(string(k))
	if err != nil || a.Run == "" {
		return err
	}
	run, err := t.run(a.Run)
	if err != nil || run.Lost == 0 {
		return err
	}
	var lost []league.Gap
	for r := range t.Rows(byAccount.Table, key.Strings(a.ID)) {
		l, err := listingAt(r.Key)
		if err != nil {
			continue
		}
		m, err := t.match(l.Match)
		if err != nil {
			continue
		}
		for _, part := range []league.Part{league.PartMatch, league.PartTimeline} {
			if m.Of(part).Status == league.PermanentlyUnfetchable {
				lost = append(lost, league.Gap{Match: m.ID, Part: part, Run: run.ID, Account: a.ID})
			}
		}
	}
	var errs []error
	// A gap that gapOfJob has noted knows its job, and is left as it is.
	for _, g := range lost {
		if t.Has(tGaps.Table, tGaps.KeyOf(&g)) {
			continue
		}
		if g.Part == league.PartTimeline {
			run.TimelinesLost++
		}
		_, err := t.saveGap(g)
		errs = append(errs, err)
	}
	run.TimelinesLost = min(run.TimelinesLost, run.Lost)
	return errors.Join(append(errs, tRuns.Put(t, []byte(run.ID), &run))...)
}
