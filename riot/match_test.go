package riot

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// small makes a match with the given members of info.
func small(info string) []byte {
	return []byte(`{"metadata":{"dataVersion":"2","matchId":"EUW1_1","participants":["p1"]},"info":{` + info + `}}`)
}

func TestMatchFieldsThatBite(t *testing.T) {
	player := `{"puuid":"p1","gameEndedInEarlySurrender":%v}`
	for name, c := range map[string]struct {
		info string
		want func(Match) bool
	}{
		"seconds since 11.20": {`"gameDuration":1670,"gameEndTimestamp":5,"participants":[{}]`,
			func(m Match) bool { return m.DurationS == 1670 && !m.Aborted }},
		"milliseconds before": {`"gameDuration":1670999,"participants":[{}]`,
			func(m Match) bool { return m.DurationS == 1670 && m.EndMs == 0 && !m.Aborted }},
		"no participants": {`"gameDuration":100,"gameEndTimestamp":5,"participants":[]`,
			func(m Match) bool { return m.Aborted && !m.Remake }},
		"no duration": {`"gameDuration":0,"gameEndTimestamp":5,"participants":[{}]`,
			func(m Match) bool { return m.Aborted }},
		"abort said of a whole game": {`"endOfGameResult":"Abort_Unexpected","gameDuration":9,"gameEndTimestamp":5,"participants":[{}]`,
			func(m Match) bool { return !m.Aborted && m.EndOfGameResult == "Abort_Unexpected" }},
		"remake": {`"gameDuration":9,"gameEndTimestamp":5,"participants":[` + fmt.Sprintf(player+","+player, true, true) + `]`,
			func(m Match) bool { return m.Remake }},
		"one early surrender": {`"gameDuration":9,"gameEndTimestamp":5,"participants":[` + fmt.Sprintf(player+","+player, true, false) + `]`,
			func(m Match) bool { return !m.Remake }},
		"names of 2024": {`"participants":[{"riotIdGameName":"A","riotIdName":"B","summonerName":"C","riotIdTagline":"T"}]`,
			func(m Match) bool { return m.Participants[0].Name == "A" && m.Participants[0].Tag == "T" }},
		"names of 2023": {`"participants":[{"riotIdName":"B","summonerName":"C"}]`,
			func(m Match) bool { return m.Participants[0].Name == "B" }},
		"names of 2022": {`"participants":[{"riotIdName":"","summonerName":"C\u202e"}]`,
			func(m Match) bool { return m.Participants[0].Name == "C\u202e" }},
		"bots share a PUUID": {`"participants":[{"puuid":"BOT"},{"puuid":"BOT"}]`,
			func(m Match) bool {
				return m.Participants[1].PUUID == "BOT" && m.Participants[1].Index == 1
			}},
		"patch":           {`"gameVersion":"16.4.748.682"`, func(m Match) bool { return m.Patch == "16.4" && m.Version == "16.4.748.682" }},
		"no version":      {`"gameVersion":""`, func(m Match) bool { return m.Patch == "" }},
		"odd version":     {`"gameVersion":"x.1"`, func(m Match) bool { return m.Patch == "" && m.Version == "x.1" }},
		"played at start": {`"gameCreation":1000,"gameStartTimestamp":2000,"gameEndTimestamp":3000`, playedAt(2000)},
		"played beyond all calendars": {`"gameCreation":9000000000000000000,"gameStartTimestamp":2000,"gameEndTimestamp":253402300800000`,
			func(m Match) bool {
				return m.CreationMs == 0 && m.EndMs == 0 && m.PlayedAt().Equal(time.UnixMilli(2000))
			}},
		"longer than a day": {`"gameDuration":9000000000000000000,"gameEndTimestamp":3000,"participants":[{}]`,
			func(m Match) bool { return m.DurationS == 0 && !m.Aborted }},
		"played at lobby":          {`"gameCreation":1000,"gameStartTimestamp":0,"gameEndTimestamp":3000`, playedAt(1000)},
		"played at end":            {`"gameEndTimestamp":3000`, playedAt(3000)},
		"played nobody knows when": {``, func(m Match) bool { return m.PlayedAt().IsZero() }},
		"wrong types of single fields": {`"gameCreation":"x","queueId":[1],"gameMode":{"a":1},"gameDuration":null,"participants":[null,{"kills":"9","win":1,"puuid":7,"deaths":2.0}]`,
			func(m Match) bool {
				return len(m.Participants) == 2 && m.Participants[1].Kills == 0 && m.Participants[1].Deaths == 2 && m.QueueID == 0
			}},
		"participants that are none": {`"participants":{"a":1}`, func(m Match) bool { return m.Aborted && len(m.Participants) == 0 }},
		"unknown fields":             {`"new":{"deep":[1,{"x":null}]},"queueId":420`, func(m Match) bool { return m.QueueID == 420 }},
		"keys in escapes":            {`"queue\u0049d":420`, func(m Match) bool { return m.QueueID == 420 }},
	} {
		m, err := scanMatch(small(c.info), "EUW1_1")
		if err != nil || m.ID != "EUW1_1" || !c.want(m) {
			t.Errorf("%s: %v %+v", name, err, m)
		}
	}
}

