package app

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/storage"
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
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) <= 1 {
				return nil
			}
			return usagef("name one week at most, by a day of it: %s 2026-11-16", cmd.CommandPath())
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := configOf(cmd)
			if err != nil {
				return err
			}
			week := ""
			if len(args) > 0 {
				week = args[0]
			}
			return browse(cmd.Context(), cfg, func(c engine.Console) error {
				return cli.Weekly(cmd.Context(), c, week, stdout(cmd))
			})
		},
	}
	cmd.Flags().Bool("json", false, "as JSON")
	return cmd
}

func freshnessCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "freshness",
		Short: "Show what keeping the tracked accounts fresh needs, beside what the key allows",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := configOf(cmd)
			if err != nil {
				return err
			}
			show := func(c engine.Console) error { return cli.Freshness(cmd.Context(), c, stdout(cmd)) }
			return through(cmd.Context(), cfg,
				func(c *api.Client) error { return show(c) },
				func() error {
					return onStored(cmd.Context(), cfg, func(_ context.Context, p *parts, _ *keyring.Ring) error { return show(p.control) })
				})
		},
	}
	cmd.Flags().Bool("json", false, "as JSON")
	return cmd
}

// onStored is onDirectory for one that has something stored.
func onStored(ctx context.Context, cfg config.Config, do func(context.Context, *parts, *keyring.Ring) error) error {
	if !storage.HasState(cfg.DataDir) {
		return errNothingStored(cfg)
	}
	return onDirectory(ctx, cfg, do)
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
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := configOf(cmd)
			if err != nil {
				return err
			}
			ask := reresolving{reason: reason, dry: flagBool(cmd, "dry-run"), out: stdout(cmd)}
			return through(cmd.Context(), cfg,
				func(c *api.Client) error { return ask.of(cmd.Context(), c, "") },
				func() error {
					return onStored(cmd.Context(), cfg, func(ctx context.Context, p *parts, keys *keyring.Ring) error {
						if err := p.findProject(ctx, keys); err != nil {
							return err
						}
						return ask.of(ctx, p.control, nextEngine)
					})
				})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why; kept in the audit")
	addActFlags(cmd)
	return cmd
}

// findProject asks Riot once which project the key in use is of: a running engine
// knows it, a directory at rest does not.
func (p *parts) findProject(ctx context.Context, keys *keyring.Ring) error {
	if keys.Get().IsZero() {
		return keys.None()
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
