package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/dataset"
	"github.com/farsight-console/farsight/internal/outfile"
	"github.com/farsight-console/farsight/ui/cli"
)

// exportHelp holds for everything that can be exported.
const exportHelp = `
The order is durable: everything stands in it once, at the place of its latest
change, and what changes moves to the end. Every line carries a cursor; --after
goes on behind any of them and gives exactly what was added or has changed since.
So who only appends has each item at least once, exactly once if nothing changed
meanwhile, and of several lines with the same id the last one is true.

Without --follow the file of --out appears when the export is complete. --follow
writes into it at once and keeps going: it looks every 2 s whether there is more.
Ctrl-C ends it and names the cursor. --follow --after goes on at the end of a file
that exists.

While an engine works on the data directory, it is asked through its control socket.
Otherwise the directory is read, and released while --follow waits, so that syncs can
run in turns; what they store is written when they have ended. A sync that is under
way keeps an export out (exit 4).

In CSV a cell that a spreadsheet would take for a formula, or that begins with an
apostrophe, has an apostrophe in front: whoever reads takes one away. Numbers and Riot's
ids stay as they are.`

// exportOptions are the flags of `farsight export`.
// They are of one kind of thing that can be exported: each has a command of its own.
type exportOptions struct {
	what               cli.Exportable
	format, out, after string
	payload, follow    bool
	collection         string
}

// exportCommand makes `farsight export` with a command for each kind. By itself it only lists them.
func exportCommand() commandDecl {
	var names []string
	var kinds []commandDecl
	for _, e := range cli.Exportables() {
		names = append(names, e.Name)
		kinds = append(kinds, exportOf(e))
	}
	opt := parquetOptions{}
	return commandDecl{
		use: "export", group: groupData, short: "Write stored data as NDJSON, CSV or Parquet",
		long:    "Write stored " + wordList(names, "and") + " as NDJSON or CSV,\nor all tables as Parquet.\n" + parquetHelp + exportHelp,
		example: "farsight export matches --out matches.ndjson\nfarsight export --format parquet --out lol --since 30d",
		below:   kinds,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&opt.format, "format", "", "parquet: all tables at once")
			f.StringVar(&opt.out, "out", "", "the folder of the Parquet files; it goes on where it ended")
			f.StringVar(&opt.after, "after", "", "go on after this cursor, in a new folder")
			f.StringVar(&opt.since, "since", "", "only what was played since: 30d, 6w, 18mo, 2y")
			f.StringVar(&opt.patch, "patch", "", "only matches of this patch: 16.23")
			f.StringVar(&opt.collection, "collection", "", "only what this collection has found")
		},
		run: func(ctx context.Context, g given) error {
			if opt.format == "" {
				return usagef("say what to export: farsight export %s, or --format parquet for all tables", wordList(names, "or"))
			}
			return runParquet(ctx, g, opt)
		},
	}
}

// parquetHelp is what the help says of Parquet.
const parquetHelp = `
--format parquet writes matches, participants, events, frames and ranks into the folder
of --out, zstd, by platform and day: participants/platform=kr/day=2026-11-27/part-1.parquet.
The same command later adds files with what has come since, and changes none. It can be
stopped at any time. docs/data.md has the columns, and questions to ask.
`

// parquetOptions are the flags of `farsight export --format parquet`.
type parquetOptions struct{ format, out, after, since, patch, collection string }

// export is what the flags ask for; it refuses what makes no sense before anything is opened.
func (o parquetOptions) export() (e dataset.Export, err error) {
	if o.format != "parquet" {
		return e, usagef("--format %q is unknown here: use parquet, or say what to export", o.format)
	}
	if o.out == "" {
		return e, usagef("say where to: --out DIR")
	}
	e = dataset.Export{Dir: o.out, After: o.after, Patch: o.patch}
	if o.since != "" {
		span, err := league.ParseSpan(o.since)
		if err != nil {
			return e, usagef("--since: %v", err)
		}
		if !span.Off() {
			e.Since, e.Filter = span.Before(time.Now()), "--since "+o.since
		}
	}
	if o.patch != "" {
		if !patchForm.MatchString(o.patch) {
			return e, usagef("--patch %q is no patch: write it as 16.23", o.patch)
		}
		e.Filter = strings.TrimSpace(e.Filter + " --patch " + o.patch)
	}
	return e, nil
}

