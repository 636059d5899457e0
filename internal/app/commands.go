package app

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/cli"
	"github.com/farsight-console/farsight/ui/page"
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
	// Of a flag that the command lacks its zero value.
	g := given{cmd: cmd, cfg: cfg, args: args, out: stdout(cmd), dry: flagBool(cmd, "dry-run"), yes: flagBool(cmd, "yes")}
	if d.list == nil && cmd.Flags().Lookup("output") != nil {
		form, err := formed(cmd, forms[:2])
		if err != nil {
			return err
		}
		g.out.JSON = g.out.JSON || form == "json"
	}
	g.reason, _ = cmd.Flags().GetString("reason")
	if err := operation.CheckReason(g.reason); err != nil {
		return err
	}
	return d.run(cmd.Context(), g)
}

// by is a command to an engine as the operator of this process gives it.
func (g given) by(c engine.Command) engine.Command {
	c.By, c.DryRun, c.Reason = operator("cli"), g.dry, g.reason
	return c
}

// load reads the configuration again, from the same flags.
func (g given) load() (config.Config, error) { return configOf(g.cmd) }

// planned carries a command out in two steps: dry first, so that agree can show what would be done and
// refuse it; nil = nobody asks. With --dry-run the first step is all, and its receipt is for the caller to show.
func (g given) planned(ctx context.Context, on engine.Console, c engine.Command, agree func(engine.Receipt) error) (engine.Receipt, error) {
	c = g.by(c)
	c.DryRun = g.dry || agree != nil
	r, err := on.Do(ctx, c)
	if err != nil || g.dry || agree == nil {
		return r, err
	}
	if err := agree(r); err != nil {
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

// noArgs is for commands that take none.
func noArgs(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case !cmd.HasAvailableSubCommands():
		return usagef("`%s` takes no %q: see `%s --help`", cmd.CommandPath(), args[0], cmd.CommandPath())
	}
	// A word below a command that has commands of its own is a mistyped command, not an argument.
	where := fmt.Sprintf("see `%s --help`", cmd.CommandPath())
	if !cmd.HasParent() && typedIn(cmd.Context()) != nil {
		where = "help lists them"
	}
	// Of a word of two or three letters every other one is near: one letter may be wrong.
	cmd.SuggestionsMinimumDistance = min(cmd.Root().SuggestionsMinimumDistance, len(args[0])/2)
	names := cmd.SuggestionsFor(args[0])
	if len(names) == 0 && !cmd.HasParent() && filter.Distance(args[0], "help") <= cmd.SuggestionsMinimumDistance {
		names = []string{"help"} // which cobra never names
	}
	if len(names) > 0 {
		where = "did you mean " + strings.Join(names, " or ") + "? " + page.Capital(where)
	}
	return usagef("there is no command %q: %s", args[0], where)
}

// between refuses fewer or more arguments, in a sentence that has the command at its %s.
func between(least, most int, sentence string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if least <= len(args) && len(args) <= most {
			return nil
		}
		return usagef(sentence, cmd.CommandPath())
	}
}

var (
	// oneAccount is for commands about one account.
	oneAccount = between(1, 1, "name one account, in quotes: %s 'Name#TAG' --platform euw1")
	// oneFilter is for lists.
	oneFilter = between(0, 1, "give one filter at most, in quotes if it holds spaces: %s 'some text'")
)

// oneAtMost is for commands about one thing that has a usual choice; what names it in
// a sentence, such in an example.
func oneAtMost(what, such string) cobra.PositionalArgs {
	return between(0, 1, "name one "+what+" at most: %s "+such)
}

// configOf is the configuration that a command runs with.
func configOf(cmd *cobra.Command) (config.Config, error) {
	if ctx := cmd.Context(); typedIn(ctx) != nil {
		return ctx.Value(typedKey{}).(typedAt).config(cmd.Flags())
	}
	return config.Load(config.Inputs{Flags: cmd.Flags(), Getenv: os.LookupEnv})
}

// flagBool reads a flag that not every command has; false where there is none.
func flagBool(cmd *cobra.Command, name string) bool {
	v, err := cmd.Flags().GetBool(name)
	return err == nil && v
}

// forms of a list; the first is the usual one. What is no list has the first two.
var forms = []string{"table", "json", "csv"}

// formed is the form that -o asks for, beside --json.
func formed(cmd *cobra.Command, forms []string) (string, error) {
	form, _ := cmd.Flags().GetString("output")
	switch {
	case !slices.Contains(forms, form):
		return form, usagef("--output %q is unknown: use %s", form, wordList(forms, "or"))
	// --json -o csv
	case flagBool(cmd, "json") && cmd.Flags().Changed("output") && form != "json":
		return form, usagef("--json and -o %s ask for two forms: give one of them", form)
	}
	return form, nil
}

// stdout is where a command prints, and how.
func stdout(cmd *cobra.Command) cli.Out {
	spoken := typedIn(cmd.Context()) != nil
	o := cli.Out{W: cmd.OutOrStdout(), JSON: flagBool(cmd, "json"), ASCII: themes.DetectASCII(os.Getenv), Spoken: spoken}
	if f, ok := o.W.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		// Without a width lines are not cut; without a height nothing is drawn over.
		if w, h, err := term.GetSize(int(f.Fd())); err == nil {
			o.Width = w
			if os.Getenv("TERM") != "dumb" {
				o.Height = h
			}
		}
	}
	if !o.JSON && !spoken && term.IsTerminal(int(os.Stderr.Fd())) {
		o.Wait = func(text string) { _, _ = fmt.Fprint(os.Stderr, "\r\x1b[K", text) }
	}
	return o
}

