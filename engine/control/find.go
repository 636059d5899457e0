package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/hub"
)

// live adds to stored answers what only a running engine knows. Nil while a
// directory is only browsed.
type live interface {
	row(j engine.Job) engine.JobRow
	eta(a engine.AccountRow) engine.ETA
	stand(accounts []engine.AccountRow)
	calls(q engine.CallsQuery) engine.CallsPage
	limits() engine.LimitsRow
	cost(ctx context.Context, q engine.CostQuery) (engine.Cost, error)
	status(ctx context.Context) (engine.EngineRow, []engine.QueueRow, []engine.Job, error)
	// open gives every account whose sync is under way, in the order they were added.
	open(ctx context.Context) ([]engine.AccountRow, error)
	policy(j *engine.Job) engine.Policy
	externals() map[engine.JobID]string
}

// finder answers queries from the store, with live additions if there are any.
type finder struct {
	store     Store
	live      live
	lane      func(engine.Job) string
	schedules Schedules // nil = there are none
	payloads  Payloads  // nil = they cannot be read here
	logs      Logs      // nil = there are none
	moments   *hub.Moments
	alerts    Alerts  // nil = there are none
	caring    *caring // nil = there is no engine
	most      int     // jobs that one answer looks at; 0 = maxLook
	// domain answers what the finder itself does not know; nil = nobody.
	domain Finder
}

func noLane(engine.Job) string { return "" }

// Sizes of what answers carry.
const (
	recentMatches  = 60
	recentAttempts = 60
	statusRetries  = 10
)

func (f finder) find(ctx context.Context, q engine.Query) (engine.Answer, error) {
	switch q := q.(type) {
	case engine.JobsQuery:
		return f.jobs(ctx, q)
	case engine.JobQuery:
		return f.job(ctx, q)
	case engine.ClassesQuery:
		return wrap(f.classes(ctx, q))
	case engine.ReasonsQuery:
		return f.reasons(ctx, q)
	case engine.AccountsQuery:
		return f.listAccounts(ctx, q)
	case engine.AccountQuery:
		return f.account(ctx, q)
	case engine.MatchesQuery:
		return f.matches(ctx, q)
	case engine.ReportsQuery:
		return f.listReports(ctx, q)
	case engine.StatusQuery:
		return f.status(ctx)
	case engine.SchedulesQuery:
		return f.listSchedules(ctx)
	case engine.AlertsQuery:
		return f.listAlerts(), nil
	case engine.MetricsQuery:
		return f.metrics(ctx, q)
	case engine.JobLogQuery:
		return wrap(f.store.JobLog(ctx, q))
	case engine.AuditQuery:
		return wrap(f.store.Audits(ctx, q))
	case engine.UpkeepQuery:
		return f.caring.list(), nil
	case engine.LogsQuery:
		return f.listLogs(q)
	case engine.MomentsQuery:
		return f.listMoments(q)
	case engine.CallsQuery:
		return f.live.calls(q), nil
	case engine.LimitsQuery:
		return f.live.limits(), nil
	case engine.CostQuery:
		return f.live.cost(ctx, q)
	case engine.FeedQuery:
		return wrap(f.store.Feed(ctx, q))
	case engine.PayloadQuery:
		return f.payload(ctx, q)
	}
	return f.elsewhere(ctx, q)
}

// wrap turns a stored answer's error into a Problem.
func wrap[T any](v T, err error) (engine.Answer, error) {
	if err != nil {
		return nil, problem(err)
	}
	return v, nil
}

func problem(err error) error {
	if p, ok := errors.AsType[*engine.Problem](err); ok {
		return p
	}
	for _, code := range []error{engine.ErrNotFound, engine.ErrConflict, engine.ErrRefused, engine.ErrInvalid, engine.ErrStale} {
		if errors.Is(err, code) {
			return engine.Problemf(code, "", "%v", err)
		}
	}
	if errors.Is(err, context.Canceled) {
		return left()
	}
	return engine.Problemf(engine.ErrBroken, "run `farsight check`", "the data directory could not be read: %v", err)
}

