package engine

import (
	"fmt"
	"time"
)

// Policy is a retry policy: a table of delays, never a formula. Delays[i] is the
// wait after failed attempt i+1 of a round.
type Policy struct {
	Name   string          `json:"name"`
	Delays []time.Duration `json:"delays_ns"`
	Max    int             `json:"max"` // attempts of a round, the first included
}

// MaxDelay is the longest wait that any answer or table can ask for.
const MaxDelay = 24 * time.Hour

// Names of the policies that ship.
const (
	PolicyMatch  = "match"
	PolicyIngest = "ingest"
	PolicyCall   = "call"
)

// DefaultPolicies are the tables of spec 1.1 and S0-2, S2-2, S4-2.
func DefaultPolicies() map[string]Policy {
	return map[string]Policy{
		PolicyMatch:  NewPolicy(PolicyMatch, 5, 30*time.Second, time.Minute, 2*time.Minute, 5*time.Minute),
		PolicyIngest: NewPolicy(PolicyIngest, 5, 5*time.Second, 10*time.Second, 30*time.Second, time.Minute),
		PolicyCall:   NewPolicy(PolicyCall, 3, 5*time.Minute, 15*time.Minute, 30*time.Minute),
	}
}

// PolicyName is the policy of a job: its own, else its kind's. Kinds name theirs when
// they are registered; what a screen shows of a job must agree with that where no
// engine runs to ask.
func PolicyName(j *Job) string {
	switch {
	case j.Policy != "":
		return j.Policy
	case j.Kind == KindCall:
		return PolicyCall
	case j.Kind == "match.fetch", j.Kind == "timeline.fetch":
		return PolicyMatch
	}
	return PolicyIngest
}

// NewPolicy makes a policy of at most limit attempts: min(limit, delays + 1).
func NewPolicy(name string, limit int, delays ...time.Duration) Policy {
	return Policy{Name: name, Delays: delays, Max: min(limit, len(delays)+1)}
}

// Next reports when a job that has failed `tries` charged attempts in its round
// may run again. ok is false when the attempts are used up. Whatever the table
// holds and however large tries is, the wait lies in [0, MaxDelay] (P-20).
func (p Policy) Next(tries int, now time.Time) (due time.Time, ok bool) {
	step := max(tries, 1)
	if p.usedUp(step) {
		return time.Time{}, false
	}
	return now.Add(clampDelay(p.Delays[step-1])), true
}

// Sum is how long a job is tried for by the table.
func (p Policy) Sum() (sum time.Duration) {
	for _, d := range p.Delays[:min(len(p.Delays), max(p.Max-1, 0))] {
		sum += clampDelay(d)
	}
	return sum
}

// usedUp reports whether a round ends with failed attempt number step. The table
// bounds it too: a policy without delays has no second attempt.
func (p Policy) usedUp(step int) bool { return step >= p.Max || step > len(p.Delays) }

// Decision says in words where the next instant comes from.
func (p Policy) Decision(tries int) string {
	step := max(tries, 1)
	if p.usedUp(step) {
		return fmt.Sprintf("policy %s: %d of %d attempts used", p.Name, step, p.Max)
	}
	return fmt.Sprintf("policy %s step %d: %s", p.Name, step, Span(clampDelay(p.Delays[step-1])))
}

func clampDelay(d time.Duration) time.Duration { return min(max(d, 0), MaxDelay) }
