package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/storage"
)

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

// browse shows what a console can tell: of the running engine, else of the stored
// data.
func browse(ctx context.Context, cfg config.Config, show func(engine.Console) error) error {
	return through(ctx, cfg,
		func(c *api.Client) error { return show(c) },
		func() error { return browseStored(ctx, cfg, show) })
}

// neededEngine finds the engine that works on a data directory, for what only an engine can do. Where
// none answers the error says so, with need, which is what to do; or that the one there stands still.
// Close it.
func neededEngine(ctx context.Context, cfg config.Config, need string) (*api.Client, error) {
	c, err := dialEngine(ctx, cfg)
	if err != nil || c != nil {
		return c, err
	}
	if why := silent(cfg); why != "" {
		return nil, errors.New(why)
	}
	return nil, fmt.Errorf("no engine runs on %s: %s", cfg.DataDir, need)
}
