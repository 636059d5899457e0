package local_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/backendtest"
	"github.com/farsight-console/farsight/engine/backendtest/memstore"
	"github.com/farsight-console/farsight/engine/local"
	"github.com/farsight-console/farsight/internal/leak"
	"github.com/farsight-console/farsight/internal/pgtest"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/pg"
)

func TestMain(m *testing.M) {
	scratch.AtOnce(4)
	leak.Main(scratch.InMemory(m))
}

// store is what the tests need of a store besides local.Store.
type store interface {
	local.Store
	Detail(ctx context.Context, q engine.JobQuery) (engine.JobDetail, error)
	OnCommit(func(seq uint64, changes []engine.Change))
}

// node is a backend on a store that can be cut off.
type node struct {
	*local.Backend
	cut   *cutStore
	close func() error
	sums  func() error
	spoil func(engine.JobID) error
}

func (n *node) Spoil(id engine.JobID) error { return n.spoil(id) }

func (n *node) Recount() error { return n.sums() }

func (n *node) Cut(left int) { n.cut.after(left) }

func (n *node) Close() error { return n.close() }

func (n *node) Detail(ctx context.Context, q engine.JobQuery) (engine.JobDetail, error) {
	return n.cut.store.Detail(ctx, q)
}

func (n *node) Write(ctx context.Context, fn func(engine.Tx) error) error {
	return n.cut.Write(ctx, fn)
}

// few is how many jobs one write moves in the tests: ten that are due, or orphans, or
// in a selection, are several writes, and none may be the last.
const few = 3

// cutStore fails every write after so many, as if the process were gone.
type cutStore struct {
	store
	left atomic.Int64
}

func cuttable(s store) *cutStore {
	c := &cutStore{store: s}
	c.left.Store(1 << 60)
	return c
}

func (c *cutStore) after(n int) { c.left.Store(int64(n)) }

func (c *cutStore) Write(ctx context.Context, fn func(engine.Tx) error) error {
	if c.left.Add(-1) < 0 {
		return backendtest.ErrCut
	}
	return c.store.Write(ctx, fn)
}

func newNode(s store, o backendtest.Setup, closeStore func() error) (*node, error) {
	cut := cuttable(s)
	b, err := local.New(local.Options{
		Store: cut, Kinds: o.Kinds, Policies: backendtest.Policies(), Boot: o.Boot, OnNote: o.OnNote,
		Workers: func() int { return o.Workers }, PerWrite: few,
	})
	if err != nil {
		return nil, err
	}
	s.OnCommit(b.Apply)
	return &node{Backend: b, cut: cut, close: closeStore, sums: func() error { return nil }}, nil
}

// memorySite keeps its store over restarts.
type memorySite struct{ s *memstore.Store }

func newMemorySite() *memorySite {
	s := memstore.New()
	s.RunTwice(3)
	return &memorySite{s}
}

func (m *memorySite) Open(o backendtest.Setup) (backendtest.Node, error) {
	n, err := newNode(m.s, o, func() error { return nil })
	if err == nil {
		n.spoil = func(id engine.JobID) error { m.s.Spoil(id); return nil }
	}
	return n, err
}

// diskSite opens the real store in one directory.
type diskSite struct{ dir string }

func (d *diskSite) Open(o backendtest.Setup) (backendtest.Node, error) {
	db, stop, err := serve(d.dir)
	if err != nil {
		return nil, err
	}
	n, err := newNode(db, o, stop)
	if err == nil {
		n.sums = func() error { return sound(db) }
		n.spoil = func(id engine.JobID) error { return spoil(d.dir+"/state.db", id) }
	}
	return n, err
}

// sound wants nothing to be wrong in a store, with every sum counted anew.
func sound(db interface {
	Check(ctx context.Context) (storage.CheckReport, error)
}) error {
	report, err := db.Check(context.Background())
	if err == nil && !report.Sound() {
		err = fmt.Errorf("the store is not sound: %v", report.Findings)
	}
	return err
}

