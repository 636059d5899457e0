package route

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Method is a Riot endpoint: the unit that has rate limits of its own on each host. Riot tells methods
// apart by path template, not by URL.
type Method string

// The endpoints that Farsight calls.
const (
	AccountByRiotID Method = "account-v1.by-riot-id"
	AccountByPUUID  Method = "account-v1.by-puuid"
	ActiveRegion    Method = "account-v1.active-region"
	MatchIDs        Method = "match-v5.ids"
	Match           Method = "match-v5.match"
	Timeline        Method = "match-v5.timeline"
	Summoner        Method = "summoner-v4.by-puuid"
	LeagueEntries   Method = "league-v4.by-puuid"
	Challengers     Method = "league-v4.challenger"
	Grandmasters    Method = "league-v4.grandmaster"
	Masters         Method = "league-v4.master"
	LeaguePage      Method = "league-v4.entries"
	Status          Method = "lol-status-v4.platform-data"
)

// Routing says which kind of host serves a method.
type Routing uint8

// The kinds of host.
const (
	ToAccount  Routing = iota + 1 // americas, asia or europe: any knows every account
	ToRegion                      // the region of the match: americas, asia, europe or sea
	ToPlatform                    // the platform itself
)

type endpoint struct {
	method   Method
	routing  Routing
	template string
	segments []string // of template, without the leading slash; "{name}" is a parameter
}

// endpoints is the whole table; Template, Routing, Path and Recognise read nothing else.
var endpoints = []endpoint{
	at(AccountByRiotID, ToAccount, "/riot/account/v1/accounts/by-riot-id/{gameName}/{tagLine}"),
	at(AccountByPUUID, ToAccount, "/riot/account/v1/accounts/by-puuid/{puuid}"),
	at(ActiveRegion, ToAccount, "/riot/account/v1/region/by-game/{game}/by-puuid/{puuid}"),
	at(MatchIDs, ToRegion, "/lol/match/v5/matches/by-puuid/{puuid}/ids"),
	at(Match, ToRegion, "/lol/match/v5/matches/{matchId}"),
	at(Timeline, ToRegion, "/lol/match/v5/matches/{matchId}/timeline"),
	at(Summoner, ToPlatform, "/lol/summoner/v4/summoners/by-puuid/{puuid}"),
	at(LeagueEntries, ToPlatform, "/lol/league/v4/entries/by-puuid/{puuid}"),
	at(Challengers, ToPlatform, "/lol/league/v4/challengerleagues/by-queue/{queue}"),
	at(Grandmasters, ToPlatform, "/lol/league/v4/grandmasterleagues/by-queue/{queue}"),
	at(Masters, ToPlatform, "/lol/league/v4/masterleagues/by-queue/{queue}"),
	at(LeaguePage, ToPlatform, "/lol/league/v4/entries/{queue}/{tier}/{division}"),
	at(Status, ToPlatform, "/lol/status/v4/platform-data"),
}

func at(m Method, r Routing, template string) endpoint {
	return endpoint{m, r, template, strings.Split(template[1:], "/")}
}

// Methods lists every endpoint.
func Methods() []Method {
	all := make([]Method, len(endpoints))
	for i, e := range endpoints {
		all[i] = e.method
	}
	return all
}

// Template is the path of m with its parameters in braces; empty for an unknown method.
func (m Method) Template() string { return m.endpoint().template }

// Routing says which kind of host serves m; zero for an unknown method.
func (m Method) Routing() Routing { return m.endpoint().routing }

// Path is the escaped path of m with params in the order of the template. Each is escaped exactly once
// (double escaping gives 404, developer-relations#481). A parameter that is empty, "." or ".." is
// refused: it would name another endpoint.
func (m Method) Path(params ...string) (string, error) {
	e := m.endpoint()
	var b strings.Builder
	for _, s := range e.segments {
		b.WriteByte('/')
		if !isParam(s) {
			b.WriteString(s)
			continue
		}
		if len(params) == 0 || params[0] == "" || params[0] == "." || params[0] == ".." {
			return "", fmt.Errorf("%s needs a value for %s", m, s)
		}
		b.WriteString(url.PathEscape(params[0]))
		params = params[1:]
	}
	// No segments: the method is none of ours. Parameters left over: they are of another one.
	if b.Len() == 0 || len(params) > 0 {
		return "", fmt.Errorf("%q is not called with these %d parameters", m, len(params))
	}
	return b.String(), nil
}

// Recognise tells which method an escaped URL path (url.URL.EscapedPath) belongs to, and its unescaped
// parameters by name. ok is false for a path that is none of ours.
func Recognise(path string) (m Method, params map[string]string, ok bool) {
	rest, rooted := strings.CutPrefix(path, "/")
	if !rooted {
		return "", nil, false
	}
	segments := strings.Split(rest, "/")
	for _, e := range endpoints {
		if params, ok := e.fits(segments); ok {
			return e.method, params, true
		}
	}
	return "", nil, false
}

func (e endpoint) fits(segments []string) (map[string]string, bool) {
	if len(segments) != len(e.segments) {
		return nil, false
	}
	params := map[string]string{}
	for i, want := range e.segments {
		if !isParam(want) {
			if segments[i] != want {
				return nil, false
			}
			continue
		}
		value, err := url.PathUnescape(segments[i])
		if err != nil || value == "" {
			return nil, false
		}
		params[strings.Trim(want, "{}")] = value
	}
	return params, true
}

func (m Method) endpoint() endpoint {
	i := slices.IndexFunc(endpoints, func(e endpoint) bool { return e.method == m })
	if i < 0 {
		return endpoint{}
	}
	return endpoints[i]
}

func isParam(segment string) bool { return strings.HasPrefix(segment, "{") }
