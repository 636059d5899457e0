package app

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/control"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/local"
	"github.com/farsight-console/farsight/engine/pager"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/internal/logbook"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/fleet"
	"github.com/farsight-console/farsight/storage/river"
)

// base is what of a running Farsight outlives the engine in it: where all is kept, the log,
// the ways in, and what programs are told. A member of a fleet has an engine while it leads.
type base struct {
	store store // as every process has it; a leader writes through that of its term
	log   zerolog.Logger
	logs  *logbook.File
	tale  *logbook.Narrator
	keys  *keyring.Ring
	id    string // random per start, or per opening of a data directory

	front  engine.Console              // what those who come in speak to
	engine atomic.Pointer[parts]       // at work; nil = none
	hand   atomic.Pointer[hand]        // makes the calls that a leader lets go; nil = nothing does
	work   func(context.Context) error // until its context ends
	reign  func() *engine.Term         // who leads; nil = this process works alone
	let    func() error                // gives up what was taken for this process; nil = nothing was
	unhold func() error                // gives the data directory back, last of all; nil = it was not taken

	door      *api.Door // who may come in by the sockets
	gate      *api.Gate // who may by TCP; nil = nobody
	entrances []entrance

	// What programs are told; nil until the sockets are open.
	events    *api.Events
	metrics   *api.Metrics
	config    atomic.Pointer[config.Config] // in force
	badBackup atomic.Value                  // why the last scheduled backup failed, a string
	http      net.Addr                      // of the listener for programs; nil = there is none
}

// parts are one engine on one store, wired and not yet running.
type parts struct {
	*base
	db      store
	control *control.Control
	backend *local.Backend
	client  *riot.Client
	limits  *traffic.Limits
	pager   *pager.Pager
	// projects tells the key projects apart.
	projects *ingest.Projects
	follows  bool                                                           // another process leads
	audit    func(ctx context.Context, e engine.AuditEntry) (uint64, error) // how it is written elsewhere; nil = here
	calls    *river.Calls                                                   // that members make; nil = all are made here
	boot     storage.Boot
	term     *fleet.Term // within which it works; nil = as long as it likes
	// committed takes the changes of every commit, in commit order; missed says, in that order,
	// that some were not heard of.
	committed func(seq uint64, changes []engine.Change)
	missed    func()
}

// newBase is a base whose store is not open yet. The log is there first: what goes wrong with the
// opening is to be found in it.
func newBase(cfg config.Config, keys *keyring.Ring) *base {
	p := &base{keys: keys}
	p.log, p.logs = logbook.New(cfg.DataDir, cfg.LogLevel)
	p.tale = logbook.NewNarrator(p.log, version())
	log.SetOutput(libraries{p})
	// Shared by pointer and never changed: a reload puts another one in its place.
	p.config.Store(&cfg)
	return p
}

// opened takes the store of this process, and hands what is committed to the engine at work.
func (p *base) opened(db store, id string) {
	p.store, p.id = db, id
	// The engine first, then programs: who is told later must be able to ask who was told before.
	db.OnCommit(func(seq uint64, changes []engine.Change) {
		if at := p.engine.Load(); at != nil {
			at.committed(seq, changes)
		}
		p.told(changes)
	})
	// A copy that was left far behind is filled anew, and then all that was read of it is read again.
	db.OnGap(func() {
		if at := p.engine.Load(); at != nil {
			at.missed()
		}
	})
}

// note tells those who look at the engine at work.
func (p *base) note(n engine.Note) {
	if at := p.engine.Load(); at != nil {
		at.control.Note(n)
	}
}

// refuse notes in the audit what was refused before it came to a console.
func (p *base) refuse(ctx context.Context, c engine.Command, why string) error {
	if at := p.engine.Load(); at != nil {
		return at.control.Refuse(ctx, c, why)
	}
	return nil
}

// run works until ctx ends, then drains: the store outlives the engine, so that
// every last write lands.
func (p *base) run(ctx context.Context) error {
	if err := enoughFiles(); err != nil {
		return err
	}
	// Two lives: the engine's ends with ctx, the store's when the engine has drained. The store's
	// context must not be a child of ctx, or a signal would end both at once and lose what is in
	// hand.
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var g errgroup.Group
	engineCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	g.Go(func() error {
		defer cancel() // a store that cannot be trusted ends the engine
		return p.store.Serve(serving)
	})
	g.Go(func() error {
		defer stop()
		return p.attend(engineCtx)
	})
	p.tale.Started(p.id, p.fresh())
	err := g.Wait()
	p.tale.Stopped(err)
	return err
}

// fresh reports whether the store was made by this start.
func (p *base) fresh() bool {
	at := p.engine.Load()
	return at != nil && at.boot.New
}

// close releases the store. Each step is taken whether those before it failed or not, from the ways in
// to the files: it is also how an opening ends that failed half way, so any part may be missing.
func (p *base) close() error {
	if at := p.engine.Load(); at != nil {
		at.client.CloseIdle()
	}
	p.leave()
	if h := p.hand.Load(); h != nil {
		h.close()
	}
	var err error
	if p.let != nil {
		err = p.let()
	}
	if p.store != nil {
		err = errors.Join(err, p.store.Close())
	}
	if p.unhold != nil {
		err = errors.Join(err, p.unhold())
	}
	log.SetOutput(io.Discard)
	return errors.Join(err, p.logs.Close())
}

// libraries takes what libraries print by Go's own loggers (net/http what a server says unasked, with up to 4 kB
// of it): to stderr it would go over the screen.
type libraries struct{ *base }

// Write makes one record of what is printed. It never fails.
func (l libraries) Write(text []byte) (int, error) {
	l.log.Warn().Str("area", logbook.AreaLibrary).Msg(safe.Line(l.keys.Get().Redact(string(bytes.TrimSpace(text))), 200))
	return len(text), nil
}

// engineTask is an engine that runs while something else does.
type engineTask struct {
	*base
	cancel context.CancelFunc
	done   chan struct{}
	once   sync.Once
	err    error
}

// start runs the engine in the background; ended is called when it stops, for
// whatever reason.
func (p *base) start(ctx context.Context, ended func()) *engineTask {
	ctx, cancel := context.WithCancel(ctx)
	t := &engineTask{base: p, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(t.done)
		// In this order: who waits for ended may call stop, which waits for done.
		defer ended()
		t.err = p.run(ctx)
	}()
	return t
}

// stop drains the engine and closes the directory. It may be called twice.
func (t *engineTask) stop() error {
	t.once.Do(func() {
		t.cancel()
		<-t.done
		t.err = errors.Join(t.err, t.close())
	})
	return t.err
}
