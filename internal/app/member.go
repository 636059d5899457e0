package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/logbook"
	"github.com/farsight-console/farsight/internal/swap"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/fleet"
	"github.com/farsight-console/farsight/storage/pg"
)

// member is the part that a process has among those which work on one database: in its terms it has
// an engine, between them it follows: its console shows what the leader does. Who has come in by its
// sockets stays.
//
// Its states, in the order in which a member may go through them:
//
//	joining    the database is open; nothing was seen of the others yet
//	following  another one leads: the console shows what that one does, commands go there
//	leading    a term has begun: an engine of its own works, the console is that engine's
//	deposed    the term is over: what it has in hand ends without a result, then following
//
// Everything that outlives a term (the keys, the log, the sockets, who is attached) is the base's;
// everything of an engine is a parts, which is wired anew for each term.
type member struct {
	*base
	assembly
	db   *sharedStore
	con  *swap.Console                      // what the console is now: of the engine, of the leader, or a sentence why there is none
	seen atomic.Pointer[engine.MembersPage] // the members as they were seen last
	rest func()                             // ends to follow; only who decides on the part calls it
}

// join wires what works on a store: on a data directory an engine, on a database a member.
func join(cfg config.Config, a assembly) (*base, error) {
	if cfg.Store == "" {
		p, err := assemble(cfg, a)
		if err != nil {
			return nil, err
		}
		return p.base, nil
	}
	// A member has no engine yet, so the console is one that says so; term tells who leads from its
	// first look on.
	m := &member{base: newBase(cfg, a.keys), assembly: a, con: swap.New(a.demo), rest: func() {}}
	m.front, m.work, m.reign = lobby{m.con, m}, m.run, m.term
	if err := m.open(cfg); err != nil {
		return nil, errors.Join(err, m.close())
	}
	m.con.Down("joining the members that work on " + storeName(cfg))
	return m.base, nil
}

// open takes the data directory, where the log and the sockets are, and opens the database.
// The order matters: a second process with the same directory must be refused before it opens the
// database, where it would show up as a member.
func (m *member) open(cfg config.Config) (err error) {
	opening.Add(1)
	defer opening.Add(-1)
	if err := logbook.Usable(cfg.DataDir); err != nil {
		return err
	}
	if m.unhold, err = storage.HoldDir(cfg.DataDir); err != nil {
		return err
	}
	if m.db, err = openServer(cfg, m.assembly, logbook.Area(m.log, logbook.AreaStorage)); err != nil {
		return err
	}
	m.opened(m.db, memberID())
	// A guest carries nothing out, and has no key to do it with.
	if m.guest != nil && m.guest() {
		return nil
	}
	return m.lend()
}

// lobby is the console of a member: who the members are it tells whether anybody leads or not.
type lobby struct {
	*swap.Console
	m *member
}

// Find implements engine.Console.
func (l lobby) Find(ctx context.Context, q engine.Query) (engine.Answer, error) {
	if _, is := q.(engine.MembersQuery); !is {
		return l.Console.Find(ctx, q)
	}
	// Asked of the database itself, not of the engine: there may be none, which is when somebody asks.
	page, err := membersOf(l.m.db, l.m.id)(ctx)
	if err != nil {
		return nil, engine.ProblemOf(err)
	}
	return page, nil
}

// run is a member until ctx ends.
//
// Two things go on until either ends: the attempts that are claimed, and the membership with its
// terms.
func (m *member) run(ctx context.Context) error {
	o := m.is()
	o.Idle, o.Looks, o.Lacks, o.CutOff, o.InHand, o.Late = m.noWork, m.looks, m.db.Filling, m.cutOff, m.inHand, m.late
	if !m.noLead {
		o.Lead = m.lead
	}
	// A guest has no key: see carry.
	if key := o.Key; m.looks() {
		o.Key = func() string { // nobody counts on a guest to make calls
			if m.looks() {
				return ""
			}
			return key()
		}
	}
	log := logbook.Area(m.log, logbook.AreaEngine)
	shown, told, led := false, "", ""
	// Called after each look at the members, every few seconds, by one goroutine.
	o.OnLook = func(v engine.MembersPage) {
		m.seen.Store(&v)
		// Whoever looks at this member's console reads who leads now. Of itself it reads that
		// elsewhere: see lead.
		if v.Leader != "" && v.Leader != led {
			led = v.Leader
			if t := m.term(); !t.Here {
				m.note(engine.Note{At: time.Now(), Level: engine.LevelInfo, Text: t.String()})
			}
		}
		// Members with keys of two projects cannot read each other's player ids: said once, until it
		// changes.
		if other := v.KeyOf(m.id); other != told {
			if told = other; other != "" {
				log.Warn().Msg(other)
			}
		}
		// Not before somebody leads, unless this one never will: else the console would show a
		// follower's screen for the second until the first term begins.
		if led := v.Leader != "" && v.Leader != m.id; !shown && (led || m.noLead || m.looks()) {
			shown = true
			m.follow()
		}
	}
	// m.rest is looked up when run ends: follow has set it meanwhile.
	defer func() { m.rest() }()
	var g errgroup.Group
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g.Go(func() error { defer stop(); return m.carry(ctx) })
	g.Go(func() error { defer stop(); return fleet.Run(ctx, m.db.server, o) })
	return g.Wait()
}

