package journal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/journal"
	"github.com/farsight-console/farsight/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

func TestDecode_ReadsWhatZerologWrites(t *testing.T) {
	line := `{"level":"warn","area":"jobs","job":"7","kind":"match.fetch","attempt":3,"ok":true,"who":null,"list":[1, 2],"err":"a \"b\" \u001b[31m","time":"2026-11-21T12:00:00.250Z","message":"attempt ended"}` + "\n"
	got, ok := journal.Decode([]byte(line))
	want := engine.LogRow{
		At: time.Date(2026, 11, 21, 12, 0, 0, 250e6, time.UTC), Level: "warn", Area: "jobs", Text: "attempt ended", Job: "7",
		Fields: []engine.LogField{{Key: "kind", Value: "match.fetch"}, {Key: "attempt", Value: "3"}, {Key: "ok", Value: "true"}, {Key: "who", Value: "null"}, {Key: "list", Value: "[1, 2]"}, {Key: "err", Value: "a \"b\" \x1b[31m"}},
	}
	if !ok || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v\n%+v\n%+v", ok, got, want)
	}
}

func TestDecode_NothingIsLostOfWhatIsNoRecord(t *testing.T) {
	for _, line := range []string{"", "panic: oh no", `{"level":"info","mess`, `[1]`, `null`, `{"a":1}{"b":2}`, "\xff\xfe"} {
		row, ok := journal.Decode([]byte(line))
		if ok || row.Text != line || row.Level != "info" {
			t.Errorf("%q: %v %+v", line, ok, row)
		}
	}
	row, ok := journal.Decode([]byte(`{"level":"shout","time":"noon","message":"m"}`))
	if !ok || row.Level != "info" || !row.At.IsZero() || len(row.Fields) != 2 {
		t.Errorf("values that are not what their names say: %+v", row)
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"level":"info","message":"m"}`, `{"a":{"b":[1,2,{"c":null}]}}`, `{"message":"\ud800"}`, `{"":""}`, `{"time":"2026-11-21T12:00:00Z"}`, `{"a`, `{"job":17}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		row, ok := journal.Decode(line)
		if engine.LogRank(row.Level) < 0 || len(row.Fields) > 64 || len(row.Text) > 17<<10 {
			t.Errorf("%+v", row)
		}
		for _, f := range row.Fields {
			if len(f.Key) > 17<<10 || len(f.Value) > 17<<10 || ok && utf8.Valid(line) && !utf8.ValidString(f.Value) {
				t.Errorf("field %q=%q", f.Key, f.Value)
			}
		}
	})
}

// Both bounds hold whatever is written, numbers have no gaps, and the newest stay.
func TestRing_IsBoundedInRecordsAndBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const records, bytes = 50, 20_000
		r := journal.NewRing(records, bytes)
		n := rapid.IntRange(0, 200).Draw(t, "n")
		for i := range n {
			r.Add(engine.LogRow{Level: "info", Text: strings.Repeat("x", rapid.IntRange(0, 2000).Draw(t, "size")), Job: engine.JobID(fmt.Sprint(i + 1))})
		}
		rows, used := r.After(0, 1<<20), 0
		for i, row := range rows {
			used += len(row.Text)
			if want := uint64(n - len(rows) + i + 1); row.Seq != want || string(row.Job) != fmt.Sprint(want) {
				t.Fatalf("row %d has number %d, job %s", i, row.Seq, row.Job)
			}
		}
		if len(rows) > records || used > bytes || n > 0 && len(rows) == 0 {
			t.Fatalf("%d rows, %d bytes", len(rows), used)
		}
		if kept := r.Page(engine.LogsQuery{}).Kept; kept != len(rows) {
			t.Fatalf("kept %d of %d", kept, len(rows))
		}
	})
}

func TestRing_PagesNewestFirstAndFilters(t *testing.T) {
	r := journal.NewRing(1000, 1<<20)
	levels := engine.LogLevels()
	for i := range 100 {
		_, _ = fmt.Fprintf(r, `{"level":%q,"area":"riot","job":"%d","status":"%d","message":"Call %d"}`, levels[i%4], i%10, 400+i, i)
	}
	for name, c := range map[string]struct {
		q    engine.LogsQuery
		want int
	}{
		"all":            {engine.LogsQuery{}, 100},
		"warn and above": {engine.LogsQuery{Level: "warn"}, 50},
		"one job":        {engine.LogsQuery{Job: "3"}, 10},
		"text, any case": {engine.LogsQuery{Text: "call 7"}, 11},
		"a field":        {engine.LogsQuery{Text: "status=45"}, 10},
		"the area":       {engine.LogsQuery{Text: "RIOT"}, 100},
		"all of them":    {engine.LogsQuery{Level: "error", Job: "3", Text: "call"}, 5},
		"nothing":        {engine.LogsQuery{Text: "no such"}, 0},
	} {
		var got []uint64
		for c.q.Limit = 7; ; {
			page := r.Page(c.q)
			for _, row := range page.Logs {
				got = append(got, row.Seq)
			}
			if c.q.After = page.Next; page.Next == "" {
				break
			}
		}
		if len(got) != c.want || !slices.IsSortedFunc(got, func(a, b uint64) int { return int(b) - int(a) }) {
			t.Errorf("%s: %d records %v", name, len(got), got)
		}
	}
	if page := r.Page(engine.LogsQuery{Page: engine.Page{After: "not a number"}}); len(page.Logs) != 100 {
		t.Errorf("%d records behind a cursor that cannot be read", len(page.Logs))
	}
	if rows := r.After(97, 2); len(rows) != 2 || rows[0].Seq != 99 {
		t.Errorf("the newest two after 97: %+v", rows)
	}
}

