package app

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/alert"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/control"
	"github.com/farsight-console/farsight/engine/cron"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/engine/traffic"
)

// A member that follows hears of all commits, and carries out commands, which are transactions that
// the leader hears of. What only the leader knows, limits, alerts and schedules, it reads as the
// leader has stored it, and orders about them are the leader's to take.

// ledLimits are the limits as the leader has stored them.
type ledLimits struct {
	*traffic.Limits
	db        store
	alerts    *alert.Runner
	schedules *cron.Runner
	row       atomic.Pointer[engine.LimitsRow]
}

// ledEvery is how often what the leader has stored is read.
const ledEvery = 2 * time.Second

// Run reads until ctx ends.
func (l *ledLimits) Run(ctx context.Context) error {
	for ok := true; ok; ok = await.Pause(ctx, ledEvery) {
		if row, err := traffic.StoredLimits(ctx, l.db); err == nil {
			l.row.Store(&row)
		}
		l.alerts.Load(ctx)
		_ = l.schedules.Load(ctx) // what could not be read is read next time
	}
	return nil
}

func (l *ledLimits) Rows() engine.LimitsRow {
	if row := l.row.Load(); row != nil {
		return *row
	}
	return engine.LimitsRow{}
}

// Health is the leader's to judge.
func (l *ledLimits) Health() (engine.EngineState, string) { return engine.EngineLive, "" }

// followed is the console of a member that follows.
type followed struct {
	*control.Control
	reign func() *engine.Term
}

// Do carries out what is a transaction on the store.
func (f followed) Do(ctx context.Context, c engine.Command) (engine.Receipt, error) {
	switch operation.Of(c.Op).Target {
	case operation.Bucket, operation.Alert, operation.Schedule, operation.Number:
		at := cmp.Or(f.reign().Leader, "nobody now")
		return engine.Receipt{}, engine.Problemf(engine.ErrRefused, "give it there", "only the leader carries this out, which is %s", at)
	}
	return f.Control.Do(ctx, c)
}
