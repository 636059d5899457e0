package storage

import (
	"errors"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/both"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// migrations lead from the first schema to the present one. A variable so that tests can add to it.
//
// A version is either that of a migration or one that only brought tables (cameWith), never both:
// whoever adds either takes newestSchema()+1, and a test holds that there is no gap and nothing
// twice. A migration is for records that mean something else than before. A new table needs none,
// nor do fields that are added at the end of a record (rec.Coder.More).
var migrations = []migration{
	{2, "tables of the whole engine, and the feeds of what is there",
		through(nil, pass{tMatches.Table, nil, feedOldMatch}, pass{tParticipants.Table, nil, feedOldSeats}, pass{tArchive.Table, nil, feedOldJob})},
	{3, "the sums of each day",
		through((*txn).takeOldPruned, pass{tArchive.Table, nil, countOldJob}, pass{tAttempts.Table, nil, countOldAttempt})},
	{4, "calls by their external ids", through(nil, pass{tAttempts.Table, nil, (*txn).noteOldExternal})},
	{5, "the discarded jobs of each queue", through(nil, pass{archiveState.Table, []byte{byte(engine.Discarded)}, countOldDiscard})},
	{6, "what is missing of the last syncs",
		through(nil, pass{archiveState.Table, nil, (*txn).gapsOfJob}, pass{tAccounts.Table, nil, (*txn).gapsOfAccount})},
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
	if both.SameTimeline(m, league.Match{}) {
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
