package api

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// retryRequest says which job, as it was seen, shall run now.
type retryRequest struct {
	IfRev  engine.Revision `json:"if_rev,omitempty"` // 0 = any
	Reason string          `json:"reason,omitempty"`
}

// RetryAnswer names the attempt to come.
type RetryAnswer struct {
	Job     engine.JobID    `json:"job"`
	Rev     engine.Revision `json:"rev"`               // the job's revision after that
	Attempt int             `json:"attempt_number"`    // number of the attempt to come
	At      time.Time       `json:"scheduled_at"`      // from when on it runs, when its turn comes
	Nothing bool            `json:"nothing,omitempty"` // it was let run before
	Text    string          `json:"message"`
}

// CancelAnswer says that no further attempt is planned.
type CancelAnswer struct {
	Job         engine.JobID    `json:"job"`
	Rev         engine.Revision `json:"rev"` // the job's revision after that
	ShouldRetry bool            `json:"should_retry"`
	Nothing     bool            `json:"nothing,omitempty"` // none was planned before
	Text        string          `json:"message"`
}

// JobProgress is how far a job has come: of a sync with its account's run, of any
// other with the jobs that it waits for.
type JobProgress struct {
	Job         engine.JobID       `json:"job"`
	Kind        engine.Kind        `json:"kind"`
	Key         string             `json:"key,omitempty"`
	State       engine.State       `json:"state"`
	Why         string             `json:"why,omitempty"`     // it does not run
	Until       time.Time          `json:"until,omitzero"`    // when that ends; zero = nobody knows
	Attempts    int                `json:"attempt_count"`     // made so far, of all rounds
	MaxAttempts int                `json:"max_attempts"`      // of a round
	Groups      []engine.GroupStat `json:"groups,omitempty"`  // children that it waits for, or has waited for
	Account     *AccountProgress   `json:"account,omitempty"` // of a sync
	ETA         *engine.ETA        `json:"eta,omitempty"`     // of a sync
}

// jobs are the routes about one job.
func (p *Programs) jobs() []Route {
	return []Route{
		{Method: http.MethodGet, Path: "/v1/jobs/{id}", Summary: "Everything about a job, by its id or its key", Role: Viewer, Out: engine.JobDetail{}, Type: typeJSON, Handle: p.showJob(byID)},
		{Method: http.MethodGet, Path: "/v1/jobs/{id}/progress", Summary: "How far a job has come", Role: Viewer, Out: JobProgress{}, Type: typeJSON, Handle: telling(p.progress)},
		{
			Method: http.MethodPost, Path: "/v1/jobs/{id}/retry", Summary: "Let a job run now, in queue order and through the limiter",
			Role: Operator, In: retryRequest{}, Out: RetryAnswer{}, Type: typeJSON, Handle: p.retryJob(byID),
		},
		{
			Method: http.MethodDelete, Path: "/v1/jobs/{id}/retry", Summary: "Cancel a job's planned attempt",
			Role: Operator, Out: CancelAnswer{}, Type: typeJSON, Handle: p.dropRetry(byID), Query: []Param{paramIfRev, paramReason},
		},
	}
}

// finding says which job an address means.
type finding func(r *Request) engine.JobQuery

// byID takes a key as well: it has a colon, which no id has.
func byID(r *Request) engine.JobQuery {
	id := r.PathValue("id")
	if strings.Contains(id, ":") {
		return engine.JobQuery{Key: id}
	}
	return engine.JobQuery{ID: engine.JobID(strings.TrimPrefix(id, "#"))}
}

// byCall finds by the id that the other side gave to any of the job's attempts.
func byCall(r *Request) engine.JobQuery { return engine.JobQuery{External: r.PathValue("sid")} }

// showJob answers with all that is known of a job.
func (p *Programs) showJob(find finding) Handler {
	return asking[engine.JobDetail](p, func(r *Request) (engine.Query, error) { return find(r), nil })
}

// progress is how far a job has come. An account's run is told only for the sync job that it belongs
// to: the account may have had another sync since.
func (p *Programs) progress(r *Request) (any, error) {
	d, err := answerOf[engine.JobDetail](r.Context(), p, byID(r))
	if err != nil {
		return nil, err
	}
	j := d.Job
	out := JobProgress{
		Job: j.ID, Kind: j.Kind, Key: j.Key, State: j.State, Why: j.Why, Until: j.Until,
		Attempts: len(d.Attempts), MaxAttempts: d.MaxAttempts, Groups: d.Groups,
	}
	if j.Owner == "" {
		return out, nil
	}
	a, err := answerOf[engine.AccountDetail](r.Context(), p, engine.AccountQuery{ID: j.Owner})
	if err == nil && a.Row.Job == j.ID {
		progress := progressOf(a.Row)
		out.Account, out.ETA = &progress, &a.ETA
	}
	return out, nil
}

