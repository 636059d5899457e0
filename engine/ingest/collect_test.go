package ingest_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// apex is a ladder of the three leagues without divisions, with games that were remade: their payloads are small.
func apex(players int) sim.LadderSpec {
	return sim.LadderSpec{Platform: route.KR, Queue: "RANKED_SOLO_5x5", Players: players, Shape: "remake"}
}

// masters asks for what a ladder's players have played, without timelines: tests of whole payloads would be slow.
func masters() *engine.CollectAsk {
	return &engine.CollectAsk{Tiers: []string{"master+"}, Platforms: []string{"kr"}, Timelines: "none"}
}

func (r *rig) collect(ask *engine.CollectAsk) engine.Receipt {
	r.t.Helper()
	out, err := r.in.Collect(r.t.Context(), engine.Command{Op: engine.OpCollect, Collect: ask, By: operator})
	must(r.t, err)
	return out
}

// collection is the only one that there is.
func (r *rig) collection() engine.CollectionRow {
	r.t.Helper()
	a, _, err := r.in.Find(context.Background(), engine.CollectionsQuery{})
	must(r.t, err)
	return a.(engine.CollectionsAnswer).Collections[0]
}

// collected waits until the round has ended.
func (r *rig) collected(most time.Duration) engine.CollectionRow {
	r.t.Helper()
	for range int(most / time.Second) {
		if row := r.collection(); row.Result != "" {
			return row
		}
		time.Sleep(time.Second)
	}
	r.t.Fatalf("the collection has not ended: %+v", r.collection())
	return engine.CollectionRow{}
}

// stored are the matches of a ladder that are stored.
func (r *rig) stored(ids []string) (n int) {
	r.t.Helper()
	must(r.t, r.db.Read(context.Background(), func(tx engine.Tx) error {
		for _, id := range ids {
			if m, err := r.db.Match(tx, id); err == nil && m.Match.Status.String() == "success" {
				n++
			}
		}
		return nil
	}))
	return n
}

func TestL1a_EachMatchOfTheUnionIsFetchedOnce(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		n := scratch.Sized(10, 60)
		o := sim.Options{Players: []sim.PlayerSpec{}, Ladders: []sim.LadderSpec{apex(n)}}
		r := start(t, newSim(o))
		out := r.collect(masters())
		if again := r.collect(masters()); !again.Joined || again.Job != out.Job {
			t.Errorf("the same once more: %+v", again)
		}
		row := r.collected(time.Hour)
		want := r.sim.LadderMatchIDs(apex(n))
		if row.Result != "completed" || row.Players != n || row.Listed != n || row.Pages != 3 || r.stored(want) != len(want) ||
			row.Collected.Stored != row.Collected.Found || row.Collected.Found < len(want) || row.Collected.Open() != 0 {
			t.Errorf("%d matches: %+v", len(want), row)
		}
		st := r.sim.Stats()
		// One call a league, of each player the page, the empty one behind it and what lies beyond retention, a look
		// that proves the end, and each match once: nothing else.
		calls := map[route.Method]int{}
		for _, m := range []route.Method{route.Challengers, route.Grandmasters, route.Masters, route.MatchIDs, route.Match, route.Timeline} {
			calls[m] = r.calls(m)
		}
		wantCalls := map[route.Method]int{route.Challengers: 1, route.Grandmasters: 1, route.Masters: 1, route.MatchIDs: 4 * n,
			route.Match: row.Collected.Found, route.Timeline: 0}
		sum := 0
		for _, n := range wantCalls {
			sum += n
		}
		if !maps.Equal(calls, wantCalls) || st.Calls != sum || st.Violations != 0 || st.Repeated != 0 {
			t.Errorf("calls %v, want %v; %d in all, %d violations, %d repeated", calls, wantCalls, st.Calls, st.Violations, st.Repeated)
		}
		page, err := r.db.Accounts(t.Context(), engine.AccountsQuery{})
		must(t, err)
		if page.Total != 0 || len(page.Accounts) != 0 {
			t.Errorf("players are accounts: %+v", page)
		}
	})
}

