package control

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/forecast"
)

// Bounds of a look at what is delayed.
const (
	leastDelay = time.Second // less is not told
	mostDelays = 20
)

// delaying is one look at what a command delays.
//
// What a command delays is a difference: the turns of all that waits are worked out twice, with its
// calls and without them. What ends later by less than [leastDelay] is not told.
type delaying struct {
	c      *Control
	plan   *forecast.Plan
	runs   []engine.ScheduleRow // that are planned
	open   []engine.AccountRow
	paused map[engine.Queue]bool
	synced map[string]bool         // accounts that the command itself syncs
	found  map[string]engine.Delay // by schedule or account
	ends   engine.ETA              // of the command's last call
	last   string                  // the host that it goes to; "" = nobody knows
}

// addDelays says in a cost when its calls are done beside all others, which scheduled runs
// and which syncs at work will end later for it, and by how much, by the tightest limit
// that they share (I-2). What cannot be known is
// told as unknown, with the reason. syncs says that the calls are those of syncs: what
// is planned for the same accounts then waits for them on purpose.
func (c *Control) addDelays(ctx context.Context, cost *engine.Cost, syncs bool) {
	if cost == nil || len(cost.Loads) == 0 {
		return
	}
	p := c.plan()
	if cost.Unknown = c.standstill(p.Queues); cost.Unknown != "" {
		return
	}
	d := delaying{
		c: c, plan: p,
		paused: map[engine.Queue]bool{}, synced: map[string]bool{}, found: map[string]engine.Delay{},
	}
	// A load without an owner, such as a bulk retry's, is nobody's sync: it delays all of them.
	for _, l := range cost.Loads {
		d.synced[l.Owner] = syncs && l.Owner != ""
	}
	for _, q := range p.Queues {
		d.paused[q.Name] = q.Paused
	}
	if c.schedules != nil {
		d.runs = c.schedules.List()
	}
	d.open = slices.DeleteFunc(slices.Clone(p.Open), func(a engine.AccountRow) bool { return d.synced[a.ID] })
	hosts := map[string][]engine.Load{}
	for _, l := range cost.Loads {
		hosts[l.Host] = append(hosts[l.Host], l)
	}
	// In the order of their names, so that the same question has the same answer.
	for _, host := range slices.Sorted(maps.Keys(hosts)) {
		why := d.host(ctx, host, hosts[host])
		cost.Unknown = cmp.Or(cost.Unknown, why)
	}
	if d.ends.Known {
		cost.Takes, cost.Bucket = d.ends.Low, d.ends.Bucket
	}
	if calls := int(sumOf(hosts[d.last]) + 0.5); d.last != "" {
		cost.Calendar = p.Beside(d.last, calls, cost.Takes)
	}
	cost.Delays = d.list()
}

// standstill says why nobody can foresee when the next call is made; "" = it can be.
func (c *Control) standstill(queues []engine.QueueRow) string {
	c.mu.Lock()
	runs := c.runs
	c.mu.Unlock()
	if !runs {
		return "no engine runs on this directory"
	}
	if state, why := c.stateOf(queues, nil); state != engine.EngineLive {
		return why
	}
	return ""
}

// host looks at one host's calls. The answer says why what they delay is unknown. Of a host that will
// not open by itself, or whose limits nobody knows, no number would be true.
func (d *delaying) host(ctx context.Context, host string, loads []engine.Load) (unknown string) {
	h := hostCalls{host: host, limits: d.c.outlook(host), method: mostCalled(loads)}
	h.pace, h.bucket = h.limits.Rate(h.method)
	switch {
	case slices.ContainsFunc(d.plan.Buckets, func(b engine.BucketRow) bool {
		return b.Host == host && b.Method == "" && b.StaysFrozen()
	}):
		return host + " is frozen until somebody resumes it"
	case h.bucket == "":
		return "the limits of " + host + " are told by its first answer"
	}
	for _, l := range loads {
		if d.paused[l.Queue] {
			return "queue " + string(l.Queue) + " is paused, and its calls wait until it is resumed"
		}
	}
	h.begin = d.begins(host)
	h.mine = forecast.Shares(forecast.Merged(loads), -1, h.begin)
	h.others = d.plan.InLine(host, d.open, h.begin)
	d.end(h)
	rows := make([]engine.Delay, len(d.open))
	for i, a := range d.open {
		rows[i] = engine.Delay{Account: a.ID, RiotID: a.RiotID, Bucket: h.bucket}
	}
	d.note(h, h.others, rows)
	for _, p := range d.runs {
		why := d.run(ctx, p, h)
		unknown = cmp.Or(unknown, why)
	}
	return unknown
}

