package engine

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Commands on alerts. Command.Alert names one.
const (
	OpAck     Op = "ack"     // somebody has seen a firing alert
	OpSilence Op = "silence" // until Command.At; an instant that has passed ends a silence
)

// AlertsQuery asks for every alert; answered by AlertsAnswer.
type AlertsQuery struct{}

// AlertsAnswer answers AlertsQuery: firing ones first, then pending, acknowledged,
// silenced and fine ones.
type AlertsAnswer struct {
	Alerts []AlertRow `json:"alerts"`
	At     time.Time  `json:"at"` // of the last evaluation; zero = there was none yet
}

// AuditQuery lists operator commands, newest first; answered by AuditPage.
type AuditQuery struct {
	Page
	Op   Op     `json:"op,omitempty"`   // "" = any
	Text string `json:"text,omitempty"` // part of the actor, the target, the reason or the result
	Seq  uint64 // this entry alone, with what it has changed; 0 = the list, which may leave that out
}

// AuditPage answers AuditQuery.
type AuditPage struct {
	Entries []AuditEntry `json:"entries"`
	Next    string       `json:"next,omitempty"`
}

// LogRow is one record of the engine's log. Text is as received, without keys.
type LogRow struct {
	Seq    uint64     `json:"seq"` // rises by one for each record of the process
	At     time.Time  `json:"at"`
	Level  string     `json:"level"`          // debug, info, warn, error
	Area   string     `json:"area,omitempty"` // limiter, riot, storage …
	Text   string     `json:"text"`
	Job    JobID      `json:"job,omitempty"`
	Fields []LogField `json:"fields,omitempty"` // in the order they were written
}

// LogField is one key and its value, as text.
type LogField struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// LogsQuery reads the newest records that are still in memory, newest first;
// answered by LogsPage.
type LogsQuery struct {
	Page
	Level string `json:"level,omitempty"` // this and above; "" = all
	Job   JobID  `json:"job,omitempty"`
	Text  string `json:"text,omitempty"` // part of the text or of a field
}

// LogsPage answers LogsQuery.
type LogsPage struct {
	Logs    []LogRow `json:"logs"`
	Next    string   `json:"next,omitempty"`
	Kept    int      `json:"kept"`    // records in memory
	Dropped uint64   `json:"dropped"` // records that the log file could not take, since the start
}

// Moment is how the engine stood at an instant: what the time cursor redraws.
type Moment struct {
	At     time.Time  `json:"at"`
	Engine EngineRow  `json:"engine"`
	Queues []QueueRow `json:"queues"`
	Limits LimitsRow  `json:"limits"`
}

// MomentsQuery asks for the moments of a stretch of the last ten minutes, one per
// second; answered by MomentsAnswer.
type MomentsQuery struct {
	From time.Time `json:"from,omitzero"` // zero = the oldest
	To   time.Time `json:"to,omitzero"`   // zero = now
}

// MomentsAnswer answers MomentsQuery, the oldest first.
type MomentsAnswer struct {
	Moments []Moment `json:"moments"`
}

// Metrics are what the jobs and calls add up to (S2-9, S4-11).
type Metrics struct {
	Kind  Kind      `json:"kind,omitempty"` // of these jobs alone; "" = of all
	Since time.Time `json:"since"`          // the window begins
	Until time.Time `json:"until"`          // the end of the window
	// Of jobs that ended in the window.
	Completed    int     `json:"completed"`
	Discarded    int     `json:"discarded"` // jobs that gave up
	Cancelled    int     `json:"cancelled"`
	AtMax        int     `json:"at_max"`        // gave up with every attempt used
	MeanAttempts float64 `json:"mean_attempts"` // of completed and discarded jobs
	PerMin       float64 `json:"per_min"`       // completed and discarded jobs
	FailureRate  float64 `json:"failure_rate"`  // discarded of completed and discarded, 0 to 1
	// Of ended attempts.
	Retries      int     `json:"retries"`       // attempts after the first of a round
	RetriesWon   int     `json:"retries_won"`   // retries that succeeded
	RetryRate    float64 `json:"retry_rate"`    // retries of all attempts, 0 to 1
	RetrySuccess float64 `json:"retry_success"` // won of retries, 0 to 1
	// Tries are attempts by their number within their round, the first one first.
	Tries    []TryCount     `json:"tries,omitempty"`
	Statuses map[string]int `json:"statuses"` // attempts by how they ended
	Waiting  map[Queue]int  `json:"waiting"`  // queue lengths now
	// Days are stored sums, the oldest first; the last one is today.
	Days []DaySum `json:"days,omitempty"`
	// Traffic are the last 24 hours by half an hour, the oldest first, from the one on
	// in which counting began; the last one has only begun.
	Traffic []TrafficSpan `json:"traffic,omitempty"`
}

// TryCount is how many attempts were a job's nth try, and how many of them were won, so that
// no other was needed.
type TryCount struct {
	Made int `json:"made"`
	Won  int `json:"won"`
}

// TriesTold is how many tries are counted apart: later ones count as the last of them.
const TriesTold = 8

// TrafficEvery is the length of a TrafficSpan.
const TrafficEvery = 30 * time.Minute

// DaySum is one UTC day's sums. They are kept when jobs are pruned (P-33).
type DaySum struct {
	Day       string `json:"day"` // 2026-11-21
	Completed int64  `json:"completed"`
	Discarded int64  `json:"discarded"`
	Cancelled int64  `json:"cancelled"`
	Attempts  int64  `json:"attempts"`
	Retries   int64  `json:"retries"`
	Won       int64  `json:"retries_won"`
}

