package app

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// inNode asks DuckDB and Polars the questions of docs/data.md, and writes the tables as lines for a pandas that
// cannot read Parquet. It prints the answers and how many rows each table has.
const inNode = `
const fs = require("fs"), pl = require("nodejs-polars"), { DuckDBInstance } = require("@duckdb/node-api");
(async () => {
  const { views, questions, tables } = JSON.parse(fs.readFileSync("questions.json", "utf8"));
  const duck = await (await DuckDBInstance.create()).connect();
  await duck.run(views);
  const lol = new pl.SQLContext(Object.fromEntries(tables.map((t) => [t, pl.scanParquet("lol/" + t + "/**/*.parquet")])));
  const out = { rows: {}, DuckDB: [], Polars: [] };
  for (const t of tables) {
    const n = "select count(*) as n from " + t;
    out.rows[t] = Number((await duck.runAndReadAll(n)).getRowsJson()[0][0]);
    if (lol.execute(n, { eager: true }).rows()[0][0] !== out.rows[t]) throw new Error("Polars counts other rows of " + t);
    await duck.run("copy (select * from " + t + ") to '" + t + ".ndjson' (format json)");
  }
  for (const q of questions) {
    out.DuckDB.push((await duck.runAndReadAll(q)).getRowsJson());
    out.Polars.push(lol.execute(q, { eager: true }).rows());
  }
  console.log(JSON.stringify(out));
})();
`

// inPython asks pandas. Debian's has nothing that reads Parquet: there it gets what DuckDB has read.
const inPython = `
import json
import pandas as pd
try:
    import pyarrow
except ImportError:
    def read(path):
        with open(path.split("/")[-1] + ".ndjson") as lines:
            frame = pd.DataFrame([json.loads(line) for line in lines])
        for name in frame:
            if name.endswith("_at"):
                frame[name] = pd.to_datetime(frame[name], utc=True)
        return frame
    pd.read_parquet = read
answers = []
load, questions = json.load(open("pandas.json"))
names = {}
exec(load, names)
for question in questions:
    exec(question, names)
    answers.append(json.loads(names["answer"].to_json(orient="values", double_precision=15)))
print(json.dumps(answers))
`

// The ten questions of docs/data.md are put as they stand there to DuckDB, Polars and pandas, on the files that
// were exported: each answer is the one that Riot's JSON has. A second export changes no file.
func TestL23_TenQuestionsHaveTheAnswersOfThePayloads(t *testing.T) {
	t.Parallel()
	longest(t)
	modules := nodeTools(t)
	if _, err := os.Stat(filepath.Join(modules, "nodejs-polars-linux-x64-gnu")); err != nil {
		t.Skip(err)
	}
	l := sim.LadderSpec{Platform: route.KR, Queue: "RANKED_SOLO_5x5", Players: 20}
	who := sim.PlayerSpec{RiotID: "Name#TAG", Platform: route.KR, Matches: 40,
		Shapes: []sim.Shape{"ranked", "aram", "arena16", "remake", "swiftplay", "flex", "aborted"}}
	s := startSim(t, sim.Options{Seed: 3, Limits: limits("500:1"), Latency: sim.Instant, Ladders: []sim.LadderSpec{l},
		Players: []sim.PlayerSpec{who}, Epoch: time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)})
	dir, work := freshDir(t), t.TempDir()
	s.sync(who.RiotID, dir).run(t)
	command{args: []string{"collect", "master+", "--platform", "kr", "--yes", "--json", "--data-dir", dir}, env: s.env()}.asked(t).wants(t, exitDone)
	export := command{args: []string{"export", "--format", "parquet", "--out", "lol", "--data-dir", dir}, dir: work}
	export.asked(t).wants(t, exitDone)
	files := contents(t, filepath.Join(work, "lol"))
	export.asked(t).wants(t, exitDone)
	if again := contents(t, filepath.Join(work, "lol")); !maps.Equal(again, files) {
		t.Errorf("%d files, and others after a second run: %d", len(files), len(again))
	}

	sql, pandas := fenced(t, "data.md", "sql"), fenced(t, "data.md", "python")
	if len(sql) != 11 || len(pandas) != 11 {
		t.Fatalf("%d blocks of SQL, %d of pandas: want one that opens the tables, and ten", len(sql), len(pandas))
	}
	var tables []string
	for _, table := range columns.Tables {
		tables = append(tables, table.Name)
	}
	writeJSON(t, filepath.Join(work, "questions.json"), map[string]any{"views": sql[0], "questions": sql[1:], "tables": tables})
	writeJSON(t, filepath.Join(work, "pandas.json"), []any{pandas[0], pandas[1:]})
	var got struct {
		Rows           map[string]int
		DuckDB, Polars [][][]any
	}
	unmarshal(t, must(t, work, []string{"NODE_PATH=" + modules}, "node", "-e", inNode), &got)

	games := rawPayloads[rawGame](t, dir, "matches")
	lines := rawPayloads[rawTimeline](t, dir, "timelines")
	seats, events, frames := 0, 0, 0
	for _, g := range games {
		seats += len(g.Info.Participants)
	}
	for _, l := range lines {
		for _, f := range l.Info.Frames {
			events, frames = events+len(f.Events), frames+len(f.Participants)
		}
	}
	if want := map[string]int{"participants": seats, "events": events, "frames": frames}; seats < 1000 ||
		got.Rows["participants"] != seats || got.Rows["events"] != events || got.Rows["frames"] != frames || got.Rows["ranks"] == 0 {
		t.Errorf("rows %v, want %v", got.Rows, want)
	}
	answers := map[string][][][]any{"DuckDB": got.DuckDB, "Polars": got.Polars}
	if program := pythonWithPandas(); program != "" {
		var rows [][][]any
		unmarshal(t, must(t, work, nil, program, "-c", inPython), &rows)
		answers["pandas"] = rows
	}
	for i, want := range answersOf(games, lines) {
		if len(want) < 3 {
			t.Errorf("question %d: %d rows are too few to compare", i+1, len(want))
		}
		for by, rows := range answers {
			if got := rowTexts(rows[i]); !slices.Equal(got, rowTexts(want)) {
				t.Errorf("question %d by %s: %q\nwant %q", i+1, by, got, rowTexts(want))
			}
		}
	}
	t.Logf("%d games, asked by %v", len(games), slices.Sorted(maps.Keys(answers)))
}

