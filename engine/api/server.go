package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/semaphore"

	"github.com/farsight-console/farsight/engine"
)

// Limits of what a caller may cost.
const (
	maxBody       = 1 << 20          // bytes of a request's body
	headerSlop    = 4 << 10          // what net/http reads beyond its MaxHeaderBytes
	headerTimeout = 5 * time.Second  // for a request's head
	bodyTimeout   = 10 * time.Second // for its body
	idleTimeout   = 2 * time.Minute
	closeTimeout  = 2 * time.Second // for requests under way when the server ends
	// strangerTimeout is for the body of whoever is refused: the server reads it before
	// it answers, and until then their connection is one less for the others.
	strangerTimeout = time.Second
	// defaultConns is how many connections of each user a socket lets be open: fifty consoles
	// have two each.
	defaultConns = 256
	defaultPace  = 100 * time.Millisecond
)

// Options of a Server.
type Options struct {
	Console engine.Console
	Who     Who
	// Hosts are the names that a request's Host may have, without a port; nil = those
	// of a socket. Any other is a page that had its name changed to ours.
	Hosts []string
	// Origins are those that a browser may come from; none = a request that names one
	// is refused.
	Origins []string
	// Pages are origins of web pages elsewhere that may ask as well, and read what is answered (CORS).
	Pages  []string
	Routes []Route // besides those of the protocol
	Conns  int     // open at once for each user, and as many that wait to be let in; 0 = defaultConns
	// Refused takes the audit entry of a command that its caller's role does not
	// allow; nil = there is no audit.
	Refused func(ctx context.Context, c engine.Command, why string) error
	Log     zerolog.Logger

	Version string // for Hello
	Dir     string
	PID     int

	// Pace is the least time between two updates of one stream, Beat how often a
	// silent one says that the engine lives; 0 = 100 ms and 10 s.
	Pace, Beat time.Duration
	// HeadTime is how long a request's head may take to arrive; 0 = 5 s.
	HeadTime time.Duration
	// BodyTime is how long its body may take; 0 = 10 s.
	BodyTime time.Duration
}

// socketHosts are what a client may call an engine behind a socket.
var socketHosts = []string{"farsight", "localhost"}

// Server answers for a console. It may serve several listeners.
type Server struct {
	opt    Options
	mux    *http.ServeMux
	routes map[string]Route // by pattern
	told   refusals
	relay  relay

	payloads *semaphore.Weighted // payloadsMost
}

// NewServer makes a server; nothing listens until Serve.
func NewServer(opt Options) *Server {
	if opt.Hosts == nil {
		opt.Hosts = socketHosts
	}
	opt.Conns, opt.Pace, opt.Beat = cmp.Or(opt.Conns, defaultConns), cmp.Or(opt.Pace, defaultPace), cmp.Or(opt.Beat,
		defaultBeat)
	opt.HeadTime, opt.BodyTime = cmp.Or(opt.HeadTime, headerTimeout), cmp.Or(opt.BodyTime, bodyTimeout)
	s := &Server{opt: opt, mux: http.NewServeMux(), routes: map[string]Route{}, payloads: semaphore.NewWeighted(payloadsMost)}
	s.relay.con, s.relay.pace, s.relay.log = opt.Console, opt.Pace, opt.Log
	for _, r := range append(s.protocol(), opt.Routes...) {
		// net/http panics where two patterns collide: that is an error in the program.
		pattern := r.Method + " " + r.Path
		s.routes[pattern] = r
		s.mux.Handle(pattern, s.guard(r))
	}
	return s
}

// Serve answers on l until ctx ends, lets the requests under way finish, and
// closes l. nil when ctx has ended it. Requests under way do not have ctx, or they would be given up in
// the middle; it is in their values, for streams.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	// What net/http would log is what strangers have sent, and it would stand in the middle of a screen.
	srv := &http.Server{
		Handler: s, ReadHeaderTimeout: s.opt.HeadTime, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader - headerSlop,
		ConnContext: withConn, ErrorLog: log.New(io.Discard, "", 0), DisableGeneralOptionsHandler: true,
		BaseContext: func(net.Listener) context.Context {
			return context.WithValue(context.WithoutCancel(ctx), endKey{}, ctx)
		},
	}
	// One place, so that the server's goroutine ends also where nobody waits for its error.
	done := make(chan error, 1)
	limited := &limitedListener{Listener: l, peer: connPeer, most: s.opt.Conns, users: map[int64]*places{}}
	go func() { done <- srv.Serve(limited) }()
	select {
	case err := <-done:
		return errors.Join(fmt.Errorf("serve %s: %w", l.Addr(), err), srv.Close())
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	// It waits for requests under way, and knows nothing of WebSockets: drain waits for those.
	err := srv.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		err = srv.Close()
	}
	<-done
	for end := time.Now().Add(3 * goodbye); limited.count() > 0 && time.Now().Before(end); {
		time.Sleep(drainLook)
	}
	return err
}

