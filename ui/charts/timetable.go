package charts

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// Timetable is what was called in the last minute and what will be in the next ones, all
// on one axis: the calls of a host by cell and by window of the limit that paces it, and
// on lanes below whose they are. What is not known is not in it.
type Timetable struct {
	TimeAxis
	since   time.Time            // what was before is not known; zero = all is
	Plan    *engine.HostForecast // nil = nothing is foreseen
	Host    string
	Limit   int           // calls that a window takes
	Span    time.Duration // of a window
	marked  int           // rows of the chart beside which numbers stand; 0 = there are none
	made    []float64     // calls of each cell; NaN = not known
	Planned []float64
	Windows []stripe
	Lanes   []AccountLane
	rest    []AccountLane // accounts that do nothing now: they take the lanes that are free
	Left    int           // calls that wait
	All     int           // with those of other hosts
	Leave   int           // of all, those of hosts that do not stand still
	Ends    time.Time     // when the last of them goes; zero = not known
	failed  []bool        // cells with a call that went wrong
	due     []time.Time
	late    int  // retries that start later than they are due
	stuck   int  // and those of which nobody knows when
	listing bool // of some syncs nobody knows yet how many calls they will make
	// The same of those whose matches are on the host of the plan.
	HostEnds    time.Time
	HostListing bool
	about       time.Time // when all is done if lists that are not read yet are as long as those that are; zero = nobody knows
	Runs        []Run
}

// stripe is one window of the limit.
type stripe struct {
	Begin, end    time.Time
	made, planned int
	now, hit      bool // the present one; one in which a 429 came
}

// AccountLane is the work of one account. Done is when it ends, or has ended.
type AccountLane struct {
	id, Name      string
	made, planned []float64 // by cell; nil = none are known
	Done          time.Time
	Over          bool   // it has ended
	Still         bool   // it makes no call until somebody acts, or something is over
	matches, Left int    // it has; calls it still makes
	why           string // why nobody knows when it is done
}

// Run is a scheduled run to come.
type Run struct {
	Name string
	At   time.Time
}

// NewTimetable puts together what the rows and the forecast know. If there are several hosts it is
// the timetable of the one with the most calls planned.
func NewTimetable(v *page.View, a TimeAxis, f *page.Forecast, plans []engine.ScheduleRow) Timetable {
	t := Timetable{TimeAxis: a, Plan: f.Busiest(v)}
	if v.Size != page.S {
		t.marked = scales[v.Size].high
	}
	b, known := Pacing(v.Data, t.Plan)
	// Without a limit the title names all hosts that have windows.
	if t.Host = b.Host; known {
		t.Limit, t.Span = b.Most(), b.Window
	} else {
		t.Host = HostNames(v)
	}
	// All of the axis is known, so there is nothing to say about it.
	if t.since = RecordedSince(v.Data); t.since.Before(a.Begin()) {
		t.since = time.Time{}
	}
	t.retries(v)
	t.Planned = a.Planned(t.Plan, t.due)
	if known {
		t.Windows = t.stripes(v, b)
	}
	t.record(v.Calls)
	t.accounts(v, f)
	if t.Plan != nil {
		t.Left = t.Plan.Line + t.Plan.Retries
		gone := 0
		for _, h := range f.Plan.Hosts {
			if h.Stuck && !t.Plan.Stuck {
				t.Leave -= h.Line + h.Retries
			}
			if t.All += h.Line + h.Retries; h.Host == t.Plan.Host {
				gone = h.Line + h.Retries - t.Left
			}
		}
		t.All -= gone
		t.Leave += t.All
		t.took(gone, v.Calls, f.Plan.At)
	}
	for _, l := range t.Lanes {
		if !l.Over && l.Done.After(t.Ends) {
			t.Ends = l.Done
		}
	}
	t.Runs = RunsOf(v, plans)
	return t
}

