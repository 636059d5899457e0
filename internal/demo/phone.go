package demo

import (
	"net/http"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/pager"
	"github.com/farsight-console/farsight/engine/pager/voice"
)

// Phone is the demo's telephone: a simulated service beside the simulated Riot,
// on the same loopback port. Its line is busy, busy, and then answered.
type Phone struct {
	voice *voice.Service
	rest  http.Handler
	call  pager.CallOptions
}

// What the demo's telephone is called by. The numbers are reserved for fiction.
const (
	phoneAccount = "AC00000000000000000000000000000000"
	phoneToken   = "no-secret-of-anybody"
	phoneFrom    = "+12025550100"
	phoneTo      = "+12025550111"
	phoneOwn     = "+12025550143" // may be called by whoever watches
)

// NewPhone makes a telephone at an address at which rest serves everything
// else. A call is shorter than the wait for the next one.
func NewPhone(addr string, calls engine.Policy, rest http.Handler) *Phone {
	// A call goes through queued, ringing and in progress; the line must be free before the next try.
	stage := min(time.Second, calls.Delays[0]/6)
	return &Phone{
		rest:  rest,
		voice: voice.New(voice.Options{Account: phoneAccount, Token: phoneToken, Script: []string{"busy", "busy", "completed"}, Stage: stage}),
		call: pager.CallOptions{
			BaseURL: "http://" + addr, Account: pager.NewSecret(phoneAccount), Token: pager.NewSecret(phoneToken),
			From: phoneFrom, To: []string{phoneTo}, Allow: []string{phoneOwn}, Poll: max(stage/2, 10*time.Millisecond),
		},
	}
}

// Calls are whom to call, and how: about alerts nobody, unless alerts says so.
func (d *Phone) Calls(alerts bool) *pager.CallOptions {
	call := d.call
	if !alerts {
		call.To = nil
	}
	return &call
}

// ServeHTTP implements http.Handler.
func (d *Phone) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, voice.Root) {
		d.voice.ServeHTTP(w, r)
		return
	}
	d.rest.ServeHTTP(w, r)
}
