package api

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// ProgramsOptions are what the routes for programs work on.
type ProgramsOptions struct {
	Console  engine.Console
	Platform string // of accounts that are new and named without one
	// Cooldown is how long a sync that has failed is not started anew by a mere look
	// at an account's stats.
	Cooldown time.Duration
	Config   func() []engine.Setting // nil = nobody tells
	Metrics  *Metrics                // nil = there are none
	Events   *Events                 // nil = there are none
	// Pass makes a token for readers of events, see Token.Pass; nil = nobody listens on an address.
	Pass func(until time.Time) string
}

// Programs are the routes for programs: what the console contract can do, one
// address each. They go into Options.Routes.
type Programs struct{ opt ProgramsOptions }

// NewPrograms makes them.
func NewPrograms(opt ProgramsOptions) *Programs { return &Programs{opt} }

// Routes is the table.
func (p *Programs) Routes() []Route {
	// One route by two addresses, with the protocol's version and without.
	stats := Route{
		Method: http.MethodGet, Path: "/v1/stats/{name}/{tag}", Role: Viewer,
		Out: PlayStats{}, Type: typeJSON, Handle: p.stats,
		Summary: "The stored play-time report with its matches; " +
			"202 when there is none yet, and a sync of the account is under way",
		Also: map[int]any{http.StatusAccepted: Started{}, http.StatusNotModified: nil},
		Query: []Param{
			paramPlatform, {"count", "only the newest so many matches, as --count of a sync; 0 = all"},
			{"lookbackDays", "only matches of so many days, as --since of a sync"},
		},
	}
	short := stats
	short.Path = "/stats/{name}/{tag}"
	return []Route{
		viewRoute("/healthz", "Whether the engine lives", p.health(ill)),
		viewRoute("/readyz", "Whether the engine can work", p.health(unready)),
		{
			Method: http.MethodGet, Path: "/metrics", Summary: "Metrics in Prometheus form",
			Role: Viewer, Type: typeMetrics, Handle: p.metrics,
		},
		viewRoute("/v1/summary",
			"The engine, its queues, open syncs, next retries, firing alerts, and what the last hour adds up to",
			p.summary, Param{"kind", "the metrics of this kind of job only, such as match.fetch or alert.call"}),
		viewRoute("/v1/members",
			"The processes that share a database: who leads, who has led, and what each has in hand; 404 where one works alone",
			p.members),
		viewRoute("/v1/config", "Every setting with where it comes from, secrets cut", p.config),

		route(http.MethodPost, "/v1/events/pass", "A pass of ten minutes, by which a page in a browser opens a stream of events",
			Viewer, p.eventPass),
		{
			Method: http.MethodGet, Path: pathEvents, Role: Viewer, Out: event{}, Type: typeEvents, Handle: p.events,
			Summary: "Progress of accounts, ends of jobs and alerts as they happen: " +
				"server-sent events, or a WebSocket with one event a message",
			Query: []Param{
				{"after", "id of the last event that was seen, as in Last-Event-ID"}, {"account", "id of one account"},
				{"types", strings.Join(eventTypes, ",")}, paramPass,
			},
		},

		viewRoute("/v1/accounts", "Accounts by their Riot ID, with the progress of their last sync", p.accountList,
			Param{"text", "part of the Riot ID"}, paramFilter, paramAfter, paramLimit),
		viewRoute("/v1/accounts/{name}/{tag}", "An account in depth: its run and progress, ETA, report", p.account),
		starting("/v1/accounts/{name}/{tag}/sync", "Start a sync: 202 with its job, 409 with the one that runs",
			syncRequest{}, p.sync),
		starting("/v1/trigger/{what}", "Trigger latest, full, rank or weekly", triggerRequest{}, p.trigger),
		stats, short,

		viewRoute("/v1/collections", "Collections with how far they are, the newest first", p.collectionList),
		viewRoute("/v1/collections/{name}", "A collection with how far it is", p.collection),
		starting("/v1/collections", "Start a collection, join it, or change how much of it is wanted: 202 with its job",
			collectRequest{}, p.collect),

		viewRoute("/v1/jobs", "Jobs, the newest first", p.jobList,
			Param{"state", "only these, separated by commas; all = those that have ended, too; unless told those that have not"},
			Param{"queue", "such as matches"}, Param{"kind", "such as match.fetch"},
			Param{"account", "id or Name#TAG of whom the work is for"}, paramFilter, paramAfter, paramLimit),
		viewRoute("/v1/jobs/{id}", "Everything about a job, by its id or its key", p.job),
		viewRoute("/v1/jobs/{id}/progress", "How far a job has come", p.progress),
		act("/v1/jobs/{id}/retry", "Let a job run now, in queue order and through the limiter", p.retry),
		dropping("/v1/jobs/{id}/retry", "Cancel a job's planned attempt", p.drop),

		// Calls: those under /v1 take any job by the id of an attempt; those without it are in the words of [CallDebug].
		{
			Method: http.MethodPost, Path: "/v1/calls", Summary: "Call a number of the allow list: 202 with the job of the call",
			Role: Operator, In: callRequest{}, Out: CallPlaced{}, Also: map[int]any{http.StatusAccepted: CallPlaced{}},
			Type: typeJSON, Handle: p.placeCall,
			Header: []Param{{idempotencyKey, "the same as idempotency_key: a second request with it calls nobody again"}},
		},
		viewRoute("/v1/calls", "The telephone calls, alerts' and your own, the newest first", p.callList, paramAfter, paramLimit,
			Param{"status", "only those that stand so: busy, no-answer, failed, completed, canceled …"}),
		viewRoute("/v1/calls/{sid}", "Everything about a job, by the external id of any of its attempts", p.job),
		act("/v1/calls/{sid}/retry", "Let that job run now", p.retry),
		dropping("/v1/calls/{sid}/retry", "Cancel that job's planned attempt", p.drop),
		viewRoute("/calls/{sid}/debug", "A call with all its attempts, by the sid of any of them", p.callDebug),
		act("/calls/{sid}/retry", "Call again now", p.callRetry),
		dropping("/calls/{sid}/retry", "Do not call again", p.callCancel),

		viewRoute("/v1/matches", "The ordered feed of matches: each once, at the place of its latest change",
			p.feed(engine.FeedMatches), paramFilter, paramAfter, paramLimit),
		viewRoute("/v1/matches/participants", "The ordered feed of participants",
			p.feed(engine.FeedParticipants), paramAfter, paramLimit),
		viewRoute("/v1/matches/{name}/{tag}", "The matches of an account, newest first",
			p.matches, Param{"all", "true: also those that cannot be had"}, paramAfter, paramLimit),
	}
}

