package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Connections that never finish a head, many more than there are places, and then forty programs that
// all keep theirs.
func TestB17a_WhoHasNoTokenKeepsNobodyOut(t *testing.T) {
	w := listen(t, quiet(), func(_ *ProgramsOptions, o *Options) { o.HeadTime = time.Hour })
	for range 3 * HTTPConns {
		c, err := net.Dial("tcp", w.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, _ = io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: local")
	}
	for i := range 40 {
		c, err := net.Dial("tcp", w.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, _ = fmt.Fprintf(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", w.token)
		_ = c.SetReadDeadline(time.Now().Add(patience))
		got := make([]byte, 15)
		if _, err := io.ReadFull(c, got); err != nil || string(got) != "HTTP/1.1 200 OK" {
			t.Fatalf("operator %d: %q, %v", i+1, got, err)
		}
	}
}

func TestB17b_AUserTakesNoPlaceOfAnother(t *testing.T) {
	const most, mallory, ana = 4, 1001, 1002
	raw, err := net.Listen("unix", filepath.Join(shortDir(t), SocketName))
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	uid := uint32(ana)
	l := &limitedListener{Listener: raw, most: most, users: map[int64]*places{}, peer: func(net.Conn) *peer { return &peer{UID: uid} }}
	dial := func(as uint32) (client net.Conn, server *limitedConn) {
		t.Helper()
		uid = as
		client, err := net.Dial("unix", raw.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { client.Close() })
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return client, c.(*limitedConn)
	}
	open := func(c net.Conn) bool {
		_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
		_, err := c.Read(make([]byte, 1))
		return errors.Is(err, os.ErrDeadlineExceeded)
	}
	hers, herConn := dial(ana)
	for range most {
		if _, c := dial(mallory); c.letIn() != nil {
			t.Fatal("there were places for the first ones")
		}
	}
	var his []net.Conn
	for range 3 * most {
		c, server := dial(mallory)
		his = append(his, c)
		if err := server.letIn(); err == nil || ProblemOf(err).Status != http.StatusServiceUnavailable {
			t.Errorf("one more than there are places: %v", err)
		}
	}
	if open(his[0]) || !open(his[len(his)-1]) {
		t.Error("of those that wait the oldest makes room")
	}
	if !open(hers) || herConn.letIn() != nil {
		t.Error("another user's connections took her place")
	}
	if _, c := dial(ana); c.letIn() != nil {
		t.Error("another user's connections keep her out")
	}
}

// TestB18_PayloadsThatAreGivenOutHaveOneBudget: many ask for the largest payload, and then read nothing for a while.
func TestB18_PayloadsThatAreGivenOutHaveOneBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const askers, size = 15, 8 << 20
		var asked atomic.Int32
		s := NewServer(Options{Console: &office{find: func(engine.Query) (engine.Answer, error) {
			asked.Add(1)
			return engine.Payload{JSON: bytes.Repeat([]byte("1"), size)}, nil
		}}})
		reading := make(chan struct{})
		var all sync.WaitGroup
		for range askers {
			all.Go(func() {
				r := &Request{Request: httptest.NewRequest(http.MethodPost, "/v1/find", nil).WithContext(t.Context()),
					Body: []byte(`{"type":"payload","query":{"match_id":"EUW1_1"}}`)}
				if err := s.find(slowReader{httptest.NewRecorder(), reading}, r); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if n := asked.Load(); n == 0 || n > payloadsMost/size {
			t.Errorf("%d payloads are held at once", n)
		}
		close(reading)
		all.Wait()
		if n := asked.Load(); n != askers {
			t.Errorf("%d payloads were given out", n)
		}
	})
}

// slowReader takes nothing before it reads.
type slowReader struct {
	*httptest.ResponseRecorder
	reading chan struct{}
}

func (r slowReader) Write(b []byte) (int, error) {
	<-r.reading
	return len(b), nil
}
