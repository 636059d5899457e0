package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/farsight-console/farsight/riot/route"
)

type rungRow struct {
	PUUID, Tier, Rank string
	LeaguePoints      int
}

// TestLadders: the three leagues by one call each, a division by pages of 205 and an empty one; their players share
// most of their games, and everybody's rank by PUUID is that of the ladder.
func TestLadders(t *testing.T) {
	o := quick()
	solo := LadderSpec{Platform: route.KR, Queue: "RANKED_SOLO_5x5", Players: 300}
	diamond := LadderSpec{Platform: route.EUW1, Queue: "RANKED_FLEX_SR", Players: 410, Tier: "DIAMOND", Division: "I"}
	o.Ladders = []LadderSpec{solo, diamond}
	s := New(o)
	seen := map[string]bool{}
	for tier, want := range map[string]int{"challenger": 30, "grandmaster": 60, "master": 210} {
		var l struct {
			Tier, Queue string
			Entries     []rungRow
		}
		mustDecode(t, []byte(get(t, s, "/kr/lol/league/v4/"+tier+"leagues/by-queue/RANKED_SOLO_5x5").body), &l)
		if len(l.Entries) != want || l.Queue != "RANKED_SOLO_5x5" {
			t.Errorf("%s: %d entries of %s", tier, len(l.Entries), l.Queue)
		}
		for _, e := range l.Entries {
			seen[e.PUUID] = true
		}
	}
	for page, want := range []int{205, 205, 0, 0} {
		var rows []rungRow
		path := fmt.Sprintf("/euw1/lol/league/v4/entries/RANKED_FLEX_SR/DIAMOND/I?page=%d", page+1)
		mustDecode(t, []byte(get(t, s, path).body), &rows)
		if len(rows) != want {
			t.Errorf("page %d has %d entries, want %d", page+1, len(rows), want)
		}
		for _, e := range rows {
			seen[e.PUUID] = true
		}
	}
	if len(seen) != 710 {
		t.Fatalf("%d players", len(seen))
	}
	listed, union := 0, map[string]bool{}
	for puuid := range seen {
		var ids []string
		mustDecode(t, []byte(get(t, s, "/asia/lol/match/v5/matches/by-puuid/"+puuid+"/ids?queue=420&count=100").body), &ids)
		for _, id := range ids {
			listed, union[id] = listed+1, true
		}
	}
	all := s.LadderMatchIDs(solo)
	for _, id := range all {
		if !union[id] {
			t.Errorf("%s is in no list", id)
		}
	}
	if len(union) < len(all) || listed < 4*len(union) {
		t.Errorf("%d games of the ladder, %d listed, %d of them distinct", len(all), listed, len(union))
	}
	a := s.world.League(route.KR, solo.Queue, "MASTER", "I")[0]
	var rank []rungRow
	mustDecode(t, []byte(get(t, s, "/kr/lol/league/v4/entries/by-puuid/"+s.PUUID(a.Spec.RiotID, "")).body), &rank)
	if len(rank) != 1 || rank[0].Tier != "MASTER" || rank[0].LeaguePoints != a.Rung().Points {
		t.Errorf("rank by PUUID: %+v", rank)
	}
	again, _ := json.Marshal(New(o).LadderMatchIDs(solo))
	if first, _ := json.Marshal(all); !slices.Equal(first, again) {
		t.Error("another simulator of the same seed has other games")
	}
}

// TestParseLadder: how many days a ladder was played follows its division, or stands alone, and more days are more
// games; what cannot be read is refused.
func TestParseLadder(t *testing.T) {
	for text, want := range map[string]LadderSpec{
		"kr,solo,300":               {Platform: route.KR, Queue: "RANKED_SOLO_5x5", Players: 300},
		"kr,solo,300,90d":           {Platform: route.KR, Queue: "RANKED_SOLO_5x5", Players: 300, Days: 90},
		"euw1,flex,500,diamond1":    {Platform: route.EUW1, Queue: "RANKED_FLEX_SR", Players: 500, Tier: "DIAMOND", Division: "I"},
		"euw1,flex,500,diamond4,1d": {Platform: route.EUW1, Queue: "RANKED_FLEX_SR", Players: 500, Tier: "DIAMOND", Division: "IV", Days: 1},
	} {
		if got, err := ParseLadder(text); got != want || err != nil {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "kr", "kr,solo", "kr,draft,3", "xx,solo,3", "kr,solo,many", "kr,solo,3,diamond", "kr,solo,3,diamond5", "kr,solo,3,master1", "kr,solo,3,diamond1,x",
		"kr,solo,3,0d", "kr,solo,3,-1d", "kr,solo,3,d", "kr,solo,3,90d,diamond1", "kr,solo,3,diamond1,gold1",
	} {
		if got, err := ParseLadder(text); err == nil {
			t.Errorf("%q is taken as %+v", text, got)
		}
	}
	games := func(days int) int {
		o := quick()
		l := LadderSpec{Platform: route.KR, Queue: "RANKED_SOLO_5x5", Players: 20, Days: days}
		o.Ladders = []LadderSpec{l}
		return len(New(o).LadderMatchIDs(l))
	}
	if usual, long := games(0), games(90); long < 2*usual || games(30) != usual {
		t.Errorf("%d games in 30 days, %d in 90", usual, long)
	}
}
