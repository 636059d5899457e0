package control

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/forecast"
	"github.com/farsight-console/farsight/engine/hub"
	"github.com/farsight-console/farsight/engine/operation"
)

// idle is a backend of which only the queues and its health are asked.
type idle struct {
	Backend
	queues  []engine.QueueRow
	reading string
}

func (b idle) Queues() []engine.QueueRow     { return b.queues }
func (idle) Halted() string                  { return "" }
func (b idle) Reading() string               { return b.reading }
func (idle) Held(engine.Job) (h engine.Held) { return h }

// hosted is a limiter whose hosts have a pace each, in seconds a call; one without is
// not learnt.
type hosted struct {
	Limiter
	pace  map[string]time.Duration
	rows  []engine.BucketRow
	holds []engine.LimitHold
	state engine.EngineState
}

func (hosted) Meter() (m engine.Meter)   { return m }
func (l hosted) Held(string) engine.Held { return engine.Held{} }

func (l hosted) Outlook(host string) forecast.Limits {
	if l.pace[host] == 0 {
		return even{}
	}
	return even{l.pace[host], "app:" + host}
}

// even are limits that let one call through after the other; without a bucket they are not
// known.
type even struct {
	pace   time.Duration
	bucket string
}

func (e even) After(_ string, n int) forecast.Wait {
	return forecast.Wait{Wait: time.Duration(n) * e.pace, Bucket: e.bucket, Known: e.bucket != ""}
}
func (e even) Turn(method string, n int) forecast.Wait        { return e.After(method, n) }
func (e even) By(_ string, in time.Duration, most int) int    { return min(most, int(in/max(e.pace, 1))) }
func (e even) Rate(string) (perSecond float64, bucket string) { return 1 / e.pace.Seconds(), e.bucket }

func (l hosted) Rows() engine.LimitsRow { return engine.LimitsRow{Buckets: l.rows, Holds: l.holds} }
func (l hosted) Health() (engine.EngineState, string) {
	if l.state == "" {
		return engine.EngineLive, ""
	}
	return l.state, "the key is refused"
}

type knownKey struct{ Keys }

func (knownKey) Shown() string { return "…7f3a" }

// planned are schedules that only are listed.
type planned struct {
	operation.Schedules
	rows []engine.ScheduleRow
}

func (p planned) List() []engine.ScheduleRow { return p.rows }

// foreseen are the calls of schedules by name.
type foreseen map[string][]engine.Load

func (f foreseen) Forecast(_ context.Context, schedule string, _ time.Time) ([]engine.Load, error) {
	if schedule == "broken" {
		return nil, errors.New("no")
	}
	return f[schedule], nil
}

const (
	full   engine.Queue = "full"
	latest engine.Queue = "latest"
)

func calls(host string, q engine.Queue, owner string, n float64) engine.Load {
	return engine.Load{Host: host, Queue: q, Owner: owner, Priority: engine.PriorityHigh, Calls: n}
}

func late(l engine.Load) engine.Load { l.Priority = engine.PriorityLow; return l }

// told writes delays shortly.
func told(all []engine.Delay) string {
	var parts []string
	for _, d := range all {
		name := d.Schedule
		if name == "" {
			name = d.RiotID
		}
		parts = append(parts, name+" "+d.By.String())
	}
	return strings.Join(parts, ", ")
}

