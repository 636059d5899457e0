package control

import (
	"context"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/forecast"
	"github.com/farsight-console/farsight/engine/hub"
)

// paced is a limiter of which only the pace is asked: one call a second.
type paced struct{ Limiter }

func (paced) Meter() (m engine.Meter)        { return m }
func (paced) Outlook(string) forecast.Limits { return even{time.Second, "app:europe 120s"} }

func (paced) Rows() engine.LimitsRow { return engine.LimitsRow{} }
func (paced) Held(lane string) (h engine.Held) {
	if lane == "americas/"+forecast.TimelineMethod {
		h = engine.Held{Reason: engine.Outage("americas", forecast.TimelineMethod), Stand: engine.StandDown}
	}
	return h
}
func (paced) Health() (engine.EngineState, string) { return engine.EngineLive, "" }

func (paced) Restore(context.Context, bool, iter.Seq2[engine.Job, error]) error { return nil }

// eta is what is foreseen of an account now.
func (c *Control) eta(a engine.AccountRow) engine.ETA { return c.endsBy(c.plan(), a, true) }

// down is paced with an endpoint that is.
type down struct {
	paced
	lane  string
	stand engine.Stand
}

func (d down) Held(lane string) (h engine.Held) {
	if lane == d.lane {
		h = engine.Held{Reason: "it is down", Stand: d.stand}
	}
	return h
}

// TestI7c_TheTimelinesOfWhatStandsStillAreInLine while matches alone are down or frozen, and not when it is they that are.
func TestI7c_TheTimelinesOfWhatStandsStillAreInLine(t *testing.T) {
	both, last := open("both", "europe", 100, true), open("last", "europe", 0, true)
	both.Timelines, last.Timelines = engine.Progress{Total: 7, Open: 7}, engine.Progress{Total: 5, Open: 5}
	h := hub.New(hub.Options{})
	publish(h, []engine.AccountRow{both, last})
	for method, want := range map[string]int{forecast.MatchMethod: 7 + 5, forecast.TimelineMethod: 100 + 7 + 100} {
		for _, stand := range []engine.Stand{engine.StandDown, engine.StandHeld} {
			c := &Control{opt: Options{Limiter: down{lane: "europe/" + method, stand: stand}, Backend: idle{}, Keys: knownKey{}}, hub: h, finder: finder{lane: noLane}}
			calls, p := 0.0, c.plan()
			for _, s := range p.InLine("europe", p.Open, 0) {
				calls += s.Calls
			}
			if int(calls) != want {
				t.Errorf("%s is %s: %v calls are in line, want %d", method, stand, calls, want)
			}
		}
	}
}

func open(id, region string, matches int, timelines bool) engine.AccountRow {
	return engine.AccountRow{
		ID: id, Region: region, Status: engine.Syncing, WantsTimelines: timelines,
		Matches: engine.Progress{Total: matches, Open: matches},
	}
}

// TestI3_ETAsShareTheBudgetAsTheEngineDealsIt: runs of one host share its budget owner by
// owner, matches before timelines, and a run that stands still says why.
func TestI3_ETAsShareTheBudgetAsTheEngineDealsIt(t *testing.T) {
	small, big, far := open("small", "europe", 10, true), open("big", "europe", 500, false), open("far", "asia", 900, true)
	listing := open("listing", "europe", 0, true)
	listing.Matches.Total = -1
	ended := open("ended", "europe", 0, true)
	ended.Status = engine.SyncCompleted
	waits := open("waits", "sea", 400, false)
	waits.Queue = latest
	down := open("down", "americas", 7, true)
	stuck := open("stuck", "americas", 0, true)
	stuck.Timelines = engine.Progress{Total: 7, Open: 7}
	looking := open("looking", "sea", -1, true)
	looking.Queue = latest
	h := hub.New(hub.Options{})
	publish(h, []engine.AccountRow{small, big, far, listing, ended, waits, down, stuck, looking})
	paused := engine.QueueRow{QueueState: engine.QueueState{Name: latest, Paused: true, By: engine.Actor{User: "ana"}}}
	c := &Control{opt: Options{Limiter: paced{}, Backend: idle{queues: []engine.QueueRow{paused, {}}}, Keys: knownKey{}}, hub: h, finder: finder{lane: noLane}}
	cases := []struct {
		name  string
		row   engine.AccountRow
		calls int // of its own
		wait  time.Duration
		why   string
		stand engine.Stand
	}{
		{"ten timelines go after all matches of a larger run", small, 20, 520 * time.Second, "", ""},
		{"a large run waits for the matches of the small one", big, 500, 510 * time.Second, "", ""},
		{"another region shares nothing", far, 1800, 1800 * time.Second, "", ""},
		{"nobody knows while ids are listed", listing, 0, 0, "", ""},
		{"an ended run has none", ended, 0, 0, "", ""},
		{"its queue is paused", waits, 400, 0, "queue paused by ana", engine.StandPaused},
		{"its queue is paused while it lists", looking, 0, 0, "queue paused by ana", engine.StandPaused},
		{"its timelines are down and nothing else is left", stuck, 7, 0, "timeline calls to americas fail", engine.StandDown},
		{"its timelines will be down", down, 14, 0, "timeline calls to americas fail", ""},
	}
	for _, tc := range cases {
		got := c.eta(tc.row)
		if got.Calls != tc.calls || got.High != tc.wait || got.Known != (tc.wait > 0) || got.Why != tc.why || got.Stand != tc.stand {
			t.Errorf("%s: %+v, want %d calls in %s, %q, %q", tc.name, got, tc.calls, tc.wait, tc.why, tc.stand)
		}
	}
}

