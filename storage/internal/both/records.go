package both

import (
	"reflect"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// Records that one store hands to another where the domain has no type that tells all of them. Each
// is whole, whatever tables the store keeps it in. A place is a number in the order of a feed, 0 =
// it has none.
type (
	// PUUID is whose one is.
	PUUID struct{ PUUID, Account string }
	// CachedPUUID is what Riot last answered for a Riot ID under a key project.
	CachedPUUID struct {
		Project, Name, Tag, PUUID string
		Until                     time.Time
	}
	// CostedRun is a run with the calls and 429s of its job's own attempts.
	CostedRun struct {
		league.Run
		Calls, Throttled int
	}
	// StagedID is one id that a run has listed.
	StagedID struct {
		Run string
		league.Staged
	}
	// Range is what is complete of one list of an account, or of a run in the making.
	Range struct {
		Owner, List string
		league.Coverage
	}
	// ListedIDs are what Riot listed last of one list of an account.
	ListedIDs struct {
		Account, List string
		league.CachedIDs
	}
	// TagPolicy is the policy of a tag.
	TagPolicy struct {
		Tag    string
		Policy league.Policy
	}
	// FedMatch is a match with its places in the feeds of matches, timelines and participants.
	FedMatch struct {
		league.Match
		Place, TimelinePlace, SeatsPlace uint64
	}
	// Listing is a match in the list of an account, and when it was played.
	Listing struct {
		Account, Match string
		Played         time.Time
	}
	// FedRank is a rank with its place.
	FedRank struct {
		league.Rank
		Place uint64
	}
	// EndedJob is a job that has ended, with its place.
	EndedJob struct {
		engine.Job
		Place uint64
	}
	// Tried is an attempt with whose it is.
	Tried struct {
		engine.Attempt
		Job   engine.JobID
		Owner string
		Kind  engine.Kind
	}
	// Member is how one child stands in a group of its parent.
	Member struct {
		engine.GroupID
		Child            engine.JobID
		Mark             engine.Mark
		Calls, Throttled int
	}
	// Moved is a transition with the id of what has moved.
	Moved struct {
		engine.Transition
		Of string
	}
	// DayPart is one part of a day's sums.
	DayPart struct {
		engine.DaySum
		Slot int
	}
	// State is a small named blob.
	State struct {
		Name string
		Blob []byte
	}
	// Payload is what Riot answered, as it arrived, with whose it is.
	Payload struct {
		Match string
		Part  league.Part
		league.PayloadRef
		Body []byte
	}
)

// PrunedSlot is the part of a day that says what was removed of what its sums have counted.
const PrunedSlot = -1

// Collection is a kind of record as a store hands it over: the type of its values, how many rows it
// has, and their bytes.
type Collection struct {
	Name  string
	Of    reflect.Type
	Rows  int64
	Bytes int64
}

// Numbers are the last ones that a store has given out.
type Numbers struct{ Job, Audit, Place uint64 }
