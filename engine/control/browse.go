package control

import (
	"cmp"
	"context"
	"iter"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/operation"
)

// Browse is the Console of a data directory on which no engine works: what is
// stored can be read, nothing can be changed. It is what `farsight` shows of a directory, or of a
// schema, whose engine has ended or does not answer. Several goroutines may use it.
type Browse struct {
	finder
	do string
}

// Stored are what the console of stored data reads. All but the first four may be left out.
type Stored struct {
	Store    Store
	Policies engine.Policies
	Limits   func() engine.LimitsRow // as the last engine knew them
	Do       string                  // tells whoever asks for more what to do
	Silent   string                  // of an engine that does not answer, and what to do; "" = none runs

	// Lane tells where jobs' calls go, so that error classes have the names that an engine gives them.
	Lane      func(engine.Job) string
	Domain    Finder // answers the queries of a domain
	Schedules operation.Schedules
	Alerts    Alerts // as the last engine left them
	Logs      Logs
	Members   Members
}

// NewBrowse makes a read-only console.
func NewBrowse(s Stored) *Browse {
	b := &Browse{do: s.Do, finder: finder{
		store: s.Store, lane: noLane, domain: s.Domain, schedules: s.Schedules, alerts: s.Alerts, logs: s.Logs,
		members: s.Members,
	}}
	if s.Lane != nil {
		b.lane = s.Lane
	}
	b.live = still{
		store: s.Store, policies: s.Policies, stored: s.Limits, do: s.Do, silent: s.Silent, accounts: b.accounts,
	}
	return b
}

// Watch yields what is stored once, and then waits for ctx to end: nothing moves.
func (b *Browse) Watch(ctx context.Context) iter.Seq[engine.Update] {
	return func(yield func(engine.Update) bool) {
		accounts, err := b.accounts(ctx, engine.AccountsQuery{})
		if err != nil {
			return
		}
		row, queues, _, err := b.live.status(ctx)
		if err != nil {
			return
		}
		u := engine.Update{Snapshot: true, Engine: &row, Queues: queues, Accounts: accounts}
		if yield(u) {
			<-ctx.Done()
		}
	}
}

// Do refuses with the reason.
func (b *Browse) Do(context.Context, engine.Command) (engine.Receipt, error) {
	return engine.Receipt{}, engine.Problemf(engine.ErrReadOnly, b.do, "this shows stored data only, no engine runs")
}

// Find answers from disk.
func (b *Browse) Find(ctx context.Context, q engine.Query) (engine.Answer, error) {
	return b.find(ctx, q)
}

// still is what a directory without an engine can say of live matters.
type still struct {
	store    Store
	policies engine.Policies
	stored   func() engine.LimitsRow
	do       string
	silent   string
	accounts func(context.Context, engine.AccountsQuery) ([]engine.AccountRow, error)
}

// foresee leaves the rows as they are: nothing that is stored will go on by itself.
func (still) foresee([]engine.AccountRow) {}

// open are the accounts whose syncs were under way when the last engine ended.
func (s still) open(ctx context.Context) ([]engine.AccountRow, error) {
	return s.accounts(ctx, engine.AccountsQuery{Open: true})
}

// row is a stored job with what its policy tells. Why no live one runs has one reason only.
func (s still) row(j engine.Job) engine.JobRow {
	row := engine.JobRow{Job: j, Player: playerOf(context.Background(), s.store, j)}
	if j.State.Live() {
		row.Why = cmp.Or(s.silent, "no engine runs on this directory")
	}
	return s.policies.Row(row)
}
func (still) forecast(engine.ForecastQuery) engine.Forecast {
	return engine.Forecast{Hosts: []engine.HostForecast{}, Accounts: []engine.AccountForecast{}}
}
func (s still) calls(engine.CallsQuery) engine.CallsPage { return engine.CallsPage{} }
func (s still) lastCall(engine.JobID) *engine.CallRow    { return nil }
func (s still) policy(j *engine.Job) engine.Policy       { return s.policies.Of(j) }
func (s still) externals() map[engine.JobID]string       { return nil }
func (s still) cost(context.Context, engine.CostQuery) (engine.Cost, error) {
	return engine.Cost{}, engine.Problemf(engine.ErrReadOnly, s.do,
		"the cost depends on the limits, and no engine runs that knows them")
}

// soonest are the oldest ones: without an engine nobody knows which go next.
func (s still) soonest(ctx context.Context, n int) ([]engine.Job, error) {
	jobs, _, _, err := s.store.Jobs(ctx, engine.JobsQuery{Oldest: true, Page: engine.Page{Limit: n}})
	return jobs, err
}

// engine is why there is none.
func (s still) engine() engine.EngineRow {
	return engine.EngineRow{State: engine.EngineBrowse, Why: cmp.Or(s.silent, "no engine runs here: stored data only; "+s.do)}
}

func (s still) limits() engine.LimitsRow {
	limits, row := s.stored(), s.engine()
	limits.Cause = row.Cause()
	return limits
}

// status is what the store itself can tell: its totals and queues, and no next retries, since nobody will
// make them.
func (s still) status(ctx context.Context) (engine.EngineRow, []engine.QueueRow, []engine.Job, error) {
	row := s.engine()
	t, err := s.store.Totals(ctx)
	if err != nil {
		return row, nil, nil, err
	}
	row.Accounts, row.Stored, row.Failed = t.Accounts, t.Success, t.Permanent
	row.TooOld, row.Waiting = t.TooOld, t.Waiting()
	queues, err := s.queues(ctx)
	row.Retrying = retrying(queues)
	return row, queues, nil, err
}

// queues are the stored ones.
func (s still) queues(ctx context.Context) ([]engine.QueueRow, error) {
	rows, err := s.store.QueueRows(ctx)
	if err != nil {
		return nil, err
	}
	discards, err := s.store.Discards(ctx)
	return withDiscards(rows, discards), err
}
