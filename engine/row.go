package engine

import (
	"cmp"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine/human"
)

// EngineState is the one word of the title bar.
type EngineState string

// Engine states.
const (
	EngineLive     EngineState = "LIVE"
	EnginePaused   EngineState = "PAUSED"
	EngineDegraded EngineState = "DEGRADED"
	EngineNoKey    EngineState = "NO KEY"
	EngineAPIDown  EngineState = "API DOWN"
	EngineHeld     EngineState = "HELD"    // an operator has frozen a host with work, or Riot asked for a wait above 10 min
	EngineOpening  EngineState = "OPENING" // the data directory is being opened
	EngineBrowse   EngineState = "BROWSE"  // no engine: stored data only
	EngineStopping EngineState = "STOPPING"
	EngineBroken   EngineState = "BROKEN"
)

// Term is for how long one of the members that share a database leads.
type Term struct {
	Epoch  int64  `json:"epoch"`            // its number
	Leader string `json:"leader,omitempty"` // 4711-9f3c on db-worker-1; "" = nobody leads
	Here   bool   `json:"here"`             // it is who answers
	Pace   string `json:"-"`                // what holds the calls, as who leads has told it last
}

// String says who leads: 4711-9f3c on db-worker-1 leads, in term 6.
func (t *Term) String() string {
	if t.Leader == "" {
		return "nobody leads now"
	}
	return fmt.Sprintf("%s leads, in term %d", t.Leader, t.Epoch)
}

// EngineRow is the engine as a whole.
type EngineRow struct {
	State    EngineState `json:"state"`
	Why      string      `json:"why,omitempty"`      // reason of any state but LIVE
	Pace     string      `json:"pace,omitempty"`     // why it is not faster, in one sentence
	Key      string      `json:"key,omitempty"`      // last four characters only: "…7f3a"
	KeySince time.Time   `json:"key_since,omitzero"` // when this process first used the key
	Demo     bool        `json:"demo,omitempty"`
	Boot     string      `json:"boot"`             // random for each start of the process
	Term     *Term       `json:"term,omitempty"`   // of those who work on one database; nil = this one works alone
	Started  time.Time   `json:"started,omitzero"` // when it was
	Workers  int         `json:"workers"`          // ceiling
	InFlight int         `json:"in_flight"`        // running now

	Accounts int64 `json:"accounts"` // that are known
	Stored   int64 `json:"stored"`   // matches with status success, all accounts
	Failed   int64 `json:"failed"`   // permanently_unfetchable
	TooOld   int64 `json:"too_old"`  // outside_retention_window
	Waiting  int64 `json:"waiting"`  // listed and not settled: to come, failed for now, or cancelled
	Retrying int   `json:"retrying"` // jobs that wait for another try, see Job.Retrying
	// Alerts is how many fire and are neither acknowledged nor silenced.
	Alerts   int    `json:"alerts"`
	LogDrops uint64 `json:"log_drops"` // records that the log file could not take
	// OnlyServed says that it is the engine of a `sync`: it works on what it is asked for
	// alone, and ends with its own sync.
	OnlyServed bool `json:"only_served,omitempty"`
	// KeyWorked says that the key has worked since the start, or that another one is to
	// be tried: it is worth waiting for while it is refused.
	KeyWorked bool `json:"key_worked"`
	// SinceStart says that the engine is not up for a minute yet: what is counted of the
	// last minute is all since the start, and no rate.
	SinceStart bool `json:"since_start,omitempty"`
	// Traffic is the half hour that has begun, of which Metrics.Traffic tells the ones before.
	Traffic TrafficSpan `json:"traffic,omitzero"`
	Meter
}

// TrafficSpan is what half an hour adds up to. One in which no engine ran is 0.
type TrafficSpan struct {
	At        time.Time `json:"at"` // it begins
	Calls     int       `json:"calls"`
	Throttled int       `json:"rate_limited"` // 429s, part of Calls
	Stored    int       `json:"stored"`       // by how many the stored matches became more
}

