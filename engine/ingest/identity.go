package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/route"
)

// identities learn who an account is under the key in use, and resolve it again under another.
type identities struct {
	means
}

// twin gives another account that has the PUUID, and whether it stands for nobody on its
// platform. other.ID is "" when there is none. Only an account of another platform can be vacant: on
// the same one it is the same player under an earlier name. Of a player of a collection it gives another one of that.
func (in *identities) twin(ctx context.Context, a league.Account,
	puuid string) (other league.Account, vacant bool, err error) {
	err = in.store.Read(ctx, func(tx engine.Tx) error {
		if a.Collection != "" {
			other, _, err = in.store.PlayerOf(tx, a.Collection, a.Platform, puuid)
			return err
		}
		id, ok, err := in.store.AccountOfPUUID(tx, puuid)
		if err != nil || !ok || id == a.ID {
			return err
		}
		if other, err = in.store.Account(tx, id); err != nil {
			return err
		}
		if other.Platform != a.Platform {
			vacant, err = in.vacant(tx, other)
		}
		return err
	})
	if err != nil {
		return other, false, fmt.Errorf("look for another account of the player: %w", err)
	}
	return other, vacant, nil
}

// name gives the account the identity that Riot answered with.
func name(a *league.Account, project string, got riot.Account) {
	a.PUUIDs = maps.Clone(a.PUUIDs)
	if a.PUUIDs == nil {
		a.PUUIDs = map[string]string{}
	}
	a.PUUIDs[project] = got.PUUID
	a.GameName, a.TagLine = cmp.Or(got.GameName, a.GameName), cmp.Or(got.TagLine, a.TagLine)
}

// identify is name for an answer that came just now: it is kept for a day (S4-8). An answer out of the
// cache is given to name instead, or it would never grow old.
func (in *identities) identify(tx engine.Tx, a *league.Account, project string, got riot.Account) error {
	name(a, project, got)
	a.Resolved = now()
	err := in.store.CachePUUID(tx, a.GameName, a.TagLine, project, got.PUUID, a.Resolved.Add(identityTTL))
	if err != nil {
		return fmt.Errorf("cache the PUUID of %s: %w", a.RiotID(), err)
	}
	return nil
}

// notHere takes an account's PUUIDs away: they are of a player who is not on its
// platform, and would keep that player's own account from being synced.
func notHere(a *league.Account) { a.PUUIDs = nil }

// makeWay does so for an account that stands for nobody, if it still does. When it got a match or a
// sync meanwhile, engine.ErrConflict undoes the transaction.
func (in *identities) makeWay(tx engine.Tx, account string) error {
	return changeAccount(in.store, tx, account, func(a *league.Account) error {
		if vacant, err := in.vacant(tx, *a); err != nil || !vacant {
			return errors.Join(err, engine.ErrConflict)
		}
		notHere(a)
		a.LastError = a.RiotID() + " is unknown on " + a.Platform + ": it was found on another platform"
		return nil
	})
}

// changeAccount edits an account and stores it.
func changeAccount(s Store, tx engine.Tx, id string, edit func(*league.Account) error) error {
	a, err := s.Account(tx, id)
	if err != nil {
		return fmt.Errorf("load account %s: %w", id, err)
	}
	if err := edit(&a); err != nil {
		return err
	}
	a.Updated = now()
	if err := s.SaveAccount(tx, a); err != nil {
		return fmt.Errorf("save account %s: %w", a.ID, err)
	}
	return nil
}

// vacant reports whether an account stands for nobody: it was synced on a platform where
// the player is not, before that was looked for.
func (in *identities) vacant(tx engine.Tx, a league.Account) (bool, error) {
	if a.Home || a.Status == engine.SyncPending.String() || a.Status == engine.Syncing.String() {
		return false, nil
	}
	for _, err := range in.store.Games(tx, a.ID) {
		if err != nil {
			return false, fmt.Errorf("read the games of account %s: %w", a.ID, err)
		}
		return false, nil
	}
	return true, nil
}

// resolveAgain is the handler of account.resolve: the PUUID of a Riot ID under
// the key in use. Nothing is called when a sync has resolved the account meanwhile.
func (in *identities) resolveAgain(ctx context.Context, r engine.Run) engine.Outcome {
	args, a, fault := loadRanked(ctx, in.store, r.Job)
	if fault != nil {
		return fault.outcome()
	}
	project := in.project()
	if a.PUUIDs[project] != "" {
		return engine.Done(nil)
	}
	region := route.Platform(args.Platform).AccountRegion()
	trip := traffic.Trip{Run: r, Account: r.Job.Owner, At: accountLane(r.Job), Region: region}
	var got riot.Account
	o, ok := in.calls.Call(ctx, trip, func(ctx context.Context) (err error) {
		got, err = in.api.AccountByRiotID(ctx, region, a.GameName, a.TagLine)
		return err
	})
	if !ok {
		return o
	}
	other, _, err := in.twin(ctx, a, got.PUUID)
	switch {
	case err != nil:
		return traffic.Fault(err).With(o.Call)
	case other.ID != "":
		return engine.Fail(fmt.Errorf("%s is the same player as %s now", a.RiotID(), other.RiotID())).As(classSame).
			With(o.Call)
	}
	return engine.Done(func(tx engine.Tx) error {
		return changeAccount(in.store, tx, a.ID,
			func(a *league.Account) error { return in.identify(tx, a, project, got) })
	}).With(o.Call)
}

// classUnknown ends a job of an account whose PUUID is not known under the key in
// use: its sync resolves it.
const classUnknown engine.Class = "unresolved"

// unready says why a job about an account cannot begin: its arguments or the account are no good, or the
// store did not answer.
type unready struct {
	err  error
	args bool // it never will
}

func (u *unready) outcome() engine.Outcome {
	if u.args {
		return badArgs(u.err)
	}
	return traffic.Fault(u.err)
}

// loadRanked reads the account of a rank.fetch or account.resolve.
func loadRanked(ctx context.Context, store Store,
	j engine.Job) (args rankArgs, a league.Account, fault *unready) {
	args, err := decode[rankArgs](j)
	if err == nil {
		_, err = route.ParsePlatform(args.Platform)
	}
	if err != nil {
		return args, a, &unready{err, true}
	}
	err = store.Read(ctx, func(tx engine.Tx) error {
		a, err = store.Account(tx, args.Account)
		return err
	})
	if err != nil {
		return args, a, &unready{fmt.Errorf("load account %s: %w", args.Account, err),
			errors.Is(err, engine.ErrNotFound)}
	}
	return args, a, nil
}
