package storage

import (
	"time"

	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

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
			c := key.Take([]byte(e.Key))
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
	c := key.Take(k)
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
