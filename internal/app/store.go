package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/tempdir"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/fleet"
	"github.com/farsight-console/farsight/storage/pg"
)

// store is where everything is kept, as one process has it: a file in the data directory, or one of its own of what it
// shares with others by a PostgreSQL.
type store struct {
	*storage.DB
	server *pg.DB // nil = a data directory; then nothing below is of use
	log    *pg.Log
	note   zerolog.Logger
	tasks  sync.WaitGroup
	stop   func()       // ends what was begun with it
	dir    *tempdir.Dir // of a file for this opening alone; nil = it is kept
	// unknown: it is not known what was called last, since this is a copy of a server, until the limits are saved.
	unknown atomic.Bool
}

// region names the region of a platform, for account rows.
func region(platform string) string {
	// A platform of a version to come is shown without a region, not refused.
	p, err := route.ParsePlatform(platform)
	if err != nil {
		return ""
	}
	return string(p.Region())
}

// inDirectory is how the data directory of a configuration is opened.
func inDirectory(cfg config.Config) storage.Options {
	return storage.Options{Dir: cfg.DataDir, Network: cfg.Force, Region: region}
}

// openStored opens the store to read what is in it.
func openStored(cfg config.Config) (db *store, err error) {
	opening.Add(1)
	defer opening.Add(-1)
	if cfg.Store == "" {
		db = &store{}
		o := inDirectory(cfg)
		o.Sealed = true
		db.DB, err = storage.OpenReadOnly(o)
	} else {
		db, err = readServer(cfg)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errNothingStored(cfg)
	case err != nil:
		return nil, err
	}
	return db, nil
}

// hasStore reports whether there may be something to look at. Of a database only its opening can
// tell.
func hasStore(cfg config.Config) bool { return cfg.Store != "" || storage.HasState(cfg.DataDir) }

// storeName names the store to people.
func storeName(cfg config.Config) string {
	if cfg.Store != "" {
		return pg.Name(cfg.Store)
	}
	return cfg.DataDir
}

// noSchema says that a database has nothing of ours.
type noSchema string

// Error says it in a sentence.
func (e noSchema) Error() string { return string(e) }

// Unwrap makes it the same to callers as a directory that is not there.
func (noSchema) Unwrap() error { return fs.ErrNotExist }

// errNothingStored is no damage: it says where something would be, unless nobody can
// know that.
func errNothingStored(cfg config.Config) error {
	if cfg.Store != "" {
		return noSchema("nothing is stored in " + storeName(cfg) + " yet: sync an account first, or name another store with --store")
	}
	// Who may not look into the directory cannot say that nothing is in it.
	switch _, err := os.Lstat(filepath.Join(cfg.DataDir, "state.db")); {
	case errors.Is(err, fs.ErrPermission):
		return &storage.ErrUnusable{Path: cfg.DataDir, Why: "permission denied", Do: "check its owner and mode", Err: err}
	case errors.Is(err, syscall.ENOTDIR):
		return &storage.ErrUnusable{Path: cfg.DataDir, Why: "it is no directory", Do: "name a directory", Err: err}
	}
	return fmt.Errorf("nothing is stored in %s yet: sync an account first, or name another directory with --data-dir", cfg.DataDir)
}

// noRoom reports whether a write failed for want of room: nothing was written, and it may be tried
// again.
func noRoom(err error) bool { return errors.Is(err, storage.ErrDiskFull) }

// byServer is what takes the place of a command that works on the files of a data directory, where
// a server keeps everything: %[1]s is the schema, %[2]s the database.
var byServer = map[string]string{
	"backup":  "its backup is `pg_dump --format=custom --schema=%[1]s --file=%[1]s.dump --dbname='%[2]s'`, while engines work, too",
	"restore": "put a dump back with `pg_restore --clean --if-exists --dbname='%[2]s' %[1]s.dump`, while no engine works on it",
	"compact": "the server clears up by itself; `vacuumdb --full --dbname='%[2]s'` gives its disk back what is free, while no engine works on it",
	"migrate": "`farsight migrate --to DIR` moves it into a data directory, `pg_dump --schema=%[1]s --dbname='%[2]s'` takes it to another server",
	"reset":   "`psql --dbname='%[2]s' --command='drop schema %[1]s cascade'` deletes what is stored, and the next engine begins anew; the copies of machines that are off go when they join",
}

