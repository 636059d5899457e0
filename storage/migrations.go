package storage

import (
	"errors"

	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// migrations lead from the first schema to the present one, in order: the first makes version 2. A variable so that tests
// can add to it.
//
// Whoever changes what a record means adds a migration. A new table says which version it came with (cameWith), and fields that
// are added at the end of a record need nothing (rec.Coder.More).
var migrations = []migration{
	{"tables of the whole engine, and the feeds of what is there", toFeeds},
	{"the sums of each day", toDays},
	{"calls by their external ids", toCallSIDs},
	{"the discarded jobs of each queue", toDiscards},
	{"what is missing of the last syncs", toGaps},
}

// toFeeds makes the tables that version 1 does not have and gives everything that is exported its place. Afterwards
// anything goes on as if it had been stored in this order: matches by id, then seats by match, then ended jobs.
//
// The place of a step is the number of the table that it works on, and the last key that has been done.
func toFeeds(t *Tx, after []byte) (next []byte, err error) {
	if after == nil {
		return []byte{0}, createTables(t.b)
	}
	tables := []struct {
		*table
		feed func(t *Tx, k, v []byte) error
	}{{tMatches.table, feedOldMatch}, {tParticipants.table, feedOldSeats}, {tArchive.table, feedOldJob}}
	at := int(after[0])
	if at >= len(tables) {
		return nil, nil
	}
	page, last := t.keysAfter(tables[at].table, after[1:])
	for _, k := range page {
		if err := tables[at].feed(t, k, t.bucket(tables[at].table).Get(k)); err != nil {
			return nil, err
		}
	}
	if last == nil {
		return []byte{byte(at + 1)}, nil
	}
	return append([]byte{byte(at)}, last...), nil
}

// A record that cannot be read has its place all the same where its key tells enough: check names it.

func feedOldMatch(t *Tx, k, v []byte) error {
	m, err := tMatches.decode(k, v)
	if err != nil {
		m = league.Match{}
	}
	if err := t.toEnd(tagMatches, string(k)); err != nil {
		return err
	}
	if faceOf(m.Timeline) == faceOf(league.Fetch{}) {
		return nil
	}
	return t.toEnd(tagTimelines, string(k))
}

func feedOldSeats(t *Tx, k, _ []byte) error { return t.toEnd(tagParticipants, string(k)) }

func feedOldJob(t *Tx, k, v []byte) error {
	j, err := tArchive.decode(k, v)
	if _, corrupt := disk.AsCorrupt(err); corrupt {
		return nil
	}
	return errors.Join(err, t.feedEnded(&j))
}
