package uitest

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/filter"
)

// Fake is a scripted engine.Console. Its fields are set before use; Push and
// Did may be called at any time.
type Fake struct {
	Scene  Scene
	Answer func(engine.Command) (engine.Receipt, error) // nil = every command is carried out
	Broken error                                        // what Find answers instead, if not nil
	Page   int                                          // how many jobs one answer has at most; 0 = as many as were asked for

	mu     sync.Mutex
	did    []engine.Command
	asked  []engine.Query
	pushed chan engine.Update
	once   sync.Once
}

// New makes a console that shows a scene.
func New(s Scene) *Fake { return &Fake{Scene: s} }

func (f *Fake) feed() chan engine.Update {
	f.once.Do(func() { f.pushed = make(chan engine.Update, 64) })
	return f.pushed
}

// Watch yields the scene's snapshot and then what is pushed, until ctx ends. Several readers share what is
// pushed: each update goes to one of them.
func (f *Fake) Watch(ctx context.Context) iter.Seq[engine.Update] {
	return func(yield func(engine.Update) bool) {
		if !yield(f.Scene.Update) {
			return
		}
		for {
			select {
			case <-ctx.Done():
				return
			case u := <-f.feed():
				if !yield(u) {
					return
				}
			}
		}
	}
}

// Push hands an update to the next reader.
func (f *Fake) Push(u engine.Update) { f.feed() <- u }

// Do records the command and answers it.
func (f *Fake) Do(_ context.Context, c engine.Command) (engine.Receipt, error) {
	f.mu.Lock()
	f.did = append(f.did, c)
	f.mu.Unlock()
	if f.Answer != nil {
		return f.Answer(c)
	}
	// A bulk command is tried first: the console shows the number before it asks.
	if c.DryRun && c.Select != nil {
		return engine.Receipt{Matched: len(c.Select.IDs), Select: c.Select, Text: fmt.Sprintf("would %s %d jobs: about %[2]d calls", c.Op, len(c.Select.IDs))}, nil
	}
	return engine.Receipt{Seq: f.Scene.Update.Seq + 1, Job: c.Job, Matched: 1, Applied: 1, Text: string(c.Op) + " accepted"}, nil
}

// Did lists the commands in the order they came.
func (f *Fake) Did() []engine.Command {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]engine.Command(nil), f.did...)
}

// Asked lists the queries in the order they came.
func (f *Fake) Asked() []engine.Query {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]engine.Query(nil), f.asked...)
}

// Find answers from the scene.
func (f *Fake) Find(_ context.Context, q engine.Query) (engine.Answer, error) {
	f.mu.Lock()
	f.asked = append(f.asked, q)
	f.mu.Unlock()
	if f.Broken != nil {
		return nil, f.Broken
	}
	switch q := q.(type) {
	case engine.JobQuery:
		return f.job(q)
	case engine.JobsQuery:
		return f.jobs(q)
	case engine.ReasonsQuery:
		return f.reasons(q), nil
	case engine.AccountQuery:
		return f.account(q.ID)
	case engine.AccountsQuery:
		return engine.AccountsPage{Accounts: f.Scene.Update.Accounts, Total: len(f.Scene.Update.Accounts)}, nil
	case engine.MatchesQuery:
		return f.matches(q), nil
	case engine.SchedulesQuery:
		return engine.SchedulesPage{Schedules: f.Scene.Plans}, nil
	case engine.MembersQuery:
		return f.members()
	case engine.LimitsQuery:
		l := *f.Scene.Update.Limits
		l.Cause = f.Scene.Update.Engine.Cause()
		return l, nil
	case engine.CollectionsQuery:
		return f.collected(q)
	case engine.CostQuery:
		return f.Scene.Cost, nil
	case engine.ForecastQuery:
		return f.forecast(q), nil
	}
	if a, ok := f.past(q); ok {
		return a, nil
	}
	return f.find(q)
}

// members answers as an engine on a directory does where the scene has none.
func (f *Fake) members() (engine.Answer, error) {
	if len(f.Scene.Members.Members) == 0 {
		return nil, engine.NoMembers()
	}
	return f.Scene.Members, nil
}

