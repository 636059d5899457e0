package route

import (
	"slices"
	"strings"
	"testing"
)

// TestRoutingTable holds which region serves which platform.
func TestRoutingTable(t *testing.T) {
	table := map[Region][]Platform{
		Americas: {NA1, BR1, LA1, LA2, PBE1},
		Europe:   {EUW1, EUN1, TR1, RU, ME1},
		Asia:     {KR, JP1},
		Sea:      {OC1, SG2, TW2, VN2},
	}
	seen := 0
	for region, members := range table {
		for _, p := range members {
			seen++
			if p.Region() != region {
				t.Errorf("%s is routed to %q, want %s", p, p.Region(), region)
			}
			account := region
			if region == Sea {
				account = Asia
			}
			if p.AccountRegion() != account {
				t.Errorf("accounts of %s are asked in %q, want %s", p, p.AccountRegion(), account)
			}
			if !Serves(string(p)) || !Serves(string(region)) {
				t.Errorf("%s or %s is no host", p, region)
			}
		}
	}
	if seen != len(Platforms()) {
		t.Errorf("%d platforms are listed, the table has %d", len(Platforms()), seen)
	}
	if Platform("xx1").Region() != "" || Serves("evil.example/") || Serves("") || Serves("ph2") {
		t.Error("an unknown host is served")
	}
}

