package forecast

import (
	"strconv"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// calendar is the window of a host's limits that sets the pace, again and again from now
// on, with the calls that are dealt into it. Retries come first and what stands in line
// fills the rest, so that no window ever holds more than its limit.
//
//	app:europe 100/120s, 40 made, 150 calls in line
//	now ─ reset   60 of them
//	the next      90 of them, the rest of its room is free
//
// Retry and Line must come in this order: what was dealt is not moved again.
type calendar struct {
	engine.HostForecast
	now, reset time.Time // reset ends the present window
	opens      time.Time // nothing goes before: the host is held
	dealt      map[int]*engine.PlannedWindow
	last       int // the last window that has calls
}

// leastLate is a lateness that is told: below it a retry starts in the same second.
const leastLate = time.Second

// mostWindows bounds how far ahead calls are dealt out.
const mostWindows = 1000

// newCalendar has the calls that were made already; nil = no limit of the host is known.
func (s *State) newCalendar(host string) *calendar {
	now, rows := s.Now, s.Buckets
	var b *engine.BucketRow
	for i := range rows {
		r := &rows[i]
		frozen := r.Method != "" && r.StaysFrozen() // it sets no pace of others
		if r.Host != host || r.Limit <= 0 || r.Window <= 0 || !r.Paces && r.Kind != "app" || frozen {
			continue
		}
		if b == nil || r.Paces || !b.Paces && rateOf(r) < rateOf(b) {
			b = r
		}
	}
	if b == nil {
		return nil
	}
	c := &calendar{now: now, reset: b.Reset, opens: engine.Latest(b.Blocked, s.methodsOpen(host)), dealt: map[int]*engine.PlannedWindow{}}
	c.Host, c.Limit, c.Window = host, b.Most(), b.Window
	c.Bucket = "app:" + host + " " + strconv.Itoa(b.Limit) + "/" + strconv.Itoa(int(b.Window/time.Second)) + "s"
	if b.Method != "" {
		c.Bucket = b.Method + c.Bucket[len("app"):]
	}
	if c.Stuck = b.StaysFrozen(); c.Stuck {
		c.Why = host + " is frozen"
	}
	used := b.Counted(now)
	if !c.reset.After(now) { // nothing is counted: the window opens with the next call
		c.reset, used = now.Add(b.Window), 0
	}
	c.window(0).Made = used
	return c
}

// methodsOpen is when the first method of a host opens again, where all its calls wait for methods that a 429 or 503
// holds, or a freeze that ends; else the zero time. What is down goes at no time that is known.
func (s *State) methodsOpen(host string) (opens time.Time) {
	for i := range s.Buckets {
		r := &s.Buckets[i]
		if r.Host != host || r.Kind == "app" || r.Waiting == 0 || s.down(host, r.Method) {
			continue
		}
		if r.Blocked.IsZero() {
			return time.Time{}
		}
		if opens.IsZero() || r.Blocked.Before(opens) {
			opens = r.Blocked
		}
	}
	return opens
}

// rateOf is how many calls a second a bucket allows in the long run.
func rateOf(b *engine.BucketRow) float64 { return float64(b.Most()) / b.Window.Seconds() }

// at is the number of the window an instant falls in; 0 is the present one.
func (c *calendar) at(t time.Time) int {
	if t.Before(c.reset) {
		return 0
	}
	return 1 + int(t.Sub(c.reset)/c.Window)
}

// begins is when a window opens.
func (c *calendar) begins(n int) time.Time {
	if n == 0 {
		return c.now
	}
	return c.reset.Add(time.Duration(n-1) * c.Window)
}

// window gives a window to deal into, and makes it at its first call.
func (c *calendar) window(n int) *engine.PlannedWindow {
	w := c.dealt[n]
	if w == nil {
		w = &engine.PlannedWindow{Begin: c.begins(n), End: c.begins(n + 1)}
		c.dealt[n], c.last = w, max(c.last, n)
	}
	return w
}

// room is how many more calls a window takes.
func (c *calendar) room(n int) int {
	if w := c.dealt[n]; w != nil {
		return c.Limit - w.Calls()
	}
	return c.Limit
}

// deal lets calls go as early as the windows have room, at most so many in each. Of 250 calls with room
// for 60, 100 and 100 in the next windows, 90 go into the third.
func (c *calendar) deal(calls, each int, of func(w *engine.PlannedWindow) *int) {
	if c.Stuck {
		return
	}
	first := c.at(engine.Latest(c.opens, c.now))
	for n := first; calls > 0 && n < first+mostWindows; n++ {
		if some := min(c.room(n), calls, each); some > 0 {
			*of(c.window(n)) += some
			calls -= some
		}
	}
}

// Command deals the calls of a command evenly over the time they take.
func (c *calendar) Command(calls int, takes time.Duration) {
	first := c.at(engine.Latest(c.opens, c.now))
	windows := max(c.at(c.now.Add(takes))-first, 0) + 1
	c.deal(calls, (calls+windows-1)/windows, func(w *engine.PlannedWindow) *int { return &w.Command })
}

// Line deals calls in line into what room is left. Those of a frozen host are counted all
// the same.
func (c *calendar) Line(calls int) {
	c.HostForecast.Line += calls
	c.deal(calls, c.Limit, func(w *engine.PlannedWindow) *int { return &w.Line })
}

// paced is how many calls in line are made by the end of each step. A window has them at
// the pace at which it would be used up.
func (c *calendar) paced() (f flow) {
	n, before := 0, 0 // the window that is open, and the calls of those before it
	for i := range f {
		end := c.now.Add(time.Duration(i+1) * engine.ForecastStep)
		for ; n < c.at(end); n++ {
			before += c.line(n)
		}
		f[i] = float64(before)
		if from := engine.Latest(c.begins(n), c.opens); end.After(from) {
			share := float64(end.Sub(from)) / float64(c.begins(n+1).Sub(from))
			f[i] += min(share*float64(c.free(n)), float64(c.line(n)))
		}
	}
	return f
}

// line is how many calls in line a window has.
func (c *calendar) line(n int) int {
	if w := c.dealt[n]; w != nil {
		return w.Line
	}
	return 0
}

// free is how many calls in line a window could have.
func (c *calendar) free(n int) int { return c.room(n) + c.line(n) }

// Start is when work that waits for an instant really begins.
type Start struct {
	At     time.Time // zero = nobody knows
	LateBy string    // what makes it later than its instant; "" = it is on time
}

// Retry takes the first place at or after an instant, and not before so long from now:
// what stands in line before it takes that long.
func (c *calendar) Retry(due time.Time, line time.Duration) Start {
	c.Retries++
	if c.Stuck {
		return Start{LateBy: c.Why}
	}
	due = engine.Latest(due, c.now)
	at := engine.Latest(engine.Latest(due, c.opens), c.now.Add(line))
	n := c.at(at)
	for last := n + mostWindows; c.room(n) <= 0 && n < last; {
		n++
		at = c.begins(n)
	}
	c.window(n).Retries++
	if at.Sub(due) < leastLate {
		return Start{At: due}
	}
	return Start{At: at, LateBy: c.Bucket}
}

// Through are the windows up to the last that has calls, or that begins within a time.
func (c *calendar) Through(ahead time.Duration) []engine.PlannedWindow {
	n := min(c.at(c.now.Add(ahead)), c.last)
	out := make([]engine.PlannedWindow, 0, n+1)
	for i := range n + 1 {
		out = append(out, *c.window(i))
	}
	return out
}