// ServeHTTP implements http.Handler: what comes from a web page, or leads nowhere,
// ends here. Whoever may not be here at all loses the connection, others keep it for their next
// request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer s.recovered(w)
	// Answers tell of players and of the machine: no cache keeps them, and no browser takes one for a
	// page.
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	rc := http.NewResponseController(w)
	_ = rc.SetWriteDeadline(time.Time{}) // of the answer before
	if r.ContentLength != 0 {
		// Also of one that is refused: the server reads it to its end before it answers.
		_ = rc.SetReadDeadline(time.Now().Add(s.opt.BodyTime))
	}
	if err := s.welcome(r); err != nil {
		s.sendBack(r, err)
		s.dismiss(w, r, err)
		return
	}
	if s.letRead(w, r) {
		return
	}
	// A path that is not clean would be answered with a redirect by the mux; here it leads nowhere.
	_, pattern := s.mux.Handler(r)
	if _, ok := s.routes[pattern]; !ok || path.Clean(r.URL.Path) != r.URL.Path {
		refuse := s.fail
		if _, err := s.opt.Who(r); err != nil {
			refuse = s.dismiss
		}
		refuse(w, r, s.nowhere(w, r))
		return
	}
	s.mux.ServeHTTP(w, r)
}

// welcome checks what a browser cannot change: which host the request was meant
// for and which page it came from.
func (s *Server) welcome(r *http.Request) error {
	host := r.Host
	// The port does not count: a proxy or ssh may have another in front.
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if !slices.ContainsFunc(s.opt.Hosts, func(ours string) bool { return strings.EqualFold(ours, host) }) {
		return faultf(http.StatusMisdirectedRequest, engine.ErrRefused, "call it "+strings.Join(s.opt.Hosts, " or "),
			"this is not the host %q", short(host))
	}
	if o := r.Header.Get("Origin"); o != "" && !slices.Contains(s.opt.Origins, o) && !slices.Contains(s.opt.Pages, o) {
		return engine.Problemf(engine.ErrRefused, "name its origin in `http_origins`, or ask from a program, which names none",
			"requests of web pages are not taken, this one comes from %q", short(o))
	}
	return nil
}

// letRead tells a browser that the page it asks for may read the answer. answered is true for what a browser asks
// before it sends a request that no form could: it shows no token, and nothing else is told it.
func (s *Server) letRead(w http.ResponseWriter, r *http.Request) (answered bool) {
	o, h := r.Header.Get("Origin"), w.Header()
	if o == "" || !slices.Contains(s.opt.Pages, o) {
		return false
	}
	h.Set("Access-Control-Allow-Origin", o)
	h.Set("Access-Control-Expose-Headers", "ETag, Location, Retry-After")
	h.Add("Vary", "Origin")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, "+idempotencyKey+", If-None-Match, Last-Event-ID")
	h.Set("Access-Control-Allow-Private-Network", "true") // a page of the internet that asks a loopback address
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// sendBack notes who was not welcome; nothing of it where the path leads nowhere.
func (s *Server) sendBack(r *http.Request, err error) {
	_, pattern := s.mux.Handler(r)
	if route, ok := s.routes[pattern]; ok {
		caller, _ := s.opt.Who(r)
		s.turnAway(route, caller, r, err)
	}
}

// nowhere says that a path leads nowhere, or by which methods it does.
func (s *Server) nowhere(w http.ResponseWriter, r *http.Request) error {
	var allowed []string
	// The mux tells by its own rules, those of HEAD included, whether a method would have led
	// somewhere.
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete} {
		other := &http.Request{Method: method, URL: r.URL, Host: r.Host}
		if _, pattern := s.mux.Handler(other); s.routes[pattern].Path != "" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 || path.Clean(r.URL.Path) != r.URL.Path {
		return engine.Problemf(engine.ErrNotFound, "see /openapi.json", "there is no %s",
			cmp.Or(r.URL.Path, r.RequestURI))
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	return faultf(http.StatusMethodNotAllowed, engine.ErrInvalid, "", "%s takes %s, not %s", r.URL.Path,
		strings.Join(allowed, ", "), r.Method)
}

// recovered turns a panic of a handler into an answer: the engine goes on.
func (s *Server) recovered(w http.ResponseWriter) {
	p := recover()
	if p == nil {
		return
	}
	// The value may hold anything, a key among it; the stack has what is needed to find the fault.
	s.opt.Log.Error().Str("stack", string(debug.Stack())).Msg("a request fell")
	writeProblem(w, ProblemOf(errors.New("panic")))
}

// dismiss refuses whoever has no business here, and closes the connection: to keep it
// for their next request would let strangers hold every place there is.
func (s *Server) dismiss(w http.ResponseWriter, r *http.Request, err error) {
	w.Header().Set("Connection", "close")
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(min(s.opt.BodyTime, strangerTimeout)))
	}
	s.fail(w, r, err)
}

// fail answers with an error.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := ProblemOf(err)
	// Probes ask a service that is unavailable again and again.
	if p.Status >= http.StatusInternalServerError && p.Status != http.StatusServiceUnavailable {
		s.opt.Log.Warn().Str("path", r.URL.Path).Err(err).Msg("request failed")
	}
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", challenge(r))
	}
	writeProblem(w, p)
}

// challenge says how to be let in, and whether what was shown was wrong (RFC 6750,
// section 3).
func challenge(r *http.Request) string {
	const ask = `Bearer realm="farsight"`
	if r.Header.Get("Authorization") == "" {
		return ask
	}
	return ask + `, error="invalid_token"`
}
