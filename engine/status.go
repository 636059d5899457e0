package engine

import (
	"fmt"
	"slices"
)

// KindCall is the kind of a telephone call, about an alert or of a user's own: its
// attempts end by CallStatus.
const KindCall Kind = "alert.call"

// CallStatus is how the provider says that a telephone call stands.
type CallStatus string

// Statuses of a call.
const (
	CallBusy       CallStatus = "busy"
	CallNoAnswer   CallStatus = "no-answer"
	CallFailed     CallStatus = "failed"
	CallCompleted  CallStatus = "completed"
	CallInProgress CallStatus = "in-progress"
	CallRinging    CallStatus = "ringing"
	CallInitiated  CallStatus = "initiated"
	CallQueued     CallStatus = "queued"
	CallCanceled   CallStatus = "canceled"
)

// StatusRule is what a status means for the attempt that it ends, or does not end
// yet.
type StatusRule struct {
	Ended   bool     // the attempt is over; otherwise wait for another status
	Retry   bool     // another attempt may bring more
	Success bool     // nothing is left to do
	Alert   bool     // a person should look: nobody knows what it means
	Never   []string // reasons within a status to be retried that no attempt will mend
}

// callRules is the table of S2-1; besides, a permanent
// reason within "failed" is not retried.
var callRules = map[CallStatus]StatusRule{
	CallBusy:     {Ended: true, Retry: true},
	CallNoAnswer: {Ended: true, Retry: true},
	CallFailed: {Ended: true, Retry: true,
		Never: []string{"invalid-number", "blocked", "unallocated", "credentials", "refused"}},
	CallCompleted:  {Ended: true, Success: true},
	CallCanceled:   {Ended: true},
	CallInProgress: {},
	CallRinging:    {},
	CallInitiated:  {},
	CallQueued:     {},
}

// unknownCall is the rule of a status that is in no table.
var unknownCall = StatusRule{Ended: true, Alert: true}

// Rule is the table's row of a status; a status that is in none is not retried
// and raises an alert.
func (s CallStatus) Rule() StatusRule {
	if r, ok := callRules[s]; ok {
		return r
	}
	return unknownCall
}

// CallEnd is how one attempt of a call ended.
type CallEnd struct {
	Status   CallStatus
	Reason   string // the provider's, within the status: "invalid-number"
	External string // the provider's id of this attempt
}

// Class is the status, and the reason within it: "failed.invalid-number".
func (e CallEnd) Class() Class {
	if e.Reason == "" {
		return Class(e.Status)
	}
	return Class(string(e.Status) + "." + e.Reason)
}

// Outcome is what an ended attempt means for its job. The policy bounds how often
// a retry is followed.
func (e CallEnd) Outcome() Outcome {
	rule := e.Status.Rule()
	o := Fail(e)
	switch {
	case rule.Success:
		o = Done(nil)
	case rule.Retry && !slices.Contains(rule.Never, e.Reason):
		o = Retry(e)
	case e.Status == CallCanceled:
		o = Abort(e)
	}
	return o.As(e.Class()).With(CallStat{Calls: 1, External: e.External})
}

// Error makes an end the reason of its attempt.
func (e CallEnd) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("the call ended %s", e.Status)
	}
	return fmt.Sprintf("the call ended %s: %s", e.Status, e.Reason)
}

// Setting is one line of the configuration, secrets cut.
type Setting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"` // default, a file, a variable of the environment, or a flag
	Env    string `json:"env"`    // variables that set it
}
