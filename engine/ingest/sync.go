package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/route"
)

// syncs are the handler of account.sync: one step of a run each time.
type syncs struct {
	means
	*ranges
	*reports
	*settlement
	*identities
}

// phases of a sync and what each does. The phase is of the run, not of the job:
// it survives a retry by hand.
var phases = map[engine.Phase]func(*syncs, context.Context, engine.Run, pass) engine.Outcome{
	engine.PhaseResolve:   (*syncs).resolve,
	engine.PhaseList:      (*syncs).list,
	engine.PhaseMatches:   (*syncs).report,
	engine.PhaseTimelines: (*syncs).finish,
}

// sync is the handler of account.sync. A run or account that is gone was forgotten, so that the job
// ends for good.
func (in *syncs) sync(ctx context.Context, r engine.Run) engine.Outcome {
	args, err := decode[syncArgs](r.Job)
	if err != nil {
		return badArgs(err)
	}
	p, err := in.load(ctx, args)
	switch {
	case errors.Is(err, engine.ErrNotFound):
		return badArgs(err)
	case err != nil:
		return traffic.Fault(err)
	}
	step, ok := phases[engine.Phase(p.run.Phase)]
	if !ok {
		return badArgs(fmt.Errorf("run %s is in phase %q, where nothing is left to do", p.run.ID, p.run.Phase))
	}
	return step(in, ctx, r, p)
}

// load reads what a step works on: the account and its run, and what the run's phase
// needs besides. The call that follows is made outside of any transaction.
func (in *syncs) load(ctx context.Context, args syncArgs) (p pass, err error) {
	p = pass{args: args, project: in.project()}
	err = in.store.Read(ctx, func(tx engine.Tx) error {
		if p.account, err = in.store.Account(tx, args.Account); err != nil {
			return fmt.Errorf("load account %s: %w", args.Account, err)
		}
		if p.run, err = in.store.Run(tx, args.Run); err != nil {
			return fmt.Errorf("load run %s: %w", args.Run, err)
		}
		switch engine.Phase(p.run.Phase) {
		case engine.PhaseResolve:
			// A forced sync asks again.
			if p.run.Ask.Force {
				return nil
			}
			puuid, ok, err := in.store.CachedPUUID(tx, p.account.GameName, p.account.TagLine, p.project, now())
			if err != nil {
				return fmt.Errorf("look up %s: %w", p.account.RiotID(), err)
			}
			if ok {
				p.cached = puuid
			}
			return nil
		case engine.PhaseList:
			return in.loadList(tx, &p)
		case engine.PhaseTimelines:
			if p.run.Ends != 0 {
				return in.loadList(tx, &p)
			}
		}
		return nil
	})
	return p, err
}

// resolve learns the PUUID of the account under the key in use, and its present
// name. Who is known by a PUUID is asked for by it: names change hands. A known PUUID that Riot says
// leads nowhere is put aside, and the next attempt asks by name; only a name that leads nowhere ends
// the sync.
func (in *syncs) resolve(ctx context.Context, r engine.Run, p pass) engine.Outcome {
	if p.cached != "" {
		return in.resolved(ctx, p, riot.Account{PUUID: p.cached}, engine.CallStat{})
	}
	known := p.account.PUUIDs[p.project]
	platform := route.Platform(p.account.Platform)
	trip := traffic.Trip{Run: r, Account: r.Job.Owner, At: resolveLane(p.account, p.project),
		Region: platform.AccountRegion()}
	var got riot.Account
	o, ok := in.calls.Call(ctx, trip, func(ctx context.Context) (err error) {
		if known != "" {
			got, err = in.api.AccountByPUUID(ctx, platform.AccountRegion(), known)
			return err
		}
		got, err = in.api.AccountByRiotID(ctx, platform.AccountRegion(), p.account.GameName, p.account.TagLine)
		return err
	})
	switch {
	case ok:
		return in.resolved(ctx, p, got, o.Call)
	case known != "" && gone(o):
		return engine.Wait(0, in.forget(p)).With(o.Call)
	case gone(o):
		o.Err = fmt.Errorf("riot knows no account %s: check the spelling and the tag after the #", p.account.RiotID())
	}
	return o
}