// needsFiles refuses a command that works on the files of a data directory where everything is in
// a database.
func needsFiles(cfg config.Config, command string) error {
	if cfg.Store == "" {
		return nil
	}
	schema, database := pg.Place(cfg.Store)
	return engine.Problemf(engine.ErrRefused, fmt.Sprintf(byServer[command], schema, database), "%s is kept by PostgreSQL, not by `farsight %s`", storeName(cfg), command)
}

// payloadsOf lets a console give out Riot's JSON.
func payloadsOf(db *store) func(context.Context, engine.PayloadQuery) ([]byte, error) {
	return func(ctx context.Context, q engine.PayloadQuery) ([]byte, error) {
		part := league.PartMatch
		if q.Timeline {
			part = league.PartTimeline
		}
		return db.Raw(ctx, q.Match, part)
	}
}

// replicaDir is where the file lies in the data directory, for the next opening.
const replicaDir = "replica"

// copyPrefix is how the names of directories begin in which a file lies for one opening.
const copyPrefix = "farsight-copy-"

// openServer opens a database for those who write, whoever leads.
func openServer(cfg config.Config, stall func(), log zerolog.Logger) (*store, error) {
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil { // the log and the sockets are there
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	return openShared(cfg, pg.Open, storage.Options{BeforeCommit: stall, Log: log})
}

// readServer opens a database to read what is in it, and what comes.
func readServer(cfg config.Config) (*store, error) {
	s, err := openShared(cfg, pg.OpenThere, storage.Options{})
	if err == nil {
		var ctx context.Context
		ctx, s.stop = context.WithCancel(context.Background())
		s.tasks.Go(func() { _ = s.Serve(ctx) })
	}
	return s, err
}

func openShared(cfg config.Config, connect func(context.Context, pg.Options) (*pg.DB, error), o storage.Options) (*store, error) {
	server, err := connect(context.Background(), pg.Options{URL: cfg.Store})
	if err != nil {
		return nil, err
	}
	s := &store{server: server, log: server.Log(), note: o.Log, stop: func() {}}
	o.Region, o.Network, o.Shared = region, true, s.log // of a file that is lost there is another
	// The file in the data directory, or one for this opening where that is another's, or there is none.
	own := true
	if _, err = os.Stat(cfg.DataDir); err == nil {
		o.Dir = filepath.Join(cfg.DataDir, replicaDir)
		s.DB, err = storage.Open(o)
		if _, damaged := errors.AsType[*storage.Damaged](err); damaged {
			if err = os.RemoveAll(o.Dir); err == nil {
				s.DB, err = storage.Open(o)
			}
		}
		own = isHeld(err) || errors.Is(err, os.ErrPermission)
	}
	if own {
		if s.dir, err = tempdir.New("", copyPrefix); err == nil {
			o.Dir = filepath.Join(s.dir.Path, replicaDir)
			s.DB, err = storage.Open(o)
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// lead lets this process write in a term.
func (s *store) lead(ctx context.Context, t *fleet.Term) error {
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
func (s *store) LoadState(ctx context.Context, name string) ([]byte, error) {
	if name == traffic.LimiterState && s.unknown.Load() {
		return []byte("{}"), nil
	}
	return s.DB.LoadState(ctx, name)
}

// SaveState is storage.DB's.
func (s *store) SaveState(ctx context.Context, name string, blob []byte) error {
	err := s.DB.SaveState(ctx, name, blob)
	if err == nil && name == traffic.LimiterState && s.unknown.Swap(false) {
		err = s.DB.SaveState(ctx, copiedState, []byte(s.server.Copied().Format(time.RFC3339Nano)))
	}
	return err
}

// Abandon implements demo.Store.
func (s *store) Abandon(why error) {
	if s.server != nil {
		s.server.Abandon(why)
	}
	s.DB.Abandon(why)
}

// Close ends what this process has of it.
func (s *store) Close() (err error) {
	if s.server == nil {
		return s.DB.Close()
	}
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
