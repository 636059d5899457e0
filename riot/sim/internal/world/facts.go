package world

import (
	"fmt"
	"slices"
	"strings"

	"github.com/farsight-console/farsight/riot/sim/internal/keyed"
)

// facts are what happened in one game. Match and timeline are both written from them, so kills, gold
// and levels agree between the two. The templates name the fields: <g.seconds>.
// They hang on nothing but the seed and the game's id: asked twice, by two clients, or years of
// simulated time apart, a game is the same, and nothing of it is kept in between.
type facts struct {
	// What the index knows of the game.
	*Game
	form    form     // length, number of players and map of its kind
	pr      *Project // under whose key the PUUIDs are encrypted
	parts   []part
	kills   []kill // in order of time
	winner  int    // team id
	version string // 16.4.748.682

	seconds, milliseconds int     // how long it took
	length                float64 // in seconds
	// The lobby, the start and the end: "gameCreation", "gameStartTimestamp", "gameEndTimestamp".
	creation, begin, end int64 // Unix milliseconds
	// "GameComplete" or "Abort_Unexpected"; "EUW1".
	result, prefix                string
	complete, remade, surrendered bool
}

// kill is one champion's death.
type kill struct {
	at int // milliseconds into the game
	// A victim always is one of the participants: monsters have events of their own.
	killer, victim int // index of participants; killer -1 is the environment
	assists        []int
}

// part is one participant. The templates name the fields: <p.kills>, <p.champs.magic>.
//
// Its numbers are not those of real players, but they hang together as Riot's do: kills add up to
// the kills of the team, gold follows from them, shares add up to one. Clients that check sums
// find none wrong.
type part struct {
	// Who it is, and where.
	slot, id            int // id counts from 1
	who                 Person
	bot                 bool
	puuid               string
	name, tag           string
	tagline, summoner   string // name and tag where a payload of that year has them
	summonerID          string // BOT of a bot
	summonerLevel, icon int
	team, enemy         int
	sub                 int // pair of the arena, from 1
	place               int
	champ               champion
	position            string
	individual          string // Invalid where the game has no lanes
	// What the kills add up to.
	kills, deaths      int
	assists, takedowns int
	multi              [6]int // multi[n]: n-fold kills
	largest            int    // of them
	sprees, spree      int
	longest, dead      int // seconds alive at most, seconds dead
	// What is drawn in proportion to the length of the game.
	level, xp       int
	gold, spent     int
	cs, jungle      int
	items           [7]int
	spell1, spell2  int
	dealt           damage
	champs          damage
	taken           damage
	controlled      int
	vision          int
	win, firstBlood bool
	gaveUp          bool
	lost            int
	// Of the side, or in the arena of the pair; the shares below are parts of them.
	teamKills  int
	teamDamage int

	kda, participation, damageShare                 float64
	damagePerMinute, goldPerMinute, visionPerMinute float64
}

// damage is what somebody did or took, by its kind.
type damage struct{ physical, magic, pure, total int }

// damageOf adds the total; "pure" is Riot's trueDamage.
func damageOf(physical, magic, pure int) damage {
	return damage{physical, magic, pure, physical + magic + pure}
}

// positions are those of a team on the Rift, in the order of its places.
var positions = []string{"TOP", "JUNGLE", "MIDDLE", "BOTTOM", "UTILITY"}

// facts invents the game that p stands for, the same each time.
// The order of its steps is part of the result: each draws from the same stream of numbers, so
// that one that draws more would change all that come after it.
func (w *World) facts(p *Game, pr *Project) *facts {
	r := keyed.Start(w.seed).Str("facts").Str(p.ID).Stream()
	g := &facts{Game: p, form: shapes[p.Shape], pr: pr}
	g.seconds = r.Between(g.form.minutes[0]*60, g.form.minutes[1]*60)
	// "16.4.748.682": patch and build. Only the first two numbers mean anything to a client.
	patch := eras[p.era]
	g.version = fmt.Sprintf("%d.%d.%d.%d",
		patch.year, r.Between(patch.from, patch.to), r.Between(400, 780), r.Between(1000, 9999))
	// 100 is the blue side and 200 the red one.
	g.winner = 100 + 100*r.Below(2)
	// Everybody has a place before anybody fights: who kills whom depends on the sides.
	g.parts = make([]part, g.form.players)
	for i := range g.parts {
		g.cast(i, r, w)
	}
	g.fight(r)
	g.sum()
	for i := range g.parts {
		g.fill(&g.parts[i], r)
	}
	g.shareDamage()
	g.derive()
	for i := range g.parts {
		g.rate(&g.parts[i])
	}
	return g
}

