package engine

import "time"

// TickResult is what became of a planned run of a schedule.
type TickResult string

// Results of a tick.
const (
	TickRan     TickResult = "ran"     // its jobs were inserted
	TickSkipped TickResult = "skipped" // its instant came and nothing was inserted: Reason says why
	TickMissed  TickResult = "missed"  // nobody was there at its instant, and the misfire rule drops it
)

// ScheduleTick is one planned run of a schedule, or several in a row with the
// same fate.
type ScheduleTick struct {
	ID      string     `json:"id,omitempty"` // schedule and planned instant; "" for several
	Planned time.Time  `json:"planned"`      // the instant it was due, of several the first one
	Last    time.Time  `json:"last,omitzero"`
	Count   int        `json:"count"` // 1, or how many
	At      time.Time  `json:"at"`    // when it was decided
	Result  TickResult `json:"result"`
	Reason  string     `json:"reason,omitempty"`
	Job     JobID      `json:"job,omitempty"` // the first one that was inserted
	Jobs    int        `json:"jobs"`          // how many were inserted
	By      Actor      `json:"by,omitzero"`   // who ran it now; zero = the schedule itself
}

// ScheduleRow is a recurring schedule as a console shows it.
type ScheduleRow struct {
	Name    string `json:"name"`
	Expr    string `json:"expr"`
	Zone    string `json:"zone"`    // IANA name
	Misfire string `json:"misfire"` // skip, once, "all (at most 24)"
	// Next are the next three runs. They are planned while it is paused, too: then
	// they will be skipped.
	Next    []time.Time    `json:"next"`
	Last    ScheduleTick   `json:"last,omitzero"`
	Outcome string         `json:"outcome,omitempty"` // state of Last.Job; filled in by who can look a job up
	Skipped []ScheduleTick `json:"skipped,omitempty"` // skipped and missed ticks, latest first
	Paused  bool           `json:"paused"`
	By      Actor          `json:"by,omitzero"` // who paused or resumed it last, when and why
	Since   time.Time      `json:"since,omitzero"`
	Reason  string         `json:"reason,omitempty"`
}

// SchedulesQuery lists the recurring schedules; answered by SchedulesPage.
type SchedulesQuery struct{}

// SchedulesPage answers SchedulesQuery.
type SchedulesPage struct {
	Schedules []ScheduleRow `json:"schedules"`
}

func (SchedulesQuery) query() {}

// Commands on the schedule that Command.Schedule names.
const (
	OpRunSchedule    Op = "run-schedule" // now; its plan stays
	OpPauseSchedule  Op = "pause-schedule"
	OpResumeSchedule Op = "resume-schedule"
)
