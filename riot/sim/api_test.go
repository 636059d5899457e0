package sim

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim/internal/world"
)

func idsOf(t testing.TB, s *Sim, host, riotID, query string) []string {
	t.Helper()
	r := get(t, s, "/"+host+"/lol/match/v5/matches/by-puuid/"+s.PUUID(riotID, "")+"/ids?"+query)
	var ids []string
	if r.status != 200 {
		t.Fatalf("%s %s: %d %s", riotID, query, r.status, r.body)
	}
	if err := json.Unmarshal([]byte(r.body), &ids); err != nil {
		t.Fatal(err)
	}
	return ids
}

var epoch = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// quick has room for every call of a test.
func quick(players ...PlayerSpec) Options {
	return Options{Seed: 3, Epoch: epoch, Latency: Instant, Retention: KeepForever, Players: players,
		Limits: Limits{App: []Limit{{1_000_000, time.Minute}}}}
}

func TestEveryPlayerResolvesThroughEveryEndpoint(t *testing.T) {
	o := quick()
	o.Players = nil // the built-in ones, hostile names included
	s := New(o)
	for _, p := range s.Players() {
		name, tag := world.Cut(p.RiotID)
		var a struct{ PUUID, GameName, TagLine string }
		r := get(t, s, "/asia/riot/account/v1/accounts/by-riot-id/"+url.PathEscape(strings.ToUpper(name))+"/"+url.PathEscape(tag))
		mustDecode(t, []byte(r.body), &a)
		if r.status != 200 || a.GameName != name || a.TagLine != tag || len(a.PUUID) != 78 {
			t.Errorf("%q: %d %s", p.RiotID, r.status, r.body)
		}
		if a.PUUID != s.PUUID(p.RiotID, "") {
			t.Errorf("%q: two PUUIDs", p.RiotID)
		}
		region := get(t, s, "/americas/riot/account/v1/region/by-game/lol/by-puuid/"+a.PUUID)
		if !strings.Contains(region.body, `"region":"`+string(p.Platform)+`"`) {
			t.Errorf("%q: %s", p.RiotID, region.body)
		}
		host := string(p.Platform)
		if r := get(t, s, "/"+host+"/lol/summoner/v4/summoners/by-puuid/"+a.PUUID); r.status != 200 {
			t.Errorf("%q: summoner %d", p.RiotID, r.status)
		}
		league := get(t, s, "/"+host+"/lol/league/v4/entries/by-puuid/"+a.PUUID)
		var entries []map[string]any
		mustDecode(t, []byte(league.body), &entries)
		if unranked := p.RiotID == "Never Played#SIM"; unranked != (len(entries) == 0) {
			t.Errorf("%q: league %s", p.RiotID, league.body)
		}
		want := s.MatchIDs(p.RiotID)
		if got := idsOf(t, s, string(p.Platform.Region()), p.RiotID, "count=100"); !slices.Equal(got, want[:min(100, len(want))]) {
			t.Errorf("%q: %d ids, want %d", p.RiotID, len(got), len(want))
		}
	}
	if get(t, s, "/europe/riot/account/v1/accounts/by-puuid/"+s.PUUID("Nameless One#SIM", "")).body != `{"puuid":"`+s.PUUID("Nameless One#SIM", "")+`"}` {
		t.Error("a nameless account should have a PUUID only")
	}
}

