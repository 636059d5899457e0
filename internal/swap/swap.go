// Package swap is a console that outlives the engine behind it: one whose engine is
// still being opened, or falls and is started again, as in the demo.
package swap

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
)

// Console passes everything on to the engine of the moment. Who watches goes on with a
// snapshot of the next one, and who asks waits for it.
type Console struct {
	demo   bool // what is said between two engines is of a demo
	mu     sync.Mutex
	con    engine.Console // nil = there is none now
	why    string         // in its place, for people
	tenure context.Context
	end    context.CancelFunc // of the tenure

	watchers, caught int // who watch; how many of them have heard of the engine in its tenure
}

// patience is how long a command waits for the next engine.
const patience = 5 * time.Second

// New is a console without an engine; demo marks what it says itself as of a demo.
func New(demo bool) *Console {
	s := &Console{demo: demo, why: "the engine has not started yet"}
	s.tenure, s.end = context.WithCancel(context.Background())
	return s
}

// Up lets an engine answer from now on.
func (s *Console) Up(c engine.Console) { s.change(c, "") }

// Down tells that there is none for a while. It does not block.
func (s *Console) Down(why string) { s.change(nil, why) }

// change begins a tenure: with an engine, or with none and the reason.
func (s *Console) change(c engine.Console, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// Whoever watches or waits hears of it by the end of the tenure.
	s.end()
	s.con, s.why, s.caught = c, why, 0
	s.tenure, s.end = context.WithCancel(context.Background())
}

// now is who answers, and a context that ends when that changes.
func (s *Console) now() (con engine.Console, why string, tenure context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.con, s.why, s.tenure
}

// Watch implements engine.Console. Between two engines it says that the directory is
// being opened, and why.
func (s *Console) Watch(ctx context.Context) iter.Seq[engine.Update] {
	return func(yield func(engine.Update) bool) {
		s.watching(1)
		defer s.watching(-1)
		var last engine.EngineRow
		for ctx.Err() == nil {
			con, why, tenure := s.now()
			if con == nil {
				if !yield(s.opening(last, why)) {
					return
				}
				waitEither(ctx, tenure)
				continue
			}
			if !s.watchDuring(ctx, tenure, con, &last, yield) || tenure.Err() == nil {
				return
			}
		}
	}
}

// watchDuring passes on what one engine tells in its tenure; false when the reader
// has had enough.
func (s *Console) watchDuring(ctx, tenure context.Context, con engine.Console, last *engine.EngineRow, yield func(engine.Update) bool) bool {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(tenure, stop)()
	heard := false
	for u := range con.Watch(ctx) {
		if tenure.Err() != nil {
			return true // the words of an engine that falls mean nothing any more
		}
		if !heard {
			heard = true
			s.acknowledge(tenure)
		}
		if u.Engine != nil {
			*last = *u.Engine
		}
		if !yield(u) {
			return false
		}
	}
	return true
}

// watching counts who watches: 1 for one that has come, -1 for one that has left.
func (s *Console) watching(by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers += by
}

// acknowledge counts somebody who has been told how the engine of a tenure stands.
func (s *Console) acknowledge(tenure context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tenure == tenure {
		s.caught++
	}
}

// CaughtUp reports whether all who watch have heard of the present engine: a note that
// it is given before that reaches nobody.
func (s *Console) CaughtUp() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.con != nil && s.caught >= s.watchers
}

// AwaitCaughtUp waits until all who watch have heard of the present engine; false when that takes longer than
// patience, or ctx ends.
func (s *Console) AwaitCaughtUp(ctx context.Context) bool {
	for began := time.Now(); !s.CaughtUp(); {
		if time.Since(began) > patience || !await.Pause(ctx, 100*time.Millisecond) {
			return false
		}
	}
	return true
}

// opening is the update of a console without an engine.
func (s *Console) opening(last engine.EngineRow, why string) engine.Update {
	last.State, last.Why, last.Pace, last.InFlight, last.Demo = engine.EngineOpening, why, why, 0, s.demo
	u := engine.Update{Engine: &last}
	if why != "" {
		u.Notes = []engine.Note{{At: time.Now(), Level: engine.LevelWarn, Text: why}}
	}
	return u
}

// waitEither returns when one of the two has ended.
func waitEither(a, b context.Context) {
	select {
	case <-a.Done():
	case <-b.Done():
	}
}

// ready waits for an engine.
func (s *Console) ready(ctx context.Context) (engine.Console, context.Context, error) {
	// Longer than an engine takes to start; then whoever asks had better know that there is none.
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	for {
		con, why, tenure := s.now()
		if con != nil {
			return con, tenure, nil
		}
		waitEither(ctx, tenure)
		if ctx.Err() != nil {
			return nil, nil, engine.Problemf(engine.ErrGone, "ask again in a moment", "there is no engine now: %s", why)
		}
	}
}

// Do implements engine.Console. A command that an engine fell over may have been
// carried out: it is not sent again.
func (s *Console) Do(ctx context.Context, c engine.Command) (engine.Receipt, error) {
	con, tenure, err := s.ready(ctx)
	if err != nil {
		return engine.Receipt{}, err
	}
	r, err := con.Do(ctx, c)
	if err != nil && tenure.Err() != nil {
		return r, engine.Problemf(engine.ErrGone, "look whether it has happened, then ask again", "the engine fell while it carried this out")
	}
	return r, err
}

// Find implements engine.Console. A question that an engine fell over is asked
// again.
func (s *Console) Find(ctx context.Context, q engine.Query) (engine.Answer, error) {
	for {
		con, tenure, err := s.ready(ctx)
		if err != nil {
			return nil, err
		}
		a, err := con.Find(ctx, q)
		if err == nil || tenure.Err() == nil || ctx.Err() != nil {
			return a, err
		}
	}
}
