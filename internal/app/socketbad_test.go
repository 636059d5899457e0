package app

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/internal/keyring"
)

// door is a way in to a running engine, as somebody outside sees it.
type door struct {
	name, base, token string
	dial              func() (net.Conn, error)
	http              *http.Client
}

// doors are those of a daemon: its control socket, and its listener for programs.
func doors(t *testing.T, d *child, dir string) []*door {
	t.Helper()
	at := programsAddress.FindStringSubmatch(d.out.String())
	token, err := os.ReadFile(filepath.Join(dir, api.TokenName))
	if at == nil || err != nil {
		t.Fatal(d.out.String(), err)
	}
	all := []*door{
		{name: "socket", base: "http://localhost", dial: func() (net.Conn, error) { return net.Dial("unix", controlSocket(dir)) }},
		{name: "tcp", base: at[1], token: strings.TrimSpace(string(token)), dial: func() (net.Conn, error) { return net.Dial("tcp", strings.TrimPrefix(at[1], "http://")) }},
	}
	for _, o := range all {
		o.http = &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return o.dial() }}}
		t.Cleanup(o.http.CloseIdleConnections)
	}
	return all
}

// badKnock is a bad request, and how it must be answered.
type badKnock struct {
	on           string // the door; "" = both
	method, path string
	body         string
	unpacks      int               // not 0 = the body is packed, and so long when it is open
	header       map[string]string // "" takes one away
	want         int
	says         string
	audit        string // op that must stand in the audit; "" = none need
}

// gz is a long text that is short on its way. It is made by the one test that sends it:
// each process that is a role of this binary would make it, too.
func gz(n int) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(bytes.Repeat([]byte(" "), n))
	_ = z.Close()
	return b.String()
}

