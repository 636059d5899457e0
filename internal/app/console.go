package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/internal/sdnotify"
	"github.com/farsight-console/farsight/internal/swap"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/ui"
	"github.com/farsight-console/farsight/ui/cli"
	"github.com/farsight-console/farsight/ui/plain"
	"github.com/farsight-console/farsight/ui/session"
	"github.com/farsight-console/farsight/ui/terminal"
)

// console is how the operator console is opened.
type console struct {
	readOnly bool
	plain    bool          // lines instead of a screen
	every    time.Duration // how often they say what has changed; 0 = as ui/plain has it

	cfg  config.Config                 // that it was opened with: see options
	load func() (config.Config, error) // reads the configuration again
}

// show opens the console, as a screen or as lines.
func (c console) show(ctx context.Context, to engine.Console, opt ui.Options) error {
	if c.plain {
		return plain.Run(ctx, to, plain.Options{Seat: opt.Seat, Every: c.every, Faults: opt.Mine.Faults, Command: typedBy(c.cfg)})
	}
	return ui.Run(ctx, to, opt)
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

// console reads them.
func (g given) console() (console, error) {
	c := console{readOnly: flagBool(g.cmd, "read-only"), plain: flagBool(g.cmd, "plain") || !isTerminal(), load: g.load}
	every, err := g.cmd.Flags().GetDuration("plain-every")
	if err != nil || every != 0 && (every < leastEvery || every > mostEvery) {
		return c, usagef("--plain-every %s is out of range: use 100ms to 1h, such as 10s", every)
	}
	c.every = every
	return c, nil
}

// isTerminal reports whether both ends are a terminal that can show a console.
func isTerminal() bool {
	return term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("TERM") != "dumb"
}

// options are how the console looks and who sits at it, for every way in which it is opened.
func (c *console) options(cfg config.Config) (ui.Options, error) {
	c.cfg = cfg
	_, ssh := os.LookupEnv("SSH_CONNECTION")
	// Where the console remembers what its user chose; "" if there is no place for it.
	state := config.Inputs{Getenv: os.LookupEnv}.BaseFolder("XDG_STATE_HOME", ".local/state")
	if state != "" {
		state = filepath.Join(state, "console.json")
	}
	o := ui.Options{
		Seat:    session.Seat{Actor: operator("console"), ReadOnly: c.readOnly, Platform: cfg.Platform, SSH: ssh, Glyphs: cfg.Glyphs},
		Version: release, Mine: ui.LoadMine(cfg.Folders(), state),
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
	return o, usage(o.Validate())
}

// runConsole opens the console: on the engine that holds the directory, else with
// an engine if there is a key, else on what is stored, else with the question what
// to do.
func runConsole(ctx context.Context, g given) error {
	c, err := g.console()
	if err != nil {
		return err
	}
	opt, err := c.options(g.cfg)
	if err != nil {
		return err
	}
	return through(ctx, g.cfg,
		func(con *api.Client) error { return c.attach(ctx, con, opt) },
		func() error { return c.own(ctx, g.cfg, opt) })
}

// own opens the console on a directory that nobody holds.
func (c console) own(ctx context.Context, cfg config.Config, opt ui.Options) error {
	// The environment is cleared of the key here: no program that the console starts gets it.
	keys, err := keyring.Load(cfg.KeyPath())
	if err != nil {
		return err
	}
	keyless := func() bool { return keys.Get().IsZero() }
	switch {
	case !keyless():
		return c.attended(ctx, cfg, role{keys: keys}, opt)
	// A data directory shows what is stored.
	case cfg.Store == "" && hasStore(cfg):
		return browseStored(ctx, cfg, func(to engine.Console) error { return c.show(ctx, to, opt) })
	case cfg.Store == "" && c.plain:
		return keys.None()
	case cfg.Store == "":
		return c.firstRun(ctx, cfg, keys, opt)
	}
	// A database's members show what they do also to one without a key, until it has one: then it is one like them, and
	// is left as they are.
	//
	// Opened and closed again: joining makes the schema where there is none, and who only wants to look
	// must not leave one behind.
	db, err := openStored(cfg)
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		return err
	}
	return c.attended(ctx, cfg, role{keys: keys, guest: keyless}, opt)
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
		return c.attended(ctx, cfg, role{keys: keys}, opt)
	case ui.ChooseDemo:
		return runDemo(ctx, cfg, demoOptions{seed: defaultSeed, speed: 1}, cli.Out{W: os.Stdout})
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

// attachCommand makes `farsight attach`.
func attachCommand() commandDecl {
	var remote api.Remote
	return commandDecl{
		use: "attach [SOCKET|URL]", group: groupStart, short: "Open the console on an engine that runs already",
		long: "Open the console on an engine that runs already, here or through ssh:\n\n" +
			"  ssh -t HOST farsight attach\n\n" +
			"or, where there is no ssh, through a proxy with TLS in front of http_listen:\n\n" +
			"  farsight attach https://farsight.example.com --token-file ~/.farsight-token\n\n" +
			"SOCKET is the control socket of the engine, or its folder; without it the one in\n" +
			"the data directory. When the engine goes away, what was shown stays readable, and\n" +
			"the console connects again by itself. Leaving the console changes nothing.",
		example: "farsight attach\nfarsight attach /run/farsight/control.sock\n" +
			"farsight attach https://farsight.example.com --token-file ~/.farsight-token",
		args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) == 1 && args[0] != "" {
				return nil
			}
			return usagef("name one socket, or none for that of the data directory: %s /run/farsight/control.sock", cmd.CommandPath())
		},
		complete: onlyFirst(completeFiles),
		flags: func(f *pflag.FlagSet) {
			addConsoleFlags(f)
			f.StringVar(&remote.TokenFile, "token-file", os.Getenv("FARSIGHT_TOKEN_FILE"), "for a URL: the file with the engine's token, else FARSIGHT_TOKEN_FILE")
			f.Lookup("token-file").DefValue = "" // the help is the same whatever the environment holds
			f.StringVar(&remote.CAFile, "ca-file", "", "for a URL: certificates to trust besides the host's own, in PEM form")
		},
		run: func(ctx context.Context, g given) error {
			c, err := g.console()
			if err != nil {
				return err
			}
			opt, err := c.options(g.cfg)
			if err != nil {
				return err
			}
			// A socket's path may hold anything but this: "https://farsight.example.com".
			if len(g.args) == 1 && strings.Contains(g.args[0], "://") {
				remote.URL = g.args[0]
				return attachRemote(ctx, c, opt, remote)
			}
			path := controlSocket(g.cfg.DataDir)
			if len(g.args) == 1 {
				path = g.args[0]
				if info, err := os.Stat(path); err == nil && info.IsDir() {
					path = filepath.Join(path, api.SocketName)
				}
			}
			con := api.NewClient(path)
			defer con.Close()
			err = c.attach(ctx, con, opt)
			if errors.Is(err, engine.ErrGone) && len(g.args) == 0 {
				if held := standsStill(g.cfg); held != nil {
					return held
				}
			}
			return err
		},
	}
}

