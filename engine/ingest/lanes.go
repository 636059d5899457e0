package ingest

import (
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/riot/route"
)

// LaneOf reads where the next call goes from the job alone: who asks has no transaction to look
// anything up in. The zero Lane = the next attempt makes no call, or nobody can tell; then the handler
// finds out. more says that a call is sure to follow this one: pacing keeps room for it.
var LaneOf traffic.Lanes = laneOf

// laneOf is [LaneOf]. Reports, the sweep and pruning make no call.
func laneOf(j engine.Job) (at traffic.Lane, more bool) {
	switch j.Kind {
	case KindSync:
		return syncLane(j), false
	case KindMatch:
		at, _, _ = fetchLane(matchOf(j), route.Match)
		args, err := decode[fetchArgs](j)
		return at, err == nil && args.More
	case KindTimeline:
		at, _, _ = fetchLane(matchOf(j), route.Timeline)
	case KindRank, KindResolve:
		at = accountLane(j)
	}
	return at, false
}

// matchOf is the id of the match that a job fetches a part of; "" = it is no such job.
func matchOf(j engine.Job) string {
	switch j.Kind {
	case KindMatch:
		return strings.TrimPrefix(j.Key, matchKey(""))
	case KindTimeline:
		return strings.TrimPrefix(j.Key, timelineKey(""))
	}
	return ""
}

// syncLane: a sync resolves, lists, and makes no call once it has waited for its
// children. A job's phase goes up each time it goes on, so that 0 is resolving and what follows is
// listing, until it has a group.
func syncLane(j engine.Job) traffic.Lane {
	if j.Group != 0 {
		return traffic.Lane{}
	}
	args, err := decode[syncArgs](j)
	if err != nil {
		return traffic.Lane{}
	}
	a := league.Account{Platform: args.Platform}
	if j.Phase > 0 || args.Collection != "" && args.Known {
		return listLane(a)
	}
	if args.Known {
		a.PUUIDs = map[string]string{"": "known"}
	}
	return resolveLane(a, "")
}

// fetchLane is where a part of a match is fetched: the region comes from its id, of KR_7214550881 it is asia.
// An id of no platform that is known is an error, and final.
func fetchLane(id string, method route.Method) (traffic.Lane, route.Region, error) {
	region, err := route.MatchRegion(id)
	if err != nil {
		return traffic.Lane{}, "", err
	}
	return traffic.To(region, method), region, nil
}

// listLane is where the account's matches are listed.
func listLane(a league.Account) traffic.Lane {
	return traffic.To(route.Platform(a.Platform).Region(), route.MatchIDs)
}

// accountLane is where the next call of a rank.fetch or account.resolve goes: ranks are asked of the
// platform, a Riot ID of its region. The zero Lane = its arguments cannot be read, and the handler ends it.
func accountLane(j engine.Job) traffic.Lane {
	args, err := decode[rankArgs](j)
	if err != nil {
		return traffic.Lane{}
	}
	platform, err := route.ParsePlatform(args.Platform)
	switch {
	case err != nil:
		return traffic.Lane{}
	case j.Kind == KindResolve:
		return traffic.To(platform.AccountRegion(), route.AccountByRiotID)
	}
	return traffic.To(platform, route.LeagueEntries)
}

// resolveLane is where the account's identity is asked for: by its PUUID where that is known under the
// project, else by its Riot ID. The two have limits of their own.
func resolveLane(a league.Account, project string) traffic.Lane {
	method := route.AccountByRiotID
	if a.PUUIDs[project] != "" {
		method = route.AccountByPUUID
	}
	return traffic.To(route.Platform(a.Platform).AccountRegion(), method)
}
