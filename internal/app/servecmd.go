package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/internal/sdnotify"
	"github.com/farsight-console/farsight/ui/cli"
)

// serveCommand makes `farsight serve`.
func serveCommand() commandDecl {
	var httpListen string
	var a assembly
	return commandDecl{
		use: "serve", group: groupStart, short: "Run the engine without a console, until it is told to stop",
		long: "Run the engine without a console.\n\n" +
			"It says one line when it is ready, and writes farsight.log in the data directory.\n" +
			"`farsight attach` opens a console on it, and every other command works through its\n" +
			"control socket. SIGTERM lets the calls in flight finish and ends it; SIGHUP reads\n" +
			"the key and config.toml again, and says what it took over and what needs a\n" +
			"restart. Under systemd it tells when it is ready and feeds the watchdog: see\n" +
			"docs/farsight.service.",
		example: "farsight serve --http 127.0.0.1:7171", starts: true,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&httpListen, "http", "", "answer programs on this loopback address, such as 127.0.0.1:7171 (the same as --http-listen)")
			f.BoolVar(&a.noLead, "no-lead", false, "with --store: never lead, follow whoever does")
			f.BoolVar(&a.noWork, "no-work", false, "with --store: make no calls, others do; lead if nobody else does")
		},
		// --http is another name of a setting, and must be it before the settings are read.
		before: func(f *pflag.FlagSet) error {
			if !f.Changed("http") {
				return nil
			}
			return f.Set(config.FlagName("http_listen"), httpListen)
		},
		run: func(ctx context.Context, g given) error {
			for flag, given := range map[string]bool{"--no-lead": a.noLead, "--no-work": a.noWork} {
				if given && g.cfg.Store == "" {
					return usagef("%s is for members that share a database: name it with --store", flag)
				}
			}
			return runServe(ctx, g.cfg, a, g.load, g.out)
		},
	}
}

// runServe runs the engine as a daemon.
func runServe(ctx context.Context, cfg config.Config, a assembly, load func() (config.Config, error), out cli.Out) error {
	// Before anything is opened: a SIGHUP that comes meanwhile must not end the process.
	hangups := takeHangups()
	defer signal.Stop(hangups)
	keys, err := keyring.Load(cfg.KeyPath())
	if err != nil {
		return err
	}
	a.keys = keys
	// Opens the store: from here on whatever fails has to let it go again.
	p, err := join(cfg, a)
	if err != nil {
		// The likeliest cause is that an engine runs already.
		return toAttach(ctx, cfg, err)
	}
	if err := p.open(cfg); err != nil {
		return errors.Join(err, p.close())
	}
	watching, done := context.WithCancel(ctx)
	defer done()
	t := p.start(ctx, done)
	d := daemon{base: p, load: load, hangups: hangups, systemd: sdnotify.New()}
	// Who started it may have closed the pipe that it reads; the engine works all the same.
	if _, err := fmt.Fprintln(out.W, safe.Text(d.ready())); err != nil {
		p.log.Warn().Err(err).Msg("nobody reads the standard output")
	}
	d.run(watching)
	return t.stop()
}

// takeHangups takes SIGHUP away from everybody else, so that it ends nothing.
// Stop it when the process may end by it again.
func takeHangups() chan os.Signal {
	hangups := make(chan os.Signal, 1)
	// Main has it end the process; Notify alone would leave that in place.
	signal.Ignore(syscall.SIGHUP)
	signal.Notify(hangups, syscall.SIGHUP)
	return hangups
}

// daemon is a running engine without a console.
type daemon struct {
	*base
	load    func() (config.Config, error)
	hangups <-chan os.Signal
	systemd sdnotify.Notifier
}

// ready is the one line that says so.
func (d *daemon) ready() string {
	cfg := d.config.Load()
	line := fmt.Sprintf("farsight: ready: process %d works on %s, socket %s", os.Getpid(), storeName(*cfg), controlSocket(cfg.DataDir))
	if path, err := cfg.GroupSocket(); err == nil && path != "" {
		line += " and, for group " + cfg.SocketGroup + ", " + path
	}
	line += onHTTP(d.http)
	// It waits for one: a key file that is written later is found, see keyring.Watch.
	if d.keys.Get().IsZero() {
		line += "; there is no API key yet"
	}
	return line
}

// run answers systemd and SIGHUP until ctx ends: by a signal, or because the engine
// has stopped.
func (d *daemon) run(ctx context.Context) {
	d.say("READY=1", "STATUS=at work on "+storeName(*d.config.Load()))
	var watchdog sync.WaitGroup
	defer watchdog.Wait()
	// A reload may take longer than the watchdog's time: it is fed beside.
	watchdog.Go(func() { d.systemd.Watch(ctx, d.alive) })
	for {
		select {
		case <-ctx.Done():
			d.say("STOPPING=1", "STATUS=letting the calls in flight finish")
			return
		// One at a time: a second signal during a reload waits, and all further ones are one.
		case <-d.hangups:
			d.reload()
		}
	}
}

// say tells systemd how the service stands, in lines such as STATUS=at work on /var/lib/farsight.
func (d *daemon) say(lines ...string) {
	if err := d.systemd.Tell(lines...); err != nil {
		d.log.Warn().Err(err).Msg("systemd could not be told")
	}
}

// alive reports whether the engine answers and has not stopped claiming.
func (d *daemon) alive(ctx context.Context) bool {
	a, err := d.front.Find(ctx, engine.StatusQuery{})
	status, ok := a.(engine.StatusAnswer)
	// An engine that has stopped claiming is told to systemd as dead: a restart is what it needs.
	return err == nil && ok && status.Engine.State != engine.EngineBroken
}
