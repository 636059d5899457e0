package riot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/riot/route"
)

// get makes a call and reads its answer by scan.
func get[T any](ctx context.Context, c *Client, rq request, scan func([]byte) (T, error)) (v T, err error) {
	// The body goes back to a pool when do returns: scan copies what it keeps.
	rq.use = func(b *body) error { v, err = scan(b.raw.Bytes()); return err }
	err = c.do(ctx, rq)
	return v, err
}

// AccountByRiotID resolves Name#TAG. Any region knows every account; sea is asked in asia.
func (c *Client) AccountByRiotID(ctx context.Context, r route.Region, name, tag string) (Account, error) {
	return get(ctx, c, request{
		host: string(r.Account()), method: route.AccountByRiotID,
		params: []string{name, tag}, target: cut(name+"#"+tag, 40),
	}, scanAccount)
}

// AccountByPUUID gives the current Riot ID of a player; its names may be empty.
func (c *Client) AccountByPUUID(ctx context.Context, r route.Region, puuid string) (Account, error) {
	return get(ctx, c, ofPlayer(string(r.Account()), route.AccountByPUUID, puuid), scanAccount)
}

// ofPlayer asks a host about a player.
func ofPlayer(host string, m route.Method, puuid string) request {
	return request{host: host, method: m, params: []string{puuid}, target: cut(puuid, 8)}
}

// MatchIDsQuery is one page of a player's matches, newest first.
type MatchIDsQuery struct {
	Start     int       // how many to leave out; the index ends near 1000
	Count     int       // 1 to 100; 0: Riot's default, 20
	StartTime time.Time // games from then on; games before 2021-06-16 have no stored time and vanish
	EndTime   time.Time
	Queue     int    // queue id; 0: any
	Type      string // "ranked", "normal", "tourney", "tutorial"; empty: any. Both must fit
}

// maxCount is the largest page that Riot gives: 101 and more answer 400.
const maxCount = 100

// matchTypes are the values of "type". An unknown one would be a 400, and cost a call.
var matchTypes = []string{"", "ranked", "normal", "tourney", "tutorial"}

func (q MatchIDsQuery) values() (url.Values, error) {
	switch {
	case q.Start < 0:
		return nil, fmt.Errorf("start must not be negative, but is %d", q.Start)
	case q.Count < 0 || q.Count > maxCount:
		return nil, fmt.Errorf("count must be 1 to %d, but is %d", maxCount, q.Count)
	case q.Queue < 0:
		return nil, fmt.Errorf("queue must not be negative, but is %d", q.Queue)
	case !slices.Contains(matchTypes, q.Type):
		return nil, fmt.Errorf("type must be ranked, normal, tourney or tutorial, not %q", q.Type)
	}
	v := url.Values{"start": {strconv.Itoa(q.Start)}}
	// 0 is left out: it is Riot's default, or means any.
	set := func(name string, n int64) {
		if n > 0 {
			v.Set(name, strconv.FormatInt(n, 10))
		}
	}
	set("count", int64(q.Count))
	set("queue", int64(q.Queue))
	set("startTime", epoch(q.StartTime))
	set("endTime", epoch(q.EndTime))
	if q.Type != "" {
		v.Set("type", q.Type)
	}
	return v, nil
}

