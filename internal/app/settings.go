package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/internal/outfile"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/ui/cli"
)

// configCommand makes `farsight config` with its commands init and schema.
func configCommand() commandDecl {
	return commandDecl{
		use: "config", group: groupSetup, short: "Show every setting with where it comes from",
		long: "Shows every setting with where it comes from. Where an engine works on the data directory,\n" +
			"these are the settings that it runs with; else those that one would be started with here.\n\n" +
			"A flag wins over the environment, that over config.toml in the data directory, and that\n" +
			"over config.toml in ~/.config/farsight (XDG_CONFIG_HOME). keys.toml and themes are looked\n" +
			"for in both, too.",
		example: "farsight config --json", json: "as JSON",
		run:   showConfig,
		below: []commandDecl{configInitCommand(), configSchemaCommand()},
	}
}

// configInitCommand makes `farsight config init`. It works whatever is wrong with the settings that
// there are: the sample may be what shows somebody how to write them.
func configInitCommand() commandDecl {
	var out string
	return commandDecl{
		use: "init", short: "Write a config.toml that has every setting as a comment, to begin with", example: "farsight config init",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&out, "out", "", "file to write, which must not exist (default config.toml in ~/.config/farsight)")
		},
		bare: func(cmd *cobra.Command, _ []string) error {
			if out == "" {
				cfg, _ := configOf(cmd) // with faults, too, it has the folder
				if cfg.ConfigDir == "" {
					return usagef("there is no home directory to keep settings in: name a file by --out")
				}
				out = filepath.Join(cfg.ConfigDir, config.FileName)
				// Only the usual folder is made; one that --out names has to be there.
				if err := os.MkdirAll(cfg.ConfigDir, 0o700); err != nil {
					return fmt.Errorf("make the folder of settings: %w", err)
				}
			}
			// It appears whole, and replaces no file: somebody's settings are in it.
			f, err := outfile.Open(out, false, false)
			if err != nil {
				return err
			}
			_, err = io.WriteString(f, config.Sample())
			if err := f.Finish(err); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s has every setting with its default, as a comment: take away the # of those that you change\n", safe.Text(out))
			return err
		},
	}
}

// configSchemaCommand makes `farsight config schema`. An editor names the schema by its published
// address; this is for those who have no network, or another version.
func configSchemaCommand() commandDecl {
	return commandDecl{
		use: "schema", short: "Print the JSON Schema of config.toml, for editors", example: "farsight config schema",
		bare: func(cmd *cobra.Command, _ []string) error {
			text, err := config.Schema()
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(text)
			return err
		},
	}
}

// showConfig shows what the engine on the directory runs with; where there is none, what
// one would be started with from here.
func showConfig(ctx context.Context, g given) error {
	c, err := dialEngine(ctx, g.cfg)
	// No engine, or one of no use to this process, which is said beside the settings. A key that cannot be read is shown
	// as such: what else is set may be why.
	if err != nil || c == nil {
		keys, keyless := keyring.Load(g.cfg.KeyPath())
		return errors.Join(err, cli.Config(g.out, installation{cfg: g.cfg, keys: keys, keyless: keyless}.settings()))
	}
	defer c.Close()
	// Secrets are cut by the engine, before they leave it.
	told, err := c.Settings(ctx)
	if err != nil {
		return err
	}
	if err := cli.Config(g.out, told); err != nil || g.out.JSON {
		return err
	}
	_, err = fmt.Fprintf(g.out.W, "\nthe engine on %s runs with these\n", safe.Text(g.cfg.DataDir))
	return err
}

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
