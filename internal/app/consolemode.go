package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/ui"
	"github.com/farsight-console/farsight/ui/plain"
	"github.com/farsight-console/farsight/ui/session"
)

// console is how the operator console is opened.
type console struct {
	readOnly bool
	plain    bool          // lines instead of a screen
	every    time.Duration // how often they say what has changed; 0 = as ui/plain has it

	load func() (config.Config, error) // reads the configuration again
}

// show opens the console, as a screen or as lines.
func (c console) show(ctx context.Context, to engine.Console, opt ui.Options) error {
	if c.plain {
		return plain.Run(ctx, to, plain.Options{Seat: opt.Seat, Every: c.every, Faults: opt.Mine.Faults})
	}
	return ui.Run(ctx, to, opt)
}

// where settles whether there is a screen: a dumb terminal, a pipe and a file get
// lines.
func (c console) where() console {
	c.plain = c.plain || !isTerminal()
	return c
}

// leastEvery and mostEvery bound --plain-every.
const (
	leastEvery = 100 * time.Millisecond
	mostEvery  = time.Hour
)

// addConsoleFlags gives a command the flags of the console.
func addConsoleFlags(f *pflag.FlagSet) {
	f.Bool("read-only", false, "look, but refuse every action")
	f.Bool("plain", false, "lines instead of a screen: one sentence per change, a prompt for commands")
	f.Duration("plain-every", 0, "with --plain: say what has changed this often, such as 10s (default 2s)")
	f.Lookup("plain-every").DefValue = "" // the sentence says it
}

// consoleFlags reads them.
func consoleFlags(cmd *cobra.Command) (console, error) {
	c := console{readOnly: flagBool(cmd, "read-only"), plain: flagBool(cmd, "plain")}
	every, err := cmd.Flags().GetDuration("plain-every")
	if err != nil || every != 0 && (every < leastEvery || every > mostEvery) {
		return c, usagef("--plain-every %s is out of range: use 100ms to 1h, such as 10s", every)
	}
	c.every = every
	c.load = func() (config.Config, error) { return configOf(cmd) }
	return c.where(), nil
}

// runConsole opens the console: on the engine that holds the directory, else with
// an engine if there is a key, else on what is stored, else with the question what
// to do.
func runConsole(ctx context.Context, cfg config.Config, c console) error {
	opt := c.options(cfg)
	if err := opt.Validate(); err != nil {
		return usage(err)
	}
	return through(ctx, cfg,
		func(con *api.Client) error { return c.attach(ctx, con, opt) },
		func() error { return c.own(ctx, cfg, opt) })
}

// own opens the console on a directory that nobody holds.
func (c console) own(ctx context.Context, cfg config.Config, opt ui.Options) error {
	// The environment is cleared of the key here: no program that the console starts gets it.
	keys, err := keyring.Load(cfg.KeyPath())
	if err != nil {
		return err
	}
	if !keys.Get().IsZero() {
		return c.attended(ctx, cfg, assembly{keys: keys}, opt)
	}
	// A database's members show what they do also to one without a key; a data directory shows what
	// is stored.
	switch {
	case cfg.Store != "":
		return c.asGuest(ctx, cfg, keys, opt)
	case hasStore(cfg):
		return browseStored(ctx, cfg, func(to engine.Console) error { return c.show(ctx, to, opt) })
	}
	if c.plain {
		return keys.None()
	}
	return c.firstRun(ctx, cfg, keys, opt)
}

// options are how the console looks and who sits at it, for every way in which it is opened.
func (c console) options(cfg config.Config) ui.Options {
	_, ssh := os.LookupEnv("SSH_CONNECTION")
	o := ui.Options{
		Seat:    session.Seat{Actor: operator("console"), ReadOnly: c.readOnly, Platform: cfg.Platform, SSH: ssh, Glyphs: cfg.Glyphs},
		Version: release, Mine: ui.LoadMine(cfg.Folders(), consoleState()),
		OwnEnv: []string{"FARSIGHT_DATA_DIR=" + cfg.DataDir},
		KeyForm: func(text string) error {
			_, err := riot.ParseIssued(text)
			return err
		},
	}
	// What the operator chose on the screen stands between the command line and the configuration
	// file. A theme of the command line or of the environment holds for this console alone; that of a
	// file gives way to what was last chosen in the console.
	if cfg.Given("theme") {
		o.Theme = cfg.Theme
	} else {
		o.Usual = cfg.Theme
	}
	return o
}

