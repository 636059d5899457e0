package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"syscall"
	"time"

	"charm.land/fang/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/storage"
)

// startPatience is how long an interrupted start may take to end by itself.
const startPatience = 2 * time.Second

// Main runs the command that the arguments name and gives the exit code. The version is
// that of a release, "" for any other build.
func Main(version string, args []string) int {
	release = version
	keepHeapFloor()
	// Bubble Tea would write every message, keys and pasted secrets included, to
	// the file that this variable names.
	_ = os.Unsetenv("TEA_DEBUG")
	log.SetFlags(0)
	log.SetOutput(io.Discard) // until there is a log of ours: see open
	ctx, stop := signal.NotifyContext(withTree(context.Background()), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// The second signal ends the process at once: a crash is safe. The first one does where what is
	// being opened does not answer, such as a dead disk: nothing there looks at a context.
	defer context.AfterFunc(ctx, func() {
		stop()
		time.Sleep(startPatience)
		if opening.Load() > 0 {
			printError(os.Stderr, fang.Styles{}, errors.New("interrupted while it was still opening what is stored; nothing was lost"))
			os.Exit(exitInterrupted)
		}
	})()

	root := newRoot()
	root.SetArgs(helped(root, args))
	// Cobra prints an error itself, and fang prints it in colour; here neither does: failed holds it
	// until the tree has been carried out.
	var failed error
	keepErrors(root, &failed)
	err := execute(ctx, root)
	if failed != nil {
		printError(root.ErrOrStderr(), fang.Styles{}, failed)
		err = failed
	}
	return exitCode(err)
}

// execute runs the command that was asked for. To colour the help fang asks the
// terminal for its background: a dumb one shows the question and answers nothing.
func execute(ctx context.Context, root *cobra.Command) error {
	if os.Getenv("TERM") != "dumb" {
		return fang.Execute(ctx, root, fang.WithVersion(version()), fang.WithoutManpage(), fang.WithColorSchemeFunc(fang.AnsiColorScheme), fang.WithErrorHandler(printError))
	}
	root.SilenceUsage, root.SilenceErrors, root.Version = true, true, version()
	err := root.ExecuteContext(ctx)
	if err != nil {
		printError(root.ErrOrStderr(), fang.Styles{}, err)
	}
	return err
}

// keepErrors takes the errors of commands away from fang, which asks the terminal
// for its background before it prints one: over a slow line the answer would reach
// the shell, as if it had been typed.
func keepErrors(c *cobra.Command, failed *error) {
	c.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		*failed = flagFault(cmd, err)
		return nil
	})
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error {
			*failed = check(cmd, args)
			return nil
		}
	}
	if run := c.RunE; run != nil {
		c.RunE = func(cmd *cobra.Command, args []string) error {
			if *failed == nil { // its arguments may make no sense
				*failed = run(cmd, args)
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		keepErrors(sub, failed)
	}
}

// printError writes one clear sentence, cleaned and without the key.
func printError(w io.Writer, _ fang.Styles, err error) {
	if c, ok := errors.AsType[*coded](err); ok && c.quiet {
		return
	}
	// The key is cut out before the text is cleaned: cleaning could part it, and its halves would stay.
	lines := strings.Split(riot.Redact(err.Error()), "\n")
	for i, line := range lines {
		lines[i] = safe.Text(line)
	}
	_, _ = fmt.Fprintln(w, "farsight: "+strings.Join(lines, "\n"))
}

// exitCode tells scripts what kind of failure it was.
func exitCode(err error) int {
	if err == nil {
		return exitDone
	}
	// The order is from the most to the least certain: a command that has chosen its code knows best.
	if c, ok := errors.AsType[*coded](err); ok {
		return c.code
	}
	if isUsage(err) {
		return exitUsage
	}
	if _, ok := errors.AsType[*storage.ErrHeld](err); ok {
		return exitHeld
	}
	if storage.Refused(err) {
		return exitIncomplete
	}
	// A disk that fails cancels what else is under way: that is no interruption.
	if noRoom(err) || errors.Is(err, storage.ErrUnknown) {
		return exitFailed
	}
	if errors.Is(err, context.Canceled) {
		return exitInterrupted
	}
	return exitFailed
}

// isUsage knows the errors that cobra makes itself, and those of commands that
// make no sense.
func isUsage(err error) bool {
	if _, ok := errors.AsType[config.Faults](err); ok {
		return true
	}
	if errors.Is(err, engine.ErrInvalid) {
		return true
	}
	// Cobra's own errors have no types: their first words are all that tells them apart.
	text := err.Error()
	for _, start := range []string{"unknown command", "unknown flag", "unknown shorthand", "accepts ", "requires ", "flag needs", "invalid argument", "required flag"} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}

// heapFloor is how large the heap may grow before it is collected, in bytes. What an engine keeps is
// mostly 5 MB: by Go's usual ratio it would be collected at 10 MB, 25 times a second under load.
const heapFloor = 32 << 20

// keepHeapFloor sets the collector's ratio anew after each collection, so that the next one comes at
// heapFloor, or at the usual double of what is in use. GOGC in the environment wins over it.
func keepHeapFloor() {
	if os.Getenv("GOGC") == "" {
		setGrowth(new(int))
	}
}

// setGrowth carries on by being the finalizer of an object that nobody holds.
func setGrowth(percent *int) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if p := growth(live[0].Value.Uint64()); p != *percent {
		debug.SetGCPercent(p)
		*percent = p
	}
	runtime.SetFinalizer(&struct{ percent *int }{percent}, func(s *struct{ percent *int }) { setGrowth(s.percent) })
}

