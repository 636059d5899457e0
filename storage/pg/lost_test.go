package pg

import (
	"bytes"
	"fmt"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

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

// carry passes on what the client says. A commit that is marked is a message of its own.
func (w *wire) carry(l *link) {
	buf := make([]byte, 64<<10)
	for {
		n, err := l.client.Read(buf)
		if err != nil {
			return
		}
		if trap := w.atCommit.Load(); trap != nil && bytes.Contains(buf[:n], []byte("a mark")) && w.atCommit.CompareAndSwap(trap, nil) {
			(*trap)(l, bytes.Clone(buf[:n]))
			continue
		}
		if _, err := l.server.Write(buf[:n]); err != nil {
			return
		}
	}
}

// A commit that was not answered was carried out or not: either way it is in the log once, and nobody is told otherwise.
func TestACommitThatIsNotAnswered(t *testing.T) {
	t.Parallel()
	for name, trap := range map[string]func(l *link, commit []byte){
		"lost before": func(l *link, _ []byte) { _ = l.client.Close() },
		"lost after": func(l *link, commit []byte) {
			l.muted.Store(true)
			_, _ = l.server.Write(commit)
			<-l.answered
			_ = l.client.Close()
		},
	} {
		at := pgtest.Schema(t)
		w := between(t, at)
		db := open(t, w.url)
		store, shown := leading(t, db)
		must(t, store.SaveState(t.Context(), "x", []byte("before")))
		w.atCommit.Store(&trap)
		must(t, store.SaveState(t.Context(), "x", []byte("a mark")))
		if w.atCommit.Load() != nil {
			t.Errorf("%s: no commit was trapped", name)
		}
		shown()
		n := 0
		must(t, open(t, at).pool.QueryRow(t.Context(), "select count(*) from fs_log where position('a mark'::bytea in rows) > 0").Scan(&n))
		if blob, err := store.LoadState(t.Context(), "x"); n != 1 || err != nil || string(blob) != "a mark" {
			t.Errorf("%s: %d commits, %q, %v", name, n, blob, err)
		}
	}
}
