package riot

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/riot/route"
)

// printed renders v in every way that a careless line of code could.
func printed(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T", "%p"} {
		fmt.Fprintf(&b, verb+"\n", v)
	}
	text, err := json.Marshal(v)
	fmt.Fprintf(&b, "%s %v\n", text, err)
	log := zerolog.New(&b)
	log.Info().Interface("v", v).Any("any", v).Str("s", fmt.Sprint(v)).Msgf("%v", v)
	slog.New(slog.NewJSONHandler(&b, nil)).Info("x", "v", v)
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "v", v)
	return b.String()
}

func wantNoKey(t *testing.T, what, text string) {
	t.Helper()
	secret := strings.TrimPrefix(canary, keyPrefix)
	for _, form := range []string{secret, strings.ToUpper(secret), fmt.Sprintf("%x", canary), secret[:18]} {
		if strings.Contains(text, form) {
			t.Errorf("%s shows the key: %s", what, text)
			return
		}
	}
}

// TestP40_KeyIsNeverPrinted: no way of printing anything of this package shows the key.
func TestP40_KeyIsNeverPrinted(t *testing.T) {
	key := canaryKey()
	var wired *http.Request
	c, b := client(t, reply(func(req *http.Request) (*http.Response, error) {
		wired = req
		return say(403, `{"status":{"message":"no `+canary+`"}}`, "X-Riot-Edge-Trace-Id", canary, "X-Rate-Limit-Type", canary)(req)
	}))
	_, err := c.Match(t.Context(), route.Europe, "EUW1_1")
	if wired.Header.Get(headerKey) != canary {
		t.Fatal("the key is not on the wire")
	}
	req, _ := c.requestTo("euw1", "/lol/status/v4/platform-data")
	things := map[string]any{
		"key": key, "pointer to key": &key, "struct": struct{ K Key }{key}, "hidden field": struct{ k Key }{key}, "slice": []Key{key},
		"map": map[string]any{"k": key}, "holder": c.keys, "client": c, "client value": *c, "wire": c.wire, "request": req,
		"error": err, "record": b.calls, "form": Key{}.CheckForm(),
	}
	for what, v := range things {
		wantNoKey(t, what, printed(t, v))
	}
	if e, _ := errors.AsType[*Error](err); e == nil || !strings.Contains(e.Message, "RGAPI-****6789") {
		t.Errorf("the echo in %+v is not masked", err)
	}
	if got := fmt.Sprintf("%v %+v %#v %s", key, key, key, key); got != strings.TrimSpace(strings.Repeat("RGAPI-****6789 ", 4)) {
		t.Errorf("printed as %q", got)
	}
}

// TestP40_EchoedKeyOfAnotherForm: a simulated Riot takes any key, and may repeat it.
func TestP40_EchoedKeyOfAnotherForm(t *testing.T) {
	key, _ := ParseKey("open-sesame-of-a-simulator")
	c, b := client(t, say(500, "no entry with open-sesame-of-a-simulator", "Retry-After", "open-sesame-of-a-simulator"),
		func(o *Options) { o.Keys = NewKeys(key) })
	_, err := c.Status(t.Context(), route.EUW1)
	if text := printed(t, err) + printed(t, b.calls); strings.Contains(text, "sesame") {
		t.Errorf("the key is shown: %s", text)
	}
}

func TestKeyForms(t *testing.T) {
	for text, want := range map[string]string{"": "is empty", "  ": "is empty", "a b": "spaces", "a\nb": "spaces", "é": "not ASCII", strings.Repeat("x", 300): "300 characters"} {
		if _, err := ParseKey(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseKey(%.10q): %v, want %q", text, err, want)
		}
	}
	for text, good := range map[string]bool{canary: true, " " + canary + "\n": true, "RGAPI-test": false, "x": false, canary + "0": false, strings.Replace(canary, "0", "g", 1): false} {
		k, err := ParseKey(text)
		if err != nil || (k.CheckForm() == nil) != good {
			t.Errorf("%q: %v, form %v", text, err, k.CheckForm())
		}
	}
	short, _ := ParseKey("RGAPI-test")
	if short.String() != mask || (Key{}).String() != "" || (Key{}).CheckForm() == nil {
		t.Errorf("a short key prints as %q", short)
	}
}

func TestKeyFingerprint(t *testing.T) {
	a, same := canaryKey(), canaryKey()
	other, _ := ParseKey(strings.Replace(canary, "0", "1", 1))
	if len(a.Fingerprint()) != 12 || a.Fingerprint() != same.Fingerprint() || a.Fingerprint() == other.Fingerprint() || (Key{}).Fingerprint() != "" {
		t.Errorf("fingerprints %q %q %q", a.Fingerprint(), same.Fingerprint(), other.Fingerprint())
	}
	if strings.Contains(canary, a.Fingerprint()) || !a.Equal(same) || a.Equal(other) {
		t.Error("fingerprint or comparison")
	}
}

