package dataset

import (
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/regular"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/outfile"
	"github.com/farsight-console/farsight/riot"
)

// parted are the columns that the names of folders tell.
const parted = "platform"

// kept are the columns of a table that its files have, by their places in a row.
func kept(t *columns.Table) (places []int) {
	for i, c := range t.Columns {
		if c.Name != parted {
			places = append(places, i)
		}
	}
	return places
}

// tags are how values are stored: texts by a dictionary, numbers by their differences. All can be null. The split of
// bytes would pack numbers better still, but DuckDB reads it of none but fractions.
var tags = map[riot.Type]struct {
	as  reflect.Type
	tag string
}{
	riot.Text:    {reflect.TypeFor[string](), "optional,dict"},
	riot.Int:     {reflect.TypeFor[int32](), "optional,delta"},
	riot.ID:      {reflect.TypeFor[int32](), "optional,dict"},
	riot.Float:   {reflect.TypeFor[float64](), "optional"},
	riot.Bool:    {reflect.TypeFor[bool](), "optional"},
	riot.Instant: {reflect.TypeFor[int64](), "optional,delta,timestamp(millisecond)"},
	riot.Ints:    {reflect.TypeFor[[]int32](), "optional,list"},
}

// few are numbers of which a file has few different ones, so that a dictionary packs them better.
var few = regexp.MustCompile(`^(kills|deaths|assists|level|turrets|jungle_cs|cc_s|pings|control_wards|wards|wards_killed|` +
	`(double|triple|quadra|penta)_kills|(healing|shielding)_of_team|team_id|minute|bounty|winner|seats|first_.*|` +
	`(blue|red)_(atakhans|barons|dragons|grubs|heralds|inhibitors|towers))$`)

// packed is a level that takes the time of the usual one, and makes events 4 % smaller.
var packed = &zstd.Codec{Level: zstd.SpeedBetterCompression}

// schemaOf is a table as Parquet has it. It is made of a struct, since the columns of a parquet.Group have no order.
func schemaOf(t *columns.Table) *parquet.Schema {
	var fields []reflect.StructField
	for _, i := range kept(t) {
		c := t.Columns[i]
		as := tags[c.Type]
		if c.Type == riot.Int && few.MatchString(c.Name) {
			as = tags[riot.ID]
		}
		fields = append(fields, reflect.StructField{
			Name: "C" + strconv.Itoa(i), Type: as.as, Tag: reflect.StructTag(`parquet:"` + c.Name + "," + as.tag + `"`),
		})
	}
	return parquet.NewSchema(t.Name, parquet.SchemaOf(reflect.New(reflect.StructOf(fields)).Interface()))
}

// chunk rows are handed on at once, rowGroup rows lie in memory until they are written: 20 MB of events.
const (
	chunk    = 2048
	rowGroup = 256 << 10
)

// file is one file of a partition. It appears whole, and not at all where it has no row.
type file struct {
	table     *columns.Table
	dir, name string
	rows      int
	err       error // of the first row that could not be written

	out    *outfile.File
	w      *parquet.GenericWriter[any]
	places []int
	values [][]parquet.Value // of the chunk, by column of the file
	inside int               // rows in values
}

// add writes a row.
func (f *file) add(row []riot.Value) error {
	if f.out == nil && f.err == nil {
		f.err = f.open()
	}
	if f.err != nil {
		return f.err
	}
	for column, i := range f.places {
		f.values[column] = appendValue(f.values[column], column, row[i], f.table.Columns[i].Type == riot.Ints)
	}
	f.rows++
	if f.inside++; f.inside == chunk {
		f.err = f.flush()
	}
	return f.err
}

// appendValue adds a value with its levels; a list has as many values as elements, and one where it is empty.
func appendValue(to []parquet.Value, column int, v riot.Value, list bool) []parquet.Value {
	switch v.Type {
	case riot.Null:
		return append(to, parquet.NullValue().Level(0, 0, column))
	case riot.Text:
		return append(to, parquet.ByteArrayValue([]byte(safe.Text(v.Text))).Level(0, 1, column))
	case riot.Float:
		return append(to, parquet.DoubleValue(math.Float64frombits(uint64(v.Num))).Level(0, 1, column))
	case riot.Bool:
		return append(to, parquet.BooleanValue(v.Num == 1).Level(0, 1, column))
	case riot.Instant:
		return append(to, parquet.Int64Value(v.Num).Level(0, 1, column))
	case riot.Ints:
		if v.Text == "" {
			return append(to, parquet.NullValue().Level(0, 1, column))
		}
		again := 0
		for element := range strings.SplitSeq(v.Text, ",") {
			n, _ := strconv.ParseInt(element, 10, 32) // riot.Picker wrote it
			to = append(to, parquet.Int32Value(int32(n)).Level(again, 2, column))
			again = 1
		}
		return to
	}
	return append(to, parquet.Int32Value(int32(v.Num)).Level(0, 1, column))
}

func (f *file) open() error {
	if err := regular.MkdirAll(f.dir); err != nil {
		return fmt.Errorf("make a folder of the export: %w", err)
	}
	out, err := outfile.Open(filepath.Join(f.dir, f.name), false, false)
	if err != nil {
		return err
	}
	f.out, f.places = out, kept(f.table)
	f.values = make([][]parquet.Value, len(f.places))
	f.w = parquet.NewGenericWriter[any](out, schemaOf(f.table), parquet.Compression(packed), parquet.DataPageStatistics(false),
		parquet.CreatedBy("farsight", "", ""), parquet.KeyValueMetadata("farsight.table", f.table.Name),
		parquet.KeyValueMetadata("farsight.version", strconv.Itoa(f.table.Version)))
	return nil
}

// flush hands the chunk on, a column after the other.
func (f *file) flush() error {
	for column, w := range f.w.ColumnWriters() {
		if _, err := w.WriteRowValues(f.values[column]); err != nil {
			return fmt.Errorf("write %s: %w", f.name, err)
		}
		f.values[column] = f.values[column][:0]
	}
	f.inside = 0
	if f.rows%rowGroup == 0 {
		if err := f.w.Flush(); err != nil {
			return fmt.Errorf("write %s: %w", f.name, err)
		}
	}
	return nil
}

// finish gives the file its name, unless err says that the export failed; it returns that one, too.
func (f *file) finish(err error) error {
	if f.out == nil {
		return err
	}
	if err == nil && f.inside > 0 {
		err = f.flush()
	}
	if err == nil {
		err = f.w.Close()
	}
	return f.out.Finish(err)
}
