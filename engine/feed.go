package engine

import "time"

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
	FeedJobs         FeedKind = "jobs"         // ended ones, in the order in which they ended
	// FeedLive lists the live jobs by id. It is no durable order: a live job gets
	// its place in FeedJobs when it ends.
	FeedLive FeedKind = "live jobs"
)

// FeedQuery asks for the rows of a feed after a cursor; answered by FeedPage. A
// cursor that is none, of another feed or of another store is ErrInvalid.
type FeedQuery struct {
	Page
	Kind FeedKind
}

// FeedPage answers FeedQuery.
type FeedPage struct {
	Rows []FeedRow
	Next string // where to go on, also when there are no rows
	More bool   // there are rows after Next
}

// FeedRow is one row of a feed. One of the pointers is set, unless the item
// cannot be read. Text is as received.
type FeedRow struct {
	Cursor  string // printable; reading goes on after this row
	ID      string // of the match, account or job
	Corrupt bool   // its record cannot be read; the rest of the feed can

	Match    *MatchRow
	Timeline *TimelineRow
	Seat     *SeatRow
	Rank     *RankRow
	Job      *Job
}

// TimelineRow is the timeline of a match.
type TimelineRow struct {
	Match         string
	Status        string
	Attempts      int // charged, all rounds
	FetchedAt     time.Time
	LastAttemptAt time.Time
	LastError     string
	LastClass     string
}

// SeatRow is one participant of a match: (match id, index) is its identity,
// since several bots share one PUUID.
type SeatRow struct {
	Match    string
	Index    int
	PUUID    string
	RiotID   string
	Champion string
	Team     int
	Won      bool
	Kills    int
	Deaths   int
	Assists  int
}
