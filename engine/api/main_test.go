package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/leak"
	"github.com/farsight-console/farsight/internal/scratch"
)

// patience is the ceiling for whatever is waited for. It is no measurement: only a hang
// is that slow.
const patience = 3 * time.Minute

func TestMain(m *testing.M) {
	scratch.AtOnce(8)
	leak.Main(scratch.OnDisk(m))
}

// shortDir is a folder whose sockets have short paths, wherever temporary files are kept:
// the kernel takes 107 bytes.
func shortDir(t testing.TB) string {
	t.Helper()
	at := ""
	if len(os.TempDir()) > 60 {
		at = "/tmp"
	}
	dir, err := os.MkdirTemp(at, "fsa")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// desk is a scripted console: what it is asked it keeps, what it answers it is told.
type desk struct {
	mu     sync.Mutex
	did    []engine.Command
	asked  []engine.Query
	answer engine.Answer
	fails  error
	watch  func(ctx context.Context) iter.Seq[engine.Update]
}

func (d *desk) Do(_ context.Context, c engine.Command) (engine.Receipt, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.did = append(d.did, c)
	return engine.Receipt{Matched: 1, Applied: 1, Text: "done"}, d.fails
}

func (d *desk) Find(_ context.Context, q engine.Query) (engine.Answer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, q)
	return d.answer, d.fails
}

func (d *desk) Watch(ctx context.Context) iter.Seq[engine.Update] {
	if d.watch != nil {
		return d.watch(ctx)
	}
	return func(yield func(engine.Update) bool) {
		if yield(engine.Update{Seq: 1, Snapshot: true, Engine: &engine.EngineRow{State: engine.EngineLive}}) {
			<-ctx.Done()
		}
	}
}

func (d *desk) last() engine.Command {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.did) == 0 {
		return engine.Command{}
	}
	return d.did[len(d.did)-1]
}

// served is a server on a real socket with a client.
type served struct {
	*Client
	path    string
	door    *Door
	refused []engine.Command
	whys    []string
	stop    func()
}

// serve answers for a console until the test ends. change may alter the options.
func serve(t testing.TB, con engine.Console, change func(*Options)) *served {
	t.Helper()
	s := &served{path: filepath.Join(shortDir(t), SocketName)}
	s.door = NewDoor(Access{Owner: uint32(os.Geteuid())})
	opt := Options{
		Console: con, Who: s.door.Who, Version: "test", Dir: "dir", PID: 7, Pace: time.Millisecond,
		Refused: func(_ context.Context, c engine.Command, why string) error {
			s.refused, s.whys = append(s.refused, c), append(s.whys, why)
			return nil
		},
	}
	if change != nil {
		change(&opt)
	}
	l, err := Listen(s.path, -1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- NewServer(opt).Serve(ctx, l) }()
	s.Client = NewClient(s.path)
	s.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		s.Close()
		s.stop()
	})
	return s
}

// as makes every caller one of a role.
func as(role Role) func(*Options) {
	return func(o *Options) {
		o.Who = func(*http.Request) (Caller, error) {
			return Caller{Actor: engine.Actor{User: "bo", Session: "process 9", Via: "socket"}, Role: role, Where: "uid 1002, process 9"}, nil
		}
	}
}

// raw sends bytes, and no more, and reads what comes back until the server closes.
func (s *served) raw(t testing.TB, send string) string {
	t.Helper()
	c, err := net.Dial("unix", s.path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = fmt.Fprint(c, send) // whoever is turned away may be so before it has asked
	_ = c.(*net.UnixConn).CloseWrite()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	got, err := io.ReadAll(c)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%.20q is neither answered nor cut off", send)
	}
	return string(got)
}

func isCode(t testing.TB, err, code error) *engine.Problem {
	t.Helper()
	p, ok := errors.AsType[*engine.Problem](err)
	if !ok || !errors.Is(err, code) {
		t.Fatalf("error %v (%T), want a problem of %v", err, err, code)
	}
	return p
}
