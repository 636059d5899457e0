package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// ranks is an account's history in a queue, oldest first.
func (r *rig) ranks(account, queue string) []engine.RankRow {
	r.t.Helper()
	page, err := r.db.RankHistory(context.Background(), engine.RanksQuery{Account: account, Queue: queue})
	must(r.t, err)
	return page.Ranks
}

func TestS4_1_RanksAreFetchedOncePerAccountAndDay(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		players := []sim.PlayerSpec{short("Ana#EUW", 1), short("Ben#EUW", 1), short("Cy#EUW", 1)}
		players[1].Unranked = true
		s := newSim(sim.Options{Players: players})
		r := start(t, s)
		for _, p := range players {
			r.track(p.RiotID, engine.SyncAsk{})
		}
		if f := r.fire("rank.daily"); f.Jobs != 0 || f.Reason != "of 3 the PUUID is not known yet" {
			t.Errorf("before the first sync: %+v", f)
		}
		for _, p := range players[:2] {
			r.trigger(p.RiotID, engine.SyncAsk{})
			r.settle(p.RiotID, time.Minute)
		}
		ana, ben := r.row("Ana#EUW").ID, r.row("Ben#EUW").ID
		day := func() {
			t.Helper()
			if f := r.fire("rank.daily"); f.Jobs != 2 || f.Reason != "of 1 the PUUID is not known yet" {
				t.Errorf("%+v", f)
			}
			for _, id := range []string{ana, ben} {
				if j := r.ends("rank:"+id, time.Minute); j.State != engine.Completed || j.Queue != ingest.QueueRank {
					t.Errorf("%s: %+v", id, j)
				}
			}
		}
		day()
		if r.calls(route.LeagueEntries) != 2 || r.limits.Lane(engine.Job{Kind: ingest.KindRank, Args: []byte(`{"account":"x","platform":"euw1"}`)}) != "euw1/league-v4.by-puuid" {
			t.Errorf("%d calls", r.calls(route.LeagueEntries))
		}
		first := r.ranks(ana, league.RankedSolo)
		if len(first) != 1 || first[0].Unranked || first[0].Tier == "" || first[0].Wins == 0 || first[0].RiotID != "Ana#EUW" {
			t.Errorf("%+v", first)
		}
		if un := r.ranks(ben, ""); len(un) != 2 || !un[0].Unranked || un[0].Tier != "" {
			t.Errorf("unranked: %+v", un)
		}
		day() // the same day: nothing new
		if len(r.ranks(ana, league.RankedSolo)) != 1 {
			t.Error("a second row of the same day")
		}
		r = r.after(24 * time.Hour)
		day()
		if len(r.ranks(ana, league.RankedSolo)) != 2 || len(r.ranks(ben, "")) != 2 {
			t.Errorf("the next day: %d and %d rows", len(r.ranks(ana, league.RankedSolo)), len(r.ranks(ben, "")))
		}
		// Hazard 37: for a day Riot lists nobody's rank. That is not believed.
		must(t, s.Inject(sim.Fault{Kind: sim.EmptyList, Match: sim.Match{Method: route.LeagueEntries}, Until: 30 * time.Hour}))
		r = r.after(24 * time.Hour)
		day()
		if rows := r.ranks(ana, league.RankedSolo); len(rows) != 2 || rows[0].Unranked {
			t.Errorf("one empty answer: %+v", rows)
		}
		s.Clear()
		r = r.after(24 * time.Hour)
		day()
		if rows := r.ranks(ana, league.RankedSolo); len(rows) != 3 || rows[0].Unranked {
			t.Errorf("the rank is back: %+v", rows)
		}
		must(t, s.Inject(sim.Fault{Kind: sim.EmptyList, Match: sim.Match{Method: route.LeagueEntries}}))
		for range 2 {
			r = r.after(24 * time.Hour)
			day()
		}
		if rows := r.ranks(ana, league.RankedSolo); len(rows) != 4 || !rows[0].Unranked {
			t.Errorf("two empty answers: %+v", rows)
		}
		all, err := r.db.Feed(context.Background(), engine.FeedQuery{Kind: engine.FeedRanks})
		must(t, err)
		tail, err := r.db.Feed(context.Background(), engine.FeedQuery{Kind: engine.FeedRanks, Page: engine.Page{After: all.Rows[2].Cursor, Limit: 2}})
		must(t, err)
		if len(tail.Rows) != 2 || *tail.Rows[0].Rank != *all.Rows[3].Rank || *tail.Rows[1].Rank != *all.Rows[4].Rank {
			t.Errorf("the export goes on with %+v, want %+v", tail.Rows, all.Rows[3:5])
		}
	})
}

