package control

import (
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
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
		return engine.ETA{Calls: callsLeft(a), Why: h.Reason, Stand: h.Stand}
	}
	if a.Matches.Total < 0 { // nobody knows how many while its pages are listed
		return engine.ETA{}
	}
	e := c.opt.Limiter.ETA(a.Region, paceMethod, c.callsUntil(a, timelines, queues, rows))
	e.Calls, e.Stand = callsLeft(a), h.Stand
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
	methods := methodsOf(a)
	for i, m := range methods {
		h := c.opt.Limiter.Held(a.Region + "/" + m)
		switch h.Until = (time.Time{}); {
		case h.Reason == "":
			continue
		case i > 0: // what it does now goes on
			h.Stand = ""
		}
		return h
	}
	if frozenForGood(rows, a.Region, methods) {
		return engine.Held{Reason: a.Region + " is frozen until somebody resumes it", Stand: engine.StandHeld}
	}
	if i := slices.IndexFunc(rows, func(b engine.BucketRow) bool { return frozenHere(b, a.Region, methods) }); i >= 0 {
		return engine.Held{Reason: a.Region + " is frozen", Until: rows[i].Thaws, Stand: engine.StandHeld}
	}
	return engine.Held{}
}

// methodsOf are the endpoints that a run calls from where it stands on; none while it
// looks for its player.
func methodsOf(a engine.AccountRow) []string {
	switch {
	case a.Phase == engine.PhaseResolve:
		return nil
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

// frozenForGood reports whether an operator has stopped a host, or one of its methods,
// without saying until when.
func frozenForGood(rows []engine.BucketRow, host string, methods []string) bool {
	return slices.ContainsFunc(rows, func(b engine.BucketRow) bool { return frozenHere(b, host, methods) && b.Thaws.IsZero() })
}

// frozenHere reports whether an operator has stopped a host, or one of its methods.
func frozenHere(b engine.BucketRow, host string, methods []string) bool {
	return b.Host == host && (b.Method == "" || slices.Contains(methods, b.Method)) && b.BlockedBy == "frozen"
}

// callsUntil is how many calls its host makes until a run has made its last, or the last
// of its matches.
func (c *Control) callsUntil(a engine.AccountRow, timelines bool, queues []engine.QueueRow, rows []engine.BucketRow) int {
	open := c.served(c.hub.Open())
	mine := slices.IndexFunc(open, func(o engine.AccountRow) bool { return o.ID == a.ID })
	if mine < 0 {
		open, mine = append(open, a), len(open)
	}
	shares := inLine(a.Region, open, queues, rows, 0)
	for i := range shares {
		if shares[i].Priority == engine.PriorityLow && !timelines {
			shares[i].of = -1
		}
	}
	ends := turns(shares, 1, len(open))
	return int(ends[mine].Seconds() + 0.5)
}

// served are those of the open syncs that the engine works on.
func (c *Control) served(open []engine.AccountRow) []engine.AccountRow {
	if c.opt.Serves == nil {
		return open
	}
	return slices.DeleteFunc(open, func(a engine.AccountRow) bool { return !c.opt.Serves(a.Job) })
}

// inLine are the calls that a host's open syncs still make, unless their queue is
// paused, and those in its line that belong to none of them. A share counts for the
// sync with its index in open.
func inLine(host string, open []engine.AccountRow, queues []engine.QueueRow, rows []engine.BucketRow, begin time.Duration) (out []share) {
	paused := map[engine.Queue]bool{}
	for _, q := range queues {
		paused[q.Name] = q.Paused
	}
	known := 0
	for i, a := range open {
		if a.Region != host || a.Matches.Total < 0 {
			continue
		}
		known += a.Matches.Open + a.Timelines.Open
		if paused[a.Queue] {
			continue
		}
		late := lateCalls(a)
		load := engine.Load{Host: host, Queue: a.Queue, Owner: a.ID, Priority: engine.PriorityHigh, Calls: float64(callsLeft(a) - late)}
		last := load
		last.Priority, last.Calls = engine.PriorityLow, float64(late)
		out = append(out, sharesOf([]engine.Load{load, last}, i, begin)...)
	}
	for _, b := range rows {
		if b.Host != host || b.Kind != "app" {
			continue
		}
		if rest := b.Waiting - known; rest > 0 {
			out = append(out, sharesOf([]engine.Load{{Host: host, Priority: engine.PriorityHigh, Calls: float64(rest)}}, -1, begin)...)
		}
		break // all windows of a host have one line
	}
	return out
}

// callsLeft is how many calls a run still makes: one per open match and per open
// timeline, and one for each timeline that follows from an open match.
func callsLeft(a engine.AccountRow) int { return a.Matches.Open + lateCalls(a) }

// lateCalls are those of them that are of timelines: they go behind all matches.
func lateCalls(a engine.AccountRow) int {
	n := a.Timelines.Open
	if a.WantsTimelines {
		n += a.Matches.Open
	}
	return n
}
