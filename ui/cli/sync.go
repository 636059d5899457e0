package cli

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// SyncOptions of one `farsight sync`.
type SyncOptions struct {
	Account string // "Name#TAG"
	Ask     engine.SyncAsk
	By      engine.Actor
	// KeyWorked reports whether the API key has brought anything yet. Until then a
	// refused key ends the sync, later it is waited for; nil = always wait.
	KeyWorked func() bool
}

// Counts are the final statuses of a run's matches or timelines.
type Counts struct {
	Total     int `json:"total"`
	Success   int `json:"success"`
	Temporary int `json:"temporary_failure"`
	Permanent int `json:"permanently_unfetchable"`
	TooOld    int `json:"outside_retention_window"`
	Cancelled int `json:"cancelled"`
}

// Summary is the last line of `sync --json`.
type Summary struct {
	Event       string  `json:"event"` // "summary"
	Account     string  `json:"account"`
	Result      string  `json:"result"` // completed, incomplete, failed, interrupted, cancelled
	Matches     Counts  `json:"matches"`
	Timelines   Counts  `json:"timelines"`
	Calls       int     `json:"calls"`
	RateLimited int     `json:"rate_limited"`
	ElapsedS    float64 `json:"elapsed_s"`
	Error       string  `json:"error,omitempty"`
	Nothing     string  `json:"nothing_to_do,omitempty"`
}

// Results of a sync.
const (
	ResultCompleted   = "completed"
	ResultIncomplete  = "incomplete"
	ResultFailed      = "failed"
	ResultInterrupted = "interrupted"
	ResultCancelled   = "cancelled"
)

// progress is one line of `sync --json` while it runs.
type progress struct {
	Event    string `json:"event"` // "progress"
	Account  string `json:"account"`
	Phase    string `json:"phase"` // list, matches, timelines, report
	Done     int    `json:"done"`
	Total    int    `json:"total"` // -1 while pages are listed
	Retrying int    `json:"retrying"`
	Failed   int    `json:"failed"`
	// Cancelled is how many an operator has cancelled: they are not done.
	Cancelled int    `json:"cancelled"`
	ETA       *int   `json:"eta_s"`          // null = not known yet
	Held      string `json:"held,omitempty"` // why nothing moves, in words
}

// etaEvery is how often the ETA is asked for: a figure that jumps helps nobody.
const etaEvery = 2 * time.Second

// Sync triggers one account, or joins its open run, and shows the run until it
// has ended or ctx is cancelled. The summary is always printed.
func Sync(ctx context.Context, c engine.Console, opt SyncOptions, o Out) (Summary, error) {
	start := time.Now()
	r, err := c.Do(ctx, engine.Command{Op: engine.OpTrigger, Account: opt.Account, Sync: opt.Ask, By: opt.By})
	if err != nil && !errors.Is(err, engine.ErrConflict) {
		return Summary{}, err
	}
	id := r.Account
	if id == "" {
		id = opt.Account
	}
	if r.Nothing {
		s := Summary{Event: "summary", Account: opt.Account, Result: ResultCompleted, Nothing: r.Text}
		if d, err := ask[engine.AccountDetail](ctx, c, engine.AccountQuery{ID: id}); err == nil {
			s = summarize(d.Row, start)
			s.Result, s.Nothing = ResultCompleted, r.Text
		}
		return s, newShow(o, opt.Account).end(s)
	}
	row, refused, err := follow(ctx, c, id, opt.KeyWorked, newShow(o, opt.Account))
	if err != nil {
		return Summary{}, err
	}
	s := summarize(row, start)
	switch {
	case refused:
		s.Result, s.Error = ResultFailed, keyRefused
	case ctx.Err() != nil && row.Status.Open():
		s.Result = ResultInterrupted
	}
	return s, newShow(o, opt.Account).end(s)
}

// keyRefused is why a sync ends before its first answer.
const keyRefused = "Riot refuses the API key: get a new one at https://developer.riotgames.com, set it, and run the same command again"

// follow shows the account's run until it has ended, or the key was refused
// before it ever worked, and gives its last row.
func follow(ctx context.Context, c engine.Console, id string, keyWorked func() bool, show *show) (row engine.AccountRow, refused bool, err error) {
	d, err := ask[engine.AccountDetail](ctx, c, engine.AccountQuery{ID: id})
	if err != nil {
		return row, false, err
	}
	row, eta, asked := d.Row, d.ETA, time.Now()
	for u := range c.Watch(ctx) {
		for _, a := range u.Accounts {
			if a.ID == row.ID {
				row = a
			}
		}
		if u.Engine != nil {
			show.engine(*u.Engine)
			refused = keyWorked != nil && u.Engine.State == engine.EngineNoKey && !keyWorked()
		}
		if time.Since(asked) > etaEvery {
			if d, err := ask[engine.AccountDetail](ctx, c, engine.AccountQuery{ID: row.ID}); err == nil {
				eta = d.ETA
			}
			asked = time.Now()
		}
		show.row(row, eta)
		if refused || !row.Status.Open() {
			break
		}
	}
	show.done()
	return row, refused, nil
}

func summarize(a engine.AccountRow, start time.Time) Summary {
	s := Summary{
		Event: "summary", Account: a.RiotID, Result: a.Result,
		Matches: counts(a.Matches), Timelines: counts(a.Timelines),
		Calls: a.Calls, RateLimited: a.Throttled,
		ElapsedS: math.Round(time.Since(start).Seconds()*10) / 10,
		Error:    a.LastError,
	}
	if s.Result == "" {
		s.Result = a.Status.String()
	}
	return s
}

func counts(p engine.Progress) Counts {
	return Counts{Total: max(p.Total, 0), Success: p.Stored + p.Had, Temporary: p.Open, Permanent: p.Failed, TooOld: p.TooOld, Cancelled: p.Cancelled}
}

// Phases of a sync as its progress lines name them.
const (
	phaseList      = "list"
	phaseMatches   = "matches"
	phaseReport    = "report"
	phaseTimelines = "timelines"
)

// phaseOf names the phase of a row as a person should see it.
func phaseOf(a engine.AccountRow) string {
	switch a.Phase {
	case engine.PhaseMatches:
		return phaseMatches
	case engine.PhaseTimelines, engine.PhaseDone:
		return phaseTimelines
	case engine.PhaseReport:
		return phaseReport
	}
	return phaseList
}

// figures are the counts that belong to a phase.
func figures(a engine.AccountRow, phase string) engine.Progress {
	switch phase {
	case phaseMatches, phaseReport:
		return a.Matches
	case phaseTimelines:
		return a.Timelines
	}
	return engine.Progress{Total: -1, Stored: a.Listed}
}