func TestL1b_AKillLosesNoMatchAndRepeatsTheCallsInFlight(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		o := sim.Options{Players: []sim.PlayerSpec{}, Ladders: []sim.LadderSpec{apex(24)}}
		r := start(t, newSim(o))
		r.collect(masters())
		for _, at := range []time.Duration{50 * time.Millisecond, 3 * time.Second, 9 * time.Second} {
			time.Sleep(at)
			r = r.crash()
		}
		row := r.collected(time.Hour)
		want := r.sim.LadderMatchIDs(apex(24))
		st := r.sim.Stats()
		if row.Result != "completed" || row.Players != 24 || row.Listed != 24 || r.stored(want) != len(want) || row.Collected.Open() != 0 {
			t.Errorf("%d matches: %+v", len(want), row)
		}
		if st.Violations != 0 || r.calls(route.Match) > row.Collected.Found+3*8 {
			t.Errorf("%d violations, %d calls for %d matches", st.Violations, r.calls(route.Match), row.Collected.Found)
		}
	})
}

// TestL1d_ACollectionUsesItsBudget: how many calls its last window will have is not known when the first ones are
// spread, and yet it ends when a burst at the opening of each window would.
func TestL1d_ACollectionUsesItsBudget(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		dev := sim.Limits{App: []sim.Limit{{N: 20, Per: time.Second}, {N: 100, Per: 2 * time.Minute}}}
		r := start(t, newSim(sim.Options{Limits: dev, Players: []sim.PlayerSpec{}, Ladders: []sim.LadderSpec{apex(12)}}))
		ask := masters()
		ask.Timelines = "all"
		r.collect(ask)
		r.collected(10 * time.Hour)
		st := r.sim.Stats()
		b := st.Budget[slices.IndexFunc(st.Budget, func(b sim.Budget) bool { return b.Host == "asia" })]
		if b.Used() < 0.99 || st.Violations != 0 {
			t.Errorf("%d calls in %v, where %v would do: %.4f; %d violations", b.Calls, b.Took, b.Ideal, b.Used(), st.Violations)
		}
	})
}

func TestL2_ADivisionIsReadPageByPage(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l := sim.LadderSpec{Platform: route.EUW1, Queue: "RANKED_SOLO_5x5", Players: 210, Tier: "DIAMOND", Division: "II", Shape: "remake"}
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{}, Ladders: []sim.LadderSpec{l}}))
		r.collect(&engine.CollectAsk{Tiers: []string{"diamond2..diamond3"}, Platforms: []string{"euw1"}, Timelines: "none", Since: "1d", Matches: 5})
		row := r.collected(time.Hour)
		if row.Result != "completed" || row.Players != 210 || row.Pages != 4 || r.calls(route.LeaguePage) != 4 {
			t.Errorf("%d calls: %+v", r.calls(route.LeaguePage), row)
		}
		// No further player is listed once enough is found.
		if row.Listed == 210 || row.Collected.Found < 5 {
			t.Errorf("%+v", row)
		}
		player, ok := r.player(row.ID)
		ranks := r.ranks(player, "RANKED_SOLO_5x5")
		if !ok || len(ranks) != 1 || ranks[0].Tier != "DIAMOND" || ranks[0].Division != "II" {
			t.Errorf("ranks %+v", ranks)
		}
	})
}

// A collection that is asked for by its name tells where its players came from, in the order in which they are listed.
func TestL26_ACollectionTellsItsLadders(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l := sim.LadderSpec{Platform: route.EUW1, Queue: "RANKED_SOLO_5x5", Players: 30, Tier: "DIAMOND", Division: "II", Shape: "remake"}
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{}, Ladders: []sim.LadderSpec{l}}))
		r.collect(&engine.CollectAsk{Tiers: []string{"diamond1..diamond2"}, Platforms: []string{"euw1"}, Timelines: "none", Since: "1d", Spread: 1})
		row := r.collected(time.Hour)
		a, _, err := r.in.Find(t.Context(), engine.CollectionsQuery{Name: row.Name})
		must(t, err)
		parts := a.(engine.CollectionsAnswer).Collections[0].Parts
		want := []engine.CollectionPart{{Name: "euw1 diamond I", Ladder: true, Read: true},
			{Name: "euw1 diamond II", Players: 30, Done: 30, Ladder: true, Read: true}}
		if found := row.Players - 30; found > 0 {
			want = append(want, engine.CollectionPart{Name: "found since", Players: found, Done: found})
		}
		if !slices.Equal(parts, want) {
			t.Errorf("%+v, want %+v", parts, want)
		}
	})
}

