package control

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/forecast"
)

// plan is the forecast by the limits and by what waits, as they are now. A question about a cost has it made
// anew; rows get that of foreseen.
func (c *Control) plan() *forecast.Plan {
	limits := c.opt.Limiter.Rows()
	s := forecast.State{
		Now: time.Now(), Open: c.served(c.hub.Open()), Still: forecast.Still{}, Late: map[string]bool{}, Waiting: c.waiting(),
		Queues: c.opt.Backend.Queues(), Buckets: limits.Buckets, Down: limits.Breakers, Limits: c.outlook,
	}
	for _, a := range s.Open {
		if h := c.heldBy(a, s.Queues); h.Stand != "" && h.Until.IsZero() {
			s.Still[a.ID] = h.Reason
			s.Late[a.ID] = c.opt.Limiter.Held(a.Region+"/"+forecast.MatchMethod).Reason == h.Reason &&
				c.opt.Limiter.Held(a.Region+"/"+forecast.TimelineMethod).Reason == ""
		}
	}
	return forecast.New(s)
}

// outlook is how the limits of a host stand, and the workers that make the calls.
func (c *Control) outlook(host string) forecast.Limits {
	_, workers := c.opt.Backend.Load()
	return forecast.ByWorkers(c.opt.Limiter.Outlook(host), workers, c.opt.Limiter.Meter().P50)
}

// waiting are the jobs that wait for an instant after trouble.
func (c *Control) waiting() []forecast.Waiting {
	jobs := c.hub.Waiting()
	out := make([]forecast.Waiting, len(jobs))
	for i, j := range jobs {
		host, method, _ := strings.Cut(strings.TrimSuffix(c.lane(j), "+"), "/")
		out[i] = forecast.Waiting{Job: j, Host: host, Method: method, Held: c.opt.Backend.Held(j)}
	}
	return out
}

// groupEnds is when the children of a sync's job are settled that it waits for; zero =
// nobody knows.
func (c *Control) groupEnds(j engine.Job) time.Time {
	for _, a := range c.hub.Open() {
		if a.Job != j.ID {
			continue
		}
		if e := c.endsBy(c.plan(), a, a.Phase == engine.PhaseTimelines); e.Known {
			return time.Now().Add(e.Low)
		}
	}
	return time.Time{}
}

// endsBy is when a run's matches are settled, or its timelines with them. While the run
// stands still it says why instead.
func (c *Control) endsBy(p *forecast.Plan, a engine.AccountRow, timelines bool) engine.ETA {
	if !a.Status.Open() {
		return engine.ETA{}
	}
	h := c.heldBy(a, p.Queues)
	switch {
	case a.Matches.Total < 0: // nobody knows yet how many calls there will be
		return engine.ETA{Why: h.Reason, Stand: h.Stand}
	case h.Reason != "" && h.Until.IsZero():
		return engine.ETA{Calls: forecast.CallsLeft(a), Why: h.Reason, Stand: h.Stand}
	}
	e := p.ETA(a, timelines)
	e.Stand = h.Stand
	return e
}

// heldBy says why an open run makes no progress; the zero answer = it does. Until is
// named only where its end can be foreseen with it. The widest reason wins: its queue, the engine, the
// endpoints it calls, its host. An endpoint that it needs only later holds nothing yet, so that it has
// a reason and no word.
func (c *Control) heldBy(a engine.AccountRow, queues []engine.QueueRow) engine.Held {
	for _, q := range queues {
		if q.Name == a.Queue && q.Paused {
			return engine.Held{Reason: q.Pause(), Stand: engine.StandPaused}
		}
	}
	// An outage is of one endpoint: others' syncs go on.
	if state, why := c.stateOf(queues, nil); state != engine.EngineLive && state != engine.EngineAPIDown {
		return engine.Held{Reason: why, Stand: standOf(state)}
	}
	for i, lane := range c.lanesOf(a) {
		h := c.opt.Limiter.Held(lane)
		if h.Reason == "" {
			continue
		}
		if !h.Ends {
			h.Until = time.Time{}
		}
		if i > 0 { // what it does now goes on
			h.Stand = ""
		}
		return h
	}
	return engine.Held{}
}