// operator is who runs a command.
func operator(via string) engine.Actor {
	name := cmp.Or(os.Getenv("USER"), os.Getenv("USERNAME"))
	if name == "" { // a service has no USER
		if u, err := user.Current(); err == nil {
			name = u.Username
		}
	}
	// "192.0.2.7 51234 192.0.2.1 22": the first word is where somebody sits.
	session, _, _ := strings.Cut(os.Getenv("SSH_CONNECTION"), " ")
	return engine.Actor{User: cmp.Or(name, fmt.Sprintf("uid %d", os.Getuid())), Session: session, Via: via}
}

// defaultSeed is the demo's, unless told.
const defaultSeed = 7

// addSeed gives a command that has a simulator the flag of its world.
func addSeed(f *pflag.FlagSet, seed *uint64) {
	f.Uint64Var(seed, "seed", defaultSeed, "players, histories and faults follow from it")
}

// texts are names of a type of their own, such as platforms, as plain text.
func texts[T ~string](names []T) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = string(name)
	}
	return out
}

// wordList writes words as a sentence has them: a, b or c.
func wordList(words []string, and string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + and + " " + words[last]
}

// flagged is what a flag was given.
type flagged struct{ flag, value string }

// instant reads a flag for an instant or one for a time from now; exactly one of them.
func instant(at, in flagged, now time.Time) (time.Time, error) {
	switch {
	// both, or none
	case (at.value == "") == (in.value == ""):
		return time.Time{}, usagef("say when: --%[1]s 18:30, --%[1]s 2026-11-21T18:30:00Z or --%[2]s 10m", at.flag, in.flag)
	case in.value != "":
		d, err := time.ParseDuration(in.value)
		if err != nil || d < 0 {
			return time.Time{}, usagef("--%s %q is no time from now: use 90s, 10m or 2h", in.flag, in.value)
		}
		return now.Add(d), nil
	}
	return clock(at.value, now)
}

// ahead is an instant that is still to come.
// An instant that has passed would freeze nothing and look as if it had; [instant] takes one,
// because a job that is due in the past is merely due.
func ahead(at, in flagged, now time.Time) (time.Time, error) {
	t, err := instant(at, in, now)
	if err != nil || t.After(now) {
		return t, err
	}
	if at.value == "" {
		at = in
	}
	return t, usagef("--%s %q has passed: give an instant in the future", at.flag, at.value)
}

// clock reads an instant: RFC 3339, or a time of day, the next one to come.
func clock(s string, now time.Time) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	// 23:50 typed at 00:10 is tonight, 00:05 is tomorrow: nobody who plans ahead means a time that
	// has gone by. The date is put together from its fields, so that a change of the clocks between
	// now and then does not move the hour.
	for _, layout := range []string{"15:04", "15:04:05"} {
		d, err := time.ParseInLocation(layout, s, now.Location())
		if err != nil {
			continue
		}
		at := time.Date(now.Year(), now.Month(), now.Day(), d.Hour(), d.Minute(), d.Second(), 0, now.Location())
		if !at.After(now) {
			at = at.AddDate(0, 0, 1)
		}
		return at, nil
	}
	return time.Time{}, usagef("%q is no instant: use 18:30 or 2026-11-21T18:30:00Z", s)
}

// asks reports whether somebody can be asked. With --json nobody reads the question, even on a terminal.
func (g given) asks() bool {
	return (g.out.Spoken || term.IsTerminal(int(os.Stdin.Fd()))) && !g.out.JSON
}

// answer asks for a line. The end of the input is an empty one.
func (g given) answer(question string) string {
	_, _ = fmt.Fprint(g.out.W, question)
	line, _ := bufio.NewReader(g.cmd.InOrStdin()).ReadString('\n')
	return strings.TrimSpace(line)
}

// confirm asks before what cannot be undone, unless --yes was said: it shows what would be done and wants the word. does
// says it to those who cannot be asked; undone, to those who type something else, that nothing was.
func (g given) confirm(word, would, does, undone string) error {
	// What is typed is compared with what is shown: a name with signs that a terminal cannot show
	// could never be typed otherwise.
	shown := strings.TrimSpace(safe.Text(word))
	switch {
	case g.yes:
		return nil
	case !g.asks():
		return usagef("%s: say --yes, or see --dry-run", does)
	}
	if !strings.EqualFold(g.answer(fmt.Sprintf("%s\ntype %s to go on: ", safe.Text(would), shown)), shown) {
		return usagef("%s: %s was not typed", undone, shown)
	}
	return nil
}

// yesNo shows what would be done and wants the word yes, typed whole. Unlike [given.confirm] it
// takes any other answer for a change of mind, which is no wrong usage.
func (g given) yesNo(does, undone string, show func() error) error {
	switch {
	case g.yes:
		return nil
	case !g.asks():
		return usagef("%s: say --yes, or see --dry-run", does)
	}
	if err := show(); err != nil {
		return err
	}
	if g.answer("type yes to go on: ") != "yes" {
		return errors.New(undone)
	}
	return nil
}
