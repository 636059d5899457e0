package uitest

import (
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// at is so long before the instant of all scenes.
func at(back time.Duration) time.Time { return Noon.Add(-back) }

// queue is a queue with so many jobs that may run, run, and wait for their next try.
func queue(name engine.Queue, wait, run, retry int) engine.QueueRow {
	return engine.QueueRow{
		QueueState: engine.QueueState{Name: name},
		Counts: map[engine.State]int{
			engine.Available: wait, engine.Running: run, engine.Retryable: retry,
		},
	}
}

func busyQueues() []engine.QueueRow {
	full := queue(Full, 732, 4, 9)
	full.PerMin, full.OldestDue = 44, at(16*time.Minute)
	full.Counts[engine.Scheduled], full.Held = 2, 2
	full.Counts[engine.Discarded] = 3
	full.Why, full.Until = "app:asia 97/100", Noon.Add(41*time.Second)
	latest := queue(Latest, 0, 0, 0)
	latest.PerMin = 2
	report := queue(Report, 1, 0, 0)
	report.Paused, report.By, report.Since = true, engine.Actor{User: "ana", Via: "console"}, at(2*time.Hour)
	return []engine.QueueRow{full, latest, queue(Rank, 0, 0, 0), report}
}

func busyEngine() engine.EngineRow {
	return engine.EngineRow{
		State: engine.EngineLive, Key: "…7f3a", KeySince: at(2*time.Hour + 46*time.Minute), Boot: "01JH", Started: at(3 * time.Hour),
		Workers: 5, InFlight: 4, Stored: 12406, Failed: 3, TooOld: 41, Waiting: toCome(busyAccounts()), Retrying: 9,
		Meter: engine.Meter{
			CallsPerMin: 46, Spark: []int{1, 2, 3, 5, 5, 4, 4, 6, 5, 4, 3, 4, 5, 5}, P50: 118 * time.Millisecond, Throttled: 2, Unforeseen: 1,
		},
	}
}

func busyAccounts() []engine.AccountRow {
	heron := engine.AccountRow{
		ID: "a-heron", RiotID: "Blue Heron#KR1", Platform: "kr", Region: "asia", PUUID: "8QfA1b2c3d4e5f6g7h8i9jx2c", Status: engine.Syncing, Job: "s-heron",
		Kind: "full", Queue: Full, Phase: engine.PhaseTimelines, Pages: 3, Listed: 300, Calls: 318, Resumed: 1, ResumedAt: 290,
		Matches: engine.Progress{Total: 300, Stored: 259, Had: 41}, Timelines: engine.Progress{Total: 300, Stored: 291, Open: 9},
		Triggered: at(18 * time.Minute), Started: at(17 * time.Minute), Updated: at(time.Second),
	}
	kain := engine.AccountRow{
		ID: "a-kain", RiotID: "카인#KR1", Platform: "kr", Region: "asia", PUUID: "3MnQ7r8s9t0u1v2w3x4y5zk9d", Status: engine.Syncing, Job: "s-kain",
		Kind: "full", Queue: Full, Phase: engine.PhaseMatches, Pages: 9, Listed: 879, Calls: 152, Throttled: 2, Resumed: 1, ResumedAt: 134,
		Matches:   engine.Progress{Total: 879, Stored: 131, Retrying: 9, Failed: 3, Open: 745},
		Timelines: engine.Progress{Total: 131, Open: 131},
		Triggered: at(17*time.Minute + 33*time.Second), Started: at(17*time.Minute + 33*time.Second), Updated: at(2 * time.Second),
	}
	nightjar := engine.AccountRow{
		ID: "a-night", RiotID: "Nightjar#KR1", Platform: "kr", Region: "asia", Status: engine.SyncPending, Job: "s-night", Kind: "full", Queue: Full,
		Phase: engine.PhaseResolve, Matches: engine.Progress{Total: -1}, Triggered: at(40 * time.Second), LastSync: at(48 * time.Hour),
	}
	oslo := engine.AccountRow{
		ID: "a-oslo", RiotID: "Oslo Fox#EUW", Platform: "euw1", Region: "europe", Status: engine.SyncCompleted, Job: "s-oslo", Kind: "latest", Queue: Latest,
		Phase: engine.PhaseDone, Matches: engine.Progress{Total: 412, Stored: 18, Had: 394}, Timelines: engine.Progress{Total: 18, Stored: 18}, Tracked: true,
		Calls: 37, Started: at(3*time.Hour + 24*time.Minute), Finished: at(3*time.Hour + 22*time.Minute), LastSync: at(3*time.Hour + 22*time.Minute), Result: "completed",
	}
	wren := engine.AccountRow{
		ID: "a-wren", RiotID: "Winter Wren#NA1", Platform: "na1", Region: "americas", Status: engine.SyncFailed, Job: "s-wren", Kind: "full", Queue: Full,
		Phase: engine.PhaseList, Matches: engine.Progress{Total: 220, Stored: 76, Failed: 12, Open: 132}, Calls: 101, Finished: at(33 * time.Minute), Started: at(50 * time.Minute),
		LastSync: at(26 * time.Hour), Result: "failed", LastError: "riot: americas match-v5.ids: status 503: Service unavailable",
	}
	quiet := engine.AccountRow{ID: "a-quiet", RiotID: "Quiet Brook#EUNE", Platform: "eun1", Region: "europe", Tracked: true, Matches: engine.Progress{Total: -1}}
	return []engine.AccountRow{heron, kain, nightjar, oslo, wren, quiet}
}

// job is a match of 카인#KR1 that was listed 16 minutes ago; what differs is said by whoever makes one.
func job(id, key string, s engine.State) engine.JobRow {
	return engine.JobRow{Job: engine.Job{
		ID: engine.JobID(id), Rev: 3, Kind: "match.fetch", Queue: Full, Key: key, Owner: "a-kain", State: s, Policy: engine.PolicyMatch,
		Round: 1, Created: at(16 * time.Minute), Priority: engine.PriorityHigh,
	}}
}

func busyJobs() []engine.JobRow {
	var rows []engine.JobRow
	run := func(id, key string, since time.Duration) {
		j := job(id, key, engine.Running)
		j.Tries, j.Attempts, j.Started, j.Boot, j.Worker = 1, 1, at(since), "01JH", 1+len(rows)
		rows = append(rows, j)
	}
	retry := func(id, key string, tries int, due time.Duration, class engine.Class, text string) {
		j := job(id, key, engine.Retryable)
		j.Tries, j.Attempts, j.Due, j.Class, j.LastError, j.Started = tries, tries, Noon.Add(due), class, text, at(49*time.Second)
		j.Worker = 1 + tries
		for i := range tries { // the first failed as long ago as the waits since add up to
			failed := j.Started.Add(time.Second)
			for _, d := range engine.DefaultPolicies()[engine.PolicyMatch].Delays[i : tries-1] {
				failed = failed.Add(-d)
			}
			j.Failed = append(j.Failed, failed)
		}
		rows = append(rows, j)
	}
	run("j777", "match:KR_7214550777", 400*time.Millisecond)
	run("j778", "match:KR_7214550778", 120*time.Millisecond)
	run("j779", "match:KR_7214550779", 90*time.Millisecond)
	run("j780", "timeline:KR_7214550641", 1300*time.Millisecond)
	retry("j881", "match:KR_7214550881", 2, 12*time.Second, "503", "503 service unavailable")
	retry("j902", "match:KR_7214550902", 1, 31*time.Second, "500", "500 internal error")
	for i := range 7 {
		retry(fmt.Sprintf("j91%d", i), fmt.Sprintf("match:KR_72145509%d1", i), 1+i%4, time.Duration(45+i*37)*time.Second, "503", "503 service unavailable")
	}
	held := job("j655", "match:KR_7214550655", engine.Scheduled)
	held.Hold, held.Due, held.Holds, held.Why, held.Until = engine.HoldThrottled, Noon.Add(8*time.Second), 1, "429 application, Retry-After 10 s", Noon.Add(8*time.Second)
	rows = append(rows, held)
	for i := range 6 {
		j := job(fmt.Sprintf("j95%d", i), fmt.Sprintf("match:KR_721455095%d", i), engine.Available)
		j.Why, j.Until, j.Place, j.Line = "app:asia 97/100", Noon.Add(41*time.Second), i+1, "full asia/match-v5.match"
		rows = append(rows, j)
	}
	parent := job("s-kain", "full:a-kain", engine.Pending)
	parent.Kind, parent.Why, parent.Group = "account.sync", "waits for 745 of 879 matches", 1
	parent.By, parent.Worker, parent.Bytes = "ana", 2, 3120
	dead := job("j003", "match:KR_6011000003", engine.Discarded)
	dead.Tries, dead.Attempts, dead.Class, dead.LastError, dead.Finished = 1, 1, "404", "404 not found (final)", at(11*time.Minute)
	gone := job("j017", "latest:a-oslo", engine.Cancelled)
	gone.Kind, gone.Queue, gone.Finished, gone.LastError = "account.sync", Latest, at(2*time.Hour), "cancelled by ana"
	gone.By = "ana"
	return byPolicy(append(rows, parent, dead, gone)...)
}

// byPolicy adds what the retry policies that ship say, as an engine would.
func byPolicy(rows ...engine.JobRow) []engine.JobRow {
	for i := range rows {
		rows[i] = engine.DefaultPolicies().Row(rows[i])
	}
	return rows
}

// bucket is a window in which we and the server count the same.
func bucket(host, method, kind string, window time.Duration, used, limit int, reset time.Duration) engine.BucketRow {
	return engine.BucketRow{Host: host, Method: method, Kind: kind, Window: window, Used: used, Limit: limit, Server: used, Reset: Noon.Add(reset), Mode: "sliding"}
}

func busyLimits() engine.LimitsRow {
	app := bucket("asia", "", "app", 2*time.Minute, 83, 100, 41*time.Second)
	app.Server, app.Foreign, app.InFlight, app.Waiting, app.Paces = 84, 1, 4, 3, true
	summoner := bucket("kr", "summoner-v4", "method", time.Minute, 1600, 1600, 12*time.Second)
	summoner.NextFree, summoner.Waiting = Noon.Add(12*time.Second), 3
	service := engine.BucketRow{Host: "asia", Method: "match-v5", Kind: "service", Server: -1, Blocked: Noon.Add(30 * time.Second), BlockedBy: "429 service", Mode: "sliding"}
	first := bucket("asia", "", "app", time.Second, 17, 20, 400*time.Millisecond)
	return engine.LimitsRow{
		Hosts: []engine.LimitHost{{Host: "asia", Learnt: at(16 * time.Minute), Blind: 2}, {Host: "europe", Learnt: at(3 * time.Hour)}, {Host: "kr", Learnt: at(17 * time.Minute), Blind: 1}},
		At:    Noon,
		Buckets: []engine.BucketRow{
			first, app,
			bucket("asia", "match-v5", "method", 10*time.Second, 12, 2000, 8100*time.Millisecond),
			service, summoner,
			bucket("europe", "", "app", time.Second, 0, 20, 0), bucket("europe", "", "app", 2*time.Minute, 18, 100, 62*time.Second),
		},
		Waiting: []engine.WaiterRow{
			{Job: "j777", Host: "asia", Method: "match-v5", Since: at(400 * time.Millisecond), Until: Noon.Add(700 * time.Millisecond), Reason: "app:asia 83/100"},
		},
	}
}

func busyCalls(n int) []engine.CallRow {
	calls := make([]engine.CallRow, n)
	for i := range calls {
		back := time.Duration(n-i)*1100*time.Millisecond + 320*time.Millisecond
		c := engine.CallRow{
			Seq: uint64(i + 1), At: at(back), Host: "asia", Method: "match-v5", Target: fmt.Sprintf("KR_%d", 7214550900+i), Job: "j777", Try: 1, Asked: at(16 * time.Minute), Status: 200,
			Took: time.Duration(96+i*7%40) * time.Millisecond, Paced: time.Duration(840+i*13%400) * time.Millisecond, PacedBy: "app:asia 100/120s",
			App: fmt.Sprintf("%d:1,%d:120", 1+i%20, 44+i), MethodUsed: fmt.Sprintf("%d:10", 1+i%12),
		}
		switch i % 17 {
		case 5:
			c.Status, c.Class, c.Target, c.Job, c.Try = 503, "503", "KR_7214550881", "j881", 2
		case 11:
			c.Status, c.Class, c.RetryAfter, c.Unforeseen, c.Paced = 429, "429.app", 10*time.Second, i > 20, 0
		case 14:
			c.Status, c.Class, c.Took = 0, "timeout", 10*time.Second
		}
		calls[i] = c
	}
	return calls
}
