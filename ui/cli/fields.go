package cli

import (
	"slices"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
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
	job engine.JobRow
}

// Exportable is one thing that `farsight export` knows.
type Exportable struct {
	Kind    engine.FeedKind
	Short   string // one line of help
	Example string // a command line
	Long    string // what a line is and when it comes again
	Payload bool   // Riot's JSON can be added
	fields  []field
}

// Exportables lists what can be exported, in the order of the help text. Each is a command of
// its own, `farsight export matches`, with these words as its help.
func Exportables() []Exportable {
	return []Exportable{
		{
			Kind: engine.FeedMatches, Payload: true,
			fields:  exported("match_id", columns.MatchExport, func(r *fed) *engine.MatchRow { return r.Match }),
			Short:   "One line per match that is known, fetched or not",
			Example: "farsight export matches --payload --out matches.ndjson",
			Long:    "A match comes again when what its line shows changes, or its payload.",
		},
		{
			Kind: engine.FeedTimelines, Payload: true,
			fields:  exported("match_id", columns.TimelineExport, func(r *fed) *engine.TimelineRow { return r.Timeline }),
			Short:   "One line per timeline that was tried or given up",
			Example: "farsight export timelines --out timelines.ndjson",
			Long:    "A timeline comes again when what its line shows changes, or its payload.",
		},
		{
			Kind:    engine.FeedParticipants,
			fields:  exported("match_id", columns.SeatExport, func(r *fed) *engine.SeatRow { return r.Seat }),
			Short:   "One line per seat of every stored match",
			Example: "farsight export participants --format csv --out seats.csv",
			Long: "A seat is told by match_id and index: several bots share the PUUID \"BOT\". The seats of a\n" +
				"match come together, and come again only if its payload is fetched anew and differs.",
		},
		{
			Kind:    engine.FeedRanks,
			fields:  exported("account_id", columns.RankExport, func(r *fed) *engine.RankRow { return r.Rank }),
			Short:   "One line per change of where an account stood in a ranked queue",
			Example: "farsight export ranks --format csv --out ranks.csv",
			Long:    "A line never changes and never comes again; riot_id is the account's present one.",
		},
		{
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

// fieldsOf are the fields of a kind of rows, which is one of Exportables: the command line knows no
// other.
func fieldsOf(kind engine.FeedKind) []field {
	all := Exportables()
	i := slices.IndexFunc(all, func(e Exportable) bool { return e.Kind == kind })
	return all[i].fields
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
