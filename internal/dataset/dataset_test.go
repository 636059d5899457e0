package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/riot"
)

// world is a store of matches with two seats each, whose payloads say which match they are of.
type world struct {
	matches int
	fails   map[string]error // by match, when its payload is asked for
}

const played = "2026-11-%02dT23:30:00Z"

func (w *world) id(i int) string { return []string{"KR_", "EUW1_"}[i%2] + strconv.Itoa(i) }

func (w *world) rows(kind engine.FeedKind) (rows []engine.FeedRow) {
	for i := range w.matches {
		id := w.id(i)
		at, _ := time.Parse(time.RFC3339, fmt.Sprintf(played, 1+i/4))
		switch kind {
		case engine.FeedParticipants:
			for seat := range 2 {
				rows = append(rows, engine.FeedRow{ID: id, Seat: &engine.SeatRow{
					Match: id, Index: seat, PUUID: "p" + id, Played: at, Patch: "16." + strconv.Itoa(i%3)}})
			}
		case engine.FeedTimelines:
			rows = append(rows, engine.FeedRow{ID: id, Timeline: &engine.TimelineRow{Match: id, FetchedAt: at, Played: at}})
		case engine.FeedPlayers:
			rows = append(rows, engine.FeedRow{ID: id, Player: &engine.PlayerRow{Player: "P" + id, Platform: "kr", PUUID: "p" + id, Collection: "c", Found: at}})
		case engine.FeedJobs:
			rows = append(rows, engine.FeedRow{ID: id, Job: &engine.Job{ID: engine.JobID(id), Kind: "match.fetch", Queue: "q", Key: "match:" + id,
				State: engine.Completed, Attempts: 1, Finished: at, Args: []byte(`{"match":1}`)}})
		}
	}
	return rows
}

func (w *world) feed(_ context.Context, q engine.FeedQuery) (engine.FeedPage, error) {
	at, _ := strconv.Atoi(q.After)
	rows := w.rows(q.Kind)
	page := engine.FeedPage{}
	for ; at < len(rows) && len(page.Rows) < 3; at++ { // pages that end within a match, too
		rows[at].Cursor = strconv.Itoa(at + 1)
		page.Rows = append(page.Rows, rows[at])
	}
	page.Next, page.More = strconv.Itoa(at), at < len(rows)
	return page, nil
}

func (w *world) payload(_ context.Context, q engine.PayloadQuery) ([]byte, error) {
	if err := w.fails[q.Match]; err != nil {
		return nil, err
	}
	if q.Timeline {
		return []byte(`{"info":{"frames":[{"timestamp":60010,"participantFrames":{"1":{"participantId":1,"totalGold":500}},"events":[
			{"type":"CHAMPION_KILL","killerId":0,"assistingParticipantIds":[2,3],"timestamp":7},{"type":"\u001b[2J","assistingParticipantIds":[]}]}]}}`), nil
	}
	return fmt.Appendf(nil, `{"metadata":{"matchId":%q},"info":{"gameDuration":9,"gameVersion":"16.23.1","participants":[
		{"goldEarned":7,"item0":0},{"goldEarned":0}]}}`, q.Match), nil
}

func (w *world) export(t *testing.T, e Export) (Done, error) {
	t.Helper()
	e.Feed, e.Payload = w.feed, w.payload
	e.Queue = func(q engine.Queue) string { return "our." + string(q) }
	return e.Write(t.Context())
}

func tableNames() (names []string) {
	for _, t := range columns.Tables {
		names = append(names, t.Name)
	}
	return names
}

