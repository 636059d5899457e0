package dataset

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/plain"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/riot"
)

// stored says how values of a type are stored: texts by a dictionary, numbers by their differences.
type stored struct {
	as        format.Type
	logical   format.LogicalTypeValue
	converted deprecated.ConvertedType // logical, for readers that do not know it
	encoding  encoding.Encoding
}

// The split of bytes would pack numbers better still, but DuckDB reads it of none but fractions.
var (
	asIs       = new(plain.Encoding)
	differing  = new(delta.BinaryPackedEncoding)
	dictionary = new(rle.DictionaryEncoding)

	number = stored{format.Int32, &format.IntType{BitWidth: 32, IsSigned: true}, deprecated.Int32, dictionary}
	ofType = map[riot.Type]stored{
		riot.Text:  {format.ByteArray, &format.StringType{}, deprecated.UTF8, dictionary},
		riot.Int:   {number.as, number.logical, number.converted, differing},
		riot.ID:    number,
		riot.Float: {as: format.Double, encoding: asIs},
		riot.Bool:  {as: format.Boolean, encoding: asIs},
		riot.Instant: {format.Int64, &format.TimestampType{IsAdjustedToUTC: true, Unit: format.TimeUnit{Value: &format.MilliSeconds{}}},
			deprecated.TimestampMillis, differing},
		riot.Ints: {number.as, number.logical, number.converted, asIs},
	}
)

// few are numbers of which a file has few different ones, so that a dictionary packs them better.
var few = regexp.MustCompile(`^(kills|deaths|assists|level|turrets|jungle_cs|cc_s|pings|control_wards|wards|wards_killed|` +
	`(double|triple|quadra|penta)_kills|(healing|shielding)_of_team|team_id|minute|bounty|winner|seats|first_.*|` +
	`(blue|red)_(atakhans|barons|dragons|grubs|heralds|inhibitors|towers))$`)

// packer's level takes the time of the usual one, and makes events 4 % smaller.
var packer = &zstd.Codec{Level: zstd.SpeedBetterCompression}

// column is a column of a file: the page that is filled, and the pages of the row group before it. It uses parquet-go's
// encodings and words of the format, and not its writer, which can everything that Parquet can and is a tenth of a program.
type column struct {
	stored
	path []string // its name; a list's elements have a longer one

	rows   int
	depths []byte  // a level for each value: 0 is null, the deepest is a value, an empty list lies between
	again  []byte  // of a list: 1 for each element but its first
	values []int64 // what is not null, or its place in the dictionary

	places      map[riot.Value]int64 // the dictionary
	entries     []byte               // what it says, in order
	pages       []byte
	least, most riot.Value
	is          format.ColumnMetaData
}

func columnOf(name string, t riot.Type) *column {
	c := &column{stored: ofType[t], path: []string{name}}
	switch {
	case t == riot.Ints:
		c.path = append(c.path, "list", "element")
	case t == riot.Int && few.MatchString(name):
		c.stored = number
	}
	c.begin()
	return c
}

// begin empties the column for a row group.
func (c *column) begin() {
	*c = column{stored: c.stored, path: c.path, places: map[riot.Value]int64{}, is: format.ColumnMetaData{Type: c.as,
		Codec: format.Zstd, PathInSchema: c.path,
		Encoding: slices.Compact([]format.Encoding{format.RLE, format.Plain, c.encoding.Encoding()})}}
}

// schema is the column in the file's schema; all can be null.
func (c *column) schema() []format.SchemaElement {
	optional, one := thrift.New(format.Optional), thrift.New[int32](1)
	leaf := format.SchemaElement{Name: c.path[0], Type: thrift.New(c.as), RepetitionType: optional}
	if c.logical != nil {
		leaf.LogicalType.Value, leaf.ConvertedType = c.logical, thrift.New(c.converted)
	}
	if len(c.path) == 1 {
		return []format.SchemaElement{leaf}
	}
	leaf.Name, leaf.RepetitionType = c.path[2], thrift.New(format.Required)
	return []format.SchemaElement{
		{Name: c.path[0], RepetitionType: optional, NumChildren: one, ConvertedType: thrift.New(deprecated.List),
			LogicalType: format.LogicalType{Value: &format.ListType{}}},
		{Name: c.path[1], RepetitionType: thrift.New(format.Repeated), NumChildren: one},
		leaf,
	}
}

// add puts the value of a row into the page.
func (c *column) add(v riot.Value) {
	c.rows++
	depth, again := byte(1), byte(0)
	switch {
	case v.Type == riot.Null:
		depth = 0
	case v.Type == riot.Ints && v.Text == "":
	case v.Type == riot.Ints:
		for element := range strings.SplitSeq(v.Text, ",") {
			n, _ := strconv.ParseInt(element, 10, 32) // riot.Picker wrote it
			c.values, c.depths, c.again = append(c.values, n), append(c.depths, 2), append(c.again, again)
			again = 1
		}
		return
	default:
		c.values = append(c.values, c.value(v))
	}
	c.depths, c.again = append(c.depths, depth), append(c.again, again)
}

