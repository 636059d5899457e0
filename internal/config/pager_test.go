package config

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/farsight-console/farsight/engine/pager"
)

const pagerSecret = "canary-of-the-pager-7d1f"

// writeConfig makes a data directory with a config.toml of a mode.
func writeConfig(t *testing.T, mode os.FileMode, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return dir
}

func loadPager(dir string, env map[string]string) (Config, error) {
	return Load(Inputs{Getenv: func(name string) (string, bool) {
		if name == "FARSIGHT_DATA_DIR" {
			return dir, true
		}
		v, ok := env[name]
		return v, ok
	}})
}

// Everything of [pager] and [webhooks], from all its sources.
func TestPagerConfig(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(pagerSecret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := writeConfig(t, 0o600, fmt.Sprintf(`
[pager]
auth_token_file = %q
from = "+4930123456"
to = ["+4917012345", "+4916098765"]
webhook_url = "https://hooks.example/a"
webhook_secret = "%s"
pagerduty_key = "%s"
command = ["/usr/bin/notify", "a b"]
command_timeout = "10s"
[webhooks]
url = ["https://hooks.example/b", "https://hooks.example/c"]
events = ["sync.completed"]
`, token, pagerSecret, pagerSecret))
	c, err := loadPager(dir, map[string]string{
		"TWILIO_ACCOUNT_SID": "AC0123456789abcdef0123456789abcdef", "FARSIGHT_WEBHOOKS_SECRET": pagerSecret,
		"FARSIGHT_PAGER_DISCORD_URL": "https://discord.com/api/webhooks/1/" + pagerSecret,
	})
	if err != nil {
		t.Fatal(err)
	}
	p := c.Pager
	if p.Call == nil || p.Call.BaseURL != pager.DefaultBaseURL || p.Call.From != "+4930123456" || len(p.Call.To) != 2 || p.Call.To[1] != "+4916098765" || p.Call.Token.IsZero() {
		t.Errorf("calls: %+v", p.Call)
	}
	if len(p.Channels) != 4 || p.Channels[3].Command[1] != "a b" || p.Channels[3].Timeout.Seconds() != 10 {
		t.Errorf("channels: %+v", p.Channels)
	}
	if len(p.Hooks) != 2 || p.Hooks[0].Name == p.Hooks[1].Name || p.Hooks[0].Events[0] != pager.SyncCompleted {
		t.Errorf("hooks: %+v", p.Hooks)
	}
	for _, s := range c.Sources {
		if want := map[string]string{"pager.from": "…3456", "pager.to": "…2345, …8765"}[s.Name]; want != "" && s.Value != want {
			t.Errorf("%s is shown as %q", s.Name, s.Value)
		}
	}
	other := c
	other.Pager.marks = maps.Clone(c.Pager.marks)
	other.Pager.marks["pager.to"] = sha256.Sum256([]byte("+4917112345"))
	if names := c.Pager.Changed(other.Pager); !slices.Equal(names, []string{"pager.to"}) {
		t.Errorf("another number with the same last digits is noticed as %q", names)
	}
	shown, err := json.Marshal(c)
	if err != nil || strings.Contains(fmt.Sprintf("%+v %#v %s", c, c, shown), pagerSecret) {
		t.Errorf("the configuration shows a secret: %v", err)
	}
}

// Chats and routes of alerts: a route names only whom the file knows, and no secret is shown.
func TestW9d_RoutesOfAlerts(t *testing.T) {
	const chats = "[pager]\nslack_url = \"https://hooks.slack.com/" + pagerSecret + "\"\nntfy_url = \"https://ntfy.sh/" + pagerSecret + "\"\n" +
		"telegram_token = \"" + pagerSecret + "\"\ntelegram_chat = \"-100\"\n[alerts]\n"
	c, err := loadPager(writeConfig(t, 0o600, chats+`limits = ["queue-age=2h"]
severity = "backup=critical"
route = ["critical=slack,telegram", "429="]
`), nil)
	if err != nil || len(c.Pager.Channels) != 3 || !slices.Equal(c.Pager.Routes["critical"], []string{"slack", "telegram"}) || c.Pager.Routes["429"] == nil {
		t.Fatalf("%+v: %v", c.Pager, err)
	}
	if strings.Contains(fmt.Sprintf("%+v %#v", c, c), pagerSecret) {
		t.Error("the configuration shows a secret")
	}
	for text, want := range map[string]string{
		`route = "critical=call"`: "names call", `route = "lunch=slack"`: "no rule and no severity", `limits = "queue-age=2"`: "write queue-age=2h",
		`severity = "key=loud"`: "critical, warning or off", `limit = "key=1"`: `"limit" in [alerts]`,
	} {
		if _, err := loadPager(writeConfig(t, 0o600, chats+text+"\n"), nil); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), pagerSecret) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Every fault is listed at once, none with a secret in it.
func TestPagerConfigFaults(t *testing.T) {
	dir := writeConfig(t, 0o644, `
[pager]
account_sid = "`+pagerSecret+`"
from = "030 123456"
to = ["+49", "+4917012345"]
base_url = "http://api.example"
webhook_url = "ftp://`+pagerSecret+`"
webhook_secret = "short"
discord_url = "`+pagerSecret+`"
command = ["notify"]
command_timeout = "1h"
voice = "alice"
[webhooks]
url = "http://hooks.example/"
events = ["sync.completed", "lunch"]
secret_file = "/nowhere/secret"
`)
	_, err := loadPager(dir, nil)
	if err == nil {
		t.Fatal("taken")
	}
	for _, want := range []string{
		"chmod 600", "needs pager.auth_token", `pager.from: number 1, …3456, is no telephone number`, `pager.to: number 1, …, is no telephone number`, "pager.account_sid", "pager.base_url",
		"pager.webhook_url", "pager.webhook_secret", "pager.discord_url", "pager.command:", "pager.command_timeout", `"voice" in [pager]`,
		"webhooks.url", "webhooks.secret", `"lunch" is not one of`, "/nowhere/secret",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no word of %q in:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), pagerSecret) || strings.Contains(err.Error(), "030 123456") {
		t.Errorf("a fault shows a secret, or a whole number:\n%v", err)
	}
}

// A pipe in the place of a secret is refused: nobody may ever write to it.
func TestBadInput_ASecretIsNoPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "token")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := writeConfig(t, 0o600, fmt.Sprintf("[webhooks]\nurl = \"https://hooks.example/\"\nsecret_file = %q\n", pipe))
	if _, err := loadPager(dir, nil); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("%v", err)
	}
}

// A file with a secret that others may read is refused.
func TestPagerSecretFileOfOthers(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(pagerSecret), 0o644); err != nil {
		t.Fatal(err)
	}
	dir := writeConfig(t, 0o644, fmt.Sprintf("[webhooks]\nurl = \"https://hooks.example/\"\nsecret_file = %q\n", token))
	if _, err := loadPager(dir, nil); err == nil || !strings.Contains(err.Error(), "can be read by others") || strings.Contains(err.Error(), pagerSecret) {
		t.Errorf("%v", err)
	}
}
