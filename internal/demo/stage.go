package demo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/internal/swap"
)

// Engine is an engine that runs on one data directory of a demo.
type Engine interface {
	Store
	// Console is its own: it ends with the engine.
	Console() engine.Console
	// Note tells all who watch.
	Note(engine.Note)
	// Page has alerts call the demo's telephone, and rings it at once; or has them call
	// nobody any more.
	Page(ctx context.Context, on bool) error
	// Stop drains the engine and closes the directory.
	Stop() error
	// Fall waits for an engine whose store was abandoned and closes its files. How it
	// ended is no news.
	Fall() error
}

// Start runs an engine on a data directory until ctx ends. What it has in hand is to be
// dropped when life ends; ended is called when it stops, for whatever reason.
type Start func(ctx context.Context, dir string, life context.Context, ended func()) (Engine, error)

// Store is where an engine of a demo keeps its state.
type Store interface {
	// Abandon refuses every further write with an error: nothing that is not on disk gets
	// there any more. It does not block.
	Abandon(error)
}

// Stage is where the engine of a demo runs. It can fall as by a crash and be started
// again on what it left, or make way for a new one on an empty directory, while its
// console stays open.
type Stage struct {
	root  string // of the data directories
	con   *swap.Console
	start Start
	pause time.Duration // how long an engine that fell stays away

	falling atomic.Bool // the engine ends, and another is to come

	mu    sync.Mutex // held while one engine takes the place of another
	now   Engine
	kill  context.CancelCauseFunc // ends what the engine has in hand
	dirs  int
	ctx   context.Context
	ended func()
}

// errFall is how an engine ends that is stopped as by a crash.
var errFall = errors.New("stopped as by kill -9, by the chaos panel")

// How long an engine that fell stays away.
const (
	// fallPause is long enough to be seen.
	fallPause = time.Second
	// memberPause is long enough for another member to lead (storage/fleet.UsualTTL).
	memberPause = 10 * time.Second
)

// newStage is a stage without an engine, whose console says so.
func newStage(root string, start Start) *Stage {
	return &Stage{root: root, con: swap.New(true), start: start, pause: fallPause}
}

// Console is the console of whichever engine runs.
func (s *Stage) Console() engine.Console { return s.con }

// Begin starts the first engine; ended is called when one ends that nobody stopped.
func (s *Stage) Begin(ctx context.Context, ended func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ctx, s.ended = ctx, ended
	return s.open(s.nextDir())
}

// nextDir is a data directory that has not been used.
func (s *Stage) nextDir() string {
	s.dirs++
	return s.Dir()
}

// Dir is the data directory of the engine that runs.
func (s *Stage) Dir() string { return filepath.Join(s.root, "data-"+strconv.Itoa(s.dirs)) }

// open runs an engine on a directory. The caller holds the lock.
func (s *Stage) open(dir string) error {
	life, kill := context.WithCancelCause(context.Background())
	e, err := s.start(s.ctx, dir, life, func() {
		if !s.falling.Load() {
			s.ended()
		}
	})
	if err != nil {
		kill(nil)
		return err
	}
	s.now, s.kill = e, kill
	s.con.Up(e.Console())
	return nil
}

// fell stops the engine at once: nothing that is not on disk gets there any more, and
// what was in hand is dropped. It does not block, and may be called while a commit is
// published. revive must follow.
func (s *Stage) fell(db Store, why string) {
	s.falling.Store(true)
	s.con.Down(why)
	db.Abandon(errFall)
}

// revive waits until the fallen engine is gone and starts one on what it left; mend is
// done between the two.
func (s *Stage) revive(mend func()) error {
	return s.replace(func() error {
		began := time.Now()
		s.kill(engine.ErrShutdown)
		err := s.now.Fall()
		await.Pause(s.ctx, s.pause-time.Since(began))
		mend()
		return err
	}, s.Dir)
}

// anew drains the engine and starts one on an empty directory.
func (s *Stage) anew(why string, clean func()) error {
	s.falling.Store(true)
	s.con.Down(why)
	return s.replace(func() error {
		err := s.now.Stop()
		clean()
		return errors.Join(err, os.RemoveAll(s.Dir()))
	}, s.nextDir)
}

// replace lets the engine leave and starts one on a directory, while nobody else may. ended is not
// told of the end of the first. Where the second cannot start the console says why, and stays.
func (s *Stage) replace(leave func() error, dir func() string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := leave()
	if s.ctx.Err() == nil {
		err = errors.Join(err, s.open(dir()))
	}
	// After the second has begun: from now on an end is one that nobody asked for.
	s.falling.Store(false)
	if err != nil {
		s.con.Down("the engine could not be started again: " + err.Error())
	}
	return err
}

// Engine is the one that runs.
func (s *Stage) Engine() Engine {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// note tells all who watch the engine that runs, if there is one.
func (s *Stage) note(level engine.Level, text string) {
	if e := s.Engine(); e != nil {
		e.Note(engine.Note{At: time.Now(), Level: level, Text: text})
	}
}

// Stop drains the engine, after whatever takes its place has come.
func (s *Stage) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		return nil
	}
	defer s.kill(nil)
	return s.now.Stop()
}
