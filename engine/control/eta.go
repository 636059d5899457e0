package control

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/forecast"
)

// Endpoints that nearly all calls of a sync go to.
const (
	paceMethod     = "match-v5.match"
	timelineMethod = "match-v5.timeline"
	listMethod     = "match-v5.ids"
)

// eta says when an account's run ends (I-3): when the last of its calls has gone, with
// all that go before it, at the pace of the tightest limit; and not before the last of
// its retries is due. While the run stands still it says why instead.
func (c *Control) eta(a engine.AccountRow) engine.ETA { return c.ends(a, true) }

// groupEnds is when the children of a sync's job are settled that it waits for; zero =
// nobody knows.
func (c *Control) groupEnds(j engine.Job) time.Time {
	for _, a := range c.hub.Open() {
		if a.Job != j.ID {
			continue
		}
		if e := c.ends(a, a.Phase == engine.PhaseTimelines); e.Known {
			return time.Now().Add(e.Low)
		}
	}
	return time.Time{}
}

// ends is when a run's matches are settled, or its timelines with them.
func (c *Control) ends(a engine.AccountRow, timelines bool) engine.ETA {
	if !a.Status.Open() {
		return engine.ETA{}
	}
	queues, rows := c.opt.Backend.Queues(), c.opt.Limiter.Rows().Buckets
	h := c.stands(a, queues, rows)
	switch {
	case a.Matches.Total < 0: // nobody knows yet how many calls there will be
		return engine.ETA{Why: h.Reason, Stand: h.Stand}
	case h.Reason != "" && h.Until.IsZero():
		return engine.ETA{Calls: forecast.CallsLeft(a), Why: h.Reason, Stand: h.Stand}
	}
	e := forecast.ETA(c.opt.Limiter.Outlook(a.Region), paceMethod, c.callsUntil(a, timelines, queues, rows))
	e.Calls, e.Stand = forecast.CallsLeft(a), h.Stand
	wait := time.Until(c.hub.LastDue(a.ID))
	if wait > e.Low {
		e.Low, e.Why = wait, "its last retry is due then"
	}
	if wait > e.High {
		e.High, e.Bucket = wait, ""
	}
	return e
}

// stands says why an open run makes no progress; the zero answer = it does. Until is
// named only where its end can be foreseen with it.
func (c *Control) stands(a engine.AccountRow, queues []engine.QueueRow, rows []engine.BucketRow) engine.Held {
	for _, q := range queues {
		if q.Name == a.Queue && q.Paused {
			return engine.Held{Reason: pausedBy(q), Stand: engine.StandPaused}
		}
	}
	// An outage is of one endpoint: others' syncs go on.
	if state, why := c.state(queues); state != engine.EngineLive && state != engine.EngineAPIDown {
		return engine.Held{Reason: why, Stand: standOf(state)}
	}
	lanes := c.lanesOf(a)
	for i, lane := range lanes {
		h := c.opt.Limiter.Held(lane)
		switch h.Until = (time.Time{}); {
		case h.Reason == "":
			continue
		case i > 0: // what it does now goes on
			h.Stand = ""
		}
		return h
	}
	frozen := slices.DeleteFunc(slices.Clone(rows), func(b engine.BucketRow) bool { return !frozenHere(b, lanes) })
	if len(frozen) == 0 {
		return engine.Held{}
	}
	worst := frozen[0]
	if i := slices.IndexFunc(frozen, func(b engine.BucketRow) bool { return b.Thaws.IsZero() }); i >= 0 {
		worst = frozen[i]
	}
	return engine.Held{Reason: frozenWords(worst), Until: worst.Thaws, Stand: engine.StandHeld}
}

// stand notes with accounts what keeps their runs from going on.
func (c *Control) stand(accounts []engine.AccountRow) {
	if !slices.ContainsFunc(accounts, func(a engine.AccountRow) bool { return a.Status.Open() }) {
		return
	}
	queues, rows := c.opt.Backend.Queues(), c.opt.Limiter.Rows().Buckets
	for i := range accounts {
		if a := &accounts[i]; a.Status.Open() {
			a.Stand = c.stands(*a, queues, rows).Stand
		}
	}
}