// lookAgain is between two looks whether a guest has got a key.
const lookAgain = 250 * time.Millisecond

// carry makes the calls that are let go until ctx ends; a guest does when it is none any more.
func (m *member) carry(ctx context.Context) error {
	for m.looks() && m.guest() {
		if !await.Pause(ctx, lookAgain) {
			return nil
		}
	}
	if m.looks() {
		if err := m.lend(); err != nil {
			return err
		}
		m.log.Info().Msg("this process is a member like the others from now on")
	}
	return m.hand.Load().carrier.Run(ctx)
}

// looks reports whether this process is a guest.
func (m *member) looks() bool { return m.hand.Load() == nil }

// cutOff is since when this process cannot reach Riot.
func (m *member) cutOff() time.Time {
	if h := m.hand.Load(); h != nil {
		return h.reach.CutOff()
	}
	return time.Time{}
}

// inHand is how many attempts the engine of a term has in hand whose calls nobody else makes.
func (m *member) inHand() int {
	at := m.engine.Load()
	switch {
	case at == nil || at.term == nil:
		return 0
	case at.calls == nil:
		return at.backend.Stats().Slots
	}
	return max(at.backend.Stats().Slots-at.calls.Open(), 0)
}

// late is how many calls it has told of that had been given up.
func (m *member) late() int {
	if h := m.hand.Load(); h != nil {
		return h.carrier.Late()
	}
	return 0
}

// follow lets the console show what the leader does, until rest.
// What it shows is wired anew after a failure: the server may have been restarted, or the schema
// brought up to date by another member.
func (m *member) follow() {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	m.rest = func() { stop(); <-done }
	go func() {
		defer close(done)
		// Until rest: a member may follow for weeks.
		for {
			if err := m.following(ctx); err != nil && ctx.Err() == nil {
				m.log.Warn().Err(err).Msg("what the leader does cannot be shown yet")
				m.con.Down("what is stored cannot be read: " + err.Error())
			}
			if !await.Pause(ctx, ledEvery) {
				return
			}
		}
	}()
}

// following is follow until its first error.
func (m *member) following(ctx context.Context) error {
	// Wired without a term: what would change anything is refused or goes through the store.
	p := &parts{base: m.base, db: m.db, follows: true, audit: m.audit, boot: storage.Boot{ID: m.id, Opened: time.Now()}}
	if err := p.wire(*m.config.Load(), m.assembly); err != nil {
		return err
	}
	defer p.client.CloseIdle()
	defer m.engine.Store(nil)
	m.engine.Store(p)
	m.con.Up(followed{p.control, m})
	return p.control.Follow(ctx)
}

// term is who leads, as it was seen last.
func (m *member) term() *engine.Term {
	v := m.seen.Load()
	if v == nil {
		return &engine.Term{}
	}
	return v.Term(m.id)
}

// lead runs the engine of a term.
// It returns when the term is over or ctx has ended; fleet.Run then looks for the next leader.
func (m *member) lead(ctx context.Context, t *fleet.Term) error {
	// First the console is taken from what follows, then that ends: two at once would publish into one.
	m.con.Down("this member takes the lead")
	m.rest()
	defer func() {
		if deposed(ctx) || ctx.Err() == nil && !t.Held() {
			m.follow()
		}
	}()
	log := logbook.Area(m.log, logbook.AreaEngine)
	// Wired anew for each term: the limiter, the backend and the index go on from what is stored, not
	// from what this process knew the last time that it led.
	p, err := m.ofTerm(ctx, t)
	if err != nil {
		return m.over(err)
	}
	defer p.client.CloseIdle()
	defer m.engine.Store(nil)
	m.engine.Store(p)
	m.con.Up(p.control)
	log.Info().Int64("epoch", t.Epoch).Msg("this member leads")
	var said sync.WaitGroup
	defer said.Wait()
	// Told once the console has settled on the new engine, or nobody would see it.
	said.Go(func() {
		if m.con.Settle(ctx) {
			p.control.Note(engine.Note{At: time.Now(), Level: engine.LevelOK, Text: fmt.Sprintf("this member leads, in term %d", t.Epoch)})
		}
	})
	defer context.AfterFunc(ctx, func() {
		if deposed(ctx) {
			log.Warn().Int64("epoch", t.Epoch).Msg("this member does not lead any more")
			m.con.Down("the database does not answer or another member leads")
		}
	})()
	return m.over(p.control.Run(ctx))
}

// deposed reports whether a context has ended with its term.
func deposed(ctx context.Context) bool { return errors.Is(context.Cause(ctx), pg.ErrDeposed) }

// over tells with what an engine has ended: what follows from the end of its term is told nowhere else.
func (m *member) over(err error) error {
	if err != nil {
		m.log.Info().Err(err).Msg("the engine of this term has ended")
	}
	return err
}

// ofTerm wires the engine of a term.
func (m *member) ofTerm(ctx context.Context, t *fleet.Term) (*parts, error) {
	p := &parts{base: m.base}
	if err := p.within(ctx, m.db, t); err != nil {
		return nil, err
	}
	return p, p.wire(*m.config.Load(), m.assembly)
}