// One call a second in europe. The run is due in ten minutes.
func TestI2_DelaysInMinutes(t *testing.T) {
	hourly := map[string]time.Duration{"latest": 10 * time.Minute}
	open := func(id string, matches int) engine.AccountRow {
		row := open(id, "europe", matches, false)
		row.Queue, row.RiotID = full, id
		return row
	}
	frozen := engine.BucketRow{Host: "europe", Kind: "app", BlockedBy: "frozen"}
	thaws := time.Date(2000, 1, 1, 0, 5, 0, 0, time.UTC) // five minutes after a bubble begins
	until := engine.BucketRow{Host: "europe", Kind: "app", BlockedBy: "frozen", Blocked: thaws, Thaws: thaws}
	cases := []struct {
		name    string
		loads   []engine.Load
		plans   map[string]time.Duration // schedules, and when they are due
		paused  bool                     // they are
		calls   foreseen
		open    []engine.AccountRow
		queues  []engine.QueueRow
		rows    []engine.BucketRow
		state   engine.EngineState
		still   bool // no engine runs
		want    string
		unknown string
	}{
		{name: "queues take turns, so the run waits for as many calls as it makes itself",
			loads: []engine.Load{calls("europe", full, "a", 889)}, plans: hourly, calls: foreseen{"latest": {calls("europe", latest, "b", 120)}}, want: "latest 2m0s"},
		{name: "what is left of the command is less than the run makes",
			loads: []engine.Load{calls("europe", full, "a", 660)}, plans: hourly, calls: foreseen{"latest": {calls("europe", latest, "b", 120)}}, want: "latest 1m0s"},
		{name: "the command is done when the run comes",
			loads: []engine.Load{calls("europe", full, "a", 600)}, plans: hourly, calls: foreseen{"latest": {calls("europe", latest, "b", 120)}}},
		{name: "timelines go last: those of the run wait for all matches of the command",
			loads: []engine.Load{calls("europe", full, "a", 900)}, plans: hourly, calls: foreseen{"latest": {late(calls("europe", latest, "b", 10))}}, want: "latest 5m0s"},
		{name: "timelines go last: those of the command hold up no match",
			loads: []engine.Load{late(calls("europe", full, "a", 900))}, plans: hourly, calls: foreseen{"latest": {calls("europe", latest, "b", 10)}}},
		{name: "another host shares no limit",
			loads: []engine.Load{calls("europe", full, "a", 889)}, plans: hourly, calls: foreseen{"latest": {calls("asia", latest, "b", 120)}}},
		{name: "a schedule that makes no calls waits for none",
			loads: []engine.Load{calls("europe", full, "a", 889)}, plans: map[string]time.Duration{"sweep": time.Minute}},
		{name: "a paused schedule is not run",
			loads: []engine.Load{calls("europe", full, "a", 889)}, plans: hourly, paused: true, calls: foreseen{"latest": {calls("europe", latest, "b", 120)}}},
		{name: "jobs of a paused queue do not wait for the limit",
			loads: []engine.Load{calls("europe", full, "a", 889)}, plans: hourly, calls: foreseen{"latest": {calls("europe", latest, "b", 120)}},
			queues: []engine.QueueRow{{QueueState: engine.QueueState{Name: latest, Paused: true}}, {QueueState: engine.QueueState{Name: full}}}},
		{name: "a sync at work shares its queue owner by owner",
			loads: []engine.Load{calls("europe", full, "a", 889)}, open: []engine.AccountRow{open("ben", 60)}, want: "ben 1m0s"},
		{name: "what is promised already makes the command last into the run",
			loads: []engine.Load{calls("europe", full, "a", 400)}, plans: hourly, open: []engine.AccountRow{open("ben", 400)},
			calls: foreseen{"latest": {calls("europe", latest, "b", 120)}}, want: "latest 2m0s, ben 6m40s"},
		{name: "what stands in line and belongs to no sync counts, too",
			loads: []engine.Load{calls("europe", full, "a", 400)}, plans: hourly, rows: []engine.BucketRow{{Host: "europe", Kind: "app", Waiting: 400}},
			calls: foreseen{"latest": {calls("europe", latest, "b", 30)}}, want: "latest 1m0s"},
		{name: "a frozen host goes on later",
			loads: []engine.Load{calls("europe", full, "a", 400)}, plans: hourly, rows: []engine.BucketRow{until},
			calls: foreseen{"latest": {calls("europe", latest, "b", 60)}}, want: "latest 1m0s"},
		{name: "the account that is synced now is looked at by the run in vain",
			loads: []engine.Load{calls("europe", full, "a", 889)}, plans: hourly, calls: foreseen{"latest": {calls("europe", latest, "a", 120)}}},
		{name: "limits are not learnt", loads: []engine.Load{calls("sea", full, "a", 889)}, plans: hourly, unknown: "the limits of sea are told by its first answer"},
		{name: "frozen without an end", loads: []engine.Load{calls("europe", full, "a", 889)}, rows: []engine.BucketRow{frozen}, unknown: "europe is frozen until somebody resumes it"},
		{name: "one host is known", loads: []engine.Load{calls("europe", full, "a", 889), calls("sea", full, "c", 1)}, plans: hourly,
			calls: foreseen{"latest": {calls("europe", latest, "b", 60)}}, want: "latest 1m0s", unknown: "the limits of sea are told by its first answer"},
		{name: "its own queue is paused", loads: []engine.Load{calls("europe", full, "a", 889)}, plans: hourly,
			queues: []engine.QueueRow{{QueueState: engine.QueueState{Name: full, Paused: true}}, {}}, unknown: "queue full is paused, and its calls wait until it is resumed"},
		{name: "the key is refused", loads: []engine.Load{calls("europe", full, "a", 889)}, state: engine.EngineNoKey, unknown: "the key is refused"},
		{name: "nobody runs", loads: []engine.Load{calls("europe", full, "a", 889)}, still: true, unknown: "no engine runs on this directory"},
		{name: "the forecast fails", loads: []engine.Load{calls("europe", full, "a", 889)}, plans: map[string]time.Duration{"broken": time.Minute}, unknown: "the calls of schedule broken could not be foreseen"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := hub.New(hub.Options{})
				publish(h, tc.open)
				c := &Control{hub: h, finder: finder{lane: noLane}, runs: !tc.still, opt: Options{
					Backend: idle{queues: tc.queues}, Keys: knownKey{}, Forecast: tc.calls,
					Limiter: hosted{pace: map[string]time.Duration{"europe": time.Second, "asia": time.Second}, rows: tc.rows, state: tc.state},
				}}
				var plans planned
				for name, in := range tc.plans {
					at := time.Now().Add(in)
					plans.rows = append(plans.rows, engine.ScheduleRow{Name: name, Next: []time.Time{at, at.Add(time.Hour)}, Paused: tc.paused})
				}
				c.schedules = plans
				cost := engine.Cost{Loads: tc.loads}
				c.addDelays(t.Context(), &cost, true)
				if got := told(cost.Delays); got != tc.want || cost.Unknown != tc.unknown {
					t.Errorf("delays %q, unknown %q; want %q, %q", got, cost.Unknown, tc.want, tc.unknown)
				}
			})
		})
	}
}
