package app

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/ui"
	"github.com/farsight-console/farsight/ui/cli"
)

// newRoot makes the command tree.
// The steps at its end need the whole tree, and this order: arrange sorts it into the groups of
// the help text, shells and complete give completion, exemplify puts the examples in, which the
// tests carry out.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "farsight",
		Short: "Keep League of Legends accounts in sync under Riot's rate limits, and see why",
		Long: "Farsight ingests League of Legends data from Riot's API under Riot's rate limits\n" +
			"and shows in the terminal why everything is or is not moving.\n\n" +
			"Without a command it opens the console on the data directory.\n\n" + ui.Notice,
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
	// "Did you mean": two typing errors at most, or the guess is worse than none.
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
	root.AddCommand(migrateCommand(), pruneCommand(), forgetCommand(), resetCommand(), reresolveCommand(), ranksCommand(), weeklyCommand(), freshnessCommand(), doctorCommand(), bundleCommand(), manCommand(root))
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
var commonFlags = map[string]bool{"data-dir": true, "store": true, "platform": true, "log-level": true}

// hideRareFlags keeps the settings, each of which is a flag, out of the help texts. They
// work all the same.
func hideRareFlags(root *cobra.Command) {
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) { f.Hidden = !commonFlags[f.Name] })
}

// demoCommand makes `farsight demo`. It needs nothing, neither a key nor a network nor a
// configuration: it is what somebody tries first.
func demoCommand() *cobra.Command {
	var opt demoOptions
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Watch a sync against a simulated Riot API: no key, no network",
		Long: "Watch a sync against a simulated Riot API: no key, no network. Everything is kept in a\n" +
			"temporary directory or, with --store, in a schema beside the one that it names, such as\n" +
			"farsight_demo. Both are deleted at the end; what is really stored is never touched.\n\n" +
			"Started again with the same --store, in another terminal, it joins the first one as a\n" +
			"member, with its seed and its speed. X and `kill this member` on the one that leads, or\n" +
			"kill -9, shows how another one goes on.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !(opt.speed > 0 && opt.speed <= 1000) { // NaN is neither
				return usagef("--speed %g is out of range: use a factor above 0, at most 1000", opt.speed)
			}
			cfg, err := configOf(cmd)
			if err != nil {
				return err
			}
			if opt.console, err = consoleFlags(cmd); err != nil {
				return err
			}
			if cmd.Flags().Changed(config.FlagName("store")) { // one that is configured is for real data
				opt.store = cfg.Store
			}
			return runDemo(cmd.Context(), cfg, opt, stdout(cmd))
		},
	}
	addSeed(cmd.Flags(), &opt.seed)
	cmd.Flags().Float64Var(&opt.speed, "speed", 1, "divides rate limit windows, answer times and retry delays")
	addConsoleFlags(cmd)
	cmd.Flags().BoolVar(&opt.headless, "headless", false, "no console: sync 60 to 100 matches, print progress, exit 0 if all went well")
	return cmd
}

// syncCommand makes `farsight sync`, for scripts and cron: it ends when the sync has.
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
	opt.flags(f)
	f.StringVar(&opt.timelines, "timelines", "", "which timelines: all, ranked or none; empty = as the account's policy says, else all")
	f.Bool("json", false, "progress as NDJSON, a summary object last")
	return cmd
}

// simCommand makes `farsight sim`. It serves any client of Riot's API, not only this program:
// RIOT_BASE_URL is what the line "try:" of [runSim] sets.
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
	addSeed(f, &opt.seed)
	f.Float64Var(&opt.speed, "speed", 1, "divides windows and answer times")
	f.StringVar(&opt.fixtures, "fixtures", "", "folder with recorded payloads to serve besides")
	f.StringVar(&opt.epoch, "epoch", "", "instant of the newest game, such as 2026-11-21T12:00:00Z")
	f.StringVar(&opt.latency, "latency", "60ms,30ms", "answer time and how far it swings")
	f.StringArrayVar(&opt.players, "player", nil, "an account as 'Name#TAG,platform,matches'; may be given more than once")
	f.StringVar(&opt.retention, "retention", "on", "on: old games answer 404 as Riot's do; off: everything is served")
	f.StringArrayVar(&opt.faults, "fault", nil, "what goes wrong: a scene (outage), or a kind and its bounds (503,rate=0.05); may be given more than once, see docs/sim.md")
	f.BoolVar(&opt.quiet, "quiet", false, "no line for each call")
	f.Bool("watch", false, "the Limits screen, fed by what the clients' calls use")
	f.Bool("json", false, "the players, each call and the figures as NDJSON")
	return cmd
}

// checkCommand makes `farsight check`. Code 3 is for a damaged store alone, so that a script
// can tell it from a directory that could not be opened.
func checkCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Verify the data directory: exit 0 when it is sound, 3 when it is damaged",
		Args:  noArgs,
		RunE: configured(func(cmd *cobra.Command, cfg config.Config, _ []string) error {
			return runCheck(cmd.Context(), cfg, stdout(cmd))
		}),
	}
	cmd.Flags().Bool("json", false, "the findings as JSON")
	return cmd
}

// versionCommand makes `farsight version`. It is one line without --modules: packagers compare it.
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
			_, err = fmt.Fprintln(w, "\n"+ui.Notice)
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
