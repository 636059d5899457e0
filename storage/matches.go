package storage

import (
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
	"github.com/farsight-console/farsight/storage/key"
)

// Match gives a match by its id; engine.ErrNotFound.
func (db *DB) Match(tx engine.Tx, id string) (league.Match, error) { return own(tx).match(id) }

func (t *txn) match(id string) (league.Match, error) {
	return tMatches.Want(t, []byte(id), "match %q", id)
}

// SaveMatch stores the match, its status counters and every index row. A move of either status that
// is not legal is engine.ErrRefused; byOperator allows those of retry, force and reclass.
func (db *DB) SaveMatch(tx engine.Tx, m league.Match, byOperator bool) error {
	t := own(tx)
	m.Played = milli(m.Played)
	k := []byte(m.ID)
	was, known, err := tMatches.Get(t, k)
	if err != nil {
		return err
	}
	old := &was
	if !known {
		old = nil
	}
	// A success, for example, is never taken back by a late failure.
	if err := payload.LegalMatchID(m.ID); err != nil {
		return err
	}
	if err := legalFetch("match", was.Match, m.Match, byOperator); err != nil {
		return fmt.Errorf("%s: %w", m.ID, err)
	}
	if err := legalFetch("timeline", was.Timeline, m.Timeline, byOperator); err != nil {
		return fmt.Errorf("%s: %w", m.ID, err)
	}
	// Lists and feeds compare with what is stored, so they go first.
	err = errors.Join(t.moveListed(was, m, known), t.feedMatch(was, m, known), tMatches.Save(t, k, old, &m))
	if err != nil {
		return fmt.Errorf("save match %s: %w", m.ID, err)
	}
	return nil
}

// legalFetch refuses a move that S0-1 does not list. A status that stays is no move.
func legalFetch(part string, from, to league.Fetch, byOperator bool) error {
	if from.Status == to.Status || league.LegalStatus(from.Status, to.Status, byOperator) {
		return nil
	}
	return fmt.Errorf("%s cannot go from %s to %s: %w", part, from.Status, to.Status, engine.ErrRefused)
}

// milli is t as a record holds it, so that times compare equal before and after they are stored.
func milli(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return time.UnixMilli(t.UnixMilli()).UTC()
}

// moveListed brings up to date what lists the match: its place, by its time, in the list of every account that has it,
// and the counts of collections by its status.
func (t *txn) moveListed(old, m league.Match, known bool) error {
	moved, counted := !old.Played.Equal(m.Played), old.Match.Status != m.Match.Status
	if !known || !moved && !counted {
		return nil
	}
	for _, owner := range t.accountsOf(m.ID) {
		if moved {
			if err := t.listMatch(owner, m.ID, m.Played); err != nil {
				return err
			}
		}
		if counted {
			if err := t.recount(owner, old.Match.Status, m.Match.Status); err != nil {
				return err
			}
		}
	}
	return nil
}

// AccountsOf lists the accounts that have the match in their lists.
func (db *DB) AccountsOf(tx engine.Tx, match string) []string { return own(tx).accountsOf(match) }

func (t *txn) accountsOf(match string) (accounts []string) {
	for r := range t.Rows(tAccountsOf.Table, key.Strings(match)) {
		read := key.Read(r.Key)
		_ = read.String()
		accounts = append(accounts, read.String())
	}
	return accounts
}

// listMatch lists a match for an account, at the time that it was played.
func (t *txn) listMatch(account, match string, played time.Time) error {
	l := listing{Match: match, Account: account, Played: milli(played)}
	k := listedKey(l)
	was, listed, err := tAccountsOf.Get(t, k)
	switch {
	// Each sync lists the same matches again: nothing is written for those that have not moved.
	case err != nil || listed && was.Played.Equal(l.Played):
		return err
	case !listed:
		return tAccountsOf.Save(t, k, nil, &l)
	}
	return tAccountsOf.Save(t, k, &was, &l)
}

