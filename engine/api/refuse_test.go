package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/farsight-console/farsight/engine"
)

// TestOnlyTheOwnerNamesAFolder: by a token, or as another user of a socket, a backup
// goes to the data directory or nowhere.
func TestOnlyTheOwnerNamesAFolder(t *testing.T) {
	there := engine.Command{Op: engine.OpBackup, Backup: &engine.BackupAsk{To: "/srv/backups"}}
	d := &desk{}
	s := serve(t, d, nil)
	if _, err := s.Do(t.Context(), there); err != nil || d.last().Backup.To != "/srv/backups" {
		t.Errorf("the owner: %+v, %v", d.last(), err)
	}

	other, began := &desk{}, time.Now()
	s = serve(t, other, as(Operator))
	for _, dry := range []bool{false, true} {
		there.DryRun = dry
		_, err := s.Do(t.Context(), there)
		if p := isCode(t, err, engine.ErrRefused); !strings.Contains(p.Sentence, "owner") || !strings.Contains(p.Do, "backup/") {
			t.Errorf("another operator: %+v", p)
		}
	}
	n := len(s.refused) // the same again within a second is not written down
	if other.last().Op != "" || n == 0 || n > 1+int(time.Since(began)/time.Second) || s.refused[0].Op != engine.OpBackup || s.refused[0].By.User != "bo" {
		t.Errorf("%+v was done, the audit has %+v", other.last(), s.refused)
	}
	if _, err := s.Do(t.Context(), engine.Command{Op: engine.OpBackup, Backup: &engine.BackupAsk{Keep: 3}}); err != nil || other.last().Backup.Keep != 3 {
		t.Errorf("a backup without a folder: %v", err)
	}

	w := listen(t, quiet(), nil)
	w.ask(t, "POST", "/v1/do", `{"op":"backup","backup":{"to":"/srv/backups"}}`, http.StatusForbidden)
	w.ask(t, "POST", "/v1/do", `{"op":"backup","backup":{}}`, http.StatusOK)
}

// TestManyRefusalsFillNoAudit: neither a caller who varies the command nor one who
// comes as another process each time.
func TestManyRefusalsFillNoAudit(t *testing.T) {
	t.Parallel()
	var n int
	s := serve(t, &desk{}, func(o *Options) {
		o.Who = func(*http.Request) (Caller, error) {
			n++
			return Caller{Role: Viewer, Where: fmt.Sprint("uid 1002, process ", n)}, nil
		}
	})
	began := time.Now()
	for i := range 300 {
		s.post(t, "/v1/do", fmt.Sprintf(`{"op":"explode %d"}`, i), http.StatusForbidden)
	}
	if most := 20 * (2 + int(time.Since(began)/time.Second)); len(s.refused) == 0 || len(s.refused) > most {
		t.Errorf("%d refusals are in the audit, at most %d may be", len(s.refused), most)
	}
}

// TestAWebPageIsRefusedAndWrittenDown when it wanted to act.
func TestAWebPageIsRefusedAndWrittenDown(t *testing.T) {
	s := serve(t, &desk{}, nil)
	s.send(t, "GET", "/v1/hello", "", http.StatusForbidden, map[string]string{"Origin": "https://evil.example"})
	s.send(t, "POST", "/v1/nothing", "{}", http.StatusForbidden, map[string]string{"Origin": "https://evil.example"})
	s.send(t, "POST", "/v1/do", `{"op":"retry"}`, http.StatusForbidden, map[string]string{"Origin": "https://evil.example" + strings.Repeat("e", 1000)})
	s.send(t, "POST", "/v1/do", `{"op":"retry"}`, http.StatusMisdirectedRequest, map[string]string{"Host": "evil.example"})
	if len(s.refused) != 2 || s.refused[0].Op != "POST /v1/do" || !strings.Contains(s.whys[0], "evil.example") || len(s.whys[0]) > 400 {
		t.Errorf("the audit has %+v, %q", s.refused, s.whys)
	}
}