// consoleState is the file where the console remembers what its user chose; "" if
// there is no place for it.
func consoleState() string {
	dir := config.Inputs{Getenv: os.LookupEnv}.BaseFolder("XDG_STATE_HOME", ".local/state")
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "console.json")
}

// firstRun asks what to do where there is neither a key nor anything stored.
func (c console) firstRun(ctx context.Context, cfg config.Config, keys *keyring.Ring, opt ui.Options) error {
	choice, key, err := ui.AskFirst(ctx, ui.FirstRun{
		DataDir: cfg.DataDir, Bare: errNothingStored(cfg).Error(), KeyFrom: keyring.Env + " and " + keys.Path(), KeyTo: "kept in " + keys.Path() + ", mode 0600",
		Try: func(ctx context.Context, text string) (string, error) {
			key, err := riot.ParseIssued(text)
			if err != nil {
				return "", err
			}
			return tryKey(ctx, cfg, key)
		},
	}, opt)
	if err != nil {
		return err
	}
	switch choice {
	case ui.ChooseKey:
		if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
			return fmt.Errorf("make the data directory: %w", err)
		}
		if err := keys.Replace(key); err != nil {
			return err
		}
		return c.attended(ctx, cfg, assembly{keys: keys}, opt)
	case ui.ChooseDemo:
		return runDemo(ctx, cfg, demoOptions{seed: defaultSeed, speed: 1}, stdoutPlain())
	// Nothing is stored, or this question would not have been asked.
	case ui.ChooseBrowse:
		return errNothingStored(cfg)
	}
	return nil
}

// tryKey makes one call with a key and says which limits it has.
func tryKey(ctx context.Context, cfg config.Config, key riot.Key) (learnt string, err error) {
	// The limiter is one of its own, and ends with the call: the engine that comes learns the limits
	// anew, as of any key.
	var limits string
	client, err := riot.New(riot.Options{
		Keys: riot.NewKeys(key), Limiter: riot.LimitedBy(limit.New(limit.Options{})), BaseURL: cfg.BaseURL, Timeout: cfg.Timeout,
		UserAgent: "farsight/" + version(), OnCall: func(c riot.Call) { limits = c.AppLimit },
	})
	if err != nil {
		return "", err
	}
	defer client.CloseIdle()
	// The one call that every key may make; its answer's headers tell the limits.
	if err := client.Probe(ctx, route.Europe, ""); err != nil {
		return "", err
	}
	if limits == "" {
		return "the key works", nil
	}
	return "the key works: " + limits + " calls:seconds", nil
}

// asGuest shows what members do that share a database, until it has a key: then it is one like them,
// and is left as they are.
func (c console) asGuest(ctx context.Context, cfg config.Config, keys *keyring.Ring, opt ui.Options) error {
	// Opened and closed again: joining makes the schema where there is none, and who only wants to look
	// must not leave one behind.
	db, err := openStored(cfg) // one that is not there is not made for it
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		return err
	}
	return c.attended(ctx, cfg, assembly{keys: keys, guest: func() bool { return keys.Get().IsZero() }}, opt)
}

// logStack keeps the stack of a console that fell, for the bug report.
func logStack(log zerolog.Logger) func(message, stack string) {
	return func(message, stack string) {
		log.Error().Str("stack", stack).Msg("the console fell: " + message)
	}
}

// isTerminal reports whether both ends are a terminal that can show a console.
func isTerminal() bool {
	return term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("TERM") != "dumb"
}