// files are the contents of all Parquet files below a folder, by their names in it.
func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != stateName {
			all[strings.TrimPrefix(path, dir+"/")], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// rowsOf are the rows of a table as "column=value …", without what is null; sorted.
func rowsOf(t *testing.T, dir, table string) (rows []string) {
	t.Helper()
	for name, raw := range files(t, dir) {
		if !strings.HasPrefix(name, table+"/") {
			continue
		}
		f, err := parquet.OpenFile(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			t.Fatal(err)
		}
		r := parquet.NewReader(f)
		columns := f.Schema().Columns()
		for {
			batch := make([]parquet.Row, 1)
			n, err := r.ReadRows(batch)
			if n == 1 {
				var cells []string
				for _, v := range batch[0] {
					if !v.IsNull() {
						cells = append(cells, columns[v.Column()][0]+"="+v.String())
					}
				}
				rows = append(rows, filepath.Dir(name)+" "+strings.Join(cells, " "))
			}
			if err != nil || n == 0 {
				break
			}
		}
	}
	slices.Sort(rows)
	return rows
}

// Rows come back as they were, by platform and day (UTC); null stays null, and lists are lists.
func TestL22_RowsComeBack(t *testing.T) {
	dir, w := t.TempDir(), &world{matches: 1}
	done, err := w.export(t, Export{Dir: dir})
	if err != nil || done.Files != 6 {
		t.Fatalf("%+v %v", done, err)
	}
	const at = "/platform=kr/day=2026-11-01 match_id=KR_0 "
	for table, want := range map[string][]string{
		"participants": {
			"participants" + at + "index=0 puuid=pKR_0 riot_id= champion= team_id=0 kills=0 deaths=0 assists=0 gold=7",
			"participants" + at + "index=1 puuid=pKR_0 riot_id= champion= team_id=0 kills=0 deaths=0 assists=0 gold=0",
		},
		"matches": {"matches" + at + "version=16.23.1 patch=16.23 remake=false aborted=false seats=2"},
		"events": {
			"events" + at + "kind=‹U+001B›[2J",
			"events" + at + "time_ms=7 kind=CHAMPION_KILL assisting=2 assisting=3",
		},
		"frames":  {"frames" + at + "time_ms=60010 minute=1 participant=1 gold=500"},
		"players": {"players/platform=kr account_id=PKR_0 puuid=pKR_0 collection=c found_at=1793575800000"},
		"jobs": {"jobs/day=2026-11-01 job_id=KR_0 kind=match.fetch queue=our.q key=match:KR_0 state=completed attempts=1 round=0 tries=0 " +
			"holds=0 crashes=0 finished_at=1793575800000 args={\"match\":1}"},
	} {
		if got := rowsOf(t, dir, table); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", table, got, want)
		}
	}
}

