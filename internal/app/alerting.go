package app

import (
	"context"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/alert"
	"github.com/farsight-console/farsight/engine/control"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/internal/logbook"
	"github.com/farsight-console/farsight/storage"
)

// Proofs that alerts fit those who use them, and what they use.
var (
	_ control.Alerts = (*alert.Runner)(nil)
	_ alert.Store    = (*storage.DB)(nil)
)

// newAlerts wires the rules to what they measure, and takes over how the process
// before left them. each gets all alerts whenever they were evaluated.
func newAlerts(g gauges, policies engine.Policies, note func(engine.Note), each func([]engine.AlertRow)) (*alert.Runner, error) {
	monitor, err := alert.New(alert.Options{Policies: policies})
	if err != nil {
		return nil, err
	}
	r := alert.NewRunner(alert.RunnerOptions{
		Monitor: monitor, Store: g.db, Calls: g.limits.CallsAfter, Read: g.read, OnNote: note, OnRows: each, Log: logbook.Area(g.log, logbook.AreaAlerts),
	})
	r.Load(context.Background())
	return r, nil
}

// storedAlerts are the alerts of a directory on which no engine works, as the last
// one left them.
func storedAlerts(ctx context.Context, db *storage.DB) control.Alerts {
	monitor, err := alert.New(alert.Options{})
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
	keys *keyring.Ring
	age  *keyring.Age // nil = the key has no age: it is a simulator's
	open func() []engine.AccountRow
}

// read takes a reading for the alerts.
func (g gauges) read(ctx context.Context, now time.Time) alert.Reading {
	queues := g.backend.Queues()
	r := alert.Reading{
		KeyRejected: g.limits.KeyRefused(), Queues: queues, Syncing: g.beats(queues),
		Writes: g.db.WriteTimes(now), LogDrops: g.logs.Ring.Dropped(),
	}
	if g.age != nil {
		r.KeyExpires = g.age.Expires(ctx, now, g.keys.Get().Fingerprint())
	}
	return r
}

// beats says when each open sync was last heard of: a commit of its run, or a sign
// of life of one of its jobs. One whose queue an operator has paused is silent on
// purpose.
func (g gauges) beats(queues []engine.QueueRow) []alert.Beat {
	paused := map[engine.Queue]bool{}
	for _, q := range queues {
		paused[q.Name] = q.Paused
	}
	alive := map[string]time.Time{}
	for _, j := range g.backend.Running() {
		if owner := j.Job.Owner; j.Beat.After(alive[owner]) {
			alive[owner] = j.Beat
		}
	}
	var beats []alert.Beat
	for _, a := range g.open() {
		if paused[a.Queue] {
			continue
		}
		last := a.Updated
		if beat := alive[a.ID]; beat.After(last) {
			last = beat
		}
		beats = append(beats, alert.Beat{Account: a.ID, Name: a.RiotID, Last: last})
	}
	return beats
}

// gauges makes the readings of this engine.
func (p *parts) gauges(a assembly, open func() []engine.AccountRow) gauges {
	g := gauges{parts: p, keys: a.keys, open: open}
	if !a.demo {
		g.age = &keyring.Age{Store: p.db, Limits: p.limits.Rows, Calls: p.limits.Calls, Log: p.log}
		g.age.Load(context.Background())
	}
	return g
}
