package ingest

import (
	"context"
	"fmt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot/route"
)

// accounts lists those that must be resolved under a new project.
func (p *Projects) accounts(tx engine.Tx, project string) (list []league.Account) {
	for a := range p.opt.Store.AllAccounts(tx) {
		if a.PUUIDs[project] == "" && len(a.PUUIDs) > 0 {
			list = append(list, a)
		}
	}
	return list
}

// cost is what resolving all accounts again takes; the hosts work side by side.
func (p *Projects) cost(ctx context.Context) (cost engine.Cost, err error) {
	perHost := map[route.Region]int{}
	err = p.opt.Store.Read(ctx, func(tx engine.Tx) error {
		for _, a := range p.accounts(tx, "") {
			perHost[route.Platform(a.Platform).AccountRegion()]++
		}
		return nil
	})
	if err != nil {
		return cost, fmt.Errorf("count the accounts: %w", err)
	}
	for host, calls := range perHost {
		eta := p.opt.Limits.ETA(string(host), string(route.AccountByRiotID), calls)
		cost.Calls += calls
		cost.Loads = append(cost.Loads, engine.Load{
			Host: string(host), Method: string(route.AccountByRiotID), Queue: QueueUpkeep,
			Priority: engine.PriorityHigh, Calls: float64(calls),
		})
		if eta.Low >= cost.Takes {
			cost.Takes, cost.Bucket = eta.Low, eta.Bucket
		}
	}
	return cost, nil
}

// accept makes the foreign key's project one of ours, and gives every account a
// job that resolves it. The jobs are created before the project is: until it is, nothing calls. A crash
// between the two leaves jobs that wait, and whoever accepts again finds them by their keys, and makes
// none twice.
func (p *Projects) accept(ctx context.Context, dry bool, by engine.Actor) (out engine.Receipt, err error) {
	mark := p.opt.Fingerprint()
	if mark == "" || !p.isForeign(mark) {
		return out, engine.Problemf(engine.ErrRefused, "",
			"the key in use is of the project that the accounts were resolved under: there is nothing to accept")
	}
	cost, err := p.cost(ctx)
	if err != nil {
		return out, err
	}
	out = engine.Receipt{Matched: cost.Calls, Cost: &cost, Text: fmt.Sprintf("would resolve %s again in about %s",
		human.Counted(cost.Calls, "account", "accounts"), human.Span(cost.Takes))}
	if dry {
		return out, nil
	}
	project := p.newAlias()
	err = p.opt.Store.Write(ctx, func(tx engine.Tx) error {
		var specs []engine.Spec
		for _, a := range p.accounts(tx, project) {
			// It shares the lock of the account's syncs: both write its identity.
			specs = append(specs, engine.Spec{
				Kind: KindResolve, Queue: QueueUpkeep, Key: resolveKey(a.ID), Lock: "account:" + a.ID, Owner: a.ID,
				Priority: engine.PriorityHigh,
				Args:     encode(rankArgs{Account: a.ID, Platform: a.Platform}),
			})
		}
		queued, err := tx.Enqueue(specs...)
		out.Applied = len(queued)
		return err
	})
	if err != nil {
		return out, fmt.Errorf("create the jobs that resolve the accounts: %w", err)
	}
	if err := p.learn(ctx, mark, project); err != nil {
		return out, err
	}
	out.Text = fmt.Sprintf("%s accepted the key's project: %s resolved again", by.User,
		human.Counted(out.Applied, "account is", "accounts are"))
	return out, nil
}

// newAlias names a project that no key had before.
func (p *Projects) newAlias() string {
	taken := p.aliases()
	for n := 2; ; n++ {
		if alias := fmt.Sprintf("project-%d", n); !taken[alias] {
			return alias
		}
	}
}
