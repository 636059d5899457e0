package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/ui/cli"
)

// syncOptions are the flags of `farsight sync`.
type syncOptions struct {
	account   string
	count     int
	since     string
	timelines string
	force     bool
}

// ask checks the flags and makes the request of them.
func (o syncOptions) ask(cfg config.Config) (engine.SyncAsk, error) {
	if _, _, err := route.ParseRiotID(o.account); err != nil {
		return engine.SyncAsk{}, usage(err)
	}
	if cfg.Platform == "" {
		return engine.SyncAsk{}, usagef("say where %s plays: --platform euw1 (one of %s)", safe.Text(o.account), platforms())
	}
	p, err := route.ParsePlatform(cfg.Platform)
	if err != nil {
		return engine.SyncAsk{}, usage(err)
	}
	if o.count < 0 {
		return engine.SyncAsk{}, usagef("--count %d makes no sense: use 1 or more, or 0 for all", o.count)
	}
	ask := engine.SyncAsk{Platform: string(p), Mode: "full", Count: o.count, Timelines: o.timelines, Force: o.force}
	switch league.Timelines(o.timelines) {
	case "", league.TimelinesAll, league.TimelinesRanked, league.TimelinesNone:
	default:
		return ask, usagef("--timelines %q is unknown: use all, ranked or none", o.timelines)
	}
	if o.since == "" {
		return ask, nil
	}
	span, err := league.ParseSpan(o.since)
	if err != nil {
		return ask, usagef("--since: %v", err)
	}
	if !span.Off() {
		ask.Since = span.Before(time.Now())
	}
	return ask, nil
}

func platforms() string {
	var s string
	for i, p := range route.Platforms() {
		if i > 0 {
			s += ", "
		}
		s += string(p)
	}
	return s
}

// runSync syncs one account without a console.
func runSync(ctx context.Context, cfg config.Config, opt syncOptions, out cli.Out) error {
	ask, err := opt.ask(cfg)
	if err != nil {
		return err
	}
	keys, err := keyring.Load(cfg.KeyPath())
	if err != nil {
		return err
	}
	if keys.Get().IsZero() {
		return keys.None()
	}
	return syncWith(ctx, cfg, assembly{keys: keys, onlyOwn: true}, opt, ask, out)
}

// syncWith runs an engine until the sync has ended.
func syncWith(ctx context.Context, cfg config.Config, a assembly, opt syncOptions, ask engine.SyncAsk, out cli.Out) error {
	p, err := assemble(cfg, a)
	if err != nil {
		return askEngine(ctx, cfg, opt, err)
	}
	watching, done := context.WithCancel(ctx)
	defer done()
	t := p.start(ctx, done)
	sum, err := cli.Sync(watching, ownRun{p.control, p.backend}, cli.SyncOptions{Account: opt.account, Ask: ask, By: operator("cli"), KeyWorked: p.keyWorked(a.keys)}, out)
	stopErr := t.stop()
	if err != nil {
		return errors.Join(err, stopErr)
	}
	if stopErr != nil {
		return stopErr
	}
	return verdict(sum, opt.account, out)
}

// askEngine adds to the error of a directory that an engine holds how that engine is
// asked for the same.
func askEngine(ctx context.Context, cfg config.Config, opt syncOptions, err error) error {
	if !isHeld(err) {
		return err
	}
	c, _ := dialEngine(ctx, cfg)
	if c == nil {
		return err
	}
	defer c.Close()
	return fmt.Errorf("%w: `farsight trigger '%s' --platform %s` lets it sync the account, `farsight status` shows how far it is", err, opt.account, cfg.Platform)
}

// verdict turns how a sync ended into an exit code.
func verdict(s cli.Summary, account string, out cli.Out) error {
	switch s.Result {
	case cli.ResultCompleted:
		return nil
	case cli.ResultIncomplete:
		return &coded{code: exitIncomplete, quiet: true, err: errors.New("some matches could not be had")}
	case cli.ResultCancelled:
		return &coded{code: exitCancelled, quiet: true, err: errors.New("the sync was cancelled")}
	case cli.ResultInterrupted:
		if !out.JSON {
			_, _ = fmt.Fprintf(out.W, "interrupted: everything is kept; the same command goes on where it stopped\n")
		}
		return &coded{code: exitInterrupted, quiet: true, err: errors.New("interrupted")}
	}
	reason := s.Error
	if reason == "" {
		reason = "the sync ended as " + s.Result
	}
	return fmt.Errorf("%s: %s", account, reason)
}

func printConfig(cfg config.Config, out cli.Out) error {
	keys, err := keyring.Load(cfg.KeyPath())
	return cli.Config(out, installation{cfg: cfg, keys: keys, keyless: err}.settings())
}

// isTerminal reports whether both ends are a terminal that can show a console.
func isTerminal() bool {
	return term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("TERM") != "dumb"
}

// probeKey makes the one call that every working key may make.
func (p *parts) probeKey(ctx context.Context) error {
	return p.client.Probe(riot.WithJob(ctx, "key source", limit.Interactive), route.Europe, "")
}

// keyWorked reports whether a sync has reason to wait while its key is refused: it
// has worked, or another source has a key that nobody has tried.
func (p *parts) keyWorked(keys *keyring.Ring) func() bool {
	return func() bool {
		return p.limits.Proven() || keys.Untried()
	}
}
