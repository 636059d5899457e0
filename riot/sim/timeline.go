package sim

import (
	"slices"
	"strconv"
)

// frameInterval is the time between two frames of a timeline.
const frameInterval = 60_000

// appendTimeline writes the answer of match-v5 for g's timeline. Its kills, levels, gold and damage end
// where those of the match end.
func (g *game) appendTimeline(b []byte, seed uint64) []byte {
	r := start(seed).str("timeline").str(g.id).stream()
	b = g.appendMetadata(append(b, '{'))
	b = append(b, `,"info":{`...)
	if g.shape == Aborted {
		return g.appendAbortedTimeline(b)
	}
	if g.era >= e14a {
		b = textField(b, "endOfGameResult", g.result())
	}
	b = intField(b, "frameInterval", frameInterval)
	b = append(b, `,"frames":[`...)
	end := g.seconds * 1000
	for at, from := 0, -1; ; {
		b = g.appendFrame(b, r, from, at, at == end)
		if at == end {
			break
		}
		b = append(b, ',')
		from, at = at, min(at+frameInterval, end)
	}
	b = append(b, ']')
	b = strconv.AppendUint(appendKey(b, "gameId"), g.number, 10)
	b = append(b, `,"participants":[`...)
	for i := range g.parts {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"participantId":`...)
		b = append(textField(appendInt(b, i+1), "puuid", g.parts[i].puuid), '}')
	}
	return append(b, "]}}"...)
}

func (g *game) appendAbortedTimeline(b []byte) []byte {
	b = append(b, `"endOfGameResult":"Abort_Unexpected","frameInterval":0,"frames":[{"events":[{"gameId":`...)
	b = strconv.AppendUint(b, g.number, 10)
	b = strconv.AppendInt(append(b, `,"realTimestamp":`...), g.begin(), 10)
	return append(b, `,"timestamp":0,"type":"GAME_END","winningTeam":0}],"participantFrames":null,"timestamp":0}],`+
		`"gameId":0,"participants":[]}}`...)
}

// appendFrame writes the events of (from, at] and the state of every participant at its end.
func (g *game) appendFrame(b []byte, r *rng, from, at int, final bool) []byte {
	b = append(b, `{"events":[`...)
	for i, e := range g.events(r, from, at, final) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		b = e.put(b, r, g, e)
		b = append(b, '}')
	}
	b = append(b, `],"participantFrames":{`...)
	for i := range g.parts {
		b = appendKey(b, strconv.Itoa(i+1))
		b = g.appendState(b, r, &g.parts[i], at)
	}
	b = append(b, '}')
	// Frames come a few milliseconds late in a real timeline.
	return append(intField(b, "timestamp", at+at/frameInterval*13), '}')
}

// part of the final value at a time of the game; growth is faster towards the end.
func (g *game) by(at, final int) int {
	t := float64(at) / float64(g.seconds*1000)
	return int(float64(final) * t * (0.6 + 0.4*t))
}

func (g *game) levelAt(p *part, at int) int {
	return 1 + int(float64(p.level-1)*float64(at)/float64(g.seconds*1000)+1e-9)
}

// stats are the keys of championStats: what a champion starts with and gains per level.
var stats = []struct {
	key        string
	base, gain int
}{
	{"abilityHaste", 0, 0}, {"abilityPower", 0, 14}, {"armor", 32, 5}, {"armorPen", 0, 0}, {"armorPenPercent", 0, 0},
	{"attackDamage", 60, 5}, {"attackSpeed", 100, 3}, {"bonusArmorPenPercent", 0, 0}, {"bonusMagicPenPercent", 0, 0},
	{"ccReduction", 0, 0}, {"cooldownReduction", 0, 0}, {"health", 0, 0}, {"healthMax", 600, 105}, {"healthRegen", 9, 2},
	{"lifesteal", 0, 0}, {"magicPen", 0, 0}, {"magicPenPercent", 0, 0}, {"magicResist", 31, 2}, {"movementSpeed", 335, 3},
	{"omnivamp", 0, 0}, {"physicalVamp", 0, 0}, {"power", 0, 0}, {"powerMax", 400, 55}, {"powerRegen", 12, 2}, {"spellVamp", 0, 0},
}

// appendState writes one participantFrame.
func (g *game) appendState(b []byte, r *rng, p *part, at int) []byte {
	level := g.levelAt(p, at)
	b = append(b, `{"championStats":{`...)
	for i := range stats {
		s := &stats[i]
		v := s.base + s.gain*(level-1)
		switch s.key {
		case "health":
			v = r.below(600 + 105*(level-1) + 1)
		case "power":
			v = r.below(400 + 55*(level-1) + 1)
		}
		b = intField(b, s.key, v)
	}
	b = append(b, '}')
	b = intField(b, "currentGold", r.below(min(1800, 500+g.by(at, p.gold))))
	b = g.appendDamageStats(b, p, at)
	b = append(b, `,"goldPerSecond":0`...)
	b = intField(b, "jungleMinionsKilled", g.by(at, p.jungle))
	b = intField(b, "level", level)
	b = intField(b, "minionsKilled", g.by(at, p.cs))
	b = intField(b, "participantId", p.slot+1)
	b = appendPosition(b, r)
	b = intField(b, "timeEnemySpentControlled", g.by(at, p.champs.total()*9))
	b = intField(b, "totalGold", max(500, g.by(at, p.gold)))
	return append(intField(b, "xp", g.by(at, p.xp)), '}')
}

func (g *game) appendDamageStats(b []byte, p *part, at int) []byte {
	scale := func(d damage) damage {
		return damage{g.by(at, d.physical), g.by(at, d.magic), g.by(at, d.pure)}
	}
	dealt, champs, taken := scale(p.dealt), scale(p.champs), scale(p.taken)
	b = append(b, `,"damageStats":{"magicDamageDone":`...)
	b = appendInt(b, dealt.magic)
	b = intField(b, "magicDamageDoneToChampions", champs.magic)
	b = intField(b, "magicDamageTaken", taken.magic)
	b = intField(b, "physicalDamageDone", dealt.physical)
	b = intField(b, "physicalDamageDoneToChampions", champs.physical)
	b = intField(b, "physicalDamageTaken", taken.physical)
	b = intField(b, "totalDamageDone", dealt.total())
	b = intField(b, "totalDamageDoneToChampions", champs.total())
	b = intField(b, "totalDamageTaken", taken.total())
	b = intField(b, "trueDamageDone", dealt.pure)
	b = intField(b, "trueDamageDoneToChampions", champs.pure)
	return append(intField(b, "trueDamageTaken", taken.pure), '}')
}

func appendPosition(b []byte, r *rng) []byte {
	b = append(b, `,"position":{"x":`...)
	b = intField(appendInt(b, r.between(300, 14500)), "y", r.between(300, 14500))
	return append(b, '}')
}

// events lists what happened in (from, at], in order of time.
func (g *game) events(r *rng, from, at int, final bool) []event {
	var list []event
	if from < 0 {
		return []event{{at: 0, put: putPauseEnd}}
	}
	for i := range g.parts {
		list = g.growth(list, r, &g.parts[i], from, at)
	}
	for _, k := range kinds {
		if k.on&g.form.arena != 0 {
			list = g.scatter(list, r, k, from, at)
		}
	}
	for _, k := range g.kills {
		if k.at > from && k.at <= at {
			list = append(list, event{at: k.at, kill: k, put: putKill})
		}
	}
	slices.SortStableFunc(list, func(x, y event) int { return x.at - y.at })
	if final {
		list = append(list, event{at: at, put: putGameEnd})
	}
	return list
}

// growth adds the level-ups of p, each with the ability that it opens.
func (g *game) growth(list []event, r *rng, p *part, from, at int) []event {
	for level := g.levelAt(p, max(0, from)); level < g.levelAt(p, at); level++ {
		when := r.between(from+1, at)
		list = append(list, event{at: when, who: p.slot + 1, n: level + 1, put: putLevelUp})
		if g.form.arena != swarm {
			list = append(list, event{at: when, who: p.slot + 1, n: 1 + r.below(4), put: putSkillUp})
		}
	}
	return list
}

// scatter adds events of kind k at their usual rate.
func (g *game) scatter(list []event, r *rng, k kind, from, at int) []event {
	expected := k.perMinute * float64(len(g.parts)) * float64(at-from) / frameInterval
	n := int(expected * 2 * r.unit())
	if expected < 1 {
		n = 0
		if r.unit() < expected {
			n = 1
		}
	}
	for range n {
		list = append(list, event{at: r.between(from+1, at), who: 1 + r.below(len(g.parts)), put: k.put})
	}
	return list
}