func TestL3_ALaterRoundFetchesWhatIsNew(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{}, Ladders: []sim.LadderSpec{apex(8)}}))
		r.collect(masters())
		first := r.collected(time.Hour)
		lists, matches := r.calls(route.MatchIDs), r.calls(route.Match)
		time.Sleep(time.Hour)
		out := r.collect(masters())
		if out.Joined || out.Collection != first.Name {
			t.Errorf("%+v", out)
		}
		row := r.collected(time.Hour)
		if row.Round != 2 || row.Players != 8 || row.Listed != 8 || r.calls(route.Match) != matches || r.calls(route.MatchIDs) > lists+8 {
			t.Errorf("%d more lists, %d more matches: %+v", r.calls(route.MatchIDs)-lists, r.calls(route.Match)-matches, row)
		}
		other := masters()
		other.Name, other.Timelines = first.Name, "all"
		if _, err := r.in.Collect(t.Context(), engine.Command{Collect: other}); !errors.Is(err, engine.ErrConflict) {
			t.Errorf("another one of the same name: %v", err)
		}
	})
}

func TestL4_AnAccountsSyncGoesBeforeACollection(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		// A call a second: the collection has minutes of work.
		o := sim.Options{Players: []sim.PlayerSpec{remade("Ana#EUW", 10)}, Ladders: []sim.LadderSpec{{Platform: route.EUW1, Queue: "RANKED_SOLO_5x5", Players: 40, Shape: "remake"}}}
		o.Limits.App = []sim.Limit{{N: 10, Per: 10 * time.Second}}
		r := start(t, newSim(o))
		ask := masters()
		ask.Platforms = []string{"euw1"}
		r.collect(ask)
		time.Sleep(2 * time.Minute)
		began := time.Now()
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		row := r.settle("Ana#EUW", 2*time.Minute)
		if row.Matches.Stored != 10 || time.Since(began) > 40*time.Second {
			t.Errorf("%d matches in %v", row.Matches.Stored, time.Since(began))
		}
		if c := r.collection(); c.Result != "" {
			t.Errorf("the collection has ended: %+v", c)
		}
	})
}

// TestL4b_APriorityIsChangedWhileItRuns: what waits, what is listed later and a later round go as the collection was told
// last; timelines go last all the same.
func TestL4b_APriorityIsChangedWhileItRuns(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{}, Ladders: []sim.LadderSpec{apex(60)}, Limits: slow}))
		ask := masters()
		ask.Timelines = "all"
		r.collect(ask)
		for r.collection().Collected.Stored < 5 {
			time.Sleep(time.Second)
		}
		// priorities are those of jobs that wait, by kind.
		priorities := func() map[engine.Kind]map[engine.Priority]int {
			out := map[engine.Kind]map[engine.Priority]int{}
			for j, err := range r.db.Live(t.Context()) {
				must(t, err)
				if j.State != engine.Running {
					if out[j.Kind] == nil {
						out[j.Kind] = map[engine.Priority]int{}
					}
					out[j.Kind][j.Priority]++
				}
			}
			return out
		}
		if p := priorities(); len(p[ingest.KindMatch]) != 1 || p[ingest.KindMatch][engine.PriorityLow] == 0 {
			t.Fatalf("without one: %+v", p)
		}
		ask.Priority = 2
		if out := r.collect(ask); !out.Joined || out.Applied != 1 || out.Text != "collection kr-solo-master+ is under way, and is changed: priority 2 (was 4)" {
			t.Errorf("%+v", out)
		}
		all := func() bool { // but timelines
			p := priorities()
			return len(p[ingest.KindMatch]) == 1 && p[ingest.KindMatch][engine.PriorityHigh] > 0 &&
				len(p[ingest.KindSync]) == 1 && p[ingest.KindSync][engine.PriorityHigh] > 0 && len(p[ingest.KindTimeline]) < 2 && p[ingest.KindTimeline][engine.PriorityHigh] == 0
		}
		if !all() {
			t.Errorf("changed: %+v", priorities())
		}
		r = r.crash()
		listed := r.collection().Listed
		for r.collection().Listed < listed+10 || len(priorities()[ingest.KindMatch]) == 0 {
			time.Sleep(time.Second)
		}
		if !all() || r.collection().Priority != 2 {
			t.Errorf("of players who are listed later, after a kill: %+v", priorities())
		}
		ask.Priority = 5
		if _, err := r.in.Collect(t.Context(), engine.Command{Collect: ask}); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("5 is a priority: %v", err)
		}
	})
}

