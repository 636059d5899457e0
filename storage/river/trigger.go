package river

import (
	"context"
	"errors"

	"github.com/riverqueue/river"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/pg"
)

// queueTriggers is where other programs ask for syncs, by rows of a kind of their own.
const (
	queueTriggers = "farsight"
	kindTrigger   = pg.TriggerKind
)

// trigger is what another program asks for.
type trigger struct {
	RiotID   string `json:"riot_id"`
	Platform string `json:"platform"`
	Cause    string `json:"cause"`
}

// Kind is the word for it in River's tables.
func (trigger) Kind() string { return kindTrigger }

// triggers starts syncs that other programs ask for.
type triggers struct {
	river.WorkerDefaults[trigger]
	c *Carrier
}

// Work starts a sync. What is refused is not tried again: the row tells why.
func (w *triggers) Work(ctx context.Context, row *river.Job[trigger]) error {
	a := row.Args
	err := w.c.opt.Trigger(ctx, a.RiotID, engine.SyncAsk{Platform: a.Platform, Cause: a.Cause})
	if refusal, ok := errors.AsType[*engine.Problem](err); ok {
		return river.JobCancel(refusal)
	}
	return err
}