// serve opens a store and its committer; stop ends both and checks the file.
func serve(dir string) (*storage.DB, func() error, error) {
	db, err := storage.Open(storage.Options{Dir: dir})
	if err != nil {
		return nil, nil, fmt.Errorf("open the store: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- db.Serve(ctx) }()
	return db, func() error {
		cancel()
		err := <-ended
		return errors.Join(err, sound(db), db.Close())
	}, nil
}

// made gives a schema of a test's own, with its tables.
var made = pgtest.Made(func(at string) error {
	return pgtest.Closed(pg.Open(context.Background(), pg.Options{URL: at}))
})

// serverSite opens the store of one schema, each time as another process that leads.
type serverSite struct {
	url   string
	dir   string
	times int
}

func (s *serverSite) Open(o backendtest.Setup) (backendtest.Node, error) {
	s.times++
	dir := fmt.Sprintf("%s/%d", s.dir, s.times)
	db, stop, err := serveShared(s.url, dir)
	if err != nil {
		return nil, err
	}
	n, err := newNode(db, o, stop)
	if err == nil {
		n.sums = func() error { return sound(db) }
		n.spoil = func(id engine.JobID) error { return spoil(dir+"/state.db", id) }
	}
	return n, err
}

// serveShared opens a store of a schema in a directory, and leads.
func serveShared(url, dir string) (*storage.DB, func() error, error) {
	ctx := context.Background()
	server, err := pg.Open(ctx, pg.Options{URL: url, Conns: 4})
	if err != nil {
		return nil, nil, err
	}
	c, err := server.Connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer c.Close(ctx)
	var term int64
	if err := c.QueryRow(ctx, "update fs_fleet set epoch = epoch + 1, holder = 'test', expires = 'infinity' returning epoch").Scan(&term); err != nil {
		return nil, nil, err
	}
	log := server.Log()
	db, err := storage.Open(storage.Options{Dir: dir, Shared: log})
	if err != nil {
		return nil, nil, fmt.Errorf("open the store: %w", err)
	}
	if err := db.Lead(ctx, term, func() {}); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 2)
	go func() { ended <- db.Serve(ctx) }()
	go func() { ended <- log.Follow(ctx, term, func(error) {}) }()
	return db, func() error {
		cancel()
		return errors.Join(<-ended, <-ended, sound(db), db.Close(), server.Close())
	}, nil
}

// onEach runs a row on the model and on the real stores, beside other rows.
func onEach(t *testing.T, row func(testing.TB, backendtest.Site)) {
	t.Helper()
	onEachSized(t, 0, 0, func(t testing.TB, s backendtest.Site, _ int) { row(t, s) })
}

// onEachSized is onEach of a row whose cost is its size. The server, which is asked over and over
// again, has a smaller one, which is several writes, too.
func onEachSized(t *testing.T, size, onServerSize int, row func(t testing.TB, s backendtest.Site, size int)) {
	t.Helper()
	t.Parallel()
	of := func(n int) func(testing.TB, backendtest.Site) {
		return func(t testing.TB, s backendtest.Site) { row(t, s, n) }
	}
	t.Run("memory", func(t *testing.T) { inMemory(t, of(size)) })
	t.Run("bbolt", func(t *testing.T) { onDisk(t, of(size)) })
	t.Run("postgres", func(t *testing.T) { onServer(t, of(onServerSize)) })
}

// onServer leaves a row out of the run under the race detector: what runs beside what is as
// on the other stores.
func onServer(t *testing.T, row func(testing.TB, backendtest.Site)) {
	if testing.Short() {
		t.Skip("long: left out by -short")
	}
	url, dir := made(t), t.TempDir()
	synctest.Test(t, func(t *testing.T) { row(t, &serverSite{url: url, dir: dir}) })
}

func inMemory(t *testing.T, row func(testing.TB, backendtest.Site)) {
	synctest.Test(t, func(t *testing.T) { row(t, newMemorySite()) })
}

func onDisk(t *testing.T, row func(testing.TB, backendtest.Site)) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) { row(t, &diskSite{dir + "/data"}) })
}
