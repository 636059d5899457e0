package control

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/forecast"
	"github.com/farsight-console/farsight/engine/human"
)

// queues are the backend's, and how many discarded jobs each has kept.
func (c *Control) queues() []engine.QueueRow {
	c.mu.Lock()
	defer c.mu.Unlock()
	return withDiscards(c.opt.Backend.Queues(), c.discards)
}

// withDiscards adds to rows of queues, by name, how many discarded jobs each has kept; a queue
// without a row gets one. Rows and counts are the backend's: they are copied.
func withDiscards(rows []engine.QueueRow, discards map[engine.Queue]int) []engine.QueueRow {
	rows = slices.Clone(rows)
	for name, n := range discards {
		if n == 0 {
			continue
		}
		byName := func(q engine.QueueRow, name engine.Queue) int { return cmp.Compare(q.Name, name) }
		i, ok := slices.BinarySearchFunc(rows, name, byName)
		if !ok {
			rows = slices.Insert(rows, i, engine.QueueRow{QueueState: engine.QueueState{Name: name}})
		}
		counts := map[engine.State]int{}
		maps.Copy(counts, rows[i].Counts)
		counts[engine.Discarded] = n
		rows[i].Counts = counts
	}
	return rows
}

// engineRow composes the engine's one row. It is asked for ten times a second while somebody watches,
// so it reads nothing from disk.
func (c *Control) engineRow() (*engine.EngineRow, *engine.LimitsRow) {
	row, limits := c.reading()
	row.Traffic = c.traffic(row.Stored)
	return &row, &limits
}

// traffic is the half hour that has begun.
func (c *Control) traffic(stored int64) engine.TrafficSpan {
	if c.opt.Alerts == nil {
		return engine.TrafficSpan{}
	}
	return c.opt.Alerts.Traffic(stored)
}

// reading is that row without its traffic, and the limits that it was made from. It asks nothing of the alerts that their
// evaluation, which reads the cause, keeps to itself.
func (c *Control) reading() (engine.EngineRow, engine.LimitsRow) {
	running, workers := c.opt.Backend.Load()
	m := c.opt.Limiter.Meter()
	c.mu.Lock()
	t := c.totals
	c.mu.Unlock()
	row := engine.EngineRow{
		Demo: c.opt.Demo, Boot: c.opt.Boot, Started: c.started,
		Key: c.opt.Keys.Shown(), KeySince: c.opt.Keys.Since(),
		Workers: workers, InFlight: running,
		Accounts: t.Accounts, Stored: t.Success, Failed: t.Permanent, TooOld: t.TooOld,
		Waiting: t.Waiting(),
		Alerts:  c.firing(), LogDrops: c.logDrops(),
		Meter:      m,
		OnlyServed: c.opt.Serves != nil, KeyWorked: c.opt.KeyWorked == nil || c.opt.KeyWorked(),
	}
	if c.opt.Term != nil {
		row.Term = c.opt.Term()
	}
	queues := c.opt.Backend.Queues()
	row.Retrying = retrying(queues)
	row.SinceStart = time.Since(c.started) < time.Minute
	limits := c.opt.Limiter.Rows()
	row.State, row.Why = c.stateOf(queues, &limits)
	row.Pace = forecast.Pace(row, queues, limits)
	if row.State != engine.EngineLive {
		row.Why = row.Pace // of an outage it names the jobs that wait, too
	}
	return row, limits
}

// retrying is how many jobs of all queues wait for another try.
func retrying(queues []engine.QueueRow) (n int) {
	for i := range queues {
		n += queues[i].Retrying()
	}
	return n
}

// toDo is how many jobs of a queue have not ended, but for those that wait for others.
func toDo(q engine.QueueRow) (n int) {
	for _, s := range engine.States() {
		if s.Live() && s != engine.Pending {
			n += q.Counts[s]
		}
	}
	return n
}

// Cause is the one word of the title bar, and the sentence that all surfaces tell beside it.
func (c *Control) Cause() (engine.EngineState, string) {
	row, _ := c.reading()
	return row.State, row.Pace
}

