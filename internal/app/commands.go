package app

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	filters "github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/ui/cli"
)

// newRoot makes the command tree.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "farsight",
		Short: "Keep League of Legends accounts in sync under Riot's rate limits, and see why",
		Long: "Farsight ingests League of Legends data from Riot's API under Riot's rate limits\n" +
			"and shows in the terminal why everything is or is not moving.\n\n" +
			"Without a command it opens the console on the data directory.\n\n" + notice,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := engineConfig(cmd)
			if err != nil {
				return err
			}
			c, err := consoleFlags(cmd)
			if err != nil {
				return err
			}
			return runConsole(cmd.Context(), cfg, c)
		},
	}
	root.SetFlagErrorFunc(flagFault)
	root.SuggestionsMinimumDistance = 2
	config.AddFlags(root.PersistentFlags())
	hideRareFlags(root)
	addConsoleFlags(root)
	root.AddCommand(demoCommand(), syncCommand(), trackCommand(), untrackCommand(), simCommand(),
		exportCommand(), checkCommand(), checkPagesCommand(), configCommand(), versionCommand())
	root.AddCommand(listCommands()...)
	root.AddCommand(newActCommands()...)
	root.AddCommand(newBackupCommands()...)
	root.AddCommand(newWatchCommands()...)
	root.AddCommand(newAlertCommands()...)
	root.AddCommand(newMetricsCommands()...)
	root.AddCommand(schedulesCommand(), serveCommand(), attachCommand(), pagerCommand(), callCommand())
	root.AddCommand(pruneCommand(), forgetCommand(), resetCommand(), reresolveCommand(), ranksCommand(), weeklyCommand(), freshnessCommand(), doctorCommand(), bundleCommand(), manCommand(root))
	root.SetHelpCommand(helpCommand(root))
	root.InitDefaultHelpCmd()
	arrange(root)
	shells(root)
	complete(root)
	exemplify(root)
	return root
}

// commonFlags are the settings worth a line in every help text; `farsight
// config` lists all.
var commonFlags = map[string]bool{"data-dir": true, "platform": true, "log-level": true}

func hideRareFlags(root *cobra.Command) {
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) { f.Hidden = !commonFlags[f.Name] })
}

func demoCommand() *cobra.Command {
	var opt demoOptions
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Watch a sync against a simulated Riot API: no key, no network",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if opt.speed <= 0 || opt.speed > 1000 {
				return usagef("--speed %g is out of range: use a factor above 0, at most 1000", opt.speed)
			}
			cfg, err := configOf(cmd)
			if err != nil {
				return err
			}
			if opt.console, err = consoleFlags(cmd); err != nil {
				return err
			}
			return runDemo(cmd.Context(), cfg, opt, stdout(cmd))
		},
	}
	cmd.Flags().Uint64Var(&opt.seed, "seed", defaultSeed, "players, histories and faults follow from it")
	cmd.Flags().Float64Var(&opt.speed, "speed", 1, "divides rate limit windows, answer times and retry delays")
	addConsoleFlags(cmd)
	cmd.Flags().BoolVar(&opt.headless, "headless", false, "no console: sync 60 to 100 matches, print progress, exit 0 if all went well")
	return cmd
}

func syncCommand() *cobra.Command {
	var opt syncOptions
	cmd := &cobra.Command{
		Use:   "sync 'Name#TAG'",
		Short: "Sync one account until it is complete, without a console",
		Args:  oneAccount,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := engineConfig(cmd)
			if err != nil {
				return err
			}
			opt.account = args[0]
			return runSync(cmd.Context(), cfg, opt, stdout(cmd))
		},
	}
	f := cmd.Flags()
	f.IntVar(&opt.count, "count", 0, "only the newest N listed; 0 = all")
	f.StringVar(&opt.since, "since", "", "only what was played since: 30d, 6w, 18mo, 2y")
	f.StringVar(&opt.timelines, "timelines", "", "which timelines: all, ranked or none; empty = as the account's policy says, else all")
	f.BoolVar(&opt.force, "force", false, "skip the cooldown, and try again what could not be had")
	f.Bool("json", false, "progress as NDJSON, a summary object last")
	return cmd
}

