package traffic

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot"
)

var (
	matches = Lane{"europe", "match-v5.match"}
	lists   = Lane{"europe", "match-v5.ids"}
	names   = Lane{"europe", "account-v1.by-riot-id"}
	noon    = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
)

func err5xx() *riot.Error { return &riot.Error{Reason: riot.Transient, Class: riot.ClassServer} }

// told is an answer to the gate by a job that knows of nothing that was ever answered.
func told(g *gate, l Lane, job engine.JobID, e *riot.Error, now time.Time) ruling {
	r := g.answer(l, job, e, now)
	if r.doubt {
		return g.declare(l, job, now)
	}
	return r
}

func newTestGate() (*gate, *int) {
	rung := new(int)
	return newGate(time.Hour, 0, func() { *rung++ }), rung
}

func TestI7_TheBreakerOpensAtFiveFailuresOfTwoJobs(t *testing.T) {
	for name, c := range map[string]struct {
		jobs  string // who failed, in order; "." = somebody had success
		blown bool
	}{
		"four":              {"abab", false},
		"five of two":       {"aaaab", true},
		"five of one":       {"aaaaaaaa", false},
		"success between":   {"aba.ab", false},
		"five after that":   {"ab.aabab", true},
		"one after another": {"abcde", true},
	} {
		g, _ := newTestGate()
		for i, job := range c.jobs {
			e := err5xx()
			if job == '.' {
				e = nil
			}
			told(g, matches, engine.JobID(job), e, noon.Add(time.Duration(i)*time.Second))
		}
		_, why, ok := g.check(matches, "z", noon.Add(6*time.Second))
		if ok == c.blown {
			t.Errorf("%s: open %v, %s", name, !ok, why)
		}
		if _, _, ok := g.check(lists, "z", noon.Add(6*time.Second)); !ok {
			t.Errorf("%s: another endpoint was stopped too", name)
		}
	}
}

// The last five answers of a host count as those of one lane do, if none of it was good; what is doubted is the lane that
// fails next, and each is down since the first of them.
func TestI7d_FailuresOfAHostCountTogether(t *testing.T) {
	for name, c := range map[string]struct {
		calls string       // lane and job, a digit each, of failures in order; "." = the lane answered a job well
		down  map[Lane]int // and the failure since which it is
	}{
		"five of three lanes":  {"m1 l1 a2 m3 l4", map[Lane]int{lists: 0}},
		"and the next of each": {"m1 l1 a2 m3 l4 m1 a5", map[Lane]int{lists: 0, matches: 0, names: 0}},
		"of one job":           {"m1 l1 a1 m1 l1", nil},
		"four":                 {"m1 l1 a2 m3", nil},
		"one lane answers":     {"m1 m2 l. m3 m4 l5", nil},
		"one lane alone":       {"m1 m2 l. m3 m4 l. m5 l6", map[Lane]int{matches: 0}},
		"of another host":      {"m1 m2 k3 k4 l5", nil},
	} {
		g, _ := newTestGate()
		of := map[byte]Lane{'m': matches, 'l': lists, 'a': names, 'k': {"kr", "league-v4.by-puuid"}}
		calls := strings.Fields(c.calls)
		at := func(i int) time.Time { return noon.Add(time.Duration(i) * time.Second) }
		for i, call := range calls {
			e := err5xx()
			if call[1] == '.' {
				e = nil
			}
			told(g, of[call[0]], engine.JobID(call[1:]), e, at(i))
		}
		down := map[Lane]int{}
		for _, b := range g.down() {
			down[Lane{b.Host, b.Method}] = int(b.Since.Sub(noon).Seconds())
		}
		if !maps.Equal(down, c.down) {
			t.Errorf("%s: down are %v", name, down)
		}
	}
}

