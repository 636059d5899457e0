package app

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/cron"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/ui/cli"
)

// Proof that schedules can be steered by operations.
var _ operation.Schedules = (*cron.Runner)(nil)

// scheduleOptions are the flags of `farsight schedules`. Each of the first four names a schedule.
type scheduleOptions struct {
	run, pause, resume, edit string
	cron, zone               string // the plan of edit
	reset                    bool   // edit goes back to the configured plan
}

// schedulesCommand makes `farsight schedules`, which lists them or, with a flag that names one, acts
// on it.
func schedulesCommand() commandDecl {
	var opt scheduleOptions
	return commandDecl{
		use: "schedules [FILTER]", group: groupSee,
		short: "List what recurs; run, pause, resume or edit one of it",
		long: "List what recurs; run, pause, resume or edit one of it.\n\n" + partHelp + "\n\n" +
			"An edit wins over the configuration, over restarts too, until --reset takes it back:\n" +
			"  farsight schedules --edit latest --cron '0 */2 * * *' --zone Asia/Seoul --dry-run",
		example: "farsight schedules --run rank.daily",
		args:    oneFilter, complete: onlyFirst(completeSchedules),
		dryRun: doNothing, reason: "why; kept with a pause or an edit and in the audit",
		flags: func(f *pflag.FlagSet) {
			f.Bool("all", false, nothingHidden)
			f.StringVar(&opt.run, "run", "", "run this schedule now; its plan stays")
			f.StringVar(&opt.pause, "pause", "", "let this schedule's runs pass, over restarts too")
			f.StringVar(&opt.resume, "resume", "", "let this schedule run again")
			f.StringVar(&opt.edit, "edit", "", "give this schedule the plan of --cron and --zone")
			f.StringVar(&opt.cron, "cron", "", "when it runs: minute, hour, day, month and weekday, such as '0 */2 * * *', or @every 90m")
			f.StringVar(&opt.zone, "zone", "", "time zone of --cron, such as Asia/Seoul; without it the one in force stays")
			f.BoolVar(&opt.reset, "reset", false, "with --edit: it runs as the configuration says again")
		},
		list: func(_ *cobra.Command, args []string) (cli.List, error) {
			return cli.Schedules(strings.Join(args, " ")), nil
		},
		instead: func() (func(context.Context, given) error, error) {
			chosen, err := opt.chosen()
			switch {
			case err != nil || len(chosen) == 0:
				return nil, err
			// Their order would be nobody's choice.
			case len(chosen) > 1:
				return nil, usagef("give one of --run, --pause, --resume and --edit")
			}
			// By the same way as tracking: it may begin a directory, and prints the receipt in the
			// same words.
			return func(ctx context.Context, g given) error { return g.track(ctx, chosen[0]) }, nil
		},
	}
}

// chosen are the commands that the flags give; none = the list is asked for.
func (o scheduleOptions) chosen() (chosen []engine.Command, err error) {
	// A map, for more than one of them is an error: no order is needed.
	for op, name := range map[engine.Op]string{
		engine.OpRunSchedule: o.run, engine.OpPauseSchedule: o.pause, engine.OpResumeSchedule: o.resume,
	} {
		if name != "" {
			chosen = append(chosen, engine.Command{Op: op, Schedule: name})
		}
	}
	if o.edits() {
		// The plan is read by the engine, which knows the zone that is in force.
		edit, err := o.editing()
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, edit)
	}
	return chosen, nil
}

// edits reports whether a flag of an edit was given, the schedule's name or not.
func (o scheduleOptions) edits() bool { return o.edit != "" || o.cron != "" || o.zone != "" || o.reset }

// editing is the command of --edit.
func (o scheduleOptions) editing() (engine.Command, error) {
	c := engine.Command{Op: engine.OpEditSchedule, Schedule: o.edit, Expr: o.cron, Zone: o.zone}
	switch {
	case o.edit == "":
		return c, usagef("name the schedule: --edit latest --cron '0 */2 * * *'; `farsight schedules` lists them")
	// To take an edit back and to make one are two things, and which would win nobody could tell.
	case o.reset && (o.cron != "" || o.zone != ""):
		return c, usagef("give --cron and --zone, or --reset, but not both")
	case !o.reset && strings.TrimSpace(o.cron) == "":
		return c, usagef("say when %s runs: --cron '0 */2 * * *', or --reset for what the configuration says", safe.Text(o.edit))
	}
	return c, nil
}
