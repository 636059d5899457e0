package page

import (
	"math"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
)

// Forecast is what the engine says of the calls to come.
type Forecast struct {
	Answer
	version uint64 // of the rows when it was asked for
	ahead   time.Duration
	Plan    engine.Forecast
	ends    map[string]time.Time // what Arriving sorts by
	Last    string               // the account that it found to be done last; "" = none
}

// foreseeEvery is how long a forecast holds: the charts move by a cell of two seconds and
// more.
const foreseeEvery = 2 * time.Second

// Want is the question when it is due. It is of instants: as long as nothing has moved the
// last answer holds.
func (f *Forecast) Want(v *View, ahead time.Duration) engine.Query {
	age := v.Now.Sub(f.Answer.At)
	switch {
	case f.Pending, !v.Ready, v.Frozen && f.Have, v.Engine.State == engine.EngineBrowse:
		return nil
	case ahead > f.ahead || v.Acts != f.Acts: // the end of the work, or what follows a turn, has not been asked for
	case f.Have && age >= 0 && age < v.Unhurried(foreseeEvery):
		return nil
	case f.Have && f.version == v.Version:
		return nil
	}
	f.Pending, f.Answer.At, f.version, f.Acts, f.ahead = true, v.Now, v.Version, v.Acts, ahead
	return engine.ForecastQuery{Ahead: ahead}
}

// Got takes the answer; false when it is another question's.
func (f *Forecast) Got(v *View, q engine.Query, a engine.Answer, err error) bool {
	return Receive[engine.ForecastQuery](&f.Answer, v, q, a, err, &f.Plan)
}

// Busiest is the host that sets the pace, which the engine's sentence and the title tell of, or where nothing is to come there that
// with the most calls to come; of a live engine one that goes on if any does. Calls made since it was foreseen are left out: the plan
// then goes with the limits of the same frame. Nil when nothing is foreseen of any, or only of another time than the view's.
func (f *Forecast) Busiest(v *View) *engine.HostForecast {
	var most *engine.HostForecast
	if age := v.Now.Sub(f.Plan.At); age < -foreseeEvery || v.Frozen && age > time.Minute {
		return nil
	}
	over := len(v.Queues) > 0 && LiveJobs(v, "") == 0 // what was foreseen has been done since
	paces, _ := v.Limits.Pacing("")
	goes := v.Engine.State == engine.EngineLive || v.Engine.State == engine.EngineDegraded
	rank := func(h *engine.HostForecast) int {
		switch n := h.Line + h.Retries; {
		case over:
			return Btoi(h.Host == paces.Host)
		case goes && (h.Stuck || n == 0):
			return n - math.MaxInt + Btoi(n == 0 && h.Host == paces.Host) // where nothing is to come the window that is told of stays
		case h.Host == paces.Host && (n > 0 || v.Engine.State == engine.EnginePaused): // one that stands is told of where it stood
			return math.MaxInt
		default:
			return n
		}
	}
	for i := range f.Plan.Hosts {
		if h := &f.Plan.Hosts[i]; most == nil || rank(h) > rank(most) {
			most = h
		}
	}
	if most != nil && over {
		return &engine.HostForecast{Host: most.Host, Limit: most.Limit, Window: most.Window}
	}
	if most != nil {
		if b, ok := v.Limits.Pacing(most.Host); ok {
			return sinceMade(*most, b, v.Now)
		}
	}
	return most
}

// sinceMade is a plan by what its window b counts by now: calls that were planned and have been made are
// planned no more, those of windows that are over included.
func sinceMade(h engine.HostForecast, b engine.BucketRow, now time.Time) *engine.HostForecast {
	gone := func(w *engine.PlannedWindow, n int) {
		line := min(n, w.Line)
		again := min(n-line, w.Retries)
		w.Line, h.Line, w.Retries, h.Retries = w.Line-line, h.Line-line, w.Retries-again, h.Retries-again
	}
	h.Windows = slices.Clone(h.Windows)
	for len(h.Windows) > 1 && !h.Windows[0].End.After(now) {
		gone(&h.Windows[0], h.Limit)
		h.Windows = h.Windows[1:]
	}
	if len(h.Windows) > 0 && b.Reset.Sub(h.Windows[0].End).Abs() < h.Window/2 {
		w := &h.Windows[0]
		made := b.Counted(now)
		gone(w, max(made-w.Made, w.Calls()-w.Made-(h.Limit-made)))
		w.Made = made
	}
	return &h
}

// EndOf is when the sync of an account is done at the latest; zero = nobody knows.
func (f *Forecast) EndOf(account string) time.Time { return f.of(account).Ends }

// CallsOf is how many calls the sync of an account still makes; 0 = nobody knows.
func (f *Forecast) CallsOf(account string) int { return f.of(account).Calls }

// NextOf is about when the next call of an account is made; zero = nobody knows, or not in the next minutes.
func (f *Forecast) NextOf(account string) time.Time {
	for i, calls := range f.of(account).Planned {
		if calls > 0 {
			return f.Plan.At.Add(time.Duration(i) * f.Plan.Step)
		}
	}
	return time.Time{}
}

func (f *Forecast) of(account string) (none engine.AccountForecast) {
	for i := range f.Plan.Accounts {
		if f.Plan.Accounts[i].Account == account {
			return f.Plan.Accounts[i]
		}
	}
	return none
}

// Ends is when the last call that is foreseen is made; zero = nobody knows.
func (f *Forecast) Ends() (last time.Time) {
	for i := range f.Plan.Accounts {
		if at := f.Plan.Accounts[i].Ends; at.After(last) {
			last = at
		}
	}
	return last
}

// newestAt is the place of the sync that began last, where it is not done before those behind it.
const newestAt = 2

// ByEnd are the open syncs by what is done next; what nobody knows the end of comes last, in the
// order in which it began.
func (f *Forecast) ByEnd(v *View) []engine.AccountRow {
	all := slices.Clone(v.Syncing())
	// Ends are estimates: those within ten seconds of each other do not trade places, and what an end was sorted by
	// holds until it has moved by as much.
	const near = 10 * time.Second
	ends := make(map[string]time.Time, len(all))
	for i := range all {
		ends[all[i].ID] = f.ends[all[i].ID] // what stands while nobody knows a newer one, as in a pause
	}
	for i := range f.Plan.Accounts {
		if a := &f.Plan.Accounts[i]; !a.Ends.IsZero() && a.Ends.Sub(ends[a.Account]).Abs() >= near {
			ends[a.Account] = a.Ends.Truncate(near)
		}
	}
	f.ends = ends
	slices.SortStableFunc(all, func(a, b engine.AccountRow) int { return columns.ZeroLast(ends[a.ID], ends[b.ID]) })
	if f.Last = ""; len(all) > 0 {
		f.Last = all[len(all)-1].ID
	}
	return all
}

// Arriving are the same where only the first are shown: the one that began last is always among three of
// them, as somebody has just asked for it.
func (f *Forecast) Arriving(v *View) []engine.AccountRow {
	all := f.ByEnd(v)
	if len(all) == 0 {
		return nil
	}
	newest := v.Syncing()[len(all)-1].ID // they come in the order in which they began
	if at := slices.IndexFunc(all, func(a engine.AccountRow) bool { return a.ID == newest }); at > newestAt {
		row := all[at]
		all = slices.Insert(slices.Delete(all, at, at+1), newestAt, row)
	}
	return all
}

// FarAhead is how far ahead windows are asked for: as far as the longest axis shows.
const FarAhead = 10 * time.Minute
