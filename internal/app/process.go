package app

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/local"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/engine/pager"
	"github.com/farsight-console/farsight/engine/regular"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/internal/logbook"
	"github.com/farsight-console/farsight/internal/swap"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/fleet"
)

// role says what a process is, where it differs from `farsight serve` on a data directory.
type role struct {
	keys      *keyring.Ring
	sole      bool        // with a database: it leads until it ends, and does not begin where another process does; else it is a member
	noLead    bool        // of a member: it follows for good
	noWork    bool        // of a member: it makes no calls for who leads
	guest     func() bool // of a member: it looks on and gives orders, no more, until it reports false once; nil = no
	onlyOwn   bool        // only the runs that ownRun names are worked on
	attach    bool        // of onlyOwn: commands and consoles attach to it as to any other
	demo      bool
	phone     *pager.CallOptions // whom a demo calls; nil = nobody
	transport http.RoundTripper  // nil = the hardened one
	dials     http.RoundTripper  // the pager's; nil = the hardened one
	speed     float64            // of the simulated Riot; 0 = the real one's
	moments   time.Duration      // between two that are kept for the time cursor; 0 = a second
	// watch sees every commit after the engine did; nil = nobody.
	watch func(seq uint64, changes []engine.Change)
	// Only the demo's chaos panel has these. stall comes before every commit, as slow
	// as it likes; spoil may put something else in the place of a handler.
	stall func()
	spoil func(engine.KindSpec) engine.KindSpec
}

// process is what this process is: its role, where all is kept, the log, the ways in, and the engine at work. [wired]
// makes it, listen opens its sockets, start lets it run, and stop takes it down.
type process struct {
	role
	config atomic.Pointer[config.Config] // in force
	log    zerolog.Logger
	logs   *logbook.File
	tale   *logbook.Narrator
	store  *store // a leader writes within its term
	id     string // random per start, or per opening of a data directory

	front  engine.Console              // what those who come in speak to
	engine atomic.Pointer[parts]       // at work; nil = none. That of a member is of a term, or shows what the leader does
	work   func(context.Context) error // until its context ends

	// Of a member of those who share a database: see fleet.go.
	con  *swap.Console                      // of the engine, of the leader, or a sentence why there is none; nil = it is no member
	seen atomic.Pointer[engine.MembersPage] // the members as they were seen last
	rest func()                             // ends to follow; only who decides on its part calls it
	hand atomic.Pointer[hand]               // makes the calls that a leader lets go; nil = nothing does

	// The ways in, and what programs are told; nil until the sockets are open.
	door      *api.Door // who may come in by the sockets
	gate      *api.Gate // who may by TCP; nil = nobody
	entrances []entrance
	http      net.Addr // of the listener for programs; nil = there is none
	events    *api.Events
	metrics   *api.Metrics
	badBackup atomic.Value // why the last scheduled backup failed, a string

	ends []func() error // undo what wired and listen did; the last one first
	halt context.CancelFunc
	done chan struct{} // closed when it runs no more
	once sync.Once
	err  error // after done: how it ended
}

// entrance is a way in: a listener and what answers on it.
type entrance struct {
	server   *api.Server
	listener net.Listener
}

// open opens the store for what is to run, and wires it: an engine of this process alone, or a member of those who share
// a database. It lets nothing run yet. What was opened before a failure is closed again.
func open(cfg config.Config, r role) (*process, error) {
	if err := enoughFiles(); err != nil {
		return nil, err
	}
	return wired(cfg, r)
}

// wired is open for a command alone, which needs few files.
func wired(cfg config.Config, r role) (p *process, err error) {
	opening.Add(1)
	defer opening.Add(-1)
	if err := logbook.Usable(cfg.DataDir); err != nil {
		return nil, err
	}
	p = &process{role: r, rest: func() {}}
	// The log is there first: what goes wrong with the opening is to be found in it.
	p.log, p.logs = logbook.New(cfg.DataDir, cfg.LogLevel)
	p.tale = logbook.NewNarrator(p.log, version())
	log.SetOutput(libraries{p})
	p.ends = append(p.ends, func() error { log.SetOutput(io.Discard); return p.logs.Close() })
	// Shared by pointer and never changed: a reload puts another one in its place.
	p.config.Store(&cfg)
	defer func() {
		if err != nil {
			p, err = nil, errors.Join(err, p.close())
		}
	}()
	ctx, noted := context.Background(), logbook.Area(p.log, logbook.AreaStorage)
	if cfg.Store == "" {
		o := inDirectory(cfg)
		o.Log, o.Verify, o.BeforeCommit = noted, verifyCopy, r.stall
		db, err := storage.Open(o)
		if err != nil {
			return p, err
		}
		p.has(&store{DB: db}, db.Boot().ID)
		return p, p.employ(&parts{process: p, boot: db.Boot()})
	}
	// The data directory, where the log and the sockets are, before the database: a second process with the same one
	// must be refused before it shows up as a member.
	if !r.sole {
		unhold, err := storage.HoldDir(cfg.DataDir)
		if err != nil {
			return p, err
		}
		p.ends = append(p.ends, unhold)
	}
	db, err := openServer(cfg, r.stall, noted)
	if err != nil {
		return p, err
	}
	p.has(db, memberID())
	if r.sole {
		t, release, err := fleet.Take(ctx, db.server, p.is())
		if err != nil {
			return p, err
		}
		p.ends = append(p.ends, release)
		e, err := p.ofTerm(ctx, t)
		if err != nil {
			return p, err
		}
		return p, p.employ(e)
	}
	// A member has no engine yet, so its console is one that says so.
	p.con = swap.New(r.demo)
	p.con.Down("joining the members that work on " + storeName(cfg))
	p.front, p.work = lobby{p.con, p}, p.member
	// A guest carries nothing out, and has no key to do it with.
	if r.guest != nil && r.guest() {
		return p, nil
	}
	return p, p.lend()
}

