package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/pager"
	"github.com/farsight-console/farsight/engine/pager/voice"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/sim"
)

// Who calls in tests, and the numbers that are called.
const (
	pagerAccount = "AC00000000000000000000000000000000"
	ownNumber    = "+12025550100" // reserved for fiction
	firstNumber  = "+4917012345"
	secondNumber = "+4916098765"
	friendNumber = "+12025550143" // that users may call
)

// inMemory hands requests to a handler.
type inMemory struct{ http.Handler }

func (h inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), nil
}

// telephone is a whole engine in virtual time, which calls through a simulated voice
// service and answers programs.
type telephone struct {
	*client
	*process
	voice *voice.Service
}

// ringTime is how long a call is queued, rings, and is in progress, each.
const ringTime = 10 * time.Second

// withTelephone runs a test in a bubble, on a real engine and store. The calls to each
// number end as its script says.
func withTelephone(t *testing.T, numbers map[string][]string, f func(t *testing.T, p *telephone)) {
	dir := filepath.Join(t.TempDir(), "data")
	doc := document(t)
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)))
		cfg, err := config.Load(config.Inputs{Getenv: func(name string) (string, bool) { return dir, name == "FARSIGHT_DATA_DIR" }})
		key, keyErr := riot.ParseKey(canary)
		if err := errors.Join(err, keyErr, os.MkdirAll(dir, 0o700)); err != nil {
			t.Fatal(err)
		}
		cfg.BackupEvery, cfg.Schedules.Off = 0, true
		cfg.Pager.Call = &pager.CallOptions{
			BaseURL: "https://voice.example", Account: pager.NewSecret(pagerAccount), Token: pager.NewSecret(pagerSecret), From: ownNumber, To: []string{firstNumber, secondNumber}, Allow: []string{friendNumber}, PerDay: 3,
		}
		ph := &telephone{voice: voice.New(voice.Options{Account: pagerAccount, Token: pagerSecret, Numbers: numbers, Stage: ringTime})}
		keys := keyring.Of(key, keyring.Env, filepath.Join(dir, "riot.key"))
		p, err := open(cfg, role{keys: keys, transport: sim.New(quick()).RoundTripper(), dials: inMemory{ph.voice}, moments: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		opt := p.serverOptions()
		opt.Who = func(*http.Request) (api.Caller, error) {
			return api.Caller{Actor: engine.Actor{User: "token", Via: "http"}, Role: api.Operator}, nil
		}
		server := api.NewServer(opt)
		ph.client = &client{doc: doc, base: "http://localhost", do: func(r *http.Request) (int, http.Header, []byte, error) {
			w := httptest.NewRecorder()
			r.RequestURI, r.RemoteAddr = r.URL.RequestURI(), "127.0.0.1:1"
			server.ServeHTTP(w, r)
			return w.Code, w.Header(), w.Body.Bytes(), nil
		}}
		p.start(context.Background(), func() {})
		ph.process = p
		defer func() {
			if err := ph.stop(); err != nil {
				t.Error(err)
			}
		}()
		f(t, ph)
	})
}

// dial starts a test call and lets it ring.
func (p *telephone) dial(t *testing.T) engine.JobID {
	t.Helper()
	p.ask(t, "POST", "/v1/do", `{"op":"page","channel":"call","reason":"a test"}`, 200, nil)
	p.settle()
	var d engine.JobDetail
	p.ask(t, "GET", "/v1/jobs/alert.call:test", "", 200, &d)
	return d.Job.ID
}

// settle lets what is due now begin.
func (p *telephone) settle() {
	time.Sleep(time.Second)
	synctest.Wait()
}

// sid is the id of the n-th call, from 1.
func (p *telephone) sid(t *testing.T, n int) string {
	t.Helper()
	calls := p.voice.Calls()
	if len(calls) < n {
		t.Fatalf("%d calls were placed, want %d", len(calls), n)
	}
	return calls[n-1].SID
}

// hangsUp waits until the last call has ended and its end is known.
func (p *telephone) hangsUp() {
	time.Sleep(3*ringTime + pager.DefaultPoll)
	synctest.Wait()
}

// moment is what a call's debug view must say.
type moment struct {
	statuses []string      // of the attempts
	next     time.Duration // after the last attempt's end; 0 = none
}

