package storage

import (
	"iter"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/key"
)

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
