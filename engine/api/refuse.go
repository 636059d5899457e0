package api

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// mayNot refuses what a role does not allow, and leaves an audit entry.
func (s *Server) mayNot(route Route, r *Request) error {
	why := "a " + r.Caller.Role.String() + " may look, but not act"
	// Where the body is no command the address says what was tried.
	cmd, err := readCommand(r.Body)
	if err != nil {
		cmd = engine.Command{Op: opOf(route)}
	}
	s.writeDown(r, cmd, why)
	return engine.Problemf(engine.ErrRefused, "ask the owner of the engine to name you in `operators`",
		"%s", why)
}

// mayNotName refuses a folder of the engine's host to whoever is not at home there: a
// token may have been copied to where its owner's files are not, and other users of a
// socket have a right to the engine, not to its owner's disks.
func (s *Server) mayNotName(r *Request, c engine.Command) error {
	if c.Backup == nil || c.Backup.To == "" || r.Caller.Own {
		return nil
	}
	const why = "only the owner of the engine may name a folder on its host, and on its control socket"
	s.writeDown(r, c, why)
	return engine.Problemf(engine.ErrRefused,
		"leave it out: the copy goes to backup/ in the data directory", "%s", why)
}

// turnAway logs a stranger or a web page, not every knock, and leaves an audit entry
// when it wanted to act.
func (s *Server) turnAway(route Route, c Caller, r *http.Request, err error) {
	if !s.told.first(fmt.Sprint(c.Where, route.Role, ProblemOf(err).Status)) {
		return
	}
	s.opt.Log.Warn().Str("who", c.Where).Str("path", short(r.URL.Path)).Err(err).Msg("refused a caller")
	if s.opt.Refused == nil || route.Role < Operator {
		return
	}
	s.audit(r, engine.Command{Op: opOf(route), By: c.Actor}, err.Error()+" ("+c.Where+")")
}

// writeDown leaves an audit entry of a command that was refused to a known caller.
func (s *Server) writeDown(r *Request, c engine.Command, why string) {
	if s.opt.Refused == nil || !s.told.first(r.Caller.Where+short(string(c.Op))) {
		return
	}
	// Whatever the command says of who gives it: the caller is who was refused.
	c.By = r.Caller.Actor
	s.audit(r.Request, c, why+" ("+r.Caller.Where+")")
}

// audit writes the entry of a refusal. That it cannot be written changes nothing of the refusal.
func (s *Server) audit(r *http.Request, c engine.Command, why string) {
	if err := s.opt.Refused(r.Context(), c, why); err != nil {
		s.opt.Log.Warn().Err(err).Msg("a refusal could not be written down")
	}
}

// opOf stands in the audit for a command that could not be read.
func opOf(route Route) engine.Op { return engine.Op(route.Method + " " + route.Path) }

// refusals keeps those who are refused again and again from filling the audit: one
// line a second for each, and no more than a few for all, who may be a thousand
// processes of one.
type refusals struct {
	mu    sync.Mutex
	last  map[string]time.Time
	since time.Time // of the second that is counted
	n     int       // lines in it
}

const (
	refusalEvery = time.Second
	refusalsMost = 20
	maxRefusals  = 1000
)

// first reports whether what was refused is worth a line. The map is begun anew when it is full, which
// may let a line through a second time: better than to grow with each caller.
func (f *refusals) first(what string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if now.Sub(f.last[what]) < refusalEvery {
		return false
	}
	if now.Sub(f.since) >= refusalEvery {
		f.since, f.n = now, 0
	}
	if f.n++; f.n > refusalsMost {
		return false
	}
	if f.last == nil || len(f.last) >= maxRefusals {
		f.last = map[string]time.Time{}
	}
	f.last[what] = now
	return true
}
