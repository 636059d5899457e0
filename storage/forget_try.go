package storage

import (
	"bytes"
	"context"
	"slices"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/key"
)

// WouldForget counts what Forget would delete, and changes nothing. engine.ErrNotFound.
func (db *DB) WouldForget(ctx context.Context, account string) (d engine.ForgetDone, err error) {
	a, err := db.findAccount(ctx, account)
	if err != nil {
		return d, err
	}
	specs, err := db.specsOf(ctx, a.ID)
	if err != nil {
		return d, err
	}
	d.Mask = maskOf(a)
	err = db.view(ctx, func(t *Tx) error {
		if t.has(tReports.table, []byte(a.ID)) {
			d.Reports++
		}
		mine, _, err := t.liveOf(a.ID, specs)
		d.Cancelled, d.Jobs = len(mine), len(mine)
		return err
	})
	if err != nil {
		return d, err
	}
	w := &forgetter{db: db, ctx: ctx, f: Forgotten{Account: a.ID, PUUIDs: puuidsOf(a)}}
	prefix := key.Strings(a.ID)
	for _, part := range []struct {
		tb     *table
		prefix []byte
		fits   func(k, v []byte) bool
		count  func(t *Tx, k []byte)
	}{
		{tByAccount, prefix, anyRow, func(t *Tx, k []byte) { t.countListed(a.ID, k, &d) }},
		{tArchive.table, nil, w.names, func(t *Tx, k []byte) { t.countEnded(a.ID, k, &d) }},
		{tRuns.table, nil, w.names, func(*Tx, []byte) { d.Runs++ }},
		{tWeekly.table, nil, w.names, func(*Tx, []byte) { d.Reports++ }},
		{tRanks.table, prefix, anyRow, func(*Tx, []byte) { d.Ranks++ }},
	} {
		if err := w.tryOut(part.tb, part.prefix, part.fits, part.count); err != nil {
			return d, err
		}
	}
	return d, nil
}

// tryOut lets count see each row of a table that fits, a page per transaction.
func (w *forgetter) tryOut(tb *table, prefix []byte, fits func(k, v []byte) bool, count func(t *Tx, k []byte)) error {
	from := prefix
	for {
		page, next, err := w.look(tb, prefix, from, fits)
		if err != nil {
			return err
		}
		err = w.db.view(w.ctx, func(t *Tx) error {
			for _, k := range page {
				count(t, k)
			}
			return nil
		})
		if err != nil || next == nil {
			return err
		}
		from = next
	}
}

func (t *Tx) countListed(account string, listKey []byte, d *engine.ForgetDone) {
	id, err := listedMatch(listKey)
	if err != nil {
		return
	}
	if slices.ContainsFunc(t.accountsOf(id), func(a string) bool { return a != account }) {
		d.Shared++
		return
	}
	if m, err := t.match(id); err == nil {
		d.Matches++
		d.Bytes += storedBytes(m)
	}
}

func (t *Tx) countEnded(account string, k []byte, d *engine.ForgetDone) {
	if heir, err := t.heirOf(k, account); heir != "" || err != nil {
		return
	}
	d.Jobs++
	for r := range t.rows(tAttempts.table, k) {
		if bytes.HasPrefix(r.k, k) {
			d.Attempts++
		}
	}
}
