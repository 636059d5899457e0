package app

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/riot/sim"
)

// The page of docs/http.md follows a sync in a real browser, from an origin that the settings name.
func TestH11_ThePageOfTheDocumentsInABrowser(t *testing.T) {
	long(t)
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
	shown := make(chan string, 64)
	ours := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			text, _ := io.ReadAll(r.Body)
			select {
			case shown <- string(text):
			default:
			}
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, page+`<script>setInterval(() => fetch("/", {method: "POST", body: document.getElementById("syncs").textContent}), 200)</script>`)
	}))
	defer ours.Close()

	who := player("Page Turner#WEB", 12)
	s, dir := startSim(t, sim.Options{Seed: 1, Limits: limits("20:2"), Players: []sim.PlayerSpec{who}}), freshDir(t)
	d := s.serving(t, dir, map[string]string{"FARSIGHT_PLATFORM": "euw1", "FARSIGHT_HTTP_ORIGINS": ours.URL}, "--http", "127.0.0.1:0")
	c := program(t, d, dir)
	var pass struct{ Pass string }
	c.ask(t, "POST", "/v1/events/pass", "", 200, &pass)
	page = strings.NewReplacer("http://127.0.0.1:7171", c.base, "PASS", pass.Pass).Replace(page)

	window := exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox", "--disable-gpu",
		"--user-data-dir="+t.TempDir(), "--remote-debugging-port=0", ours.URL)
	if err := window.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = window.Wait() }()
	defer func() { _ = window.Process.Kill() }()
	for range 2 { // the page is there before the sync is
		wait(t, shown, "")
	}
	c.ask(t, "POST", "/v1/accounts/Page%20Turner/WEB/sync", "", 202, nil)
	wait(t, shown, "Page Turner#WEB  syncing")
	wait(t, shown, "Page Turner#WEB  completed  12/12")
}

// wait waits until a text is shown.
func wait(t *testing.T, shown <-chan string, text string) {
	t.Helper()
	last, gaveUp := "", time.After(2*time.Minute)
	for {
		select {
		case last = <-shown:
			if strings.Contains(last, text) {
				return
			}
		case <-gaveUp:
			t.Fatalf("the page shows %q, not %q", last, text)
		}
	}
}