// Cause is the state, and why it is so or why the engine is not faster: "HELD: europe is frozen".
func (e *EngineRow) Cause() string {
	why := cmp.Or(e.Why, e.Pace)
	switch {
	case e.State == EngineBrowse: // its name is no word for people
		return why
	case why == "":
		return string(e.State)
	}
	return string(e.State) + ": " + why
}

// Meter is what the calls of this process add up to.
type Meter struct {
	CallsPerMin float64       `json:"calls_per_min"`     // made in the last minute
	Spark       []int         `json:"spark,omitempty"`   // calls per 5 s, oldest first
	P50         time.Duration `json:"p50_ns"`            // of the last 200 answers
	Answered    time.Time     `json:"answered,omitzero"` // when the newest of them was asked for
	Throttled   int64         `json:"rate_limited"`      // 429s since start
	Unforeseen  int64         `json:"unforeseen"`        // 429s our limiter did not expect
}

// Calls are the calls of the last minute, rounded.
func (m Meter) Calls() int { return int(m.CallsPerMin + 0.5) }

// old is from which age on a reading is shown with it.
const old = time.Minute

// OldReading is the age of a reading that says little of now; 0 = it is a fresh one, or
// nobody knows when it was taken.
func OldReading(at, now time.Time) time.Duration {
	if age := now.Sub(at); !at.IsZero() && age >= old {
		return age
	}
	return 0
}

// JobRow is a job with the one computed reason why it does not run (I-1).
type JobRow struct {
	Job
	Why   string    `json:"why,omitempty"`   // "app:europe 97/100", "queue paused by ana", "9th in line"
	Until time.Time `json:"until,omitzero"`  // when the reason ends; zero = unknown
	Place int       `json:"place,omitempty"` // in its line, 1 = next
	// that it has a place in, "full europe/match-v5.match": its queue, and where its call goes
	Line  string `json:"line,omitempty"`
	Stand Stand  `json:"stand,omitempty"` // what stands before any limit; "" = nothing
	Ends  bool   `json:"ends,omitempty"`  // what stands there is over at Until for sure
	// Starts is when a job goes that waits for an instant after trouble, or in line since
	// that has come; zero = unknown. LateBy is what makes that later than the instant; "" =
	// it is on time.
	Starts time.Time `json:"starts,omitzero"`
	LateBy string    `json:"late_by,omitempty"`
	// Player is whose sync it is, as a Riot ID; "" of other jobs.
	Player string `json:"player,omitempty"`
	// By the retry policy in force, see Policies.Row.
	MaxAttempts int `json:"max_attempts,omitempty"` // of a round, the first included; 0 = not known
	// it waits for its next try: the table's delay before that
	Delay time.Duration `json:"delay_ns,omitempty"`
	// Then are the delays of the table that follow if its next try fails, and each one after
	// it; none = it is given up then.
	Then []time.Duration `json:"then_ns,omitempty"`
}

// Retrying reports whether a job waits for another try: for its instant, or in line since
// that has come.
func (j *Job) Retrying() bool { return j.State == Retryable || j.InLineAgain() }

// Asked reports whether what holds a job is not over at Until: one call asks then whether it is.
func (j *JobRow) Asked() bool {
	return (j.Stand == StandDown || j.Stand == StandHeld) && !j.Ends
}

// InLineAgain reports whether a job stands in line for another try.
func (j *Job) InLineAgain() bool { return j.State == Available && j.Tries > 0 }

