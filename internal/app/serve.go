package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/internal/logbook"
	"github.com/farsight-console/farsight/internal/sdnotify"
	"github.com/farsight-console/farsight/riot"
)

// serveCommand makes `farsight serve`.
func serveCommand() commandDecl {
	var httpListen string
	var r role
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
			f.BoolVar(&r.noLead, "no-lead", false, "with --store: never lead, follow whoever does")
			f.BoolVar(&r.noWork, "no-work", false, "with --store: make no calls, others do; lead if nobody else does")
		},
		// --http is another name of a setting, and must be it before the settings are read.
		before: func(f *pflag.FlagSet) error {
			if !f.Changed("http") {
				return nil
			}
			name := config.FlagName("http_listen")
			return errors.Join(f.Set(name, httpListen), f.SetAnnotation(name, config.TypedAs, []string{"http"}))
		},
		run: func(ctx context.Context, g given) error {
			for flag, given := range map[string]bool{"--no-lead": r.noLead, "--no-work": r.noWork} {
				if given && g.cfg.Store == "" {
					return usagef("%s is for members that share a database: name it with --store", flag)
				}
			}
			return serve(ctx, g, r)
		},
	}
}

// serve runs the engine as a daemon until ctx ends, by a signal, or the engine does.
func serve(ctx context.Context, g given, r role) (err error) {
	// Before anything is opened: a SIGHUP that comes meanwhile must not end the process.
	hangups := takeHangups()
	defer signal.Stop(hangups)
	if r.keys, err = keyring.Load(g.cfg.KeyPath()); err != nil {
		return err
	}
	p, err := open(g.cfg, r)
	if err != nil {
		// The likeliest cause is that an engine runs already.
		return toAttach(ctx, g.cfg, err)
	}
	if err := p.listen(); err != nil {
		return errors.Join(err, p.close())
	}
	watching, done := context.WithCancel(ctx)
	defer done()
	p.start(ctx, done)
	d := daemon{process: p, load: g.load, hangups: hangups, systemd: sdnotify.New()}
	// Who started it may have closed the pipe that it reads; the engine works all the same.
	if _, err := fmt.Fprintln(g.out.W, safe.Text(d.ready())); err != nil {
		p.log.Warn().Err(err).Msg("nobody reads the standard output")
	}
	d.run(watching)
	return p.stop()
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
	*process
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
	if d.http != nil {
		line += ", programs on http://" + d.http.String() + " with the token in " + api.TokenName
	}
	// It waits for one: a key file that is written later is found, see keyring.Watch.
	if d.keys.Get().IsZero() {
		line += "; there is no API key yet"
	}
	return line
}

// run answers systemd and SIGHUP until ctx ends: by a signal, or because the engine
// has stopped.
func (d *daemon) run(ctx context.Context) {
	d.notify("READY=1", "STATUS=at work on "+storeName(*d.config.Load()))
	var watchdog sync.WaitGroup
	defer watchdog.Wait()
	// A reload may take longer than the watchdog's time: it is fed beside.
	watchdog.Go(func() {
		d.systemd.Watch(ctx, func(ctx context.Context) bool {
			s, err := engine.Ask[engine.StatusAnswer](ctx, d.front, engine.StatusQuery{})
			// One that has stopped claiming is told to systemd as dead: a restart is what it needs.
			return err == nil && s.Engine.State != engine.EngineBroken
		})
	})
	for {
		select {
		case <-ctx.Done():
			d.notify("STOPPING=1", "STATUS=letting the calls in flight finish")
			return
		// One at a time: a second signal during a reload waits, and all further ones are one.
		case <-d.hangups:
			d.reload()
		}
	}
}

// notify tells systemd how the service stands, in lines such as STATUS=at work on /var/lib/farsight.
func (d *daemon) notify(lines ...string) {
	if err := d.systemd.Tell(lines...); err != nil {
		d.log.Warn().Err(err).Msg("systemd could not be told")
	}
}

// reload reads the key and the configuration again and takes over what can be
// changed at run time; it says what needs a restart. What is wrong changes nothing.
func (d *daemon) reload() {
	d.notify(sdnotify.Reloading()...)
	said, err := d.takeOver()
	n := engine.Note{At: time.Now(), Level: engine.LevelInfo, Text: "reload: " + strings.Join(said, "; ")}
	if err != nil {
		n.Level, n.Text = engine.LevelErr, "reload: "+err.Error()+": nothing was changed"
	}
	n.Text = riot.Redact(n.Text)
	d.tale.Note(logbook.AreaEngine, n)
	d.note(n)
	// To systemd a new line begins another message.
	d.notify("READY=1", "STATUS="+safe.Text(strings.ReplaceAll(n.Text, "\n", " ")))
}