// attachRemote opens the console on an engine behind a proxy with TLS.
func attachRemote(ctx context.Context, c console, opt ui.Options, remote api.Remote) error {
	con, err := api.NewRemote(remote)
	if err != nil {
		return usage(err)
	}
	defer con.Close()
	// Said on the command line, before a screen hides it: a wrong token, a proxy that answers for an
	// engine that is down, and next a proxy that keeps the stream of updates back.
	if _, err := con.Hello(ctx); err != nil {
		return err
	}
	if err := con.Streams(ctx); err != nil {
		return err
	}
	opt.NoOwn = "commands of your own do not run in a console by an address: attach by the control socket, as through ssh"
	return c.attach(ctx, con, opt)
}

// attach shows the console of an engine elsewhere, until the operator leaves.
func (c console) attach(ctx context.Context, con *api.Client, opt ui.Options) error {
	h, err := con.Hello(ctx)
	if err != nil {
		return err
	}
	opt.Actor = h.You // as the engine knows it: this is what the audit will say
	if h.Role < api.Operator {
		opt.ReadOnly, opt.ReadOnlyWhy = true, "a viewer may look, not act: the engine's owner names `operators`"
	}
	opt.Stalled = consoleClosed + " The engine goes on; the same command opens it again."
	return c.show(ctx, elsewhere{con}, opt)
}

// elsewhere is the console of an engine in another process.
type elsewhere struct{ *api.Client }

// Proof that the console knows whom to ask why nobody answers.
var _ session.Absent = elsewhere{}

// Absent implements session.Absent: an engine that answers, but not this console, has not
// gone.
func (e elsewhere) Absent(ctx context.Context) string {
	_, err := e.Hello(ctx)
	if err == nil || errors.Is(err, engine.ErrGone) {
		return ""
	}
	return err.Error()
}

// openPatience is how long a console waits for the data directory before it shows
// itself without. A store of a million matches takes half a second to prove and to
// open; the first frame may not.
const openPatience = 120 * time.Millisecond

// consoleClosed begins the last words on a terminal that took nothing for too long: see
// ui/terminal, which gives the terminal up and still gets these out.
const consoleClosed = "farsight: the console was closed: this terminal took nothing for too long."