// at asks for the debug view by the sid of every attempt so far: all tell the same, and
// it is what S2-1 to S2-7 say.
func (p *telephone) at(t *testing.T, before int, want moment) (d api.CallDebug) {
	t.Helper()
	for n := range want.statuses {
		sid := p.sid(t, before+n+1)
		p.ask(t, "GET", "/calls/"+sid+"/debug", "", 200, &d)
		if d.SID != sid {
			t.Errorf("asked for %s, told of %s", sid, d.SID)
		}
		for i, a := range d.Attempts {
			if a.Number != i+1 || a.Old != i+1 || a.SID == nil || *a.SID != p.sid(t, before+i+1) || a.Status != want.statuses[i] || a.At.Before(d.Created) || a.At.After(d.Updated) {
				t.Errorf("attempt %d of %v is %+v, from %s to %s", i+1, want.statuses, a, d.Created, d.Updated)
			}
		}
	}
	last := want.statuses[len(want.statuses)-1]
	if d.Count != len(want.statuses) || len(d.Attempts) != d.Count || d.Max != 3 || d.Status != last || d.ShouldRetry != (want.next > 0) || (d.NextRetryAt != nil) != d.ShouldRetry {
		t.Fatalf("want %v, next in %s: %+v", want.statuses, want.next, d)
	}
	var job engine.JobDetail
	p.ask(t, "GET", "/v1/calls/"+d.SID, "", 200, &job)
	if job.MaxAttempts != 3 || job.Policy.Name != engine.PolicyCall || job.Job.Attempts != len(job.Attempts) || job.ShouldRetry != d.ShouldRetry {
		t.Errorf("the job's own view: %+v", job)
	}
	if want.next > 0 {
		if end := job.Attempts[len(job.Attempts)-1].End; !d.NextRetryAt.Equal(job.NextRetryAt) || d.NextRetryAt.Sub(end) != want.next {
			t.Errorf("next at %s, %s after the last attempt, want %s", d.NextRetryAt, d.NextRetryAt.Sub(end), want.next)
		}
	}
	return d
}

// follow takes a call through its attempts: each is looked at while it is queued, rings
// and is talked on, when nothing is to be retried, and when it has ended.
func (p *telephone) follow(t *testing.T, before int, ends []string, next []time.Duration) {
	t.Helper()
	for i, end := range ends {
		under := append(slices.Clone(ends[:i]), "in-progress")
		p.at(t, before, moment{under, 0})
		sid := p.sid(t, before+i+1)
		p.ask(t, "POST", "/calls/"+sid+"/retry", "", 409, nil)
		p.ask(t, "DELETE", "/calls/"+sid+"/retry", "", 409, nil)
		time.Sleep(ringTime)
		p.at(t, before, moment{under, 0}) // it rings
		if end == "completed" {
			time.Sleep(ringTime)
			p.at(t, before, moment{under, 0}) // it is talked on
		}
		p.hangsUp()
		d := p.at(t, before, moment{ends[:i+1], next[i]})
		if d.NextRetryAt != nil {
			time.Sleep(time.Until(*d.NextRetryAt))
			p.settle()
		}
	}
}

// TestS2_6_BusyBusyCompletedOverHTTP: 5 and 15 minutes between, found by the sid of any
// of the attempts, also by that of one under way (S2-1 to S2-7).
func TestS2_6_BusyBusyCompletedOverHTTP(t *testing.T) {
	withTelephone(t, map[string][]string{firstNumber: {"busy", "busy", "completed"}}, func(t *testing.T, p *telephone) {
		id := p.dial(t)
		p.follow(t, 0, []string{"busy", "busy", "completed"}, []time.Duration{5 * time.Minute, 15 * time.Minute, 0})
		var job engine.JobDetail
		p.ask(t, "GET", "/v1/calls/"+p.sid(t, 2), "", 200, &job)
		if job.Job.ID != id || job.Job.State != engine.Completed {
			t.Errorf("%+v", job.Job)
		}
		time.Sleep(2 * time.Hour)
		p.at(t, 0, moment{[]string{"busy", "busy", "completed"}, 0})
		if n := len(p.voice.Calls()); n != 3 {
			t.Errorf("%d calls were placed", n)
		}
		p.ask(t, "GET", "/calls/CA404/debug", "", 404, nil)
	})
}