func TestL5_WhatCannotBeCollectedIsToldBefore(t *testing.T) {
	good := engine.CollectAsk{Tiers: []string{"Master+"}, Platforms: []string{"KR"}}
	if a, err := ingest.CheckCollect(good); err != nil || a.Name != "kr-solo-master+" || a.Queue != "solo" {
		t.Errorf("%+v %v", a, err)
	}
	for name, change := range map[string]func(*engine.CollectAsk){
		"tier":     func(a *engine.CollectAsk) { a.Tiers = []string{"wood"} },
		"division": func(a *engine.CollectAsk) { a.Tiers = []string{"diamond5"} },
		"nobody":   func(a *engine.CollectAsk) { a.Tiers = nil },
		"queue":    func(a *engine.CollectAsk) { a.Queue = "aram" },
		"platform": func(a *engine.CollectAsk) { a.Platforms = []string{"moon"} },
		"nowhere":  func(a *engine.CollectAsk) { a.Platforms = nil },
		"empty":    func(a *engine.CollectAsk) { a.Since = "0" },
		"since":    func(a *engine.CollectAsk) { a.Since = "yesterday" },
		"matches":  func(a *engine.CollectAsk) { a.Matches = -1 },
		"films":    func(a *engine.CollectAsk) { a.Timelines = "some" },
		"often":    func(a *engine.CollectAsk) { a.Every = time.Minute },
		"name":     func(a *engine.CollectAsk) { a.Name = "no/name" },
	} {
		a := engine.CollectAsk{Tiers: slices.Clone(good.Tiers), Platforms: slices.Clone(good.Platforms)}
		change(&a)
		if _, err := ingest.CheckCollect(a); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestL5b_ACollectionThatWouldFillTheDiskIsRefused: where the usual size of its ladders does not fit they are counted,
// and what does not fit then is refused before anything is there.
func TestL5b_ACollectionThatWouldFillTheDiskIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		spare := int64(0)
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{}, Ladders: []sim.LadderSpec{apex(30)}}), func(s *setup) {
			s.ingest.Spare = func() (int64, bool) { return spare, spare >= 0 }
		})
		// 30 players of 60 games, each shared by five, without timelines: 4.4 MB.
		ask := masters()
		ask.Since = "30d"
		for _, c := range []struct {
			spare int64
			says  string
		}{
			{4 << 20, "collection kr-solo-master+ would fill the disk: about 360 matches take 4.4 MB, and 4.1 MB are to spare: make room, or collect less, by --matches 341, a shorter --since or --no-timelines"},
			{-1, ""}, // nobody knows
			{1 << 10, "are to spare: make room first"},
		} {
			spare = c.spare
			time.Sleep(2 * time.Minute)
			for _, dry := range []bool{true, false} {
				if c.spare < 0 && !dry {
					continue // it would begin
				}
				before := r.sim.Stats().Calls
				_, err := r.in.Collect(t.Context(), engine.Command{Op: engine.OpCollect, Collect: ask, DryRun: dry, By: operator})
				if c.says == "" && err != nil || c.says != "" && (!errors.Is(err, engine.ErrInvalid) || !strings.HasSuffix(err.Error(), c.says)) {
					t.Errorf("with %d to spare: %v", c.spare, err)
				}
				want := 3
				if !dry {
					want = 0 // they have just been counted
				}
				if n := r.sim.Stats().Calls - before; n != want {
					t.Errorf("with %d to spare %d calls were made", c.spare, n)
				}
			}
		}
		if a, err := r.db.CollectionRows(t.Context()); err != nil || len(a) != 0 {
			t.Errorf("%v: %+v", err, a)
		}
		ask.Matches, spare = 300, 4<<20
		before := r.sim.Stats().Calls
		r.collect(ask)
		if n := r.sim.Stats().Calls - before; n != 0 {
			t.Errorf("%d calls for what fits however large the ladders are", n)
		}
		// Who goes on with it is not asked again: most of it is stored.
		spare = 0
		r.collected(time.Hour)
		ask.Matches = 1_000_000
		r.collect(ask)
	})
}