func TestS4_1_TheWeeklyReportCountsMondayToSunday(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) { // a Friday
		seoul, err := time.LoadLocation("Asia/Seoul")
		must(t, err)
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{remade("Ana#EUW", 60), remade("Ben#EUW", 3), remade("Cy#EUW", 2)}}),
			func(s *setup) { s.ingest.Zone = seoul })
		for _, name := range []string{"Ana#EUW", "Ben#EUW", "Never#EUW"} {
			r.track(name, engine.SyncAsk{})
		}
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		r.trigger("Ben#EUW", engine.SyncAsk{Mode: ingest.ModeLatest, Timelines: "none", Count: 1})
		r.trigger("Cy#EUW", engine.SyncAsk{Timelines: "none"}) // not tracked
		for _, name := range []string{"Ana#EUW", "Ben#EUW", "Cy#EUW"} {
			r.settle(name, time.Hour)
		}
		if f := r.fire("report.weekly"); f.Jobs != 1 {
			t.Fatalf("%+v", f)
		}
		if j := r.ends("weekly:2026-11-09", time.Minute); j.State != engine.Completed || j.Queue != ingest.QueueWeekly {
			t.Fatalf("%+v", j)
		}
		answer, known, err := r.in.Find(context.Background(), engine.WeeklyQuery{Week: "2026-11-12"})
		must(t, err)
		w, ok := answer.(*engine.WeeklyReport)
		if !known || !ok || len(w.Accounts) != 3 || w.Zone != "Asia/Seoul" || w.Complete != 1 {
			t.Fatalf("%+v", answer)
		}
		from := time.Date(2026, 11, 9, 0, 0, 0, 0, seoul)
		if !w.From.Equal(from) || !w.To.Equal(from.AddDate(0, 0, 7)) {
			t.Errorf("from %v to %v", w.From, w.To)
		}
		games, minutes := 0, 0.0
		r.read(func(tx engine.Tx) error {
			for g, err := range r.db.Games(tx, r.row("Ana#EUW").ID) {
				must(t, err)
				if !g.Played.Before(w.From) && g.Played.Before(w.To) {
					games++
				}
				for at, end := g.Played, g.Played.Add(g.Duration); at.Before(end); at = at.Add(time.Second) {
					if !at.Before(w.From) && at.Before(w.To) {
						minutes += 1.0 / 60
					}
				}
			}
			return nil
		})
		ana := w.Accounts[0]
		if ana.Games != games || games < 15 || ana.Minutes < minutes-1 || ana.Minutes > minutes+1 || ana.Missing != "" || ana.Wins+ana.Remakes == 0 {
			t.Errorf("Ana: %+v, want %d games and %.1f minutes", ana, games, minutes)
		}
		if w.Accounts[1].Missing == "" || w.Accounts[2].Missing != "never synced" {
			t.Errorf("who is not complete: %+v", w.Accounts[1:])
		}
		sum := 0
		for _, row := range w.Games {
			for _, n := range row {
				sum += n
			}
		}
		if sum != w.Played || w.Played != ana.Games+w.Accounts[1].Games {
			t.Errorf("%d games in the table, %d in all", sum, w.Played)
		}
		_, _, err = r.in.Find(context.Background(), engine.WeeklyQuery{Week: "2020-01-01"})
		wantProblem(t, err, engine.ErrNotFound)
	})
}

// stray makes matches that failed and that no job tries.
func (r *rig) strays(account string, ids ...string) {
	r.t.Helper()
	must(r.t, r.db.Write(context.Background(), func(tx engine.Tx) error {
		for i, id := range ids {
			at := time.Now().Add(-time.Hour + time.Duration(i)*time.Second).UTC()
			m := league.Match{ID: id, Listed: at, Match: league.Fetch{Status: league.TemporaryFailure, Attempts: 3, LastAttemptAt: at}}
			if err := r.db.SaveMatch(tx, m, false); err != nil {
				return err
			}
			if err := r.db.LinkMatch(tx, account, id); err != nil {
				return err
			}
		}
		return nil
	}))
}