// The tries of a lane that is down tell nothing new of its host, and what failed long ago goes with nothing of now.
func TestI7d_NeitherTriesNorOldFailuresCount(t *testing.T) {
	g, _ := newTestGate()
	blow(g)
	g.answer(lists, "6", nil, noon)
	for range breakerAnswers {
		blow(g) // tries
	}
	if r := g.answer(lists, "7", err5xx(), noon.Add(time.Minute)); r.doubt {
		t.Error("the tries of what is down doubt another lane")
	}

	g, _ = newTestGate()
	for i := range 4 {
		told(g, matches, engine.JobID(fmt.Sprint(i)), err5xx(), noon)
	}
	later := noon.Add(silence + time.Second)
	if told(g, lists, "5", err5xx(), later); g.outage(lists) != "" {
		t.Error("four failures of an hour ago and one of now put a lane down")
	}
	for i := range 4 {
		told(g, matches, engine.JobID(fmt.Sprint(i)), err5xx(), later)
	}
	if down := g.down(); len(down) != 1 || !down[0].Since.Equal(later) {
		t.Errorf("down are %+v, not since %v", down, later)
	}
	for ago, want := range map[time.Duration]int{0: 1, 2 * silence: 0} {
		g, _ = newTestGate()
		told(g, matches, "1", err5xx(), time.Now().Add(-ago))
		row := engine.LimitHost{Host: "europe"}
		if g.failing(&row); row.Failing != want {
			t.Errorf("%v later %d are told", ago, row.Failing)
		}
	}
}

// blow opens the breaker of matches at noon.
func blow(g *gate) {
	for i := range breakerAnswers {
		told(g, matches, engine.JobID(fmt.Sprint(i)), err5xx(), noon)
	}
}

func TestOneProbeAtATimeAndEachFailureDoublesTheWait(t *testing.T) {
	g, rung := newTestGate()
	blow(g)
	at := noon
	for _, wait := range []time.Duration{5, 10, 20, 40, 60, 60} {
		wait *= time.Second
		if until, _, ok := g.check(matches, "a", at.Add(wait-1)); ok || !until.Equal(at.Add(wait)) {
			t.Fatalf("before the probe: %v until %v, want %v", ok, until, at.Add(wait))
		}
		at = at.Add(wait)
		if _, _, ok := g.check(matches, "a", at); !ok {
			t.Fatal("the probe was refused")
		}
		g.begin(matches, "a")
		if until, _, ok := g.check(matches, "b", at); ok || !until.IsZero() {
			t.Fatal("a second probe was let through")
		}
		if r := g.answer(matches, "a", err5xx(), at); !r.outage {
			t.Fatal("a failed probe was charged")
		}
	}
	at = at.Add(time.Minute)
	g.begin(matches, "b")
	before := *rung
	g.answer(matches, "b", nil, at)
	if _, _, ok := g.check(matches, "c", at); !ok || *rung == before {
		t.Errorf("after a success: open %v, rung %v", ok, *rung != before)
	}
}

func TestAProberThatDoesNotCallGivesTheProbeBack(t *testing.T) {
	g, _ := newTestGate()
	blow(g)
	at := noon.Add(time.Minute)
	g.begin(matches, "a")
	g.quit("b") // somebody else
	if _, _, ok := g.check(matches, "b", at); ok {
		t.Error("two probes")
	}
	g.quit("a")
	if _, _, ok := g.check(matches, "b", at); !ok {
		t.Error("the probe is lost")
	}
}

func TestAnOutageCostsAttemptsInTheEnd(t *testing.T) {
	g, _ := newTestGate()
	blow(g)
	g.begin(matches, "a")
	if r := g.answer(matches, "a", err5xx(), noon.Add(59*time.Minute)); !r.outage {
		t.Error("charged within the patience")
	}
	g.begin(matches, "a")
	if r := g.answer(matches, "a", err5xx(), noon.Add(61*time.Minute)); r.outage {
		t.Error("never charged: a match that is broken for ever would never end")
	}
}