// has takes the store of this process, and hands what is committed to the engine at work.
func (p *process) has(db *store, id string) {
	p.store, p.id = db, id
	p.ends = append(p.ends, db.Close)
	// The engine first, then programs: who is told later must be able to ask who was told before.
	db.OnCommit(func(seq uint64, changes []engine.Change) {
		if at := p.engine.Load(); at != nil {
			at.committed(seq, changes)
		}
		if p.events != nil { // the sockets are open
			p.metrics.Publish(changes)
			p.events.Publish(changes)
		}
	})
	// A copy that was left far behind is filled anew: what shows it is wired anew, and reads it.
	db.OnGap(func() {
		if at := p.engine.Load(); at != nil && at.follows {
			at.missed()
		}
	})
}

// employ wires the engine that works until this process ends.
func (p *process) employ(e *parts) error {
	if err := e.wire(); err != nil {
		return err
	}
	p.ends = append(p.ends, func() error { e.client.CloseIdle(); return nil })
	p.front, p.work = e.control, e.run
	if p.onlyOwn {
		p.front = ownRun{e.control, e.backend}
	}
	p.engine.Store(e)
	return nil
}

// note tells those who look at the engine at work.
func (p *process) note(n engine.Note) {
	if at := p.engine.Load(); at != nil {
		at.control.Note(n)
	}
}

// listen opens the sockets, and the listener for programs where one is configured; run serves them. The lock is held:
// nobody else makes files while the umask is changed.
func (p *process) listen() error {
	cfg := *p.config.Load()
	byTCP := cfg.HTTPListen != "" && !p.onlyOwn
	if byTCP {
		// Made at the first start, mode 0600: who can read the directory may ask.
		token, err := api.LoadToken(cfg.DataDir)
		if err != nil {
			return err
		}
		p.gate = api.NewGate(token)
	}
	opt := p.serverOptions()
	if byTCP {
		l, err := api.ListenHTTP(cfg.HTTPListen)
		if err != nil {
			return err
		}
		programs := opt
		programs.Who, programs.Conns = p.gate.Who, api.HTTPConns
		// A page in a browser could make its user call a loopback port: only its own names are answered.
		programs.Hosts, programs.Origins = api.HTTPHosts(l)
		programs.Pages = cfg.HTTPOrigins
		p.enter(api.NewServer(programs), l)
		p.http = l.Addr()
	}
	access, err := cfg.Access()
	if err != nil {
		return err
	}
	// The door outlives each reload: rules are changed in it while somebody is inside.
	p.door = api.NewDoor(access)
	opt.Who = p.door.Who
	server := api.NewServer(opt)
	// A fault in these settings leaves the owner's socket closed, too: half a configuration is none.
	path, err := cfg.GroupSocket()
	if err != nil {
		return err
	}
	l, err := api.Listen(controlSocket(cfg.DataDir), -1)
	if err != nil {
		return err
	}
	if p.enter(server, l); path == "" {
		return nil
	}
	group, err := api.GroupID(cfg.SocketGroup)
	if err != nil {
		return usage(err)
	}
	if err := groupFolder(path); err != nil {
		return err
	}
	if l, err = api.Listen(path, int(group)); err == nil {
		p.enter(server, l)
	}
	return err
}

// enter takes one way in.
func (p *process) enter(server *api.Server, l net.Listener) {
	p.entrances = append(p.entrances, entrance{server, l})
	// One whose file stays, on a disk that has failed, does no harm: the next engine takes its place.
	p.ends = append(p.ends, func() error {
		if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			p.log.Warn().Str("area", logbook.AreaSocket).Err(err).Msg("the control socket was not removed")
		}
		return nil
	})
}

