package api

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/hub"
)

func TestCommandsCarryTheActorOfTheKernel(t *testing.T) {
	d := &desk{}
	s := serve(t, d, nil)
	lie := engine.Actor{User: "somebody else", Session: "x", Via: "console"}
	r, err := s.Do(t.Context(), engine.Command{Op: engine.OpCancel, Job: "j1", Reason: "why", DryRun: true, By: lie})
	if err != nil || r.Text != "done" || r.Applied != 1 {
		t.Fatal(r, err)
	}
	got := d.last()
	if got.By.User == lie.User || got.By.Via != "socket" || got.By.User == "" || !strings.HasPrefix(got.By.Session, "process ") {
		t.Errorf("the actor is %+v", got.By)
	}
	if got.Op != engine.OpCancel || got.Job != "j1" || got.Reason != "why" || !got.DryRun {
		t.Errorf("the command arrived as %+v", got)
	}
	// A request made by hand that claims to be somebody is believed as little.
	s.post(t, "/v1/do", `{"op":"retry","by":{"user":"root","via":"console"}}`, http.StatusOK)
	if by := d.last().By; by.Via != "socket" || by != got.By {
		t.Errorf("a claim was believed: %+v", by)
	}
	h, err := s.Hello(t.Context())
	if err != nil || h.You != got.By || h.Role != Operator || h.Dir != "dir" {
		t.Errorf("%+v %v", h, err)
	}
}

// post sends a body by hand and checks the answer against the document.
func (s *served) post(t testing.TB, path, body string, want int) []byte {
	t.Helper()
	return s.send(t, http.MethodPost, path, body, want, nil)
}

