package app

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/cron"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/ui/cli"
)

var _ operation.Schedules = (*cron.Runner)(nil)

// scheduleOptions are the flags of `farsight schedules`.
type scheduleOptions struct {
	run, pause, resume string
	edit, cron, zone   string
	reset              bool
	reason             string
}

func schedulesCommand() *cobra.Command {
	var opt scheduleOptions
	cmd := &cobra.Command{
		Use:   "schedules [FILTER]",
		Short: "List what recurs; run, pause, resume or edit one of it",
		Long: "List what recurs; run, pause, resume or edit one of it.\n\n" + partHelp + "\n\n" +
			"An edit wins over the configuration, over restarts too, until --reset takes it back:\n" +
			"  farsight schedules --edit latest --cron '0 */2 * * *' --zone Asia/Seoul --dry-run",
		Args: oneFilter,
	}
	show := lister(cmd, func(_ *cobra.Command, args []string) (cli.List, error) {
		return cli.Schedules(strings.Join(args, " ")), nil
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		chosen, err := opt.chosen()
		switch {
		case err != nil:
			return err
		case len(chosen) == 0:
			return show(cmd, args)
		case len(chosen) > 1:
			return usagef("give one of --run, --pause, --resume and --edit")
		}
		cfg, err := configOf(cmd)
		if err != nil {
			return err
		}
		return doTrack(cmd, cfg, chosen[0])
	}
	f := cmd.Flags()
	f.Bool("all", false, nothingHidden)
	f.StringVar(&opt.run, "run", "", "run this schedule now; its plan stays")
	f.StringVar(&opt.pause, "pause", "", "let this schedule's runs pass, over restarts too")
	f.StringVar(&opt.resume, "resume", "", "let this schedule run again")
	f.StringVar(&opt.edit, "edit", "", "give this schedule the plan of --cron and --zone")
	f.StringVar(&opt.cron, "cron", "", "when it runs: minute, hour, day, month and weekday, such as '0 */2 * * *', or @every 90m")
	f.StringVar(&opt.zone, "zone", "", "time zone of --cron, such as Asia/Seoul; without it the one in force stays")
	f.BoolVar(&opt.reset, "reset", false, "with --edit: it runs as the configuration says again")
	f.StringVar(&opt.reason, "reason", "", "why; kept with a pause or an edit and in the audit")
	addDryRun(cmd)
	return cmd
}

// chosen are the commands that the flags give; none = the list is asked for.
func (o scheduleOptions) chosen() (chosen []engine.Command, err error) {
	for op, name := range map[engine.Op]string{
		engine.OpRunSchedule: o.run, engine.OpPauseSchedule: o.pause, engine.OpResumeSchedule: o.resume,
	} {
		if name != "" {
			chosen = append(chosen, engine.Command{Op: op, Schedule: name, Reason: o.reason})
		}
	}
	if o.edits() {
		edit, err := o.editing()
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, edit)
	}
	return chosen, nil
}

func (o scheduleOptions) edits() bool { return o.edit != "" || o.cron != "" || o.zone != "" || o.reset }

// editing is the command of --edit.
func (o scheduleOptions) editing() (engine.Command, error) {
	c := engine.Command{Op: engine.OpEditSchedule, Schedule: o.edit, Expr: o.cron, Zone: o.zone, Reason: o.reason}
	switch {
	case o.edit == "":
		return c, usagef("name the schedule: --edit latest --cron '0 */2 * * *'; `farsight schedules` lists them")
	case o.reset && (o.cron != "" || o.zone != ""):
		return c, usagef("give --cron and --zone, or --reset, but not both")
	case !o.reset && strings.TrimSpace(o.cron) == "":
		return c, usagef("say when %s runs: --cron '0 */2 * * *', or --reset for what the configuration says", safe.Text(o.edit))
	}
	return c, nil
}
