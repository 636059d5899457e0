package cli

import (
	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
)

// field is one member of an NDJSON line and one column of a CSV file. Both come
// from here, so that they cannot differ. Scripts depend on the names: a field may
// be added before the cursor, none may change or go.
type field struct {
	name   string
	of     func(x *exporter, r engine.FeedRow) any
	always bool // known even of a record that cannot be read
}

// Exportable is one thing that `farsight export` knows.
type Exportable struct {
	Kind    engine.FeedKind
	Short   string // one line of help
	Long    string // what a line is and when it comes again
	Payload bool   // Riot's JSON can be added
	fields  []field
}

// Exportables lists what can be exported, in the order of the help text.
func Exportables() []Exportable {
	return []Exportable{
		{
			Kind: engine.FeedMatches, Payload: true, fields: matchFields,
			Short: "One line per match that is known, fetched or not",
			Long:  "A match comes again when what its line shows changes, or its payload.",
		},
		{
			Kind: engine.FeedTimelines, Payload: true, fields: timelineFields,
			Short: "One line per timeline that was tried or given up",
			Long:  "A timeline comes again when what its line shows changes, or its payload.",
		},
		{
			Kind: engine.FeedParticipants, fields: seatFields,
			Short: "One line per seat of every stored match",
			Long: "A seat is told by match_id and index: several bots share the PUUID \"BOT\". The seats of a\n" +
				"match come together, and come again only if its payload is fetched anew and differs.",
		},
		{
			Kind: engine.FeedRanks, fields: rankFields,
			Short: "One line per change of where an account stood in a ranked queue",
			Long:  "A line never changes and never comes again; riot_id is the account's present one.",
		},
		{
			Kind: engine.FeedJobs, fields: jobFields,
			Short: "One line per job: the ended ones as they ended, then the live ones",
			Long: "A job gets its place in the order when it ends, and a new one if it is run again and ends\n" +
				"anew. Live jobs have none: they follow the ended ones under the last cursor of those, and\n" +
				"come again in the next export. --follow leaves them out.",
		},
	}
}

func fieldsOf(kind engine.FeedKind) []field {
	for _, e := range Exportables() {
		if e.Kind == kind {
			return e.fields
		}
	}
	return nil
}

// exported are the fields of a kind of row: its id, which is known even of a record that
// cannot be read, and its columns.
func exported[T any](id string, columns columns.List[T], row func(x *exporter, r engine.FeedRow) *T) []field {
	fields := []field{{name: id, always: true, of: func(_ *exporter, r engine.FeedRow) any { return r.ID }}}
	for _, c := range columns {
		fields = append(fields, field{name: c.Exported(), of: func(x *exporter, r engine.FeedRow) any { return c.JSON(row(x, r)) }})
	}
	return fields
}

var (
	matchFields    = exported("match_id", columns.MatchExport, func(_ *exporter, r engine.FeedRow) *engine.MatchRow { return r.Match })
	timelineFields = exported("match_id", columns.TimelineExport, func(_ *exporter, r engine.FeedRow) *engine.TimelineRow { return r.Timeline })
	seatFields     = exported("match_id", columns.SeatExport, func(_ *exporter, r engine.FeedRow) *engine.SeatRow { return r.Seat })
	rankFields     = exported("account_id", columns.RankExport, func(_ *exporter, r engine.FeedRow) *engine.RankRow { return r.Rank })
	jobFields      = exported("job_id", columns.JobExport, func(x *exporter, _ engine.FeedRow) *engine.JobRow { return &x.job })
)
