package storage

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
	"github.com/farsight-console/farsight/storage/internal/rec"
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

// PutPayload commits a payload to its shard before any state names it. It is idempotent; see
// payload.Store.Put. A file that cannot be written ends Serve, as a failed commit of the state does: no
// state may be written about what went on here. A full disk does not, nor does one damaged month.
func (db *DB) PutPayload(ctx context.Context, match string, p league.Part, ref league.PayloadRef, body []byte) error {
	err := db.payloads.Put(ctx, match, p, ref, body)
	// A folder that cannot be written to, or a file whose owner has changed, will not mend by
	// itself.
	_, unusable := errors.AsType[*disk.ErrUnusable](err)
	if unusable || errors.Is(err, disk.ErrUnknown) {
		db.writer.Break(err)
	}
	return err
}

// Raw gives Riot's JSON of a match or its timeline. engine.ErrNotFound, and so is what retention
// took.
func (db *DB) Raw(ctx context.Context, match string, p league.Part) ([]byte, error) {
	m, err := readIn(ctx, db, func(t *txn) (league.Match, error) { return t.match(match) })
	var raw []byte
	if err == nil {
		raw, err = db.payloads.Raw(match, p, m.Of(p).Ref)
	}
	if err != nil {
		return nil, fmt.Errorf("%s payload of %s: %w", p, match, err)
	}
	return raw, nil
}

// CheckPayload proves that a stored part is whole, without unpacking it. Errors as of Raw.
func (db *DB) CheckPayload(ctx context.Context, match string, p league.Part) error {
	m, err := readIn(ctx, db, func(t *txn) (league.Match, error) { return t.match(match) })
	if err == nil {
		_, err = db.payloads.Get(match, p, m.Of(p).Ref)
	}
	return err
}

