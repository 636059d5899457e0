package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/regular"
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

// page rows are packed at once, rowGroup rows lie in memory until they are written: 20 MB of events.
var (
	page     = 32 << 10
	rowGroup = 8 * page
)

// file is one file of a partition. It appears whole, and not at all where it has no row.
type file struct {
	table     *columns.Table
	dir, name string
	rows      int
	err       error // of the first row that could not be written

	out     *outfile.File
	at      int64 // bytes that it has
	places  []int
	columns []*column
	is      format.FileMetaData
}

// add writes a row.
func (f *file) add(row []riot.Value) error {
	if f.out == nil && f.err == nil {
		f.err = f.open()
	}
	if f.err != nil {
		return f.err
	}
	for i, place := range f.places {
		f.columns[i].add(row[place])
	}
	f.rows++
	switch {
	case f.rows%rowGroup == 0:
		f.err = f.group()
	case f.rows%page == 0:
		for _, c := range f.columns {
			f.err = errors.Join(f.err, c.page())
		}
	}
	return f.err
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
	f.is = format.FileMetaData{Version: 2, CreatedBy: "farsight version (build )",
		Schema: []format.SchemaElement{{Name: f.table.Name, NumChildren: thrift.New(int32(len(f.places)))}},
		KeyValueMetadata: []format.KeyValue{{Key: "farsight.table", Value: f.table.Name},
			{Key: "farsight.version", Value: strconv.Itoa(f.table.Version)}}}
	for _, place := range f.places {
		c := columnOf(f.table.Columns[place].Name, f.table.Columns[place].Type)
		f.columns = append(f.columns, c)
		f.is.Schema = append(f.is.Schema, c.schema()...)
		f.is.ColumnOrders = append(f.is.ColumnOrders, format.ColumnOrder{Value: new(format.TypeDefinedOrder)})
	}
	return f.write([]byte(magic))
}

// magic is at both ends of a file.
const magic = "PAR1"

func (f *file) write(raw []byte) error {
	n, err := f.out.Write(raw)
	if f.at += int64(n); err != nil {
		return fmt.Errorf("write %s: %w", f.name, err)
	}
	return nil
}

// group writes the rows that lie in memory.
func (f *file) group() error {
	g := format.RowGroup{NumRows: int64(f.rows) - f.is.NumRows, FileOffset: f.at, Ordinal: int16(len(f.is.RowGroups))}
	for _, c := range f.columns {
		is, raw, err := c.chunk(f.at)
		if err == nil {
			err = f.write(raw)
		}
		if err != nil {
			return err
		}
		g.Columns = append(g.Columns, format.ColumnChunk{MetaData: is})
		g.TotalByteSize += is.TotalUncompressedSize
		g.TotalCompressedSize += is.TotalCompressedSize
	}
	f.is.NumRows += g.NumRows
	f.is.RowGroups = append(f.is.RowGroups, g)
	return nil
}

// close writes what is left, and the end, which says where everything is.
func (f *file) close() error {
	if int64(f.rows) > f.is.NumRows {
		if err := f.group(); err != nil {
			return err
		}
	}
	end, err := thrift.Marshal(new(thrift.CompactProtocol), f.is)
	if err != nil {
		return err
	}
	return f.write(append(binary.LittleEndian.AppendUint32(end, uint32(len(end))), magic...))
}

// finish gives the file its name, unless err says that the export failed; it returns that one, too.
func (f *file) finish(err error) error {
	if f.out == nil {
		return err
	}
	if err == nil {
		err = f.close()
	}
	return f.out.Finish(err)
}
