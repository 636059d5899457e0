package columns

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot"
)

// recorded are Riot's recorded payloads of a kind, by match.
func recorded(t *testing.T, kind string) map[string][]byte {
	t.Helper()
	dir := os.Getenv("FARSIGHT_FIXTURES")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "fixtures", "riot")
	}
	paths, err := filepath.Glob(filepath.Join(dir, kind, "*.json"))
	if err != nil || len(paths) == 0 {
		t.Skipf("no recordings: set FARSIGHT_FIXTURES (%v)", err)
	}
	all := map[string][]byte{}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(path), ".json")] = raw
	}
	return all
}

// plainly reads a path of a Fact in JSON that was decoded by the library.
func plainly(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		switch of := v.(type) {
		case map[string]any:
			v = of[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(of) {
				return nil
			}
			v = of[i]
		default:
			return nil
		}
	}
	return v
}

// expected is a column's value as decoded JSON has it.
func expected(f Fact, row any) any {
	var values []any
	for path := range strings.FieldsFuncSeq(f.Riot, func(r rune) bool { return r == '|' || r == '+' }) {
		if v := plainly(row, path); v != nil {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return nil
	}
	switch v := values[0].(type) {
	case float64:
		if strings.Contains(f.Riot, "+") {
			for _, more := range values[1:] {
				v += more.(float64)
			}
		}
		if v <= 0 && (f.Type == riot.ID || f.Type == riot.Instant) {
			return nil
		}
		return math.Trunc(v)
	case string:
		if v == "" {
			return nil
		}
	case []any:
		var texts []string
		for _, n := range v {
			texts = append(texts, fmt.Sprint(n))
		}
		return strings.Join(texts, ",")
	}
	return values[0]
}

// plain is a picked value in the terms of expected.
func plain(v riot.Value) any {
	switch v.Type {
	case riot.Null:
		return nil
	case riot.Text, riot.Ints:
		return v.Text
	case riot.Bool:
		return v.Num == 1
	}
	return float64(v.Num)
}

// compareRows compares rows with the objects of which they were made.
func compareRows(t *testing.T, where string, table *Table, values []riot.Value, objects []any) {
	t.Helper()
	width := len(table.Columns)
	if len(values) != len(objects)*width {
		t.Fatalf("%s: %d values for %d rows of %s", where, len(values), len(objects), table.Name)
	}
	for i, object := range objects {
		for c, f := range table.Columns {
			if f.of != nil {
				continue
			}
			if got, want := plain(values[i*width+c]), expected(f, object); got != want {
				t.Errorf("%s: %s[%d].%s is %v, want %v", where, table.Name, i, f.Name, got, want)
			}
		}
	}
}

// elements are the elements of a list of decoded JSON.
func elements(v any) []any { list, _ := v.([]any); return list }

// cells are values of a row by name.
func cells(table *Table, row []riot.Value, names string) string {
	var said []string
	for name := range strings.FieldsSeq(names) {
		i := slices.IndexFunc(table.Columns, func(f Fact) bool { return f.Name == name })
		raw, _ := json.Marshal(Told(row[i]))
		said = append(said, string(raw))
	}
	return strings.Join(said, " ")
}

// readerOf is a Reader of payloads in memory.
func readerOf(payloads map[string][]byte) *Reader {
	return &Reader{Payload: func(_ context.Context, id string) ([]byte, error) {
		if raw, ok := payloads[id]; ok {
			return raw, nil
		}
		return nil, engine.ErrNotFound
	}}
}

// Every column of a recorded match is what the library's decoder reads at its place, and no 0 stands for what Riot
// does not tell.
func TestL20_ColumnsAreWhatRiotTells(t *testing.T) {
	payloads := recorded(t, "matches")
	r := readerOf(payloads)
	for id, raw := range payloads {
		var doc any
		if err := json.Unmarshal(raw, &doc); err != nil {
			t.Fatal(err)
		}
		if err := r.Open(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		info := plainly(doc, "info")
		compareRows(t, id, GameTable, r.GameRow(), []any{info})
		compareRows(t, id, SeatTable, r.seats, elements(plainly(info, "participants")))
	}
}

// What is made of several facts, in games of all kinds.
func TestL20_DerivedColumns(t *testing.T) {
	r := readerOf(recorded(t, "matches"))
	const names = "platform queue patch duration_s remake aborted winner seats blue_bans first_dragon red_towers first_blood"
	for id, want := range map[string]string{
		// A remake has no winner, though Riot lets a team win it.
		"BR1_2619338540": `"br1" "Ranked Solo" "12.20" 203 true false null 10 [350,8,84,39,11] null 0 200`,
		// Nothing is known of a game that was aborted, and nothing is 0.
		"EUW1_6834713231": `"euw1" null null null false true null 0 null null null null`,
		"JP1_566638130":   `"jp1" "Ranked Solo" "16.4" 1670 false false 200 10 [84,78,7,107,166] 200 9 200`,
		"NA1_5245486208":  `"na1" "Arena" "15.5" 1474 false false null 16 [25,113,516,875,14,31,233,122,86,36,44,67,11,50,12,50] null null null`,
	} {
		if err := r.Open(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if got := cells(GameTable, r.GameRow(), names); got != want {
			t.Errorf("%s:\n%s, want\n%s", id, got, want)
		}
	}
	// A seat is told by what is stored of it: who was forgotten stays so.
	seat := &engine.SeatRow{Index: 3, PUUID: "forgotten:12", Champion: "Ahri"}
	if got, want := cells(SeatTable, r.SeatRow(seat), "index puuid riot_id won"), `3 "forgotten:12" "" null`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	// Without a payload only that is known.
	if err := r.Open(t.Context(), "KR_1"); err != nil {
		t.Fatal(err)
	}
	if got, want := cells(SeatTable, r.SeatRow(seat), "match_id champion kills gold item0 role"), `"KR_1" "Ahri" 0 null null null`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := cells(GameTable, r.GameRow(), "match_id queue_id duration_s remake seats"), `"KR_1" null null null null`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A member of another type, a number beyond its type and a list of something else are null; a word that nobody knows
// passes as text.
func TestL20_WhatIsNotOfItsTypeIsNull(t *testing.T) {
	const payload = `{"metadata":{"matchId":"KR_1"},"info":{"gameMode":"NEW_MODE_9","mapId":1e30,"gameCreation":99999999999999999,
		"gameType":7,"queueId":"420","teams":[{"teamId":100,"bans":[{"championId":-1},{"championId":5},7,{"championId":"x"}]},null,3],
		"participants":[{"goldEarned":-5,"champLevel":"9","item0":0,"teamPosition":"ROAMER","perks":{"styles":{}},"allInPings":2,
		"baitPings":null,"dangerPings":3},null,{"perks":{"styles":[{"selections":[{},{"perk":8}]}]}}]}}`
	r := readerOf(map[string][]byte{"KR_1": []byte(payload)})
	if err := r.Open(t.Context(), "KR_1"); err != nil {
		t.Fatal(err)
	}
	if got, want := cells(GameTable, r.GameRow(), "mode map_id created_at type queue_id blue_bans red_bans winner"), `"NEW_MODE_9" null null null null [5] null null`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for i, want := range []string{`-5 null null "ROAMER" 5 null`, `null null null null null null`, `null null null null null 8`} {
		if got := cells(SeatTable, r.SeatRow(&engine.SeatRow{Index: i}), "gold level item0 role pings rune2"); got != want {
			t.Errorf("seat %d: %s, want %s", i, got, want)
		}
	}
}

// A payload that is no JSON costs the columns that it would have told, and is an error once.
func TestL20_ADamagedPayloadLeavesNull(t *testing.T) {
	r := readerOf(map[string][]byte{"KR_1": []byte(`{"metadata":{"matchId":"KR_1"},"info":{"participants":[{"goldEarned":5}`)})
	if err := r.Open(t.Context(), "KR_1"); err == nil || !strings.Contains(err.Error(), "KR_1") {
		t.Error(err)
	}
	if err := r.Open(t.Context(), "KR_1"); err != nil {
		t.Errorf("told twice: %v", err)
	}
	if got := cells(SeatTable, r.SeatRow(&engine.SeatRow{Kills: 3}), "kills gold"); got != "3 null" {
		t.Error(got)
	}
}

// Every event and every frame of a recorded timeline is a row, in Riot's order, with what the library's decoder reads.
func TestL21_EventsAndFramesAreWhatRiotTells(t *testing.T) {
	kinds := map[string]bool{}
	for id, raw := range recorded(t, "timelines") {
		var doc any
		if err := json.Unmarshal(raw, &doc); err != nil {
			t.Fatal(err)
		}
		var events, frames []any
		var at []float64 // of frames
		for _, frame := range elements(plainly(doc, "info.frames")) {
			events = append(events, elements(plainly(frame, "events"))...)
			of, _ := plainly(frame, "participantFrames").(map[string]any)
			for n := 1; n <= len(of); n++ { // as Riot writes them
				frames = append(frames, of[strconv.Itoa(n)])
				at = append(at, plainly(frame, "timestamp").(float64))
			}
		}
		for _, event := range events {
			kinds[plainly(event, "type").(string)] = true
		}
		rows, err := EventTable.Pick(raw, nil)
		if err != nil {
			t.Fatal(err)
		}
		compareRows(t, id, EventTable, rows, events)
		if rows, err = FrameTable.Pick(raw, rows[:0]); err != nil {
			t.Fatal(err)
		}
		width := len(FrameTable.Columns)
		for i := range frames {
			row := rows[i*width:][:width]
			FrameTable.Fill(&Source{ID: id}, row)
			if got, want := cells(FrameTable, row, "match_id time_ms minute"), fmt.Sprintf("%q %d %d", id, int(at[i]), int(math.Round(at[i]/60_000))); got != want {
				t.Errorf("%s: frame %d: %s, want %s", id, i, got, want)
			}
			row[1] = riot.Value{} // of the frame around it
		}
		compareRows(t, id, FrameTable, rows, frames)
	}
	if len(kinds) < 15 {
		t.Errorf("only events of %v were tried", kinds)
	}
}

// A hostile payload of millions of rows is refused before it has taken the memory.
func TestL21_TooManyRowsAreRefused(t *testing.T) {
	raw := []byte(`{"info":{"frames":[{"events":[` + strings.Repeat("{},", 1_000_000) + `{}]}]}}`)
	if rows, err := EventTable.Pick(raw, nil); err == nil || len(rows) > 20_000*len(EventTable.Columns) {
		t.Errorf("%d values, %v", len(rows), err)
	}
}

// FuzzPick proves that no payload makes rows of another width, and that what is no JSON is refused.
func FuzzPick(f *testing.F) {
	f.Add([]byte(`{"info":{"frames":[{"events":[{"type":"X","assistingParticipantIds":[1,2]}],"participantFrames":{"1":{"xp":5}},"timestamp":60001}]}}`))
	f.Add([]byte(`{"info":{"frames":[{"timestamp":1,"events":null},[{}],{"events":[null,1,"x",[]]}]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, table := range []*Table{GameTable, SeatTable, EventTable, FrameTable} {
			rows, err := table.Pick(raw, nil)
			if len(rows)%len(table.Columns) != 0 || err == nil && !json.Valid(raw) {
				t.Errorf("%d values of %s, %v", len(rows), table.Name, err)
			}
		}
	})
}