// MetricsQuery asks for the metrics; answered by Metrics.
type MetricsQuery struct {
	Window time.Duration `json:"window_ns,omitempty"` // 0 = one hour
	Days   int           `json:"days,omitempty"`      // stored days to give, at most 400; 0 = none
	// Traffic asks for the last 24 hours by half an hour.
	Traffic bool `json:"traffic,omitempty"`
	// Kind asks for the jobs of one kind: they have no days, traffic and queue lengths of
	// their own. "" = all.
	Kind Kind `json:"kind,omitempty"`
}

// JobLog is a job's line in the log of jobs (S4-10).
type JobLog struct {
	Job      JobID     `json:"job_id"`
	Type     Kind      `json:"type"`
	Key      string    `json:"key,omitempty"`
	Queue    Queue     `json:"queue"`
	Status   State     `json:"status"`
	Retries  int       `json:"retry_count"`
	Error    string    `json:"error_msg,omitempty"`
	Created  time.Time `json:"created_at"`
	Started  time.Time `json:"started_at,omitzero"`
	Finished time.Time `json:"finished_at,omitzero"`
}

// JobLogQuery lists ended jobs, newest first; answered by JobLogPage.
type JobLogQuery struct {
	Page
	Kind  Kind  `json:"kind,omitempty"`
	Queue Queue `json:"queue,omitempty"`
}

// JobLogPage answers JobLogQuery.
type JobLogPage struct {
	Jobs []JobLog `json:"jobs"`
	Next string   `json:"next,omitempty"`
}

// WindowCount is one window of a limit at the instant of an answer: what we had
// counted beside what the server said.
type WindowCount struct {
	Scope  string        `json:"scope"`     // app, or the method
	Window time.Duration `json:"window_ns"` // how long the limit counts
	Limit  int           `json:"limit"`     // calls in one window
	Ours   int           `json:"ours"`      // the most that it can have counted of our calls
	Server int           `json:"server"`    // -1 = the answer did not say
}

// Drift is how much more the server counted than we did; 0 when it did not say.
func (w WindowCount) Drift() int {
	if w.Server < 0 {
		return 0
	}
	return w.Server - w.Ours
}

// ForensicsQuery asks what led to a 429 (I-9); answered by Forensics.
type ForensicsQuery struct {
	Seq uint64 `json:"seq,omitempty"` // of the call in the flight recorder; 0 = the latest 429
}

// Forensics is what is known about one 429.
type Forensics struct {
	Call    CallRow       `json:"call"`
	Kind    string        `json:"kind"` // application, method, service; unknown = the answer named none
	Windows []WindowCount `json:"windows"`
	// Spent says who spent the window's calls, the largest first: method → calls.
	Spent []SpentCalls `json:"spent"`
	// ClockOffset is the server's clock less ours, by its Date header; 0 = not known.
	ClockOffset time.Duration `json:"clock_offset_ns,omitempty"`
	// Foreign says that another process uses the key: the server's counts have been
	// above ours steadily, in several answers before this one.
	Foreign bool   `json:"foreign"`
	Text    string `json:"text"` // one sentence for a person
	// Others are the other 429s that are known, the newest first, by the numbers of
	// their calls.
	Others []uint64 `json:"others,omitempty"`
}

// SpentCalls is how many calls of a window went where.
type SpentCalls struct {
	What  string `json:"what"` // method, "others" for foreign use, or "before" for calls older than the recorder's
	Calls int    `json:"calls"`
}

func (AlertsQuery) query()    {}
func (AuditQuery) query()     {}
func (LogsQuery) query()      {}
func (MomentsQuery) query()   {}
func (MetricsQuery) query()   {}
func (JobLogQuery) query()    {}
func (ForensicsQuery) query() {}
func (FeedQuery) query()      {}

// logLevels are the levels of LogRow.Level, the least grave first.
var logLevels = []string{"debug", "info", "warn", "error"}

// LogLevels names the levels of log records, the least grave first.
func LogLevels() []string { return slices.Clone(logLevels) }

// LogRank orders levels of log records: 0 for debug up to 3 for error; -1 for a
// word that is none.
func LogRank(level string) int { return slices.Index(logLevels, level) }

// Check reports what is wrong with a query of the log, as a *Problem.
func (q LogsQuery) Check() error {
	if q.Level == "" || LogRank(q.Level) >= 0 {
		return nil
	}
	return Problemf(ErrInvalid, "use one of "+strings.Join(logLevels, ", "), "%q is no level of the log", q.Level)
}

// Fits reports whether the query asks for a record. Text is looked for without
// regard to case in the area, the text and the fields.
func (q LogsQuery) Fits(r LogRow) bool {
	if LogRank(r.Level) < LogRank(q.Level) || q.Job != "" && r.Job != q.Job {
		return false
	}
	if q.Text == "" {
		return true
	}
	want := strings.ToLower(q.Text)
	has := func(s string) bool { return strings.Contains(strings.ToLower(s), want) }
	return has(r.Text) || has(r.Area) || slices.ContainsFunc(r.Fields, func(f LogField) bool {
		return has(f.Key + "=" + f.Value)
	})
}

// Line is what a record says, in one line: attempt ended job=17 err="no answer".
func (r *LogRow) Line() string {
	var b strings.Builder
	b.WriteString(r.Text)
	if r.Job != "" {
		b.WriteString(" job=" + string(r.Job))
	}
	for _, f := range r.Fields {
		value := f.Value
		if value == "" || strings.ContainsAny(value, " \t\n\"") { // so that fields can be told apart
			value = strconv.Quote(value)
		}
		b.WriteString(" " + f.Key + "=" + value)
	}
	return b.String()
}