// frozenWords say that an operator has stopped a host, and for how long if nobody knows.
func frozenWords(b engine.BucketRow) string {
	if b.Thaws.IsZero() {
		return b.Host + " is frozen until somebody resumes it"
	}
	return b.Host + " is frozen"
}

// heldUp is the word for an engine with work for a host that an operator has stopped.
func heldUp(rows []engine.BucketRow) (engine.EngineState, string) {
	for _, b := range rows {
		if b.Waiting > 0 && frozenHere(b, []string{b.Host + "/"}) {
			return engine.EngineHeld, frozenWords(b)
		}
	}
	return engine.EngineLive, ""
}

// lanesOf are the endpoints that a run calls from where it stands on, as host/method.
func (c *Control) lanesOf(a engine.AccountRow) []string {
	if a.Phase == engine.PhaseResolve {
		return c.resolves(a)
	}
	lanes := methodsOf(a)
	for i, m := range lanes {
		lanes[i] = a.Region + "/" + m
	}
	return lanes
}

// resolves is where the player of a run is looked for, as its job knows: accounts are
// not on the host of matches everywhere. It is none while nobody waits for an answer.
func (c *Control) resolves(a engine.AccountRow) []string {
	d, err := c.store.Detail(context.Background(), engine.JobQuery{ID: a.Job})
	if err != nil || d.Job.State == engine.Running {
		return nil
	}
	if lane := c.lane(d.Job.Job); lane != "" {
		return []string{lane}
	}
	return nil
}

// methodsOf are the endpoints that a run with a known player calls from where it stands on.
func methodsOf(a engine.AccountRow) []string {
	switch {
	case a.Phase == engine.PhaseList:
		return []string{listMethod}
	case !a.WantsTimelines && a.Timelines.Open == 0:
		return []string{paceMethod}
	case a.Matches.Open == 0 && a.Timelines.Open > 0:
		return []string{timelineMethod}
	}
	return []string{paceMethod, timelineMethod}
}

// standOf is the word for what the whole engine waits for.
func standOf(s engine.EngineState) engine.Stand {
	if s == engine.EnginePaused {
		return engine.StandPaused
	}
	return engine.StandHeld
}

func pausedBy(q engine.QueueRow) string {
	if q.By.User == "" {
		return "queue paused"
	}
	return "queue paused by " + q.By.User
}

// frozenForGood reports whether an operator has stopped a host without saying until when.
func frozenForGood(rows []engine.BucketRow, host string) bool {
	return slices.ContainsFunc(rows, func(b engine.BucketRow) bool { return frozenHere(b, []string{host + "/"}) && b.Thaws.IsZero() })
}

// frozenHere reports whether an operator has stopped one of the lanes, or its host.
func frozenHere(b engine.BucketRow, lanes []string) bool {
	if b.BlockedBy != "frozen" {
		return false
	}
	return slices.ContainsFunc(lanes, func(lane string) bool {
		host, method, _ := strings.Cut(lane, "/")
		return b.Host == host && (b.Method == "" || b.Method == method)
	})
}

// callsUntil is how many calls its host makes until a run has made its last, or the last
// of its matches.
func (c *Control) callsUntil(a engine.AccountRow, timelines bool, queues []engine.QueueRow, rows []engine.BucketRow) int {
	open := c.served(c.hub.Open())
	mine := slices.IndexFunc(open, func(o engine.AccountRow) bool { return o.ID == a.ID })
	if mine < 0 {
		open, mine = append(open, a), len(open)
	}
	shares := forecast.InLine(a.Region, open, queues, rows, 0)
	for i := range shares {
		if shares[i].Priority == engine.PriorityLow && !timelines {
			shares[i].Of = -1
		}
	}
	ends := forecast.Turns(shares, 1, len(open))
	return int(ends[mine].Seconds() + 0.5)
}

// served are those of the open syncs that the engine works on.
func (c *Control) served(open []engine.AccountRow) []engine.AccountRow {
	if c.opt.Serves == nil {
		return open
	}
	return slices.DeleteFunc(open, func(a engine.AccountRow) bool { return !c.opt.Serves(a.Job) })
}
