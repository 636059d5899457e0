package engine

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

var testNow = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// waits gives the delays of a policy until its attempts are used up.
func waits(p Policy) (delays []time.Duration) {
	for tries := 1; ; tries++ {
		due, ok := p.Next(tries, testNow)
		if !ok {
			return delays
		}
		delays = append(delays, due.Sub(testNow))
	}
}

func TestS0_2_PoliciesAreTables(t *testing.T) {
	for name, want := range map[string][]time.Duration{
		PolicyMatch:  {30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute},
		PolicyIngest: {5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute},
		PolicyCall:   {5 * time.Minute, 15 * time.Minute},
	} {
		if got := waits(DefaultPolicies()[name]); !slices.Equal(got, want) {
			t.Errorf("policy %s waits %v, want %v", name, got, want)
		}
	}
}

func TestPolicyBounds(t *testing.T) {
	for name, p := range map[string]Policy{
		"no delays":       NewPolicy("p", 5),
		"one attempt":     NewPolicy("p", 1, time.Second),
		"nothing":         {},
		"maximum too big": {Name: "p", Max: 99},
	} {
		for _, tries := range []int{-1, 0, 1, 2, 10_000} {
			if due, ok := p.Next(tries, testNow); ok {
				t.Errorf("%s: after %d tries due %v, want none", name, tries, due)
			}
			if p.Decision(tries) == "" {
				t.Errorf("%s: no decision after %d tries", name, tries)
			}
		}
	}
}

func TestP20_DelaysStayInBounds(t *testing.T) {
	p := Policy{Name: "odd", Max: 20_000, Delays: make([]time.Duration, 20_000)}
	for i := range p.Delays {
		p.Delays[i] = []time.Duration{-time.Hour, 0, time.Second, 1 << 62, -1 << 62}[i%5]
	}
	for tries := -1; tries <= 10_000; tries++ {
		due, ok := p.Next(tries, testNow)
		if wait := due.Sub(testNow); !ok || wait < 0 || wait > MaxDelay {
			t.Fatalf("after %d tries: wait %s, ok %v", tries, wait, ok)
		}
	}
}

func TestDecisionNamesTheStep(t *testing.T) {
	p := DefaultPolicies()[PolicyMatch]
	for tries, want := range map[int]string{1: "policy match step 1: 30 s", 4: "policy match step 4: 5 min", 5: "policy match: 5 of 5 attempts used"} {
		if got := p.Decision(tries); got != want {
			t.Errorf("decision after %d = %q, want %q", tries, got, want)
		}
	}
}

func TestStateWords(t *testing.T) {
	for _, s := range States() {
		got, err := ParseState(s.String())
		if err != nil || got != s {
			t.Errorf("%s reads as %s, %v", s, got, err)
		}
	}
	if _, err := ParseState("flying"); err == nil {
		t.Error("an unknown state is accepted")
	}
}

