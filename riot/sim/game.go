package sim

import (
	"slices"
	"time"
)

// game holds the facts of one played game. Match and timeline are both written from it, so kills, gold
// and levels agree between them.
type game struct {
	*played
	form    form
	seconds int
	parts   []part
	kills   []kill // in order of time
	winner  int    // team id
	version [3]int // patch and build

	layout, challenges layout // the fields of a participant
}

// kill is one champion's death.
type kill struct {
	at             int // milliseconds into the game
	killer, victim int // index of participants; killer -1 is the environment
	assists        []int
}

// part is one participant.
type part struct {
	slot          int
	who           person
	bot           bool
	puuid         string
	name, tag     string
	team, sub     int // sub: pair and placement of the arena, from 1
	place         int
	champ         champion
	position      string
	kills, deaths int
	assists       int
	multi         [6]int // multi[n]: n-fold kills
	sprees, spree int
	longest, dead int // seconds alive at most, seconds dead
	level, xp     int
	gold, spent   int
	cs, jungle    int
	items         [7]int
	spell         [2]int
	dealt         damage
	champs        damage
	taken         damage
	vision        int
	win           bool
	teamKills     int
	teamDamage    int
	minutes       float64
	game          *game
}

type damage struct{ physical, magic, pure int }

func (d damage) total() int { return d.physical + d.magic + d.pure }

var positions = []string{"TOP", "JUNGLE", "MIDDLE", "BOTTOM", "UTILITY"}

// facts invents the game that p stands for, the same each time.
func (w *world) facts(p *played, pr *project) *game {
	r := start(w.seed).str("facts").str(p.id).stream()
	g := &game{played: p, form: shapes[p.shape]}
	g.layout, g.challenges = layoutOf(p.era, g.form.arena, false), layoutOf(p.era, g.form.arena, true)
	g.seconds = r.between(g.form.minutes[0]*60, g.form.minutes[1]*60)
	patch := patches[p.era]
	g.version = [3]int{r.between(patch.from, patch.to), r.between(400, 780), r.between(1000, 9999)}
	g.winner = 100 + 100*r.below(2)
	g.parts = make([]part, g.form.players)
	for i := range g.parts {
		g.cast(i, r, w, pr)
	}
	g.fight(r)
	g.sum()
	for i := range g.parts {
		g.fill(&g.parts[i], r)
	}
	g.shareDamage()
	return g
}

// cast decides who plays in place i.
func (g *game) cast(i int, r *rng, w *world, pr *project) {
	p := &g.parts[i]
	p.slot, p.game, p.minutes = i, g, float64(g.seconds)/60
	p.team = 100
	if i >= (g.form.players+1)/2 {
		p.team = 200
	}
	p.champ = champions[r.below(len(champions))]
	p.spell = [2]int{spells[0], spells[1+r.below(len(spells)-1)]}
	g.seat(p, w, pr, r)
	switch g.form.arena {
	case rift:
		p.position = positions[i%5]
	case cherry:
		p.sub, p.spell = i/2+1, [2]int{2202, 2201}
		p.place = (i/2+int(mix(g.number)%97))%(g.form.players/2) + 1
		g.winner = 100
		if p.team = 100; p.place > g.form.players/4 {
			p.team = 200
		}
	case swarm:
		p.champ = champion{3151, "Strawberry_Jinx", false}
		g.winner = 200
	}
	p.win = p.team == g.winner
}

func (g *game) seat(p *part, w *world, pr *project, r *rng) {
	stranger := r.below(population) // drawn for every place, so that a known player changes nothing else
	if p.slot >= g.form.humans(g.shape) {
		p.bot, p.puuid, p.name, p.tag = true, "BOT", p.champ.name+" bot", "BOT"
		return
	}
	p.who = strangerOf(g.platform, stranger)
	for _, m := range g.known {
		if m.slot == p.slot {
			p.who = m.who
		}
	}
	p.puuid = pr.puuid(p.who)
	p.name, p.tag = w.riotID(p.who)
}

// killsPerMinute by kind of map, all players together: near the recorded games.
var killsPerMinute = map[arena]float64{rift: 1.85, aram: 5.2, cherry: 4, swarm: 0}

func (g *game) fight(r *rng) {
	if g.shape == Swarm {
		g.kills = []kill{{at: g.seconds * 1000, killer: -1, victim: 0}}
		return
	}
	n := int(killsPerMinute[g.form.arena] * float64(g.seconds) / 60 * (0.7 + 0.6*r.unit()))
	if g.shape == Remake {
		n = r.below(3)
	}
	times := make([]int, n)
	for i := range times {
		times[i] = r.between(min(90_000, g.seconds*500), g.seconds*1000-1)
	}
	slices.Sort(times)
	for _, at := range times {
		g.kills = append(g.kills, g.duel(at, r))
	}
}

