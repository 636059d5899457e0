package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot/route"
)

// who is an account as a person names it.
type who struct {
	id, name, tag string
	platform      route.Platform // "" = not said
}

func whoIs(account, platform string) (w who, err error) {
	if platform != "" {
		if w.platform, err = route.ParsePlatform(platform); err != nil {
			return w, engine.Problemf(engine.ErrInvalid, "", "%s", err)
		}
	}
	if !strings.Contains(account, "#") {
		if _, err := ulid.ParseStrict(account); err == nil {
			w.id = account
			return w, nil
		}
	}
	if w.name, w.tag, err = route.ParseRiotID(account); err != nil {
		return w, engine.Problemf(engine.ErrInvalid, "", "%s", err)
	}
	return w, nil
}

func (w who) String() string {
	if w.id != "" {
		return w.id
	}
	return w.name + "#" + w.tag
}

// findOrMake finds the account, or makes it if may says so and the platform is
// known.
func (in *Ingest) findOrMake(tx engine.Tx, w who, may bool) (a league.Account, err error) {
	if w.id != "" {
		a, err = in.store.Account(tx, w.id)
	} else {
		a, err = in.store.AccountNamed(tx, w.name, w.tag, string(w.platform))
	}
	switch {
	case err == nil:
		return a, nil
	case !errors.Is(err, engine.ErrNotFound):
		return a, fmt.Errorf("look up %s: %w", w, err)
	case w.id != "" || !may:
		return a, engine.Problemf(engine.ErrNotFound, "list the accounts to see their names", "there is no account %s", w)
	case w.platform == "":
		return a, engine.Problemf(engine.ErrInvalid, "name its platform, such as euw1", "%s is new here", w)
	}
	a = league.Account{
		ID: newID(), GameName: w.name, TagLine: w.tag, Platform: string(w.platform),
		Status: engine.SyncNever.String(), Created: now(), Updated: now(),
	}
	if err := in.store.SaveAccount(tx, a); err != nil {
		return a, fmt.Errorf("create account %s: %w", w, err)
	}
	return a, nil
}

// newID makes a ULID: ids of runs and accounts sort by age.
func newID() string { return ulid.Make().String() }

// askOf checks what a sync shall cover. What it leaves open, complete fills in.
func askOf(ask engine.SyncAsk) (league.Ask, error) {
	want := league.Ask{
		Mode: cmp.Or(ask.Mode, ModeFull), Count: ask.Count, Floor: ask.Since.UTC().Truncate(time.Second),
		Timelines: league.Timelines(ask.Timelines), Force: ask.Force,
	}
	if ask.Since.IsZero() {
		want.Floor = time.Time{}
	}
	switch {
	case want.Mode != ModeFull && want.Mode != ModeLatest:
		return want, engine.Problemf(engine.ErrInvalid, "", "%q is no kind of sync: use full or latest", ask.Mode)
	case want.Count < 0:
		return want, engine.Problemf(engine.ErrInvalid, "", "the newest %d matches cannot be listed: give a number above 0, or 0 for all", ask.Count)
	case want.Floor.After(now()):
		return want, engine.Problemf(engine.ErrInvalid, "", "%s lies in the future: give an instant in the past", ask.Since.Format(time.DateTime))
	}
	switch want.Timelines {
	case "", league.TimelinesAll, league.TimelinesRanked, league.TimelinesNone:
	default:
		return want, engine.Problemf(engine.ErrInvalid, "", "%q is no choice of timelines: use all, ranked or none", ask.Timelines)
	}
	switch ask.Cause {
	case "", engine.CauseLinked, engine.CauseStale:
	default:
		return want, engine.Problemf(engine.ErrInvalid, "", "%q is no cause of a sync: use linked or stale, or none for a manual one", ask.Cause)
	}
	return want, nil
}

// complete fills in what an ask leaves open: by the account's policy, then by the
// settings.
func (in *Ingest) complete(want league.Ask, p league.Policy) league.Ask {
	lookback := p.Lookback
	if want.Mode == ModeLatest {
		want.Count = cmp.Or(want.Count, in.opt.LatestCount)
		lookback = cmp.Or(lookback, in.opt.LatestLookback)
	}
	if want.Floor.IsZero() && lookback > 0 {
		want.Floor = now().Add(-lookback).Truncate(time.Second)
	}
	want.Timelines = cmp.Or(want.Timelines, p.Timelines, league.TimelinesAll)
	want.Filter = p.Filter()
	return want
}
