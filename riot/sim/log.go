package sim

import (
	"time"

	"github.com/farsight-console/farsight/riot/route"
)

// Call is one line of the call log.
type Call struct {
	Seq       int           `json:"seq"` // in order of completion, from 1; a reset does not begin anew
	At        time.Time     `json:"at"`  // when it arrived
	Method    route.Method  `json:"method,omitempty"`
	Host      string        `json:"host"`
	ID        string        `json:"id,omitempty"`      // match id, or the Riot ID of the player
	Attempt   int           `json:"attempt,omitempty"` // the n-th call for the same thing that the limiter let through
	Status    int           `json:"status"`            // 0: the client saw no status
	Fault     string        `json:"fault,omitempty"`   // name of the fault that struck, or its kind
	Violation bool          `json:"violation,omitempty"`
	Bytes     int           `json:"bytes"`
	Took      time.Duration `json:"took_ns"`        // arrival to the last byte
	Gone      bool          `json:"gone,omitempty"` // the client left before the end

	// Of a call that reached the limiter: the window that decided on it, and the counts
	// of all as its headers tell them.
	Window      Use    `json:"window,omitzero"`
	AppCount    string `json:"app_count,omitempty"`
	MethodCount string `json:"method_count,omitempty"`
	// Of a 429: its headers.
	LimitType  string `json:"limit_type,omitempty"`
	RetryAfter string `json:"retry_after,omitempty"`
	// Early is how much later a call that broke a limit would have kept it, and Hasty how
	// much of a Retry-After was left when it was made all the same.
	Early time.Duration `json:"early_ns,omitempty"`
	Hasty time.Duration `json:"hasty_ns,omitempty"`
}

// Use is a rate limit window and what a call found in it, itself included.
type Use struct {
	Scope string        `json:"scope"` // application or method
	Used  int           `json:"used"`
	Limit int           `json:"limit"`
	Per   time.Duration `json:"per_ns"`
}

// Fetch counts the calls for one match or timeline.
type Fetch struct {
	Calls int `json:"calls"`
	OK    int `json:"ok"` // answered 200 in full, with the right body
	// Missing counts the 404s that no fault caused.
	Missing int `json:"missing,omitempty"`
}

// Stats is what the simulator saw since it started or was reset.
type Stats struct {
	Calls    int                    `json:"calls"` // that arrived
	InFlight int                    `json:"in_flight"`
	Most     int                    `json:"in_flight_max"`
	ByMethod map[string]map[int]int `json:"by_method"` // status -> calls; status 0: no answer

	Violations int            `json:"violations"` // 429s of the client's own making; a good client has none
	Foreign    int            `json:"foreign"`    // 429s that somebody else's calls caused
	Injected   map[string]int `json:"injected"`   // 429s of the fault plan, by type
	Early      int            `json:"early"`      // calls made while a Retry-After ran

	// Repeated counts calls for a match or timeline that had been delivered before.
	Repeated  int `json:"repeated"`
	Matches   int `json:"matches"`   // distinct matches delivered
	Timelines int `json:"timelines"` // distinct timelines delivered

	First     time.Time     `json:"first"`
	Last      time.Time     `json:"last"`
	Stillness time.Duration `json:"stillness_ns"` // the longest time between two calls in a row
	StillFrom time.Time     `json:"still_from"`
	Budget    []Budget      `json:"budget"`
}

// Budget is how a host's application limits were used by all keys together.
type Budget struct {
	Host   string        `json:"host"`
	Limits string        `json:"limits"` // "20:1,100:120"
	Calls  int           `json:"calls"`
	Took   time.Duration `json:"took_ns"`  // first call to last
	Ideal  time.Duration `json:"ideal_ns"` // the shortest time in which the limits admit that many calls
}

// Used is the share of the limits' pace that was reached, at most 1; 1 when a single window sufficed.
func (b Budget) Used() float64 {
	if b.Took <= 0 || b.Ideal <= 0 {
		return 1
	}
	return min(1, float64(b.Ideal)/float64(b.Took))
}
