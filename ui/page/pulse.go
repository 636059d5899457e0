package page

import (
	"cmp"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// How often figures move that change with each call: nobody can read a number that
// changes ten times a second, and each row that changes costs a terminal fifty
// bytes and more, whatever changes in it.
const (
	pulseEvery = time.Second            // pace, who waits, the server's counts
	CalmEvery  = 500 * time.Millisecond // counters, progress
	fillEvery  = 200 * time.Millisecond // what is used of a window: the shortest is a second
)

// Pulse is the engine's pace as it was at most a second ago; what is counted is
// as it is now.
type Pulse struct {
	at       time.Time
	boot     string
	meter    engine.Meter
	traffic  engine.TrafficSpan
	inFlight int
}

// Take gives the engine's row to show.
func (p *Pulse) Take(v *View) engine.EngineRow {
	e := v.Engine
	if age := v.Now.Sub(p.at); v.Frozen || age >= p.every(v) || age < 0 || p.boot != e.Boot || e.State != engine.EngineLive {
		*p = Pulse{v.Now, e.Boot, e.Meter, e.Traffic, e.InFlight}
		return e
	}
	if e.InFlight != p.inFlight || e.P50 != p.meter.P50 || e.CallsPerMin != p.meter.CallsPerMin {
		v.Ticks = true // there is something newer to show within the second
	}
	was := e
	e.Meter, e.Traffic, e.InFlight = p.meter, p.traffic, p.inFlight
	e.Throttled, e.Unforeseen = was.Throttled, was.Unforeseen
	if e.Traffic.At.Equal(was.Traffic.At) {
		e.Traffic.Stored = was.Traffic.Stored
	}
	return e
}

// every is how old the pace may be. When no call was made for a minute only its chart
// still moves, and that waits for the clock in the title: an idle screen is silent.
func (p *Pulse) every(v *View) time.Duration {
	idle := v.Engine.CallsPerMin == 0 && p.meter.CallsPerMin == 0
	if idle && p.inFlight == v.Engine.InFlight && p.at.Truncate(time.Minute).Equal(v.Now.Truncate(time.Minute)) {
		return time.Minute
	}
	return v.Unhurried(pulseEvery)
}

// Calm is everything as it was at most Every ago; 0 = [CalmEvery].
type Calm struct {
	Every time.Duration
	at    time.Time // it moves with the seconds of the clock, as countdowns do
	fresh bool
	data  Data
}

// Take gives the view to draw: its limits as they are, the rest each Every. What
// follows a key is shown as it comes.
func (c *Calm) Take(v *View) *View {
	if v.Frozen || v.Live == nil {
		return v
	}
	every := cmp.Or(c.Every, CalmEvery)
	c.fresh = stale(v, c.at, every) || !c.data.Ready || c.data.Restarts != v.Restarts || c.data.Engine.State != v.Engine.State
	if c.fresh {
		c.at, c.data = v.Now.Truncate(every), *v.Data
	}
	out := *v
	d := c.data
	d.Limits, d.Lost = v.Limits, v.Lost
	out.Data = &d
	out.Ticks = v.Ticks || c.data.Version != v.Version
	return &out
}

// Fresh reports whether what Take has given was taken just then.
func (c *Calm) Fresh(v *View) bool { return v.Frozen || v.Live == nil || c.fresh }

// stale reports whether what was taken at an instant is to be taken anew.
func stale(v *View, at time.Time, every time.Duration) bool {
	age := v.Now.Sub(at)
	return v.Hurry || age >= v.Unhurried(every) || age < 0
}

// Fills are the limiter's windows as they were at most a fifth of a second ago, and what is to be read of them, with
// the engine's sentence, which counts who waits for them, at most a second ago.
type Fills struct {
	at, read time.Time
	rows     engine.LimitsRow
	slow     engine.LimitsRow
	state    engine.EngineState
	pace     string
}

// Take gives the windows and the sentence to show.
func (f *Fills) Take(v *View) (engine.LimitsRow, string) {
	anew := len(f.slow.Buckets) != len(v.Limits.Buckets) || f.state != v.Engine.State || stale(v, f.read, pulseEvery)
	if !anew && !stale(v, f.at, fillEvery) {
		v.Ticks = v.Ticks || !f.rows.At.Equal(v.Limits.At)
		return f.rows, f.pace
	}
	f.at, f.rows = v.Now, v.Limits
	if anew {
		f.read, f.slow, f.state, f.pace = v.Now.Truncate(pulseEvery), v.Limits, v.Engine.State, v.Engine.Pace
		return f.rows, f.pace
	}
	v.Ticks = true
	f.rows.Waiting = f.slow.Waiting
	f.rows.Buckets = slices.Clone(v.Limits.Buckets)
	for i := range f.rows.Buckets {
		f.rows.Buckets[i] = unread(f.rows.Buckets[i], f.slow.Buckets[i])
	}
	return f.rows, f.pace
}

// unread is a window with the figures that were read a moment ago, if it stands
// as it did.
func unread(now, was engine.BucketRow) engine.BucketRow {
	if now.Host != was.Host || now.Method != was.Method || now.Kind != was.Kind || now.Window != was.Window || now.BlockedBy != was.BlockedBy {
		return now
	}
	now.Server, now.ServerAt, now.Foreign, now.InFlight, now.Waiting = was.Server, was.ServerAt, was.Foreign, was.InFlight, was.Waiting
	if now.NextFree.IsZero() == was.NextFree.IsZero() {
		now.NextFree = was.NextFree
	}
	return now
}
