package cli

import (
	"cmp"
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/human"
)

// SyncOptions of one `farsight sync`.
type SyncOptions struct {
	Account string         // "Name#TAG"
	Ask     engine.SyncAsk // the platform, and what to fetch; the zero value is everything of a known account
	By      engine.Actor
	Collect *engine.CollectAsk         // a collection is followed instead of an account's sync
	Agree   func(engine.Receipt) error // asks whether it may cost that, before it begins; nil = it may
}

// Counts are the final statuses of a run's matches or timelines, by the names that they are stored
// with; they add up to the total. What is temporary was still to be tried when the run was left.
type Counts struct {
	Total     int `json:"total"`
	Success   int `json:"success"`
	Temporary int `json:"temporary_failure"`
	Permanent int `json:"permanently_unfetchable"`
	TooOld    int `json:"outside_retention_window"`
	Unaskable int `json:"unaskable"` // the id names no platform: nobody can be asked
	Cancelled int `json:"cancelled"`
}

// Summary is the last line of `sync --json`. Scripts depend on its names.
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

// summaryEvent tells the last line of `sync --json` from those before it.
const summaryEvent = "summary"

// Results of a sync. Incomplete is one that ended with matches which could not be had; interrupted is
// not the run, which goes on in an engine, but who waited for it.
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

// etaEvery is how often the ETA is asked for: a figure that jumps helps nobody, and each answer costs the
// engine a forecast.
const etaEvery = 2 * time.Second

// Sync triggers one account, or joins its open run, and shows the run until it
// has ended or ctx is cancelled. The summary is always printed.
func Sync(ctx context.Context, c engine.Console, opt SyncOptions, o Out) (Summary, error) {
	return Follow(opt, o).On(ctx, c)
}

// Following is one account's sync as somebody waits for it, on one engine after the
// other if the first one goes.
type Following struct {
	opt    SyncOptions
	show   *show
	began  time.Time
	row    engine.AccountRow // of the run that is followed, as last seen
	engine engine.EngineRow  // as last seen

	collected collectSummary // of a collection

	watching sync.WaitGroup // the goroutine of watch
}

// Follow makes one; nothing is asked for until On. The time that the summary tells runs from here.
func Follow(opt SyncOptions, o Out) *Following {
	return &Following{opt: opt, show: &show{out: o}, began: time.Now()}
}

// Job is the job of the run that is followed; "" = there is none yet. Who stops
// waiting is told it: `farsight cancel` ends the run by it.
func (f *Following) Job() engine.JobID { return f.row.Job }

// Account is the id of the account; "" = there is none yet.
func (f *Following) Account() string { return f.row.ID }

// OnlyServed reports whether the engine was another sync's, as it last said: such an engine ends with
// its own sync, and whoever waits for it takes the directory over then.
func (f *Following) OnlyServed() bool { return f.engine.OnlyServed }

// On lets an engine sync the account, or joins its open run, and shows the run until it
// has ended or ctx is cancelled. The summary is always printed, unless the engine goes
// before the end, or ctx ends with that cause: with engine.ErrGone On may be called again,
// with the next engine.
func (f *Following) On(ctx context.Context, c engine.Console) (Summary, error) {
	s, err := f.sync(ctx, c)
	if _, refused := errors.AsType[*NotAgreed](err); refused {
		return Summary{}, err
	}
	switch cause := gone(ctx); {
	case cause != nil && (err != nil || s.Result == ResultInterrupted):
		return Summary{}, cause
	case err != nil && ctx.Err() != nil: // Ctrl-C before the run's row was known
		s = Summary{Event: summaryEvent, Account: f.opt.Account, Result: ResultInterrupted}
	case err != nil:
		return Summary{}, err
	}
	if f.opt.Collect != nil {
		f.collected.Event, f.collected.Collection, f.collected.Result = summaryEvent, s.Account, s.Result
		return s, f.show.endCollection(f.collected)
	}
	return s, f.show.end(s)
}

