package columns

import (
	"encoding/json"
	"time"

	"github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/riot"
)

// The tables without a payload: what a row tells is stored.

// PlayerTable are the players of collections.
var PlayerTable = tableOf("players", "a player of a collection, once the PUUID is known: in several collections, several rows", "", []Fact{
	textOf("account_id", "", func(s *Source) string { return s.Player.Player }).says("as in ranks"),
	textOf("riot_id", "", func(s *Source) string { return s.Player.RiotID }).says("of who was named by it"),
	textOf("platform", "", func(s *Source) string { return s.Player.Platform }),
	textOf("puuid", "puuid", func(s *Source) string { return s.Player.PUUID }).says("whose seats are theirs"),
	textOf("collection", "", func(s *Source) string { return s.Player.Collection }),
	instantOf("found_at", "", func(s *Source) time.Time { return s.Player.Found }),
})

// JobTable are the jobs that have ended, with the columns that JobExport has of them.
var JobTable = tableOf("jobs", "a job that has ended", "", func() []Fact {
	facts := []Fact{textOf("job_id", "", func(s *Source) string { return string(s.Job.ID) })}
	for _, c := range JobExport {
		if c.Name == "due" { // it has ended
			continue
		}
		f := Fact{Name: c.Exported(), Type: riot.Text, Note: c.Help}
		switch c.Kind {
		case filter.Number:
			f.Type = riot.Int
		case filter.Past, filter.Ahead:
			f.Type = riot.Instant
		}
		f.of = func(s *Source) riot.Value { return valueOf(c.JSON(s.Job), f.Type) }
		facts = append(facts, f)
	}
	return facts
}())

// valueOf is what an export has of a column, as a value.
func valueOf(told any, as riot.Type) riot.Value {
	switch v := told.(type) {
	case *string:
		switch {
		case v == nil:
		case as != riot.Instant:
			return words(*v)
		default:
			if at, err := time.Parse(time.RFC3339, *v); err == nil {
				return riot.Value{Type: as, Num: at.UnixMilli()}
			}
		}
	case string:
		return words(v)
	case json.RawMessage:
		return words(string(v))
	case int:
		return riot.Value{Type: as, Num: int64(v)}
	}
	return riot.Value{}
}
