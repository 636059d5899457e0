package filter

import (
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
)

type match = engine.MatchRow

// fetchWords are the statuses of a match, and of its timeline, with the words that screens draw.
var fetchWords = []Word{
	{Name: "unfetched", Bits: 1 << 0},
	{Name: "success", Aliases: []string{"stored", "ok"}, Bits: 1 << 1},
	{Name: "temporary_failure", Aliases: []string{"retryable", "retrying"}, Bits: 1 << 2, Help: "failed, will be tried again"},
	{Name: "permanently_unfetchable", Aliases: []string{"gave up", "failed", "dead"}, Bits: 1 << 3, Help: "gave up"},
	{Name: "outside_retention_window", Aliases: []string{"too old"}, Bits: 1 << 4, Help: "too old"},
}

var resultWords = []Word{{Name: "win", Aliases: []string{"won"}, Bits: bitYes}, {Name: "loss", Aliases: []string{"lost"}, Bits: bitNo}}

// Matches is the schema of match lists.
var Matches = New(Options{
	Free:  []string{"id", "champion", "mode", "state", "err"},
	Fuzzy: []string{"id", "champion", "mode"},
	Age:   "played", When: "played",
},
	field("id", Name, "EUW1_7214550881", func(r *match) Value { return Text(r.ID) }, "match"),
	field("platform", Name, "the part of the id before _", matchPlatform),
	field("state", Enum, "", func(r *match) Value { return wordValue(fetchWords, r.Status) }, "status").with(fetchWords),
	field("timeline", Enum, "", func(r *match) Value { return wordValue(fetchWords, r.Timeline) }).with(fetchWords),
	field("queue", Number, "Riot's queue id: 420 is Ranked Solo", func(r *match) Value { return Count(r.QueueID) }, "queue_id"),
	field("mode", Name, "CLASSIC, ARAM", func(r *match) Value { return Text(r.Mode) }),
	field("champion", Name, "", func(r *match) Value { return Text(r.Champion) }),
	field("kills", Number, "", func(r *match) Value { return Count(r.Kills) }),
	field("deaths", Number, "", func(r *match) Value { return Count(r.Deaths) }),
	field("assists", Number, "", func(r *match) Value { return Count(r.Assists) }),
	Field[match]{Name: "result", Kind: Enum, Words: resultWords, Value: matchResult},
	field("played", Past, "", func(r *match) Value { return At(r.Played) }),
	field("len", Duration, "of the game", matchLen, "duration", "length"),
	field("fetched", Past, "", func(r *match) Value { return At(r.FetchedAt) }),
	field("tried", Past, "its last attempt", func(r *match) Value { return At(r.LastAttemptAt) }),
	field("try", Number, "attempts so far", func(r *match) Value { return Count(r.Attempts) }, "tries", "attempts"),
	field("size", Size, "as stored", func(r *match) Value { return Count(r.Bytes) }),
	field("err", Prose, "of the last failure", func(r *match) Value { return Text(r.LastError) }, "error"),
	YesNo("corrupt", "its stored payload is damaged", func(r *match) bool { return r.Corrupt }),
)

// ofPlayer are the fields that tell of one player's seat in a match.
var ofPlayer = []string{"champion", "kills", "deaths", "assists", "result"}

// OfPlayer gives the first field of a filter that is of one player's seat: a list of the
// matches of all has none to compare it with. "" = the filter asks for none.
func OfPlayer(f Filter[match]) string {
	for _, t := range f.terms {
		if len(t.probes) == 1 && slices.Contains(ofPlayer, t.probes[0].field.Name) {
			return t.probes[0].field.Name
		}
	}
	return ""
}

func matchPlatform(r *match) Value {
	platform, _, _ := strings.Cut(r.ID, "_")
	return Text(platform)
}

// matchResult is unknown until the player's seat in a stored match is known.
func matchResult(r *match, _ time.Time) Value {
	if r.Champion == "" {
		return Value{}
	}
	return Flag(r.Won)
}

func matchLen(r *match) Value {
	if r.Duration <= 0 {
		return Value{}
	}
	return Span(r.Duration)
}
