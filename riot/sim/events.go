package sim

import (
	"strconv"
	"strings"
)

// event is one entry of a frame.
type event struct {
	at   int // milliseconds into the game
	who  int // participant id
	n    int
	kill kill
	put  func(b []byte, r *rng, g *game, e event) []byte
}

// kind is a sort of event with its rate per participant and minute, chosen so that timelines come to
// the recorded size; kills are facts of the game.
type kind struct {
	perMinute float64
	on        arena
	put       func(b []byte, r *rng, g *game, e event) []byte
}

var kinds = []kind{
	{.71, rift | aram | cherry, putItem("ITEM_PURCHASED")},
	{.58, rift | aram | cherry, putItem("ITEM_DESTROYED")},
	{.03, rift | aram | cherry, putItem("ITEM_SOLD")},
	{.027, rift | aram | cherry, putUndo},
	{.5, rift, putWard("WARD_PLACED", "creatorId")},
	{.14, rift, putWard("WARD_KILL", "killerId")},
	{.055, rift, putPlate},
	{.03, rift, putMonster},
	{.027, rift | aram, putBuilding},
	{.01, rift | aram | cherry, putSpecialKill},
}

// endEvent closes an event as Riot orders it: time, then type.
func endEvent(b []byte, e event, kind string) []byte {
	return textField(intField(b, "timestamp", e.at), "type", kind)
}

func putPauseEnd(b []byte, _ *rng, g *game, e event) []byte {
	b = strconv.AppendInt(appendKey(b, "realTimestamp"), g.begin(), 10)
	return endEvent(b, e, "PAUSE_END")
}

func putGameEnd(b []byte, _ *rng, g *game, e event) []byte {
	b = strconv.AppendUint(appendKey(b, "gameId"), g.number, 10)
	b = strconv.AppendInt(appendKey(b, "realTimestamp"), g.end(), 10)
	return intField(endEvent(b, e, "GAME_END"), "winningTeam", g.winner)
}

func putLevelUp(b []byte, _ *rng, _ *game, e event) []byte {
	return endEvent(intField(intField(b, "level", e.n), "participantId", e.who), e, "LEVEL_UP")
}

func putSkillUp(b []byte, _ *rng, _ *game, e event) []byte {
	b = intField(textField(b, "levelUpType", "NORMAL"), "participantId", e.who)
	return endEvent(intField(b, "skillSlot", e.n), e, "SKILL_LEVEL_UP")
}

func putItem(kind string) func([]byte, *rng, *game, event) []byte {
	return func(b []byte, r *rng, _ *game, e event) []byte {
		b = intField(b, "itemId", items[r.below(len(items))])
		return endEvent(intField(b, "participantId", e.who), e, kind)
	}
}

func putUndo(b []byte, r *rng, _ *game, e event) []byte {
	b = intField(intField(b, "afterId", 0), "beforeId", items[r.below(len(items))])
	return endEvent(intField(intField(b, "goldGain", 50*r.between(1, 30)), "participantId", e.who), e, "ITEM_UNDO")
}

var wardTypes = []string{"YELLOW_TRINKET", "YELLOW_TRINKET", "SIGHT_WARD", "CONTROL_WARD", "BLUE_TRINKET", "UNDEFINED"}

func putWard(kind, who string) func([]byte, *rng, *game, event) []byte {
	return func(b []byte, r *rng, _ *game, e event) []byte {
		return textField(endEvent(intField(b, who, e.who), e, kind), "wardType", wardTypes[r.below(len(wardTypes))])
	}
}

var lanes = []string{"TOP_LANE", "MID_LANE", "BOT_LANE"}

func putPlate(b []byte, r *rng, g *game, e event) []byte {
	b = appendPosition(textField(intField(b, "killerId", e.who), "laneType", lanes[r.below(3)]), r)
	return endEvent(intField(b, "teamId", 300-g.parts[e.who-1].team), e, "TURRET_PLATE_DESTROYED")
}

var (
	dragons  = []string{"FIRE_DRAGON", "WATER_DRAGON", "AIR_DRAGON", "EARTH_DRAGON", "HEXTECH_DRAGON", "CHEMTECH_DRAGON"}
	monsters = []string{"DRAGON", "HORDE", "RIFTHERALD", "BARON_NASHOR"}
)