// derive draws what the game is told by from how it went.
// [facts.fight] has decided who kills; this decides what the game is called by it.
func (g *facts) derive() {
	g.milliseconds, g.length = g.seconds*1000+311, float64(g.seconds)+0.311
	g.begin = g.At.UnixMilli()
	g.creation, g.end = g.begin-15_000, g.begin+int64(g.milliseconds) // loading takes a while
	g.result, g.prefix = "GameComplete", strings.ToUpper(string(g.Platform))
	// Riot said so of whole games in June 2024 (developer-relations#939): a client must look at the game itself.
	if g.Shape == FalseAbort || g.Shape == Aborted {
		g.result = "Abort_Unexpected"
	}
	g.remade = g.Shape == Remake
	g.complete = !g.remade
	g.surrendered = g.form.arena == rift && keyed.Mix(g.number)%3 == 0 // a third of the games on the Rift end by a vote
	// The first death may be by a tower: then nobody has first blood.
	if len(g.kills) > 0 && g.kills[0].killer >= 0 {
		g.parts[g.kills[0].killer].firstBlood = true
	}
}

// rate computes what follows from the scores of p.
func (g *facts) rate(p *part) {
	minutes := float64(g.seconds) / 60
	p.takedowns = p.kills + p.assists
	// Who never died is rated as if once: Riot does the same.
	p.kda = float64(p.takedowns) / float64(max(1, p.deaths))
	p.participation = float64(p.takedowns) / float64(max(1, p.teamKills))
	p.damageShare = float64(p.champs.total) / float64(max(1, p.teamDamage))
	p.damagePerMinute = float64(p.champs.total) / minutes
	p.goldPerMinute = float64(p.gold) / minutes
	p.visionPerMinute = float64(p.vision) / minutes
	// Milliseconds for which enemies could not move, in proportion to the damage.
	p.controlled = p.champs.total * 9
	for n := range p.multi {
		if p.multi[n] > 0 {
			p.largest = n
		}
	}
	// Of a remake only the losing side has "teamEarlySurrendered"; all have "gameEndedInEarlySurrender".
	p.gaveUp = g.remade && !p.win
	// There is no Nexus to lose in the arena or in Swarm.
	if !p.win && g.form.arena != cherry && g.form.arena != swarm {
		p.lost = 1
	}
}

// cast decides who plays in place i.
// Places are fixed by the map: on the Rift five against five in the order of their positions, in
// the arena pairs, in Swarm all on one side.
func (g *facts) cast(i int, r *keyed.Stream, w *World) {
	p := &g.parts[i]
	p.slot, p.id = i, i+1
	p.team = 100
	// Of one player that is nobody: Swarm is played by one side.
	if i >= (g.form.players+1)/2 {
		p.team = 200
	}
	p.champ = champions[r.Below(len(champions))]
	// Everybody has Flash (4).
	p.spell1, p.spell2 = spells[0], spells[1+r.Below(len(spells)-1)]
	g.seat(p, w, r)
	if g.era >= e14a { // before, and for players without a Riot ID, it is empty (developer-relations#834)
		p.tagline = p.tag
	}
	if g.era < e15b { // it went away in 2025
		p.summoner = p.name
	}
	// What Riot writes where a map has no lanes.
	p.individual = "Invalid"
	switch g.form.arena {
	case rift:
		p.position, p.individual = positions[i%5], positions[i%5]
	case cherry:
		// Both spells of the arena are given, not chosen: Flash and Flee of that map.
		p.sub, p.spell1, p.spell2 = i/2+1, 2202, 2201
		// Pairs in their order, turned by a number of the game's: each place is taken once.
		p.place = (i/2+int(keyed.Mix(g.number)%97))%(g.form.players/2) + 1
		g.winner = 100
		if p.team = 100; p.place > g.form.players/4 {
			p.team = 200
		}
	case swarm:
		// Swarm has champions of its own.
		p.champ = champion{3151, "Strawberry_Jinx", false}
		g.winner = 200
	}
	p.enemy, p.win = 300-p.team, p.team == g.winner
}

