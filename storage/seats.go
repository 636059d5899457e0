package storage

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// maskedSeat leads what stands for the PUUID of a player who was forgotten. Behind it is a sum of
// match and PUUID, so that nobody can tell whether two seats are of one player, but the player's
// own account finds its seat when it comes back.
const maskedSeat = "forgotten:"

// seatMask is what stands for a PUUID in a match.
func seatMask(match, puuid string) string {
	return fmt.Sprintf("%s%x", maskedSeat, sha256.Sum256([]byte(match+"\x00"+puuid)))[:len(maskedSeat)+32]
}

// mask takes name and PUUID off the seats of a match, unless an account has that PUUID again.
func (t *txn) mask(match string, puuids []string) (n int, err error) {
	return t.reseat(match, func(p *league.Participant) bool {
		if !slices.Contains(puuids, p.PUUID) || t.Has(accountPUUID.Table, []byte(p.PUUID)) {
			return false
		}
		p.PUUID, p.RiotID = seatMask(match, p.PUUID), ""
		return true
	})
}

// unmask gives an account that was forgotten and is synced again its seat in a match that had
// stayed.
func (t *txn) unmask(account, match string) error {
	// Nearly no match has a masked seat, and this is asked for each match of each listing: the raw
	// bytes tell, without decoding ten seats.
	if !bytes.Contains(t.Value(tParticipants.Table, []byte(match)), []byte(maskedSeat)) {
		return nil
	}
	a, err := t.account(account)
	if disk.IsNotFound(err) { // a collection has listed it
		return nil
	}
	if err != nil {
		return err
	}
	_, err = t.reseat(match, func(p *league.Participant) bool {
		for _, puuid := range puuidsOf(a) {
			if seatMask(match, puuid) == p.PUUID {
				p.PUUID, p.RiotID = puuid, a.RiotID()
				return true
			}
		}
		return false
	})
	return err
}

// reseat stores the seats of a match anew if change has changed any, and counts those.
func (t *txn) reseat(match string, change func(p *league.Participant) bool) (n int, err error) {
	seats, err := t.seats(match)
	if disk.IsDamage(err) {
		return 0, nil // check names it
	}
	if err != nil {
		return 0, err
	}
	for i := range seats {
		if change(&seats[i]) {
			n++
		}
	}
	// Seats that nobody has changed keep their place in the feed.
	if n == 0 {
		return 0, nil
	}
	return n, errors.Join(t.toEnd(tagParticipants, match), tParticipants.Put(t, []byte(match), &seating{match, seats}))
}

// SaveParticipants replaces the seats of a match, and adds the match to the list of each account
// that sits in it.
func (db *DB) SaveParticipants(tx engine.Tx, match string, ps []league.Participant) error {
	t := own(tx)
	m, err := t.match(match)
	if err != nil {
		return err
	}
	for _, p := range ps {
		// Ten players, of whom most are nobody's account here.
		account, ok, err := t.Text(accountPUUID.Table, []byte(p.PUUID))
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
	return tParticipants.Put(t, []byte(match), &seating{match, ps})
}

// seatOf finds the account's seat in a match.
func (t *txn) seatOf(a league.Account, match string) (seat league.Participant, here bool, err error) {
	seats, err := t.seats(match)
	if err != nil {
		return seat, false, err
	}
	// An account has another PUUID under each key project, and the payload has that of the project
	// which fetched it.
	for _, p := range seats {
		for _, puuid := range a.PUUIDs {
			if p.PUUID == puuid && puuid != "" {
				return p, true, nil
			}
		}
	}
	return seat, false, nil
}

// seats gives the seats of a match by index; none when they are not stored.
func (t *txn) seats(match string) ([]league.Participant, error) {
	s, _, err := tParticipants.Get(t, []byte(match))
	return s.seats, err
}
