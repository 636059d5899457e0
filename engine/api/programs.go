package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
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
}

// Programs are the routes for programs: what the console contract can do, one
// address each. They go into Options.Routes.
type Programs struct{ opt ProgramsOptions }

// NewPrograms makes them.
func NewPrograms(opt ProgramsOptions) *Programs { return &Programs{opt} }

// Parameters that several routes have.
var (
	paramAfter    = Param{"after", "cursor: goes on behind it"}
	paramLimit    = Param{"limit", fmt.Sprintf("rows, 1 to %d; %d unless told", maxPage, usualPage)}
	paramPlatform = Param{"platform", "of the account, such as euw1"}
	paramIfRev    = Param{"if_rev", "revision of the job that was seen; another one is refused"}
	paramReason   = Param{"reason", "for the audit"}
)

// answerOf finds an answer of a type. An answer of another type is a fault of the console, and answers
// 500.
func answerOf[T any](ctx context.Context, p *Programs, q engine.Query) (out T, err error) {
	a, err := p.opt.Console.Find(ctx, q)
	if err != nil {
		return out, err
	}
	out, ok := a.(T)
	if !ok {
		return out, errors.New("an answer of another type")
	}
	return out, nil
}

// act carries a command out in the name of the caller.
func (p *Programs) act(r *Request, c engine.Command) (engine.Receipt, error) {
	c.By = r.Caller.Actor
	return p.opt.Console.Do(r.Context(), c)
}

// readInto reads a body that may be left out.
func readInto(r *Request, into any) error {
	if len(r.Body) == 0 {
		return nil
	}
	if err := strict(r.Body, into); err != nil {
		return unreadable("request", err)
	}
	return nil
}
