package part

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/themes"
)

// numbered is a source of n rows that exist only when they are asked for.
type numbered struct {
	n     int
	asked *int
}

func (s numbered) Len() int        { return s.n }
func (s numbered) ID(i int) string { return "job-" + strconv.Itoa(i) }
func (s numbered) Find(id string) (int, bool) {
	i, err := strconv.Atoi(strings.TrimPrefix(id, "job-"))
	return i, err == nil && i < s.n
}
func (s numbered) Row(i int, cells []Cell) []Cell {
	if s.asked != nil {
		*s.asked++
	}
	return append(cells,
		Cell{Text: "match:KR_72145508" + strconv.Itoa(i), Clean: true},
		Cell{Text: "ingest.summoner.full", Token: themes.Dim, Clean: true},
		Cell{Text: "↻ RETRYABLE", Token: themes.Retry, Clean: true},
		Cell{Text: "2/5", Clean: true}, Cell{Text: "+0:12", Clean: true}, Cell{Text: "1m30", Clean: true},
		Cell{Text: "503 service unavailable", Token: themes.Err, Clean: true}, Cell{Text: "system", Token: themes.Dim, Clean: true})
}

func jobTable() Table {
	return Table{Empty: "no jobs yet", Columns: []Column{
		{Title: "JOB", Kind: ID, Min: 10, Width: 26},
		{Title: "QUEUE", Min: 8, Width: 20, Priority: 4},
		{Title: "STATE", Kind: State, Min: 11, Width: 11},
		{Title: "TRY", Min: 3, Width: 3, Priority: 1},
		{Title: "NEXT", Min: 5, Width: 6, Priority: 2},
		{Title: "AGE", Kind: Number, Min: 5, Width: 5, Priority: 5},
		{Title: "LAST RESULT", Min: 8, Flex: 1, Priority: 3},
		{Title: "BY", Min: 6, Width: 8, Priority: 6},
	}}
}

// plain returns rows without paint and without the spaces at their ends.
func plain(rows ...string) string {
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = strings.TrimRight(ansi.Strip(row), " ")
	}
	return strings.Join(out, "\n")
}

var mono = themes.NewMono(themes.Unicode)

func TestTableDropsThenShrinks(t *testing.T) {
	src, c := numbered{n: 3}, &Cursor{}
	c.Sync(src, 2)
	c.Mark("job-1")
	for _, x := range []struct {
		w    int
		want string
	}{
		{118, `
   JOB                         QUEUE                 STATE        TRY  NEXT      AGE  LAST RESULT            BY
▌  match:KR_721455080          ingest.summoner.full  ↻ RETRYABLE  2/5  +0:12    1m30  503 service unavaila…  system
 ◆ match:KR_721455081          ingest.summoner.full  ↻ RETRYABLE  2/5  +0:12    1m30  503 service unavaila…  system`},
		{58, `
   JOB                  STATE        TRY  NEXT   LAST RE…›
▌  match:KR_721455080   ↻ RETRYABLE  2/5  +0:12  503 ser…
 ◆ match:KR_721455081   ↻ RETRYABLE  2/5  +0:12  503 ser…`},
		{38, `
   JOB               STATE        TRY›
▌  match:KR_…455080  ↻ RETRYABLE  2/5
 ◆ match:KR_…455081  ↻ RETRYABLE  2/5`},
		{18, `
   JOB     STATE ›
▌  ma…080  ↻ RET…
 ◆ ma…081  ↻ RET…`},
		{5, `
   …›
▌  …
 ◆ …`},
	} {
		if got := "\n" + plain(jobTable().View(mono, x.w, 3, src, c)...); got != x.want {
			t.Errorf("%d cells:%s\nwant:%s", x.w, got, x.want)
		}
	}
}

func TestTablePanReachesEveryColumn(t *testing.T) {
	tb := jobTable()
	seen := ""
	for ; ; tb.Pan++ {
		header := plain(tb.Header(mono, 48))
		if !strings.Contains(header, "STATE") || !strings.Contains(header, "JOB") {
			t.Fatalf("pan %d lost a pinned column: %s", tb.Pan, header)
		}
		seen += header
		if !tb.CanPan(48) {
			break
		}
	}
	for _, c := range tb.Columns {
		if !strings.Contains(seen, c.Title[:min(len(c.Title), 4)]) {
			t.Errorf("%s was never shown", c.Title)
		}
	}
}

func TestTableColumnsNeverOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var columns []Column
		for range rapid.IntRange(0, 12).Draw(t, "columns") {
			columns = append(columns, Column{Kind: Kind(rapid.IntRange(0, 4).Draw(t, "kind")), Min: rapid.IntRange(0, 30).Draw(t, "min"),
				Width: rapid.IntRange(0, 40).Draw(t, "width"), Flex: rapid.IntRange(0, 3).Draw(t, "flex"), Priority: rapid.IntRange(0, 5).Draw(t, "priority")})
		}
		w, pan := rapid.IntRange(0, 250).Draw(t, "w"), rapid.IntRange(0, 5).Draw(t, "pan")
		slots, more := layout(columns, w, pan)
		if need(slots) > max(w-leftMargin-rightMargin, 0) {
			t.Errorf("%d cells for %v", w, slots)
		}
		for _, s := range slots {
			if s.width < 1 {
				t.Errorf("empty slot in %v", slots)
			}
		}
		if pan == 0 && len(slots)+more != len(columns) {
			t.Errorf("%d of %d columns are shown, %d are said to be missing", len(slots), len(columns), more)
		}
		state := slices.IndexFunc(columns, func(c Column) bool { return c.Kind == State })
		if w >= leftMargin+rightMargin+1 && state >= 0 && !slices.ContainsFunc(slots, func(s slot) bool { return columns[s.column].Kind == State }) {
			t.Errorf("the state column is gone at %d cells", w)
		}
	})
}

// list is a source that changes.
type list []string

func (s list) Len() int                   { return len(s) }
func (s list) ID(i int) string            { return s[i] }
func (s list) Find(id string) (int, bool) { i := slices.Index(s, id); return i, i >= 0 }
func (s list) Row(i int, cells []Cell) []Cell {
	return append(cells, Plain(s[i]), Plain("RUNNING"))
}

var idTable = Table{Columns: []Column{{Title: "ID", Min: 8, Width: 8}, {Title: "STATE", Kind: State, Min: 8}}}

func letters(from, to rune) list {
	var l list
	for r := from; r <= to; r++ {
		l = append(l, string(r))
	}
	return l
}

// lineOf returns the line of the screen on which the cursor stands.
func lineOf(rows []string) int {
	return slices.IndexFunc(rows, func(row string) bool { return strings.Contains(row, "▌") })
}

func TestNewRowsNeverMoveTheCursorRow(t *testing.T) {
	src, c := letters('f', 'z'), &Cursor{}
	c.Sync(src, 5)
	c.Move(src, 7, 5)
	id, _ := c.Selected()
	before := lineOf(idTable.Body(mono, 30, 5, src, c))
	src = append(letters('a', 'e'), src...)
	c.Sync(src, 5)
	after, _ := c.Selected()
	if got := lineOf(idTable.Body(mono, 30, 5, src, c)); after != id || got != before {
		t.Errorf("cursor %s on line %d, was %s on %d", after, got, id, before)
	}
}

// TestCursorAtRestStandsOnTheFirstRow: as long as nobody has moved it, the cursor is
// on whichever row is first; from the first move on it keeps its row.
func TestCursorAtRestStandsOnTheFirstRow(t *testing.T) {
	for _, x := range []struct {
		name string
		do   func(c *Cursor, src Source)
		want string // the first line after another row came above
	}{
		{"untouched", func(*Cursor, Source) {}, "new"},
		{"held", func(c *Cursor, _ Source) { c.Hold() }, "d"},
		{"moved to and fro", func(c *Cursor, src Source) { c.Move(src, 1, 5); c.Move(src, -1, 5) }, "d"},
		{"home", func(c *Cursor, src Source) { c.Home(src, 5) }, "d"},
		{"at rest again", func(c *Cursor, src Source) { c.End(src, 5); c.Rest(src, 5) }, "new"},
	} {
		src, c := letters('d', 'z'), &Cursor{}
		c.Sync(src, 5)
		x.do(c, src)
		src = append(list{"new"}, src...)
		c.Sync(src, 5)
		rows := idTable.Body(mono, 30, 5, src, c)
		if lineOf(rows) != 0 || !strings.Contains(rows[0], " "+x.want+" ") {
			t.Errorf("%s: the first line is not %s:\n%s", x.name, x.want, plain(rows...))
		}
		c.Sync(letters('w', 'z'), 5)
		if _, left := c.Left(); left != c.Held() {
			t.Errorf("%s: left %v, held %v", x.name, left, c.Held())
		}
	}
}

