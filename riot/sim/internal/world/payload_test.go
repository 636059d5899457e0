package world

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/farsight-console/farsight/riot/route"
)

var epoch = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func everyShape(matches int) *World {
	return New(7, epoch, []Spec{
		{RiotID: "Shapes#T", Platform: route.EUW1, Matches: len(AllShapes()), Span: 30 * day, Shapes: AllShapes()},
		{RiotID: "Mix#T", Platform: route.NA1, Matches: matches, Span: 600 * day},
		{RiotID: "Eras#T", Platform: route.KR, Matches: 24, Span: 2400 * day, Shapes: []Shape{Ranked, ARAM, Flex}},
	})
}

// project is a key project.
var project = NewProject(7, "default")

// gamesOf are an account's games, newest first.
func gamesOf(w *World, riotID string) []*Game { return w.Named(riotID).Games }

type anyMatch struct {
	Metadata struct {
		MatchID      string
		Participants []string
	}
	Info map[string]json.RawMessage
}

func matchOf(w *World, g *Game) []byte { return w.AppendMatch(nil, g, project) }

func timelineOf(w *World, g *Game) []byte { return w.AppendTimeline(nil, g, project) }

func TestEveryShapeIsJSONAboutItsMatch(t *testing.T) {
	alone(t)
	s := everyShape(20)
	for _, a := range s.Accounts {
		for _, g := range a.Games {
			id, raw := g.ID, matchOf(s, g)
			var m anyMatch
			if err := json.Unmarshal(raw, &m); err != nil {
				t.Fatalf("%s %s: %v", g.Shape, id, err)
			}
			if m.Metadata.MatchID != id {
				t.Fatalf("%s: match id %q inside", id, m.Metadata.MatchID)
			}
			if !slices.Contains(m.Metadata.Participants, project.PUUID(a.Me)) {
				t.Errorf("%s %s: our player is not in it", g.Shape, id)
			}
			var tl anyMatch
			if err := json.Unmarshal(timelineOf(s, g), &tl); err != nil || tl.Metadata.MatchID != id {
				t.Fatalf("%s timeline %s: %v", g.Shape, id, err)
			}
		}
	}
}

// Recorded matches average 67.6 KB (74 to 76 on the newest patches, 10.3 gzipped), timelines 473 (48.1
// gzipped). The bands leave room for the mix of modes.
func TestSizesAreNearRealPayloads(t *testing.T) {
	alone(t)
	s := everyShape(60)
	var raw, gz, rawT, gzT, n int
	for _, g := range gamesOf(s, "Mix#T") {
		m := matchOf(s, g)
		if g.Shape == Aborted {
			continue
		}
		tl := timelineOf(s, g)
		n++
		raw, rawT = raw+len(m), rawT+len(tl)
		gz, gzT = gz+packed(m), gzT+packed(tl)
	}
	within(t, "match", raw/n, 62_000, 80_000)
	within(t, "match gzip", gz/n, 8_500, 13_000)
	within(t, "timeline", rawT/n, 420_000, 530_000)
	within(t, "timeline gzip", gzT/n, 40_000, 56_000)
	t.Logf("match %d B, gzip %d; timeline %d B, gzip %d", raw/n, gz/n, rawT/n, gzT/n)
}

// packed is the size of a payload on its way.
func packed(raw []byte) int {
	var out bytes.Buffer
	zw := gzip.NewWriter(&out)
	_, _ = zw.Write(raw)
	_ = zw.Close()
	return out.Len()
}

// shapesSkipped says why tests of payloads alone are left out; empty = they are not.
var shapesSkipped string

// alone marks a test of what one goroutine computes.
func alone(t *testing.T) {
	if shapesSkipped != "" {
		t.Skip(shapesSkipped)
	}
}

func within(t *testing.T, what string, got, lo, hi int) {
	t.Helper()
	if got < lo || got > hi {
		t.Errorf("%s: %d bytes on average, want %d to %d", what, got, lo, hi)
	}
}

