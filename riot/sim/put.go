package sim

import (
	"encoding/base64"
	"encoding/binary"
	"sync"
)

// put writes the value of a field. r is the stream of the payload.
type put func(b []byte, r *rng, p *part) []byte

// num is a count between lo and hi in percent of the cases, else 0.
func num(percent, lo, hi int) put {
	return func(b []byte, r *rng, _ *part) []byte {
		if !r.chance(percent) {
			return append(b, '0')
		}
		return appendInt(b, r.low(lo, hi))
	}
}

// decimal is the same for numbers with a fraction.
func decimal(percent int, lo, hi float64) put {
	return func(b []byte, r *rng, _ *part) []byte {
		if !r.chance(percent) {
			return append(b, '0')
		}
		return appendFloat(b, lo+(hi-lo)*r.unit())
	}
}

func count(of func(*part) int) put {
	return func(b []byte, _ *rng, p *part) []byte { return appendInt(b, of(p)) }
}

func ratio(of func(*part) float64) put {
	return func(b []byte, _ *rng, p *part) []byte { return appendFloat(b, of(p)) }
}

func flag(of func(*part) bool) put {
	return func(b []byte, _ *rng, p *part) []byte { return appendBool(b, of(p)) }
}

func text(of func(*part) string) put {
	return func(b []byte, _ *rng, p *part) []byte { return appendString(b, of(p)) }
}

func sometimes(percent int) put {
	return func(b []byte, r *rng, _ *part) []byte { return appendBool(b, r.chance(percent)) }
}

func oneOf(words ...string) put {
	return func(b []byte, r *rng, _ *part) []byte { return appendString(b, words[r.below(len(words))]) }
}

// layout is the list of fields that one kind of payload carries, with their keys ready to append.
type layout []slot

type slot struct {
	prefix string // `,"key":`
	zero   bool   // 0 on this map, whatever put says
	share  int
	put    put
}

func newLayout(fields []field, e era, on arena) layout {
	var l layout
	for _, f := range fields {
		if e < f.from || e > f.to || (f.share > 0 && f.on&on == 0) {
			continue
		}
		l = append(l, slot{`,"` + f.key + `":`, f.put == nil || f.on&on == 0, f.share, f.put})
	}
	return l
}

// append writes an object: one value per slot.
func (l layout) append(b []byte, r *rng, p *part) []byte {
	b = append(b, '{')
	open := len(b)
	for i := range l {
		s := &l[i]
		if s.share > 0 && !r.chance(s.share) {
			continue
		}
		b = append(b, s.prefix...)
		if s.zero {
			b = append(b, '0')
			continue
		}
		b = s.put(b, r, p)
	}
	if len(b) > open {
		b = append(b[:open], b[open+1:]...) // the first comma
	}
	return append(b, '}')
}

// layouts are made on first use: there are twelve eras and four maps, of which a run sees a few.
var layouts sync.Map

type layoutKey struct {
	era        era
	arena      arena
	challenges bool
}

func layoutOf(e era, on arena, challenges bool) layout {
	key := layoutKey{e, on, challenges}
	if l, ok := layouts.Load(key); ok {
		return l.(layout)
	}
	fields := participantFields
	if challenges {
		fields = challengeFields
	}
	l, _ := layouts.LoadOrStore(key, newLayout(fields, e, on))
	return l.(layout)
}

func (p *part) largestMulti() int {
	for n := 5; n > 0; n-- {
		if p.multi[n] > 0 {
			return n
		}
	}
	return 0
}

func (p *part) firstBlood() bool {
	return len(p.game.kills) > 0 && p.game.kills[0].killer == p.slot
}

func (p *part) lost() int {
	if p.win || p.game.form.arena == cherry || p.game.form.arena == swarm {
		return 0
	}
	return 1
}

// individualPosition is Invalid where the game has no lanes.
func (p *part) individualPosition() string {
	if p.position == "" {
		return "Invalid"
	}
	return p.position
}

// tagline is empty in the years before Riot IDs, and for players without one (developer-relations#834).
func (p *part) tagline() string {
	if p.game.era < e14a {
		return ""
	}
	return p.tag
}

