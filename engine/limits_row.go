package engine

import (
	"time"

	"github.com/farsight-console/farsight/engine/human"
)

// Learnt is when a header last stated other limits than were known, on any host; zero =
// none has.
func (l *LimitsRow) Learnt() (at time.Time) {
	for _, h := range l.Hosts {
		if h.Learnt.After(at) {
			at = h.Learnt
		}
	}
	return at
}

// Blind counts the blind calls of all hosts.
func (l *LimitsRow) Blind() (n int) {
	for _, h := range l.Hosts {
		n += h.Blind
	}
	return n
}

// LimitHost is how the limits of one host were learnt. A blind call is one that was sent
// before a header had told the limits of its host, or of its method: the first on each,
// which goes alone. Blind counts them since the start of the engine.
type LimitHost struct {
	Host   string    `json:"host"`
	Learnt time.Time `json:"learnt,omitzero"` // the last change of any of its limits, in an earlier run too
	Blind  int       `json:"blind_calls"`
	// Opens is when calls of what waits go again, and Brings how many then go at once; zero
	// = now, or nobody knows.
	Opens  time.Time `json:"opens,omitzero"`
	Brings int       `json:"brings,omitempty"`
	// Failing is how many of its last answers in a row failed, whatever was asked for, 5 at most; 0 an hour
	// later. FailedBy is what the newest met: a status, or a class.
	Failing  int    `json:"failing,omitempty"`
	FailedBy string `json:"failed_by,omitempty"`
}

// Pacing is the bucket that sets the pace of what waits for a host, as the limiter tells it; of "" at the
// host with the most in line, or else the one most used, which comes first. False while no limit is known.
func (l *LimitsRow) Pacing(host string) (BucketRow, bool) {
	for i := range l.Buckets {
		if b := &l.Buckets[i]; b.Paces && (host == "" || b.Host == host) {
			return *b, true
		}
	}
	return BucketRow{}, false
}

// LimitsRow is a live reading of the limiter.
type LimitsRow struct {
	At      time.Time   `json:"at"`
	Buckets []BucketRow `json:"buckets"`
	Waiting []WaiterRow `json:"waiting,omitempty"` // calls that wait for a permit right now
	Hosts   []LimitHost `json:"hosts,omitempty"`
	// Breakers are the endpoints that are down: no call goes there but a try.
	Breakers []BreakerRow `json:"breakers,omitempty"`
	// KeyRefused is since when Riot refuses the key, and KeyAsks when one call asks again whether it still does; zero =
	// it does not, and one asks now.
	KeyRefused time.Time `json:"key_refused,omitzero"`
	KeyAsks    time.Time `json:"key_asks,omitzero"`
	// Holds are the waits above ten minutes that Riot has asked for.
	Holds []LimitHold `json:"holds,omitempty"`
	// Cause is EngineRow.Cause of the same reading, where the limits alone were asked for; "" elsewhere.
	Cause string `json:"cause,omitempty"`
}

// LimitHold is a wait that an answer of Riot's asked for and that is longer than its word alone
// imposes: a single call asks now and then whether it still holds.
type LimitHold struct {
	Host   string    `json:"host"`
	Method string    `json:"method,omitempty"` // "" = the whole host
	Until  time.Time `json:"until"`
	Asks   time.Time `json:"asks"` // the next call that asks
	Why    string    `json:"why"`  // in a sentence, with what ends it
}

// BreakerRow is an endpoint that is down.
type BreakerRow struct {
	Host    string    `json:"host"`
	Method  string    `json:"method"`
	Since   time.Time `json:"since"`            // the first of the answers in a row that failed
	Next    time.Time `json:"next,omitzero"`    // the next try; zero = one is under way
	Waiting int       `json:"waiting"`          // jobs that stand behind it
	Proven  bool      `json:"proven,omitempty"` // what it answered before fails too
}

// Outage says what is down, and what waits for it: "match calls to europe fail: 9 jobs wait".
func (b BreakerRow) Outage() string {
	return Outage(b.Host, b.Method) + ": " + human.Counted(b.Waiting, "job waits", "jobs wait")
}

// Tried says when the next try goes. in is the span until then; "" = it is under way, or due.
func (b BreakerRow) Tried(in string) string {
	switch {
	case in != "":
		return "next try in " + in
	case b.Next.IsZero():
		return "tried now"
	}
	return "try is due"
}

