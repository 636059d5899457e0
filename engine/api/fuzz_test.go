package api

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/farsight-console/farsight/engine"
)

// FuzzFrames reads a stream as a client does: whatever an engine, or what pretends to
// be one, sends, it ends with an error, and no frame is taken out of its order.
func FuzzFrames(f *testing.F) {
	f.Add([]byte(`{"n":1,"hello":{"protocol":1,"you":{"user":"ana"},"role":"viewer"}}` + "\n" + `{"n":2,"update":{"seq":4,"snapshot":true,"jobs":[{"id":"a"}]}}` + "\n" + `{"n":3}` + "\n"))
	f.Add([]byte(`{"n":1}` + "\n" + `{"n":3}` + "\n"))
	f.Add([]byte(`{"n":1,"hello":{"protocol":2}}` + "\n"))
	f.Add([]byte("null\n{}\n[]\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		c, b := NewClient("nowhere"), newBox()
		err := c.read(bytes.NewReader(body), func() {}, b)
		if err == nil {
			t.Fatal("a stream that has ended is read on")
		}
		b.close(err)
		for n := 0; ; n++ {
			if _, err := b.next(context.Background()); err != nil {
				return
			}
			if n > 0 {
				t.Fatal("what was taken out is there again")
			}
		}
	})
}

// FuzzLine cuts lines as bufio.Scanner does.
func FuzzLine(f *testing.F) {
	f.Add([]byte("a\nb\n\nc"))
	f.Add([]byte(strings.Repeat("x", 70) + "\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		r := bufio.NewReaderSize(bytes.NewReader(body), 16)
		var back []byte
		for {
			part, err := line(r)
			if err != nil {
				break
			}
			back = append(back, part...)
		}
		if want := body[:bytes.LastIndexByte(body, '\n')+1]; !bytes.Equal(back, want) {
			t.Fatalf("%q became %q", want, back)
		}
	})
}

// FuzzProblem reads whatever answers with another status than 200.
func FuzzProblem(f *testing.F) {
	raw, _ := encode(ProblemOf(engine.Problemf(engine.ErrStale, "look again", "changed")))
	f.Add(409, raw)
	f.Add(502, []byte("<html>"))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		if _, p := readProblem(status, body); p == nil || p.Code == nil || p.Sentence == "" {
			t.Fatalf("%d %q became %+v", status, body, p)
		}
	})
}

// FuzzUnpack opens packed bodies: nothing larger than its bound comes out.
func FuzzUnpack(f *testing.F) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(`{"op":"retry"}`))
	_ = z.Close()
	f.Add(b.Bytes(), packed)
	f.Add([]byte("{}"), "")
	f.Add([]byte("{}"), "br")
	f.Fuzz(func(t *testing.T, body []byte, enc string) {
		out, err := unpack(io.LimitReader(bytes.NewReader(body), maxBody), enc)
		if err == nil && len(out) > maxUnpacked {
			t.Fatalf("%d bytes came out", len(out))
		}
	})
}

// FuzzRequest sends any request to a server: it answers each with a status, and with
// a reason in JSON that is harmless to a terminal where it refuses.
func FuzzRequest(f *testing.F) {
	f.Add("POST", "/v1/do", "application/json", "localhost", "", []byte(`{"op":"retry","job":"j1"}`))
	f.Add("POST", "/v1/find", "application/json", "farsight", "", []byte(`{"type":"status"}`))
	f.Add("GET", "/v1/accounts/A%1b/B?x=%e2%80%ae", "", "localhost:1", "null", []byte(nil))
	f.Add("DELETE", "/v1/jobs/%00/retry?if_rev=-1", "", "evil.example\x1b", "http://evil.example", []byte(nil))
	con := nobody{}
	s := NewServer(Options{
		Console: con, Routes: NewPrograms(ProgramsOptions{Console: con}).Routes(),
		Who:     func(*http.Request) (Caller, error) { return Caller{Role: Operator, Where: "uid 7"}, nil },
		Refused: func(context.Context, engine.Command, string) error { return nil },
	})
	f.Fuzz(func(t *testing.T, method, path, typ, host, origin string, body []byte) {
		if strings.Contains(path, "/v1/watch") || strings.Contains(path, "/v1/events") {
			return // these last as long as their reader
		}
		r, err := http.NewRequest(method, "http://localhost"+path, bytes.NewReader(body))
		if err != nil {
			return
		}
		r.Host = host
		r.Header.Set("Content-Type", typ)
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		got := w.Body.Bytes()
		var p Problem
		if w.Code >= 400 && (json.Unmarshal(got, &p) != nil || p.Detail == "" || p.Status != w.Code) {
			t.Fatalf("%s %q: %d without a reason: %q", method, path, w.Code, got)
		}
		if w.Code >= 400 && (!utf8.Valid(got) || bytes.ContainsAny(got, "\x1b\x07\u202e\u009b")) {
			t.Fatalf("%s %q: %q harms a terminal", method, path, got)
		}
	})
}

// nobody is a console that knows nothing.
type nobody struct{ engine.Console }

func (nobody) Do(context.Context, engine.Command) (engine.Receipt, error) {
	return engine.Receipt{}, engine.Problemf(engine.ErrNotFound, "", "there is no such thing")
}

func (nobody) Find(_ context.Context, q engine.Query) (engine.Answer, error) {
	if q, ok := q.(engine.JobQuery); ok {
		return nil, engine.Problemf(engine.ErrNotFound, "", "there is no job %s%s", q.ID, q.Key)
	}
	return nil, errors.New("page 7 is torn")
}