// attended runs an engine with a console in front. When the terminal goes away the
// engine stays, if it shall; when the operator detaches, another process takes over.
func (c console) attended(ctx context.Context, cfg config.Config, r role, opt ui.Options) error {
	// watching ends with the engine as well as with the signal: a console without an engine is of no
	// use.
	watching, done := context.WithCancel(ctx)
	defer done()
	// What the console shows until the store is open, in the place of an engine's state.
	con := swap.New(false)
	con.Down("opening " + storeName(cfg))
	var p *process
	var failed error
	settled := make(chan struct{}) // closed when the engine runs, or cannot
	go func() {
		defer close(settled)
		if p, failed = open(cfg, r); failed == nil {
			if failed = p.listen(); failed != nil {
				failed = errors.Join(failed, p.close())
			}
		}
		if failed != nil {
			done()
			return
		}
		p.start(ctx, done)
		con.Up(p.front)
	}()
	// A small store is there at once, and so is what is wrong with it: no screen comes up for a sentence.
	select {
	case <-settled:
		if failed != nil {
			return failed
		}
	case <-time.After(openPatience):
	}
	// Who logs out of ssh wants the sync to go on; who closes a local window has had enough of it.
	keep := cfg.Keeps(opt.SSH)
	var hangups chan os.Signal
	if keep {
		hangups = takeHangups()
		defer signal.Stop(hangups)
	}
	opt.Embedded, opt.CanDetach, opt.Guest = true, true, r.guest
	opt.Stack = func(message, stack string) {
		if <-settled; failed == nil {
			p.logStack(message, stack)
		}
	}
	switch {
	case r.guest != nil:
		opt.Stalled = consoleClosed
	case keep:
		opt.Stalled = consoleClosed + fmt.Sprintf(" The engine goes on in process %d: `farsight` attaches to it, ctrl+c here ends it.", os.Getpid())
	default:
		opt.Stalled = consoleClosed + " The engine stops; everything is kept."
	}
	// Asked now: once the terminal is gone the answer is no, whatever it was.
	onTerminal := term.IsTerminal(int(os.Stdin.Fd()))
	err := c.show(watching, con, opt)
	// The screen may have ended while the store was still being opened.
	if <-settled; failed != nil {
		return failed
	}
	keep = keep && (r.guest == nil || !r.guest()) // of a guest there is nothing to keep
	// Lines end with their terminal, and do not know why: it is gone before the signal
	// that tells so has come.
	if c.plain && keep && ctx.Err() == nil && (len(hangups) > 0 || onTerminal && !term.IsTerminal(int(os.Stdin.Fd()))) {
		err = terminal.ErrHungUp
	}
	switch {
	// The directory is let go before the next process takes it; between the two nobody works.
	case errors.Is(err, ui.ErrDetached):
		if err := p.stop(); err != nil {
			return err
		}
		return handOver(ctx, cfg, r.keys)
	case errors.Is(err, terminal.ErrHungUp) && keep:
		p.log.Info().Msg("the terminal has gone; the engine goes on without it")
		d := daemon{process: p, load: c.load, hangups: hangups, systemd: sdnotify.Notifier{}}
		d.run(watching)
		return p.stop()
	case errors.Is(err, terminal.ErrHungUp):
		err = nil
	}
	return errors.Join(err, p.stop())
}

// logStack keeps the stack of a console that fell in the engine's log, for the bug report.
func (p *process) logStack(message, stack string) {
	p.log.Error().Str("stack", stack).Msg("the console fell: " + message)
}

// handOverWait is how long the process that takes over may need to open the data
// directory.
const handOverWait = 30 * time.Second

// handOver starts a daemon on the directory that was just left, and returns when it
// is at work.
//
// The process is a session leader of its own with "/" as its directory: neither the terminal's end
// nor an unmounted folder touches it. Its key, if it was typed, goes with the environment, which the
// command line would show to everybody. What it says before its log is open comes back here.
func handOver(ctx context.Context, cfg config.Config, keys *keyring.Ring) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("detach: %w", err)
	}
	var said bytes.Buffer
	cmd := exec.Command(self, append([]string{"serve"}, flagsOf(cfg)...)...)
	cmd.Env = os.Environ()
	if entry := keys.Environ(); entry != "" {
		cmd.Env = append(cmd.Env, entry)
	}
	cmd.Dir = "/"
	cmd.Stderr = &said
	cmd.SysProcAttr = detached()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("detach: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	deadline := time.After(handOverWait)
	for {
		// It answers: only now has somebody taken over.
		if c, _ := dialEngine(ctx, cfg); c != nil {
			c.Close()
			_, err := fmt.Printf("detached: process %d works on %s; `farsight` attaches, `%s` ends it\n", cmd.Process.Pid, storeName(cfg), killing(cmd.Process.Pid))
			return err
		}
		select {
		case <-ended:
			return fmt.Errorf("detach: the engine did not go on: %s", strings.TrimSpace(said.String()))
		case <-deadline:
			return fmt.Errorf("detach: process %d has not opened its socket after %s: look into farsight.log", cmd.Process.Pid, handOverWait)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// flagsOf are the settings that came from flags, and the directory, for a process
// that starts elsewhere.
// Settings of the environment and of files it finds by itself.
func flagsOf(cfg config.Config) []string {
	out := []string{"--data-dir=" + cfg.Folder()}
	for _, s := range cfg.Sources {
		if name, ok := strings.CutPrefix(s.Source, "flag --"); ok && s.Name != "data_dir" {
			out = append(out, "--"+name+"="+s.Value)
		}
	}
	return out
}
