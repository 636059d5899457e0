package world

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// frameInterval is the time between two frames of a timeline in milliseconds.
const frameInterval = 60_000

// frame is a stretch of a timeline, after from and up to at, in milliseconds into the game.
type frame struct {
	from, at int
	late     int // frames come a few milliseconds late in a real timeline
	level    int // of the participant who is written
}

// event is one entry of a frame.
type event struct {
	at   int // milliseconds into the game
	who  int // participant id
	n    int // level, slot or victim
	kill *kill
	kind hole
}

// blow is one entry of a kill's damage.
type blow struct {
	basic           bool
	magic, physical int
	name            string
	who, slot       int
	spell, kind     string
}

func frames(b []byte, s *scene) []byte {
	end := s.g.seconds * 1000
	// One at 0, one a minute, and one at the end: 30 minutes and a half make 32.
	n := (end+frameInterval-1)/frameInterval + 1
	return list(b, n, func(b []byte, i int) []byte {
		at := min(i*frameInterval, end)
		s.f = frame{from: (i - 1) * frameInterval, at: at, late: at + at/frameInterval*13}
		if i == 0 {
			s.f.from = -1
		}
		return s.book.parts["frame"](b, s)
	})
}

// states writes how every participant stands at the end of the frame.
func states(b []byte, s *scene) []byte {
	b = append(b, '{')
	for i := range s.g.parts {
		if i > 0 {
			b = append(b, ',')
		}
		// The order of participants, "1" to "10": JSON that is sorted by keys would have "10" second.
		s.p = &s.g.parts[i]
		s.f.level = s.g.levelAt(s.p, s.f.at)
		b = append(strconv.AppendInt(append(b, '"'), int64(i+1), 10), '"', ':')
		b = s.book.parts["state"](b, s)
	}
	return append(b, '}')
}

// by is the part of a final value that is reached at the frame; growth is faster towards the end.
func (s *scene) by(final int) int {
	// 0 at the start and 1 at the end, where the number of the match is reached to the unit.
	t := float64(s.f.at) / float64(s.g.seconds*1000)
	return int(float64(final) * t * (0.6 + 0.4*t))
}

func (g *facts) levelAt(p *part, at int) int {
	return 1 + int(float64(p.level-1)*float64(at)/float64(g.seconds*1000)+1e-9)
}

// soFar is the part of a final number that is reached; of a damage the sum of its kinds' parts.
func soFar(path string) hole {
	at, of := find(path)
	if of != reflect.TypeFor[damage]() {
		return func(b []byte, s *scene) []byte { return appendInt(b, s.by(int(at.in(s).Int()))) }
	}
	return func(b []byte, s *scene) []byte {
		sum, d := 0, at.in(s)
		for kind := range 3 { // physical, magic and pure; the last one is their sum
			sum += s.by(int(d.Field(kind).Int()))
		}
		return appendInt(b, sum)
	}
}

// grown is what a champion has at its level: a base, and a gain for each level.
func grown(base, gain int) hole {
	return func(b []byte, s *scene) []byte { return appendInt(b, base+gain*(s.f.level-1)) }
}

// left is what remains of it.
func left(base, gain int) hole {
	return func(b []byte, s *scene) []byte { return appendInt(b, s.r.Below(base+gain*(s.f.level-1)+1)) }
}

// events writes what happened in a frame, in order of time.
func events(b []byte, s *scene) []byte {
	all := s.happened()
	return list(b, len(all), func(b []byte, i int) []byte {
		s.e = all[i]
		if s.e.who > 0 {
			s.p = &s.g.parts[s.e.who-1]
		}
		return s.e.kind(b, s)
	})
}

func (s *scene) happened() []event {
	g, from, at := s.g, s.f.from, s.f.at
	kinds := s.book.parts
	// The frame at 0 holds one event, as recorded: the game goes on after loading.
	if from < 0 {
		return []event{{kind: kinds["pause end"]}}
	}
	var all []event
	for i := range g.parts {
		all = s.growth(all, &g.parts[i])
	}
	for _, k := range s.book.events {
		all = s.scatter(all, k)
	}
	for i := range g.kills {
		if k := &g.kills[i]; k.at > from && k.at <= at {
			all = append(all, event{at: k.at, who: k.killer + 1, n: k.victim + 1, kill: k, kind: kinds["kill"]})
		}
	}
	// Stable, for a level and its ability come at the same instant in this order.
	slices.SortStableFunc(all, func(x, y event) int { return x.at - y.at })
	if at == g.seconds*1000 {
		all = append(all, event{at: at, kind: kinds["game end"]})
	}
	return all
}

