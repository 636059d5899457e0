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

// jobList lists jobs.
func (p *Programs) jobList(r *Request) (out engine.JobsPage, err error) {
	get := r.URL.Query().Get
	q := engine.JobsQuery{Queue: engine.Queue(get("queue")), Kind: engine.Kind(get("kind")), Filter: get("filter")}
	if q.Page, err = pageOf(r); err != nil {
		return out, err
	}
	if q.Owner, err = p.accountID(r.Context(), get("account")); err != nil {
		return out, err
	}
	for word := range strings.FieldsFuncSeq(get("state"), func(c rune) bool { return c == ',' }) {
		if word == "all" {
			q.Ended = true
			continue
		}
		var s engine.State
		if err := s.UnmarshalText([]byte(word)); err != nil {
			return out, engine.Problemf(engine.ErrInvalid, "use all, or some of those in /openapi.json", "%q is no state of a job", word)
		}
		q.States, q.Ended = append(q.States, s), q.Ended || s.Terminal()
	}
	return engine.Ask[engine.JobsPage](r.Context(), p.opt.Console, q)
}

// dropping is a route that cancels a planned attempt. A DELETE has no body, so that it takes parameters.
func dropping[T any](path, summary string, drop func(*Request) (T, error)) Route {
	return route(http.MethodDelete, path, summary, Operator, drop, paramIfRev, paramReason)
}

// jobNamed is the job that an address names: by its id or its key, or by the sid of a call. A key has a
// colon, which no id has. A sid is what the other side has called any of the job's attempts.
func jobNamed(r *Request) engine.JobQuery {
	switch id := r.PathValue("id"); {
	case id == "":
		return engine.JobQuery{External: r.PathValue("sid")}
	case strings.Contains(id, ":"):
		return engine.JobQuery{Key: id}
	default:
		return engine.JobQuery{ID: engine.JobID(strings.TrimPrefix(id, "#"))}
	}
}

// job answers with all that is known of a job.
func (p *Programs) job(r *Request) (engine.JobDetail, error) { return p.detail(r, jobNamed(r)) }

// detail asks for one job.
func (p *Programs) detail(r *Request, q engine.JobQuery) (engine.JobDetail, error) {
	return engine.Ask[engine.JobDetail](r.Context(), p.opt.Console, q)
}

// progress is how far a job has come. An account's run is told only for the sync job that it belongs
// to: the account may have had another sync since.
func (p *Programs) progress(r *Request) (out JobProgress, err error) {
	d, err := p.job(r)
	if err != nil {
		return out, err
	}
	j := d.Job
	out = JobProgress{
		Job: j.ID, Kind: j.Kind, Key: j.Key, State: j.State, Why: j.Why, Until: j.Until,
		Attempts: j.Tried(), MaxAttempts: d.MaxAttempts, Groups: d.Groups,
	}
	if j.Owner == "" {
		return out, nil
	}
	a, err := engine.Ask[engine.AccountDetail](r.Context(), p.opt.Console, engine.AccountQuery{ID: j.Owner})
	if err == nil && a.Row.Job == j.ID {
		progress := progressOf(a.Row)
		out.Account, out.ETA = &progress, &a.ETA
	}
	return out, nil
}

// retry lets a job run. Asked twice it answers the same attempt (S2-8).
func (p *Programs) retry(r *Request, in retryRequest) (out RetryAnswer, err error) {
	d, err := p.job(r)
	if key := jobNamed(r).Key; errors.Is(err, engine.ErrNotFound) && key != "" { // its match can be brought back
		d.Job.ID, err = engine.JobID(key), nil
	}
	if err != nil {
		return out, err
	}
	got, err := p.do(r, engine.Command{Op: engine.OpRetry, Job: d.Job.ID, IfRev: in.IfRev, Reason: in.Reason})
	if err != nil {
		return out, err
	}
	// The job as it is after the command: its revision is what the next request names.
	now, err := p.detail(r, engine.JobQuery{ID: cmp.Or(got.Job, d.Job.ID)})
	if err != nil {
		return out, err
	}
	out = RetryAnswer{Job: now.Job.ID, Rev: now.Job.Rev, Attempt: got.Attempt, At: got.Due, Nothing: got.Nothing,
		Text: got.Text}
	// A receipt of nothing done names no attempt.
	if got.Nothing { // it waits for its turn already: that attempt is the one
		out.Attempt, out.At = now.Job.Attempts+1, now.Job.Due
	}
	return out, nil
}

