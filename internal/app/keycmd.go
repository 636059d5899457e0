package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/ui/cli"
)

// keyCommand makes `farsight key` with its commands set and test.
func keyCommand() commandDecl {
	return commandDecl{
		use: "key", group: groupSetup, short: "Show, replace and test the API key",
		long: "Shows the last four characters of the API key, where it comes from and since when. Where an\n" +
			"engine runs on the data directory it is the engine's key.",
		example: "farsight key\nfarsight key show --json", json: "as JSON", run: showKey,
		below: []commandDecl{
			{use: "show", short: "Show the API key, as farsight key does", example: "farsight key show", json: "as JSON", run: showKey},
			keySetCommand(), keyTestCommand(),
		},
	}
}

// shownKey is what is told of a key.
type shownKey struct {
	Key    string    `json:"key"` // its last four characters: "…7f3a"
	Source string    `json:"source"`
	Since  time.Time `json:"since,omitzero"`    // when the engine first used it, or the key file was written
	Engine bool      `json:"engine"`            // it is that of the engine that runs
	Wrong  string    `json:"refused,omitempty"` // why the engine cannot work with it
}

// showKey tells which key is in use. It asks nobody but the engine.
func showKey(ctx context.Context, g given) error {
	keys, keyless := keyring.Load(g.cfg.KeyPath())
	var k shownKey
	switch e, _ := engineSays(ctx, g.cfg); {
	case e != nil && e.Err != nil:
		return e.Err
	case e != nil:
		k = shownKey{Key: e.Row.Key, Source: e.From, Since: e.Row.KeySince, Engine: true}
		if e.Row.State == engine.EngineNoKey {
			k.Wrong = e.Row.Why
		}
	case keyless != nil:
		return keyless
	default:
		k = shownKey{Key: keys.Shown(), Source: keys.From()}
		if info, err := os.Stat(keys.Path()); err == nil && keys.From() == keys.Path() {
			k.Since = info.ModTime().UTC()
		}
	}
	if k.Key == "" {
		return fmt.Errorf("there is no API key: `farsight key set` takes one, from https://developer.riotgames.com")
	}
	return cli.Report(g.out, k, printKey)
}

// printKey is one line: "…7f3a from RIOT_API_KEY, since 2026-11-20T12:00:00Z; the engine that runs uses it".
func printKey(k shownKey, out cli.Out) error {
	text := k.Key + " from " + k.Source
	if !k.Since.IsZero() {
		text += ", since " + k.Since.UTC().Format(time.RFC3339)
	}
	if k.Engine {
		text += "; the engine that runs uses it"
	}
	if k.Wrong != "" {
		text += ": " + k.Wrong
	}
	_, err := fmt.Fprintln(out.W, safe.Text(text))
	return err
}

// keySetCommand makes `farsight key set`. The key is no argument: the list of processes would show it.
func keySetCommand() commandDecl {
	var untested bool
	return commandDecl{
		use: "set", short: "Replace the API key by the one that is typed, unless Riot refuses it",
		long: "Reads a key from its input, where a terminal does not show it, and asks Riot about it. One that\n" +
			"is let in is kept in the key file of the data directory; an engine that runs works with it at\n" +
			"once. One that Riot refuses changes nothing, and neither does one that Riot could not be asked\n" +
			"about, unless --untested takes it.",
		example: "farsight key set --dry-run\nfarsight key set", reason: keptWhy,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&untested, "untested", false, "take it also where Riot cannot be asked")
		},
		run: func(ctx context.Context, g given) error {
			text, err := g.readKey(ctx)
			if err != nil {
				return err
			}
			if _, err := riot.ParseIssued(text); err != nil {
				return usage(err)
			}
			return g.setKey(ctx, text, untested)
		},
	}.acting()
}

// readKey reads a key from a prompt that does not show it, or from whatever is put in.
func (g given) readKey(ctx context.Context) (string, error) {
	fd := int(os.Stdin.Fd())
	shown, err := term.GetState(fd)
	if err != nil { // no terminal
		raw, err := io.ReadAll(io.LimitReader(g.cmd.InOrStdin(), 4096))
		return strings.TrimSpace(string(raw)), err
	}
	_, _ = fmt.Fprint(g.cmd.ErrOrStderr(), "new API key, which is not shown: ")
	defer func() { _, _ = fmt.Fprintln(g.cmd.ErrOrStderr()) }()
	type typed struct {
		raw []byte
		err error
	}
	done := make(chan typed, 1)
	go func() {
		raw, err := term.ReadPassword(fd)
		done <- typed{raw, err}
	}()
	select {
	case t := <-done:
		return strings.TrimSpace(string(t.raw)), t.err
	case <-ctx.Done(): // the reader stays: nothing ends it but a line
		return "", errors.Join(context.Cause(ctx), term.Restore(fd, shown))
	}
}

// setKey gives a key to the engine that runs, else to the data directory.
func (g given) setKey(ctx context.Context, key string, untested bool) error {
	set := engine.Command{Op: engine.OpKey, Key: key}
	return commanding(ctx, g.cfg, mayBegin, func(ctx context.Context, c engine.Console, own *parts) error {
		source := ""
		if own != nil {
			source = own.keys.From()
		} else if e, _ := engineSays(ctx, g.cfg); e != nil {
			source = e.From
		}
		tried := func(plan engine.Receipt) error {
			if len(plan.Skipped) == 0 {
				return nil
			}
			return fmt.Errorf("%s: nothing was changed, --untested takes it all the same", plan.Text)
		}
		if untested {
			tried = nil
		}
		r, err := g.planned(ctx, c, set, tried)
		if err != nil {
			return err
		}
		later := ""
		if source == keyring.Env {
			later = keyring.Env + " is set, too, and goes first at the next start: unset it"
		}
		return cli.Acted(g.out, r, g.dry, later)
	})
}

// keyTestCommand makes `farsight key test`.
func keyTestCommand() commandDecl {
	return commandDecl{
		use: "test", short: "Ask Riot whether it lets the API key in: exit 1 if not, or if nobody could ask",
		long:    "Asks Riot by one call whether it lets the API key in. An engine that runs asks about its own.",
		example: "farsight key test", json: asReceipt,
		run: func(ctx context.Context, g given) error {
			c, err := dialEngine(ctx, g.cfg)
			if err != nil {
				return err
			}
			var r engine.Receipt
			if c == nil {
				r, err = testKey(ctx, g.cfg)
			} else {
				defer c.Close()
				r, err = c.Do(ctx, engine.Command{Op: engine.OpKey, DryRun: true, By: operator("cli")})
			}
			switch {
			case err != nil:
				return err
			case len(r.Skipped) > 0:
				return errors.New(r.Text)
			}
			return cli.Acted(g.out, r, true, "")
		},
	}
}

// testKey asks about the key that an engine would be started with here.
func testKey(ctx context.Context, cfg config.Config) (r engine.Receipt, err error) {
	if held := standsStill(cfg); held != nil {
		return r, errors.New(held.Error())
	}
	keys, err := keyring.Load(cfg.KeyPath())
	if err != nil {
		return r, err
	}
	err = askRiot(ctx, keys.Get(), func(ctx context.Context) error {
		_, err := tryKey(ctx, cfg, keys.Get())
		return err
	})
	if err != nil && !errors.Is(err, engine.ErrRefused) {
		err = fmt.Errorf("not tried: %w", err)
	}
	return engine.Receipt{Matched: 1, Text: "the API key in use is " + keys.Shown() + ": Riot lets it in"}, err
}
