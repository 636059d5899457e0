package engine

import (
	"time"

	"github.com/farsight-console/farsight/engine/human"
)

// ReportsQuery lists the play-time reports that are stored; answered by ReportsPage.
// The report itself comes with AccountQuery.
type ReportsQuery struct {
	Page        // of accounts: one without a report counts
	Text string `json:"text,omitempty"` // part of the Riot ID, or an account id
}

// ReportsPage answers ReportsQuery. A page may hold fewer reports than were asked
// for, even none: Next tells whether there are more.
type ReportsPage struct {
	Reports []ReportRow `json:"reports"`
	Next    string      `json:"next,omitempty"`
}

// ReportRow is a play-time report as lists show it. Text is as received.
type ReportRow struct {
	Account  string    `json:"account_id"`
	RiotID   string    `json:"riot_id"`
	Platform string    `json:"platform"`
	Zone     string    `json:"zone"`
	Built    time.Time `json:"built"`
	Minutes  float64   `json:"minutes"` // played, of all matches in it
	Matches  int       `json:"matches"` // counted in it
	Missing  int       `json:"missing"` // wanted, but could not be had or were cancelled
	// Cancelled is the part of Missing that an operator cancelled.
	Cancelled int `json:"cancelled"`
	// Closed is when its account's last sync became complete, if it had ended incomplete.
	Closed time.Time `json:"gaps_closed,omitzero"`
	First  time.Time `json:"first,omitzero"`
	Last   time.Time `json:"last,omitzero"`
	Day    int       `json:"busiest_day"` // 0 = Monday
	Hour   int       `json:"busiest_hour"`
}

// Without says how many stored matches are left out of the report, and why; "" = none is.
func (r PlayReport) Without() string {
	if r.LeftOut == 0 {
		return ""
	}
	return human.Count(int64(r.LeftOut)) + " without this player"
}

// Row sums a report up. Whose it is, is the caller's to fill in.
func (r PlayReport) Row() ReportRow {
	row := ReportRow{
		Account: r.Account, Zone: r.Zone, Built: r.Built, Matches: r.Matches, Missing: r.Missing,
		Cancelled: r.Cancelled, First: r.First, Last: r.Last,
	}
	most := 0.0
	for d := range r.Minutes {
		for h, m := range r.Minutes[d] {
			row.Minutes += m
			if m > most {
				most, row.Day, row.Hour = m, d, h
			}
		}
	}
	return row
}

func (ReportsQuery) query() {}

// PlayQuery asks what an account has played lately, week by week, and with which
// champions, from what is stored; answered by Play.
type PlayQuery struct {
	Account string `json:"account"` // id
	// IANA name of the zone of weeks and hours; "" = UTC, of a draft that of reports
	Zone  string `json:"zone,omitempty"`
	Weeks int    `json:"weeks,omitempty"` // 0 = 4, at most 12
	Draft bool   `json:"draft,omitempty"` // a draft of the report, too
}

// Play answers PlayQuery. Weeks are the newest first, from the one of the newest game
// on, without a gap.
type Play struct {
	Account   string      `json:"account"`
	Zone      string      `json:"zone"`
	Weeks     []PlayWeek  `json:"weeks,omitempty"`
	Champions []PlayShare `json:"champions,omitempty"` // of all its games; the most played first
	More      int         `json:"more_champions"`      // that have no row
	Games     int         `json:"games"`               // looked at
	Cut       bool        `json:"cut,omitempty"`       // there are older ones that were not looked at
	// Draft is what the play-time report would say if it were built now, in Zone:
	// Matches are those in it, Missing those inside retention that are not stored.
	Draft *PlayReport `json:"draft,omitempty"`
}

// PlayWeek is one week of an account. Minutes are split at hour edges, games counted
// where they start; row 0 is Monday.
type PlayWeek struct {
	Week    string         `json:"week"`    // its Monday, 2026-11-16
	Minutes [7][24]float64 `json:"minutes"` // by weekday from Monday on and by hour
	Games   int            `json:"games"`
	Wins    int            `json:"wins"`
	Remakes int            `json:"remakes,omitempty"` // of the games: neither won nor lost
}

// PlayShare is how much of the games was played with one champion. Name is as received.
type PlayShare struct {
	Name    string  `json:"name"`
	Games   int     `json:"games"`
	Wins    int     `json:"wins"`
	Remakes int     `json:"remakes,omitempty"` // of the games: neither won nor lost
	Minutes float64 `json:"minutes"`
}

func (PlayQuery) query() {}

// MatchCellsQuery asks for every match of an account as one letter, in the order in which
// they were played; answered by MatchCells.
type MatchCellsQuery struct {
	Account string `json:"account"` // id
}

func (MatchCellsQuery) query() {}

// MostCells is how many matches a MatchCells has: of more it has the newest.
const MostCells = 5000

// Letters of MatchCells.
const (
	CellStored    = 's'
	CellHad       = 'h' // stored before the sync that is under way began
	CellRetrying  = 'r'
	CellGaveUp    = 'x'
	CellTooOld    = 'o'
	CellCancelled = 'c'
	CellToCome    = '.'
	CellCorrupt   = '!' // its record cannot be read
)

// MatchCells answers MatchCellsQuery. An id carries no date: a match that was not fetched
// yet stands where its number puts it between those of its platform whose dates are known,
// since Riot counts up.
type MatchCells struct {
	Account string       `json:"account"`
	Cells   string       `json:"cells"`            // a letter for each match, the oldest first: "sssr..s"
	Older   int          `json:"older"`            // that are not among Cells
	Months  []MonthCell  `json:"months,omitempty"` // where months begin, as far as dates are known
	Undated int          `json:"undated"`          // of Cells: their dates are not known yet
	Newest  []StoredCell `json:"newest,omitempty"` // stored last, the newest first, at most 60
	// Row is the account by the same reading, but for what is foreseen of it.
	Row AccountRow `json:"row"`
}

// MonthCell is the first of the Cells that is known to be of a month, in UTC.
type MonthCell struct {
	Cell   int       `json:"cell"`
	Played time.Time `json:"played"`
}

// StoredCell is one of the Cells with the instant at which it was stored.
type StoredCell struct {
	Cell   int       `json:"cell"`
	Stored time.Time `json:"stored"`
}
