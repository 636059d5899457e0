package dataset

import (
	"bytes"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/riot"
)

// A page and a row group may end anywhere: in a list, in nothing but nulls, before a value that the dictionary lacks.
func TestL22_PagesAndRowGroupsComeBack(t *testing.T) {
	defer func(rows, pages int) { page, rowGroup = rows, pages }(page, rowGroup)
	table := &columns.Table{Name: "t", Columns: []columns.Fact{{Name: "text", Type: riot.Text}, {Name: "int", Type: riot.Int}, {Name: "id", Type: riot.ID},
		{Name: "float", Type: riot.Float}, {Name: "bool", Type: riot.Bool}, {Name: "at", Type: riot.Instant}, {Name: "list", Type: riot.Ints}, {Name: "kills", Type: riot.Int}}}
	values := [][]riot.Value{
		{{Type: riot.Text}, {Type: riot.Text, Text: "b"}, {Type: riot.Text, Text: strings.Repeat("é", 400)}, {Type: riot.Text, Text: "a"}},
		{{Type: riot.Int, Num: math.MinInt32}, {Type: riot.Int}, {Type: riot.Int, Num: math.MaxInt32}},
		{{Type: riot.ID, Num: -7}, {Type: riot.ID, Num: 420}},
		{{Type: riot.Float, Num: int64(math.Float64bits(.5))}, {Type: riot.Float, Num: int64(math.Float64bits(-1e300))}},
		{{Type: riot.Bool, Num: 1}, {Type: riot.Bool}, {Type: riot.Bool, Num: 1}},
		{{Type: riot.Instant, Num: -1}, {Type: riot.Instant, Num: 1 << 41}},
		{{Type: riot.Ints}, {Type: riot.Ints, Text: "1,-2,3"}, {Type: riot.Ints, Text: "4"}},
		{{Type: riot.Int, Num: 3}, {Type: riot.Int, Num: 4}},
	}
	var rows [][]riot.Value
	var want []string
	for n := range 95 {
		row, cells := make([]riot.Value, len(table.Columns)), []string(nil)
		for i, of := range values {
			if n%20 < 10 || n%(i+2) == 0 {
				continue
			}
			row[i] = of[(n+n/7)%len(of)]
			for _, cell := range told(row[i]) {
				cells = append(cells, table.Columns[i].Name+"="+cell)
			}
		}
		rows, want = append(rows, row), append(want, "t "+strings.Join(cells, " "))
	}
	slices.Sort(want)
	for _, sizes := range [][2]int{{1000, 1000}, {1000, 40}, {3, 1000}, {7, 21}, {1, 5}, {5, 95}} {
		page, rowGroup = sizes[0], sizes[1]
		dir := t.TempDir()
		f := &file{table: table, dir: filepath.Join(dir, "t"), name: "part-1.parquet"}
		for _, row := range rows {
			if err := f.add(row); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.finish(nil); err != nil {
			t.Fatal(err)
		}
		if got := rowsOf(t, dir, "t"); !slices.Equal(got, want) {
			t.Errorf("pages of %d rows in groups of %d: %q, want %q", page, rowGroup, got, want)
		}
		raw := files(t, dir)["t/part-1.parquet"]
		all, err := parquet.OpenFile(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			t.Fatal(err)
		}
		low, high := map[string]string{}, map[string]string{}
		for _, g := range all.Metadata().RowGroups {
			for _, c := range g.Columns {
				if s := c.MetaData.Statistics; s.MaxValue != nil {
					name := c.MetaData.PathInSchema[0]
					high[name] = max(high[name], string(s.MaxValue))
					low[name] = string(s.MinValue)
				}
			}
		}
		if least, told := low["text"]; high["text"] != strings.Repeat("é", 400) || least != "" || !told || low["kills"] != "\x03\x00\x00\x00" || high["kills"] != "\x04\x00\x00\x00" || len(high) != 5 {
			t.Errorf("the least are told as %q, the greatest as %q", low, high)
		}
	}
}

// told is what a reader says of a value.
func told(v riot.Value) []string {
	switch v.Type {
	case riot.Text:
		return []string{v.Text}
	case riot.Float:
		return []string{strconv.FormatFloat(math.Float64frombits(uint64(v.Num)), 'g', -1, 64)}
	case riot.Bool:
		return []string{strconv.FormatBool(v.Num == 1)}
	case riot.Ints:
		return strings.FieldsFunc(v.Text, func(r rune) bool { return r == ',' })
	}
	return []string{strconv.FormatInt(v.Num, 10)}
}