func TestStrangersOfAMatchResolveToo(t *testing.T) {
	s := New(quick(PlayerSpec{RiotID: "A#A", Platform: route.KR, Matches: 3, Shapes: []Shape{world.Ranked}}))
	var m struct {
		Info struct {
			Participants []struct{ PUUID, RiotIDGameName, RiotIDTagline string }
		}
	}
	mustDecode(t, s.world.AppendMatch(nil, s.world.Games[s.MatchIDs("A#A")[0]], s.project("")), &m)
	stranger := ""
	for _, p := range m.Info.Participants {
		if p.PUUID != s.PUUID("A#A", "") {
			stranger = p.PUUID
		}
		r := get(t, s, "/asia/riot/account/v1/accounts/by-puuid/"+p.PUUID)
		var a struct{ GameName, TagLine string }
		mustDecode(t, []byte(r.body), &a)
		if a.GameName != p.RiotIDGameName || a.TagLine != p.RiotIDTagline {
			t.Errorf("%s: %s, want %s#%s", p.PUUID, r.body, p.RiotIDGameName, p.RiotIDTagline)
		}
		back := get(t, s, "/asia/riot/account/v1/accounts/by-riot-id/"+url.PathEscape(p.RiotIDGameName)+"/"+url.PathEscape(p.RiotIDTagline))
		if back.status != 200 {
			t.Errorf("%s#%s: %d", p.RiotIDGameName, p.RiotIDTagline, back.status)
		}
	}
	if ids := get(t, s, "/asia/lol/match/v5/matches/by-puuid/"+stranger+"/ids").body; ids != "[]" {
		t.Error("a stranger has a history: ", ids)
	}
}

func TestIDListsFollowTheirParameters(t *testing.T) {
	s := New(quick(
		PlayerSpec{RiotID: "A#A", Platform: route.EUW1, Matches: 250, Span: 1000 * day},
		PlayerSpec{RiotID: "Full#A", Platform: route.EUW1, Matches: 1200},
		PlayerSpec{RiotID: "Old#A", Platform: route.EUW1, Matches: 10, Span: 2400 * day},
	))
	all := s.MatchIDs("A#A")
	at := func(id string) time.Time { return s.world.Games[id].At }
	if !slices.IsSortedFunc(all, func(a, b string) int { return at(b).Compare(at(a)) }) {
		t.Error("not newest first")
	}
	var paged []string
	for start := 0; start < 300; start += 100 {
		paged = append(paged, idsOf(t, s, "europe", "A#A", fmt.Sprintf("start=%d&count=100", start))...)
	}
	if !slices.Equal(paged, all) {
		t.Error("pages do not make up the history")
	}
	cut := at(all[120])
	since := idsOf(t, s, "europe", "A#A", fmt.Sprintf("count=100&startTime=%d", cut.Unix()))
	until := idsOf(t, s, "europe", "A#A", fmt.Sprintf("count=100&endTime=%d", cut.Unix()+1))
	if !slices.Equal(since, all[:100]) || until[0] != all[120] {
		t.Error("startTime and endTime do not bound the list")
	}
	for query, want := range map[string]int{
		"": 20, "count=0": 0, "start=250": 0, "start=245": 5, "beginTime=1&count=3": 3,
		"startTime=" + fmt.Sprint(cut.UnixMilli()): 0, // milliseconds give nothing (developer-relations#542)
		"queue=9999": 0, "type=tourney": 0,
	} {
		if got := idsOf(t, s, "europe", "A#A", query); len(got) != want {
			t.Errorf("%q: %d ids, want %d", query, len(got), want)
		}
	}
	for _, id := range idsOf(t, s, "europe", "A#A", "queue=450&type=normal&count=100") {
		if s.world.Games[id].Queue != 450 {
			t.Errorf("%s is of queue %d", id, s.world.Games[id].Queue)
		}
	}
	if n := len(idsOf(t, s, "europe", "Full#A", "start=950&count=100")); n != 50 {
		t.Errorf("the index keeps 1000 games: page of %d", n)
	}
	if n := len(idsOf(t, s, "europe", "Full#A", "start=1000")); n != 0 {
		t.Errorf("start=1000 gave %d", n)
	}
	if n := len(idsOf(t, s, "americas", "A#A", "count=5")); n != 0 {
		t.Errorf("the wrong region gave %d ids", n)
	}
	with, without := idsOf(t, s, "europe", "Old#A", "startTime=1"), idsOf(t, s, "europe", "Old#A", "")
	if len(without) != 10 || len(with) >= 10 {
		t.Errorf("games too old to have a time vanish under startTime: %d of %d", len(with), len(without))
	}
	for _, bad := range []string{"count=101", "count=x", "start=-1", "type=odd", "queue=ranked"} {
		r := get(t, s, "/europe/lol/match/v5/matches/by-puuid/"+s.PUUID("A#A", "")+"/ids?"+bad)
		if r.status != 400 || !strings.Contains(r.body, "Bad request - Query parameter") {
			t.Errorf("%s: %d %s", bad, r.status, r.body)
		}
	}
}