func TestS0_5_TheSweepTakesTheOldestHundred(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{short("Ana#EUW", 130), short("Ben#EUW", 1)}})
		r := start(t, s)
		ana := r.track("Ana#EUW", engine.SyncAsk{}).Account
		ids := s.MatchIDs("Ana#EUW")
		r.strays(ana, ids...)
		young := ids[5]
		must(t, r.db.Write(context.Background(), func(tx engine.Tx) error {
			m, err := r.db.Match(tx, young)
			if err != nil {
				return err
			}
			m.Match.LastAttemptAt = time.Now().Add(-9 * time.Minute)
			return r.db.SaveMatch(tx, m, false)
		}))
		if f := r.fire("sweep"); f.Jobs != 1 {
			t.Fatalf("%+v", f)
		}
		sweep := r.ends("sweep", time.Minute)
		if want := "100 of 129 matches are tried again, the other 29 within 1 h"; len(r.detail("sweep").History) == 0 || !hasReason(r.detail("sweep").History, want) {
			t.Errorf("%s: %+v, want %q", sweep.ID, r.detail("sweep").History, want)
		}
		time.Sleep(time.Minute)
		fetched := 0
		for i, id := range ids {
			status := r.match(id).Match.Status
			if status == league.Success {
				fetched++
			}
			if want := i < 101 && id != young; (status == league.Success) != want {
				t.Errorf("match %d is %s", i, status)
			}
		}
		if fetched != 100 || ingest.DrainTime(1000, 100, time.Hour) != 10*time.Hour {
			t.Errorf("%d matches were swept", fetched)
		}
	})
}

// The sweep's batch and interval are settings, and what is left is told by the plan in
// force.
func TestS0_5_BatchAndIntervalAreSettings(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{short("Ana#EUW", 8)}})
		r := start(t, s, func(c *setup) { c.ingest.SweepCount = 3 })
		r.strays(r.track("Ana#EUW", engine.SyncAsk{}).Account, s.MatchIDs("Ana#EUW")...)
		plan := schedules
		plan.Sweep = "*/20 * * * *"
		r.fireBy(plan, "sweep")
		r.ends("sweep", time.Minute)
		if want := "3 of 8 matches are tried again, the other 5 within 40 min"; !hasReason(r.detail("sweep").History, want) {
			t.Errorf("%+v, want %q", r.detail("sweep").History, want)
		}
	})
}

func hasReason(history []engine.Transition, reason string) bool {
	for _, h := range history {
		if h.Reason == reason {
			return true
		}
	}
	return false
}

func TestS0_6_TheSweepNeverAddsASecondJob(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{short("Ana#EUW", 3)}})
		id := s.MatchIDs("Ana#EUW")[1]
		must(t, s.Inject(fails(sim.Unavailable, id, 0)))
		r := start(t, s)
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		time.Sleep(45 * time.Second)
		must(t, r.limits.Freeze(engine.Bucket{Host: "europe", Method: "match-v5.match", Until: time.Now().Add(2 * time.Hour)}, ""))
		time.Sleep(time.Hour) // its retry waits
		before := r.detail("match:" + id).Job
		if r.match(id).Match.Status != league.TemporaryFailure || before.State.Terminal() {
			t.Fatalf("%s, %s", r.match(id).Match.Status, before.State)
		}
		r.fire("sweep")
		r.ends("sweep", time.Minute)
		if after := r.detail("match:" + id).Job; after.ID != before.ID || after.Rev != before.Rev {
			t.Errorf("the sweep touched job %s: %+v", before.ID, after)
		}
		r.settle("Ana#EUW", 24*time.Hour)
	})
}

func TestS0_3_ASweepMakesNoSixthCall(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{short("Ana#EUW", 2)}})
		ids := s.MatchIDs("Ana#EUW")
		for _, id := range ids {
			must(t, s.Inject(fails(sim.Unavailable, id, 0)))
		}
		r := start(t, s)
		ana := r.track("Ana#EUW", engine.SyncAsk{}).Account
		r.strays(ana, ids...) // three attempts each
		r.fire("sweep")
		r.ends("sweep", time.Minute)
		for _, id := range ids {
			if j := r.ends("match:"+id, time.Hour); j.State != engine.Discarded || j.Tries != 2 {
				t.Errorf("%s: %s after %d tries", id, j.State, j.Tries)
			}
			if m := r.match(id); m.Match.Status != league.PermanentlyUnfetchable || m.Match.Attempts != 5 || len(r.callsFor(route.Match, id)) != 2 {
				t.Errorf("%s: %+v, %d calls", id, m.Match, len(r.callsFor(route.Match, id)))
			}
		}
		r.fire("sweep")
		r.ends("sweep", time.Minute)
		time.Sleep(time.Hour)
		if r.calls(route.Match) != 4 {
			t.Errorf("%d calls", r.calls(route.Match))
		}
	})
}