// Debug records have a room of their own: they push nothing else out, are numbered
// with the rest, and only who asks for their level is shown them.
func TestRing_DebugPushesNothingOut(t *testing.T) {
	r := journal.NewRing(50, 1<<20)
	for i := range 10_000 {
		r.Quiet([]byte(`{"level":"debug","job":"7","message":"call answered"}`))
		if i%1000 == 0 {
			_, _ = r.Write([]byte(`{"level":"warn","job":"7","message":"call failed"}`))
		}
	}
	for _, level := range []string{"", "info", "warn"} {
		if page := r.Page(engine.LogsQuery{Level: level}); len(page.Logs) != 10 || page.Kept != 10 {
			t.Errorf("level %q: %d records of %d", level, len(page.Logs), page.Kept)
		}
	}
	if rows := r.After(0, 1000); len(rows) != 10 {
		t.Errorf("a console is sent %d records", len(rows))
	}
	seen, last := map[string]int{}, uint64(1<<62)
	for q := (engine.LogsQuery{Level: "debug", Job: "7", Page: engine.Page{Limit: 300}}); ; {
		page := r.Page(q)
		for _, row := range page.Logs {
			if row.Seq >= last {
				t.Fatalf("%d comes behind %d", row.Seq, last)
			}
			last = row.Seq
			seen[row.Level]++
		}
		if q.After = page.Next; q.After == "" {
			break
		}
	}
	if seen["warn"] != 10 || seen["debug"] < 1000 || seen["debug"] > 5000 {
		t.Errorf("there are %v", seen)
	}
}

// A page that is being read while records fall out goes on where it was.
func TestRing_ACursorOutlivesItsRecord(t *testing.T) {
	r := journal.NewRing(10, 1<<20)
	for i := range 10 {
		r.Add(engine.LogRow{Level: "info", Text: fmt.Sprint(i)})
	}
	page := r.Page(engine.LogsQuery{Page: engine.Page{Limit: 3}})
	for i := range 9 {
		r.Add(engine.LogRow{Level: "info", Text: fmt.Sprint(10 + i)})
	}
	next := r.Page(engine.LogsQuery{Page: engine.Page{Limit: 3, After: page.Next}})
	if page.Next != "8" || len(next.Logs) != 0 || next.Next != "" {
		t.Errorf("after %s: %+v", page.Next, next)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func texts(rows []engine.LogRow) (out []string) {
	for _, r := range rows {
		out = append(out, r.Text)
	}
	return out
}

func TestTail_ReadsTheEndOfBothFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "farsight.log")
	none := journal.NewRing(10, 1000)
	if err := journal.NewTail(path, nil).Fill(none); err != nil || len(none.After(0, 10)) != 0 {
		t.Errorf("a log that is not there: %v", err)
	}
	for i := range 100 {
		write(t, path+".1", fmt.Sprintf(`{"level":"info","message":"old %d"}`+"\n", i))
	}
	write(t, path, `{"level":"info","message":"new"}`+"\n\n"+`{"level":"info","mess`)
	r := journal.NewRing(1000, 400)
	tail := journal.NewTail(path, nil)
	defer tail.Close()
	if err := tail.Fill(r); err != nil {
		t.Fatal(err)
	}
	got := texts(r.After(0, 1000))
	if n := len(got); n < 2 || got[n-1] != "new" || got[n-2] != "old 99" {
		t.Errorf("%q", got)
	}
}

func TestTail_FollowsOverARotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "farsight.log")
		tail := journal.NewTail(path, func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "secret", "****")) })
		defer tail.Close()
		if err := tail.Fill(journal.NewRing(10, 1000)); err != nil {
			t.Fatal(err)
		}
		got := make(chan string, 10)
		done := make(chan error)
		go func() {
			done <- tail.Follow(t.Context(), func(r engine.LogRow) bool { got <- r.Text; return r.Text != "last" })
		}()
		says := func(want string) {
			t.Helper()
			time.Sleep(time.Second)
			select {
			case text := <-got:
				if text != want {
					t.Errorf("%q, want %q", text, want)
				}
			default:
				t.Errorf("nothing, want %q", want)
			}
		}
		write(t, path, `{"message":"one secret"}`+"\n"+`{"message":"tw`)
		says("one ****")
		write(t, path, `o"}`+"\n")
		says("two")
		write(t, path, `{"message":"before"}`+"\n")
		if err := os.Rename(path, path+".1"); err != nil {
			t.Fatal(err)
		}
		write(t, path, `{"message":"last"}`+"\n")
		says("before")
		says("last")
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
