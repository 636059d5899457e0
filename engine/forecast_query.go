package engine

import "time"

// ForecastQuery asks which calls will go in the next minutes, and which went in the past
// one; answered by Forecast.
type ForecastQuery struct {
	Ahead time.Duration `json:"ahead_ns,omitempty"` // of windows: 0 = five minutes, a day at most
}

func (ForecastQuery) query() {}

// Steps of a Forecast: a minute back and five ahead.
const (
	ForecastStep    = 5 * time.Second
	ForecastPast    = 12 // steps
	ForecastPlanned = 60 // steps
)

// Forecast is what the limits, what waits and now let foresee. What was called and what is
// planned is counted by steps of Step. Planned begins at At. The steps of Past begin at
// multiples of Step; At is in the last one, which is still being counted.
type Forecast struct {
	At       time.Time         `json:"at"`
	Step     time.Duration     `json:"step_ns"` // the span of one number in Past and Planned
	Hosts    []HostForecast    `json:"hosts"`
	Accounts []AccountForecast `json:"accounts"`
}

// HostForecast is one host and the window of its limits that sets the pace.
type HostForecast struct {
	Host    string          `json:"host"`
	Bucket  string          `json:"bucket"`          // "app:europe 100/120s"
	Limit   int             `json:"limit"`           // calls that may be made in a window
	Window  time.Duration   `json:"window_ns"`       // how long the limit counts
	Stuck   bool            `json:"stuck,omitempty"` // nobody knows when it goes on: nothing is planned
	Why     string          `json:"why,omitempty"`   // it is stuck: "europe is frozen", "queue paused by ana"
	Windows []PlannedWindow `json:"windows"`         // the present one first, until nothing more is planned
	Planned []int           `json:"planned"`         // calls of all accounts
	Line    int             `json:"line"`            // calls of jobs in line, however far ahead they go
	Retries int             `json:"retries"`         // that wait for an instant
}

// PlannedWindow is one window of a limit with the calls that are promised of it.
type PlannedWindow struct {
	Begin   time.Time `json:"begin"`             // of the first one now
	End     time.Time `json:"end"`               // when its limit counts anew
	Made    int       `json:"made"`              // calls that count already, in the present window
	Line    int       `json:"line"`              // of jobs in line
	Retries int       `json:"retries"`           // of retries, by when they start
	Command int       `json:"command,omitempty"` // of the command whose cost this is
}

// Calls are all calls of a window, made and planned.
func (w PlannedWindow) Calls() int { return w.Made + w.Line + w.Retries + w.Command }

// AccountForecast are the calls of one account's jobs.
type AccountForecast struct {
	Account string `json:"account"` // id
	RiotID  string `json:"riot_id"` // as received; "" = not known to be at work
	Past    []int  `json:"past"`    // ForecastPast steps
	Planned []int  `json:"planned"` // ForecastPlanned steps
	// Calls are those that its sync still makes, however far ahead, and Ends is when the
	// last of them goes at the latest; zero = nothing of it goes yet.
	Calls int       `json:"calls"`
	Ends  time.Time `json:"ends,omitzero"` // of its sync, at the even pace; zero = nobody knows
}
