package engine

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"time"
)

// Console is the product's contract: what a screen, a command or a remote
// client can see and do. It has three methods for good. One implementation runs
// in process (engine/control), one works on a directory that no engine holds.
type Console interface {
	// Watch yields a snapshot and then merged updates until ctx ends. It never
	// makes the engine wait: a slow reader gets the newest state, not every one.
	Watch(ctx context.Context) iter.Seq[Update]
	// Do carries out one command. Errors are *Problem.
	Do(ctx context.Context, c Command) (Receipt, error)
	// Find answers a typed query from what is on disk. Errors are *Problem.
	Find(ctx context.Context, q Query) (Answer, error)
}

// Update is what changed since the last one, merged: the last row per id wins.
// A Snapshot update replaces everything.
type Update struct {
	Seq      uint64       `json:"seq"`
	Snapshot bool         `json:"snapshot,omitempty"`
	Gap      bool         `json:"gap,omitempty"` // updates were dropped for this reader; a snapshot follows
	Engine   *EngineRow   `json:"engine,omitempty"`
	Queues   []QueueRow   `json:"queues,omitzero"`
	Accounts []AccountRow `json:"accounts,omitempty"`
	Jobs     []JobRow     `json:"jobs,omitempty"` // live ones that changed: running, and the next retries
	Gone     []JobID      `json:"gone,omitempty"` // left the live set since
	Limits   *LimitsRow   `json:"limits,omitempty"`
	Calls    []CallRow    `json:"calls,omitempty"` // new in the flight recorder, oldest first
	Alerts   []AlertRow   `json:"alerts,omitzero"` // all of them, when one has changed; nil = as before
	Logs     []LogRow     `json:"logs,omitempty"`  // new in the log, oldest first
	Notes    []Note       `json:"notes,omitempty"` // for the message line
}

// JobsQuery lists jobs, newest first; answered by JobsPage.
type JobsQuery struct {
	Page
	States []State `json:"states,omitempty"` // none = all live states
	Queue  Queue   `json:"queue,omitempty"`
	Kind   Kind    `json:"kind,omitempty"`
	Owner  string  `json:"owner,omitempty"`
	Text   string  `json:"text,omitempty"`  // part of the key
	Ended  bool    `json:"ended,omitempty"` // terminal ones too, from the archive
	// Oldest lists live jobs alone, the oldest first: of very many, those that go next.
	Oldest bool `json:"oldest,omitempty"`
	// Soonest lists live jobs alone, in the order in which they go: one page, whatever else is asked
	// for. Where no engine runs that knows the order, the oldest stand for those that go next.
	Soonest bool `json:"soonest,omitempty"`
	// Filter, Class and Reason leave out what does not fit. To find what does the engine
	// looks at some of the jobs, wherever they stand, and Next says where the others begin:
	// a page may have fewer rows than asked for, or none, and not be the last.
	Filter string `json:"filter,omitempty"` // in the filter language
	Class  Class  `json:"class,omitempty"`  // "5xx", or the ID of an ErrorClass
	Reason string `json:"reason,omitempty"` // the Shape of a ReasonRow
}

// Sifts reports whether jobs have to be looked at one by one to find those that fit.
func (q JobsQuery) Sifts() bool { return q.Filter != "" || q.Class != "" || q.Reason != "" }

// JobsPage answers JobsQuery.
type JobsPage struct {
	Jobs []JobRow `json:"jobs"`
	Next string   `json:"next,omitempty"` // cursor; "" = the end
	// Total is how many live jobs fit, told with the first page; -1 = not counted.
	Total  int `json:"total"`
	Looked int `json:"looked,omitempty"` // jobs that were looked at, see JobsQuery.Sifts
}

// JobQuery asks for everything about one job; answered by JobDetail.
type JobQuery struct {
	ID  JobID  `json:"id,omitempty"`
	Key string `json:"key,omitempty"` // instead of ID: the live, else the latest, job of this key
	// External, instead of both, is the id that the other side gave to an attempt or hold
	// of the job: every one of a call, also while it is under way, of other kinds the
	// newest few thousand that have ended.
	External string `json:"external,omitempty"`
}

// JobDetail is everything the inspector shows. Job.Attempts == len(Attempts).
type JobDetail struct {
	Job         JobRow       `json:"job"`
	Attempts    []Attempt    `json:"attempts"`          // the running one last, with a zero End
	Holds       []Attempt    `json:"holds"`             // attempts that were sent back uncharged, oldest first
	Groups      []GroupStat  `json:"groups,omitempty"`  // children that it waits for, or has waited for
	Parents     []JobID      `json:"parents,omitempty"` // jobs that wait for it
	Account     string       `json:"account,omitempty"` // Riot ID of the owner, as received
	History     []Transition `json:"history,omitempty"`
	MaxAttempts int          `json:"max_attempts"` // of a round
	Policy      Policy       `json:"policy"`
	ShouldRetry bool         `json:"should_retry"`           // the engine will try it again by itself
	NextRetryAt time.Time    `json:"next_retry_at,omitzero"` // set if and only if ShouldRetry is
	Call        *CallRow     `json:"call,omitempty"`         // last one in the flight recorder
}

