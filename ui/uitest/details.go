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
	call.Body = `{"status":{"message":"Service unavailable","status_code":503}}`
	call.Headers = []string{
		"Content-Type: application/json;charset=utf-8", "X-App-Rate-Limit-Count: " + call.App,
		"X-Method-Rate-Limit-Count: " + call.MethodUsed, "X-Riot-Edge-Trace-Id: 0a1b2c3d",
	}
	return engine.JobDetail{
		Job: row, Account: "카인#KR1", MaxAttempts: 5, Policy: engine.DefaultPolicies()[engine.PolicyMatch], ShouldRetry: true, NextRetryAt: row.Due,
		Parents: []engine.JobID{"s-kain"}, Call: &call,
		Attempts: []engine.Attempt{
			{
				Number: 1, Round: 1, Try: 1, Start: clock(12, 30, 5, 104), End: clock(12, 30, 6, 294), Verb: engine.VerbRetry, Class: "500", Err: "500 internal error", Status: 500,
				Queued: 20 * time.Millisecond, Limiter: 1060 * time.Millisecond, HTTP: 110 * time.Millisecond, Next: clock(12, 30, 35, 200), Decision: "policy match step 1: 30 s",
			},
			{
				Number: 2, Round: 1, Try: 2, Start: clock(12, 30, 46, 330), End: clock(12, 30, 47, 480), Verb: engine.VerbRetry, Class: "503", Err: "503 service unavailable", Status: 503,
				External: "0a1b2c3d", Queued: 10 * time.Millisecond, Limiter: 1020 * time.Millisecond, HTTP: 120 * time.Millisecond, Next: row.Due, Decision: "policy match step 2: 1 min",
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

// lateETA is of the timelines alone, which go behind all matches.
var lateETA = engine.ETA{Calls: 9, Low: 14 * time.Minute, High: 15 * time.Minute, Bucket: syncETA.Bucket, Known: true}

var syncETA = engine.ETA{Calls: 1621, Low: 16 * time.Minute, High: 19 * time.Minute, Bucket: "app:asia 100/120s", Known: true}

// syncingDetail is the account of the detail mock-up.
func syncingDetail(row engine.AccountRow) engine.AccountDetail {
	d := engine.AccountDetail{
		Row:      row,
		Report:   playReport(row.ID),
		ETA:      syncETA,
		Identity: []engine.Identity{{Project: "default", PUUID: row.PUUID}},
		Runs:     runs(row),
	}
	tried(&d)
	return d
}

// tried gives an account what was tried last of its matches.
func tried(d *engine.AccountDetail) {
	for i := range 40 {
		d.Waits = append(d.Waits, engine.Spent{
			Kind: "match.fetch", End: at(time.Duration(i) * 1300 * time.Millisecond), Line: time.Duration(31+i) * time.Second,
			Limiter: time.Duration(860+i*10) * time.Millisecond, HTTP: time.Duration(100+i) * time.Millisecond, Rest: time.Duration(4+i%3) * time.Millisecond,
		})
	}
	champions := []string{"Ahri", "Lee Sin", "Jinx", "Thresh", "K'Sante", "Heimerdinger"}
	for i := range 60 {
		m := engine.MatchRow{
			ID: fmt.Sprintf("KR_%d", 7214550640+i*4), Status: "success", Timeline: "success", Attempts: 1, Played: at(time.Duration(60-i) * 55 * time.Minute),
			Duration: time.Duration(1400+i*37%900) * time.Second, QueueID: []int{420, 450, 440, 1700}[i%4], Mode: []string{"CLASSIC", "ARAM", "CLASSIC", "CHERRY"}[i%4],
			Champion: champions[i%len(champions)], Kills: new(i % 13), Deaths: new(i % 7), Assists: new(i % 19), Won: new(i%3 != 0), FetchedAt: at(time.Duration(60-i) * 1300 * time.Millisecond), LastAttemptAt: at(time.Duration(60-i) * 1300 * time.Millisecond), Bytes: 41000 + i*137,
		}
		switch i % 20 {
		case 8, 12:
			m.Status, m.Timeline, m.Champion, m.FetchedAt, m.LastError = "temporary_failure", "unfetched", "", time.Time{}, "503 service unavailable"
		case 19:
			m.Status, m.Timeline, m.Champion, m.FetchedAt, m.LastError = "permanently_unfetchable", "unfetched", "", time.Time{}, "404 not found"
		}
		d.Recent = append(d.Recent, m)
	}
}

// storedMatches are the matches of one account, newest first, in every state.
func storedMatches() []engine.MatchRow {
	champions := []string{"Ahri", "Lee Sin", "Jinx", "Thresh", "K'Sante", "Heimerdinger"}
	rows := make([]engine.MatchRow, 60)
	for i := range rows {
		m := engine.MatchRow{
			ID: fmt.Sprintf("KR_%d", 7214550912-i*31), Status: "success", Timeline: "success", Attempts: 1, Played: at(time.Duration(1+i) * 43 * time.Minute),
			Duration: time.Duration(1400+i*37%900) * time.Second, QueueID: []int{420, 450, 440, 1700}[i%4], Champion: champions[i%len(champions)],
			Kills: new(i % 13), Deaths: new(i % 7), Assists: new(i % 19), Won: new(i%3 != 0), FetchedAt: at(time.Duration(i) * 1300 * time.Millisecond), Bytes: 41000 + i*137,
		}
		switch i % 20 {
		case 1, 11:
			m = engine.MatchRow{ID: m.ID, Status: "temporary_failure", Timeline: "unfetched", Attempts: 2, LastAttemptAt: at(20 * time.Second), LastError: "503 service unavailable"}
		case 4:
			m = engine.MatchRow{ID: m.ID, Status: "permanently_unfetchable", Timeline: "unfetched", Attempts: 1, LastAttemptAt: at(11 * time.Minute), LastError: "404 not found (final)"}
		case 7:
			m = engine.MatchRow{ID: m.ID, Status: "outside_retention_window", Timeline: "unfetched", Played: time.Date(2023, 10, 1, 20, 0, 0, 0, Zone)}
		case 9:
			m = engine.MatchRow{ID: m.ID, Status: "unfetched", Timeline: "unfetched"}
		}
		rows[i] = m
	}
	return rows
}

// playReport is somebody who plays in the evening, and long on weekends.
func playReport(account string) *engine.PlayReport {
	r := &engine.PlayReport{
		Account: account, Zone: "Asia/Seoul", Built: at(4 * time.Minute), Matches: 131, Missing: 3, LeftOut: 2,
		First: at(70 * 24 * time.Hour), Last: at(50 * time.Minute), ByQueue: map[int]int{420: 74, 450: 31, 440: 18, 1700: 8},
	}
	for d := range r.Minutes {
		for h := range r.Minutes[d] {
			evening := max(0, 50-abs(h-21)*9)
			if d >= 5 {
				evening = max(0, 95-abs(h-20)*9)
			}
			if h < 2 {
				evening += 20 + d*5
			}
			r.Minutes[d][h] = float64(evening)
			r.Games[d][h] = evening / 28
		}
	}
	return r
}

func abs(n int) int { return max(n, -n) }

// plans are schedules of every fate.
func plans() []engine.ScheduleRow {
	runs := func(first time.Time, every time.Duration) []time.Time {
		return []time.Time{first, first.Add(every), first.Add(2 * every)}
	}
	const day = 24 * time.Hour
	return []engine.ScheduleRow{
		{
			Name: "ingest.rank.daily", Expr: "0 3 * * *", Zone: "Asia/Seoul", ConfigExpr: "0 3 * * *", ConfigZone: "Asia/Seoul", Misfire: "once", Next: runs(clock(3, 0, 0, 0).Add(day), day), Outcome: "completed",
			Last: engine.ScheduleTick{Planned: clock(3, 0, 0, 0), At: clock(3, 0, 0, 120), Count: 1, Result: engine.TickRan, Job: "j017", Jobs: 6},
		},
		{
			Name: "ingest.summoner.latest", Expr: "@every 15m", Zone: "UTC", ConfigExpr: "@every 30m", ConfigZone: "UTC", Misfire: "skip",
			Edit: engine.ScheduleEdit{Expr: "@every 15m", Zone: "UTC", By: engine.Actor{User: "ben", Via: "cli"}, At: at(26 * time.Hour), Reason: "a tournament"},
			Next: runs(clock(12, 45, 0, 0), 15*time.Minute),
			Last: engine.ScheduleTick{Planned: clock(12, 30, 0, 0), At: clock(12, 30, 0, 40), Count: 1, Result: engine.TickSkipped, Reason: "the last run has not ended"},
			Skipped: []engine.ScheduleTick{
				{Planned: clock(12, 30, 0, 0), Count: 1, Result: engine.TickSkipped, Reason: "the last run has not ended"},
				{Planned: clock(9, 15, 0, 0), Last: clock(10, 0, 0, 0), Count: 4, Result: engine.TickMissed, Reason: "no engine ran"},
			},
		},
		{
			Name: "report.weekly", Expr: "0 6 * * 1", Zone: "Asia/Seoul", ConfigExpr: "0 6 * * 1", ConfigZone: "Asia/Seoul", Misfire: "once", Next: runs(clock(6, 0, 0, 0).Add(6*day), 7*day), Paused: true,
			By: engine.Actor{User: "ana", Via: "console"}, Since: at(2 * time.Hour), Reason: "moving the data directory",
		},
	}
}