func putMonster(b []byte, r *rng, g *game, e event) []byte {
	if g.era >= e12b {
		b = intField(b, "bounty", 0)
	}
	b = intField(intField(b, "killerId", e.who), "killerTeamId", g.parts[e.who-1].team)
	monster := monsters[r.below(len(monsters))]
	if monster == "DRAGON" {
		b = textField(b, "monsterSubType", dragons[r.below(len(dragons))])
	}
	return endEvent(appendPosition(textField(b, "monsterType", monster), r), e, "ELITE_MONSTER_KILL")
}

var towers = []string{"OUTER_TURRET", "OUTER_TURRET", "INNER_TURRET", "BASE_TURRET", "NEXUS_TURRET"}

func putBuilding(b []byte, r *rng, g *game, e event) []byte {
	if g.era >= e12b {
		b = intField(b, "bounty", 0)
	}
	b = intField(textField(b, "buildingType", "TOWER_BUILDING"), "killerId", e.who)
	b = appendPosition(textField(b, "laneType", lanes[r.below(3)]), r)
	b = intField(intField(b, "teamId", 300-g.parts[e.who-1].team), "timestamp", e.at)
	return textField(textField(b, "towerType", towers[r.below(len(towers))]), "type", "BUILDING_KILL")
}

func putSpecialKill(b []byte, r *rng, _ *game, e event) []byte {
	b = appendPosition(intField(intField(textField(b, "killType", "KILL_MULTI"), "killerId", e.who), "multiKillLength", 2), r)
	return endEvent(b, e, "CHAMPION_SPECIAL_KILL")
}

// putKill is the bulk of a timeline: two hundred bytes for each blow of the fight.
func putKill(b []byte, r *rng, g *game, e event) []byte {
	k := e.kill
	if len(k.assists) > 0 {
		b = append(appendKey(b, "assistingParticipantIds"), '[')
		for i, a := range k.assists {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendInt(b, a+1)
		}
		b = append(b, ']')
	}
	b = intField(intField(b, "bounty", 50*r.between(3, 14)), "killStreakLength", r.low(0, 5))
	b = appendPosition(intField(b, "killerId", k.killer+1), r)
	b = intField(intField(b, "shutdownBounty", 0), "timestamp", k.at)
	b = textField(b, "type", "CHAMPION_KILL")
	if g.form.arena != swarm {
		b = g.appendBlows(appendKey(b, "victimDamageDealt"), r, k.victim, r.low(1, 15), false)
		b = g.appendBlows(appendKey(b, "victimDamageReceived"), r, max(k.killer, 0), r.low(3, 27), k.killer < 0)
	}
	return intField(b, "victimId", k.victim+1)
}

// spellSuffixes name the abilities and attacks of a champion, each with its slot.
var spellSuffixes = []struct {
	suffix string
	slot   int
}{{"q", 0}, {"q", 0}, {"w", 1}, {"e", 2}, {"r", 3}, {"basicattack", 64}, {"basicattack2", 65}, {"passive", 63}}

// appendBlows writes n damage entries. A death without a champion behind it comes from a turret.
func (g *game) appendBlows(b []byte, r *rng, by, n int, turret bool) []byte {
	p := &g.parts[by]
	name := strings.ToLower(p.champ.name)
	b = append(b, '[')
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		if turret {
			b = appendBlow(b, "SRUAP_Turret_Chaos1", 0, "sruap_turret_chaos1", "basicattack", 64, r.between(40, 420), false, "TOWER")
			continue
		}
		s := spellSuffixes[r.below(len(spellSuffixes))]
		b = appendBlow(b, p.champ.name, by+1, name, s.suffix, s.slot, r.low(8, 620), p.champ.magic, "OTHER")
	}
	return append(b, ']')
}

func appendBlow(b []byte, name string, who int, spell, suffix string, slot, damage int, magic bool, kind string) []byte {
	magicDamage, physical := 0, damage
	if magic {
		magicDamage, physical = damage, 0
	}
	b = append(b, `{"basic":`...)
	b = appendBool(b, slot >= 64)
	b = intField(b, "magicDamage", magicDamage)
	b = textField(b, "name", name)
	b = intField(intField(b, "participantId", who), "physicalDamage", physical)
	b = append(b, `,"spellName":"`...)
	b = append(append(append(b, spell...), suffix...), '"')
	b = intField(intField(b, "spellSlot", slot), "trueDamage", 0)
	return append(textField(b, "type", kind), '}')
}
