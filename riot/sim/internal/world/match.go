package world

import (
	"fmt"
	"slices"
	"strings"

	"github.com/farsight-console/farsight/riot/sim/internal/keyed"
)

// AppendMatch writes the answer of match-v5 for a game, with the PUUIDs of a key project.
func (w *World) AppendMatch(b []byte, p *Game, pr *Project) []byte {
	return w.append(b, "match", w.facts(p, pr))
}

// AppendTimeline writes the answer of match-v5 for its timeline. Its kills, levels, gold and damage end
// where those of the match end.
func (w *World) AppendTimeline(b []byte, p *Game, pr *Project) []byte {
	return w.append(b, "timeline", w.facts(p, pr))
}

func (w *World) append(b []byte, kind string, g *facts) []byte {
	s := &scene{w: w, g: g, r: keyed.Start(w.seed).Str(kind).Str(g.ID).Stream(), book: bookOf(g.era, g.form.arena)}
	if g.Shape == Aborted {
		kind = "aborted " + kind
	}
	return s.book.objects[kind].append(b, s)
}

// holes are the values that are more than a fact or a number, by the word that asks for them.
var holes map[string]func(bk *book, args []string) hole

func init() { // a literal would refer to itself through book.object
	holes = map[string]func(*book, []string) hole{
		"object": func(bk *book, args []string) hole {
			o := bk.object(args[0])
			return o.append
		},
		"each":       each,
		"people":     always(people),
		"perk":       perk,
		"noPerk":     literal(`{"perk":0,"var1":0,"var2":0,"var3":0}`),
		"mission":    always(mission),
		"legendary":  always(legendary),
		"summonerID": always(summonerID),
		"teams":      always(teams),
		"bans":       always(bans),
		"objective":  objective,

		"frames":      always(frames),
		"events":      always(events),
		"states":      always(states),
		"grown":       grown,
		"left":        left,
		"so":          soFar,
		"currentGold": always(func(b []byte, s *scene) []byte { return appendInt(b, s.r.Below(min(1800, 500+s.by(s.p.gold)))) }),
		"totalGold":   always(func(b []byte, s *scene) []byte { return appendInt(b, max(500, s.by(s.p.gold))) }),
		"position":    always(position),
		"enemy":       always(func(b []byte, s *scene) []byte { return appendInt(b, 300-s.p.team) }),
		"bounty":      bounty,
		"monster":     always(monster),
		"helpers":     always(helpers),
		"blows":       always(blows),
	}
}

// always is a hole without arguments that is the same in every book.
func always(h hole) func(*book, []string) hole { return func(*book, []string) hole { return h } }

func literal(text string) func(*book, []string) hole {
	return always(func(b []byte, _ *scene) []byte { return append(b, text...) })
}

// list writes n elements, with commas between them.
func list(b []byte, n int, element func(b []byte, i int) []byte) []byte {
	b = append(b, '[')
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = element(b, i)
	}
	return append(b, ']')
}

// each writes an object for every participant.
func each(bk *book, args []string) hole {
	o := bk.object(args[0])
	return func(b []byte, s *scene) []byte {
		return list(b, len(s.g.parts), func(b []byte, i int) []byte {
			s.p = &s.g.parts[i]
			return o.append(b, s)
		})
	}
}

// people lists the PUUIDs. Bots are missing, so there may be fewer than info.participants.
func people(b []byte, s *scene) []byte {
	humans := len(s.g.parts)
	for humans > 0 && s.g.parts[humans-1].bot { // they come last
		humans--
	}
	return list(b, humans, func(b []byte, i int) []byte { return appendString(b, s.g.parts[i].puuid) })
}

// perk is one of a list of runes with its three figures.
func perk(_ *book, args []string) hole {
	which, figure := oneOf(lists()[args[0]]), drawn("45", "", "1", "1800")
	return func(b []byte, s *scene) []byte {
		b = which(append(b, `{"perk":`...), s)
		b = figure(append(b, `,"var1":`...), s)
		b = figure(append(b, `,"var2":`...), s)
		b = figure(append(b, `,"var3":`...), s)
		return append(b, '}')
	}
}

// mission is a score of the arena, 0 on other maps.
func mission(b []byte, s *scene) []byte {
	if s.g.form.arena != cherry {
		return append(b, '0')
	}
	return appendFloat(b, float64(s.r.Low(1, 5000))+s.r.Unit())
}

// legendary lists some of the large items that p has.
func legendary(b []byte, s *scene) []byte {
	var used []int
	for _, item := range s.p.items[:6] {
		if item >= 3000 && !s.r.Chance(30) {
			used = append(used, item)
		}
	}
	return list(b, len(used), func(b []byte, i int) []byte { return appendInt(b, used[i]) })
}

func summonerID(b []byte, s *scene) []byte {
	if s.p.bot {
		return append(b, `"BOT"`...)
	}
	return appendString(b, s.p.who.summonerID())
}

// team is one side of a match.
type team struct {
	n, id int // n: 0 and 1
	win   bool
}

func teams(b []byte, s *scene) []byte {
	ids := []int{100, 200}
	switch s.g.Shape {
	case Swarm:
		ids = ids[:1]
	case Arena8:
		ids[1] = 0
	}
	return list(b, len(ids), func(b []byte, i int) []byte {
		s.t = team{i, ids[i], ids[i] == s.g.winner}
		return s.book.objects["team"].append(b, s)
	})
}

// bans: five a side where there is a draft; the arena lists all of them under the first team.
func bans(b []byte, s *scene) []byte {
	n, g := 0, s.g
	switch {
	case g.form.arena == cherry && s.t.n == 0:
		n = g.form.players
	case g.form.arena == rift && g.Shape != Bots && g.Shape != Swiftplay:
		n = 5
	}
	return list(b, n, func(b []byte, i int) []byte {
		return fmt.Appendf(b, `{"championId":%d,"pickTurn":%d}`, champions[s.r.Below(len(champions))].id, i+1+5*s.t.n)
	})
}

// objective is what a team took of one sort: at most the first argument, on the maps of the second. At most none
// means champions, whose number is known.
func objective(bk *book, args []string) hole {
	most, on := atoi(args[0]), arena(0)
	for _, name := range strings.Split(args[1], "+") {
		on |= arenaNames[name]
	}
	return func(b []byte, s *scene) []byte {
		kills := 0
		if on&bk.arena != 0 {
			kills = s.r.Low(0, most)
		}
		if most == 0 {
			kills = s.g.teamKills(s.t.id)
		}
		return fmt.Appendf(b, `{"first":%t,"kills":%d}`, kills > 0 && (s.t.n == 0) == (s.g.winner == 100), kills)
	}
}

func (g *facts) teamKills(team int) int {
	n := 0
	for i := range g.parts {
		if g.parts[i].team == team {
			n += g.parts[i].kills
		}
	}
	return n
}

// champion is a playable character with the key that Riot's payloads use.
type champion struct {
	id    int
	name  string
	magic bool // its damage is mostly magic
}

// What facts are drawn from.
var (
	champions  = parseChampions()
	items      = numbers("items")
	trinkets   = numbers("trinkets")
	arenaItems = numbers("arenaItems")
	spells     = numbers("spells")
)

func numbers(name string) []int {
	var all []int
	for _, word := range lists()[name] {
		all = append(all, atoi(word))
	}
	return all
}

// parseChampions reads "103:Ahri:magic".
func parseChampions() []champion {
	var all []champion
	for _, word := range lists()["champions"] {
		f := strings.Split(word, ":")
		all = append(all, champion{atoi(f[0]), f[1], slices.Contains(f, "magic")})
	}
	return all
}
