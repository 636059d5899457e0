package main

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// swap is a console whose engine is still being opened, or may fall and be started
// again, as in the demo: who watches goes on with a snapshot of the next one, and who
// asks waits for it.
type swap struct {
	demo   bool
	mu     sync.Mutex
	con    engine.Console // nil = there is none now
	why    string         // in its place, for people
	tenure context.Context
	end    context.CancelFunc // of the tenure
}

// swapPatience is how long a command waits for the next engine.
const swapPatience = 5 * time.Second

func newSwap() *swap {
	s := &swap{why: "the engine has not started yet"}
	s.tenure, s.end = context.WithCancel(context.Background())
	return s
}

// up lets an engine answer from now on.
func (s *swap) up(c engine.Console) { s.change(c, "") }

// down tells that there is none for a while. It does not block.
func (s *swap) down(why string) { s.change(nil, why) }

func (s *swap) change(c engine.Console, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end()
	s.con, s.why = c, why
	s.tenure, s.end = context.WithCancel(context.Background())
}

// now is who answers, and a context that ends when that changes.
func (s *swap) now() (con engine.Console, why string, tenure context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.con, s.why, s.tenure
}

// Watch implements engine.Console. Between two engines it says that the directory is
// being opened, and why.
func (s *swap) Watch(ctx context.Context) iter.Seq[engine.Update] {
	return func(yield func(engine.Update) bool) {
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
			if !watchDuring(ctx, tenure, con, &last, yield) || tenure.Err() == nil {
				return
			}
		}
	}
}

// watchDuring passes on what one engine tells in its tenure; false when the reader
// has had enough.
func watchDuring(ctx, tenure context.Context, con engine.Console, last *engine.EngineRow, yield func(engine.Update) bool) bool {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(tenure, stop)()
	for u := range con.Watch(ctx) {
		if tenure.Err() != nil {
			return true // the words of an engine that falls mean nothing any more
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

// opening is the update of a console without an engine.
func (s *swap) opening(last engine.EngineRow, why string) engine.Update {
	last.State, last.Why, last.InFlight, last.Demo = engine.EngineOpening, why, 0, s.demo
	u := engine.Update{Engine: &last}
	if why != "" {
		u.Notes = []engine.Note{{At: time.Now(), Level: engine.LevelWarn, Text: why}}
	}
	return u
}

func waitEither(a, b context.Context) {
	select {
	case <-a.Done():
	case <-b.Done():
	}
}

// ready waits for an engine.
func (s *swap) ready(ctx context.Context) (engine.Console, context.Context, error) {
	ctx, stop := context.WithTimeout(ctx, swapPatience)
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
func (s *swap) Do(ctx context.Context, c engine.Command) (engine.Receipt, error) {
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
func (s *swap) Find(ctx context.Context, q engine.Query) (engine.Answer, error) {
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
