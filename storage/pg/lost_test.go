package pg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/pgtest"
)

// wire is between a store and its server, over TCP. The next commit that comes by is atCommit's to
// treat.
type wire struct {
	url      string
	l        net.Listener
	open     sync.WaitGroup
	atCommit atomic.Pointer[func(l *link, commit []byte)]
	lie      atomic.Pointer[func(said pgproto3.BackendMessage)] // changes what the server says
}

// link is one connection with both of its ends.
type link struct {
	client, server net.Conn
	muted          atomic.Bool   // what the server says is kept from the client
	answered       chan struct{} // closed at the first that was kept, or at its end
}

// answer passes on what the server says.
func (l *link) answer() {
	defer l.client.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := l.server.Read(buf)
		if l.muted.Load() {
			close(l.answered)
			return
		}
		if err != nil {
			return
		}
		if _, err := l.client.Write(buf[:n]); err != nil {
			return
		}
	}
}

// answerWith passes on what lie makes of it.
func (l *link) answerWith(lie func(said pgproto3.BackendMessage)) {
	defer l.client.Close()
	server := pgproto3.NewFrontend(l.server, nil)
	for {
		said, err := server.Receive()
		if err != nil {
			return
		}
		lie(said)
		out, err := said.Encode(nil)
		if err != nil {
			return
		}
		if _, err := l.client.Write(out); err != nil {
			return
		}
	}
}

// between puts a wire before the server of a URL, which names a socket.
func between(t *testing.T, at string) *wire {
	t.Helper()
	u, err := url.Parse(at)
	must(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	q := u.Query()
	socket := q.Get("host") + "/.s.PGSQL.5432"
	q.Set("sslmode", "disable")
	q.Set("host", "127.0.0.1")
	q.Set("port", fmt.Sprint(l.Addr().(*net.TCPAddr).Port))
	u.RawQuery = q.Encode()
	w := &wire{url: u.String(), l: l}
	w.open.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", socket)
			if err != nil {
				_ = client.Close()
				continue
			}
			l := &link{client: client, server: server, answered: make(chan struct{})}
			if lie := w.lie.Load(); lie != nil {
				w.open.Go(func() { l.answerWith(*lie) })
			} else {
				w.open.Go(l.answer)
			}
			w.open.Go(func() { w.carry(l); _ = server.Close() })
		}
	})
	t.Cleanup(func() { _ = l.Close(); w.open.Wait() })
	return w
}

// carry passes on what the client says. A commit is a message of its own.
func (w *wire) carry(l *link) {
	buf := make([]byte, 64<<10)
	for {
		n, err := l.client.Read(buf)
		if err != nil {
			return
		}
		if trap := w.atCommit.Load(); trap != nil && bytes.HasSuffix(buf[:n], []byte("commit\x00")) && w.atCommit.CompareAndSwap(trap, nil) {
			(*trap)(l, bytes.Clone(buf[:n]))
			continue
		}
		if _, err := l.server.Write(buf[:n]); err != nil {
			return
		}
	}
}

// A commit that was not answered was carried out or not: either way what it wrote is there once,
// is told of once, and who wrote it is told what is true.
func TestACommitThatIsNotAnswered(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	for name, c := range map[string]struct {
		runs int
		trap func(l *link, commit []byte)
	}{
		"it never arrives, and the server sees that": {2, func(l *link, _ []byte) {
			_, _ = l.client.Close(), l.server.Close()
		}},
		"it never arrives, and the server waits for it": {2, func(l *link, _ []byte) {
			l.muted.Store(true)
			_ = l.client.Close()
			<-l.answered // until the server ends it
		}},
		"it is carried out": {1, func(l *link, commit []byte) {
			l.muted.Store(true)
			_, _ = l.server.Write(commit)
			<-l.answered
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := between(t, server.URL+"&search_path="+strings.Fields(name)[1]+strconv.Itoa(len(name)))
			db, err := Open(t.Context(), Options{URL: w.url, Conns: 1}) // one that is in doubt keeps no other from being asked
			must(t, err)
			t.Cleanup(func() { must(t, db.Close()) })
			var told atomic.Int64
			db.OnCommit(func(uint64, []engine.Change) { told.Add(1) })
			insert(t, db, spec("before"))
			w.atCommit.Store(&c.trap)
			runs := 0
			must(t, db.Write(t.Context(), func(tx engine.Tx) error {
				runs++
				_, err := tx.Enqueue(spec("a"))
				return err
			}))
			_, _, total, err := db.Jobs(t.Context(), engine.JobsQuery{})
			if err != nil || total != 2 || runs != c.runs || told.Load() != 2 {
				t.Errorf("%d jobs, %d runs, told %d times, %v", total, runs, told.Load(), err)
			}
		})
	}
}