// job is the scene's own detail of a job, else one that is made of its row.
func (f *Fake) job(q engine.JobQuery) (engine.Answer, error) {
	for _, j := range f.Scene.Jobs {
		if q.Key != "" && j.Key == q.Key {
			q.ID = j.ID
		}
	}
	if d, ok := f.Scene.Details[q.ID]; ok {
		return d, nil
	}
	for _, j := range f.Scene.Jobs {
		if j.ID == q.ID {
			return engine.JobDetail{Job: j, MaxAttempts: 5, Policy: engine.DefaultPolicies()[engine.PolicyMatch]}, nil
		}
	}
	return nil, engine.Problemf(engine.ErrNotFound, "", "there is no job %s", q.ID)
}

// jobs is a page of those that fit. A page is cut before it is filtered, as an engine does it: one of which
// little fits says how many rows it looked at.
func (f *Fake) jobs(q engine.JobsQuery) (engine.Answer, error) {
	fits, err := filter.Parse(q.Filter, columns.Jobs.Schema)
	if err != nil {
		return nil, engine.Problemf(engine.ErrInvalid, "", "filter: %v", err)
	}
	page := engine.JobsPage{Total: len(f.Scene.Jobs)}
	all := f.Scene.Jobs
	if q.Soonest {
		all = live(all)
		slices.SortStableFunc(all, columns.WhoGoesNext)
	}
	if f.Page > 0 {
		q.Limit = min(cmp.Or(q.Limit, f.Page), f.Page)
	}
	rows, next := pageOf(all, q.Page)
	for _, j := range rows {
		if (q.Queue == "" || j.Queue == q.Queue) && (len(q.States) == 0 || slices.Contains(q.States, j.State)) && fits.Match(&j, Noon) &&
			(q.Class == "" || f.inClass(j, q.Class)) &&
			(q.Reason == "" || j.ReasonShape() == q.Reason) {
			page.Jobs = append(page.Jobs, j)
		}
	}
	if page.Next = next; q.Sifts() {
		page.Looked = len(rows)
	}
	return page, nil
}

// inClass reports whether a job is of an error class of the scene, which calls its method by
// what it fetches.
func (f *Fake) inClass(j engine.JobRow, named engine.Class) bool {
	kind := strings.TrimSuffix(string(j.Kind), ".fetch")
	return slices.ContainsFunc(f.Scene.Classes.Classes, func(r engine.ClassRow) bool {
		return r.Fits(named) && r.Class == j.Class && r.Shape == engine.Shape(j.LastError) && strings.HasSuffix(r.Method, kind)
	})
}

// pageOf is one page of what is stored, as it stands: the cursor is a place, 500.
func pageOf[T any](all []T, p engine.Page) (rows []T, next string) {
	from, _ := strconv.Atoi(p.After)
	if rows = all[min(from, len(all)):]; p.Limit > 0 && len(rows) > p.Limit {
		return rows[:p.Limit], strconv.Itoa(from + p.Limit)
	}
	return rows, ""
}

// reasons are why the jobs of one page wait, grouped.
func (f *Fake) reasons(q engine.ReasonsQuery) (a engine.ReasonsAnswer) {
	rows, next := pageOf(f.Scene.Jobs, q.Page)
	var groups engine.Reasons
	for _, j := range rows {
		if row, ok := engine.ReasonOf(j); ok && (q.Queue == "" || j.Queue == q.Queue) {
			groups.Add(row)
		}
	}
	return engine.ReasonsAnswer{Reasons: groups.Rows(), Next: next, Looked: len(rows)}
}

// matches leaves those out that could not be had, and counts them, unless asked.
func (f *Fake) matches(q engine.MatchesQuery) engine.MatchesPage {
	var page engine.MatchesPage
	var fit []engine.MatchRow
	for _, m := range f.Scene.Matches {
		if m.Status == "permanently_unfetchable" && !q.All {
			page.Hidden++
			continue
		}
		fit = append(fit, m)
	}
	page.Matches, page.Next = pageOf(fit, q.Page)
	return page
}

// account is the scene's own detail of an account, else one that is made of its row.
func (f *Fake) account(id string) (engine.Answer, error) {
	for _, a := range f.Scene.Update.Accounts {
		if a.RiotID == id {
			id = a.ID
		}
	}
	if d, ok := f.Scene.Accounts[id]; ok {
		return d, nil
	}
	if a, ok := f.row(id); ok {
		d := engine.AccountDetail{Row: a}
		if a.Run != "" || a.Job != "" {
			d.Runs = runs(a)
		}
		if a.Matches.Stored > 0 {
			tried(&d)
		}
		return d, nil
	}
	return nil, engine.Problemf(engine.ErrNotFound, "", "there is no account %s", id)
}