// seat decides which person sits there: one that the world knows to have played this game, a
// stranger, or a bot.
func (g *facts) seat(p *part, w *World, r *keyed.Stream) {
	stranger := r.Below(population) // drawn for every place, so that a known player changes nothing else
	if p.slot >= g.form.humans(g.Shape) {
		p.bot, p.puuid, p.summonerID, p.name, p.tag, p.summonerLevel = true, "BOT", "BOT", p.champ.name+" bot", "BOT", 1
		return
	}
	p.who = strangerOf(g.Platform, stranger)
	// A shared game has several; each sits where it was put when the world was made.
	for _, m := range g.known {
		if m.slot == p.slot {
			p.who = m.who
		}
	}
	p.puuid, p.summonerID = g.pr.PUUID(p.who), p.who.summonerID()
	p.name, p.tag = w.RiotID(p.who)
	p.summonerLevel, p.icon = p.who.Level(), p.who.Icon()
}

// killsPerMinute by kind of map, all players together: near the recorded games.
var killsPerMinute = map[arena]float64{rift: 1.85, aram: 5.2, cherry: 4, swarm: 0}

// fight makes the kills, in order of time; none in the first ninety seconds, when nobody meets.
// A remake is a game that ended before it began, and Swarm ends with the first death.
func (g *facts) fight(r *keyed.Stream) {
	if g.Shape == Swarm {
		g.kills = []kill{{at: g.seconds * 1000, killer: -1, victim: 0}}
		return
	}
	n := int(killsPerMinute[g.form.arena] * float64(g.seconds) / 60 * (0.7 + 0.6*r.Unit()))
	if g.Shape == Remake {
		n = r.Below(3)
	}
	// Spread evenly: that fights cluster matters to no client.
	times := make([]int, n)
	for i := range times {
		times[i] = r.Between(min(90_000, g.seconds*500), g.seconds*1000-1)
	}
	slices.Sort(times)
	for _, at := range times {
		g.kills = append(g.kills, g.duel(at, r))
	}
}

// duel picks killer, victim and helpers; the winning side kills a little more often.
func (g *facts) duel(at int, r *keyed.Stream) kill {
	n := len(g.parts)
	k := kill{at: at, killer: r.Below(n), victim: r.Below(n)}
	// Swapped, and not drawn anew: one draw more or less would change all that follows.
	if !g.parts[k.killer].win && r.Chance(30) {
		k.killer, k.victim = k.victim, k.killer
	}
	// The next place that is no friend's; there is one in every form that has kills.
	for g.allied(k.killer, k.victim) {
		k.victim = (k.victim + 1) % n
	}
	// 4 in 100 die by towers and monsters.
	if r.Chance(4) {
		k.killer = -1
		return k
	}
	for i := range g.parts {
		if i != k.killer && g.allied(i, k.killer) && r.Chance(28) {
			k.assists = append(k.assists, i)
		}
	}
	return k
}

// allied reports whether two places are of one side: a pair in the arena, else a team. Everybody
// is allied with themselves.
func (g *facts) allied(i, j int) bool {
	if g.form.arena == cherry {
		return g.parts[i].sub == g.parts[j].sub
	}
	return g.parts[i].team == g.parts[j].team
}

