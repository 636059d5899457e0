package riot

import (
	"bytes"
	stdgzip "compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/farsight-console/farsight/internal/leak"
	"github.com/farsight-console/farsight/riot/limit"
)

func TestMain(m *testing.M) { leak.Main(m) }

// canary is the key of every test; it may be seen nowhere but in the header of a request on the wire.
const canary = "RGAPI-0a1b2c3d-4e5f-6789-abcd-ef0123456789"

func canaryKey() Key {
	k, err := ParseKey(canary)
	if err != nil {
		panic(err)
	}
	return k
}

// reply is a transport of one canned answer.
type reply func(*http.Request) (*http.Response, error)

func (r reply) RoundTrip(req *http.Request) (*http.Response, error) { return r(req) }

// say answers with a status, a body and headers given as pairs.
func say(status int, body string, headers ...string) reply {
	return func(*http.Request) (*http.Response, error) {
		h := http.Header{}
		for i := 0; i < len(headers); i += 2 {
			h.Add(headers[i], headers[i+1])
		}
		return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

// book notes what happens to each permit.
type book struct {
	mu      sync.Mutex
	permits []*noted
	calls   []Call
}

type noted struct {
	b   *book
	log []string
}

func (n *noted) note(what string) {
	n.b.mu.Lock()
	defer n.b.mu.Unlock()
	n.log = append(n.log, what)
}

func (n *noted) Wrote()     { n.note("wrote") }
func (n *noted) FirstByte() { n.note("first byte") }

func (n *noted) Done(status int, _ http.Header) limit.Receipt {
	n.note("done")
	return limit.Receipt{Status: status}
}
func (n *noted) Refund() limit.Receipt { n.note("refund"); return limit.Receipt{} }
func (n *noted) Lost() limit.Receipt   { n.note("lost"); return limit.Receipt{} }

// ends are what the permits ended with, in order; two for one permit is a fault.
func (b *book) ends(t *testing.T) []string {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	var ends []string
	for i, p := range b.permits {
		n := 0
		for _, what := range p.log {
			if what == "done" || what == "refund" || what == "lost" {
				ends, n = append(ends, what), n+1
			}
		}
		if n != 1 {
			t.Errorf("permit %d ended %d times: %v", i, n, p.log)
		}
	}
	return ends
}

func (b *book) wantEnd(t *testing.T, want ...string) {
	t.Helper()
	if got := b.ends(t); !slices.Equal(got, want) {
		t.Errorf("permits ended with %v, want %v", got, want)
	}
}

// client makes a Client whose permits are noted in the book.
func client(t *testing.T, rt http.RoundTripper, change ...func(*Options)) (*Client, *book) {
	t.Helper()
	b := &book{}
	o := Options{Keys: NewKeys(canaryKey()), Limiter: LimitedBy(limit.New(limit.Options{})), Transport: rt, OnCall: func(c Call) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.calls = append(b.calls, c)
	}}
	for _, f := range change {
		f(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdle)
	c.acquire = func(ctx context.Context, _ limit.Request) (Permit, error) {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("wait: %w", context.Cause(ctx))
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		p := &noted{b: b}
		b.permits = append(b.permits, p)
		return p, nil
	}
	return c, b
}

// metered makes a Client with a real limiter.
func metered(t *testing.T, rt http.RoundTripper) *Client {
	t.Helper()
	c, err := New(Options{Keys: NewKeys(canaryKey()), Limiter: LimitedBy(limit.New(limit.Options{})), Transport: rt})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func packed(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := stdgzip.NewWriter(&b)
	_, err := io.WriteString(w, text)
	if err != nil || w.Close() != nil {
		t.Fatal("gzip", err)
	}
	return b.String()
}

func at(s string) time.Time {
	when, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return when
}
