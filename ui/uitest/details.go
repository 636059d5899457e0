package uitest

import (
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// clock gives an instant of the scene's day.
func clock(h, m, s, ms int) time.Time {
	return time.Date(2026, 1, 20, h, m, s, ms*int(time.Millisecond), Zone)
}

// retryingDetail is the job of the inspector's mock-up: 500, a 429 that is free,
// 503, and two tries to come.
func retryingDetail() engine.JobDetail {
	row := job("j881", "match:KR_7214550881", engine.Retryable)
	row.Tries, row.Attempts, row.Holds, row.Class, row.LastError, row.Due = 2, 2, 1, "503", "503 service unavailable", clock(12, 31, 47, 0)
	row.Created = clock(12, 30, 4, 0)
	call := busyCalls(40)[5]
	return engine.JobDetail{
		Job: row, Account: "카인#KR1", MaxAttempts: 5, Policy: engine.DefaultPolicies()[engine.PolicyMatch], ShouldRetry: true, NextRetryAt: row.Due,
		Parents: []engine.JobID{"s-kain"}, Call: &call,
		Attempts: []engine.Attempt{
			{
				Number: 1, Round: 1, Try: 1, Start: clock(12, 30, 5, 104), End: clock(12, 30, 6, 294), Verb: engine.VerbRetry, Class: "500", Err: "500 internal error", Status: 500,
				Queued: 20 * time.Millisecond, Limiter: 1060 * time.Millisecond, HTTP: 110 * time.Millisecond, Next: clock(12, 30, 35, 200), Decision: "policy match step 1: 30s",
			},
			{
				Number: 2, Round: 1, Try: 2, Start: clock(12, 30, 46, 330), End: clock(12, 30, 47, 480), Verb: engine.VerbRetry, Class: "503", Err: "503 service unavailable", Status: 503,
				External: "0a1b2c3d", Queued: 10 * time.Millisecond, Limiter: 1020 * time.Millisecond, HTTP: 120 * time.Millisecond, Next: row.Due, Decision: "policy match step 2: 1m0s",
			},
		},
		History: []engine.Transition{
			{Seq: 1, At: row.Created, From: "", To: "available", Actor: "s-kain"},
			{Seq: 2, At: clock(12, 30, 5, 104), From: "available", To: "running"},
			{Seq: 3, At: clock(12, 30, 6, 294), From: "running", To: "retryable", Reason: "500 internal error"},
			{Seq: 4, At: clock(12, 30, 35, 200), From: "retryable", To: "available"},
			{Seq: 5, At: clock(12, 30, 35, 211), From: "available", To: "running"},
			{Seq: 6, At: clock(12, 30, 35, 321), From: "running", To: "scheduled", Reason: "throttled: 429 application, Retry-After 10 s"},
			{Seq: 7, At: clock(12, 30, 45, 400), From: "scheduled", To: "available"},
			{Seq: 8, At: clock(12, 30, 46, 330), From: "available", To: "running"},
			{Seq: 9, At: clock(12, 30, 47, 480), From: "running", To: "retryable", Reason: "503 service unavailable"},
		},
		Holds: []engine.Attempt{{
			Round: 1, Start: clock(12, 30, 35, 211), End: clock(12, 30, 35, 321), Verb: engine.VerbSnooze, Hold: engine.HoldThrottled, Class: "429.app", Err: "429 application, Retry-After 10 s",
			Status: 429, Queued: 10 * time.Millisecond, HTTP: 100 * time.Millisecond, Next: clock(12, 30, 45, 400), Decision: "Retry-After 10 s, no try used",
		}},
	}
}

func runningDetail() engine.JobDetail {
	row := job("j777", "match:KR_7214550777", engine.Running)
	row.Tries, row.Attempts, row.Started = 1, 1, at(400*time.Millisecond)
	return engine.JobDetail{
		Job: row, Account: "카인#KR1", MaxAttempts: 5, Policy: engine.DefaultPolicies()[engine.PolicyMatch],
		Attempts: []engine.Attempt{{Number: 1, Round: 1, Try: 1, Start: at(400 * time.Millisecond), Queued: 2 * time.Second}},
	}
}

func heldDetail() engine.JobDetail {
	row := job("j655", "match:KR_7214550655", engine.Scheduled)
	row.Hold, row.Due, row.Holds, row.Why, row.Until = engine.HoldThrottled, Noon.Add(8*time.Second), 1, "429 application, Retry-After 10 s", Noon.Add(8*time.Second)
	return engine.JobDetail{
		Job: row, Account: "카인#KR1", MaxAttempts: 5, Policy: engine.DefaultPolicies()[engine.PolicyMatch],
		Holds: []engine.Attempt{{
			Round: 1, Start: at(2 * time.Second), End: at(1900 * time.Millisecond), Verb: engine.VerbSnooze, Hold: engine.HoldThrottled, Class: "429.app", Status: 429,
			HTTP: 97 * time.Millisecond, Next: row.Due, Decision: "Retry-After 10 s, no try used",
		}},
	}
}

func discardedDetail() engine.JobDetail {
	row := job("j003", "match:KR_6011000003", engine.Discarded)
	row.Tries, row.Attempts, row.Class, row.LastError, row.Finished = 1, 1, "404", "404 not found (final)", at(11*time.Minute)
	return engine.JobDetail{
		Job: row, Account: "카인#KR1", MaxAttempts: 5, Policy: engine.DefaultPolicies()[engine.PolicyMatch],
		Attempts: []engine.Attempt{{
			Number: 1, Round: 1, Try: 1, Start: at(11*time.Minute + 200*time.Millisecond), End: at(11 * time.Minute), Verb: engine.VerbFail, Class: "404", Err: "404 not found (final)",
			Status: 404, Limiter: 90 * time.Millisecond, HTTP: 110 * time.Millisecond, Decision: "404 is final",
		}},
	}
}

// syncingDetail is the account of the detail mock-up.
func syncingDetail(row engine.AccountRow) engine.AccountDetail {
	d := engine.AccountDetail{
		Row:      row,
		ETA:      engine.ETA{Calls: 1621, Low: 16 * time.Minute, High: 19 * time.Minute, Bucket: "app:asia 100/120s", Known: true},
		Identity: []engine.Identity{{Project: "default", PUUID: row.PUUID}},
	}
	for i := range 40 {
		d.Waits = append(d.Waits, engine.Spent{Limiter: time.Duration(860+i*10) * time.Millisecond, HTTP: time.Duration(100+i) * time.Millisecond})
	}
	champions := []string{"Ahri", "Lee Sin", "Jinx", "Thresh", "K'Sante", "Nunu & Willump"}
	for i := range 60 {
		m := engine.MatchRow{
			ID: fmt.Sprintf("KR_%d", 7214550640+i*4), Status: "success", Timeline: "success", Attempts: 1, Played: at(time.Duration(60-i) * 55 * time.Minute),
			Duration: time.Duration(1400+i*37%900) * time.Second, QueueID: []int{420, 450, 440, 1700}[i%4], Mode: []string{"CLASSIC", "ARAM", "CLASSIC", "CHERRY"}[i%4],
			Champion: champions[i%len(champions)], Kills: i % 13, Deaths: i % 7, Assists: i % 19, Won: i%3 != 0, FetchedAt: at(time.Duration(60-i) * 1300 * time.Millisecond), LastAttemptAt: at(time.Duration(60-i) * 1300 * time.Millisecond), Bytes: 41000 + i*137,
		}
		switch i % 20 {
		case 8, 12:
			m.Status, m.Timeline, m.Champion, m.FetchedAt, m.LastError = "temporary_failure", "unfetched", "", time.Time{}, "503 service unavailable"
		case 19:
			m.Status, m.Timeline, m.Champion, m.FetchedAt, m.LastError = "permanently_unfetchable", "unfetched", "", time.Time{}, "404 not found"
		}
		d.Recent = append(d.Recent, m)
	}
	return d
}
