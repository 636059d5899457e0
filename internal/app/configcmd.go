package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/internal/outfile"
	"github.com/farsight-console/farsight/ui/cli"
)

// configCommand makes `farsight config` with its commands init and schema.
func configCommand() commandDecl {
	return commandDecl{
		use: "config", group: groupSetup, short: "Show every setting with where it comes from",
		long: "Shows every setting with where it comes from. Where an engine works on the data directory,\n" +
			"these are the settings that it runs with; else those that one would be started with here.\n\n" +
			"A flag goes before the environment, that before config.toml in the data directory, and that\n" +
			"before config.toml in ~/.config/farsight (XDG_CONFIG_HOME). keys.toml and themes are looked\n" +
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