// Commits that ask what became of them need a connection each, while others have ended theirs and
// wait for their turns behind them: they get one, however few there are.
func TestCommitsInDoubtAmongMany(t *testing.T) {
	t.Parallel()
	w := between(t, pgtest.Own(t).URL+"&search_path=doubt")
	db, err := Open(t.Context(), Options{URL: w.url, Conns: 2})
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	var lost atomic.Int64
	var trap func(l *link, commit []byte)
	trap = func(l *link, commit []byte) {
		l.muted.Store(true)
		_, _ = l.server.Write(commit)
		<-l.answered
		if lost.Add(1) < 10 {
			w.atCommit.Store(&trap)
		}
	}
	w.atCommit.Store(&trap)
	const writers, each = 8, 10
	ended := make(chan error, writers)
	for i := range writers {
		go func() {
			var err error
			for k := range each {
				err = errors.Join(err, db.Write(context.Background(), func(tx engine.Tx) error {
					_, err := tx.Enqueue(spec(fmt.Sprint(i, " ", k)))
					return err
				}))
			}
			ended <- err
		}()
	}
	for range writers {
		select {
		case err := <-ended:
			must(t, err)
		case <-time.After(2 * time.Minute):
			t.Fatalf("writes stand still: of %d connections %d are in use", db.pool.Stat().TotalConns(), db.pool.Stat().AcquiredConns())
		}
	}
	_, _, total, err := db.Jobs(t.Context(), engine.JobsQuery{})
	if err != nil || total != writers*each || lost.Load() != 10 {
		t.Errorf("%d jobs, %d answers lost, %v", total, lost.Load(), err)
	}
}

// A server that is stopped hard and begins again, over and over: every write that was answered is
// there, none twice, and both sides count the same.
func TestAServerThatIsStoppedHard(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	db := open(t, server.URL)
	db.patience.server = time.Hour
	const writers, each = 4, 60
	var all sync.WaitGroup
	var told atomic.Int64
	db.OnCommit(func(_ uint64, changes []engine.Change) { told.Add(int64(len(changes))) })
	half := make(chan struct{}, writers)
	for n := range writers {
		all.Go(func() {
			for i := range each {
				err := db.Write(context.Background(), func(tx engine.Tx) error {
					_, err := tx.Enqueue(spec(fmt.Sprint(n, "/", i)), spec(""))
					return err
				})
				if err != nil {
					t.Error(err)
				}
				if i%20 == 0 {
					half <- struct{}{}
				}
			}
		})
	}
	for range each / 20 {
		for range writers {
			<-half
		}
		server.Stop(t)
		server.Start(t)
	}
	all.Wait()
	_, _, total, err := db.Jobs(t.Context(), engine.JobsQuery{})
	if want := 2 * writers * each; err != nil || total != want || told.Load() != int64(want) {
		t.Errorf("%d jobs are there, %d were told of, %d were written: %v", total, told.Load(), want, err)
	}
	if r, err := db.Check(t.Context()); err != nil || !r.Sound() {
		t.Error(r.Findings, err)
	}
}

// What is asked for after a restart of the server is answered, by whichever connection was left
// from before.
func TestReadsOutliveARestart(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	db := open(t, server.URL)
	db.patience.server = time.Hour
	id := insert(t, db, spec("a"))[0]
	for range 3 {
		server.Stop(t)
		var asked sync.WaitGroup
		for range 4 {
			asked.Go(func() {
				d, err := db.Detail(context.Background(), engine.JobQuery{ID: id})
				if err != nil || d.Job.Key != "a" {
					t.Errorf("%+v, %v", d.Job, err)
				}
			})
		}
		server.Start(t)
		asked.Wait()
	}
}

// A server that stands still is waited for as long as patience lasts, and no longer; what was
// under way is neither lost nor done twice.
func TestAServerThatStandsStill(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	db := open(t, server.URL)
	insert(t, db, spec("a"))
	db.patience = patience{server: time.Nanosecond, answer: 50 * time.Millisecond}
	server.Freeze(t)
	if err := db.Write(t.Context(), func(tx engine.Tx) error {
		_, err := tx.Enqueue(spec("b"))
		return err
	}); !errors.Is(err, errLost) {
		t.Errorf("Write = %v", err)
	}
	server.Thaw(t)
	db.patience = usualPatience
	insert(t, db, spec("b"))
	if _, _, total, err := db.Jobs(t.Context(), engine.JobsQuery{}); err != nil || total != 2 {
		t.Errorf("%d jobs, %v", total, err)
	}
}

// A member that stands still within a transaction does not keep the others from what it has
// locked, and runs again when it goes on.
func TestAWriterThatStandsStill(t *testing.T) {
	at := pgtest.Schema(t)
	db, other := open(t, at+"&idle_in_transaction_session_timeout=500"), open(t, at)
	id := insert(t, other, spec("a"))[0]
	advance := func(db *DB, meanwhile func()) error {
		return db.Write(context.Background(), func(tx engine.Tx) error {
			j, err := db.Job(tx, id)
			meanwhile()
			j.Rev++
			return errors.Join(err, db.SaveJob(tx, j))
		})
	}
	runs := 0
	must(t, advance(db, func() {
		if runs++; runs == 1 {
			must(t, advance(other, func() {})) // waits for the lock
		}
	}))
	if j := jobOf(t, db, id); j.Rev != 3 || runs < 2 { // also the second run may stand still for too long
		t.Errorf("revision %d after %d runs", j.Rev, runs)
	}
}
