package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/storage/fleet"
	"github.com/farsight-console/farsight/storage/pg"
	"github.com/farsight-console/farsight/ui/cli"
)

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
func newSyncRun(cfg config.Config, opt syncOptions, ask engine.SyncAsk, out cli.Out) *syncRun {
	return &syncRun{
		cfg: cfg, account: opt.account, out: out,
		follow: cli.Follow(cli.SyncOptions{Account: opt.account, Ask: ask, By: operator("cli")}, out),
	}
}

// Waits for an engine that has gone.
const (
	engineBack = 30 * time.Second // a daemon is back by then if it was only started anew
	engineLook = 250 * time.Millisecond
)

// runSync syncs one account without a console.
func runSync(ctx context.Context, cfg config.Config, opt syncOptions, out cli.Out) error {
	ask, err := opt.ask(cfg)
	if err != nil {
		return err
	}
	return newSyncRun(cfg, opt, ask, out).run(ctx)
}

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
	// On a data directory the engine itself is who is asked; members ask whoever leads.
	if s.cfg.Store != "" {
		watch.Go(func() {
			stop(leaderless(led, func(ctx context.Context) (*engine.Term, error) { return termOf(ctx, c) }))
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

// leaderless waits until nobody has led for a while; nil when ctx ended first. While nobody tells
// whether somebody leads, nobody knows.
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

// termOf asks who leads.
func termOf(ctx context.Context, c engine.Console) (*engine.Term, error) {
	a, err := c.Find(ctx, engine.MembersQuery{})
	p, ok := a.(engine.MembersPage)
	if err != nil || !ok {
		return nil, err
	}
	return p.Term(""), nil
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
		if !ledNow(ctx, s.cfg) {
			return s.keys.None()
		}
		return s.asGuest(ctx)
	}
	led, waits := false, false
	for {
		err := s.own(ctx, assembly{keys: s.keys, onlyOwn: true, attach: true})
		// The machine has slept: the term is over, the sync is as it was stored.
		if errors.Is(err, errStoodStill) {
			s.say("this process has stood still and does not lead any more: it goes on")
			led, waits = true, false
			continue
		}
		// A store that it has worked on takes no writes, or is away: as while it led, work goes on when it is back.
		if _, shut := errors.AsType[*unopened](err); shut && led && !isHeld(err) {
			if !waits {
				s.say(err.Error() + "; it goes on when that is over")
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
		s.say("nobody leads any more: this process does, unless another is faster, until the sync has ended")
	}
}

// asGuest has who leads the members of a database carry the sync out.
func (s *syncRun) asGuest(ctx context.Context) error {
	return asGuest(ctx, s.cfg, assembly{keys: s.keys, guest: func() bool { return true }}, func(ctx context.Context, p *base) error {
		return s.carriedOut(ctx, p.front, func() string { return "the members go on with it: `farsight status` shows how far it is" })
	})
}

// errAway says that no engine has come in the place of the one that has gone.
var errAway = errors.New("the engine that carried the sync out has gone, and none has come in its place: everything is kept, and the same command goes on where it stopped")

// keptHere is said of an engine of its own.
const keptHere = "everything is kept; the same command goes on where it stopped"

// own runs an engine until the sync has ended.
func (s *syncRun) own(ctx context.Context, a assembly) error {
	p, err := assemble(s.cfg, a)
	if errors.Is(err, pg.ErrDeposed) {
		return errStoodStill
	}
	if err != nil {
		return &unopened{err}
	}
	if a.attach {
		// A sync of its own works without sockets, too: others only cannot look at it.
		if err := p.openSockets(s.cfg, p.serverOptions(s.cfg)); err != nil {
			p.log.Warn().Err(err).Msg("nobody can attach to this engine")
		}
	}
	watching, done := context.WithCancelCause(ctx)
	defer done(nil)
	t := p.start(ctx, func() { done(p.lost()) })
	// Nothing is triggered twice: what follows meets the sync of the engine before, if there was one.
	sum, err := s.follow.On(watching, p.front)
	// What is asked after the end of the term fails, maybe before the engine has told that it ends.
	if errors.Is(context.Cause(watching), errStoodStill) || err != nil && p.lost() != nil {
		_ = t.stop() // with what follows from that
		return errStoodStill
	}
	s.dropUnknown(watching, p.front, sum)
	// The directory is closed before the code is known: a disk that fails at the end is a failure.
	if err := errors.Join(err, t.stop()); err != nil {
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

// lost is errStoodStill when the term of an engine has ended before its work; nil of an engine that
// has none.
func (p *parts) lost() error {
	if p.term != nil && !p.term.Held() {
		return errStoodStill
	}
	return nil
}

// say tells people, not programs.
func (s *syncRun) say(text string) {
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
		s.say("the engine has gone: looking for the next one")
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
