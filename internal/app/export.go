package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/await"
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
	var e dataset.Export
	var format, since, collection string
	return commandDecl{
		use: "export", group: groupData, short: "Write stored data as NDJSON, CSV or Parquet",
		long:    "Write stored " + wordList(names, "and") + " as NDJSON or CSV,\nor all tables as Parquet.\n" + parquetHelp + exportHelp,
		example: "farsight export matches --out matches.ndjson\nfarsight export --format parquet --out lol --since 30d",
		below:   kinds,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&format, "format", "", "parquet: all tables at once")
			f.StringVar(&e.Dir, "out", "", "the folder of the Parquet files; it goes on where it ended")
			f.StringVar(&e.After, "after", "", "go on after this cursor, in a new folder")
			f.StringVar(&since, "since", "", "only what was played since: 30d, 6w, 18mo, 2y")
			f.StringVar(&e.Patch, "patch", "", "only matches of this patch: 16.23")
			f.StringVar(&collection, "collection", "", "only what this collection has found")
		},
		run: func(ctx context.Context, g given) error {
			switch format {
			case "":
				return usagef("say what to export: farsight export %s, or --format parquet for all tables", wordList(names, "or"))
			case "parquet":
				return runParquet(ctx, g, e, since, collection)
			}
			return usagef("--format %q is unknown here: use parquet, or say what to export", format)
		},
	}
}

// parquetHelp is what the help says of Parquet.
const parquetHelp = `
--format parquet writes all tables into the folder of --out, zstd, by platform and day:
participants/platform=kr/day=2026-11-27/part-1.parquet (players by platform, jobs by day).
The same command later adds files with what has come since, and changes none. It can be
stopped at any time. docs/data.md has the columns, and questions to ask.
`

var patchForm = regexp.MustCompile(`^[0-9]{1,3}\.[0-9]{1,3}$`)

// runParquet writes all tables into a folder.
func runParquet(ctx context.Context, g given, e dataset.Export, since, collection string) error {
	// What makes no sense is refused before anything is opened.
	if e.Dir == "" {
		return usagef("say where to: --out DIR")
	}
	var fits []string
	if since != "" {
		span, err := league.ParseSpan(since)
		if err != nil {
			return usagef("--since: %v", err)
		}
		if !span.Off() {
			e.Since, fits = span.Before(time.Now()), append(fits, "--since "+since)
		}
	}
	if e.Patch != "" {
		if !patchForm.MatchString(e.Patch) {
			return usagef("--patch %q is no patch: write it as 16.23", e.Patch)
		}
		fits = append(fits, "--patch "+e.Patch)
	}
	stderr := g.cmd.ErrOrStderr()
	src := &storeFeed{cfg: g.cfg, of: collection}
	if err := src.open(ctx); err != nil {
		return explainHeld(err)
	}
	if collection != "" {
		had, err := src.had(ctx)
		if err != nil {
			return errors.Join(err, src.close())
		}
		fits = append(fits, fmt.Sprintf("--collection %s (%d matches of it were stored before)", collection, had))
	}
	e.Filter, e.Feed, e.Payload = strings.Join(fits, " "), src.Feed, src.payload
	// What lives is a third of this: by the collector's usual ratio an export of many matches takes twice as much.
	was := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(was, 160<<20))
	defer debug.SetMemoryLimit(was)
	e.Queue = func(q engine.Queue) string { return edgeQueue(g.cfg, q) }
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
		done.Files, safe.Text(e.Dir), wordList(rows, "and"), done.Cursor)
	if done.Dropped > 0 {
		_, _ = fmt.Fprintf(stderr, "%d payloads were removed by retention: what only they told is missing\n", done.Dropped)
	}
	return unreadable(done.Unreadable, done.First)
}

