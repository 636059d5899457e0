package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/cron"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

var schedules = ingest.SchedulesConfig{Latest: ingest.CronLatest, Rank: ingest.CronRank, Weekly: ingest.CronWeekly}

// fire runs a schedule's tick of this instant, as the schedule itself would.
func (r *rig) fire(name string) (f cron.Fired) {
	r.t.Helper()
	return r.fireBy(schedules, name)
}

// fireBy is fire with a configuration of its own.
func (r *rig) fireBy(c ingest.SchedulesConfig, name string) (f cron.Fired) {
	r.t.Helper()
	for _, s := range r.in.Schedules(c) {
		if s.Name != name {
			continue
		}
		must(r.t, r.db.Write(context.Background(), func(tx engine.Tx) (err error) {
			plan, err := cron.Parse(s.Expr, s.Zone)
			must(r.t, err)
			f, err = s.Fire(tx, cron.Tick{Schedule: name, Planned: time.Now().UTC(), At: time.Now().UTC(), Every: plan.Every(time.Now())})
			return err
		}))
		return f
	}
	r.t.Fatalf("there is no schedule %s", name)
	return f
}

// track tracks an account.
func (r *rig) track(riotID string, ask engine.SyncAsk) engine.Receipt {
	r.t.Helper()
	ask.Platform = "euw1"
	out, err := r.in.Track(context.Background(), riotID, ask)
	must(r.t, err)
	return out
}

// ends waits until the live job of a key has ended, and gives it.
func (r *rig) ends(key string, within time.Duration) engine.Job {
	r.t.Helper()
	for range within / (100 * time.Millisecond) {
		if j := r.detail(key).Job.Job; j.State.Terminal() {
			return j
		}
		time.Sleep(100 * time.Millisecond)
	}
	r.t.Fatalf("%s after %v: %+v", key, within, r.detail(key).Job.Job)
	return engine.Job{}
}

func TestS4_13_TheSchedulesAreThoseOfTheSpecification(t *testing.T) {
	in := ingest.New(ingest.Options{Prune: func(context.Context) (string, error) { return "", nil }})
	when := map[string]string{}
	for _, s := range in.Schedules(schedules) {
		when[s.Name] = s.Expr
	}
	want := map[string]string{
		"latest": "0 */1 * * *", "rank.daily": "0 3 * * *", "report.weekly": "0 4 * * 1", "sweep": "17 * * * *", "prune": "40 4 * * *",
	}
	if fmt.Sprint(when) != fmt.Sprint(want) {
		t.Errorf("%v", when)
	}
	if _, err := cron.New(cron.Options{Specs: in.Schedules(schedules)}); err != nil {
		t.Error(err)
	}
	off := schedules
	off.Off = true
	if left := in.Schedules(off); len(left) != 2 || left[0].Name != "sweep" {
		t.Errorf("SCHEDULE_ENABLE=false leaves %d schedules", len(left))
	}
}

func TestS4_1_LatestFetchesTheNewestTwentyOfAMonth(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{short("Ana#EUW", 60), {RiotID: "Ben#EUW", Platform: route.EUW1, Matches: 12, Span: 110 * 24 * time.Hour, Shapes: []sim.Shape{"aborted"}}}})
		r := start(t, s)
		r.track("Ana#EUW", engine.SyncAsk{})
		r.track("Ben#EUW", engine.SyncAsk{})
		if f := r.fire("latest"); f.Jobs != 2 || f.Reason != "" || f.Job == "" {
			t.Fatalf("%+v", f)
		}
		ana, ben := r.settle("Ana#EUW", time.Minute), r.settle("Ben#EUW", time.Minute)
		if ana.Queue != ingest.QueueLatest || ana.Kind != ingest.ModeLatest || ana.Matches.Stored != 20 || ana.Result != "completed" {
			t.Errorf("Ana: %+v", ana)
		}
		if ben.Matches.Total != 3 && ben.Matches.Total != 4 { // a game every ten days
			t.Errorf("Ben: %+v", ben.Matches)
		}
		if f := r.fire("latest"); f.Jobs != 0 || f.Reason != "no tracked account is due" {
			t.Errorf("a minute later: %+v", f)
		}
		time.Sleep(time.Hour)
		if f := r.fire("latest"); f.Jobs != 1 && f.Jobs != 2 {
			t.Errorf("an hour later: %+v", f)
		}
		r.settle("Ana#EUW", time.Minute)
		r.settle("Ben#EUW", time.Minute)
	})
}

