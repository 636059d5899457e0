package sim

import (
	"context"
	"errors"
	"io"
	"maps"
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
	// The context ends when the client hangs up: it cuts the latency short, and the call still counts.
	c, a := s.handle(r, r.Host)
	sent, gone := s.send(w, r, c, a)
	s.logCall(c, a, sent, gone)
	if a.closes {
		s.closeIdle(w, r, a)
	}
}

// closeIdle closes a connection that the client believes kept. Until then it takes a call, and nobody reads it.
func (s *Sim) closeIdle(w http.ResponseWriter, r *http.Request, a *answer) {
	rc := http.NewResponseController(w)
	if rc.Flush() != nil {
		return
	}
	conn, _, err := rc.Hijack()
	if err != nil {
		return // HTTP/2 or a recorder
	}
	sleep(r.Context(), s.scaled(a.pause))
	_, _ = io.WriteString(conn, a.farewell)
	_ = conn.Close()
}

// logCall logs a call that is over.
func (s *Sim) logCall(c *call, a *answer, sent int, gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.finished(c, a, sent, gone)
}

// send writes what a client of RoundTripper would read, piece by piece; gone reports that the client left first.
func (s *Sim) send(w http.ResponseWriter, r *http.Request, c *call, a *answer) (sent int, gone bool) {
	in, err := s.receive(r.Context(), c, a)
	switch {
	case errors.Is(err, errReset):
		breakConn(w)
		return 0, false
	case err != nil:
		return 0, true
	}
	// The length is announced of the whole body, however much of it will arrive.
	maps.Copy(w.Header(), a.headers(in.compressed, in.length))
	w.WriteHeader(a.status)
	for body := s.reader(r.Context(), a, in); ; {
		// All at once, but for a trickle.
		piece, err := body.next(in.length)
		if err == io.EOF {
			return sent, false
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			_ = http.NewResponseController(w).Flush() // what is buffered must arrive before the end
			breakConn(w)
			return sent, false
		}
		if err != nil {
			return sent, true
		}
		n, err := w.Write(piece)
		// The client has gone, or its socket is full beyond all patience.
		if sent += n; err != nil {
			return sent, true
		}
		if a.transfer == drip && http.NewResponseController(w).Flush() != nil {
			return sent, true
		}
	}
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
func (s *Sim) Serve(ctx context.Context, l net.Listener) error { return Serve(ctx, l, s) }

// Serve lets a handler, such as one with a simulator behind it, answer on l until ctx ends.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	// A client that sends its headers byte by byte must not hold a connection for ever, even here.
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 64 << 10}
	// Close and not Shutdown: a client that holds its connection open must not hold up the end.
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	err := srv.Serve(l)
	if ctx.Err() != nil {
		return nil
	}
	return err
}