// sum derives the players' scores from the kills.
// A spree is two kills or more without dying; kills within ten seconds of each other are a double,
// triple, quadra or penta kill.
func (g *facts) sum() {
	type run struct{ spree, multi, lastKill, lastDeath int }
	runs := make([]run, len(g.parts))
	for _, k := range g.kills {
		v, vr := &g.parts[k.victim], &runs[k.victim]
		v.deaths++
		// Later deaths take longer, a second more for each minute of the game.
		v.dead += 8 + k.at/60_000
		v.longest = max(v.longest, (k.at-vr.lastDeath)/1000)
		vr.spree, vr.multi, vr.lastDeath = 0, 0, k.at
		// Who helps also keeps no spree: only kills count for one.
		for _, a := range k.assists {
			g.parts[a].assists++
		}
		if k.killer < 0 {
			continue
		}
		p, pr := &g.parts[k.killer], &runs[k.killer]
		p.kills++
		// The kill before is too long ago to be part of this one.
		if k.at-pr.lastKill > 10_000 {
			pr.multi = 0
		}
		pr.spree, pr.multi, pr.lastKill = pr.spree+1, min(pr.multi+1, 5), k.at
		// A triple kill was a double kill before, and counts as both.
		p.multi[pr.multi]++
		p.spree = max(p.spree, pr.spree)
		if pr.spree == 2 {
			p.sprees++
		}
	}
}

// fill invents what does not follow from the kills, in proportion to the length of the game.
// The rates were set so that the sums come near those of the recorded games.
func (g *facts) fill(p *part, r *keyed.Stream) {
	m := float64(g.seconds) / 60
	p.level = min(18, 3+int(m*0.58)+r.Below(2))
	p.xp = int(m*520) + r.Below(900)
	p.gold = 500 + int(m*290) + p.kills*300 + p.assists*90 + r.Below(800)
	p.cs, p.jungle, p.vision = r.Between(0, int(m*2)), 0, 0
	switch p.position {
	// 14 gold for a minion, 20 for a monster of the jungle.
	case "TOP", "MIDDLE", "BOTTOM":
		p.cs = int(m * (5 + 3*r.Unit()))
		p.gold += p.cs * 14
	case "JUNGLE":
		p.jungle = int(m * (4 + 2*r.Unit()))
		p.gold += p.jungle * 20
	}
	if g.form.arena == rift {
		p.vision = int(m * (0.5 + 1.5*r.Unit()))
	}
	// What is left is less than an item costs.
	p.spent = max(0, p.gold-r.Below(1500))
	g.equip(p, r)
	// One number for all three kinds of damage: who fights much deals and takes much.
	scale := m * (0.6 + 0.8*r.Unit())
	p.champs = spread(int(scale*620)+p.kills*250, p.champ.magic, r)
	p.dealt = spread(p.champs.total+int(scale*3400), p.champ.magic, r)
	p.taken = spread(int(scale*640)+p.deaths*400, r.Chance(50), r)
	// Who died late, or not at all, lived longest at the end: at least the mean.
	p.longest = max(p.longest, (g.seconds-p.dead)/(p.deaths+1))
}

// equip gives as many items as the gold buys; the seventh place is the trinket's, which is free.
func (g *facts) equip(p *part, r *keyed.Stream) {
	// The arena sells the same items under numbers of its own: 223031 is 3031.
	stock := items
	if g.form.arena == cherry {
		stock = arenaItems
	}
	for i := range p.items[:min(6, 1+p.gold/2400)] {
		p.items[i] = stock[r.Below(len(stock))]
	}
	if g.form.arena == rift {
		p.items[6] = trinkets[r.Below(len(trinkets))]
	}
}

// spread divides damage into kinds: most of it is of the champion's own.
func spread(total int, magic bool, r *keyed.Stream) damage {
	main := int(float64(total) * (0.6 + 0.3*r.Unit()))
	rest := total - main
	// Few deal true damage, and little of it.
	pure := int(float64(rest) * 0.3 * r.Unit())
	if magic {
		return damageOf(rest-pure, main, pure)
	}
	return damageOf(main, rest-pure, pure)
}

// shareDamage adds up each player's side, of which the shares in [facts.rate] are parts.
func (g *facts) shareDamage() {
	for i := range g.parts {
		p := &g.parts[i]
		for j := range g.parts {
			if g.allied(i, j) {
				p.teamKills += g.parts[j].kills
				p.teamDamage += g.parts[j].champs.total
			}
		}
	}
}
