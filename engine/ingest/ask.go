package ingest

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot/route"
)

// asks fill in what an ask for a sync leaves open.
type asks struct {
	means
}

// who is an account as a person names it: by its id or its PUUID, or as name "Blue Heron" and tag "KR1".
type who struct {
	id, puuid, name, tag string
	platform             route.Platform // "" = not said
}

// whoIs reads an account as a person or a script gives it: its id, its PUUID, or Name#TAG. Ids have no "#"
// and a Riot ID always has one, so that none is taken for the other. A platform may be left out of both; who
// needs it for a new account says so (findOrMake). Errors are *engine.Problem with engine.ErrInvalid.
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
		if len(account) == engine.PUUIDLength {
			w.puuid = account
			return w, nil
		}
	}
	if w.name, w.tag, err = route.ParseRiotID(account); err != nil {
		return w, engine.Problemf(engine.ErrInvalid, "", "%s", err)
	}
	return w, nil
}

// String names the account in errors, as it was asked for.
func (w who) String() string {
	if w.name == "" {
		return cmp.Or(w.id, w.puuid)
	}
	return w.name + "#" + w.tag
}

// newID makes a ULID: ids of runs and accounts sort by age.
func newID() string { return ulid.Make().String() }

// askOf checks what a sync shall cover. What it leaves open, complete fills in. The floor is cut to a
// whole second, which is the grain of Riot's lists: else a floor that was stored and the one that was
// asked for would differ by parts of it. Errors are *engine.Problem with engine.ErrInvalid.
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
		return want, engine.Problemf(engine.ErrInvalid, "",
			"the newest %d matches cannot be listed: give a number above 0, or 0 for all", ask.Count)
	case want.Floor.After(now()):
		return want, engine.Problemf(engine.ErrInvalid, "", "%s lies in the future: give an instant in the past",
			ask.Since.Format(time.DateTime))
	}
	switch want.Timelines {
	case "", league.TimelinesAll, league.TimelinesRanked, league.TimelinesNone:
	default:
		return want, engine.Problemf(engine.ErrInvalid, "", "%q is no choice of timelines: use all, ranked or none",
			ask.Timelines)
	}
	switch ask.Cause {
	case "", engine.CauseLinked, engine.CauseStale:
	default:
		return want, engine.Problemf(engine.ErrInvalid, "",
			"%q is no cause of a sync: use linked or stale, or none for a manual one", ask.Cause)
	}
	return want, nil
}

// complete fills in what an ask leaves open: by the account's policy, then by the
// settings. What was asked for by hand always wins. Only `latest` has a number and a span by the
// settings: a full sync without them lists everything.
func (in *asks) complete(want league.Ask, p league.Policy) league.Ask {
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

// policyOf is what the account's syncs cover: its own policy, and where that says
// nothing those of its tags, the first one first.
func (in *asks) policyOf(tx engine.Tx, a league.Account) (league.Policy, error) {
	p := a.Policy
	for _, tag := range a.Tags {
		of, err := in.store.TagPolicy(tx, tag)
		if err != nil {
			return p, fmt.Errorf("load the policy of tag %s: %w", tag, err)
		}
		p = p.Or(of)
	}
	return p, nil
}