var knocks = map[string]badKnock{
	"no token":              {on: "tcp", method: "GET", path: "/v1/summary", header: map[string]string{"Authorization": ""}, want: 401, says: "no token"},
	"no token, a command":   {on: "tcp", method: "POST", path: "/v1/do", body: `{"op":"pause","queue":"ingest.rank.daily"}`, header: map[string]string{"Authorization": ""}, want: 401, says: "no token", audit: "POST /v1/do"},
	"another token":         {on: "tcp", method: "POST", path: "/v1/trigger/latest", body: `{}`, header: map[string]string{"Authorization": "Bearer " + strings.Repeat("x", 52)}, want: 401, says: "not the token"},
	"a new key, no token":   {on: "tcp", method: "POST", path: "/v1/key", body: `{"key":"` + canary + `"}`, header: map[string]string{"Authorization": ""}, want: 401, says: "no token"},
	"oversized":             {method: "POST", path: "/v1/do", body: `{"op":"retry","reason":"` + strings.Repeat("x", 1<<20) + `"}`, want: 413, says: "more than 1048576 bytes"},
	"oversized when open":   {method: "POST", path: "/v1/do", unpacks: 17 << 20, header: map[string]string{"Content-Encoding": "gzip"}, want: 413, says: "unpacks to more"},
	"malformed":             {method: "POST", path: "/v1/do", body: `{"op":`, want: 400, says: "cannot be read"},
	"no object":             {method: "POST", path: "/v1/do", body: `[1,2]`, want: 400, says: "cannot be read"},
	"two commands":          {method: "POST", path: "/v1/do", body: `{"op":"retry"}{"op":"cancel"}`, want: 400, says: "follows"},
	"unknown field":         {method: "POST", path: "/v1/do", body: `{"op":"cancel","job":"c1","dryrun":true}`, want: 400, says: "dryrun"},
	"unknown command":       {method: "POST", path: "/v1/do", body: `{"op":"explode"}`, want: 400, says: `"explode"see /openapi.json`},
	"unknown query":         {method: "POST", path: "/v1/find", body: `{"type":"everything"}`, want: 400, says: "everything"},
	"unknown parameter":     {method: "GET", path: "/v1/matches?limt=1", want: 400, says: "limt"},
	"no such path":          {method: "GET", path: "/admin", want: 404, says: "/admin"},
	"a path that climbs":    {method: "GET", path: "/v1/../v1/hello", want: 404, says: ""},
	"wrong method":          {method: "GET", path: "/v1/do", want: 405, says: "POST"},
	"a form":                {method: "POST", path: "/v1/do", body: "op=cancel", header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, want: 415, says: "application/json"},
	"a web page":            {method: "POST", path: "/v1/do", body: `{"op":"cancel","job":"c1"}`, header: map[string]string{"Origin": "https://evil.example"}, want: 403, says: "web pages", audit: "POST /v1/do"},
	"a web page that looks": {method: "GET", path: "/v1/summary", header: map[string]string{"Origin": "null"}, want: 403, says: "web pages"},
	"a name that is ours":   {method: "POST", path: "/v1/do", body: `{"op":"cancel","job":"c1"}`, header: map[string]string{"Host": "evil.example"}, want: 421, says: "evil.example", audit: "POST /v1/do"},
	"unknown job":           {method: "POST", path: "/v1/do", body: `{"op":"cancel","job":"c404404"}`, want: 404, says: "c404404", audit: "cancel"},
	"unknown job, looked":   {method: "GET", path: "/v1/jobs/c404404", want: 404, says: "c404404"},
	"unknown call":          {method: "POST", path: "/calls/CA404/retry", body: `{}`, want: 404, says: "CA404"},
	"unknown account":       {method: "GET", path: "/v1/accounts/No/Body", want: 404, says: "No#Body"},
	"unknown queue":         {method: "POST", path: "/v1/do", body: `{"op":"pause","queue":"no.such"}`, want: 404, says: "no.such", audit: "pause"},
	"unknown schedule":      {method: "POST", path: "/v1/do", body: `{"op":"run-schedule","schedule":"no.such"}`, want: 404, says: "no.such", audit: "run-schedule"},
	"unknown alert":         {method: "POST", path: "/v1/do", body: `{"op":"ack","alert":"no.such"}`, want: 404, says: "no.such"},
	"unknown bucket":        {method: "POST", path: "/v1/do", body: `{"op":"freeze","bucket":{"host":"mars"}}`, want: 0, says: "mars"},
	"unknown undo":          {method: "POST", path: "/v1/do", body: `{"op":"undo","audit":404404}`, want: 0, says: "404404"},
	"stale revision":        {method: "DELETE", path: "/v1/jobs/JOB/retry?if_rev=4000000000", want: 409, says: "", audit: "cancel"},
	"a folder of the host":  {on: "tcp", method: "POST", path: "/v1/do", body: `{"op":"backup","backup":{"to":"/tmp"}}`, want: 403, says: "only the owner", audit: "backup"},
}