func TestWithoutNetworkOneProbeBacksOffFromOneSecondToAMinute(t *testing.T) {
	g, _ := newTestGate()
	local := &riot.Error{Reason: riot.Local, Class: riot.ClassLocal}
	at := noon
	g.answer(matches, "a", local, at)
	g.answer(matches, "straggler", local, at)
	for _, wait := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		wait *= time.Second
		if until, why, ok := g.check(lists, "b", at); ok || !until.Equal(at.Add(wait)) || why != engine.CutOff {
			t.Fatalf("%v until %v (%s), want %v", ok, until, why, at.Add(wait))
		}
		at = at.Add(wait)
		g.begin(lists, "b")
		g.answer(lists, "b", local, at)
	}
	if state, _ := g.health(); state != engine.EngineDegraded {
		t.Errorf("health %s", state)
	}
	g.begin(lists, "b")
	g.answer(lists, "b", &riot.Error{Reason: riot.Missing, Status: 404}, at) // any answer proves the network
	if state, _ := g.health(); state != engine.EngineLive {
		t.Errorf("health %s", state)
	}
}

func TestACallThatWasNotMadeProvesNothing(t *testing.T) {
	g, _ := newTestGate()
	g.blowKey("a", noon)
	for _, r := range []riot.Reason{riot.BadRequest, riot.Throttled} {
		g.answer(matches, "b", &riot.Error{Reason: r}, noon)
	}
	if _, _, ok := g.check(matches, "b", noon); ok || g.isProven() {
		t.Error("the gate opened")
	}
	g.answer(matches, "b", &riot.Error{Reason: riot.Throttled, Status: 429}, noon) // the key is looked at before the limits
	if _, _, ok := g.check(matches, "b", noon); !ok || g.isProven() {
		t.Error("a 429 did not prove the key")
	}
}

func TestARefusedKeyStopsEveryHostUntilItIsReplaced(t *testing.T) {
	g, rung := newTestGate()
	g.blowKey("a", noon)
	for _, l := range []Lane{matches, lists, {"kr", "summoner-v4.by-puuid"}} {
		if until, why, ok := g.check(l, "b", noon); ok || !until.Equal(noon.Add(time.Minute)) || why != engine.KeyRefused {
			t.Errorf("%s: %v until %v: %s", l, ok, until, why)
		}
	}
	if since, asks := g.refused(); !since.Equal(noon) || !asks.Equal(noon.Add(time.Minute)) {
		t.Errorf("refused since %v, one call asks at %v", since, asks)
	}
	before := *rung
	g.forgetKey()
	if since, asks := g.refused(); !since.IsZero() || !asks.IsZero() {
		t.Errorf("a new key is refused since %v, one call asks at %v", since, asks)
	}
	if _, _, ok := g.check(matches, "b", noon); !ok || *rung == before {
		t.Error("a new key did not open the gate")
	}
}

// TestProbesFollowTheSpeedOfTheWorld: a Riot that is simulated ten times as fast is
// probed ten times as often, and never in a flood.
func TestProbesFollowTheSpeedOfTheWorld(t *testing.T) {
	for speed, want := range map[float64][2]time.Duration{
		0: {5 * time.Second, time.Minute}, 1: {5 * time.Second, time.Minute}, 10: {500 * time.Millisecond, 6 * time.Second}, 1000: {leastProbe, 60 * time.Millisecond},
	} {
		g := newGate(time.Hour, speed, func() {})
		b := g.lane(matches)
		b.blow("a", noon)
		if got := b.probe.Sub(noon); got != want[0] {
			t.Errorf("at speed %g the first probe is after %s, want %s", speed, got, want[0])
		}
		for range 20 {
			b.prober = "a"
			b.blow("a", noon)
		}
		if b.wait != want[1] {
			t.Errorf("at speed %g probes end up %s apart, want %s", speed, b.wait, want[1])
		}
	}
}

// Who looks why nothing moves is told what the last call met, not only that it never left.
func TestW9b_TheStateSaysWhatTheLastCallMet(t *testing.T) {
	g := newGate(time.Hour, 0, func() {})
	g.answer(Lane{"europe", "match-v5.match"}, "a", &riot.Error{Reason: riot.Local, Message: riot.CannotReach + "no such host"}, noon)
	if state, why := g.health(); state != engine.EngineDegraded || why != engine.CutOff+": no such host" {
		t.Errorf("%s: %s", state, why)
	}
}
