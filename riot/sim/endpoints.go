package sim

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim/internal/keyed"
	"github.com/farsight-console/farsight/riot/sim/internal/world"
)

// endpoints answer the calls that the limiter let through.
var endpoints = map[route.Method]func(*Sim, *call) *answer{
	route.AccountByRiotID: (*Sim).accountByRiotID,
	route.AccountByPUUID:  (*Sim).accountByPUUID,
	route.ActiveRegion:    (*Sim).activeRegion,
	route.MatchIDs:        (*Sim).matchIDs,
	route.Match:           (*Sim).match,
	route.Timeline:        (*Sim).timeline,
	route.Summoner:        (*Sim).summoner,
	route.LeagueEntries:   (*Sim).league,
	route.Status:          (*Sim).status,
}

// homes are the calls by which an invented player is looked for where they might live.
var homes = map[route.Method]bool{route.MatchIDs: true, route.Summoner: true, route.LeagueEntries: true}

// serve is the answer without any fault.
func (s *Sim) serve(c *call) *answer {
	if _, needed := c.params["puuid"]; needed && !c.known {
		return statusAnswer(400, "Bad Request - Exception decrypting "+c.params["puuid"])
	}
	if c.known && homes[c.method] {
		s.world.MoveIn(c.who, c.host)
	}
	return endpoints[c.method](s, c)
}

// accountByRiotID looks a player up by name, in any case of letters. With Options.Invent everybody exists:
// whoever is asked for is given a history of their own.
func (s *Sim) accountByRiotID(c *call) *answer {
	p, ok := s.world.Find(c.params["gameName"], c.params["tagLine"])
	if !ok && s.opt.Invent {
		if a := s.world.Invent(c.id); a != nil {
			p, ok = a.Me, true
		}
	}
	if !ok {
		a := jsonAnswer(404, problemText{Status: codeFirst{404, "Data not found - No results found for player with riot id " + c.id}})
		a.header["Content-Type"] = "application/json"
		return a
	}
	name, tag := s.world.RiotID(p)
	return jsonAnswer(200, accountText{c.project.PUUID(p), name, tag})
}

// codeFirst is how account-v1 orders an error.
type codeFirst struct {
	Code    int    `json:"status_code"`
	Message string `json:"message"`
}

// accountText is an account as account-v1 writes it; the nameless have a PUUID alone.
type accountText struct {
	PUUID string `json:"puuid"`
	Name  string `json:"gameName,omitempty"`
	Tag   string `json:"tagLine,omitempty"`
}

// accountByPUUID gives the present name of a player.
func (s *Sim) accountByPUUID(c *call) *answer {
	if a := s.world.Known(c.who); a != nil && a.Spec.Nameless {
		return jsonAnswer(200, accountText{PUUID: c.params["puuid"]})
	}
	name, tag := s.world.RiotID(c.who)
	return jsonAnswer(200, accountText{c.params["puuid"], name, tag})
}

func (s *Sim) activeRegion(c *call) *answer {
	game := c.params["game"]
	if game != "lol" && game != "tft" {
		return statusAnswer(400, "Bad Request - Invalid game "+game)
	}
	return jsonAnswer(200, struct {
		PUUID  string         `json:"puuid"`
		Game   string         `json:"game"`
		Region route.Platform `json:"region"`
	}{c.params["puuid"], game, s.world.Platform(c.who)})
}

// summoner is 404 on a platform where the player does not live: that is how a client finds out.
func (s *Sim) summoner(c *call) *answer {
	if !s.world.LivesAt(c.who, c.host) {
		return statusAnswer(404, "Data not found - summoner not found")
	}
	return jsonAnswer(200, struct {
		PUUID    string `json:"puuid"`
		Icon     int    `json:"profileIconId"`
		Revision int64  `json:"revisionDate"`
		Level    int    `json:"summonerLevel"`
	}{c.params["puuid"], c.who.Icon(), s.world.Epoch.UnixMilli(), c.who.Level()})
}

var (
	tiers = []string{"IRON", "BRONZE", "SILVER", "GOLD", "PLATINUM", "EMERALD", "DIAMOND"}
	ranks = []string{"IV", "III", "II", "I"}
)

// leagueEntry is a rank as league-v4 writes it.
type leagueEntry struct {
	LeagueID   string `json:"leagueId"`
	Queue      string `json:"queueType"`
	Tier       string `json:"tier"`
	Rank       string `json:"rank"`
	PUUID      string `json:"puuid"`
	Points     int    `json:"leaguePoints"`
	Wins       int    `json:"wins"`
	Losses     int    `json:"losses"`
	Veteran    bool   `json:"veteran"`
	Inactive   bool   `json:"inactive"`
	FreshBlood bool   `json:"freshBlood"`
	HotStreak  bool   `json:"hotStreak"`
}

