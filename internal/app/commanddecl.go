package app

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/ui/cli"
)

// commandDecl declares a command: all that its help, its completion, docs/commands.md and
// farsight(1) say of it, and what carries it out. [commandDecl.command] makes a command of the tree
// of it. Its flags are the ones that several commands have, each by a field, and those of flags.
type commandDecl struct {
	// use is its name with its arguments, such as "sync 'Name#TAG'".
	use string
	// group is the title in [groups] below which `farsight --help` lists it; "" = it is hidden, or
	// stands below another command.
	group   string
	hidden  bool
	short   string // one line, in lists of commands
	long    string // "" = short is all there is to say; its lines are filled anew by the help
	example string // command lines, one a line: the tests carry them out
	// args refuses arguments that make no sense; nil = it takes none.
	args cobra.PositionalArgs
	// complete offers words for the argument that is typed; nil = nothing is offered, and no files.
	complete cobra.CompletionFunc
	below    []commandDecl // commands of their own, such as `export jobs`

	json   string // what --json gives; "" = there is no such flag
	dryRun string // what --dry-run says; "" = there is no such flag
	reason string // what --reason is kept in; "" = there is no such flag
	yes    bool   // --yes keeps it from asking
	starts bool   // an engine: it says what is configured that an engine does not need
	flags  func(*pflag.FlagSet)
	before func(*pflag.FlagSet) error // is done before the configuration is read; nil = nothing is

	// One of these carries it out: tell and list show what a console tells (see shown.go), run has the
	// configuration, and bare is for what works without one, or with one that is wrong.
	tell func(args []string) (cli.List, error)
	list func(cmd *cobra.Command, args []string) (cli.List, error)
	run  func(ctx context.Context, g given) error
	bare func(cmd *cobra.Command, args []string) error
	// instead of its list, is carried out where the flags ask for it; nil = they ask for the list.
	instead func() (func(ctx context.Context, g given) error, error)
}

// given is what a command was given.
type given struct {
	cmd    *cobra.Command
	cfg    config.Config
	args   []string
	out    cli.Out
	dry    bool   // --dry-run
	yes    bool   // --yes
	reason string // --reason; "" = none
}

// What the flags that many commands have say of themselves.
const (
	asReceipt = "the receipt as JSON"
	doNothing = "say what would be done, and do nothing"
	keptWhy   = "why; kept in the audit"
)

// acting is a declaration with the flags of all commands that ask an engine to do something, but
// for the ones that it has words of its own for.
func (d commandDecl) acting() commandDecl {
	d.json, d.dryRun = cmp.Or(d.json, asReceipt), cmp.Or(d.dryRun, doNothing)
	return d
}

// command makes the command and all below it.
func (d commandDecl) command() *cobra.Command {
	c := &cobra.Command{
		Use: d.use, GroupID: d.group, Hidden: d.hidden, Short: d.short, Long: d.long, Example: d.example,
		Args: d.args, ValidArgsFunction: d.complete, RunE: d.bare,
	}
	if d.args == nil {
		c.Args = noArgs
	}
	f := c.Flags()
	if d.flags != nil {
		d.flags(f)
	}
	if d.json != "" {
		f.Bool("json", false, d.json)
	}
	if d.dryRun != "" {
		f.Bool("dry-run", false, d.dryRun)
	}
	if d.reason != "" {
		f.String("reason", "", d.reason)
	}
	if d.yes {
		f.Bool("yes", false, "do not ask")
	}
	switch {
	case d.tell != nil:
		d.run = told(d.tell)
		c.RunE = d.configured
	case d.list != nil:
		c.RunE = d.orInstead(lister(c, d.list))
	case d.run != nil:
		c.RunE = d.configured
	}
	for _, sub := range d.below {
		c.AddCommand(sub.command())
	}
	return c
}

// configured reads the configuration, and carries the command out.
func (d commandDecl) configured(cmd *cobra.Command, args []string) error {
	if d.before != nil {
		if err := d.before(cmd.Flags()); err != nil {
			return err
		}
	}
	cfg, err := configOf(cmd)
	if d.starts {
		for _, sentence := range cfg.Unneeded {
			_, _ = fmt.Fprintln(cmd.ErrOrStderr(), "farsight: "+sentence)
		}
	}
	if err != nil {
		return err
	}
	g := givenTo(cmd, cfg, args)
	if err := operation.CheckReason(g.reason); err != nil {
		return err
	}
	return d.run(cmd.Context(), g)
}

// orInstead shows a list, unless the flags ask for something else.
func (d commandDecl) orInstead(show func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	if d.instead == nil {
		return show
	}
	return func(cmd *cobra.Command, args []string) (err error) {
		switch d.run, err = d.instead(); {
		case err != nil:
			return err
		case d.run != nil:
			return d.configured(cmd, args)
		}
		return show(cmd, args)
	}
}

// givenTo is what stands in the flags that many commands have; of one that lacks a flag its zero value.
func givenTo(cmd *cobra.Command, cfg config.Config, args []string) given {
	reason, _ := cmd.Flags().GetString("reason") // an error: there is no such flag
	return given{
		cmd: cmd, cfg: cfg, args: args, out: stdout(cmd),
		dry: flagBool(cmd, "dry-run"), yes: flagBool(cmd, "yes"), reason: reason,
	}
}

// by is a command to an engine as the operator of this process gives it.
func (g given) by(c engine.Command) engine.Command {
	c.By, c.DryRun, c.Reason = operator("cli"), g.dry, g.reason
	return c
}

// load reads the configuration again, from the same flags.
func (g given) load() (config.Config, error) { return configOf(g.cmd) }

// planned carries a command out in two steps: dry first, so that agree can show what would be done and
// refuse it. With --dry-run the first step is all, and its receipt is for the caller to show.
func (g given) planned(ctx context.Context, on engine.Console, c engine.Command, agree func(engine.Receipt) error) (engine.Receipt, error) {
	c = g.by(c)
	c.DryRun = true
	r, err := on.Do(ctx, c)
	if err == nil && !g.dry {
		err = agree(r)
	}
	if err != nil || g.dry {
		return r, err
	}
	c.DryRun = false
	return on.Do(ctx, c)
}

// The groups of `farsight --help`: what somebody looks for together. Within one, the commands
// stand in the order of their names.
const (
	groupStart    = "Start"
	groupAccounts = "Accounts"
	groupSee      = "See"
	groupWhy      = "Find out why"
	groupAct      = "Act"
	groupData     = "Data"
	groupSetup    = "Setup"
)

// groups are the titles in the order of `farsight --help`.
var groups = []string{groupStart, groupAccounts, groupSee, groupWhy, groupAct, groupData, groupSetup}

// addGroups gives the root its groups. Completion and help, which cobra makes by itself when the tree
// is carried out, belong to setup.
func addGroups(root *cobra.Command) {
	for _, title := range groups {
		root.AddGroup(&cobra.Group{ID: title, Title: title})
	}
	root.SetCompletionCommandGroupID(groupSetup)
	root.SetHelpCommandGroupID(groupSetup)
}
