package league

import "time"

// Ranked queues that Riot lists, as league-v4 names them.
const (
	RankedSolo = "RANKED_SOLO_5x5"
	RankedFlex = "RANKED_FLEX_SR"
)

// Rank is where an account stood in a ranked queue at an instant.
type Rank struct {
	Account  string
	Queue    string
	At       time.Time
	Unranked bool   // it has no rank in the queue
	Tier     string // "PLATINUM"
	Division string // "III"; Master and above have "I"
	Points   int
	Wins     int
	Losses   int
	// Unsure: a rank is missing from one answer. Riot has listed nobody's rank for
	// a while (developer-relations#726), so the next day's answer has to agree.
	Unsure bool
}

// Same reports whether both say the same of the queue.
func (r Rank) Same(o Rank) bool {
	r.Account, r.At, o.Account, o.At = "", time.Time{}, "", time.Time{}
	return r == o
}

// Stray is a match that failed and that no job tries any more.
type Stray struct {
	Match string
	Owner string // an account that has it
	Used  int    // attempts that count already
	At    time.Time
	Ended bool // it was given up, and is asked for once more
}

// CachedIDs are the newest ids of a list, as Riot gave them at an instant.
type CachedIDs struct {
	At    time.Time // the list's end: what was played later is not in it
	Floor time.Time // nothing older was asked for; zero = no floor
	Whole bool      // the list ends behind IDs
	IDs   []string
}
