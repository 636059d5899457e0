package cli

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/farsight-console/farsight/engine"
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

// of makes a field of one kind of row.
func of[T any](row func(engine.FeedRow) *T, get func(*T) any) func(*exporter, engine.FeedRow) any {
	return func(_ *exporter, r engine.FeedRow) any { return get(row(r)) }
}

func match(get func(*engine.MatchRow) any) func(*exporter, engine.FeedRow) any {
	return of(func(r engine.FeedRow) *engine.MatchRow { return r.Match }, get)
}

func timeline(get func(*engine.TimelineRow) any) func(*exporter, engine.FeedRow) any {
	return of(func(r engine.FeedRow) *engine.TimelineRow { return r.Timeline }, get)
}

func seat(get func(*engine.SeatRow) any) func(*exporter, engine.FeedRow) any {
	return of(func(r engine.FeedRow) *engine.SeatRow { return r.Seat }, get)
}

func rank(get func(*engine.RankRow) any) func(*exporter, engine.FeedRow) any {
	return of(func(r engine.FeedRow) *engine.RankRow { return r.Rank }, get)
}

func job(get func(*engine.Job) any) func(*exporter, engine.FeedRow) any {
	return of(func(r engine.FeedRow) *engine.Job { return r.Job }, get)
}

func rowID(_ *exporter, r engine.FeedRow) any { return r.ID }

var matchFields = []field{
	{name: "match_id", of: rowID, always: true},
	{name: "status", of: match(func(m *engine.MatchRow) any { return m.Status })},
	{name: "timeline_status", of: match(func(m *engine.MatchRow) any { return m.Timeline })},
	{name: "attempts", of: match(func(m *engine.MatchRow) any { return m.Attempts })},
	{name: "played_at", of: match(func(m *engine.MatchRow) any { return instant(m.Played) })},
	{name: "duration_s", of: match(func(m *engine.MatchRow) any { return m.Duration.Seconds() })},
	{name: "queue_id", of: match(func(m *engine.MatchRow) any { return m.QueueID })},
	{name: "mode", of: match(func(m *engine.MatchRow) any { return orNull(m.Mode) })},
	{name: "fetched_at", of: match(func(m *engine.MatchRow) any { return instant(m.FetchedAt) })},
	{name: "last_attempt_at", of: match(func(m *engine.MatchRow) any { return instant(m.LastAttemptAt) })},
	{name: "last_error", of: match(func(m *engine.MatchRow) any { return orNull(m.LastError) })},
}

var timelineFields = []field{
	{name: "match_id", of: rowID, always: true},
	{name: "status", of: timeline(func(t *engine.TimelineRow) any { return t.Status })},
	{name: "attempts", of: timeline(func(t *engine.TimelineRow) any { return t.Attempts })},
	{name: "fetched_at", of: timeline(func(t *engine.TimelineRow) any { return instant(t.FetchedAt) })},
	{name: "last_attempt_at", of: timeline(func(t *engine.TimelineRow) any { return instant(t.LastAttemptAt) })},
	{name: "last_class", of: timeline(func(t *engine.TimelineRow) any { return orNull(t.LastClass) })},
	{name: "last_error", of: timeline(func(t *engine.TimelineRow) any { return orNull(t.LastError) })},
}

var seatFields = []field{
	{name: "match_id", of: rowID, always: true},
	{name: "index", of: seat(func(s *engine.SeatRow) any { return s.Index })},
	{name: "puuid", of: seat(func(s *engine.SeatRow) any { return s.PUUID })},
	{name: "riot_id", of: seat(func(s *engine.SeatRow) any { return s.RiotID })},
	{name: "champion", of: seat(func(s *engine.SeatRow) any { return s.Champion })},
	{name: "team_id", of: seat(func(s *engine.SeatRow) any { return s.Team })},
	{name: "won", of: seat(func(s *engine.SeatRow) any { return s.Won })},
	{name: "kills", of: seat(func(s *engine.SeatRow) any { return s.Kills })},
	{name: "deaths", of: seat(func(s *engine.SeatRow) any { return s.Deaths })},
	{name: "assists", of: seat(func(s *engine.SeatRow) any { return s.Assists })},
}