// pythonWithPandas is a Python that has it; "" = there is none.
func pythonWithPandas() string {
	for _, program := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(program, "-c", "import pandas").Run() == nil {
			return program
		}
	}
	return ""
}

// contents are the files below a folder.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			raw, read := os.ReadFile(filepath.Join(dir, path))
			all[path], err = string(raw), read
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// fenced are the blocks of a page in a language.
func fenced(t *testing.T, page, language string) (all []string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(top, "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllSubmatch(raw, -1) {
		all = append(all, string(m[1]))
	}
	return all
}

func writeJSON(t *testing.T, path string, v any) {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, string(raw))
}

// rowTexts are rows in an order that all have, with numbers to six digits. DuckDB writes large ones as texts.
func rowTexts(rows [][]any) (texts []string) {
	for _, row := range rows {
		var cells []string
		for _, v := range row {
			cell := fmt.Sprint(v)
			if f, err := strconv.ParseFloat(cell, 64); err == nil {
				cell = strconv.FormatFloat(f, 'g', 6, 64)
			}
			cells = append(cells, cell)
		}
		texts = append(texts, strings.Join(cells, " "))
	}
	slices.Sort(texts)
	return texts
}

// rawGame is what is asked of Riot's JSON of a match.
type rawGame struct {
	Metadata struct{ MatchID string }
	Info     struct {
		QueueID                          int
		GameVersion                      string
		GameDuration, GameStartTimestamp int64
		Participants                     []rawSeat
		Teams                            []struct {
			TeamID int
			Win    bool
			Bans   []struct{ ChampionID int }
		}
	}
}

type rawSeat struct {
	PUUID, RiotIDGameName, RiotIDTagline, ChampionName, TeamPosition            string
	ParticipantID, TeamID, TotalMinionsKilled, NeutralMinionsKilled, TimePlayed int
	TotalDamageDealtToChampions                                                 int
	Win, GameEndedInEarlySurrender, GameEndedInSurrender                        bool
}

type rawTimeline struct {
	Metadata struct{ MatchID string }
	Info     struct {
		Frames []struct {
			Timestamp    int
			Participants map[string]struct{ ParticipantID, TotalGold int } `json:"participantFrames"`
			Events       []struct {
				Type, MonsterType                 string
				Timestamp, KillerTeamID, VictimID int
			}
		}
	}
}

// rawPayloads are the payloads of an export, by match.
func rawPayloads[T any](t *testing.T, dir, what string) map[string]T {
	t.Helper()
	all := map[string]T{}
	out := command{args: []string{"export", what, "--payload", "--data-dir", dir}}.asked(t).wants(t, exitDone).stdout
	for line := range strings.Lines(out) {
		var l struct {
			ID      string `json:"match_id"`
			Payload *T
		}
		if unmarshal(t, line, &l); l.Payload != nil {
			all[l.ID] = *l.Payload
		}
	}
	return all
}

// counted is one row of an answer in the making: how many, and sums of what is asked of them.
type counted struct {
	n, a, b float64
	list    []float64
}

// tally are the rows of an answer by their keys.
type tally map[[2]any]*counted

func (t tally) at(key ...any) *counted {
	var k [2]any
	copy(k[:], key)
	if t[k] == nil {
		t[k] = &counted{}
	}
	t[k].n++
	return t[k]
}