// A second run adds files with what has come since, and changes none.
func TestL22_ASecondRunAddsFilesAndChangesNone(t *testing.T) {
	step = 3
	dir, w := t.TempDir(), &world{matches: 10}
	first, err := w.export(t, Export{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	before := files(t, dir)
	if again, err := w.export(t, Export{Dir: dir, After: first.Cursor}); err != nil || again.Files != 0 || !maps.EqualFunc(files(t, dir), before, bytes.Equal) {
		t.Fatalf("with nothing new: %+v %v", again, err)
	}
	w.matches = 17
	if _, err = w.export(t, Export{Dir: dir, After: first.Cursor}); err != nil {
		t.Fatal(err)
	}
	after := files(t, dir)
	for name, raw := range before {
		if !bytes.Equal(after[name], raw) {
			t.Errorf("%s was changed", name)
		}
	}
	whole := t.TempDir()
	if _, err = w.export(t, Export{Dir: whole}); err != nil {
		t.Fatal(err)
	}
	for _, table := range tableNames() {
		if got, want := rowsOf(t, dir, table), rowsOf(t, whole, table); !slices.Equal(got, want) {
			t.Errorf("%s: %d rows in two runs, %d in one", table, len(got), len(want))
		}
	}
	// Another folder takes what comes after a cursor, and nothing else.
	rest := t.TempDir()
	if done, err := w.export(t, Export{Dir: t.TempDir(), After: strings.Join(strings.Split(first.Cursor, ",")[:3], ",")}); err != nil || done.Rows["participants"] != 14 || done.Rows["jobs"] != 17 {
		t.Errorf("after a cursor from before there were players and jobs: %+v %v", done, err)
	}
	if done, err := w.export(t, Export{Dir: rest, After: first.Cursor}); err != nil || done.Rows["participants"] != 14 {
		t.Errorf("%+v %v", done, err)
	}
}

// An export that ends anywhere loses nothing and doubles nothing: the next one removes the step that did not end.
func TestL22_AnExportThatEndsAnywhereGoesOn(t *testing.T) {
	step = 3
	whole, w := t.TempDir(), &world{matches: 10}
	if _, err := w.export(t, Export{Dir: whole}); err != nil {
		t.Fatal(err)
	}
	wants := map[string][]string{}
	for _, table := range tableNames() {
		wants[table] = rowsOf(t, whole, table)
	}
	for at := range w.matches {
		dir := t.TempDir()
		ctx, stop := context.WithCancelCause(t.Context())
		e := Export{Dir: dir, Feed: w.feed}
		e.Payload = func(_ context.Context, q engine.PayloadQuery) ([]byte, error) {
			if q.Match == w.id(at) {
				stop(errors.New("killed"))
			}
			return w.payload(ctx, q)
		}
		if _, err := e.Write(ctx); err == nil {
			t.Fatal("it did not end")
		}
		// What a kill leaves besides: a whole file of the step, and half of one.
		lost := filepath.Join(dir, "matches", "platform=kr", "day=2026-11-01")
		for _, name := range []string{"part-9.parquet", ".part-9.parquet.123.part"} {
			if err := errors.Join(os.MkdirAll(lost, 0o700), os.WriteFile(filepath.Join(lost, name), nil, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.export(t, Export{Dir: dir}); err != nil {
			t.Fatal(err)
		}
		for table, want := range wants {
			if got := rowsOf(t, dir, table); !slices.Equal(got, want) {
				t.Errorf("ended at %d: %d rows of %s, want %d", at, len(got), table, len(want))
			}
		}
	}
}

// Most of a file is written when it is finished: a disk that is full by then fails the export, which would go on behind
// what it has lost.
func TestL22_AFileThatCannotBeWrittenFailsTheExport(t *testing.T) {
	dir := t.TempDir()
	f := &file{table: columns.JobTable, dir: dir, name: "part-1.parquet"}
	if err := f.add(make([]riot.Value, len(f.table.Columns))); err != nil {
		t.Fatal(err)
	}
	_ = f.out.Close()
	if err := f.finish(nil); !errors.Is(err, os.ErrClosed) {
		t.Errorf("got %v", err)
	}
	if left := files(t, dir); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}

// What a filter leaves out never comes, what cannot be read is counted and costs nothing else, and a folder of another
// export, or of another program, is left alone.
func TestL22_FiltersAndRefusals(t *testing.T) {
	dir, w := t.TempDir(), &world{matches: 9, fails: map[string]error{"KR_4": errors.New("torn"), "KR_6": engine.ErrNotFound}}
	since := time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)
	done, err := w.export(t, Export{Dir: dir, Since: since, Filter: "--since 9d"})
	if err != nil || done.Rows["participants"] != 10 || done.Rows["matches"] != 3 || done.Unreadable != 2 || done.Dropped != 2 {
		t.Errorf("%+v %v", done, err)
	}
	if done, err := w.export(t, Export{Dir: t.TempDir(), Patch: "16.1"}); err != nil || done.Rows["participants"] != 6 {
		t.Errorf("%+v %v", done, err)
	}
	none := filepath.Join(t.TempDir(), "none")
	_, err = w.export(t, Export{Dir: none, Patch: "99.9"})
	if _, made := os.Stat(none); !errors.Is(err, engine.ErrInvalid) || !strings.Contains(err.Error(), "the newest are of 16.") || !errors.Is(made, fs.ErrNotExist) {
		t.Errorf("a patch that no match is of: %v, %v", err, made)
	}
	foreign := t.TempDir()
	if err := os.MkdirAll(filepath.Join(foreign, "events"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(foreign, "events", "part-1.parquet"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, e := range []Export{
		{Dir: dir}, {Dir: dir, Filter: "--since 9d", After: "1,1,1"}, {Dir: t.TempDir(), After: "m1"}, {Dir: foreign},
	} {
		if _, err := w.export(t, e); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("%+v: %v", e, err)
		}
	}
	if raw, err := os.ReadFile(filepath.Join(foreign, "events", "part-1.parquet")); string(raw) != "mine" {
		t.Errorf("%q %v", raw, err)
	}
}
