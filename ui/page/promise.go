package page

import (
	"time"

	"github.com/farsight-console/farsight/engine"
)

// budget is the application window of a host that lets the fewest calls through,
// with what is promised of it.
type budget struct {
	host   string
	bucket engine.BucketRow
	limit  int
	window time.Duration
	now    time.Time
	reset  time.Time   // when the present window ends
	taken  map[int]int // by window: calls made, jobs in line and retries
	owed   map[int]int // the same without the jobs in line
	opens  time.Time   // nothing goes before: the host is held
	stuck  bool        // it is frozen until somebody resumes it
	rows   int         // retries promised
}

// promise is when a retry can start, and what makes it late.
type promise struct {
	start time.Time     // zero = nobody knows
	late  time.Duration // after its instant
	by    string        // "" = the budget is free at its instant
}

// leastLate is a lateness that is told: below it a retry starts in the same second.
const leastLate = time.Second

// promises says of each waiting retry when it can start: a retry that comes due
// goes to the end of its account's line, accounts take turns, and the host's limit
// lets so many through.
func promises(v *View, rows []engine.JobRow) (starts map[engine.JobID]promise, hosts []*budget) {
	starts = make(map[engine.JobID]promise, len(rows))
	if len(rows) == 0 {
		return starts, nil
	}
	hosts = budgets(v)
	lines := queuedOf(v)
	for i := range rows {
		j := &rows[i]
		p := promise{start: latest(j.Due, v.Now)}
		o := lines.owners[j.Owner]
		if b := budgetOf(hosts, o.region); b != nil && callsRiot[j.Kind] {
			ahead := lines.ahead(o)
			if j.Kind == timelines { // they give way to all else
				ahead = b.bucket.Waiting
			}
			p = b.promise(p.start, min(ahead, b.bucket.Waiting))
		}
		starts[j.ID] = p
	}
	return starts, hosts
}

// timelines is the kind of the jobs that come last.
const timelines engine.Kind = "timeline.fetch"

// callsRiot are the kinds of jobs that spend a limit of Riot's.
var callsRiot = map[engine.Kind]bool{
	"account.sync": true, "account.resolve": true, "match.fetch": true, timelines: true, "rank.fetch": true,
}

// ownerLine is an account's jobs in line.
type ownerLine struct {
	region string
	jobs   int // its matches that wait
}

// queued are the accounts by id, and those with jobs in line.
type queued struct {
	owners map[string]ownerLine
	busy   []ownerLine
}

func queuedOf(v *View) queued {
	q := queued{owners: make(map[string]ownerLine, len(v.Accounts))}
	for i := range v.Accounts {
		a := &v.Accounts[i]
		o := ownerLine{region: a.Region}
		if a.Status.Open() {
			o.jobs = max(a.Matches.Open-a.Matches.Retrying, 0)
		}
		if o.jobs > 0 {
			q.busy = append(q.busy, o)
		}
		q.owners[a.ID] = o
	}
	return q
}

// ahead is what goes before the next job that joins an account's line: the
// account's own, and of each other one on the host as many, if it has them.
func (q queued) ahead(o ownerLine) (n int) {
	for _, other := range q.busy {
		if other.region == o.region {
			n += min(other.jobs, o.jobs)
		}
	}
	return n
}

// budgets are the hosts' tightest windows, in the order of the limiter's.
func budgets(v *View) []*budget {
	var out []*budget
	for _, b := range v.Limits.Buckets {
		if b.Kind != "app" || b.Limit <= 0 || b.Window <= 0 {
			continue
		}
		made := newBudget(v, b)
		old := budgetOf(out, b.Host)
		switch {
		case old == nil:
			out = append(out, made)
		case made.pace() < old.pace():
			*old = *made
		}
	}
	for _, b := range out {
		b.fill(b.bucket.Waiting)
	}
	return out
}

func newBudget(v *View, b engine.BucketRow) *budget {
	most, used, reset := b.Limit, b.Used, b.Reset
	if b.Cap > 0 {
		most = max(most*b.Cap/100, 1)
	}
	if !reset.After(v.Now) { // nothing is counted: the window opens with the next call
		reset, used = v.Now.Add(b.Window), 0
	}
	return &budget{
		host: b.Host, bucket: b, limit: most, window: b.Window, now: v.Now, reset: reset, opens: latest(b.Blocked, v.Now),
		taken: map[int]int{0: used}, owed: map[int]int{0: used}, stuck: frozen(b) && b.Thaws.IsZero(),
	}
}

func (b *budget) pace() float64 { return float64(b.limit) / b.window.Seconds() }

func budgetOf(all []*budget, host string) *budget {
	for _, b := range all {
		if b.host == host {
			return b
		}
	}
	return nil
}

// name is how a bucket is called in reasons: app:asia 100/120s.
func (b *budget) name() string {
	return "app:" + b.host + " " + count(b.bucket.Limit) + "/" + count(int(b.window/time.Second)) + "s"
}

// at is the number of the window an instant falls in; 0 is the present one.
func (b *budget) at(t time.Time) int {
	if t.Before(b.reset) {
		return 0
	}
	return 1 + int(t.Sub(b.reset)/b.window)
}

// begins is when a window opens.
func (b *budget) begins(n int) time.Time {
	if n == 0 {
		return b.now
	}
	return b.reset.Add(time.Duration(n-1) * b.window)
}

// mostWindows bounds how far ahead the jobs in line are dealt out.
const mostWindows = 1000

// fill lets so many calls go as early as the windows allow.
func (b *budget) fill(calls int) {
	first := b.at(b.opens)
	for n := first; calls > 0 && n < first+mostWindows; n++ {
		some := min(max(b.limit-b.taken[n], 0), calls)
		b.taken[n] += some
		calls -= some
	}
}

// turn is when the nth call from now may go, if calls are spread over a window.
func (b *budget) turn(n int) time.Time {
	first := b.at(b.opens)
	free := max(b.limit-b.owed[first], 0)
	if n <= free {
		return latest(b.opens, b.spread(first, float64(n)/float64(max(free, 1))))
	}
	n -= free + 1
	return b.spread(first+1+n/b.limit, float64(n%b.limit)/float64(b.limit))
}

// spread is a point of a window, 0 to 1.
func (b *budget) spread(n int, at float64) time.Time {
	from := b.begins(n)
	return from.Add(time.Duration(at * float64(b.begins(n+1).Sub(from))))
}

// promise takes the first place at or after an instant, behind so many calls.
func (b *budget) promise(due time.Time, ahead int) promise {
	b.rows++
	if b.stuck {
		return promise{by: b.host + " is frozen"}
	}
	start := latest(due, b.opens)
	if ahead > 0 {
		start = latest(start, b.turn(ahead+1))
	}
	n := b.at(start)
	for b.owed[n] >= b.limit {
		n++
		start = b.begins(n)
	}
	b.owed[n]++
	b.taken[n]++
	if start.Sub(due) < leastLate {
		return promise{start: due}
	}
	return promise{start: start, late: start.Sub(due), by: b.name()}
}

// share is how much of the window at an instant is taken or promised, 0 to 1.
func (b *budget) share(t time.Time) float64 {
	return min(float64(b.taken[b.at(t)])/float64(b.limit), 1)
}

// mostPromised is the host that most retries go to; nil when they go to none.
func mostPromised(all []*budget) *budget {
	var most *budget
	for _, b := range all {
		if b.rows > 0 && (most == nil || b.rows > most.rows) {
			most = b
		}
	}
	return most
}