// rows are those with at least so many, of keys of so many columns.
func (t tally) rows(least float64, columns int, of func(*counted) []any) (rows [][]any) {
	for k, c := range t {
		if c.n >= least {
			rows = append(rows, append(slices.Clone(k[:columns]), of(c)...))
		}
	}
	return rows
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// answersOf computes the ten answers of docs/data.md from Riot's JSON.
func answersOf(games map[string]rawGame, timelines map[string]rawTimeline) [10][][]any {
	roles, leads, drakes, queues, hours, patches, bans, deaths, farms, pairs :=
		tally{}, tally{}, tally{}, tally{}, tally{}, tally{}, tally{}, tally{}, tally{}, tally{}
	for id, g := range games {
		seats, ranked := g.Info.Participants, g.Info.QueueID == 420
		if len(seats) == 0 { // aborted before it began
			continue
		}
		remake := !slices.ContainsFunc(seats, func(p rawSeat) bool { return !p.GameEndedInEarlySurrender })
		patch := strings.Join(strings.SplitN(g.Info.GameVersion, ".", 3)[:2], ".")
		queues.at(columns.ModeName(g.Info.QueueID)).a += one(remake)
		hours.at(time.UnixMilli(g.Info.GameStartTimestamp).In(time.FixedZone("Seoul", 9*3600)).Hour())
		damage, seatOf, winner := map[int]float64{}, map[int]rawSeat{}, 0
		for _, team := range g.Info.Teams {
			if team.Win {
				winner += team.TeamID
			}
			for _, ban := range team.Bans {
				if ranked && ban.ChampionID > 0 {
					bans.at(ban.ChampionID)
				}
			}
		}
		for _, p := range seats {
			damage[p.TeamID] += float64(p.TotalDamageDealtToChampions)
			seatOf[p.ParticipantID] = p
		}
		for _, p := range seats {
			if !remake && ranked && patch == "16.22" {
				roles.at(p.ChampionName, p.TeamPosition).a += one(p.Win)
			}
			if !remake && p.TeamPosition != "" {
				c := farms.at(p.TeamPosition)
				c.a += 60 * float64(p.TotalMinionsKilled+p.NeutralMinionsKilled) / float64(p.TimePlayed)
				c.b += float64(p.TotalDamageDealtToChampions) / damage[p.TeamID]
			}
			for _, other := range seats {
				if !remake && p.TeamID == other.TeamID && p.PUUID < other.PUUID {
					pairs.at(p.RiotIDGameName+"#"+p.RiotIDTagline, other.RiotIDGameName+"#"+other.RiotIDTagline).a += one(p.Win)
				}
			}
		}
		if ranked && !remake {
			c := patches.at(patch)
			c.a, c.list = c.a+one(seats[0].GameEndedInSurrender), append(c.list, float64(g.Info.GameDuration)/60)
		}
		twoTeams := winner > 0 && len(g.Info.Teams) == 2 && g.Info.Teams[0].TeamID == 100 && g.Info.Teams[1].TeamID == 200
		drake, lead, known := -1, 0.0, false
		for _, f := range timelines[id].Info.Frames {
			for _, e := range f.Events {
				if role := seatOf[e.VictimID].TeamPosition; e.Type == "CHAMPION_KILL" && e.Timestamp < 600_000 && role != "" {
					deaths.at(role)
				}
				if e.MonsterType == "DRAGON" && drake < 0 && !remake && twoTeams {
					drake = e.Timestamp / 60_000
					drakes.at(drake).a += one(e.KillerTeamID == winner)
				}
			}
			if minute := math.Round(float64(f.Timestamp) / 60_000); minute == 15 && g.Info.GameDuration >= 930 && !remake {
				for _, p := range f.Participants {
					side := map[int]float64{100: 1, 200: -1}[seatOf[p.ParticipantID].TeamID]
					lead, known = lead+side*float64(p.TotalGold), known || side != 0
				}
			}
		}
		if known && twoTeams {
			leads.at(math.Floor(lead / 1000)).a += one(winner == 100)
		}
	}
	number := func(c *counted) []any { return []any{c.n} }
	share := func(c *counted) []any { return []any{c.n, c.a / c.n} }
	return [10][][]any{
		roles.rows(1, 2, share), leads.rows(1, 1, share), drakes.rows(1, 1, share),
		queues.rows(1, 1, func(c *counted) []any { return []any{c.n, c.a} }), hours.rows(1, 1, number),
		patches.rows(1, 1, func(c *counted) []any {
			slices.Sort(c.list)
			n := len(c.list)
			return []any{c.n, (c.list[(n-1)/2] + c.list[n/2]) / 2, c.a / c.n}
		}),
		bans.rows(1, 1, number), deaths.rows(1, 1, number),
		farms.rows(1, 1, func(c *counted) []any { return []any{c.a / c.n, c.b / c.n} }), pairs.rows(3, 2, share),
	}
}
