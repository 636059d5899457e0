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
	"github.com/farsight-console/farsight/ui"
	"github.com/farsight-console/farsight/ui/cli"
	"github.com/farsight-console/farsight/ui/session"
	"github.com/farsight-console/farsight/ui/terminal"
)

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
			c, err := consoleFlags(g.cmd)
			if err != nil {
				return err
			}
			return runAttach(ctx, g.cfg, c, g.args, remote)
		},
	}
}

// noOwn is why nothing of keys.toml runs in a console by a URL.
const noOwn = "commands of your own do not run in a console by an address: attach by the control socket, as through ssh"

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
	opt.NoOwn = noOwn
	return c.attach(ctx, con, opt)
}

// runAttach opens the console on the engine behind a socket, or at a URL.
func runAttach(ctx context.Context, cfg config.Config, c console, args []string, remote api.Remote) error {
	opt := c.options(cfg)
	if err := opt.Validate(); err != nil {
		return usage(err)
	}
	// A socket's path may hold anything but this: "https://farsight.example.com".
	if len(args) == 1 && strings.Contains(args[0], "://") {
		remote.URL = args[0]
		return attachRemote(ctx, c, opt, remote)
	}
	path := controlSocket(cfg.DataDir)
	if len(args) == 1 {
		path = args[0]
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			path = filepath.Join(path, api.SocketName)
		}
	}
	con := api.NewClient(path)
	defer con.Close()
	err := c.attach(ctx, con, opt)
	if errors.Is(err, engine.ErrGone) && len(args) == 0 {
		if held := standsStill(cfg); held != nil {
			return held
		}
	}
	return err
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
	opt.Stalled = "farsight: the console was closed: this terminal took nothing for too long. The engine goes on; the same command opens it again."
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

// attended runs an engine with a console in front. When the terminal goes away the
// engine stays, if it shall; when the operator detaches, another process takes over.
func (c console) attended(ctx context.Context, cfg config.Config, a assembly, opt ui.Options) error {
	// watching ends with the engine as well as with the signal: a console without an engine is of no
	// use.
	watching, done := context.WithCancel(ctx)
	defer done()
	own := openBeside(ctx, cfg, a, done)
	if err := own.soon(); err != nil {
		return err
	}
	// Who logs out of ssh wants the sync to go on; who closes a local window has had enough of it.
	keep := cfg.Keeps(opt.SSH)
	var hangups chan os.Signal
	if keep {
		hangups = takeHangups()
		defer signal.Stop(hangups)
	}
	opt.Embedded, opt.CanDetach, opt.Guest, opt.Stack, opt.Stalled = true, true, a.guest, own.stack, stalledText(keep)
	if a.guest != nil {
		opt.Stalled = consoleClosed
	}
	// Asked now: once the terminal is gone the answer is no, whatever it was.
	onTerminal := term.IsTerminal(int(os.Stdin.Fd()))
	err := c.show(watching, own.con, opt)
	// The screen may have ended while the store was still being opened.
	t, failed := own.task()
	if failed != nil {
		return failed
	}
	keep = keep && (a.guest == nil || !a.guest()) // of a guest there is nothing to keep
	// Lines end with their terminal, and do not know why: it is gone before the signal
	// that tells so has come.
	if c.plain && keep && ctx.Err() == nil && (len(hangups) > 0 || onTerminal && !term.IsTerminal(int(os.Stdin.Fd()))) {
		err = terminal.ErrHungUp
	}
	switch {
	// The directory is let go before the next process takes it; between the two nobody works.
	case errors.Is(err, ui.ErrDetached):
		if err := t.stop(); err != nil {
			return err
		}
		return handOver(ctx, cfg, a.keys, stdoutPlain())
	case errors.Is(err, terminal.ErrHungUp) && keep:
		t.log.Info().Msg("the terminal has gone; the engine goes on without it")
		d := daemon{base: t.base, load: c.load, hangups: hangups, systemd: sdnotify.Notifier{}}
		d.run(watching)
		return t.stop()
	case errors.Is(err, terminal.ErrHungUp):
		err = nil
	}
	return errors.Join(err, t.stop())
}

// consoleClosed begins the last words on a terminal that took nothing for too long: see
// ui/terminal, which gives the terminal up and still gets these out.
const consoleClosed = "farsight: the console was closed: this terminal took nothing for too long."

// stalledText is the last thing on a terminal that took nothing, of a console with
// an engine of its own.
func stalledText(keep bool) string {
	if !keep {
		return consoleClosed + " The engine stops; everything is kept."
	}
	return consoleClosed + fmt.Sprintf(" The engine goes on in process %d: `farsight` attaches to it, ctrl+c here ends it.", os.Getpid())
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
func handOver(ctx context.Context, cfg config.Config, keys *keyring.Ring, out cli.Out) error {
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
			_, err := fmt.Fprintf(out.W, "detached: process %d works on %s; `farsight` attaches, `%s` ends it\n", cmd.Process.Pid, storeName(cfg), killing(cmd.Process.Pid))
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
