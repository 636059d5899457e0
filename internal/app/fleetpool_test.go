package app

import (
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/farsight-console/farsight/internal/pgtest"
)

// pooler stands before a server as one does that gives each transaction a session which others have, too:
// the number of a connection is its own, that of its session is everybody's.
func pooler(t *testing.T, at string) string {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	socket := q.Get("host") + "/.s.PGSQL.5432"
	q.Set("sslmode", "disable")
	q.Set("host", "127.0.0.1")
	q.Set("port", strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	u.RawQuery = q.Encode()
	var open sync.WaitGroup
	open.Go(func() {
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
			open.Go(func() { pool(client, server) })
			open.Go(func() { _, _ = io.Copy(server, client); _ = server.Close() })
		}
	})
	t.Cleanup(func() { _ = l.Close(); open.Wait() })
	return u.String()
}

// pool passes on what the server says.
func pool(client, server net.Conn) {
	defer client.Close()
	from := pgproto3.NewFrontend(server, nil)
	for {
		said, err := from.Receive()
		if err != nil {
			return
		}
		switch said := said.(type) {
		case *pgproto3.BackendKeyData:
			said.ProcessID += 1 << 20
		case *pgproto3.DataRow:
			if len(said.Values) == 2 && strings.HasPrefix(string(said.Values[1]), "t") { // of the session, and the schema
				said.Values = [][]byte{[]byte("4242"), append([]byte(nil), said.Values[1]...)}
			}
		}
		if out, err := said.Encode(nil); err == nil {
			_, err = client.Write(out)
			if err != nil {
				return
			}
		}
	}
}

// A pooler without sessions is refused by whatever begins, and doctor says so with what to do.
func TestPostgres_APoolerWithoutSessions(t *testing.T) {
	t.Parallel()
	farsight(t) // where no program is started, no server need be
	s := inSchema{t: t, sim: startSim(t, quick(player("Pooled#EUW", 2))), dir: freshDir(t)}
	s.at = pooler(t, pgtest.Schema(t))
	for _, command := range []string{"doctor", "serve", "accounts", "members"} {
		r := s.run(exitFailed, command)
		for _, says := range []string{"two connections have one session", "pool_mode = session"} {
			if !strings.Contains(r.stdout+r.stderr, says) {
				t.Errorf("%s: %q is not in %s%s", command, says, r.stdout, r.stderr)
			}
		}
		if command != "doctor" && strings.Count(strings.TrimSpace(r.stderr), "\n") > 0 {
			t.Errorf("%s says more than one sentence: %s", command, r.stderr)
		}
	}
}
