package app

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/reference"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/ui"
)

// plainWidth is how wide help is that goes into a pipe or a file, and mostWidth how wide
// on any terminal: fang's ceiling.
const (
	plainWidth = 80
	mostWidth  = 120
)

// helped lets every command show its help readably, the root by way of `help`: fang takes
// over the root's own. It gives the arguments to run with.
func helped(root *cobra.Command, args []string) []string {
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			sub.SetHelpFunc(func(c *cobra.Command, _ []string) { showHelp(root, c) })
			visit(sub)
		}
	}
	visit(root)
	// `farsight --help` is `farsight help`: of the root alone fang shows the help itself.
	asked := slices.ContainsFunc(args, func(a string) bool { return a == "-h" || a == "--help" })
	if cmd, _, err := root.Find(args); err == nil && cmd == root && asked {
		return []string{"help"}
	}
	return args
}

// common are the commands that the program's own help shows; the others are a line away.
var common = []string{"demo", "sync", "collect", "serve", "attach", "track", "status", "accounts", "jobs", "limits", "export", "doctor"}

// showMain prints the program's own help: what a newcomer needs, or with all every command.
func showMain(root *cobra.Command, all bool) {
	more := ""
	if !all {
		for _, c := range root.Commands() {
			c.Hidden = c.Hidden || !slices.Contains(common, c.Name())
		}
		more = "All commands: `farsight help --all`. One in full: `farsight help COMMAND`.\n\n"
	}
	showHelp(root, root)
	text := reference.Reflow(more+ui.Notice, plainWidth-2)
	tidy(root.OutOrStdout(), "  "+strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  "))
}

// showHelp prints the help of a command. What does not go to a terminal is wrapped, and
// has no spaces at the ends of its lines.
func showHelp(root, c *cobra.Command) {
	width := plainWidth
	// A terminal is as wide as it is; a pipe has 80 columns, as the manual page.
	out := c.OutOrStdout()
	f, ok := out.(*os.File)
	screen := ok && term.IsTerminal(int(f.Fd()))
	if screen {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil {
			width = w
		}
	}
	if os.Getenv("TERM") != "dumb" && typedIn(root.Context()) == nil { // where cobra's own help does all that
		describe(c, width)
	}
	if screen {
		// Fang asks a terminal for its background, and waits four seconds for one that does not answer.
		// Of two ends of which one is no terminal it asks nothing.
		in := os.Stdin
		os.Stdin = nil
		defer func() { os.Stdin = in }()
		root.HelpFunc()(c, nil)
		return
	}
	// Fang pads each line to the width with spaces, and cuts none.
	var b bytes.Buffer
	c.SetOut(&b)
	root.HelpFunc()(c, nil)
	c.SetOut(out)
	tidy(out, b.String())
}

// tidy prints lines of help that end where their text does, in plainWidth columns.
func tidy(w io.Writer, text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		// What is wrapped stays under what it belongs to.
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		for _, part := range strings.Split(reference.Wrap(strings.TrimLeft(line, " "), plainWidth-len(indent)), "\n") {
			_, _ = fmt.Fprintln(w, strings.TrimRight(indent+part, " "))
		}
	}
}

// Margins of fang's tables of flags and commands.
const (
	tableMargin = 4
	tableGap    = 2
)

// describe prepares a command for fang, which shows flags by their name alone and wraps
// no description.
func describe(c *cobra.Command, width int) {
	// Texts have their lines as in the source; here they are filled for the width at hand.
	c.Long = reference.Reflow(cmp.Or(c.Long, c.Short+"."), min(width, mostWidth)-tableMargin)
	c.InitDefaultHelpFlag()
	inherited := c.InheritedFlags() // takes them over
	longest := 10                   // fang's least
	flags, copies := []*pflag.Flag{}, pflag.NewFlagSet("", pflag.ContinueOnError)
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		// Fang prints the flag's name alone, so what it takes is put into the name: of one of a command
		// above into that of a copy, since cobra adds it again when it finds none of its name.
		word := valueName(c, f)
		if word != "" && inherited.Lookup(f.Name) != nil {
			f.Hidden = true
			f = new(*f)
			f.Hidden, f.Name = false, f.Name+" "+word
			copies.AddFlag(f)
		} else {
			f.Name = strings.TrimSpace(f.Name + " " + word)
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + " " + name
		}
		longest = max(longest, len(name)+tableGap)
		flags = append(flags, f)
	})
	c.Flags().AddFlagSet(copies)
	for _, sub := range c.Commands() {
		use := sub.Use + " [--flags]"
		if sub.HasAvailableSubCommands() {
			use += " [command]"
		}
		if !sub.Hidden {
			longest = max(longest, utf8.RuneCountInString(use)+tableGap)
		}
	}
	// On the narrowest terminal descriptions still have a column to stand in.
	room := max(width-tableMargin-longest, 20)
	for _, f := range flags {
		said := ""
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "[]" {
			said = " (" + f.DefValue + ")" // fang adds it
		}
		f.Usage = strings.TrimRight(strings.TrimSuffix(reference.Wrap(f.Usage+said, room), strings.TrimSpace(said)), " ")
	}
	for _, sub := range c.Commands() {
		sub.Short = reference.Wrap(sub.Short, room)
	}
}

