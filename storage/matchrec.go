package storage

import (
	"time"

	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/both"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

var (
	tMatches = declare(newTable("matches", "id", "both fetches, the game's facts, payload references"), records[league.Match]{
		format: 23, key: func(c *key.Coder, m *league.Match) { c.Rest(&m.ID) }, fields: matchFields,
		indexes: []index[league.Match]{matchStatus},
		counts:  both.MatchCounters,
	})
	matchStatus = index[league.Match]{
		table: newTable("match_status", "status byte, str id", "marker; temporary_failure and permanently_unfetchable only"),
		rows: func(m *league.Match) []entry {
			s := m.Match.Status
			if s != league.TemporaryFailure && s != league.PermanentlyUnfetchable {
				return nil // an operator looks for the others
			}
			return []entry{{k: string(statusKey(s, m.ID))}}
		},
		of:      func(e entry) []byte { return []byte(key.Read([]byte(e.k)[min(len(e.k), 1):]).String()) },
		missing: "is not listed by its status", wrong: "lists a match that has another status",
	}
	tAccountsOf = declare(newTable("accounts_of", "str match, str account", "time under which by_account has it"), records[accountMatch]{
		format: rec.Time, key: func(c *key.Coder, l *accountMatch) { c.Str(&l.match, &l.account) }, fields: func(c *rec.Coder, l *accountMatch) { c.Time(&l.played) },
		indexes: []index[accountMatch]{byAccount},
	})
	byAccount = index[accountMatch]{
		table: newTable("by_account", "str account, desc played, str match", "marker; unknown time last"),
		rows: func(l *accountMatch) []entry {
			c := key.Build(nil)
			listKey(&c, l)
			return []entry{{k: string(c.Key())}}
		},
		of: func(e entry) []byte {
			var l accountMatch
			c := key.Take([]byte(e.k))
			listKey(&c, &l)
			return listedKey(l)
		},
		missing: "is not in the list of its account", wrong: "is of a match that does not know that it is listed",
	}

	tParticipants = declare(newTable("participants", "match id", "all seats in one"), records[seating]{
		format: 24, key: func(c *key.Coder, s *seating) { c.Rest(&s.match) }, fields: func(c *rec.Coder, s *seating) {
			rec.List(c, &s.seats, 8, seatFields)
			for i := range s.seats {
				s.seats[i].Match = s.match
			}
		},
	})
)

// accountMatch is a match in the list of an account. Two tables hold it, so that it is found from both sides:
//
//	accounts_of  match "KR_7214550881", account "01J…"                -> when it was played
//	by_account   account "01J…", played (latest first), match "KR_…"  -> marker
//
// The time stands in the key of the second: an account's list from its front is its newest matches first. When the time of a
// game becomes known, its row there moves.
type accountMatch struct {
	match, account string
	played         time.Time
}

// listedKey is the key of the same in accounts_of.
func listedKey(l accountMatch) []byte { return key.Strings(l.match, l.account) }

// listKey is where a listing stands in by_account: behind those that were played later.
func listKey(c *key.Coder, l *accountMatch) {
	c.Str(&l.account)
	c.TimeDesc(&l.played)
	c.Str(&l.match)
}

// listingAt reads a row of by_account.
func listingAt(k []byte) (l accountMatch, err error) {
	c := key.Take(k)
	if listKey(&c, &l); c.Done() != nil {
		return l, byAccount.corrupt(k, c.Done())
	}
	return l, nil
}

// seating is who sat where in a match.
type seating struct {
	match string
	seats []league.Participant
}

// matchFields are a match's two fetches and the facts of the game that lists show, so that a list opens no payload.
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

// fetchFields are how far one part of a match is, and where its payload lies: its month's shard, its bytes as they arrived, and
// length and checksum of Riot's JSON.
func fetchFields(c *rec.Coder, f *league.Fetch) {
	c.Byte((*byte)(&f.Status))
	c.Int(&f.Attempts)
	c.Time(&f.FetchedAt, &f.LastAttemptAt)
	c.Str(&f.LastError, &f.LastClass, &f.Ref.Month, &f.Ref.Codec)
	c.Int(&f.Ref.Size, &f.Ref.RawLen)
	c.Uint32(&f.Ref.CRC)
}

func seatFields(c *rec.Coder, p *league.Participant) {
	c.Int(&p.Index)
	c.Str(&p.PUUID, &p.RiotID, &p.Champion)
	c.Int(&p.Team)
	c.Bool(&p.Won)
	c.Int(&p.Kills, &p.Deaths, &p.Assists)
}

func init() {
	tMatches.sound, tParticipants.sound, tAccountsOf.sound = soundMatch, soundSeats, soundListing
}

func soundListing(c *checker, k []byte, l *accountMatch) {
	if m, err := c.match(l.match); err == nil && !m.Played.Equal(l.played) {
		c.bad(tAccountsOf.name, k, "match %s is listed at another time than it was played", l.match)
	}
}

// soundMatch checks that what is stored is there and whole, unless retention took it, and has its place in the feeds.
func soundMatch(c *checker, k []byte, m *league.Match) {
	for _, part := range []league.Part{league.PartMatch, league.PartTimeline} {
		f := m.Of(part)
		if f.Status != league.Success || f.Ref.Dropped() {
			continue
		}
		if _, err := c.payloads.Get(m.ID, part, f.Ref); err != nil {
			c.bad(tMatches.name, k, "the %s is stored, but: %v", part, err)
		}
	}
	if !c.has(feedOf.table, feedOfKey(tagMatches, m.ID)) {
		c.bad(tMatches.name, k, "has no place in the feed")
	}
	if !both.SameTimeline(*m, league.Match{}) && !c.has(feedOf.table, feedOfKey(tagTimelines, m.ID)) {
		c.bad(tMatches.name, k, "its timeline has no place in the feed")
	}
}

func soundSeats(c *checker, k []byte, s *seating) {
	if !c.has(feedOf.table, feedOfKey(tagParticipants, s.match)) {
		c.bad(tParticipants.name, k, "has no place in the feed")
	}
}

func statusKey(s league.Status, match string) []byte {
	return key.AppendString([]byte{byte(s)}, match)
}