// growth adds the level-ups of p, each with the ability that it opens.
func (s *scene) growth(all []event, p *part) []event {
	from, at, kinds := s.f.from, s.f.at, s.book.parts
	for level := s.g.levelAt(p, from); level < s.g.levelAt(p, at); level++ {
		// Some time in this frame; the ability is chosen at once.
		when := s.r.Between(from+1, at)
		all = append(all, event{at: when, who: p.id, n: level + 1, kind: kinds["level up"]})
		if s.g.form.arena != swarm {
			all = append(all, event{at: when, who: p.id, n: 1 + s.r.Below(4), kind: kinds["skill up"]})
		}
	}
	return all
}

// scatter adds events of one sort at their usual rate.
func (s *scene) scatter(all []event, k scattered) []event {
	// The last frame is shorter than a minute.
	expected := k.perMinute * float64(len(s.g.parts)) * float64(s.f.at-s.f.from) / frameInterval
	// Between none and twice as many as usual.
	n := int(expected * 2 * s.r.Unit())
	// Rarer than once a frame: once, or not at all.
	if expected < 1 {
		n = 0
		if s.r.Unit() < expected {
			n = 1
		}
	}
	for range n {
		all = append(all, event{at: s.r.Between(s.f.from+1, s.f.at), who: 1 + s.r.Below(len(s.g.parts)), kind: k.hole})
	}
	return all
}

// monster says which one died; dragons have a sort.
func monster(b []byte, s *scene) []byte {
	// "monsterSubType":"FIRE_DRAGON","monsterType":"DRAGON"; others have no sort.
	kinds, dragons := lists()["monsters"], lists()["dragons"]
	kind := kinds[s.r.Below(len(kinds))]
	if kind == "DRAGON" {
		b = append(append(append(b, `"monsterSubType":"`...), dragons[s.r.Below(len(dragons))]...), '"', ',')
	}
	return append(append(append(b, `"monsterType":"`...), kind...), '"')
}

// helpers are those who had a part in a kill, if anybody had.
func helpers(b []byte, s *scene) []byte {
	assists := s.e.kill.assists
	// Riot leaves the list out; it is never empty.
	if len(assists) == 0 {
		return b
	}
	b = list(append(b, `"assistingParticipantIds":`...), len(assists), func(b []byte, i int) []byte {
		return appendInt(b, assists[i]+1)
	})
	return append(b, ',')
}

// blows are what the victim of a kill dealt and received; in Swarm nobody counts them.
func blows(b []byte, s *scene) []byte {
	if s.g.form.arena == swarm {
		return b
	}
	k := s.e.kill
	b = s.appendBlows(append(b, `,"victimDamageDealt":`...), k.victim, s.r.Low(1, 15), false)
	return s.appendBlows(append(b, `,"victimDamageReceived":`...), max(k.killer, 0), s.r.Low(3, 27), k.killer < 0)
}

// spellSlots name the abilities and attacks of a champion, each with its slot.
var spellSlots = []struct {
	suffix string
	slot   int
}{{"q", 0}, {"q", 0}, {"w", 1}, {"e", 2}, {"r", 3}, {"basicattack", 64}, {"basicattack2", 65}, {"passive", 63}}

// appendBlows writes n damage entries. A death without a champion behind it comes from a turret.
func (s *scene) appendBlows(b []byte, by, n int, turret bool) []byte {
	p, kind := &s.g.parts[by], s.book.parts["blow"]
	name := strings.ToLower(p.champ.name)
	return list(b, n, func(b []byte, _ int) []byte {
		if turret {
			s.x = blow{basic: true, name: "SRUAP_Turret_Chaos1", spell: "sruap_turret_chaos1basicattack", slot: 64,
				physical: s.r.Between(40, 420), kind: "TOWER"}
			return kind(b, s)
		}
		// "garenq" from slot 0, "garenbasicattack" from slot 64.
		spell := spellSlots[s.r.Below(len(spellSlots))]
		s.x = blow{
			basic: spell.slot >= 64, name: p.champ.name, who: p.id,
			spell: name + spell.suffix, slot: spell.slot, kind: "OTHER",
		}
		if damage := s.r.Low(8, 620); p.champ.magic {
			s.x.magic = damage
		} else {
			s.x.physical = damage
		}
		return kind(b, s)
	})
}