// valueNames say what flags take, by their names; one of "command flag" is of that command
// alone.
var valueNames = map[string]string{
	"account": "NAME#TAG", "cancel": "NAME", "ca-file": "FILE", "token-file": "FILE", "after": "CURSOR", "at": "TIME", "cap": "PERCENT", "class": "CLASS", "collections forget": "NAME", "collections pause": "NAME", "collections resume": "NAME", "collect from": "NAME#TAG", "collection": "NAME", "columns": "A,B,…", "completed": "AGE", "failed": "AGE", "fault": "FAULT",
	"prune class": "CLASS=AGE", "confirm": "WORD", "count": "N", "cron": "PLAN", "data-dir": "DIR", "days": "N", "edit": "SCHEDULE", "epoch": "TIME",
	"file": "FILE", "fixtures": "DIR", "for": "SPAN", "format": "FORM", "from": "DIR", "http": "ADDR", "in": "SPAN", "job": "ID",
	"keep": "N", "key": "KEY", "kind": "KIND", "last": "N", "latency": "TIME,SWING", "level": "LEVEL", "limit": "N", "limits": "LIMITS", "listen": "ADDR",
	"every": "SPAN", "matches": "N", "name": "NAME", "players": "FILE", "priority": "N", "retry": "NAME",
	"ladder": "LADDER", "language": "LANGUAGE", "log-level": "LEVEL", "mode": "MODE", "month": "MONTH", "op": "COMMAND", "out": "FILE", "output": "FORM", "patch": "PATCH", "pause": "SCHEDULE", "plain-every": "SPAN",
	"platform": "PLATFORM", "player": "PLAYER", "policy": "POLICY", "queue": "QUEUE", "reason": "TEXT", "resume": "SCHEDULE", "retention": "ON|OFF",
	"run": "SCHEDULE", "say": "TEXT", "seed": "N", "since": "SPAN", "spread": "N", "sort": "COLUMN", "speed": "FACTOR", "state": "STATE,…", "store": "URL", "tag": "TAG", "text": "TEXT", "timelines": "WHICH",
	"to": "DIR", "migrate to": "URL|DIR", "until": "TIME", "wait": "SPAN", "window": "SPAN", "sim window": "KIND", "workers": "N", "zone": "ZONE",
}

// valueName is what a flag takes; "" = nothing.
func valueName(c *cobra.Command, f *pflag.Flag) string {
	if f.Value.Type() == "bool" {
		return ""
	}
	return cmp.Or(valueNames[c.Name()+" "+f.Name], valueNames[f.Name], strings.ToUpper(f.Value.Type()))
}

// manual is what the pages of commands are made of.
func manual(root *cobra.Command) reference.Manual {
	return reference.Manual{Root: root, Value: valueName, Exits: []reference.Exit{
		{Code: exitDone, Means: "done"},
		{Code: exitFailed, Means: "failed"},
		{Code: exitUsage, Means: "wrong usage, or wrong settings"},
		// One code for both: a script has to look at what is missing either way.
		{Code: exitIncomplete, Means: "ended, but some matches could not be had or some lines of a list were rejected, or the data directory is damaged or cannot be used"},
		{Code: exitHeld, Means: "the data directory is held by another process"},
		{Code: exitCancelled, Means: "the sync was cancelled by an operator"},
		{Code: exitInterrupted, Means: "interrupted, everything kept"},
	}, Files: []reference.Entry{
		// Where there is no XDG_CONFIG_HOME and no XDG_DATA_HOME, as for most users.
		{Name: "~/.config/farsight/", Is: "config.toml (`farsight config init` writes one), keys.toml and themes/"},
		{Name: "~/.local/share/farsight/", Is: "the data directory: what is stored, farsight.log, riot.key with the API key, and settings that go before the others"},
	}}
}

// fieldsHead stands before the names of a filter's fields in a list's help.
const fieldsHead = "\n\nFields:"

