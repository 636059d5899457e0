package pg

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/pgtest"
	"github.com/farsight-console/farsight/riot"
)

// aGame is a match of two seats as Riot tells it, with what PostgreSQL takes in no text, and a number for each sum.
func aGame(gold int) string {
	return fmt.Sprintf(`{"metadata":{"matchId":"KR_1"},"info":{"gameCreation":1763726400000,"gameStartTimestamp":1763726460123,
"gameEndTimestamp":1763728260000,"gameDuration":1800,"gameMode":"CLASSIC","gameType":"MATCHED_GAME","gameVersion":"16.23.1.2","mapId":11,
"queueId":420,"tournamentCode":"a\u0000b\"c","endOfGameResult":"GameComplete",
"teams":[{"teamId":100,"win":true,"bans":[{"championId":103},{"championId":-1},{"championId":64}],"objectives":{"tower":{"first":true,"kills":9}}},
	{"teamId":200,"win":false,"bans":[],"objectives":{"tower":{"first":false,"kills":2}}}],
"participants":[{"participantId":1,"puuid":"p0","championName":"Ahri","championId":103,"teamId":100,"win":true,"teamPosition":"MIDDLE","goldEarned":%d,
	"totalMinionsKilled":180,"neutralMinionsKilled":12,"gameEndedInEarlySurrender":false,"firstBloodKill":true,"item0":3020,"item1":0,
	"perks":{"statPerks":{"offense":5008},"styles":[{"style":8100,"selections":[{"perk":8112}]}]}},
	{"participantId":2,"puuid":"p1","championName":"Annie","championId":1,"teamId":200,"win":false,"teamPosition":""}]}}`, gold)
}