// epoch is in seconds: milliseconds would give an empty list (developer-relations#542).
func epoch(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// MatchIDs lists one page of a player's matches. The region is the one of the games: another gives an
// empty list and no error. Lists may be late, out of order, or hold ids that are gone.
func (c *Client) MatchIDs(ctx context.Context, r route.Region, puuid string, q MatchIDsQuery) (ids []string, err error) {
	rq := ofPlayer(string(r), route.MatchIDs, puuid)
	rq.target = fmt.Sprintf("%s +%d", rq.target, q.Start)
	if rq.query, err = q.values(); err != nil {
		return nil, c.newError(rq, BadRequest, ClassBadRequest, err.Error()+": no call was made")
	}
	return get(ctx, c, rq, scanIDs)
}

// Match fetches a match from the region of its id.
func (c *Client) Match(ctx context.Context, r route.Region, id string) (Match, error) {
	return keep(ctx, c, r, id, route.Match, matchReader)
}

// Timeline fetches the timeline of a match from the region of its id.
func (c *Client) Timeline(ctx context.Context, r route.Region, id string) (Timeline, error) {
	return keep(ctx, c, r, id, route.Timeline, timelineReader)
}

// keep fetches a part of a match together with the bytes that are to be stored of it.
func keep[T any](ctx context.Context, c *Client, r route.Region, id string, m route.Method, as reader[T]) (v T, err error) {
	rq := request{host: string(r), method: m, params: []string{id}, target: cut(id, 32)}
	// Fields first: a payload that is not about this match is not worth packing.
	rq.use = func(b *body) error {
		if v, err = as.scan(b.raw.Bytes(), id); err != nil {
			return err
		}
		*as.payload(&v), err = b.payload()
		return err
	}
	if err = c.checkRegion(rq, r, id); err == nil {
		err = c.do(ctx, rq)
	}
	if err != nil {
		var none T
		return none, err
	}
	return v, nil
}

// checkRegion: the wrong region answers 404, which would bury a match that exists.
func (c *Client) checkRegion(rq request, r route.Region, id string) error {
	home, err := route.MatchRegion(id)
	if err == nil && home != r {
		err = fmt.Errorf("match %s is in region %s, not %s", id, home, r)
	}
	if err != nil {
		return c.newError(rq, BadRequest, ClassBadRequest, err.Error()+": no call was made")
	}
	return nil
}

// Summoner tells whether a player is on a platform.
func (c *Client) Summoner(ctx context.Context, p route.Platform, puuid string) (SummonerInfo, error) {
	return get(ctx, c, ofPlayer(string(p), route.Summoner, puuid), scanSummoner)
}

// LeagueEntries lists the ranked queues of a player on a platform; empty when unranked.
func (c *Client) LeagueEntries(ctx context.Context, p route.Platform, puuid string) ([]LeagueEntry, error) {
	return get(ctx, c, ofPlayer(string(p), route.LeagueEntries, puuid), scanLeagueEntries)
}

// apexLeagues are the tiers that are one league a queue, read by one call.
var apexLeagues = map[string]route.Method{
	"CHALLENGER": route.Challengers, "GRANDMASTER": route.Grandmasters, "MASTER": route.Masters,
}

// LeaguePageSize is about how many entries a page of a division has.
const LeaguePageSize = 205

// League lists a page of the players of a ranked queue ("RANKED_SOLO_5x5") in a tier and division ("DIAMOND", "II").
// The pages of a division begin at 1, have LeaguePageSize entries each, and end with an empty one; players move between them
// while they are read. Challenger, Grandmaster and Master ("I") are one page.
func (c *Client) League(ctx context.Context, p route.Platform, queue, tier, division string, page int) ([]LeagueEntry, error) {
	rq := request{host: string(p), target: cut(tier+" "+division, 40)}
	if apex, ok := apexLeagues[tier]; ok {
		rq.method, rq.params = apex, []string{queue}
		return get(ctx, c, rq, leagueScanner(queue, tier))
	}
	rq.method, rq.params = route.LeaguePage, []string{queue, tier, division}
	rq.target = fmt.Sprintf("%s +%d", rq.target, page)
	rq.query = url.Values{"page": {strconv.Itoa(page)}}
	return get(ctx, c, rq, scanLeagueEntries)
}

// LeagueMethod is the method that lists a tier.
func LeagueMethod(tier string) route.Method { return cmp.Or(apexLeagues[tier], route.LeaguePage) }

// ProbeTarget is the Target of a [Call] by Probe that asks for nobody.
const ProbeTarget = "Farsight Probe#000"

// Probe finds out, with one call to account-v1, whether the key works at all; the engine uses it after a
// 401 or 403 to tell a dead key from a path that is refused. puuid tells the key's project besides;
// without one, the Riot ID of nobody is asked for, whose 404 is as good a proof. nil: the key works.
// WrongProject: it works, but puuid belongs to another API project. Reason.Denied: it does not work. Any
// other error: not known.
func (c *Client) Probe(ctx context.Context, r route.Region, puuid string) error {
	var err error
	if puuid == "" {
		name, tag, _ := strings.Cut(ProbeTarget, "#")
		_, err = c.AccountByRiotID(ctx, r, name, tag)
	} else {
		_, err = c.AccountByPUUID(ctx, r, puuid)
	}
	if e, ok := errors.AsType[*Error](err); ok && (e.Status == 404 || (e.Status == 400 && e.Reason == BadRequest)) {
		return nil // whoever is told what is missing was let in
	}
	return err
}

// ProbeKey is [Client.Probe] of a key that need not be the one in use, which stays.
func (c *Client) ProbeKey(ctx context.Context, r route.Region, k Key) error {
	other := *c
	other.keys = NewKeys(k)
	known, anew := c.wire.(wire), c.anew.(wire)
	known.keys, anew.keys = other.keys, other.keys
	other.wire, other.anew, other.carrier = known, anew, nil
	return other.Probe(ctx, r, "")
}
