package app

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/pager"
	"github.com/farsight-console/farsight/internal/config"
)

// signedBox keeps the types of what was signed with its secret, and counts the rest.
type signedBox struct {
	mu     sync.Mutex
	secret string
	types  []string
	forged int
}

func (b *signedBox) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	b.mu.Lock()
	defer b.mu.Unlock()
	if pager.Verify(b.secret, r.Header.Get(pager.HeaderTimestamp), r.Header.Get(pager.HeaderSignature), body, time.Now()) != nil {
		b.forged++
		return
	}
	b.types = append(b.types, r.Header.Get(pager.HeaderEvent))
}

func (b *signedBox) got() ([]string, int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.types), b.forged
}

// TestPager_ReloadedShownAndTested: SIGHUP takes [pager] and [webhooks] over, a new
// secret too; /v1/config and `farsight pager` show what is in force, secrets cut, and
// `farsight pager test` reaches who is configured.
func TestPager_ReloadedShownAndTested(t *testing.T) {
	t.Parallel()
	box := &signedBox{secret: pagerSecret}
	server := httptest.NewServer(box)
	defer server.Close()
	s, dir := startSim(t, quick()), freshDir(t)
	p := s.serving(t, dir, nil, "--http", "127.0.0.1:0")
	c, w := program(t, p, dir), attached(t, dir)
	w.until(t, "a snapshot", func(u engine.Update) bool { return u.Snapshot })
	run := func(args ...string) result {
		return command{args: append(args, "--data-dir", dir), env: s.env()}.asked(t)
	}
	oneSentence(t, run("pager", "test", "--yes").wants(t, exitFailed).stderr, "nobody is configured", "[pager]")

	write := func(secret string) {
		t.Helper()
		text := fmt.Sprintf("[pager]\nwebhook_url = %q\nwebhook_secret = %q\n[webhooks]\nurl = %q\nsecret = %q\n", server.URL+"/alerts", secret, server.URL+"/events", secret)
		if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_ = p.cmd.Process.Signal(syscall.SIGHUP)
	}
	write(pagerSecret)
	w.note(t, "pager.webhook_secret, webhooks.url, webhooks.secret taken over")
	var settings api.Settings
	c.ask(t, "GET", "/v1/config", "", 200, &settings)
	shown := map[string]engine.Setting{}
	for _, s := range settings.Settings {
		shown[s.Name] = s
	}
	if got := shown["pager.webhook_url"]; got.Value != config.Mask || got.Source != "config.toml" || shown["pager.auth_token"].Env != "TWILIO_AUTH_TOKEN" || shown["webhooks.events"].Value == "" {
		t.Errorf("%+v", shown)
	}
	who := run("pager").wants(t, exitDone).stdout
	if !strings.Contains(who, "webhook at 127.0.0.1:") || !strings.Contains(who, "webhook for events at") || strings.Contains(who, "/alerts") {
		t.Errorf("who is told: %s", who)
	}
	oneSentence(t, run("pager", "test").wants(t, exitUsage).stderr, "--yes", "webhook at")
	run("pager", "test", "--dry-run").wants(t, exitDone)
	if types, _ := box.got(); len(types) > 0 {
		t.Errorf("without a yes it was told %v", types)
	}
	run("pager", "test", "--yes").wants(t, exitDone)
	types, forged := box.got()
	if slices.Sort(types); forged > 0 || !slices.Equal(types, []string{"alert.fired", "alert.resolved", pager.TestEvent}) {
		t.Errorf("told %v, %d of them not signed", types, forged)
	}

	const another = "another-secret-of-the-pager-9"
	box.mu.Lock()
	box.secret = another
	box.mu.Unlock()
	write(another)
	w.note(t, "pager.webhook_secret, webhooks.secret taken over")
	run("pager", "test", "webhooks", "--yes").wants(t, exitDone)
	if types, forged := box.got(); forged > 0 || len(types) != 4 {
		t.Errorf("told %v, %d of them not signed", types, forged)
	}
	oneSentence(t, run("pager", "test", "telegram", "--yes").wants(t, exitFailed).stderr, "telegram", "webhooks")
	if err := os.Remove(filepath.Join(dir, "config.toml")); err != nil {
		t.Fatal(err)
	}
	noTextIn(t, dir, pagerSecret)
	noTextIn(t, dir, another)
}

// TestPager_WithoutAnEngine: what is configured is shown, but nobody is told.
func TestPager_WithoutAnEngine(t *testing.T) {
	t.Parallel()
	s, dir := startSim(t, quick()), freshDir(t)
	env := s.env()
	env["FARSIGHT_PAGER_DISCORD_URL"] = "https://discord.com/api/webhooks/1/" + pagerSecret
	run := func(args ...string) result {
		return command{args: append(args, "--data-dir", dir), env: env}.asked(t)
	}
	if out := run("pager").wants(t, exitDone).stdout; strings.TrimSpace(out) != "discord at discord.com" {
		t.Errorf("who is told: %s", out)
	}
	oneSentence(t, run("pager", "test", "--yes").wants(t, exitFailed).stderr, "no engine runs", "farsight serve")
}
