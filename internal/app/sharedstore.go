package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/tempdir"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/fleet"
	"github.com/farsight-console/farsight/storage/pg"
)

// sharedStore is the store of a database as one process has it: a file of its own, and what it has in common with others.
type sharedStore struct {
	*storage.DB
	server *pg.DB
	log    *pg.Log
	note   zerolog.Logger
	tasks  sync.WaitGroup
	stop   func()       // ends what was begun with it
	dir    *tempdir.Dir // of a file for this opening alone; nil = it is kept
	// unknown: it is not known what was called last, since this is a copy of a server, until the limits are saved.
	unknown atomic.Bool
}

// replicaDir is where the file lies in the data directory, for the next opening.
const replicaDir = "replica"

// copyPrefix is how the names of directories begin in which a file lies for one opening.
const copyPrefix = "farsight-copy-"

// openServer opens a database for those who write, whoever leads.
func openServer(cfg config.Config, stall func(), log zerolog.Logger) (*sharedStore, error) {
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil { // the log and the sockets are there
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	return openShared(cfg, pg.Open, storage.Options{BeforeCommit: stall, Log: log})
}

// readServer opens a database to read what is in it, and what comes.
func readServer(cfg config.Config) (*sharedStore, error) {
	s, err := openShared(cfg, pg.OpenThere, storage.Options{})
	if err == nil {
		var ctx context.Context
		ctx, s.stop = context.WithCancel(context.Background())
		s.tasks.Go(func() { _ = s.Serve(ctx) })
	}
	return s, err
}

func openShared(cfg config.Config, connect func(context.Context, pg.Options) (*pg.DB, error), o storage.Options) (*sharedStore, error) {
	server, err := connect(context.Background(), pg.Options{URL: cfg.Store})
	if err != nil {
		return nil, err
	}
	s := &sharedStore{server: server, log: server.Log(), note: o.Log, stop: func() {}}
	o.Region, o.Network, o.Shared = region, true, s.log // of a file that is lost there is another
	if err = s.open(cfg.DataDir, o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// open opens the file in the data directory, or one for this opening where that is another's, or there is none.
func (s *sharedStore) open(dataDir string, o storage.Options) (err error) {
	if _, err = os.Stat(dataDir); err == nil {
		o.Dir = filepath.Join(dataDir, replicaDir)
		s.DB, err = storage.Open(o)
		if _, damaged := errors.AsType[*storage.Damaged](err); damaged {
			if err = os.RemoveAll(o.Dir); err == nil {
				s.DB, err = storage.Open(o)
			}
		}
		if err == nil || !isHeld(err) && !errors.Is(err, os.ErrPermission) {
			return err
		}
	}
	if s.dir, err = tempdir.New("", copyPrefix); err != nil {
		return err
	}
	o.Dir = filepath.Join(s.dir.Path, replicaDir)
	s.DB, err = storage.Open(o)
	return err
}

// lead lets this process write in a term.
func (s *sharedStore) lead(ctx context.Context, t *fleet.Term) error {
	if err := s.DB.Lead(t.Within, t.Epoch, t.End); err != nil {
		return err
	}
	s.tasks.Go(func() {
		_ = s.log.Follow(t.Within, t.Epoch, func(err error) {
			s.note.Warn().Err(err).Msg("what was committed does not come to the tables of the schema yet; it is tried again")
		})
	})
	known, err := s.DB.LoadState(ctx, copiedState)
	copied := s.server.Copied()
	s.unknown.Store(!copied.IsZero() && string(known) != copied.Format(time.RFC3339Nano))
	return err
}

// copiedState says which copy of a server the limits know of.
const copiedState = "copied"

// LoadState is storage.DB's. What was called and when is not known for certain of a copy: the limits' windows count as full.
func (s *sharedStore) LoadState(ctx context.Context, name string) ([]byte, error) {
	if name == traffic.LimiterState && s.unknown.Load() {
		return []byte("{}"), nil
	}
	return s.DB.LoadState(ctx, name)
}

// SaveState is storage.DB's.
func (s *sharedStore) SaveState(ctx context.Context, name string, blob []byte) error {
	err := s.DB.SaveState(ctx, name, blob)
	if err == nil && name == traffic.LimiterState && s.unknown.Swap(false) {
		err = s.DB.SaveState(ctx, copiedState, []byte(s.server.Copied().Format(time.RFC3339Nano)))
	}
	return err
}

// Abandon implements demo.Store.
func (s *sharedStore) Abandon(why error) {
	s.server.Abandon(why)
	s.DB.Abandon(why)
}

// Close ends what this process has of it.
func (s *sharedStore) Close() (err error) {
	s.stop()
	s.tasks.Wait()
	if s.DB != nil {
		err = s.DB.Close()
	}
	err = errors.Join(err, s.server.Close())
	if s.dir != nil {
		err = errors.Join(err, s.dir.Remove())
	}
	return err
}
