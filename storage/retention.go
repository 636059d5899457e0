package storage

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
)

// DroppedMonth is what retention did, or would do, with one month.
type DroppedMonth struct {
	Month    string `json:"month"`
	Payloads int    `json:"payloads"` // that matches name and that go with the file
	Bytes    int64  `json:"bytes"`
	Left     string `json:"left,omitempty"` // why the file stays
}

// DropExpired deletes the payload files of months that lie wholly outside of keep, as seen at now,
// and nothing when keep is off. The matches stay: each payload's reference is marked as dropped
// first, so that a crash leaves a file that nobody names, which the next run deletes. A damaged
// file is never deleted. Only a retention rule that the operator configured may ask for this. It
// needs Serve, unless dryRun.
func (db *DB) DropExpired(
	ctx context.Context, keep league.Span, now time.Time, dryRun bool,
) (list []DroppedMonth, err error) {
	if keep.Off() {
		return nil, nil
	}
	months, err := db.payloads.Months()
	if err != nil {
		return nil, err
	}
	// A month counts as a whole: it goes when its last day is outside.
	for _, m := range months {
		if !expired(m, keep, now) {
			continue
		}
		d, err := db.weighMonth(m)
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	if len(list) == 0 {
		return nil, nil
	}
	// Those that name a payload of the months are marked, a page of matches per transaction.
	named := func(_ *txn, r collection.Row) bool { return countIn(list, r) }
	err = db.scan(ctx, tMatches.Table, nil, db.pages.Scan, named, func(page [][]byte) error {
		if dryRun {
			return nil
		}
		return db.do(ctx, false, func(t *txn) error { return t.dropRefs(page, list) })
	})
	if err != nil || dryRun {
		return list, err
	}
	crash.Point("retention-marked")
	// A file is deleted only after every reference to it is marked, a page of matches after the
	// other. Until then the marks say dropped of payloads that are still there, which is harmless.
	for _, d := range list {
		if d.Left != "" {
			continue
		}
		if err := db.payloads.Drop(d.Month); err != nil {
			return list, fmt.Errorf("drop %s: %w", d.Month, err)
		}
		db.log.Info().Str("month", d.Month).Int("payloads", d.Payloads).Int64("bytes", d.Bytes).
			Msg("retention dropped a month of payloads")
	}
	return list, nil
}

func (db *DB) weighMonth(month string) (d DroppedMonth, err error) {
	d.Month = month
	// Left says why a month stays, as "page 12 is out of place". A file that cannot be read may be
	// all that is left of its payloads, so it is a person who decides.
	if d.Bytes, err = db.payloads.Weigh(month); disk.IsDamage(err) {
		d.Left, err = err.Error(), nil
	}
	return d, err
}

// countIn counts a match's payloads that lie in the months, and reports whether there are any.
func countIn(list []DroppedMonth, r collection.Row) (any bool) {
	m, err := tMatches.Decode(r.Key, r.Value)
	if err != nil {
		return false // check names it
	}
	for _, f := range []*league.Fetch{&m.Match, &m.Timeline} {
		if d := dropping(list, f); d != nil {
			d.Payloads++
			any = true
		}
	}
	return any
}

// dropping finds the month of the list that holds a payload.
func dropping(list []DroppedMonth, f *league.Fetch) *DroppedMonth {
	if f.Status != league.Success || f.Ref.Dropped() {
		return nil
	}
	// A month that stays for its damage (Left) keeps its references, too.
	i := slices.IndexFunc(list, func(d DroppedMonth) bool { return d.Month == f.Ref.Month && d.Left == "" })
	if i < 0 {
		return nil
	}
	return &list[i]
}

func (t *txn) dropRefs(page [][]byte, list []DroppedMonth) error {
	for _, k := range page {
		m, err := t.match(string(k))
		// Check names a match that cannot be read; one that is gone was forgotten meanwhile.
		if disk.IsDamage(err) || disk.IsNotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		for _, f := range []*league.Fetch{&m.Match, &m.Timeline} {
			if dropping(list, f) != nil {
				// Month, length and checksum stay: they tell what there was, and which month it was
				// in.
				f.Ref.Codec, f.Ref.Size = league.CodecDropped, 0
			}
		}
		if err := tMatches.Put(t, k, &m); err != nil {
			return fmt.Errorf("mark the payloads of %s as dropped: %w", m.ID, err)
		}
	}
	return nil
}

// monthOverlap is how long after the end of its month a game of that month may still have begun:
// it is created while players choose.
const monthOverlap = 24 * time.Hour

// expired reports whether a month lies wholly outside of keep, as seen at now. What is no month
// never does: a rule that cannot tell how old something is deletes nothing.
func expired(month string, keep league.Span, now time.Time) bool {
	end := payload.MonthEnd(month)
	return !end.IsZero() && end.Add(monthOverlap).Before(keep.Before(now))
}
