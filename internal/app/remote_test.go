package app

import (
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
)

// proxied is a proxy with TLS in front of the listener of an engine, with the file of its
// authority. It sends the engine's own address as Host, as docs/http.md says.
func proxied(t *testing.T, base string, change func(next http.Handler) http.Handler) (address, ca string) {
	t.Helper()
	to, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	var h http.Handler = &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	if change != nil {
		h = change(h)
	}
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that shall fail
	s.StartTLS()
	t.Cleanup(s.Close)
	ca = filepath.Join(t.TempDir(), "ca.pem")
	write(t, ca, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
	return s.URL, ca
}

// TestAttach_ThroughAProxyWithTLS: the console contract over a real proxy, and what is said
// where that does not work.
func TestAttach_ThroughAProxyWithTLS(t *testing.T) {
	t.Parallel()
	who := player("Far Away#URL", 3)
	s, dir := startSim(t, quick(who)), freshDir(t)
	s.sync(who.RiotID, dir).run(t).wants(t, exitDone)
	p := s.serving(t, dir, nil, "--http", "127.0.0.1:0")
	base := program(t, p, dir).base
	token := filepath.Join(dir, api.TokenName)
	at, ca := proxied(t, base, nil)

	c, err := api.NewRemote(api.Remote{URL: at + "/", TokenFile: token, CAFile: ca})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	h, err := c.Hello(t.Context())
	if err != nil || h.Role != api.Operator || h.You.Via != "http" {
		t.Fatalf("%+v, %v", h, err)
	}
	if err := c.Streams(t.Context()); err != nil {
		t.Error(err)
	}
	if r, err := c.Do(t.Context(), engine.Command{Op: engine.OpPause, Queue: "ingest.rank.daily", Reason: "from afar"}); err != nil || r.Applied != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	_, err = c.Do(t.Context(), engine.Command{Op: engine.OpBackup, Backup: &engine.BackupAsk{To: "/tmp/elsewhere"}})
	if !errors.Is(err, engine.ErrRefused) {
		t.Errorf("a folder of the engine's host: %v", err)
	}
	for u := range c.Watch(t.Context()) {
		if !u.Snapshot || len(u.Queues) == 0 {
			t.Errorf("%+v", u)
		}
		break
	}
	lines := command{args: []string{"attach", at, "--token-file", token, "--ca-file", ca, "--plain"}, env: map[string]string{"FARSIGHT_DATA_DIR": freshDir(t)}, as: nil}
	res := lines.start(t)
	res.says("ingest.rank.daily")
	_ = res.cmd.Process.Signal(os.Interrupt)
	res.wait()

	other := filepath.Join(t.TempDir(), "other.token")
	write(t, other, strings.Repeat("x", 52))
	open := filepath.Join(t.TempDir(), "open.token")
	write(t, open, strings.Repeat("x", 52))
	for path, mode := range map[string]os.FileMode{other: 0o600, open: 0o644} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	wrongHost, wrongCA := proxied(t, base, func(next http.Handler) http.Handler {
		to, _ := url.Parse(base)
		return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = "farsight.example.com" }}
	})
	noEngine, noEngineCA := proxied(t, base, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	})
	page, pageCA := proxied(t, base, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>hello</html>") })
	})
	old, oldCA := proxied(t, base, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"protocol":7,"version":"9.0","dir":"","pid":1,"you":{"user":"x","via":"http"},"role":"operator"}`)
		})
	})
	held, heldCA := proxied(t, base, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/watch" { // until the stream ends, which it never does
				w.WriteHeader(http.StatusOK)
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	for _, tt := range map[string]struct {
		args string
		code int
		says string
	}{
		"nobody's certificate": {at + " --token-file " + token, exitFailed, "signed by nobody whom this host trusts --ca-file"},
		"another host's":       {strings.Replace(at, "127.0.0.1", "localhost", 1) + " --token-file " + token + " --ca-file " + ca, exitFailed, "is for another host"},
		"another token":        {at + " --token-file " + other + " --ca-file " + ca, exitFailed, "this is not the token"},
		"a token for all":      {at + " --token-file " + open + " --ca-file " + ca, exitUsage, "others can read chmod 600"},
		"no token":             {at, exitUsage, "--token-file FARSIGHT_TOKEN_FILE"},
		"no such token":        {at + " --token-file " + token + "x", exitUsage, "cannot be read"},
		"no certificate":       {at + " --token-file " + token + " --ca-file " + token, exitUsage, "holds no certificate PEM"},
		"unencrypted":          {"http://farsight.example.com --token-file " + token, exitUsage, "unencrypted https://"},
		"a key in the address": {"https://me:secret@farsight.example.com --token-file " + token, exitUsage, "more than a host"},
		"no TLS there":         {strings.Replace(base, "http://", "https://", 1) + " --token-file " + token, exitFailed, "does not speak TLS"},
		"the proxy's own name": {wrongHost + " --token-file " + token + " --ca-file " + wrongCA, exitFailed, "Host 127.0.0.1:7171"},
		"no engine behind it":  {noEngine + " --token-file " + token + " --ca-file " + noEngineCA, exitFailed, "answers 502 no engine"},
		"a page":               {page + " --token-file " + token + " --ca-file " + pageCA, exitFailed, "is it a Farsight engine"},
		"another version":      {old + " --token-file " + token + " --ca-file " + oldCA, exitFailed, "protocol 7 use the farsight of that version"},
		"a stream held back":   {held + " --token-file " + token + " --ca-file " + heldCA, exitFailed, "holds streams back proxy_buffering"},
	} {
		res := command{args: append([]string{"attach", "--plain"}, strings.Fields(tt.args)...), env: map[string]string{"FARSIGHT_DATA_DIR": dir}}.asked(t).wants(t, tt.code)
		oneSentence(t, res.stderr, strings.Fields(tt.says)...)
	}
	// The listener itself may be asked where it is.
	direct, err := api.NewRemote(api.Remote{URL: base, TokenFile: token})
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close()
	if _, err := direct.Hello(t.Context()); err != nil {
		t.Error(err)
	}
}