func TestP25_LatestIsSkippedWhileTheAccountIsBeingSynced(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Limits: slow, Players: []sim.PlayerSpec{short("Ana#EUW", 30), short("Ben#EUW", 2)}}))
		r.track("Ana#EUW", engine.SyncAsk{})
		job := r.trigger("Ana#EUW", engine.SyncAsk{}).Job
		r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Status == engine.Syncing })
		want := fmt.Sprintf("the full sync of Ana#EUW still runs (job %s)", job)
		if f := r.fire("latest"); f.Jobs != 0 || f.Reason != want || f.Job != job {
			t.Errorf("%+v, want the reason %q", f, want)
		}
		r.track("Ben#EUW", engine.SyncAsk{})
		if f := r.fire("latest"); f.Jobs != 1 || f.Reason != want || f.Job == job {
			t.Errorf("with another account: %+v", f)
		}
		if row := r.row("Ana#EUW"); row.Job != job {
			t.Errorf("the tick changed the account: %+v", row)
		}
		r.settle("Ana#EUW", time.Hour)
		r.settle("Ben#EUW", time.Hour)
	})
}

func TestS1_12_ASwitchTurnsSchedulesOff(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{short("Ana#EUW", 1)}}), func(s *setup) { s.ingest.SyncOff = true })
		r.track("Ana#EUW", engine.SyncAsk{})
		for _, name := range []string{"latest", "rank.daily"} {
			if f := r.fire(name); f.Jobs != 0 || !strings.Contains(f.Reason, "SYNC_ENABLE") {
				t.Errorf("%s: %+v", name, f)
			}
		}
	})
}

func TestS4_4_UnknownFieldsOfAPayloadAreRejected(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{short("Ana#EUW", 1)}}))
		for kind, args := range map[engine.Kind]string{
			ingest.KindSync:    `{"account":"a","run":"b","mode":"latest","platform":"euw1","timelines":"all","countt":20}`,
			ingest.KindMatch:   `{"match":"EUW1_1","surprise":true}`,
			ingest.KindRank:    `{"account":"a","platform":"euw1","queue":"solo"}`,
			ingest.KindWeekly:  `{"week":"2026-11-17"}`, // a Tuesday
			ingest.KindResolve: `{"account":"a","platform":"mars"}`,
			ingest.KindSweep:   `{"all":true}`,
		} {
			_, err := r.backend.Insert(context.Background(), engine.Spec{Kind: kind, Queue: ingest.QueueUpkeep, Key: string(kind), Args: []byte(args)})
			must(t, err)
			if j := r.ends(string(kind), time.Minute); j.State != engine.Discarded || j.Class != "args" || j.Attempts != 1 {
				t.Errorf("%s: %s, %s %q", kind, j.State, j.Class, j.LastError)
			}
		}
		if n := len(r.sim.Calls(0, 10)); n != 0 {
			t.Errorf("%d calls were made", n)
		}
	})
}