// RunsOf are the runs to come of schedules, in order.
func RunsOf(v *page.View, plans []engine.ScheduleRow) (runs []Run) {
	for _, s := range plans {
		for _, next := range s.Next {
			if !s.Paused && next.After(v.Now) {
				runs = append(runs, Run{s.Name, next})
			}
		}
	}
	slices.SortStableFunc(runs, func(x, y Run) int { return cmp.Or(x.At.Compare(y.At), cmp.Compare(x.Name, y.Name)) })
	return runs
}

// Pacing is the limit that paces the host of a forecast; if h is nil, the limit of the host with
// the most in line. false = no limit is known.
func Pacing(d *page.Data, h *engine.HostForecast) (engine.BucketRow, bool) {
	if h != nil {
		if b, ok := d.Limits.Pacing(h.Host); ok {
			return b, true
		}
	}
	return d.Limits.Pacing("")
}

// stripes are the windows on the axis, the oldest first: those that were open, the present one,
// those that calls are planned in, and then free ones to the axis's end.
func (t *Timetable) stripes(v *page.View, b engine.BucketRow) (out []stripe) {
	for _, w := range windows(v.Past, b, t.Begin()) {
		// A window whose first calls are not known would have too small a sum.
		if !w.end.After(v.Now) && !w.begin.Before(t.since) {
			out = append(out, stripe{Begin: w.begin, end: w.end})
		}
	}
	next := v.Now
	if b.Reset.After(v.Now) {
		next = b.Reset
		out = append(out, stripe{Begin: b.Reset.Add(-b.Window), end: b.Reset, made: b.Counted(v.Now), now: true})
	}
	if t.Plan != nil {
		for _, w := range t.Plan.Windows {
			calls := w.Calls() - w.Made
			// The forecast knows the present window too, by a reset that differs a little.
			if n := len(out); n > 0 && w.End.Sub(out[n-1].end).Abs() < t.Span/2 {
				out[n-1].planned = calls
				continue
			}
			if calls > 0 && w.Begin.Before(t.Start(t.Width)) {
				out, next = append(out, stripe{Begin: w.Begin, end: w.End, planned: calls}), w.End
			}
		}
	}
	// While nobody knows when calls go on, free windows would promise too much. They follow each
	// other without a gap, though a real one only begins with its first call.
	for ; t.Plan != nil && !t.Plan.Stuck && t.holds(next); next = next.Add(t.Span) {
		out = append(out, stripe{Begin: next, end: next.Add(t.Span)})
	}
	return out
}

// record goes through the calls of the flight recorder once, the newest first. It counts the calls
// of each cell and of each past window, and notes where one went wrong. Calls of the present window
// are not counted here: the limiter's own count is better.
func (t *Timetable) record(calls []engine.CallRow) {
	t.failed, t.made = make([]bool, t.Width), t.Unknown()
	for i := max(t.At(t.since), 0); i <= t.Back && i < len(t.made); i++ {
		t.made[i] = 0
	}
	// In nanoseconds from the first cell: there are thousands of calls.
	begin, w, open, ends := t.Begin(), len(t.Windows), time.Duration(math.MaxInt64), time.Duration(0)
	from, known, zero := time.Duration(0), t.since.Sub(begin), begin.UnixNano()
	if w > 0 {
		from = min(t.Windows[0].Begin.Sub(begin), 0)
	}
	for i := len(calls) - 1; i >= 0; i-- {
		c := &calls[i]
		at := time.Duration(c.At.UnixNano() - zero)
		if at < from {
			return
		}
		cell := int(at / t.Step)
		if at >= 0 && cell < t.Width {
			t.failed[cell] = t.failed[cell] || page.FailedCall(c)
		}
		if c.Host != t.Host {
			continue
		}
		if at >= max(known, 0) && cell < t.Width {
			t.made[cell]++
		}
		// Calls and windows both go back in time, so one pass finds the window of each call.
		for at < open && w > 0 {
			w--
			open, ends = t.Windows[w].Begin.Sub(begin), t.Windows[w].end.Sub(begin)
		}
		if at >= open && at < ends {
			t.Windows[w].made += page.Btoi(!t.Windows[w].now)
			t.Windows[w].hit = t.Windows[w].hit || c.Status == 429
		}
	}
}

