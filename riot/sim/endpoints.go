package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
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
	route.Challengers:     (*Sim).apex,
	route.Grandmasters:    (*Sim).apex,
	route.Masters:         (*Sim).apex,
	route.LeaguePage:      (*Sim).leaguePage,
	route.Status:          (*Sim).status,
}

// homes are the calls by which an invented player is looked for where they might live.
var homes = map[route.Method]bool{route.MatchIDs: true, route.Summoner: true, route.LeagueEntries: true}

// serve is the answer without any fault.
func (s *Sim) serve(c *call) *answer {
	// Riot cannot tell a malformed PUUID from one of another project: neither decrypts.
	if _, needed := c.params["puuid"]; needed && !c.known {
		return statusAnswer(400, decrypting+c.params["puuid"])
	}
	if c.known && homes[c.Method] {
		s.world.MoveIn(c.who, c.Host)
	}
	return endpoints[c.Method](s, c)
}

// accountByRiotID looks a player up by name, in any case of letters. With Options.Invent everybody exists:
// whoever is asked for is given a history of their own.
func (s *Sim) accountByRiotID(c *call) *answer {
	p, ok := s.world.Find(c.params["gameName"], c.params["tagLine"])
	// Only after all who exist: an invented player never takes a name from a stranger.
	if !ok && s.opt.Invent {
		if a := s.world.Invent(c.ID); a != nil {
			p, ok = a.Me, true
		}
	}
	if !ok {
		// account-v1 orders an error the other way round than all other services.
		a := jsonAnswer(404, `{"status":{"status_code":404,"message":%s}}`,
			"Data not found - No results found for player with riot id "+c.ID)
		a.header["Content-Type"] = "application/json"
		return a
	}
	name, tag := s.world.RiotID(p)
	return jsonAnswer(200, accountText, c.project.PUUID(p), name, tag)
}

const accountText = `{"puuid":%s,"gameName":%s,"tagLine":%s}`

// accountByPUUID gives the present name of a player; the nameless have a PUUID alone.
func (s *Sim) accountByPUUID(c *call) *answer {
	if a := s.world.Known(c.who); a != nil && a.Spec.Nameless {
		return jsonAnswer(200, `{"puuid":%s}`, c.params["puuid"])
	}
	name, tag := s.world.RiotID(c.who)
	return jsonAnswer(200, accountText, c.params["puuid"], name, tag)
}

func (s *Sim) activeRegion(c *call) *answer {
	game := c.params["game"]
	if game != "lol" && game != "tft" {
		return statusAnswer(400, "Bad Request - Invalid game "+game)
	}
	return jsonAnswer(200, `{"puuid":%s,"game":%s,"region":%s}`, c.params["puuid"], game, string(s.world.Platform(c.who)))
}

// summoner is 404 on a platform where the player does not live: that is how a client finds out.
func (s *Sim) summoner(c *call) *answer {
	if !s.world.LivesAt(c.who, c.Host) {
		return statusAnswer(404, "Data not found - summoner not found")
	}
	return jsonAnswer(200, `{"puuid":%s,"profileIconId":%d,"revisionDate":%d,"summonerLevel":%d}`,
		c.params["puuid"], c.who.Icon(), s.world.Epoch.UnixMilli(), c.who.Level())
}

var (
	tiers = []string{"IRON", "BRONZE", "SILVER", "GOLD", "PLATINUM", "EMERALD", "DIAMOND"}
	ranks = []string{"IV", "III", "II", "I"}
)

// league is [] for the unranked, and on a platform where the player is not.
func (s *Sim) league(c *call) *answer {
	if rung := s.world.RungOf(c.who); rung != nil && s.world.LivesAt(c.who, c.Host) {
		return textAnswer(200, "["+rungText(rung, c.params["puuid"])+"]")
	}
	unranked := c.who.Stranger && keyed.Start(s.opt.Seed).Str("unranked").Num(c.who.Pack()).Below(3) == 0
	if a := s.world.Known(c.who); a != nil {
		unranked = a.Spec.Unranked
	}
	var entries []string
	if !unranked && s.world.LivesAt(c.who, c.Host) {
		r := keyed.Start(s.opt.Seed).Str("league").Num(c.who.Pack()).Stream()
		entries = append(entries, leagueEntry(r, c.params["puuid"], "RANKED_SOLO_5x5"))
		if r.Chance(50) {
			entries = append(entries, leagueEntry(r, c.params["puuid"], "RANKED_FLEX_SR"))
		}
	}
	return textAnswer(200, "["+strings.Join(entries, ",")+"]")
}

// leagueEntry is a rank as league-v4 writes it, drawn in the order of its members.
func leagueEntry(r *keyed.Stream, puuid, queue string) string {
	id := fmt.Sprintf("%08x-%04x-3%03x-8%03x-%012x", r.Next()>>32, r.Next()>>48, r.Next()>>52, r.Next()>>52, r.Next()>>16)
	return jsonText(`{"leagueId":%s,"queueType":%s,"tier":%s,"rank":%s,"puuid":%s,"leaguePoints":%d,"wins":%d,"losses":%d,`+
		`"veteran":%t,"inactive":false,"freshBlood":%t,"hotStreak":%t}`,
		id, queue, tiers[r.Below(len(tiers))], ranks[r.Below(len(ranks))], puuid,
		r.Below(100), r.Between(5, 200), r.Between(5, 200),
		r.Chance(10), r.Chance(10), r.Chance(20))
}

// leaguePageSize is how many entries Riot gives on a page of a division.
const leaguePageSize = 205