func TestW12b_TheScheduleOrANamedCadence(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		week := 7 * 24 * time.Hour
		idle := sim.PlayerSpec{RiotID: "Idle#EUW", Platform: route.EUW1, Matches: 1, Shapes: []sim.Shape{"normal"}}
		r := start(t, newSim(sim.Options{Epoch: time.Now().Add(-2 * week), Players: []sim.PlayerSpec{idle, player("Own#EUW", 1), player("Plain#EUW", 1)}}))
		r.track("Idle#EUW", engine.SyncAsk{Policy: "cadence=adaptive"})
		r.track("Own#EUW", engine.SyncAsk{Policy: "cadence=2h"})
		r.fire("latest")
		r.settle("Idle#EUW", time.Minute)
		r.settle("Own#EUW", time.Minute)
		starts := 0
		for range 12 {
			time.Sleep(time.Hour)
			starts += r.fire("latest").Jobs
			r.settle("Idle#EUW", time.Minute)
			r.settle("Own#EUW", time.Minute)
		}
		if starts != 6+1 { // every two hours, and once in twelve
			t.Errorf("%d runs in twelve hours", starts)
		}
		// Nobody has asked for another cadence: each run looks at it.
		r.track("Plain#EUW", engine.SyncAsk{})
		for range 3 {
			if f := r.fire("latest"); f.Jobs == 0 || !strings.Contains(f.Reason, "not due by a cadence of their own") {
				t.Errorf("%+v", f)
			}
			r.settle("Plain#EUW", time.Minute)
			time.Sleep(10 * time.Minute)
		}
		_, err := r.in.Untrack(context.Background(), "Plain#EUW", "")
		must(t, err)
		f, err := r.in.Freshness(context.Background())
		must(t, err)
		if f.Accounts != 2 || f.Lates != 0 || len(f.Regions) != 1 || f.Regions[0].Allowed < 1000 || f.Regions[0].Needs <= 1 {
			t.Errorf("%+v", f)
		}
		if !strings.HasPrefix(f.Text, "needs ") || !strings.HasSuffix(f.Text, " calls per hour in europe") {
			t.Errorf("%q", f.Text)
		}
		time.Sleep(5 * time.Hour)
		f, err = r.in.Freshness(context.Background())
		must(t, err)
		if f.Lates != 1 || f.Late[0].RiotID != "Own#EUW" || f.Late[0].Cadence != 2*time.Hour {
			t.Errorf("five hours later: %+v", f)
		}
	})
}

func TestPolicy_QueuesTimelinesLookbackAndPriority(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{{RiotID: "Ana#EUW", Platform: route.EUW1, Matches: 60}}}))
		// The tag says all but the timelines, which the account itself says.
		r.track("", engine.SyncAsk{Tags: []string{"pro"}, Policy: "queues=420,440 lookback=15d timelines=all priority=4"})
		r.track("Ana#EUW", engine.SyncAsk{Tags: []string{"pro"}, Policy: "timelines=none"})
		r.trigger("Ana#EUW", engine.SyncAsk{})
		row := r.settle("Ana#EUW", time.Hour)
		if row.Policy != "timelines=none" || row.Timelines.Total != 0 || r.calls(route.Timeline) != 0 || row.Matches.Stored == 0 {
			t.Errorf("%+v", row)
		}
		floor := time.Now().Add(-15*24*time.Hour - time.Minute)
		r.read(func(tx engine.Tx) error {
			for g, err := range r.db.Games(tx, row.ID) {
				must(t, err)
				if g.QueueID == 0 { // aborted: its payload tells nothing
					continue
				}
				if g.QueueID != 420 && g.QueueID != 440 || g.Played.Before(floor) {
					t.Errorf("%+v does not fit the policy", g)
				}
				if j := r.detail("match:" + g.Match).Job.Job; j.Priority != 4 {
					t.Errorf("job of %s has priority %d", g.Match, j.Priority)
				}
			}
			return nil
		})
		if got := r.calls(route.MatchIDs); got != 6 { // one list per queue, and twice what lies behind it
			t.Errorf("%d pages", got)
		}
		lists := func() (n int) {
			r.read(func(tx engine.Tx) error {
				for _, l := range []string{"queue=420", "queue=440"} {
					c, err := r.db.Coverage(tx, row.ID, l)
					must(t, err)
					if c.Head != "" && !c.Floor.IsZero() {
						n++
					}
				}
				a, err := r.db.Account(tx, row.ID)
				must(t, err)
				if a.Coverage != (league.Coverage{}) {
					t.Errorf("the range of all games is %+v, though only some were listed", a.Coverage)
				}
				return nil
			})
			return n
		}
		if lists() == 0 {
			t.Error("no list has a known range")
		}
		// Without the policy everything is listed: what is stored is kept.
		r.track("Ana#EUW", engine.SyncAsk{Policy: "queues=450"})
		r.track("", engine.SyncAsk{Tags: []string{"pro"}, Policy: "default"})
		time.Sleep(10 * time.Minute)
		r.trigger("Ana#EUW", engine.SyncAsk{})
		if again := r.settle("Ana#EUW", time.Hour); again.Matches.Total == row.Matches.Total && again.Matches.Had > 0 {
			t.Errorf("after the change: %+v", again.Matches)
		}
	})
}

func TestPolicyThatMakesNoSenseIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{}))
		for _, ask := range []engine.SyncAsk{
			{Policy: "queues=solo"}, {Policy: "lookback=0"}, {Policy: "timelines=some"}, {Policy: "cadence=1m"}, {Policy: "priority=9"},
			{Policy: "speed=11"}, {Policy: "type=ranked type=normal"}, {Tags: []string{"a,b"}}, {Tags: []string{strings.Repeat("x", 41)}},
		} {
			ask.Platform = "euw1"
			_, err := r.in.Track(context.Background(), "Ana#EUW", ask)
			wantProblem(t, err, engine.ErrInvalid)
		}
		_, err := r.in.Track(context.Background(), "", engine.SyncAsk{Tags: []string{"pro"}})
		wantProblem(t, err, engine.ErrInvalid)
	})
}

func TestS4_8_AListingAnswersForFiveMinutes(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 30)}}), func(s *setup) { s.ingest.Cooldown = -1 })
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		r.settle("Ana#EUW", time.Minute)
		pages := r.calls(route.MatchIDs)
		r.trigger("Ana#EUW", engine.SyncAsk{Mode: ingest.ModeLatest, Timelines: "none", Count: 7})
		if row := r.settle("Ana#EUW", time.Minute); row.Matches.Had != 7 || r.calls(route.MatchIDs) != pages || r.calls(route.AccountByRiotID) != 1 {
			t.Errorf("a slice of the listing: %+v, %d calls", row.Matches, r.calls(route.MatchIDs)-pages)
		}
		r.trigger("Ana#EUW", engine.SyncAsk{Mode: ingest.ModeLatest, Timelines: "none", Count: 7, Force: true})
		r.settle("Ana#EUW", time.Minute)
		if r.calls(route.MatchIDs) != pages+1 {
			t.Error("a forced sync did not ask Riot")
		}
		time.Sleep(6 * time.Minute)
		r.trigger("Ana#EUW", engine.SyncAsk{Mode: ingest.ModeLatest, Timelines: "none", Count: 7})
		r.settle("Ana#EUW", time.Minute)
		if r.calls(route.MatchIDs) != pages+2 || r.calls(route.Match) != 30 {
			t.Error("six minutes later nobody asked Riot, or a stored match was fetched again")
		}
	})
}

func TestP24_ADayOfSchedulesOnTheRealStore(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		hours := scratch.Sized(25, 49)
		time.Sleep(time.Duration(69-hours) * time.Hour)
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{short("Ana#EUW", 3), short("Ben#EUW", 2)}}), func(s *setup) { s.ingest.Zone = time.UTC })
		r.track("Ana#EUW", engine.SyncAsk{Policy: "cadence=1h"})
		r.track("Ben#EUW", engine.SyncAsk{Policy: "cadence=1d"})
		run := func(c ingest.SchedulesConfig, d time.Duration) []engine.ScheduleRow {
			t.Helper()
			runner, err := cron.New(cron.Options{Store: r.db, Specs: r.in.Schedules(c)})
			must(t, err)
			ctx, stop := context.WithCancel(context.Background())
			done := make(chan error, 1)
			go func() { done <- runner.Run(ctx) }()
			time.Sleep(d)
			stop()
			must(t, <-done)
			return runner.List()
		}
		rows := run(schedules, time.Duration(hours)*time.Hour+30*time.Minute) // from Sunday 8:00, or Saturday, to Monday 9:30
		done := map[engine.Kind]int{}
		q := engine.JobsQuery{Ended: true, Page: engine.Page{Limit: 500}}
		for {
			jobs, next, _, err := r.db.Jobs(context.Background(), q)
			must(t, err)
			for _, j := range jobs {
				if j.State == engine.Completed {
					done[j.Kind]++
				}
			}
			if q.After = next; next == "" {
				break
			}
		}
		// Each hour Ana, each day Ben; a morning of ranks a day; one report.
		days := hours / 24
		if done[ingest.KindSync] != hours+days+1 || done[ingest.KindRank] != 2*days || done[ingest.KindWeekly] != 1 || done[ingest.KindSweep] != hours+1 {
			t.Errorf("%v", done)
		}
		if rows[0].Name != "latest" || rows[0].Last.Result != engine.TickRan || len(rows[0].Next) != 3 || rows[2].Last.Jobs != 1 {
			t.Errorf("%+v", rows[:3])
		}
		// Down for three hours: the missed ticks are made up for by one run (P-23).
		time.Sleep(3 * time.Hour)
		before := r.row("Ana#EUW").Run
		rows = run(schedules, time.Minute)
		if len(rows[0].Skipped) == 0 || rows[0].Skipped[0].Result != engine.TickMissed || r.row("Ana#EUW").Run == before {
			t.Errorf("after three hours: %+v", rows[0])
		}
		if v := r.sim.Stats().Violations; v != 0 {
			t.Errorf("%d violations", v)
		}
	})
}