func TestRowThatLeftStaysUntilTheCursorDoes(t *testing.T) {
	src, c := letters('a', 'f'), &Cursor{}
	c.Sync(src, 6)
	c.Move(src, 2, 6)
	src = list{"a", "b", "d", "e", "f"}
	c.Sync(src, 6)
	want := "\n   a         RUNNING\n   b         RUNNING\n▌  c         (left)\n   d         RUNNING\n   e         RUNNING\n   f         RUNNING"
	if got := "\n" + plain(idTable.Body(mono, 30, 6, src, c)...); got != want {
		t.Errorf("got%s", got)
	}
	if id, ok := c.Selected(); ok {
		t.Errorf("a key would hit %s, which left", id)
	}
	for _, x := range []struct {
		delta int
		want  string
	}{{1, "d"}, {-1, "b"}, {3, "f"}} {
		moved := *c
		moved.Move(src, x.delta, 6)
		if id, ok := moved.Selected(); !ok || id != x.want {
			t.Errorf("%+d from the left row is %s, want %s", x.delta, id, x.want)
		}
	}
	c.Sync(letters('a', 'f'), 6)
	if id, ok := c.Selected(); !ok || id != "c" {
		t.Errorf("it came back, but the cursor is on %s", id)
	}
}

func TestCursorIsAlwaysVisible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src, c, h := letters('a', 'z'), &Cursor{}, 5
		c.Sync(src, h)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "do") {
			case 0:
				c.Move(src, rapid.IntRange(-30, 30).Draw(t, "delta"), h)
			case 1:
				c.Page(src, rapid.IntRange(-2, 2).Draw(t, "pages"), h)
			case 2:
				h = rapid.IntRange(1, 40).Draw(t, "height")
				c.Sync(src, h)
			case 3:
				from := rapid.IntRange(0, 25).Draw(t, "from")
				src = letters('a'+rune(from), 'z')[:rapid.IntRange(0, 26-from).Draw(t, "n")]
				c.Sync(src, h)
			case 4:
				c.Home(src, h)
			case 5:
				c.End(src, h)
			}
			rows := idTable.Body(mono, 30, h, src, c)
			if lineOf(rows) < 0 && len(src) > 0 {
				t.Fatalf("no cursor on\n%s", plain(rows...))
			}
			if len(src) >= h && strings.TrimSpace(rows[h-1]) == "" {
				t.Fatalf("blank line under a full list\n%s", plain(rows...))
			}
		}
	})
}

func TestMarksHoldIDs(t *testing.T) {
	src, c := letters('a', 'f'), &Cursor{}
	c.Sync(src, 6)
	c.Toggle()
	c.Move(src, 2, 6)
	c.MarkRange(src)
	if got := fmt.Sprint(slices.Sorted(maps.Keys(c.marks))); got != "[a b c]" {
		t.Errorf("marks %s", got)
	}
	c.Sync(list{"x", "c", "y"}, 6)
	if !c.Marked("a") || c.MarkCount() != 3 {
		t.Error("a mark outside of the filter is lost")
	}
	c.Toggle()
	if c.Marked("c") {
		t.Error("toggling twice must unmark")
	}
	c.Unmark()
	if c.MarkCount() != 0 {
		t.Error("marks are left")
	}
}

func TestEmptyTableSaysWhy(t *testing.T) {
	c := &Cursor{}
	c.Sync(numbered{}, 5)
	if got := plain(jobTable().Body(mono, 40, 2, numbered{}, c)...); got != "   no jobs yet\n" {
		t.Errorf("%q", got)
	}
	if _, ok := c.Selected(); ok {
		t.Error("something is selected")
	}
}

