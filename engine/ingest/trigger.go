package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/league"
)

// Trigger starts a sync of an account, given by its id or as "Name#TAG" with
// ask.Platform. It is a compare-and-set from every status but pending, which
// answers with the run that waits already, and syncing, which is refused with
// engine.ErrConflict and names what runs (S1-4, S1-5). Inside the cooldown there
// is nothing to do, unless the ask forces it (S3-9). An account that is not known
// yet is created. Errors are *engine.Problem or of the store.
//
// Status, run and job change in one transaction, so that of two who ask at once one starts the sync and
// the other gets it as the one that waits already.
func (in *Ingest) Trigger(ctx context.Context, account string, ask engine.SyncAsk,
	by engine.Actor) (engine.Receipt, error) {
	want, err := askOf(ask)
	if err != nil {
		return engine.Receipt{}, err
	}
	who, err := whoIs(account, ask.Platform)
	if err != nil {
		return engine.Receipt{}, err
	}
	var out engine.Receipt
	var running string
	err = in.store.Write(ctx, func(tx engine.Tx) error {
		out, running = engine.Receipt{}, ""
		a, err := in.findOrMake(tx, who, true)
		if err != nil {
			return err
		}
		policy, err := in.policyOf(tx, a)
		if err != nil {
			return err
		}
		want := in.complete(want, policy)
		if out, err = in.notStale(tx, a, ask, want); out.Nothing || err != nil {
			return err
		}
		out, running, err = in.claim(tx, a, want, policy, by)
		if err != nil || running != "" || !(ask.Track || ask.Cause == engine.CauseLinked) || a.Tracked {
			return err
		}
		return changeAccount(in.store, tx, a.ID, func(a *league.Account) error {
			a.Tracked = true
			return nil
		})
	})
	switch {
	case err != nil:
		return engine.Receipt{}, err
	// Outside of the transaction: how far the other sync has come is read in one of its own.
	case running != "":
		return engine.Receipt{}, in.busy(ctx, running)
	}
	return out, nil
}

// claim decides by the account's status. running is the id of an account that is
// being synced.
func (in *Ingest) claim(tx engine.Tx, a league.Account, want league.Ask, p league.Policy,
	by engine.Actor) (out engine.Receipt, running string, err error) {
	switch a.Status {
	case engine.Syncing.String():
		return out, a.ID, nil
	case engine.SyncPending.String():
		run, err := in.store.Run(tx, a.Run)
		if err != nil {
			return out, "", fmt.Errorf("load run %s: %w", a.Run, err)
		}
		return engine.Receipt{
			Account: a.ID, Job: engine.JobID(run.Job), Joined: true, Matched: 1,
			Text: fmt.Sprintf("a sync of %s waits already: this is it", a.RiotID()),
		}, "", nil
	}
	if !want.Force && a.Status == engine.SyncCompleted.String() {
		at, err := in.looked(tx, a, want, in.opt.Cooldown)
		if err != nil {
			return out, "", err
		}
		if !at.IsZero() {
			due := at.Add(in.opt.Cooldown)
			return engine.Receipt{
				Account: a.ID, Nothing: true, Matched: 1, Due: due,
				Text: fmt.Sprintf("%s was synced at %s: nothing to do for another %s (--force skips the wait)",
					a.RiotID(), at.Format(time.TimeOnly), human.Span(due.Sub(now()))),
			}, "", nil
		}
	}
	out, err = in.start(tx, a, want, p, by)
	return out, "", err
}

// start makes the run and its job, and takes the account for them. What the run before kept aside is
// dropped: this one lists anew, and a gap that closes later must not bring back a range that nobody
// looks after.
func (in *Ingest) start(tx engine.Tx, a league.Account, want league.Ask, p league.Policy,
	by engine.Actor) (engine.Receipt, error) {
	want, err := in.relist(tx, a, want) // again, for a schedule: it has asked before, to foresee its calls
	if err != nil {
		return engine.Receipt{}, err
	}
	run := league.Run{
		ID: newID(), Account: a.ID, Ask: want, Before: a.Run, Phase: string(engine.PhaseResolve), Triggered: now(),
		By: by.User,
	}
	queued, err := tx.Enqueue(syncSpec(a, run, p, in.project(), by))
	if err != nil {
		return engine.Receipt{}, fmt.Errorf("create the sync job of %s: %w", a.RiotID(), err)
	}
	if queued[0].Duplicate { // its job lives although the account says that none does
		return engine.Receipt{}, fmt.Errorf("sync job %s of %s is live, its run is not: %w", queued[0].ID, a.RiotID(),
			engine.ErrBroken)
	}
	run.Job = string(queued[0].ID)
	if err := in.dropRanges(tx, a.Run); err != nil {
		return engine.Receipt{}, fmt.Errorf("drop the ranges that run %s kept: %w", a.Run, err)
	}
	a.Status, a.Run, a.LastError, a.Updated = engine.SyncPending.String(), run.ID, "", now()
	if err := in.store.SaveRun(tx, run); err != nil {
		return engine.Receipt{}, fmt.Errorf("save run %s: %w", run.ID, err)
	}
	if err := in.store.SaveAccount(tx, a); err != nil {
		return engine.Receipt{}, fmt.Errorf("save account %s: %w", a.RiotID(), err)
	}
	return engine.Receipt{
		Account: a.ID, Job: queued[0].ID, Matched: 1, Applied: 1,
		Text: fmt.Sprintf("a sync of %s is in line", a.RiotID()),
	}, nil
}

