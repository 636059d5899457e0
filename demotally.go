package main

import (
	"strconv"
	"strings"
	"sync"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/route"
)

// tally counts, for each fault, what it struck and how the attempts ended that it
// struck. It sees the simulator's strikes and the engine's commits.
type tally struct {
	mu   sync.Mutex
	keys map[engine.JobID]string // of jobs that are under way
	open map[string][]string     // thing -> faults that struck its attempt, which has not ended
	sums map[string]*sum         // by name of fault
}

// sum is what became of the strikes of one fault.
type sum struct {
	hits, retried, held, givenUp, well, dropped int
	alone                                       int // of hits: no attempt ends with them
}

// under is how many of the struck attempts have not ended.
func (s sum) under() int {
	return s.hits - s.alone - s.retried - s.held - s.givenUp - s.well - s.dropped
}

func newTally() *tally {
	t := &tally{}
	t.forget()
	return t
}

// forget counts anew.
func (t *tally) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keys, t.open, t.sums = map[engine.JobID]string{}, map[string][]string{}, map[string]*sum{}
}

// otherCalls are all that is asked for besides matches and timelines.
const otherCalls = "other"

// thingOf names what a call is for, as jobs do.
func thingOf(m route.Method, id string) string {
	switch m {
	case route.Match:
		return "match:" + id
	case route.Timeline:
		return "timeline:" + id
	}
	return otherCalls
}

// thingOfJob is the same for a job by its key.
func thingOfJob(key string) string {
	if strings.HasPrefix(key, "match:") || strings.HasPrefix(key, "timeline:") {
		return key
	}
	return otherCalls
}

// strike notes that a fault struck a call for a thing.
func (t *tally) strike(fault, thing string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of(fault).hits++
	t.open[thing] = append(t.open[thing], fault)
}

// hit counts a strike that no attempt ends with: of a commit, or of a call that only
// finds out whether a key works.
func (t *tally) hit(fault string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.of(fault)
	s.hits, s.alone = s.hits+1, s.alone+1
}

// call notes a call that a fault struck.
func (t *tally) call(fault string, m route.Method, id string) {
	switch m {
	case route.Match, route.Timeline, route.MatchIDs, route.LeagueEntries:
		t.strike(fault, thingOf(m, id))
	default: // resolving, or a probe of the key: they look alike
		t.hit(fault)
	}
}

func (t *tally) of(fault string) *sum {
	s := t.sums[fault]
	if s == nil {
		s = &sum{}
		t.sums[fault] = s
	}
	return s
}

// total joins the sums of several faults.
func (t *tally) total(faults ...string) (out sum) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range faults {
		if s := t.sums[f]; s != nil {
			out.hits, out.retried, out.held = out.hits+s.hits, out.retried+s.retried, out.held+s.held
			out.givenUp, out.well, out.dropped, out.alone = out.givenUp+s.givenUp, out.well+s.well, out.dropped+s.dropped, out.alone+s.alone
		}
	}
	return out
}

// look takes a commit in.
func (t *tally) look(changes []engine.Change) {
	t.mu.Lock()
	defer t.mu.Unlock()
	dead := map[engine.JobID]bool{}
	for i := range changes {
		if j := changes[i].Job; j != nil {
			t.keys[j.ID] = j.Key
			dead[j.ID] = j.State == engine.Discarded
		}
	}
	for i := range changes {
		if c := &changes[i]; c.Attempt != nil {
			t.ended(thingOfJob(t.keys[c.Of]), c.Attempt.Verb, dead[c.Of])
		}
	}
	for i := range changes {
		if j := changes[i].Job; j != nil && j.State.Terminal() {
			delete(t.keys, j.ID)
		}
	}
}

// ended settles the faults that struck an attempt.
func (t *tally) ended(thing string, verb engine.Verb, dead bool) {
	faults := t.open[thing]
	delete(t.open, thing)
	for _, f := range faults {
		s := t.of(f)
		switch {
		case dead || verb == engine.VerbFail:
			s.givenUp++
		case verb == engine.VerbRetry:
			s.retried++
		case verb == engine.VerbSnooze:
			s.held++
		case verb == engine.VerbDone, verb == engine.VerbWait:
			s.well++
		default: // cancelled, or interrupted by a stop
			s.dropped++
		}
	}
}

// String is what the engine did, in few words; "" = nothing was struck.
func (s sum) String() string {
	if s.hits == 0 {
		return ""
	}
	var facts []string
	add := func(n int, what string) {
		if n > 0 {
			facts = append(facts, strconv.Itoa(n)+" "+what)
		}
	}
	add(s.retried, "retried")
	add(s.held, "held")
	add(s.well, "went well")
	if s.retried+s.held > 0 || s.givenUp > 0 {
		facts = append(facts, strconv.Itoa(s.givenUp)+" given up")
	}
	add(s.dropped, "interrupted")
	add(s.under(), "open")
	return strings.Join(facts, ", ")
}
