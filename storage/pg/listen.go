package pg

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
)

// A process that serves hears of all commits, its own and those of others, on one connection, and
// tells of each when it is heard: so all processes are told of all commits in one order. Who wrote
// waits for that. While the connection is away, own commits are told of at once, and the others
// not at all: then there is a gap, and who was told of commits reads anew what they would tell.

// teller tells of commits. Its lock is held while somebody is told.
type teller struct {
	mu       sync.Mutex
	seq      uint64 // of the last commit: this process's own count, which goes on over a restart as the clock does
	sums     sums   // as of the last commit
	onCommit func(seq uint64, changes []engine.Change)
	onGap    func()

	listens bool                // somebody listens, or tries to
	ear     *ear                // nil = no commit is heard of
	waiting map[uint64]*waiting // own transactions that are not told of, while somebody listens
	early   map[uint64]bool     // those that were told of while none was heard, and may still be heard of
}

// ear is one connection that hears of commits.
type ear struct {
	since visible // commits that are seen in it are told of by the gap before
	deaf  context.Context
	stop  context.CancelFunc
}

// waiting is an own transaction until it is told of.
type waiting struct {
	xid   uint64
	news  news
	heard chan struct{} // closed when it is told of
}

// OnCommit names the one function that gets the changes of every commit of this process, and while
// Serve runs of all others: in an order in which none comes before one that it was decided by, and
// before the writers are answered. It must not block, nor ask the store for anything.
func (db *DB) OnCommit(f func(seq uint64, changes []engine.Change)) {
	db.told.mu.Lock()
	defer db.told.mu.Unlock()
	db.told.onCommit = f
}

// OnGap names the one function that is called when commits of others may have been missed, as they
// are before Serve: what they would have told is to be read anew. It comes in order with the
// commits, must not block, nor ask the store for anything.
func (db *DB) OnGap(f func()) {
	db.told.mu.Lock()
	defer db.told.mu.Unlock()
	db.told.onGap = f
}

// publish hands on what a commit has changed, with sums if they do not have it yet. The caller has
// the lock.
func (t *teller) publish(n news, add bool) {
	changes := n.Changes
	if add {
		changes = append(changes, t.sums.take(sums{n.Counts, n.Discards})...)
	}
	t.seq++
	for i := range changes {
		changes[i].Seq = t.seq
	}
	if t.onCommit != nil {
		t.onCommit(t.seq, changes)
	}
}

// expect notes that a transaction is about to be committed.
func (t *teller) expect(tx *txn) *waiting {
	w := &waiting{tx.xid, news{tx.changes, tx.sums.counts, tx.sums.discards}, make(chan struct{})}
	t.mu.Lock()
	defer t.mu.Unlock()
	if w.xid != 0 {
		t.waiting[w.xid] = w
	}
	return w
}

// forget is for a transaction that was not committed, or not that anybody knows: if it is heard
// of, it is like another's.
func (t *teller) forget(w *waiting) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.waiting, w.xid)
}

// hear waits until a committed transaction is heard of, if it will be. An ear that hears nothing
// for so long is deaf.
func (t *teller) hear(w *waiting, patience time.Duration) {
	t.mu.Lock()
	e := t.ear
	t.mu.Unlock()
	if w.xid == 0 || e == nil || e.since.has(w.xid) {
		return
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-w.heard:
		return
	case <-e.deaf.Done():
	case <-late.C:
	}
	t.lose(e)
}

// settle tells of a committed transaction that will not be heard of. It reports false of one that
// still will be: an ear has begun meanwhile that does not see it yet.
func (t *teller) settle(w *waiting) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-w.heard:
		return true
	default:
	}
	counted := false
	if w.xid != 0 && t.ear != nil {
		if counted = t.ear.since.has(w.xid); !counted {
			return false
		}
	}
	delete(t.waiting, w.xid)
	if t.listens && t.ear == nil && w.xid != 0 {
		t.early[w.xid] = true
	}
	t.publish(w.news, !counted)
	return true
}

