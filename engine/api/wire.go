package api

import (
	"encoding/json"
	"reflect"
	"slices"

	"github.com/farsight-console/farsight/engine"
)

// Protocol is the version of the control protocol. Its routes begin with /v1/.
const Protocol = 1

// Hello is the first frame of a stream, and the answer of /v1/hello.
type Hello struct {
	Protocol int          `json:"protocol"` // version of the control protocol
	Version  string       `json:"version"`  // of the engine's program
	Dir      string       `json:"dir"`      // data directory
	PID      int          `json:"pid"`      // of the engine's process
	You      engine.Actor `json:"you"`      // whose name stands in the audit
	Role     Role         `json:"role"`     // what you may do
}

// frame is one line of a stream. Numbers begin at 1 and have no gap; a frame
// without anything else says that the engine lives.
type frame struct {
	N      uint64         `json:"n"`
	Hello  *Hello         `json:"hello,omitempty"`
	Update *engine.Update `json:"update,omitempty"`
}

// question is the envelope of a query: the word for its type, and the query.
type question struct {
	Type  string          `json:"type"`
	Query json.RawMessage `json:"query"`
}

// reply is the envelope of an answer, of the question's type.
type reply struct {
	Type   string          `json:"type"`
	Answer json.RawMessage `json:"answer"`
}

// keyChange replaces the API key. It has a route of its own, so that a key is in
// no body that anything else looks at.
type keyChange struct {
	Key    string `json:"key,omitempty"` // "" = that in use, of a dry run
	DryRun bool   `json:"dry_run,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// queryKind is one row of the table of queries.
type queryKind struct {
	name   string
	query  reflect.Type
	answer reflect.Type
	read   func(raw []byte) (engine.Query, error)
	got    func(raw []byte) (engine.Answer, error)
}

// kind makes a row. A query is read strictly, since a person or a program has written it; an answer is
// not, so that an older client takes a newer engine's and leaves out what it does not know.
func kind[Q engine.Query, A any](name string) queryKind {
	return queryKind{
		name: name, query: reflect.TypeFor[Q](), answer: reflect.TypeFor[A](),
		read: func(raw []byte) (engine.Query, error) {
			var q Q
			err := strict(raw, &q)
			return q, err
		},
		got: func(raw []byte) (engine.Answer, error) {
			var a A
			err := json.Unmarshal(raw, &a)
			return a, err
		},
	}
}

// queries is the table of everything that can be asked. A query that is not in it can be asked in
// process only. The words are the protocol's: they do not change.
var queries = []queryKind{
	kind[engine.StatusQuery, engine.StatusAnswer]("status"),
	kind[engine.JobsQuery, engine.JobsPage]("jobs"),
	kind[engine.JobQuery, engine.JobDetail]("job"),
	kind[engine.ClassesQuery, engine.ClassesAnswer]("classes"),
	kind[engine.ReasonsQuery, engine.ReasonsAnswer]("reasons"),
	kind[engine.AccountsQuery, engine.AccountsPage]("accounts"),
	kind[engine.AccountQuery, engine.AccountDetail]("account"),
	kind[engine.MatchesQuery, engine.MatchesPage]("matches"),
	kind[engine.MatchCellsQuery, engine.MatchCells]("match_cells"),
	kind[engine.RanksQuery, engine.RanksPage]("ranks"),
	kind[engine.ReportsQuery, engine.ReportsPage]("reports"),
	kind[engine.WeeklyQuery, *engine.WeeklyReport]("weekly"),
	kind[engine.PlayQuery, engine.Play]("play"),
	kind[engine.FreshnessQuery, engine.Freshness]("freshness"),
	kind[engine.CallsQuery, engine.CallsPage]("calls"),
	kind[engine.LimitsQuery, engine.LimitsRow]("limits"),
	kind[engine.ForecastQuery, engine.Forecast]("forecast"),
	kind[engine.CostQuery, engine.Cost]("cost"),
	kind[engine.SchedulesQuery, engine.SchedulesPage]("schedules"),
	kind[engine.MembersQuery, engine.MembersPage]("members"),
	kind[engine.AlertsQuery, engine.AlertsAnswer]("alerts"),
	kind[engine.AuditQuery, engine.AuditPage]("audit"),
	kind[engine.LogsQuery, engine.LogsPage]("logs"),
	kind[engine.MomentsQuery, engine.MomentsAnswer]("moments"),
	kind[engine.MetricsQuery, engine.Metrics]("metrics"),
	kind[engine.JobLogQuery, engine.JobLogPage]("job_log"),
	kind[engine.ForensicsQuery, engine.Forensics]("forensics"),
	kind[engine.UpkeepQuery, engine.UpkeepAnswer]("upkeep"),
	kind[engine.CollectionsQuery, engine.CollectionsAnswer]("collections"),
	kind[engine.FeedQuery, engine.FeedPage]("feed"),
	kind[engine.PayloadQuery, engine.Payload]("payload"),
}

// kindWhere is the first row of the table that fits; nil = none does.
func kindWhere(fits func(queryKind) bool) *queryKind {
	if i := slices.IndexFunc(queries, fits); i >= 0 {
		return &queries[i]
	}
	return nil
}

// ask puts a query into its envelope.
func ask(q engine.Query) (question, *queryKind, error) {
	k := kindWhere(func(k queryKind) bool { return k.query == reflect.TypeOf(q) })
	if k == nil {
		return question{}, nil, engine.Problemf(engine.ErrInvalid, "",
			"the query %T cannot be asked of an engine elsewhere", q)
	}
	raw, err := json.Marshal(q)
	return question{Type: k.name, Query: raw}, k, err
}

// readQuestion takes a query out of its envelope.
func readQuestion(body []byte) (engine.Query, *queryKind, error) {
	// {"type":"jobs","query":{"states":["retryable"],"limit":100}}
	var env question
	if err := strict(body, &env); err != nil {
		return nil, nil, unreadable("question", err)
	}
	k := kindWhere(func(k queryKind) bool { return k.name == env.Type })
	if k == nil {
		return nil, nil, engine.Problemf(engine.ErrInvalid, "see /openapi.json for those there are",
			"there is no query %q", env.Type)
	}
	// Most queries ask for all with nothing said.
	if len(env.Query) == 0 {
		env.Query = []byte("{}")
	}
	q, err := k.read(env.Query)
	if err != nil {
		return nil, nil, unreadable("query "+k.name, err)
	}
	return q, k, nil
}

// readCommand takes a command in. Who asks is the caller's to fill in. Whoever the command itself names
// is put aside: a caller could write anybody there.
func readCommand(body []byte) (c engine.Command, err error) {
	if err := strict(body, &c); err != nil {
		return engine.Command{}, unreadable("command", err)
	}
	c.By = engine.Actor{}
	switch c.Op {
	case "":
		return c, engine.Problemf(engine.ErrInvalid, "", "the command has no op")
	// A body is logged, kept or passed on in places that no key may come to.
	case engine.OpKey:
		return c, engine.Problemf(engine.ErrInvalid, "use /v1/key", "an API key is no part of a command")
	}
	return c, nil
}

// unreadable is the refusal of a body that does not say clearly what is wanted.
func unreadable(what string, err error) error {
	return engine.Problemf(engine.ErrInvalid, "see /openapi.json", "the %s cannot be read: %v", what, err)
}
