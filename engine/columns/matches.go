package columns

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/table"
	"github.com/farsight-console/farsight/themes"
)

type match = engine.MatchRow

// Matches is what is told of a match. Those of all accounts have no player: nobody's
// champion, score or result.
//
//	MATCH            PLAYED               STATUS   TIMELINE   TRIES  BYTES   LAST ERROR
//	EUW1_7214550881  2026-11-20 12:31:02  success  unfetched  1      41,230
var Matches = catalogue(filter.Options{
	Free:  []string{"id", "champion", "mode", "state", "err"},
	Fuzzy: []string{"id", "champion", "mode"},
	Age:   "played", When: "played",
},
	name("id", "EUW1_7214550881", func(r *match) string { return r.ID }).as("match").head("MATCH", table.ID, 15, 15).
		rising(),
	name("platform", "the part of the id before _", func(r *match) string {
		platform, _, _ := strings.Cut(r.ID, "_")
		return platform
	}),
	enum("state", "", fetchWords, func(r *match) filter.Value { return word(fetchWords, r.Status) }).as("status").
		head("STATE", table.State, 11, 11).
		cell(func(p Pen, r *match) table.Cell {
			if r.Corrupt && !r.FetchedAt.IsZero() {
				return p.State("ERROR")
			}
			return p.State(MatchWord(r.Status))
		}).ordered(func(r *match) string { return r.Status }).
		line("STATUS", table.Words, 0).prints(func(r *match) string { return r.Status }).export("status").
		value(func(r *match) any { return r.Status }),
	enum("timeline", "", fetchWords, func(r *match) filter.Value { return word(fetchWords, r.Timeline) }).
		head("TIMELINE", table.Words, 11, 11).drop(10).
		cell(func(p Pen, r *match) table.Cell {
			if r.Timeline == "" || r.Timeline == "unfetched" { // nobody wants it yet
				return table.As(themes.Dim, human.None)
			}
			return p.State(MatchWord(r.Timeline))
		}).ordered(func(r *match) string { return r.Timeline }).
		prints(func(r *match) string { return r.Timeline }).export("timeline_status").
		value(func(r *match) any { return r.Timeline }),
	number("queue", "Riot's queue id: 420 is Ranked Solo", func(r *match) int { return r.QueueID }).as("queue_id").
		head("QUEUE", table.Words, 12, 12).drop(5).
		cell(func(_ Pen, r *match) table.Cell {
			if mode := Mode(r); mode != "" {
				return table.Plain(mode)
			}
			return table.As(themes.Dim, human.None)
		}).prints(func(r *match) string { return cmp.Or(Mode(r), "-") }).
		sort(func(a, b *match) int { return strings.Compare(Mode(a), Mode(b)) }).export("queue_id"),
	name("mode", "CLASSIC, ARAM", func(r *match) string { return r.Mode }).export("mode"),
	name("champion", "", func(r *match) string { return r.Champion }).head("CHAMPION", table.Words, 12, 14).drop(2).
		rising().cell(ofSeat(func(r *match) string { return r.Champion })),
	number("kills", "", func(r *match) int { return figure(r.Kills) }).unknown(unseated),
	number("deaths", "", func(r *match) int { return figure(r.Deaths) }).unknown(unseated),
	number("assists", "", func(r *match) int { return figure(r.Assists) }).unknown(unseated),
	enum("result", "", resultWords, matchResult).head("RESULT", table.Words, 6, 6).drop(3).
		cell(func(_ Pen, r *match) table.Cell {
			word, token := Result(r)
			return table.As(token, cmp.Or(word, human.None))
		}),
	past("played", "", func(r *match) time.Time { return r.Played }).head("PLAYED", table.Words, 12, 12).drop(1).
		colour(themes.Dim).greatestFirst().
		prints(func(r *match) string { return human.Stamp(r.Played) }).export("played_at"),
	span("len", "of the game", func(r *match) time.Duration { return r.Duration }).as("duration", "length").
		unknown(func(r *match) bool { return r.Duration <= 0 }).head("LEN", table.Number, 5, 5).drop(8).
		cell(fetched(themes.Text, func(r *match) string { return GameLength(r.Duration) })).greatestFirst().
		export("duration_s").value(func(r *match) any { return r.Duration.Seconds() }),
	past("fetched", "", func(r *match) time.Time { return r.FetchedAt }).head("FETCHED", table.Words, 12, 12).drop(7).
		colour(themes.Dim).greatestFirst().export("fetched_at"),
	past("tried", "its last attempt", func(r *match) time.Time { return r.LastAttemptAt }).export("last_attempt_at"),
	number("try", "attempts so far", func(r *match) int { return r.Attempts }).as("tries", "attempts").
		head("TRIES", table.Number, 5, 5).drop(9).greatestFirst().
		cell(func(_ Pen, r *match) table.Cell {
			if r.Attempts > 1 {
				return table.As(themes.Retry, human.Count(int64(r.Attempts)))
			}
			return table.As(themes.Dim, human.Count(int64(r.Attempts)))
		}).export("attempts"),
	number("size", "as stored", func(r *match) int { return r.Bytes }).sized().head("SIZE", table.Number, 7, 8).drop(6).
		greatestFirst().cell(fetched(themes.Dim, func(r *match) string { return human.Bytes(int64(r.Bytes)) })).
		line("BYTES", table.Number, 0),
	prose("err", "of the last failure", func(r *match) string { return r.LastError }).as("error").
		head("ERROR", table.Sentence, 14, 24).flex(1).drop(11).colour(themes.Err).
		says(func(r *match) string { return InShort(FaultOf(r)) }).ordered(FaultOf).
		line("LAST ERROR", table.Words, 1).export("last_error"),
	yesNo("corrupt", "its stored payload is damaged", func(r *match) bool { return r.Corrupt }),

	shown[match]("score").head("K/D/A", table.Words, 8, 8).drop(4).
		cell(ofSeat(Score)).
		sort(func(a, b *match) int {
			return cmp.Or(cmp.Compare(figure(b.Kills)+figure(b.Assists), figure(a.Kills)+figure(a.Assists)),
				cmp.Compare(figure(a.Deaths), figure(b.Deaths)))
		}),
)

