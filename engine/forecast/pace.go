package forecast

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
)

// Pace says in one sentence why the engine is not faster than it is, from the same rows
// that consoles are shown: what holds all of it, else what holds the next calls, else that
// nothing does.
//
//	96 % of what the key allows; the 12 s window brakes
func Pace(e engine.EngineRow, queues []engine.QueueRow, limits engine.LimitsRow) string {
	switch e.State {
	case engine.EngineLive:
		if t := e.Term; t != nil && !t.Here { // what holds its calls only the leader knows
			return human.If(t.Pace != "", t.Pace+"; ") + t.String()
		}
	case engine.EngineAPIDown:
		return cmp.Or(workOf(queues).outage(limits), e.Why)
	default:
		return e.Why
	}
	w := workOf(queues)
	why, paused := w.moving(e, limits), w.stopped()
	if e.Alerts > 0 { // what fires may be that calls fail
		why = strings.TrimPrefix(why, unstuck)
	}
	if why == "" || paused == "" {
		return cmp.Or(why+paused, "nothing waits for a limit: each call goes at once")
	}
	why = strings.TrimPrefix(why, unstuck)
	if w.paused < w.ready { // where there is no room for both the last is told
		why, paused = paused, why
	}
	return why + "; " + paused
}

// unstuck begins what is told of work that waits for nothing but an instant.
const unstuck = "nothing is stuck: "

// failing says of a host with work that its last calls all failed, as it may before anything of it is taken to be
// down; "" = of none. Where nothing goes, what failed waits for its next try.
func failing(hosts []engine.LimitHost, buckets []engine.BucketRow, rests bool) string {
	for i := range hosts {
		h := &hosts[i]
		works := func(b engine.BucketRow) bool { return b.Waiting > 0 && b.Host == h.Host }
		if h.Failing > 1 && (rests || slices.ContainsFunc(buckets, works)) {
			return fmt.Sprintf("the last %d calls to %s failed (%s)", h.Failing, h.Host, h.FailedBy)
		}
	}
	return ""
}

// moving says what holds the work that goes on; "" = nothing does.
func (w work) moving(e engine.EngineRow, limits engine.LimitsRow) string {
	b := braking(limits)
	busy := e.Workers > 0 && e.InFlight >= e.Workers
	if why := failing(limits.Hosts, limits.Buckets, w.ready+w.running == 0 && w.retrying > 0); why != "" {
		return why
	}
	switch {
	case b.Waiting > 0 && !outpaced(e, limits, b):
		return brakes(e, limits, b)
	case w.ready+w.running == 0:
		return w.resting()
	case w.running == 0:
		return fmt.Sprintf("%s for a worker", human.Counted(w.ready, "job waits", "jobs wait"))
	case b.Waiting > 0: // whether all are busy changes each second
		return fmt.Sprintf("%s too few for answers of %s", human.Counted(e.Workers, "worker is", "workers are"), human.Millis(e.P50))
	case busy:
		return human.Either(e.Workers == 1, "the only worker is", fmt.Sprintf("all %d workers are", e.Workers)) + " busy" + answers(e)
	}
	return ""
}

// work is what is to be done, by what it waits for.
type work struct {
	ready, running, retrying, later int
	held                            int // of those later: by what a host answered, not by a try that failed
	paused                          int // in queues that are
	queues                          []engine.Queue
}

// workOf sums queues up. Of paused ones the waiting jobs are told apart: nothing holds them but the
// pause.
func workOf(queues []engine.QueueRow) (w work) {
	for _, q := range queues {
		if q.Paused {
			if n := q.Counts[engine.Available] + q.Counts[engine.Retryable] + q.Counts[engine.Scheduled]; n > 0 {
				w.paused += n
				w.queues = append(w.queues, q.Name)
			}
			w.running += q.Counts[engine.Running]
			continue
		}
		w.ready += q.Counts[engine.Available]
		w.running += q.Counts[engine.Running]
		w.retrying += q.Counts[engine.Retryable]
		w.later += q.Counts[engine.Scheduled]
		w.held += q.Held
	}
	return w
}

// resting says why nothing runs though the engine could.
func (w work) resting() string {
	switch {
	case w.held > 0:
		return fmt.Sprintf(unstuck+"%s until its time", human.Counted(w.held, "job is held", "jobs are held, each"))
	case w.retrying > 0:
		return fmt.Sprintf(unstuck+"%s for its next try",
			human.Counted(w.retrying, "job waits", "jobs wait, each"))
	case w.later > 0:
		return fmt.Sprintf(unstuck+"%s for its time", human.Counted(w.later, "job waits", "jobs wait, each"))
	case w.paused > 0:
		return ""
	}
	return "nothing to do: no job waits"
}

