package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/storage/fleet"
	"github.com/farsight-console/farsight/storage/pg"
	"github.com/farsight-console/farsight/ui/cli"
)

// syncCommand makes `farsight sync`, for scripts and cron: it ends when the sync has.
func syncCommand() commandDecl {
	var opt syncOptions
	return commandDecl{
		use: "sync 'Name#TAG'", group: groupStart,
		short:   "Sync one account until it is complete, without a console",
		example: "farsight sync 'Name#TAG' --platform euw1\nfarsight sync 'Name#TAG' --platform euw1 --since 30d --json | tail -n 1",
		// Accounts that are known are offered; any other name can be typed, for that is how one comes
		// in.
		args: oneAccount, complete: onlyFirst(completeAccounts),
		starts: true,
		json:   "progress as NDJSON, a summary object last",
		flags:  func(f *pflag.FlagSet) { opt.flags(f, "", "; empty = as the account's policy says, else all") },
		run: func(ctx context.Context, g given) error {
			opt.account = g.args[0]
			ask, err := opt.ask(g)
			if err != nil {
				return err
			}
			return newSyncRun(g.cfg, cli.SyncOptions{Account: opt.account, Ask: ask}, g.out).run(ctx)
		},
	}
}

// triggerCommand makes `farsight trigger`. Without an engine it puts the sync in line in the data
// directory: the next engine begins it.
func triggerCommand() commandDecl {
	var opt syncOptions
	var mode string
	return commandDecl{
		use: "trigger 'Name#TAG'", group: groupAccounts,
		short:   "Start a sync of an account, or put it in line for the next engine",
		example: "farsight trigger 'Name#TAG' --platform euw1 --mode latest",
		args:    oneAccount, complete: onlyFirst(completeAccounts),
		reason: keptWhy,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&mode, "mode", ingest.ModeFull, "how much: full, or latest for the newest few")
			opt.flags(f, string(league.TimelinesAll), "")
		},
		run: func(ctx context.Context, g given) error {
			opt.account = g.args[0]
			ask, err := opt.ask(g)
			if err != nil {
				return err
			}
			if mode != ingest.ModeFull && mode != ingest.ModeLatest {
				return usagef("--mode %q is unknown: use full or latest", mode)
			}
			// A sync by `farsight sync` is always a full one.
			ask.Mode = mode
			return g.act(ctx, []engine.Command{{Op: engine.OpTrigger, Account: opt.account, Sync: ask}}, nil)
		},
	}.acting()
}

// syncOptions are the flags of the commands that ask for a sync.
type syncOptions struct {
	account   string // its Riot ID, as typed
	count     int    // only so many of the newest listed; 0 = all
	since     string // an age such as 30d; "" = whatever Riot keeps
	timelines string // a word of [league.Timelines]; "" = as the account's policy says
	force     bool   // also within the cooldown, and what could not be had
}

// flags gives a command these flags. The commands differ in what --timelines is when it is not given.
func (o *syncOptions) flags(f *pflag.FlagSet, timelines, usual string) {
	f.IntVar(&o.count, "count", 0, "only the newest N listed; 0 = all")
	f.StringVar(&o.since, "since", "", "only what was played since: 30d, 6w, 18mo, 2y")
	f.BoolVar(&o.force, "force", false, "skip the cooldown, and try again what could not be had")
	f.StringVar(&o.timelines, "timelines", timelines, "which timelines: all, ranked or none"+usual)
}

// ask checks the flags and makes the request of them. It refuses what the engine would refuse, too, so
// that nothing is opened, and no key is needed, to find out about a typing error.
func (o syncOptions) ask(g given) (engine.SyncAsk, error) {
	if _, _, err := route.ParseRiotID(o.account); err != nil {
		return engine.SyncAsk{}, usage(err)
	}
	platform, err := g.platformFor(o.account)
	if err != nil {
		return engine.SyncAsk{}, err
	}
	// The flag library takes negative numbers, too.
	if o.count < 0 {
		return engine.SyncAsk{}, usagef("--count %d makes no sense: use 1 or more, or 0 for all", o.count)
	}
	ask := engine.SyncAsk{Platform: platform, Mode: "full", Count: o.count, Timelines: o.timelines, Force: o.force}
	// The engine takes these three words, and "" for the account's own policy.
	switch league.Timelines(o.timelines) {
	case "", league.TimelinesAll, league.TimelinesRanked, league.TimelinesNone:
	default:
		return ask, usagef("--timelines %q is unknown: use all, ranked or none", o.timelines)
	}
	if o.since == "" {
		return ask, nil
	}
	// In calendar units, as retention is: 18mo is not 540 days.
	span, err := league.ParseSpan(o.since)
	if err != nil {
		return ask, usagef("--since: %v", err)
	}
	// 0 is no limit, as in the settings of retention, and so the same as nothing.
	if !span.Off() {
		ask.Since = span.Before(time.Now())
	}
	return ask, nil
}

