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

var tRanks = declare("fs_rank", "account, queue, at", fields[league.Rank](nil))

// LastRanks gives the newest row of each queue of an account.
func (db *DB) LastRanks(tx engine.Tx, account string) ([]league.Rank, error) {
	return tRanks.list(own(tx), strings.Replace(tRanks.sql().from, "select", "select distinct on (queue)", 1)+"where account = $1 order by queue desc, at desc", (*text)(&account))
}

// SaveRank adds a row to the history.
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
// cursor is the queue and the instant of a page's last row.
func (db *DB) RankHistory(ctx context.Context, q engine.RanksQuery) (page engine.RanksPage, err error) {
	err = db.view(ctx, func(t *txn) error {
		a, err := t.accountOn(q.Account, "")
		if err != nil {
			return err
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
				return both.BadPage(q.After)
			}
			w.args = append(w.args, storable(queue))
			w.and(fmt.Sprintf("(queue, at) < ($%d, ?)", len(w.args)), time.UnixMilli(at))
		}
		limit := both.PageSize(q.Page)
		ranks, err := tRanks.list(t, tRanks.sql().from+w.sql()+" order by queue desc, at desc limit "+strconv.Itoa(limit+1), w.args...)
		for i, r := range ranks {
			if i == limit {
				page.Next = fmt.Sprintf("%s@%d", ranks[i-1].Queue, ranks[i-1].At.UnixMilli())
				break
			}
			page.Ranks = append(page.Ranks, both.RankRow(a, r))
		}
		return err
	})
	return page, err
}
