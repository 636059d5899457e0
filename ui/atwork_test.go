package ui

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/uitest"
)

// perSecond is how many calls the engine of atWork makes: at each tenth of a
// second an answer comes in, and everything that depends on it moves.
const perSecond = 10

// atWork is a console whose engine makes ten calls a second for two accounts of
// two regions, as the demo does: each answer counts in every window of its host, stores a
// match, frees a worker for the next job and shortens the queue. Like the hub it
// tells, when asked, all that happened since it was asked before.
type atWork struct {
	*uitest.Fake
	every   time.Duration // between two updates
	players int           // of more than one each call is for another, and no two matches are near each other
	demo    bool          // its calls are of two lines by turns, in windows of 12 s, with retries, a hold, and a sync that comes and goes
	wide    bool          // one account and the target of no call has letters of two cells
	began   time.Time
	jobs    map[engine.JobID]engine.JobRow
}

func newAtWork(every time.Duration, wide bool) *atWork {
	s := uitest.Busy()
	if !wide {
		for i := range s.Update.Accounts {
			s.Update.Accounts[i].RiotID = plainName(s.Update.Accounts[i].RiotID)
		}
	}
	return &atWork{Fake: uitest.New(s), every: every, wide: wide}
}

// plainName writes the Korean account of the scene with Latin letters.
func plainName(name string) string {
	if name == "카인#KR1" {
		return "Kain#KR1"
	}
	return name
}

// Watch yields the scene, and then what the time that passed has changed.
func (a *atWork) Watch(ctx context.Context) iter.Seq[engine.Update] {
	return func(yield func(engine.Update) bool) {
		a.began = time.Now()
		if !yield(a.Scene.Update) {
			return
		}
		a.jobs = map[engine.JobID]engine.JobRow{}
		for _, j := range a.Scene.Update.Jobs {
			a.jobs[j.ID] = j
		}
		done := 0
		for last := a.began; ; {
			if !await.Pause(ctx, time.Until(last.Add(a.every))) {
				return
			}
			now := time.Now()
			calls := int(now.Sub(a.began) * perSecond / time.Second)
			if !yield(a.since(done, calls, now)) {
				return
			}
			done, last = calls, now
		}
	}
}

// Find answers from the scene; the list of jobs is the line as it stands now.
func (a *atWork) Find(ctx context.Context, q engine.Query) (engine.Answer, error) {
	if _, ok := q.(engine.JobsQuery); !ok {
		return a.Fake.Find(ctx, q)
	}
	now := time.Now()
	calls := int(now.Sub(a.began) * perSecond / time.Second)
	return engine.JobsPage{Total: 732, Jobs: a.line(calls, 300, now)}, nil
}

// line are the jobs in hand and so many that wait behind them.
func (a *atWork) line(calls, behind int, now time.Time) []engine.JobRow {
	rows := make([]engine.JobRow, 4+behind)
	for i := range rows {
		j := a.Scene.Update.Jobs[0]
		j.ID, j.Key = engine.JobID(fmt.Sprintf("w%06d", calls+i)), fmt.Sprintf("match:KR_%d", 7214560000+(calls+i)*31)
		j.State, j.Tries, j.Started, j.Rev = engine.Running, 1, a.began.Add(time.Duration(calls+i-4)*time.Second/perSecond), 4
		if n := calls + i; a.players > 1 {
			j.Player = []string{"Night", "Silver", "Amber", "Jade"}[n%4] + " " + []string{"Heron", "Lynx", "Crow"}[n/4%3] + fmt.Sprint(n%a.players)
			j.Key = fmt.Sprintf("match:EUW1_%d", 6700000000+n*7_919_317%89_999_999)
		}
		if i >= 4 {
			j.State, j.Tries, j.Started, j.Rev, j.Place, j.Line = engine.Available, 0, time.Time{}, 1, i-3, "full asia/match-v5.match"
			j.Why, j.Until = fmt.Sprintf("app:asia %d/100", 60+calls%40), now.Truncate(2*time.Minute).Add(2*time.Minute)
		}
		if rows[i] = j; a.demo {
			a.inTurn(&rows[i], calls+i, i, now)
		}
	}
	return rows
}

// inTurn makes a row of the line the nth call of a demo: every other is of a collection, on another host.
func (a *atWork) inTurn(j *engine.JobRow, n, i int, now time.Time) {
	line := "ingest.summoner.full europe/match-v5.match"
	j.Key, j.Player, j.Owner, j.Queue = fmt.Sprintf("match:EUW1_%d", 6700000000+n*7_919_317%89_999_999), "", a.Scene.Update.Accounts[0].ID, "ingest.summoner.full"
	if n%2 > 0 {
		line = "collect.kr-solo-master+ asia/match-v5.match"
		j.Key, j.Owner, j.Queue = fmt.Sprintf("match:KR_%d", 6700000000+n*7_919_317%89_999_999), "", "collect.kr-solo-master+"
	}
	j.Kind, j.Created = "match.fetch", a.began.Add(-time.Duration(20+n%2)*time.Second)
	if i < 4 {
		return
	}
	j.Line, j.Place, j.Why, j.Until = line, (i-2)/2, "in line", a.began.Add(time.Duration(n-3)*time.Second/perSecond)
	if i == 4 && n%3 == 0 { // a worker has it
		j.Line, j.Place, j.Why = "", 0, engine.StartsNow
	}
}

