package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/keep"
	"github.com/farsight-console/farsight/ui/cli"
)

// resetCommand makes `farsight reset`. It writes new files in the place of those of the store, and so
// needs the directory for itself.
func resetCommand() commandDecl {
	var opt keep.ResetOptions
	return commandDecl{
		use: "reset", group: groupData, short: "Begin anew with an empty store; what was stored is moved aside",
		long: "Begins a new, empty store. What was stored, state.db and payload/, goes into the folder\n" +
			"before-reset-<time> of the data directory, which is a data directory by itself:\n" +
			"`farsight accounts --data-dir` with its path shows what is in it. With --no-backup it\n" +
			"is deleted for good.\n\n" +
			"Configuration, themes, the key, the log and the backups stay. The new store's audit\n" +
			"says that it was done. No engine may hold the directory.\n\n" +
			"On a terminal it asks for the name of the data directory; elsewhere it wants --yes.",
		example: "farsight reset --dry-run",
		yes:     true, reason: "why; kept in the new store's audit",
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&opt.NoBackup, "no-backup", false, "delete what was stored instead of moving it aside")
		},
		run: func(ctx context.Context, g given) error {
			if err := needsFiles(g.cfg, "reset"); err != nil {
				return err
			}
			opt.DryRun, opt.Reason = g.dry, g.reason
			return runReset(ctx, g.cfg, opt, g.asks())
		},
	}.acting()
}

// runReset says what would go, asks, and then does it.
func runReset(ctx context.Context, cfg config.Config, opt keep.ResetOptions, ask typedWord) error {
	opt.By, opt.Forget = operator("cli"), []string{traffic.LimiterState} // counts of another time: the windows count as full
	// The same code, dry: what is asked about is what will be done.
	plan := opt
	plan.DryRun = true
	r, err := reset(ctx, cfg, plan)
	if err != nil {
		return err
	}
	if opt.DryRun {
		return cli.Report(ask.out, r, printReset)
	}
	// What is shown on a terminal, and what the error says elsewhere.
	would, does := r.Text(), "reset moves the store of "+safe.Text(cfg.DataDir)+" aside"
	if opt.NoBackup {
		would, does = would+"; it cannot be undone", "reset deletes the store of "+safe.Text(cfg.DataDir)+" for good"
	}
	if err := ask.confirm(resetWord(cfg), would, does, "nothing was changed"); err != nil {
		return err
	}
	if r, err = reset(ctx, cfg, opt); err != nil {
		return err
	}
	return cli.Report(ask.out, r, printReset)
}

// resetWord is the name of the data directory, which is typed.
func resetWord(cfg config.Config) string {
	// "." would be a poor word to type.
	return filepath.Base(cfg.Folder())
}

// reset moves the store aside or, with opt.DryRun, says what would go.
func reset(ctx context.Context, cfg config.Config, opt keep.ResetOptions) (keep.ResetReport, error) {
	// It is too fast to be interrupted, but for between the question and the deed.
	if ctx.Err() != nil {
		return keep.ResetReport{}, context.Cause(ctx)
	}
	r, err := storage.Reset(inDirectory(cfg), opt)
	// A directory without a store: there is nothing to begin anew.
	if errors.Is(err, fs.ErrNotExist) {
		return r, errNothingStored(cfg)
	}
	return r, toEnd("reset", err)
}

// printReset says what was moved, or would be.
func printReset(r keep.ResetReport, out cli.Out) error {
	line := r.Text()
	if !r.DryRun {
		// A dry run has begun nothing.
		line += "; " + r.Dir + " begins anew"
	}
	_, err := fmt.Fprintln(out.W, safe.Text(line))
	return err
}
