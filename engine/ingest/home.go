package ingest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/route"
)

// A Riot ID belongs to all platforms, and whoever plays on another one is listed as a
// player without matches, or with those of the other platform if they share a region.
// So an account that nobody has seen on its platform yet, and of which no match there is
// listed, is asked for there once.

// atHome finds out whether the player of a listing that is complete is on the account's
// platform. ok is false when the outcome is the answer: nobody could tell yet, or it is
// unknown there. The call is made behind the last page alone, and fanOut notes on the account that it
// is at home: nobody asks again.
func (in *syncs) atHome(ctx context.Context, r engine.Run, p pass, listed []string) (o engine.Outcome, ok bool) {
	platform := route.Platform(p.account.Platform)
	if p.account.Home || slices.ContainsFunc(listed, func(id string) bool { return playedOn(id, platform) }) {
		return o, true
	}
	played, err := in.playedAt(ctx, p.account)
	switch {
	case err != nil:
		return traffic.Fault(err), false
	case played:
		return o, true
	}
	puuid := p.account.PUUIDs[p.project]
	trip := traffic.Trip{Run: r, Account: r.Job.Owner, At: traffic.To(platform, route.Summoner),
		Region: platform.AccountRegion()}
	o, ok = in.calls.Call(ctx, trip, func(ctx context.Context) error {
		_, err := in.api.Summoner(ctx, platform, puuid)
		return err
	})
	switch {
	case ok, o.Verb != engine.VerbFail:
		return o, ok
	case o.Class != riot.ClassMissing: // a key may be refused this path: what cannot be told is let pass
		return o, true
	}
	return engine.Fail(unknownThere(p.account.RiotID(), platform, listed)).As(ClassPlatform).With(o.Call), false
}

// unknownThere is the error of an account that is not on its platform. A match that was listed tells
// where the player does play.
func unknownThere(riotID string, there route.Platform, listed []string) error {
	for _, id := range listed {
		if other, err := route.OfMatch(id); err == nil {
			return fmt.Errorf("%s is unknown on %s: it has no summoner there, and plays on %s: sync it with --platform %s", riotID, there, other, other)
		}
	}
	return fmt.Errorf("%s is unknown on %s: it has no matches and no summoner there: sync it with the --platform on which it plays", riotID, there)
}

// playedOn reads the platform from a match's id: EUW1_7123 was played on euw1.
func playedOn(match string, platform route.Platform) bool {
	return strings.HasPrefix(match, strings.ToUpper(string(platform))+"_")
}

// playedAt reports whether a match of the account on its platform is stored: what was listed this time may
// be the newest few, and all of them of elsewhere.
func (in *syncs) playedAt(ctx context.Context, a league.Account) (played bool, err error) {
	err = in.store.Read(ctx, func(tx engine.Tx) error {
		for g, err := range in.store.Games(tx, a.ID) {
			if err != nil {
				return fmt.Errorf("read the games of account %s: %w", a.ID, err)
			}
			if playedOn(g.Match, route.Platform(a.Platform)) {
				played = true
				return nil
			}
		}
		return nil
	})
	return played, err
}
