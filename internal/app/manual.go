package app

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/farsight-console/farsight/internal/reference"
)

// exits are the exit codes and what scripts learn from them.
var exits = []reference.Exit{
	{Code: exitDone, Means: "done"},
	{Code: exitFailed, Means: "failed"},
	{Code: exitUsage, Means: "wrong usage, or wrong settings"},
	// One code for both: a script has to look at what is missing either way.
	{Code: exitIncomplete, Means: "ended, but some matches could not be had or some lines of a list were rejected, or the data directory is damaged or cannot be used"},
	{Code: exitHeld, Means: "the data directory is held by another process"},
	{Code: exitCancelled, Means: "the sync was cancelled by an operator"},
	{Code: exitInterrupted, Means: "interrupted, everything kept"},
}

// manual is what the pages of commands are made of.
func manual(root *cobra.Command) reference.Manual {
	return reference.Manual{Root: root, Value: valueName, Exits: exits, Files: []reference.Entry{
		// Where there is no XDG_CONFIG_HOME and no XDG_DATA_HOME, as for most users.
		{Name: "~/.config/farsight/", Is: "config.toml (`farsight config init` writes one), keys.toml and themes/"},
		{Name: "~/.local/share/farsight/", Is: "the data directory: what is stored, farsight.log, riot.key with the API key, and settings that go before the others"},
	}}
}

// manCommand prints farsight(1), for packages.
func manCommand(root *cobra.Command) commandDecl {
	return commandDecl{
		use: "man", hidden: true, short: "Print the manual page",
		bare: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), manual(root).Roff())
			return err
		},
	}
}
