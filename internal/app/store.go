package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/alert"
	"github.com/farsight-console/farsight/engine/control"
	"github.com/farsight-console/farsight/engine/cron"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/local"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/engine/pager"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/demo"
	"github.com/farsight-console/farsight/internal/doctor"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/keep"
	"github.com/farsight-console/farsight/storage/pg"
)

// store is where everything is kept: a data directory, or a schema of a PostgreSQL. It is what
// the parts of an engine want of one, and the program itself.
type store interface {
	local.Store
	ingest.Store
	control.Store
	cron.Store
	alert.Store
	pager.Store
	operation.Forgetting
	demo.Store
	doctor.Store

	// An engine lets Serve run until it has drained.
	OnCommit(f func(seq uint64, changes []engine.Change))
	OnGap(missed func())
	Serve(ctx context.Context) error

	Recent(ctx context.Context, account string, n int) ([]engine.Attempt, error)
	Raw(ctx context.Context, match string, part league.Part) ([]byte, error)
	Check(ctx context.Context) (storage.CheckReport, error)
	Prune(ctx context.Context, rule engine.PruneAsk, now time.Time, dryRun bool) (engine.PruneDone, error)
	DropExpired(ctx context.Context, keep league.Span, now time.Time, dryRun bool) ([]storage.DroppedMonth, error)
	FinishForgotten(ctx context.Context, tell func(storage.Forgotten)) error
	WriteTimes(now time.Time) map[string]time.Duration
	WriteSums() map[string]storage.WriteSum
	Sizes() (storage.Sizes, error)
	Room() (free uint64, ok bool)
}

// files is a store of files, which this program copies and which fill a disk. A server is copied
// by its own means, and its disk is not ours to know.
type files interface {
	Dir() string
	Backup(ctx context.Context, o keep.BackupOptions) (engine.BackupDone, error)
	CompactMonths(ctx context.Context, o keep.CompactOptions) (engine.CompactDone, error)
}

// filesOf gives the files of a store of files.
func filesOf(db store) (files, bool) {
	f, ok := db.(*storage.DB)
	return f, ok
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
func openStored(cfg config.Config) (store, error) {
	opening.Add(1)
	defer opening.Add(-1)
	var db store
	var err error
	if cfg.Store == "" {
		db, err = opened(storage.OpenReadOnly(inDirectory(cfg)))
	} else {
		db, err = opened(readServer(cfg))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNothingStored(cfg)
	}
	return db, err
}

// opened is a store that was opened; none is no store, whatever its type.
func opened[T store](db T, err error) (store, error) {
	if err != nil {
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
func payloadsOf(db store) func(context.Context, engine.PayloadQuery) ([]byte, error) {
	return func(ctx context.Context, q engine.PayloadQuery) ([]byte, error) {
		part := league.PartMatch
		if q.Timeline {
			part = league.PartTimeline
		}
		return db.Raw(ctx, q.Match, part)
	}
}
