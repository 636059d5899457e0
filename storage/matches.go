package storage

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/key"
)

// Match gives a match by its id; engine.ErrNotFound.
func (db *DB) Match(tx engine.Tx, id string) (league.Match, error) { return own(tx).match(id) }

func (t *Tx) match(id string) (league.Match, error) {
	v := t.bucket(tMatches).Get([]byte(id))
	if v == nil {
		return league.Match{}, fmt.Errorf("match %q: %w", id, engine.ErrNotFound)
	}
	return decodeMatch([]byte(id), v)
}

// SaveMatch stores the match, its status counters and every index row. A move of either status that is not legal is
// engine.ErrRefused; byOperator allows those of retry, force and reclass.
func (db *DB) SaveMatch(tx engine.Tx, m league.Match, byOperator bool) error {
	t := own(tx)
	m.Played = milli(m.Played)
	if m.ID == "" || len(m.ID) > maxMatch {
		return fmt.Errorf("match id of %d bytes: %w", len(m.ID), engine.ErrInvalid)
	}
	old, err := t.match(m.ID)
	known := err == nil
	if err != nil && !isNotFound(err) {
		return err
	}
	if err := legalFetch("match", old.Match, m.Match, byOperator); err != nil {
		return fmt.Errorf("%s: %w", m.ID, err)
	}
	if err := legalFetch("timeline", old.Timeline, m.Timeline, byOperator); err != nil {
		return fmt.Errorf("%s: %w", m.ID, err)
	}
	err = errors.Join(
		t.countMatch(old, m, known),
		t.indexStatus(old, m, known),
		t.movePlayed(old, m, known),
		t.feedMatch(old, m, known),
		t.put(tMatches, []byte(m.ID), matchRecord(m)))
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

func (t *Tx) countMatch(old, m league.Match, known bool) error {
	var errs []error
	if !known || old.Match.Status != m.Match.Status {
		errs = append(errs, t.countTotal(countMatches+m.Match.Status.String(), 1))
		if known {
			errs = append(errs, t.countTotal(countMatches+old.Match.Status.String(), -1))
		}
	}
	was, is := old.Timeline.Status == league.Success, m.Timeline.Status == league.Success
	if was != is {
		n := 1
		if was {
			n = -1
		}
		errs = append(errs, t.countTotal(countTimelines, n))
	}
	return errors.Join(errs...)
}

// statusListed reports whether matches of a status are listed by it: those that an operator looks for.
func statusListed(s league.Status) bool {
	return s == league.TemporaryFailure || s == league.PermanentlyUnfetchable
}

func statusKey(s league.Status, match string) []byte {
	return key.AppendString([]byte{byte(s)}, match)
}

func (t *Tx) indexStatus(old, m league.Match, known bool) error {
	was, is := old.Match.Status, m.Match.Status
	if known && was == is {
		return nil
	}
	if known && statusListed(was) {
		if err := t.remove(tMatchStatus, statusKey(was, m.ID)); err != nil {
			return err
		}
	}
	if !statusListed(is) {
		return nil
	}
	return t.mark(tMatchStatus, statusKey(is, m.ID))
}

// milli is t as a record holds it, so that times compare equal before and after they are stored.
func milli(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return time.UnixMilli(t.UnixMilli()).UTC()
}

func byAccountKey(account string, played time.Time, match string) []byte {
	return key.AppendString(key.AppendTimeDesc(key.Strings(account), played), match)
}

// movePlayed puts the match where its time belongs in the list of every account that has it.
func (t *Tx) movePlayed(old, m league.Match, known bool) error {
	if !known || old.Played.Equal(m.Played) {
		return nil
	}
	for _, account := range t.accountsOf(m.ID) {
		if err := t.listMatch(account, m.ID, m.Played); err != nil {
			return err
		}
	}
	return nil
}

// AccountsOf lists the accounts that have the match in their lists.
func (db *DB) AccountsOf(tx engine.Tx, match string) []string { return own(tx).accountsOf(match) }

func (t *Tx) accountsOf(match string) (accounts []string) {
	for r := range t.rows(tAccountsOf, key.Strings(match)) {
		read := key.Read(r.k)
		_ = read.String()
		accounts = append(accounts, read.String())
	}
	return accounts
}

// listMatch is the one writer of an account's list and of its reverse.
func (t *Tx) listMatch(account, match string, played time.Time) error {
	k := key.Strings(match, account)
	d, listed, err := t.get(tAccountsOf, k, fTime)
	if err != nil {
		return err
	}
	if listed {
		at := d.Time()
		if at.Equal(played) {
			return nil
		}
		if err := t.remove(tByAccount, byAccountKey(account, at, match)); err != nil {
			return err
		}
	}
	return errors.Join(t.putTime(tAccountsOf, k, played), t.mark(tByAccount, byAccountKey(account, played, match)))
}

// LinkMatch adds the match to an account's list, as its listing said.
func (db *DB) LinkMatch(tx engine.Tx, account, match string) error {
	t := own(tx)
	m, err := t.match(match)
	if err != nil && !isNotFound(err) {
		return err
	}
	return errors.Join(t.listMatch(account, match, m.Played), t.unmask(account, match))
}

// SaveParticipants replaces the seats of a match, and adds the match to the list of each account that sits in it.
func (db *DB) SaveParticipants(tx engine.Tx, match string, ps []league.Participant) error {
	t := own(tx)
	m, err := t.match(match)
	if err != nil {
		return err
	}
	for _, p := range ps {
		account, ok, err := t.text(tAccountPUUID, []byte(p.PUUID))
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if err := t.listMatch(account, match, m.Played); err != nil {
			return err
		}
	}
	if err := t.feedSeats(match, ps); err != nil {
		return err
	}
	return t.put(tParticipants, []byte(match), seatsRecord(ps))
}

// Games iterates an account's stored matches, oldest first. It stops at the first record that cannot be read.
func (db *DB) Games(tx engine.Tx, account string) iter.Seq2[league.Game, error] {
	t := own(tx)
	return func(yield func(league.Game, error) bool) {
		a, err := t.account(account)
		if err != nil {
			yield(league.Game{}, err)
			return
		}
		for r := range t.rowsBack(tByAccount, key.Strings(account), nil) {
			g, stored, err := t.game(a, r.k)
			if !stored && err == nil {
				continue
			}
			if !yield(g, err) || err != nil {
				return
			}
		}
	}
}

func (t *Tx) game(a league.Account, listKey []byte) (g league.Game, stored bool, err error) {
	id, err := listedMatch(listKey)
	if err != nil {
		return g, false, err
	}
	m, err := t.match(id)
	if err != nil || m.Match.Status != league.Success {
		return g, false, err
	}
	g = league.Game{Match: id, Played: m.Played, Duration: m.Duration, QueueID: m.QueueID}
	seat, here, err := t.seatOf(a, id)
	g.Here, g.Won, g.Champion = here, here && seat.Won, seat.Champion
	return g, true, err
}

// listedMatch reads the match id of a by_account row.
func listedMatch(k []byte) (string, error) {
	read := key.Read(k)
	_, _ = read.String(), read.TimeDesc()
	id := read.String()
	if err := read.Done(); err != nil {
		return "", tByAccount.corrupt(k, err)
	}
	return id, nil
}

// seatOf finds the account's seat in a match.
func (t *Tx) seatOf(a league.Account, match string) (seat league.Participant, here bool, err error) {
	seats, err := t.seats(match)
	if err != nil {
		return seat, false, err
	}
	for _, p := range seats {
		for _, puuid := range a.PUUIDs {
			if p.PUUID == puuid && puuid != "" {
				return p, true, nil
			}
		}
	}
	return seat, false, nil
}

// Participants gives the seats of a match by index; none when they are not stored.
func (db *DB) Participants(tx engine.Tx, match string) ([]league.Participant, error) {
	return own(tx).seats(match)
}

func (t *Tx) seats(match string) ([]league.Participant, error) {
	k := []byte(match)
	d, ok, err := t.get(tParticipants, k, fSeats)
	if err != nil || !ok {
		return nil, err
	}
	seats := make([]league.Participant, d.Count(8))
	for i := range seats {
		seats[i] = decodeSeat(d, match)
	}
	return seats, tParticipants.done(k, d)
}

// removeAll deletes every row under prefix. Keys are collected first: deleting moves a bbolt cursor past rows.
func (t *Tx) removeAll(tb *table, prefix []byte) error {
	var keys [][]byte
	for r := range t.rows(tb, prefix) {
		keys = append(keys, bytes.Clone(r.k))
	}
	for _, k := range keys {
		if err := t.remove(tb, k); err != nil {
			return err
		}
	}
	return nil
}

// reverseKey is the accounts_of key of a by_account row.
func reverseKey(listKey []byte, match string) []byte {
	return key.Strings(match, key.Read(listKey).String())
}
