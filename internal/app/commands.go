package app

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/internal/config"
)

// newRoot makes the command tree of the declarations.
// The steps at its end need the whole tree, and this order: shells and complete give completion, and
// indent sets the examples in, those of cobra's own commands too.
func newRoot() *cobra.Command {
	root := rootCommand().command()
	root.SetFlagErrorFunc(flagFault)
	// "Did you mean": two typing errors at most, or the guess is worse than none.
	root.SuggestionsMinimumDistance = 2
	config.AddFlags(root.PersistentFlags())
	hideRareFlags(root)
	addGroups(root)
	for _, d := range declared() {
		root.AddCommand(d.command())
	}
	root.AddCommand(manCommand(root).command())
	root.SetHelpCommand(helpCommand(root))
	root.InitDefaultHelpCmd()
	shells(root)
	complete(root)
	indent(root)
	return root
}

// declared are all commands below the root but for help, completion and the manual page, which are
// made of the tree itself.
func declared() []commandDecl {
	return slices.Concat(shownCommands(), operationCommands(), []commandDecl{
		demoCommand(), syncCommand(), collectCommand(), collectionsCommand(), serveCommand(), attachCommand(), simCommand(),
		trackCommand(), untrackCommand(), triggerCommand(), reresolveCommand(),
		logsCommand(), doctorCommand(), bundleCommand(), pagerCommand(), callCommand(),
		exportCommand(), checkCommand(), checkPagesCommand(), backupCommand(), restoreCommand(), compactCommand(),
		checkCopyCommand(), migrateCommand(), pruneCommand(), forgetCommand(), resetCommand(),
		configCommand(), keyCommand(), versionCommand(),
	})
}

// rootCommand is `farsight` alone, which opens the console.
func rootCommand() commandDecl {
	return commandDecl{
		use:   "farsight",
		short: "Keep League of Legends accounts in sync under Riot's rate limits, and see why",
		long: "Farsight ingests League of Legends data from Riot's API under Riot's rate limits\n" +
			"and shows in the terminal why everything is or is not moving.\n\n" +
			"Without a command it opens the console on the data directory.",
		example: "farsight\nfarsight --data-dir /var/lib/farsight --read-only",
		starts:  true, flags: addConsoleFlags,
		run: runConsole,
	}
}

// indent sets the examples of all commands in, as fang's help shows them.
func indent(c *cobra.Command) {
	c.Example = "  " + strings.ReplaceAll(c.Example, "\n", "\n  ")
	for _, sub := range c.Commands() {
		indent(sub)
	}
}

// commonFlags are the settings worth a line in every help text; `farsight
// config` lists all.
var commonFlags = map[string]bool{"data-dir": true, "store": true, "platform": true, "log-level": true}

// hideRareFlags keeps the settings, each of which is a flag, out of the help texts. They
// work all the same.
func hideRareFlags(root *cobra.Command) {
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) { f.Hidden = !commonFlags[f.Name] })
}
