package league

import "time"

// Account is a player whose games are kept in sync. Its ID is ours (a ULID) and
// never changes; everything else is an attribute. Text is as received.
type Account struct {
	ID       string
	GameName string
	TagLine  string
	Platform string // "euw1"
	// PUUIDs by key project: Riot encrypts a PUUID for each project, so one
	// account has several, told apart by the alias of the key that fetched it.
	PUUIDs   map[string]string
	Resolved time.Time // when the Riot ID was last resolved

	Tracked bool
	Tags    []string
	Policy  Policy

	Status    string // a word of engine.SyncStatus
	Run       string // id of the live run, else of the last one; a live one is claimed by compare-and-set
	Coverage  Coverage
	Created   time.Time
	Updated   time.Time
	LastSync  time.Time // end of the last run that completed
	LastError string
	Home      bool // the player has been seen on Platform: a match there, or a summoner
	// Collection is the one that has found the player, by PUUID alone, and syncs it: nobody has added it, and no list of
	// accounts has it. "" = an account.
	Collection string
}

// RiotID is "Name#TAG", as received; "" where only the PUUID is known.
func (a Account) RiotID() string {
	if a.GameName == "" && a.TagLine == "" {
		return ""
	}
	return a.GameName + "#" + a.TagLine
}

// Timelines says which timelines are fetched.
type Timelines string

// Choices of timelines.
const (
	TimelinesAll    Timelines = "all"
	TimelinesRanked Timelines = "ranked"
	TimelinesNone   Timelines = "none"
)

// Coverage is the contiguous range of games that is known to be complete: from
// the newest id listed down to Floor. Listing may stop at a known id only if the
// range reaches the floor that is asked for (S1-13); a short run never moves it
// over a hole.
type Coverage struct {
	Head       string    // newest match id of the range
	HeadAt     time.Time // instant the head was listed
	Floor      time.Time // everything played since is in the table; zero with ReachedEnd
	ReachedEnd bool      // the range ends where Riot's list ends
	Timelines  Timelines // the least that any run of the range fetched
	Walked     time.Time // when all of it was last listed, from its head to its end
}

// Holds reports whether the range has the timelines that t asks for.
func (c Coverage) Holds(t Timelines) bool { return c.Timelines.rank() >= t.rank() }

// Least is the lesser of two choices.
func Least(a, b Timelines) Timelines {
	if a.rank() < b.rank() {
		return a
	}
	return b
}

// rank orders the choices by how much they bring; one that is left open is all.
func (t Timelines) rank() int {
	switch t {
	case TimelinesNone:
		return 0
	case TimelinesRanked:
		return 1
	}
	return 2
}

// Reaches reports whether the range covers everything since floor.
func (c Coverage) Reaches(floor time.Time) bool {
	if c.Head == "" {
		return false
	}
	return c.ReachedEnd || (!floor.IsZero() && !c.Floor.After(floor))
}