func TestSharedMissingExpiredAndMisroutedMatches(t *testing.T) {
	o := quick(
		PlayerSpec{RiotID: "A#A", Platform: route.EUW1, Matches: 60, Span: 1200 * day, Missing: 5},
		PlayerSpec{RiotID: "B#B", Platform: route.EUW1, Matches: 30, ShareWith: "A#A", Shared: 10, Shapes: []Shape{world.Ranked}},
	)
	o.Epoch = time.Now().Truncate(time.Hour)
	o.Retention = 0 // as Riot does
	s := New(o)
	a, b := s.MatchIDs("A#A"), s.MatchIDs("B#B")
	shared := 0
	for _, id := range b {
		if !slices.Contains(a, id) {
			continue
		}
		shared++
		if s.world.Games[id].Shape == world.Aborted {
			continue
		}
		raw := s.world.AppendMatch(nil, s.world.Games[id], s.project(""))
		for _, who := range []string{"A#A", "B#B"} {
			if !strings.Contains(string(raw), s.PUUID(who, "")) {
				t.Errorf("%s is not in shared match %s", who, id)
			}
		}
	}
	if len(b) != 30 || shared != 10 {
		t.Errorf("%d matches, %d shared", len(b), shared)
	}
	missing, expired, young := 0, 0, 0
	for _, id := range a {
		g := s.world.Games[id]
		m := get(t, s, "/europe/lol/match/v5/matches/"+id)
		tl := get(t, s, "/europe/lol/match/v5/matches/"+id+"/timeline")
		age := time.Since(g.At)
		switch {
		case age > 735*day:
			expired++
			if m.status != 404 || tl.status != 404 || !strings.Contains(m.body, "match file not found") {
				t.Errorf("%s, %v old: %d, timeline %d", id, age, m.status, tl.status)
			}
		case age > 370*day && tl.status != 404:
			t.Errorf("timeline of %s, %v old: %d", id, age, tl.status)
		case g.Missing:
			missing++
		default:
			young++
			if age < 365*day && (m.status != 200 || tl.status != 200) {
				t.Errorf("%s: %d, timeline %d", id, m.status, tl.status)
			}
		}
	}
	if expired == 0 || young == 0 || missing == 0 {
		t.Errorf("expired %d, young %d, missing %d", expired, young, missing)
	}
	if r := get(t, s, "/asia/lol/match/v5/matches/"+a[0]); r.status != 404 {
		t.Errorf("wrong region: %d", r.status)
	}
}

func TestPUUIDsBelongToAProject(t *testing.T) {
	o := quick(PlayerSpec{RiotID: "A#A", Platform: route.EUW1, Matches: 3, Shapes: []Shape{world.Ranked}})
	other, dead, unknown := strings.Replace(testKey, "4000", "4001", 1), strings.Replace(testKey, "4000", "4002", 1), strings.Replace(testKey, "4000", "4003", 1)
	o.Keys = map[string]Key{other: {Project: "other"}, dead: {State: KeyExpired}, unknown: {State: KeyUnknown}}
	s := New(o)
	mine, theirs := s.PUUID("A#A", ""), s.PUUID("A#A", "other")
	path := "/europe/lol/match/v5/matches/by-puuid/" + mine + "/ids"
	r, _ := try(s, other, path)
	if mine == theirs || r.status != 400 || !strings.Contains(r.body, "Exception decrypting "+mine) {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r, _ := try(s, other, strings.Replace(path, mine, theirs, 1)); r.status != 200 {
		t.Errorf("own PUUID of the other project: %d", r.status)
	}
	m, _ := try(s, other, "/europe/lol/match/v5/matches/"+s.MatchIDs("A#A")[0])
	if !strings.Contains(m.body, theirs) || strings.Contains(m.body, mine) {
		t.Error("a payload must hold the PUUIDs of the key's project")
	}
	if r, _ := try(s, dead, path); r.status != 403 {
		t.Errorf("expired key: %d", r.status)
	}
	if r, _ := try(s, unknown, path); r.status != 401 || !strings.Contains(r.body, "Unknown apikey") {
		t.Errorf("unknown key: %d %s", r.status, r.body)
	}
	s.SetKey(testKey, Key{State: KeyExpired})
	if r := get(t, s, path); r.status != 403 {
		t.Errorf("key that expired meanwhile: %d", r.status)
	}
}

func TestHistoryGrows(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := New(Options{Latency: Instant, Players: []PlayerSpec{{RiotID: "A#A", Platform: route.EUW1, Matches: 5, Grow: time.Minute}}})
		before := idsOf(t, s, "europe", "A#A", "count=100")
		time.Sleep(3*time.Minute + time.Second)
		after := idsOf(t, s, "europe", "A#A", "count=100")
		if len(before) != 5 || len(after) != 8 || !slices.Equal(after[3:], before) {
			t.Errorf("%v, then %v", before, after)
		}
		if r := get(t, s, "/europe/lol/match/v5/matches/"+after[0]); r.status != 200 {
			t.Errorf("the new game: %d", r.status)
		}
	})
}