// TestI1_AParentIsToldWhenItsChildrenAreSettled: a sync's job that waits for its matches
// is told their end, not that of the timelines that follow.
func TestI1_AParentIsToldWhenItsChildrenAreSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		small, big := open("small", "europe", 10, true), open("big", "europe", 500, false)
		small.Job, small.Phase = "parent", engine.PhaseMatches
		h := hub.New(hub.Options{})
		publish(h, []engine.AccountRow{small, big})
		c := &Control{opt: Options{Limiter: paced{}, Backend: idle{}, Keys: knownKey{}}, hub: h, finder: finder{lane: noLane}}
		if got := time.Until(c.groupEnds(engine.Job{ID: "parent"})); got != 20*time.Second {
			t.Errorf("its matches end in %s, want 20s: those of the other take turns", got)
		}
		small.Phase = engine.PhaseTimelines
		h.Publish(1, []engine.Change{{Account: &small}})
		if got := time.Until(c.groupEnds(engine.Job{ID: "parent"})); got != 520*time.Second {
			t.Errorf("its timelines end in %s, want 520s", got)
		}
		if got := c.groupEnds(engine.Job{ID: "unknown"}); !got.IsZero() {
			t.Errorf("a job of no sync is told %s", got)
		}
	})
}

// TestW5d_TheEndOfTheReadingIsToldAtOnce: a sync of the first second does not wait for jobs that were read long ago.
func TestW5d_TheEndOfTheReadingIsToldAtOnce(t *testing.T) {
	h := hub.New(hub.Options{})
	publish(h, []engine.AccountRow{open("small", "europe", 10, true)})
	c := &Control{opt: Options{Limiter: paced{}, Backend: idle{reading: "the stored jobs are being read"}, Keys: knownKey{}}, hub: h, finder: finder{lane: noLane}}
	if got := (source{c}).ETA("small"); got.Why != "the stored jobs are being read" {
		t.Errorf("%+v", got)
	}
	c.opt.Backend = idle{}
	if got := (source{c}).ETA("small"); got.Why != "" || !got.Known {
		t.Errorf("all were read: %+v", got)
	}
}

// TestI3_TheLastRetryBoundsTheETA: a run does not end before the last of its retries is
// due, however few calls are left.
func TestI3_TheLastRetryBoundsTheETA(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		row := open("one", "europe", 2, false)
		h := hub.New(hub.Options{})
		publish(h, []engine.AccountRow{row})
		for i, in := range []time.Duration{time.Minute, 5 * time.Minute} {
			publish(h, nil, engine.Job{ID: engine.JobID(rune('a' + i)), Rev: 1, Owner: "one", State: engine.Retryable, Due: time.Now().Add(in)})
		}
		publish(h, nil, engine.Job{ID: "x", Rev: 1, Owner: "other", State: engine.Retryable, Due: time.Now().Add(time.Hour)})
		c := &Control{opt: Options{Limiter: paced{}, Backend: idle{}, Keys: knownKey{}}, hub: h, finder: finder{lane: noLane}}
		if got := c.eta(row); got.Low != 5*time.Minute || got.High != got.Low || got.Bucket != "" || got.Why != "its last retry is due then" {
			t.Errorf("%+v", got)
		}
	})
}