// groupFolder refuses a folder in which another user could put a socket of their own in
// the place of ours, and be told the next key by whoever attaches to it.
func groupFolder(path string) error {
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("the folder of the group's socket: %w: make it, for the group to enter", err)
	}
	owner, _, known := regular.Owner(info)
	switch {
	// Whoever may write to a folder may take a socket out of it and put another one in.
	case regular.Others(info)&0o002 != 0:
		return fmt.Errorf("everybody may write to %s: put the group's socket into a folder of its own, such as /run/farsight", dir)
	case regular.Others(info)&0o020 != 0:
		return fmt.Errorf("the group may write to %s, and so put a socket of its own in the place of the engine's: run chmod g-w %s", dir, dir)
	case known && owner != 0 && owner != os.Geteuid():
		return fmt.Errorf("%s is another user's: put the group's socket into a folder of the engine's user, such as /run/farsight", dir)
	}
	return nil
}

// serverOptions are those of every way in. Events and metrics are told of commits from now on.
func (p *process) serverOptions() api.Options {
	cfg := *p.config.Load()
	socket := logbook.Area(p.log, logbook.AreaSocket)
	p.events = api.NewEvents(api.EventsOptions{Console: p.front, Boot: p.id, Log: socket})
	p.metrics = api.NewMetrics(api.MetricsOptions{
		Console: p.front, Version: version(),
		Queue:    func(q engine.Queue) string { return edgeQueue(cfg, q) },
		Policies: cfg.Policies, Commits: p.commitTimes, Sizes: p.storeSizes,
	})
	programs := api.ProgramsOptions{
		Console: p.front, Platform: cfg.Platform, Cooldown: cfg.Cooldown, Config: p.shownSettings,
		Metrics: p.metrics, Events: p.events,
	}
	if p.gate != nil {
		programs.Pass = p.gate.Pass
	}
	o := api.Options{
		Console: p.front, Log: socket, Routes: api.NewPrograms(programs).Routes(), Version: version(), PID: os.Getpid(),
		Dir: cfg.Folder(), // or the store, by a name that holds in every process
		// What was refused before it came to a console stands in the audit, too.
		Refused: func(ctx context.Context, c engine.Command, why string) error {
			if at := p.engine.Load(); at != nil {
				return at.control.Refuse(ctx, c, why)
			}
			return nil
		},
	}
	if cfg.Store != "" {
		o.Dir = storeName(cfg)
	}
	return o
}

// commitTimes are how long commits took, by store, as Prometheus counts them: a bound's count holds
// those of all smaller bounds, too. Seconds.
func (p *process) commitTimes() map[string]api.Histogram {
	out := map[string]api.Histogram{}
	for store, sum := range p.store.WriteSums() {
		h := api.Histogram{Count: sum.Count, Sum: sum.Sum.Seconds()}
		// Counts are of their own range only; Prometheus wants each with all below it.
		upTo := uint64(0)
		for i, bound := range storage.WriteBounds {
			upTo += sum.Counts[i]
			h.Bounds, h.Counts = append(h.Bounds, bound.Seconds()), append(h.Counts, upTo)
		}
		out[store] = h
	}
	return out
}

// storeSizes are bytes, by what takes them; nil while they are not known. A database has no "free".
func (p *process) storeSizes() map[string]float64 {
	s, err := p.store.Sizes()
	if err != nil {
		p.log.Warn().Str("area", logbook.AreaStorage).Err(err).Msg("the size of the store is not known")
		return nil
	}
	return map[string]float64{"state": float64(s.State), "payloads": float64(s.Payloads), "free": float64(s.Free)}
}

// keyShown is under which name the key is shown among the settings.
const keyShown = "api_key"

// shownSettings are the settings in force, secrets cut: the key, the user in an address, and what looks like a key.
func (p *process) shownSettings() []engine.Setting {
	// A console that stands still must not hold up a page of settings.
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	key := engine.Setting{Name: keyShown, Value: "none", Source: cmp.Or(p.keys.From(), "default"), Env: keyring.Env}
	// As the engine shows it: the last characters, or that Riot refuses it.
	if shown := found[engine.StatusAnswer](ctx, p.front, engine.StatusQuery{}).Engine.Key; shown != "" {
		key.Value = shown
	}
	out := []engine.Setting{key}
	for _, s := range p.config.Load().Sources {
		if u, err := url.Parse(s.Value); err == nil && u.User != nil {
			u.User = url.User("****")
			s.Value = u.String()
		}
		s.Value = riot.Redact(s.Value)
		out = append(out, s)
	}
	return out
}

