package pager

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/safe"
)

// Events that hooks can ask for.
const (
	SyncCompleted = "sync.completed" // a sync came to its end; result tells whether anything is missing
	SyncFailed    = "sync.failed"    // a sync gave up; error tells why
	SyncCancelled = "sync.cancelled" // somebody cancelled it
	ReportBuilt   = "report.built"   // an account's play-time report, or the weekly one
)

// Events lists what hooks can ask for.
func Events() []string { return []string{ReportBuilt, SyncCancelled, SyncCompleted, SyncFailed} }

// wants reports whether the hook has asked for an event.
func (h Hook) wants(event string) bool {
	return len(h.Events) == 0 || slices.Contains(h.Events, event)
}

// Event is something that has been committed.
type Event struct {
	ID      string    `json:"id"` // the same whenever it is told
	Type    string    `json:"type"`
	At      time.Time `json:"at"`
	Account string    `json:"account,omitempty"` // its id; "" = of all accounts
	Run     string    `json:"run,omitempty"`
	Mode    string    `json:"mode,omitempty"` // full, latest, weekly
	Result  string    `json:"result,omitempty"`
	Error   string    `json:"error,omitempty"` // sync.failed: why
	Week    string    `json:"week,omitempty"`  // 2026-11-16
	Job     string    `json:"job"`
}

// eventArgs are the arguments of event.webhook.
type eventArgs struct {
	Hook  string `json:"hook"`
	Event Event  `json:"event"`
}

// OnMove tells every hook of what a move of a job has brought about. The events are
// inserted as jobs in the transaction of the move: neither is there without the
// other. read says what the move means; ok is false when it means nothing.
func (p *Pager) OnMove(read func(tx engine.Tx, before, after engine.Job, o engine.Outcome) (e Event, ok bool, err error)) func(engine.Tx, engine.Job, engine.Job, engine.Outcome) error {
	return func(tx engine.Tx, before, after engine.Job, o engine.Outcome) error {
		if len(p.set.Load().hooks) == 0 {
			return nil
		}
		e, ok, err := read(tx, before, after, o)
		if err != nil || !ok {
			return err
		}
		return p.Tell(tx, e)
	}
}

// Tell tells every hook of an event, inside the transaction that brings it about.
func (p *Pager) Tell(tx engine.Tx, e Event) error {
	_, err := tx.Enqueue(p.eventSpecs(e)...)
	return err
}

// eventSpecs are the jobs that tell an event, one per hook that wants it.
func (p *Pager) eventSpecs(e Event) (specs []engine.Spec) {
	for _, h := range p.set.Load().hooks {
		if h.wants(e.Type) {
			specs = append(specs, eventSpec(h, e))
		}
	}
	return specs
}

// eventSpec is one of them. Its key has the event's id, so that an event is told a hook once; its lock
// lets a hook's events go one after the other.
func eventSpec(h Hook, e Event) engine.Spec {
	return engine.Spec{
		Kind: KindEvent, Queue: QueueWebhooks, Policy: engine.PolicyIngest, Args: encode(eventArgs{h.Name, e}),
		Key: fmt.Sprintf("%s:%s:%s", KindEvent, h.Name, e.ID), Lock: "hook:" + h.Name, Priority: engine.PriorityNormal,
	}
}

// eventBody is what a hook gets: the event, and who it is about.
type eventBody struct {
	Event
	Instance string `json:"instance,omitempty"`
	RiotID   string `json:"riot_id,omitempty"`
	Platform string `json:"platform,omitempty"`
}

// sendEvent is one attempt to tell a hook of an event.
func (p *Pager) sendEvent(ctx context.Context, r engine.Run) engine.Outcome {
	var args eventArgs
	if o, ok := argsOf(r, &args); !ok {
		return o
	}
	s := p.set.Load()
	h, ok := s.hook(args.Hook)
	if !ok {
		return engine.Fail(fmt.Errorf("the configuration has no webhook %s any more", args.Hook)).As("no-channel")
	}
	body := eventBody{Event: args.Event, Instance: p.opt.Instance}
	if args.Event.Account != "" && p.opt.Account != nil {
		a, err := p.opt.Account(ctx, args.Event.Account)
		if err != nil && !errors.Is(err, engine.ErrNotFound) { // who was removed meanwhile is told by id
			return engine.Retry(err).As("storage")
		}
		body.RiotID, body.Platform = a.RiotID, a.Platform
	}
	return s.post(ctx, h.URL, sign(h.Secret, args.Event.Type, args.Event.ID, safe.JSON(encode(body))))
}