func TestL5_AnEmptyLadderSaysSo(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{}}))
		r.collect(masters())
		if row := r.collected(time.Minute); row.Result != "failed" || row.Error == "" {
			t.Errorf("%+v", row)
		}
	})
}

func TestL6_ListedPlayersAreCollectedOnceEach(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{remade("Ana#EUW", 5), remade("Ben#EUW", 3)}}))
		ana, ben := r.sim.PUUID("Ana#EUW", ""), r.sim.PUUID("Ben#EUW", "")
		r.collect(&engine.CollectAsk{Named: []string{ben, ana, ben}, Platforms: []string{"euw1"}, Timelines: "none"})
		if row := r.collected(time.Hour); row.Result != "completed" || row.Players != 2 || row.Collected.Stored != 8 || row.Named != nil {
			t.Errorf("%+v", row)
		}
	})
}

func TestL6_ACollectionThatGoesOnReadsItsLaddersAnew(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{}, Ladders: []sim.LadderSpec{apex(5)}}))
		ask := masters()
		ask.Every = 24 * time.Hour
		r.collect(ask)
		time.Sleep(time.Second)
		began := r.collection().Started
		time.Sleep(time.Hour)
		if row := r.collection(); row.Round != 2 || row.Result != "" || !row.Started.IsZero() || r.calls(route.Masters) != 1 {
			t.Errorf("after the first round: %+v", row)
		} else if s, ok := row.Schedule(engine.QueueState{}); !ok || s.Name != "collect."+row.Name || s.Expr != "@every 24h" || len(s.Next) != 3 ||
			!s.Next[0].Equal(began.Add(ask.Every)) || !s.Last.At.Equal(began) || s.Last.Job != "" {
			t.Errorf("as a schedule, begun at %s: %+v", began, s)
		}
		time.Sleep(24 * time.Hour)
		if row := r.collection(); row.Round != 3 || r.calls(route.Masters) != 2 || row.Collected.Open() != 0 || row.Players != 5 {
			t.Errorf("after the second: %d ladders read, %+v", r.calls(route.Masters), row)
		}
	})
}

// TestL6_AFailedRoundIsFollowedByTheNext: the ladders of a season that has just begun name nobody. Who tries the job of
// that round again makes no second round beside the one that is planned.
func TestL6_AFailedRoundIsFollowedByTheNext(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{}}))
		ask := masters()
		ask.Every = 24 * time.Hour
		r.collect(ask)
		first := r.collection().Job
		time.Sleep(time.Hour)
		asked := r.calls(route.Masters)
		if row := r.collection(); row.Round != 2 || row.Result != "" || row.Job == first {
			t.Errorf("after a round that has failed: %+v", row)
		}
		if _, err := r.backend.Act(t.Context(), engine.Command{Op: engine.OpRetry, Job: first, By: operator, Reason: "again"}); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Hour)
		if row := r.collection(); row.Round != 2 || r.calls(route.Masters) != asked {
			t.Errorf("its job tried again: %+v, %d calls", row, r.calls(route.Masters)-asked)
		}
		time.Sleep(24 * time.Hour)
		if row := r.collection(); row.Round != 3 || r.calls(route.Masters) <= asked {
			t.Errorf("a day later: %+v", row)
		}
	})
}

// A round misses what its players miss, and no longer.
func TestL3b_ARoundIsCompleteOnceAllHasCome(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l := apex(3)
		s := newSim(sim.Options{Players: []sim.PlayerSpec{}, Ladders: []sim.LadderSpec{l}})
		lost := s.LadderMatchIDs(l)[2:4]
		for _, id := range lost {
			must(t, s.Inject(fails(sim.NotFound, id, 1)))
		}
		r := start(t, s)
		r.collect(masters())
		r.collected(time.Hour)
		for i, want := range []string{"incomplete", "incomplete", "completed"} {
			if i > 0 {
				_, err := r.backend.Act(t.Context(), engine.Command{Op: engine.OpRetry, Job: r.detail("match:" + lost[i-1]).Job.ID, By: operator, Reason: "it is there now"})
				must(t, err)
				time.Sleep(time.Minute)
			}
			if row := r.collection(); row.Result != want {
				t.Errorf("with %d of two: %+v", i, row)
			}
		}
	})
}

