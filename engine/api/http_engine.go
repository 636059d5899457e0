package api

import (
	"net/http"
	"slices"

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

// Summary is how everything stands, in one answer.
type Summary struct {
	engine.StatusAnswer
	Firing  []engine.AlertRow `json:"alerts_firing"`
	Metrics engine.Metrics    `json:"metrics"` // of the last hour
}

// summary puts three queries together. They are asked one after the other, so that a moment may lie
// between them.
func (p *Programs) summary(r *Request) (Summary, error) {
	var err error
	out := Summary{Firing: []engine.AlertRow{}}
	if out.StatusAnswer, err = engine.Ask[engine.StatusAnswer](r.Context(), p.opt.Console, engine.StatusQuery{}); err != nil {
		return out, err
	}
	alerts, err := engine.Ask[engine.AlertsAnswer](r.Context(), p.opt.Console, engine.AlertsQuery{})
	if err != nil {
		return out, err
	}
	for _, a := range alerts.Alerts {
		if a.State == engine.AlertFiring {
			out.Firing = append(out.Firing, a)
		}
	}
	kind := engine.Kind(r.URL.Query().Get("kind"))
	out.Metrics, err = engine.Ask[engine.Metrics](r.Context(), p.opt.Console, engine.MetricsQuery{Kind: kind})
	return out, err
}

// members answers with who works on the database; engine.ErrNotFound where one process works alone.
func (p *Programs) members(r *Request) (engine.MembersPage, error) {
	return engine.Ask[engine.MembersPage](r.Context(), p.opt.Console, engine.MembersQuery{})
}

// config answers with the settings in force, secrets cut by whoever gives them.
func (p *Programs) config(*Request) (Settings, error) {
	if p.opt.Config == nil {
		return Settings{}, engine.Problemf(engine.ErrNotFound, "", "this engine does not tell its configuration")
	}
	return Settings{p.opt.Config()}, nil
}

// health tells that the engine lives, or can work: that its state is not among the bad ones. Else the
// status is 503, which is what a probe of systemd or Kubernetes looks at.
func (p *Programs) health(bad []engine.EngineState) func(*Request) (health, error) {
	return func(r *Request) (health, error) {
		a, err := engine.Ask[engine.StatusAnswer](r.Context(), p.opt.Console, engine.StatusQuery{})
		e := a.Engine
		if err == nil && slices.Contains(bad, e.State) {
			err = faultf(http.StatusServiceUnavailable, engine.ErrRefused, "", "the engine is %s: %s", e.State, e.Why)
		}
		return health{Status: "ok", Engine: e.State, Why: e.Why}, err
	}
}

// metrics answers a scrape.
func (p *Programs) metrics(w http.ResponseWriter, r *Request) error {
	if p.opt.Metrics == nil {
		return engine.Problemf(engine.ErrNotFound, "", "this engine has no metrics")
	}
	text, err := p.opt.Metrics.Text(r.Context())
	if err != nil {
		return err
	}
	if hasToken(r.Header["Accept-Encoding"], packed) {
		w.Header().Set("Content-Encoding", packed)
		text = pack(text)
	}
	answer(w, http.StatusOK, typeMetrics+"; version=0.0.4; charset=utf-8", text)
	return nil
}