// TestBadInput_EveryDoor sends every wrong request of issue 5 to a real engine at
// work, through its socket and over TCP: each is refused with a reason, what matters
// stands in the audit, and the engine goes on as if nothing had been.
func TestBadInput_EveryDoor(t *testing.T) {
	t.Parallel()
	who := player("Every Door#SOCK", 600)
	s, dir := slowly(t, who), freshDir(t)
	d := s.serving(t, dir, map[string]string{"FARSIGHT_PLATFORM": "euw1"}, "--http", "127.0.0.1:0")
	all, doc := doors(t, d, dir), document(t)
	con := api.NewClient(controlSocket(dir))
	defer con.Close()
	if _, err := con.Do(t.Context(), engine.Command{Op: engine.OpTrigger, Account: who.RiotID, Sync: engine.SyncAsk{Platform: "euw1"}}); err != nil {
		t.Fatal(err)
	}
	var waiting engine.JobID
	d.until("a job that waits", func() bool {
		a, err := con.Find(t.Context(), engine.JobsQuery{Kind: "match.fetch", States: []engine.State{engine.Available}})
		if page, _ := a.(engine.JobsPage); err == nil && len(page.Jobs) > 0 {
			waiting = page.Jobs[len(page.Jobs)-1].ID
		}
		return waiting != ""
	})
	before := openSockets(t, d, s.addr)
	// Of several refusals of one kind within a second only the first is written down: those
	// that are looked for in the audit come first.
	names := slices.SortedFunc(maps.Keys(knocks), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(knocks[b].audit), len(knocks[a].audit)), cmp.Compare(a, b))
	})
	for _, name := range names {
		k := knocks[name]
		for _, o := range all {
			if k.on == "" || k.on == o.name {
				k.path = strings.Replace(k.path, "JOB", string(waiting), 1)
				o.knock(t, name, k, func(status int, body []byte) error {
					return doc.Fits(k.method, strings.Split(k.path, "?")[0], status, body)
				})
			}
		}
	}
	for _, o := range all {
		o.junk(t)
	}
	heard := command{args: []string{"audit", "--json", "--data-dir", dir}}.asked(t).wants(t, exitDone).stdout
	for name, k := range knocks {
		for _, o := range all {
			via := map[string]string{"socket": "socket", "tcp": "http"}[o.name]
			if k.audit != "" && (k.on == "" || k.on == o.name) && !audited(heard, k.audit, via, k.says) {
				t.Errorf("%s through %s is not in the audit", name, o.name)
			}
		}
	}
	if strings.Contains(heard, canaryTail) {
		t.Error("the audit has the key")
	}

	// The engine is as it was: the sync goes on, nobody was let in, nothing is left open.
	if a, err := con.Find(t.Context(), engine.JobQuery{ID: waiting}); err != nil || a.(engine.JobDetail).Job.State == engine.Cancelled {
		t.Errorf("the job that was to be left alone: %+v, %v", a, err)
	}
	stored := func() int64 {
		a, err := con.Find(t.Context(), engine.StatusQuery{})
		if err != nil {
			t.Fatal(err)
		}
		return a.(engine.StatusAnswer).Engine.Stored
	}
	from := stored()
	d.until("more matches", func() bool { return stored() > from })
	for _, o := range all {
		o.http.CloseIdleConnections()
	}
	d.until("their connections closed", func() bool { return openSockets(t, d, s.addr) <= before })
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	d.wait().wants(t, exitDone)
}

// audited looks for an entry by its op, the way it came and what it says.
func audited(lines, op, via, says string) bool {
	for line := range strings.Lines(lines) {
		var e engine.AuditEntry
		if json.Unmarshal([]byte(line), &e) == nil && string(e.Op) == op && e.By.Via == via && strings.Contains(e.Result, says) && e.Applied == 0 {
			return true
		}
	}
	return false
}

// openSockets is how many a process has, but for those to one address, which come and go.
func openSockets(t *testing.T, p *child, but string) (n int) {
	t.Helper()
	at := fmt.Sprintf("/proc/%d/", p.cmd.Process.Pid)
	list, err := os.ReadDir(at + "fd")
	if err != nil {
		t.Skip("no list of a process's files here: ", err)
	}
	table, err := os.ReadFile(at + "net/tcp")
	_, port, splitErr := net.SplitHostPort(but)
	number, convErr := strconv.Atoi(port)
	if err := errors.Join(err, splitErr, convErr); err != nil {
		t.Fatal(err)
	}
	others := map[string]bool{}
	for line := range strings.Lines(string(table)) {
		if f := strings.Fields(line); len(f) > 9 && strings.HasSuffix(f[2], fmt.Sprintf(":%04X", number)) {
			others["socket:["+f[9]+"]"] = true
		}
	}
	for _, fd := range list {
		if to, _ := os.Readlink(at + "fd/" + fd.Name()); strings.HasPrefix(to, "socket:") && !others[to] {
			n++
		}
	}
	return n
}