// summonerName went away in 2025.
func (p *part) summonerName() string {
	if p.game.era >= e15b {
		return ""
	}
	return p.name
}

// surrendered: a third of the games on the Rift end by a vote.
func (g *game) surrendered() bool { return g.form.arena == rift && mix(g.number)%3 == 0 }

// putSummonerID writes an id as it stood in payloads until July 2025: opaque and useless.
func putSummonerID(b []byte, _ *rng, p *part) []byte {
	if p.bot {
		return append(b, `"BOT"`...)
	}
	var raw [36]byte
	r := start(p.who.pack()).str("summoner").stream()
	for i := 0; i+8 <= len(raw); i += 8 {
		binary.LittleEndian.PutUint64(raw[i:], r.next())
	}
	b = append(b, '"')
	b = base64.RawURLEncoding.AppendEncode(b, raw[:])
	return append(b[:len(b)-1], '"')
}

func putLevel(b []byte, _ *rng, p *part) []byte {
	if p.bot {
		return append(b, '1')
	}
	return appendInt(b, summonerLevel(p.who))
}

func putIcon(b []byte, _ *rng, p *part) []byte {
	if p.bot {
		return append(b, '0')
	}
	return appendInt(b, profileIcon(p.who))
}

func summonerLevel(p person) int { return start(p.pack()).str("level").stream().low(13, 855) }

func profileIcon(p person) int { return start(p.pack()).str("icon").below(6900) }

func putBehavior(b []byte, _ *rng, _ *part) []byte {
	return append(b, `{"PlayerBehavior_IsHeroInCombat":0}`...)
}

// putMissions: the keys had a capital P for a while in 2024.
func putMissions(b []byte, r *rng, p *part) []byte {
	key := "playerScore"
	if p.game.era == e14a {
		key = "PlayerScore"
	}
	b = append(b, '{')
	for i := range 12 {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, '"'), key...)
		b = append(appendInt(b, i), '"', ':')
		if p.game.form.arena != cherry || i > 8 {
			b = append(b, '0')
			continue
		}
		b = appendFloat(b, float64(r.low(1, 5000))+r.unit())
	}
	return append(b, '}')
}

// putPerks writes the runes; the arena and Swarm have none, but keep the form.
func putPerks(b []byte, r *rng, p *part) []byte {
	runed := p.game.form.arena&(rift|aram) != 0
	pick := func(list []int) int {
		if !runed {
			return 0
		}
		return list[r.below(len(list))]
	}
	b = append(b, `{"statPerks":{"defense":`...)
	b = appendInt(b, pick([]int{5001, 5002, 5011}))
	b = intField(b, "flex", pick([]int{5008, 5010}))
	b = intField(b, "offense", pick([]int{5005, 5007, 5008}))
	b = append(b, `},"styles":[{"description":"primaryStyle","selections":[`...)
	b = putPerk(b, r, pick(keystones), runed)
	for range 3 {
		b = putPerk(append(b, ','), r, pick(runes), runed)
	}
	b = append(b, `],"style":`...)
	b = appendInt(b, pick(styles))
	b = append(b, `},{"description":"subStyle","selections":[`...)
	b = putPerk(b, r, pick(runes), runed)
	b = putPerk(append(b, ','), r, pick(runes), runed)
	b = append(b, `],"style":`...)
	b = appendInt(b, pick(styles))
	return append(b, `}]}`...)
}

func putPerk(b []byte, r *rng, perk int, runed bool) []byte {
	b = append(b, `{"perk":`...)
	b = appendInt(b, perk)
	for _, key := range [...]string{"var1", "var2", "var3"} {
		v := 0
		if runed && r.chance(45) {
			v = r.low(1, 1800)
		}
		b = intField(b, key, v)
	}
	return append(b, '}')
}

func putLegendary(b []byte, r *rng, p *part) []byte {
	b = append(b, '[')
	for i, item := range p.items[:6] {
		if item < 3000 || r.chance(30) {
			continue
		}
		if i > 0 && b[len(b)-1] != '[' {
			b = append(b, ',')
		}
		b = appendInt(b, item)
	}
	return append(b, ']')
}

func putChallenges(b []byte, r *rng, p *part) []byte {
	return p.game.challenges.append(b, r, p)
}
