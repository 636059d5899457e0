package api

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// PlayStats is the stored play-time report of an account, how fresh it is, and the
// matches it was made of.
type PlayStats struct {
	Account  string            `json:"account"` // id
	RiotID   string            `json:"riot_id"`
	Platform string            `json:"platform"`
	Status   engine.SyncStatus `json:"status"`
	Job      engine.JobID      `json:"job,omitempty"` // of a sync that is under way
	LastSync time.Time         `json:"last_sync,omitzero"`
	Report   engine.PlayReport `json:"report"` // of all that is stored
	// Matches are the newest, the newest first: those that count and lookbackDays ask
	// for, at most a page.
	Matches []engine.MatchRow `json:"matches"`
	More    string            `json:"matches_next,omitempty"` // where the list goes on, as a path; "" = that is all
}

// maxLookback is how many days a look at stats may ask for.
const maxLookback = 3650

// statsAsk is what a look at stats asks for: like the sync that it may start.
type statsAsk struct {
	platform string
	count    int       // 0 = all
	since    time.Time // zero = ever
}

// statsAskOf reads the parameters of a look at stats.
func statsAskOf(r *Request) (ask statsAsk, err error) {
	ask.platform = r.URL.Query().Get("platform")
	ask.count, err = number(r, "count", 0, math.MaxInt, "use 1 or more, or 0 for all", "count is %q")
	if err != nil {
		return ask, err
	}
	days, err := number(r, "lookbackDays", 1, maxLookback, fmt.Sprintf("use 1 to %d", maxLookback), "lookbackDays is %q")
	if days > 0 {
		ask.since = time.Now().AddDate(0, 0, -days)
	}
	return ask, err
}

// stats answers from the store. What is not there yet is fetched: a look at an
// account that nobody has synced starts its sync, once.
//
//	200  the stored report, or 304 to whoever has it
//	202  a sync is under way, started by this look or before; Location leads to its job
//	404  there is none and none is started: a viewer asks, the last sync failed just now, or
//	     the engine finds nothing to do
func (p *Programs) stats(w http.ResponseWriter, r *Request) error {
	ask, err := statsAskOf(r)
	if err != nil {
		return err
	}
	d, err := p.account(r)
	if err != nil && !errors.Is(err, engine.ErrNotFound) {
		return err
	}
	if ask.platform != "" && d.Row.Platform != ask.platform {
		d = engine.AccountDetail{} // a namesake
	}
	row := d.Row
	if d.Report != nil {
		return p.stored(w, r, d, ask)
	}
	if row.Status.Open() {
		return answerStart(w, engine.Receipt{Account: row.ID, Job: row.Job, Joined: true,
			Text: "a sync of " + row.RiotID + " is under way: ask again when it is done"})
	}
	if err := p.mayLook(w, r, row); err != nil {
		return err
	}
	got, err := p.do(r, p.firstLook(r, row, ask))
	if id := jobOf(err); errors.Is(err, engine.ErrConflict) && id != "" { // somebody was faster
		got, err = engine.Receipt{Job: id, Account: row.ID, Joined: true,
			Text: "a sync is under way: ask again when it is done"}, nil
	}
	if err != nil {
		return err
	}
	if got.Nothing {
		return noReport(w, row.RiotID, got.Text, time.Until(got.Due))
	}
	return answerStart(w, got)
}

// stored answers with what the store has.
func (p *Programs) stored(w http.ResponseWriter, r *Request, d engine.AccountDetail, ask statsAsk) error {
	row := d.Row
	out := PlayStats{Account: row.ID, RiotID: row.RiotID, Platform: row.Platform, Status: row.Status,
		LastSync: row.LastSync, Report: *d.Report, Matches: []engine.MatchRow{}}
	// The stored report is answered although a sync is making a newer one: its job is told beside it.
	if row.Status.Open() {
		out.Job = row.Job
	}
	// The store gives the newest first, so that count is a page's size.
	limit := engine.Page{Limit: ask.count}.Rows()
	page, err := engine.Ask[engine.MatchesPage](r.Context(), p.opt.Console,
		engine.MatchesQuery{Page: engine.Page{Limit: limit}, Account: row.ID})
	if err != nil {
		return err
	}
	// A match without an instant was never fetched, so that nobody knows whether it is older.
	for _, m := range page.Matches {
		if !m.Played.IsZero() && m.Played.Before(ask.since) {
			page.Next = "" // what comes behind is older
			break
		}
		out.Matches = append(out.Matches, m)
	}
	if page.Next != "" && (ask.count == 0 || ask.count > limit) {
		rest := engine.Page{Limit: ask.count - limit}.Rows()
		out.More = "/v1/matches/" + url.PathEscape(r.PathValue("name")) + "/" + url.PathEscape(r.PathValue("tag")) +
			"?" + url.Values{"after": {page.Next}, "limit": {strconv.Itoa(rest)}}.Encode()
	}
	return writeTagged(w, r.Request, out)
}

// firstLook is the sync that a look at an account starts. A known account is named by its id, since
// another platform may have a namesake.
func (p *Programs) firstLook(r *Request, row engine.AccountRow, ask statsAsk) engine.Command {
	c := engine.Command{Op: engine.OpTrigger, Account: riotID(r), Reason: "asked for its stats",
		Sync: engine.SyncAsk{Platform: ask.platform, Count: ask.count, Since: ask.since}}
	switch {
	case row.ID != "":
		c.Account, c.Sync.Platform = row.ID, ""
	case ask.platform == "":
		c.Sync.Platform = p.opt.Platform
	}
	return c
}

// mayLook says what stands against a sync that nobody asked for by name: the
// caller's role, or a sync that has failed just now.
func (p *Programs) mayLook(w http.ResponseWriter, r *Request, row engine.AccountRow) error {
	if r.Caller.Role < Operator {
		return engine.Problemf(engine.ErrNotFound, "ask an operator to sync the account", "there is no report of %s",
			riotID(r))
	}
	ended := row.Finished
	// A sync that failed before it began has no end of its own.
	if row.Status == engine.SyncFailed && ended.IsZero() {
		ended = row.Updated
	}
	left := p.opt.Cooldown - time.Since(ended)
	if row.Status != engine.SyncFailed || left <= 0 {
		return nil
	}
	return noReport(w, row.RiotID, fmt.Sprintf("its last sync failed: %s", row.LastError), left)
}

// noReport is the answer where there is no report and no sync that would bring one, with when to ask
// again.
func noReport(w http.ResponseWriter, name, why string, wait time.Duration) error {
	retryAfter(w, wait)
	return engine.Problemf(engine.ErrNotFound, "ask again later, or start a sync by POST",
		"there is no report of %s: %s", name, why)
}