func (o *door) knock(t *testing.T, name string, k badKnock, fits func(int, []byte) error) {
	t.Helper()
	body := k.body
	if k.unpacks > 0 {
		body = gz(k.unpacks)
	}
	req, err := http.NewRequest(k.method, o.base+k.path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if k.method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	if o.token != "" {
		req.Header.Set("Authorization", "Bearer "+o.token)
	}
	for h, v := range k.header {
		switch {
		case h == "Host":
			req.Host = v
		case v == "":
			req.Header.Del(h)
		default:
			req.Header.Set(h, v)
		}
	}
	resp, err := o.http.Do(req)
	if err != nil {
		t.Errorf("%s through %s: %v", name, o.name, err)
		return
	}
	defer resp.Body.Close()
	raw, _ := io.ReadAll(resp.Body)
	var p api.Problem
	if err := json.Unmarshal(raw, &p); err != nil || p.Detail == "" || p.Status != resp.StatusCode || strings.ContainsAny(p.Detail, "\n\x1b") {
		t.Errorf("%s through %s: no reason: %s", name, o.name, raw)
	}
	if k.want != 0 && resp.StatusCode != k.want || resp.StatusCode < 400 || !strings.Contains(p.Detail+p.Do, k.says) {
		t.Errorf("%s through %s: answered %d %s, want %d with %q", name, o.name, resp.StatusCode, raw, k.want, k.says)
	}
	if resp.StatusCode < 500 && k.want != 404 && k.want != 405 && k.want != 421 {
		if err := fits(resp.StatusCode, raw); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if bytes.Contains(raw, []byte(canaryTail)) {
		t.Errorf("%s through %s: the answer tells the key", name, o.name)
	}
}

// junk sends what is no request at all.
func (o *door) junk(t *testing.T) {
	t.Helper()
	for _, text := range []string{
		"\x16\x03\x01\x02\x00\x01\x00", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\x00\x00\x00\x00\r\n\r\n",
		"POST /v1/do HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
		"POST /v1/do HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\nffffffffffffffff1\r\n",
		"GET /v1/hello HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("y", 64<<10) + "\r\n\r\n",
		"GET http://evil.example/v1/hello HTTP/1.1\r\nHost: localhost\r\n\r\n",
	} {
		c, err := o.dial()
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, text)
		_ = c.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
		got, _ := io.ReadAll(c)
		_ = c.Close()
		if head, _, _ := strings.Cut(string(got), "\r\n"); head != "" && !strings.HasPrefix(head, "HTTP/1.1 4") && !strings.HasPrefix(head, "HTTP/1.1 50") {
			t.Errorf("%.20q through %s was answered with %q", text, o.name, head)
		}
	}
}

// TestBadInput_KeyFileOfADaemon: what is wrong with a key file is said at the start,
// and changes nothing when it is read again.
func TestBadInput_KeyFileOfADaemon(t *testing.T) {
	t.Parallel()
	s, dir := slowly(t, player("Wrong File#SOCK", 5)), freshDir(t)
	path := filepath.Join(dir, "riot.key")
	env := s.env()
	delete(env, keyring.Env)
	write(t, path, canary+"\n")
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	oneSentence(t, command{args: []string{"serve", "--data-dir", dir}, env: env}.run(t).wants(t, exitFailed).stderr, "riot.key", "chmod 600")
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	p := command{args: []string{"serve", "--data-dir", dir}, env: env}.start(t)
	p.says("farsight: ready")
	w := attached(t, dir)
	shown := w.until(t, "a snapshot", func(u engine.Update) bool { return u.Snapshot }).Engine.Key
	for name, spoil := range map[string]func() error{
		"chmod 600": func() error { return os.Chmod(path, 0o640) },
		"empty":     func() error { return os.WriteFile(path, []byte("\n"), 0o600) },
		"a key":     func() error { return os.WriteFile(path, []byte("two words\n"), 0o600) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		_ = p.cmd.Process.Signal(syscall.SIGHUP)
		n := w.note(t, "reload: ")
		if strings.Contains(n.Text, "two words") {
			t.Errorf("%s: what stands in the file is told: %s", name, n.Text)
		}
		_ = os.Chmod(path, 0o600)
		a, err := w.Find(t.Context(), engine.StatusQuery{})
		if status, _ := a.(engine.StatusAnswer); err != nil || status.Engine.Key != shown {
			t.Errorf("%s: the key is now %q, was %q: %v (%s)", name, status.Engine.Key, shown, err, n.Text)
		}
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	p.wait().wants(t, exitDone)
}
