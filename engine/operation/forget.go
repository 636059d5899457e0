package operation

import (
	"context"
	"errors"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
)

// forgetRounds is how often the jobs of an account are cancelled before it is given up:
// a job may come up between two looks.
const forgetRounds = 5

// forget deletes an account, a player or a collection with all that is stored of it. Jobs that wait are cancelled
// first; while one runs it is refused. The store writes the audit entry itself, without the player's
// name.
func (o *Operator) forget(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	if o.opt.Forget == nil {
		return refuse(engine.ErrRefused, "", "nothing can be forgotten here")
	}
	// From here on by its id: a Riot ID may change hands between two steps.
	var paused engine.Queue // of a collection: a later one of the same name is another one
	var err error
	switch {
	case cmd.Collect != nil && cmd.Collect.Name != "":
		var found engine.Answer
		found, err = o.opt.Find(ctx, engine.CollectionsQuery{Name: cmd.Collect.Name})
		if a, ok := found.(engine.CollectionsAnswer); err == nil && ok {
			cmd.Account = a.Collections[0].ID
			if a.Collections[0].Paused {
				paused = engine.CollectionQueue(cmd.Collect.Name)
			}
		}
	case cmd.Account == "":
		return refuse(engine.ErrInvalid, "name one, such as Name#TAG", "no account is named")
	default:
		cmd.Account, err = o.oneAccount(ctx, cmd.Account, cmd.Sync.Platform)
	}
	if err != nil {
		return engine.Receipt{}, err
	}
	jobs, err := o.idleJobs(ctx, cmd.Account)
	if err != nil {
		return engine.Receipt{}, err
	}
	if cmd.DryRun {
		done, err := o.opt.Forget.WouldForget(ctx, cmd.Account)
		if err != nil {
			return engine.Receipt{}, err
		}
		return engine.Receipt{Matched: 1, Would: 1, Forget: &done, Text: done.Text(true)}, nil
	}
	// From here on the jobs are gone also where the account then cannot be deleted: they may be retried.
	cancelled, err := o.cancelFor(ctx, cmd, jobs)
	if err != nil {
		return engine.Receipt{}, err
	}
	if paused != "" {
		if _, err := o.opt.Backend.Resume(ctx, paused, cmd.By, "the collection is deleted"); err != nil {
			return engine.Receipt{}, err
		}
	}
	done, audit, err := o.opt.Forget.Forget(ctx, cmd.Account, cmd.By, cmd.Reason, cancelled)
	if err != nil {
		return engine.Receipt{Forget: &done}, givenUp(ctx, err)
	}
	return engine.Receipt{Matched: 1, Applied: 1, Audit: audit, Forget: &done,
		Text: done.Text(false) + "; " + engine.ForgetLeaves}, nil
}

// oneAccount gives the id of the one account that is named, on the platform that is told:
// what cannot be undone is not done to another of the same name. What names no account may be a player of a collection:
// the store knows.
func (o *Operator) oneAccount(ctx context.Context, account, platform string) (id string, err error) {
	var on []string // the platforms on which the name is stored: "euw1", "kr"
	for a, err := range engine.EachAccount(ctx, o.opt.Store.Accounts, engine.AccountsQuery{Text: account}) {
		switch {
		case err != nil:
			return "", err
		case a.ID == account:
			return a.ID, nil
		case !strings.EqualFold(a.RiotID, account):
			continue
		}
		on = append(on, a.Platform)
		if platform == "" || strings.EqualFold(a.Platform, platform) {
			id = a.ID
		}
	}
	switch {
	case len(on) == 0:
		return account, nil
	case id == "":
		return "", engine.Problemf(engine.ErrNotFound, "name that platform",
			"%s is not stored on %s, but on %s", account, platform, strings.Join(on, " and "))
	case platform == "" && len(on) > 1:
		return "", engine.Problemf(engine.ErrInvalid, "say which with --platform",
			"%s is stored on %s", account, strings.Join(on, " and "))
	}
	return id, nil
}

// idleJobs are the live jobs of the account; it is refused while one of them runs.
func (o *Operator) idleJobs(ctx context.Context, account string) ([]engine.Job, error) {
	jobs, err := o.opt.Forget.LiveJobsOf(ctx, account)
	if errors.Is(err, engine.ErrNotFound) {
		return nil, engine.Problemf(engine.ErrNotFound, "list them with `farsight accounts`", "no such account is stored")
	}
	if err != nil {
		return nil, err
	}
	running := 0
	for i := range jobs {
		if jobs[i].State == engine.Running {
			running++
		}
	}
	if running > 0 {
		return nil, engine.Problemf(engine.ErrRefused, "cancel its sync first, or wait for its end",
			"a sync is at work on what is to be deleted: %s running", human.Counted(running, "job is", "jobs are"))
	}
	return jobs, nil
}

// cancelFor cancels what waits, and what came up meanwhile. What is left after a round are jobs that
// came up meanwhile, and such as a live sync of another account holds.
func (o *Operator) cancelFor(ctx context.Context, cmd engine.Command, jobs []engine.Job) (n int, err error) {
	for round := 0; len(jobs) > 0 && round < forgetRounds; round++ {
		// Only the jobs of the account are named; what a sync takes along follows from that.
		order := engine.Command{Op: engine.OpCancel, Select: &engine.Selection{}, By: cmd.By,
			Reason: "what they are about is deleted"}
		for i := range jobs {
			order.Select.IDs = append(order.Select.IDs, jobs[i].ID)
		}
		if _, err := o.opt.Backend.Bulk(ctx, order); err != nil {
			return n, err
		}
		n += len(jobs)
		if jobs, err = o.idleJobs(ctx, cmd.Account); err != nil {
			return n, err
		}
		// Those that are still there were not cancelled.
		n -= len(jobs)
	}
	if len(jobs) > 0 {
		return n, engine.Problemf(engine.ErrRefused, "wait for that one, or cancel it",
			"%s cannot be cancelled: a sync of another account waits for it",
			human.Counted(len(jobs), "job", "jobs"))
	}
	return n, nil
}
