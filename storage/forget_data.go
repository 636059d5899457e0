package storage

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/both"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/key"
)

// matches takes the account's list apart, the newest first: what no other account has is deleted,
// first its rows, then its payloads. Both are doomed before, so that whoever wants one of the
// matches meanwhile fetches it anew.
func (w *forgetter) matches() error {
	return w.pages(byAccount.Table, key.Strings(w.f.Account), anyRow, func(page [][]byte) error {
		// A dry run dooms nothing: whoever asks for one of these matches meanwhile must still find
		// its payload.
		var ids []string
		for _, k := range page {
			if l, err := listingAt(k); err == nil && !w.dry {
				ids = append(ids, l.Match)
			}
		}
		w.db.payloads.Doomed.Add(ids)
		err := w.commit(func(t *txn, f *Forgotten) error {
			f.Doomed = nil
			for _, k := range page {
				if err := w.dropListed(t, f, k); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			// Nothing was deleted, so nothing is doomed any more.
			w.db.payloads.Doomed.Remove(ids)
			return err
		}
		w.db.payloads.Doomed.Remove(slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(w.f.Doomed, id) }))
		return w.payloads()
	})
}

// payloads deletes those of the doomed matches.
func (w *forgetter) payloads() error {
	if len(w.f.Doomed) == 0 {
		return nil
	}
	// left are months whose file could not be cleaned, such as a damaged one. They are named in the
	// receipt: what is in them is unknown.
	left, err := w.db.payloads.Erase(w.f.Doomed)
	if err != nil {
		return fmt.Errorf("delete payloads: %w", err)
	}
	crash.Point("forget-erased")
	gone := w.f.Doomed
	err = w.commit(func(_ *txn, f *Forgotten) error {
		f.Doomed = nil
		f.Done.Left = slices.Compact(slices.Sorted(slices.Values(slices.Concat(f.Done.Left, left))))
		return nil
	})
	if err == nil {
		w.db.payloads.Doomed.Remove(gone)
	}
	return err
}

// dropListed takes a match out of the account's list, and deletes it if no other account has it.
func (w *forgetter) dropListed(t *txn, f *Forgotten, k []byte) error {
	l, err := listingAt(k)
	if err == nil && !t.Has(byAccount.Table, k) {
		return nil
	}
	if !w.dry {
		// Of a key that cannot be read the reverse, if there is one, is not known.
		if err := errors.Join(t.RemoveRow(tAccountsOf.Table, listedKey(l)), t.Remove(byAccount.Table, k)); err != nil {
			return err
		}
	}
	if err != nil {
		return nil //nolint:nilerr // as above
	}
	if t.hasOthers(l.Match, w.f.Account) {
		f.Done.Shared++
		return nil
	}
	m, err := t.match(l.Match)
	if err != nil {
		if disk.IsNotFound(err) || w.dry {
			return nil
		}
		return err
	}
	// A match whose record cannot be read ends a real run above, but not a dry one, which goes on
	// counting.
	f.Done.Matches++
	f.Done.Bytes += both.StoredBytes(m)
	if w.dry {
		return nil
	}
	f.Doomed = append(f.Doomed, m.ID)
	return t.dropMatch(m)
}

// dropMatch deletes every row of a match but those of accounts' lists.
func (t *txn) dropMatch(m league.Match) error {
	errs := []error{
		tMatches.Drop(t, []byte(m.ID), &m), t.Remove(tParticipants.Table, []byte(m.ID)),
		t.RemoveOwned(ofMatch, key.Strings(m.ID)),
	}
	for _, tag := range []byte{tagMatches, tagTimelines, tagParticipants} {
		errs = append(errs, t.dropPlace(tag, m.ID))
	}
	return errors.Join(errs...)
}

// dropPlace removes an item's place in the feed.
func (t *txn) dropPlace(tag byte, id string) error {
	// Not every match has a place in each feed: one without a timeline has none among the
	// timelines.
	seq, ok, err := t.Number(feedOf.Table, feedOfKey(tag, id))
	if err != nil || !ok {
		return err
	}
	return t.RemoveRow(tFeed.Table, feedKey(tag, seq))
}

// ranks deletes the places in the order of all ranks, and then the history.
func (w *forgetter) ranks() error {
	prefix := key.Strings(w.f.Account)
	// A place names the key of its rank, which begins with the account. Places go first: a place
	// without a rank is shown as corrupt, a rank without a place is only not in the feed.
	mine := func(k, v []byte) bool {
		of, err := tRankOrder.BlobOf(k, v)
		return err == nil && bytes.HasPrefix(of, prefix)
	}
	err := w.sweep(tRankOrder, nil, mine, func(t *txn, _ *Forgotten, k []byte) error {
		if w.dry {
			return nil
		}
		return t.Remove(tRankOrder, k)
	})
	if err != nil {
		return err
	}
	return w.clear(tRanks.Table, prefix, func(d *engine.ForgetDone) { d.Ranks++ })
}

// weeklies takes the account's line out of the weekly reports. Their sums stay: they name nobody.
func (w *forgetter) weeklies() error {
	return w.sweep(tWeekly.Table, nil, w.names, func(t *txn, f *Forgotten, k []byte) error {
		r, ok, err := tWeekly.Get(t, k)
		if disk.IsDamage(err) || err == nil && !ok {
			return nil // check names it
		}
		if err != nil {
			return err
		}
		both.WithoutAccount(&r, w.f.Account)
		if f.Done.Reports++; w.dry {
			return nil
		}
		return tWeekly.Put(t, k, &r)
	})
}

// seats takes the player's name off the matches that stay, those too that were never in the
// account's list.
func (w *forgetter) seats() error {
	if len(w.f.PUUIDs) == 0 {
		return nil
	}
	return w.sweep(tParticipants.Table, nil, w.names, func(t *txn, f *Forgotten, k []byte) error {
		n, err := t.mask(string(k), w.f.PUUIDs)
		f.Done.Seats += n
		return err
	})
}
