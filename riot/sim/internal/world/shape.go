package world

import (
	"maps"
	"slices"
	"time"

	"github.com/farsight-console/farsight/riot/sim/internal/keyed"
)

// Shape is a kind of match payload. Those without a year take the fields of the patch they were played on.
type Shape string

// The shapes. Most were recorded from the real API. Flex and Normal are Ranked under another queue;
// of Pre1120 only a timeline was recorded, its match follows what Riot documents of that time.
const (
	Ranked      Shape = "ranked"      // ranked solo, ten players
	Flex        Shape = "flex"        // ranked flex
	Normal      Shape = "normal"      // draft pick
	Swiftplay   Shape = "swiftplay"   // SWIFTPLAY, without bans
	ARAM        Shape = "aram"        // one lane, no jungle, no bans
	Arena16     Shape = "arena16"     // CHERRY with sixteen players in pairs
	Arena8      Shape = "arena8"      // CHERRY of 2023: eight players, no challenges
	Swarm       Shape = "swarm"       // STRAWBERRY: one player against the environment
	Aborted     Shape = "aborted"     // all of info zero, no participants, null participantFrames
	FalseAbort  Shape = "false-abort" // complete, yet endOfGameResult says Abort_Unexpected
	Remake      Shape = "remake"      // ended after three minutes
	Bots        Shape = "bots"        // co-op: five participants share the PUUID "BOT"
	Pre1120     Shape = "pre-11.20"   // gameDuration in milliseconds, no gameEndTimestamp
	Ranked2022  Shape = "ranked-2022" // summonerName, no riotId fields
	Ranked2023  Shape = "ranked-2023" // riotIdName present and empty
	Ranked2024  Shape = "ranked-2024" // riotIdGameName, missions
	Ranked2025  Shape = "ranked-2025" // atakhan
	RankedEarly Shape = "ranked-16.3" // without PlayerBehavior
)

// AllShapes lists every shape in a fixed order.
func AllShapes() []Shape { return slices.Sorted(maps.Keys(shapes)) }

// arena is the kind of map: it decides which fields are other than zero.
type arena uint8

const (
	// Bits, since a line of a template may belong to several.
	rift arena = 1 << iota
	aram
	cherry
	swarm
	everywhere = rift | aram | cherry | swarm
)

// era is a stretch of patches with one set of fields; the names carry the year. Each stands for the
// recorded patch beside it. Where between two recordings the fields changed is not known: the bounds in
// patches are assumed.
type era uint8

const (
	e2021 era = iota // before 11.20: the fields of 12.6 without challenges
	e12a             // 12.6
	e12b             // 12.20
	e13a             // 13.6
	e13b             // 13.14
	e14a             // 14.7
	e14b             // 14.12 and 14.14
	e15a             // 15.1
	e15b             // 15.5
	e15c             // 15.13
	e16a             // 16.3
	e16b             // 16.4
	last  = e16b
)

// patches is an era's name in the templates, its patch numbers (year, first and last patch), and the age of a game,
// counted back from the epoch, up to which it is of this era.
type patches struct {
	name           string
	year, from, to int
	upTo           time.Duration
}

var eras = [...]patches{
	e2021: {"2021", 11, 12, 19, 1 << 62}, e12a: {"12a", 12, 1, 19, 1790 * day}, e12b: {"12b", 12, 20, 23, 1560 * day},
	e13a: {"13a", 13, 1, 13, 1420 * day}, e13b: {"13b", 13, 14, 24, 1230 * day}, e14a: {"14a", 14, 1, 11, 1050 * day},
	e14b: {"14b", 14, 12, 24, 900 * day}, e15a: {"15a", 15, 1, 4, 690 * day}, e15b: {"15b", 15, 5, 12, 620 * day},
	e15c: {"15c", 15, 13, 24, 500 * day}, e16a: {"16a", 16, 1, 3, 320 * day}, e16b: {"16b", 16, 4, 22, 280 * day},
}

const (
	hour = time.Hour
	day  = 24 * hour
)

func eraOf(age time.Duration) era {
	// From the newest on: the first bound that the age keeps.
	for e := last; e > e2021; e-- {
		if age < eras[e].upTo {
			return e
		}
	}
	return e2021
}

// form is what a shape means.
type form struct {
	queue, mapID int
	mode         string
	arena        arena
	players      int
	from, to     era // the eras it occurs in
	minutes      [2]int
}

var riftForm = form{420, 11, "CLASSIC", rift, 10, e2021, last, [2]int{18, 35}}

var shapes = map[Shape]form{
	Ranked: riftForm, FalseAbort: riftForm.of(e14b, last), Aborted: riftForm.of(e14a, last),
	Pre1120: riftForm.of(e2021, e2021), Ranked2022: riftForm.of(e12a, e12a), Ranked2023: riftForm.of(e13a, e13a),
	Ranked2024: riftForm.of(e14a, e14a), Ranked2025: riftForm.of(e15a, e15a), RankedEarly: riftForm.of(e16a, e16a),
	Flex:      riftForm.queued(440, "CLASSIC"),
	Normal:    riftForm.queued(400, "CLASSIC"),
	Swiftplay: riftForm.queued(480, "SWIFTPLAY").of(e15a, last),
	Remake:    {420, 11, "CLASSIC", rift, 10, e12b, last, [2]int{3, 4}},
	Bots:      {850, 11, "CLASSIC", rift, 10, e13a, last, [2]int{14, 24}},
	ARAM:      {450, 12, "ARAM", aram, 10, e2021, last, [2]int{12, 26}},
	Arena16:   {1700, 30, "CHERRY", cherry, 16, e15b, last, [2]int{15, 26}},
	Arena8:    {1700, 30, "CHERRY", cherry, 8, e13b, e13b, [2]int{12, 20}},
	Swarm:     {1810, 33, "STRAWBERRY", swarm, 1, e14b, e14b, [2]int{4, 15}},
}

func (f form) of(from, to era) form { f.from, f.to = from, to; return f }

func (f form) queued(queue int, mode string) form { f.queue, f.mode = queue, mode; return f }

// naturalMix is an invented history of many modes, in hundredths. A shape that did not exist yet on the
// day of the game becomes ranked.
var naturalMix = []struct {
	shape  Shape
	weight int
}{
	{Ranked, 46}, {ARAM, 14}, {Normal, 12}, {Flex, 9}, {Swiftplay, 8}, {Arena16, 4},
	{Remake, 3}, {Aborted, 1}, {FalseAbort, 1}, {Swarm, 1}, {Bots, 1},
}

func naturalShape(h keyed.Hash, e era) Shape {
	n := h.Below(100)
	for _, m := range naturalMix {
		if n -= m.weight; n < 0 {
			// A mode of another map that has ended is played on in its last form: only on the Rift ranked takes its place.
			if f := shapes[m.shape]; e < f.from || (e > f.to && f.arena == rift) {
				return Ranked
			}
			return m.shape
		}
	}
	return Ranked
}

// pin is the era in which a game of this form was played: the one of its age where possible.
func (f form) pin(e era) era { return min(max(e, f.from), f.to) }

// TypeOf is the value of match-v5's type filter that a queue belongs to.
var TypeOf = map[int]string{
	420: "ranked", 440: "ranked", 400: "normal", 430: "normal", 450: "normal", 480: "normal", 490: "normal",
	850: "normal", 1700: "normal", 1810: "normal", 2000: "tutorial", 0: "tourney",
}