// hostCalls is what goes to one host: the command's own calls and those that wait there already.
type hostCalls struct {
	host   string
	limits forecast.Limits
	method string        // that most of the command's calls are of, such as match-v5.match
	pace   float64       // calls a second that the limits let go
	bucket string        // the limit that sets the pace
	begin  time.Duration // until the first of them goes: how long the host is held

	mine, others []forecast.Share
}

// ends is when the last of the command's calls goes, with all of the others that go before it.
func (h hostCalls) ends() time.Duration {
	return forecast.Turns(append(forecast.Counting(h.mine, 0), forecast.Counting(h.others, -1)...), h.pace, 1)[0]
}

// end notes when a host's part of the command is done, if it is the last so far.
func (d *delaying) end(h hostCalls) {
	e := forecast.ETA(h.limits, h.method, int((h.ends()-h.begin).Seconds()*h.pace+0.5))
	if e.Low >= d.ends.Low {
		d.ends, d.last = e, h.host
	}
}

// sumOf is how many calls there are in all.
func sumOf(loads []engine.Load) (sum float64) {
	for _, l := range loads {
		sum += l.Calls
	}
	return sum
}

// mostCalled is the method that most of the calls are of. Its limit paces the host for the command;
// without any call it is that of matches.
func mostCalled(loads []engine.Load) (method string) {
	sums := map[string]float64{}
	for _, l := range loads {
		if sums[l.Method] += l.Calls; sums[l.Method] > sums[method] {
			method = l.Method
		}
	}
	return cmp.Or(method, forecast.MatchMethod)
}

// run looks at the next run of one schedule, if it comes while the calls are made. A later run than the
// next one is not looked at: by then the command's calls have mostly gone.
func (d *delaying) run(ctx context.Context, p engine.ScheduleRow, h hostCalls) (unknown string) {
	if p.Paused || len(p.Next) == 0 || d.c.opt.Forecast == nil {
		return ""
	}
	at := p.Next[0].Sub(d.plan.Now)
	if at < 0 || at >= h.ends() {
		return ""
	}
	loads, err := d.c.opt.Forecast.Forecast(ctx, p.Name, p.Next[0])
	if err != nil {
		return "the calls of schedule " + p.Name + " could not be foreseen"
	}
	// What the run would call elsewhere, or not at all while its queue is paused, takes nothing from this
	// host; for an account that the command syncs it has nothing to do.
	loads = slices.DeleteFunc(loads, func(l engine.Load) bool {
		return l.Host != h.host || d.paused[l.Queue] || d.synced[l.Owner]
	})
	others := append(forecast.Counting(h.others, -1), forecast.Shares(forecast.Merged(loads), 0, at)...)
	d.note(h, others, []engine.Delay{{Schedule: p.Name, At: p.Next[0], Bucket: h.bucket}})
	return ""
}

// note compares the ends of the others with and without the command's calls; rows are
// what the others count for.
func (d *delaying) note(h hostCalls, others []forecast.Share, rows []engine.Delay) {
	calls := make([]float64, len(rows))
	for _, s := range others {
		if s.Of >= 0 {
			calls[s.Of] += s.Calls
		}
	}
	before := forecast.Turns(others, h.pace, len(rows))
	after := forecast.Turns(append(slices.Clone(others), h.mine...), h.pace, len(rows))
	for i, row := range rows {
		if calls[i] == 0 {
			continue
		}
		name := cmp.Or(row.Schedule, row.Account)
		old := d.found[name] // of another host: the run ends when its last host does
		row.Calls, row.By = int(calls[i]+0.5)+old.Calls, max(after[i]-before[i], old.By)
		d.found[name] = row
	}
}

// begins is how long the host is held, by an operator or by Riot.
func (d *delaying) begins(host string) (wait time.Duration) {
	for _, b := range d.plan.Buckets {
		if b.Host == host && b.Kind == "app" && !b.Blocked.IsZero() {
			wait = max(wait, b.Blocked.Sub(d.plan.Now))
		}
	}
	return wait
}

// list are the delays worth telling, scheduled runs first, the longest first.
func (d *delaying) list() []engine.Delay {
	out := []engine.Delay{}
	for _, row := range d.found {
		if row.By >= leastDelay {
			row.By = row.By.Round(time.Second)
			out = append(out, row)
		}
	}
	slices.SortStableFunc(out, func(a, b engine.Delay) int {
		if (a.Schedule == "") != (b.Schedule == "") {
			return cmp.Compare(b.Schedule, a.Schedule)
		}
		return cmp.Or(cmp.Compare(b.By, a.By), cmp.Compare(a.Schedule, b.Schedule), cmp.Compare(a.Account, b.Account))
	})
	return out[:min(len(out), mostDelays)]
}