// The views have every column of the exports with its value, whether the payload is stored as JSON or as it came; what it
// told goes with it, and is told once when it comes again.
func TestL29_ViewsHaveTheColumnsOfExports(t *testing.T) {
	t.Parallel()
	at := pgtest.Schema(t)
	server := open(t, at)
	c, err := pgx.Connect(t.Context(), at)
	must(t, err)
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	db, shown := leading(t, server)
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	seats := []league.Participant{
		{PUUID: "p0", RiotID: "Faker#KR1", Champion: "Ahri", Team: 100, Won: true, Kills: 3}, {Index: 1, PUUID: "p1", Champion: "Annie", Team: 200},
	}
	must(t, db.Write(t.Context(), func(tx engine.Tx) error {
		if _, err := tx.Enqueue(engine.Spec{Kind: "match.fetch", Queue: "q", Key: "match:KR_1"}); err != nil {
			return err
		}
		m := league.Match{ID: "KR_1", Played: noon, QueueID: 420, Mode: "CLASSIC", Patch: "16.23", Participants: 2}
		return errors.Join(db.SaveMatch(tx, m, false), db.SaveParticipants(tx, m.ID, seats), db.SaveAccount(tx, league.Account{ID: "01A", GameName: "Faker", TagLine: "KR1", Platform: "kr", PUUIDs: map[string]string{"": "p0"}}),
			db.SaveRank(tx, league.Rank{Account: "01A", Queue: league.RankedSolo, At: noon, Tier: "GOLD", Division: "II", Points: 40}),
			db.SaveCollection(tx, engine.Collection{ID: "01C", CollectAsk: engine.CollectAsk{Name: "kr"}}), db.SaveAccount(tx, league.Account{ID: "01P", Collection: "01C", Created: noon, Platform: "kr", PUUIDs: map[string]string{"": "p9"}}),
			db.SaveRank(tx, league.Rank{Account: "01P", Queue: league.RankedSolo, At: noon.Add(time.Hour), Tier: "GOLD", Division: "II", Points: 40}))
	}))
	shown()
	view := func(name, order string) (rows []map[string]any) {
		t.Helper()
		for _, r := range rowsOf(t, c, "select to_json(v)::text from "+name+" v order by "+order) {
			row := map[string]any{}
			must(t, json.Unmarshal([]byte(r), &row))
			rows = append(rows, row)
		}
		return rows
	}
	same := func(what string, row map[string]any, table *columns.Table, want []riot.Value) {
		t.Helper()
		for i, f := range table.Columns {
			raw, err := json.Marshal(columns.Told(want[i]))
			must(t, err)
			var told any
			must(t, json.Unmarshal(raw, &told))
			have, there := row[f.Name]
			if text, is := have.(string); is && f.Type == riot.Instant {
				at, err := time.Parse(time.RFC3339Nano, text)
				must(t, err)
				have, told = at.UnixMilli(), want[i].Num
			}
			if !there || !reflect.DeepEqual(have, told) {
				t.Errorf("%s: %s is %v (%t), exports have %v", what, f.Name, have, there, told)
			}
		}
	}
	for _, asJSON := range []bool{true, false} {
		server.queryable = asJSON
		for _, gold := range []int{11873, 9} {
			raw := aGame(gold)
			ref, body := gzipped(raw)
			must(t, db.PutPayload(t.Context(), "KR_1", league.PartMatch, ref, body))
			r := columns.Reader{Payload: func(context.Context, string) ([]byte, error) { return []byte(aGame(gold)), nil }}
			must(t, r.Open(t.Context(), "KR_1"))
			games, all := view("matches", "match_id"), view("participants", "index")
			if len(games) != 1 || len(all) != 2 {
				t.Fatalf("%d matches with %d seats", len(games), len(all))
			}
			want := slices.Clone(r.GameRow())
			for i := range want {
				want[i].Text = safe.Text(want[i].Text)
			}
			same("the match", games[0], columns.GameTable, want)
			for i, row := range all {
				won := seats[i].Won
				same(fmt.Sprint("seat ", i), row, columns.SeatTable, r.SeatRow(&engine.SeatRow{Index: i, PUUID: seats[i].PUUID, RiotID: seats[i].RiotID,
					Champion: seats[i].Champion, Team: seats[i].Team, Won: &won, Kills: seats[i].Kills}))
			}
		}
	}
	line := engine.RankRow{Account: "01A", RiotID: "Faker#KR1", Platform: "kr", Queue: league.RankedSolo, At: noon, Tier: "GOLD", Division: "II", Points: 40, PUUID: "p0"}
	same("the rank", view("ranks", "at")[0], columns.RankTable, columns.RankTable.Row(columns.Source{Rank: &line}))
	line.Account, line.RiotID, line.PUUID, line.At = "01P", "", "p9", noon.Add(time.Hour)
	same("a place on a ladder", view("ranks", "at")[1], columns.RankTable, columns.RankTable.Row(columns.Source{Rank: &line}))
	same("a player", view("players", "account_id")[0], columns.PlayerTable, columns.PlayerTable.Row(columns.Source{
		Player: &engine.PlayerRow{Player: "01P", Platform: "kr", PUUID: "p9", Collection: "kr", Found: noon}}))

	have := view("jobs", "id")[0]
	for _, c := range columns.JobTable.Columns {
		if _, there := have[c.Name]; !there {
			t.Errorf("a job has no %s", c.Name)
		}
	}

	ref, body := gzipped(`{"info":{}}`) // it says nothing of a timeline's match
	must(t, db.PutPayload(t.Context(), "KR_1", league.PartTimeline, ref, body))
	if gold := rowsOf(t, c, "select gold::text from participants where index = 0"); gold[0] != "9" {
		t.Errorf("a timeline took what its match tells: %s", gold)
	}
	_, err = c.Exec(t.Context(), "delete from fs_payload where match = 'KR_1' and part = 'match'")
	must(t, err)
	if left := rowsOf(t, c, "select concat_ws(' ', m.map_id, p.gold, p.champion) from matches m join participants p using (match_id) where p.index = 0"); len(left) != 1 || left[0] != "Ahri" {
		t.Errorf("without its payload it tells %q", left)
	}
}

// A store that is there gets a new column by a new version of the schema alone.
func TestColumnsOfExportsAreThoseOfAVersion(t *testing.T) {
	t.Parallel()
	const version, of = 19, 121
	n := len(columns.GameTable.Columns) + len(columns.SeatTable.Columns)
	if Version() != version || n != of {
		t.Errorf("version %d has %d columns, this is version %d with %d: add a file to schema/, if only an empty one", version, of, Version(), n)
	}
}