func TestParsePlatform(t *testing.T) {
	good := map[string]Platform{
		"euw1": EUW1, "EUW1": EUW1, " euw ": EUW1, "EUNE": EUN1, "kr": KR, "KR1": KR, "na": NA1, "BR": BR1,
		"lan": LA1, "las": LA2, "oce": OC1, "ru": RU, "tr": TR1, "jp": JP1, "vn": VN2, "me": ME1, "pbe": PBE1,
		"ph2": SG2, "th": SG2, "sg": SG2, "tw": TW2,
	}
	for in, want := range good {
		if got, err := ParsePlatform(in); got != want || err != nil {
			t.Errorf("ParsePlatform(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
	for _, p := range Platforms() {
		if got, err := ParsePlatform(strings.ToUpper(string(p))); got != p || err != nil {
			t.Errorf("%s does not read itself: %q, %v", p, got, err)
		}
	}
	bad := map[string]string{"": "use one of", "euw2": "euw1", "Europe": "eun1, euw1", "\x1b[31m": "use one of", strings.Repeat("x", 9999): "use one of"}
	for in, want := range bad {
		_, err := ParsePlatform(in)
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 600 {
			t.Errorf("ParsePlatform(%.20q): %v; want a sentence with %q", in, err, want)
		}
	}
}

func TestMatchRegion(t *testing.T) {
	good := map[string]Region{
		"EUW1_7261321891": Europe, "KR_7014499581": Asia, "NA1_1": Americas, "OC1_5": Sea,
		"PH2_1": Sea, "TH2_99": Sea, "PBE1_4": Americas, "euw1_7": Europe,
	}
	for id, want := range good {
		if got, err := MatchRegion(id); got != want || err != nil {
			t.Errorf("MatchRegion(%q) = %q, %v; want %q", id, got, err, want)
		}
	}
	for _, id := range []string{"", "EUW1", "EUW1_", "_1", "EUW1_12a", "XX1_1", "EUW1_-1", "EUW1_1/timeline", "EUW1_../x", "EUW1_123456789012345678901", "EUW1 _1"} {
		if got, err := MatchRegion(id); err == nil || got != "" {
			t.Errorf("MatchRegion(%q) = %q, want an error", id, got)
		}
	}
	if p, _ := OfMatch("TH2_1"); p != TH2 {
		t.Errorf("a game of the merged platform TH2 was played on %q", p)
	}
	if !isMatchID("NEW9_1") || isMatchID("NEW9") || isMatchID("TOOLONGPREFIX_1") {
		t.Error("isMatchID judges more or less than the form")
	}
}

func TestMethods(t *testing.T) {
	want := map[Method]struct {
		path    string
		params  []string
		routing Routing
	}{
		AccountByRiotID: {"/riot/account/v1/accounts/by-riot-id/A%20%2F%23%25b/%C3%A9?", []string{"A /#%b", "é?"}, ToAccount},
		AccountByPUUID:  {"/riot/account/v1/accounts/by-puuid/p-_1", []string{"p-_1"}, ToAccount},
		ActiveRegion:    {"/riot/account/v1/region/by-game/lol/by-puuid/p", []string{"lol", "p"}, ToAccount},
		MatchIDs:        {"/lol/match/v5/matches/by-puuid/p/ids", []string{"p"}, ToRegion},
		Match:           {"/lol/match/v5/matches/EUW1_1", []string{"EUW1_1"}, ToRegion},
		Timeline:        {"/lol/match/v5/matches/EUW1_1/timeline", []string{"EUW1_1"}, ToRegion},
		Summoner:        {"/lol/summoner/v4/summoners/by-puuid/p", []string{"p"}, ToPlatform},
		LeagueEntries:   {"/lol/league/v4/entries/by-puuid/p", []string{"p"}, ToPlatform},
		Challengers:     {"/lol/league/v4/challengerleagues/by-queue/q", []string{"q"}, ToPlatform},
		Grandmasters:    {"/lol/league/v4/grandmasterleagues/by-queue/q", []string{"q"}, ToPlatform},
		Masters:         {"/lol/league/v4/masterleagues/by-queue/q", []string{"q"}, ToPlatform},
		LeaguePage:      {"/lol/league/v4/entries/q/t/d", []string{"q", "t", "d"}, ToPlatform},
		Status:          {"/lol/status/v4/platform-data", nil, ToPlatform},
	}
	if len(Methods()) != len(want) {
		t.Fatalf("%d methods, want %d", len(Methods()), len(want))
	}
	for m, w := range want {
		w.path = strings.Replace(w.path, "?", "%3F", 1)
		path, err := m.Path(w.params...)
		if path != w.path || err != nil || m.Routing() != w.routing || !strings.HasPrefix(m.Template(), "/") {
			t.Errorf("%s: path %q (%v), want %q; routing %d", m, path, err, w.path, m.Routing())
		}
		got, params, ok := Recognise(path)
		if !ok || got != m {
			t.Errorf("%q is recognised as %q", path, got)
		}
		for name, value := range params {
			if !slices.Contains(w.params, value) || !strings.Contains(m.Template(), "{"+name+"}") {
				t.Errorf("%s: parameter %s = %q", m, name, value)
			}
		}
	}
}

func TestPathRefusesWhatWouldNameAnotherEndpoint(t *testing.T) {
	for _, params := range [][]string{nil, {""}, {"."}, {".."}, {"a", "b"}} {
		if path, err := Match.Path(params...); err == nil {
			t.Errorf("Match.Path(%q) = %q, want an error", params, path)
		}
	}
	if path, err := Method("nobody").Path(); err == nil {
		t.Errorf("an unknown method has path %q", path)
	}
	for _, path := range []string{"", "/", "lol/status/v4/platform-data", "/lol/status/v4/platform-data/", "/lol/match/v5/matches/", "/lol/match/v5/matches/%zz", "/lol/match/v4/matches/1", "//lol/status/v4/platform-data"} {
		if m, _, ok := Recognise(path); ok {
			t.Errorf("%q is recognised as %q", path, m)
		}
	}
}

func TestParseRiotID(t *testing.T) {
	good := map[string][2]string{
		"Name#EUW":                      {"Name", "EUW"},
		" Hide on bush # KR1 ":          {"Hide on bush", "KR1"},
		"\u2066이름\u2069#\u2066태그\u2069": {"이름", "태그"}, // as copied from the game client
		"a#b":                           {"a", "b"},
		"💀/..\\#%2F":                    {"💀/..\\", "%2F"},
		"Name#EUW\n":                    {"Name", "EUW"},
		strings.Repeat("é", 64) + "#" + strings.Repeat("x", 10): {strings.Repeat("é", 64), strings.Repeat("x", 10)},
	}
	for in, want := range good {
		name, tag, err := ParseRiotID(in)
		if name != want[0] || tag != want[1] || err != nil {
			t.Errorf("ParseRiotID(%q) = %q, %q, %v; want %q", in, name, tag, err, want)
		}
	}
	bad := map[string]string{
		"": "with a # between", "Name": "with a # between", "#EUW": "name before the # is missing", "Name#": "tag after the # is missing",
		"a#b#c": "more than one #", "a\x00b#c": "control characters", "a\xff#c": "not valid UTF-8", " # ": "missing",
		strings.Repeat("x", 65) + "#a": "65 characters", "a#" + strings.Repeat("x", 11): "11 characters", "..#a": `cannot be ".."`, "a#.": `cannot be "."`,
	}
	for in, want := range bad {
		if _, _, err := ParseRiotID(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseRiotID(%q): %v; want a sentence with %q", in, err, want)
		}
	}
}

// A key that was pasted into the wrong field is refused, and the sentence does not repeat it.
func TestB17k_AKeyIsNoRiotID(t *testing.T) {
	for _, in := range []string{"RGAPI-0badcafe-0000-4000-8000-000000000000#x", " rgapi-0badcafe#EUW", "RGAPI-0badcafe-0000-4000-8000-000000000000", "x#RGAPI-0b"} {
		_, _, err := ParseRiotID(in)
		if err == nil || !strings.Contains(err.Error(), "API key") || strings.Contains(err.Error(), "0b") {
			t.Errorf("ParseRiotID(%q): %v", in, err)
		}
	}
}

func TestW3b_TypedNamesAreNormalised(t *testing.T) {
	for _, in := range []string{"가나＃KR1", "\u1100\u1161\u1102\u1161#KR1"} {
		if name, tag, err := ParseRiotID(in); name != "가나" || tag != "KR1" || err != nil {
			t.Errorf("%q is %q, %q, %v", in, name, tag, err)
		}
	}
}

// FuzzParseRiotID: whatever is accepted makes one path that is recognised again with the same parts.
func FuzzParseRiotID(f *testing.F) {
	for _, seed := range []string{"Name#EUW", "a/b#c?d", "#", "%2f#%", "\u202ea#b", "..#..", "a#\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name, tag, err := ParseRiotID(s)
		if err != nil {
			return
		}
		path, err := AccountByRiotID.Path(name, tag)
		if err != nil {
			t.Fatalf("%q was accepted but has no path: %v", s, err)
		}
		m, params, ok := Recognise(path)
		if !ok || m != AccountByRiotID || params["gameName"] != name || params["tagLine"] != tag {
			t.Fatalf("%q became %q: %s %q", s, path, m, params)
		}
	})
}
