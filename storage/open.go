package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"time"

	"github.com/rs/zerolog"
	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/commit"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/keep"
)

const (
	// defaultMaxState bounds state.db, so that a fault of ours cannot fill the disk: 1,000,000
	// matches take about 1 GB.
	defaultMaxState = int64(64) << 30
)

// Options say how to open a data directory.
type Options struct {
	Dir      string
	Network  bool  // use the directory although it lies on a network file system
	Sealed   bool  // a file that is only read, and as its last close left it, is not looked at page by page
	MaxState int64 // bytes that state.db may grow to; 0 = 64 GiB
	Log      zerolog.Logger
	// Verify proves the backup that is made before a migration; nil = in this process.
	Verify payload.Verifier
	// Region names the region of a platform in account rows; nil leaves it empty. Routing is Riot's
	// matter, not storage's.
	Region func(platform string) string
	// Shared is what this store has in common with those of other processes; nil = it is this one's alone.
	Shared Shared
	// BeforeCommit is called before each state commit and may keep it waiting, as a slow disk does:
	// the demo shows one. nil = nothing.
	BeforeCommit func()

	pages disk.Pages // zero = the usual ones
}

// Open opens a data directory for writing, and makes it if it is not there. In this order:
// directory, kind of file system, lock, preflight, bbolt, schema version, sample. Errors to tell
// apart: *ErrHeld, *Damaged, *ErrNewer, *ErrUnusable, ErrDiskFull. None of them has changed a file.
func Open(o Options) (*DB, error) {
	if err := disk.PrepareDir(o.Dir); err != nil {
		return nil, err
	}
	return open(o, false)
}

// OpenReadOnly opens an existing data directory to browse it, together with other readers. Nothing
// in it is changed but who holds the lock. A directory that an engine holds gives *ErrHeld.
func OpenReadOnly(o Options) (*DB, error) {
	if err := hasState(o.Dir); err != nil {
		return nil, err
	}
	return open(o, true)
}

func open(o Options, browse bool) (*DB, error) {
	if err := refuseNetworkUnless(o); err != nil {
		return nil, err
	}
	// Before the lock, so that a directory whose place another store has taken is not even touched.
	if err := refuseMoved(o.Dir); err != nil {
		return nil, err
	}
	if !browse && keep.IsBackup(o.Dir) {
		return nil, &disk.ErrUnusable{
			Path: o.Dir, Why: "it is a backup, which is only read",
			Do: "put it back with `farsight restore`, or name another directory",
		}
	}
	lock, err := disk.LockDir(o.Dir, browse)
	if err != nil {
		return nil, err
	}
	return openLocked(o, lock, browse)
}

// HoldDir makes a data directory, and takes it for a process that keeps only its log and its
// sockets there: *ErrHeld while another has it.
func HoldDir(dir string) (release func() error, err error) {
	if err := disk.PrepareDir(dir); err != nil {
		return nil, err
	}
	lock, err := disk.LockDir(dir, false)
	if err != nil {
		return nil, err
	}
	return func() error { lock.Release(); return nil }, nil
}

// openUpkeep opens a directory for work on its files: alone, but without taking part in its life.
// The state is open for reading, and neither opening nor closing is recorded, so that what the last
// engine left behind still tells its story.
func openUpkeep(o Options) (*DB, error) {
	if err := errors.Join(hasState(o.Dir), refuseNetworkUnless(o)); err != nil {
		return nil, err
	}
	lock, err := disk.LockDir(o.Dir, false)
	if err != nil {
		return nil, err
	}
	db := &DB{dir: o.Dir, lock: lock, log: o.Log, readOnly: true, region: o.Region, writer: commit.New(nil, nil)}
	db.files = payload.New(o.Dir, false, o.Log)
	db.payloads = db.files
	return db.opened(o)
}

func hasState(dir string) error {
	if _, err := os.Stat(disk.StatePath(dir)); err != nil {
		return disk.Unusable(disk.StatePath(dir), err)
	}
	return nil
}

func refuseNetworkUnless(o Options) error {
	if o.Network {
		return nil
	}
	return disk.RefuseNetwork(o.Dir)
}

