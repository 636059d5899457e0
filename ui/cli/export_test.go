package cli

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage"
)

// store is a real store that takes writes until the test ends.
func store(t *testing.T) *storage.DB {
	t.Helper()
	db, err := storage.Open(storage.Options{Dir: filepath.Join(t.TempDir(), "data")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- db.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-served, db.Close()); err != nil {
			t.Error(err)
		}
	})
	return db
}

func commit(t *testing.T, db *storage.DB, fn func(tx engine.Tx) error) {
	t.Helper()
	if err := db.Write(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}

func saveMatches(t *testing.T, db *storage.DB, from, to int) {
	t.Helper()
	commit(t, db, func(tx engine.Tx) error {
		var errs []error
		for i := from; i < to; i++ {
			errs = append(errs, db.SaveMatch(tx, league.Match{ID: fmt.Sprintf("EUW1_%d", i), Match: league.Fetch{Status: league.OutsideRetentionWindow}}, false))
		}
		return errors.Join(errs...)
	})
}

// exportable is what can be exported of a kind.
func exportable(kind engine.FeedKind) Exportable {
	all := Exportables()
	return all[slices.IndexFunc(all, func(e Exportable) bool { return e.Kind == kind })]
}

// exportAll runs an export to its end and gives its lines.
func exportAll(t *testing.T, e Export, src Feed) ([]string, Exported) {
	t.Helper()
	var out bytes.Buffer
	done, err := e.Write(context.Background(), src, &out)
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(strings.Lines(out.String()))
	head := 0
	if e.Format == CSV && !e.Headless {
		head = 1
	}
	if done.Lines != len(lines)-head {
		t.Errorf("%d lines written, %d counted", len(lines)-head, done.Lines)
	}
	return lines, done
}

func cursorOf(t *testing.T, line string) string {
	t.Helper()
	var l struct {
		Cursor string `json:"cursor"`
	}
	if err := json.Unmarshal([]byte(line), &l); err != nil || l.Cursor == "" {
		t.Fatalf("line %q has no cursor: %v", line, err)
	}
	return l.Cursor
}

func TestExportGoesOnAfterAnyLine(t *testing.T) {
	db := store(t)
	saveMatches(t, db, 0, 2*pageSize+1)
	e := Export{What: exportable(engine.FeedMatches), Format: NDJSON}
	all, done := exportAll(t, e, db)
	if len(all) != 2*pageSize+1 || done.Cursor != cursorOf(t, all[len(all)-1]) {
		t.Fatalf("%d lines, up to %s", len(all), done.Cursor)
	}
	for _, i := range []int{0, 1, pageSize - 1, pageSize, pageSize + 1, 2*pageSize - 1, 2 * pageSize} {
		e.After = cursorOf(t, all[i])
		if rest, last := exportAll(t, e, db); !slices.Equal(rest, all[i+1:]) || last.Cursor != done.Cursor {
			t.Errorf("after line %d: %d lines, want %d", i, len(rest), len(all)-i-1)
		}
	}
	e.After = "EUW1_1"
	if _, err := e.Write(context.Background(), db, &bytes.Buffer{}); !errors.Is(err, engine.ErrInvalid) || !strings.Contains(err.Error(), "EUW1_1") {
		t.Errorf("after what is no cursor: %v", err)
	}
	if _, done := exportAll(t, Export{What: exportable(engine.FeedTimelines), Format: NDJSON}, db); done.Lines != 0 || done.Cursor == "" {
		t.Errorf("nothing to export: %+v", done)
	}
}

func TestExportedRanks(t *testing.T) {
	db := store(t)
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	commit(t, db, func(tx engine.Tx) error {
		return errors.Join(
			db.SaveAccount(tx, league.Account{ID: "01A", GameName: "=A", TagLine: "1", Platform: "kr"}),
			db.SaveRank(tx, league.Rank{Account: "01A", Queue: league.RankedSolo, At: at, Tier: "GOLD", Division: "II", Points: 7, Wins: 2, Losses: 1}),
			db.SaveRank(tx, league.Rank{Account: "01A", Queue: league.RankedFlex, At: at, Unranked: true}))
	})
	lines, done := exportAll(t, Export{What: exportable(engine.FeedRanks), Format: CSV}, db)
	want := []string{
		"account_id,riot_id,platform,queue,at,unranked,tier,division,points,wins,losses,puuid,cursor\n",
		"01A,'=A#1,kr,RANKED_SOLO_5x5,2026-11-21T12:00:00.000Z,false,GOLD,II,7,2,1,,",
		"01A,'=A#1,kr,RANKED_FLEX_SR,2026-11-21T12:00:00.000Z,true,,,0,0,0,," + done.Cursor + "\n",
	}
	if len(lines) != len(want) || lines[0] != want[0] || !strings.HasPrefix(lines[1], want[1]) || lines[2] != want[2] {
		t.Errorf("%q", lines)
	}
}

// hostile are names that a player may have chosen.
var hostile = []string{
	`=HYPERLINK("http://evil","x")#1`, "+1+1", "-2+3", "@SUM(A1)", "\t=1+1", "＝1", "|cmd", "%1",
	"\x1b]0;owned\x07\x1b[2J", "a\u202eb\u2066", "one\r\ntwo", `quote " comma , end`, "nul\x00", "\u009b31m", "<b>&amp;", "\u2028", "",
	strings.Repeat("ö", 1000),
}

func saveHostile(t *testing.T, db *storage.DB) {
	t.Helper()
	commit(t, db, func(tx engine.Tx) error {
		var ps []league.Participant
		for i, name := range hostile {
			ps = append(ps, league.Participant{Index: i, PUUID: "BOT", RiotID: name, Champion: name, Kills: -i})
		}
		m := league.Match{ID: "EUW1_1", Played: time.UnixMilli(1 << 53), Match: league.Fetch{Status: league.TemporaryFailure, LastError: strings.Join(hostile, " ")}}
		return errors.Join(db.SaveMatch(tx, m, false), db.SaveParticipants(tx, m.ID, ps))
	})
}

func wantHarmless(t *testing.T, lines []string) {
	t.Helper()
	for _, line := range lines {
		bad := func(r rune) bool {
			return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == unicode.ReplacementChar
		}
		if at := strings.IndexFunc(strings.TrimSuffix(line, "\n"), bad); at >= 0 {
			t.Errorf("%q would reach a terminal at %d of %q", line[at:at+1], at, line)
		}
	}
}

func TestExportNDJSONIsHarmlessAndExact(t *testing.T) {
	db := store(t)
	saveHostile(t, db)
	lines, _ := exportAll(t, Export{What: exportable(engine.FeedParticipants), Format: NDJSON}, db)
	wantHarmless(t, lines)
	for i, line := range lines {
		var l struct {
			ID     string `json:"match_id"`
			Index  int    `json:"index"`
			PUUID  string `json:"puuid"`
			RiotID string `json:"riot_id"`
			Kills  int    `json:"kills"`
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.ID != "EUW1_1" || l.Index != i || l.PUUID != "BOT" || l.RiotID != hostile[i] || l.Kills != -i {
			t.Errorf("seat %d: %+v %v", i, l, err)
		}
	}
	if len(lines) != len(hostile) {
		t.Errorf("%d lines", len(lines))
	}
	lines, _ = exportAll(t, Export{What: exportable(engine.FeedMatches), Format: NDJSON}, db)
	wantHarmless(t, lines)
	var l map[string]any
	if err := json.Unmarshal([]byte(lines[0]), &l); err != nil || l["last_error"] != strings.Join(hostile, " ") || !strings.HasPrefix(fmt.Sprint(l["played_at"]), "287396-") {
		t.Errorf("%v %v", l, err)
	}
	for _, name := range []string{"match_id", "status", "attempts", "fetched_at", "last_attempt_at", "last_error", "cursor"} {
		if _, there := l[name]; !there {
			t.Errorf("a line without %s", name)
		}
	}
}

func TestExportCSVStartsNoFormula(t *testing.T) {
	db := store(t)
	saveHostile(t, db)
	lines, _ := exportAll(t, Export{What: exportable(engine.FeedParticipants), Format: CSV}, db)
	wantHarmless(t, lines)
	rows, err := csv.NewReader(strings.NewReader(strings.Join(lines, ""))).ReadAll()
	if err != nil || len(rows) != len(hostile)+1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	last := len(rows[0]) - 1
	if rows[0][0] != "match_id" || rows[0][last] != "cursor" || len(rows[0]) != len(exportable(engine.FeedParticipants).fields)+1 {
		t.Errorf("head %q", rows[0])
	}
	for i, row := range rows[1:] {
		if got, want := row[7], fmt.Sprint(-i); got != want && i > 0 {
			t.Errorf("a plain number became %q", got)
		}
		for at, c := range row {
			if at != 7 && strings.ContainsAny(c[:min(len(c), 1)], "=+-@|%\t\r") || strings.HasPrefix(c, "＝") {
				if c != "+1" {
					t.Errorf("row %d begins a formula: %q", i, c)
				}
			}
		}
		if row[last] != cursorOf(t, jsonLine(t, db, i)) {
			t.Errorf("row %d has the cursor %q", i, row[last])
		}
	}
	rest, _ := exportAll(t, Export{What: exportable(engine.FeedParticipants), Format: CSV, After: rows[3][last], Headless: true}, db)
	if !slices.Equal(rest, lines[4:]) {
		t.Errorf("%d lines after the third, want %d", len(rest), len(lines)-4)
	}
}

func jsonLine(t *testing.T, db *storage.DB, i int) string {
	t.Helper()
	lines, _ := exportAll(t, Export{What: exportable(engine.FeedParticipants), Format: NDJSON}, db)
	return lines[i]
}

// endJob moves a job to a state as the engine would.
func endJob(t *testing.T, db *storage.DB, id engine.JobID, to engine.State) {
	t.Helper()
	commit(t, db, func(tx engine.Tx) error {
		j, err := db.Job(tx, id)
		j.State, j.Rev = to, j.Rev+1
		return errors.Join(err, db.SaveJob(tx, j))
	})
}

func TestP37_ExportedJobsKeepTheirNumbersAndTheirOrder(t *testing.T) {
	db := store(t)
	var ids []engine.JobID
	commit(t, db, func(tx engine.Tx) error {
		for _, args := range []string{`{"n":9007199254740993,"max":9223372036854775807,"e":1e400}`, `{"cut":`, ``, `[]`} {
			a, err := tx.Enqueue(engine.Spec{Kind: "match.fetch", Queue: "ingest.summoner.full", Args: json.RawMessage(args)})
			if err != nil {
				return err
			}
			ids = append(ids, a[0].ID)
		}
		return nil
	})
	endJob(t, db, ids[2], engine.Discarded)
	endJob(t, db, ids[0], engine.Completed)
	e := Export{What: exportable(engine.FeedJobs), Format: NDJSON, Queue: func(q engine.Queue) string { return "fitlol:" + string(q) }}
	lines, done := exportAll(t, e, db)
	type line struct {
		ID     string          `json:"job_id"`
		Queue  string          `json:"queue"`
		State  string          `json:"state"`
		Args   json.RawMessage `json:"args"`
		Cursor string          `json:"cursor"`
	}
	var got []line
	for _, l := range lines {
		var one line
		if err := json.Unmarshal([]byte(l), &one); err != nil {
			t.Fatal(err)
		}
		got = append(got, one)
	}
	if len(got) != 4 {
		t.Fatalf("%d jobs: %q", len(got), lines)
	}
	for i, want := range []line{
		{ID: string(ids[2]), State: "discarded", Args: json.RawMessage("null")},
		{ID: string(ids[0]), State: "completed", Args: json.RawMessage(`{"n":9007199254740993,"max":9223372036854775807,"e":1e400}`)},
		{ID: string(ids[1]), State: "available", Args: json.RawMessage(`"{\"cut\":"`)},
		{ID: string(ids[3]), State: "available", Args: json.RawMessage(`[]`)},
	} {
		g := got[i]
		if g.ID != want.ID || g.State != want.State || string(g.Args) != string(want.Args) || g.Queue != "fitlol:ingest.summoner.full" {
			t.Errorf("line %d: %+v with %s, want %+v with %s", i, g, g.Args, want, want.Args)
		}
	}
	// The live ones come under the cursor of the last ended one, so that nothing is missed after any line.
	if got[2].Cursor != got[1].Cursor || got[3].Cursor != got[1].Cursor || done.Cursor != got[1].Cursor {
		t.Errorf("cursors %+v, in the end %s", got, done.Cursor)
	}
	endJob(t, db, ids[3], engine.Completed)
	e.After = got[3].Cursor
	rest, _ := exportAll(t, e, db)
	if len(rest) != 2 || !strings.Contains(rest[0], string(ids[3])) || !strings.Contains(rest[1], string(ids[1])) {
		t.Errorf("the rest is %q", rest)
	}
	e.Format, e.After = CSV, ""
	if lines, _ := exportAll(t, e, db); !strings.Contains(lines[2], "9007199254740993") {
		t.Errorf("CSV: %q", lines)
	}
}

// follower collects what an export that follows writes, and lets it look again.
type follower struct {
	mu    sync.Mutex
	out   bytes.Buffer
	idle  chan struct{} // it waits
	again chan struct{} // there may be more
}

func (f *follower) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.out.Write(p)
}

func (f *follower) lines() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return bytes.Count(f.out.Bytes(), []byte{'\n'})
}