// State is the one word of the title bar that a process which follows this one shows as well, and why.
func (c *Control) State() (engine.EngineState, string) {
	return c.stateOf(c.opt.Backend.Queues(), nil)
}

// follows reports whether another process leads, or will: what this one has no key for is then made by
// others.
func (c *Control) follows() bool { return c.opt.Term != nil && !c.opt.Term().Here }

// stateOf picks the one word of the title bar, the first that holds: what ends the process, then what keeps
// all calls from being made, from the key to the store, then what keeps some. What of that the limits tell is
// left out where limits is nil.
func (c *Control) stateOf(queues []engine.QueueRow, limits *engine.LimitsRow) (engine.EngineState, string) {
	c.mu.Lock()
	broken, stopping := c.broken, c.stopping
	c.mu.Unlock()
	switch {
	case broken != "":
		return engine.EngineBroken, broken
	case stopping:
		return engine.EngineStopping, "letting the calls in flight finish"
	}
	state, trouble := c.opt.Limiter.Health()
	halted := c.opt.Backend.Halted()
	switch {
	case c.opt.Keys.Shown() == "" && !c.follows():
		return engine.EngineNoKey, "there is no API key yet: give one in a console, or by `farsight key set`"
	case state == engine.EngineNoKey || state == engine.EngineDegraded:
		return state, trouble
	case halted != "":
		until := "there is room"
		if strings.HasPrefix(halted, engine.StoreShut) {
			until = "it takes writes"
		}
		return engine.EnginePaused, halted + "; work goes on by itself when " + until
	case state != engine.EngineLive:
		return state, trouble
	}
	if why := c.opt.Backend.Reading(); why != "" {
		return engine.EngineOpening, why
	}
	if limits != nil && len(limits.Holds) > 0 {
		return engine.EngineHeld, limits.Holds[0].Why
	}
	// A paused queue that is empty holds nothing up: what has work decides.
	paused, open := 0, 0
	var last engine.QueueState // of those that hold work
	for _, q := range queues {
		if n := toDo(q); q.Paused {
			if paused += n; n > 0 && q.Since.After(last.Since) {
				last = q.QueueState
			}
		} else {
			open += n
		}
	}
	if paused > 0 && open == 0 {
		return engine.EnginePaused, "every queue with work is paused" + human.If(last.Reason != "", ": "+last.Reason)
	}
	if limits != nil {
		for _, b := range limits.Buckets {
			if b.Waiting > 0 && b.Method == "" && b.Frozen() {
				return engine.EngineHeld, b.Freeze(limits.At)
			}
		}
	}
	return engine.EngineLive, ""
}

// maxDays is how many stored days one answer gives at most.
const maxDays = 400

// metrics puts together the window, the stored days and the queues as they are now.
func (f finder) metrics(ctx context.Context, q engine.MetricsQuery) (m engine.Metrics, err error) {
	if q.Days < 0 || q.Days > maxDays {
		return m, engine.Problemf(engine.ErrInvalid, "ask for at most 400", "metrics of %d days make no sense", q.Days)
	}
	now := time.Now()
	m = engine.Metrics{Kind: q.Kind, Since: now, Until: now, Statuses: map[string]int{}}
	if f.alerts != nil {
		if m, err = f.alerts.Metrics(q.Kind, q.Window); err != nil {
			return m, err
		}
	}
	if !q.Traffic {
		m.Traffic = nil
	}
	if q.Kind != "" { // days and queues are of all kinds
		return m, nil
	}
	// Days are stored and outlive the engine; the window is in the memory of this process.
	if m.Days, err = f.store.Days(ctx, q.Days, now); err != nil {
		return m, err
	}
	_, queues, _, err := f.live.status(ctx)
	if err != nil {
		return m, err
	}
	// As they are now: nobody keeps how long the queues were during the window.
	m.Waiting = map[engine.Queue]int{}
	for _, row := range queues {
		// One that waits for children has had its turn.
		m.Waiting[row.Name] = row.Counts[engine.Available] + row.Counts[engine.Scheduled] + row.Counts[engine.Retryable]
	}
	return m, nil
}