// openLocked opens a directory whose lock is held.
func openLocked(o Options, lock *disk.Lock, browse bool) (*DB, error) {
	db := &DB{
		dir: o.Dir, lock: lock, log: o.Log, readOnly: browse, region: o.Region,
		beforeCommit: o.BeforeCommit, pages: o.pages, reuse: newReuse(),
	}
	if o.Shared != nil {
		db.share = &share{Shared: o.Shared}
	}
	db.writer = commit.New(db.beginGroup, db.giveUpBallast)
	if db.pages == (disk.Pages{}) {
		db.pages = disk.UsualPages
	}
	db.files = keep.PayloadsOf(o.Dir, browse, o.Log)
	db.files.Pages = db.pages
	if db.payloads = db.files; db.share != nil {
		db.payloads = &carried{share: db.share, doomed: db.files.Doomed, written: db.files.Commits}
	}
	db.finish = []func(*txn) error{(*txn).saveDays, (*txn).emitAccounts}
	db.tick, db.closing, db.leading = db.noteSize, db.markClosed, db.doomAgain
	return db.opened(o)
}

// opened opens the state, and frees the lock when it cannot.
func (db *DB) opened(o Options) (*DB, error) {
	err := db.openState(o)
	if err == nil {
		return db, nil
	}
	if db.bolt != nil {
		err = errors.Join(err, db.bolt.Close())
	}
	db.lock.Release()
	return nil, err
}

func (db *DB) openState(o Options) error {
	path := disk.StatePath(db.dir)
	if err := db.createState(path); err != nil {
		return err
	}
	var err error
	b := disk.BoltOptions()
	// Readers need not end for the file to grow: see StateMap.
	b.InitialMmapSize = disk.StateMap()
	size := defaultMaxState
	if o.MaxState > 0 {
		size = o.MaxState
	}
	// bbolt refuses a commit that would grow the file beyond it, and nothing is written:
	// ErrDiskFull.
	b.MaxSize = int(min(size, math.MaxInt))
	b.ReadOnly = db.readOnly
	openFile := disk.OpenFile
	if o.Sealed {
		openFile = disk.OpenSealed
	}
	if db.bolt, err = openFile(path, b, db.log); err != nil {
		return err
	}
	// What is open is remembered as a file, not as a name: see watch.
	if db.self, err = os.Stat(path); err != nil {
		return disk.Unusable(path, err)
	}
	if err := db.migrate(o); err != nil {
		return err
	}
	if err := db.bolt.View(db.checkSchema); err != nil {
		return err
	}
	if err := db.sample(); err != nil {
		return err
	}
	if db.readOnly {
		return nil
	}
	// What the process before has left half done, and must not be seen half done.
	if err := errors.Join(keep.FinishReset(db.dir, db.bolt), db.doomAgain()); err != nil {
		return err
	}
	if err := db.markOpened(); err != nil || db.share == nil {
		return err
	}
	return db.join(context.Background())
}

// createState makes an empty state.db where there is none.
func (db *DB) createState(path string) error {
	there, err := disk.Exists(path)
	if err != nil {
		return disk.Unusable(path, err)
	}
	if there {
		return nil
	}
	if db.readOnly {
		return disk.Unusable(path, fs.ErrNotExist)
	}
	// Somebody has deleted state.db alone. The payloads stay, and are found again match by match
	// (FindPayload).
	if db.files.Any() {
		db.log.Warn().Str("path", path).
			Msg("there are payloads but no state.db: began a new one; payloads are adopted when they are wanted")
	}
	db.boot.New = true
	return disk.CreateFile(path, fillState)
}

// fillState makes the tables of a new state.db.
func fillState(b *bolt.Tx) error {
	if err := collection.Create(b); err != nil {
		return err
	}
	t := newTx(b, disk.Now())
	return errors.Join(
		t.PutNumber(tMeta, disk.MetaSchema, newestSchema()),
		t.PutText(tMeta, disk.MetaInstance, disk.RandomID()),
		t.PutInstant(tMeta, metaCreated, t.Now))
}

// Names in table meta.
var (
	metaCreated  = []byte("created")
	metaRun      = []byte("run")
	metaRestored = []byte("restored")
)

// checkSchema refuses a file that another program wrote, or that lacks a table.
func (db *DB) checkSchema(b *bolt.Tx) error {
	path := disk.StatePath(db.dir)
	have, err := disk.SchemaOf(b, path, newestSchema())
	if err != nil {
		return err
	}
	// Only a file that was opened to be read can be older here: migrate has brought any other up to
	// date.
	if have != newestSchema() {
		return outdated(path, have)
	}
	for _, tb := range collection.Tables {
		if b.Bucket([]byte(tb.Name)) == nil {
			return &disk.Damaged{Path: path, Why: fmt.Sprintf("table %s is missing", tb.Name)}
		}
	}
	db.seq.Store(uint64(b.ID()))
	return nil
}

