package engine

import (
	"encoding/json"
	"time"
)

// FeedKind says what a feed is of. A feed is a durable order of stored items:
// each stands in it once, at the place of its latest change, and what changes
// moves to the end. Whoever has read up to a cursor has everything before it,
// and finds after it exactly what was added or has changed since.
type FeedKind string

// Feeds.
const (
	FeedMatches      FeedKind = "matches"
	FeedTimelines    FeedKind = "timelines"    // of matches whose timeline was ever tried or settled
	FeedParticipants FeedKind = "participants" // several rows per match: its seats, by index
	FeedRanks        FeedKind = "ranks"        // in the order in which they were stored; none ever changes
	FeedPlayers      FeedKind = "players"      // of collections, whose PUUID is known
	FeedJobs         FeedKind = "jobs"         // ended ones, in the order in which they ended
	// FeedLive lists the live jobs by id. It is no durable order: a live job gets
	// its place in FeedJobs when it ends.
	FeedLive FeedKind = "live jobs"
)

// FeedQuery asks for the rows of a feed after a cursor; answered by FeedPage. A
// cursor that is none, of another feed or of another store is ErrInvalid.
type FeedQuery struct {
	Page
	Kind FeedKind `json:"feed"`
	// Filter, in the filter language, leaves out matches that do not fit: a page may have fewer rows than
	// asked for, or none, and not be the last. Other feeds have none.
	Filter string `json:"filter,omitempty"`
	// Collection is the name of one: only its matches, and what is of them or of its players. Pages as with Filter. A
	// match that was stored before the collection found it stands where it stood.
	Collection string `json:"collection,omitempty"`
}

// FeedPage answers FeedQuery.
type FeedPage struct {
	Rows []FeedRow `json:"rows"`
	Next string    `json:"next,omitempty"` // where to go on, also when there are no rows
	More bool      `json:"more"`           // there are rows after Next
}

// FeedRow is one row of a feed. One of the pointers is set, unless the item
// cannot be read. Text is as received.
type FeedRow struct {
	Cursor  string `json:"cursor"`            // printable; reading goes on after this row
	ID      string `json:"id"`                // of the match, account or job
	Corrupt bool   `json:"corrupt,omitempty"` // its record cannot be read; the rest of the feed can

	Match    *MatchRow    `json:"match,omitempty"`
	Timeline *TimelineRow `json:"timeline,omitempty"`
	Seat     *SeatRow     `json:"participant,omitempty"`
	Rank     *RankRow     `json:"rank,omitempty"`
	Player   *PlayerRow   `json:"player,omitempty"`
	Job      *Job         `json:"job,omitempty"`
}

// TimelineRow is the timeline of a match.
type TimelineRow struct {
	Match         string    `json:"match_id"`
	Status        string    `json:"status"`
	Attempts      int       `json:"attempts"` // charged, all rounds
	FetchedAt     time.Time `json:"fetched_at,omitzero"`
	LastAttemptAt time.Time `json:"last_attempt_at,omitzero"`
	LastError     string    `json:"last_error,omitempty"`
	LastClass     string    `json:"last_class,omitempty"`
	Played        time.Time `json:"played_at,omitzero"` // as the match tells
	Patch         string    `json:"patch,omitempty"`    // likewise
}

// SeatRow is one participant of a match: (match id, index) is its identity,
// since several bots share one PUUID.
type SeatRow struct {
	Match    string `json:"match_id"`
	Index    int    `json:"index"` // place in Riot's list of participants, from 0
	PUUID    string `json:"puuid"`
	RiotID   string `json:"riot_id"`
	Champion string `json:"champion"`
	Team     int    `json:"team"` // 100 or 200; arenas have others
	Won      *bool  `json:"won"`  // null of a remake: neither won nor lost
	Kills    int    `json:"kills"`
	Deaths   int    `json:"deaths"`
	Assists  int    `json:"assists"`

	Played time.Time `json:"played_at,omitzero"`
	Patch  string    `json:"patch,omitempty"` // "16.23"
}

// PlayerRow is a player of a collection. Who is in several collections has a row in each.
type PlayerRow struct {
	Player     string    `json:"account_id"` // as ranks and jobs have it
	RiotID     string    `json:"riot_id"`    // where the player was listed by it; seats have those of all
	Platform   string    `json:"platform"`
	PUUID      string    `json:"puuid"`
	Collection string    `json:"collection"` // its name
	Found      time.Time `json:"found_at"`
}

// PayloadQuery asks for Riot's JSON of a stored match, or of its timeline; answered
// by Payload. ErrNotFound when nothing is stored.
type PayloadQuery struct {
	Match    string `json:"match_id"`
	Timeline bool   `json:"timeline,omitempty"`
}

// Payload answers PayloadQuery.
type Payload struct {
	JSON json.RawMessage `json:"payload"` // as received
}

func (PayloadQuery) query() {}
