package app

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/alert"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/cron"
	"github.com/farsight-console/farsight/engine/traffic"
)

// ledLimits are the limits and the calls as the leader has stored them.
type ledLimits struct {
	*traffic.Limits
	p         *process
	told      atomic.Pointer[reading]
	alerts    *alert.Runner
	schedules *cron.Runner
	lanes     func() map[string]int // the jobs that wait or run, by lane
	row       atomic.Pointer[engine.LimitsRow]
}

// ledEvery is how often what the leader has stored is read.
const ledEvery = 2 * time.Second

// Run reads until ctx ends.
func (l *ledLimits) Run(ctx context.Context) error {
	defer l.ForeseeBy(nil)
	for ok := true; ok; ok = await.Pause(ctx, ledEvery) {
		// What cannot be read now stays as it was read last: a screen that shows ten seconds ago is
		// worth more than one that is empty.
		if led, err := traffic.Stored(ctx, l.p.store); led != nil && err == nil {
			row := led.Rows()
			l.row.Store(&row)
			for lane, jobs := range l.lanes() {
				led.Backlog(lane, jobs)
			}
			l.ForeseeBy(led)
		}
		if r, err := storedReading(ctx, l.p.store); err == nil {
			l.Hear(r.Calls)
			l.told.Store(&r)
		}
		l.alerts.Load(ctx)
		_ = l.schedules.Load(ctx) // what could not be read is read next time
	}
	return nil
}

// Rows are the buckets as the leader has stored them, for the Limits screen: this process learns only
// the limits of the calls that it makes itself, which are a part.
func (l *ledLimits) Rows() engine.LimitsRow {
	if row := l.row.Load(); row != nil {
		return *row
	}
	return engine.LimitsRow{}
}

// Health is the leader's to judge.
func (l *ledLimits) Health() (engine.EngineState, string) {
	t, r := l.p.leader(), l.told.Load()
	switch {
	case t.Leader == "":
		return engine.EngineDegraded, "nobody leads now, and no call is made until somebody does"
	case r == nil || r.Epoch != t.Epoch:
		return engine.EngineLive, ""
	}
	return r.State, r.Why
}

// Term is who leads, with what holds its calls.
func (l *ledLimits) Term() *engine.Term {
	t := l.p.leader()
	if r := l.told.Load(); r != nil && r.Epoch == t.Epoch {
		t.Pace = r.Pace
	}
	return t
}

// Meter adds up the leader's calls.
func (l *ledLimits) Meter() engine.Meter {
	m := l.Limits.Meter()
	if r := l.told.Load(); r != nil {
		m.Throttled, m.Unforeseen = r.Throttled, r.Unforeseen
	}
	return m
}

// Forensics are those of the leader.
func (l *ledLimits) Forensics(q engine.ForensicsQuery) (engine.Forensics, error) {
	if f, err := traffic.StoredForensics(context.Background(), l.p.store, q); err == nil {
		return f, nil
	}
	return l.Limits.Forensics(q)
}

// reading is what only who leads knows of how calls go, and stores for those who follow.
type reading struct {
	Epoch      int64              `json:"epoch"`
	State      engine.EngineState `json:"state"` // of those that need an eye, else LIVE
	Why        string             `json:"why"`
	Pace       string             `json:"pace,omitempty"` // why it is not faster
	Throttled  int64              `json:"throttled"`
	Unforeseen int64              `json:"unforeseen"`
	Calls      []engine.CallRow   `json:"calls"` // the newest, the oldest of them first
}

// The name under which readings are stored, and how many calls one has.
const (
	readingState = "reading"
	// A reading has so many calls, or all since three readings ago: then none is missed.
	usualCalls = 200
	freshCalls = 3 * ledEvery
)

// storedReading is the newest reading; the zero reading where nobody has led yet.
func storedReading(ctx context.Context, db traffic.Loader) (r reading, err error) {
	_, err = engine.LoadStored(ctx, db, readingState, &r)
	return r, err
}

// last is the number of the newest call in it.
func (r reading) last() uint64 {
	if len(r.Calls) == 0 {
		return 0
	}
	return r.Calls[len(r.Calls)-1].Seq
}

// storeReadings stores readings while this engine leads. What the store does not take now it takes next time.
func (p *parts) storeReadings(ctx context.Context) error {
	var stored []byte
	for ok := true; ok; ok = await.Pause(ctx, ledEvery) {
		blob, err := json.Marshal(p.reading(time.Now()))
		if err == nil && !bytes.Equal(blob, stored) && p.store.SaveState(ctx, readingState, blob) == nil {
			stored = blob
		}
	}
	return nil
}

// reading is what there is to tell now.
func (p *parts) reading(now time.Time) reading {
	m := p.limits.Meter()
	r := reading{Epoch: p.term.Epoch, State: engine.EngineLive, Throttled: m.Throttled, Unforeseen: m.Unforeseen}
	switch state, why := p.control.State(); state {
	// These states of the leader hold for every member. Other states are each member's own.
	case engine.EnginePaused, engine.EngineDegraded, engine.EngineNoKey, engine.EngineAPIDown:
		if r.State, r.Why = state, why; strings.HasPrefix(why, engine.CutOff) { // it is another machine than theirs
			me := p.is()
			r.Why = me.ID + " on " + me.Host + " leads and cannot reach Riot"
		}
	case engine.EngineLive:
		_, r.Pace = p.control.Cause()
	}
	// Back from the newest, while they are fresh: at 50 calls a second the usual 200 would be four
	// seconds.
	all := p.limits.CallsAfter(0)
	from := max(len(all)-usualCalls, 0)
	for from > 0 && now.Sub(all[from-1].At) < freshCalls {
		from--
	}
	r.Calls = all[from:]
	return r
}
