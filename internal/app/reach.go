package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/alert"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/control"
	"github.com/farsight-console/farsight/engine/cron"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/internal/logbook"
	"github.com/farsight-console/farsight/storage"
)

// How a command reaches what it is about: the engine that holds the data directory, by its socket, or else the store.

// controlSocket is the owner's socket of a data directory.
func controlSocket(dir string) string { return filepath.Join(dir, api.SocketName) }

// dialEngine finds the engine that works on a data directory; nil when none answers.
// An error says why one that does is of no use to this process.
func dialEngine(ctx context.Context, cfg config.Config) (*api.Client, error) {
	path := controlSocket(cfg.DataDir)
	if _, err := os.Lstat(path); err != nil {
		return nil, nil
	}
	c := api.NewClient(path)
	h, err := c.Hello(ctx)
	// A member of another database may have its sockets in this directory: it would answer about
	// other accounts.
	if err == nil && cfg.Store != "" && h.Dir != storeName(cfg) {
		err = fmt.Errorf("the engine on data directory %s works on another store, %s: name another directory with --data-dir", cfg.DataDir, h.Dir)
	}
	if err == nil {
		return c, nil
	}
	c.Close()
	if errors.Is(err, engine.ErrGone) {
		return nil, nil
	}
	return nil, err
}

// neededEngine finds the engine that works on a data directory, for what only an engine can do. Where
// none answers the error says so, with need, which is what to do; or that the one there stands still.
// Close it.
func neededEngine(ctx context.Context, cfg config.Config, need string) (*api.Client, error) {
	c, err := dialEngine(ctx, cfg)
	if err != nil || c != nil {
		return c, err
	}
	if held := standsStill(cfg); held != nil {
		return nil, errors.New(held.Error()) // without its type: exit code 4 is for commands that want the directory itself
	}
	return nil, fmt.Errorf("no engine runs on %s: %s", cfg.DataDir, need)
}

// wakeIt says what to do about a process that has a data directory and does not answer on its socket;
// "" = there is none. Ask it only after nobody has answered: a process that stands still lets others
// connect.
func wakeIt(cfg config.Config, pid int) string {
	if !api.Listens(controlSocket(cfg.DataDir)) {
		return ""
	}
	return fmt.Sprintf("it does not answer; if it was stopped, `kill -CONT %d` lets it go on; else `kill -9 %d` ends it, and what is stored stays", pid, pid)
}

// standsStill is wakeIt as the error of a directory that is held; nil = nobody holds it and stands still.
func standsStill(cfg config.Config) *storage.ErrHeld {
	if wakeIt(cfg, 0) == "" {
		return nil
	}
	h, _, _ := storage.HolderOf(cfg.DataDir) // without it the advice names no process
	return &storage.ErrHeld{PID: h.PID, Host: h.Host, Since: h.Since, Store: "data directory " + cfg.DataDir, Do: wakeIt(cfg, h.PID)}
}

// toAttach adds to the error of a directory that an engine holds how to reach that
// one.
func toAttach(ctx context.Context, cfg config.Config, err error) error {
	if !isHeld(err) {
		return err
	}
	// Only where somebody answers: a process that is starting, or a backup, has no console.
	c, reachErr := dialEngine(ctx, cfg)
	if c == nil && reachErr == nil {
		return err
	}
	if c != nil {
		c.Close()
	}
	return fmt.Errorf("%w: `farsight attach` opens a console on it", err)
}

// An engine that is starting holds the directory a moment before its socket is
// there.
const (
	socketTries  = 5
	socketPause  = 100 * time.Millisecond
	justStarting = 2 * time.Second
)

// through lets a command work with the engine that holds the data directory, else
// with the directory itself. on must not have done anything when it says that the
// directory is held.
func through(ctx context.Context, cfg config.Config, engineDoes func(*api.Client) error, on func() error) error {
	c, err := dialEngine(ctx, cfg)
	if err != nil {
		return err
	}
	// Between the look at the socket and the opening an engine may have come, or gone.
	for range socketTries {
		if c != nil {
			defer c.Close()
			return engineDoes(c)
		}
		err = on()
		held, ok := errors.AsType[*storage.ErrHeld](err)
		if ok && held.Do == "" {
			held.Do = wakeIt(cfg, held.PID)
		}
		if !ok || time.Since(held.Since) > justStarting {
			return err
		}
		time.Sleep(socketPause)
		c, _ = dialEngine(ctx, cfg)
	}
	return err
}

