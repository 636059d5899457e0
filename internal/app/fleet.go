package app

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/control"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/internal/logbook"
	"github.com/farsight-console/farsight/internal/swap"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/fleet"
	"github.com/farsight-console/farsight/storage/pg"
	"github.com/farsight-console/farsight/storage/river"
)

// A process of several that work on one database is a member: in its terms it has an engine, between them it follows:
// its console shows what the leader does. Who has come in by its sockets stays.
//
// Its states, in the order in which a member may go through them:
//
//	joining    the database is open; nothing was seen of the others yet
//	following  another one leads: the console shows what that one does, commands go there
//	leading    a term has begun: an engine of its own works, the console is that engine's
//	deposed    the term is over: what it has in hand ends without a result, then following
//
// What outlives a term (the keys, the log, the sockets, who is attached) is the process's; what is of an engine is a
// parts, which is wired anew for each term.

// memberID names a start of a program: its process, and four digits by chance.
func memberID() string {
	var b [2]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand, Go 1.24)
	return fmt.Sprintf("%d-%x", os.Getpid(), b)
}

// is tells the others what this process is.
func (p *process) is() fleet.Options {
	// For people, on the Members screen: it is compared with nothing.
	host, err := os.Hostname()
	if err != nil {
		host = "this host"
	}
	return fleet.Options{ID: p.id, Host: host, Version: version(), Key: func() string { return p.keys.Get().Fingerprint() }}
}

// membersOf tells who works on a database, to the member of an id; nil of a data directory.
func membersOf(db *store, id string) control.Members {
	if db.server == nil {
		return nil
	}
	return func(ctx context.Context) (engine.MembersPage, error) {
		page, err := fleet.Look(ctx, db.server, fleet.UsualTTL)
		for i := range page.Members {
			page.Members[i].Here = page.Members[i].ID == id
		}
		return page, err
	}
}

// lobby is the console of a member: who the members are it tells whether anybody leads or not.
type lobby struct {
	*swap.Console
	p *process
}

// Find implements engine.Console.
func (l lobby) Find(ctx context.Context, q engine.Query) (engine.Answer, error) {
	if _, is := q.(engine.MembersQuery); !is {
		return l.Console.Find(ctx, q)
	}
	// Asked of the database itself, not of the engine: there may be none, which is when somebody asks.
	page, err := membersOf(l.p.store, l.p.id)(ctx)
	if err != nil {
		return nil, engine.ProblemOf(err)
	}
	return page, nil
}

// member is a member until ctx ends.
//
// Two things go on until either ends: the attempts that are claimed, and the membership with its
// terms.
func (p *process) member(ctx context.Context) error {
	o := p.is()
	o.Idle, o.Looks, o.Lacks, o.InHand = p.noWork, p.looks, p.store.Filling, p.inHand
	if !p.noLead {
		o.Lead = p.lead
	}
	key := o.Key
	o.Key = func() string { // nobody counts on a guest to make calls
		if p.looks() {
			return ""
		}
		return key()
	}
	// Since when it cannot reach Riot, and how many calls it has told of that had been given up.
	o.CutOff = func() (since time.Time) {
		if h := p.hand.Load(); h != nil {
			since = h.reach.CutOff()
		}
		return since
	}
	o.Late = func() (n int) {
		if h := p.hand.Load(); h != nil {
			n = h.carrier.Late()
		}
		return n
	}
	log := logbook.Area(p.log, logbook.AreaEngine)
	shown, told, led := false, "", ""
	// Called after each look at the members, every few seconds, by one goroutine.
	o.OnLook = func(v engine.MembersPage) {
		p.seen.Store(&v)
		// This member's consoles are told who leads now; that it leads itself, lead tells them.
		if v.Leader != "" && v.Leader != led {
			led = v.Leader
			if t := p.leader(); !t.Here {
				p.note(engine.Note{At: time.Now(), Level: engine.LevelInfo, Text: t.String()})
			}
		}
		// Members with keys of two projects cannot read each other's player ids: said once, until it
		// changes.
		if other := v.KeyOf(p.id); other != told {
			if told = other; other != "" {
				log.Warn().Msg(other)
			}
		}
		// Not before somebody leads, unless this one never will: else the console would show a
		// follower's screen for the second until the first term begins.
		if led := v.Leader != "" && v.Leader != p.id; !shown && (led || p.noLead || p.looks()) {
			shown = true
			p.follow()
		}
	}
	// p.rest is looked up when this ends: follow has set it meanwhile.
	defer func() { p.rest() }()
	var g errgroup.Group
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g.Go(func() error { defer stop(); return p.carry(ctx) })
	g.Go(func() error { defer stop(); return fleet.Run(ctx, p.store.server, o) })
	return g.Wait()
}

