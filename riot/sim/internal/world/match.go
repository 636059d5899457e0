package world

import (
	"fmt"
	"slices"
	"strings"

	"github.com/farsight-console/farsight/riot/sim/internal/keyed"
)

// AppendMatch writes the answer of match-v5 for a game, with the PUUIDs of a key project.
func (w *World) AppendMatch(b []byte, p *Game, pr *Project) []byte {
	return w.append(b, "match", p, pr)
}

// AppendTimeline writes the answer of match-v5 for its timeline. Its kills, levels, gold and damage end
// where those of the match end.
func (w *World) AppendTimeline(b []byte, p *Game, pr *Project) []byte {
	return w.append(b, "timeline", p, pr)
}

func (w *World) append(b []byte, kind string, p *Game, pr *Project) []byte {
	// Facts and texts draw from streams of their own: a match and its timeline agree, whichever is asked for first.
	g := w.facts(p, pr)
	s := &scene{w: w, g: g, r: keyed.Start(w.seed).Str(kind).Str(g.ID).Stream(), book: bookOf(g.era, g.form.arena)}
	if g.Shape == Aborted {
		kind = "aborted " + kind
	}
	return s.book.parts[kind](b, s)
}

// words are the holes that are more than a text, a fact or a number.
var words = map[string]hole{
	"people": people, "mission": mission, "legendary": legendary, "teams": teams, "bans": bans,
	"frames": frames, "events": events, "states": states, "monster": monster, "helpers": helpers, "blows": blows,
	"currentGold": func(b []byte, s *scene) []byte { return appendInt(b, s.r.Below(min(1800, 500+s.by(s.p.gold)))) },
	"totalGold":   func(b []byte, s *scene) []byte { return appendInt(b, max(500, s.by(s.p.gold))) },
}

// made is what Go makes of a hole, by the word that it begins with; nil = there is no such word.
func (bk *book) made(text []string) hole {
	switch text[0] {
	case "each":
		return each(bk.part(text[1]))
	case "objective":
		return bk.objective(atoi(text[1]), text[2])
	case "grown":
		return grown(atoi(text[1]), atoi(text[2]))
	case "left":
		return left(atoi(text[1]), atoi(text[2]))
	case "so": // <so far p.xp>
		return soFar(text[2])
	case "bounty": // a member that came with patch 12.20
		return func(b []byte, _ *scene) []byte {
			if bk.era >= e12b {
				b = append(b, `"bounty":0,`...)
			}
			return b
		}
	}
	return words[text[0]]
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
func each(one hole) hole {
	return func(b []byte, s *scene) []byte {
		return list(b, len(s.g.parts), func(b []byte, i int) []byte {
			s.p = &s.g.parts[i]
			return one(b, s)
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

// mission is a score of the arena, 0 on other maps.
func mission(b []byte, s *scene) []byte {
	// Riot writes 0 there, and not nothing.
	if s.g.form.arena != cherry {
		return append(b, '0')
	}
	return appendFloat(b, float64(s.r.Low(1, 5000))+s.r.Unit())
}

// legendary lists some of the large items that p has.
func legendary(b []byte, s *scene) []byte {
	var used []int
	for _, item := range s.p.items[:6] {
		// Items below 3000 are parts of others; three in ten of the rest were bought too late to be used.
		if item >= 3000 && !s.r.Chance(30) {
			used = append(used, item)
		}
	}
	return list(b, len(used), func(b []byte, i int) []byte { return appendInt(b, used[i]) })
}

// team is one side of a match.
type team struct {
	n, id int // n: 0 and 1
	win   bool
}

func teams(b []byte, s *scene) []byte {
	// The blue side comes first, whoever won.
	ids := []int{100, 200}
	switch s.g.Shape {
	case Swarm:
		ids = ids[:1]
	// Recorded so: in 2023 the second team of the arena had the id 0.
	case Arena8:
		ids[1] = 0
	}
	return list(b, len(ids), func(b []byte, i int) []byte {
		s.t = team{i, ids[i], ids[i] == s.g.winner}
		return s.book.parts["team"](b, s)
	})
}

// bans: five a side where there is a draft; the arena lists all of them under the first team.
func bans(b []byte, s *scene) []byte {
	// No bans where champions are not drafted: co-op, Swiftplay, ARAM.
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

// objective is what a team took of one sort: at most so many, on maps such as rift+aram. At most none
// means champions, whose number is known.
func (bk *book) objective(most int, maps string) hole {
	on := slices.ContainsFunc(strings.Split(maps, "+"), func(name string) bool { return arenaNames[name]&bk.arena != 0 })
	return func(b []byte, s *scene) []byte {
		kills := 0
		if on {
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
		// A bot's kills count for its team as well.
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
