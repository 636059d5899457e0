package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/pg"
	"github.com/farsight-console/farsight/ui/cli"
)

// migrateCommand makes `farsight migrate`. It may be given again after it was interrupted: what is
// there already and the same is not copied again.
func migrateCommand() commandDecl {
	var at string
	return commandDecl{
		use: "migrate --to postgres://…", group: groupData, short: "Move the data directory into a PostgreSQL, compared row by row",
		long: "Copies all that is stored in the data directory into a schema of a PostgreSQL, reads it\n" +
			"back and compares it; then no engine opens the directory any more, and --store names\n" +
			"where everything is. One that was interrupted goes on where it stopped.",
		example: "farsight migrate --to postgres://farsight@db.example/lol --dry-run",
		dryRun:  "say how much it is and how long it takes, and do nothing", json: "the report as JSON",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&at, "to", "", "the PostgreSQL, as postgres://user@host/database, its password in PGPASSFILE")
		},
		run: func(ctx context.Context, g given) error {
			// Asked for here and not by the flag library, whose sentence has no example.
			if at == "" {
				return usagef("--to is missing: write --to postgres://user@host/database")
			}
			// The address is checked as that of --store is: no password, and one of PostgreSQL's.
			var to config.Config
			if err := config.SetStore(&to, at); err != nil {
				return usagef("--to: %v", err)
			}
			if g.cfg.Store == to.Store { // named already for what comes after the move
				g.cfg.Store = ""
			}
			if err := needsFiles(g.cfg, "migrate"); err != nil {
				return err
			}
			if !hasStore(g.cfg) {
				return errNothingStored(g.cfg)
			}
			return runMigrate(ctx, g.cfg, to.Store, g.dry, g.out)
		},
	}
}

// runMigrate copies, reads back and compares. The directory is held the whole time: what an engine
// wrote meanwhile would be lost.
func runMigrate(ctx context.Context, cfg config.Config, to string, dryRun bool, out cli.Out) (err error) {
	// A handover is held by this process alone, and ends as moved: a mark in the directory keeps
	// engines out.
	from, err := storage.OpenHandover(inDirectory(cfg))
	if err != nil {
		return toEnd("migrate", err)
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	o, bar := pg.Options{URL: to, Region: region}, newByteBar(out, "")
	var r pg.Taken
	// Counting needs the rows but no room on the server.
	if dryRun {
		r, err = pg.WouldTakeOver(ctx, o, from)
	} else {
		r, err = pg.TakeOver(ctx, o, from, bar.step)
	}
	// The bar goes before anything else is printed.
	bar.end()
	if err != nil {
		return interrupted(err)
	}
	return cli.Report(out, r, printTaken)
}

// printTaken says what was moved and how to go on. Seconds are the least it tells: 0s would look like
// nothing.
func printTaken(r pg.Taken, out cli.Out) error {
	if r.DryRun {
		_, err := fmt.Fprintf(out.W, "%s of %s in %s would go to %s, in about %s; nothing was changed\n",
			human.Counted(int(r.Rows), "row", "rows"), human.Bytes(r.Bytes), safe.Text(r.From), safe.Text(r.To), human.Age(max(r.Took, time.Second)))
		return err
	}
	_, err := fmt.Fprintf(out.W, "%s, with %s, were moved to %s in %s: each was read back and is the same\nstart engines with --store; none opens %s any more\n",
		human.Counted(int(r.Rows), "row", "rows"), human.Counted(int(r.Payloads), "payload", "payloads"), safe.Text(r.To), human.Age(max(r.Took, time.Second)), safe.Text(r.From))
	return err
}
