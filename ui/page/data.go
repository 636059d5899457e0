package page

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
)

// Data is what pages draw from: rows as Watch delivered them, in screen order.
// Nothing in it is changed once it is shared: new rows make new slices, so a
// copy of the struct is a frozen view.
type Data struct {
	Seq     uint64    // version of the database
	Version uint64    // counts the updates: rows of the same version are the same
	At      time.Time // of the last update
	Ready   bool      // the first snapshot has come
	// Platform is that of accounts that are named without one; "" = it has to be said.
	Platform string
	Lost     time.Time // since when Watch yields nothing more; zero = connected

	Engine   engine.EngineRow
	Queues   []engine.QueueRow
	Accounts []engine.AccountRow // see SortAccounts
	Jobs     []engine.JobRow     // live ones: running, waiting retries; see SortJobs
	JobAt    map[engine.JobID]int
	Limits   engine.LimitsRow
	Calls    []engine.CallRow // oldest first
	Alerts   []engine.AlertRow
	Logs     []engine.LogRow // the newest ones, oldest first
	Restarts uint64          // counts the snapshots: what was asked before one may be stale
}

// Job finds a live job.
func (d *Data) Job(id engine.JobID) (engine.JobRow, bool) {
	i, ok := d.JobAt[id]
	if !ok {
		return engine.JobRow{}, false
	}
	return d.Jobs[i], true
}

// Account finds an account.
func (d *Data) Account(id string) (engine.AccountRow, bool) {
	i := slices.IndexFunc(d.Accounts, func(a engine.AccountRow) bool { return a.ID == id })
	if i < 0 {
		return engine.AccountRow{}, false
	}
	return d.Accounts[i], true
}

// Whose is the Riot ID of the account that a job works for, its id where no more is known here. A job for a player of
// a collection is the collection's; one that works for nobody is told by its queue.
func (d *Data) Whose(j *engine.JobRow) string {
	a, _ := d.Account(j.Owner)
	if collection, ok := engine.CollectionOf(j.Queue); ok {
		return cmp.Or(a.RiotID, collection)
	}
	_, queue, _ := strings.Cut(string(j.Queue), ".")
	return cmp.Or(j.Player, a.RiotID, j.Owner, queue)
}

// Queue finds a queue.
func (d *Data) Queue(name engine.Queue) (engine.QueueRow, bool) {
	i := slices.IndexFunc(d.Queues, func(q engine.QueueRow) bool { return q.Name == name })
	if i < 0 {
		return engine.QueueRow{}, false
	}
	return d.Queues[i], true
}

// Known is how many accounts there are, listed or not.
func (d *Data) Known() int { return max(len(d.Accounts), int(d.Engine.Accounts)) }

// Syncing lists the accounts with an open run.
func (d *Data) Syncing() []engine.AccountRow {
	n := slices.IndexFunc(d.Accounts, func(a engine.AccountRow) bool { return !a.Status.Open() })
	if n < 0 {
		n = len(d.Accounts)
	}
	return d.Accounts[:n]
}

// Retries lists the jobs that wait for their next try, the next one first.
func (d *Data) Retries() []engine.JobRow { return d.InState(engine.Retryable) }

// TryingAgain lists the jobs that are tried again: those whose instant has come and that wait
// in line since, then those that wait for it.
func (d *Data) TryingAgain() []engine.JobRow {
	again := slices.DeleteFunc(slices.Clone(d.InState(engine.Available)), func(j engine.JobRow) bool { return !j.InLineAgain() })
	if len(again) == 0 {
		return d.Retries()
	}
	slices.SortFunc(again, func(a, b engine.JobRow) int { return a.Due.Compare(b.Due) })
	return append(again, d.Retries()...)
}

// Running lists the jobs that workers have in hand, the longest first.
func (d *Data) Running() []engine.JobRow { return d.InState(engine.Running) }

// InState is the stretch of Jobs in one state: SortJobs keeps them together.
func (d *Data) InState(s engine.State) []engine.JobRow {
	from := func(rank int) int {
		return sort.Search(len(d.Jobs), func(i int) bool { return columns.StateRank(d.Jobs[i].State) >= rank })
	}
	rank := columns.StateRank(s)
	return d.Jobs[from(rank):from(rank+1)]
}

