package pager

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
)

// Store is the part of storage that the pager works on.
type Store interface {
	// LoadState and SaveState keep small named blobs; nil when there is none.
	LoadState(ctx context.Context, name string) ([]byte, error)
	SaveState(ctx context.Context, name string, blob []byte) error
	// Write runs fn in one transaction, in which PutState keeps a blob, too.
	Write(ctx context.Context, fn func(engine.Tx) error) error
	PutState(tx engine.Tx, name string, blob []byte) error
	// Detail finds a job by its key: the live, else the latest; engine.ErrNotFound.
	Detail(ctx context.Context, q engine.JobQuery) (engine.JobDetail, error)
}

// Jobs is the part of the job engine that alerts start and cancel jobs with.
type Jobs interface {
	Insert(ctx context.Context, specs ...engine.Spec) ([]engine.Enqueued, error)
	Act(ctx context.Context, c engine.Command) (engine.Receipt, error)
}

// Options of a Pager. Store is required.
type Options struct {
	Targets
	Store    Store
	Instance string // tells this engine from others, at whoever hears of several
	// Account finds the account of an event.
	Account   func(ctx context.Context, id string) (engine.AccountRow, error)
	Transport http.RoundTripper // nil = the hardened one
	OnNote    func(engine.Note) // must not block; nil = nobody is told
	Log       zerolog.Logger
}

// Pager turns alerts and events into jobs, and handles them. Make it with New, take
// over with Load, give it the job engine with Use, then Run.
type Pager struct {
	opt       Options
	store     Store
	transport http.RoundTripper
	log       zerolog.Logger
	jobs      Jobs

	set       atomic.Pointer[setup] // who is told; Prepare puts another in its place
	ledger    *ledger
	book      *book
	following atomic.Int64
	news      await.Bell

	mu    sync.Mutex
	rows  []engine.AlertRow // the latest; shared, never changed
	known bool              // there was a first evaluation

	told told // only Run uses it
}

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
		{Kind: KindCall, Policy: engine.PolicyCall, Timeout: attemptTimeout, Handler: p.call, OnMove: p.escalate},
		{Kind: KindWebhook, Policy: engine.PolicyIngest, Timeout: attemptTimeout, Handler: p.deliver},
		{Kind: KindCommand, Policy: engine.PolicyIngest, Handler: p.command},
		{Kind: KindEvent, Policy: engine.PolicyIngest, Timeout: attemptTimeout, Handler: p.sendEvent},
	}
}

// Load takes over what the process before knew. It belongs before everything else.
func (p *Pager) Load(ctx context.Context) error {
	return errors.Join(p.ledger.load(ctx), p.book.load(ctx), p.told.load(ctx, p.store))
}

// Use names the job engine, which is made with the pager's kinds.
func (p *Pager) Use(j Jobs) { p.jobs = j }

// Following is how many calls are placed or followed right now. Each holds a
// worker that waits most of the time: let there be as many more.
func (p *Pager) Following() int { return int(p.following.Load()) }

// Alerts takes the alerts as they stand. It does not block. The rows are shared
// and must not be changed any more.
func (p *Pager) Alerts(rows []engine.AlertRow) {
	p.mu.Lock()
	p.rows, p.known = rows, true
	p.mu.Unlock()
	p.news.Ring()
}

// Run turns what becomes of alerts into jobs, until ctx ends.
func (p *Pager) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-p.news:
		}
		if err := p.look(ctx); err != nil && ctx.Err() == nil {
			// Not told is not forgotten: the next evaluation, seconds away, tries again.
			p.log.Warn().Err(err).Msg("alerts could not be handed to the pager's queue")
		}
	}
}

// wanted reports whether the alert of a page still fires unseen. Before the first
// evaluation nobody knows: a page too many is the smaller harm. A test is always
// wanted: no alert is behind it.
func (p *Pager) wanted(n notice) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.known || n.Test || n.Own != nil {
		return true
	}
	for _, a := range p.rows {
		if a.ID == n.Alert {
			return a.State == engine.AlertFiring && stamp(a.Since) == stamp(n.Since)
		}
	}
	return false
}

func (p *Pager) tell(level engine.Level, job engine.JobID, format string, args ...any) {
	p.opt.OnNote(engine.Note{At: time.Now(), Level: level, Text: fmt.Sprintf(format, args...), Job: job})
}