// TestI2_ForecastIsWhatTheRunCalls: of accounts that were never synced, of one that is
// being synced, and of ranks, exactly; other schedules make no calls.
func TestI2_ForecastIsWhatTheRunCalls(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{short("Ana#EUW", 60), short("Ben#EUW", 60), short("Eva#EUW", 30)}}))
		for _, name := range []string{"Ana#EUW", "Ben#EUW", "Eva#EUW"} {
			r.track(name, engine.SyncAsk{})
		}
		foresee := func(name string, in time.Duration) (calls float64, hosts string) {
			loads, err := r.in.Forecast(context.Background(), name, time.Now().Add(in))
			must(t, err)
			seen := map[string]bool{}
			for _, l := range loads {
				calls, seen[l.Host] = calls+l.Calls, true
			}
			for host := range seen {
				hosts += host
			}
			return calls, hosts
		}
		if calls, _ := foresee("rank.daily", 0); calls != 0 {
			t.Errorf("ranks of accounts without a PUUID: %v calls", calls)
		}
		want, host := foresee("latest", 0)
		before := len(r.sim.Calls(0, 1000))
		if f := r.fire("latest"); f.Jobs != 3 {
			t.Fatalf("%+v", f)
		}
		if calls, _ := foresee("latest", 0); calls != 0 {
			t.Errorf("while all are being synced: %v calls", calls)
		}
		for _, name := range []string{"Ana#EUW", "Ben#EUW", "Eva#EUW"} {
			r.settle(name, time.Minute)
		}
		if made := len(r.sim.Calls(0, 1000)) - before; float64(made) != want || host != "europe" {
			t.Errorf("foretold %v calls in %s, made %d", want, host, made)
		}
		if calls, _ := foresee("latest", time.Minute); calls != 0 {
			t.Errorf("a minute later: %v calls", calls)
		}
		if calls, _ := foresee("latest", time.Hour); calls < 6 || calls > 12 {
			t.Errorf("an hour later, of three accounts that play three times a day: %v calls", calls)
		}
		if calls, host := foresee("rank.daily", 0); calls != 3 || host != "euw1" {
			t.Errorf("ranks: %v calls in %s", calls, host)
		}
		for _, name := range []string{"report.weekly", "sweep", "prune", "unheard of"} {
			if calls, _ := foresee(name, 0); calls != 0 {
				t.Errorf("%s: %v calls", name, calls)
			}
		}
	})
}

func TestW12a_APUUIDNamesAnAccount(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 1)}})
		r := start(t, s)
		puuid := s.PUUID("Ana#EUW", "")
		_, err := r.in.Trigger(context.Background(), puuid, engine.SyncAsk{}, engine.Actor{})
		if !errors.Is(err, engine.ErrNotFound) || !strings.Contains(err.Error(), puuid) {
			t.Errorf("nobody has synced it: %v", err)
		}
		r.trigger("Ana#EUW", engine.SyncAsk{})
		r.settle("Ana#EUW", time.Minute)
		got, err := r.in.Trigger(context.Background(), puuid, engine.SyncAsk{Force: true}, engine.Actor{})
		if must(t, err); got.Account != r.row("Ana#EUW").ID || got.Job == "" {
			t.Errorf("%+v", got)
		}
	})
}