// platformFor is where an account plays, as it is written everywhere: EUW1 was typed, euw1 is stored. It is
// "" where none is named: the engine knows that of an account that is stored, and asks for that of another.
func (g given) platformFor(account string) (string, error) {
	p, err := route.ParsePlatform(g.cfg.Platform)
	switch {
	case g.cfg.Platform != "":
		return string(p), usage(err)
	case !g.out.Spoken && !hasStore(g.cfg): // nor has it an account: refused before a directory is made
		return "", usagef("say where %s plays: --platform %s (one of %s)", safe.Text(account), route.Likely(account), strings.Join(texts(route.Platforms()), ", "))
	}
	return "", nil
}

// syncRun is `farsight sync` under way: carried out by the engine that holds the
// directory, else by one of its own.
type syncRun struct {
	cfg     config.Config
	account string
	out     cli.Out
	follow  *cli.Following
	keys    *keyring.Ring // of its own engine; nil = not read yet
	pid     int           // of the engine that carries it out; 0 = this process
	lost    time.Time     // when that engine went; zero = it is there
}

// newSyncRun is a run that has not begun. What it follows outlives the engine that carries it out.
func newSyncRun(cfg config.Config, o cli.SyncOptions, out cli.Out) *syncRun {
	o.By = operator("cli")
	return &syncRun{cfg: cfg, account: cmp.Or(o.Account, "collect"), out: out, follow: cli.Follow(o, out)}
}

// Waits for an engine that has gone.
const (
	engineBack = 30 * time.Second // a daemon is back by then if it was only started anew
	engineLook = 250 * time.Millisecond
)

// run lets whichever engine is there carry it out, one after the other, until it has ended.
func (s *syncRun) run(ctx context.Context) error {
	for {
		err := through(ctx, s.cfg, func(c *api.Client) error { return s.beside(ctx, c) }, func() error { return s.alone(ctx) })
		if again, err := s.after(ctx, err); !again {
			return err
		}
	}
}

// beside lets the engine that holds the directory sync the account.
func (s *syncRun) beside(ctx context.Context, c *api.Client) error {
	// For the sentence about how to end it.
	if h, err := c.Hello(ctx); err == nil {
		s.pid = h.PID
	}
	s.lost = time.Time{}
	return s.carriedOut(ctx, c, s.goesOn)
}

// carriedOut follows the sync where somebody else carries it out; goesOn says so of one that is left.
func (s *syncRun) carriedOut(ctx context.Context, c engine.Console, goesOn func() string) error {
	// Ends with the cause errLeaderless when nobody leads any more.
	led, stop := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer stop(nil)
	// With a database, whoever answers may be there while nobody leads.
	if s.cfg.Store != "" {
		watch.Go(func() {
			stop(leaderless(led, func(ctx context.Context) (*engine.Term, error) {
				p, err := engine.Ask[engine.MembersPage](ctx, c, engine.MembersQuery{})
				return p.Term(""), err
			}))
		})
	}
	sum, err := s.follow.On(led, c)
	if gone := context.Cause(led); errors.Is(gone, errLeaderless) {
		return gone
	}
	if err != nil {
		return err
	}
	// After the summary: the reason stands on the row that is taken away.
	s.dropUnknown(ctx, c, sum)
	return verdict(sum, s.account, s.out, goesOn())
}

// Looks for who leads while somebody else carries a sync out.
const (
	ledLook = time.Second
	unled   = 3 * fleet.UsualTTL // another one leads by then, if there is one
)

