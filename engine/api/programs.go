package api

import (
	"net/http"
	"slices"
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
	Metrics  http.Handler            // nil = there are none
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
	return slices.Concat(p.whole(), p.eventRoutes(), p.accounts(), p.statsRoutes(), p.collections(), p.jobs(), p.calls(), p.feeds())
}

// do carries a command out in the name of the caller.
func (p *Programs) do(r *Request, c engine.Command) (engine.Receipt, error) {
	c.By = r.Caller.Actor
	return p.opt.Console.Do(r.Context(), c)
}
