package app

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/ui/cli"
)

// storeFeed reads the feeds of the engine that holds a data directory, else of the
// directory, which it releases while it waits.
type storeFeed struct {
	cfg   config.Config
	every time.Duration
	out   io.Writer       // where the export goes; waiting ends when nobody reads it any more
	of    string          // name of the collection that is exported; "" = all that is stored
	held  func(err error) // told once per wait that another process is at work

	engine *api.Client // one of engine and db is set while there is something to read
	db     store
	rest   restingState
}

// open finds the engine, or opens the store. It is called again after each wait: who works on the
// directory may have changed.
func (s *storeFeed) open(ctx context.Context) error {
	return through(ctx, s.cfg, func(*api.Client) error {
		s.engine = api.NewClient(controlSocket(s.cfg.DataDir)) // the one that was asked is closed
		return nil
	}, s.openStore)
}

// openStore opens the store for reading and notes its state while nobody can write.
func (s *storeFeed) openStore() error {
	db, err := openStored(s.cfg)
	if err != nil {
		return err
	}
	s.db = db
	s.rest.cfg = s.cfg
	return s.rest.note()
}

// close lets go of whatever was open; it may be called when nothing is.
func (s *storeFeed) close() error {
	if s.engine != nil {
		s.engine.Close()
		s.engine = nil
	}
	if s.db == nil {
		return nil
	}
	db := s.db
	s.db = nil
	return db.Close()
}

// Feed reads one page.
func (s *storeFeed) Feed(ctx context.Context, q engine.FeedQuery) (page engine.FeedPage, err error) {
	q.Collection = s.of
	if s.engine == nil {
		return s.db.Feed(ctx, q)
	}
	a, err := s.engine.Find(ctx, q)
	if err == nil {
		page = a.(engine.FeedPage)
	}
	return page, s.ended(ctx, err)
}

// had is how many matches of the collection were stored before it found them. An export that goes on behind a cursor
// would miss those that came since.
func (s *storeFeed) had(ctx context.Context) (n int, err error) {
	var rows []engine.CollectionRow
	if s.engine == nil {
		rows, err = s.db.CollectionRows(ctx)
	} else {
		var a engine.CollectionsAnswer
		a, err = engine.Ask[engine.CollectionsAnswer](ctx, s.engine, engine.CollectionsQuery{})
		rows = a.Collections
	}
	for _, row := range rows {
		if row.Name == s.of {
			n = row.Collected.Had
		}
	}
	return n, s.ended(ctx, err)
}

// ended tells a request that was interrupted from an engine that has gone.
func (s *storeFeed) ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// payloads gives Riot's JSON of a match, or of its timeline where the feed is of timelines.
func (s *storeFeed) payloads(kind engine.FeedKind) cli.Payloads {
	return func(ctx context.Context, match string) ([]byte, error) {
		q := engine.PayloadQuery{Match: match, Timeline: kind == engine.FeedTimelines}
		if s.engine == nil {
			return payloadsOf(s.db)(ctx, q)
		}
		a, err := s.engine.Find(ctx, q)
		if err != nil {
			return nil, s.ended(ctx, err)
		}
		return a.(engine.Payload).JSON, nil
	}
}

// wait returns when there may be more: when a while has passed and the engine still
// answers, or when the directory has changed and is free. It is not opened to find
// that out: a sync that starts just then would be turned away.
func (s *storeFeed) wait(ctx context.Context) error {
	byEngine := s.engine != nil
	// A directory is let go, so that syncs can run in turns.
	if s.db == nil || s.cfg.Store == "" { // a database is open for everybody
		if err := s.close(); err != nil {
			return err
		}
	}
	for told := false; ; {
		if !await.Pause(ctx, s.every) {
			return context.Cause(ctx)
		}
		if readerGone(s.out) {
			return syscall.EPIPE
		}
		if s.db != nil {
			return nil
		}
		if !byEngine && s.rest.unchanged() {
			continue
		}
		err := s.open(ctx)
		if !isHeld(err) {
			return err
		}
		// Said once: the wait may be hours.
		if !told {
			s.held(err)
			told = true
		}
	}
}

// restingState is a data directory without an engine, as it was read: it need not be opened
// to find out that it is the same. A database is asked instead.
type restingState struct {
	cfg  config.Config
	seen os.FileInfo // its state file; nil = it was not read
}

// stat looks at the file that every commit changes.
func (r *restingState) stat() (os.FileInfo, error) {
	return os.Stat(filepath.Join(r.cfg.DataDir, "state.db"))
}

// note takes the directory as it is now, while it is open and nobody writes.
func (r *restingState) note() (err error) {
	if r.cfg.Store != "" {
		return nil
	}
	r.seen, err = r.stat()
	return err
}

// unchanged reports whether the directory is as it was read, and no engine works on
// it.
func (r *restingState) unchanged() bool {
	// A socket means an engine, which has not closed the directory in order if it left one behind: ask.
	if _, err := os.Lstat(controlSocket(r.cfg.DataDir)); err == nil || r.seen == nil {
		return false
	}
	// By inode, size and time: a restore puts another file in its place.
	now, err := r.stat()
	return err == nil && os.SameFile(now, r.seen) && now.Size() == r.seen.Size() && now.ModTime().Equal(r.seen.ModTime())
}