// The legal moves of a job, written out.
func TestLegalMoves(t *testing.T) {
	legal := map[string]bool{}
	allow := func(by Cause, to State, from ...State) {
		for _, f := range from {
			legal[fmt.Sprint(f, to, by)] = true
		}
	}
	waiting := []State{Pending, Available, Scheduled, Retryable}
	allow(ByGroup, Available, Pending)
	allow(ByOperator, Available, Pending, Scheduled, Retryable, Discarded, Cancelled, Completed)
	allow(ByTime, Available, Scheduled, Retryable)
	allow(ByOperator, Cancelled, append(waiting, Running)...)
	allow(ByParent, Cancelled, append(waiting, Running)...)
	allow(ByClaim, Running, Available)
	for _, to := range []State{Completed, Retryable, Scheduled, Discarded, Cancelled, Pending, Available} {
		allow(ByOutcome, to, Running)
	}
	allow(ByDrain, Available, Running)
	for _, to := range []State{Available, Discarded, Cancelled} {
		allow(ByRescue, to, Running)
	}
	allow(ByOperator, Scheduled, Scheduled, Available) // reschedule
	allow(ByOperator, Retryable, Retryable)
	allow(ByUndo, Scheduled, Scheduled, Available, Cancelled) // a command taken back (I-11)
	allow(ByUndo, Retryable, Retryable, Available, Cancelled)
	allow(ByUndo, Available, Scheduled, Retryable, Available, Cancelled)
	allow(ByUndo, Pending, Cancelled)
	allow(ByUndo, Discarded, Available)
	allow(ByGroup, Discarded, Pending)  // too many dead children (P-18)
	allow(ByOperator, Running, Running) // a cancel was asked for
	allow(ByParent, Running, Running)
	for _, from := range States() {
		for _, to := range States() {
			for by := ByOutcome; by <= ByUndo; by++ {
				if want := legal[fmt.Sprint(from, to, by)]; Legal(from, to, by) != want {
					t.Errorf("%s -> %s by cause %d: legal %v, want %v", from, to, by, !want, want)
				}
			}
		}
	}
}

func TestS2_5_NextRetryOnlyWhileRetryable(t *testing.T) {
	for _, s := range States() {
		j := Job{State: s, Due: testNow}
		if j.ShouldRetry() != (s == Retryable) || j.NextRetryAt().IsZero() == j.ShouldRetry() {
			t.Errorf("%s: should retry %v at %v", s, j.ShouldRetry(), j.NextRetryAt())
		}
	}
}

func TestMarks(t *testing.T) {
	for _, s := range States() {
		if MarkOf(s).Settled() != s.Terminal() {
			t.Errorf("mark of %s is settled: %v", s, MarkOf(s).Settled())
		}
	}
	if !(GroupStat{}).Settled() {
		t.Error("a group of no children is not settled")
	}
}

// A job keeps the instants of its latest failures; copies that were made before keep theirs.
func TestAJobKeepsItsLatestFailures(t *testing.T) {
	var j Job
	for i := range KeptFailures + 3 {
		before := j
		j.AddFailure(testNow.Add(time.Duration(i) * time.Minute))
		before.AddFailure(time.Time{})
		if last := j.Failed[len(j.Failed)-1]; !last.Equal(testNow.Add(time.Duration(i) * time.Minute)) {
			t.Fatalf("failure %d: %v", i, j.Failed)
		}
	}
	if len(j.Failed) != KeptFailures || !j.Failed[0].Equal(testNow.Add(3*time.Minute)) {
		t.Errorf("kept %v", j.Failed)
	}
}

// A row of a job that waits for another try tells the delay before it and those that follow.
func TestARowTellsWhatFollowsIfItFailsAgain(t *testing.T) {
	p := Policies{"p": NewPolicy("p", 5, time.Second, 2*time.Second, 3*time.Second, 4*time.Second), "one": NewPolicy("one", 1, time.Second)}
	for _, c := range []struct {
		policy string
		state  State
		tries  int
		delay  time.Duration
		then   []time.Duration
	}{
		{"p", Retryable, 1, time.Second, []time.Duration{2 * time.Second, 3 * time.Second, 4 * time.Second}},
		{"p", Available, 3, 3 * time.Second, []time.Duration{4 * time.Second}},
		{"p", Retryable, 4, 4 * time.Second, nil},
		{"p", Retryable, 9, 0, nil},
		{"p", Available, 0, 0, nil},
		{"p", Running, 2, 0, nil},
		{"one", Retryable, 1, 0, nil},
		{"none", Retryable, 1, 0, nil},
	} {
		r := p.Row(JobRow{Job: Job{Policy: c.policy, State: c.state, Tries: c.tries}})
		if r.Delay != c.delay || !slices.Equal(r.Then, c.then) {
			t.Errorf("%+v: %v, then %v", c, r.Delay, r.Then)
		}
	}
}