// drop cancels the planned attempt of a job that has made one. Asked twice it says
// so (S2-8). A first attempt is no retry, and one under way is no plan: both are
// left alone.
func (p *Programs) drop(r *Request) (out CancelAnswer, err error) {
	rev, err := ifRev(r)
	if err != nil {
		return out, err
	}
	for { // until it stands still: whoever names no revision means the job as it is
		out, err = p.dropAt(r, rev)
		moved, isProblem := errors.AsType[*engine.Problem](err)
		if rev != 0 || !isProblem || moved.Why != engine.WhyChanged || r.Context().Err() != nil {
			return out, err
		}
	}
}

// dropAt is drop for the job as it is now; rev is what the caller was shown, 0 = nothing. The cancel
// names the revision that was looked at, so that it never ends an attempt which has begun meanwhile.
func (p *Programs) dropAt(r *Request, rev engine.Revision) (out CancelAnswer, err error) {
	d, err := p.job(r)
	if err != nil {
		return out, err
	}
	j := d.Job.Job
	out = CancelAnswer{Job: j.ID, Rev: j.Rev, ShouldRetry: false, Nothing: true}
	switch {
	case rev != 0 && rev != j.Rev: // the engine refuses it, and writes that down
	case j.State == engine.Running:
		return out, inTheWay(j, "running", "cancel the job itself to stop it",
			fmt.Sprintf("attempt %d is under way, no retry is planned", j.Attempts))
	case !planned(j):
		out.Text = fmt.Sprintf("no retry of job %s is planned: it is %s", j.ID, j.State)
		return out, nil
	}
	got, err := p.do(r, engine.Command{Op: engine.OpCancel, Job: j.ID, IfRev: cmp.Or(rev, j.Rev),
		Reason: r.URL.Query().Get("reason")})
	if err != nil {
		return out, err
	}
	now, err := p.detail(r, engine.JobQuery{ID: j.ID})
	if err != nil {
		return out, err
	}
	return CancelAnswer{Job: j.ID, Rev: now.Job.Rev, ShouldRetry: now.ShouldRetry, Nothing: got.Nothing,
		Text: got.Text}, nil
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

// AccountProgress is how far the live or last sync of an account has come.
type AccountProgress struct {
	Account   string            `json:"account"` // id
	RiotID    string            `json:"riot_id"`
	Platform  string            `json:"platform"`
	Status    engine.SyncStatus `json:"status"`
	Kind      string            `json:"kind,omitempty"`
	Phase     engine.Phase      `json:"phase,omitempty"`
	Job       engine.JobID      `json:"job,omitempty"`
	Done      int               `json:"done"`      // items that have come to their end
	Total     int               `json:"total"`     // -1 = not known yet
	Cancelled int               `json:"cancelled"` // part of Total, not of Done
	Matches   engine.Progress   `json:"matches"`
	Timelines engine.Progress   `json:"timelines"`
	Calls     int               `json:"calls"`        // to Riot, of the run
	Throttled int               `json:"rate_limited"` // 429s among them
	Result    string            `json:"result,omitempty"`
	LastError string            `json:"last_error,omitempty"` // as received
}

// progressOf is an account's progress; of its matches, until their timelines are
// what is left.
func progressOf(a engine.AccountRow) AccountProgress {
	shown := a.Matches
	if a.Phase == engine.PhaseTimelines {
		shown = a.Timelines
	}
	return AccountProgress{
		Account: a.ID, RiotID: a.RiotID, Platform: a.Platform, Status: a.Status, Kind: a.Kind, Phase: a.Phase, Job: a.Job,
		Done: shown.Done(), Total: shown.Total, Cancelled: shown.Cancelled, Matches: a.Matches, Timelines: a.Timelines,
		Calls: a.Calls, Throttled: a.Throttled, Result: a.Result, LastError: a.LastError,
	}
}
