package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/pg"
	"github.com/farsight-console/farsight/ui/cli"
)

func migrateCommand() *cobra.Command {
	var to config.Config
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "migrate --to postgres://…",
		Short: "Move the data directory into a PostgreSQL, compared row by row",
		Long: "Copies all that is stored in the data directory into a schema of a PostgreSQL, reads it\n" +
			"back and compares it; then no engine opens the directory any more, and --store names\n" +
			"where everything is. One that was interrupted goes on where it stopped.",
		Args: noArgs,
		RunE: configured(func(cmd *cobra.Command, cfg config.Config, _ []string) error {
			at, _ := cmd.Flags().GetString("to")
			if at == "" {
				return usagef("--to is missing: write --to postgres://user@host/database")
			}
			if err := config.SetStore(&to, at); err != nil {
				return usagef("--to: %v", err)
			}
			if cfg.Store == to.Store { // named already for what comes after the move
				cfg.Store = ""
			}
			if err := needsFiles(cfg, "migrate"); err != nil {
				return err
			}
			if !hasStore(cfg) {
				return errNothingStored(cfg)
			}
			return runMigrate(cmd.Context(), cfg, to.Store, dryRun, stdout(cmd))
		}),
	}
	f := cmd.Flags()
	f.String("to", "", "the PostgreSQL, as postgres://user@host/database, its password in PGPASSFILE")
	f.BoolVar(&dryRun, "dry-run", false, "say how much it is and how long it takes, and do nothing")
	f.Bool("json", false, "the report as JSON")
	return cmd
}

func runMigrate(ctx context.Context, cfg config.Config, to string, dryRun bool, out cli.Out) (err error) {
	from, err := storage.OpenHandover(inDirectory(cfg))
	if err != nil {
		return toEnd("migrate", err)
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	o, bar := pg.Options{URL: to, Region: region}, newByteBar(out, "")
	var r pg.Taken
	if dryRun {
		r, err = pg.WouldTakeOver(ctx, o, from)
	} else {
		r, err = pg.TakeOver(ctx, o, from, bar.step)
	}
	bar.end()
	switch {
	case err != nil:
		return interrupted(err)
	case out.JSON:
		return cli.JSON(out, r)
	}
	return printTaken(r, out)
}

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