// Riot's payloads of each recorded patch, and the simulated ones of the same patch and map, must have the
// same keys: no more, and of participants no fewer.
func TestKeysAreTheRecordedOnes(t *testing.T) {
	dir := fixtures(t)
	cases := []struct {
		shape Shape
		id    string
		age   time.Duration
	}{
		{Ranked, "JP1_566638130", 0}, {RankedEarly, "JP1_563621972", 0}, {Ranked2022, "NA1_4265913704", 0}, {Ranked2023, "EUW1_6349186754", 0},
		{Ranked2024, "KR_7014499581", 0}, {Swiftplay, "EUW1_7261321891", 640 * day}, {ARAM, "JP1_518437246", 400 * day},
		{Arena16, "NA1_5245486208", 550 * day}, {Arena8, "EUW1_6511808246", 0}, {Swarm, "JP1_456819992", 0},
		{FalseAbort, "NA1_5018382378", 700 * day}, {Remake, "BR1_2619338540", 1500 * day}, {Bots, "JP1_391732436", 1300 * day}, {Aborted, "EUW1_6834713231", 0},
	}
	recordedC, simulatedC := map[string]bool{}, map[string]bool{}
	for _, c := range cases {
		var want, got anyMatch
		recorded, err := os.ReadFile(filepath.Join(dir, "matches", c.id+".json"))
		if err != nil {
			t.Fatal(err)
		}
		s := New(0, epoch, []Spec{{RiotID: "A#A", Platform: route.EUW1, Matches: 2, Span: 2 * c.age, Shapes: []Shape{c.shape}}})
		raw := matchOf(s, gamesOf(s, "A#A")[1])
		mustDecode(t, recorded, &want)
		mustDecode(t, raw, &got)
		compareKeys(t, string(c.shape)+" info", keysOf(want.Info), keysOf(got.Info))
		wantP, wantC := participantKeys(t, want)
		gotP, gotC := participantKeys(t, got)
		compareKeys(t, string(c.shape)+" participant", wantP, gotP)
		maps.Copy(recordedC, wantC)
		maps.Copy(simulatedC, gotC)
	}
	// Which challenges a participant carries depends on what they did, so one game proves little.
	for k := range simulatedC {
		if !recordedC[k] {
			t.Errorf("challenge %q was never recorded", k)
		}
	}
}

func TestTimelineKeysAreTheRecordedOnes(t *testing.T) {
	alone(t)
	dir := fixtures(t)
	files, _ := filepath.Glob(filepath.Join(dir, "timelines", "*.json"))
	events, frame := map[string]map[string]bool{}, map[string]bool{}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		collectTimeline(t, data, events, frame)
	}
	s := everyShape(10)
	simEvents, simFrame := map[string]map[string]bool{}, map[string]bool{}
	for _, g := range gamesOf(s, "Shapes#T") {
		collectTimeline(t, timelineOf(s, g), simEvents, simFrame)
	}
	compareKeys(t, "participantFrame", frame, simFrame)
	for kind, keys := range simEvents {
		for k := range keys {
			if !events[kind][k] {
				t.Errorf("event %s: key %q was never recorded", kind, k)
			}
		}
	}
}

func collectTimeline(t *testing.T, data []byte, events map[string]map[string]bool, frame map[string]bool) {
	t.Helper()
	var tl struct {
		Info struct {
			Frames []struct {
				Events            []map[string]json.RawMessage
				ParticipantFrames map[string]map[string]json.RawMessage
			}
		}
	}
	mustDecode(t, data, &tl)
	for _, f := range tl.Info.Frames {
		for _, e := range f.Events {
			kind := string(e["type"])
			if events[kind] == nil {
				events[kind] = map[string]bool{}
			}
			maps.Copy(events[kind], keysOf(e))
		}
		for _, p := range f.ParticipantFrames {
			maps.Copy(frame, keysOf(p))
		}
	}
}

