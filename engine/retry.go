package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine/human"
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

// Policies are retry policies by name.
type Policies map[string]Policy

// Of is the policy of a job; the zero Policy when it is not among them.
func (p Policies) Of(j *Job) Policy { return p[PolicyName(j)] }

// UsedUp reports whether j has given up with every attempt of its round used.
func (p Policies) UsedUp(j *Job) bool {
	most := p.Of(j).Max
	return j.State == Discarded && most > 0 && j.Tries >= most
}

// Row adds to a job's row what its policy says: how often it is tried, and how long
// after its last failure.
func (p Policies) Row(r JobRow) JobRow {
	policy := p.Of(&r.Job)
	r.MaxAttempts = policy.Max
	if r.Retrying() {
		r.Delay, _ = policy.delay(r.Tries)
		r.Then = policy.then(r.Tries)
	}
	return r
}

// then are the delays that follow a try which comes after `tries` failed ones, if it fails
// and so does each one after it.
func (p Policy) then(tries int) []time.Duration {
	last := min(len(p.Delays), p.Max-1)
	return slices.Clip(p.Delays[min(max(tries, 1), max(last, 0)):max(last, 0)])
}

// DefaultPolicies are the tables of S0-2, S2-2 and S4-2: what configuration
// starts from. Those in force come from there.
func DefaultPolicies() Policies {
	return Policies{
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
	wait, ok := p.delay(tries)
	if !ok {
		return time.Time{}, false
	}
	return now.Add(wait), true
}

// delay is the wait of the table after `tries` failed attempts; ok is false when they
// are used up.
func (p Policy) delay(tries int) (wait time.Duration, ok bool) {
	step := max(tries, 1)
	if p.usedUp(step) {
		return 0, false
	}
	return clampDelay(p.Delays[step-1]), true
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
	wait, ok := p.delay(tries)
	if !ok {
		return fmt.Sprintf("policy %s: %d of %d attempts used", p.Name, step, p.Max)
	}
	return fmt.Sprintf("policy %s step %d: %s", p.Name, step, human.Span(wait))
}

func clampDelay(d time.Duration) time.Duration { return min(max(d, 0), MaxDelay) }
