package sim

import (
	"fmt"
	"strings"
	"time"

	"github.com/farsight-console/farsight/riot/route"
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

// serve is the answer without any fault.
func (s *Sim) serve(c *call) *answer {
	if _, needed := c.params["puuid"]; needed && !c.known {
		return statusAnswer(400, "Bad Request - Exception decrypting "+c.params["puuid"])
	}
	if c.known && homes[c.method] {
		s.mu.Lock()
		s.world.moveIn(c)
		s.mu.Unlock()
	}
	return endpoints[c.method](s, c)
}

func (w *world) riotID(p person) (name, tag string) {
	if p.stranger {
		return strangerName(w.seed, route.Platforms()[p.platform], int(p.n)), strangerTag(int(p.n))
	}
	a := w.account(p.n)
	return a.name, a.tag
}

func (w *world) platform(p person) route.Platform {
	if p.stranger {
		return route.Platforms()[p.platform]
	}
	a := w.account(p.n)
	w.invented.mu.RLock() // an invented player moves in later
	defer w.invented.mu.RUnlock()
	return a.spec.Platform
}

// find is the player with a Riot ID. A stranger's tag names it but for the platform.
func (w *world) find(name, tag string) (person, bool) {
	if a := w.named(name + "#" + tag); a != nil {
		return a.me, true
	}
	n, ok := parseStrangerTag(tag)
	if !ok {
		return person{}, false
	}
	for _, p := range route.Platforms() {
		if foldRiotID(strangerName(w.seed, p, n)) == foldRiotID(name) {
			return strangerOf(p, n), true
		}
	}
	return person{}, false
}

func (s *Sim) accountByRiotID(c *call) *answer {
	p, ok := s.world.find(c.params["gameName"], c.params["tagLine"])
	if !ok && s.opt.Invent {
		if a := s.world.invent(c.id); a != nil {
			p, ok = a.me, true
		}
	}
	if !ok {
		// Account-v1 writes the status code first.
		b := append([]byte(`{"status":{"status_code":404,"message":`), appendString(nil, "Data not found - No results found for player with riot id "+c.id)...)
		a := jsonAnswer(404, string(append(b, "}}"...)))
		a.header["Content-Type"] = "application/json"
		return a
	}
	name, tag := s.world.riotID(p)
	return s.accountAnswer(c.project.puuid(p), name, tag, false)
}

func (s *Sim) accountByPUUID(c *call) *answer {
	name, tag := s.world.riotID(c.who)
	hidden := !c.who.stranger && s.world.account(c.who.n).spec.Nameless
	return s.accountAnswer(c.params["puuid"], name, tag, hidden)
}

func (s *Sim) accountAnswer(puuid, name, tag string, hidden bool) *answer {
	b := textField([]byte("{"), "puuid", puuid)
	if !hidden {
		b = textField(textField(b, "gameName", name), "tagLine", tag)
	}
	return jsonAnswer(200, string(append(b, '}')))
}

func (s *Sim) activeRegion(c *call) *answer {
	game := c.params["game"]
	if game != "lol" && game != "tft" {
		return statusAnswer(400, "Bad Request - Invalid game "+game)
	}
	b := textField(textField([]byte("{"), "puuid", c.params["puuid"]), "game", game)
	b = textField(b, "region", string(s.world.platform(c.who)))
	return jsonAnswer(200, string(append(b, '}')))
}

func (s *Sim) summoner(c *call) *answer {
	if !s.world.livesAt(c.who, c.host) {
		return statusAnswer(404, "Data not found - summoner not found")
	}
	b := textField([]byte("{"), "puuid", c.params["puuid"])
	b = intField(b, "profileIconId", profileIcon(c.who))
	b = intField(b, "revisionDate", int(s.world.epoch.UnixMilli()))
	return jsonAnswer(200, string(append(intField(b, "summonerLevel", summonerLevel(c.who)), '}')))
}

var (
	tiers = []string{"IRON", "BRONZE", "SILVER", "GOLD", "PLATINUM", "EMERALD", "DIAMOND"}
	ranks = []string{"IV", "III", "II", "I"}
)

// league is [] for the unranked, and on a platform where the player is not.
func (s *Sim) league(c *call) *answer {
	unranked := c.who.stranger && start(s.opt.Seed).str("unranked").num(c.who.pack()).below(3) == 0
	if !c.who.stranger {
		unranked = s.world.account(c.who.n).spec.Unranked
	}
	if unranked || !s.world.livesAt(c.who, c.host) {
		return jsonAnswer(200, "[]")
	}
	r := start(s.opt.Seed).str("league").num(c.who.pack()).stream()
	b := appendEntry([]byte("["), r, c.params["puuid"], "RANKED_SOLO_5x5")
	if r.chance(50) {
		b = appendEntry(append(b, ','), r, c.params["puuid"], "RANKED_FLEX_SR")
	}
	return jsonAnswer(200, string(append(b, ']')))
}

func appendEntry(b []byte, r *rng, puuid, queue string) []byte {
	league := fmt.Sprintf("%08x-%04x-3%03x-8%03x-%012x", r.next()>>32, r.next()>>48, r.next()>>52, r.next()>>52, r.next()>>16)
	b = textField(append(b, '{'), "leagueId", league)
	b = textField(b, "queueType", queue)
	b = textField(textField(b, "tier", tiers[r.below(len(tiers))]), "rank", ranks[r.below(len(ranks))])
	b = textField(b, "puuid", puuid)
	b = intField(intField(intField(b, "leaguePoints", r.below(100)), "wins", r.between(5, 200)), "losses", r.between(5, 200))
	b = boolField(boolField(b, "veteran", r.chance(10)), "inactive", false)
	return append(boolField(boolField(b, "freshBlood", r.chance(10)), "hotStreak", r.chance(20)), '}')
}

func (s *Sim) status(c *call) *answer {
	b := textField([]byte("{"), "id", strings.ToUpper(c.host))
	b = textField(b, "name", "Simulated "+strings.ToUpper(c.host))
	return jsonAnswer(200, string(append(b, `,"locales":["en_US"],"maintenances":[],"incidents":[]}`...)))
}

func (s *Sim) match(c *call) *answer    { return s.payload(c, false) }
func (s *Sim) timeline(c *call) *answer { return s.payload(c, true) }

// payload is a match or its timeline; 404 in the wrong region, past retention, or when it never was stored.
func (s *Sim) payload(c *call, timeline bool) *answer {
	s.mu.Lock()
	g := s.world.games[c.id]
	s.mu.Unlock()
	if g == nil || string(g.platform.Region()) != c.host || s.expired(g, timeline) || (g.missing && !timeline) {
		return statusAnswer(404, "Data not found - match file not found")
	}
	if g.recorded != nil {
		return s.replay(c, g, timeline)
	}
	key := c.id + c.project.name
	write := func(b []byte) []byte { return s.world.facts(g, c.project).appendMatch(b, s.opt.Seed) }
	if timeline {
		key += " timeline"
		write = func(b []byte) []byte { return s.world.facts(g, c.project).appendTimeline(b, s.opt.Seed) }
	}
	return s.bodyAnswer(c, key, write)
}

func (s *Sim) bodyAnswer(c *call, key string, write func([]byte) []byte) *answer {
	a := jsonAnswer(200, "")
	if c.gzip {
		a.body, a.gz = nil, s.bodies.gzipped(key, write)
		return a
	}
	a.body = write(nil)
	return a
}

// expired: Riot keeps matches two years and timelines one. A day more is granted, so that a client which
// counts exactly never meets the edge.
func (s *Sim) expired(g *played, timeline bool) bool {
	if s.opt.Retention == KeepForever || g.recorded != nil {
		return false
	}
	years := 2
	if timeline {
		years = 1
	}
	return g.at.Before(time.Now().UTC().AddDate(-years, 0, -1))
}
