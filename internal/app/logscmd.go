package app

import (
	"context"
	"strings"

	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/control"
	"github.com/farsight-console/farsight/engine/journal"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/logbook"
	"github.com/farsight-console/farsight/ui/cli"
)

// Proofs that logs fit the console: those of a running engine, and those of one that has ended.
var (
	_ control.Logs = (*journal.Ring)(nil)
	_ control.Logs = (*logbook.Stored)(nil)
)

// logOptions are the flags of `farsight logs`.
type logOptions struct {
	level, job, text string
	last             int // at most so many of the newest; 0 = all that is kept
	follow           bool
}

// query checks the flags and says which records fit.
func (o logOptions) query() (engine.LogsQuery, error) {
	// Levels are small letters in the log, whatever is typed.
	q := engine.LogsQuery{Level: strings.ToLower(o.level), Job: engine.JobID(o.job), Text: o.text}
	if err := notBelow0("limit", o.last, "all that is kept"); err != nil {
		return q, err
	}
	return q, q.Check()
}

// logsCommand makes `farsight logs`. It needs no console: a log can be read while nothing can be asked.
func logsCommand() commandDecl {
	var opt logOptions
	return commandDecl{
		use: "logs", group: groupWhy, short: "Show the newest records of the engine's log, also while it runs",
		example: "farsight logs --level warn --follow", json: "one JSON object per line",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&opt.level, "level", "", "only this level and graver ones: "+wordList(engine.LogLevels(), "or"))
			f.StringVar(&opt.job, "job", "", "only records of the job with this id")
			f.StringVar(&opt.text, "text", "", "only records that hold this text, in any field")
			f.IntVar(&opt.last, "limit", 200, "at most so many of the newest; 0 = all that is kept")
			f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
				return pflag.NormalizedName(strings.Replace(name, "last", "limit", 1)) // as it was called once
			})
			f.BoolVar(&opt.follow, "follow", false, "go on with what is logged from now on")
		},
		run: func(ctx context.Context, g given) error {
			q, err := opt.query()
			if err != nil {
				return err
			}
			return runLogs(ctx, g.cfg, q, opt, g.out)
		},
	}
}

// runLogs reads the log file, not the store: the log of an engine that runs is as
// good to read as that of one that fell.
func runLogs(ctx context.Context, cfg config.Config, q engine.LogsQuery, opt logOptions, out cli.Out) error {
	// A log is written also where nothing is stored yet, but a wrong --data-dir is likelier.
	if !hasStore(cfg) {
		return errNothingStored(cfg)
	}
	// The tail reads on where the file was set aside meanwhile, as farsight.log.1.
	tail := logbook.Tail(cfg.DataDir)
	defer tail.Close()
	ring := journal.NewRing(journal.KeepRecords, journal.KeepBytes)
	// Without a log there is an empty ring: an engine that never ran has written none.
	if err := tail.Fill(ring); err != nil {
		return err
	}
	rows := newest(ring, q, opt.last)
	// Who follows waits for the first record, and needs no sentence.
	if len(rows) == 0 && !opt.follow {
		return cli.NoLogs(out, q == engine.LogsQuery{})
	}
	if err := cli.Logs(out, rows); err != nil || !opt.follow {
		return err
	}
	// Follow ends in order when nobody takes a record any more: why not is kept here.
	var printing error
	err := tail.Follow(ctx, func(row engine.LogRow) bool {
		if q.Fits(row) {
			printing = cli.Logs(out, []engine.LogRow{row})
		}
		return printing == nil
	})
	if err != nil {
		return err
	}
	return printing
}

// newest gives the last n records that fit, oldest first; 0 = all of them.
func newest(ring *journal.Ring, q engine.LogsQuery, n int) (rows []engine.LogRow) {
	// The ring bounds what is read: an old log may have gigabytes before its end.
	for _, row := range ring.After(0, journal.KeepRecords) {
		if q.Fits(row) {
			rows = append(rows, row)
		}
	}
	// Cut at the beginning: the newest are what somebody looks for.
	if n > 0 && len(rows) > n {
		rows = rows[len(rows)-n:]
	}
	return rows
}