// LinkMatch adds the match to an account's list, as its listing said.
func (db *DB) LinkMatch(tx engine.Tx, account, match string) error {
	t := own(tx)
	// A listing names matches that nobody has fetched yet. They stand at the end of the list, at no
	// time, until they are stored.
	m, err := t.match(match)
	if err != nil && !disk.IsNotFound(err) {
		return err
	}
	return errors.Join(t.collect(account, m, match), t.listMatch(account, match, m.Played), t.unmask(account, match))
}

// MatchesOf iterates every match in an account's list, stored or not. Of one whose record cannot be
// read the error says why, and the iteration goes on.
func (db *DB) MatchesOf(tx engine.Tx, account string) iter.Seq2[league.Match, error] {
	return own(tx).matchesOf(account)
}

func (t *txn) matchesOf(account string) iter.Seq2[league.Match, error] {
	return func(yield func(league.Match, error) bool) {
		for r := range t.Rows(byAccount.Table, key.Strings(account)) {
			l, err := listingAt(r.Key)
			if err != nil {
				continue // check names it
			}
			m, err := t.match(l.Match)
			if disk.IsNotFound(err) { // linked, but not yet stored
				err = nil
			}
			m.ID = l.Match
			if !yield(m, err) {
				return
			}
		}
	}
}

// Games iterates an account's stored matches, oldest first. It stops at the first record that
// cannot be read.
func (db *DB) Games(tx engine.Tx, account string) iter.Seq2[league.Game, error] {
	t := own(tx)
	return t.games(account, t.RowsBack(byAccount.Table, key.Strings(account), nil))
}

// games iterates the stored ones among matches that an account has listed.
func (t *txn) games(account string, listed iter.Seq[collection.Row]) iter.Seq2[league.Game, error] {
	return func(yield func(league.Game, error) bool) {
		// The account's PUUIDs tell which seat is its own; they are read once for all games.
		a, err := t.account(account)
		if err != nil {
			yield(league.Game{}, err)
			return
		}
		for r := range listed {
			g, stored, err := t.game(a, r.Key)
			// It is listed, and not fetched yet or given up.
			if !stored && err == nil {
				continue
			}
			if !yield(g, err) || err != nil {
				return
			}
		}
	}
}

func (t *txn) game(a league.Account, listKey []byte) (g league.Game, stored bool, err error) {
	l, err := listingAt(listKey)
	if err != nil {
		return g, false, err
	}
	m, err := t.match(l.Match)
	if err != nil || m.Match.Status != league.Success {
		return g, false, err
	}
	g = league.Game{Match: m.ID, Played: m.Played, Duration: m.Duration, QueueID: m.QueueID, Remake: m.Remake}
	seat, here, err := t.seatOf(a, m.ID)
	// Here is false when the account's PUUID is in no seat, as after the key has changed to another
	// project: the game counts, and who won is not known.
	g.Here, g.Won, g.Champion = here, here && seat.Won, seat.Champion
	return g, true, err
}

// LastPlayed is when the account's newest game that is stored was played; zero when none is.
func (db *DB) LastPlayed(tx engine.Tx, account string) (at time.Time, err error) {
	// The newest comes first, and only that one is looked at.
	for r := range own(tx).Rows(byAccount.Table, key.Strings(account)) {
		l, err := listingAt(r.Key)
		return l.Played, err
	}
	return at, nil
}

// GamesSince iterates an account's stored games that were played at an instant or later, newest
// first, with the seat.
func (db *DB) GamesSince(tx engine.Tx, account string, from time.Time) iter.Seq2[league.Game, error] {
	t := own(tx)
	return t.games(account, func(yield func(collection.Row) bool) {
		for r := range t.Rows(byAccount.Table, key.Strings(account)) {
			l, err := listingAt(r.Key)
			if err == nil && l.Played.Before(from) || !yield(r) { // those of unknown time come last, too
				return
			}
		}
	})
}