func mustDecode(t *testing.T, data []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

func keysOf(m map[string]json.RawMessage) map[string]bool {
	keys := map[string]bool{}
	for k := range m {
		keys[k] = true
	}
	return keys
}

func participantKeys(t *testing.T, m anyMatch) (all, challenges map[string]bool) {
	t.Helper()
	var parts []map[string]json.RawMessage
	mustDecode(t, m.Info["participants"], &parts)
	all, challenges = map[string]bool{}, map[string]bool{}
	for _, p := range parts {
		maps.Copy(all, keysOf(p))
		if p["challenges"] != nil {
			var c map[string]json.RawMessage
			mustDecode(t, p["challenges"], &c)
			maps.Copy(challenges, keysOf(c))
		}
	}
	return all, challenges
}

func compareKeys(t *testing.T, what string, want, got map[string]bool) {
	t.Helper()
	for k := range got {
		if !want[k] {
			t.Errorf("%s: key %q was not recorded", what, k)
		}
	}
	for k := range want {
		if !got[k] {
			t.Errorf("%s: key %q is missing", what, k)
		}
	}
}

// fixtures is the folder of recorded payloads. The test is skipped without it.
func fixtures(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("FARSIGHT_FIXTURES")
	if _, err := os.Stat(filepath.Join(dir, "matches")); err != nil {
		t.Skip("FARSIGHT_FIXTURES names no recorded payloads")
	}
	return dir
}

func TestShapesKeepTheirPeculiarities(t *testing.T) {
	s := everyShape(1)
	type facts struct {
		Info struct {
			EndOfGameResult  string
			GameDuration     int
			GameEndTimestamp *int64
			Participants     []struct {
				PUUID                     string
				Challenges                json.RawMessage
				GameEndedInEarlySurrender bool
				RiotIDGameName            *string
				SummonerName              string
			}
		}
		Metadata struct{ Participants []string }
	}
	byShape := map[Shape]facts{}
	for i, g := range gamesOf(s, "Shapes#T") {
		raw := matchOf(s, g)
		var f facts
		mustDecode(t, raw, &f)
		byShape[AllShapes()[i]] = f
	}
	check := func(shape Shape, ok bool, what string) {
		t.Helper()
		if !ok {
			t.Errorf("%s: %s", shape, what)
		}
	}
	for shape, n := range map[Shape]int{Ranked: 10, Arena16: 16, Arena8: 8, Swarm: 1, Aborted: 0, Bots: 10} {
		check(shape, len(byShape[shape].Info.Participants) == n, "wrong number of participants")
	}
	old := byShape[Pre1120].Info
	check(Pre1120, old.GameEndTimestamp == nil && old.GameDuration > 100_000, "duration in ms and no end before 11.20")
	check(Aborted, len(byShape[Aborted].Metadata.Participants) == 10 && byShape[Aborted].Info.GameDuration == 0, "zero info, ten in metadata")
	check(FalseAbort, byShape[FalseAbort].Info.EndOfGameResult == "Abort_Unexpected" && byShape[FalseAbort].Info.GameDuration > 600, "complete game called aborted")
	bots := 0
	for _, p := range byShape[Bots].Info.Participants {
		if p.PUUID == "BOT" && p.Challenges == nil {
			bots++
		}
	}
	check(Bots, bots == 5 && len(byShape[Bots].Metadata.Participants) == 5, "five bots, not in metadata")
	check(Remake, byShape[Remake].Info.Participants[0].GameEndedInEarlySurrender && byShape[Remake].Info.GameDuration < 300, "remake")
	check(Ranked2022, byShape[Ranked2022].Info.Participants[0].RiotIDGameName == nil && byShape[Ranked2022].Info.Participants[3].SummonerName != "", "names of 2022")
	check(Ranked, byShape[Ranked].Info.Participants[0].SummonerName == "", "no summonerName today")
}

// Kills, gold and levels of a timeline end where those of its match end.
func TestTimelineAgreesWithMatch(t *testing.T) {
	s := everyShape(1)
	g := s.facts(gamesOf(s, "Mix#T")[0], project)
	var tl struct {
		Info struct {
			Frames []struct {
				Timestamp         int
				Events            []struct{ Type string }
				ParticipantFrames map[string]struct{ Level, TotalGold int }
			}
		}
	}
	mustDecode(t, timelineOf(s, g.Game), &tl)
	kills := 0
	for _, f := range tl.Info.Frames {
		for _, e := range f.Events {
			if e.Type == "CHAMPION_KILL" {
				kills++
			}
		}
	}
	end := tl.Info.Frames[len(tl.Info.Frames)-1].ParticipantFrames["1"]
	if kills != len(g.kills) || end.Level != g.parts[0].level || end.TotalGold != g.parts[0].gold {
		t.Errorf("timeline: %d kills, %+v; match: %d kills, level %d, gold %d", kills, end, len(g.kills), g.parts[0].level, g.parts[0].gold)
	}
}

func TestSameSeedGivesSamePayloadsInAnyOrder(t *testing.T) {
	one, two := everyShape(20), everyShape(20)
	other := New(8, epoch, []Spec{{RiotID: "Mix#T", Platform: route.NA1, Matches: 20, Span: 600 * day}})
	ids := func(w *World) (list []string) {
		for _, g := range gamesOf(w, "Mix#T") {
			list = append(list, g.ID)
		}
		return list
	}
	if !slices.Equal(ids(one), ids(two)) {
		t.Fatal("same seed, other ids")
	}
	if slices.Equal(ids(one), ids(other)) {
		t.Error("another seed, same ids")
	}
	made := map[string][]byte{}
	for _, g := range slices.Backward(gamesOf(two, "Mix#T")) {
		made[g.ID] = append(matchOf(two, g), timelineOf(two, g)...)
	}
	for _, g := range gamesOf(one, "Mix#T") {
		if !bytes.Equal(append(matchOf(one, g), timelineOf(one, g)...), made[g.ID]) {
			t.Errorf("%s differs with the order of calls", g.ID)
		}
	}
}

// What a seed tells stays the same from version to version: goldens and pictures show it.
func TestPayloadsStayAsTheyWere(t *testing.T) {
	alone(t)
	w, sum := everyShape(40), sha256.New()
	for _, a := range w.Accounts {
		for _, g := range a.Games {
			sum.Write(matchOf(w, g))
			sum.Write(timelineOf(w, g))
		}
	}
	const want = "8fc85f15e1f962f886d07a9bf505a4148815e9d81804331fae7ac5eb4ea07950"
	if got := hex.EncodeToString(sum.Sum(nil)); got != want {
		t.Errorf("the payloads of seed 7 hash to %s, not %s", got, want)
	}
}

func BenchmarkMatch(b *testing.B)    { write(b, (*World).AppendMatch) }
func BenchmarkTimeline(b *testing.B) { write(b, (*World).AppendTimeline) }

func write(b *testing.B, kind func(*World, []byte, *Game, *Project) []byte) {
	w := everyShape(40)
	games, buf := gamesOf(w, "Mix#T"), make([]byte, 0, 1<<20)
	for i := 0; b.Loop(); i++ {
		buf = kind(w, buf[:0], games[i%len(games)], project)
	}
}
