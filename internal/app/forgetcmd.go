package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/ui/cli"
)

// forgetting is one `farsight forget`, or `farsight collections --forget`.
type forgetting struct {
	given
	ask   typedWord
	what  string // its name, which is typed to go on
	order engine.Command
}

// forgetCommand makes `farsight forget`, the one command whose effect nothing in the program takes
// back.
func forgetCommand() commandDecl {
	return commandDecl{
		use: "forget 'Name#TAG'", group: groupData, short: "Delete all that is stored of a player, for good",
		long: "Deletes an account with its syncs, jobs, attempts, reports and ranks, and the matches\n" +
			"and timelines that no other stored account has. Matches that others have stay; the\n" +
			"player's seat in them has no name any more, but Riot's JSON of them is as it was.\n" +
			"Of the last calls, and of what speaks for an alert, nothing says any more whose it was.\n" +
			"Waiting jobs of the account are cancelled; while one runs it is refused.\n\n" +
			"It cannot be undone. The space is given back at once, but the old bytes are gone from\n" +
			"the files only after `farsight compact`, which leaves the payloads of a month that is\n" +
			"not over unless --month names it; on PostgreSQL after `vacuumdb --full`. Backups,\n" +
			"exports, the log and audit entries from before keep what they have, and so do stores\n" +
			"that `restore` and `reset` moved aside.\n" +
			"The audit tells that it was done, and names a sum of the player's id.\n\n" +
			"Of accounts of one name on several platforms it takes the one on --platform. Players of\n" +
			"collections go, too, by the PUUID or Riot ID that they were listed by: with what was\n" +
			"collected of them alone, once their collections have ended or are cancelled. A whole\n" +
			"collection goes by `farsight collections --forget NAME`.\n\n" +
			"On a terminal it asks for the account's name; elsewhere it wants --yes.",
		example: "farsight forget 'Name#TAG' --platform euw1 --dry-run",
		args:    oneAccount, complete: onlyFirst(completeAccounts),
		yes: true, reason: "why; kept in the audit, so do not name the player",
		run: func(ctx context.Context, g given) error {
			// Before anything is opened: a name without its tag could be half of several.
			if err := riotID(g.args[0]); err != nil && !puuidForm.MatchString(g.args[0]) {
				return err
			}
			// A platform of "" is the only one that the account is on; of several the engine asks for one.
			return forgetting{g, g.asks(), g.args[0], engine.Command{
				Op: engine.OpForget, Account: g.args[0], Sync: engine.SyncAsk{Platform: g.cfg.Platform}}}.run(ctx)
		},
	}.acting()
}

// run lets the engine that holds the directory forget it, else does it itself.
func (o forgetting) run(ctx context.Context) error {
	return commanding(ctx, o.cfg, mustBeThere, func(ctx context.Context, c engine.Console, own *parts) error {
		if own != nil {
			return o.onOwn(ctx, own)
		}
		return o.on(ctx, c)
	})
}

// onOwn works on a directory that no engine holds. First it goes on with what was
// interrupted: that may be the account that is named now, which has no name any more.
func (o forgetting) onOwn(ctx context.Context, p *parts) error {
	late := 0
	if !o.dry {
		// A dry run changes nothing, so it does not go on with this either.
		err := p.store.FinishForgotten(ctx, func(f storage.Forgotten) { late++; o.finished(f) })
		if err != nil {
			return err
		}
	}
	err := o.on(ctx, p.control)
	// It was the one that was half deleted: what was asked for has been done.
	if late > 0 && errors.Is(err, engine.ErrNotFound) {
		return nil
	}
	return err
}

// finished tells of an account whose forgetting had been interrupted.
func (o forgetting) finished(f storage.Forgotten) {
	if !o.out.JSON {
		// Of its name nothing is left: the first signs of a sum of its id are what the audit has, too.
		_, _ = fmt.Fprintf(o.out.W, "%s, which was half deleted, is gone now: %s\n", f.Done.Target(), f.Done.Text(false))
	}
}

// on asks the console what would go, then the operator, and then does it.
func (o forgetting) on(ctx context.Context, c engine.Console) error {
	var refused error // by the operator
	r, err := o.planned(ctx, c, o.order, func(r engine.Receipt) error {
		does := "forget deletes what is stored of " + safe.Text(o.what) + " for good"
		refused = o.ask.confirm(o.what, r.Text+"; it cannot be undone", does, "nothing was deleted")
		return refused
	})
	switch {
	case refused != nil:
		return refused
	case err != nil:
		return leftOr(ctx, err)
	}
	return cli.Acted(o.out, r, o.dry, "")
}