// accounts are the lanes: the open syncs by what is done next, then the accounts that had calls
// on the axis and have ended. Accounts that do nothing now fill the lanes that are left.
func (t *Timetable) accounts(v *page.View, f *page.Forecast) {
	at := map[string]*engine.AccountForecast{}
	for i := range f.Plan.Accounts {
		at[f.Plan.Accounts[i].Account] = &f.Plan.Accounts[i]
	}
	all := append(f.Arriving(v), v.Accounts[len(v.Syncing()):]...)
	read, unread, calls := 0, 0, 0 // lists of the host, and what those that are read ask for
	for i := range all {
		a := &all[i]
		row := at[a.ID]
		if row == nil && !a.Status.Open() {
			// Its calls are no longer on the axis.
			if a.Finished.Before(t.Begin()) {
				if len(t.rest) < mostLanes {
					t.rest = append(t.rest, AccountLane{Name: callName(v.Data, a), why: restText(v, a)})
				}
				continue
			}
			row = &engine.AccountForecast{}
		}
		l := AccountLane{id: a.ID, Name: callName(v.Data, a), matches: max(a.Matches.Total, 0), Over: !a.Status.Open(), Done: a.Finished}
		if row != nil {
			l.made, l.planned, l.Left = t.pastOf(f, row), t.steps(f.Plan.At, f.Plan.Step, row.Planned, time.Time{}), row.Calls
		}
		if !l.Over {
			if l.Done = (time.Time{}); row != nil {
				l.Done = row.Ends
			}
			l.Still, l.why = stillOf(*a) != "", cmp.Or(stillOf(*a), StageOf(v, *a))
			listing := a.Matches.Total < 0 && !l.Still
			t.listing = t.listing || listing
			if page.OneHost(v) || t.Plan != nil && a.Region == t.Plan.Host {
				t.HostEnds, t.HostListing = engine.Latest(t.HostEnds, l.Done), t.HostListing || listing
				switch {
				case l.Still:
				case listing || l.Done.IsZero(): // or it was read since the forecast was made
					unread++
				default:
					read++
					calls += (a.Matches.Total - a.Matches.Had) * (1 + page.Btoi(a.WantsTimelines))
				}
			}
		}
		t.Lanes = append(t.Lanes, l)
	}
	if p := t.Plan; p != nil && p.Limit > 0 && unread > 0 && read >= leastRead && !t.HostEnds.IsZero() {
		t.about = t.HostEnds.Add(time.Duration(float64(unread) * float64(calls) / float64(read*p.Limit) * float64(p.Window)))
	}
}

// leastRead is how many lists tell what the others may be like.
const leastRead = 4

// took takes the calls that are gone since they were foreseen from the lanes whose they were, and what is then too many from
// the first: together they still make no more than t.All.
func (t *Timetable) took(gone int, calls []engine.CallRow, since time.Time) {
	for i := len(calls) - 1; i >= 0 && gone > 0 && calls[i].At.After(since); i-- {
		for k := range t.Lanes {
			if l := &t.Lanes[k]; l.Left > 0 && l.id == calls[i].Owner && calls[i].Host == t.Plan.Host {
				l.Left, gone = l.Left-1, gone-1
				break
			}
		}
	}
	over := -t.All
	for i := range t.Lanes {
		over += t.Lanes[i].goes()
	}
	for i := range t.Lanes {
		l := &t.Lanes[i]
		n := max(min(over, gone, l.goes()), 0)
		l.Left, gone, over = l.Left-n, gone-n, over-n
	}
}

// goes is how many of its calls go on: none of one that stands still.
func (l *AccountLane) goes() int { return page.Btoi(!l.Still) * l.Left }

// restText says how an account stands that does nothing now: "synced 2 d ago · 879 matches".
func restText(v *page.View, a *engine.AccountRow) string {
	if a.LastSync.IsZero() {
		return "never synced"
	}
	return page.Joined(v, "synced "+v.Ago(a.LastSync), MatchesOf(a))
}