// value is a value as a number, or where the dictionary has it.
func (c *column) value(v riot.Value) int64 {
	if c.as == format.Int32 {
		v.Num = int64(int32(v.Num))
	}
	if c.encoding != dictionary {
		c.bound(v)
		return v.Num
	}
	v.Text = safe.Text(v.Text)
	place, had := c.places[v]
	if !had {
		v.Text, place = strings.Clone(v.Text), int64(len(c.places)) // it was a piece of a payload
		c.bound(v)
		c.places[v] = place
		if c.as == format.ByteArray {
			c.entries = plain.AppendByteArrayLength(c.entries, len(v.Text))
		}
		c.entries = c.plain(c.entries, v)
	}
	return place
}

// bound keeps the least and the greatest value.
func (c *column) bound(v riot.Value) {
	order := func(a, b riot.Value) int {
		return cmp.Or(strings.Compare(a.Text, b.Text), cmp.Compare(a.Num, b.Num))
	}
	if c.least.Type == riot.Null {
		c.least, c.most = v, v
	}
	if order(v, c.least) < 0 {
		c.least = v
	}
	if order(v, c.most) > 0 {
		c.most = v
	}
}

// plain adds a value as it is.
func (c *column) plain(to []byte, v riot.Value) []byte {
	switch c.as {
	case format.ByteArray:
		return append(to, v.Text...)
	case format.Int32:
		return plain.AppendInt32(to, int32(v.Num))
	}
	return plain.AppendInt64(to, v.Num)
}

// encoded are the values of the page.
func (c *column) encoded(by encoding.Encoding) (raw []byte, err error) {
	switch {
	case c.as == format.Boolean:
		for i, n := range c.values {
			raw = plain.AppendBoolean(raw, i, n == 1)
		}
		return raw, nil
	case c.as == format.Double, c.as == format.Int64:
		return by.EncodeInt64(nil, c.values)
	}
	small := make([]int32, len(c.values))
	for i, n := range c.values {
		small[i] = int32(n)
	}
	return by.EncodeInt32(nil, small)
}

// page ends the page.
func (c *column) page() error {
	by := c.encoding
	if len(c.values) == 0 { // and there may be no dictionary
		by = asIs
	}
	values, err := c.encoded(by)
	if err != nil {
		return err
	}
	var again []byte
	if len(c.path) > 1 {
		again, _ = (&rle.Encoding{BitWidth: 1}).EncodeLevels(nil, c.again)
	}
	deepest := len(c.path)/2 + 1 // which is also how many bits it takes
	depths, err := (&rle.Encoding{BitWidth: deepest}).EncodeLevels(nil, c.depths)
	if err != nil {
		return err
	}
	nulls := len(c.depths) - len(c.values)
	c.is.NumValues += int64(len(c.depths))
	c.is.Statistics.NullCount += int64(nulls)
	err = c.put(format.PageHeader{Type: format.DataPageV2, DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{
		NumValues: int32(len(c.depths)), NumNulls: int32(nulls), NumRows: int32(c.rows), Encoding: by.Encoding(),
		DefinitionLevelsByteLength: int32(len(depths)), RepetitionLevelsByteLength: int32(len(again)), IsCompressed: thrift.New(true),
	})}, append(again, depths...), values)
	c.depths, c.again, c.values, c.rows = c.depths[:0], c.again[:0], c.values[:0], 0
	return err
}

// put adds a page, of which values alone are packed, to the pages.
func (c *column) put(h format.PageHeader, levels, values []byte) error {
	packed, err := packer.Encode(nil, values)
	if err != nil {
		return err
	}
	h.UncompressedPageSize, h.CompressedPageSize = int32(len(levels)+len(values)), int32(len(levels)+len(packed))
	head, err := thrift.Marshal(new(thrift.CompactProtocol), h)
	c.is.TotalUncompressedSize += int64(len(head)) + int64(h.UncompressedPageSize)
	c.pages = slices.Concat(c.pages, head, levels, packed)
	return err
}

// chunk ends the row group. Its bytes are for the place in the file that is told.
func (c *column) chunk(at int64) (is format.ColumnMetaData, raw []byte, err error) {
	if c.rows > 0 {
		err = c.page()
	}
	pages := c.pages
	c.is.DataPageOffset = at
	if n := len(c.places); n > 0 && err == nil {
		c.pages = nil
		err = c.put(format.PageHeader{Type: format.DictionaryPage, DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{
			NumValues: int32(n), Encoding: format.Plain})}, nil, c.entries)
		c.is.DictionaryPageOffset, c.is.DataPageOffset = at, at+int64(len(c.pages))
		pages = append(c.pages, pages...)
	}
	c.is.TotalCompressedSize = int64(len(pages))
	if c.logical != nil && c.least.Type != riot.Null { // no fractions, no true and false
		c.is.Statistics.MinValue, c.is.Statistics.MaxValue = c.plain([]byte{}, c.least), c.plain([]byte{}, c.most)
	}
	is = c.is
	c.begin()
	return is, pages, err
}