func simCommand() *cobra.Command {
	var opt simOptions
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Serve a simulated Riot API, strict about its limits, to debug any client against",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := stdout(cmd)
			if !flagBool(cmd, "watch") {
				return runSim(cmd.Context(), opt, out)
			}
			c := console{load: func() (config.Config, error) { return configOf(cmd) }}.where()
			switch {
			case out.JSON || opt.quiet:
				return usagef("--watch shows a screen: leave out --json and --quiet")
			case c.plain:
				return usagef("--watch needs a terminal: without it each call is printed")
			}
			return watchSim(cmd.Context(), opt, c, out)
		},
	}
	f := cmd.Flags()
	f.StringVar(&opt.listen, "listen", "127.0.0.1:9000", "address to listen on")
	f.StringVar(&opt.limits, "limits", "20:1,100:120", "application limits of every key, as Riot's headers write them")
	f.StringVar(&opt.window, "window", "lazy", "how windows begin: lazy, wall or sliding")
	f.Uint64Var(&opt.seed, "seed", defaultSeed, "players, histories and faults follow from it")
	f.Float64Var(&opt.speed, "speed", 1, "divides windows and answer times")
	f.StringVar(&opt.fixtures, "fixtures", "", "folder with recorded payloads to serve besides")
	f.StringVar(&opt.epoch, "epoch", "", "instant of the newest game, such as 2026-11-21T12:00:00Z")
	f.StringVar(&opt.latency, "latency", "60ms,30ms", "answer time and how far it swings")
	f.StringArrayVar(&opt.players, "player", nil, "an account as 'Name#TAG,platform,matches'; may be given more than once")
	f.StringVar(&opt.retention, "retention", "on", "on: old games answer 404 as Riot's do; off: everything is served")
	f.StringArrayVar(&opt.faults, "fault", nil, "what goes wrong: a scene (outage), or a kind and its bounds (503,rate=0.05); may be given more than once, see docs/sim.md")
	f.BoolVar(&opt.quiet, "quiet", false, "no line for each call")
	f.Bool("watch", false, "the Limits screen, fed by what the clients' calls use")
	f.Bool("json", false, "NDJSON: the players, each call, the figures")
	return cmd
}

func checkCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Verify the data directory: exit 0 when it is sound, 3 when it is damaged",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := configOf(cmd)
			if err != nil {
				return err
			}
			return runCheck(cmd.Context(), cfg, stdout(cmd))
		},
	}
	cmd.Flags().Bool("json", false, "the findings as JSON")
	return cmd
}

func versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Show the version of this build",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, platform := cmd.OutOrStdout(), runtime.GOOS+"/"+runtime.GOARCH
			if out := stdout(cmd); out.JSON {
				mods := modules() // the first is Go
				return cli.JSON(out, build{version(), runtime.Version(), platform, mods[min(1, len(mods)):]})
			}
			_, err := fmt.Fprintf(w, "farsight %s (%s, %s)\n", version(), runtime.Version(), platform)
			if err != nil || !flagBool(cmd, "modules") {
				return err
			}
			for _, m := range modules() {
				_, _ = fmt.Fprintln(w, "  "+m)
			}
			_, err = fmt.Fprintln(w, "\n"+notice)
			return err
		},
	}
	cmd.Flags().Bool("modules", false, "with the modules in it, and whose product it is not")
	cmd.Flags().Bool("json", false, "as JSON")
	return cmd
}

// build is what `farsight version --json` prints.
type build struct {
	Version  string   `json:"version"`
	Go       string   `json:"go"`
	Platform string   `json:"platform"` // of the system, such as linux/amd64
	Modules  []string `json:"modules"`
}