// Boot tells about this opening of the directory; the zero Boot when it was opened to browse.
func (db *DB) Boot() Boot { return db.boot }

// markOpened records this opening; until markClosed it counts as not closed in order.
func (db *DB) markOpened() error {
	crash.Point("recovery-before-mark")
	defer crash.Point("recovery-after-mark")
	return db.bolt.Update(func(b *bolt.Tx) error {
		t := newTx(b, disk.Now())
		db.boot.ID, db.boot.Opened = disk.RandomID(), t.Now
		last, ok, err := t.lastOpening()
		db.boot.Last = last.closed
		// A row that cannot be read says the same as one that was not closed: nothing is known of
		// the last stop.
		db.boot.Clean = err == nil && (!ok || !db.boot.Last.IsZero())
		db.boot.Restored = t.restored()
		db.seq.Store(uint64(b.ID()))
		return t.putRun(opening{id: db.boot.ID, opened: db.boot.Opened})
	})
}

// markClosed records that the store was closed in order. Its commit is the last one, and the only
// one that writes the list of free pages: the next opening need not search the whole file for them.
// preflight compares the list with the pages that are in use.
func (db *DB) markClosed() error {
	o := opening{id: db.boot.ID, opened: db.boot.Opened}
	if db.share == nil { // a copy of what others write is never read as it was closed
		ctx, enough := context.WithTimeout(context.Background(), countFor)
		var err error
		o.queues, err = db.countLive(ctx)
		o.counted = err == nil
		enough()
	}
	db.bolt.NoFreelistSync = false
	return db.bolt.Update(func(b *bolt.Tx) error {
		t := newTx(b, disk.Now())
		o.closed = t.Now
		return t.putRun(o)
	})
}

// countFor is how long a close counts at most, since whoever stops a service waits for it. What it has not counted is
// counted when it is asked for.
const countFor = 3 * time.Second

// opening is what table meta tells of one opening; closed is zero when it was not closed in order.
type opening struct {
	id             string
	opened, closed time.Time
	// queues has how many live jobs were left, for who looks before the next opening: nothing can have changed them.
	queues  []engine.QueueRow
	counted bool
}

var openings = collection.Shape[opening]{Format: rec.Boot, Fields: func(c *rec.Coder, o *opening) {
	c.Str(&o.id)
	c.Time(&o.opened, &o.closed)
	if o.counted = c.More(o.counted); o.counted {
		rec.List(c, &o.queues, 4, countFields)
	}
}}

func (t *txn) putRun(o opening) error { return openings.Put(t, tMeta, metaRun, o) }

func (t *txn) lastOpening() (o opening, ok bool, err error) { return openings.Get(t, tMeta, metaRun) }

// QueueRows gives every queue, by name: its pause switch and its live jobs, as its last opening left them in a file that
// is only read.
func (db *DB) QueueRows(ctx context.Context) (rows []engine.QueueRow, err error) {
	var last opening
	var switches []engine.QueueState
	err = db.view(ctx, func(t *txn) (err error) {
		if db.readOnly {
			last, _, _ = t.lastOpening() // what cannot be read tells no counts
		}
		switches, err = collection.All(tQueues.Under(t, nil))
		return err
	})
	if rows = last.queues; err == nil && !last.counted {
		rows, err = db.countLive(ctx)
	}
	for _, q := range switches {
		queueRow(&rows, q.Name).QueueState = q
	}
	return rows, err
}

// sampled rows of one account are checked at every open.
const sampled = 200

// sample looks at one account before any work begins: can it be read, and does its list lead to
// matches? It finds a file whose pages are whole but belong to different times, at the price of a
// few milliseconds. A single corrupt record is no reason to refuse the file.
func (db *DB) sample() error {
	return db.bolt.View(func(b *bolt.Tx) (err error) {
		t := db.tx(b)
		seen := 0
		for r := range t.Rows(byAccount.Table, nil) {
			// The first rows are those of one account, or of a few with short lists.
			if seen++; seen > sampled {
				return nil
			}
			l, err := listingAt(r.Key)
			if err == nil {
				err = byAccount.Check(r.Key, r.Value, rec.Marker)
			}
			if err == nil && !t.Has(tAccountsOf.Table, listedKey(l)) {
				return &disk.Damaged{Path: disk.StatePath(db.dir), Why: fmt.Sprintf(
					"match %s is listed for an account, but not the other way round", l.Match)}
			}
			// A row that does not hold is named by check.
			if _, corrupt := errors.AsType[*disk.ErrCorrupt](err); err != nil && !corrupt {
				return err
			}
		}
		return nil
	})
}