// sync is On without the summary's printing, and with whatever error the engine gave.
func (f *Following) sync(ctx context.Context, c engine.Console) (s Summary, err error) {
	if f.opt.Collect != nil {
		return f.collect(ctx, c)
	}
	if f.endedMeanwhile(ctx, c) {
		return summarize(f.row, f.began), nil
	}
	r, err := c.Do(ctx, engine.Command{Op: engine.OpTrigger, Account: f.opt.Account, Sync: f.opt.Ask, By: f.opt.By})
	// A conflict says that the account has an open run: that one is joined.
	if err != nil && !errors.Is(err, engine.ErrConflict) {
		return s, err
	}
	q := engine.AccountQuery{ID: cmp.Or(r.Account, f.opt.Account), Platform: f.opt.Ask.Platform}
	d, err := engine.Ask[engine.AccountDetail](ctx, c, q)
	f.row = d.Row
	switch {
	case r.Nothing:
		s = Summary{Event: summaryEvent, Account: f.opt.Account}
		if err == nil { // else there are no figures, and the sentence is enough
			s = summarize(f.row, f.began)
		}
		// The result is that of the account: a wait brings nothing that its last sync lacked.
		s.Result, s.Nothing = cmp.Or(s.Result, ResultCompleted), r.Text
		return s, nil
	case err != nil:
		return s, err
	}
	// Whatever came of it, the last row that was seen is the summary.
	refused, err := f.follow(ctx, c, d.ETA)
	s = summarize(f.row, f.began)
	switch {
	case refused != "":
		s.Result, s.Error = ResultFailed, refused
	case ctx.Err() != nil && f.row.Status.Open():
		s.Result = ResultInterrupted
	}
	return s, err
}

// gone is the cause of a context whose engine is not there any more; nil while it is, and when
// whoever waits has left.
func gone(ctx context.Context) error {
	if cause := context.Cause(ctx); errors.Is(cause, engine.ErrGone) {
		return cause
	}
	return nil
}

// endedMeanwhile reports whether the run that was followed on another engine has ended: to ask for the
// sync once more would begin a new one.
func (f *Following) endedMeanwhile(ctx context.Context, c engine.Console) bool {
	if f.row.Run == "" {
		return false
	}
	d, err := engine.Ask[engine.AccountDetail](ctx, c, engine.AccountQuery{ID: f.row.ID})
	if err != nil || d.Row.Run != f.row.Run || d.Row.Status.Open() {
		return false
	}
	f.row = d.Row
	return true
}

// keyRefused is why a sync ends before its first answer. Development keys expire every day.
const keyRefused = "Riot refuses the API key: get a new one at https://developer.riotgames.com, set it, " +
	"and run the same command again"

// refusal says why it makes no sense to wait for the key; "" = it does, or it works. A key that has
// worked may be replaced while the engine runs: the sync waits for that.
func refusal(e engine.EngineRow) string {
	switch {
	case e.State != engine.EngineNoKey || e.KeyWorked:
		return ""
	case e.Key == "":
		return e.Why
	}
	return keyRefused
}

// follow shows the account's run until it has ended, ctx is cancelled, or the key was
// refused before it ever worked: then it says so.
func (f *Following) follow(ctx context.Context, c engine.Console, eta engine.ETA) (refused string, err error) {
	ctx, done := context.WithCancel(ctx)
	defer f.watching.Wait()
	defer done()
	look := time.NewTicker(etaEvery)
	defer look.Stop()
	ask := func() { // an error means nothing: where the engine has gone, the watching ends
		if d, err := engine.Ask[engine.AccountDetail](ctx, c, engine.AccountQuery{ID: f.row.ID}); err == nil {
			eta = d.ETA
			f.show.waits = standstill(ctx, c, f.row.Job, eta)
		}
	}
	f.show.waits = standstill(ctx, c, f.row.Job, eta)
	updates := f.watch(ctx, c)
	for {
		select {
		case u, ok := <-updates:
			if !ok {
				if updates, err = f.again(ctx, c); updates == nil {
					f.show.done()
					return "", err
				}
				continue
			}
			was := f.engine.State
			if refused = f.applyUpdate(u); was != "" && f.engine.State != was { // and with it what holds the run
				ask()
			}
		case <-look.C:
			ask()
		}
		f.show.row(f.row, eta)
		if refused != "" || !f.row.Status.Open() {
			f.show.done()
			return refused, nil
		}
	}
}

