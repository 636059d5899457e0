package api

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// syncRequest says what a sync shall cover; everything may be left out.
type syncRequest struct {
	engine.SyncAsk
	Reason string `json:"reason,omitempty"`
	DryRun bool   `json:"dry_run,omitempty"` // says only what it would cost
}

// triggerRequest says what is triggered. Without an account `latest` looks at all
// that are tracked. Fields without an underscore are those of the queue's payload (S4-4).
type triggerRequest struct {
	Account      string `json:"account,omitempty"` // "Name#TAG", or an id
	PUUID        string `json:"puuid,omitempty"`   // in place of account, of one that is stored
	Platform     string `json:"platform,omitempty"`
	Count        int    `json:"count,omitempty"`        // the newest so many matches; 0 = as the mode lists
	LookbackDays int    `json:"lookbackDays,omitempty"` // 1 to 3650; 0 = as the mode looks back
	Force        bool   `json:"force,omitempty"`
	RequestedBy  string `json:"requestedBy,omitempty"` // kept in the reason; who is let in stands beside it
	Reason       string `json:"reason,omitempty"`
	DryRun       bool   `json:"dry_run,omitempty"`
}

// command is the trigger of an account, or of none. It checks what belongs together.
func (in triggerRequest) command() (c engine.Command, err error) {
	c = engine.Command{Op: engine.OpTrigger, Account: cmp.Or(in.Account, in.PUUID), Reason: in.Reason, DryRun: in.DryRun}
	c.Sync = engine.SyncAsk{Platform: in.Platform, Count: in.Count, Force: in.Force}
	if in.RequestedBy != "" {
		c.Reason = strings.TrimSuffix("requested by "+in.RequestedBy+": "+in.Reason, ": ")
	}
	if in.LookbackDays > 0 {
		c.Sync.Since = time.Now().AddDate(0, 0, -in.LookbackDays)
	}
	switch {
	case in.Account != "" && in.PUUID != "":
		err = engine.Problemf(engine.ErrInvalid, "leave one out", "account and puuid both name an account")
	case in.PUUID != "" && len(in.PUUID) != engine.PUUIDLength:
		err = engine.Problemf(engine.ErrInvalid, "send it whole, or send account as Name#TAG",
			"puuid has %d characters in place of %d", len(in.PUUID), engine.PUUIDLength)
	case in.LookbackDays < 0 || in.LookbackDays > maxLookback:
		err = engine.Problemf(engine.ErrInvalid, fmt.Sprintf("use 1 to %d", maxLookback), "lookbackDays is %d", in.LookbackDays)
	case c.Account == "" && (in.Count != 0 || in.LookbackDays != 0):
		err = engine.Problemf(engine.ErrInvalid, "name one by account or puuid, or leave them out",
			"count and lookbackDays are for one account")
	}
	return c, err
}

// Started answers a trigger: with 202 when a job is there, with 200 when there was
// nothing to do.
type Started struct {
	Job     engine.JobID `json:"job,omitempty"`
	Account string       `json:"account,omitempty"` // id
	// Collection is the name of the one that was asked for.
	Collection string       `json:"collection,omitempty"`
	Joined     bool         `json:"joined,omitempty"`  // the job was there already
	Nothing    bool         `json:"nothing,omitempty"` // there was nothing to do; message says why
	Next       time.Time    `json:"next,omitzero"`     // nothing: when it makes sense again
	Cost       *engine.Cost `json:"cost,omitempty"`
	Audit      uint64       `json:"audit,omitempty"` // number of its audit entry
	Text       string       `json:"message"`
}

// starting is a route that starts a job: 202 with where it is to be looked at.
func starting(path, summary string, in any, handle Handler) Route {
	return Route{
		Method: http.MethodPost, Path: path, Summary: summary, Role: Operator, In: in, Type: typeJSON, Handle: handle,
		Out: Started{}, Also: map[int]any{http.StatusAccepted: Started{}},
	}
}

// accountList lists accounts.
func (p *Programs) accountList(r *Request) (out engine.AccountsPage, err error) {
	q := engine.AccountsQuery{Text: r.URL.Query().Get("text"), Filter: r.URL.Query().Get("filter")}
	if q.Page, err = pageOf(r); err != nil {
		return out, err
	}
	out, err = engine.Ask[engine.AccountsPage](r.Context(), p.opt.Console, q)
	if out.Accounts == nil { // a program that iterates must not meet null
		out.Accounts = []engine.AccountRow{}
	}
	return out, err
}

// account answers with all that is known of an account.
func (p *Programs) account(r *Request) (engine.AccountDetail, error) {
	return engine.Ask[engine.AccountDetail](r.Context(), p.opt.Console, engine.AccountQuery{ID: riotID(r)})
}

