package app

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/farsight-console/farsight/riot/sim"
)

// The page of docs/http.md follows a sync in a real browser, from an origin that the settings name, and so does a
// WebSocket; the same page of another origin is told nothing.
func TestH11_ThePageOfTheDocumentsInABrowser(t *testing.T) {
	longest(t)
	t.Parallel()
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not here")
	}
	raw, err := os.ReadFile(filepath.Join(top, "docs", "http.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), "```html\n")
	page, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("docs/http.md has no page")
	}
	// Each page tells its own server what it shows, and how its readers fared.
	serve := func(more string) (*httptest.Server, <-chan string) {
		shown := make(chan string, 64)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				text, _ := io.ReadAll(r.Body)
				select {
				case shown <- string(text):
				default:
				}
				return
			}
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, page+more+`<script>
let heard = "", failed = "";
const socket = new WebSocket(stream.url.replace("http:", "ws:"));
socket.onmessage = e => { const d = JSON.parse(e.data); heard = d.type === "progress" ? d.progress.status : heard; };
socket.onerror = () => failed += " no socket";
stream.onerror = () => failed += " no stream";
setInterval(() => fetch("/", {method: "POST", body: document.getElementById("syncs").textContent + "\nsocket: " + heard + failed}), 200)
</script>`)
		}))
		t.Cleanup(s.Close)
		return s, shown
	}
	strange, refused := serve("")
	ours, shown := serve(`<iframe src="` + strange.URL + `"></iframe>`)

	who := player("Page Turner#WEB", 12)
	s, dir := startSim(t, sim.Options{Seed: 1, Limits: limits("20:2"), Players: []sim.PlayerSpec{who}}), freshDir(t)
	letGo := s.holdFrom(t, 6)
	d := s.serving(t, dir, map[string]string{"FARSIGHT_PLATFORM": "euw1", "FARSIGHT_HTTP_ORIGINS": ours.URL}, "--http", "127.0.0.1:0")
	c := program(t, d, dir)
	var pass struct{ Pass string }
	c.ask(t, "POST", "/v1/events/pass", "", 200, &pass)
	page = strings.NewReplacer("http://127.0.0.1:7171", c.base, "PASS", pass.Pass).Replace(page)

	profile := t.TempDir()
	t.Cleanup(func() { // its own processes are killed with it, but write until they are gone
		for end := time.Now().Add(patience); os.RemoveAll(profile) != nil && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond)
		}
	})
	window := exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox", "--disable-gpu",
		"--user-data-dir="+profile, "--remote-debugging-port=0", ours.URL)
	window.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := window.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = window.Wait() }()
	defer func() { _ = syscall.Kill(-window.Process.Pid, syscall.SIGKILL) }()
	for range 2 { // the page is there before the sync is
		wait(t, shown, "")
	}
	if text := wait(t, refused, " no socket"); !strings.HasPrefix(text, "\nsocket:  ") || !strings.Contains(wait(t, refused, " no stream"), " no socket") {
		t.Errorf("a page of a strange origin shows %q", text)
	}
	c.ask(t, "POST", "/v1/accounts/Page%20Turner/WEB/sync", "", 202, nil)
	wait(t, shown, "Page Turner#WEB  syncing")
	letGo()
	wait(t, shown, "Page Turner#WEB  completed  12/12\nsocket: completed")
}

// wait waits until a text is shown, and gives all that is.
func wait(t *testing.T, shown <-chan string, text string) string {
	t.Helper()
	last, gaveUp := "", time.After(2*time.Minute)
	for {
		select {
		case last = <-shown:
			if strings.Contains(last, text) {
				return last
			}
		case <-gaveUp:
			t.Fatalf("the page shows %q, not %q", last, text)
		}
	}
}
