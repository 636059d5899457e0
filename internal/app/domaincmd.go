package app

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/ui/cli"
)

func ranksCommand() *cobra.Command {
	var queue string
	cmd := &cobra.Command{Use: "ranks 'Name#TAG'", Short: "Show an account's rank history, newest first", Args: oneAccount}
	cmd.Flags().StringVar(&queue, "queue", "", "this ranked queue only, such as RANKED_SOLO_5x5")
	cmd.RunE = lister(cmd, func(_ *cobra.Command, args []string) (cli.List, error) {
		return cli.Ranks(strings.Join(args, " "), queue), nil
	})
	return cmd
}

func weeklyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "weekly [WEEK]",
		Short: "Show the weekly report over all tracked accounts: the latest, or that of a day such as 2026-11-16",
		Args:  atMostOne("name one week at most, by a day of it: %s 2026-11-16"),
		RunE:  telling(func(args []string) (cli.List, error) { return cli.Weekly(strings.Join(args, "")), nil }),
	}
	cmd.Flags().Bool("json", false, "as JSON")
	return cmd
}

func freshnessCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "freshness",
		Short: "Show what keeping the tracked accounts fresh needs, beside what the key allows",
		Args:  noArgs,
		RunE: configured(func(cmd *cobra.Command, cfg config.Config, _ []string) error {
			return commanding(cmd.Context(), cfg, mustBeThere, func(_ context.Context, c engine.Console, _ *parts) error {
				return cli.Freshness().Show(cmd.Context(), c, stdout(cmd))
			})
		}),
	}
	cmd.Flags().Bool("json", false, "as JSON")
	return cmd
}

func reresolveCommand() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "reresolve",
		Short: "Accept a key of another project: resolve every account again",
		Long: "Riot encrypts player ids per API project, so a key of another project can read none\n" +
			"that is stored. This accepts the project of the key in use and gives every account a\n" +
			"job that resolves it again, one call each. It says the cost first.",
		Args: noArgs,
		RunE: configured(func(cmd *cobra.Command, cfg config.Config, _ []string) error {
			ask := reresolving{reason: reason, dry: flagBool(cmd, "dry-run"), out: stdout(cmd)}
			return commanding(cmd.Context(), cfg, mustBeThere, func(ctx context.Context, c engine.Console, own *parts) error {
				if own == nil {
					return ask.of(ctx, c, "")
				}
				if err := own.findProject(ctx); err != nil {
					return err
				}
				return ask.of(ctx, c, nextEngine)
			})
		}),
	}
	addActFlags(cmd, &reason)
	return cmd
}

// findProject asks Riot once which project the key in use is of: a running engine
// knows it, a directory at rest does not.
func (p *parts) findProject(ctx context.Context) error {
	if p.keys.Get().IsZero() {
		return p.keys.None()
	}
	known, err := p.projects.Settle(ctx)
	if err == nil && !known {
		err = errors.New("the project of the key is not known, because Riot refuses the key or was not reached: see `farsight doctor --network`, and try again")
	}
	return err
}

// reresolving is one `farsight reresolve`.
type reresolving struct {
	reason string
	dry    bool
	out    cli.Out
}

// of says the cost, and accepts the key's project. later is when it takes effect.
func (o reresolving) of(ctx context.Context, con engine.Console, later string) error {
	c := engine.Command{Op: engine.OpReresolve, DryRun: true, Reason: o.reason, By: operator("cli")}
	r, err := con.Do(ctx, c)
	if err != nil {
		return err
	}
	if o.dry || !o.out.JSON {
		if err := cli.Acted(o.out, costed(r), true, ""); err != nil || o.dry {
			return err
		}
	}
	c.DryRun = false
	if r, err = con.Do(ctx, c); err != nil {
		return err
	}
	return cli.Acted(o.out, r, false, later)
}

// costed names the calls and what paces them in the receipt's sentence.
func costed(r engine.Receipt) engine.Receipt {
	if r.Cost != nil && r.Cost.Bucket != "" {
		r.Text += ": " + human.Counted(r.Cost.Calls, "call", "calls") + ", paced by " + r.Cost.Bucket
	}
	return r
}
