package app

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/cli"
)

// newAlertCommands list alerts and act on them. Like the other commands for scripts
// they work on a data directory that no other process holds.
func newAlertCommands() []*cobra.Command {
	return []*cobra.Command{alertsCommand(), silenceCommand()}
}

func alertsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "alerts", Short: "List alerts as the engine evaluated them last", Args: noArgs}
	cmd.RunE = lister(cmd, func(*cobra.Command, []string) (cli.List, error) { return cli.Alerts(), nil })
	return cmd
}

func oneAlert(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && args[0] != "" {
		return nil
	}
	return usagef("name one alert, such as spike/503: `farsight alerts` lists them, see `%s --help`", cmd.CommandPath())
}

// silenceFlags say until when.
type silenceFlags struct {
	span, at string
	end      bool
	reason   string
}

func silenceCommand() *cobra.Command {
	var o silenceFlags
	cmd := &cobra.Command{
		Use: "silence ALERT", Short: "Keep an alert, or all of a rule, silent for up to seven days", Args: oneAlert,
		RunE: func(cmd *cobra.Command, args []string) error {
			until, err := o.until(time.Now())
			if err != nil {
				return err
			}
			return runAct(cmd, []engine.Command{{Op: engine.OpSilence, Alert: args[0], At: until, Reason: o.reason}}, nil)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.span, "for", "", "for so long, such as 30m or 2h")
	f.StringVar(&o.at, "until", "", "until then, such as 18:30 or 2026-11-21T18:30:00Z")
	f.BoolVar(&o.end, "end", false, "let it be heard again")
	addActFlags(cmd, &o.reason)
	return cmd
}

// until is the end of the silence; the zero time ends one that is under way.
func (o silenceFlags) until(now time.Time) (time.Time, error) {
	given := 0
	for _, set := range []bool{o.span != "", o.at != "", o.end} {
		if set {
			given++
		}
	}
	switch {
	case given != 1:
		return time.Time{}, usagef("say how long: --for 2h, --until 18:30, or --end to hear it again")
	case o.end:
		return time.Time{}, nil
	case o.at != "":
		return ahead(flagged{"until", o.at}, flagged{}, now)
	}
	d, err := time.ParseDuration(o.span)
	if err != nil || d <= 0 {
		return time.Time{}, usagef("--for %q is no time: use 30m, 2h or 48h", o.span)
	}
	return now.Add(d), nil
}