var rankFields = []field{
	{name: "account_id", of: rowID, always: true},
	{name: "riot_id", of: rank(func(r *engine.RankRow) any { return r.RiotID })},
	{name: "platform", of: rank(func(r *engine.RankRow) any { return r.Platform })},
	{name: "queue", of: rank(func(r *engine.RankRow) any { return r.Queue })},
	{name: "at", of: rank(func(r *engine.RankRow) any { return instant(r.At) })},
	{name: "unranked", of: rank(func(r *engine.RankRow) any { return r.Unranked })},
	{name: "tier", of: rank(func(r *engine.RankRow) any { return orNull(r.Tier) })},
	{name: "division", of: rank(func(r *engine.RankRow) any { return orNull(r.Division) })},
	{name: "points", of: rank(func(r *engine.RankRow) any { return r.Points })},
	{name: "wins", of: rank(func(r *engine.RankRow) any { return r.Wins })},
	{name: "losses", of: rank(func(r *engine.RankRow) any { return r.Losses })},
}

var jobFields = []field{
	{name: "job_id", of: rowID, always: true},
	{name: "kind", of: job(func(j *engine.Job) any { return string(j.Kind) })},
	{name: "queue", of: func(x *exporter, r engine.FeedRow) any { return x.Queue(r.Job.Queue) }},
	{name: "key", of: job(func(j *engine.Job) any { return orNull(j.Key) })},
	{name: "owner", of: job(func(j *engine.Job) any { return orNull(j.Owner) })},
	{name: "state", of: job(func(j *engine.Job) any { return j.State.String() })},
	{name: "hold", of: job(func(j *engine.Job) any { return orNull(j.Hold.String()) })},
	{name: "attempts", of: job(func(j *engine.Job) any { return j.Attempts })},
	{name: "round", of: job(func(j *engine.Job) any { return j.Round })},
	{name: "tries", of: job(func(j *engine.Job) any { return j.Tries })},
	{name: "holds", of: job(func(j *engine.Job) any { return j.Holds })},
	{name: "crashes", of: job(func(j *engine.Job) any { return j.Crashes })},
	{name: "class", of: job(func(j *engine.Job) any { return orNull(string(j.Class)) })},
	{name: "last_error", of: job(func(j *engine.Job) any { return orNull(j.LastError) })},
	{name: "created_at", of: job(func(j *engine.Job) any { return instant(j.Created) })},
	{name: "started_at", of: job(func(j *engine.Job) any { return instant(j.Started) })},
	{name: "finished_at", of: job(func(j *engine.Job) any { return instant(j.Finished) })},
	{name: "due_at", of: job(due)},
	{name: "args", of: job(func(j *engine.Job) any { return document(j.Args) })},
}

// due is when a live job may go on; what an ended one was due once says nothing.
func due(j *engine.Job) any {
	if j.State.Terminal() {
		return instant(time.Time{})
	}
	return instant(j.Due)
}

// instant is null for the zero time. It is a text already, since encoding/json
// refuses the years that a spoilt payload may name.
func instant(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return orNull(t.UTC().Format(time.RFC3339Nano))
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// document is stored JSON as it is, so that no number in it is rounded. What is
// no JSON after all becomes a text that shows it.
func document(raw json.RawMessage) any {
	switch {
	case len(raw) == 0:
		return nil
	case !json.Valid(raw):
		return string(raw)
	}
	return raw
}

// cell is a value as a CSV file shows it; null is empty.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case *string:
		if v == nil {
			return ""
		}
		return *v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case json.RawMessage:
		return string(v)
	}
	return fmt.Sprint(v)
}
