package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/ui"
)

// console is how the operator console is opened.
type console struct {
	readOnly bool
}

// runConsole opens the console: with an engine if there is a key, else on what is
// stored, else with the question what to do.
func runConsole(ctx context.Context, cfg Config, c console) error {
	if !isTerminal() {
		return usagef("the console needs a terminal: use `farsight sync 'Name#TAG'`, or `farsight status --json`")
	}
	opt := c.options(cfg)
	if err := opt.Validate(); err != nil {
		return usage(err)
	}
	keys, err := loadKey(cfg)
	if err != nil {
		return err
	}
	if !keys.Get().IsZero() {
		return consoleWithEngine(ctx, cfg, keys, opt)
	}
	if hasState(cfg.DataDir) {
		return consoleOnStored(ctx, cfg, opt)
	}
	return firstRun(ctx, cfg, keys, opt)
}

func (c console) options(cfg Config) ui.Options {
	_, ssh := os.LookupEnv("SSH_CONNECTION")
	return ui.Options{
		Theme: cfg.Theme, Glyphs: glyphs(cfg.Glyphs), ReadOnly: c.readOnly, SSH: ssh,
		Version: release, Actor: operator("console"),
	}
}

func glyphs(word string) string {
	if word == "auto" {
		return ""
	}
	return word
}

// firstRun asks what to do where there is neither a key nor anything stored.
func firstRun(ctx context.Context, cfg Config, keys *keyring, opt ui.Options) error {
	choice, key, err := ui.AskFirst(ctx, ui.FirstRun{
		DataDir: cfg.DataDir, KeyFrom: keyEnv + " and " + keys.path, KeyTo: "kept in " + keys.path + ", mode 0600",
		Try: func(ctx context.Context, key string) (string, error) { return tryKey(ctx, cfg, key) },
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
		return consoleWithEngine(ctx, cfg, keys, opt)
	case ui.ChooseDemo:
		return runDemo(ctx, cfg, demoOptions{seed: defaultSeed, speed: 1}, stdoutPlain())
	case ui.ChooseBrowse:
		return errNothingStored(cfg)
	}
	return nil
}

// tryKey makes one call with a key and says which limits it has.
func tryKey(ctx context.Context, cfg Config, text string) (learnt string, err error) {
	key, err := riot.ParseKey(text)
	if err != nil {
		return "", err
	}
	if err := key.CheckForm(); err != nil {
		return "", err
	}
	var limits string
	client, err := riot.New(riot.Options{
		Keys: riot.NewKeys(key), Limiter: limit.New(limit.Options{}), BaseURL: cfg.BaseURL, Timeout: cfg.Timeout,
		UserAgent: "farsight/" + version(), OnCall: func(c riot.Call) { limits = c.AppLimit },
	})
	if err != nil {
		return "", err
	}
	defer client.CloseIdle()
	if err := client.Probe(ctx, route.Europe, ""); err != nil {
		return "", err
	}
	if limits == "" {
		return "the key works", nil
	}
	return "the key works: " + limits + " calls:seconds", nil
}

// consoleWithEngine runs the engine as long as the console is open.
func consoleWithEngine(ctx context.Context, cfg Config, keys *keyring, opt ui.Options) error {
	p, err := assemble(cfg, assembly{keys: keys})
	if err != nil {
		return err
	}
	return p.console(ctx, opt, nil)
}

// consoleOnStored shows what is stored, without a key and without an engine.
func consoleOnStored(ctx context.Context, cfg Config, opt ui.Options) error {
	return browse(ctx, cfg, func(c engine.Console) error { return ui.Run(ctx, c, opt) })
}

// console runs engine and console together: when either ends, so does the other,
// and the engine always drains. begin is done once the engine runs; nil = nothing.
func (p *parts) console(ctx context.Context, opt ui.Options, begin func(context.Context) error) error {
	watching, done := context.WithCancel(ctx)
	defer done()
	t := p.start(ctx, done)
	if begin != nil {
		if err := begin(watching); err != nil {
			return errors.Join(err, t.stop())
		}
	}
	opt.Embedded = true
	opt.Stack = logStack(p.log)
	err := ui.Run(watching, p.control, opt)
	return errors.Join(err, t.stop())
}

// logStack keeps the stack of a console that fell, for the bug report.
func logStack(log zerolog.Logger) func(message, stack string) {
	return func(message, stack string) {
		log.Error().Str("stack", stack).Msg("the console fell: " + message)
	}
}

// console shows the demo.
func (d *demo) console(ctx context.Context, cfg Config, opt demoOptions) error {
	if !isTerminal() {
		return usagef("the demo needs a terminal: `farsight demo --headless` does without")
	}
	o := console{}.options(cfg)
	o.Demo = true
	return d.parts.console(ctx, o, d.trigger)
}