// again are the jobs of a demo that are tried again: one of each two seconds, for twenty.
func (a *atWork) again(calls int, now time.Time) (rows []engine.JobRow) {
	for n := max(calls/20-9, 1); n <= calls/20; n++ {
		j := a.Scene.Update.Jobs[4]
		a.inTurn(&j, n*20+n%2, 0, now)
		j.ID, j.State, j.Tries, j.Class, j.Rev = engine.JobID(fmt.Sprintf("r%06d", n)), engine.Retryable, 1, "5xx", 5
		j.LastError = "riot: match-v5.match on europe: status " + []string{"503: Service unavailable", "500: Internal server error"}[n%2]
		failed := a.began.Add(time.Duration(n) * 2 * time.Second)
		j.Failed, j.Due = []time.Time{failed}, failed.Add(time.Duration(3+n*7%16)*time.Second)
		if !j.Due.After(now) {
			j.State, j.Line, j.Place, j.Until, j.Rev = engine.Available, "ingest.summoner.full europe/match-v5.match", 40, failed.Add(20*time.Second), 6
		}
		rows = append(rows, j)
	}
	return rows
}

// hostOf is the region of the n-th call: a burst of fifteen, then some for the other.
func hostOf(n int) string {
	if n%20 < 15 {
		return "asia"
	}
	return "europe"
}

// since is what an update says after the calls from done to calls.
func (a *atWork) since(done, calls int, now time.Time) engine.Update {
	u := engine.Update{Seq: uint64(5000 + calls)}
	row := *a.Scene.Update.Engine
	row.InFlight = 2 + calls*7%4
	row.Stored += int64(calls)
	row.Retrying = 9 + calls/20
	row.P50 = time.Duration(96+calls*7%40) * time.Millisecond
	row.CallsPerMin = float64(46 + calls%9)
	row.Spark = a.spark(calls, now)
	u.Engine, u.Limits = &row, a.limits(calls, now)
	u.Queues = a.queues(calls, now)
	for n := done; n < calls; n++ {
		u.Calls = append(u.Calls, a.call(n, calls, now))
		if n%20 == 0 {
			u.Logs = append(u.Logs, engine.LogRow{Seq: uint64(10_000 + n), At: now, Level: "warn", Area: "riot", Text: "503 service unavailable", Job: "j881"})
		}
	}
	u.Accounts = a.accounts(calls, now)
	u.Jobs, u.Gone = a.work(calls, now)
	return u
}

// spark is the calls of each five seconds: only the last column grows.
func (a *atWork) spark(calls int, now time.Time) []int {
	cells := make([]int, 24)
	age := int(now.Sub(a.began) / (5 * time.Second))
	for i := range cells {
		cells[i] = 40 + (age+i)*13%20
	}
	cells[len(cells)-1] = calls % 50
	return cells
}

// limits are all windows of both regions: what their calls have used of each since
// it began.
func (a *atWork) limits(calls int, now time.Time) *engine.LimitsRow {
	l := engine.LimitsRow{At: now}
	for _, b := range a.Scene.Update.Limits.Buckets {
		if b.Window > 0 && b.Limit > 0 {
			start := now.Truncate(b.Window)
			first := max(int(start.Sub(a.began)*perSecond/time.Second), 0)
			b.Used = 0
			for n := first; n < calls; n++ {
				if hostOf(n) == b.Host {
					b.Used++
				}
			}
			b.Used = min(b.Used, b.Limit)
			b.Reset, b.InFlight, b.Server = start.Add(b.Window), calls%3, max(b.Used-calls%2, 0)
			b.NextFree = time.Time{}
			b.Waiting = 0
		}
		if held := a.began.Add(20 * time.Second); a.demo && b.Host == "europe" && b.Kind == "app" && !now.Before(held) && now.Before(held.Add(3*time.Second)) {
			b.Blocked, b.BlockedBy = held.Add(3*time.Second), "429 application"
		}
		if b.Kind == "app" && b.Window > time.Second {
			b.Waiting, b.NextFree = 732-calls, now.Add(time.Duration(150+calls*37%300)*time.Millisecond)
		}
		l.Buckets = append(l.Buckets, b)
	}
	l.Waiting = []engine.WaiterRow{{Job: "j777", Host: "asia", Method: "match-v5", Since: now.Add(-300 * time.Millisecond), Until: now.Add(time.Duration(150+calls*37%300) * time.Millisecond), Reason: "app"}}
	return &l
}