// AccountsQuery lists accounts; answered by AccountsPage.
type AccountsQuery struct {
	Page
	Text string `json:"text,omitempty"` // part of the Riot ID, or an account id
	Open bool   `json:"open,omitempty"` // only those whose syncs are under way
	// Filter, in the filter language, leaves out those that do not fit, as that of JobsQuery.
	Filter string `json:"filter,omitempty"`
}

// AccountsPage answers AccountsQuery.
type AccountsPage struct {
	Accounts []AccountRow `json:"accounts"`
	Next     string       `json:"next,omitempty"`
	Total    int          `json:"total"`
}

// AccountQuery asks for one account in depth; answered by AccountDetail.
type AccountQuery struct {
	ID       string `json:"id"`                 // or "Name#TAG"
	Platform string `json:"platform,omitempty"` // of a "Name#TAG"; "" = any
}

// AccountDetail is what the account screen shows besides the row.
type AccountDetail struct {
	Row      AccountRow  `json:"account"`
	Recent   []MatchRow  `json:"recent"`          // last settled, oldest first, at most 60
	Waits    []Spent     `json:"waits,omitempty"` // of the last attempts, newest first
	Runs     []RunRow    `json:"runs,omitempty"`  // the last syncs, newest first, at most 8
	ETA      ETA         `json:"eta"`
	Report   *PlayReport `json:"report,omitempty"`
	Identity []Identity  `json:"identity,omitempty"`
}

// Spent says where one attempt's time went: in line, to the limiter, on the wire, and the
// rest of the attempt for reading the answer and storing it.
type Spent struct {
	Kind    Kind          `json:"kind,omitempty"` // of its job
	End     time.Time     `json:"end,omitzero"`
	Line    time.Duration `json:"line_ns"`    // waiting in line, before the claim
	Limiter time.Duration `json:"limiter_ns"` // waiting for a permit
	HTTP    time.Duration `json:"http_ns"`    // on the wire
	Rest    time.Duration `json:"rest_ns"`
}

// Spent says where the time of an attempt at a job of a kind went.
func (a Attempt) Spent(kind Kind) Spent {
	return Spent{
		Kind: kind, End: a.End, Line: max(a.Queued-a.Paced, 0), Limiter: max(a.Paced, 0) + max(a.Limiter, 0),
		HTTP: max(a.HTTP, 0),
		Rest: max(a.End.Sub(a.Start)-max(a.Limiter, 0)-max(a.HTTP, 0), 0),
	}
}

// RunRow is one sync of an account as lists show it.
type RunRow struct {
	ID        string    `json:"run"`
	Kind      string    `json:"kind"`               // "full", "latest"
	By        string    `json:"by,omitempty"`       // who asked for it
	Triggered time.Time `json:"triggered,omitzero"` // when it was asked for
	Started   time.Time `json:"started,omitzero"`   // its first call; zero = it waited
	Finished  time.Time `json:"finished,omitzero"`  // zero = it is under way
	Result    string    `json:"result,omitempty"`   // completed, incomplete, failed, cancelled; "" = it is under way
	Error     string    `json:"error,omitempty"`
	Matches   Progress  `json:"matches"`
	Calls     int       `json:"calls"`
}

// Identity is a PUUID under one key project.
type Identity struct {
	Project string `json:"project"`
	PUUID   string `json:"puuid"`
}

// MatchesQuery lists matches, newest first; answered by MatchesPage.
type MatchesQuery struct {
	Page
	Account string `json:"account,omitempty"` // id or "Name#TAG"; "" = all, by id, the last first
	All     bool   `json:"all,omitempty"`     // also permanently_unfetchable ones (S0-8)
}

// MatchesPage answers MatchesQuery.
type MatchesPage struct {
	Matches []MatchRow `json:"matches"`
	Next    string     `json:"next,omitempty"`
	Hidden  int        `json:"hidden"` // not shown unless All
}