// looks reports whether this process is a guest.
func (p *process) looks() bool { return p.hand.Load() == nil }

// leader is who leads, as it was seen last.
func (p *process) leader() *engine.Term {
	v := p.seen.Load()
	if v == nil {
		return &engine.Term{}
	}
	return v.Term(p.id)
}

// inHand is how many attempts the engine of a term has in hand whose calls nobody else makes.
func (p *process) inHand() int {
	at := p.engine.Load()
	switch {
	case at == nil || at.term == nil:
		return 0
	case at.calls == nil:
		return at.backend.Stats().Slots
	}
	return max(at.backend.Stats().Slots-at.calls.Open(), 0)
}

// follow lets the console show what the leader does, until rest.
// What it shows is wired anew after a failure, since the server may have been restarted, or the schema
// brought up to date by another member; and where it was left so far behind that it was not told of all.
func (p *process) follow() {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	p.rest = func() { stop(); <-done }
	go func() {
		defer close(done)
		// Until rest: a member may follow for weeks.
		for {
			err := p.following(ctx)
			if err == nil && ctx.Err() == nil {
				p.con.Down("more has changed than was told: it is read anew")
				continue
			}
			if err != nil && ctx.Err() == nil {
				p.log.Warn().Err(err).Msg("what the leader does cannot be shown yet")
				p.con.Down("what is stored cannot be read: " + err.Error())
			}
			if !await.Pause(ctx, ledEvery) {
				return
			}
		}
	}()
}

// following is follow until its first error.
func (p *process) following(ctx context.Context) error {
	// Wired without a term: what would change anything is refused or goes through the store.
	ctx, missed := context.WithCancel(ctx)
	defer missed()
	e := &parts{process: p, follows: true, missed: missed, boot: storage.Boot{ID: p.id, Opened: time.Now()}}
	if err := e.wire(); err != nil {
		return err
	}
	defer e.client.CloseIdle()
	defer p.engine.Store(nil)
	p.engine.Store(e)
	p.con.Up(followed{e.control, p})
	return e.control.Follow(ctx)
}

// followed is the console of a member that follows.
type followed struct {
	*control.Control
	p *process
}

// Do has the leader carry a command out. A key is each member's own.
func (f followed) Do(ctx context.Context, c engine.Command) (engine.Receipt, error) {
	if c.Op == engine.OpKey {
		return f.Control.Do(ctx, c)
	}
	return f.p.order(ctx, asked{Command: c})
}

// ofTerm is an engine, not wired yet, that writes and calls in a term only. Jobs that were begun in another one go back
// to the line.
func (p *process) ofTerm(ctx context.Context, t *fleet.Term) (*parts, error) {
	if err := p.store.lead(ctx, t); err != nil {
		return nil, err
	}
	e := &parts{process: p, term: t, boot: storage.Boot{ID: fmt.Sprintf("%s.%d", p.id, t.Epoch), Opened: time.Now(), Restored: p.store.server.Copied()}}
	// Somebody has led before, so the store is not new.
	if t.Epoch > 1 {
		return e, nil
	}
	limits, err := p.store.LoadState(ctx, traffic.LimiterState) // a directory that was moved here has some
	e.boot.New = limits == nil
	return e, err
}

