package pager

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
)

// New makes a pager. It starts nothing. The error is about an address.
func New(o Options) (*Pager, error) {
	if o.OnNote == nil {
		o.OnNote = func(engine.Note) {}
	}
	p := &Pager{
		opt: o, store: o.Store, log: o.Log, transport: o.Transport, news: await.NewBell(),
		ledger: &ledger{store: o.Store}, book: &book{store: o.Store},
	}
	if p.transport == nil {
		p.transport = newTransport()
	}
	take, err := p.Prepare(o.Targets)
	if err != nil {
		return nil, err
	}
	take()
	return p, nil
}

// Prepare makes targets ready and gives what puts them in the place of those before.
// What is under way goes on with those it began with; a job's next attempt, and
// everything that is told from then on, knows the new ones. The error is about an
// address.
func (p *Pager) Prepare(t Targets) (take func(), err error) {
	s, err := newSetup(t, p.transport)
	if err != nil {
		return nil, fmt.Errorf("an address of the pager: %w", err)
	}
	return func() {
		p.set.Store(s)
		p.news.Ring() // what fires already is news for whoever was not told of anything
	}, nil
}

// attemptTimeout bounds an attempt that is silent. A call beats while it is
// followed.
const attemptTimeout = time.Minute

// Kinds are the job kinds that this package handles. All are there whatever is
// configured: jobs of an earlier configuration must find their handler.
func (p *Pager) Kinds() []engine.KindSpec {
	return []engine.KindSpec{
		{Kind: kindCall, Policy: engine.PolicyCall, Timeout: attemptTimeout, Handler: p.call, OnMove: p.escalate},
		{Kind: KindWebhook, Policy: engine.PolicyIngest, Timeout: attemptTimeout, Handler: p.deliver},
		{Kind: KindCommand, Policy: engine.PolicyIngest, Handler: p.command},
		{Kind: KindEvent, Policy: engine.PolicyIngest, Timeout: attemptTimeout, Handler: p.sendEvent},
	}
}

// Load takes over what the process before knew. It belongs before everything else.
func (p *Pager) Load(ctx context.Context) error {
	return errors.Join(p.ledger.load(ctx), p.book.load(ctx), p.told.load(ctx, p.store))
}

// Run turns what becomes of alerts into jobs, until ctx ends.
func (p *Pager) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-p.news:
		}
		if err := p.compareAlerts(ctx); err != nil && ctx.Err() == nil {
			// Not told is not forgotten: the next evaluation, seconds away, tries again.
			p.log.Warn().Err(err).Msg("alerts could not be handed to the pager's queue")
		}
	}
}