// FindPayload looks for a payload that a crash left without state; see payload.Store.Find.
func (db *DB) FindPayload(
	ctx context.Context, match string, p league.Part,
) (ref league.PayloadRef, body []byte, ok bool, err error) {
	return db.payloads.Find(ctx, match, p)
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
// and the counts of collections.
func (t *txn) moveListed(old, m league.Match, known bool) error {
	moved := !old.Played.Equal(m.Played)
	if !known || !moved && old.Match.Status == m.Match.Status {
		return nil
	}
	for _, owner := range t.accountsOf(m.ID) {
		if moved {
			if err := t.listMatch(owner, m.ID, m.Played); err != nil {
				return err
			}
		}
		if err := t.recount(owner, old, m); err != nil {
			return err
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

// A match in the list of an account is in two tables, so that it is found from both sides:
//
//	accounts_of  match "KR_7214550881", account "01J…"                -> when it was played
//	by_account   account "01J…", played (latest first), match "KR_…"  -> marker
//
// The time stands in the key of the second: an account's list from its front is its newest matches
// first. When the time of a game becomes known, its row there moves.
var (
	tMatches = collection.Declare(
		collection.New("matches", "id", "both fetches, the game's facts, payload references"),
		collection.Records[league.Match]{
			Format: 23, Key: func(c *key.Coder, m *league.Match) { c.Rest(&m.ID) }, Fields: matchFields,
			Indexes: []collection.Index[league.Match]{matchStatus},
			Counts:  matchCounters,
		})
	matchStatus = collection.Index[league.Match]{
		Table: collection.New("match_status", "status byte, str id",
			"marker; temporary_failure and permanently_unfetchable only"),
		Rows: func(m *league.Match) []collection.Entry {
			s := m.Match.Status
			if s != league.TemporaryFailure && s != league.PermanentlyUnfetchable {
				return nil // an operator looks for the others
			}
			return []collection.Entry{{Key: string(statusKey(s, m.ID))}}
		},
		Of:      func(e collection.Entry) []byte { return []byte(key.Read([]byte(e.Key)[min(len(e.Key), 1):]).String()) },
		Missing: "is not listed by its status", Wrong: "lists a match that has another status",
	}
	tAccountsOf = collection.Declare(
		collection.New("accounts_of", "str match, str account", "time under which by_account has it"),
		collection.Records[listing]{
			Format:  rec.Time,
			Key:     func(c *key.Coder, l *listing) { c.Str(&l.Match, &l.Account) },
			Fields:  func(c *rec.Coder, l *listing) { c.Time(&l.Played) },
			Indexes: []collection.Index[listing]{byAccount},
		})
	byAccount = collection.Index[listing]{
		Table: collection.New("by_account", "str account, desc played, str match", "marker; unknown time last"),
		Rows: func(l *listing) []collection.Entry {
			c := key.Build(nil)
			listKey(&c, l)
			return []collection.Entry{{Key: string(c.Key())}}
		},
		Of: func(e collection.Entry) []byte {
			var l listing
			c := key.Parse([]byte(e.Key))
			listKey(&c, &l)
			return listedKey(l)
		},
		Missing: "is not in the list of its account", Wrong: "is of a match that does not know that it is listed",
	}

	// Ten seats in one row: they are stored together and read together, and a seat alone is never
	// asked for.
	tParticipants = collection.Declare(
		collection.New("participants", "match id", "all seats in one"),
		collection.Records[seating]{
			Format: 24,
			Key:    func(c *key.Coder, s *seating) { c.Rest(&s.match) },
			Fields: func(c *rec.Coder, s *seating) {
				rec.List(c, &s.seats, 8, seatFields)
				for i := range s.seats {
					s.seats[i].Match = s.match
				}
			},
		})
)

// listing is a match in the list of an account, and when it was played.
type listing struct {
	Account, Match string
	Played         time.Time
}

// listedKey is the key of a listing in accounts_of.
func listedKey(l listing) []byte { return key.Strings(l.Match, l.Account) }

// listKey is where a listing stands in by_account: behind those that were played later.
func listKey(c *key.Coder, l *listing) {
	c.Str(&l.Account)
	c.TimeDesc(&l.Played)
	c.Str(&l.Match)
}

// listingAt reads a row of by_account.
func listingAt(k []byte) (l listing, err error) {
	c := key.Parse(k)
	if listKey(&c, &l); c.Done() != nil {
		return l, byAccount.Corrupt(k, c.Done())
	}
	return l, nil
}

// seating is who sat where in a match.
type seating struct {
	match string
	seats []league.Participant
}

// matchFields are a match's two fetches and the facts of the game that lists show, so that a list
// opens no payload.
func matchFields(c *rec.Coder, m *league.Match) {
	fetchFields(c, &m.Match)
	fetchFields(c, &m.Timeline)
	c.Time(&m.Played)
	c.Dur(&m.Duration)
	c.Int(&m.QueueID)
	c.Str(&m.Mode, &m.Patch)
	c.Bool(&m.Aborted, &m.Remake)
	c.Int(&m.Participants)
	c.Time(&m.Listed)
	if c.More(m.Match.Cancelled != league.NotCancelled || m.Timeline.Cancelled != league.NotCancelled) {
		c.Byte((*byte)(&m.Match.Cancelled), (*byte)(&m.Timeline.Cancelled))
	}
}

// fetchFields are how far one part of a match is, and where its payload lies: its month's shard,
// its bytes as they arrived, and length and checksum of Riot's JSON.
func fetchFields(c *rec.Coder, f *league.Fetch) {
	c.Byte((*byte)(&f.Status))
	c.Int(&f.Attempts)
	c.Time(&f.FetchedAt, &f.LastAttemptAt)
	c.Str(&f.LastError, &f.LastClass, &f.Ref.Month, &f.Ref.Codec)
	c.Int(&f.Ref.Size, &f.Ref.RawLen)
	c.Uint32(&f.Ref.CRC)
}

// seatFields are those of one seat. Whose match it is stands in the key, once for all ten.
func seatFields(c *rec.Coder, p *league.Participant) {
	c.Int(&p.Index)
	c.Str(&p.PUUID, &p.RiotID, &p.Champion)
	c.Int(&p.Team)
	c.Bool(&p.Won)
	c.Int(&p.Kills, &p.Deaths, &p.Assists)
}

// statusKey is where a match stands in match_status: the byte of its status, then its id.
func statusKey(s league.Status, match string) []byte {
	return key.AppendString([]byte{byte(s)}, match)
}