// lead runs the engine of a term.
// It returns when the term is over or ctx has ended; fleet.Run then looks for the next leader.
func (p *process) lead(ctx context.Context, t *fleet.Term) (err error) {
	// First the console is taken from what follows, then that ends: two at once would publish into one.
	p.con.Down("this member takes the lead")
	p.rest()
	deposed := func() bool { return errors.Is(context.Cause(ctx), pg.ErrDeposed) }
	log := logbook.Area(p.log, logbook.AreaEngine)
	defer func() {
		if err != nil { // what follows from the end of its term is told nowhere else
			log.Info().Err(err).Msg("the engine of this term has ended")
		}
		if deposed() || ctx.Err() == nil && !t.Held() {
			p.follow()
		}
	}()
	// Wired anew for each term: the limiter, the backend and the index go on from what is stored, not
	// from what this process knew the last time that it led.
	e, err := p.ofTerm(ctx, t)
	if err == nil {
		err = e.wire()
	}
	if err != nil {
		return err
	}
	defer e.client.CloseIdle()
	defer p.engine.Store(nil)
	p.engine.Store(e)
	p.con.Up(e.control)
	log.Info().Int64("epoch", t.Epoch).Msg("this member leads")
	var said sync.WaitGroup
	defer said.Wait()
	// Told once the console has settled on the new engine, or nobody would see it.
	said.Go(func() {
		if p.con.AwaitCaughtUp(ctx) {
			e.control.Note(engine.Note{At: time.Now(), Level: engine.LevelOK, Text: fmt.Sprintf("this member leads, in term %d", t.Epoch)})
		}
	})
	defer context.AfterFunc(ctx, func() {
		if deposed() {
			log.Warn().Int64("epoch", t.Epoch).Msg("this member does not lead any more")
			p.con.Down("the database does not answer or another member leads")
		}
	})()
	return e.control.Run(ctx)
}

// inTerm lets calls go in a term only: one who has stood still does not know that another leads, so
// the connection looks at the clock just before it writes.
type inTerm struct {
	riot.Limiter
	term *fleet.Term
}

// Acquire implements riot.Limiter. A permit that came too late is given back: the call is not made.
func (l inTerm) Acquire(ctx context.Context, r limit.Request) (riot.Permit, error) {
	p, err := l.Limiter.Acquire(ctx, r)
	by := l.term.Until()
	if err == nil && by.IsZero() {
		p.Refund()
		return nil, pg.ErrDeposed
	}
	return punctual{p, by}, err
}

// punctual is a permit with the instant by which its call must be written; the connection gives up
// after it.
type punctual struct {
	riot.Permit
	by time.Time
}

// WriteBy implements what a punctual client asks of a permit.
func (p punctual) WriteBy() time.Time { return p.by }

// hand is the part of a member that makes the calls which the leader lets go, whoever that is, and that hands
// them on while it leads.
type hand struct {
	carrier *river.Carrier
	reach   *river.Reach
}

// lookAgain is how often a guest is asked whether it has a key by now.
const lookAgain = 250 * time.Millisecond

// carry makes the calls that the leader lets go, until ctx ends. A guest waits for a key first.
func (p *process) carry(ctx context.Context) error {
	for p.looks() && p.guest() {
		if !await.Pause(ctx, lookAgain) {
			return nil
		}
	}
	if p.looks() {
		if err := p.lend(); err != nil {
			return err
		}
		p.log.Info().Msg("this process is a member like the others from now on")
	}
	return p.hand.Load().carrier.Run(ctx)
}

// lend makes the hand of a member. A guest has none.
func (p *process) lend() error {
	log := logbook.Area(p.log, logbook.AreaJobs)
	// No limiter of its own lets these calls go: the leader does.
	client, err := riot.New(p.toRiot(riot.LimitedBy(limit.New(limit.Options{})), true))
	if err != nil {
		return usage(err)
	}
	// How many the leader needs in all it does not say: it lets no more calls go than may.
	carries := workers(p.config.Load().Workers, maxWorkers)
	if p.noWork {
		carries = 0
	}
	h := &hand{reach: river.NewReach(client.Reach, log)}
	h.carrier, err = river.Open(context.Background(), river.Options{
		DB: p.store.server, Member: p.id, Key: p.is().Key, TTL: fleet.UsualTTL, Workers: carries, Reach: h.reach, Relay: client.Relay, Log: log,
		Order: p.obey,
		// Other programs insert a row of River's, and this asks for the sync in their name.
		Trigger: func(ctx context.Context, riotID string, ask engine.SyncAsk) error {
			_, err := p.leads(ctx, engine.Command{Op: engine.OpTrigger, Account: riotID, Sync: ask, By: engine.Actor{User: "river", Via: "river"}})
			return err
		},
	})
	if err == nil {
		p.hand.Store(h)
		p.ends = append(p.ends, func() error { h.carrier.Close(); client.CloseIdle(); return nil })
	}
	return err
}

