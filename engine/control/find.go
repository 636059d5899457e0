package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/hub"
	"github.com/farsight-console/farsight/engine/operation"
)

// Sizes of what answers carry.
const (
	recentMatches  = 60
	recentAttempts = 60
	recentRuns     = 8
	statusRetries  = 10
)

// find answers a query. Errors are *engine.Problem, whatever a part has said.
//
// It is the one way to the data for every reader: the console, the plain console, the commands, the
// socket and HTTP ask the same questions and get the same rows.
func (f finder) find(ctx context.Context, q engine.Query) (engine.Answer, error) {
	a, err := f.answer(ctx, q)
	if err != nil {
		return nil, engine.ProblemOf(err)
	}
	return a, nil
}

// answer has one function per query; one that is no case here is the domain's, if it has one.
func (f finder) answer(ctx context.Context, q engine.Query) (engine.Answer, error) {
	switch q := q.(type) {
	case engine.JobsQuery:
		return f.jobs(ctx, q)
	case engine.JobQuery:
		return f.job(ctx, q)
	case engine.ClassesQuery:
		return f.classes(ctx, q)
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
	case engine.MembersQuery:
		return f.listMembers(ctx)
	case engine.AlertsQuery:
		return f.listAlerts(), nil
	case engine.MetricsQuery:
		return f.metrics(ctx, q)
	case engine.JobLogQuery:
		return f.store.JobLog(ctx, q)
	case engine.AuditQuery:
		return f.store.Audits(ctx, q)
	case engine.UpkeepQuery:
		return f.operator.Running(), nil
	case engine.LogsQuery:
		return f.listLogs(q)
	case engine.MomentsQuery:
		return f.listMoments(q)
	case engine.CallsQuery:
		return f.live.calls(q), nil
	case engine.LimitsQuery:
		return f.live.limits(), nil
	case engine.ForecastQuery:
		return f.live.forecast(q), nil
	case engine.CostQuery:
		return f.live.cost(ctx, q)
	case engine.FeedQuery:
		return f.feed(ctx, q)
	case engine.PayloadQuery:
		return f.payload(ctx, q)
	}
	return f.elsewhere(ctx, q)
}

// jobs gives one page. A query that the store cannot answer by an index goes through sifted, which has
// no total.
func (f finder) jobs(ctx context.Context, q engine.JobsQuery) (page engine.JobsPage, err error) {
	if q.Sifts() {
		return f.sifted(ctx, q)
	}
	jobs, next, total, limit := []engine.Job(nil), "", -1, q.Rows()
	if q.Soonest {
		jobs, err = f.live.soonest(ctx, limit)
	} else {
		jobs, next, total, err = f.store.Jobs(ctx, q)
	}
	if err != nil {
		return page, err
	}
	page = engine.JobsPage{Next: next, Total: total, Jobs: make([]engine.JobRow, len(jobs))}
	for i, j := range jobs {
		page.Jobs[i] = f.live.row(j)
	}
	if q.Soonest { // they are more than were asked for, in no order
		slices.SortStableFunc(page.Jobs, columns.WhoGoesNext)
		page.Jobs = page.Jobs[:min(limit, len(page.Jobs))]
	}
	return page, nil
}

