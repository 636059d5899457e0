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
	ID      string     `json:"id,omitempty"`  // schedule and planned instant; "" for several
	Planned time.Time  `json:"planned"`       // the instant it was due, of several the first one
	Last    time.Time  `json:"last,omitzero"` // of several, the instant of the last one
	Count   int        `json:"count"`         // 1, or how many
	At      time.Time  `json:"at"`            // when it was decided
	Result  TickResult `json:"result"`
	Reason  string     `json:"reason,omitempty"` // why it was skipped or missed, or not all was inserted
	Job     JobID      `json:"job,omitempty"`    // the first one that was inserted
	Jobs    int        `json:"jobs"`             // how many were inserted
	By      Actor      `json:"by,omitzero"`      // who ran it now; zero = the schedule itself
}

// ScheduleRow is a recurring schedule as a console shows it.
type ScheduleRow struct {
	Name string `json:"name"`
	Expr string `json:"expr"` // five fields, or a word such as @hourly
	Zone string `json:"zone"` // IANA name
	// Edit is the plan that an operator gave it in the place of the configuration's;
	// zero = none. Expr and Zone are the ones in force.
	Edit       ScheduleEdit `json:"edit,omitzero"`
	ConfigExpr string       `json:"config_expr"` // what the configuration says
	ConfigZone string       `json:"config_zone"`

	Misfire string `json:"misfire"` // skip, once, "all (at most 24)"
	// Next are the next three runs. They are planned while it is paused, too: then
	// they will be skipped.
	Next []time.Time `json:"next"`
	// UTCOffset is how far the zone's clock is from UTC at the first of them, in
	// seconds. Only the engine's host knows which zone "Local" is.
	UTCOffset int            `json:"utc_offset_s"`
	Last      ScheduleTick   `json:"last,omitzero"`
	Outcome   string         `json:"outcome,omitempty"` // state of Last.Job; filled in by who can look a job up
	Skipped   []ScheduleTick `json:"skipped,omitempty"` // skipped and missed ticks, latest first
	Paused    bool           `json:"paused"`
	By        Actor          `json:"by,omitzero"` // who paused or resumed it last, when and why
	Since     time.Time      `json:"since,omitzero"`
	Reason    string         `json:"reason,omitempty"`
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
	// OpEditSchedule gives it the plan Command.Expr in Command.Zone, which wins over the
	// configuration's until an empty Expr takes it back. An empty Zone keeps the one in
	// force. A dry run tells the next runs.
	OpEditSchedule Op = "edit-schedule"
)

// ScheduleEdit is a plan that an operator gave a schedule, and who, when and why.
// The zero value is none: the configuration's plan holds.
type ScheduleEdit struct {
	Expr   string    `json:"expr,omitempty"`
	Zone   string    `json:"zone,omitempty"` // IANA name
	By     Actor     `json:"by,omitzero"`
	At     time.Time `json:"at,omitzero"`
	Reason string    `json:"reason,omitempty"`
}

// Same reports whether two are one and the same edit.
func (e ScheduleEdit) Same(o ScheduleEdit) bool {
	return e.Expr == o.Expr && e.Zone == o.Zone && e.At.Equal(o.At)
}

// ScheduleStand is the part of a schedule that commands change.
type ScheduleStand struct {
	Paused bool         `json:"paused"`
	Since  time.Time    `json:"since,omitzero"`  // of Paused
	By     Actor        `json:"by,omitzero"`     // who paused or resumed it
	Reason string       `json:"reason,omitzero"` // why
	Edit   ScheduleEdit `json:"edit,omitzero"`
	Expr   string       `json:"expr"` // in force
	Zone   string       `json:"zone"`
}

// ScheduleMove is what a command did to a schedule.
type ScheduleMove struct {
	Name   string        `json:"name"`
	Before ScheduleStand `json:"before"`
	After  ScheduleStand `json:"after"`
}
