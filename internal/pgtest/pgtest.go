//go:build unix

// Package pgtest gives tests a PostgreSQL: one server per test process, which ends and is
// removed with it, and a database of its own for each test.
package pgtest

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/internal/scratch"
)

// What says which server is used. With the first, tests use that one, where their role must
// be allowed to create databases; with the second, they fail where they else were skipped.
const (
	envServer   = "FARSIGHT_TEST_POSTGRES"
	envRequired = "FARSIGHT_REQUIRE_POSTGRES"
)

// errNone says that there is no server to be had.
var errNone = errors.New("there is no PostgreSQL: install one, or name a server in " + envServer)

var server = sync.OnceValues(begin)

// free is a name that no database has: the server that was named may have those of other processes, and of killed ones.
func free() string { return fmt.Sprintf("t%x", rand.Uint64()) }

// Schema gives the URL of a database that is the test's own, with the name of a schema, which does not
// exist yet. Call it outside of a synctest bubble: the first call starts the server. A test is skipped
// where there is none.
func Schema(t testing.TB) string {
	t.Helper()
	return database(t, free(), empty)
}

// empty is copied for a new database. Nobody is connected to it: such a one cannot be copied.
const empty = "template0"

// Made gives a function as Schema, but for the schema, which is there: make has made it once in this
// process. To copy a database takes a tenth of the time that a schema's tables do.
func Made(make func(at string) error) func(testing.TB) string {
	made := free()
	model := sync.OnceValue(func() error {
		base, err := server()
		if err == nil {
			err = create(base, made, empty)
		}
		if err != nil {
			return err
		}
		at, err := within(base, made, made)
		if err == nil {
			err = make(at)
		}
		return err
	})
	return func(t testing.TB) string {
		t.Helper()
		if os.Getenv(envServer) == "" {
			needs(t, model())
			return database(t, made, made)
		}
		at := Schema(t) // nobody would drop the model
		if err := make(at); err != nil {
			t.Fatal(err)
		}
		return at
	}
}

// Closed closes what a function opened only to have a schema made.
func Closed(opened io.Closer, err error) error {
	if err != nil {
		return err
	}
	return opened.Close()
}

// database makes a database of a test's own, which is a copy of another one.
func database(t testing.TB, schema, from string) (at string) {
	t.Helper()
	name := free()
	base, err := server()
	needs(t, err)
	if at, err = within(base, name, schema); err == nil {
		err = create(base, name, from)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // with the sessions of processes that were killed
		if err := do(base, "drop database "+name+" with (force)"); err != nil {
			t.Error(err)
		}
	})
	return at
}

// create makes a database. From version 15 on a server writes all of it to its log, unless it is told not to.
func create(base, name, from string) error {
	ctx := context.Background()
	c, err := pgx.Connect(ctx, base)
	if err != nil {
		return err
	}
	var version int
	err = c.QueryRow(ctx, "select current_setting('server_version_num')::int").Scan(&version)
	if err == nil {
		sql := "create database " + name + " template " + from
		if version >= 150000 {
			sql += " strategy file_copy"
		}
		_, err = c.Exec(ctx, sql)
	}
	return errors.Join(err, c.Close(ctx))
}

// within is the address of a schema in a database of a server.
func within(base, name, schema string) (string, error) {
	u, err := url.Parse(base)
	if err != nil {
		return "", err
	}
	q := u.Query()
	q.Set("search_path", schema)
	u.Path, u.RawQuery = "/"+name, q.Encode()
	return u.String(), nil
}

// needs skips a test where there is no server, and fails it where one does not begin.
func needs(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, errNone) && os.Getenv(envRequired) != "1" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// do carries out one statement on a connection of its own.
func do(at, sql string) error {
	ctx := context.Background()
	c, err := pgx.Connect(ctx, at)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, sql)
	return errors.Join(err, c.Close(ctx))
}

// begin gives the URL of the server that was named, or starts one: "off" is for synchronous_commit,
// as no test of the shared server looks at what it has after a crash.
func begin() (string, error) {
	if named := os.Getenv(envServer); named != "" {
		return named, do(named, "select 1")
	}
	s, err := start("off")
	if err != nil {
		return "", err
	}
	shared.Store(s)
	return s.URL, nil
}

// shared is the server of this process. Nobody else refers to the pipe that keeps it running,
// which would be closed when the garbage is collected.
var shared atomic.Pointer[Server]

// programs is the folder of postgres and initdb: of the newest version, where it is not on
// the path. Debian puts neither there: /usr/lib/postgresql/15/bin.
func programs() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return "", errNone
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		return n
	}
	newest := slices.MaxFunc(found, func(a, b string) int { return cmp.Compare(version(a), version(b)) })
	return filepath.Dir(newest), nil
}

