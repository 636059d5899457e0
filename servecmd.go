package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/ui/cli"
)

func serveCommand() *cobra.Command {
	var httpListen string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the engine without a console, until it is told to stop",
		Long: "Run the engine without a console.\n\n" +
			"It says one line when it is ready, and writes farsight.log in the data directory.\n" +
			"`farsight attach` opens a console on it, and every other command works through its\n" +
			"control socket. SIGTERM lets the calls in flight finish and ends it; SIGHUP reads\n" +
			"the key file, `viewers` and `operators` again. Under systemd it tells when it is\n" +
			"ready and feeds the watchdog: see docs/farsight.service.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("http") {
				if err := cmd.Flags().Set(flagName("http_listen"), httpListen); err != nil {
					return err
				}
			}
			cfg, err := config(cmd)
			if err != nil {
				return err
			}
			return runServe(cmd.Context(), cfg, func() (Config, error) { return config(cmd) }, stdout(cmd))
		},
	}
	cmd.Flags().StringVar(&httpListen, "http", "", "answer programs on this loopback address, such as 127.0.0.1:7171 (the same as --http-listen)")
	return cmd
}

// runServe runs the engine as a daemon.
func runServe(ctx context.Context, cfg Config, load func() (Config, error), out cli.Out) error {
	hangups := takeHangups()
	defer signal.Stop(hangups)
	keys, err := loadKey(cfg)
	if err != nil {
		return err
	}
	p, err := assemble(cfg, assembly{keys: keys})
	if err != nil {
		return toAttach(ctx, cfg, err)
	}
	if err := p.open(cfg); err != nil {
		return errors.Join(err, p.close())
	}
	watching, done := context.WithCancel(ctx)
	defer done()
	t := p.start(ctx, done)
	d := daemon{parts: p, keys: keys, cfg: cfg, load: load, hangups: hangups, systemd: newNotifier()}
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
	signal.Ignore(syscall.SIGHUP)
	signal.Notify(hangups, syscall.SIGHUP)
	return hangups
}

// daemon is a running engine without a console.
type daemon struct {
	*parts
	keys    *keyring
	cfg     Config
	load    func() (Config, error)
	hangups <-chan os.Signal
	systemd notifier
}

// ready is the one line that says so.
func (d *daemon) ready() string {
	line := fmt.Sprintf("farsight: ready: process %d works on %s, socket %s", os.Getpid(), d.cfg.DataDir, controlSocket(d.cfg.DataDir))
	if path, err := d.cfg.groupSocket(); err == nil && path != "" {
		line += " and, for group " + d.cfg.SocketGroup + ", " + path
	}
	line += onHTTP(d.http)
	if d.keys.Get().IsZero() {
		line += "; there is no API key yet"
	}
	return line
}

// run answers systemd and SIGHUP until ctx ends: by a signal, or because the engine
// has stopped.
func (d *daemon) run(ctx context.Context) {
	d.say("READY=1", "STATUS=at work on "+d.cfg.DataDir)
	var watchdog sync.WaitGroup
	defer watchdog.Wait()
	watchdog.Go(func() { d.systemd.watch(ctx, d.alive) })
	for {
		select {
		case <-ctx.Done():
			d.say("STOPPING=1", "STATUS=letting the calls in flight finish")
			return
		case <-d.hangups:
			d.reload()
		}
	}
}

func (d *daemon) say(lines ...string) {
	if err := d.systemd.tell(lines...); err != nil {
		d.log.Warn().Err(err).Msg("systemd could not be told")
	}
}

// alive reports whether the engine answers and has not stopped claiming.
func (d *daemon) alive(ctx context.Context) bool {
	a, err := d.control.Find(ctx, engine.StatusQuery{})
	status, ok := a.(engine.StatusAnswer)
	return err == nil && ok && status.Engine.State != engine.EngineBroken
}

// reload reads the key and the configuration again and takes over what can be
// changed at run time; it says what needs a restart. What is wrong changes nothing.
func (d *daemon) reload() {
	said, err := d.takeOver()
	if err != nil {
		d.tell(engine.LevelErr, "reload: "+err.Error()+": nothing was changed")
		return
	}
	d.tell(engine.LevelInfo, "reload: "+strings.Join(said, "; "))
}

func (d *daemon) tell(level engine.Level, text string) {
	n := engine.Note{At: time.Now(), Level: level, Text: riot.Redact(text)}
	d.tale.note(areaEngine, n)
	d.control.Note(n)
}

// takeOver does the work of reload and says in words what it did.
func (d *daemon) takeOver() (said []string, err error) {
	next, err := d.load()
	if err != nil {
		return nil, err
	}
	access, err := next.access()
	if err != nil {
		return nil, err
	}
	changed, err := d.keys.reload()
	if err != nil {
		return nil, err
	}
	if changed {
		d.limits.KeyChanged()
		said = append(said, "the key is now "+d.keys.Shown())
	}
	d.door.Set(access)
	live, restart := changes(d.cfg, next)
	if len(live) > 0 {
		d.cfg.Sources = withReloaded(d.cfg.Sources, next.Sources)
		inForce := d.cfg.Sources
		d.settings.Store(&inForce)
		said = append(said, strings.Join(live, ", ")+" taken over")
	}
	if len(restart) > 0 {
		said = append(said, strings.Join(restart, ", ")+" changed: restart to take over")
	}
	if len(said) == 0 {
		said = append(said, "nothing has changed")
	}
	return said, nil
}

// reloadable are the settings that are taken over without a restart.
var reloadable = map[string]bool{"viewers": true, "operators": true}

// changes names the settings that differ: those taken over at once, and those that
// need a restart.
func changes(was, now Config) (live, restart []string) {
	values := map[string]string{}
	for _, s := range was.Sources {
		values[s.Name] = s.Value
	}
	for _, s := range now.Sources {
		switch {
		case values[s.Name] == s.Value:
		case reloadable[s.Name]:
			live = append(live, s.Name)
		default:
			restart = append(restart, s.Name)
		}
	}
	return live, restart
}

// withReloaded are the settings as they are now in force.
func withReloaded(was, now []cli.Setting) []cli.Setting {
	out := slices.Clone(was)
	for _, s := range now {
		if i := slices.IndexFunc(out, func(o cli.Setting) bool { return o.Name == s.Name }); i >= 0 && reloadable[s.Name] {
			out[i] = s
		}
	}
	return out
}

// reload takes the key of the key file, unless the environment's is in use, which
// comes first. No file changes nothing.
func (k *keyring) reload() (changed bool, err error) {
	if k.from() == keyEnv {
		return false, nil
	}
	key, err := riot.KeyFromFile(k.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && key.IsZero() {
		return false, nil
	}
	if err != nil || key.Equal(k.Get()) {
		return false, err
	}
	k.take(sourced{key, k.path})
	return true, nil
}