// A sync of a round that another has followed tells that one nothing, however it ends.
func TestL3b_ARoundIsJudgedByItsOwnPlayers(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{}, Ladders: []sim.LadderSpec{apex(3)}})
		must(t, s.Inject(sim.Fault{Kind: sim.BadRequest, Match: sim.Match{Method: route.MatchIDs}, Count: 1}))
		r := start(t, s)
		r.collect(masters())
		if row := r.collected(time.Hour); row.Result != "incomplete" || row.Failed != 1 {
			t.Fatalf("%+v", row)
		}
		jobs, _, _, err := r.db.Jobs(t.Context(), engine.JobsQuery{States: []engine.State{engine.Discarded}, Ended: true})
		must(t, err)
		must(t, s.Inject(sim.Fault{Kind: sim.NotFound, Match: sim.Match{Method: route.Match}, Until: 9 * time.Hour}))
		ask := masters()
		ask.Matches = 1 // the next round lists nobody
		r.collect(ask)
		if row := r.collected(time.Hour); row.Result != "completed" || row.Round != 2 {
			t.Fatalf("%+v", row)
		}
		_, err = r.backend.Act(t.Context(), engine.Command{Op: engine.OpRetry, Job: jobs[0].ID, By: operator, Reason: "again"})
		must(t, err)
		time.Sleep(time.Hour)
		if row := r.collection(); row.Result != "completed" || row.Short != 0 {
			t.Errorf("%+v", row)
		}
	})
}

// A sync of a round before that is tried again does not begin the next round, whose time has not come.
func TestL3b_ARoundBeginsAtItsTime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{}, Ladders: []sim.LadderSpec{apex(3)}})
		must(t, s.Inject(sim.Fault{Kind: sim.BadRequest, Match: sim.Match{Method: route.MatchIDs}, Count: 1}))
		r := start(t, s)
		ask := masters()
		ask.Every = 24 * time.Hour
		r.collect(ask)
		time.Sleep(time.Hour)
		jobs, _, _, err := r.db.Jobs(t.Context(), engine.JobsQuery{States: []engine.State{engine.Discarded}, Ended: true})
		must(t, err)
		_, err = r.backend.Act(t.Context(), engine.Command{Op: engine.OpRetry, Job: jobs[0].ID, By: operator, Reason: "again"})
		must(t, err)
		time.Sleep(time.Hour)
		if row := r.collection(); row.Round != 2 || row.Done() != 0 || row.After != "" || !row.Started.IsZero() {
			t.Errorf("before its time: %+v", row)
		}
		time.Sleep(23 * time.Hour)
		if row := r.collection(); row.Round != 3 || row.Players != 3 {
			t.Errorf("behind it: %+v", row)
		}
	})
}

// TestL10_WhatWasCountedIsNotAskedAgain: by the round that begins within a minute of what it would cost.
func TestL10_WhatWasCountedIsNotAskedAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{}, Ladders: []sim.LadderSpec{apex(30)}}))
		ask := masters()
		ask.Since = "1d" // the ladders matter, not what was played
		if _, err := r.in.Collect(t.Context(), engine.Command{Collect: ask, DryRun: true}); err != nil {
			t.Fatal(err)
		}
		r.collect(ask)
		row := r.collected(time.Hour)
		if n := r.calls(route.Challengers) + r.calls(route.Grandmasters) + r.calls(route.Masters); n != 3 || row.Players != 30 || row.Pages != 3 || row.Result != "completed" {
			t.Errorf("%d ladders read, %+v", n, row)
		}
	})
}

// player is one of a collection's.
func (r *rig) player(collection string) (id string, ok bool) {
	r.t.Helper()
	must(r.t, r.db.Read(context.Background(), func(tx engine.Tx) error {
		a, found, err := r.db.NextPlayer(tx, collection, "")
		id, ok = a.ID, found
		return err
	}))
	return id, ok
}