// TestI3_AnEngineOfOneSyncForeseesWhatItServes: runs that it leaves to the next engine
// take nothing from its budget, and one that somebody asks of it later does.
func TestI3_AnEngineOfOneSyncForeseesWhatItServes(t *testing.T) {
	own, beside, other := open("own", "europe", 10, true), open("beside", "europe", 30, true), open("other", "europe", 500, true)
	own.Job, beside.Job, other.Job = "1", "2", "3"
	h := hub.New(hub.Options{})
	publish(h, []engine.AccountRow{own, beside, other})
	served := map[engine.JobID]bool{"1": true}
	c := &Control{opt: Options{Limiter: paced{}, Backend: idle{queues: []engine.QueueRow{{}}}, Keys: knownKey{}, Serves: func(id engine.JobID) bool { return served[id] }}, hub: h, finder: finder{lane: noLane}}
	if got := c.eta(own); got.High != 20*time.Second {
		t.Errorf("alone: %+v", got)
	}
	served["2"] = true
	if got := c.eta(own); got.High != 60*time.Second {
		t.Errorf("its timelines go beside 10 of the other's, after all matches: %+v", got)
	}
}

// publish tells a hub of accounts and jobs.
func publish(h *hub.Hub, accounts []engine.AccountRow, jobs ...engine.Job) {
	var changes []engine.Change
	for i := range accounts {
		changes = append(changes, engine.Change{Account: &accounts[i]})
	}
	for i := range jobs {
		changes = append(changes, engine.Change{Job: &jobs[i]})
	}
	h.Publish(0, changes)
}

// inLine is a backend in which a job has a place in line.
type inLine struct {
	idle
	until time.Time
	place int
}

func (b inLine) Why(engine.Job) (string, time.Time, int) { return "in line", b.until, b.place }

// held is a backend whose jobs something keeps from starting.
type held struct {
	idle
	by engine.Held
}

func (b held) Held(engine.Job) engine.Held             { return b.by }
func (b held) Why(engine.Job) (string, time.Time, int) { return b.by.Reason, b.by.Until, 0 }

// TestI1_ARowSaysWhetherWhatHoldsItEnds at the instant that it names: one call may only ask then, and no row of a retry in line starts at it.
func TestI1_ARowSaysWhetherWhatHoldsItEnds(t *testing.T) {
	j := engine.Job{ID: "1", Rev: 1, Queue: latest, Key: "match:EUW1_1", State: engine.Available, Tries: 1}
	for _, ends := range []bool{false, true} {
		by := held{by: engine.Held{Reason: "europe is held", Until: time.Now().Add(time.Minute), Stand: engine.StandHeld, Ends: ends}}
		c := &Control{opt: Options{Limiter: paced{}, Backend: by, Keys: knownKey{}}, hub: hub.New(hub.Options{}), finder: finder{lane: func(engine.Job) string { return "europe/match-v5.match" }}}
		if r := c.row(j); r.Ends != ends || r.Asked() == ends || r.Starts.IsZero() == ends || r.LateBy != r.Why {
			t.Errorf("%v: %+v", ends, r)
		}
	}
}

// TestI1_ARowsPlaceIsOfItsLineAndOfTheMomentOfItsInstant: a place is one of a queue's jobs with
// one host and endpoint. When the instant of a retry has come, its row goes by its place from
// then on, not by a plan that was made before.
func TestI1_ARowsPlaceIsOfItsLineAndOfTheMomentOfItsInstant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, now := hub.New(hub.Options{}), time.Now()
		wait := engine.Job{ID: "1", Rev: 1, Queue: latest, Key: "match:EUW1_1", State: engine.Retryable, Tries: 1, Due: now.Add(time.Minute)}
		publish(h, nil, wait)
		at := inLine{until: now.Add(7 * time.Second)}
		c := &Control{opt: Options{Limiter: paced{}, Backend: at, Keys: knownKey{}}, hub: h, finder: finder{lane: func(j engine.Job) string {
			return "europe/match-v5." + j.Key[:5]
		}}}
		if r := c.row(wait); !r.Starts.Equal(wait.Due) || r.Line != "" {
			t.Errorf("it waits for its instant: %s of %q", r.Starts, r.Line)
		}
		wait.State, at.place = engine.Available, 5
		c.opt.Backend = at
		if r := c.row(wait); !r.Starts.Equal(at.until) || r.Place != 5 || r.Line != "latest europe/match-v5.match" {
			t.Errorf("it stands in line: %d of %q, starts %s", r.Place, r.Line, r.Starts)
		}
		other := wait
		other.Key = "times:EUW1_1"
		if a, b := c.row(wait), c.row(other); a.Line == b.Line {
			t.Errorf("calls of two endpoints stand in one line, %q", a.Line)
		}
	})
}