// SortAccounts puts accounts in screen order: those at work in the order they
// started, which does not change while they are; then failures, then the rest
// by name.
func SortAccounts(rows []engine.AccountRow) { SortRows(rows, compareAccounts) }

func compareAccounts(a, b *engine.AccountRow) int {
	if d := cmp.Compare(columns.SyncRank(a.Status), columns.SyncRank(b.Status)); d != 0 {
		return d
	}
	if a.Status.Open() {
		if d := a.Triggered.Compare(b.Triggered); d != 0 {
			return d
		}
	}
	return cmp.Or(cmp.Compare(a.RiotID, b.RiotID), cmp.Compare(a.ID, b.ID))
}

// SortJobs puts jobs in screen order.
func SortJobs(rows []engine.JobRow) {
	SortRows(rows, compareJobs)
	keepPlaces(rows)
}

// Leaving puts jobs that wait into the order in which they leave. A retry that has no room at its instant leaves later
// than that, and none goes before the end of a hold that has come since the engine was asked.
func (v *View) Leaving(rows []engine.JobRow) {
	v.Hold(rows)
	SortRows(rows, func(a, b *engine.JobRow) int {
		return cmp.Or(columns.ZeroLast(GoesAt(a), GoesAt(b)), compareTurns(a, b))
	})
	keepPlaces(rows)
}

// compareTurns orders jobs that go at the same instant, or at none that is known: retries, those in line by whom they give
// way to and by their places, those too far back to have one, and those that wait for others.
func compareTurns(a, b *engine.JobRow) int {
	rank := func(j *engine.JobRow) int {
		switch {
		case j.State == engine.Pending:
			return 3
		case j.State == engine.Available && j.Place == 0:
			return 2
		}
		return Btoi(j.State == engine.Available)
	}
	gives := func(j *engine.JobRow) engine.Priority { return cmp.Or(j.Priority, engine.PriorityNormal) }
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(gives(a), gives(b)), cmp.Compare(a.Place, b.Place), cmp.Compare(a.Line, b.Line), cmp.Compare(a.ID, b.ID))
}

// TakeTurns lets the lines of the jobs that leave in the second which a frame stands for take turns, the same one first
// each time: a row is then of one line from second to second. rows are in the order in which they leave.
func (v *View) TakeTurns(rows []*engine.JobRow) {
	turns, of := map[*engine.JobRow]int{}, map[string]int{}
	for _, j := range rows {
		if at := GoesAt(j); at.IsZero() || at.Sub(v.Beat()) >= time.Second {
			break
		}
		of[j.Line]++
		turns[j] = of[j.Line]
	}
	slices.SortStableFunc(rows[:len(turns)], func(a, b *engine.JobRow) int {
		return cmp.Or(cmp.Compare(turns[a], turns[b]), strings.Compare(a.Line, b.Line))
	})
}

// Hold moves jobs in line behind the end of a hold that is on their calls.
func (v *View) Hold(rows []engine.JobRow) {
	held := map[string]time.Time{}
	for i := range rows {
		j := &rows[i]
		if j.State != engine.Available || j.Line == "" || j.Until.IsZero() {
			continue
		}
		until, known := held[j.Line]
		if !known {
			b, _ := v.HeldBy(j.Line)
			until = b.Blocked
			held[j.Line] = until
		}
		j.Until = engine.Latest(j.Until, until)
	}
}

// keepPlaces puts the jobs of each line into the order of their places, where the line's jobs
// stand: their instants are estimates of different moments, by which neighbours would trade
// places each second.
func keepPlaces(rows []engine.JobRow) {
	lines := map[string][]int{}
	for i := range rows {
		if j := &rows[i]; j.Line != "" && j.Stand == "" {
			lines[j.Line] = append(lines[j.Line], i)
		}
	}
	for _, at := range lines {
		if slices.IsSortedFunc(at, func(a, b int) int { return compareTurns(&rows[a], &rows[b]) }) {
			continue
		}
		jobs := make([]engine.JobRow, len(at))
		for n, i := range at {
			jobs[n] = rows[i]
		}
		SortRows(jobs, compareTurns)
		for n, i := range at {
			rows[i] = jobs[n]
		}
	}
}