// errLeaderless says that nobody carries a sync out any more.
var errLeaderless = engine.Problemf(engine.ErrGone, "everything is kept: start `farsight serve` with an API key on one of their machines, and the same command goes on where the sync stopped", "nobody leads the members any more that share the database")

// leaderless waits until nobody has led for a while; nil when ctx ended first. A question that fails says
// nothing, neither way.
func leaderless(ctx context.Context, term func(context.Context) (*engine.Term, error)) error {
	last := time.Now()
	for await.Pause(ctx, ledLook) {
		if t, err := term(ctx); err != nil || t == nil || t.Leader != "" {
			last = time.Now()
		}
		if time.Since(last) >= unled {
			return errLeaderless
		}
	}
	return nil
}

// goesOn says what becomes of the sync when whoever waits for it leaves.
func (s *syncRun) goesOn() string {
	if s.follow.Job() == "" {
		return fmt.Sprintf("the engine (process %d) may have begun it: `farsight status` tells", s.pid)
	}
	return fmt.Sprintf("the engine (process %d) goes on with it: `farsight status` shows how far it is, `farsight cancel %s` ends it", s.pid, s.follow.Job())
}

// alone syncs the account with an engine of its own. A daemon that was at it may be
// back at once: its directory is not taken.
func (s *syncRun) alone(ctx context.Context) error {
	// An engine that served everything is a daemon, which is started again by whoever runs it; one
	// that served a sync alone has ended for good, and this process takes its place.
	if !s.lost.IsZero() && !s.follow.OnlyServed() {
		return errAway
	}
	if s.keys == nil { // once: the environment is cleared of the key
		keys, err := keyring.Load(s.cfg.KeyPath())
		if err != nil {
			return err
		}
		s.keys = keys
	}
	if s.keys.Get().IsZero() {
		// Without a key of its own it can still ask the members of a database.
		db, err := openStored(s.cfg)
		if err != nil {
			return s.keys.None()
		}
		// A data directory has no members, and one process that works on it does not lead.
		led := false
		if members := membersOf(db, ""); members != nil {
			page, err := members(ctx)
			led = err == nil && page.Leader != ""
		}
		if db.Close() != nil || !led {
			return s.keys.None()
		}
		return s.asGuest(ctx)
	}
	led, waits := false, false
	for {
		err := s.own(ctx, role{keys: s.keys, sole: true, onlyOwn: true, attach: true})
		// The machine has slept: the term is over, the sync is as it was stored.
		if errors.Is(err, errStoodStill) {
			s.toPeople("this process has stood still and does not lead any more: it goes on")
			led, waits = true, false
			continue
		}
		// A store that it has worked on takes no writes, or is away: as while it led, work goes on when it is back.
		if _, shut := errors.AsType[*unopened](err); shut && led && !isHeld(err) {
			if !waits {
				s.toPeople(err.Error() + "; it goes on when that is over")
			}
			if waits = true; await.Pause(ctx, ledLook) {
				continue
			}
		}
		if s.cfg.Store == "" || !isHeld(err) {
			return err
		}
		err = s.asGuest(ctx) // others work there, on other machines
		if !errors.Is(err, errLeaderless) {
			return err
		}
		s.toPeople("nobody leads any more: this process does, unless another is faster, until the sync has ended")
	}
}

// asGuest has who leads the members of a database carry the sync out.
func (s *syncRun) asGuest(ctx context.Context) error {
	p, err := open(s.cfg, role{keys: s.keys, guest: func() bool { return true }})
	if err != nil {
		return err
	}
	watching, done := context.WithCancel(ctx)
	defer done()
	p.start(ctx, done)
	err = s.carriedOut(watching, p.front, func() string { return "the members go on with it: `farsight status` shows how far it is" })
	return errors.Join(err, p.stop())
}

// errAway says that no engine has come in the place of the one that has gone.
var errAway = errors.New("the engine that carried the sync out has gone, and none has come in its place: everything is kept, and the same command goes on where it stopped")

// keptHere is said of an engine of its own.
const keptHere = "everything is kept; the same command goes on where it stopped"

