package sim

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"strings"
	"time"
)

var _ http.Handler = (*Sim)(nil)

// ServeHTTP answers over a socket. It takes both forms of an address, /{routing}/… and the Host header
// {routing}.api.riotgames.com, and its own endpoints under /sim/.
func (s *Sim) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/sim/") && !strings.Contains(r.Host, ".api.") {
		s.admin(w, r)
		return
	}
	c, a := s.handle(r.Context(), requestOf(r, r.Host))
	sent, gone := s.send(w, r, c, a)
	s.settle(c, a, sent, gone)
}

func requestOf(r *http.Request, host string) request {
	return request{
		verb: r.Method, host: host, path: r.URL.EscapedPath(), rawQuery: r.URL.RawQuery,
		key: r.Header.Get("X-Riot-Token"), acceptGzip: strings.Contains(r.Header.Get("Accept-Encoding"), "gzip"),
	}
}

func (s *Sim) settle(c *call, a *answer, sent int, gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.finished(c, a, sent, gone)
}

// send writes the answer as its transfer says; gone reports that the client left first. A client that
// hangs up once it has everything did not, so its context is asked before a write and not after it.
func (s *Sim) send(w http.ResponseWriter, r *http.Request, c *call, a *answer) (sent int, gone bool) {
	switch a.transfer {
	case silent:
		<-r.Context().Done()
		return 0, true
	case broken:
		breakConn(w)
		return 0, false
	}
	body, compressed := a.wire(c)
	for name, values := range a.headers(compressed, len(body)) {
		w.Header()[name] = values
	}
	w.WriteHeader(a.status)
	switch a.transfer {
	case cut:
		n, _ := w.Write(body[:len(body)/2])
		_ = http.NewResponseController(w).Flush() // what is buffered must arrive before the end
		breakConn(w)
		return n, false
	case drip:
		return s.drip(w, r, body, s.scaled(a.pause))
	}
	if r.Context().Err() != nil {
		return 0, true
	}
	n, err := w.Write(body)
	return n, err != nil
}

// pieces is how many parts a dripping body comes in.
const pieces = 16

func (s *Sim) drip(w http.ResponseWriter, r *http.Request, body []byte, pause time.Duration) (sent int, gone bool) {
	step := len(body)/pieces + 1
	for len(body) > 0 {
		if r.Context().Err() != nil {
			return sent, true
		}
		n, err := w.Write(body[:min(step, len(body))])
		sent += n
		if err != nil || http.NewResponseController(w).Flush() != nil {
			return sent, true
		}
		body = body[n:]
		sleep(r.Context(), pause)
	}
	return sent, false
}

// breakConn ends the connection at once, by a reset where the socket allows it.
func breakConn(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return // HTTP/2 or a recorder: net/http closes it when the handler returns short
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// Serve answers on l until ctx ends.
func (s *Sim) Serve(ctx context.Context, l net.Listener) error {
	srv := &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 64 << 10}
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	err := srv.Serve(l)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// reader gives a body as its transfer says, for the in-memory RoundTripper.
type reader struct {
	*bytes.Reader
	ctx   context.Context
	end   error // instead of io.EOF
	pause time.Duration
	step  int
}

func (r *reader) Read(p []byte) (int, error) {
	if r.pause > 0 && r.Len() > 0 {
		p = p[:min(len(p), r.step)]
		sleep(r.ctx, r.pause)
	}
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	n, err := r.Reader.Read(p)
	if err != nil && r.end != nil {
		err = r.end
	}
	return n, err
}

func (r *reader) Close() error { return nil }