// growth is how much garbage may come upon so many bytes in use, in percent, rounded so that it seldom changes.
func growth(live uint64) int {
	return max(100, (int(heapFloor*100/max(live, 1<<20))-100)/50*50)
}

// newRoot makes the command tree of a process. Once: cobra keeps what completes the flags of a tree for ever.
func newRoot() *cobra.Command { return newTree(true) }

// newTyped makes the command tree of a line that is typed in a console.
func newTyped() *cobra.Command { return newTree(false) }

// withTree is a context whose consoles make the tree of each line that is typed in them.
func withTree(ctx context.Context) context.Context {
	return context.WithValue(ctx, treeKey{}, newTyped)
}

// newTree makes the command tree of the declarations. The steps at its end need the whole tree, and this order: shells and
// complete give completion, and indent sets the examples in, those of cobra's own commands too.
func newTree(completes bool) *cobra.Command {
	root := rootCommand().command()
	root.SetFlagErrorFunc(flagFault)
	// "Did you mean": two typing errors at most, or the guess is worse than none.
	root.SuggestionsMinimumDistance = 2
	config.AddFlags(root.PersistentFlags())
	// The settings, each of which is a flag, stay out of the help texts but for these; they work all the same, and
	// `farsight config` lists all.
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) {
		f.Hidden = !slices.Contains([]string{"data-dir", "store", "platform", "log-level"}, f.Name)
	})
	for _, title := range groups {
		root.AddGroup(&cobra.Group{ID: title, Title: title})
	}
	// Completion and help, which cobra makes by itself when the tree is carried out.
	root.SetCompletionCommandGroupID(groupSetup)
	root.SetHelpCommandGroupID(groupSetup)
	for _, d := range declared() {
		root.AddCommand(d.command())
	}
	root.AddCommand(&cobra.Command{
		Use: "man", Hidden: true, Short: "Print the manual page", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), manual(root).Roff())
			return err
		},
	})
	root.SetHelpCommand(helpCommand(root))
	root.InitDefaultHelpCmd()
	shells(root)
	if completes {
		complete(root)
	}
	indent(root)
	return root
}

// declared are all commands below the root but for help, completion and the manual page, which are
// made of the tree itself.
func declared() []commandDecl {
	return slices.Concat(shownCommands(), operationCommands(), []commandDecl{
		demoCommand(), syncCommand(), collectCommand(), collectionsCommand(), serveCommand(), attachCommand(), simCommand(),
		trackCommand(), untrackCommand(), triggerCommand(), reresolveCommand(),
		logsCommand(), doctorCommand(), bundleCommand(), pagerCommand(), callCommand(),
		exportCommand(), checkCommand(), checkPagesCommand(), backupCommand(), restoreCommand(), compactCommand(),
		checkCopyCommand(), migrateCommand(), pruneCommand(), forgetCommand(), resetCommand(),
		configCommand(), keyCommand(), versionCommand(),
	})
}

// rootCommand is `farsight` alone, which opens the console.
func rootCommand() commandDecl {
	return commandDecl{
		use:   "farsight",
		short: "Keep League of Legends accounts in sync under Riot's rate limits, and see why",
		long: "Farsight ingests League of Legends data from Riot's API under Riot's rate limits\n" +
			"and shows in the terminal why everything is or is not moving.\n\n" +
			"Without a command it opens the console on the data directory.",
		example: "farsight\nfarsight --data-dir /var/lib/farsight --read-only",
		starts:  true, flags: addConsoleFlags,
		run: runConsole,
	}
}

// indent sets the examples of all commands in, as fang's help shows them.
func indent(c *cobra.Command) {
	c.Example = "  " + strings.ReplaceAll(c.Example, "\n", "\n  ")
	for _, sub := range c.Commands() {
		indent(sub)
	}
}

// command makes the command and all below it.
func (d commandDecl) command() *cobra.Command {
	c := &cobra.Command{
		Use: d.use, GroupID: d.group, Hidden: d.hidden, Short: d.short, Long: d.long, Example: d.example,
		Args: d.args, ValidArgsFunction: d.complete, RunE: d.bare,
	}
	if d.args == nil {
		c.Args = noArgs
	}
	f := c.Flags()
	if d.flags != nil {
		d.flags(f)
	}
	if d.json != "" {
		f.Bool("json", false, d.json)
	}
	if d.dryRun != "" {
		f.Bool("dry-run", false, d.dryRun)
	}
	if d.reason != "" {
		f.String("reason", "", d.reason)
	}
	if d.yes {
		f.Bool("yes", false, "do not ask")
	}
	switch {
	case d.tell != nil:
		d.run = func(ctx context.Context, g given) error {
			l, err := d.tell(g.args)
			if err != nil {
				return err
			}
			return browse(ctx, g.cfg, func(c engine.Console) error { return l.Show(ctx, c, g.out) })
		}
		c.RunE = d.configured
	case d.list != nil:
		show := lister(c, d.list)
		c.RunE = func(cmd *cobra.Command, args []string) (err error) {
			if d.instead != nil {
				if d.run, err = d.instead(); err != nil {
					return err
				}
			}
			if d.run != nil {
				return d.configured(cmd, args)
			}
			return show(cmd, args)
		}
	case d.run != nil:
		c.RunE = d.configured
	}
	for _, sub := range d.below {
		c.AddCommand(sub.command())
	}
	return c
}
