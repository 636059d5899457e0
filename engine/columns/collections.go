package columns

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/table"
	"github.com/farsight-console/farsight/themes"
)

type collected = engine.CollectionRow

// Collections is what is told of a collection and its round. What a screen foresees of it is drawn there.
//
//	COLLECTION       STATE    PLAYERS    MATCHES      SAVED  LISTS  PACE    DONE      LADDER
//	kr-solo-master+  RUNNING  134/6,021  9,310/11.2k  4,120  1,034  46/min  in ~3 h   kr solo master+
var Collections = catalogue(filter.Options{Free: []string{"name", "state", "platform", "ladder", "queue", "stage"}, Fuzzy: []string{"name"}},
	name("name", "", func(r *collected) string { return r.Name }).head("COLLECTION", table.Words, 16, 20).flex(1).rising(),
	name("state", "running, paused, waiting, completed, incomplete, failed, cancelled", (*collected).Stands).
		head("STATE", table.State, 12, 12).rising().
		cell(func(p Pen, r *collected) table.Cell { return p.State(CollectionWord(r)) }),
	tags("platform", "any of its platforms", func(r *collected) *[]string { return &r.Platforms }),
	name("queue", "solo, flex", func(r *collected) string { return r.Queue }),
	name("ladder", "what it asks for", Ladder).head("LADDER", table.Words, 14, 40).drop(6).colour(themes.Dim),
	number("listed", "players of the round that came to their end", (*collected).Done),
	number("players", "that it knows", func(r *collected) int { return r.Players }),
	number("failed", "players of the round that could not be listed", func(r *collected) int { return r.Failed }).
		head("FAIL", table.Number, 4, 5).drop(5).dimZero(themes.Err).greatestFirst(),
	number("found", "matches", func(r *collected) int { return r.Collected.Found }),
	number("stored", "matches", func(r *collected) int { return r.Collected.Stored }),
	number("saved", "calls for matches that were stored or found already", (*collected).Saved).
		head("SAVED", table.Number, 7, 9).drop(3).dimZero(themes.Text).greatestFirst(),
	number("again", "matches that were listed again", func(r *collected) int { return r.Collected.Again }),
	number("lost", "matches that could not be had", func(r *collected) int { return r.Collected.Lost }),
	number("calls", "to list its ladders and players", func(r *collected) int { return r.Pages + r.Calls }).
		head("LISTS", table.Number, 6, 8).drop(4).dimZero(themes.Text).greatestFirst(),
	past("began", "its round", func(r *collected) time.Time { return r.Started }).
		head("BEGAN", table.Words, 10, 10).drop(7).colour(themes.Dim).penned(func(p Pen, r *collected) string { return p.Ago(r.Started) }).
		line("ROUND BEGAN", table.Words, 0).prints(func(r *collected) string { return human.Stamp(r.Started) }),
	ahead("next", "its next round", func(r *collected) time.Time { return r.Next }).
		line("NEXT ROUND", table.Words, 0).prints(func(r *collected) string { return human.Stamp(r.Next) }),
	prose("error", "why its round failed, whole", func(r *collected) string { return r.Error }),

	shown[collected]("progress").head("PLAYERS", table.Progress, 18, 24).tail(13).
		sort(func(a, b *collected) int { return cmp.Compare(shareOf(b), shareOf(a)) }).cell(collectionProgress),
	shown[collected]("matches").head("MATCHES", table.Number, 13, 17).
		says(func(r *collected) string {
			return human.Count(int64(r.Collected.Stored)) + "/" + human.Count(int64(r.Collected.Found))
		}),
	shown[collected]("pace").head("PACE", table.Number, 7, 8).drop(5),
	shown[collected]("done").head("DONE", table.Words, 10, 11),
	prose("stage", "what it does now, or why it ended", CollectionStage).head("STAGE", table.Sentence, 20, 24).flex(1).drop(2).colour(themes.Dim),
)

// Where collections are shown, with the columns in their order.
var (
	CollectionList  = Collections.Pick("name state progress matches done pace saved calls failed began ladder stage")
	CollectionLines = Collections.Pick("name state ladder listed players stored found again lost began next error")
)

// CollectionWord is how a collection stands, as screens write it.
func CollectionWord(r *engine.CollectionRow) string {
	if word := r.Stands(); word != "waiting" {
		return strings.ToUpper(word)
	}
	return "QUEUED"
}

// Ladder is what a collection asks for in words: "kr, euw1 solo master+".
func Ladder(r *engine.CollectionRow) string {
	words := slices.Concat([]string{strings.Join(r.Platforms, ", "), r.Queue}, r.Tiers)
	if n, _, named := strings.Cut(r.Given, "."); named {
		words = append(words, n+" listed")
	}
	if r.Spread > 0 {
		words = append(words, human.Counted(r.Spread, "game away", "games away"))
	}
	return strings.Join(words, " ")
}

// collectionProgress is the bar of a round: its players.
func collectionProgress(_ Pen, r *engine.CollectionRow) table.Cell {
	c := table.Cell{Text: human.Count(int64(r.Done())) + "/" + human.Count(int64(r.Players)), Ratio: shareOf(r), Token: themes.Run}
	switch r.Result {
	case "":
	case "completed":
		c.Token = themes.Planned(themes.OK)
	case "failed":
		c.Token = themes.Err
	default:
		c.Token = themes.Off
	}
	return c
}

func shareOf(r *engine.CollectionRow) float64 {
	if r.Players == 0 {
		return -1
	}
	return float64(r.Done()) / float64(r.Players)
}

// CollectionStage says what a collection does now, what it waits for, or why it ended.
func CollectionStage(r *engine.CollectionRow) string {
	switch word := r.Stands(); {
	case word == "running" && r.Ladder < r.Ladders:
		return fmt.Sprintf("ladder %d of %d, page %d", r.Ladder+1, r.Ladders, max(r.Page, 1))
	case word == "running" && r.Done() < r.Players:
		return "listing players"
	case word == "running":
		return "last matches"
	case word == "waiting" && r.Round > 1:
		return fmt.Sprintf("round %d has not begun", r.Round)
	case word == "waiting":
		return "waits for its turn"
	case word == "paused":
		return ""
	}
	return InShort(r.Error)
}
