package api

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// line sends a request as it stands and reads its answer.
func (w *web) line(t testing.TB, method, request string) (*http.Response, string) {
	t.Helper()
	c, err := net.Dial("tcp", w.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	_, _ = io.WriteString(c, request) // whoever is refused may be so before all is sent
	resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

// TestBadInput_EvenWhatIsNoRequestIsAProblem: what the HTTP library turns away before
// anything of ours sees it is answered like every other error.
func TestBadInput_EvenWhatIsNoRequestIsAProblem(t *testing.T) {
	t.Parallel()
	w := listen(t, quiet(), nil)
	const host = "Host: localhost\r\n"
	for name, c := range map[string]struct {
		send   string
		status int
		says   string
	}{
		"no host":            {"GET /healthz HTTP/1.1\r\n\r\n", 400, "missing required Host header"},
		"two hosts":          {"GET /healthz HTTP/1.1\r\n" + host + host + "\r\n", 400, "no HTTP request"},
		"no such escape":     {"GET /v1/jobs/%zz HTTP/1.1\r\n" + host + "\r\n", 400, "no HTTP request"},
		"no HTTP":            {"HELLO\r\n\r\n", 400, "no HTTP request"},
		"less than nothing":  {"POST /v1/do HTTP/1.1\r\n" + host + "Content-Length: -1\r\n\r\n", 400, "no HTTP request"},
		"a head without end": {"GET /healthz HTTP/1.1\r\n" + host + "X: " + strings.Repeat("x", 20<<10), 431, "more than 16384 bytes"},
		"another encoding":   {"POST /v1/do HTTP/1.1\r\n" + host + "Transfer-Encoding: pigeon\r\n\r\n", 501, "transfer encoding"},
		"a head of 17 KiB":   {"GET /healthz HTTP/1.1\r\n" + host + "X: " + strings.Repeat("x", 17<<10) + "\r\n\r\n", 431, "more than 16384 bytes"},
		"an expectation":     {"POST /v1/do HTTP/1.1\r\n" + host + "Expect: miracles\r\nContent-Length: 2\r\n\r\n{}", 417, "Expect is not known"},
		"another version":    {"GET /healthz HTTP/3.0\r\n" + host + "\r\n", 505, "version"},
	} {
		t.Run(name, func(t *testing.T) {
			resp, body := w.line(t, "GET", c.send)
			var p Problem
			if err := json.Unmarshal([]byte(body), &p); err != nil || resp.StatusCode != c.status || p.Status != c.status || !strings.Contains(p.Detail, c.says) {
				t.Errorf("%d %s (%v), want %d and %q", resp.StatusCode, body, err, c.status, c.says)
			}
			if h := resp.Header; h.Get("Content-Type") != "application/problem+json" || !resp.Close {
				t.Errorf("%v, close %v", h, resp.Close)
			}
			if err := Fits("GET", "/healthz", c.status, []byte(body)); err != nil {
				t.Error(err)
			}
		})
	}
	w.ask(t, "GET", "/healthz", "", http.StatusOK)
	w.ask(t, "GET", "/healthz", "", http.StatusOK, "X", strings.Repeat("x", 15<<10)) // a large head is none too large
}

// TestAskingForTheHeadEnds: of a stream, too, which has no end of its own.
func TestAskingForTheHeadEnds(t *testing.T) {
	b := tell(t)
	for path, typ := range map[string]string{"/v1/hello": "application/json", "/v1/watch": "application/x-ndjson", "/v1/events": "text/event-stream"} {
		resp, body := b.line(t, "HEAD", fmt.Sprintf("HEAD %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", path, b.token))
		if resp.StatusCode != http.StatusOK || body != "" || resp.Header.Get("Content-Type") != typ {
			t.Errorf("%s: %d %q %v", path, resp.StatusCode, body, resp.Header)
		}
	}
	resp, body := b.line(t, "OPTIONS", "OPTIONS * HTTP/1.1\r\nHost: evil.example\r\n\r\n")
	if resp.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("OPTIONS * is answered without a look at its host: %d %s", resp.StatusCode, body)
	}
	_, head := b.ask(t, "PUT", "/v1/summary", "", http.StatusMethodNotAllowed)
	if head.Get("Allow") != "GET, HEAD" {
		t.Errorf("Allow: %s", head.Get("Allow"))
	}
}

// TestAWebSocketThatIsNoneIsAProblem, with the headers that its protocol wants.
func TestAWebSocketThatIsNoneIsAProblem(t *testing.T) {
	b := tell(t)
	const key = "dGhlIHNhbXBsZSBub25jZQ=="
	for name, c := range map[string]struct {
		connection, version, key string
		status                   int
		header, is               string
	}{
		"no connection":   {"keep-alive", "13", key, 426, "Upgrade", "websocket"},
		"another version": {"keep-alive, Upgrade", "8", key, 400, "Sec-WebSocket-Version", "13"},
		"no version":      {"Upgrade", "", key, 400, "Sec-WebSocket-Version", "13"},
		"no key":          {"Upgrade", "13", "", 400, "", ""},
		"a short key":     {"Upgrade", "13", "c2hvcnQ=", 400, "", ""},
	} {
		body, head := b.ask(t, "GET", "/v1/events", "", c.status,
			"Upgrade", "websocket", "Connection", c.connection, "Sec-WebSocket-Version", c.version, "Sec-WebSocket-Key", c.key)
		if head.Get(c.header) != c.is || head.Get("Content-Type") != "application/problem+json" || !strings.Contains(body, "server-sent events") {
			t.Errorf("%s: %s %v", name, body, head)
		}
	}
}

// TestEventsOfAnAccount: named by its id or its Riot ID; of an unknown one nobody would
// ever hear anything, so it is refused.
func TestEventsOfAnAccount(t *testing.T) {
	t.Parallel()
	b := tell(t)
	r := b.read(t, "?account=Name%2301A&types=job", "")
	other := ended(1)
	other.Job.Owner = "01B"
	b.events.Publish([]engine.Change{other, ended(2)})
	if e := r.next(); e.Job.ID != "c2" {
		t.Errorf("%+v", e.Job)
	}
	b.ask(t, "GET", "/v1/events?account=No%23Body", "", http.StatusNotFound)
}

// TestStatsThatHaveNotChangedAreNotSentAgain to whoever names what they have.
func TestStatsThatHaveNotChangedAreNotSentAgain(t *testing.T) {
	report := &engine.PlayReport{}
	o := quiet()
	rest := o.find
	o.find = func(q engine.Query) (engine.Answer, error) {
		if _, ok := q.(engine.AccountQuery); ok {
			return engine.AccountDetail{Row: engine.AccountRow{ID: "01A", RiotID: "A#B", Status: engine.SyncCompleted}, Report: report}, nil
		}
		return rest(q)
	}
	w := listen(t, o, nil)
	_, head := w.ask(t, "GET", "/v1/stats/A/B", "", http.StatusOK)
	tag := head.Get("ETag")
	if !strings.HasPrefix(tag, `"`) || head.Get("Cache-Control") != "private, no-cache" {
		t.Errorf("%v", head)
	}
	for _, has := range []string{tag, "W/" + tag, `"other", ` + tag, "*"} {
		if body, head := w.ask(t, "GET", "/v1/stats/A/B", "", http.StatusNotModified, "If-None-Match", has); body != "" || head.Get("ETag") != tag {
			t.Errorf("%s: %s %v", has, body, head)
		}
	}
	w.ask(t, "GET", "/v1/stats/A/B", "", http.StatusOK, "If-None-Match", `"other"`)
	report = &engine.PlayReport{Matches: 1}
	if _, head := w.ask(t, "GET", "/v1/stats/A/B", "", http.StatusOK, "If-None-Match", tag); head.Get("ETag") == tag {
		t.Error("another report has the same tag")
	}
}