// stopped says what a pause keeps; "" = none keeps anything.
func (w work) stopped() string {
	jobs := human.Counted(w.paused, "job", "jobs")
	switch len(w.queues) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s is paused with %s", w.queues[0], jobs)
	}
	return fmt.Sprintf("%d queues are paused with %s", len(w.queues), jobs)
}

// braking is the bucket that what waits is told to wait for, of those that set the pace the first, as hosts come with the
// most in line first; none has Waiting 0. One that is shut goes before them, that with the most: nothing passes it.
func braking(limits engine.LimitsRow) (most engine.BucketRow) {
	shut := false
	for _, b := range limits.Buckets {
		switch is := b.Frozen() || b.Blocked.After(limits.At); {
		case b.Waiting == 0 || !is && (most.Waiting > 0 || !b.Paces):
		case is && !shut || b.Waiting > most.Waiting:
			most, shut = b, is
		}
	}
	return most
}

// outpaced reports whether a bucket lets more through than the workers can ask of it: it is not shut, has room for what
// they ask next, and they are too few for its rate while an answer takes so long. Workers that are all busy for a moment
// are no reason: a sentence that went by them would change each second.
func outpaced(e engine.EngineRow, limits engine.LimitsRow, b engine.BucketRow) bool {
	return !b.Frozen() && !b.Blocked.After(limits.At) && b.Used+e.Workers <= b.Most() &&
		e.P50 > 0 && float64(e.Workers)/e.P50.Seconds() < roomyShare*rateOf(&b)
}

// roomyShare is a share of what a bucket allows: an engine that makes fewer calls than that is not paced by it.
const roomyShare = 0.8

// outage tells of all endpoints that are down with jobs behind them; "" = none has any. Where those are all that is in line,
// what waits for another try waits for them too: the sum is that of the figures of both.
func (w work) outage(limits engine.LimitsRow) string {
	var all engine.BreakerRow
	var hosts []string
	for _, d := range limits.Breakers {
		if d.Waiting == 0 {
			continue
		}
		api, _, _ := strings.Cut(d.Method, ".")
		switch first := len(hosts) == 0; {
		case first:
			all.Method = d.Method
		case d.Method != all.Method: // lists, matches and timelines are matches
			all.Method = human.If(strings.HasPrefix(all.Method, api+".") && strings.HasPrefix(MatchMethod, api), MatchMethod)
		}
		if all.Waiting += d.Waiting; !slices.Contains(hosts, d.Host) {
			hosts = append(hosts, d.Host)
		}
	}
	if all.Waiting == 0 {
		return ""
	}
	if w.ready > 0 && all.Waiting >= w.ready {
		all.Waiting = w.ready + w.retrying
	}
	all.Host = human.List(hosts...)
	return strings.TrimSpace(all.Outage())
}

// brakes says what a bucket does to what waits for it.
func brakes(e engine.EngineRow, limits engine.LimitsRow, b engine.BucketRow) string {
	wait, hosts := human.Counted(b.Waiting, "call waits", "calls wait"), busyHosts(limits)
	switch {
	case b.Frozen(): // the cause comes last: a narrow screen drops what stands before it
		freeze := b.Freeze(limits.At)
		if brief, ok := engine.WithoutHost(freeze); ok && len(hosts) == 1 {
			freeze = brief
		}
		return wait + ": " + freeze
	case b.Blocked.After(limits.At):
		calls := "calls to " + b.Host
		if b.Method != "" {
			calls = engine.CallsTo(b.Host, b.Method)
		}
		return fmt.Sprintf("a %s holds %s: %s", b.BlockedBy, calls, human.Counted(b.Waiting, "waits", "wait"))
	}
	window := engine.WindowOf(b.Host, b.Method, b.Window, len(hosts) <= 1)
	if b.Cap > 0 {
		return fmt.Sprintf("an operator's cap of %d %% brakes: %s for %s", b.Cap, wait, window)
	}
	allowed := rateOf(&b) * time.Minute.Seconds()
	if len(hosts) > 1 || e.SinceStart || allowed <= 0 || e.CallsPerMin < roomyShare*allowed { // it was spent early: a low share would read as a fault
		return fmt.Sprintf(unstuck+"%s for %s", wait, window)
	}
	return fmt.Sprintf("%s of what the key allows; %s brakes", human.Percent(min(e.CallsPerMin/allowed, 1)), window)
}

// busyHosts are the hosts that calls go to, or wait for: with several, the calls of a
// minute are of no single key's limit.
func busyHosts(limits engine.LimitsRow) (out []string) {
	for _, b := range limits.Buckets {
		if b.Used+b.Waiting > 0 && !slices.Contains(out, b.Host) {
			out = append(out, b.Host)
		}
	}
	return out
}

// answers is how long an answer takes, behind a comma's worth of words; "" = not known.
func answers(e engine.EngineRow) string {
	if e.P50 <= 0 {
		return ""
	}
	return ": Riot answers in " + human.Millis(e.P50)
}