// browse shows what a console can tell: of the running engine, else of the stored
// data.
func browse(ctx context.Context, cfg config.Config, show func(engine.Console) error) error {
	if on := typedIn(ctx); on != nil {
		return show(on)
	}
	return through(ctx, cfg,
		func(c *api.Client) error { return show(c) },
		func() error { return browseStored(ctx, cfg, show) })
}

// browseStored opens the store for reading and shows it.
func browseStored(ctx context.Context, cfg config.Config, show func(engine.Console) error) error {
	db, err := openStored(cfg)
	if err != nil {
		return err
	}
	return errors.Join(show(browser(ctx, db, cfg)), db.Close())
}

// browser is a console on a store that no engine works on.
// It answers every question and refuses every command with what to do instead.
func browser(ctx context.Context, db *store, cfg config.Config) engine.Console {
	s := control.Stored{
		Store: db, Policies: cfg.Policies, Do: "start farsight with a key",
		Lane: ingest.LaneOf.Name, Domain: ingest.Stored{Store: db, Zone: cfg.ReportTZ},
		Logs: logbook.StoredIn(cfg.DataDir), Members: membersOf(db, ""),
		Limits: func() (row engine.LimitsRow) {
			if l, err := traffic.Stored(ctx, db); l != nil && err == nil {
				row = l.Rows()
			}
			return row
		},
	}
	if held := standsStill(cfg); held != nil {
		s.Silent = held.Error()
	}
	// Schedules and alerts as the last engine left them.
	specs := ingest.New(ingest.Options{Store: db, Prune: pruner(db), Compact: compacter(db)}).Schedules(cfg.Schedules)
	if schedules, err := cron.New(cron.Options{Store: db, Specs: specs}); err == nil && schedules.Load(ctx) == nil {
		s.Schedules = schedules
	}
	alerts := alert.NewRunner(alert.RunnerOptions{Monitor: alert.New(alert.Options{Rules: cfg.Pager.Rules}), Store: db})
	alerts.Load(ctx)
	s.Alerts = alerts
	return control.NewBrowse(s)
}

// mustBeThere, of commanding, refuses a directory in which nothing is stored; mayBegin makes one of it.
const (
	mustBeThere = true
	mayBegin    = false
)

// commanding lets work ask the engine that holds the data directory, else the directory itself: own
// is that one's parts, nil while an engine runs.
func commanding(ctx context.Context, cfg config.Config, there bool, work func(ctx context.Context, c engine.Console, own *parts) error) error {
	if on := typedIn(ctx); on != nil {
		return work(ctx, on, nil)
	}
	return through(ctx, cfg,
		func(c *api.Client) error { return work(ctx, c, nil) },
		func() error {
			// Looked at before anything is opened, for opening would make the directory.
			if there && !hasStore(cfg) {
				return errNothingStored(cfg)
			}
			return onDirectory(ctx, cfg, func(ctx context.Context, p *parts) error { return work(ctx, p.control, p) })
		})
}

// onDirectory opens the data directory, which no engine may hold, lets do work on it,
// and closes it. The engine does not run; what the last one knew of the limits is known
// here.
func onDirectory(ctx context.Context, cfg config.Config, do func(context.Context, *parts) error) error {
	keys, err := keyring.Load(cfg.KeyPath())
	if err != nil {
		return err
	}
	// A whole engine is wired, so that a command is carried out by the same code as beside a running
	// one.
	process, err := wired(cfg, role{keys: keys, sole: true})
	if err != nil {
		return err
	}
	p := process.engine.Load()
	// The store and the limiter outlive ctx: what was done until an interruption is written.
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	served, limited := make(chan error, 1), make(chan error, 1)
	go func() { served <- p.store.Serve(serving) }()
	err = p.limits.Restore(ctx, p.boot.New, p.store.Live(ctx))
	limiting, halt := context.WithCancel(serving)
	go func() { limited <- p.limits.Run(limiting) }()
	if err == nil {
		err = do(ctx, p)
	}
	halt() // what was frozen or thawed is saved now
	err = errors.Join(err, <-limited)
	stop()
	return errors.Join(err, <-served, p.close())
}
