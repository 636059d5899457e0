package storage

import (
	"encoding/json"
	"errors"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

// What runs wanted and have not got. A row lasts until the part is there, whoever brings it, or
// until a later run of the account has taken the match over.

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
	return !t.Has(tGaps.Table, k), tGaps.Put(t, k, &g)
}

// DropGap takes the note away.
func (db *DB) DropGap(tx engine.Tx, g league.Gap) error {
	return own(tx).Remove(tGaps.Table, tGaps.KeyOf(&g))
}

// Leave takes an ended child out of a group: what it was to bring has come otherwise. Its calls
// were made for the parent all the same, and count as the parent's own. A child that is not in the
// group changes nothing.
func (db *DB) Leave(tx engine.Tx, group engine.GroupID, child engine.JobID) error {
	t := own(tx)
	parent, err := jobNumber(group.Parent)
	if err != nil {
		return err
	}
	n, err := jobNumber(child)
	if err != nil {
		return err
	}
	k := key.AppendUint64(groupKey(parent, group.Group), n)
	m, ok, err := tMembers.Get(t, k)
	if err != nil || !ok {
		return err
	}
	if err := t.leave(k); err != nil {
		return err
	}
	b, ok, err := tRunOfJob.Get(t, k[:8])
	if err != nil || !ok {
		return err
	}
	t.touch(b.account)
	b.calls, b.throttled = b.calls+m.calls, b.throttled+m.throttled
	return tRunOfJob.Put(t, k[:8], &b)
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

// gapOfJob notes what a discarded or cancelled job has left open.
func (t *txn) gapOfJob(stateKey []byte) error {
	k := stateKey[1:]
	j, ok, err := tArchive.Get(t, k)
	if err != nil || !ok {
		return err
	}
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
		m, err := t.match(l.match)
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