func TestL7_PlayersOfMatchesAreCollectedAGameAway(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{}, Ladders: []sim.LadderSpec{apex(15)}}))
		r.collect(masters())
		all := r.collected(time.Hour)
		// Who sat in the matches of the first player, by what is stored.
		var seed string
		met := map[string]bool{}
		r.read(func(tx engine.Tx) error {
			a, _, err := r.db.NextPlayer(tx, all.ID, "")
			must(t, err)
			seed = a.PUUIDs[""]
			seats, next, err := r.db.SeatsOf(tx, all.ID, "", 10_000)
			if next != "" {
				t.Error("there are more matches")
			}
			of := map[string][]string{}
			for _, s := range seats {
				of[s.Match] = append(of[s.Match], s.PUUID)
			}
			for _, who := range of {
				for _, puuid := range who {
					met[puuid] = met[puuid] || slices.Contains(who, seed)
				}
			}
			return err
		})
		maps.DeleteFunc(met, func(_ string, with bool) bool { return !with })
		fetched := r.calls(route.Match)
		r.collect(&engine.CollectAsk{Named: []string{seed}, Platforms: []string{"kr"}, Timelines: "none", Spread: 1})
		r = r.crash()
		row := r.collected(time.Hour)
		if len(met) < 10 || row.Result != "completed" || row.Players != len(met) || row.Listed != len(met) || row.Depth != 1 {
			t.Errorf("%d players sat in the matches of the first: %+v", len(met), row)
		}
		if n := r.calls(route.Match) - fetched; n != row.Collected.Found-row.Collected.Had || row.Collected.Had == 0 {
			t.Errorf("%d calls for %+v", n, row.Collected)
		}
		// It stops where enough is found.
		r.collect(&engine.CollectAsk{Named: []string{seed}, Platforms: []string{"kr"}, Timelines: "none", Spread: 3, Matches: 1})
		if row := r.collected(time.Hour); row.Players != 1 || row.Listed != 1 {
			t.Errorf("%+v", row)
		}
	})
}

func TestL7_RiotIDsAreResolvedOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{remade("Ana#EUW", 5), remade("Ben#EUW", 3)}}))
		ask := func() *engine.CollectAsk {
			return &engine.CollectAsk{Named: []string{"Ben#EUW", "ana#euw", r.sim.PUUID("Ben#EUW", ""), "Nobody#EUW"},
				Platforms: []string{"euw1"}, Timelines: "none"}
		}
		r.collect(ask())
		row := r.collected(time.Hour)
		if row.Result != "incomplete" || row.Players != 4 || row.Listed != 3 || row.Failed != 1 || row.Collected.Found != 8 || row.Collected.Stored != 8 {
			t.Errorf("%+v", row)
		}
		asked, lists := r.calls(route.AccountByRiotID), r.calls(route.MatchIDs)
		if asked != 3 {
			t.Errorf("%d names were asked for", asked)
		}
		r.collect(ask())
		if row := r.collected(time.Hour); row.Players != 4 || row.Collected.Found != 8 || r.calls(route.MatchIDs) > lists+2 {
			t.Errorf("%d names, %d lists more: %+v", r.calls(route.AccountByRiotID)-asked, r.calls(route.MatchIDs)-lists, row)
		}
		for _, bad := range []string{"Ana", "01JD0000000000000000000000", "#"} {
			if _, err := ingest.CheckCollect(engine.CollectAsk{Named: []string{bad}, Platforms: []string{"kr"}}); !errors.Is(err, engine.ErrInvalid) {
				t.Errorf("%s: %v", bad, err)
			}
		}
	})
}

