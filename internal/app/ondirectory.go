package app

import (
	"context"
	"errors"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/keyring"
)

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
	p, err := assemble(cfg, assembly{keys: keys})
	if err != nil {
		return err
	}
	return p.unheld(ctx, func(ctx context.Context) error { return do(ctx, p) })
}

// mustBeThere, of commanding, refuses a directory in which nothing is stored; mayBegin makes one of it.
const (
	mustBeThere = true
	mayBegin    = false
)

// commanding lets work ask the engine that holds the data directory, else the directory itself: own
// is that one's parts, nil while an engine runs.
func commanding(ctx context.Context, cfg config.Config, there bool, work func(ctx context.Context, c engine.Console, own *parts) error) error {
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

// unheld lets do work on the store with the limits as they were left, without an
// engine.
func (p *parts) unheld(ctx context.Context, do func(context.Context) error) error {
	// The store and the limiter outlive ctx: what was done until an interruption is written.
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	served, limited := make(chan error, 1), make(chan error, 1)
	go func() { served <- p.db.Serve(serving) }()
	err := p.limits.Restore(ctx, p.boot.New, p.db.Live(ctx))
	limiting, halt := context.WithCancel(serving)
	go func() { limited <- p.limits.Run(limiting) }()
	if err == nil {
		err = do(ctx)
	}
	halt() // what was frozen or thawed is saved now
	err = errors.Join(err, <-limited)
	stop()
	return errors.Join(err, <-served, p.close())
}
