package storage

import (
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
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
	if err := legalMatch(was, m, byOperator); err != nil {
		return err
	}
	// Lists and feeds compare with what is stored, so they go first.
	err = errors.Join(t.moveListed(was, m, known), t.feedMatch(was, m, known), tMatches.Save(t, k, old, &m))
	if err != nil {
		return fmt.Errorf("save match %s: %w", m.ID, err)
	}
	return nil
}

// legalMatch refuses a match without a usable id, and one that would move as S0-1 does not allow it;
// byOperator allows what retry, force and reclass may do.
func legalMatch(old, m league.Match, byOperator bool) error {
	if err := payload.LegalMatchID(m.ID); err != nil {
		return err
	}
	if err := legalFetch("match", old.Match, m.Match, byOperator); err != nil {
		return fmt.Errorf("%s: %w", m.ID, err)
	}
	if err := legalFetch("timeline", old.Timeline, m.Timeline, byOperator); err != nil {
		return fmt.Errorf("%s: %w", m.ID, err)
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