// A simulator that runs over midnight, and one that is started again after it, know every
// game that was listed before. Only when the games were played follows from the start.
func TestIDsOutliveTheHour(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		time.Sleep(12*time.Hour - time.Minute)
		const asked = "Busy Bee#SIM"
		start := func() *Sim { return New(Options{Latency: Instant}) }
		first := start()
		before := idsOf(t, first, "americas", asked, "count=100")
		for _, wait := range []time.Duration{2 * time.Minute, 58 * time.Minute, 30 * day} {
			time.Sleep(wait)
			for name, s := range map[string]*Sim{"the same": first, "another": start()} {
				if !slices.Equal(before, idsOf(t, s, "americas", asked, "count=100")) {
					t.Errorf("%s lists other games after %s", name, wait)
				}
				time.Sleep(2 * time.Minute) // the limits' window
				for _, id := range before[:20] {
					if r := get(t, s, "/americas/lol/match/v5/matches/"+id); r.status != 200 {
						t.Errorf("%s says %d for %s after %s", name, r.status, id, wait)
					}
				}
			}
		}
	})
}

func TestRecordedPayloadsAreServedThroughOurAccounts(t *testing.T) {
	o := quick()
	o.Players = []PlayerSpec{}
	o.FixturesDir = os.Getenv("FARSIGHT_FIXTURES")
	if _, err := os.Stat(filepath.Join(o.FixturesDir, "matches")); err != nil {
		t.Skip("FARSIGHT_FIXTURES names no recorded payloads")
	}
	s := New(o)
	served := 0
	for _, p := range s.Players() {
		region := string(p.Platform.Region())
		for _, id := range idsOf(t, s, region, p.RiotID, "count=100") {
			m := get(t, s, "/"+region+"/lol/match/v5/matches/"+id)
			if m.status != 200 || !strings.Contains(m.body, `"matchId":"`+id+`"`) || !strings.Contains(m.body, s.PUUID(p.RiotID, "")) {
				t.Errorf("%s: %d", id, m.status)
			}
			served++
		}
	}
	if served < 14 {
		t.Errorf("%d recorded matches served", served)
	}
	if r := get(t, s, "/americas/lol/match/v5/matches/NA1_3923257498"); r.status != 404 {
		t.Errorf("match that was not recorded: %d", r.status)
	}
	if r := get(t, s, "/americas/lol/match/v5/matches/NA1_3923257498/timeline"); r.status != 200 {
		t.Errorf("its timeline: %d", r.status)
	}
}

// BenchmarkServed is what a client of the simulator waits for beside the latency: a match and its timeline, packed.
func BenchmarkServed(b *testing.B) {
	s := New(quick(PlayerSpec{RiotID: "A#A", Platform: route.EUW1, Matches: 100, Span: 100 * day}))
	ids := s.MatchIDs("A#A")
	for i := 0; b.Loop(); i++ {
		get(b, s, "/europe/lol/match/v5/matches/"+ids[i%len(ids)])
		get(b, s, "/europe/lol/match/v5/matches/"+ids[i%len(ids)]+"/timeline")
	}
}

func mustDecode(t *testing.T, data []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}