// start lets it run in the background; ended is called when it stops, for whatever reason.
func (p *process) start(ctx context.Context, ended func()) {
	ctx, p.halt = context.WithCancel(ctx)
	p.done = make(chan struct{})
	go func() {
		defer close(p.done)
		// In this order: who waits for ended may call stop, which waits for done.
		defer ended()
		p.err = p.run(ctx)
	}()
}

// run works until ctx ends, then drains: the store outlives the engine, so that
// every last write lands.
func (p *process) run(ctx context.Context) error {
	// Two lives: the engine's ends with ctx, the store's when the engine has drained. The store's
	// context must not be a child of ctx, or a signal would end both at once and lose what is in
	// hand.
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var g errgroup.Group
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g.Go(func() error {
		defer cancel() // a store that cannot be trusted ends the engine
		return p.store.Serve(serving)
	})
	g.Go(func() error {
		defer stop()
		return p.attend(ctx)
	})
	at := p.engine.Load()
	p.tale.Started(p.id, at != nil && at.boot.New)
	err := g.Wait()
	p.tale.Stopped(err)
	return err
}

// attend lets the engine work and answers on the sockets, the drain included. A socket
// that fails is said; the engine goes on without it.
func (p *process) attend(ctx context.Context) error {
	// The sockets outlive ctx, so that who is attached sees the engine drain.
	attending, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()
	var g errgroup.Group
	for _, e := range p.entrances {
		g.Go(func() error {
			if err := e.server.Serve(attending, e.listener); err != nil {
				p.log.Error().Str("area", logbook.AreaSocket).Err(err).Msg("the control socket is closed")
			}
			return nil
		})
	}
	if p.events != nil { // they go on to the last commit of the drain
		g.Go(func() error { return p.events.Run(attending) })
	}
	err := p.work(ctx)
	leave()
	return errors.Join(err, g.Wait())
}

// stop drains the engine and closes everything. It may be called twice.
func (p *process) stop() error {
	p.once.Do(func() {
		p.halt()
		<-p.done
		p.err = errors.Join(p.err, p.close())
	})
	return p.err
}

// close undoes what wired and listen did.
func (p *process) close() error { return undo(p.ends) }

// undo takes each step, the last one first, whether those before it failed or not: it is also how an opening ends that
// failed half way.
func undo(ends []func() error) (err error) {
	for _, end := range slices.Backward(ends) {
		err = errors.Join(err, end())
	}
	return err
}

// libraries takes what libraries print by Go's own loggers (net/http what a server says unasked, with up to 4 kB
// of it): to stderr it would go over the screen.
type libraries struct{ *process }

// Write makes one record of what is printed. It never fails.
func (l libraries) Write(text []byte) (int, error) {
	l.log.Warn().Str("area", logbook.AreaLibrary).Msg(safe.Line(l.keys.Get().Redact(string(bytes.TrimSpace(text))), 200))
	return len(text), nil
}

// ownRun is the console of a process that works for one sync: what is triggered, or
// found under way, is all that its engine runs.
type ownRun struct {
	engine.Console
	backend *local.Backend
}

// Do carries out a command, and lets the engine work on the sync that a trigger
// has started or met. What else a command sets going is said to wait.
func (o ownRun) Do(ctx context.Context, c engine.Command) (engine.Receipt, error) {
	r, err := o.Console.Do(ctx, c)
	switch {
	case c.DryRun:
		return r, err
	case c.Op == engine.OpTrigger || c.Op == engine.OpCollect:
		return o.serve(ctx, r, err)
	case err != nil || r.Applied == 0 || !operation.Of(c.Op).Starts:
		return r, err
	}
	others := func(id engine.JobID) bool { return !o.backend.Serves(id) }
	// A command without jobs, such as a pause, waits for nobody.
	left := c.Select == nil && c.Job != "" && others(c.Job)
	if c.Select != nil {
		left = c.Select.Filter != nil || slices.ContainsFunc(c.Select.IDs, others)
	}
	if left { // jobs that the engine does not work on
		r.Text += "; what is no part of its sync waits for the next engine"
	}
	return r, err
}

// serve lets the backend work on the sync that a trigger has started. One that is under way already is
// an error to whoever asked, and the one to go on with: its job stands in the error.
func (o ownRun) serve(ctx context.Context, r engine.Receipt, err error) (engine.Receipt, error) {
	job := r.Job
	if p, ok := errors.AsType[*engine.Problem](err); ok && errors.Is(err, engine.ErrConflict) {
		job = p.Job
	}
	if job == "" {
		return r, err
	}
	return r, errors.Join(err, o.backend.Serve(ctx, job))
}

// edgeQueue is a queue's name outside of the program: many deployments share one
// place that collects such names.
func edgeQueue(cfg config.Config, q engine.Queue) string {
	if cfg.Prefix == "" {
		return string(q)
	}
	return cfg.Prefix + ":" + string(q)
}
