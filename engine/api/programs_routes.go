package api

import (
	"net/http"

	"github.com/farsight-console/farsight/engine"
)

// Routes is the table.
func (p *Programs) Routes() []Route {
	var all []Route
	for _, part := range [][]Route{p.whole(), p.accounts(), p.statsRoutes(), p.jobs(), p.calls(), p.feeds()} {
		all = append(all, part...)
	}
	return all
}

// whole are the routes about the engine as a whole.
func (p *Programs) whole() []Route {
	return []Route{
		{Method: http.MethodGet, Path: "/healthz", Summary: "Whether the engine lives", Role: Viewer, Out: health{}, Type: typeJSON, Handle: p.health(ill)},
		{Method: http.MethodGet, Path: "/readyz", Summary: "Whether the engine can work", Role: Viewer, Out: health{}, Type: typeJSON, Handle: p.health(unready)},
		{Method: http.MethodGet, Path: "/metrics", Summary: "Metrics in Prometheus form", Role: Viewer, Type: typeMetrics, Handle: p.metrics},
		{
			Method: http.MethodGet, Path: "/v1/summary", Summary: "The engine, its queues, open syncs, next retries, firing alerts, and what the last hour adds up to",
			Role: Viewer, Out: Summary{}, Type: typeJSON, Handle: telling(p.summary), Query: []Param{{"kind", "the metrics of this kind of job only, such as match.fetch or alert.call"}},
		},
		{Method: http.MethodGet, Path: "/v1/members", Summary: "The processes that share a database: who leads, who has led, and what each has in hand; 404 where one works alone", Role: Viewer, Out: engine.MembersPage{}, Type: typeJSON, Handle: telling(p.members)},
		{Method: http.MethodGet, Path: "/v1/config", Summary: "Every setting with where it comes from, secrets cut", Role: Viewer, Out: Settings{}, Type: typeJSON, Handle: telling(p.config)},
		{
			Method: http.MethodGet, Path: "/v1/events", Summary: "Progress of accounts, ends of jobs and alerts as they happen: server-sent events, or a WebSocket with one event a message",
			Role: Viewer, Out: event{}, Type: typeEvents, Handle: p.events,
			Query: []Param{{"after", "id of the last event that was seen, as in Last-Event-ID"}, {"account", "id of one account"}, {"types", "progress,job,alert"}},
		},
	}
}
