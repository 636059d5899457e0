package storage

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/key"
)

// matches takes the matches out of the account's list, and out of the lists of collections that had the person those
// that no other of their players has played.
func (w *forgetter) matches() error {
	for _, owner := range append([]string{w.f.Account}, w.f.Listed...) {
		if err := w.unlist(owner); err != nil {
			return err
		}
	}
	return nil
}

// unlist takes a list apart, the newest first: what no other account has is deleted,
// first its rows, then its payloads. Both are doomed before, so that whoever wants one of the
// matches meanwhile fetches it anew.
func (w *forgetter) unlist(owner string) error {
	// Of several that leave a match the first takes it out of the lists of all.
	first := func(t *txn, r collection.Row) bool {
		l, err := listingAt(r.Key)
		if err != nil || len(w.f.Listed) == 0 {
			return owner == w.f.Account
		}
		leaving, _ := w.leaving(t, l.Match)
		return slices.Equal(leaving[:min(len(leaving), 1)], []string{owner})
	}
	return w.pages(byAccount.Table, key.Strings(owner), first, func(page [][]byte) error {
		// A dry run dooms nothing: whoever asks for one of these matches meanwhile must still find
		// its payload.
		var ids []string
		for _, k := range page {
			if l, err := listingAt(k); err == nil && !w.dry {
				ids = append(ids, l.Match)
			}
		}
		w.db.files.Doomed.Add(ids)
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
			w.db.files.Doomed.Remove(ids)
			return err
		}
		w.db.files.Doomed.Remove(slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(w.f.Doomed, id) }))
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
		w.db.files.Doomed.Remove(gone)
	}
	return err
}

// leaving are those who are forgotten of the owners that list a match, and others whether it stays in a list. A
// collection leaves what no player of it has played who stays.
func (w *forgetter) leaving(t *txn, match string) (leaving []string, others bool) {
	for _, owner := range t.accountsOf(match) {
		if owner == w.f.Account || slices.Contains(w.f.Listed, owner) && w.alone(t, owner, match) {
			leaving = append(leaving, owner)
		} else {
			others = true
		}
	}
	return leaving, others
}

// alone reports whether the person sits in a match, and no other player of a collection.
func (w *forgetter) alone(t *txn, collection, match string) (theirs bool) {
	seats, err := t.seats(match)
	platform, _, _ := strings.Cut(strings.ToLower(match), "_") // KR_7214550881
	for _, s := range seats {
		if slices.Contains(w.f.PUUIDs, s.PUUID) {
			theirs = true
			continue
		}
		if _, other, err := t.playerOf(collection, platform, s.PUUID); other || err != nil {
			return false
		}
	}
	return theirs && err == nil
}

// dropListed takes a match out of the lists of those who are forgotten, and deletes it if no other account has it.
func (w *forgetter) dropListed(t *txn, f *Forgotten, k []byte) error {
	l, err := listingAt(k)
	if err == nil && !t.Has(byAccount.Table, k) {
		return nil
	}
	leaving, others := w.leaving(t, l.Match)
	if !w.dry {
		// Of a key that cannot be read the reverse, if there is one, is not known.
		errs := []error{t.Remove(byAccount.Table, k)}
		for _, owner := range leaving {
			errs = append(errs, t.unlist(owner, l.Match))
		}
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
	if err != nil {
		return nil //nolint:nilerr // as above
	}
	if others {
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
	f.Done.Bytes += storedBytes(m)
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

// ranks deletes the places in the order of all ranks, and then the history.
func (w *forgetter) ranks() error {
	// A place names the key of its rank, which begins with the account. Places go first: a place
	// without a rank is shown as corrupt, a rank without a place is only not in the feed.
	mine := func(t *txn, r collection.Row) bool {
		of, err := tRankOrder.BlobOf(r.Key, r.Value)
		return err == nil && w.of(t, key.Read(of).String())
	}
	if err := w.clear(tRankOrder, nil, mine, nil); err != nil {
		return err
	}
	return w.clearTheirs(tRanks.Table, func(d *engine.ForgetDone) { d.Ranks++ })
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
		// The sums stay: they name nobody.
		for _, a := range r.Accounts {
			if a.ID == w.f.Account && a.Missing == "" {
				r.Complete--
			}
		}
		r.Accounts = slices.DeleteFunc(r.Accounts, func(a engine.WeeklyAccount) bool { return a.ID == w.f.Account })
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

// storedBytes is what a match's payloads had when they were fetched.
func storedBytes(m league.Match) (n int64) {
	for _, f := range []league.Fetch{m.Match, m.Timeline} {
		if f.Status == league.Success && !f.Ref.Dropped() {
			n += int64(f.Ref.Size)
		}
	}
	return n
}