// PlayReport is the play-time report of an account: minutes per weekday and
// hour of day in Zone. Minutes are split at hour edges, games counted where they
// start. Row 0 is Monday.
type PlayReport struct {
	Account string         `json:"account"`
	Zone    string         `json:"zone"`
	Built   time.Time      `json:"built"`
	Minutes [7][24]float64 `json:"minutes"` // by weekday from Monday on and by hour of Zone
	Games   [7][24]int     `json:"games"`   // begun in that hour
	Matches int            `json:"matches"` // counted in it
	Missing int            `json:"missing"` // wanted, but could not be had or were cancelled
	// Cancelled is the part of Missing that an operator cancelled.
	Cancelled int         `json:"cancelled"`
	LeftOut   int         `json:"left_out"`           // stored, but without this player
	First     time.Time   `json:"first,omitzero"`     // instant of the first game
	Last      time.Time   `json:"last,omitzero"`      // instant of the last game
	ByQueue   map[int]int `json:"by_queue,omitempty"` // games by Riot's queue id
}

// CallsQuery reads the flight recorder, newest first; answered by CallsPage.
type CallsQuery struct {
	Page
	Job    JobID `json:"job,omitempty"`
	Status int   `json:"status,omitempty"` // 0 = any
}

// CallsPage answers CallsQuery.
type CallsPage struct {
	Calls []CallRow `json:"calls"`
	Next  string    `json:"next,omitempty"`
}

// LimitsQuery asks for a reading of the limiter; answered by LimitsRow.
type LimitsQuery struct{}

// StatusQuery asks for the whole in one row each; answered by StatusAnswer.
type StatusQuery struct{}

// StatusAnswer answers StatusQuery.
type StatusAnswer struct {
	Engine EngineRow    `json:"engine"`
	Queues []QueueRow   `json:"queues"`
	Open   []AccountRow `json:"syncing"`
	Next   []JobRow     `json:"next_retries"`     // the next ten; Engine.Retrying counts all
	Pacing *BucketRow   `json:"pacing,omitempty"` // see LimitsRow.Pacing
}

// CostQuery asks what a sync would cost before it is confirmed; answered by Cost.
type CostQuery struct {
	Account string  `json:"account"`
	Sync    SyncAsk `json:"sync,omitzero"`
	// Accounts are several that are synced as one act, instead of Account.
	Accounts []string `json:"accounts,omitempty"`
}

func (JobsQuery) query()     {}
func (JobQuery) query()      {}
func (AccountsQuery) query() {}
func (AccountQuery) query()  {}
func (MatchesQuery) query()  {}
func (CallsQuery) query()    {}
func (LimitsQuery) query()   {}
func (StatusQuery) query()   {}
func (CostQuery) query()     {}

// Query is one of the query types below.
type Query interface{ query() }

// Answer is the answer type that belongs to the query's type.
type Answer any

// Page asks for part of a list.
type Page struct {
	After string `json:"after,omitempty"` // cursor of the page before; "" = the first
	Limit int    `json:"limit,omitempty"` // 0 = 100, at most 500
}

// How many rows a page has where nobody says, and at the most.
const UsualPage, LargestPage = 100, 500

// Rows is how many rows the page has at most. 0 and less ask for the usual number, too many for the most.
func (p Page) Rows() int { return min(cmp.Or(max(p.Limit, 0), UsualPage), LargestPage) }

// EachAccount iterates the accounts that a query fits, over all pages; it ends with the
// first error.
func EachAccount(ctx context.Context, find func(context.Context, AccountsQuery) (AccountsPage, error),
	q AccountsQuery) iter.Seq2[AccountRow, error] {
	return func(yield func(AccountRow, error) bool) {
		for more := true; more; more = q.After != "" {
			page, err := find(ctx, q)
			if err != nil {
				yield(AccountRow{}, err)
				return
			}
			for _, row := range page.Accounts {
				if !yield(row, nil) {
					return
				}
			}
			q.After = page.Next
		}
	}
}

// Accounts iterates the accounts that a console shows, as EachAccount does.
func Accounts(ctx context.Context, c Console, q AccountsQuery) iter.Seq2[AccountRow, error] {
	return EachAccount(ctx, func(ctx context.Context, q AccountsQuery) (AccountsPage, error) { return Ask[AccountsPage](ctx, c, q) }, q)
}

// Ask puts a question to a console, for an answer of the type that stands in the query's comment:
//
//	page, err := engine.Ask[engine.JobsPage](ctx, console, engine.JobsQuery{})
//
// An answer of another type is a fault of the console, and no *Problem: nobody can do anything about it.
func Ask[T any](ctx context.Context, c Console, q Query) (answer T, err error) {
	a, err := c.Find(ctx, q)
	if err != nil {
		return answer, err
	}
	answer, ok := a.(T)
	if !ok {
		return answer, fmt.Errorf("the engine answered %T with %T", q, a)
	}
	return answer, nil
}

// Latest is the latest of some instants. The zero one is before all others.
func Latest(at time.Time, others ...time.Time) time.Time {
	for _, o := range others {
		if o.After(at) {
			at = o
		}
	}
	return at
}
