package ingest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// A wrong platform is no success, whether its region has no matches of the player or
// those of the right platform, and no trap: the right one works at once.
func TestAWrongPlatformIsAnErrorAndNoTrap(t *testing.T) {
	for wrong, says := range map[route.Platform]string{
		route.NA1:  "Ana#EUW is unknown on na1: it has no matches and no summoner there: sync it with the --platform on which it plays",
		route.EUN1: "Ana#EUW is unknown on eun1: it has no summoner there, and plays on euw1: sync it with --platform euw1",
	} {
		t.Run(string(wrong), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 5)}}))
				account := r.trigger("Ana#EUW", engine.SyncAsk{Platform: string(wrong)}).Account
				row := r.settle(account, time.Minute)
				if row.Status != engine.SyncFailed || row.LastError != says || row.PUUID != "" || !row.LastSync.IsZero() {
					t.Errorf("on %s: %s %q, PUUID %q", wrong, row.Status, row.LastError, row.PUUID)
				}
				if d := r.detail("full:" + account); d.Job.Class != ingest.ClassPlatform || len(d.Attempts) == 0 || r.calls(route.Summoner) != 1 || r.calls(route.Match) != 0 {
					t.Errorf("class %q, %d calls of summoner, %d of match", d.Job.Class, r.calls(route.Summoner), r.calls(route.Match))
				}
				right := r.trigger("Ana#EUW", engine.SyncAsk{Platform: "euw1"}).Account
				if row := r.settle(right, time.Minute); right == account || row.Status != engine.SyncCompleted || row.Matches.Stored != 5 {
					t.Errorf("on euw1: %s %q, %+v", row.Status, row.LastError, row.Matches)
				}
				if r.calls(route.Summoner) != 1 {
					t.Error("an account with matches on its platform was asked for there")
				}
			})
		})
	}
}

// Who plays little has no matches to be known by: their platform is asked once.
func TestAPlayerWithoutMatchesIsAskedForOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		faults := []sim.Fault{{Name: "once", Kind: sim.Unavailable, Match: sim.Match{Method: route.Summoner, Attempts: 1}}}
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{player("New#EUW", 0)}, Faults: faults}))
		for range 2 {
			r.trigger("New#EUW", engine.SyncAsk{Force: true})
			if row := r.settle("New#EUW", time.Hour); row.Status != engine.SyncCompleted || row.Result != "completed" {
				t.Errorf("%s %q: %s", row.Status, row.Result, row.LastError)
			}
			if n := r.calls(route.Summoner); n != 2 { // the first was not answered
				t.Errorf("asked %d times", n)
			}
		}
	})
}

// An account that was synced on a wrong platform before that was told makes way for the
// right one; one that has matches does not.
func TestAnAccountWithoutAnythingMakesWay(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 5)}})
		r := start(t, s)
		old := league.Account{
			ID: "01JD0000000000000000000001", GameName: "Ana", TagLine: "EUW", Platform: "na1", Status: engine.SyncCompleted.String(),
			PUUIDs: map[string]string{"": s.PUUID("Ana#EUW", "")}, LastSync: time.Now().Add(-time.Hour),
		}
		r.save(old)
		right := r.trigger("Ana#EUW", engine.SyncAsk{Platform: "euw1"}).Account
		if row := r.settle(right, time.Minute); row.Status != engine.SyncCompleted || row.Matches.Stored != 5 {
			t.Errorf("%s: %s", row.Status, row.LastError)
		}
		if row := r.row(old.ID); row.PUUID != "" || !strings.Contains(row.LastError, "unknown on na1") {
			t.Errorf("the old one: PUUID %q, %q", row.PUUID, row.LastError)
		}
		third := r.trigger("Ana#EUW", engine.SyncAsk{Platform: "kr"}).Account
		if row := r.settle(third, time.Minute); row.Status != engine.SyncFailed || row.LastError != "Ana#EUW is known already, on euw1: sync it with --platform euw1" {
			t.Errorf("%s: %s", row.Status, row.LastError)
		}
	})
}
