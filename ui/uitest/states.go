package uitest

import (
	"fmt"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// States are the demo while it is not at full pace, each for another reason.
func States() []Scene {
	return []Scene{Paused(), Throttled(), Outage(), FirstMinute()}
}

// quietSince are the calls of the demo until an instant.
func quietSince(back time.Duration) []engine.CallRow {
	return slices.DeleteFunc(demoCalls(), func(c engine.CallRow) bool { return c.At.After(at(back)) })
}

// hold gives a scene's syncs and jobs what keeps them from going on: nothing runs then, and what did is
// in line again.
func (s *Scene) hold(h engine.Held) {
	for i := range s.Update.Accounts {
		if a := &s.Update.Accounts[i]; a.Status.Open() {
			a.Stand, a.ETA = h.Stand, engine.ETA{Why: h.Reason, Stand: h.Stand}
		}
	}
	for i := range s.Jobs {
		switch j := &s.Jobs[i]; j.State {
		case engine.Running:
			j.State, j.Started, j.Tries = engine.Available, time.Time{}, 0
			fallthrough
		case engine.Available, engine.Retryable:
			j.Why, j.Until, j.Stand, j.Ends, j.Place, j.Line = h.Reason, h.Until, h.Stand, h.Ends, 0, ""
		}
	}
	q := &s.Update.Queues[0]
	q.Counts[engine.Available] += q.Counts[engine.Running]
	q.Counts[engine.Running] = 0
	q.Why, q.Until, q.Stand = h.Reason, h.Until, h.Stand
	s.Update.Engine.InFlight, s.Update.Notes = 0, nil
	s.Update.Jobs = shownJobs(s.Jobs)
}

// Paused is the demo 20 s after somebody paused the one queue that has work.
func Paused() Scene {
	s := demo("paused", 80, 535, quietSince(20*time.Second), demoAccounts())
	s.hold(engine.Held{Reason: "queue paused by ana", Stand: engine.StandPaused})
	q := &s.Update.Queues[0]
	q.Paused, q.By, q.Since, q.Reason = true, engine.Actor{User: "ana", Via: "console"}, at(20*time.Second), "deploy"
	s.Update.Engine.State, s.Update.Engine.Why = engine.EnginePaused, "every queue with work is paused: "+q.Reason
	s.inNoLine()
	Foresee(&s.Update)
	return s
}

// Throttled is the demo 1.2 s after a 429 of the application: the host is held for 10 s.
func Throttled() Scene {
	since := at(1200 * time.Millisecond)
	calls := quietSince(1200 * time.Millisecond)
	last := &calls[len(calls)-1]
	last.Status, last.Class, last.RetryAfter, last.Unforeseen = 429, "429.app", 10*time.Second, true
	last.Counts = []engine.WindowCount{{Scope: "app", Window: demoWindow, Limit: 100, Ours: 70, Server: 101}}
	s := demo("throttled", 80, 535, calls, demoAccounts())
	for i := range s.Update.Limits.Buckets {
		if b := &s.Update.Limits.Buckets[i]; b.Kind == "app" {
			b.Blocked, b.BlockedBy = since.Add(10*time.Second), "429 application"
			b.NextFree = b.Blocked
		}
	}
	s.Update.Limits.Hosts[0].Opens, s.Update.Limits.Hosts[0].Brings = since.Add(10*time.Second), 100
	sent := job("h0", "match:"+last.Target, engine.Scheduled)
	sent.Hold, sent.Holds, sent.Due, sent.Until, sent.Owner, sent.Why = engine.HoldThrottled, 1, since.Add(10*time.Second), since.Add(10*time.Second), "d-heron", "held: 429, too many calls"
	s.Jobs = append(s.Jobs, byPolicy(sent)...)
	s.Update.Queues[0].Counts[engine.Scheduled], s.Update.Queues[0].Held = 1, 1
	s.Update.Jobs, s.Update.Notes = shownJobs(s.Jobs), nil
	Foresee(&s.Update)
	return s
}

// Outage is the demo 40 s after both endpoints of matches went down: one call in a while
// asks whether they are back.
func Outage() Scene {
	calls := quietSince(40 * time.Second)
	for i, back := range []time.Duration{39900, 39800, 39700, 39600, 39500, 34500, 24500, 4500} {
		calls = append(calls, engine.CallRow{
			Seq: uint64(len(calls) + 1), At: at(back * time.Millisecond), Host: "europe", Method: "match-v5.match", Target: fmt.Sprintf("EUW1_%d", 6742801111+i*7919),
			Status: 503, Class: "503", Took: 61 * time.Millisecond, Paced: 110 * time.Millisecond, PacedBy: "app:europe 100/12s", Try: 1,
		})
	}
	s := demo("outage", 80, 535, calls, demoAccounts())
	next := Noon.Add(35500 * time.Millisecond)
	s.hold(engine.Held{Reason: "match calls to europe fail", Until: next, Stand: engine.StandDown})
	s.Update.Limits.Breakers = []engine.BreakerRow{
		{Host: "europe", Method: "match-v5.match", Since: at(39500 * time.Millisecond), Next: next, Waiting: 516, Proven: true},
		{Host: "europe", Method: "match-v5.timeline", Since: at(39400 * time.Millisecond), Next: next.Add(time.Second), Waiting: 22, Proven: true},
	}
	s.Update.Engine.State, s.Update.Engine.Why = engine.EngineAPIDown, "match calls to europe fail"
	Foresee(&s.Update)
	return s
}

// FirstMinute is the demo six seconds after its start: nothing is a rate yet, and little of
// the past is known.
func FirstMinute() Scene {
	const up = 6 * time.Second
	calls := slices.DeleteFunc(demoCalls(), func(c engine.CallRow) bool { return c.At.Before(at(up)) })
	accounts := demoAccounts()
	for i, stored := range []int{20, 14, 2} {
		a := &accounts[i]
		a.Status, a.Result, a.Phase, a.Job = engine.Syncing, "", engine.PhaseMatches, engine.JobID("s-"+a.ID)
		a.Triggered, a.Started, a.Finished, a.LastSync = at(up), at(up), time.Time{}, time.Time{}
		a.Matches = engine.Progress{Total: a.Matches.Total, Stored: stored, Open: a.Matches.Total - stored}
		a.Timelines = engine.Progress{Total: stored, Open: stored}
	}
	s := demo("first", 6, 975, calls, accounts)
	e := s.Update.Engine
	e.Stored, e.Failed, e.Alerts, e.Throttled, e.Unforeseen = 36, 0, 0, 0, 0
	s.Update.Alerts, s.Update.Notes = nil, nil
	s.Update.Limits.Hosts[0].Learnt = at(5 * time.Second)
	Foresee(&s.Update)
	return s
}

// Fail makes an endpoint of a scene fail since a while; one call asks at an instant whether it is back.
func (s *Scene) Fail(since, next time.Time) {
	const method = "match-v5.match"
	why := engine.Outage("europe", method)
	s.hold(engine.Held{Reason: why, Until: next, Stand: engine.StandDown})
	s.Update.Limits.Breakers = []engine.BreakerRow{
		{Host: "europe", Method: method, Since: since, Next: next, Waiting: s.Update.Queues[0].Counts[engine.Available], Proven: true},
	}
	s.Update.Engine.State, s.Update.Engine.Why = engine.EngineAPIDown, why
}

// TryAgain makes the first n jobs in line of a scene those of another try.
func (s *Scene) TryAgain(n int) {
	s.Jobs = slices.Clone(s.Jobs)
	for i := range min(n, len(s.Jobs)) {
		j := &s.Jobs[i]
		j.Rev, j.Tries, j.Class, j.LastError, j.Due = j.Rev+1, 1, "503", "503: Service unavailable", Noon
	}
	s.Update.Jobs = shownJobs(s.Jobs)
	s.Update.Queues[0].Again, s.Update.Engine.Retrying = len(s.Update.Jobs), len(s.Update.Jobs)
}

// Freeze stops the calls of a scene to its first host until an instant, as an operator does.
func (s *Scene) Freeze(until time.Time) {
	host := s.Update.Limits.Hosts[0].Host
	s.hold(engine.Held{Reason: host + " is frozen by an operator", Until: until, Ends: !until.IsZero(), Stand: engine.StandHeld})
	for i := range s.Update.Limits.Buckets {
		if b := &s.Update.Limits.Buckets[i]; b.Host == host {
			b.Blocked, b.BlockedBy, b.Thaws = until, engine.BlockedFrozen, until
		}
	}
	s.Update.Engine.State, s.Update.Engine.Why = engine.EngineHeld, host+" is frozen"
}

// Beside gives a scene the limits of further hosts, to which nothing waits.
func (s *Scene) Beside(hosts ...string) {
	l := s.Update.Limits
	for _, host := range hosts {
		l.Hosts = append(l.Hosts, engine.LimitHost{Host: host, Learnt: l.Hosts[0].Learnt})
		for _, b := range l.Buckets[:2] {
			b.Host, b.Used, b.Server, b.Waiting = host, b.Used/3, b.Server/3, 0
			l.Buckets = append(l.Buckets, b)
		}
	}
}

// inNoLine notes that all queues are paused: nothing waits for a limit.
func (s *Scene) inNoLine() {
	l := *s.Update.Limits
	l.Buckets = slices.Clone(l.Buckets)
	for i := range l.Buckets {
		l.Buckets[i].Waiting = 0
	}
	s.Update.Limits = &l
}

// PauseOne is a scene of a development key whose odd accounts are in a queue of their own, which is paused.
func (s *Scene) PauseOne() {
	u := &s.Update
	q := queue(Latest, 0, 0, 0)
	q.Paused, q.By = true, engine.Actor{User: "ana"}
	u.Accounts = slices.Clone(u.Accounts)
	odd := map[string]bool{}
	for i := 1; i < len(u.Accounts); i += 2 {
		if a := &u.Accounts[i]; a.Status.Open() {
			a.Queue, a.Stand, a.ETA = q.Name, engine.StandPaused, engine.ETA{Why: q.Pause(), Stand: engine.StandPaused}
			odd[a.ID] = true
			q.Counts[engine.Available] += a.Matches.Open
		}
	}
	s.Jobs = slices.Clone(s.Jobs)
	for i := range s.Jobs {
		if j := &s.Jobs[i]; odd[j.Owner] {
			j.Queue, j.Why, j.Stand, j.Until, j.Place = q.Name, q.Pause(), engine.StandPaused, time.Time{}, 0
		}
	}
	u.Queues[0].Counts[engine.Available] -= q.Counts[engine.Available]
	u.Queues = append(u.Queues, q)
	for i := range u.Limits.Buckets {
		b := &u.Limits.Buckets[i]
		b.Waiting = max(b.Waiting-q.Counts[engine.Available], 0)
	}
}
