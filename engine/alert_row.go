package engine

import (
	"cmp"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine/human"
)

// AlertState is how an alert stands.
type AlertState string

// States of an alert.
const (
	AlertOK           AlertState = "ok"
	AlertPending      AlertState = "pending"      // its rule holds, not yet for long enough
	AlertFiring       AlertState = "firing"       // it has held for long enough
	AlertAcknowledged AlertState = "acknowledged" // firing, and somebody has seen it
	AlertSilenced     AlertState = "silenced"     // until an instant, whatever its rule says
)

// Severity says how much an alert wants somebody.
type Severity string

// Severities.
const (
	SeverityCritical Severity = "critical" // somebody must be woken
	SeverityWarning  Severity = "warning"  // somebody should look
)

// AlertUnit says how an alert's value is read.
type AlertUnit string

// Units of alerts.
const (
	AlertShare    AlertUnit = "share"    // 0 to 1, shown in percent
	AlertCount    AlertUnit = "count"    // how many in the rule's window
	AlertDuration AlertUnit = "duration" // in seconds
	AlertBytes    AlertUnit = "bytes"
)

// AlertRow is one rule about one subject, as a console shows it.
type AlertRow struct {
	ID       string     `json:"id"`                // rule, or rule/subject
	Rule     string     `json:"rule"`              // "give-up share"
	About    string     `json:"about"`             // what the rule says, in words: "give-up share per 1 h"
	Subject  string     `json:"subject,omitempty"` // host, status, queue …; "" = everything
	State    AlertState `json:"state"`
	Severity Severity   `json:"severity,omitempty"`
	Holds    bool       `json:"holds"`              // whether the rule holds right now
	Since    time.Time  `json:"since,omitzero"`     // when it came into its state; zero = always
	Fires    time.Time  `json:"fires,omitzero"`     // pending: when it fires if it stays
	Clears   time.Time  `json:"clears,omitzero"`    // firing and clear again: when it ends if it stays so
	Until    time.Time  `json:"until,omitzero"`     // silenced until
	By       Actor      `json:"by,omitzero"`        // who acknowledged or silenced it
	Unit     AlertUnit  `json:"unit"`               // of Value and Limit: a duration is in seconds, a share from 0 to 1
	Value    float64    `json:"value"`              // what was measured last, in Unit
	Known    bool       `json:"known"`              // false: too little was seen to judge
	Limit    float64    `json:"limit"`              // what it is held against, in Unit
	Below    bool       `json:"below,omitempty"`    // the rule holds below the limit, not above it
	AtLimit  bool       `json:"at_limit,omitempty"` // the limit itself counts as above it
	// History are the rule's values of the last hour, one per five minutes, oldest
	// first; -1 where nothing was known.
	History  []float64  `json:"history,omitempty"`
	Evidence []Evidence `json:"evidence,omitempty"` // latest first
	Next     string     `json:"next"`               // what to do
}

// Evidence is one thing that speaks for an alert. Text is as received.
type Evidence struct {
	At   time.Time `json:"at"`
	Kind string    `json:"kind"`           // job, account, call, queue, reading
	ID   string    `json:"id"`             // of that job, account or queue; of a call its job's; of a reading the rule
	Text string    `json:"text,omitempty"` // what it says for itself, as received
}

// Name is the rule and what it is about: "503 burst per 1 min (europe)".
func (a *AlertRow) Name() string {
	if a.Subject == "" {
		return a.About
	}
	return a.About + " (" + a.Subject + ")"
}

// Said is the latest of what speaks for an alert that fires or is about to; "" = nothing does.
func (a *AlertRow) Said() string {
	if !a.Holds || len(a.Evidence) == 0 {
		return ""
	}
	e := a.Evidence[0]
	return cmp.Or(e.Text, e.Kind+" "+e.ID)
}

// Now is the alert's value in words: "34 %", "3", "21 h 14 min"; a dash when nothing is
// known.
func (a *AlertRow) Now() string {
	if !a.Known {
		return "—"
	}
	return a.words(a.Value)
}

// Over reports whether what broke the limit has ended, though the hour over which it is counted has not.
func (a *AlertRow) Over() bool {
	return a.State == AlertOK && a.Known && Breaks(a.Value, a.Limit, a.Below, a.AtLimit)
}

// Breaks reports whether a value breaks a limit, which is the last value that is well; with at it is the first that is not.
func Breaks(value, limit float64, below, at bool) bool {
	return below && value < limit || !below && value > limit || at && value == limit
}

// Bound is the alert's limit in words: "> 30 %", "< 24 h".
func (a *AlertRow) Bound() string {
	if a.Below {
		return "< " + a.words(a.Limit)
	}
	if a.AtLimit {
		return "≥ " + a.words(a.Limit)
	}
	return "> " + a.words(a.Limit)
}

// Limits is Bound in a sentence: "above 30 %", "below 24 h", "from 10".
func (a *AlertRow) Limits() string {
	word := "above "
	switch {
	case a.Below:
		word = "below "
	case a.AtLimit:
		word = "from "
	}
	return word + a.words(a.Limit)
}

func (a *AlertRow) words(v float64) string {
	switch a.Unit {
	case AlertShare:
		return fmt.Sprintf("%.0f %%", v*100)
	case AlertBytes:
		return human.Bytes(int64(v))
	case AlertDuration:
		return human.Figure(time.Duration(v * float64(time.Second)))
	}
	return fmt.Sprintf("%.0f", v)
}
