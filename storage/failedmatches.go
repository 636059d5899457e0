package storage

import (
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/key"
)

// Strays lists the matches whose last attempt failed, that are due, that no live job tries any more and
// that nobody has cancelled: those that were given up last, the oldest first, at most limit of them; total is
// how many there are (S0-5, S0-6, B-3b). jobKey gives the unique key of a match's job.
func (db *DB) Strays(
	tx engine.Tx, due func(*league.Match) bool, limit int, jobKey func(match string) string,
) (list []league.Stray, total int, err error) {
	t := own(tx)
	for r := range t.Rows(matchStatus.Table, nil) {
		id := key.Read(r.Key[1:]).String()
		if t.Has(tJobKey, []byte(jobKey(id))) {
			continue // whatever its age: it has a job (S0-6)
		}
		m, err := t.match(id)
		if err != nil || m.Match.Cancelled != league.NotCancelled || !due(&m) {
			continue // check names one that cannot be read
		}
		total++
		list = append(list, league.Stray{Match: id, Used: m.Match.Attempts, At: m.Match.LastAttemptAt,
			Ended: m.Match.Status == league.PermanentlyUnfetchable})
		// Only the oldest are wanted. The list is cut now and then, not at each match, so that a
		// hundred thousand of them are not sorted a hundred thousand times.
		if len(list) >= 2*limit+100 {
			list = oldest(list, limit)
		}
	}
	// Only those that are given out cost the look at their jobs.
	list = oldest(list, limit)
	for i := range list {
		if err := t.completeStray(&list[i], jobKey(list[i].Match)); err != nil {
			return nil, total, err
		}
	}
	return list, total, nil
}

// oldest sorts by the last attempt, those that were given up last, then by id, so that two calls give the
// same order, and cuts the list to n.
func oldest(list []league.Stray, n int) []league.Stray {
	slices.SortFunc(list, func(a, b league.Stray) int {
		switch c := a.At.Compare(b.At); {
		case a.Ended && !b.Ended:
			return 1
		case b.Ended && !a.Ended:
			return -1
		case c != 0:
			return c
		}
		return strings.Compare(a.Match, b.Match)
	})
	return list[:min(n, len(list))]
}

// completeStray adds whose match it is, and how many attempts of its last round count: those of its
// last job, when that is still there.
func (t *txn) completeStray(s *league.Stray, unique string) error {
	if owners := t.accountsOf(s.Match); len(owners) > 0 {
		s.Owner = owners[0]
	}
	// The job may have been pruned. The attempts that the match itself counts then stand: those of
	// all its rounds.
	n, ok, err := t.Number(tArchiveKey, []byte(unique))
	if err != nil || !ok {
		return err
	}
	j, err := t.job(jobID(n))
	if disk.IsNotFound(err) {
		return nil
	}
	s.Used = j.Tries
	return err
}
