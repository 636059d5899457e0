package pager

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/engine"
)

// Each chat gets what its documentation asks for, over a real connection, and no refusal brings a token back.
func TestW9d_SlackNtfyAndTelegram(t *testing.T) {
	const token = "canary-7d1f-token"
	n := notice{Turn: turnFired, Alert: "key", Rule: "key", About: "key <rejected>", Value: "1", Limit: "> 0", Next: "paste a new key",
		Severity: engine.SeverityCritical, evidence: "Riot refuses & says *no*"}
	body := func(text string) map[string]any {
		var m map[string]any
		if json.Unmarshal([]byte(text), &m) != nil {
			m = map[string]any{"text": text}
		}
		return m
	}
	for form, want := range map[Form]struct{ path, text, header, field string }{
		FormSlack:    {"/" + token, "key &lt;rejected&gt; is 1, limit &gt; 0: Riot refuses &amp; says *no*\npaste a new key", "Content-Type: application/json", "mrkdwn false"},
		FormNtfy:     {"/" + token, "key <rejected> is 1, limit > 0: Riot refuses & says *no*\npaste a new key", "Authorization: Bearer " + token, ""},
		FormTelegram: {"/bot" + token + "/sendMessage", "key <rejected> is 1, limit > 0: Riot refuses & says *no*\npaste a new key", "Content-Type: application/json", "chat_id -100"},
	} {
		status, got, read := http.StatusOK, (*http.Request)(nil), ""
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			got, read = r, string(b)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "no to "+r.URL.Path+" and "+token)
		}))
		c := Channel{Name: string(form), Form: form, URL: NewSecret(server.URL + want.path), Secret: NewSecret(token), To: "-100"}
		s, err := newSetup(Targets{Channels: []Channel{c}}, newTransport())
		if err != nil {
			t.Fatal(err)
		}
		o := s.post(t.Context(), c.URL, forms[form](&Pager{}, c, n))
		name, value, _ := strings.Cut(want.header, ": ")
		if o.Verb != engine.VerbDone || got.Method != http.MethodPost || got.URL.Path != want.path || got.Header.Get(name) != value {
			t.Errorf("%s: %v, %s %s %v", form, o, got.Method, got.URL, got.Header)
		}
		m := body(read)
		if !strings.HasSuffix(fmt.Sprint(m["text"]), want.text) {
			t.Errorf("%s says %q", form, read)
		}
		if field, v, ok := strings.Cut(want.field, " "); ok && fmt.Sprint(m[field]) != v {
			t.Errorf("%s: %s is %v", form, field, m[field])
		}
		status = http.StatusForbidden
		o = s.post(t.Context(), c.URL, forms[form](&Pager{}, c, n))
		if said := fmt.Sprint(o.Err) + c.words() + fmt.Sprintf("%+v", c); o.Verb != engine.VerbFail || strings.Contains(said, token) {
			t.Errorf("%s: refused, it says %s", form, said)
		}
		server.Close()
	}
}

// The telephone rings for what must wake somebody; a route by rule goes before one by severity.
func TestW9d_WhoIsToldOfWhichAlert(t *testing.T) {
	for _, c := range []struct {
		routes    map[string][]string
		rule      string
		severity  engine.Severity
		call, msg bool
	}{
		{nil, "key", engine.SeverityCritical, true, true},
		{nil, "backup", engine.SeverityWarning, false, true},
		{map[string][]string{"warning": {"call"}}, "backup", engine.SeverityWarning, true, false},
		{map[string][]string{"warning": {"call"}, "backup": {"slack"}}, "backup", engine.SeverityWarning, false, true},
		{map[string][]string{"key": {}}, "key", engine.SeverityCritical, false, false},
	} {
		s := &setup{routes: c.routes}
		a := engine.AlertRow{Rule: c.rule, Severity: c.severity}
		if call, msg := s.tells(TryCall, a), s.tells("slack", a); call != c.call || msg != c.msg {
			t.Errorf("%v %s: call %v, message %v", c.routes, c.rule, call, msg)
		}
	}
}