// TestASlowBodyIsCutOff through both ways in, and one who does not read an answer is
// no burden to others.
func TestASlowBodyIsCutOff(t *testing.T) {
	t.Parallel()
	hasty := func(o *Options) { o.BodyTime = 50 * time.Millisecond }
	s := serve(t, &desk{}, hasty)
	w := listen(t, quiet(), func(_ *ProgramsOptions, o *Options) { hasty(o) })
	for name, dial := range map[string]func() (net.Conn, error){
		"socket": func() (net.Conn, error) { return net.Dial("unix", s.path) },
		"tcp":    func() (net.Conn, error) { return net.Dial("tcp", w.addr) },
	} {
		for head, want := range map[string]string{
			"POST /v1/do HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + w.token:                                      "408",
			"POST /v1/do HTTP/1.1\r\nHost: evil.example":                                                                       "421",
			"POST /v1/do HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example":                                           "403",
			"GET /v1/hello HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + w.token:                                    "400",
			"POST /v1/no HTTP/1.1\r\nHost: localhost":                                                                          "404",
			"POST /v1/do HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic x\r\nContent-Encoding: br, for the socket\r\nX: ": map[string]string{"socket": "415", "tcp": "401"}[name],
		} {
			c, err := dial()
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_, _ = io.WriteString(c, head+"\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
			_ = c.SetReadDeadline(time.Now().Add(patience))
			if got, err := io.ReadAll(c); errors.Is(err, os.ErrDeadlineExceeded) || !strings.HasPrefix(string(got), "HTTP/1.1 "+want) {
				t.Errorf("%s: %q with a body that never ends is answered with %.80q, %v", name, head, got, err)
			}
		}
	}
}

// TestAnAnswerThatNobodyReadsIsNoBurden: whoever asks for much and reads nothing keeps
// no one else waiting.
func TestAnAnswerThatNobodyReadsIsNoBurden(t *testing.T) {
	t.Parallel()
	rows := make([]engine.AccountRow, 4_000) // several times what a socket takes before it is read
	for i := range rows {
		rows[i].RiotID = strings.Repeat("n", 100)
	}
	s := serve(t, &desk{answer: engine.AccountsPage{Accounts: rows}}, nil)
	const ask = "POST /v1/find HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 19\r\n\r\n{\"type\":\"accounts\"}"
	for range 5 {
		c, err := net.Dial("unix", s.path)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, _ = io.WriteString(c, ask)
	}
	if _, err := s.Hello(t.Context()); err != nil {
		t.Error(err)
	}
	if a, err := s.Find(t.Context(), engine.AccountsQuery{}); err != nil || len(a.(engine.AccountsPage).Accounts) != len(rows) {
		t.Errorf("who reads: %v", err)
	}
}

// lateListener gives connections on which a write ends well after the client has it.
type lateListener struct{ net.Listener }

type lateConn struct{ net.Conn }

func (l lateListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return lateConn{c}, err
}

func (c lateConn) Write(p []byte) (int, error) {
	defer time.Sleep(100 * time.Millisecond)
	return c.Conn.Write(p)
}

// TestAStopWaitsForNoWebSocket: a client that never says goodbye is left behind, and
// one that listens is told.
func TestAStopWaitsForNoWebSocket(t *testing.T) {
	t.Parallel()
	for range 5 { // who gets no processor for the second that a stop lets them is cut off
		if stopUnderAWrite(t) == websocket.StatusGoingAway {
			return
		}
	}
	t.Error("who listened was never told that the engine goes away")
}

// stopUnderAWrite stops a server that one client listens to and another does not, and
// gives what the first was told.
func stopUnderAWrite(t *testing.T) websocket.StatusCode {
	t.Helper()
	e := NewEvents(EventsOptions{Console: quiet(), Boot: "b"})
	l, err := ListenHTTP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	hosts, origins := HTTPHosts(l)
	server := NewServer(Options{
		Console: quiet(), Hosts: hosts, Origins: origins,
		Who:    func(*http.Request) (Caller, error) { return Caller{Role: Viewer}, nil },
		Routes: NewPrograms(ProgramsOptions{Console: quiet(), Events: e}).Routes(),
	})
	ctx, stop := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(ctx, lateListener{l}); err != nil { // so that a stop finds a write under way
			t.Error(err)
		}
	})
	url := "ws://" + l.Addr().String() + "/v1/events"
	deaf, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	_, _ = io.WriteString(deaf, "GET /v1/events HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
	c, resp, err := websocket.Dial(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err, resp)
	}
	defer func() { _ = c.CloseNow() }()
	if _, raw, err := c.Read(t.Context()); err != nil || !json.Valid(raw) {
		t.Fatal(err)
	}
	if n, err := deaf.Read(make([]byte, 4096)); err != nil || n == 0 {
		t.Fatal(err)
	}
	told := make(chan websocket.StatusCode, 1)
	go func() {
		_, _, err := c.Read(context.Background())
		told <- websocket.CloseStatus(err)
	}()
	stop()
	serving.Wait() // its connections are closed by now: goleak sees whoever is left
	code := <-told
	_ = deaf.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.Copy(io.Discard, deaf); err != nil {
		t.Errorf("who did not answer is still connected: %v", err)
	}
	return code
}
