package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/riot"
)

// Feed is where an export reads: a store, or an engine that has one. The pages of a feed follow the
// durable order of its rows, which is that of their last changes.
type Feed interface {
	Feed(ctx context.Context, q engine.FeedQuery) (engine.FeedPage, error)
}

// Payloads reads Riot's JSON of a stored match or timeline; engine.ErrNotFound
// when there is none.
type Payloads func(ctx context.Context, match string) (raw []byte, err error)

// Formats of an export: lines of JSON, and lines of CSV under a first one with the names.
const (
	NDJSON = "ndjson"
	CSV    = "csv"
)

// Export says what is written, and how.
type Export struct {
	What     Exportable
	Format   string
	After    string   // cursor of the last line of an export before; "" = from the beginning
	Headless bool     // CSV without its first line: the output goes on where a file ended
	Facts    Payloads // for the columns that only Riot's JSON tells; nil = these are null
	Payloads Payloads // added as they are; nil = without
	// Wait returns when there may be more to read; nil ends the export with what is
	// there now. Everything is written out before it is called.
	Wait func(ctx context.Context) error
	// Queue is the name of a queue as the outside knows it; nil = ours.
	Queue func(engine.Queue) string
}

// Exported is how far an export came.
type Exported struct {
	Lines      int    // written out, every one whole
	Cursor     string // the next export goes on here
	Unreadable int    // records and payloads that could not be read; their lines say so
	First      error  // what was wrong with the first of them
}

// outChunk bytes are collected before they are written, in whole lines: a pipe takes 64 KiB at once.
const outChunk = 64 << 10

// exporter is an export under way.
type exporter struct {
	Export
	reader columns.Reader
	src    Feed
	out    io.Writer

	buf    bytes.Buffer // whole lines
	lines  int          // in buf
	at     string       // cursor of the last line in buf
	row    fed          // of the line that is written
	course []riot.Value // of the timeline that is written
	done   Exported
}

// Write reads the feed from its cursor on and writes one line per row, in the
// durable order. It always returns how far it came, with whole lines only: what it returns as the
// cursor was written out, so that a program which keeps it loses no row and gets none twice.
// Errors: those of the feed, of out and of Wait, or the context's cause.
func (e Export) Write(ctx context.Context, src Feed, out io.Writer) (Exported, error) {
	x := &exporter{Export: e, src: src, out: out, at: e.After, done: Exported{Cursor: e.After}}
	if x.reader.Payload = e.Facts; e.Facts == nil {
		x.reader.Payload = func(context.Context, string) ([]byte, error) { return nil, engine.ErrNotFound }
	}
	if e.Queue == nil {
		x.Queue = func(q engine.Queue) string { return string(q) }
	}
	err := x.run(ctx)
	return x.done, errors.Join(err, x.flush())
}

// run writes the feed to its end, and what comes after that as long as Wait lets it.
func (x *exporter) run(ctx context.Context) error {
	if x.Format == CSV && !x.Headless {
		var names []string
		for _, f := range x.What.fields {
			names = append(names, f.name)
		}
		x.buf.Write(csvLine(append(names, "cursor")))
	}
	for {
		if err := x.pages(ctx, x.What.Kind, x.at, func(r engine.FeedRow) string { return r.Cursor }); err != nil {
			return err
		}
		// Live jobs have no place in the order: they follow the ended ones under the cursor of the last of
		// those, so that whoever goes on after any of these lines gets all of them anew.
		if x.What.Kind == engine.FeedJobs && x.Wait == nil {
			if err := x.pages(ctx, engine.FeedLive, "", func(engine.FeedRow) string { return x.at }); err != nil {
				return err
			}
		}
		if err := x.flush(); err != nil || x.Wait == nil {
			return err
		}
		// Everything that was read is written: whoever follows sees it before the next is waited for.
		if err := x.Wait(ctx); err != nil {
			return err
		}
	}
}

// pages writes a feed to its end; cursor gives the one that a row's line shows.
func (x *exporter) pages(
	ctx context.Context, kind engine.FeedKind, after string, cursor func(engine.FeedRow) string,
) error {
	for {
		page, err := x.src.Feed(ctx, engine.FeedQuery{Kind: kind, Page: engine.Page{After: after, Limit: pageSize}})
		if err != nil {
			return err
		}
		for _, r := range page.Rows {
			// A live job's line shows the cursor of the last ended one: it has none of its own.
			before := x.at
			x.at = cursor(r)
			r.Cursor = x.at
			if err := x.item(ctx, before, r); err != nil {
				return err
			}
		}
		after = page.Next
		if kind == x.What.Kind {
			x.at = page.Next
		}
		if !page.More {
			return nil
		}
	}
}