// unreadable is nil of none. What could be read is all there: a script may use it, and must know.
func unreadable(n int, first error) error {
	if n == 0 {
		return nil
	}
	return &coded{code: exitIncomplete, err: fmt.Errorf("all is exported but %d that could not be read: %w: `farsight check` lists what is damaged", n, first)}
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

// runExport writes what is stored to standard output or to a file.
func runExport(ctx context.Context, cfg config.Config, opt exportOptions, stdout, stderr io.Writer) error {
	// What does not go together, before anything is opened.
	switch {
	case opt.format != cli.NDJSON && opt.format != cli.CSV:
		return usagef("--format %q is unknown: use ndjson or csv", opt.format)
	case opt.payload && opt.format == cli.CSV:
		return usagef("--payload does not fit into CSV: use --format ndjson")
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
		_, _ = fmt.Fprintf(stderr, "%d lines in %s", done.Lines, safe.Text(opt.out))
		// Without a line there is no place to go on behind.
		if done.Cursor != "" {
			_, _ = fmt.Fprintf(stderr, "; what comes later: --after %s", done.Cursor)
		}
		_, _ = fmt.Fprintln(stderr)
	}
	return err
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
	payloads := func(ctx context.Context, match string) ([]byte, error) {
		return src.payload(ctx, engine.PayloadQuery{Match: match, Timeline: o.what.Kind == engine.FeedTimelines})
	}
	e := cli.Export{
		What: o.what, Format: o.format, After: o.after,
		Queue: func(q engine.Queue) string { return edgeQueue(cfg, q) },
		Facts: payloads,
	}
	if o.payload {
		e.Payloads = payloads
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

// verdict turns how an export ended into an exit code, and says how to go on: the last cursor that was written is one
// that the reader has.
func (o exportOptions) verdict(done cli.Exported, err error) error {
	why := ""
	switch stopped := errors.Is(err, context.Canceled); {
	// `| head` has what it wanted.
	case isBrokenPipe(err):
		return nil
	case err == nil:
		return unreadable(done.Unreadable, done.First)
	case !stopped:
		return err
	// A whole file appears when it is complete, and this one was not.
	case o.out != "" && !o.follow:
		why = o.out + " was not written; the same command begins anew"
	case done.Cursor == "":
		why = "nothing was written; the same command begins anew"
	default:
		why = "every line is whole; go on with --after " + done.Cursor
	}
	return &coded{code: exitInterrupted, err: errors.New("interrupted: " + why)}
}

// followEvery is how often --follow looks whether the data directory has changed.
const followEvery = 2 * time.Second

// storeFeed reads the feeds of the engine that holds a data directory, else of the
// directory, which it releases while it waits.
type storeFeed struct {
	cfg   config.Config
	every time.Duration
	out   io.Writer       // where the export goes; waiting ends when nobody reads it any more
	of    string          // name of the collection that is exported; "" = all that is stored
	held  func(err error) // told once per wait that another process is at work

	engine *api.Client // one of engine and db is set while there is something to read
	db     *store
	rest   restingState
}

// open finds the engine, or opens the store and notes its state while nobody can write. It is called again after each
// wait: who works on the directory may have changed.
func (s *storeFeed) open(ctx context.Context) error {
	return through(ctx, s.cfg, func(*api.Client) error {
		s.engine = api.NewClient(controlSocket(s.cfg.DataDir)) // the one that was asked is closed
		return nil
	}, func() (err error) {
		if s.db, err = openStored(s.cfg); err != nil {
			return err
		}
		s.rest.cfg = s.cfg
		return s.rest.note()
	})
}

// close lets go of whatever was open; it may be called when nothing is.
func (s *storeFeed) close() error {
	if s.engine != nil {
		s.engine.Close()
		s.engine = nil
	}
	if s.db == nil {
		return nil
	}
	db := s.db
	s.db = nil
	return db.Close()
}

// Feed reads one page.
func (s *storeFeed) Feed(ctx context.Context, q engine.FeedQuery) (page engine.FeedPage, err error) {
	q.Collection = s.of
	if s.engine == nil {
		return s.db.Feed(ctx, q)
	}
	return fromEngine[engine.FeedPage](ctx, s.engine, q)
}

// had is how many matches of the collection were stored before it found them. An export that goes on behind a cursor
// would miss those that came since.
func (s *storeFeed) had(ctx context.Context) (n int, err error) {
	var a engine.CollectionsAnswer
	if s.engine == nil {
		a.Collections, err = s.db.CollectionRows(ctx)
	} else {
		a, err = fromEngine[engine.CollectionsAnswer](ctx, s.engine, engine.CollectionsQuery{})
	}
	if err != nil {
		return 0, err
	}
	at := slices.IndexFunc(a.Collections, func(row engine.CollectionRow) bool { return row.Name == s.of })
	if at < 0 {
		return 0, engine.NoCollection(s.of)
	}
	return a.Collections[at].Collected.Had, nil
}

// fromEngine is what an engine answers; the error tells a request that was interrupted from an engine that has gone.
func fromEngine[A any](ctx context.Context, c *api.Client, q engine.Query) (A, error) {
	a, err := engine.Ask[A](ctx, c, q)
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return a, err
}

// payload gives Riot's JSON of a match or its timeline.
func (s *storeFeed) payload(ctx context.Context, q engine.PayloadQuery) ([]byte, error) {
	if s.engine == nil {
		return payloadsOf(s.db)(ctx, q)
	}
	a, err := fromEngine[engine.Payload](ctx, s.engine, q)
	return a.JSON, err
}

// wait returns when there may be more: when a while has passed and the engine still
// answers, or when the directory has changed and is free. It is not opened to find
// that out: a sync that starts just then would be turned away.
func (s *storeFeed) wait(ctx context.Context) error {
	byEngine := s.engine != nil
	// A directory is let go, so that syncs can run in turns.
	if s.db == nil || s.cfg.Store == "" { // a database is open for everybody
		if err := s.close(); err != nil {
			return err
		}
	}
	for told := false; ; {
		if !await.Pause(ctx, s.every) {
			return context.Cause(ctx)
		}
		if readerGone(s.out) {
			return syscall.EPIPE
		}
		if s.db != nil {
			return nil
		}
		if !byEngine && s.rest.unchanged() {
			continue
		}
		err := s.open(ctx)
		if !isHeld(err) {
			return err
		}
		// Said once: the wait may be hours.
		if !told {
			s.held(err)
			told = true
		}
	}
}

// restingState is a data directory without an engine, as it was read: it need not be opened
// to find out that it is the same. A database is asked instead.
type restingState struct {
	cfg  config.Config
	seen os.FileInfo // its state file; nil = it was not read
}

// stat looks at the file that every commit changes.
func (r *restingState) stat() (os.FileInfo, error) {
	return os.Stat(filepath.Join(r.cfg.DataDir, "state.db"))
}

// note takes the directory as it is now, while it is open and nobody writes.
func (r *restingState) note() (err error) {
	if r.cfg.Store != "" {
		return nil
	}
	r.seen, err = r.stat()
	return err
}

// unchanged reports whether the directory is as it was read, and no engine works on
// it.
func (r *restingState) unchanged() bool {
	// A socket means an engine, which has not closed the directory in order if it left one behind: ask.
	if _, err := os.Lstat(controlSocket(r.cfg.DataDir)); err == nil || r.seen == nil {
		return false
	}
	// By inode, size and time: a restore puts another file in its place.
	now, err := r.stat()
	return err == nil && os.SameFile(now, r.seen) && now.Size() == r.seen.Size() && now.ModTime().Equal(r.seen.ModTime())
}