// TestS2_6_NoAnswerThriceOverHTTP: it is given up, and the second number is called.
func TestS2_6_NoAnswerThriceOverHTTP(t *testing.T) {
	withTelephone(t, map[string][]string{firstNumber: {"no-answer"}, secondNumber: {"completed"}}, func(t *testing.T, p *telephone) {
		id := p.dial(t)
		thrice := []string{"no-answer", "no-answer", "no-answer"}
		p.follow(t, 0, thrice, []time.Duration{5 * time.Minute, 15 * time.Minute, 0})
		p.hangsUp()
		p.at(t, 0, moment{thrice, 0})
		var one, two engine.JobDetail
		p.ask(t, "GET", "/v1/jobs/"+string(id), "", 200, &one)
		p.ask(t, "GET", "/v1/jobs/alert.call:test:2", "", 200, &two)
		if one.Job.State != engine.Discarded || two.Job.State != engine.Completed {
			t.Errorf("the first number: %s, the second: %s", one.Job.State, two.Job.State)
		}
		if calls := p.voice.Calls(); len(calls) != 4 || calls[3].To != secondNumber || calls[3].Text != calls[0].Text {
			t.Errorf("calls: %+v", calls)
		}
	})
}

// TestS2_8_RetryAndCancelOverHTTP: both are idempotent, by the job's id and by the sid.
func TestS2_8_RetryAndCancelOverHTTP(t *testing.T) {
	withTelephone(t, map[string][]string{firstNumber: {"no-answer"}}, func(t *testing.T, p *telephone) {
		id := p.dial(t)
		p.hangsUp()
		first := p.sid(t, 1)
		p.ask(t, "POST", "/v1/do", `{"op":"pause","queue":"pager"}`, 200, nil)
		var one, two map[string]any
		p.ask(t, "POST", "/calls/"+first+"/retry", "", 200, &one)
		time.Sleep(time.Minute)
		p.ask(t, "POST", "/calls/"+first+"/retry", "{}", 200, &two)
		if fmt.Sprint(one) != fmt.Sprint(two) || one["attempt_number"] != 2.0 || one["scheduled_at"] == nil || one["call_sid"] != first || len(one) != 4 {
			t.Errorf("%v, then %v", one, two)
		}
		if sid, ok := one["new_call_sid"]; !ok || sid != nil {
			t.Errorf("the sid of a call that is not made yet is %v", sid)
		}
		var retry api.RetryAnswer
		p.ask(t, "POST", "/v1/jobs/"+string(id)+"/retry", "{}", 200, &retry)
		if !retry.Nothing || retry.Attempt != 2 || retry.Job != id {
			t.Errorf("%+v", retry)
		}
		p.ask(t, "POST", "/v1/jobs/"+string(id)+"/retry", fmt.Sprintf(`{"if_rev":%d}`, retry.Rev-1), 409, nil)

		// The second attempt is made, and the third one cancelled.
		p.ask(t, "POST", "/v1/do", `{"op":"resume","queue":"pager"}`, 200, nil)
		p.settle()
		p.hangsUp()
		second := p.sid(t, 2)
		var d api.CallDebug
		p.ask(t, "GET", "/calls/"+second+"/debug", "", 200, &d)
		if d.Count != 2 || !d.ShouldRetry || d.Status != "no-answer" {
			t.Fatalf("%+v", d)
		}
		for range 2 {
			var gone map[string]any
			p.ask(t, "DELETE", "/calls/"+first+"/retry", "", 200, &gone)
			if gone["should_retry"] != false || gone["message"] == "" || gone["call_sid"] != first || len(gone) != 3 {
				t.Errorf("%v", gone)
			}
		}
		var drop api.CancelAnswer
		p.ask(t, "DELETE", "/v1/calls/"+second+"/retry", "", 200, &drop)
		p.ask(t, "GET", "/calls/"+second+"/debug", "", 200, &d)
		if !drop.Nothing || drop.ShouldRetry || d.ShouldRetry || d.NextRetryAt != nil || d.Status != "no-answer" {
			t.Errorf("%+v %+v", drop, d)
		}
		time.Sleep(time.Hour)
		if p.settle(); len(p.voice.Calls()) != 2 {
			t.Errorf("%d calls were made", len(p.voice.Calls()))
		}
		// A cancelled call can be made again.
		p.ask(t, "POST", "/v1/calls/"+second+"/retry", `{"reason":"try once more"}`, 200, &retry)
		if p.settle(); retry.Attempt != 3 || len(p.voice.Calls()) != 3 {
			t.Errorf("%+v, %d calls", retry, len(p.voice.Calls()))
		}
		// Cancelled while it rings, it ends as what it is.
		p.ask(t, "POST", "/v1/do", fmt.Sprintf(`{"op":"cancel","job":%q}`, id), 200, nil)
		p.settle()
		p.ask(t, "GET", "/calls/"+p.sid(t, 3)+"/debug", "", 200, &d)
		if d.Status != "canceled" || d.ShouldRetry || d.Count != 3 || !p.voice.Calls()[2].Stopped {
			t.Errorf("%+v", d)
		}
	})
}