var patchForm = regexp.MustCompile(`^[0-9]{1,3}\.[0-9]{1,3}$`)

// runParquet writes all tables into a folder.
func runParquet(ctx context.Context, g given, opt parquetOptions) error {
	e, err := opt.export()
	if err != nil {
		return err
	}
	stderr := g.cmd.ErrOrStderr()
	src := &storeFeed{cfg: g.cfg, of: opt.collection}
	if err := src.open(ctx); err != nil {
		return explainHeld(err)
	}
	if opt.collection != "" {
		had, err := src.had(ctx)
		if err != nil {
			return errors.Join(err, src.close())
		}
		e.Filter = strings.TrimSpace(fmt.Sprintf("%s --collection %s (%d matches of it were stored before)", e.Filter, opt.collection, had))
	}
	e.Feed = src.Feed
	e.Payload = func(ctx context.Context, q engine.PayloadQuery) ([]byte, error) {
		kind := engine.FeedMatches
		if q.Timeline {
			kind = engine.FeedTimelines
		}
		return src.payloads(kind)(ctx, q.Match)
	}
	done, err := e.Write(ctx)
	err = errors.Join(err, src.close())
	if errors.Is(err, context.Canceled) {
		return &coded{code: exitInterrupted, err: errors.New("interrupted: every file is whole; the same command goes on")}
	}
	if err != nil {
		return err
	}
	var rows []string
	for _, t := range columns.Tables {
		rows = append(rows, fmt.Sprintf("%d %s", done.Rows[t.Name], t.Name))
	}
	_, _ = fmt.Fprintf(stderr, "%d new files in %s: %s; what comes later: the same command, or --after %s\n",
		done.Files, safe.Text(opt.out), wordList(rows, "and"), done.Cursor)
	if done.Dropped > 0 {
		_, _ = fmt.Fprintf(stderr, "%d payloads were removed by retention: what only they told is missing\n", done.Dropped)
	}
	if done.Unreadable > 0 {
		return &coded{code: exitIncomplete, err: fmt.Errorf(
			"all is exported but %d that could not be read: %w: `farsight check` lists what is damaged", done.Unreadable, done.First)}
	}
	return nil
}

// exportOf makes the command of one kind. Payloads are offered where there are some.
func exportOf(e cli.Exportable) commandDecl {
	opt := exportOptions{what: e}
	return commandDecl{
		use: e.Name, short: e.Short, long: e.Short + ".\n" + e.Long + "\n" + exportHelp, example: e.Example,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&opt.format, "format", cli.NDJSON, "form of the lines: ndjson or csv")
			f.StringVar(&opt.out, "out", "", "write to a new file instead of standard output")
			f.StringVar(&opt.after, "after", "", "go on after the line with this cursor")
			f.BoolVar(&opt.follow, "follow", false, "keep going: write what is stored later, too")
			f.StringVar(&opt.collection, "collection", "", "only what this collection has found; with --after not what was stored before it was found")
			if e.Payload {
				f.BoolVar(&opt.payload, "payload", false, "add Riot's JSON to each line")
			}
		},
		run: func(ctx context.Context, g given) error {
			return runExport(ctx, g.cfg, opt, g.cmd.OutOrStdout(), g.cmd.ErrOrStderr())
		},
	}
}

// check refuses what does not go together before anything is opened.
func (o exportOptions) check() error {
	if o.format != cli.NDJSON && o.format != cli.CSV {
		return usagef("--format %q is unknown: use ndjson or csv", o.format)
	}
	if o.payload && o.format == cli.CSV {
		return usagef("--payload does not fit into CSV: use --format ndjson")
	}
	return nil
}

