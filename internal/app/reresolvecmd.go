package app

import (
	"context"
	"errors"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/cli"
)

// reresolveCommand makes `farsight reresolve`.
func reresolveCommand() commandDecl {
	return commandDecl{
		use: "reresolve", group: groupAccounts, short: "Accept a key of another project: resolve every account again",
		long: "Riot encrypts player ids per API project, so a key of another project can read none\n" +
			"that is stored. This accepts the project of the key in use and gives every account a\n" +
			"job that resolves it again, one call each. It says the cost first.",
		example: "farsight reresolve --dry-run", reason: keptWhy,
		run: func(ctx context.Context, g given) error {
			return commanding(ctx, g.cfg, mustBeThere, func(ctx context.Context, c engine.Console, own *parts) error {
				if own == nil {
					return g.reresolve(ctx, c, "")
				}
				if err := own.findProject(ctx); err != nil {
					return err
				}
				return g.reresolve(ctx, c, nextEngine)
			})
		},
	}.acting()
}

// findProject asks Riot once which project the key in use is of: a running engine
// knows it, a directory at rest does not.
func (p *parts) findProject(ctx context.Context) error {
	// Which project shall be accepted only a key can tell.
	if p.keys.Get().IsZero() {
		return p.keys.None()
	}
	// One call: an id that only keys of the same project can read tells which project it is.
	known, err := p.projects.Settle(ctx)
	if err == nil && !known {
		err = errors.New("the project of the key is not known, because Riot refuses the key or was not reached: see `farsight doctor --network`, and try again")
	}
	return err
}

// reresolve says the cost, and accepts the key's project. later is when it takes effect.
func (g given) reresolve(ctx context.Context, con engine.Console, later string) error {
	r, err := g.planned(ctx, con, engine.Command{Op: engine.OpReresolve}, func(r engine.Receipt) error {
		if g.out.JSON { // one object: of what was done
			return nil
		}
		return cli.Acted(g.out, costed(r), true, "")
	})
	if err != nil {
		return err
	}
	if g.dry {
		// Nothing was done, so nothing takes effect later.
		r, later = costed(r), ""
	}
	return cli.Acted(g.out, r, g.dry, later)
}

// costed names the calls and what paces them in the receipt's sentence.
func costed(r engine.Receipt) engine.Receipt {
	if r.Cost != nil && r.Cost.Bucket != "" {
		// "would resolve 12 accounts again: 12 calls, paced by europe account-v1".
		r.Text += ": " + human.Counted(r.Cost.Calls, "call", "calls") + ", paced by " + r.Cost.Bucket
	}
	return r
}
