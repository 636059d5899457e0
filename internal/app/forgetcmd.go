package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/control"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/internal/wall"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/ui/cli"
)

// Proof that the store deletes accounts for the console.
var _ control.Forgetting = (*storage.DB)(nil)

// forgetting are the flags of `farsight forget`.
type forgetting struct {
	account, reason string
	yes, dry, asks  bool
	out             cli.Out
	in              io.Reader
}

func forgetCommand() *cobra.Command {
	var o forgetting
	cmd := &cobra.Command{
		Use:   "forget 'Name#TAG'",
		Short: "Delete all that is stored of a player, for good",
		Long: "Deletes an account with its syncs, jobs, attempts, reports and ranks, and the matches\n" +
			"and timelines that no other stored account has. Matches that others have stay; the\n" +
			"player's seat in them has no name any more, but Riot's JSON of them is as it was.\n" +
			"Waiting jobs of the account are cancelled; while one runs it is refused.\n\n" +
			"It cannot be undone. The space is given back at once, but the old bytes are gone from\n" +
			"the files only after `farsight compact`, which leaves the payloads of the running\n" +
			"month until it is over. Backups, exports, the log and audit entries from before keep\n" +
			"what they have. The audit tells that it was done, and names a sum of the player's id.\n\n" +
			"On a terminal it asks for the account's name; elsewhere it wants --yes.",
		Args: oneAccount,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := configOf(cmd)
			if err != nil {
				return err
			}
			if _, _, err := route.ParseRiotID(args[0]); err != nil {
				return usage(err)
			}
			o.account, o.dry, o.out, o.in = args[0], flagBool(cmd, "dry-run"), stdout(cmd), cmd.InOrStdin()
			o.asks = term.IsTerminal(int(os.Stdin.Fd())) && !o.out.JSON
			return o.run(cmd.Context(), cfg)
		},
	}
	cmd.Flags().BoolVar(&o.yes, "yes", false, "do not ask")
	cmd.Flags().StringVar(&o.reason, "reason", "", "why; kept in the audit, so do not name the player")
	addActFlags(cmd)
	return cmd
}

// run lets the engine that holds the directory forget the account, else does it itself.
func (o forgetting) run(ctx context.Context, cfg config.Config) error {
	return through(ctx, cfg,
		func(c *api.Client) error { return o.on(ctx, c) },
		func() error {
			return onStored(ctx, cfg, func(ctx context.Context, p *parts, _ *keyring.Ring) error { return o.onOwn(ctx, p) })
		})
}

// onOwn works on a directory that no engine holds. First it goes on with what was
// interrupted: that may be the account that is named now, which has no name any more.
func (o forgetting) onOwn(ctx context.Context, p *parts) error {
	late := 0
	if !o.dry {
		err := p.db.FinishForgotten(ctx, func(f storage.Forgotten) { late++; o.finished(ctx, p, f) })
		if err != nil {
			return err
		}
	}
	err := o.on(ctx, p.control)
	if late > 0 && errors.Is(err, engine.ErrNotFound) {
		return nil
	}
	return err
}

// finished tells of an account whose forgetting had been interrupted.
func (o forgetting) finished(ctx context.Context, p *parts, f storage.Forgotten) {
	p.auditForgotten(ctx, f)
	if !o.out.JSON {
		_, _ = fmt.Fprintf(o.out.W, "account %s…, which was half deleted, is gone now: %s\n", f.Done.Mask, f.Done.Text(false))
	}
}

// on asks the console what would go, then the operator, and then does it.
func (o forgetting) on(ctx context.Context, c engine.Console) error {
	ask := engine.Command{Op: engine.OpForget, Account: o.account, Reason: o.reason, By: operator("cli"), DryRun: true}
	r, err := c.Do(ctx, ask)
	if err != nil {
		return leftOr(ctx, err)
	}
	if o.dry {
		return cli.Acted(o.out, r, true, "")
	}
	if err := o.confirm(r); err != nil {
		return err
	}
	ask.DryRun = false
	if r, err = c.Do(ctx, ask); err != nil {
		return leftOr(ctx, err)
	}
	return cli.Acted(o.out, r, false, "")
}

// confirm asks for the account's name on a terminal, and wants --yes elsewhere.
func (o forgetting) confirm(r engine.Receipt) error {
	name := safe.Text(o.account)
	switch {
	case o.yes:
		return nil
	case !o.asks:
		return usagef("forget deletes what is stored of %s for good: say --yes, or see --dry-run", name)
	}
	_, _ = fmt.Fprintf(o.out.W, "%s; it cannot be undone\ntype %s to go on: ", r.Text, name)
	line, _ := bufio.NewReader(o.in).ReadString('\n')
	if !strings.EqualFold(strings.TrimSpace(line), o.account) {
		return usagef("nothing was deleted: %s was not typed", name)
	}
	return nil
}

// lateForgetter goes on with what a crash, or a caller who has left, has left half
// deleted.
type lateForgetter struct{ *parts }

// forgetLook is how often it looks for that.
const forgetLook = time.Minute

// Run implements control.Runner. What fails is logged and tried again at the next look.
func (l lateForgetter) Run(ctx context.Context) error {
	for {
		err := l.db.FinishForgotten(ctx, func(f storage.Forgotten) { l.auditForgotten(ctx, f) })
		if err != nil && ctx.Err() == nil {
			l.log.Error().Err(err).Msg("an account could not be deleted wholly; it is tried again")
		}
		select {
		case <-time.After(forgetLook):
		case <-ctx.Done():
			return nil
		}
	}
}

// auditForgotten writes down who had asked for it: the entry of the command itself says
// that it was given up, or was never written.
func (p *parts) auditForgotten(ctx context.Context, f storage.Forgotten) {
	err := p.db.Write(ctx, func(tx engine.Tx) error {
		_, err := p.db.AddAudit(tx, engine.AuditEntry{
			At: wall.Now(), By: f.By, Op: engine.OpForget, Target: "account " + f.Done.Mask + "…", Reason: f.Reason,
			Result: f.Done.Text(false) + "; it had been interrupted", Matched: 1, Applied: 1,
		})
		return err
	})
	if err != nil {
		p.log.Error().Err(err).Str("account", f.Done.Mask).Msg("an account was deleted, but the audit does not say so")
	}
}
