package api

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// CallDebug is a telephone call's job in the words of its callers (S2-7).
// NextRetryAt is set if and only if ShouldRetry is.
type CallDebug struct {
	SID         string        `json:"call_sid"`      // that was asked for; in a list the last one, "" where there is none
	Job         engine.JobID  `json:"job"`           // whose attempts they are
	Status      string        `json:"status"`        // of the last attempt
	Final       bool          `json:"final"`         // nothing comes after that by itself
	Count       int           `json:"attempt_count"` // calls made so far
	Max         int           `json:"max_attempts"`  // calls that a round may have
	ShouldRetry bool          `json:"should_retry"`
	NextRetryAt *time.Time    `json:"next_retry_at"` // null unless should_retry
	Attempts    []CallAttempt `json:"attempts"`
	Created     time.Time     `json:"created_at"`
	Updated     time.Time     `json:"updated_at"`
}

// CallAttempt is one call.
type CallAttempt struct {
	Number int       `json:"attempt_number"`
	Old    int       `json:"number"`   // the same, as it was called first
	SID    *string   `json:"call_sid"` // null while it is not known
	Status string    `json:"status"`
	At     time.Time `json:"timestamp"` // when it began
	Reason string    `json:"reason"`
}

// callRetry names the call to come. Its sid is the provider's to give, at the
// instant of the call: it stands among the attempts of CallDebug then.
type callRetry struct {
	Asked  string    `json:"call_sid"`     // that was asked for
	SID    *string   `json:"new_call_sid"` // null until the call is made
	Number int       `json:"attempt_number"`
	At     time.Time `json:"scheduled_at"`
}

// callCancel says that nobody is called again.
type callCancel struct {
	SID         string `json:"call_sid"` // that was asked for
	ShouldRetry bool   `json:"should_retry"`
	Text        string `json:"message"`
}

// CallDebugs lists calls, the newest first. Where a status was asked for it may come short, or empty, with a
// next.
type CallDebugs struct {
	Calls []CallDebug `json:"calls"`
	Next  string      `json:"next,omitempty"` // cursor of what is older
}

// callRequest is a call of a user's own.
type callRequest struct {
	engine.CallAsk
	Reason string `json:"reason,omitempty"`
	DryRun bool   `json:"dry_run,omitempty"` // says only what would be done
}

// CallPlaced answers it: with 202 when there is a job, with 200 when there was one for
// the same idempotency key before, and to a dry run.
type CallPlaced struct {
	Job    engine.JobID `json:"job,omitempty"`
	Joined bool         `json:"joined,omitempty"` // it was asked for before: this is that call
	Audit  uint64       `json:"audit,omitempty"`  // number of its audit entry
	Text   string       `json:"message"`
}

// callDebug finds the job by the sid of any of its attempts, not only by that of the last.
func (p *Programs) callDebug(r *Request) (CallDebug, error) {
	d, err := p.job(r)
	return debugOf(r.PathValue("sid"), d), err
}

// callList lists calls with all their attempts.
func (p *Programs) callList(r *Request) (out CallDebugs, err error) {
	status := r.URL.Query().Get("status")
	if status != "" && status != "unknown" && engine.CallStatus(status).Rule().Alert {
		return out, engine.Problemf(engine.ErrInvalid,
			"use busy, no-answer, failed, completed, canceled, in-progress, queued or unknown", "%q is no status of a call", status)
	}
	page, err := pageOf(r)
	if err != nil {
		return out, err
	}
	jobs, err := engine.Ask[engine.JobsPage](r.Context(), p.opt.Console,
		engine.JobsQuery{Page: page, Kind: engine.KindCall, Ended: true})
	out.Calls, out.Next = []CallDebug{}, jobs.Next
	for i := range jobs.Jobs {
		d, gone := p.detail(r, engine.JobQuery{ID: jobs.Jobs[i].ID})
		if errors.Is(gone, engine.ErrNotFound) { // its history was deleted meanwhile
			continue
		}
		if gone != nil {
			return out, gone
		}
		sid := ""
		for _, a := range d.Attempts {
			sid = cmp.Or(a.External, sid)
		}
		if one := debugOf(sid, d); status == "" || status == one.Status {
			out.Calls = append(out.Calls, one)
		}
	}
	return out, err
}