func compareJobs(a, b *engine.JobRow) int {
	if a.State != b.State {
		return cmp.Compare(columns.StateRank(a.State), columns.StateRank(b.State))
	}
	return cmp.Or(compareTime(a, b), compareTurns(a, b))
}

func compareTime(a, b *engine.JobRow) int {
	switch a.State {
	case engine.Running:
		return a.Started.Compare(b.Started)
	case engine.Retryable, engine.Scheduled, engine.Available: // places are of different lines
		return columns.ZeroLast(columns.NextAt(a), columns.NextAt(b))
	case engine.Discarded, engine.Cancelled, engine.Completed:
		return b.Finished.Compare(a.Finished)
	}
	return 0
}

// SortRows sorts through pointers: a row is hundreds of bytes, which a sort would
// copy at each of its comparisons.
func SortRows[T any](rows []T, compare func(a, b *T) int) {
	at := make([]*T, len(rows))
	for i := range rows {
		at[i] = &rows[i]
	}
	slices.SortFunc(at, compare)
	sorted := make([]T, len(rows))
	for i := range at {
		sorted[i] = *at[i]
	}
	copy(rows, sorted)
}

// SyncWord is how an account stands, as screens write it: an open run that something
// keeps from going on does not sync.
func (d *Data) SyncWord(a engine.AccountRow) string {
	if a.Status.Open() && a.Stand != "" {
		return string(a.Stand)
	}
	if a.Incomplete() {
		return "INCOMPLETE"
	}
	return syncWords[a.Status]
}

// shut is when the host that sets the pace lets calls through again, and how many it then
// brings; ok is false while something may be sent, or will be within a second, and while
// nobody knows when.
func (d *Data) shut(now time.Time) (until time.Time, calls int, ok bool) {
	pacing, _ := d.Limits.Pacing("")
	for _, h := range d.Limits.Hosts {
		if h.Host == pacing.Host && h.Brings > 0 && h.Opens.Sub(now) > time.Second {
			return h.Opens, h.Brings, true
		}
	}
	return time.Time{}, 0, false
}

// NextCalls is the countdown to the next window and what it brings, for the title;
// "" while calls may be sent.
func (v *View) NextCalls() string {
	until, calls, ok := v.shut(v.Now)
	if !ok || v.Engine.State == engine.EngineBrowse {
		return ""
	}
	return human.Counted(calls, "call", "calls") + " in " + v.In(until)
}

// GoesAt is when a job goes: of a retry when there is room, of one in line its turn. Behind
// an outage nobody knows: only one job goes when it is looked whether it is over.
func GoesAt(j *engine.JobRow) time.Time {
	if j.Asked() {
		return time.Time{}
	}
	if (j.State == engine.Retryable || j.State == engine.Scheduled) && j.LateBy != "" {
		return j.Starts
	}
	return columns.NextAt(j)
}

// LaneOf is where a call in a line goes: of "full europe/match-v5.match" europe and match-v5.match.
func LaneOf(line string) (host, method string) {
	_, lane, _ := strings.Cut(line, " ")
	host, method, _ = strings.Cut(strings.TrimSuffix(lane, "+"), "/")
	return host, method
}

// HeldBy is the bucket whose hold after a 429 or 503 is the last to end of those on the calls of a line, such as
// "full europe/match-v5.match"; false = none is on them, or an operator's.
func (v *View) HeldBy(line string) (last engine.BucketRow, held bool) {
	host, method := LaneOf(line)
	for _, b := range v.Limits.Buckets {
		if b.Host == host && (b.Method == "" || b.Method == method) && b.Blocked.After(v.Now) && b.Blocked.After(last.Blocked) && !b.Frozen() {
			last, held = b, true
		}
	}
	return last, held
}