// flagFault says what is wrong with a flag in words of ours: pflag's own would
// show how Go reads a number.
func flagFault(cmd *cobra.Command, err error) error {
	// `farsight log --limit 3`: its flags are those of a command that is not there.
	if words := cmd.Flags().Args(); len(words) > 0 && cmd.HasAvailableSubCommands() {
		return noArgs(cmd, words)
	}
	help := cmd.CommandPath() + " --help"
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		// pflag says: invalid argument "x" for "--count" flag: strconv.ParseInt: parsing "x": invalid
		// syntax.
		f, value := bad.GetFlag(), safe.Cut(bad.GetValue(), 60)
		if _, err := strconv.ParseInt(bad.GetValue(), 0, 64); errors.Is(err, strconv.ErrRange) {
			return usagef("--%s %s is too large a number: see `%s`", f.Name, value, help)
		}
		return usagef("--%s %q is no %s: see `%s`", f.Name, value, cmp.Or(valueWords[f.Value.Type()], f.Value.Type()), help)
	}
	if bare, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return usagef("--%s needs a value: see `%s`", bare.GetFlag().Name, help)
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := unknown.GetSpecifiedName()
		if short := unknown.GetSpecifiedShortnames(); short != "" {
			// `farsight undo -1` is no flag: -1 would be the flag 1.
			if _, err := strconv.ParseUint(name, 10, 64); err == nil {
				return usagef("%q is no flag: numbers are written without a dash: see `%s`", "-"+short, help)
			}
			return usagef("there is no flag -%s: see `%s`", name, help)
		}
		if _, fields, _ := strings.Cut(cmd.Long, fieldsHead); slices.Contains(strings.Fields(fields), name) {
			return usagef("there is no flag --%s: the filter tells it, as '%s:…'. See `%s`", name, name, help)
		}
		// Cobra measures how far words are apart, for commands alone, and gives them by name: the nearest come first.
		flags := &cobra.Command{}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				flags.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
			}
		})
		near := ""
		for flags.SuggestionsMinimumDistance < cmd.Root().SuggestionsMinimumDistance && near == "" {
			flags.SuggestionsMinimumDistance++
			if names := flags.SuggestionsFor(name); len(names) > 0 {
				near = "did you mean --" + names[0] + "? "
			}
		}
		if near == "" && !cmd.HasParent() { // `farsight --json jobs`
			near = "those of a command stand behind it. "
		}
		return usagef("there is no flag --%s: %s `%s`", name, near+human.Either(near == "", "see", "See"), help)
	}
	return usagef("%w: see `%s`", err, help)
}

// valueWords name what a flag of pflag's types takes, behind "is no"; else it is pflag's own word.
var valueWords = map[string]string{
	"int": "whole number", "uint64": "whole number from 0 on", "float64": "number", "bool": "true or false",
	"duration": "length of time such as 90s, 10m or 2h",
}

// helpCommand is cobra's own, but for a topic that does not exist.
func helpCommand(root *cobra.Command) *cobra.Command {
	all := false
	c := &cobra.Command{
		Use: "help [command]", GroupID: groupSetup, Short: "Help about any command", Example: "farsight help sync",
		RunE: func(_ *cobra.Command, args []string) error {
			// Find stops at the first word that is no command, and gives the rest.
			cmd, rest, err := root.Find(args)
			if err != nil {
				return noArgs(root, args)
			}
			if len(rest) > 0 && cmd.HasAvailableSubCommands() {
				return noArgs(cmd, rest)
			}
			if cmd == root {
				showMain(root, all)
			} else {
				showHelp(root, cmd)
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			cmd, _, err := root.Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var words []cobra.Completion
			for _, sub := range cmd.Commands() {
				if sub.IsAvailableCommand() && strings.HasPrefix(sub.Name(), begun) {
					words = append(words, cobra.CompletionWithDesc(sub.Name(), sub.Short))
				}
			}
			return words, cobra.ShellCompDirectiveNoFileComp
		},
	}
	c.Flags().BoolVar(&all, "all", false, "Every command")
	return c
}

// shellExamples are how the completion of each shell is taken into a session.
var shellExamples = map[string]string{
	"bash":       "source <(farsight completion bash)",
	"fish":       "farsight completion fish | source",
	"powershell": "farsight completion powershell | Out-String | Invoke-Expression",
	"zsh":        "source <(farsight completion zsh)",
}

// shells makes cobra's command for completion scripts name the shells that there are.
func shells(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	// Cobra has just made it: only its name tells it from the others.
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		c.Args, c.Example = noArgs, shellExamples["bash"]
		c.RunE = func(*cobra.Command, []string) error {
			return usagef("say for which shell: farsight completion bash, zsh, fish or powershell")
		}
		for _, sub := range c.Commands() {
			sub.Args, sub.Example = noArgs, shellExamples[sub.Name()]
		}
	}
}

// Exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitIncomplete  = 3 // some matches could not be had, some lines were rejected, or the store is damaged
	exitHeld        = 4 // the data directory belongs to another process
	exitCancelled   = 5 // an operator cancelled the sync
	exitInterrupted = 130
)

// coded is an error with an exit code of its own. A quiet one was told already.
type coded struct {
	code  int
	err   error
	quiet bool
}

// Error is that of the error inside.
func (c *coded) Error() string { return c.err.Error() }

// Unwrap gives what to look for with errors.Is and errors.AsType.
func (c *coded) Unwrap() error { return c.err }

// usage marks an error as the caller's: wrong words on the command line.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &coded{code: exitUsage, err: err}
}

// usagef makes such an error of a sentence: what is wrong, and what to write instead.
func usagef(format string, args ...any) error { return usage(fmt.Errorf(format, args...)) }

// isHeld reports whether an error says that another process has the directory.
func isHeld(err error) bool {
	_, held := errors.AsType[*storage.ErrHeld](err)
	return held
}

// opening counts the stores that are just being opened.
var opening atomic.Int32
