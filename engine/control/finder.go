package control

import (
	"context"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/hub"
	"github.com/farsight-console/farsight/engine/operation"
)

// live adds to stored answers what only a running engine knows. Nil while a
// directory is only browsed.
type live interface {
	row(j engine.Job) engine.JobRow
	// foresee notes with accounts when their open runs end, and what keeps them from going on.
	foresee(accounts []engine.AccountRow)
	forecast(q engine.ForecastQuery) engine.Forecast
	calls(q engine.CallsQuery) engine.CallsPage
	// lastCall is the newest recorded call of a job with what its answer said; nil = none is.
	lastCall(job engine.JobID) *engine.CallRow
	limits() engine.LimitsRow
	cost(ctx context.Context, q engine.CostQuery) (engine.Cost, error)
	status(ctx context.Context) (engine.EngineRow, []engine.QueueRow, []engine.Job, error)
	// open gives every account whose sync is under way, in the order they were added.
	open(ctx context.Context) ([]engine.AccountRow, error)
	policy(j *engine.Job) engine.Policy
	externals() map[engine.JobID]string
	// soonest gives jobs among which the n live ones are that go next.
	soonest(ctx context.Context, n int) ([]engine.Job, error)
}

// finder answers queries from the store, with live additions if there are any. The parts that may be
// nil answer with nothing, or with a refusal that says what is lacking.
type finder struct {
	store     Store
	live      live
	lane      func(engine.Job) string
	schedules operation.Schedules // nil = there are none
	payloads  Payloads            // nil = they cannot be read here
	logs      Logs                // nil = there are none
	moments   *hub.Moments
	alerts    Alerts              // nil = there are none
	members   Members             // nil = one process works alone
	operator  *operation.Operator // nil = there is no engine
	most      int                 // jobs that one answer looks at; 0 = maxLook
	// domain answers what the finder itself does not know; nil = nobody.
	domain Finder
}

func noLane(engine.Job) string { return "" }

// kindSync is the job of a sync: people know it by its player, not by its key.
const kindSync engine.Kind = "account.sync"

// playerOf is whose sync a job is; "" of other jobs, and while it is not known.
func playerOf(ctx context.Context, store Store, j engine.Job) string {
	if j.Kind != kindSync || j.Owner == "" {
		return ""
	}
	row, err := store.AccountRow(ctx, j.Owner)
	if err != nil {
		return ""
	}
	return row.RiotID
}