// TestKeysAreSwappedBetweenCalls: the next call has the new key.
func TestKeysAreSwappedBetweenCalls(t *testing.T) {
	var seen []string
	keys := &Keys{}
	c, b := client(t, reply(func(req *http.Request) (*http.Response, error) {
		seen = append(seen, req.Header.Get(headerKey))
		return say(200, `{"id":"EUW1"}`)(req)
	}), func(o *Options) { o.Keys = keys })
	_, err := c.Status(t.Context(), route.EUW1)
	if e, ok := errors.AsType[*Error](err); !ok || e.Reason != NoKey || !e.Reason.Denied() || len(b.permits) != 0 {
		t.Fatalf("without a key: %v, %d permits", err, len(b.permits))
	}
	for _, text := range []string{"first", "second"} {
		k, _ := ParseKey(text)
		keys.Set(k)
		if _, err := c.Status(t.Context(), route.EUW1); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Join(seen, " ") != "first second" {
		t.Errorf("keys on the wire: %v", seen)
	}
}

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "nothing here": "nothing here", "the RGAPI- prefix": "the RGAPI- prefix",
		canary: "RGAPI-****6789", "a " + canary + " b " + canary: "a RGAPI-****6789 b RGAPI-****6789",
		"cut: " + canary[:30] + "…": "cut: RGAPI-****…", "?api_key=" + canary + "&x": "?api_key=RGAPI-****6789&x",
		"RGAPI-RGAPI-" + canary[6:]: "RGAPI-RGAPI-****6789", "RGAPI-****6789": "RGAPI-****6789", strings.ToUpper(canary): "RGAPI-****6789",
	} {
		if got := Redact(in); got != want {
			t.Errorf("Redact(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzRedact(f *testing.F) {
	for _, seed := range []string{"", canary, "RGAPI-", canary + canary, "RGAPI-RGAPI-" + canary, "x" + canary[:20]} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		got := Redact(before + canary + after)
		if strings.Contains(got, canary) || strings.Contains(got, canary[6:30]) && !strings.Contains(before+after, canary[6:30]) {
			t.Fatalf("the key is left in %q", got)
		}
		if again := Redact(got); again != got {
			t.Fatalf("twice is not once: %q, %q", got, again)
		}
		if clean := clean(before); len([]rune(clean)) > maxText || strings.ContainsAny(clean, "\x00\n\r\x1b\u202e\u009b") {
			t.Fatalf("not clean: %q", clean)
		}
	})
}

// TestJobTravelsInTheContext: the limiter learns who waits.
func TestJobTravelsInTheContext(t *testing.T) {
	var asked []limit.Request
	c, _ := client(t, say(200, `{"id":"EUW1"}`))
	inner := c.acquire
	c.acquire = func(ctx context.Context, r limit.Request) (Permit, error) {
		asked = append(asked, r)
		return inner(ctx, r)
	}
	_, _ = c.Status(t.Context(), route.EUW1)
	_, _ = c.Status(WithJob(t.Context(), "job7", limit.Interactive), route.KR)
	want := []limit.Request{
		{Host: "euw1", Method: "lol-status-v4.platform-data", Priority: limit.Bulk},
		{Host: "kr", Method: "lol-status-v4.platform-data", Job: "job7", Priority: limit.Interactive},
	}
	if fmt.Sprint(asked) != fmt.Sprint(want) {
		t.Errorf("asked %v, want %v", asked, want)
	}
}

// TestParseIssued: only what Riot gives out is taken, and no error has what was typed.
func TestParseIssued(t *testing.T) {
	if k, err := ParseIssued(" RGAPI-01234567-89ab-cdef-0123-456789abcdef\n"); err != nil || k.IsZero() {
		t.Errorf("%v", err)
	}
	for _, text := range []string{"", "my password", "RGAPI-", "RGAPI-01234567", "rgapi-01234567-89ab-cdef-0123-456789abcdef", "RGAPI-01234567-89ab-cdef-0123-456789abcdeX"} {
		k, err := ParseIssued(text)
		if err == nil || !k.IsZero() || text != "" && strings.Contains(err.Error(), text) && text != "RGAPI-" {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestP40_AnAnswerThatIsCarried: what a member hands on of an answer holds no key that the server has echoed, in its headers
// or in a body that is packed.
func TestP40_AnAnswerThatIsCarried(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(`{"status":{"message":"no ` + canary + `"}}`))
	_ = z.Close()
	c, _ := client(t, say(403, packed.String(), "Content-Encoding", "gzip", "X-Riot-Edge-Trace-Id", canary, "Set-Cookie", "a=b"))
	a, wrote, err := c.Relay(t.Context(), Carried{Host: "europe", Method: string(route.Match), Path: "/lol/match/v5/matches/EUW1_1"}, time.Now().Add(time.Minute))
	if err != nil || !wrote || a.Status != 403 || messageOf(a.Body) != "no RGAPI-****6789" || a.Header.Get("Set-Cookie") != "" {
		t.Errorf("%+v, wrote %v, %v", a, wrote, err)
	}
	wantNoKey(t, "the answer", printed(t, *a)+string(a.Body))
}