// riotID is the account of a path such as /v1/accounts/Name/TAG: a "#" would end the address.
func riotID(r *Request) string { return r.PathValue("name") + "#" + r.PathValue("tag") }

// sync starts a sync of the account in the address.
func (p *Programs) sync(w http.ResponseWriter, r *Request) error {
	var in syncRequest
	if err := readInto(r, &in); err != nil {
		return err
	}
	return p.start(w, r, engine.Command{Op: engine.OpTrigger, Account: riotID(r), Sync: in.SyncAsk, Reason: in.Reason,
		DryRun: in.DryRun})
}

// triggers are what can be triggered: a sync of one account by its mode, or a
// schedule's next run now.
var triggers = map[string]struct{ mode, schedule string }{
	"latest": {"latest", "latest"},
	"full":   {"full", ""},
	"rank":   {"", "rank.daily"},
	"weekly": {"", "report.weekly"},
}

// trigger starts one of triggers. What an account does to it depends on which: full needs one, rank and
// weekly take none, and latest without one is the schedule's next run at once.
func (p *Programs) trigger(w http.ResponseWriter, r *Request) error {
	what := r.PathValue("what")
	// Of the table and not of the mux: an unknown word is answered with those there are.
	t, ok := triggers[what]
	if !ok {
		return engine.Problemf(engine.ErrNotFound, "use latest, full, rank or weekly", "there is no trigger %q", what)
	}
	var in triggerRequest
	if err := readInto(r, &in); err != nil {
		return err
	}
	c, err := in.command()
	if err != nil {
		return err
	}
	c.Sync.Mode = t.mode
	switch {
	case c.Account != "" && t.mode == "":
		return engine.Problemf(engine.ErrInvalid, "leave the account out", "%s is for all tracked accounts", what)
	case c.Account == "" && t.schedule == "":
		return engine.Problemf(engine.ErrInvalid, "name one, such as Name#TAG", "%s needs an account", what)
	case c.Account == "":
		c = engine.Command{Op: engine.OpRunSchedule, Schedule: t.schedule, Reason: c.Reason, DryRun: in.DryRun}
	}
	return p.start(w, r, c)
}

// start carries out what starts a job. A refusal that names a job, such as that of a sync which runs
// already, leads to it.
func (p *Programs) start(w http.ResponseWriter, r *Request, c engine.Command) error {
	// Before the command, since Trigger asks for a platform where the account is new.
	if err := p.onPlatform(r, &c); err != nil {
		return err
	}
	got, err := p.do(r, c)
	if err != nil {
		leadTo(w, jobOf(err))
		return err
	}
	return answerStart(w, got)
}

// onPlatform gives an account that is new here the platform of the configuration.
func (p *Programs) onPlatform(r *Request, c *engine.Command) error {
	if c.Account == "" || c.Sync.Platform != "" || p.opt.Platform == "" {
		return nil
	}
	d, err := engine.Ask[engine.AccountDetail](r.Context(), p.opt.Console, engine.AccountQuery{ID: c.Account})
	switch {
	case errors.Is(err, engine.ErrNotFound):
		c.Sync.Platform = p.opt.Platform
	case err != nil:
		return err
	default:
		c.Account = d.Row.ID
	}
	return nil
}

// answerStart answers 202 where there is a job to wait for, else 200: a dry run, or nothing to do and
// when to ask again.
func answerStart(w http.ResponseWriter, got engine.Receipt) error {
	out := Started{Job: got.Job, Account: got.Account, Collection: got.Collection, Joined: got.Joined, Nothing: got.Nothing, Cost: got.Cost,
		Audit: got.Audit, Text: got.Text}
	status := http.StatusAccepted
	// Without a job nothing is on its way that could be asked about.
	if got.Job == "" {
		status = http.StatusOK
	}
	if got.Nothing {
		status, out.Next = http.StatusOK, got.Due
		retryAfter(w, time.Until(got.Due))
	}
	leadTo(w, got.Job)
	return writeJSON(w, status, out)
}

// leadTo says where the job is to be looked at.
func leadTo(w http.ResponseWriter, id engine.JobID) {
	if id != "" {
		w.Header().Set("Location", "/v1/jobs/"+url.PathEscape(string(id)))
	}
}

// retryAfter says when to ask again, in whole seconds, rounded up; nothing where that is now.
func retryAfter(w http.ResponseWriter, wait time.Duration) {
	if wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
	}
}

// jobOf is the job that a problem is about.
func jobOf(err error) engine.JobID {
	if p, ok := errors.AsType[*engine.Problem](err); ok {
		return p.Job
	}
	return ""
}