// begin lets an ear hear: first of all that has been missed.
func (t *teller) begin(e *ear, now sums) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ear = e
	for xid := range t.early {
		if e.since.has(xid) {
			delete(t.early, xid)
		}
	}
	if t.onGap != nil {
		t.onGap()
	}
	t.publish(news{Changes: t.sums.become(now)}, false)
}

// lose ends an ear: what it hears from now on does not count. The next one begins with a gap.
func (t *teller) lose(e *ear) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ear == e {
		t.ear = nil
	}
	e.stop()
}

// take tells of a transaction that an ear has heard of: of an own one with the changes as they are
// in memory, whose writer waits for it; of another's with what its notification says. One that was
// told of before anybody heard (early) is not told of again, but its counts are: the sums that were
// read then lack them.
func (t *teller) take(e *ear, h *heard) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ear != e || e.since.has(h.xid) {
		return nil
	}
	if w := t.waiting[h.xid]; w != nil {
		delete(t.waiting, h.xid)
		t.publish(w.news, true)
		close(w.heard)
		return nil
	}
	n, err := h.news()
	if err != nil {
		return err
	}
	if t.early[h.xid] {
		delete(t.early, h.xid)
		n.Changes = nil
	}
	t.publish(n, true)
	return nil
}

const (
	listenerName = "farsight listener"
	// earLook is how often a silent connection is asked for a sign of life.
	earLook = 5 * time.Second
	// earPause is between two tries to listen. Meanwhile each own commit is told of at once.
	earPause = 200 * time.Millisecond
)

// listen hears of commits until ctx ends.
func (db *DB) listen(ctx context.Context) {
	t := &db.told
	t.mu.Lock()
	t.listens = true
	t.mu.Unlock()
	for {
		db.listenOnce(ctx)
		if !await.Pause(ctx, earPause) {
			break
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.listens = false
	clear(t.early)
}

// listenOnce hears of commits until the connection is lost, or says what is not understood.
func (db *DB) listenOnce(ctx context.Context) {
	c, err := db.connectAs(ctx, listenerName)
	if err != nil {
		return
	}
	ctx, stop := context.WithCancel(ctx)
	e := &ear{deaf: ctx, stop: stop}
	defer hangUp(c)
	defer db.told.lose(e)
	if _, err := c.Exec(ctx, "listen "+db.channel); err != nil {
		return
	}
	var now sums
	if now, e.since, err = db.loadSums(ctx); err != nil {
		return
	}
	db.told.begin(e, now)
	var h heard
	for {
		n, err := nextNews(ctx, c)
		if err != nil {
			return
		}
		whole, err := h.add(n.Payload)
		if whole && err == nil {
			err = db.told.take(e, &h)
		}
		if err != nil {
			return // of a member of another version: what it has changed is read anew
		}
	}
}

// connectAs makes a connection of its own with a name. A host that is gone says nothing: the server
// is to find out within seconds.
func (db *DB) connectAs(ctx context.Context, name string) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectPatience)
	defer cancel()
	conf := db.pool.Config().ConnConfig
	conf.RuntimeParams["application_name"] = name
	for name, value := range map[string]string{"tcp_keepalives_idle": "5", "tcp_keepalives_interval": "2",
		"tcp_keepalives_count": "3"} {
		conf.RuntimeParams[name] = value
	}
	return connect(ctx, conf)
}

// nextNews waits for a notification, and asks a silent server for a sign of life: of a host that
// has lost its network nothing comes, not even an error.
func nextNews(ctx context.Context, c *pgx.Conn) (*pgconn.Notification, error) {
	for {
		silent, cancel := context.WithTimeout(ctx, earLook)
		n, err := c.WaitForNotification(silent)
		quiet := silent.Err() != nil
		cancel()
		if err == nil || ctx.Err() != nil || !quiet || c.IsClosed() {
			return n, err
		}
		if err := signOfLife(ctx, c); err != nil {
			return nil, err
		}
	}
}

// hangUp ends a connection, however it stands. A server that does not answer is not waited for.
func hangUp(c *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), earPause)
	defer cancel()
	_ = c.Close(ctx)
}

// signOfLife asks a connection that is not in use for one.
func signOfLife(ctx context.Context, c *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, connectPatience)
	defer cancel()
	return c.Ping(ctx)
}
