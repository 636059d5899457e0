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
	"github.com/farsight-console/farsight/ui"
	"github.com/farsight-console/farsight/ui/cli"
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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// The second signal ends the process at once: a crash is safe. The first one does where what is
	// being opened does not answer, such as a dead disk: nothing there looks at a context.
	context.AfterFunc(ctx, func() {
		stop()
		time.Sleep(startPatience)
		if opening.Load() > 0 {
			printError(os.Stderr, fang.Styles{}, errors.New("interrupted while it was still opening what is stored; nothing was lost"))
			os.Exit(exitInterrupted)
		}
	})

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

// release is the version of a release; "" = this build is none.
var release string

// version names the build: the release, else the revision it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	// The linker has set it: see main.version.
	if release != "" {
		return release
	}
	if !ok {
		return "development"
	}
	// Of a build in a checkout: the commit. A build by `go install` has the module's version instead.
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return "development " + s.Value[:min(len(s.Value), 12)]
		}
	}
	// "(devel)" is no version.
	if v := info.Main.Version; v != "" && !strings.HasPrefix(v, "(") {
		return v
	}
	return "development"
}

// modules lists the versions a bug report needs.
func modules() []string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	// "go1.26.0", then "github.com/spf13/cobra v1.10.1 h1:…": what a bug report needs to build the
	// same.
	out := []string{info.GoVersion}
	for _, m := range info.Deps {
		out = append(out, m.Path+" "+m.Version+" "+m.Sum)
	}
	return out
}

// versionCommand makes `farsight version`. It is one line without --modules: packagers compare it.
func versionCommand() commandDecl {
	return commandDecl{
		use: "version", group: groupSetup, short: "Show the version of this build", example: "farsight version --json", json: "as JSON",
		flags: func(f *pflag.FlagSet) {
			f.Bool("modules", false, "with the modules in it, and whose product it is not")
		},
		bare: func(cmd *cobra.Command, _ []string) error {
			w, platform := cmd.OutOrStdout(), runtime.GOOS+"/"+runtime.GOARCH
			// The notice is for people, and programs get all modules.
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
			// Riot wants every product that uses its API to say whose it is not.
			_, err = fmt.Fprintln(w, "\n"+ui.Notice)
			return err
		},
	}
}

// build is what `farsight version --json` prints.
type build struct {
	Version  string   `json:"version"`
	Go       string   `json:"go"`
	Platform string   `json:"platform"` // of the system, such as linux/amd64
	Modules  []string `json:"modules"`
}