// league is [] for the unranked, and on a platform where the player is not.
func (s *Sim) league(c *call) *answer {
	unranked := c.who.Stranger && keyed.Start(s.opt.Seed).Str("unranked").Num(c.who.Pack()).Below(3) == 0
	if a := s.world.Known(c.who); a != nil {
		unranked = a.Spec.Unranked
	}
	entries := []leagueEntry{}
	if !unranked && s.world.LivesAt(c.who, c.host) {
		r := keyed.Start(s.opt.Seed).Str("league").Num(c.who.Pack()).Stream()
		entries = append(entries, newEntry(r, c.params["puuid"], "RANKED_SOLO_5x5"))
		if r.Chance(50) {
			entries = append(entries, newEntry(r, c.params["puuid"], "RANKED_FLEX_SR"))
		}
	}
	return jsonAnswer(200, entries)
}

// newEntry draws in the order of the fields.
func newEntry(r *keyed.Stream, puuid, queue string) leagueEntry {
	id := fmt.Sprintf("%08x-%04x-3%03x-8%03x-%012x", r.Next()>>32, r.Next()>>48, r.Next()>>52, r.Next()>>52, r.Next()>>16)
	e := leagueEntry{LeagueID: id, Queue: queue, PUUID: puuid}
	e.Tier, e.Rank = tiers[r.Below(len(tiers))], ranks[r.Below(len(ranks))]
	e.Points, e.Wins, e.Losses = r.Below(100), r.Between(5, 200), r.Between(5, 200)
	e.Veteran, e.FreshBlood, e.HotStreak = r.Chance(10), r.Chance(10), r.Chance(20)
	return e
}

func (s *Sim) status(c *call) *answer {
	host := strings.ToUpper(c.host)
	return jsonAnswer(200, json.RawMessage(fmt.Sprintf(`{"id":%q,"name":"Simulated %s","locales":["en_US"],"maintenances":[],"incidents":[]}`, host, host)))
}

func (s *Sim) match(c *call) *answer    { return s.payload(c, false) }
func (s *Sim) timeline(c *call) *answer { return s.payload(c, true) }

// payload is a match or its timeline; 404 in the wrong region, past retention, or when it never was stored.
func (s *Sim) payload(c *call, timeline bool) *answer {
	g := s.world.Game(c.id)
	if g == nil || string(g.Platform.Region()) != c.host || s.expired(g, timeline) || (g.Missing && !timeline) {
		return statusAnswer(404, "Data not found - match file not found")
	}
	write := func(b []byte) []byte { return s.world.AppendMatch(b, g, c.project) }
	if timeline {
		write = func(b []byte) []byte { return s.world.AppendTimeline(b, g, c.project) }
	}
	if g.Recorded != nil {
		data, ok := g.Recorded.Replay(g, timeline, c.project)
		if !ok {
			return statusAnswer(404, "Data not found - match file not found")
		}
		write = func(b []byte) []byte { return append(b, data...) }
	}
	a := textAnswer(200, "")
	if c.gzip {
		a.body, a.gz = nil, gzipped(write)
		return a
	}
	a.body = write(nil)
	return a
}

// expired: Riot keeps matches two years and timelines one. A day more is granted, so that a client which
// counts exactly never meets the edge.
func (s *Sim) expired(g *world.Game, timeline bool) bool {
	if s.opt.Retention == KeepForever || g.Recorded != nil {
		return false
	}
	years := 2
	if timeline {
		years = 1
	}
	return g.At.Before(time.Now().UTC().AddDate(-years, 0, -1))
}

// identify resolves what the call is about, for the log and the fault plan.
func (s *Sim) identify(c *call) {
	switch {
	case c.params["matchId"] != "":
		c.id = c.params["matchId"]
	case c.method == route.AccountByRiotID:
		c.id = c.params["gameName"] + "#" + c.params["tagLine"]
	case c.params["puuid"] != "":
		c.who, c.known = c.project.Person(c.params["puuid"])
		c.known = c.known && s.world.Exists(c.who)
		c.id = c.params["puuid"]
		if c.known {
			name, tag := s.world.RiotID(c.who)
			c.id = name + "#" + tag
		}
	}
	c.thing = string(c.method) + " " + c.id
	if start := c.query.Get("start"); start != "" {
		c.thing += " " + start
	}
}
