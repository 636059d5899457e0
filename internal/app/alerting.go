package app

import (
	"context"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/alert"
	"github.com/farsight-console/farsight/engine/control"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/internal/logbook"
	"github.com/farsight-console/farsight/riot/limit"
)

// Proof that alerts fit those who use them.
var _ control.Alerts = (*alert.Runner)(nil)

// newAlerts wires the rules to what they measure, and takes over how the process
// before left them. each gets all alerts whenever they were evaluated.
func newAlerts(g gauges, rules []alert.Rule, policies engine.Policies, note func(engine.Note), each func([]engine.AlertRow)) (*alert.Runner, error) {
	monitor, err := alert.New(alert.Options{Rules: rules, Policies: policies})
	if err != nil {
		return nil, err
	}
	r := alert.NewRunner(alert.RunnerOptions{
		Monitor: monitor, Store: g.db, Calls: g.limits.CallsAfter, Read: g.read, OnNote: note, OnRows: each, Log: logbook.Area(g.log, logbook.AreaAlerts),
	})
	// Without what was stored an alert that was acknowledged would fire anew after each restart.
	r.Load(context.Background())
	return r, nil
}

// storedAlerts are the alerts of a directory on which no engine works, as the last
// one left them.
func storedAlerts(ctx context.Context, db store, rules []alert.Rule) control.Alerts {
	monitor, err := alert.New(alert.Options{Rules: rules})
	if err != nil {
		return nil // the rules that ship are tested
	}
	r := alert.NewRunner(alert.RunnerOptions{Monitor: monitor, Store: db})
	r.Load(ctx)
	return r
}

// gauges read what the rules measure besides changes and calls.
type gauges struct {
	*parts
	age   *keyring.Age // nil = the key has no age: it is a simulator's
	open  func() []engine.AccountRow
	cause func() (engine.EngineState, string)
}

// read takes a reading for the alerts.
func (g gauges) read(ctx context.Context, now time.Time) alert.Reading {
	r := alert.Reading{
		KeyRejected: g.limits.KeyRefused(), ClockAhead: g.limits.ClockAhead(), Holds: g.limits.LongHolds(), Queues: judged(g.backend.Queues()), Syncing: g.beats(), Waits: g.waits,
		Stopped: g.backend.Halted(), Writes: g.db.WriteTimes(now), LogDrops: g.logs.Ring.Dropped(),
	}
	r.State, r.Cause = g.cause()
	r.Down = g.limits.Down()
	r.Backup, _ = g.badBackup.Load().(string)
	free, _ := g.db.Room()
	r.Free = int64(free)
	if members := membersOf(g.db, g.id); members != nil {
		if page, err := members(ctx); err == nil {
			r.Members = page.Members
		}
	}
	// In a demo the key is made up, and nothing is said about its age.
	if g.age != nil {
		r.KeyExpires = g.age.Expires(ctx, now, g.keys.Get().Fingerprint(), r.KeyRejected)
	}
	return r
}

// judged are the queues as the rules look at them: what waits for a limit that an
// operator has frozen stands still on purpose, as in a paused queue.
func judged(queues []engine.QueueRow) []engine.QueueRow {
	for i, q := range queues {
		queues[i].Paused = q.Paused || strings.Contains(q.Why, limit.FrozenWords)
	}
	return queues
}

// waits says why a sync may be silent: what holds every call, or what its jobs wait for.
func (g gauges) waits(account string, silent time.Duration) string {
	if state, why := g.cause(); state != engine.EngineLive {
		return why
	}
	return g.backend.Waiting(account, silent)
}

// beats says when each open sync was last heard of, as far as its account's row and its
// running jobs tell: the commits of its other jobs are the monitor's to hear.
func (g gauges) beats() []alert.Beat {
	// The newest beat of each account's running jobs.
	alive := map[string]time.Time{}
	for _, j := range g.backend.Running() {
		if owner := j.Job.Owner; j.Beat.After(alive[owner]) {
			alive[owner] = j.Beat
		}
	}
	var beats []alert.Beat
	for _, a := range g.open() {
		last := a.Updated
		if beat := alive[a.ID]; beat.After(last) {
			last = beat
		}
		beats = append(beats, alert.Beat{Account: a.ID, Name: a.RiotID, Last: last})
	}
	return beats
}

// gauges makes the readings of this engine.
func (p *parts) gauges(a assembly, open func() []engine.AccountRow, cause func() (engine.EngineState, string)) gauges {
	g := gauges{parts: p, open: open, cause: cause}
	if !a.demo {
		g.age = &keyring.Age{Store: p.db, Limits: p.limits.Rows, Calls: p.limits.Calls, Project: p.projects.Current, Log: p.log}
		g.age.Load(context.Background())
	}
	return g
}