func playedAt(ms int64) func(Match) bool {
	return func(m Match) bool { return m.PlayedAt().Equal(time.UnixMilli(ms)) }
}

func TestMalformedPayloads(t *testing.T) {
	crowd := `{"metadata":{"matchId":"EUW1_1"},"info":{"participants":[` + strings.Repeat("{},", 300) + `{}]}}`
	named := `{"metadata":{"matchId":"EUW1_1","participants":[` + strings.Repeat(`"p",`, 256) + `"p"]},"info":{}}`
	for text, want := range map[string]string{
		``: "not valid JSON", `{}`: "does not say which match", `null`: "does not say which match", `[]`: "does not say which match",
		`"x"`: "does not say which match", `<html><body>502</body></html>`: "not valid JSON",
		`{"metadata":{"matchId":"EUW1_1"},"info":{}`:            "not valid JSON",
		`{"metadata":{"matchId":"EUW1_1"},"info":{}} x`:         "not valid JSON",
		`{"metadata":{"matchId":"EUW1_1"},"info":{}}{}`:         "not valid JSON",
		`{"metadata":{"matchId":"EUW1_1"}}`:                     "no info",
		`{"metadata":{"matchId":"EUW1_1"},"info":null}`:         "no info",
		`{"metadata":{"matchId":"EUW1_1"},"info":[]}`:           "no info",
		`{"metadata":{"matchId":"EUW1_2"},"info":{}}`:           `about match "EUW1_2"`,
		`{"metadata":{"matchId":1},"info":{}}`:                  "does not say which match",
		`{"metadata":[],"info":{}}`:                             "does not say which match",
		`{"metadata":{"matchId":"EUW1_1"},"info":{"kills":01}}`: "not valid JSON",
		`{"metadata":{"matchId":"EUW1_1"},"info":{"a":"` + "\n": "not valid JSON",
		crowd: "more than 256 participants", named: "more than 256 participants",
	} {
		_, errMatch := scanMatch([]byte(text), "EUW1_1")
		_, errTimeline := scanTimeline([]byte(text), "EUW1_1")
		if text == crowd { // of whom a timeline tells nothing that is kept
			errTimeline = errMatch
		}
		for _, err := range []error{errMatch, errTimeline} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%.60q: %v, want %q", text, err, want)
			}
		}
	}
}