func (f finder) jobs(ctx context.Context, q engine.JobsQuery) (engine.Answer, error) {
	if q.Sifts() {
		return f.sifted(ctx, q)
	}
	jobs, next, total, err := f.store.Jobs(ctx, q)
	if err != nil {
		return nil, problem(err)
	}
	page := engine.JobsPage{Next: next, Total: total, Jobs: make([]engine.JobRow, len(jobs))}
	for i, j := range jobs {
		page.Jobs[i] = f.live.row(j)
	}
	return page, nil
}

func (f finder) job(ctx context.Context, q engine.JobQuery) (engine.Answer, error) {
	underWay := f.live.externals()
	d, err := f.store.Detail(ctx, named(q, underWay))
	if errors.Is(err, engine.ErrNotFound) {
		return nil, engine.Problemf(engine.ErrNotFound, "list them with `farsight jobs --all`", "there is no job %s%s%s", q.ID, q.Key, q.External)
	}
	if err != nil {
		return nil, problem(err)
	}
	j := d.Job.Job
	d.Job = f.live.row(j)
	d.Policy = f.live.policy(&j)
	d.MaxAttempts = d.Job.MaxAttempts
	d.ShouldRetry, d.NextRetryAt = j.ShouldRetry(), j.NextRetryAt()
	if n := len(d.Attempts); n > 0 && d.Attempts[n-1].End.IsZero() {
		d.Attempts[n-1].External = underWay[j.ID]
	}
	if j.Owner != "" {
		if row, err := f.store.AccountRow(ctx, j.Owner); err == nil {
			d.Account = row.RiotID
		}
	}
	if page := f.live.calls(engine.CallsQuery{Job: j.ID, Page: engine.Page{Limit: 1}}); len(page.Calls) > 0 {
		d.Call = &page.Calls[0]
	}
	return d, nil
}

// named asks by the job's own id for the external id of an attempt under way, which is
// stored when it ends.
func named(q engine.JobQuery, underWay map[engine.JobID]string) engine.JobQuery {
	for id, external := range underWay {
		if q.External != "" && external == q.External {
			return engine.JobQuery{ID: id}
		}
	}
	return q
}

func (f finder) account(ctx context.Context, q engine.AccountQuery) (engine.Answer, error) {
	row, err := f.store.AccountRowOn(ctx, q.ID, q.Platform)
	if errors.Is(err, engine.ErrNotFound) {
		return nil, engine.Problemf(engine.ErrNotFound, "list them with `farsight accounts`", "there is no account %s", q.ID)
	}
	if err != nil {
		return nil, problem(err)
	}
	d := engine.AccountDetail{Row: row, ETA: f.live.eta(row)}
	d.Row.Stand = d.ETA.Stand
	if d.Identity, err = f.store.Identities(ctx, row.ID); err != nil {
		return nil, problem(err)
	}
	if d.Report, err = f.store.Report(ctx, row.ID); err != nil {
		return nil, problem(err)
	}
	if d.Recent, err = f.store.Settled(ctx, row.ID, recentMatches); err != nil {
		return nil, problem(err)
	}
	attempts, err := f.store.Recent(ctx, row.ID, recentAttempts)
	if err != nil {
		return nil, problem(err)
	}
	for _, a := range attempts {
		d.Waits = append(d.Waits, engine.Spent{Limiter: a.Paced + a.Limiter, HTTP: a.HTTP})
	}
	return d, nil
}

func (f finder) matches(ctx context.Context, q engine.MatchesQuery) (engine.Answer, error) {
	if q.Account != "" {
		row, err := f.store.AccountRow(ctx, q.Account)
		if errors.Is(err, engine.ErrNotFound) {
			return nil, engine.Problemf(engine.ErrNotFound, "list them with `farsight accounts`", "there is no account %s", q.Account)
		}
		if err != nil {
			return nil, problem(err)
		}
		q.Account = row.ID
	}
	return wrap(f.store.Matches(ctx, q))
}

