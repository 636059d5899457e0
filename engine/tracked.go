package engine

import "time"

// RankRow is where an account stood in a ranked queue at an instant. Rows are
// written when something changed, and once a day otherwise.
type RankRow struct {
	Account  string    `json:"account_id"`
	RiotID   string    `json:"riot_id"` // as received
	Platform string    `json:"platform"`
	Queue    string    `json:"queue"` // "RANKED_SOLO_5x5"
	At       time.Time `json:"at"`
	Unranked bool      `json:"unranked,omitempty"`
	Tier     string    `json:"tier,omitempty"`
	Division string    `json:"division,omitempty"`
	Points   int       `json:"points"` // League Points
	Wins     int       `json:"wins"`
	Losses   int       `json:"losses"`
	PUUID    string    `json:"puuid,omitempty"` // by which matches name the player; one of several where keys of several projects were used
}

// RanksQuery asks for an account's rank history, newest first; answered by
// RanksPage.
type RanksQuery struct {
	Page
	Account string `json:"account,omitempty"` // id or "Name#TAG"
	Queue   string `json:"queue,omitempty"`   // "" = all
}

// RanksPage answers RanksQuery.
type RanksPage struct {
	Ranks []RankRow `json:"ranks"`
	Next  string    `json:"next,omitempty"`
}

// WeeklyQuery asks for the report of a week; answered by *WeeklyReport.
type WeeklyQuery struct {
	Week string `json:"week,omitempty"` // a day of it, as 2026-11-16; "" = the latest that is stored
}

// WeeklyReport is what all tracked accounts played from a Monday to the Sunday
// after it, in Zone. Minutes are split at hour edges, games counted where they
// start. Row 0 of the tables is Monday.
type WeeklyReport struct {
	Week     string          `json:"week"` // its Monday, 2026-11-16
	From     time.Time       `json:"from"`
	To       time.Time       `json:"to"` // the Monday after
	Zone     string          `json:"zone"`
	Built    time.Time       `json:"built"`
	Minutes  [7][24]float64  `json:"minutes"`
	Games    [7][24]int      `json:"games"`
	Played   int             `json:"played"` // games, of all accounts; a shared one counts for each
	Complete int             `json:"complete"`
	Accounts []WeeklyAccount `json:"accounts"` // by Riot ID
}

// WeeklyAccount is one account's week.
type WeeklyAccount struct {
	ID      string      `json:"id"`
	RiotID  string      `json:"riot_id"` // as received
	Games   int         `json:"games"`
	Minutes float64     `json:"minutes"`
	Wins    int         `json:"wins"`
	Remakes int         `json:"remakes,omitempty"` // of the games: neither won nor lost
	ByQueue map[int]int `json:"by_queue,omitempty"`
	// Missing says why the week may not be all there; "" = it is.
	Missing string `json:"missing,omitempty"`
}

// FreshnessQuery asks whether the key allows what the tracked accounts need;
// answered by Freshness.
type FreshnessQuery struct{}

// Freshness compares the calls that keep the tracked accounts fresh with those
// that the key allows.
type Freshness struct {
	Accounts int             `json:"accounts"` // tracked
	Regions  []FreshnessHost `json:"regions"`
	Late     []LateAccount   `json:"late"`  // older than twice their cadence, the oldest first, at most 100
	Lates    int             `json:"lates"` // how many there are
	Text     string          `json:"text"`  // "needs 120 of 3000 calls per hour in europe"
	// FreshAt is when all are fresh, at the rate that the key allows now: when it was
	// asked, if they are; zero = never, or nobody knows yet.
	FreshAt time.Time `json:"fresh_at,omitzero"`
	Never   bool      `json:"never,omitempty"` // they never all are, if nothing changes
	Outlook string    `json:"outlook"`         // the same in a sentence, and what would help
}

// FreshnessHost is one region's calls per hour.
type FreshnessHost struct {
	Region  string  `json:"region"`
	Needs   float64 `json:"needs_per_hour"`
	Behind  float64 `json:"behind,omitempty"` // calls that the late accounts need at once
	Allowed float64 `json:"allowed_per_hour"` // 0 = not known yet
	Bucket  string  `json:"bucket,omitempty"` // the tightest one
}

// LateAccount is a tracked account that is not as fresh as it should be.
type LateAccount struct {
	ID      string        `json:"id"`
	RiotID  string        `json:"riot_id"` // as received
	Last    time.Time     `json:"last_sync,omitzero"`
	Cadence time.Duration `json:"cadence_ns"`
	Failed  bool          `json:"failed,omitempty"` // its last sync failed
}

// TrackLine is one account of a list that is tracked at once.
type TrackLine struct {
	Line     int      `json:"line"` // in the file, from 1
	Account  string   `json:"account"`
	Platform string   `json:"platform"`
	Tags     []string `json:"tags,omitempty"`
}

// TrackReject is a line that was not taken, and why.
type TrackReject struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

// Commands of the domain.
const (
	OpTrackMany Op = "track-many" // Command.Lines
	OpReresolve Op = "reresolve"  // accept a key of another project: resolve every account again
)

func (RanksQuery) query()     {}
func (WeeklyQuery) query()    {}
func (FreshnessQuery) query() {}
