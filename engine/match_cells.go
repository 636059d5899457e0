package engine

import "time"

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