func TestL8_ACollectionIsChangedWhileItRuns(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		o := sim.Options{Players: []sim.PlayerSpec{}, Ladders: []sim.LadderSpec{apex(10)}}
		o.Limits.App = []sim.Limit{{N: 10, Per: 10 * time.Second}} // it takes minutes
		r := start(t, newSim(o))
		ask := masters()
		ask.Since, ask.Matches = "5d", 2
		first := r.collect(ask)
		time.Sleep(30 * time.Second)
		same := masters()
		if again := r.collect(same); !again.Joined || again.Applied != 0 || r.collection().Since != "5d" {
			t.Errorf("what was left out has changed: %+v", again)
		}
		ask.Since, ask.Matches = "60d", 1_000_000
		dry, err := r.in.Collect(t.Context(), engine.Command{Collect: ask, DryRun: true})
		must(t, err)
		if dry.Text != "collection kr-solo-master+ is under way, and would be changed: since 60d (was 5d), matches 1000000 (was 2)" || r.collection().Since != "5d" {
			t.Errorf("%+v", dry)
		}
		if out := r.collect(ask); !out.Joined || out.Applied != 1 || out.Job != first.Job ||
			out.Text != "collection kr-solo-master+ is under way, and is changed: since 60d (was 5d), matches 1000000 (was 2)" {
			t.Errorf("%+v", out)
		}
		row := r.collected(12 * time.Hour)
		want := r.sim.LadderMatchIDs(apex(10))
		if row.Result != "completed" || row.Round != 2 || row.Players != 10 || row.Listed != 10 || r.stored(want) != len(want) {
			t.Errorf("%d of %d matches: %+v", r.stored(want), len(want), row)
		}
		ask.Every = 48 * time.Hour
		if out := r.collect(ask); out.Joined || out.Text != "collection kr-solo-master+ is under way; changed: every 2 d" {
			t.Errorf("%+v", out)
		}
	})
}

func TestL10_TheCostIsToldFromOneCallALadder(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{}, Ladders: []sim.LadderSpec{apex(20)}})
		r := start(t, s)
		would := func(ask *engine.CollectAsk) (engine.Receipt, error) {
			return r.in.Collect(t.Context(), engine.Command{Collect: ask, DryRun: true})
		}
		asked := func() (n int) { return s.Stats().Calls }
		out, err := would(masters())
		must(t, err)
		if asked() != 3 || !strings.HasPrefix(out.Text, "collection kr-solo-master+ would list about 20 players and fetch about ") ||
			!strings.HasSuffix(out.Text, "the players that the ladders list); alone it takes about 1 min 20 s") || out.Cost == nil || out.Cost.Calls == 0 || len(out.Cost.Loads) != 2 {
			t.Errorf("%d calls: %+v", asked(), out)
		}
		few := masters()
		few.Matches = 100
		if out, err := would(few); err != nil || !strings.Contains(out.Text, "fetch about 100 matches") || strings.Contains(out.Text, "20 players") || asked() != 3 {
			t.Errorf("%v, %d calls: %s", err, asked(), out.Text)
		}
		empty := masters()
		empty.Queue = "flex"
		if _, err := would(empty); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("of empty ladders: %v", err)
		}
		must(t, s.Inject(sim.Fault{Kind: sim.Unavailable, Match: sim.Match{Method: route.Masters}, Count: 1}))
		if out, err := would(masters()); err != nil || !strings.Contains(out.Text, "they cannot be asked now") {
			t.Errorf("%v: %s", err, out.Text)
		}
		time.Sleep(2 * time.Minute) // what was counted is asked for again
		must(t, s.Inject(sim.Fault{Kind: sim.Forbidden, Match: sim.Match{Method: route.Challengers}, Count: 1}))
		if _, err := would(masters()); !errors.Is(err, engine.ErrRefused) || !strings.Contains(err.Error(), "may not read ladders") {
			t.Errorf("of a key that may not: %v", err)
		}
		time.Sleep(2 * time.Minute)
		must(t, s.Inject(sim.Fault{Name: "no league", Kind: sim.Forbidden, Match: sim.Match{Method: route.Challengers}, Until: time.Hour}))
		r.collect(masters())
		if row := r.collected(2 * time.Hour); row.Result != "failed" || !strings.Contains(row.Error, "may not read ladders") {
			t.Errorf("%+v", row)
		}
		time.Sleep(2 * time.Hour)
		r.collect(masters())
		r.collected(2 * time.Hour)
		before := asked()
		if out, err := would(masters()); err != nil || asked() != before || !strings.Contains(out.Text, "about 20 players") || out.Joined {
			t.Errorf("of one that has been: %v: %s", err, out.Text)
		}
	})
}