// Where matches are shown, with the columns in their order.
var (
	AccountMatches = Matches.Pick("id played queue len champion score result state timeline try fetched size err")
	AllMatches     = Matches.Pick("id played queue len state timeline try fetched size err")
	MatchLines     = Matches.Pick("id played state timeline try size err")
	MatchExport    = Matches.Pick("state timeline try played len queue mode fetched tried err")
)

// OfPlayer gives the first field of a filter that is of one player's seat: a list of the
// matches of all has none to compare it with. "" = the filter asks for none.
func OfPlayer(f filter.Filter[match]) string {
	return f.Asks("champion", "kills", "deaths", "assists", "result")
}

// fetchWords are the statuses of a match, and of its timeline, with the words that screens draw.
var fetchWords = []filter.Word{
	{Name: "unfetched", Bits: 1 << 0},
	{Name: "success", Aliases: []string{"stored", "ok"}, Bits: 1 << 1},
	{Name: "temporary_failure", Aliases: []string{"retryable", "retrying"}, Bits: 1 << 2,
		Help: "failed, will be tried again"},
	{Name: "permanently_unfetchable", Aliases: []string{"gave up", "failed", "dead"}, Bits: 1 << 3, Help: "gave up"},
	{Name: "outside_retention_window", Aliases: []string{"too old"}, Bits: 1 << 4, Help: "too old"},
}

// matchWords are the statuses of a match as screens write them.
var matchWords = map[string]string{
	"unfetched": "UNFETCHED", "success": "STORED", "temporary_failure": "RETRYABLE",
	"permanently_unfetchable": "GAVE UP", "outside_retention_window": "TOO OLD",
}

// MatchWord is a status of a match as screens write it.
func MatchWord(status string) string {
	if w, ok := matchWords[status]; ok {
		return w
	}
	return strings.ToUpper(status)
}

// resultWords are how a game ended for the player of the list.
var resultWords = []filter.Word{
	{Name: "win", Aliases: []string{"won"}, Bits: 1},
	{Name: "loss", Aliases: []string{"lost"}, Bits: 2},
	{Name: "remake", Bits: 4, Help: "ended before it began"},
}

// matchResult is unknown until the player's seat in a stored match is known. A list of all accounts'
// matches has no player, and so no result.
func matchResult(r *match) filter.Value {
	name, _ := Result(r)
	return word(resultWords, name)
}

// Result is how a match ended for the player of the list: win, loss or remake; "" = not known.
func Result(r *match) (string, themes.Token) {
	switch {
	case unseated(r):
		return "", themes.Dim
	case r.Won == nil:
		return "remake", themes.Dim
	case *r.Won:
		return "win", themes.OK
	}
	return "loss", themes.Dim
}

// Score is kills, deaths and assists of the player of the list, 6/12/2; "" = not known.
func Score(r *match) string {
	if unseated(r) {
		return ""
	}
	return fmt.Sprintf("%d/%d/%d", *r.Kills, *r.Deaths, *r.Assists)
}