// syncSpec is the job of a run. Its key, such as full:01J…, keeps a second sync of the
// same mode from being made; its lock keeps one of another mode from running beside it.
func syncSpec(a league.Account, run league.Run, p league.Policy, project string, by engine.Actor) engine.Spec {
	s := engine.Spec{
		Kind:     KindSync,
		Queue:    QueueFull,
		Key:      syncKey(run.Ask.Mode, a.ID),
		Policy:   engine.PolicyIngest,
		Lock:     "account:" + a.ID,
		Owner:    a.ID,
		By:       by.Name(),
		Priority: cmp.Or(engine.Priority(p.Priority), engine.PriorityHigh),
		Args: encode(syncArgs{
			Account: a.ID, Run: run.ID, Mode: run.Ask.Mode, Platform: a.Platform, Known: a.PUUIDs[project] != "",
			Timelines: run.Ask.Timelines, Force: run.Ask.Force,
			Priority: engine.Priority(p.Priority), By: by.User,
		}),
	}
	if run.Ask.Mode == ModeLatest {
		s.Queue = QueueLatest
	}
	if by.Via != "cron" && by.Via != "engine" { // a person waits for it
		s.Priority = engine.PriorityOperator
	}
	return s
}

// busy is the refusal of a trigger while a sync runs: it names the job and how
// far it has come.
func (in *Ingest) busy(ctx context.Context, account string) error {
	row, err := in.store.AccountRow(ctx, account)
	if err != nil {
		return fmt.Errorf("read account %s: %w", account, err)
	}
	p := engine.Problemf(engine.ErrConflict, "watch it, or cancel it first", "%s is being synced by job %s (%s)",
		row.RiotID, row.Job, progressOf(row))
	p.Job = row.Job
	return p
}

// progressOf says how far a sync has come, in the refusal of another: "matches 134/889", and while it lists
// "list, page 3".
func progressOf(row engine.AccountRow) string {
	switch {
	case row.Matches.Total < 0:
		return fmt.Sprintf("%s, page %d", row.Phase, row.Pages+1)
	case row.Phase == engine.PhaseTimelines:
		return fmt.Sprintf("timelines %d/%d", row.Timelines.Done(), row.Timelines.Total)
	}
	return fmt.Sprintf("matches %d/%d", row.Matches.Done(), row.Matches.Total)
}

// notStale answers a login whose data is fresh enough: there is nothing to do
// (S1-1). Other causes have no say in it.
func (in *Ingest) notStale(tx engine.Tx, a league.Account, ask engine.SyncAsk,
	want league.Ask) (none engine.Receipt, err error) {
	if ask.Cause != engine.CauseStale {
		return none, nil
	}
	at, err := in.looked(tx, a, want, in.opt.Stale)
	if at.IsZero() || err != nil {
		return none, err
	}
	due := at.Add(in.opt.Stale)
	return engine.Receipt{
		Account: a.ID, Nothing: true, Matched: 1, Due: due,
		Text: fmt.Sprintf("%s was synced at %s: that is fresh for another %s",
			a.RiotID(), at.Format(time.DateTime), human.Span(due.Sub(now()))),
	}, nil
}

// looked is when a sync came to its end that covers all that is wanted, if that is
// less than a span ago; zero = there is none. A narrow sync says nothing about what
// it has not looked at. It goes back from run to run: behind a narrow one there may be a wide one that
// is young enough.
func (in *Ingest) looked(tx engine.Tx, a league.Account, want league.Ask, span time.Duration) (time.Time, error) {
	for id := a.Run; id != ""; {
		run, err := in.store.Run(tx, id)
		if errors.Is(err, engine.ErrNotFound) {
			return time.Time{}, nil
		}
		if err != nil {
			return time.Time{}, fmt.Errorf("load run %s: %w", id, err)
		}
		if ended := !run.Finished.IsZero(); ended && now().Sub(run.Finished) >= span {
			return time.Time{}, nil
		}
		if run.Result == resultIncomplete && run.Error != "" { // its list goes on at once
			return time.Time{}, nil
		}
		if (run.Result == resultCompleted || run.Result == resultIncomplete) && run.Ask.Covers(want) {
			return run.Finished, nil
		}
		id = run.Before
	}
	return time.Time{}, nil
}
