package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/control"
	"github.com/farsight-console/farsight/engine/cron"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/ui/cli"
)

var _ control.Schedules = (*cron.Runner)(nil)

// scheduleOptions are the flags of `farsight schedules`.
type scheduleOptions struct {
	run, pause, resume string
	reason             string
}

func schedulesCommand() *cobra.Command {
	var opt scheduleOptions
	cmd := &cobra.Command{
		Use:   "schedules",
		Short: "List what recurs; run, pause or resume one of it",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return runSchedules(cmd, opt) },
	}
	f := cmd.Flags()
	f.StringVar(&opt.run, "run", "", "run this schedule now; its plan stays")
	f.StringVar(&opt.pause, "pause", "", "let this schedule's runs pass, over restarts too")
	f.StringVar(&opt.resume, "resume", "", "let this schedule run again")
	f.StringVar(&opt.reason, "reason", "", "why; kept with a pause and in the audit")
	addActFlags(cmd)
	return cmd
}

func runSchedules(cmd *cobra.Command, opt scheduleOptions) error {
	cfg, err := config(cmd)
	if err != nil {
		return err
	}
	var chosen []engine.Command
	for op, name := range map[engine.Op]string{
		engine.OpRunSchedule: opt.run, engine.OpPauseSchedule: opt.pause, engine.OpResumeSchedule: opt.resume,
	} {
		if name != "" {
			chosen = append(chosen, engine.Command{Op: op, Schedule: name, Reason: opt.reason})
		}
	}
	switch len(chosen) {
	case 0:
		return browse(cmd.Context(), cfg, func(c engine.Console) error { return cli.Schedules(cmd.Context(), c, stdout(cmd)) })
	case 1:
		return doTrack(cmd, cfg, chosen[0])
	}
	return usagef("give one of --run, --pause and --resume")
}

// storedSchedules are the schedules of a directory on which no engine works, as the
// last one left them; nil when they cannot be read.
func storedSchedules(ctx context.Context, db *storage.DB, cfg Config) control.Schedules {
	r, err := cron.New(cron.Options{Store: db, Specs: ingest.New(ingest.Options{Store: db, Prune: pruner(db)}).Schedules(cfg.Schedules)})
	if err != nil || r.Load(ctx) != nil {
		return nil
	}
	return r
}