// serve runs a server until its input ends, as it does when the tests end in whatever way,
// and removes what it has written. Until then it does what it is told, and says when it has.
const serve = `begin() {
	"$1/postgres" -D "$2/data" -k "$2" -c listen_addresses= -c fsync=off -c full_page_writes=off \
		-c "synchronous_commit=$3" -c shared_buffers=32MB -c max_connections=500 \
		-c max_wal_size=64MB -c jit=off -c dynamic_shared_memory_type=mmap >>"$2/log" 2>&1 &
}
begin "$@"
while read -r word; do
	case $word in
	stop) kill -QUIT $!; wait $! ;;
	start) begin "$@" ;;
	esac
	echo "$word"
done
kill -QUIT $!
wait
rm -rf "$2"`

// Server is one of a test's own, which can be treated badly. The shell that runs it reads orders, a
// word a line, and ends the server when there is nobody any more who could give one.
type Server struct {
	URL    string
	dir    string
	orders io.WriteCloser
	done   *bufio.Reader
}

// Own starts a server that ends with the test. What it has committed it keeps over a Stop.
func Own(t testing.TB) *Server {
	t.Helper()
	s, err := start("on")
	needs(t, err)
	t.Cleanup(func() {
		_ = s.orders.Close()
		_, _ = s.done.ReadString(0) // until it has removed everything
	})
	return s
}

// Stop ends a server as its crash would: nobody is told, nothing is written.
func (s *Server) Stop(t testing.TB) { s.tell(t, "stop") }

// Start lets it begin again, and returns when it answers.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	s.tell(t, "start")
	if err := s.answers(); err != nil {
		t.Fatal(err)
	}
}

// tell gives an order, and waits until it is carried out: the shell says the word again.
func (s *Server) tell(t testing.TB, word string) {
	t.Helper()
	if _, err := io.WriteString(s.orders, word+"\n"); err != nil {
		t.Fatal(err)
	}
	if said, err := s.done.ReadString('\n'); err != nil || said != word+"\n" {
		t.Fatalf("%s: %q, %v", word, said, err)
	}
}

// room is what must be free in memory for servers to be there, in bytes.
const room = 1 << 30

// start makes a server in a folder of its own; it listens on a Unix socket there. The path of
// a socket must be short: the folder is not where TMPDIR says. A database is 300 files, and a
// schema 500: where they are made and deleted in memory, each test costs half.
func start(synchronous string) (*Server, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(scratch.Place(room), "farsight-pg")
	if err != nil {
		return nil, err
	}
	as, err := owner(dir)
	if err != nil {
		return nil, err
	}
	if err := makeCluster(bin, dir+"/data", as); err != nil {
		return nil, err
	}
	run := exec.Command("/bin/sh", "-c", serve, "sh", bin, dir, synchronous)
	run.Dir = dir
	run.Env = []string{"PATH=" + os.Getenv("PATH")}                       // without the mark of internal/scratch: it ends by itself
	run.SysProcAttr = &syscall.SysProcAttr{Credential: as, Setpgid: true} // Ctrl-C is for the tests
	// Nobody calls Wait, which would close the pipes. The shell ends by itself when orders is closed,
	// as all files of a process are when it ends.
	orders, in := run.StdinPipe()
	done, out := run.StdoutPipe()
	if err := cmp.Or(in, out); err != nil {
		return nil, err
	}
	if err := run.Start(); err != nil {
		return nil, err
	}
	s := &Server{URL: "postgres:///postgres?user=farsight&host=" + url.QueryEscape(dir), dir: dir, orders: orders,
		done: bufio.NewReader(done)}
	return s, s.answers()
}

// patience is the ceiling for the begin of a server. It is no measurement: only one that
// cannot begin takes that long.
const patience = 3 * time.Minute

// answers waits until a server answers. The error has what it wrote to its log.
func (s *Server) answers() (err error) {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err = do(s.URL, "select 1"); err == nil {
			return nil
		}
	}
	said, _ := os.ReadFile(s.dir + "/log")
	return fmt.Errorf("PostgreSQL does not begin: %w: %s", err, said)
}

// owner makes the folder that of whoever may run a server: not root, as which postgres refuses to
// run. nil = whoever runs the tests.
func owner(dir string) (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	who, err := user.Lookup("postgres")
	if err != nil {
		if who, err = user.Lookup("nobody"); err != nil {
			return nil, err
		}
	}
	uid, _ := strconv.Atoi(who.Uid)
	gid, _ := strconv.Atoi(who.Gid)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, os.Chown(dir, uid, gid)
}
