package forecast

import (
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// The one sentence is true of each state: what holds all of it comes before what holds
// the next calls.
func TestPaceSaysWhyItIsNotFaster(t *testing.T) {
	now := time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC)
	live := engine.EngineRow{State: engine.EngineLive, Workers: 6, InFlight: 2, Meter: engine.Meter{CallsPerMin: 480, P50: 62 * time.Millisecond}}
	queue := func(available, running, retryable, scheduled int) engine.QueueRow {
		return engine.QueueRow{QueueState: engine.QueueState{Name: "full"}, Counts: map[engine.State]int{
			engine.Available: available, engine.Running: running, engine.Retryable: retryable, engine.Scheduled: scheduled,
		}}
	}
	bucket := engine.BucketRow{Host: "europe", Kind: "app", Window: 12 * time.Second, Limit: 100, Used: 80, Waiting: 535, Paces: true}
	limits := func(edit func(*engine.BucketRow), more ...engine.BucketRow) engine.LimitsRow {
		b := bucket
		edit(&b)
		return engine.LimitsRow{At: now, Buckets: append([]engine.BucketRow{b}, more...)}
	}
	same := func(*engine.BucketRow) {}
	idle := limits(func(b *engine.BucketRow) { b.Waiting = 0 })
	busy, fresh := live, live
	busy.InFlight, fresh.SinceStart = 6, true
	early := live
	early.CallsPerMin = 8 // the others went in the minute before
	paused := queue(3, 0, 0, 0)
	paused.Paused = true
	latest, rank := paused, paused
	latest.Name, rank.Name = "latest", "rank"
	down, unreached := limits(same), engine.EngineRow{State: engine.EngineAPIDown, Why: "match calls to europe fail"}
	down.Breakers = []engine.BreakerRow{{Host: "europe", Method: "match-v5.match", Waiting: 540}}
	accounts := down
	accounts.Breakers = append([]engine.BreakerRow{{Host: "europe", Method: "account-v1.by-riot-id", Waiting: 24}}, down.Breakers...)
	everywhere := down
	everywhere.Breakers = append([]engine.BreakerRow{{Host: "asia", Method: "match-v5.match", Waiting: 396}, {Host: "asia", Method: "match-v5.timeline", Waiting: 7}}, down.Breakers...)
	alike := down
	alike.Breakers = append([]engine.BreakerRow{everywhere.Breakers[0]}, down.Breakers...)
	firing := early
	firing.Alerts = 1
	follows := live
	follows.Term = &engine.Term{Epoch: 6, Leader: "4711-9f3c on db-1"}
	told := follows
	told.Term = &engine.Term{Epoch: 6, Leader: "4711-9f3c on db-1", Pace: "94 calls wait for the 12 s window"}
	// Two workers whose answers take half a second: 4 of 500 used.
	slow := engine.EngineRow{State: engine.EngineLive, Workers: 2, InFlight: 2, Meter: engine.Meter{CallsPerMin: 240, P50: 500 * time.Millisecond}}
	later := queue(0, 0, 4, 2)
	later.Held = 2
	wide := func(b *engine.BucketRow) { b.Window, b.Limit, b.Used, b.Waiting = 10*time.Second, 500, 4, 90 }
	held := engine.BucketRow{Host: "europe", Method: "match-v5.match", Kind: "method", Waiting: 30, Blocked: now.Add(time.Minute), BlockedBy: "429 method"}
	fails, rests := limits(same), idle
	fails.Hosts = []engine.LimitHost{{Host: "kr", Failing: 4, FailedBy: "500"}, {Host: "europe", Failing: 3, FailedBy: "503"}}
	rests.Buckets = nil // as none is known while nothing was answered
	rests.Hosts = []engine.LimitHost{{Host: "europe", Failing: 2, FailedBy: "timeout"}}
	for want, c := range map[string]struct {
		e      engine.EngineRow
		q      engine.QueueRow
		limits engine.LimitsRow
	}{
		"the last 3 calls to europe failed (503)":                               {live, queue(535, 2, 3, 0), fails},
		"the last 2 calls to europe failed (timeout)":                           {live, queue(0, 0, 1, 0), rests},
		"every queue with work is paused":                                       {engine.EngineRow{State: engine.EnginePaused, Why: "every queue with work is paused"}, queue(1, 0, 0, 0), idle},
		"nothing to do: no job waits":                                           {live, queue(0, 0, 0, 0), idle},
		"nothing is stuck: 1 job waits for its next try":                        {live, queue(0, 0, 1, 2), idle},
		"nothing is stuck: 2 jobs wait, each for its time":                      {live, queue(0, 0, 0, 2), idle},
		"nothing is stuck: 2 jobs are held, each until its time":                {live, later, idle},
		"full is paused with 3 jobs":                                            {live, paused, idle},
		"4711-9f3c on db-1 leads, in term 6":                                    {follows, queue(535, 2, 3, 0), limits(same)},
		"94 calls wait for the 12 s window; 4711-9f3c on db-1 leads, in term 6": {told, queue(535, 2, 3, 0), limits(same)},
		"4 jobs wait for a worker":                                              {live, queue(4, 0, 0, 0), idle},
		"all 6 workers are busy: Riot answers in 62 ms":                         {busy, queue(9, 6, 0, 0), idle},
		"nothing waits for a limit: each call goes at once":                     {live, queue(0, 2, 0, 0), idle},
		"96 % of what the key allows; the 12 s window brakes":                   {live, queue(535, 2, 3, 0), limits(same)},
		"nothing is stuck: 535 calls wait for the 12 s window":                  {fresh, queue(535, 2, 3, 0), limits(same)},
		"nothing is stuck: 536 calls wait for the 12 s window":                  {early, queue(536, 2, 3, 0), limits(func(b *engine.BucketRow) { b.Waiting, b.Used = 536, 100 })},
		"nothing is stuck: 535 calls wait for europe's 12 s window":             {live, queue(535, 2, 3, 0), limits(same, engine.BucketRow{Host: "asia", Kind: "app", Used: 3})},
		"535 calls wait for europe's 12 s window":                               {firing, queue(1071, 2, 3, 0), limits(same, engine.BucketRow{Host: "asia", Kind: "app", Window: 12 * time.Second, Limit: 100, Used: 96, Waiting: 536, Paces: true})}, // the first host stays it
		"535 calls wait for the 12 s window":                                    {firing, queue(535, 2, 3, 0), limits(same)},
		"an operator's cap of 50 % brakes: 535 calls wait for the 12 s window":  {live, queue(535, 2, 3, 0), limits(func(b *engine.BucketRow) { b.Cap = 50 })},
		"a 429 application holds calls to europe: 535 wait":                     {live, queue(535, 2, 3, 0), limits(func(b *engine.BucketRow) { b.Blocked, b.BlockedBy = now.Add(3*time.Second), "429 application" })},
		"a 429 method holds match calls to europe: 30 wait":                     {live, queue(535, 2, 3, 0), limits(same, held)},
		"2 workers are too few for answers of 500 ms":                           {slow, queue(90, 2, 0, 0), limits(wide)},
		"match calls to europe fail: 538 jobs wait":                             {unreached, queue(535, 2, 3, 0), down}, // 535 in line, 3 retrying
		"match calls to europe fail: 540 jobs wait":                             {unreached, queue(600, 2, 3, 0), down},
		"match calls to asia, europe fail: 947 jobs wait":                       {unreached, queue(943, 2, 4, 0), everywhere},
		"match calls to asia, europe fail: 934 jobs wait":                       {unreached, queue(930, 2, 4, 0), alike},
		"calls to europe fail: 573 jobs wait":                                   {unreached, queue(564, 1, 9, 0), accounts},
		"match calls to europe fail":                                            {unreached, queue(0, 2, 3, 0), idle},
		"96 % of what the key allows; the 12 s window of match calls brakes":    {live, queue(535, 2, 3, 0), limits(func(b *engine.BucketRow) { b.Method = "match-v5.match" })},
		"latest is paused with 3 jobs; 535 calls wait for the 12 s window":      {fresh, queue(535, 2, 3, 0), limits(same)},
		"latest is paused with 3 jobs":                                          {live, queue(0, 2, 0, 0), idle},
		"2 queues are paused with 6 jobs":                                       {live, queue(0, 2, 0, 0), idle},
	} {
		queues := []engine.QueueRow{c.q}
		if strings.Contains(want, "latest") {
			queues = append(queues, latest)
		} else if strings.Contains(want, "queues") {
			queues = append(queues, latest, rank)
		}
		if got := Pace(c.e, queues, c.limits); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

// TestW5i_BusyForAMomentChangesNothing: workers that answer faster than the window lets calls through do not hold it up
// when all of them happen to be at work, and those that are too few do when one of them is between two jobs.
func TestW5i_BusyForAMomentChangesNothing(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	queues := []engine.QueueRow{{Counts: map[engine.State]int{engine.Available: 947, engine.Running: 5}}}
	for answer, want := range map[time.Duration]string{62 * time.Millisecond: "nothing is stuck: 947 calls wait for the 2 min window", 20 * time.Second: "5 workers are too few for answers of 20 s"} {
		for _, inFlight := range []int{5, 4} {
			got := Pace(engine.EngineRow{State: engine.EngineLive, Workers: 5, InFlight: inFlight, Meter: engine.Meter{CallsPerMin: 20, P50: answer}},
				queues, engine.LimitsRow{At: now, Buckets: []engine.BucketRow{{Host: "europe", Kind: "app", Window: 2 * time.Minute, Limit: 100, Used: 20, Waiting: 947, Paces: true}}})
			if got != want {
				t.Errorf("with answers in %v and %d calls: %s", answer, inFlight, got)
			}
		}
	}
}

// TestW5g_AFrozenMethodIsNoWindow: it lets nothing through, whatever room its windows have and however busy the workers
// are with others' calls.
func TestW5g_AFrozenMethodIsNoWindow(t *testing.T) {
	now := time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC)
	e := engine.EngineRow{State: engine.EngineLive, Workers: 6, InFlight: 6, Meter: engine.Meter{CallsPerMin: 480}}
	for want, thaws := range map[string]time.Time{
		"30 calls wait: match calls are frozen until somebody resumes them": {},
		"30 calls wait: match calls are frozen until 12:30 UTC":             now.Add(30 * time.Minute),
		"30 calls wait: match calls are frozen until 2026-01-21 12:00 UTC":  now.AddDate(0, 0, 1),
	} {
		limits := engine.LimitsRow{At: now, Buckets: []engine.BucketRow{
			{Host: "europe", Kind: "app", Window: 12 * time.Second, Limit: 100, Used: 80, Waiting: 535, Paces: true},
			{Host: "europe", Method: "match-v5.match", Kind: "method", Window: 10 * time.Second, Limit: 2000, Waiting: 30,
				BlockedBy: engine.BlockedFrozen, Thaws: thaws},
		}}
		if got := Pace(e, nil, limits); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
		limits.Buckets = append(limits.Buckets, engine.BucketRow{Host: "asia", Kind: "app", Used: 1})
		if got := Pace(e, nil, limits); !strings.Contains(got, "match calls to europe are frozen") {
			t.Errorf("of two hosts: %q", got)
		}
	}
}

// While a window is used up nothing goes, so that the end comes no later for each second of it.
func TestW6_AnEndStandsStillWhileNothingGoes(t *testing.T) {
	for _, reset := range []time.Duration{90 * time.Second, 10 * time.Second} {
		e := ETA(used(reset), MatchMethod, 677)
		if got, want := (e.High - reset).Round(time.Millisecond), 676*1200*time.Millisecond; got != want {
			t.Errorf("the even pace takes %v from the end of the window on, want %v", got, want)
		}
	}
}

// used is a window of 100 calls in 120 s that is used up, and ends so long from now.
type used time.Duration

func (u used) After(_ string, n int) (w Wait) {
	if n > 0 {
		w.Wait = time.Duration(u) + time.Duration((n-1)/100)*2*time.Minute
	}
	return w
}
func (u used) Turn(method string, n int) Wait { return u.After(method, n) }
func (used) Rate(string) (float64, string)    { return 100.0 / 120, "app:europe 120s" }

// Two workers whose answers take half a second make four calls a second, whatever the limits allow.
func TestW6_TheWorkersAreALimit(t *testing.T) {
	for _, tt := range []struct {
		workers int
		answer  time.Duration
		want    engine.ETA
	}{
		{2, 500 * time.Millisecond, engine.ETA{Calls: 360, Low: 90 * time.Second, High: 90 * time.Second, Bucket: "2 workers"}},
		{100, 500 * time.Millisecond, engine.ETA{Calls: 360, Low: 7 * time.Second, High: 7200 * time.Millisecond, Bucket: "app:europe 10s"}},
		{0, 500 * time.Millisecond, engine.ETA{Calls: 360, Low: 7 * time.Second, High: 7200 * time.Millisecond, Bucket: "app:europe 10s"}},
		{2, 0, engine.ETA{Calls: 360, Low: 7 * time.Second, High: 7200 * time.Millisecond, Bucket: "app:europe 10s"}},
	} {
		if got := ETA(ByWorkers(fifty{}, tt.workers, tt.answer), MatchMethod, 360); got != tt.want {
			t.Errorf("%d workers: %+v, want %+v", tt.workers, got, tt.want)
		}
	}
}

// fifty lets 500 calls go in 10 seconds.
type fifty struct{}

func (fifty) After(_ string, n int) Wait {
	return Wait{Wait: time.Duration(n) * 7 * time.Second / 360, Bucket: "app:europe 10s"}
}
func (fifty) Turn(string, int) Wait         { return Wait{} }
func (fifty) Rate(string) (float64, string) { return 50, "app:europe 10s" }

// TestV1r_AnOutageCountsWhatTheFiguresCount: with all endpoints of a key down in turn, what is in line and what retries.
func TestV1r_AnOutageCountsWhatTheFiguresCount(t *testing.T) {
	q := engine.QueueRow{Again: 3, Counts: map[engine.State]int{engine.Available: 268, engine.Retryable: 1, engine.Pending: 14}}
	l := engine.LimitsRow{Breakers: []engine.BreakerRow{{Host: "europe", Method: "account-v1.by-riot-id", Waiting: 24},
		{Host: "europe", Method: "match-v5.ids", Waiting: 39}, {Host: "europe", Method: "match-v5.match", Waiting: 205}}}
	e := engine.EngineRow{State: engine.EngineAPIDown}
	if got, want := Pace(e, []engine.QueueRow{q}, l), "calls to europe fail: 269 jobs wait"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	l.Breakers = l.Breakers[1:] // the others go on
	if got, want := Pace(e, []engine.QueueRow{q}, l), "match calls to europe fail: 244 jobs wait"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