// BucketRow is one rate limit window.
type BucketRow struct {
	Host   string        `json:"host"`
	Method string        `json:"method,omitempty"` // "" = application
	Kind   string        `json:"kind"`             // app, method, service
	Window time.Duration `json:"window_ns"`        // how long the limit counts
	Limit  int           `json:"limit"`            // calls in one window
	// own, in flight and foreign together, at most Limit; Server tells of more
	Used      int       `json:"used"`
	InFlight  int       `json:"in_flight"`            // sent and not answered yet, or reserved
	Foreign   int       `json:"foreign"`              // counted by the server and not made by us
	Server    int       `json:"server"`               // last count the server told; -1 = none yet
	ServerAt  time.Time `json:"server_at,omitzero"`   // when it told
	Reset     time.Time `json:"reset,omitzero"`       // when places come back next; zero = all are free
	NextFree  time.Time `json:"next_free,omitzero"`   // zero = now
	Blocked   time.Time `json:"blocked,omitzero"`     // no call goes before; zero = it is open
	BlockedBy string    `json:"blocked_by,omitempty"` // 429 application, 429 method, 429 service, 503, frozen
	Cap       int       `json:"cap,omitempty"`        // operator's cap in percent, 0 = none
	Thaws     time.Time `json:"thaws,omitzero"`       // when a freeze or cap ends by itself; zero = not
	FreezeWhy string    `json:"freeze_why,omitempty"` // its reason
	Mode      string    `json:"mode"`                 // how its window counts: sliding, or fixed where Riot is proven to count so
	Waiting   int       `json:"waiting"`              // calls in line for it
	Name      string    `json:"name,omitempty"`       // as reasons and estimates call it: "app:europe 120s"
	// sets the pace of what waits at its host, or would: one a host
	Paces bool `json:"paces,omitempty"`
}

// WaiterRow is a call that waits for a permit, and why.
type WaiterRow struct {
	Job    JobID     `json:"job"`
	Host   string    `json:"host"`
	Method string    `json:"method"`
	Since  time.Time `json:"since"`  // when it came
	Until  time.Time `json:"until"`  // estimate for the first in its line; zero = after an answer
	Reason string    `json:"reason"` // the limit that keeps it
}

// CallRow is one call in the flight recorder.
type CallRow struct {
	Seq    uint64    `json:"seq"` // rises by one for each call
	At     time.Time `json:"at"`  // when it was sent
	Host   string    `json:"host"`
	Method string    `json:"method"`
	Target string    `json:"target"` // match id, or a cut PUUID
	// not for its answer: to find out whether the endpoint, or the key, works
	Proof      bool          `json:"proof,omitempty"`
	Job        JobID         `json:"job,omitempty"`
	Owner      string        `json:"owner,omitempty"` // the account whose work it was
	Try        int           `json:"try,omitempty"`   // of its job; 0 = not known
	Asked      time.Time     `json:"asked,omitzero"`  // when its job was made; zero = not known
	Status     int           `json:"status"`          // 0 = no answer
	Class      Class         `json:"class,omitempty"`
	Took       time.Duration `json:"took_ns"`                  // until its answer was read
	Paced      time.Duration `json:"paced_ns"`                 // how long the limiter kept it before
	PacedBy    string        `json:"paced_by,omitempty"`       // the limit that did
	App        string        `json:"app,omitempty"`            // count header as received
	MethodUsed string        `json:"method_used,omitempty"`    // the method's, likewise
	RetryAfter time.Duration `json:"retry_after_ns,omitempty"` // as the answer asked; 0 = it did not
	Unforeseen bool          `json:"unforeseen,omitempty"`     // a 429 that our limiter did not expect
	// Early is how much later the call would have kept the limit that it broke: a
	// simulator knows, Riot does not say.
	Early time.Duration `json:"early_ns,omitempty"`
	// Counts are our counts beside the server's at the answer, of a 429 only.
	Counts []WindowCount `json:"counts,omitempty"`
	// Headers are all of the answer's, "Name: value"; only of a job's last call.
	Headers []string `json:"headers,omitempty"`
	// Body is the start of an answer that was refused; only of a job's last call.
	Body string `json:"body,omitempty"`
}

// BlockedFrozen is why a bucket is blocked that an operator has stopped.
const BlockedFrozen = "frozen"

// Most is how many calls a window takes under an operator's cap.
func (b *BucketRow) Most() int {
	if b.Cap == 0 {
		return b.Limit
	}
	return max(b.Limit*b.Cap/100, 1)
}

// Counted is how many calls the server counts in its present window: what it told last,
// with what is under way since. Used tells what our limiter counts instead, which is more
// where the calls of any stretch as long as the window take places (mode A): 98 of 100,
// when the server has begun to count anew and is at 12. Where the server has not told,
// Used is all that is known.
func (b *BucketRow) Counted(now time.Time) int {
	switch {
	case b.Server < 0 || b.ServerAt.IsZero() || b.Window <= 0:
		return b.Used
	case !b.Reset.After(now):
		return 0
	case b.ServerAt.Before(b.Reset.Add(-b.Window)): // it has told of the window before
		return min(b.InFlight, b.Used)
	}
	return min(b.Server+b.InFlight, b.Limit)
}

// CountsMore reports whether our own count is above Riot's by what is worth a word: we count any span as long as the
// window, and Riot a fixed one.
func (b *BucketRow) CountsMore(now time.Time) bool { return b.Used-b.Counted(now) > b.Limit/10 }

// Frozen reports whether an operator has stopped a bucket.
func (b BucketRow) Frozen() bool { return b.BlockedBy == BlockedFrozen }

// StaysFrozen reports whether an operator has stopped it until somebody resumes it.
func (b BucketRow) StaysFrozen() bool { return b.Frozen() && b.Thaws.IsZero() }

// Freeze says what an operator has stopped, and until when.
func (b *BucketRow) Freeze(now time.Time) string {
	until := "somebody resumes " + human.Either(b.Method == "", "it", "them")
	if !b.Thaws.IsZero() {
		until = human.UTC(b.Thaws, now)
	}
	return AreFrozen(b.Host, b.Method) + " until " + until
}