// do carries a command out in the name of the caller.
func (p *Programs) do(r *Request, c engine.Command) (engine.Receipt, error) {
	c.By = r.Caller.Actor
	return p.opt.Console.Do(r.Context(), c)
}

// collectRequest says whose matches are collected, and which; the answer's collection is its name.
type collectRequest struct {
	engine.CollectAsk
	Reason string `json:"reason,omitempty"`
	DryRun bool   `json:"dry_run,omitempty"` // says only what it would cost
}

// collectionList lists collections.
func (p *Programs) collectionList(r *Request) (engine.CollectionsAnswer, error) {
	return engine.Ask[engine.CollectionsAnswer](r.Context(), p.opt.Console, engine.CollectionsQuery{})
}

// collection is the one that an address names.
func (p *Programs) collection(r *Request) (row engine.CollectionRow, err error) {
	a, err := engine.Ask[engine.CollectionsAnswer](r.Context(), p.opt.Console, engine.CollectionsQuery{Name: r.PathValue("name")})
	if err != nil {
		return row, err
	}
	return a.Collections[0], nil
}

// collect starts a collection.
func (p *Programs) collect(w http.ResponseWriter, r *Request) error {
	var in collectRequest
	if err := readInto(r, &in); err != nil {
		return err
	}
	return p.start(w, r, engine.Command{Op: engine.OpCollect, Collect: &in.CollectAsk, Reason: in.Reason, DryRun: in.DryRun})
}

// pageOf reads where a list goes on, and how many rows of it are wanted; 0 = as the console likes.
func pageOf(r *Request) (page engine.Page, err error) {
	page.After = r.URL.Query().Get("after")
	page.Limit, err = number(r, "limit", 1, engine.LargestPage, fmt.Sprintf("use 1 to %d", engine.LargestPage), "%q is no number of rows")
	return page, err
}

// feed answers with a page of a durable order: whoever keeps its Next misses no row that changes later.
func (p *Programs) feed(kind engine.FeedKind) func(*Request) (engine.FeedPage, error) {
	return func(r *Request) (out engine.FeedPage, err error) {
		page, err := pageOf(r)
		if err != nil {
			return out, err
		}
		out, err = engine.Ask[engine.FeedPage](r.Context(), p.opt.Console, engine.FeedQuery{Page: page, Kind: kind, Filter: r.URL.Query().Get("filter")})
		// A program that iterates must not meet null.
		if out.Rows == nil {
			out.Rows = []engine.FeedRow{}
		}
		return out, err
	}
}

// matches lists the matches of an account. all brings those along that could not be had.
func (p *Programs) matches(r *Request) (out engine.MatchesPage, err error) {
	q := engine.MatchesQuery{Account: riotID(r)}
	if q.Page, err = pageOf(r); err != nil {
		return out, err
	}
	if text := r.URL.Query().Get("all"); text != "" {
		if q.All, err = strconv.ParseBool(text); err != nil {
			return out, engine.Problemf(engine.ErrInvalid, "use true or false", "all is %q", text)
		}
	}
	out, err = engine.Ask[engine.MatchesPage](r.Context(), p.opt.Console, q)
	if out.Matches == nil {
		out.Matches = []engine.MatchRow{}
	}
	return out, err
}