// unplaced are the statuses of calls without an attempt; those that wait are queued.
var unplaced = map[engine.State]engine.CallStatus{
	engine.Cancelled: engine.CallCanceled, engine.Discarded: engine.CallFailed, engine.Completed: engine.CallCompleted,
}

// debugOf puts a job into a caller's words. Updated is the latest instant at which anything became of
// it.
func debugOf(sid string, d engine.JobDetail) CallDebug {
	j := d.Job.Job
	out := CallDebug{
		SID: sid, Job: j.ID, Final: j.State.Terminal(), Max: d.MaxAttempts, ShouldRetry: d.ShouldRetry,
		Attempts: []CallAttempt{}, Created: j.Created, Updated: j.Created,
	}
	if d.ShouldRetry {
		out.NextRetryAt = &d.NextRetryAt
	}
	for i, a := range d.Attempts {
		if a.Verb == engine.VerbWait && i < len(d.Attempts)-1 { // a sync that went on: see Job.Tried
			continue
		}
		n := len(out.Attempts) + 1
		one := CallAttempt{Number: n, Old: n, SID: textOrNull(a.External), Status: callStatus(a),
			At: a.Start, Reason: reasonOf(a)}
		out.Attempts = append(out.Attempts, one)
		out.Status = one.Status
		out.Updated = engine.Latest(out.Updated, a.Start, a.End)
	}
	out.Count = len(out.Attempts)
	switch {
	case out.Status != "":
	case j.Kind == engine.KindCall:
		out.Status = string(cmp.Or(unplaced[j.State], engine.CallQueued))
	default:
		out.Status = j.State.String()
	}
	// A job may end without an attempt: cancelled while it waited.
	out.Updated = engine.Latest(out.Updated, j.Finished)
	return out
}

// callStatus is the provider's word for how an attempt ended, without the reason
// within it; of a job that is no call, how the attempt ended.
func callStatus(a engine.Attempt) string {
	if a.End.IsZero() {
		return string(engine.CallInProgress)
	}
	if status, _, _ := strings.Cut(string(a.Class), "."); status != "" {
		return status
	}
	if a.Status != 0 {
		return strconv.Itoa(a.Status)
	}
	return a.Verb.String()
}

// reasonOf is the reason within the status, or what went wrong.
func reasonOf(a engine.Attempt) string {
	if _, reason, ok := strings.Cut(string(a.Class), "."); ok {
		return reason
	}
	return a.Err
}

// textOrNull is null for the empty text.
func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// callRetry lets the job of a call run now, in a caller's words.
func (p *Programs) callRetry(r *Request, in retryRequest) (callRetry, error) {
	out, err := p.retry(r, in)
	return callRetry{Asked: r.PathValue("sid"), Number: out.Attempt, At: out.At}, err
}

// callCancel cancels the planned attempt of a call, in a caller's words.
func (p *Programs) callCancel(r *Request) (callCancel, error) {
	out, err := p.drop(r)
	return callCancel{SID: r.PathValue("sid"), ShouldRetry: out.ShouldRetry, Text: out.Text}, err
}

// idempotencyKey is the header by which a program says that two requests are one.
const idempotencyKey = "Idempotency-Key"

// placeCall calls a number that the configuration allows. The same key a second time answers 200 with
// the same job, so that whoever lost the first answer can ask again without calling twice.
func (p *Programs) placeCall(w http.ResponseWriter, r *Request) error {
	var in callRequest
	if err := strict(r.Body, &in); err != nil {
		return unreadable("call", err)
	}
	// Both ways are common; a program that uses both must mean the same.
	if key := r.Header.Get(idempotencyKey); key != "" {
		if in.Key != "" && in.Key != key {
			return engine.Problemf(engine.ErrInvalid, "give one of them", "%s and idempotency_key differ", idempotencyKey)
		}
		in.Key = key
	}
	got, err := p.do(r, engine.Command{Op: engine.OpCall, Call: &in.CallAsk, Reason: in.Reason, DryRun: in.DryRun})
	if err != nil {
		retryAfter(w, time.Until(got.Due))
		leadTo(w, jobOf(err))
		return err
	}
	status := http.StatusAccepted
	if got.Joined || in.DryRun {
		status = http.StatusOK
	}
	leadTo(w, got.Job)
	return writeJSON(w, status, CallPlaced{Job: got.Job, Joined: got.Joined, Audit: got.Audit, Text: got.Text})
}