// duel picks killer, victim and helpers; the winning side kills a little more often.
func (g *game) duel(at int, r *rng) kill {
	n := len(g.parts)
	k := kill{at: at, killer: r.below(n), victim: r.below(n)}
	if !g.parts[k.killer].win && r.chance(30) {
		k.killer, k.victim = k.victim, k.killer
	}
	for g.allied(k.killer, k.victim) {
		k.victim = (k.victim + 1) % n
	}
	if r.chance(4) {
		k.killer = -1
		return k
	}
	for i := range g.parts {
		if i != k.killer && g.allied(i, k.killer) && r.chance(28) {
			k.assists = append(k.assists, i)
		}
	}
	return k
}

func (g *game) allied(i, j int) bool {
	if g.form.arena == cherry {
		return g.parts[i].sub == g.parts[j].sub
	}
	return g.parts[i].team == g.parts[j].team
}

// sum derives the players' scores from the kills.
func (g *game) sum() {
	type run struct{ spree, multi, lastKill, lastDeath int }
	runs := make([]run, len(g.parts))
	for _, k := range g.kills {
		v, vr := &g.parts[k.victim], &runs[k.victim]
		v.deaths++
		v.dead += 8 + k.at/60_000
		v.longest = max(v.longest, (k.at-vr.lastDeath)/1000)
		vr.spree, vr.multi, vr.lastDeath = 0, 0, k.at
		for _, a := range k.assists {
			g.parts[a].assists++
		}
		if k.killer < 0 {
			continue
		}
		p, pr := &g.parts[k.killer], &runs[k.killer]
		p.kills++
		if k.at-pr.lastKill > 10_000 {
			pr.multi = 0
		}
		pr.spree, pr.multi, pr.lastKill = pr.spree+1, min(pr.multi+1, 5), k.at
		p.multi[pr.multi]++
		p.spree = max(p.spree, pr.spree)
		if pr.spree == 2 {
			p.sprees++
		}
	}
}

// fill invents what does not follow from the kills, in proportion to the length of the game.
func (g *game) fill(p *part, r *rng) {
	m := p.minutes
	p.level = min(18, 3+int(m*0.58)+r.below(2))
	p.xp = int(m*520) + r.below(900)
	p.gold = 500 + int(m*290) + p.kills*300 + p.assists*90 + r.below(800)
	p.cs, p.jungle, p.vision = r.between(0, int(m*2)), 0, 0
	switch p.position {
	case "TOP", "MIDDLE", "BOTTOM":
		p.cs = int(m * (5 + 3*r.unit()))
		p.gold += p.cs * 14
	case "JUNGLE":
		p.jungle = int(m * (4 + 2*r.unit()))
		p.gold += p.jungle * 20
	}
	if g.form.arena == rift {
		p.vision = int(m * (0.5 + 1.5*r.unit()))
	}
	p.spent = max(0, p.gold-r.below(1500))
	g.equip(p, r)
	scale := m * (0.6 + 0.8*r.unit())
	p.champs = spread(int(scale*620)+p.kills*250, p.champ.magic, r)
	p.dealt = spread(p.champs.total()+int(scale*3400), p.champ.magic, r)
	p.taken = spread(int(scale*640)+p.deaths*400, r.chance(50), r)
	p.longest = max(p.longest, (g.seconds-p.dead)/(p.deaths+1))
}

func (g *game) equip(p *part, r *rng) {
	stock := items
	if g.form.arena == cherry {
		stock = arenaItems
	}
	for i := range p.items[:min(6, 1+p.gold/2400)] {
		p.items[i] = stock[r.below(len(stock))]
	}
	if g.form.arena == rift {
		p.items[6] = trinkets[r.below(len(trinkets))]
	}
}

func spread(total int, magic bool, r *rng) damage {
	main := int(float64(total) * (0.6 + 0.3*r.unit()))
	rest := total - main
	pure := int(float64(rest) * 0.3 * r.unit())
	if magic {
		return damage{rest - pure, main, pure}
	}
	return damage{main, rest - pure, pure}
}

func (g *game) shareDamage() {
	for i := range g.parts {
		p := &g.parts[i]
		for j := range g.parts {
			if g.allied(i, j) {
				p.teamKills += g.parts[j].kills
				p.teamDamage += g.parts[j].champs.total()
			}
		}
	}
}

// Instants of the game. Loading takes a while after the creation.
func (g *game) creation() int64 { return g.at.Add(-15 * time.Second).UnixMilli() }
func (g *game) begin() int64    { return g.at.UnixMilli() }
func (g *game) end() int64      { return g.begin() + int64(g.seconds)*1000 + 311 }
