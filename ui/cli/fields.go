package cli

import (
	"context"
	"slices"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/riot"
)

// field is one member of an NDJSON line and one column of a CSV file. Both come
// from here, so that they cannot differ. Scripts depend on the names: a field may
// be added before the cursor, none may change or go.
type field struct {
	name   string
	of     func(r *fed) any
	always bool // known even of a record that cannot be read
}

// fed is a row of a feed as its fields read it. A job is in it as lists have one, because the columns of
// jobs are about those.
type fed struct {
	engine.FeedRow
	job   engine.JobRow
	facts []riot.Value // of the kind's table of data; nil = it has none
}

// Exportable is one thing that `farsight export` knows.
type Exportable struct {
	Name    string // of its command
	Kind    engine.FeedKind
	Short   string // one line of help
	Example string // a command line
	Long    string // what a line is and when it comes again
	Payload bool   // Riot's JSON can be added
	fields  []field
	row     func(context.Context, *columns.Reader, *fed) ([]riot.Value, error) // makes the facts of a row; nil = it has none
	many    *columns.Table                                                     // a timeline has many of these; nil = a row of the feed is one line
}

// courses is the help of what timelines consist of.
const courses = "The lines of a timeline come together. All but its last carry the cursor of the one before it, so\n" +
	"that who goes on after any of them gets the whole timeline anew."

// Exportables lists what can be exported, in the order of the help text. Each is a command of
// its own, `farsight export matches`, with these words as its help.
func Exportables() []Exportable {
	return []Exportable{
		{
			Name: "matches", Kind: engine.FeedMatches, Payload: true,
			fields: facts(columns.GameTable,
				exported("match_id", columns.MatchExport, func(r *fed) *engine.MatchRow { return r.Match })...),
			row:     gameFacts,
			Short:   "One line per match that is known, fetched or not",
			Example: "farsight export matches --payload --out matches.ndjson",
			Long:    "A match comes again when what its line shows changes, or its payload.",
		},
		{
			Name: "timelines", Kind: engine.FeedTimelines, Payload: true,
			fields:  exported("match_id", columns.TimelineExport, func(r *fed) *engine.TimelineRow { return r.Timeline }),
			Short:   "One line per timeline that was tried or given up",
			Example: "farsight export timelines --out timelines.ndjson",
			Long:    "A timeline comes again when what its line shows changes, or its payload.",
		},
		{
			Name:    "participants",
			Kind:    engine.FeedParticipants,
			fields:  facts(columns.SeatTable),
			row:     seatFacts,
			Short:   "One line per seat of every stored match",
			Example: "farsight export participants --format csv --out seats.csv",
			Long: "A seat is told by match_id and index: several bots share the PUUID \"BOT\". The seats of a\n" +
				"match come together, and come again only if its payload is fetched anew and differs.",
		},
		{
			Name: "events", Kind: engine.FeedTimelines, many: columns.EventTable,
			fields:  facts(columns.EventTable),
			Short:   "One line per event of every stored timeline",
			Example: "farsight export events --out events.ndjson",
			Long:    courses,
		},
		{
			Name: "frames", Kind: engine.FeedTimelines, many: columns.FrameTable,
			fields:  facts(columns.FrameTable),
			Short:   "One line per player and minute of every stored timeline",
			Example: "farsight export frames --format csv --out frames.csv",
			Long:    courses,
		},
		{
			Name:    "ranks",
			Kind:    engine.FeedRanks,
			fields:  facts(columns.RankTable),
			row:     rankFacts,
			Short:   "One line per change of where an account stood in a ranked queue",
			Example: "farsight export ranks --format csv --out ranks.csv",
			Long:    "A line never changes and never comes again; riot_id is the account's present one.",
		},
		{
			Name:    "players",
			Kind:    engine.FeedPlayers,
			fields:  facts(columns.PlayerTable),
			row:     playerFacts,
			Short:   "One line per player of a collection",
			Example: "farsight export players --collection kr-solo-master+ --out players.ndjson",
			Long:    "Who was listed by a Riot ID comes when the PUUID is known; a player comes again with another one.",
		},
		{
			Name:    "jobs",
			Kind:    engine.FeedJobs,
			fields:  exported("job_id", columns.JobExport, func(r *fed) *engine.JobRow { return &r.job }),
			Short:   "One line per job: the ended ones as they ended, then the live ones",
			Example: "farsight export jobs --format csv --out jobs.csv",
			Long: "A job gets its place in the order when it ends, and a new one if it is run again and ends\n" +
				"anew. Live jobs have none: they follow the ended ones under the last cursor of those, and\n" +
				"come again in the next export. --follow leaves them out.",
		},
	}
}

// facts are the fields of a table of data, behind those that a kind has besides. The first is known even of a
// record that cannot be read.
func facts(t *columns.Table, besides ...field) []field {
	for i, c := range t.Columns {
		if slices.ContainsFunc(besides, func(f field) bool { return f.name == c.Name }) {
			continue
		}
		of := func(r *fed) any { return columns.Told(r.facts[i]) }
		if i == 0 {
			of = func(r *fed) any { return r.ID }
		}
		besides = append(besides, field{name: c.Name, always: i == 0, of: of})
	}
	return besides
}

// What makes the facts of a row, the payload of its match beside it. An error costs nothing but what the payload
// would have told.

func gameFacts(ctx context.Context, r *columns.Reader, row *fed) (facts []riot.Value, err error) {
	if !fetched(row.FeedRow) {
		return make([]riot.Value, len(columns.GameTable.Columns)), nil
	}
	err = r.Open(ctx, row.ID)
	return r.GameRow(), err
}

func seatFacts(ctx context.Context, r *columns.Reader, row *fed) (facts []riot.Value, err error) {
	err = r.Open(ctx, row.ID)
	return r.SeatRow(row.Seat), err
}

func rankFacts(_ context.Context, _ *columns.Reader, row *fed) ([]riot.Value, error) {
	return columns.RankTable.Row(columns.Source{Rank: row.Rank}), nil
}

func playerFacts(_ context.Context, _ *columns.Reader, row *fed) ([]riot.Value, error) {
	return columns.PlayerTable.Row(columns.Source{Player: row.Player}), nil
}

// exported are the fields of a kind of row: its id, which is known even of a record that
// cannot be read, and its columns.
func exported[T any](id string, columns columns.List[T], row func(*fed) *T) []field {
	fields := []field{{name: id, always: true, of: func(r *fed) any { return r.ID }}}
	for _, c := range columns {
		fields = append(fields, field{name: c.Exported(), of: func(r *fed) any { return c.JSON(row(r)) }})
	}
	return fields
}