// TestRecordedMatches compares every recorded match with what encoding/json reads from it.
func TestRecordedMatches(t *testing.T) {
	special := map[string]func(Match) bool{
		"EUW1_6834713231": func(m Match) bool {
			return m.Aborted && !m.PlayedAt().IsZero()
		},
		"NA1_5018382378": func(m Match) bool { return !m.Aborted && m.EndOfGameResult == "Abort_Unexpected" },
		"BR1_2619338540": func(m Match) bool { return m.Remake && m.DurationS == 203 },
		"JP1_391732436": func(m Match) bool {
			return len(m.Participants) == 10 && m.Participants[9].PUUID == "BOT"
		},
		"NA1_5245486208": func(m Match) bool { return len(m.Participants) == 16 && m.Mode == "CHERRY" },
		"JP1_456819992":  func(m Match) bool { return len(m.Participants) == 1 && m.Participants[0].Name == "銀空金" },
		"NA1_4265913704": func(m Match) bool { return m.Patch == "12.6" && m.Participants[0].Name == "Rowan Moth" },
	}
	for name, raw := range fixtures(t, "matches/*.json") {
		id := strings.TrimSuffix(filepath.Base(name), ".json")
		m, err := scanMatch(raw, id)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		compare(t, name, raw, m)
		if is := special[id]; is != nil && !is(m) {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func compare(t *testing.T, name string, raw []byte, m Match) {
	t.Helper()
	var want struct {
		Info struct {
			GameCreation, GameDuration, GameStartTimestamp, GameEndTimestamp int64
			QueueID                                                          int
			GameMode, GameVersion                                            string
			Participants                                                     []struct {
				PUUID, ChampionName            string
				TeamID, Kills, Deaths, Assists int
				Win                            bool
			}
		}
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	i := want.Info
	if m.CreationMs != i.GameCreation || m.DurationS != i.GameDuration || m.StartMs != i.GameStartTimestamp || m.EndMs != i.GameEndTimestamp ||
		m.QueueID != i.QueueID || m.Mode != i.GameMode || m.Version != i.GameVersion || len(m.Participants) != len(i.Participants) {
		t.Errorf("%s: %+v", name, m)
	}
	for n, p := range i.Participants {
		got := m.Participants[n]
		got.Name, got.Tag = "", ""
		if got != (Participant{n, p.PUUID, "", "", p.ChampionName, p.TeamID, p.Win, p.Kills, p.Deaths, p.Assists}) {
			t.Errorf("%s, participant %d: %+v", name, n, got)
		}
	}
}

func TestRecordedTimelines(t *testing.T) {
	for name, raw := range fixtures(t, "timelines/*.json") {
		if _, err := scanTimeline(raw, strings.TrimSuffix(filepath.Base(name), ".json")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRecordedSmallAnswers(t *testing.T) {
	a, err := scanAccount(fixture(t, "account/by-riot-id.200.json"))
	if err != nil || a.GameName != "Nimbus Wren" || a.TagLine != "FX56" || len(a.PUUID) != 78 {
		t.Errorf("account: %v %+v", err, a)
	}
	for name, raw := range fixtures(t, "ids/*.json") {
		if ids, err := scanIDs(raw); err != nil || len(ids) == 0 {
			t.Errorf("%s: %v %v", name, err, ids)
		}
	}
	for name, raw := range fixtures(t, "summoner/*.json") {
		if i, err := scanSummoner(raw); err != nil || i.PUUID == "" {
			t.Errorf("%s: %v %+v", name, err, i)
		}
	}
	for name, raw := range fixtures(t, "league/*.json") {
		if e, err := scanLeagueEntries(raw); err != nil || len(e) == 0 || e[0].Tier == "" || e[0].Wins == 0 {
			t.Errorf("%s: %v %+v", name, err, e)
		} else if strings.Contains(name, "2025") && len(e[0].PUUID) != 78 {
			t.Errorf("%s: PUUID %q", name, e[0].PUUID)
		}
	}
}

func FuzzMatch(f *testing.F) {
	f.Add(small(`"gameDuration":1,"participants":[{"puuid":"a","win":true,"kills":3}]`))
	f.Add(benchMatch("EUW1_1")[:2000])
	for _, seed := range jsonSeeds {
		f.Add(small(`"participants":` + seed))
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := scanMatch(raw, "EUW1_1")
		if err != nil {
			return
		}
		if !json.Valid(raw) || m.ID != "EUW1_1" || m.DurationS < 0 || len(m.Participants) > maxParticipants {
			t.Fatalf("accepted as %+v: %q", m, raw)
		}
	})
}

func FuzzTimeline(f *testing.F) {
	f.Add(benchTimeline("EUW1_1")[:2000])
	for _, seed := range jsonSeeds {
		f.Add(small(`"frames":` + seed + `,"participants":` + seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if _, err := scanTimeline(raw, "EUW1_1"); err == nil && !json.Valid(raw) {
			t.Fatalf("accepted: %q", raw)
		}
	})
}

// FuzzSmallAnswers runs the decoders of all small answers over the same bytes.
func FuzzSmallAnswers(f *testing.F) {
	for _, seed := range append(jsonSeeds, `{"puuid":"p","gameName":"N","tagLine":"T"}`, `["EUW1_1","KR_2"]`,
		`[{"queueType":"RANKED_SOLO_5x5","tier":"GOLD","wins":1}]`) {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, err1 := scanAccount(raw)
		_, err2 := scanIDs(raw)
		_, err3 := scanSummoner(raw)
		_, err4 := scanLeagueEntries(raw)
		_, err5 := leagueScanner("", "")(raw)
		for i, err := range []error{err1, err2, err3, err4, err5} {
			if err == nil && !json.Valid(raw) {
				t.Fatalf("decoder %d accepts %q", i, raw)
			}
		}
		if message := messageOf(raw); message != "" && !json.Valid(raw) {
			t.Fatalf("message %q of %q", message, raw)
		}
	})
}