func (f finder) status(ctx context.Context) (engine.Answer, error) {
	var a engine.StatusAnswer
	var retries []engine.Job
	var err error
	if a.Engine, a.Queues, retries, err = f.live.status(ctx); err != nil {
		return nil, problem(err)
	}
	for _, j := range retries {
		a.Next = append(a.Next, f.live.row(j))
	}
	if a.Open, err = f.live.open(ctx); err != nil {
		return nil, problem(fmt.Errorf("accounts: %w", err))
	}
	f.live.stand(a.Open)
	if b, ok := f.live.limits().Pacing(); ok {
		a.Pacing = &b
	}
	return a, nil
}

func (f finder) listAccounts(ctx context.Context, q engine.AccountsQuery) (engine.Answer, error) {
	page, err := f.store.Accounts(ctx, q)
	if err != nil {
		return nil, problem(err)
	}
	f.live.stand(page.Accounts)
	return page, nil
}

// accounts gives every account that a query fits, page by page.
func (f finder) accounts(ctx context.Context, q engine.AccountsQuery) (all []engine.AccountRow, err error) {
	for q.Limit = storePage; ; {
		page, err := f.store.Accounts(ctx, q)
		if err != nil {
			return nil, err
		}
		if all = append(all, page.Accounts...); page.Next == "" {
			return all, nil
		}
		q.After = page.Next
	}
}

// What a running engine adds.

func (c *Control) row(j engine.Job) engine.JobRow {
	r := c.opt.Policies.Row(engine.JobRow{Job: j, Player: playerOf(context.Background(), c.store, j)})
	if j.State.Live() && j.State != engine.Running {
		r.Why, r.Until, r.Place = c.opt.Backend.Why(j)
		r.Stand = c.opt.Backend.Held(j).Stand
	}
	if j.State == engine.Pending && r.Until.IsZero() {
		r.Until = c.groupEnds(j)
	}
	return r
}

// open are the hub's: it has had all of them since the start.
func (c *Control) open(context.Context) ([]engine.AccountRow, error) {
	return slices.SortedFunc(slices.Values(c.hub.Open()), func(a, b engine.AccountRow) int { return strings.Compare(a.ID, b.ID) }), nil
}

func (c *Control) limits() engine.LimitsRow                   { return c.opt.Limiter.Rows() }
func (c *Control) policy(j *engine.Job) engine.Policy         { return c.opt.Policies.Of(j) }
func (c *Control) externals() map[engine.JobID]string         { return c.opt.Backend.Externals() }
func (c *Control) calls(q engine.CallsQuery) engine.CallsPage { return c.opt.Limiter.Calls(q) }

func (c *Control) cost(ctx context.Context, q engine.CostQuery) (engine.Cost, error) {
	if len(q.Accounts) > 0 {
		return c.costOfAll(ctx, q), nil
	}
	cost, err := c.opt.Syncer.Cost(ctx, q)
	if err != nil {
		return cost, problem(err)
	}
	c.addDelays(ctx, &cost, true)
	return cost, nil
}

// costOfAll is the cost of several syncs as one act. One that would be refused costs
// nothing: it says so when it is started.
func (c *Control) costOfAll(ctx context.Context, q engine.CostQuery) engine.Cost {
	var total engine.Cost
	perHost := map[string]engine.Cost{}
	for _, account := range q.Accounts {
		one, err := c.opt.Syncer.Cost(ctx, engine.CostQuery{Account: account, Sync: q.Sync})
		if err != nil || len(one.Loads) == 0 {
			continue
		}
		host := one.Loads[0].Host
		sum := perHost[host]
		perHost[host] = engine.Cost{Calls: sum.Calls + one.Calls, Takes: sum.Takes + one.Takes, Bucket: one.Bucket, AtMost: sum.AtMost || one.AtMost}
		total.Loads = append(total.Loads, one.Loads...)
	}
	slowest(&total, perHost)
	c.addDelays(ctx, &total, true)
	return total
}

func (c *Control) status(ctx context.Context) (engine.EngineRow, []engine.QueueRow, []engine.Job, error) {
	retries, err := c.opt.Backend.NextRetries(ctx, statusRetries)
	return c.engineRow(), c.queues(), retries, err
}