// own runs an engine until the sync has ended.
func (s *syncRun) own(ctx context.Context, r role) error {
	p, err := open(s.cfg, r)
	if errors.Is(err, pg.ErrDeposed) {
		return errStoodStill
	}
	if err != nil {
		return &unopened{err}
	}
	if r.attach {
		// A sync of its own works without sockets, too: others only cannot look at it.
		if err := p.listen(); err != nil {
			p.log.Warn().Err(err).Msg("nobody can attach to this engine")
		}
	}
	// lost says that the term has ended before the work; a data directory has none.
	lost := func() error {
		if t := p.engine.Load().term; t != nil && !t.Held() {
			return errStoodStill
		}
		return nil
	}
	watching, done := context.WithCancelCause(ctx)
	defer done(nil)
	p.start(ctx, func() { done(lost()) })
	// Nothing is triggered twice: what follows meets the sync of the engine before, if there was one.
	sum, err := s.follow.On(watching, p.front)
	if _, refused := errors.AsType[*cli.NotAgreed](err); refused {
		return errors.Join(err, p.stop())
	}
	// What is asked after the end of the term fails, maybe before the engine has told that it ends.
	if errors.Is(context.Cause(watching), errStoodStill) || err != nil && lost() != nil {
		_ = p.stop() // with what follows from that
		return errStoodStill
	}
	s.dropUnknown(watching, p.front, sum)
	// The directory is closed before the code is known: a disk that fails at the end is a failure.
	if err := errors.Join(err, p.stop()); err != nil {
		return err
	}
	return verdict(sum, s.account, s.out, keptHere)
}

// unopened is why an engine of its own did not begin.
type unopened struct{ error }

func (e *unopened) Unwrap() error { return e.error }

// errStoodStill says that an engine of its own has lost its term: for longer than that lasts it did
// nothing, as on a machine that sleeps.
var errStoodStill = engine.Problemf(engine.ErrGone, "the same command goes on where it stopped", "this process has stood still and does not lead any more")

// toPeople tells people, not programs.
func (s *syncRun) toPeople(text string) {
	if !s.out.JSON {
		_, _ = fmt.Fprintln(s.out.W, text)
	}
}

// dropUnknown takes an account away that was mistyped: its end has been told.
func (s *syncRun) dropUnknown(ctx context.Context, c engine.Console, sum cli.Summary) {
	if sum.Result == cli.ResultFailed && s.follow.Account() != "" {
		forgetMistyped(ctx, c, s.follow.Account(), operator("cli"))
	}
}

// after reports whether the next engine is to be looked for: the one that carried the
// sync out has gone. err is how it ended otherwise.
func (s *syncRun) after(ctx context.Context, err error) (again bool, _ error) {
	if errors.Is(err, errLeaderless) {
		return false, err // it was waited for
	}
	// A directory that is held after an engine has gone is the next engine's, which is only starting.
	gone := errors.Is(err, engine.ErrGone) || errors.Is(err, errAway) || !s.lost.IsZero() && isHeld(err)
	if !gone || ctx.Err() != nil {
		return false, err
	}
	if s.lost.IsZero() {
		s.lost = time.Now()
		s.toPeople("the engine has gone: looking for the next one")
	}
	if time.Since(s.lost) > engineBack {
		return false, err
	}
	if await.Pause(ctx, engineLook) {
		return true, nil
	}
	return false, verdict(cli.Summary{Result: cli.ResultInterrupted}, s.account, s.out, keptHere)
}

// verdict turns how a sync ended into an exit code; kept says what becomes of one that
// was interrupted.
func verdict(s cli.Summary, account string, out cli.Out, kept string) error {
	switch s.Result {
	case cli.ResultCompleted:
		return nil
	case cli.ResultIncomplete:
		return &coded{code: exitIncomplete, quiet: true, err: errors.New("some matches could not be had")}
	case cli.ResultCancelled:
		return &coded{code: exitCancelled, quiet: true, err: errors.New("the sync was cancelled")}
	case cli.ResultInterrupted:
		if !out.JSON {
			_, _ = fmt.Fprintln(out.W, "interrupted: "+kept)
		}
		return &coded{code: exitInterrupted, quiet: true, err: errors.New("interrupted")}
	}
	return fmt.Errorf("%s: %s", account, cmp.Or(s.Error, "the sync ended as "+s.Result))
}