// runExport writes what is stored to standard output or to a file.
func runExport(ctx context.Context, cfg config.Config, opt exportOptions, stdout, stderr io.Writer) error {
	if err := opt.check(); err != nil {
		return err
	}
	// A reader that has seen enough, such as head, is no failure: writing to it
	// shall give an error instead of ending the process.
	signal.Ignore(syscall.SIGPIPE)
	defer signal.Reset(syscall.SIGPIPE)
	// The writer is told for whom it writes, so that waiting can notice that nobody reads any more.
	src := &storeFeed{cfg: cfg, every: followEvery, out: stdout, of: opt.collection, held: func(err error) {
		_, _ = fmt.Fprintf(stderr, "farsight: %s: going on when it is free\n", safe.Text(err.Error()))
	}}
	// Before the file is made: a directory that is held leaves nothing behind.
	if err := src.open(ctx); err != nil {
		return explainHeld(err)
	}
	done, err := opt.write(ctx, cfg, src, stdout)
	err = opt.verdict(done, errors.Join(err, src.close()))
	if err == nil && opt.out != "" {
		_, _ = fmt.Fprintln(stderr, opt.written(done))
	}
	return err
}

// written says what a file holds, and how the next export goes on behind it.
func (o exportOptions) written(done cli.Exported) string {
	text := fmt.Sprintf("%d lines in %s", done.Lines, safe.Text(o.out))
	// Without a line there is no place to go on behind.
	if done.Cursor != "" {
		text += "; what comes later: --after " + done.Cursor
	}
	return text
}

// explainHeld adds what to do about a directory that another process works on.
func explainHeld(err error) error {
	if isHeld(err) {
		return fmt.Errorf("%w: an export reads a directory that no other process works on; try again when that one has ended", err)
	}
	return err
}

// write exports to standard output or to a file; see package outfile for what a file is that did not
// become whole.
func (o exportOptions) write(ctx context.Context, cfg config.Config, src *storeFeed, stdout io.Writer) (done cli.Exported, err error) {
	// Names of queues get their prefix, as in metrics: files of several deployments may be put
	// together.
	e := cli.Export{
		What: o.what, Format: o.format, After: o.after,
		Queue: func(q engine.Queue) string { return edgeQueue(cfg, q) },
		Facts: src.payloads(o.what.Kind),
	}
	if o.payload {
		e.Payloads = src.payloads(o.what.Kind)
	}
	if o.follow {
		e.Wait = src.wait
	}
	if o.out == "" {
		return e.Write(ctx, src, stdout)
	}
	f, err := outfile.Open(o.out, o.follow, o.after != "")
	if err != nil {
		return done, err
	}
	// A CSV file that goes on has its head already.
	e.Headless, src.out = f.Headless, f.File
	done, err = e.Write(ctx, src, f)
	return done, f.Finish(err)
}

// verdict turns how an export ended into an exit code.
func (o exportOptions) verdict(done cli.Exported, err error) error {
	switch {
	// `| head` has what it wanted.
	case isBrokenPipe(err):
		return nil
	case errors.Is(err, context.Canceled):
		return &coded{code: exitInterrupted, err: o.interrupted(done)}
	case err != nil || done.Unreadable == 0:
		return err
	}
	// The lines that could be read are all there: a script may use them, and must know.
	return &coded{code: exitIncomplete, err: fmt.Errorf(
		"all is exported but %d that could not be read: %w: `farsight check` lists what is damaged", done.Unreadable, done.First)}
}

// interrupted says how to go on: the last cursor that was written is one that the reader has.
func (o exportOptions) interrupted(done cli.Exported) error {
	switch {
	// A whole file appears when it is complete, and this one was not.
	case o.out != "" && !o.follow:
		return fmt.Errorf("interrupted: %s was not written; the same command begins anew", o.out)
	case done.Cursor == "":
		return errors.New("interrupted: nothing was written; the same command begins anew")
	}
	return fmt.Errorf("interrupted: every line is whole; go on with --after %s", done.Cursor)
}

// followEvery is how often --follow looks whether the data directory has changed.
const followEvery = 2 * time.Second
