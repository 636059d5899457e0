package storage

import (
	"bytes"
	"context"
	"fmt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

var (
	// One row for each change of a rank, under whose it is, in which queue, and when it was seen:
	//
	//	"01J…", "RANKED_SOLO_5x5", 2026-11-21T14:00:00Z -> GOLD II, 47 points, 120 wins, 98 losses
	tRanks = collection.Declare(
		collection.New("ranks", "str account, str queue, time", "where the account stood in a ranked queue"),
		collection.Records[league.Rank]{Format: 26, Key: func(c *key.Coder, r *league.Rank) {
			c.Str(&r.Account, &r.Queue)
			c.Time(&r.At)
		}, Fields: func(c *rec.Coder, r *league.Rank) {
			c.Flags(&r.Unranked, &r.Unsure)
			c.Str(&r.Tier, &r.Division)
			c.Int(&r.Points, &r.Wins, &r.Losses)
		}})
	// Its numbers are the cursors of the feed of ranks. They never move: a rank is not changed once
	// it is stored.
	tRankOrder = collection.New("rank_order", "u64 n", "key of the ranks row that was the n-th to be stored").Grows()
)

// LastRanks gives the newest row of each queue of an account.
func (db *DB) LastRanks(tx engine.Tx, account string) (list []league.Rank, err error) {
	t := own(tx)
	prefix := key.Strings(account)
	var before []byte
	// Each round reads the newest row of one queue and goes on before that queue's first key: an
	// account has a row or two per day and queue, of which only the last is wanted.
	for {
		found := false
		for rank, err := range tRanks.Back(t, prefix, before) {
			if err != nil {
				return nil, err
			}
			list, found = append(list, rank), true
			before = key.Strings(account, rank.Queue)
			break
		}
		if !found {
			return list, nil
		}
	}
}

// SaveRank adds a row to the history. One that is sure gets a place in the durable order of all
// ranks.
func (db *DB) SaveRank(tx engine.Tx, r league.Rank) error {
	t := own(tx)
	// It could not be told from another.
	if r.Account == "" || r.Queue == "" || r.At.IsZero() {
		return fmt.Errorf("save a rank of account %q in queue %q: a part of its identity is missing: %w", r.Account,
			r.Queue, engine.ErrInvalid)
	}
	k := tRanks.KeyOf(&r)
	// A rank that is stored again keeps its place: a second one would tell it twice to whoever
	// follows the feed.
	isNew := !t.Has(tRanks.Table, k)
	if err := tRanks.Put(t, k, &r); err != nil || r.Unsure || !isNew {
		return err
	}
	n, err := t.Next(tRankOrder)
	if err != nil {
		return err
	}
	return t.PutBlob(tRankOrder, key.Uint64(n), k)
}

// DropRank removes a row that turned out to be wrong. One that a feed may have told of stays: only an unsure one has no
// place there.
func (db *DB) DropRank(tx engine.Tx, r league.Rank) error {
	if !r.Unsure {
		return fmt.Errorf("drop the rank of account %s at %s: only an unsure one may go: %w", r.Account, r.At,
			engine.ErrRefused)
	}
	return own(tx).Remove(tRanks.Table, tRanks.KeyOf(&r))
}

// RankHistory answers engine.RanksQuery; engine.ErrNotFound when there is no such account.
func (db *DB) RankHistory(ctx context.Context, q engine.RanksQuery) (page engine.RanksPage, err error) {
	err = db.view(ctx, func(t *txn) error {
		a, err := t.findAccount(q.Account)
		if err != nil {
			return err
		}
		prefix := key.Strings(a.ID)
		if q.Queue != "" {
			prefix = key.AppendString(prefix, q.Queue)
		}
		before, err := decodeCursor(q.After, prefix)
		if err != nil {
			return err
		}
		var last []byte
		for r := range t.RowsBack(tRanks.Table, prefix, before) {
			if len(page.Ranks) == q.Rows() {
				page.Next = encodeCursor(last, prefix)
				return nil
			}
			last = bytes.Clone(r.Key)
			if rank, err := tRanks.Decode(r.Key, r.Value); err == nil && !rank.Unsure { // check names a corrupt one
				page.Ranks = append(page.Ranks, rankRow(a, rank))
			}
		}
		return nil
	})
	return page, err
}

// rankRow is a rank as it is shown: with the account's name of today, whatever it was then.
func rankRow(a league.Account, r league.Rank) engine.RankRow {
	return engine.RankRow{
		Account: a.ID, RiotID: a.RiotID(), Platform: a.Platform, Queue: r.Queue, At: r.At, Unranked: r.Unranked,
		Tier: r.Tier, Division: r.Division, Points: r.Points, Wins: r.Wins, Losses: r.Losses, PUUID: onePUUID(a),
	}
}