func TestTableBuildsOnlyWhatIsVisible(t *testing.T) {
	asked := 0
	src, c := numbered{1_000_000, &asked}, &Cursor{}
	c.Sync(src, 36)
	asked = 0
	c.End(src, 36)
	jobTable().View(mono, 120, 37, src, c)
	if asked != 36+1 { // and the row the cursor remembers
		t.Errorf("%d rows were built for 36 lines", asked)
	}
}

func BenchmarkTable(b *testing.B) {
	dark := themes.New(themes.Palettes()[0], themes.TrueColor, true, themes.Unicode)
	for _, s := range []struct{ w, h int }{{120, 40}, {200, 60}} {
		b.Run(fmt.Sprintf("%dx%d", s.w, s.h), func(b *testing.B) {
			src, c := numbered{n: 1000}, &Cursor{}
			c.Sync(src, s.h)
			b.ReportAllocs()
			for b.Loop() {
				rows := jobTable().View(dark, s.w-2, s.h-4, src, c)
				Frame(dark, s.w, s.h, Sections(dark, 0, 0, s.w, s.h-2, 1, nil, Section{Title: "JOBS", Rows: rows}))
			}
		})
	}
}

// BenchmarkCursorMove prints what a move with its redraw costs at a million
// rows against a thousand; at most 1.2 is asked for.
func BenchmarkCursorMove(b *testing.B) {
	dark := themes.New(themes.Palettes()[0], themes.TrueColor, true, themes.Unicode)
	cost := map[int]float64{}
	for _, n := range []int{1_000, 1_000_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			src, c, down := numbered{n: n}, &Cursor{}, 1
			c.Sync(src, 36)
			c.Go(src, 500, 36)
			for b.Loop() {
				c.Move(src, down, 36)
				down = -down
				jobTable().View(dark, 118, 36, src, c)
			}
			cost[n] = float64(b.Elapsed()) / float64(b.N)
			if n > 1_000 && cost[1_000] > 0 {
				b.ReportMetric(cost[n]/cost[1_000], "x1000rows")
			}
		})
	}
}

// TestV8h_AListSaysWhichRowsItShows: where there are more than fit, as far as the titles leave room, before it says how many
// columns are hidden.
func TestV8h_AListSaysWhichRowsItShows(t *testing.T) {
	wide := Table{Columns: append(slices.Clone(idTable.Columns), Column{Title: "MORE", Min: 40, Width: 40, Priority: 2})}
	for _, c := range []struct {
		table Table
		w     int
		last  rune
		want  string
	}{
		{idTable, 40, 'e', "   ID        STATE"},
		{idTable, 40, 'z', "   ID        STATE             1–5 of 26"},
		{idTable, 24, 'z', "   ID        STATE"},
		{wide, 70, 'z', "   ID        STATE     MORE                                  1–5 of 26"},
		{wide, 40, 'z', "   ID        STATE   1–5 of 26  1 more ›"},
		{wide, 32, 'z', "   ID        STATE   1–5 of 26 ›"},
		{wide, 30, 'z', "   ID        STATE    1 more ›"},
	} {
		src, cur := letters('a', c.last), &Cursor{}
		cur.Sync(src, 5)
		if got := plain(c.table.View(mono, c.w, 6, src, cur)[0]); got != c.want {
			t.Errorf("%d cells, to %c:\ngot  %q\nwant %q", c.w, c.last, got, c.want)
		}
	}
	src, cur := letters('a', 'z'), &Cursor{}
	cur.End(src, 5)
	if got := plain(idTable.View(mono, 40, 6, src, cur)[0]); !strings.HasSuffix(got, "22–26 of 26") {
		t.Errorf("at the end %q", got)
	}
}

// TestARowThatLeftKeepsItsName: it is marked where there is room.
func TestARowThatLeftKeepsItsName(t *testing.T) {
	tb := Table{Columns: []Column{{Title: "JOB", Min: 8, Width: 8}, {Title: "GOES", Kind: Number, Min: 7, Width: 7}}}
	src, c := letters('a', 'c'), &Cursor{}
	c.Sync(src, 5)
	c.Move(src, 1, 5)
	src = list{"a", "c"}
	c.Sync(src, 5)
	if got := plain(tb.Body(mono, 30, 3, src, c)[1]); got != "▌  b          (left)" {
		t.Errorf("%q", got)
	}
}
