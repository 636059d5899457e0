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
		cell(fetched(themes.Text, func(r *match) string { return ModeName(r.QueueID, r.Mode) })).
		sort(func(a, b *match) int {
			return strings.Compare(ModeName(a.QueueID, a.Mode), ModeName(b.QueueID, b.Mode))
		}).export("queue_id"),
	name("mode", "CLASSIC, ARAM", func(r *match) string { return r.Mode }).export("mode"),
	name("champion", "", func(r *match) string { return r.Champion }).head("CHAMPION", table.Words, 12, 14).drop(2).
		rising().cell(ofSeat(func(r *match) string { return r.Champion })),
	number("kills", "", func(r *match) int { return r.Kills }),
	number("deaths", "", func(r *match) int { return r.Deaths }),
	number("assists", "", func(r *match) int { return r.Assists }),
	enum("result", "", resultWords, matchResult).head("RESULT", table.Words, 6, 6).drop(3).
		cell(func(_ Pen, r *match) table.Cell {
			switch {
			case !seated(r):
				return table.As(themes.Dim, human.None)
			case r.Won:
				return table.As(themes.OK, "win")
			}
			return table.As(themes.Dim, "loss")
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
		cell(ofSeat(func(r *match) string { return fmt.Sprintf("%d/%d/%d", r.Kills, r.Deaths, r.Assists) })).
		sort(func(a, b *match) int {
			return cmp.Or(cmp.Compare(b.Kills+b.Assists, a.Kills+a.Assists), cmp.Compare(a.Deaths, b.Deaths))
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
}

// matchResult is unknown until the player's seat in a stored match is known. A list of all accounts'
// matches has no player, and so no result.
func matchResult(r *match) filter.Value {
	switch {
	case r.Champion == "":
		return filter.Value{}
	case r.Won:
		return filter.Bits(1)
	}
	return filter.Bits(2)
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
		if !seated(r) {
			return table.As(themes.Dim, human.None)
		}
		return table.Plain(text(r))
	}
}

// seated reports whether the player's seat in a stored match is known.
func seated(r *match) bool { return r.Champion != "" && !r.FetchedAt.IsZero() }

// FaultOf is what is wrong with a match; what once went wrong with one that is stored
// has been made good. A payload that is damaged is a fault again.
func FaultOf(r *match) string {
	if r.Status == "success" && !r.Corrupt {
		return ""
	}
	return r.LastError
}

// modes names the queues players know best; Riot's queues.json, read 2026-01. Of the others the mode is
// told, which several queues share.
var modes = map[int]string{
	400: "Normal Draft", 420: "Ranked Solo", 430: "Normal Blind", 440: "Ranked Flex", 450: "ARAM",
	480: "Swiftplay", 490: "Quickplay",
	700: "Clash", 720: "ARAM Clash", 900: "ARURF", 1700: "Arena", 1710: "Arena",
	1810: "Swarm", 1820: "Swarm", 1900: "URF",
}

// ModeName names what was played: Ranked Solo, else Riot's mode, else queue 9999.
func ModeName(queue int, mode string) string {
	return cmp.Or(modes[queue], mode, "queue "+strconv.Itoa(queue))
}

// GameLength is minutes and seconds, as the game shows them: 31:07.
func GameLength(d time.Duration) string {
	d = max(d, 0)
	return fmt.Sprintf("%02d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}