// leaguePage is a page of a division; beyond the last one there are empty ones.
func (s *Sim) leaguePage(c *call) *answer {
	page := 1
	if v := c.query.Get("page"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 {
			return statusAnswer(400, "Bad request - Query parameter 'page' must be a positive number.")
		}
		page = n
	}
	if _, of := ladderQueues[c.params["queue"]]; !of || !slices.Contains(tiers, c.params["tier"]) || !slices.Contains(ranks, c.params["division"]) {
		return statusAnswer(400, "Bad request - invalid queue, tier or division")
	}
	all := s.world.League(route.Platform(c.Host), c.params["queue"], c.params["tier"], c.params["division"])
	from := min(len(all), (page-1)*leaguePageSize)
	return textAnswer(200, "["+s.rungs(c, all[from:min(len(all), from+leaguePageSize)])+"]")
}

// ladderQueues are the queues that have ladders.
var ladderQueues = map[string]struct{}{"RANKED_SOLO_5x5": {}, "RANKED_FLEX_SR": {}}

// apexTiers are the tiers that are one league each.
var apexTiers = map[route.Method]string{
	route.Challengers: "CHALLENGER", route.Grandmasters: "GRANDMASTER", route.Masters: "MASTER",
}

// apex is one of the three leagues that have no divisions.
func (s *Sim) apex(c *call) *answer {
	queue, tier := c.params["queue"], apexTiers[c.Method]
	if _, of := ladderQueues[queue]; !of {
		return statusAnswer(400, "Bad request - invalid queue")
	}
	all := s.world.League(route.Platform(c.Host), queue, tier, "I")
	return textAnswer(200, jsonText(`{"tier":%s,"leagueId":%s,"queue":%s,"name":%s,"entries":[`,
		tier, leagueID(c.Host, queue, tier), queue, "Simulated "+tier)+s.rungs(c, all)+"]}")
}

// rungs are the entries of players of a league. In an apex league tier, queue and league id stand once, before the entries.
func (s *Sim) rungs(c *call, players []*world.Account) string {
	entries := make([]string, len(players))
	for i, a := range players {
		r, puuid := a.Rung(), c.project.PUUID(a.Me)
		if apexTiers[c.Method] == "" {
			entries[i] = rungText(r, puuid)
			continue
		}
		entries[i] = jsonText(`{"puuid":%s,"leaguePoints":%d,"rank":%s,"wins":%d,"losses":%d,`+
			`"veteran":false,"inactive":false,"freshBlood":false,"hotStreak":false}`,
			puuid, r.Points, r.Division, r.Wins, r.Losses)
	}
	return strings.Join(entries, ",")
}

// rungText is a player's place in a ladder as league-v4 writes it.
func rungText(r *world.Rung, puuid string) string {
	return jsonText(`{"leagueId":%s,"queueType":%s,"tier":%s,"rank":%s,"puuid":%s,"leaguePoints":%d,"wins":%d,"losses":%d,`+
		`"veteran":false,"inactive":false,"freshBlood":false,"hotStreak":false}`,
		leagueID("", r.Queue, r.Tier), r.Queue, r.Tier, r.Division, puuid, r.Points, r.Wins, r.Losses)
}

// leagueID is the id of a league; nothing of ours reads it.
func leagueID(host, queue, tier string) string {
	return fmt.Sprintf("00000000-0000-3000-8000-%012x", len(host)+100*len(queue)+10_000*len(tier))
}

func (s *Sim) status(c *call) *answer {
	host := strings.ToUpper(c.Host)
	return jsonAnswer(200, `{"id":%s,"name":%s,"locales":["en_US"],"maintenances":[],"incidents":[]}`,
		host, "Simulated "+host)
}

func (s *Sim) match(c *call) *answer    { return s.payload(c, false) }
func (s *Sim) timeline(c *call) *answer { return s.payload(c, true) }

// payload is a match or its timeline; 404 in the wrong region, past retention, or when it never was stored.
func (s *Sim) payload(c *call, timeline bool) *answer {
	// Found by the id alone, whoever played: Riot gives every match to everybody.
	g := s.world.Game(c.ID)
	if g == nil || string(g.Platform.Region()) != c.Host || s.expired(g, timeline) || (g.Missing && !timeline) {
		return statusAnswer(404, "Data not found - match file not found")
	}
	write := func(b []byte) []byte { return s.world.AppendMatch(b, g, c.project) }
	if timeline {
		write = func(b []byte) []byte { return s.world.AppendTimeline(b, g, c.project) }
	}
	// A recording keeps the bytes of Riot, but for the PUUID of one player.
	if g.Recorded != nil {
		data, ok := g.Recorded.Replay(g, timeline, c.project)
		if !ok {
			return statusAnswer(404, "Data not found - match file not found")
		}
		write = func(b []byte) []byte { return append(b, data...) }
	}
	a := textAnswer(200, "")
	// Packed once, here: what is sent, cut or dripped is then the packed form.
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
		c.ID = c.params["matchId"]
	case c.Method == route.AccountByRiotID:
		c.ID = c.params["gameName"] + "#" + c.params["tagLine"]
	case c.params["queue"] != "":
		c.ID = strings.TrimSpace(c.params["queue"] + " " + c.params["tier"] + " " + c.params["division"] + " " + c.query.Get("page"))
	case c.params["puuid"] != "":
		// Under the project of the key: of another one it is noise.
		c.who, c.known = c.project.Person(c.params["puuid"])
		c.known = c.known && s.world.Exists(c.who)
		c.ID = c.params["puuid"]
		if c.known {
			name, tag := s.world.RiotID(c.who)
			c.ID = name + "#" + tag
		}
	}
	c.thing = string(c.Method) + " " + c.ID
	// Each page of ids is a thing of its own: a fault may strike the second page at its first attempt.
	if start := c.query.Get("start"); start != "" {
		c.thing += " " + start
	}
	if c.Method == route.MatchIDs {
		c.start = cmp.Or(c.query.Get("start"), "0")
	}
}
