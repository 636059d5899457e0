package pg

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/both"
)

// tRanks are ranks as they were on a day:
//
//	 account | queue           | at                     | tier     | division | points | unsure
//	---------+-----------------+------------------------+----------+----------+--------+--------
//	 01JG…   | RANKED_SOLO_5x5 | 2026-11-21 04:00:07+00 | PLATINUM | III      |     41 | f
var tRanks = declare("fs_rank", "account, queue, at", fields[league.Rank](nil))

// LastRanks gives the newest row of each queue of an account, unsure ones too: the next answer
// decides by it whether a rank is gone.
func (db *DB) LastRanks(tx engine.Tx, account string) ([]league.Rank, error) {
	newest := tRanks.of("select distinct on (queue) " + tRanks.sql().names + " from fs_rank ")
	return newest.list(own(tx), "where account = $1 order by queue desc, at desc", (*text)(&account))
}

// SaveRank adds a row to the history, or puts it in place of one of the same instant: a job that
// runs again after a crash saves what it has saved.
func (db *DB) SaveRank(tx engine.Tx, r league.Rank) error {
	if err := both.LegalRank(r); err != nil {
		return err
	}
	tRanks.put(own(tx), r)
	return nil
}

// DropRank removes a row that turned out to be wrong.
func (db *DB) DropRank(tx engine.Tx, r league.Rank) error {
	if err := both.LegalDrop(r); err != nil {
		return err
	}
	tRanks.drop(own(tx), (*text)(&r.Account), (*text)(&r.Queue), (*instant)(&r.At))
	return nil
}

// RankHistory answers engine.RanksQuery; engine.ErrNotFound when there is no such account. A
// cursor is the queue and the instant, in Unix milliseconds, of a page's last row:
// "RANKED_SOLO_5x5@1795673051520".
func (db *DB) RankHistory(ctx context.Context, q engine.RanksQuery) (engine.RanksPage, error) {
	return answer(ctx, db, func(t *txn) (page engine.RanksPage, err error) {
		a, err := t.accountOn(q.Account, "")
		if err != nil {
			return page, err
		}
		w := &where{}
		w.and("not unsure and account = ?", storable(a.ID))
		if q.Queue != "" {
			w.and("queue = ?", storable(q.Queue))
		}
		if q.After != "" {
			queue, ms, _ := strings.Cut(q.After, "@")
			at, err := strconv.ParseInt(ms, 10, 64)
			if err != nil {
				return page, both.BadPage(q.After)
			}
			w.and("(queue, at) < (?, ?)", storable(queue), time.UnixMilli(at))
		}
		place := func(r league.Rank) string { return fmt.Sprintf("%s@%d", r.Queue, r.At.UnixMilli()) }
		ranks, next, err := tRanks.page(t, both.PageSize(q.Page), place, w.sql()+" order by queue desc, at desc", w.args...)
		page.Next = next
		for _, r := range ranks {
			page.Ranks = append(page.Ranks, both.RankRow(a, r))
		}
		return page, err
	})
}