func (s *served) send(t testing.TB, method, path, body string, want int, header map[string]string) []byte {
	t.Helper()
	tr := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", s.path) }, DisableKeepAlives: true}
	req, err := http.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for k, v := range header {
		if k == "Host" {
			req.Host = v
			continue
		}
		req.Header.Set(k, v)
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != want {
		t.Errorf("%s %s answered %d %s, want %d", method, path, resp.StatusCode, got, want)
	}
	if err := Fits(method, path, resp.StatusCode, got); err != nil {
		t.Error(err)
	}
	return got
}

func TestTheKeyGoesItsOwnWay(t *testing.T) {
	d := &desk{}
	s := serve(t, d, nil)
	if _, err := s.Do(t.Context(), engine.Command{Op: engine.OpKey, Key: "RGAPI-secret", Reason: "rotated"}); err != nil {
		t.Fatal(err)
	}
	if c := d.last(); c.Key != "RGAPI-secret" || c.Op != engine.OpKey || c.Reason != "rotated" || c.By.Via != "socket" {
		t.Errorf("%+v", c)
	}
	for _, body := range []string{`{"key":"RGAPI-secret"`, `{"key":7,"x":"RGAPI-secret"}`, `{"RGAPI-secret":1}`, `{}`} {
		if got := s.post(t, "/v1/key", body, http.StatusBadRequest); bytes.Contains(got, []byte("secret")) {
			t.Errorf("the answer repeats the key: %s", got)
		}
	}
	s.post(t, "/v1/do", `{"op":"key"}`, http.StatusBadRequest)
}

func TestErrorsKeepCodeHintAndReceipt(t *testing.T) {
	d := &desk{fails: &engine.Problem{Code: engine.ErrConflict, Sentence: "changed since shown", Do: "look again", Job: "j1", Why: "moved on"}}
	s := serve(t, d, nil)
	r, err := s.Do(t.Context(), engine.Command{Op: engine.OpRetry, Job: "j1"})
	if p := isCode(t, err, engine.ErrConflict); p.Sentence != "changed since shown" || p.Do != "look again" || p.Job != "j1" || p.Reason() != "moved on" {
		t.Errorf("%+v", p)
	}
	if r.Matched != 1 {
		t.Errorf("the receipt of a command that failed is %+v", r)
	}
	d.fails = errors.New("bolt: RGAPI-secret in page 7")
	_, err = s.Find(t.Context(), engine.StatusQuery{})
	if p := isCode(t, err, engine.ErrBroken); strings.Contains(p.Error(), "secret") {
		t.Errorf("an inner error is told: %v", p)
	}
}

func TestBadRequestsAreRefusedAndFitTheDocument(t *testing.T) {
	t.Parallel()
	s := serve(t, &desk{answer: engine.LimitsRow{}}, nil)
	for name, c := range map[string]struct {
		method, path, body string
		header             map[string]string
		want               int
	}{
		"unknown path":   {"GET", "/v1/nothing", "", nil, 404},
		"unclean path":   {"GET", "/v1//hello", "", nil, 404},
		"wrong method":   {"GET", "/v1/do", "", nil, 405},
		"another host":   {"GET", "/v1/hello", "", map[string]string{"Host": "evil.example"}, 421},
		"a web page":     {"POST", "/v1/do", `{"op":"retry"}`, map[string]string{"Origin": "http://evil.example"}, 403},
		"form":           {"POST", "/v1/do", `op=retry`, map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, 415},
		"text":           {"POST", "/v1/do", `{"op":"retry"}`, map[string]string{"Content-Type": "text/plain"}, 415},
		"no json":        {"POST", "/v1/do", `retry`, nil, 400},
		"no op":          {"POST", "/v1/do", `{}`, nil, 400},
		"unknown field":  {"POST", "/v1/do", `{"op":"retry","dry":true}`, nil, 400},
		"unknown query":  {"POST", "/v1/find", `{"type":"nothing"}`, nil, 400},
		"too large":      {"POST", "/v1/do", `{"op":"retry","reason":"` + strings.Repeat("x", 1<<20) + `"}`, nil, 413},
		"body with GET":  {"GET", "/v1/hello", `{}`, nil, 400},
		"good question":  {"POST", "/v1/find", `{"type":"limits","query":{}}`, nil, 200},
		"good, charset":  {"POST", "/v1/find", `{"type":"limits"}`, map[string]string{"Content-Type": "application/json; charset=utf-8"}, 200},
		"good hello":     {"GET", "/v1/hello", "", nil, 200},
		"good document":  {"GET", "/openapi.json", "", nil, 200},
		"good command":   {"POST", "/v1/do", `{"op":"retry"}`, nil, 200},
		"host with port": {"GET", "/v1/hello", "", map[string]string{"Host": "localhost:80"}, 200},
	} {
		t.Run(name, func(t *testing.T) { s.send(t, c.method, c.path, c.body, c.want, c.header) })
	}
	for _, junk := range []string{"\x16\x03\x01\x02\x00", "GET\r\n\r\n", "GET /v1/hello HTTP/9.9\r\n\r\n", "POST /v1/do HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", "GET /v1/hello HTTP/1.1\r\nX: " + strings.Repeat("y", 1<<17) + "\r\n\r\n"} {
		if got := s.raw(t, junk); got != "" && !strings.HasPrefix(got, "HTTP/1.1 4") && !strings.HasPrefix(got, "HTTP/1.1 505") {
			t.Errorf("%.20q was answered with %q", junk, got)
		}
	}
	if _, err := s.Hello(t.Context()); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// A command on a hundred thousand frozen jobs fits, and a bomb does not.
func TestALargeSelectionFits(t *testing.T) {
	t.Parallel()
	d := &desk{}
	s := serve(t, d, func(o *Options) { o.BodyTime = patience })
	c := engine.Command{Op: engine.OpRetry, Select: &engine.Selection{}}
	for i := range 100_000 {
		c.Select.IDs = append(c.Select.IDs, engine.JobID("c"+strconv.Itoa(1_000_000+3*i)))
		c.Select.Revs = append(c.Select.Revs, engine.Revision(1+i%7))
	}
	if _, err := s.Do(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if got := d.last(); len(got.Select.IDs) != 100_000 || got.Select.IDs[99_999] != c.Select.IDs[99_999] {
		t.Errorf("%d jobs arrived", len(got.Select.IDs))
	}
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = z.Write(bytes.Repeat([]byte(" "), 17<<20))
	_ = z.Close()
	s.send(t, "POST", "/v1/do", bomb.String(), 413, map[string]string{"Content-Encoding": "gzip"})
	s.send(t, "POST", "/v1/do", `{"op":"retry"}`, 400, map[string]string{"Content-Encoding": "gzip"})
	s.send(t, "POST", "/v1/do", `{"op":"retry"}`, 415, map[string]string{"Content-Encoding": "br"})
}

func TestAViewerMayLookButNotAct(t *testing.T) {
	d := &desk{answer: engine.LimitsRow{}}
	s := serve(t, d, as(Viewer))
	if _, err := s.Find(t.Context(), engine.LimitsQuery{}); err != nil {
		t.Error(err)
	}
	began := time.Now()
	for range 3 {
		_, err := s.Do(t.Context(), engine.Command{Op: engine.OpCancel, Job: "j1"})
		if p := isCode(t, err, engine.ErrRefused); !strings.Contains(p.Sentence, "viewer") || p.Do == "" {
			t.Errorf("%+v", p)
		}
	}
	isCode(t, second(s.Do(t.Context(), engine.Command{Op: engine.OpKey, Key: "RGAPI-secret"})), engine.ErrRefused)
	if c := d.last(); c.Op != "" {
		t.Errorf("%+v was carried out", c)
	}
	// The repetition is not written down again within a second.
	n := len(s.refused)
	if n < 2 || n > 2+int(time.Since(began)/time.Second) {
		t.Fatalf("%d refusals are in the audit: %+v", n, s.refused)
	}
	if c := s.refused[0]; c.Op != engine.OpCancel || c.Job != "j1" || c.By.User != "bo" || !strings.Contains(s.whys[0], "uid 1002, process 9") {
		t.Errorf("the audit says %+v, %s", c, s.whys[0])
	}
	if last := s.refused[n-1]; last.Op != "POST /v1/key" || last.Key != "" {
		t.Errorf("the audit got the key, or not the command: %s", last.Op)
	}
}

func second[A any](_ A, err error) error { return err }

func TestAStrangerIsRefused(t *testing.T) {
	d := &desk{}
	s := serve(t, d, nil)
	s.door.Set(Access{Owner: uint32(os.Geteuid()) + 1})
	if os.Geteuid() == 0 {
		t.Skip("root is nowhere a stranger: see TestAccess")
	}
	isCode(t, second(s.Hello(t.Context())), engine.ErrRefused)
	isCode(t, second(s.Do(t.Context(), engine.Command{Op: engine.OpRetry})), engine.ErrRefused)
	s.door.Set(Access{Owner: uint32(os.Geteuid())})
	if _, err := s.Hello(t.Context()); err != nil {
		t.Error("the new rules do not hold for an open connection:", err)
	}
}

func TestWatchHasNumbersAndOwnNotesAreLeftOut(t *testing.T) {
	var you engine.Actor
	d := &desk{}
	d.watch = func(ctx context.Context) iter.Seq[engine.Update] {
		return func(yield func(engine.Update) bool) {
			_ = yield(engine.Update{Seq: 1, Snapshot: true}) &&
				yield(engine.Update{Seq: 2, Notes: []engine.Note{{Text: "mine", By: you}, {Text: "cancelled", By: engine.Actor{User: "bo", Via: "socket"}}, {Text: "news"}}})
			<-ctx.Done()
		}
	}
	s := serve(t, d, nil)
	h, err := s.Hello(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	you = h.You
	var texts []string
	for u := range s.Watch(t.Context()) {
		for _, n := range u.Notes {
			texts = append(texts, n.Text)
		}
		if len(texts) > 0 {
			break
		}
	}
	if got := strings.Join(texts, ", "); got != "cancelled, news" {
		t.Errorf("notes: %s", got)
	}
	// The frames themselves, read by hand.
	c, err := net.Dial("unix", s.path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, "GET /v1/watch HTTP/1.0\r\nHost: farsight\r\n\r\n")
	_ = c.SetReadDeadline(time.Now().Add(patience))
	var all []byte
	buf := make([]byte, 4096)
	for !bytes.Contains(all, []byte(`"seq":2`)) || !bytes.HasSuffix(all, []byte("\n")) {
		n, err := c.Read(buf)
		if all = append(all, buf[:n]...); err != nil {
			t.Fatal(err)
		}
	}
	_, body, _ := bytes.Cut(all, []byte("\r\n\r\n"))
	for i, line := range bytes.Split(bytes.TrimSpace(body), []byte("\n")) {
		var f frame
		if err := json.Unmarshal(line, &f); err != nil || f.N != uint64(i+1) {
			t.Errorf("frame %d is %s: %v", i, line, err)
		}
		if err := Fits("GET", "/v1/watch", 200, line); err != nil {
			t.Error(err)
		}
	}
}

func TestASilentStreamBeats(t *testing.T) {
	t.Parallel()
	s := serve(t, &desk{}, func(o *Options) { o.Beat = 5 * time.Millisecond })
	c, err := net.Dial("unix", s.path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, "GET /v1/watch HTTP/1.0\r\nHost: farsight\r\n\r\n")
	_ = c.SetReadDeadline(time.Now().Add(patience))
	var all []byte
	buf := make([]byte, 4096)
	for !bytes.Contains(all, []byte(`{"n":6}`)) {
		n, err := c.Read(buf)
		if all = append(all, buf[:n]...); err != nil {
			t.Fatalf("%v after %s", err, all)
		}
	}
}

// flooded is the hub's source for a test of slow readers: nothing but its rows.
type flooded struct{}

func (flooded) Engine() (*engine.EngineRow, *engine.LimitsRow) {
	return &engine.EngineRow{}, &engine.LimitsRow{}
}
func (flooded) Queues() []engine.QueueRow              { return nil }
func (flooded) CallsAfter(uint64) []engine.CallRow     { return nil }
func (flooded) ETA(string) engine.ETA                  { return engine.ETA{} }
func (flooded) Start(engine.JobID) (time.Time, string) { return time.Time{}, "" }
func (flooded) Row(j engine.Job) engine.JobRow         { return engine.JobRow{Job: j} }

// TestP34_ASocketThatStopsReadingCostsNothing floods the hub behind a client that
// reads nothing: publishing never waits, memory stays bounded, and what the client
// finds when it reads again is a gap with a fresh snapshot.
func TestP34_ASocketThatStopsReadingCostsNothing(t *testing.T) {
	h := hub.New(hub.Options{Source: flooded{}, Accounts: func(context.Context, engine.AccountsQuery) (engine.AccountsPage, error) {
		return engine.AccountsPage{}, nil
	}})
	joined := make(chan struct{})
	arrives := sync.OnceFunc(func() { close(joined) })
	s := serve(t, &desk{watch: func(ctx context.Context) iter.Seq[engine.Update] {
		return func(yield func(engine.Update) bool) {
			for u := range h.Watch(ctx) {
				arrives()
				if !yield(u) {
					return
				}
			}
		}
	}}, nil)
	c, err := net.Dial("unix", s.path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, "GET /v1/watch HTTP/1.0\r\nHost: farsight\r\n\r\n")
	<-joined // what is published from here on is in no first snapshot
	stops := time.Now()
	flood(h, 2000)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range 10 {
		flood(h, 10000)
	}
	grown := func() int64 {
		runtime.GC()
		runtime.ReadMemStats(&after)
		return int64(after.HeapAlloc) - int64(before.HeapAlloc)
	}
	// What is being worked on just now costs something too, but not for long.
	for end := time.Now().Add(patience); grown() > 32<<20 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if n := grown(); n > 32<<20 {
		t.Errorf("100,000 changes nobody read have cost %d MiB", n>>20)
	}
	_ = c.SetReadDeadline(time.Now().Add(patience))
	buf := make([]byte, 1<<16)
	var tail []byte
	for !bytes.Contains(tail, []byte(`"gap":true`)) {
		n, err := c.Read(buf)
		if took := time.Since(stops); err == io.EOF && took > writeTimeout {
			t.Skipf("the flood took %s: who reads nothing for so long is cut off", took)
		}
		if err != nil {
			t.Fatalf("no gap came: %v", err)
		}
		tail = append(tail[max(0, len(tail)-100):], buf[:n]...)
	}
	if !bytes.Contains(tail, []byte(`"snapshot":true,"gap":true`)) {
		t.Error("a gap came without a snapshot")
	}
}

var flooding int

// flood publishes n jobs that begin, and then end: each is news in between.
func flood(h *hub.Hub, n int) {
	var ids []engine.JobID
	for range n {
		flooding++
		id := engine.JobID("job-" + strings.Repeat("0", 8) + time.Duration(flooding).String())
		ids = append(ids, id)
		h.Publish(uint64(flooding), []engine.Change{{Job: &engine.Job{ID: id, Rev: 1, State: engine.Running, Key: strings.Repeat("k", 100)}}})
	}
	for _, id := range ids {
		h.Publish(uint64(flooding), []engine.Change{{Job: &engine.Job{ID: id, Rev: 2, State: engine.Completed}}})
	}
}

func TestTooManyConnectionsAreToldSo(t *testing.T) {
	s := serve(t, &desk{}, func(o *Options) { o.Conns, o.HeadTime = 2, time.Hour })
	for range 2 {
		c, err := net.Dial("unix", s.path)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, _ = io.WriteString(c, "GET /v1/hello HTTP/1.1\r\nHost: farsight\r\n\r\n")
		if n, err := c.Read(make([]byte, 2000)); n == 0 {
			t.Fatal(err)
		}
	}
	got := s.raw(t, "GET /v1/hello HTTP/1.1\r\nHost: farsight\r\n\r\n")
	head, body, _ := strings.Cut(got, "\r\n\r\n")
	if !strings.HasPrefix(head, "HTTP/1.1 503 ") {
		t.Errorf("the third was answered with %q", got)
	}
	if err := Fits("GET", "/v1/hello", 503, []byte(body)); err != nil {
		t.Error(err)
	}
}

func TestASlowRequestIsCutOff(t *testing.T) {
	t.Parallel()
	s := serve(t, &desk{}, func(o *Options) { o.HeadTime = 50 * time.Millisecond })
	c, err := net.Dial("unix", s.path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, "GET /v1/hello HTTP/1.1\r\nHost: far")
	_ = c.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.ReadAll(c); errors.Is(err, os.ErrDeadlineExceeded) { // it may be cut off before it is read
		t.Errorf("a head that never ends is waited for: %v", err)
	}
}

func TestAPanicEndsNothing(t *testing.T) {
	s := serve(t, &desk{watch: func(context.Context) iter.Seq[engine.Update] { panic("oh") }}, func(o *Options) {
		o.Routes = []Route{{Method: "GET", Path: "/v1/oh", Role: Viewer, Handle: func(http.ResponseWriter, *Request) error { panic("oh") }}}
	})
	s.send(t, "GET", "/v1/oh", "", http.StatusInternalServerError, nil)
	if _, err := s.Hello(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestClientSaysWhyNobodyAnswers(t *testing.T) {
	path := filepath.Join(shortDir(t), SocketName)
	c := NewClient(path)
	defer c.Close()
	for range c.Watch(t.Context()) {
		t.Error("an update of nobody")
	}
	p := isCode(t, second(c.Hello(t.Context())), engine.ErrGone)
	if !strings.Contains(p.Error(), "not connected") || !strings.Contains(p.Error(), path) || p.Do == "" {
		t.Error(p)
	}
	isCode(t, second(c.Do(t.Context(), engine.Command{Op: engine.OpRetry})), engine.ErrGone)
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	isCode(t, second(c.Hello(t.Context())), engine.ErrGone)
}

// TestClientSaysWhatANeighbourIs: something else listens on the path. A question can be
// asked again; of a command nobody knows.
func TestClientSaysWhatANeighbourIs(t *testing.T) {
	path := filepath.Join(shortDir(t), SocketName)
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 1)) // it has sent something
			conn.Close()
		}
	}()
	c := NewClient(path)
	p := isCode(t, second(c.Hello(t.Context())), engine.ErrGone)
	if !strings.Contains(p.Do, "no Farsight engine") {
		t.Error(p)
	}
	p = isCode(t, second(c.Do(t.Context(), engine.Command{Op: engine.OpRetry})), engine.ErrGone)
	if p.Do != "look whether it was done" {
		t.Error(p)
	}
	c.Close()
	l.Close()
	<-served
}

func TestTheClientComesBackAfterARestart(t *testing.T) {
	s := serve(t, &desk{answer: engine.LimitsRow{}}, nil)
	if _, err := s.Find(t.Context(), engine.LimitsQuery{}); err != nil {
		t.Fatal(err)
	}
	s.stop()
	isCode(t, second(s.Find(t.Context(), engine.LimitsQuery{})), engine.ErrGone)
	if _, err := os.Lstat(s.path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket was left behind: %v", err)
	}
	l, err := Listen(s.path, -1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- NewServer(Options{Console: &desk{answer: engine.LimitsRow{}}, Who: s.door.Who}).Serve(ctx, l)
	}()
	if _, err := s.Find(t.Context(), engine.LimitsQuery{}); err != nil {
		t.Error(err)
	}
	s.Close()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestSocketsAreOursAlone(t *testing.T) {
	dir := shortDir(t)
	path := filepath.Join(dir, SocketName)
	l, err := Listen(path, -1)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if _, err := Listen(path, -1); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("a second listener: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	// What a process that was killed has left is taken away.
	stale, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	stale.(*net.UnixListener).SetUnlinkOnClose(false)
	stale.Close()
	if l, err = Listen(path, os.Getgid()); err != nil {
		t.Fatal(err)
	}
	info, _ = os.Lstat(path)
	if gid := info.Sys().(*syscall.Stat_t).Gid; info.Mode().Perm() != 0o660 || int(gid) != os.Getgid() {
		t.Errorf("the group's socket is %v of group %d", info.Mode(), gid)
	}
	l.Close()
	// What is no socket stays.
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(path, -1); err == nil {
		t.Error("a file was taken for a socket")
	}
	if raw, _ := os.ReadFile(path); string(raw) != "mine" {
		t.Error("the file has gone")
	}
	if runtime.GOOS == "linux" {
		long := filepath.Join(dir, strings.Repeat("d", 120))
		if err := os.Mkdir(long, 0o700); err != nil {
			t.Fatal(err)
		}
		l, err := Listen(filepath.Join(long, SocketName), -1)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// BenchmarkRoundTrip is one command there and back (target: under 20 ms).
func BenchmarkRoundTrip(b *testing.B) {
	s := serve(b, &desk{}, nil)
	for b.Loop() {
		if _, err := s.Do(b.Context(), engine.Command{Op: engine.OpRetry, Job: "j1"}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/20000, "of-20ms")
}

// longConsole carries a command out until its caller has gone.
type longConsole struct {
	*desk
	begun, ended chan struct{}
}

func (c longConsole) Do(ctx context.Context, _ engine.Command) (engine.Receipt, error) {
	close(c.begun)
	<-ctx.Done()
	close(c.ended)
	return engine.Receipt{}, ctx.Err()
}

func TestACommandEndsWithItsCaller(t *testing.T) {
	con := longConsole{&desk{}, make(chan struct{}), make(chan struct{})}
	s := serve(t, con, nil)
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-con.begun
		leave()
	}()
	isCode(t, second(s.Do(ctx, engine.Command{Op: engine.OpBackup})), engine.ErrGone)
	<-con.ended
}