// fetched is told of a match that was: of another one it is not known.
func fetched(t themes.Token, text func(r *match) string) func(Pen, *match) table.Cell {
	return func(_ Pen, r *match) table.Cell {
		if r.FetchedAt.IsZero() {
			return table.As(themes.Dim, human.None)
		}
		return table.As(t, text(r))
	}
}

// ofSeat is told of the player of the list.
func ofSeat(text func(r *match) string) func(Pen, *match) table.Cell {
	return func(_ Pen, r *match) table.Cell {
		if unseated(r) {
			return table.As(themes.Dim, human.None)
		}
		return table.Plain(text(r))
	}
}

// unseated reports whether the player's seat in a match is not known.
func unseated(r *match) bool { return r.Kills == nil || r.Deaths == nil || r.Assists == nil }

// figure is a number of the player's seat, for lists that compare them: 0 where it is not known.
func figure(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

// FaultOf is what is wrong with a match; what once went wrong with one that is stored
// has been made good. A payload that is damaged is a fault again.
func FaultOf(r *match) string {
	if r.Status == "success" && !r.Corrupt {
		return ""
	}
	return r.LastError
}

// modes names queues by Riot's ids: static.developer.riotgames.com/docs/lol/queues.json, which ends with the
// tutorials; 2300 and above from matches that were played. Read 2026-11. What several queues have in common,
// such as Arena with 8 and with 16 players, has one name.
var modes = map[int]string{
	0: "Custom", 2: "Normal Blind", 4: "Ranked Solo", 6: "Ranked Premade", 7: "Bots", 8: "3v3 Normal", 9: "3v3 Ranked Flex",
	14: "Normal Draft", 16: "Dominion", 17: "Dominion", 25: "Dominion Bots", 31: "Bots Intro", 32: "Bots Beginner",
	33: "Bots Intermediate", 41: "3v3 Ranked Team", 42: "Ranked Team", 52: "3v3 Bots", 61: "Team Builder", 65: "ARAM",
	67: "ARAM Bots", 70: "One for All", 72: "Snowdown 1v1", 73: "Snowdown 2v2", 75: "Hexakill", 76: "URF", 78: "One for All",
	83: "URF Bots", 91: "Doom Bots", 92: "Doom Bots", 93: "Doom Bots", 96: "Ascension", 98: "3v3 Hexakill",
	100: "ARAM Butcher's Bridge", 300: "Poro King", 310: "Nemesis", 313: "Black Market", 315: "Nexus Siege",
	317: "Definitely Not Dominion", 318: "ARURF", 325: "All Random", 400: "Normal Draft", 410: "Ranked Dynamic",
	420: "Ranked Solo", 430: "Normal Blind", 440: "Ranked Flex", 450: "ARAM", 460: "3v3 Normal", 470: "3v3 Ranked Flex",
	480: "Swiftplay", 490: "Quickplay", 600: "Blood Hunt", 610: "Dark Star", 700: "Clash", 720: "ARAM Clash",
	800: "3v3 Bots", 810: "3v3 Bots", 820: "3v3 Bots", 830: "Bots Intro", 840: "Bots Beginner", 850: "Bots Intermediate",
	870: "Bots Intro", 880: "Bots Beginner", 890: "Bots Intermediate", 900: "ARURF", 910: "Ascension", 920: "Poro King",
	940: "Nexus Siege", 950: "Doom Bots", 960: "Doom Bots", 980: "Star Guardian", 990: "Star Guardian", 1000: "PROJECT",
	1010: "Snow ARURF", 1020: "One for All", 1030: "Odyssey", 1040: "Odyssey", 1050: "Odyssey", 1060: "Odyssey",
	1070: "Odyssey", 1200: "Nexus Blitz", 1300: "Nexus Blitz", 1400: "Ultimate Spellbook", 1700: "Arena", 1710: "Arena",
	1810: "Swarm", 1820: "Swarm", 1830: "Swarm", 1840: "Swarm", 1900: "URF", 2000: "Tutorial", 2010: "Tutorial",
	2020: "Tutorial", 2300: "Brawl", 2400: "ARAM Mayhem",
}

// ModeName names a queue by Riot's id: Ranked Solo; one that is not known reads queue 9999.
func ModeName(queue int) string { return cmp.Or(modes[queue], "queue "+strconv.Itoa(queue)) }

// Mode is what was played; "" = not known. A game that was aborted tells neither queue nor mode.
func Mode(r *match) string {
	if r.FetchedAt.IsZero() || r.QueueID == 0 && r.Mode == "" {
		return ""
	}
	return ModeName(r.QueueID)
}

// GameLength is minutes and seconds, as the game shows them: 31:07.
func GameLength(d time.Duration) string {
	d = max(d, 0)
	return fmt.Sprintf("%02d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}
