package league

import (
	"slices"
	"time"
)

// Run is one pass over an account: resolve, list, one job per new match, the
// report, one job per timeline. It belongs to one job, which waits for the rest.
type Run struct {
	ID      string // ULID
	Account string
	Job     string // engine.JobID of the sync job
	Ask     Ask
	Before  string // the account's run before it; "" = none

	Phase   string    // engine.Phase
	Anchor  time.Time // upper end of the listing, fixed at its start so that new games do not shift pages
	List    int       // which of the ask's lists is being read
	From    int       // ids staged before that list
	Start   int       // offset of the next page
	Pages   int       // pages fetched
	Staged  int       // ids staged so far
	OldPart bool      // listing has gone on to the ids beyond retention

	Ends    int  // lists that were read to their end, a bit each, while it is not proven
	Looks   int  // how often what lies behind the ends was asked for after everything else
	Again   bool // the list is read once more from its head, since what was read of it is in doubt
	Mingled bool // the list beyond retention names what the one inside names: it proves nothing

	// Of the listed matches, settled without a job of this run:
	Listed          int // unique ids inside the ask
	Had             int // stored, or settled for good, before
	TooOld          int
	TimelinesHad    int
	TimelinesTooOld int
	TimelinesNone   int // not wanted by the ask, or there is no match to ask about
	Lost            int // part of Had and TimelinesHad: could not be had in an earlier run
	TimelinesLost   int // part of Lost
	Unaskable       int // part of Had: nobody knows where their ids would be asked for
	// Cancelled by themselves before, and left alone: in none of the above.
	Left          int
	TimelinesLeft int

	Triggered time.Time
	Started   time.Time // first call
	Finished  time.Time
	Closed    time.Time // when it became complete, of a run that had ended incomplete
	Resumed   int       // restarts survived
	ResumedAt int       // matches settled at the last of them
	Result    string    // "", completed, incomplete, failed, cancelled
	Error     string    // why it failed, or what the lists of one that ended did not prove
	By        string    // who triggered it
}

// RangesOf names whose the known ranges are that a run keeps apart from those of its
// account: the account's own and those of its filters, when the run has ended without all that they
// promise. Earlier versions also kept those of lists it had read while others followed (Making).
type RangesOf struct{ Making, Own, Filters string }

// Ranges names the ranges that the run keeps.
func (r Run) Ranges() RangesOf {
	return RangesOf{Making: "run " + r.ID, Own: "own " + r.ID, Filters: "filters " + r.ID}
}

// Ask is what a run was asked to cover.
type Ask struct {
	Mode      string    // full, latest
	Count     int       // newest N listed; 0 = all
	Floor     time.Time // nothing older; zero = no floor
	Timelines Timelines
	Filter    Filter // which games; with Count, the newest N of each of its lists
	Force     bool   // skips cooldown and id cache, opens a new round for the unfetchable
	Whole     bool   // reads its lists to their end, however much of them is known
}

// Covers reports whether a run of a has looked at all that want asks for: the same
// lists or all of them, as many of the newest, as far back, and the timelines.
func (a Ask) Covers(want Ask) bool {
	lists := a.Filter.Lists()
	for _, l := range want.Filter.Lists() {
		if !slices.Contains(lists, l) && (a.Filter != "" || a.Count > 0) {
			return false
		}
	}
	switch {
	case a.Count > 0 && (want.Count == 0 || want.Count > a.Count):
		return false
	case !a.Floor.IsZero() && (want.Floor.IsZero() || want.Floor.Before(a.Floor)):
		return false
	}
	return a.Timelines.rank() >= want.Timelines.rank()
}

// Staged is one listed id that waits for the last page.
type Staged struct {
	ID     string
	TooOld bool // only the list that ends at the retention cutoff names it
	List   int  // which of the ask's lists names it
}

// Gap is a part of a match that a run wanted and that is missing.
type Gap struct {
	Match   string
	Part    Part
	Run     string
	Account string // of the run
	Job     string // the run's own job that ended without it; "" = there was none
	Left    bool   // without a job: it was left alone because an operator had cancelled it
}

// Groups of a sync job's children.
const (
	GroupMatches   = 1
	GroupTimelines = 2
)