// pastOf are the calls that an account has made, by cell. The last step of the forecast is still
// being counted, and is as long as it has come.
func (t *Timetable) pastOf(f *page.Forecast, row *engine.AccountForecast) []float64 {
	begin := f.Plan.At.Truncate(f.Plan.Step).Add(-time.Duration(len(row.Past)-1) * f.Plan.Step)
	return t.steps(begin, f.Plan.Step, row.Past, f.Plan.At)
}

// retries notes when each retry comes, how many come later than they are due, and of how many
// nobody knows when.
func (t *Timetable) retries(v *page.View) {
	all := v.Retries()
	t.due = make([]time.Time, 0, len(all))
	for i := range all {
		at := page.GoesAt(&all[i])
		if at.IsZero() {
			t.stuck++
			continue
		}
		// One that is overdue goes now, and not in the past.
		t.due = append(t.due, engine.Latest(at, v.Now))
		t.late += page.Btoi(all[i].LateBy != "")
	}
	slices.SortFunc(t.due, time.Time.Compare)
}

// High is the top of the scale of calls, a round number: what the fullest cell has, and at least an
// even share of the limit and a quarter more, which leaves room to see when calls go faster than that.
func (t *Timetable) High() float64 {
	high := t.even() * 1.25
	for _, n := range slices.Concat(t.made, t.Planned) {
		if n > high { // NaN is not
			high = n
		}
	}
	if high == 0 {
		return 1
	}
	step := part.RoundStep(high / scaleSteps)
	high = math.Ceil(high/step-0.001) * step
	if t.marked > 0 {
		high, _, _ = EvenScale(high, t.marked)
	}
	return high
}

// EvenScale is the lowest scale of so many rows that holds a value and has a number every so
// many rows: apart of them for each step.
func EvenScale(least float64, rows int) (high, step float64, apart int) {
	for n := 2; n <= 4; n++ {
		steps := float64(rows) / float64(n)
		if s := part.RoundStep(least/steps - 0.001); high == 0 || s*steps < high {
			high, step, apart = s*steps, s, n
		}
	}
	return high, step, apart
}

// scaleSteps are those of the scale of calls, at least half as many.
const scaleSteps = 5

// even is how many calls a cell has when the limit is used evenly; 0 = it is not known.
func (t *Timetable) even() float64 {
	return human.Either(t.Span <= 0, 0, float64(t.Limit)*float64(t.Step)/float64(t.Span))
}

// Moves reports whether the picture moves on with time: it holds calls, made or planned.
func (t *Timetable) Moves() bool {
	for _, cells := range [][]float64{t.made, t.Planned} {
		for _, n := range cells {
			if n > 0 {
				return true
			}
		}
	}
	return false
}

// WideName is how many cells a lane has for its account's name.
const WideName = 14

// callName is how a lane names an account: without its tag, unless another account has the same
// name.
func callName(d *page.Data, a *engine.AccountRow) string {
	name := PlayerName(a.RiotID)
	for i := range d.Accounts {
		other := &d.Accounts[i]
		// The sign of the tag first: of hundreds of accounts hardly any has it in that place.
		if id := other.RiotID; len(id) > len(name) && id[len(name)] == '#' && strings.HasPrefix(id, name) && other.ID != a.ID {
			return a.RiotID
		}
	}
	return name
}

// HostNames are the hosts that have windows, as a title names them.
func HostNames(v *page.View) string {
	all := page.HostsOf(v)
	if len(all) <= namedHosts {
		return strings.Join(all, ", ")
	}
	return strings.Join(all[:namedHosts-1], ", ") + " and " + page.Count(len(all)-namedHosts+1) + " more"
}

// namedHosts is how many hosts a title names before it begins to count them.
const namedHosts = 3

// mostLanes is how many accounts that do nothing a timetable shows at most.
const mostLanes = 40

// Listing reports whether lists are still read, of whose calls nobody knows: the line is longer than it looks.
func (t *Timetable) Listing() bool { return t.listing }