// applyUpdate notes what an update says of the run and of the engine, and whether that refuses the key.
func (f *Following) applyUpdate(u engine.Update) (refused string) {
	for i := range u.Accounts {
		if u.Accounts[i].ID == f.row.ID {
			f.row = u.Accounts[i]
		}
	}
	if u.Engine == nil {
		return ""
	}
	f.engine = *u.Engine
	f.show.engine(*u.Engine)
	return refusal(*u.Engine)
}

// watch passes on what a console tells, until ctx ends or it has nothing more to say; then the channel
// is closed. The goroutine ends with ctx: follow waits for it.
func (f *Following) watch(ctx context.Context, c engine.Console) <-chan engine.Update {
	updates := make(chan engine.Update)
	f.watching.Go(func() {
		defer close(updates)
		for u := range c.Watch(ctx) {
			select {
			case updates <- u:
			case <-ctx.Done():
				return
			}
		}
	})
	return updates
}

// again watches an engine once more that has nothing to say any more, but answers; nil
// when it has gone, which is no error if ctx has ended. What happened meanwhile is in the row.
func (f *Following) again(ctx context.Context, c engine.Console) (<-chan engine.Update, error) {
	if !await.Pause(ctx, againAfter) {
		return nil, nil
	}
	d, err := engine.Ask[engine.AccountDetail](ctx, c, engine.AccountQuery{ID: f.row.ID})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, nil
	case err != nil:
		return nil, err
	}
	f.row = d.Row
	return f.watch(ctx, c), nil
}

// againAfter is how long a stream that broke may be gone before it is asked for anew. A connection
// may be cut on the way while the engine is still there.
const againAfter = 300 * time.Millisecond

// standstill says why a sync makes no progress, by its job and by the end that is
// foreseen; "" = nothing is known to hold it.
func standstill(ctx context.Context, c engine.Console, job engine.JobID, eta engine.ETA) string {
	if !eta.Known && eta.Why != "" {
		return eta.Why
	}
	// The sync's own job waits where the account could not be found or listed: no match of it does yet.
	d, err := engine.Ask[engine.JobDetail](ctx, c, engine.JobQuery{ID: job})
	if j := d.Job; err == nil && (j.State == engine.Retryable || j.State == engine.Scheduled) {
		text := j.Why
		if !j.Until.IsZero() {
			text += " at " + j.Until.Local().Format(time.TimeOnly)
		}
		text += human.If(j.LastError != "", ": "+j.LastError)
		return text
	}
	return ""
}

// summarize is what a run came to since start, when the waiting for it began.
func summarize(a engine.AccountRow, start time.Time) Summary {
	s := Summary{
		Event: summaryEvent, Account: a.RiotID, Result: a.Result,
		Matches: counts(a.Matches), Timelines: counts(a.Timelines),
		Calls: a.Calls, RateLimited: a.Throttled,
		ElapsedS: math.Round(time.Since(start).Seconds()*10) / 10,
		Error:    a.LastError,
	}
	if s.Result == "" { // it has not ended
		s.Result = a.Status.String()
	}
	return s
}

// counts are those of a program. A match that was stored before counts as a success of this run too.
func counts(p engine.Progress) Counts {
	return Counts{
		Total: max(p.Total, 0), Success: p.Stored + p.Had, Temporary: p.Open,
		Permanent: p.Failed, TooOld: p.TooOld, Unaskable: p.Unaskable, Cancelled: p.Cancelled,
	}
}

// Phases of a sync as its progress lines name them.
const (
	phaseList      = "list"
	phaseMatches   = "matches"
	phaseReport    = "report"
	phaseTimelines = "timelines"
)

// phaseOf names the phase of a row as a person should see it: to find the account and to list its
// matches are one.
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

// countsOf are the counts that belong to a phase. While pages are listed nobody knows how many matches
// there will be: what is counted is those that were found.
func countsOf(a engine.AccountRow, phase string) engine.Progress {
	switch phase {
	case phaseMatches, phaseReport:
		return a.Matches
	case phaseTimelines:
		return a.Timelines
	}
	return engine.Progress{Total: -1, Stored: a.Listed}
}
