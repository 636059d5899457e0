package api

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// health says how the engine stands.
type health struct {
	Status string             `json:"status"` // ok
	Engine engine.EngineState `json:"engine"`
	Why    string             `json:"why,omitempty"`
}

// Settings is the configuration in force.
type Settings struct {
	Settings []engine.Setting `json:"settings"`
}

// Summary is the whole in one answer.
type Summary struct {
	engine.StatusAnswer
	Firing  []engine.AlertRow `json:"alerts_firing"`
	Metrics engine.Metrics    `json:"metrics"` // of the last hour
}

// feeds are the routes that give lists page by page.
func (p *Programs) feeds() []Route {
	paged := []Param{paramAfter, paramLimit}
	return []Route{
		{
			Method: http.MethodGet, Path: "/v1/matches", Summary: "The ordered feed of matches: each once, at the place of its latest change",
			Role: Viewer, Out: engine.FeedPage{}, Type: typeJSON, Handle: p.feed(engine.FeedMatches), Query: paged,
		},
		{
			Method: http.MethodGet, Path: "/v1/matches/participants", Summary: "The ordered feed of participants",
			Role: Viewer, Out: engine.FeedPage{}, Type: typeJSON, Handle: p.feed(engine.FeedParticipants), Query: paged,
		},
		{
			Method: http.MethodGet, Path: "/v1/matches/{name}/{tag}", Summary: "The matches of an account, newest first", Role: Viewer, Out: engine.MatchesPage{}, Type: typeJSON, Handle: telling(p.matches),
			Query: append([]Param{{"all", "true: also those that cannot be had"}}, paged...),
		},
	}
}

// pageOf reads where a list goes on and how much of it is wanted.
func pageOf(r *Request) (engine.Page, error) {
	q := r.URL.Query()
	page := engine.Page{After: q.Get("after")}
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxPage {
			return page, engine.Problemf(engine.ErrInvalid, fmt.Sprintf("use 1 to %d", maxPage), "%q is no number of rows", text)
		}
		page.Limit = n
	}
	return page, nil
}

// feed answers with a page of a durable order: whoever keeps its Next misses no row that changes later.
// Rows are never null.
func (p *Programs) feed(kind engine.FeedKind) Handler {
	return telling(func(r *Request) (any, error) {
		page, err := pageOf(r)
		if err != nil {
			return nil, err
		}
		out, err := answerOf[engine.FeedPage](r.Context(), p, engine.FeedQuery{Page: page, Kind: kind})
		// A program that iterates must not meet null.
		if out.Rows == nil {
			out.Rows = []engine.FeedRow{}
		}
		return out, err
	})
}

// matches lists the matches of an account. all brings those along that could not be had.
func (p *Programs) matches(r *Request) (any, error) {
	page, err := pageOf(r)
	if err != nil {
		return nil, err
	}
	all := false
	if text := r.URL.Query().Get("all"); text != "" {
		if all, err = strconv.ParseBool(text); err != nil {
			return nil, engine.Problemf(engine.ErrInvalid, "use true or false", "all is %q", text)
		}
	}
	out, err := answerOf[engine.MatchesPage](r.Context(), p, engine.MatchesQuery{Page: page, Account: riotID(r), All: all})
	if out.Matches == nil {
		out.Matches = []engine.MatchRow{}
	}
	return out, err
}

// summary puts three queries together. They are asked one after the other, so that a moment may lie
// between them.
func (p *Programs) summary(r *Request) (any, error) {
	var err error
	out := Summary{Firing: []engine.AlertRow{}}
	if out.StatusAnswer, err = answerOf[engine.StatusAnswer](r.Context(), p, engine.StatusQuery{}); err != nil {
		return nil, err
	}
	alerts, err := answerOf[engine.AlertsAnswer](r.Context(), p, engine.AlertsQuery{})
	if err != nil {
		return nil, err
	}
	for _, a := range alerts.Alerts {
		if a.State == engine.AlertFiring {
			out.Firing = append(out.Firing, a)
		}
	}
	out.Metrics, err = answerOf[engine.Metrics](r.Context(), p, engine.MetricsQuery{Kind: engine.Kind(r.URL.Query().Get("kind"))})
	return out, err
}

// members answers with who works on the database; engine.ErrNotFound where one process works alone.
func (p *Programs) members(r *Request) (any, error) {
	return answerOf[engine.MembersPage](r.Context(), p, engine.MembersQuery{})
}

// config answers with the settings in force, secrets cut by whoever gives them.
func (p *Programs) config(*Request) (any, error) {
	if p.opt.Config == nil {
		return nil, engine.Problemf(engine.ErrNotFound, "", "this engine does not tell its configuration")
	}
	return Settings{p.opt.Config()}, nil
}

// States of an engine that is ill, and of one that is well but cannot work.
var (
	ill     = map[engine.EngineState]bool{engine.EngineBroken: true}
	unready = map[engine.EngineState]bool{engine.EngineBroken: true, engine.EngineOpening: true, engine.EngineStopping: true, engine.EngineNoKey: true}
)

// health tells that the engine lives, or can work: that its state is not among the bad ones.
func (p *Programs) health(bad map[engine.EngineState]bool) Handler {
	return telling(func(r *Request) (any, error) {
		a, err := answerOf[engine.StatusAnswer](r.Context(), p, engine.StatusQuery{})
		if e := a.Engine; err == nil && bad[e.State] {
			err = faultf(http.StatusServiceUnavailable, engine.ErrRefused, "", "the engine is %s: %s", e.State, e.Why)
		}
		return health{Status: "ok", Engine: a.Engine.State, Why: a.Engine.Why}, err
	})
}

// metrics hands a scrape on. It may take as long as Prometheus waits, which is longer than a write may.
func (p *Programs) metrics(w http.ResponseWriter, r *Request) error {
	if p.opt.Metrics == nil {
		return engine.Problemf(engine.ErrNotFound, "", "this engine has no metrics")
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(scrapeTimeout + writeTimeout))
	p.opt.Metrics.ServeHTTP(w, r.Request)
	return nil
}