// MatchRow is a match as lists show it. Text is as received.
type MatchRow struct {
	ID       string        `json:"match_id"`
	Status   string        `json:"status"`
	Timeline string        `json:"timeline_status"`
	Attempts int           `json:"attempts"`        // charged, of the match itself
	Played   time.Time     `json:"played,omitzero"` // zero = not known
	Duration time.Duration `json:"duration_ns,omitempty"`
	QueueID  int           `json:"queue_id,omitempty"` // Riot's: 420 is Ranked Solo
	Mode     string        `json:"mode,omitempty"`     // Riot's word: CLASSIC, ARAM
	Champion string        `json:"champion,omitempty"` // of the player whose list it is; "" in a list of all
	// Of that player; null = not known, since the match is not stored or nobody's list is asked for.
	Kills         *int      `json:"kills"`
	Deaths        *int      `json:"deaths"`
	Assists       *int      `json:"assists"`
	Won           *bool     `json:"won"`                 // null of a remake, too
	Remake        bool      `json:"remake,omitempty"`    // ended before it began: neither won nor lost
	FetchedAt     time.Time `json:"fetched_at,omitzero"` // the first success; zero = none yet
	LastAttemptAt time.Time `json:"last_attempt_at,omitzero"`
	LastError     string    `json:"last_error,omitempty"` // of the last failure, as received
	Bytes         int       `json:"bytes,omitempty"`      // of the payload as it arrived
	Corrupt       bool      `json:"corrupt,omitempty"`    // its stored payload is damaged
}

// Level is how much a note matters.
type Level string

// Levels of notes.
const (
	LevelOK   Level = "ok"
	LevelInfo Level = "info"
	LevelWarn Level = "warn"
	LevelErr  Level = "error"
)

// Note is a message for the message line and the list behind it.
type Note struct {
	At    time.Time `json:"at"`
	Level Level     `json:"level"`
	Text  string    `json:"text"`
	Job   JobID     `json:"job,omitempty"`
	By    Actor     `json:"by,omitzero"` // whose action it tells of; zero = the engine itself
}

// Transition is one row of history.
type Transition struct {
	Seq    uint64    `json:"seq"`
	At     time.Time `json:"at"`
	From   string    `json:"from"`
	To     string    `json:"to"`
	Reason string    `json:"reason,omitempty"`
	Actor  string    `json:"actor,omitempty"` // who, or the engine
}

// QueueState is a queue's pause switch.
type QueueState struct {
	Name   Queue     `json:"name"`
	Paused bool      `json:"paused"`
	By     Actor     `json:"by,omitzero"`
	Since  time.Time `json:"since,omitzero"` // of the last pause or resume
	Reason string    `json:"reason,omitempty"`
}

// Pause is why nothing of a paused queue begins: "queue paused by ana".
func (q *QueueState) Pause() string {
	if q.By.User == "" {
		return "queue paused"
	}
	return "queue paused by " + q.By.User
}

// QueueRow is one queue with its counts.
type QueueRow struct {
	QueueState
	Counts    map[State]int `json:"counts"`              // live jobs, and the discarded ones that are kept
	Again     int           `json:"again,omitempty"`     // available for another try; part of Counts[Available]
	Held      int           `json:"held"`                // scheduled with a hold; part of Counts[Scheduled]
	PerMin    float64       `json:"per_min"`             // jobs settled
	OldestDue time.Time     `json:"oldest_due,omitzero"` // since when the first in line may run; zero = nobody waits
	Why       string        `json:"why,omitempty"`       // why its head does not start
	Until     time.Time     `json:"until,omitzero"`      // when Why ends; zero = nobody knows
	// nothing of what waits may start: what keeps it; "" = nothing does
	Stand Stand `json:"stand,omitempty"`
}

// Retrying is how many jobs wait for another try, see Job.Retrying.
func (q *QueueRow) Retrying() int { return q.Counts[Retryable] + q.Again }

// WhyUntil is a reason with the time that is left of it: "app:europe 97/100, 41 s".
// Reasons are kept without it, since it goes on while they stand. until zero = nobody
// knows its end.
func WhyUntil(why string, until, now time.Time) string {
	left := until.Sub(now)
	if why == "" || until.IsZero() || left <= 0 {
		return why
	}
	return why + ", " + human.Span(left)
}