// foresee notes with accounts when their open runs end, and what keeps them from going on. The plan is
// made only if one of them has a run under way: most pages of accounts have none.
func (c *Control) foresee(accounts []engine.AccountRow) {
	var p *forecast.Plan
	for i := range accounts {
		a := &accounts[i]
		if !a.Status.Open() {
			continue
		}
		if p == nil {
			p = c.plan()
		}
		a.ETA = c.endsBy(p, *a, true)
		a.Stand = a.ETA.Stand
	}
}

// foresight is what is told of open syncs and of jobs that wait for an instant. Consoles ask
// for it row by row, so it is worked out once a second.
type foresight struct {
	at     time.Time
	early  bool // not all stored jobs were read, which ends within moments
	etas   map[string]engine.ETA
	starts map[engine.JobID]forecast.Start
}

// foreseen gives the foresight of this second. Whoever comes while it is made waits for it instead of
// making another.
func (c *Control) foreseen() *foresight {
	c.foreseeing.Lock()
	defer c.foreseeing.Unlock()
	early := c.opt.Backend.Reading() != ""
	if now := time.Now(); c.foresight == nil || now.Sub(c.foresight.at) >= time.Second || c.foresight.early && !early {
		p := c.plan()
		c.foresight = &foresight{at: now, early: early, etas: map[string]engine.ETA{}, starts: p.Starts()}
		for _, a := range c.hub.Open() {
			c.foresight.etas[a.ID] = c.endsBy(p, a, true)
		}
	}
	return c.foresight
}

// forecast answers what is called next, and what was in the past minute.
func (c *Control) forecast(q engine.ForecastQuery) engine.Forecast {
	ahead := cmp.Or(min(q.Ahead, longestAhead), engine.ForecastPlanned*engine.ForecastStep)
	return c.plan().Answer(ahead, c.opt.Limiter.CallsBy())
}

// longestAhead bounds how far ahead windows are told.
const longestAhead = 24 * time.Hour

// lanesOf are the endpoints that a run calls from where it stands on, as host/method.
func (c *Control) lanesOf(a engine.AccountRow) []string {
	if a.Phase == engine.PhaseResolve {
		// It is none while nobody waits for an answer. Matches of sea are on sea, its accounts on asia.
		d, err := c.store.Detail(context.Background(), engine.JobQuery{ID: a.Job})
		if err != nil || d.Job.State == engine.Running {
			return nil
		}
		if lane := c.lane(d.Job.Job); lane != "" {
			return []string{lane}
		}
		return nil
	}
	lanes := methodsOf(a)
	for i, m := range lanes {
		lanes[i] = a.Region + "/" + m
	}
	return lanes
}

// methodsOf are the endpoints that a run with a known player calls from where it stands on.
func methodsOf(a engine.AccountRow) []string {
	switch {
	case a.Phase == engine.PhaseList:
		return []string{forecast.ListMethod}
	case !a.WantsTimelines && a.Timelines.Open == 0:
		return []string{forecast.MatchMethod}
	case a.Matches.Open == 0 && a.Timelines.Open > 0:
		return []string{forecast.TimelineMethod}
	}
	return []string{forecast.MatchMethod, forecast.TimelineMethod}
}

// standOf is the word for what the whole engine waits for.
func standOf(s engine.EngineState) engine.Stand {
	if s == engine.EnginePaused {
		return engine.StandPaused
	}
	return engine.StandHeld
}

// served are those of the open syncs that the engine works on.
func (c *Control) served(open []engine.AccountRow) []engine.AccountRow {
	if c.opt.Serves == nil {
		return open
	}
	return slices.DeleteFunc(open, func(a engine.AccountRow) bool { return !c.opt.Serves(a.Job) })
}