// gone reports whether Riot said for good that a PUUID or a name leads nowhere.
func gone(o engine.Outcome) bool {
	return o.Verb == engine.VerbFail && (o.Class == riot.ClassMissing || o.Class == riot.ClassWrongProject ||
		o.Class == riot.ClassBadRequest)
}

// resolved goes on to the listing, unless the player is here already under
// another name or on another platform. One who was synced where they do not play has
// nothing there: that account makes way.
func (in *syncs) resolved(ctx context.Context, p pass, got riot.Account, stat engine.CallStat) engine.Outcome {
	other, vacant, err := in.twin(ctx, p.account, got.PUUID)
	switch {
	case err != nil:
		return traffic.Fault(err).With(stat)
	case p.account.Collection != "" && other.ID != "": // that one is listed
		return engine.Done(func(tx engine.Tx) error {
			return in.change(tx, p.args, func(a *league.Account, run *league.Run) error {
				run.Phase, run.Finished, run.Result = string(engine.PhaseDone), now(), resultCompleted
				a.Status = engine.SyncCompleted.String()
				return nil
			})
		}).With(stat)
	case other.ID == "" || vacant:
		return engine.Wait(0, func(tx engine.Tx) error { return in.saveResolved(tx, p, got, other, stat.Calls > 0) }).
			With(stat)
	case other.RiotID() == p.account.RiotID():
		return engine.Fail(fmt.Errorf("%s is known already, on %s: sync it with --platform %s", other.RiotID(), other.Platform, other.Platform)).As(classSame).With(stat)
	}
	return engine.Fail(fmt.Errorf("%s is the same player as %s: sync that one", p.account.RiotID(), other.RiotID())).
		As(classSame).With(stat)
}

// saveResolved stores who the account is; other is one that makes way for it, if any. asked is false
// for an answer out of the cache: it must not make itself younger.
func (in *syncs) saveResolved(tx engine.Tx, p pass, got riot.Account, other league.Account, asked bool) error {
	if other.ID != "" {
		if err := in.makeWay(tx, other.ID); err != nil {
			return err
		}
	}
	return in.change(tx, p.args, func(a *league.Account, run *league.Run) error {
		run.Phase = string(engine.PhaseList)
		if a.Collection != "" { // who asks for the player again does so by the name that was given
			got.GameName, got.TagLine = "", ""
		}
		if asked {
			return in.identify(tx, a, p.project, got)
		}
		name(a, p.project, got)
		return nil
	})
}

// forget puts a PUUID aside that the key in use cannot read, so that the Riot ID
// is resolved again. The account keeps it under another name: the matches that are stored know the player by it.
func (in *syncs) forget(p pass) func(engine.Tx) error {
	return func(tx engine.Tx) error {
		return in.change(tx, p.args, func(a *league.Account, run *league.Run) error {
			a.PUUIDs = maps.Clone(a.PUUIDs)
			if old := a.PUUIDs[p.project]; old != "" {
				a.PUUIDs[p.project+" until "+now().Format(time.DateTime)] = old
			}
			delete(a.PUUIDs, p.project)
			run.Phase = string(engine.PhaseResolve)
			if err := in.store.CachePUUID(tx, a.GameName, a.TagLine, p.project, "", now()); err != nil {
				return fmt.Errorf("drop the PUUID of %s: %w", a.RiotID(), err)
			}
			return nil
		})
	}
}

// change loads an account and its run as they are now, lets edit change them, and stores both. What the
// attempt has read before its call may be older than that.
func (in *syncs) change(tx engine.Tx, args syncArgs, edit func(*league.Account, *league.Run) error) error {
	a, err := in.store.Account(tx, args.Account)
	if err != nil {
		return fmt.Errorf("load account %s: %w", args.Account, err)
	}
	run, err := in.store.Run(tx, args.Run)
	if err != nil {
		return fmt.Errorf("load run %s: %w", args.Run, err)
	}
	if err := edit(&a, &run); err != nil {
		return err
	}
	a.Updated = now()
	if err := in.store.SaveRun(tx, run); err != nil {
		return fmt.Errorf("save run %s: %w", run.ID, err)
	}
	if err := in.store.SaveAccount(tx, a); err != nil {
		return fmt.Errorf("save account %s: %w", a.ID, err)
	}
	return nil
}