// syncs reports whether the sync of a demo is open that begins in its sixth second and ends ten seconds later.
func (a *atWork) syncs(calls int) bool { return calls >= 6*perSecond && calls < 16*perSecond }

// queues shorten by one job a call; the reason of the head names the fill.
func (a *atWork) queues(calls int, now time.Time) []engine.QueueRow {
	rows := slices.Clone(a.Scene.Update.Queues)
	full := &rows[0]
	full.Counts = maps.Clone(full.Counts)
	full.Counts[engine.Available] -= calls
	full.Counts[engine.Running] = 2 + calls*7%4
	full.Counts[engine.Retryable] = 9 + calls/20
	full.Counts[engine.Pending] += page.Btoi(a.demo && a.syncs(calls))
	full.PerMin = float64(44 + calls%7)
	full.Why, full.Until = fmt.Sprintf("app:asia %d/100", 60+calls%40), now.Truncate(2*time.Minute).Add(2*time.Minute)
	return rows
}

func (a *atWork) call(n, calls int, now time.Time) engine.CallRow {
	c := engine.CallRow{
		Seq: uint64(100 + n), At: now.Add(-time.Duration(calls-n) * time.Second / perSecond), Host: hostOf(n), Method: "match-v5.match", Target: fmt.Sprintf("KR_%d", 7214560000+n*31),
		Job: engine.JobID(fmt.Sprintf("w%06d", n)), Status: 200, Took: time.Duration(96+n*7%40) * time.Millisecond, Paced: time.Duration(840+n*13%400) * time.Millisecond, PacedBy: "app:asia 100/120s",
		App: fmt.Sprintf("%d:1,%d:120", 1+n%20, 44+n%50), MethodUsed: fmt.Sprintf("%d:10", 1+n%12),
	}
	if n%20 == 0 {
		c.Status, c.Class = 503, "503"
	}
	return c
}

// accounts: one fetches its matches, the other its timelines.
func (a *atWork) accounts(calls int, now time.Time) []engine.AccountRow {
	heron, kain := a.Scene.Update.Accounts[0], a.Scene.Update.Accounts[1]
	asia := calls/20*15 + min(calls%20, 15)
	kain.Matches.Stored += asia
	kain.Matches.Open -= asia
	kain.Matches.Retrying = 9 + calls/20
	kain.Calls, kain.Updated = kain.Calls+asia, now
	heron.Timelines.Total = 900
	heron.Timelines.Stored += calls - asia
	heron.Timelines.Open = heron.Timelines.Total - heron.Timelines.Stored
	heron.Calls, heron.Updated = heron.Calls+calls-asia, now
	return []engine.AccountRow{heron, kain}
}

// work is what workers have in hand and what waits behind it, as far as it is not
// as it was: a job that ends makes room for the next, and the line moves up.
func (a *atWork) work(calls int, now time.Time) (changed []engine.JobRow, gone []engine.JobID) {
	want := map[engine.JobID]engine.JobRow{}
	for _, j := range a.line(calls, 6, now) {
		want[j.ID] = j
	}
	for _, j := range a.Scene.Update.Jobs {
		if j.State != engine.Running && j.State != engine.Available {
			if j.State == engine.Retryable && !j.Due.After(now) {
				j.Due = j.Due.Add(now.Sub(j.Due).Truncate(2*time.Minute) + 2*time.Minute)
				j.Rev++
			}
			want[j.ID] = j
		}
	}
	if a.demo {
		for _, j := range a.again(calls, now) {
			want[j.ID] = j
		}
		if a.syncs(calls) {
			j := a.Scene.Update.Jobs[0]
			j.ID, j.Key, j.State, j.Owner, j.Line, j.Rev = "s1", "full:x", engine.Pending, a.Scene.Update.Accounts[0].ID, "", 7
			want[j.ID] = j
		}
	} else if n := calls / 20; n > 0 { // every twentieth call is to be tried again
		j := a.Scene.Update.Jobs[4]
		j.ID, j.Key = engine.JobID(fmt.Sprintf("r%06d", n)), fmt.Sprintf("match:KR_%d", 7214560000+n*620)
		j.State, j.Tries, j.Class, j.LastError = engine.Retryable, 1, "503", "503 service unavailable"
		j.Due, j.Rev = a.began.Add(time.Duration(n)*2*time.Second+30*time.Second), 5
		want[j.ID] = j
	}
	for id, j := range want {
		if old, ok := a.jobs[id]; !ok || old.Rev != j.Rev || old.State != j.State || old.Place != j.Place || old.Why != j.Why {
			changed = append(changed, j)
		}
	}
	for id, j := range a.jobs {
		if _, ok := want[id]; !ok && (a.demo || j.Class == "") {
			gone = append(gone, id)
		} else if !ok {
			want[id] = j
		}
	}
	a.jobs = want
	return changed, gone
}
