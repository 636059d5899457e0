// Package remote lets the members of a fleet make the calls of jobs that its leader has claimed.
//
// The leader's limiter lets a call go; a permit is written down with the claim (Leader). A member
// that takes it up begins the call at most once, writes it within two seconds or not at all, and
// tells of its end together with the outcome (Calls). What the leader makes of it depends on
// durations alone, each measured by one clock:
//
//   - answered: the call counts from its first byte on, which the member's stopwatch tells. Until
//     the leader reads that, it is in flight.
//   - never begun: when it has expired, the leader ends it where a member would begin it; its
//     place is free, its job goes back uncharged.
//   - begun and silent: it was written within two seconds after its begin, or never will be. When
//     the database's clock and the leader's own stopwatch have both seen three seconds pass since,
//     it counts from then on. Its job goes back when its member is gone.
//
// Who leads next takes over all that is open.
package remote

import (
	"errors"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// ErrMoved says that a permit is not any more as it was seen.
var ErrMoved = errors.New("the permit has moved on")

// Grant is a call that the leader has let go: of a job, at the revision of its claim.
type Grant struct {
	Job          engine.JobID
	Rev          engine.Revision
	Host, Method string
}

// How is how a permit ended.
type How uint8

// The ends of a permit.
const (
	Open     How = iota
	Answered     // Riot has counted the call
	Unused       // it was not made
	Lost         // it may have been made
)

var hows = [...]string{"", "answered", "unused", "lost"}

// String is the word by which an end is stored.
func (h How) String() string { return hows[h] }

// HowOf reads the word of an end.
func HowOf(word string) (How, error) {
	for h, w := range hows {
		if w == word {
			return How(h), nil
		}
	}
	return Open, fmt.Errorf("unknown end of a permit %q", word)
}

// Report is what a member tells of its call.
type Report struct {
	How     How
	Ago     time.Duration     // answered: how long before the report its answer began
	Status  int               // of the answer; 0 = there was none
	Headers map[string]string // those of the answer that tell of limits
	Class   string            // of the failure; "" = all went well
	Latency time.Duration
	Bytes   int
}

// Standing is how a permit stands.
type Standing struct {
	Grant
	GrantedAgo time.Duration
	Expired    bool // nobody may begin it any more
	Begun      bool
	BegunAgo   time.Duration
	Gone       bool // the member that has begun it shows no sign of life
	Report     Report
}

const (
	// writeWithin is for how long after the begin of a call it may be written.
	writeWithin = 2 * time.Second
	// straggle is how late a written call may arrive.
	straggle = time.Second
	// stillGone is how long a member must be seen to be gone: after a database was away, all are at
	// first.
	stillGone = 2 * time.Second
	// hopeless is how long an attempt may be under way in a member that lives: it has lost it.
	hopeless = 15 * time.Minute
)