// item adds the lines of a row of the feed; those of a timeline that come before its last go under the cursor of the
// item before.
func (x *exporter) item(ctx context.Context, before string, r engine.FeedRow) error {
	if x.What.many == nil || r.Corrupt {
		return x.line(ctx, r)
	}
	if !fetched(r) {
		return nil
	}
	raw, err := x.reader.Payload(ctx, r.ID)
	if err == nil {
		x.course, err = x.What.many.Pick(raw, x.course[:0])
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, engine.ErrNotFound):
		return nil
	case err != nil:
		x.unreadable(fmt.Errorf("the timeline of %s: %w", r.ID, err))
		return nil
	}
	own, left := r.Cursor, len(x.course)
	for x.row.facts = range x.What.many.Rows(r.ID, x.course) {
		if r.Cursor, left = before, left-len(x.row.facts); left == 0 {
			r.Cursor = own
		}
		x.at = r.Cursor
		if err := x.line(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// line adds a row's line to those that are collected. A row that cannot be read costs no other: its
// line says so, and the count of them is what the command ends with.
func (x *exporter) line(ctx context.Context, r engine.FeedRow) error {
	if r.Corrupt {
		x.unreadable(fmt.Errorf("the record of %s cannot be read", r.ID))
	}
	if x.row.FeedRow = r; r.Job != nil { // once for a row: each of its fields reads it
		x.row.job = engine.JobRow{Job: *r.Job}
		x.row.job.Queue = engine.Queue(x.Queue(r.Job.Queue))
	}
	if err := x.readFacts(ctx); err != nil {
		return err
	}
	line, err := x.encoded(ctx, r)
	if err != nil {
		return fmt.Errorf("export %s: %w", r.ID, err)
	}
	x.buf.Write(line)
	if x.lines++; x.buf.Len() < outChunk {
		return nil
	}
	return x.flush()
}

// readFacts reads what the row's table of data tells. A payload that cannot be read is counted, unless it is
// exported itself and counted there, and leaves null.
func (x *exporter) readFacts(ctx context.Context) (err error) {
	if x.What.row == nil || x.row.Corrupt {
		return nil
	}
	if x.row.facts, err = x.What.row(ctx, &x.reader, &x.row); err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if x.Payloads == nil {
		x.unreadable(err)
	}
	return nil
}

// encoded is a row's line. Of a record that cannot be read it has the id alone: its other
// members are left out of JSON and empty in CSV, where each has its place.
func (x *exporter) encoded(ctx context.Context, r engine.FeedRow) ([]byte, error) {
	all := make(record, 0, len(x.What.fields)+3)
	for _, f := range x.What.fields {
		switch {
		case !r.Corrupt || f.always:
			all = append(all, member{f.name, f.of(&x.row)})
		case x.Format == CSV:
			all = append(all, member{f.name, nil})
		}
	}
	cursor := member{"cursor", r.Cursor}
	if x.Format == CSV {
		return append(all, cursor).csv(), nil
	}
	if r.Corrupt {
		all = append(all, member{"corrupt", true})
	}
	all, err := x.payload(ctx, append(all, cursor), r)
	return all.ndjson(), err
}

// unreadable counts what could not be read, and keeps the first reason: there may be thousands of one.
func (x *exporter) unreadable(err error) {
	if x.done.Unreadable++; x.done.First == nil {
		x.done.First = err
	}
}

// flush writes the collected lines out. The cursor moves on only when they are.
func (x *exporter) flush() error {
	if x.buf.Len() > 0 {
		if _, err := x.out.Write(x.buf.Bytes()); err != nil {
			x.buf.Reset() // some of it may be written: none of it is counted or tried again
			x.lines, x.at = 0, x.done.Cursor
			return fmt.Errorf("write the export: %w", err)
		}
		x.buf.Reset()
	}
	x.done.Lines, x.lines = x.done.Lines+x.lines, 0
	x.done.Cursor = x.at
	return nil
}

// payload adds Riot's JSON. One that cannot be read is said in its place and
// costs no other line.
func (x *exporter) payload(ctx context.Context, all record, r engine.FeedRow) (record, error) {
	if x.Payloads == nil || !fetched(r) {
		return all, nil
	}
	raw, err := x.Payloads(ctx, r.ID)
	if err == nil && !json.Valid(raw) {
		err = fmt.Errorf("payload of %s: it is no JSON", r.ID)
	}
	switch {
	case ctx.Err() != nil:
		return all, context.Cause(ctx)
	case errors.Is(err, engine.ErrNotFound):
		return all, nil
	case err != nil:
		x.unreadable(err)
		return append(all, member{"payload_error", err.Error()}), nil
	}
	return append(all, member{"payload", json.RawMessage(raw)}), nil
}

// fetched reports whether Riot's JSON of a row was ever stored: only then it is asked for.
func fetched(r engine.FeedRow) bool {
	return r.Match != nil && !r.Match.FetchedAt.IsZero() || r.Timeline != nil && !r.Timeline.FetchedAt.IsZero()
}