// errNotLeading is for what is asked of a leader whose term has ended meanwhile.
var errNotLeading = errors.New("this member does not lead any more")

// leads carries out in its term what was asked elsewhere.
func (p *process) leads(ctx context.Context, c engine.Command) (engine.Receipt, error) {
	at := p.engine.Load()
	if at == nil || at.term == nil {
		return engine.Receipt{}, errNotLeading
	}
	return at.control.Do(ctx, c)
}

// asked is what a member has the leader carry out, or write down of what it has done itself.
type asked struct {
	engine.Command
	Entry *engine.AuditEntry `json:"entry,omitempty"`
}

// orderResult is what became of an order.
type orderResult struct {
	Receipt engine.Receipt `json:"receipt,omitzero"`
	Problem *api.Problem   `json:"problem,omitempty"`
}

// obey carries an order out.
func (p *process) obey(ctx context.Context, args []byte) ([]byte, error) {
	var c asked
	if err := json.Unmarshal(args, &c); err != nil {
		return nil, err
	}
	var out orderResult
	var err error
	if c.Entry != nil {
		out.Receipt.Audit, err = operation.AddAudit(ctx, p.store, *c.Entry)
	} else {
		out.Receipt, err = p.leads(ctx, c.Command)
	}
	if errors.Is(err, errNotLeading) || errors.Is(err, pg.ErrDeposed) {
		return nil, err
	}
	if err != nil {
		problem := api.ProblemOf(err)
		out.Problem = &problem
	}
	return json.Marshal(out)
}

// audit has the leader write an entry down.
func (p *process) audit(ctx context.Context, e engine.AuditEntry) (uint64, error) {
	r, err := p.order(ctx, asked{Entry: &e})
	return r.Audit, err
}

// order has the leader carry a command out.
func (p *process) order(ctx context.Context, c asked) (engine.Receipt, error) {
	var out orderResult
	args, err := json.Marshal(c)
	if err == nil {
		args, err = river.Give(ctx, p.store.server, args)
	}
	if err == nil {
		err = json.Unmarshal(args, &out)
	}
	switch {
	case err != nil:
		return engine.Receipt{}, engine.ProblemOf(err)
	case out.Problem != nil:
		return out.Receipt, out.Problem.AsError()
	}
	return out.Receipt, nil
}

// helped reports whether another member lives that makes calls with the same key.
func (p *process) helped() bool {
	v, key := p.seen.Load(), p.keys.Get().Fingerprint()
	// Before the first look nobody else is known, and a member without a key makes none.
	if v == nil || key == "" {
		return false
	}
	for _, o := range v.Members {
		// Members with another key make calls of another application, and are no help here.
		if o.Carries() && o.ID != p.id && o.Key == key {
			return true
		}
	}
	return false
}

// letGo has members make the calls of an engine that leads them.
func (p *parts) letGo(h *hand) *river.Calls {
	return h.carrier.Lead(p.term, func() (elsewhere, only bool) {
		others := p.helped()
		return others, p.noWork || others && !h.reach.CutOff().IsZero()
	}, func() { p.limits.Signal() })
}

// halted says why no call may be made; "" = nothing keeps the leader from letting calls go.
func (p *parts) halted() string {
	if why := p.calls.Halt(); why != "" {
		return why
	}
	// It leads, makes no calls by --no-work, and nobody else is there to make them.
	if p.noWork && !p.helped() {
		return "no other member makes calls: start one without --no-work, on a machine that reaches Riot"
	}
	v := p.seen.Load()
	if p.hand.Load().reach.CutOff().IsZero() || v == nil || v.Leader != p.id { // else it cannot reach Riot, or could not until just now
		return ""
	}
	return v.Stuck() // "" = somebody else may lead
}

// reigning is the limiter of who leads a fleet.
type reigning struct {
	*traffic.Limits
	calls *river.Calls
}

// Restore implements [control.Limiter]: it counts what the leaders before have let go.
func (r reigning) Restore(ctx context.Context, fresh bool, live iter.Seq2[engine.Job, error]) error {
	if err := r.Limits.Restore(ctx, fresh, live); err != nil {
		return err
	}
	return r.calls.Inherit(ctx, r.Limits)
}

// A member that follows hears of all commits, and hands commands on to the leader. What only that one knows, limits,
// alerts and schedules, it reads as the leader has stored it.