// job is all that is known of one job: what is stored, why it waits, and its newest call as it went
// over the wire.
func (f finder) job(ctx context.Context, q engine.JobQuery) (d engine.JobDetail, err error) {
	if q == (engine.JobQuery{}) {
		return d, engine.Problemf(engine.ErrInvalid, "list them with `farsight jobs --all`", "no job is named")
	}
	underWay := f.live.externals()
	d, err = f.store.Detail(ctx, named(q, underWay))
	if errors.Is(err, engine.ErrNotFound) {
		return d, engine.Problemf(engine.ErrNotFound, "list them with `farsight jobs --all`",
			"there is no job %s%s%s", q.ID, q.Key, q.External)
	}
	if err != nil {
		return d, err
	}
	j := d.Job.Job
	d.Job = f.live.row(j)
	d.Policy = f.live.policy(&j)
	d.MaxAttempts = d.Job.MaxAttempts
	d.ShouldRetry, d.NextRetryAt = j.ShouldRetry(), j.NextRetryAt()
	// The attempt under way is opened in the store, its other side's id is in memory until it ends.
	if n := len(d.Attempts); n > 0 && d.Attempts[n-1].End.IsZero() {
		d.Attempts[n-1].External = underWay[j.ID]
	}
	if j.Owner != "" {
		if row, err := f.store.AccountRow(ctx, j.Owner); err == nil {
			d.Account = row.RiotID
		}
	}
	d.Call = f.live.lastCall(j.ID)
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

// account is the screen of one account: each part is read by itself, so that a commit may lie between
// two of them. What moves comes by Watch anyhow.
func (f finder) account(ctx context.Context, q engine.AccountQuery) (d engine.AccountDetail, err error) {
	row, err := f.store.AccountRowOn(ctx, q.ID, q.Platform)
	if err != nil {
		return d, noAccount(err, q.ID)
	}
	rows := []engine.AccountRow{row}
	f.live.foresee(rows)
	d.Row, d.ETA = rows[0], rows[0].ETA
	if d.Identity, err = f.store.Identities(ctx, row.ID); err != nil {
		return d, err
	}
	if d.Report, err = f.store.Report(ctx, row.ID); err != nil {
		return d, err
	}
	if d.Recent, err = f.store.Settled(ctx, row.ID, recentMatches); err != nil {
		return d, err
	}
	if d.Waits, err = f.store.Spent(ctx, row.ID, recentAttempts); err != nil {
		return d, err
	}
	d.Runs, err = f.store.Runs(ctx, row.ID, recentRuns)
	return d, err
}

// noAccount says which account there is not, where that is the error.
func noAccount(err error, id string) error {
	if errors.Is(err, engine.ErrNotFound) {
		return engine.Problemf(engine.ErrNotFound, "list them with `farsight accounts`", "there is no account %s", id)
	}
	return err
}

// matches lists the matches of an account, by its id or Riot ID, or of all accounts.
func (f finder) matches(ctx context.Context, q engine.MatchesQuery) (engine.MatchesPage, error) {
	if q.Account != "" {
		row, err := f.store.AccountRow(ctx, q.Account)
		if err != nil {
			return engine.MatchesPage{}, noAccount(err, q.Account)
		}
		q.Account = row.ID
	}
	return f.store.Matches(ctx, q)
}

// status is what `farsight status` prints: the engine, its queues, what runs next and the syncs under
// way.
func (f finder) status(ctx context.Context) (a engine.StatusAnswer, err error) {
	var retries []engine.Job
	if a.Engine, a.Queues, retries, err = f.live.status(ctx); err != nil {
		return a, err
	}
	for _, j := range retries {
		a.Next = append(a.Next, f.live.row(j))
	}
	if a.Open, err = f.live.open(ctx); err != nil {
		return a, fmt.Errorf("accounts: %w", err)
	}
	f.live.foresee(a.Open)
	limits := f.live.limits()
	if b, ok := limits.Pacing(""); ok {
		a.Pacing = &b
	}
	return a, nil
}

// listMembers is refused where one process has the store for itself.
func (f finder) listMembers(ctx context.Context) (page engine.MembersPage, err error) {
	if f.members == nil {
		return page, engine.NoMembers()
	}
	return f.members(ctx)
}

// listAccounts is one page, each row with when its sync will be done.
func (f finder) listAccounts(ctx context.Context, q engine.AccountsQuery) (engine.AccountsPage, error) {
	page, err := f.store.Accounts(ctx, q)
	if err != nil {
		return page, err
	}
	f.live.foresee(page.Accounts)
	page.Accounts, err = sift(page.Accounts, q.Filter, columns.Accounts.Schema, func(a *engine.AccountRow) *engine.AccountRow { return a })
	return page, err
}

// feed is one page of a feed.
func (f finder) feed(ctx context.Context, q engine.FeedQuery) (engine.FeedPage, error) {
	if q.Filter != "" && q.Kind != engine.FeedMatches {
		return engine.FeedPage{}, engine.Problemf(engine.ErrInvalid, "leave it out", "only the feed of matches has a filter")
	}
	page, err := f.store.Feed(ctx, q)
	if err != nil {
		return page, err
	}
	page.Rows, err = sift(page.Rows, q.Filter, columns.Matches.Schema, func(r *engine.FeedRow) *engine.MatchRow { return r.Match })
	return page, err
}

// accounts gives every account that a query fits, page by page.
func (f finder) accounts(ctx context.Context, q engine.AccountsQuery) (all []engine.AccountRow, err error) {
	q.Limit = engine.LargestPage
	for row, err := range engine.EachAccount(ctx, f.store.Accounts, q) {
		if err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, nil
}

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
	// soonest gives the n live jobs that go next, and perhaps others.
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

// playerOf is whose sync a job is; "" of other jobs, and while it is not known. A sync of a collection is owned by that,
// and its key names the player. One that a ladder has named is known by the PUUID alone.
func playerOf(ctx context.Context, store Store, j engine.Job) string {
	if j.Kind != kindSync || j.Owner == "" {
		return ""
	}
	if row, err := store.AccountRow(ctx, j.Owner); err == nil {
		return row.RiotID
	}
	_, player, _ := strings.Cut(j.Key, ":")
	if row, err := store.AccountRow(ctx, player); err != nil || row.RiotID != "" {
		return row.RiotID
	}
	if who, err := store.Identities(ctx, player); err == nil && len(who) > 0 {
		return "puuid " + who[0].PUUID[:min(shortPUUID, len(who[0].PUUID))]
	}
	return ""
}

// shortPUUID is how much of a PUUID tells it from others.
const shortPUUID = 8

// elsewhere asks the domain. It comes last: a domain cannot take a query over that the console answers.
func (f finder) elsewhere(ctx context.Context, q engine.Query) (engine.Answer, error) {
	if f.domain != nil {
		if a, known, err := f.domain.Find(ctx, q); known {
			return a, err
		}
	}
	return nil, engine.Problemf(engine.ErrInvalid, "", "this console does not know the query %T", q)
}

// payload gives Riot's JSON of a match or a timeline, byte for byte as it came.
func (f finder) payload(ctx context.Context, q engine.PayloadQuery) (p engine.Payload, err error) {
	if f.payloads == nil {
		return p, engine.Problemf(engine.ErrInvalid, "", "this console cannot read payloads")
	}
	p.JSON, err = f.payloads(ctx, q)
	return p, err
}

// listReports gives the reports of one page of accounts.
func (f finder) listReports(ctx context.Context, q engine.ReportsQuery) (page engine.ReportsPage, err error) {
	accounts, err := f.store.Accounts(ctx, engine.AccountsQuery{Page: q.Page, Text: q.Text})
	if err != nil {
		return page, err
	}
	page = engine.ReportsPage{Reports: []engine.ReportRow{}, Next: accounts.Next}
	for _, a := range accounts.Accounts {
		r, err := f.store.Report(ctx, a.ID)
		if err != nil {
			return page, err
		}
		// An account that was never synced to its end has none.
		if r == nil {
			continue
		}
		row := r.Row()
		row.RiotID, row.Platform, row.Closed = a.RiotID, a.Platform, a.Closed
		page.Reports = append(page.Reports, row)
	}
	return page, nil
}

// listSchedules adds to each schedule what became of the job that it inserted last. Collections that go on follow.
func (f finder) listSchedules(ctx context.Context) (page engine.SchedulesPage, err error) {
	if f.schedules != nil {
		page.Schedules = f.schedules.List()
	}
	if err := f.collectionSchedules(ctx, &page); err != nil {
		return page, err
	}
	for i := range page.Schedules {
		row := &page.Schedules[i]
		if row.Last.Job == "" {
			continue
		}
		// A job that was pruned since has no outcome any more.
		if d, err := f.store.Detail(ctx, engine.JobQuery{ID: row.Last.Job}); err == nil {
			row.Outcome = d.Job.State.String()
		}
	}
	return page, nil
}

// collectionSchedules adds the collections that go on.
func (f finder) collectionSchedules(ctx context.Context, page *engine.SchedulesPage) error {
	if f.domain == nil {
		return nil
	}
	a, known, err := f.domain.Find(ctx, engine.CollectionsQuery{})
	all, is := a.(engine.CollectionsAnswer)
	if !known || !is || err != nil {
		return err
	}
	queues, err := f.store.Queues(ctx)
	for i := range all.Collections {
		row := &all.Collections[i]
		var q engine.QueueState
		if at := slices.IndexFunc(queues, func(q engine.QueueState) bool { return q.Name == engine.CollectionQueue(row.Name) }); at >= 0 {
			q = queues[at]
		}
		if s, ok := row.Schedule(q); ok {
			page.Schedules = append(page.Schedules, s)
		}
	}
	return err
}

// Open gives the accounts whose runs are under way.
func (c *Control) Open() []engine.AccountRow { return c.hub.Open() }

// alertRows is the hub's view of the alerts; nil when nobody evaluates any.
func (c *Control) alertRows() func() []engine.AlertRow {
	if c.opt.Alerts == nil {
		return nil
	}
	return c.opt.Alerts.Rows
}

// firing is how many alerts fire that nobody has seen yet, for the engine's row.
func (c *Control) firing() int {
	if c.opt.Alerts == nil {
		return 0
	}
	return c.opt.Alerts.Firing()
}

// listAlerts gives rows that the caller may keep and change.
func (f finder) listAlerts() engine.AlertsAnswer {
	if f.alerts == nil {
		return engine.AlertsAnswer{}
	}
	return engine.AlertsAnswer{Alerts: slices.Clone(f.alerts.Rows()), At: f.alerts.Evaluated()}
}
