package ingest

import (
	"context"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/route"
)

// witness knows calls that a lane has answered well before. engine/traffic makes one of them when a
// lane fails (see its proof): if that is answered, the failure was the job's own, else it is the
// lane's.
type witness struct {
	means
}

// knownMost is how many things that were answered before take turns: one of them may
// have gone bad since.
const knownMost = 5

// known lists calls that a lane has answered well before, none of them about what the
// job itself is about, nor about an account that is ill. The store knows: it outlives a
// restart.
func (in *witness) known(ctx context.Context, at traffic.Lane, j engine.Job,
	ill func(account string) bool) (calls []func(context.Context) error) {
	err := in.store.Read(ctx, func(tx engine.Tx) error {
		if part := parts[route.Method(at.Method)]; part != "" {
			calls = in.knownMatches(tx, at, part, j)
			return nil
		}
		for other := range in.store.AllAccounts(tx) {
			if other.ID == j.Owner || ill(other.ID) {
				continue
			}
			if call := in.knownOf(at, other); call != nil {
				calls = append(calls, call)
			}
			if len(calls) == knownMost {
				break
			}
		}
		return nil
	})
	if err != nil {
		return nil // as if nothing were known
	}
	return calls
}

// parts are the methods that fetch a part of a match. A call of the others is about an account.
var parts = map[route.Method]league.Part{route.Match: league.PartMatch, route.Timeline: league.PartTimeline}

// knownMatches are calls for parts that the lane's region has given before, those that changed last
// first. The end of the job's key names the match that the job is about.
func (in *witness) knownMatches(tx engine.Tx, at traffic.Lane, part league.Part,
	j engine.Job) (calls []func(context.Context) error) {
	ids := in.store.Fetched(tx, part, knownMost, func(id string) bool {
		of, _, err := fetchLane(id, route.Method(at.Method))
		return err == nil && of == at && !strings.HasSuffix(j.Key, ":"+id)
	})
	for _, id := range ids {
		calls = append(calls, func(ctx context.Context) (err error) {
			if part == league.PartTimeline {
				_, err = in.api.Timeline(ctx, route.Region(at.Host), id)
			} else {
				_, err = in.api.Match(ctx, route.Region(at.Host), id)
			}
			return err
		})
	}
	return calls
}

// knownOf is the call of a lane that is about an account, if it was answered before;
// nil = it was not, or goes elsewhere. Whoever has a PUUID is known to account-v1, and
// to its platform, also when it has no rank there.
func (in *witness) knownOf(at traffic.Lane, a league.Account) func(context.Context) error {
	platform, puuid := route.Platform(a.Platform), a.PUUIDs[in.project()]
	if puuid == "" {
		return nil
	}
	region := platform.AccountRegion()
	switch at {
	case listLane(a):
		if a.LastSync.IsZero() {
			return nil
		}
		return func(ctx context.Context) error {
			_, err := in.api.MatchIDs(ctx, platform.Region(), puuid, riot.MatchIDsQuery{Count: 1})
			return err
		}
	case traffic.To(region, route.AccountByRiotID):
		return func(ctx context.Context) error {
			_, err := in.api.AccountByRiotID(ctx, region, a.GameName, a.TagLine)
			return err
		}
	case traffic.To(region, route.AccountByPUUID):
		return func(ctx context.Context) error {
			_, err := in.api.AccountByPUUID(ctx, region, puuid)
			return err
		}
	case traffic.To(platform, route.LeagueEntries):
		return func(ctx context.Context) error {
			_, err := in.api.LeagueEntries(ctx, platform, puuid)
			return err
		}
	}
	return nil
}
