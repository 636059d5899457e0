package app

import (
	"context"
	"errors"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/ui/cli"
)

// lister makes a list command of cmd: its flags, their completion, and what runs.
// of is called once without arguments to learn the columns, for the help text and completion,
// and again with what was typed.
func lister(cmd *cobra.Command, of func(cmd *cobra.Command, args []string) (cli.List, error)) func(*cobra.Command, []string) error {
	f := cmd.Flags()
	f.Bool("json", false, "one JSON object per line, as -o json")
	f.StringP("output", "o", forms[0], "form of the list: table, json or csv")
	f.Bool("watch", false, "show it again when it has changed, until Ctrl-C; into a pipe, the rows that are new or changed")
	// A list without columns is a text in parts (status, limits), which cannot be sorted.
	if l, _ := of(cmd, nil); len(l.Columns) > 0 {
		f.StringSlice("columns", nil, "these columns only, in this order")
		f.String("sort", "", "order by a column; with a - in front the greatest stand first")
		f.Int("limit", 0, "at most so many rows; 0 = all")
		f.Bool("no-headers", false, "no names of columns, and no sentence below them")
		if cmd.Long == "" {
			cmd.Long = cmd.Short + "."
		}
		cmd.Long += "\n\nColumns:"
		for _, c := range l.Columns {
			cmd.Long += " " + c.Name
		}
	}
	// Names of columns that begin so; prefix is what stands before them in the word that is typed.
	names := func(cmd *cobra.Command, prefix, begun string) (words []cobra.Completion) {
		l, _ := of(cmd, nil)
		for _, c := range l.Columns {
			if strings.HasPrefix(c.Name, begun) {
				words = append(words, hint(prefix+c.Name, c.Help))
			}
		}
		return words
	}
	_ = cmd.RegisterFlagCompletionFunc("sort", func(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		name := strings.TrimPrefix(begun, "-")
		return names(cmd, begun[:len(begun)-len(name)], name), cobra.ShellCompDirectiveNoFileComp
	})
	_ = cmd.RegisterFlagCompletionFunc("columns", func(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		// --columns id,sta: what stands before the last comma is kept, and only the rest completed.
		at := strings.LastIndexByte(begun, ',') + 1
		return names(cmd, begun[:at], begun[at:]), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
	return func(cmd *cobra.Command, args []string) error {
		l, err := of(cmd, args)
		if err != nil {
			return err
		}
		return runList(cmd, l)
	}
}

// told shows what is no list of rows: of the engine that runs, or else of what is stored.
func told(of func(args []string) (cli.List, error)) func(context.Context, given) error {
	return func(ctx context.Context, g given) error {
		l, err := of(g.args)
		if err != nil {
			return err
		}
		return browse(ctx, g.cfg, func(c engine.Console) error { return l.Show(ctx, c, g.out) })
	}
}

// forms of a list; the first is the usual one.
var forms = []string{"table", "json", "csv"}

// listOut is stdout with what was asked of a list.
func listOut(cmd *cobra.Command) (cli.Out, error) {
	o, f := stdout(cmd), cmd.Flags()
	form, _ := f.GetString("output")
	switch {
	case !slices.Contains(forms, form):
		return o, usagef("--output %q is unknown: use %s", form, wordList(forms, "or"))
	// --json -o csv
	case o.JSON && f.Changed("output") && form != "json":
		return o, usagef("--json and -o %s ask for two forms: give one of them", form)
	}
	// From here on --json and -o json are the same.
	o.JSON, o.CSV = o.JSON || form == "json", form == "csv"
	o.View.Sort, _ = f.GetString("sort")
	o.View.Limit, _ = f.GetInt("limit")
	o.View.NoHeaders = flagBool(cmd, "no-headers")
	// None given is the usual ones; an empty list that was given is a fault, which Check tells.
	if f.Changed("columns") {
		o.View.Columns, _ = f.GetStringSlice("columns")
	}
	return o, nil
}

// runList prints a list, or watches it.
func runList(cmd *cobra.Command, l cli.List) error {
	out, err := listOut(cmd)
	if err != nil {
		return err
	}
	// Before the configuration is read and anything opened: a column that does not exist is told at
	// once.
	if err := l.Check(out); err != nil {
		return err
	}
	cfg, err := configOf(cmd)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	if flagBool(cmd, "watch") {
		return watchList(ctx, cfg, l, out)
	}
	return browse(ctx, cfg, func(c engine.Console) error { return l.Show(ctx, c, out) })
}

// watchEvery is how often a list that is watched is asked for again.
const watchEvery = time.Second

// watchList shows a list until it is interrupted or nobody reads it any more.
func watchList(ctx context.Context, cfg config.Config, l cli.List, out cli.Out) error {
	// Go ends a program by SIGPIPE when a write to standard output fails; `… --watch | head` is the
	// usual end of a watch and no failure.
	signal.Ignore(syscall.SIGPIPE) // writing gives an error instead
	defer signal.Reset(syscall.SIGPIPE)
	watch, rest := cli.NewWatch(out), restingState{cfg: cfg}
	show := func(c engine.Console) error {
		return watch.Round(func(o cli.Out) error { return l.Show(ctx, c, o) })
	}
	for shown := false; ; {
		// Without an engine the directory is opened for each round, and only when its files have
		// changed: a watch that held it open would keep an engine from starting.
		if !rest.unchanged() {
			err := through(ctx, cfg, func(c *api.Client) error { return show(c) }, func() error {
				return browseStored(ctx, cfg, func(c engine.Console) error {
					if err := rest.note(); err != nil {
						return err
					}
					return show(c)
				})
			})
			switch {
			// Nobody reads any more, or Ctrl-C: the two ways in which a watch ends well.
			case isBrokenPipe(err), ctx.Err() != nil:
				return nil
			// An engine has begun or ended between two rounds. Before the first round the same is an
			// error: a script that waits for the first line must learn that there will be none.
			case shown && (isHeld(err) || errors.Is(err, engine.ErrGone)): // it is asked again
			case err != nil:
				return err
			}
			shown = true
		}
		if !await.Pause(ctx, watchEvery) || readerGone(out.W) {
			return nil
		}
	}
}