// takeOver does the work of reload and says in words what it did.
func (d *daemon) takeOver() (said []string, err error) {
	next, err := d.load()
	if err != nil {
		return nil, err
	}
	// Everything is read and checked before anything is taken over: a fault in the last part must not
	// leave the first ones changed.
	access, err := next.Access()
	if err != nil {
		return nil, err
	}
	// Whom the pager tells is prepared now and taken over below, with all else.
	at, tellNow := d.engine.Load(), func() {}
	if at != nil {
		if tellNow, err = at.pager.Prepare(next.Pager.Targets); err != nil {
			return nil, err
		}
	}
	was := *d.config.Load()
	var token api.Token
	if d.gate != nil { // one that was deleted is made anew
		if token, err = api.LoadToken(was.DataDir); err != nil {
			return nil, err
		}
	}
	// The key is the first thing that changes, and after it nothing can fail any more.
	changed, err := d.keys.Reload()
	switch {
	case err != nil:
		return nil, err
	case changed:
		if at != nil {
			at.limits.KeyChanged()
		}
		said = append(said, "the key is now "+d.keys.Shown())
	case d.keys.Shadows():
		said = append(said, "the key in "+d.keys.Path()+" is another than that of "+keyring.Env+", which goes first: restart without it to take that one")
	}
	if d.gate != nil && d.gate.Set(token) {
		said = append(said, "the token for programs is another now: "+api.TokenName)
	}
	d.door.Set(access)
	tellNow()
	d.logs.SetLevel(next.LogLevel)
	// Compared with what is in force, not with what the file said at the start: a second reload tells
	// only what the first did not.
	changes := changedSettings(was, next)
	// What is taken over first, what needs a restart last.
	for _, use := range []string{usedAtOnce, ofTheNextCommand, needsRestart} {
		if names := changes[use]; len(names) > 0 {
			said = append(said, strings.Join(names, ", ")+use)
		}
	}
	// All others stay as they are in force, whatever the file says now.
	now := was
	now.LogLevel, now.Workers, now.Pager, now.Sources = next.LogLevel, next.Workers, next.Pager, slices.Clone(was.Sources)
	for _, s := range next.Sources {
		if i := slices.IndexFunc(now.Sources, func(o engine.Setting) bool { return o.Name == s.Name }); i >= 0 && useOf(s.Name) != needsRestart {
			now.Sources[i] = s
		}
	}
	d.config.Store(&now)
	if len(said) == 0 {
		said = append(said, "nothing has changed")
	}
	return said, nil
}

// What a reload does with settings that have changed, as it says behind their names.
const (
	usedAtOnce       = " taken over"
	needsRestart     = " changed: restart to take over"
	ofTheNextCommand = " changed: for consoles and commands that start from now on" // the engine does not read it
)

// reloadable are the settings that need no restart.
var reloadable = map[string]string{
	"viewers": usedAtOnce, "operators": usedAtOnce, "log_level": usedAtOnce, "worker_concurrency": usedAtOnce,
	"alerts.limits": needsRestart, "alerts.severity": needsRestart,
	"theme": ofTheNextCommand, "glyphs": ofTheNextCommand, "keep_running": ofTheNextCommand, "platform": ofTheNextCommand,
}

// useOf is what a reload does with a setting: whom the pager tells is read anew, too.
func useOf(name string) string {
	if use, known := reloadable[name]; known {
		return use
	}
	if table, _, ok := strings.Cut(name, "."); ok && slices.Contains(config.PagerTables, table) {
		return usedAtOnce
	}
	return needsRestart
}

// changedSettings names the settings that differ, by what is done with them.
func changedSettings(was, now config.Config) map[string][]string {
	// Secrets are shown as **** before and after: a checksum tells which have changed.
	values, secrets, names := map[string]string{}, was.Pager.Changed(now.Pager), map[string][]string{}
	for _, s := range was.Sources {
		values[s.Name] = s.Value
	}
	for _, s := range now.Sources {
		if values[s.Name] != s.Value || slices.Contains(secrets, s.Name) {
			names[useOf(s.Name)] = append(names[useOf(s.Name)], s.Name)
		}
	}
	return names
}
