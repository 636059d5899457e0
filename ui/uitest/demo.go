package uitest

import (
	"fmt"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// demoWindow is the limit that paces the demo: 100 calls in 12 s, the present window has
// 2.4 s left.
const (
	demoWindow = 12 * time.Second
	demoLeft   = 2400 * time.Millisecond
)

// Demo is a simulated region at full pace, 80 s after its start: two accounts sync, one is
// done, a 429 was not expected, three retries are due. Its figures add up.
func Demo() Scene { return demo("demo", 80, 535, demoCalls(), demoAccounts()) }

// demo is that region so many seconds after its start, with so many jobs in line.
func demo(name string, up, line int, calls []engine.CallRow, accounts []engine.AccountRow) Scene {
	s := Scene{Name: name, Cost: engine.Cost{}}
	row := engine.EngineRow{
		State: engine.EngineLive, Demo: true, Key: "…7f3a", Boot: "01JD", Started: at(time.Duration(up) * time.Second), SinceStart: up < 60, Workers: 12, InFlight: 3,
		Accounts: 3, Stored: 532, Failed: 2, Waiting: toCome(accounts), Retrying: 3, Alerts: 1,
		Meter: engine.Meter{Spark: make([]int, 24), P50: 62 * time.Millisecond, Answered: at(0), Throttled: 2, Unforeseen: 1},
	}
	// The spark has 24 columns of 5 s, the newest last: what is older than two minutes is not in it.
	for i := range calls {
		if age := Noon.Sub(calls[i].At); age < 2*time.Minute {
			row.Spark[23-int(age/(5*time.Second))]++
			if age < time.Minute {
				row.CallsPerMin++
			}
		}
	}
	limits := demoLimits(calls, Noon)
	s.Jobs = demoJobs(line)
	full := queue(Full, line, 3, 3)
	full.Counts[engine.Pending] = 2
	s.Update = engine.Update{
		Seq: 900, Snapshot: true, Engine: &row, Queues: []engine.QueueRow{full}, Accounts: accounts, Jobs: shownJobs(s.Jobs), Limits: &limits, Calls: calls,
		Alerts: []engine.AlertRow{{
			ID: "429", Rule: "429", About: "unexpected 429s per 1 h", State: engine.AlertFiring, Holds: true, Since: at(24 * time.Second), Unit: engine.AlertCount, Value: 1, Known: true,
			Next: "does another program use this key?",
		}},
		Notes: []engine.Note{{At: at(7 * time.Second), Level: engine.LevelOK, Text: "달빛 여우#DEMO: 118 of 120 matches stored, 2 gave up"}},
	}
	s.Plans = []engine.ScheduleRow{{Name: "latest", Expr: "0 * * * *", Zone: "UTC", Misfire: "once", Next: []time.Time{Noon.Truncate(time.Hour).Add(time.Hour)}}}
	// A second ago six matches less were stored and five jobs more were in line, and so on.
	for back := up; back > 0; back-- {
		at := Noon.Add(-time.Duration(back) * time.Second)
		m := engine.Moment{At: at, Engine: row, Queues: []engine.QueueRow{queue(Full, line+5*back, 3, back%4)}, Limits: demoLimits(calls, at)}
		m.Engine.Stored -= int64(6 * back)
		m.Engine.Retrying = back % 4
		m.Engine.Failed -= min(2, int64(back/20))
		m.Engine.Throttled -= min(2, int64(back/24))
		s.Past = append(s.Past, m)
	}
	Foresee(&s.Update)
	return s
}

// toCome is how many matches of accounts are listed and not settled.
func toCome(accounts []engine.AccountRow) (n int64) {
	for i := range accounts {
		n += int64(accounts[i].Matches.Open)
	}
	return n
}

// demoCalls come at an even pace, but for a hold of 2.9 s after a 429.
func demoCalls() (calls []engine.CallRow) {
	held := at(23500 * time.Millisecond)
	for back := 79 * time.Second; back > 0; back -= 120 * time.Millisecond {
		when := at(back)
		// After the 429 nothing is called for as long as it said.
		if when.After(held) && when.Before(held.Add(2900*time.Millisecond)) {
			continue
		}
		i := len(calls)
		c := engine.CallRow{
			Seq: uint64(i + 1), At: when, Host: "europe", Method: "match-v5.match", Target: fmt.Sprintf("EUW1_%d", 6741269343+i*7919), Status: 200,
			Took: time.Duration(42+i*37%48) * time.Millisecond, Paced: time.Duration(90+i*13%50) * time.Millisecond, PacedBy: "app:europe 100/12s", Try: 1,
		}
		if i%5 == 2 {
			c.Method = "match-v5.timeline"
		}
		// A 429 of the service, which is nobody's fault, and the one that our count did not foresee; a few
		// 503s, and one match that Riot does not have.
		switch {
		case i == 40, when.After(held.Add(-120*time.Millisecond)) && when.Before(held.Add(time.Millisecond)):
			c.Status, c.Class, c.RetryAfter = 429, "429.service", 3800*time.Millisecond
			if i != 40 {
				c.Class, c.RetryAfter, c.Unforeseen = "429.app", 2900*time.Millisecond, true
				c.Counts = []engine.WindowCount{{Scope: "app", Window: time.Second, Limit: 20, Ours: 7, Server: 7}, {Scope: "app", Window: demoWindow, Limit: 100, Ours: 82, Server: 101}}
			}
		case i%53 == 12:
			c.Status, c.Class = 503, "503"
		case i == 300:
			c.Status, c.Class = 404, "404"
		}
		calls = append(calls, c)
	}
	return calls
}

// demoLimits are the windows as they were counted at an instant.
func demoLimits(calls []engine.CallRow, now time.Time) engine.LimitsRow {
	count := func(method string, window, phase time.Duration, limit int) engine.BucketRow {
		b := engine.BucketRow{Host: "europe", Method: method, Kind: "app", Window: window, Limit: limit, Mode: "sliding", ServerAt: now}
		if method != "" {
			b.Kind = "method"
		}
		reset := Noon.Add(phase)
		// Windows follow each other without a gap: the one that holds now ends soonest after it.
		for !reset.Add(-window).Before(now) {
			reset = reset.Add(-window)
		}
		for _, c := range calls {
			if c.At.After(reset.Add(-window)) && !c.At.After(now) && (method == "" || c.Method == method) {
				b.Used++
			}
		}
		b.Used = min(b.Used, limit)
		b.Server, b.Reset = b.Used, reset
		return b
	}
	paces := count("", demoWindow, demoLeft, 100)
	paces.Paces, paces.Waiting, paces.Name = true, 541, "app:europe 12s"
	first := count("", time.Second, 400*time.Millisecond, 20)
	first.Waiting = 541
	return engine.LimitsRow{
		At: now, Hosts: []engine.LimitHost{{Host: "europe", Learnt: at(79 * time.Second), Blind: 2}},
		Buckets: []engine.BucketRow{
			first, paces, count("match-v5.match", 10*time.Second, 3*time.Second, 2000), count("match-v5.timeline", 10*time.Second, 8*time.Second, 2000),
			{Host: "europe", Method: "account-v1.by-riot-id", Kind: "method", Window: time.Minute, Limit: 1000, Used: 3, Server: 3, Reset: at(-9 * time.Second), ServerAt: now, Mode: "sliding"},
		},
	}
}

func demoAccounts() []engine.AccountRow {
	heron := engine.AccountRow{
		ID: "d-heron", RiotID: "Night Heron#DEMO", Platform: "euw1", Region: "europe", Status: engine.Syncing, Job: "s-heron", Kind: "full", Queue: Full, Phase: engine.PhaseMatches,
		Matches: engine.Progress{Total: 879, Stored: 401, Had: 1, Retrying: 3, Open: 477}, Timelines: engine.Progress{Open: 342}, Triggered: at(79 * time.Second), Started: at(79 * time.Second),
	}
	fox := engine.AccountRow{
		ID: "d-fox", RiotID: "달빛 여우#DEMO", Platform: "kr", Region: "europe", Status: engine.Syncing, Job: "s-fox", Kind: "full", Queue: Full, Phase: engine.PhaseTimelines,
		Matches: engine.Progress{Total: 120, Stored: 118, Failed: 2}, Timelines: engine.Progress{Total: 118, Stored: 96, Open: 22}, Triggered: at(78 * time.Second), Started: at(78 * time.Second),
	}
	quick := engine.AccountRow{
		ID: "d-quick", RiotID: "Quick Match#DEMO", Platform: "euw1", Region: "europe", Status: engine.SyncCompleted, Result: "completed", Phase: engine.PhaseDone,
		Matches: engine.Progress{Total: 12, Stored: 12}, Started: at(77 * time.Second), Finished: at(17 * time.Second), LastSync: at(17 * time.Second),
	}
	return []engine.AccountRow{heron, fox, quick}
}

func demoJobs(line int) (rows []engine.JobRow) {
	for i, due := range []time.Duration{800 * time.Millisecond, 3 * time.Second, 11 * time.Second} {
		j := job(fmt.Sprintf("r%d", i), fmt.Sprintf("match:EUW1_%d", 6744474473+i*7919), engine.Retryable)
		j.Tries, j.Class, j.LastError, j.Due, j.Owner, j.Why = 1+i, "503", "503 service unavailable", Noon.Add(due), "d-heron", fmt.Sprintf("next try after %d failed", 1+i)
		rows = append(rows, j)
	}
	for i := range 3 {
		j := job(fmt.Sprintf("w%d", i), fmt.Sprintf("match:EUW1_%d", 6741269343+i), engine.Running)
		j.Tries, j.Started = 1, at(time.Duration(30+i*20)*time.Millisecond)
		rows = append(rows, j)
	}
	for i := range line {
		j := job(fmt.Sprintf("a%03d", i), fmt.Sprintf("match:EUW1_%d", 6700000000+i), engine.Available)
		j.Owner, j.Place, j.Line, j.Why = "d-heron", i+1, "full europe/match-v5.match", fmt.Sprintf("%dth in line", i+1)
		rows = append(rows, j)
	}
	for _, id := range []string{"s-heron", "s-fox"} {
		j := job(id, id, engine.Pending)
		j.Kind, j.Why = "account.sync", "waits for 477 other jobs"
		rows = append(rows, j)
	}
	return byPolicy(rows...)
}

// shownJobs are those that Watch tells of: in hand, and those that wait for an instant.
func shownJobs(jobs []engine.JobRow) []engine.JobRow {
	return slices.DeleteFunc(slices.Clone(jobs), func(j engine.JobRow) bool { return j.State == engine.Available && !j.InLineAgain() })
}

// demoPast is what the demo's accounts called in the last minute, by steps.
func demoPast() map[string][]int {
	past := map[string][]int{"d-heron": nil, "d-fox": nil, "d-quick": nil}
	// 42 calls a step are what 100 calls in 12 s allow; in step 7 the hold after the 429 took
	// half of the time.
	for i := range engine.ForecastPast {
		n := 42
		if i == 7 {
			n = 18
		}
		quick := 0
		if i < 9 {
			quick = 5
		}
		past["d-heron"] = append(past["d-heron"], (n-quick)*3/5)
		past["d-fox"] = append(past["d-fox"], n-quick-(n-quick)*3/5)
		past["d-quick"] = append(past["d-quick"], quick)
	}
	return past
}