// retryJob is retry as a route, for a job that is found so.
func (p *Programs) retryJob(find finding) Handler {
	return telling(func(r *Request) (any, error) { return p.retry(r, find) })
}

// retry lets a job run. Asked twice it answers the same attempt (S2-8).
func (p *Programs) retry(r *Request, find finding) (out RetryAnswer, err error) {
	var in retryRequest
	if err := readInto(r, &in); err != nil {
		return out, err
	}
	d, err := answerOf[engine.JobDetail](r.Context(), p, find(r))
	if err != nil {
		return out, err
	}
	got, err := p.act(r, engine.Command{Op: engine.OpRetry, Job: d.Job.ID, IfRev: in.IfRev, Reason: in.Reason})
	if err != nil {
		return out, err
	}
	// The job as it is after the command: its revision is what the next request names.
	now, err := answerOf[engine.JobDetail](r.Context(), p, engine.JobQuery{ID: d.Job.ID})
	if err != nil {
		return out, err
	}
	out = RetryAnswer{Job: d.Job.ID, Rev: now.Job.Rev, Attempt: got.Attempt, At: got.Due, Nothing: got.Nothing, Text: got.Text}
	if got.Nothing { // it waits for its turn already: that attempt is the one
		out.Attempt, out.At = now.Job.Attempts+1, now.Job.Due
	}
	return out, nil
}

// dropRetry is drop as a route, for a job that is found so.
func (p *Programs) dropRetry(find finding) Handler {
	return telling(func(r *Request) (any, error) { return p.drop(r, find) })
}

// drop cancels the planned attempt of a job that has made one. Asked twice it says
// so (S2-8). A first attempt is no retry, and one under way is no plan: both are
// left alone.
func (p *Programs) drop(r *Request, find finding) (out CancelAnswer, err error) {
	rev, err := ifRev(r)
	if err != nil {
		return out, err
	}
	for { // until it stands still: whoever names no revision means the job as it is
		out, err = p.dropAt(r, find, rev)
		moved, isProblem := errors.AsType[*engine.Problem](err)
		if rev != 0 || !isProblem || moved.Why != engine.WhyChanged || r.Context().Err() != nil {
			return out, err
		}
	}
}

// dropAt is drop for the job as it is now; rev is what the caller was shown, 0 = nothing. The cancel
// names the revision that was looked at, so that it never ends an attempt which has begun meanwhile.
func (p *Programs) dropAt(r *Request, find finding, rev engine.Revision) (out CancelAnswer, err error) {
	d, err := answerOf[engine.JobDetail](r.Context(), p, find(r))
	if err != nil {
		return out, err
	}
	j := d.Job.Job
	out = CancelAnswer{Job: j.ID, Rev: j.Rev, ShouldRetry: false, Nothing: true}
	switch {
	case rev != 0 && rev != j.Rev: // the engine refuses it, and writes that down
	case j.State == engine.Running:
		return out, inTheWay(j, "running", "cancel the job itself to stop it", fmt.Sprintf("attempt %d is under way, no retry is planned", j.Attempts))
	case !planned(j):
		out.Text = fmt.Sprintf("no retry of job %s is planned: it is %s", j.ID, j.State)
		return out, nil
	}
	got, err := p.act(r, engine.Command{Op: engine.OpCancel, Job: j.ID, IfRev: cmp.Or(rev, j.Rev), Reason: r.URL.Query().Get("reason")})
	if err != nil {
		return out, err
	}
	now, err := answerOf[engine.JobDetail](r.Context(), p, engine.JobQuery{ID: j.ID})
	if err != nil {
		return out, err
	}
	return CancelAnswer{Job: j.ID, Rev: now.Job.Rev, ShouldRetry: now.ShouldRetry, Nothing: got.Nothing, Text: got.Text}, nil
}

// inTheWay is the refusal of a job that is not where the caller thinks: a conflict, as the engine would
// say it.
func inTheWay(j engine.Job, why, do, sentence string) error {
	p := engine.Problemf(engine.ErrConflict, do, "job %s: %s", j.ID, sentence)
	p.Job, p.Why = j.ID, why
	return p
}

// planned reports whether a job waits for another attempt than its first.
func planned(j engine.Job) bool {
	switch j.State {
	case engine.Retryable:
		return true
	case engine.Available, engine.Scheduled:
		return j.Attempts > 0
	}
	return false
}

// ifRev reads the revision that the caller was shown; 0 = none was named.
func ifRev(r *Request) (engine.Revision, error) {
	text := r.URL.Query().Get("if_rev")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, engine.Problemf(engine.ErrInvalid, "give the job's rev", "%q is no revision", text)
	}
	return engine.Revision(n), nil
}