// list is one list command: what it shows of a console.
type list struct {
	use, short string
	all        string // what --all adds
	help       string // what the filter can be
	show       func(cmd *cobra.Command, c engine.Console, filter string, all bool, o cli.Out) error
}

// filterHelp is for lists that take the filter language of the console.
const filterHelp = "The filter is the console's: words that all must occur, field:value (with * and a,b),\n" +
	"-term for none of these, field>5, durations and times (age>2h, next<12:30), /regex/, ~fuzzy.\n" +
	"Quote it; begin with -- if its first sign is a -."

// withFields is help for a filter with its fields.
func withFields[T any](s *filters.Schema[T]) string {
	text := filterHelp + "\n\nFields:"
	for _, f := range s.Fields() {
		text += " " + f.Name
	}
	return text
}

func lists() []list {
	return []list{
		{"status", "Show the engine, its queues and what syncs", "accounts that do not sync, too", partHelp, func(cmd *cobra.Command, c engine.Console, f string, all bool, o cli.Out) error {
			return cli.Status(cmd.Context(), c, f, all, o)
		}},
		{"queues", "List queues, and why their jobs do not start", nothingHidden, partHelp, func(cmd *cobra.Command, c engine.Console, f string, _ bool, o cli.Out) error {
			return cli.Queues(cmd.Context(), c, f, o)
		}},
		{"jobs", "List jobs", "ended jobs too", withFields(columns.Jobs.Schema), func(cmd *cobra.Command, c engine.Console, f string, all bool, o cli.Out) error {
			if flagBool(cmd, "classes") {
				return cli.Classes(cmd.Context(), c, f, o)
			}
			return cli.Jobs(cmd.Context(), c, f, all, o)
		}},
		{"retries", "List jobs that wait for their next try", nothingHidden, withFields(columns.Jobs.Schema), func(cmd *cobra.Command, c engine.Console, f string, _ bool, o cli.Out) error {
			return cli.Retries(cmd.Context(), c, f, o)
		}},
		{"accounts", "List accounts", nothingHidden, withFields(columns.Accounts.Schema), func(cmd *cobra.Command, c engine.Console, f string, _ bool, o cli.Out) error {
			return cli.Accounts(cmd.Context(), c, f, o)
		}},
		{"matches", "List matches; a Riot ID shows one account's", "permanently unfetchable ones too", "A filter that begins with a Riot ID is about that account: 'Name#TAG state:stored len>20m'.\n" + withFields(columns.Matches.Schema), func(cmd *cobra.Command, c engine.Console, f string, all bool, o cli.Out) error {
			return cli.Matches(cmd.Context(), c, f, all, o)
		}},
		{"reports", "List play-time reports; a Riot ID shows its hours and weekdays", nothingHidden, partHelp, func(cmd *cobra.Command, c engine.Console, f string, _ bool, o cli.Out) error {
			return cli.Reports(cmd.Context(), c, f, o)
		}},
		{"limits", "Show the rate limits as last known", nothingHidden, partHelp, func(cmd *cobra.Command, c engine.Console, f string, _ bool, o cli.Out) error {
			return cli.Limits(cmd.Context(), c, f, o)
		}},
	}
}

func listCommands() []*cobra.Command {
	var out []*cobra.Command
	for _, l := range lists() {
		cmd := &cobra.Command{Use: l.use + " [FILTER]", Short: l.short, Long: l.short + ".\n\n" + l.help, Args: oneFilter}
		cmd.Flags().Bool("all", false, l.all)
		cmd.Flags().Bool("json", false, "one JSON object per line")
		if l.use == "jobs" {
			cmd.Flags().Bool("classes", false, "the error classes of failed jobs instead; FILTER is then a queue")
		}
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			cfg, err := configOf(cmd)
			if err != nil {
				return err
			}
			return browse(cmd.Context(), cfg, func(c engine.Console) error {
				return l.show(cmd, c, strings.Join(args, " "), flagBool(cmd, "all"), stdout(cmd))
			})
		}
		out = append(out, cmd)
	}
	return out
}