// A match whose five attempts are used up although no job says so is settled without a call.
func TestB19d_ASweepSettlesWhatIsUsedUp(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{short("Ana#EUW", 1)}})
		r := start(t, s)
		id := s.MatchIDs("Ana#EUW")[0]
		r.strays(r.track("Ana#EUW", engine.SyncAsk{}).Account, id)
		must(t, r.db.Write(context.Background(), func(tx engine.Tx) error {
			m, err := r.db.Match(tx, id)
			m.Match.Attempts = 5
			return errors.Join(err, r.db.SaveMatch(tx, m, false))
		}))
		r.fire("sweep")
		r.ends("sweep", time.Minute)
		time.Sleep(time.Hour)
		if m := r.match(id); m.Match.Status != league.PermanentlyUnfetchable || m.Match.Attempts != 5 || r.calls(route.Match) != 0 {
			t.Errorf("%+v, %d calls", m.Match, r.calls(route.Match))
		}
	})
}

func TestP33_ThePruneJobTellsWhatItDid(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{}), func(s *setup) {
			s.ingest.Prune = func(context.Context) (string, error) { return "3 jobs were deleted", nil }
			s.ingest.Compact = func(context.Context) (string, error) { return "12 payloads packed", nil }
		})
		for name, says := range map[string]string{"prune": "3 jobs were deleted", "compact": "12 payloads packed"} {
			r.fire(name)
			if j := r.ends(name, time.Minute); j.State != engine.Completed || !hasReason(r.detail(name).History, says) {
				t.Errorf("%+v", j)
			}
		}
	})
}

func TestTrackManyTakesFiveThousandAccounts(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{}))
		lines := make([]engine.TrackLine, 0, 5004)
		for i := range 5000 {
			lines = append(lines, engine.TrackLine{Line: i + 2, Account: fmt.Sprintf("Player %d#EUW", i), Platform: "euw1", Tags: []string{"pro"}})
		}
		lines = append(lines,
			engine.TrackLine{Line: 5002, Account: "player 7#euw", Platform: "euw1"},
			engine.TrackLine{Line: 5003, Account: "no tag", Platform: "euw1"},
			engine.TrackLine{Line: 5004, Account: "Ana#EUW", Platform: "mars"},
			engine.TrackLine{Line: 5005, Account: "Ana#EUW"})
		cmd := engine.Command{Op: engine.OpTrackMany, Lines: lines, DryRun: true}
		dry, known, err := r.in.Do(context.Background(), cmd)
		must(t, err)
		if !known || dry.Applied != 5000 || len(dry.Rejects) != 4 || dry.Cost == nil || dry.Cost.Calls != 5000*42 {
			t.Errorf("dry run: %d applied, rejects %+v, cost %+v", dry.Applied, dry.Rejects, dry.Cost)
		}
		if page, err := r.db.Accounts(context.Background(), engine.AccountsQuery{}); err != nil || page.Total != 0 {
			t.Errorf("the dry run made %d accounts, %v", page.Total, err)
		}
		cmd.DryRun = false
		out, _, err := r.in.Do(context.Background(), cmd)
		must(t, err)
		if out.Applied != 5000 || out.Rejects[0] != (engine.TrackReject{Line: 5002, Reason: "the same account as in line 9"}) {
			t.Errorf("%d applied, rejects %+v", out.Applied, out.Rejects)
		}
		if row := r.row("player 4999#euw"); !row.Tracked || len(row.Tags) != 1 || row.Tags[0] != "pro" {
			t.Errorf("%+v", row)
		}
		again, _, err := r.in.Do(context.Background(), cmd)
		must(t, err)
		if again.Applied != 0 || !again.Nothing || again.Skipped["tracked already"] != 5000 {
			t.Errorf("again: %+v", again)
		}
	})
}
