// Package voice is a simulated telephone service: the part of Twilio's Calls API
// that engine/pager uses, for the demo and for tests. Nobody is called. Each call
// goes through the stages of a real one and ends as the script says.
package voice

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Root is what every path of the service begins with.
const Root = "/2010-04-01/"

// Options of a Service.
type Options struct {
	// Account and Token are what callers must show.
	Account, Token string
	// Script says how calls end, one word after the other for each number and message:
	// "busy", "no-answer", "completed" … "mailbox" is a call that a machine answers. A script that is at its end begins again.
	Script []string
	// Numbers have scripts of their own.
	Numbers map[string][]string
	// Stage is how long a call is queued, rings, and is in progress, each; 0 = it has
	// ended at the first look.
	Stage time.Duration
}

// Call is one that was placed.
type Call struct {
	SID      string
	To, From string
	// Text is the TwiML document, as XML: "<Response><Say>…</Say></Response>".
	Text    string
	Created time.Time
	By      string // who answers: "" = nobody was asked to tell; human, machine_start
	End     string // the status that it has at its end
	Stopped bool   // it was told to stop before somebody had answered
	Looks   int    // how often its status was asked for
}

// Service is the simulated service. It is an http.Handler, safe for concurrent use. What a call has
// become follows from its age, so that nothing runs between two requests.
type Service struct {
	opt Options
	mux *http.ServeMux

	mu    sync.Mutex
	calls []*Call
}

// New makes a service with no calls.
func New(o Options) *Service {
	s := &Service{opt: o, mux: http.NewServeMux()}
	const base = Root + "Accounts/{account}/"
	s.mux.HandleFunc("POST "+base+"Calls.json", s.create)
	s.mux.HandleFunc("GET "+base+"Calls.json", s.list)
	s.mux.HandleFunc("GET "+base+"Calls/{sid}", s.show)
	s.mux.HandleFunc("POST "+base+"Calls/{sid}", s.change)
	return s
}

// Calls are the calls so far, oldest first.
func (s *Service) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Call, len(s.calls))
	for i, c := range s.calls {
		out[i] = *c
	}
	return out
}

// ServeHTTP answers as the service does: 401 and code 20003 for whoever is not the account.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	account, token, _ := r.BasicAuth()
	if !same(account, s.opt.Account) || !same(token, s.opt.Token) {
		refuse(w, http.StatusUnauthorized, 20003, "Authenticate")
		return
	}
	s.mux.ServeHTTP(w, r)
}

// same compares without telling by its time how much was right.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// create places a call, with the codes of the service for a number or a message that it would not take.
func (s *Service) create(w http.ResponseWriter, r *http.Request) {
	to, from := r.PostFormValue("To"), r.PostFormValue("From")
	if !strings.HasPrefix(to, "+") {
		refuse(w, http.StatusBadRequest, 21211, "The 'To' number is not a valid phone number")
		return
	}
	if r.PostFormValue("Twiml") == "" && r.PostFormValue("Url") == "" {
		refuse(w, http.StatusBadRequest, 21205, "Url parameter is required")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &Call{
		SID: fmt.Sprintf("CA%032x", len(s.calls)+1), To: to, From: from, Text: r.PostFormValue("Twiml"),
		Created: time.Now(),
	}
	c.End = s.next(c)
	by := "human"
	if c.End == "mailbox" {
		c.End, by = "completed", "machine_start"
	}
	if r.PostFormValue("MachineDetection") != "" {
		c.By = by
	}
	s.calls = append(s.calls, c)
	answer(w, http.StatusCreated, s.resource(c))
}

// next is how a new call ends.
func (s *Service) next(placed *Call) string {
	script := s.opt.Script
	if own, ok := s.opt.Numbers[placed.To]; ok {
		script = own
	}
	if len(script) == 0 {
		return "completed"
	}
	n := 0
	for _, c := range s.calls {
		if c.To == placed.To && c.Text == placed.Text {
			n++
		}
	}
	return script[n%len(script)]
}

// list answers with the calls to a number, the newest first, as one page.
func (s *Service) list(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []map[string]any{}
	for i := len(s.calls) - 1; i >= 0; i-- {
		if to := r.URL.Query().Get("To"); to == "" || to == s.calls[i].To {
			found = append(found, s.resource(s.calls[i]))
		}
	}
	answer(w, http.StatusOK, map[string]any{"calls": found})
}

// show answers with one call, and counts the look.
func (s *Service) show(w http.ResponseWriter, r *http.Request) {
	s.onCall(w, r, func(c *Call) { c.Looks++ })
}

// change ends a call that nobody has answered yet; another change is taken and does nothing.
func (s *Service) change(w http.ResponseWriter, r *http.Request) {
	s.onCall(w, r, func(c *Call) {
		if now := s.status(c); r.PostFormValue("Status") == "canceled" && (now == "queued" || now == "ringing") {
			c.Stopped = true
		}
	})
}

// onCall answers with the call that a request is about, once act has done with it what was asked for.
func (s *Service) onCall(w http.ResponseWriter, r *http.Request, act func(*Call)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.find(r)
	if c == nil {
		refuse(w, http.StatusNotFound, 20404, "The requested resource was not found")
		return
	}
	act(c)
	answer(w, http.StatusOK, s.resource(c))
}

// find gives the call that an address names; nil = there is none. The lock is held.
func (s *Service) find(r *http.Request) *Call {
	sid := strings.TrimSuffix(r.PathValue("sid"), ".json")
	for _, c := range s.calls {
		if c.SID == sid {
			return c
		}
	}
	return nil
}

// status is how far a call has come. Only one that is completed was ever answered.
func (s *Service) status(c *Call) string {
	stages := []string{"queued", "ringing"}
	if c.End == "completed" {
		stages = append(stages, "in-progress")
	}
	if c.Stopped {
		return "canceled"
	}
	if s.opt.Stage <= 0 {
		return c.End
	}
	if n := int(time.Since(c.Created) / s.opt.Stage); n < len(stages) {
		return stages[n]
	}
	return c.End
}

// resource is a call as it stands in an answer.
func (s *Service) resource(c *Call) map[string]any {
	return map[string]any{
		"sid": c.SID, "account_sid": s.opt.Account, "to": c.To, "from": c.From, "status": s.status(c),
		"answered_by":  c.By,
		"date_created": c.Created.UTC().Format(time.RFC1123Z), "direction": "outbound-api",
	}
}

// refuse answers with an error of the service.
func refuse(w http.ResponseWriter, status, code int, message string) {
	answer(w, status, map[string]any{"status": status, "code": code, "message": message})
}

// answer writes a body of JSON.
func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // who hung up does not care
}
