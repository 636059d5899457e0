package demo

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
	sums map[string]*Sum         // by name of fault
}

// Sum is what became of the strikes of one fault.
type Sum struct {
	Hits int // calls, commits or jobs that it struck
	// How the attempts ended that it struck: with another try, put off without one, for
	// good, well, or cut off by a stop.
	Retried, Held, GivenUp, Well, Dropped int

	alone int // of Hits: no attempt ends with them
}

// Open is how many of the struck attempts have not ended.
func (s Sum) Open() int {
	return s.Hits - s.alone - s.Retried - s.Held - s.GivenUp - s.Well - s.Dropped
}

// newTally has counted nothing yet.
func newTally() *tally {
	t := &tally{}
	t.forget()
	return t
}

// forget counts anew.
func (t *tally) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keys, t.open, t.sums = map[engine.JobID]string{}, map[string][]string{}, map[string]*Sum{}
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

// pageKey is how the keys of calls about alerts begin.
const pageKey = string(engine.KindCall) + ":"

// thingOfJob is the same for a job by its key.
func thingOfJob(key string) string {
	if strings.HasPrefix(key, pageKey) || strings.HasPrefix(key, "match:") || strings.HasPrefix(key, "timeline:") {
		return key
	}
	return otherCalls
}

// strike notes that a fault struck a call for a thing.
func (t *tally) strike(fault, thing string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of(fault).Hits++
	t.open[thing] = append(t.open[thing], fault)
}

// hit counts a strike that no attempt ends with: of a commit, or of a call that only
// finds out whether a key works.
func (t *tally) hit(fault string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.of(fault)
	s.Hits, s.alone = s.Hits+1, s.alone+1
}

// call notes a call that a fault struck.
func (t *tally) call(fault string, m route.Method, id string) {
	switch m {
	// Each of these is made by an attempt, whose end tells what became of the strike.
	case route.Match, route.Timeline, route.MatchIDs, route.LeagueEntries:
		t.strike(fault, thingOf(m, id))
	default: // resolving, or a probe of the key: they look alike
		t.hit(fault)
	}
}

// of is the sum of a fault, made when it is first asked for. The caller holds the lock.
func (t *tally) of(fault string) *Sum {
	s := t.sums[fault]
	if s == nil {
		s = &Sum{}
		t.sums[fault] = s
	}
	return s
}

// total joins the sums of several faults.
func (t *tally) total(faults ...string) (out Sum) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range faults {
		if s := t.sums[f]; s != nil {
			out.Hits, out.Retried, out.Held = out.Hits+s.Hits, out.Retried+s.Retried, out.Held+s.Held
			out.GivenUp, out.Well, out.Dropped, out.alone = out.GivenUp+s.GivenUp, out.Well+s.Well, out.Dropped+s.Dropped, out.alone+s.alone
		}
	}
	return out
}

// observe takes a commit in.
func (t *tally) observe(changes []engine.Change) {
	t.mu.Lock()
	defer t.mu.Unlock()
	// A commit tells of a job and of its attempt in any order: first who they are, then how they
	// ended, then who is forgotten.
	dead := map[engine.JobID]bool{}
	for i := range changes {
		if j := changes[i].Job; j != nil {
			t.keys[j.ID] = j.Key
			dead[j.ID] = j.State == engine.Discarded
		}
	}
	for i := range changes {
		if c := &changes[i]; c.Attempt != nil {
			thing := thingOfJob(t.keys[c.Of])
			if strings.HasPrefix(thing, pageKey) { // each is a call
				t.of(pagerCalls).Hits++
				t.open[thing] = append(t.open[thing], pagerCalls)
			}
			t.ended(thing, c.Attempt.Verb, dead[c.Of])
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
	// All that struck it since it was tried last: a call may meet several.
	faults := t.open[thing]
	delete(t.open, thing)
	for _, f := range faults {
		s := t.of(f)
		switch {
		case dead || verb == engine.VerbFail:
			s.GivenUp++
		case verb == engine.VerbRetry:
			s.Retried++
		case verb == engine.VerbSnooze:
			s.Held++
		case verb == engine.VerbDone, verb == engine.VerbWait:
			s.Well++
		default: // cancelled, or interrupted by a stop
			s.Dropped++
		}
	}
}

// String is what the engine did, in few words; "" = nothing was struck.
func (s Sum) String() string {
	if s.Hits == 0 {
		return ""
	}
	var facts []string
	add := func(n int, what string) {
		if n > 0 {
			facts = append(facts, strconv.Itoa(n)+" "+what)
		}
	}
	add(s.Retried, "retried")
	add(s.Held, "held")
	add(s.Well, "went well")
	// "0 given up" is the news wherever something was in danger.
	if s.Retried+s.Held > 0 || s.GivenUp > 0 {
		facts = append(facts, strconv.Itoa(s.GivenUp)+" given up")
	}
	add(s.Dropped, "interrupted")
	add(s.Open(), "open")
	return strings.Join(facts, ", ")
}
