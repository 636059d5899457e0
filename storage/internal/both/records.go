package both

import (
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// Records where the domain has no type that tells all of them.
type (
	// CachedPUUID is what Riot last answered for a Riot ID under a key project.
	CachedPUUID struct {
		Project, Name, Tag, PUUID string
		Until                     time.Time
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
	// Listing is a match in the list of an account, and when it was played.
	Listing struct {
		Account, Match string
		Played         time.Time
	}
	// Moved is a transition with the id of what has moved.
	Moved struct {
		engine.Transition
		Of string
	}
	// Payload is what Riot answered, as it arrived, with whose it is.
	Payload struct {
		Match string
		Part  league.Part
		league.PayloadRef
		Body []byte
	}
)