func (f *follower) wait(ctx context.Context) error {
	f.idle <- struct{}{}
	select {
	case <-f.again:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func TestExportFollowSeesWhatIsStoredLater(t *testing.T) {
	db := store(t)
	saveMatches(t, db, 0, 3)
	f := &follower{idle: make(chan struct{}), again: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	type end struct {
		Exported
		err error
	}
	ended := make(chan end, 1)
	go func() {
		done, err := Export{What: exportable(engine.FeedMatches), Format: NDJSON, Wait: f.wait}.Write(ctx, db, f)
		ended <- end{done, err}
	}()
	want := 3
	for _, more := range []int{0, 1, pageSize + 2} {
		<-f.idle
		if got := f.lines(); got != want {
			t.Fatalf("%d lines are out while it waits, want %d", got, want)
		}
		saveMatches(t, db, want, want+more)
		want += more
		f.again <- struct{}{}
	}
	<-f.idle
	cancel()
	e := <-ended
	if !errors.Is(e.err, context.Canceled) || e.Lines != want || f.lines() != want {
		t.Errorf("%+v, %d lines", e, f.lines())
	}
	if rest, _ := exportAll(t, Export{What: exportable(engine.FeedMatches), Format: NDJSON, After: e.Cursor}, db); len(rest) != 0 {
		t.Errorf("left after its cursor: %q", rest)
	}
}

// brittle takes so many writes, then fails.
type brittle struct {
	bytes.Buffer
	left int
}

var errFull = errors.New("no room")

func (b *brittle) Write(p []byte) (int, error) {
	if b.left--; b.left < 0 {
		return len(p) / 2, errFull
	}
	return b.Buffer.Write(p)
}

func TestExportThatCannotWriteNamesWhereToGoOn(t *testing.T) {
	db := store(t)
	saveMatches(t, db, 0, 2*pageSize)
	all, _ := exportAll(t, Export{What: exportable(engine.FeedMatches), Format: NDJSON}, db)
	for left := range 4 {
		out := &brittle{left: left}
		done, err := Export{What: exportable(engine.FeedMatches), Format: NDJSON}.Write(context.Background(), db, out)
		lines := slices.Collect(strings.Lines(out.String()))
		if !errors.Is(err, errFull) || done.Lines != len(lines) || left > 0 && len(lines) == 0 {
			t.Fatalf("after %d writes: %+v, %d lines, %v", left, done, len(lines), err)
		}
		rest, _ := exportAll(t, Export{What: exportable(engine.FeedMatches), Format: NDJSON, After: done.Cursor}, db)
		if !slices.Equal(append(lines, rest...), all) {
			t.Errorf("after %d writes: %d lines and %d more are not all %d", left, len(lines), len(rest), len(all))
		}
	}
}

// pagesOf is a feed of ready pages.
type pagesOf []engine.FeedPage

func (p pagesOf) Feed(_ context.Context, q engine.FeedQuery) (engine.FeedPage, error) {
	var at int
	_, _ = fmt.Sscan(q.After, &at)
	if at == len(p) {
		return engine.FeedPage{Next: q.After}, errFull
	}
	return p[at], nil
}

func TestExportGoesOnBehindWhatCannotBeRead(t *testing.T) {
	whole := &engine.MatchRow{ID: "EUW1_2", FetchedAt: time.Unix(1, 0)}
	src := pagesOf{
		{Rows: []engine.FeedRow{{ID: "EUW1_1", Cursor: "m1", Corrupt: true}}, Next: "1", More: true},
		{Rows: []engine.FeedRow{{ID: "EUW1_2", Cursor: "m2", Match: whole}, {ID: "EUW1_3", Cursor: "m3", Match: whole}, {ID: "EUW1_4", Cursor: "m4", Match: whole}, {ID: "EUW1_5", Cursor: "m5", Match: whole}}, Next: "2"},
	}
	payloads := map[string]func() ([]byte, error){
		"EUW1_2": func() ([]byte, error) { return []byte(`{"n":9007199254740993}`), nil },
		"EUW1_3": func() ([]byte, error) { return nil, errors.New("EUW1_3 is torn\x1b[2J") },
		"EUW1_4": func() ([]byte, error) { return nil, engine.ErrNotFound },
		"EUW1_5": func() ([]byte, error) { return []byte(`{"cut`), nil },
	}
	e := Export{What: exportable(engine.FeedMatches), Format: NDJSON, Payloads: func(_ context.Context, id string) ([]byte, error) { return payloads[id]() }}
	lines, done := exportAll(t, e, src)
	if len(lines) != 5 || done.Unreadable != 3 || !strings.Contains(done.First.Error(), "EUW1_1") {
		t.Fatalf("%q %+v", lines, done)
	}
	wantHarmless(t, lines)
	if lines[0] != `{"match_id":"EUW1_1","corrupt":true,"cursor":"m1"}`+"\n" {
		t.Errorf("a corrupt record: %q", lines[0])
	}
	for i, want := range []string{`"payload":{"n":9007199254740993}}`, `"payload_error":"EUW1_3 is torn`, `"cursor":"m4"}`, `"payload_error":"payload of EUW1_5`} {
		if !strings.Contains(lines[i+1], want) {
			t.Errorf("%q does not say %s", lines[i+1], want)
		}
	}
	e.Format = CSV
	if lines, _ := exportAll(t, e, src); lines[1] != "EUW1_1"+strings.Repeat(",", len(exportable(engine.FeedMatches).fields))+"m1\n" {
		t.Errorf("a corrupt record: %q", lines[1])
	}
	// A store that fails in the middle loses nothing that was read before.
	src[1].More = true
	var out bytes.Buffer
	if done, err := e.Write(context.Background(), src, &out); !errors.Is(err, errFull) || done.Lines != 5 || strings.Count(out.String(), "\n") != 6 {
		t.Errorf("%+v %v", done, err)
	}
}

func TestEveryExportableHasItsFields(t *testing.T) {
	for _, e := range Exportables() {
		seen := map[string]bool{"cursor": true, "payload": true, "payload_error": true, "corrupt": true}
		before := len(seen)
		for _, f := range e.fields {
			seen[f.name] = true
		}
		if len(seen) != before+len(e.fields) || len(e.fields) == 0 || !e.fields[0].always {
			t.Errorf("%s: fields %v", e.Name, slices.Sorted(maps.Keys(seen)))
		}
	}
}

// The lines of a timeline go under the cursor of the one before but for the last: who goes on after any line misses none.
func TestL21_WhoGoesOnAfterAnEventMissesNone(t *testing.T) {
	stored := &engine.TimelineRow{FetchedAt: time.Unix(1, 0)}
	src := pagesOf{{Next: "1", Rows: []engine.FeedRow{
		{ID: "KR_1", Cursor: "t1", Timeline: stored}, {ID: "KR_2", Cursor: "t2", Timeline: &engine.TimelineRow{}},
		{ID: "KR_3", Cursor: "t3", Timeline: stored}, {ID: "KR_4", Cursor: "t4", Timeline: stored},
	}}}
	const payload = `{"info":{"frames":[{"events":[{"type":"A"},{"type":"B"}]},{"events":[{"type":"NEW_KIND","timestamp":7}]}]}}`
	e := Export{Format: CSV, Facts: func(_ context.Context, id string) ([]byte, error) {
		if id == "KR_4" {
			return []byte("{"), nil
		}
		return []byte(payload), nil
	}}
	all := Exportables()
	e.What = all[slices.IndexFunc(all, func(e Exportable) bool { return e.Name == "events" })]
	lines, done := exportAll(t, e, src)
	var got []string
	for _, line := range lines[1:] {
		cells := strings.Split(strings.TrimSpace(line), ",")
		got = append(got, strings.Join([]string{cells[0], cells[1], cells[2], cells[len(cells)-1]}, " "))
	}
	want := []string{"KR_1  A ", "KR_1  B ", "KR_1 7 NEW_KIND t1", "KR_3  A t2", "KR_3  B t2", "KR_3 7 NEW_KIND t3"}
	if !slices.Equal(got, want) || done.Unreadable != 1 || !strings.Contains(done.First.Error(), "KR_4") {
		t.Errorf("%q, %+v", got, done)
	}
}
