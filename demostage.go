package main

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
)

// stage is where the engine of a demo runs. It can fall as by a crash and be started
// again on what it left, or make way for a new one on an empty directory, while its
// console stays open.
type stage struct {
	root string // of the data directories
	con  *swap
	make func(dir string, life context.Context) (*parts, error)

	falling atomic.Bool // the engine ends, and another is to come

	mu    sync.Mutex // held while one engine takes the place of another
	task  *engineTask
	kill  context.CancelCauseFunc // ends what the engine has in hand
	dirs  int
	ctx   context.Context
	ended func()
}

// errFall is how an engine ends that is stopped as by a crash.
var errFall = errors.New("stopped as by kill -9, by the chaos panel")

// fallPause is how long the engine stays away: long enough to be seen.
const fallPause = time.Second

func newStage(root string) *stage {
	s := &stage{root: root, con: newSwap()}
	s.con.demo = true
	return s
}

// begin starts the first engine; ended is called when one ends that nobody stopped.
func (s *stage) begin(ctx context.Context, ended func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ctx, s.ended = ctx, ended
	return s.open(s.nextDir())
}

// nextDir is a data directory that has not been used.
func (s *stage) nextDir() string {
	s.dirs++
	return s.dir()
}

func (s *stage) dir() string { return filepath.Join(s.root, "data-"+strconv.Itoa(s.dirs)) }

// open runs an engine on a directory. The caller holds the lock.
func (s *stage) open(dir string) error {
	life, kill := context.WithCancelCause(context.Background())
	p, err := s.make(dir, life)
	if err != nil {
		kill(nil)
		return err
	}
	s.kill = kill
	s.task = p.start(s.ctx, func() {
		if !s.falling.Load() {
			s.ended()
		}
	})
	s.con.up(p.control)
	return nil
}

// fell stops the engine at once: nothing that is not on disk gets there any more, and
// what was in hand is dropped. It does not block, and may be called while a commit is
// published. revive must follow.
func (s *stage) fell(p *parts, why string) {
	s.falling.Store(true)
	s.con.down(why)
	p.db.Abandon(errFall)
}

// revive waits until the fallen engine is gone and starts one on what it left; mend is
// done between the two.
func (s *stage) revive(mend func()) error {
	return s.replace(func() error {
		s.kill(engine.ErrShutdown)
		err := s.task.fall()
		pause(s.ctx, fallPause)
		mend()
		return err
	}, s.dir)
}

// anew drains the engine and starts one on an empty directory.
func (s *stage) anew(why string, clean func()) error {
	s.falling.Store(true)
	s.con.down(why)
	return s.replace(func() error {
		err := s.task.stop()
		clean()
		return errors.Join(err, os.RemoveAll(s.dir()))
	}, s.nextDir)
}

func (s *stage) replace(leave func() error, dir func() string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := leave()
	if s.ctx.Err() == nil {
		err = errors.Join(err, s.open(dir()))
	}
	s.falling.Store(false)
	if err != nil {
		s.con.down("the engine could not be started again: " + err.Error())
	}
	return err
}

// parts are those of the engine that runs.
func (s *stage) parts() *parts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.task.parts
}

// stop drains the engine, after whatever takes its place has come.
func (s *stage) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.task == nil {
		return nil
	}
	defer s.kill(nil)
	return s.task.stop()
}

// fall waits for an engine whose store was abandoned and closes its files. How it
// ended is no news.
func (t *engineTask) fall() error {
	t.once.Do(func() {
		<-t.done
		t.cancel()
		t.err = t.close()
	})
	return t.err
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
