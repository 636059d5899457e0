package alert

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/wall"
)

// Store keeps a small named blob over a restart, nil when there is none, and sums of its own.
type Store interface {
	LoadState(ctx context.Context, name string) ([]byte, error)
	SaveState(ctx context.Context, name string, blob []byte) error
	// Days and Totals are the sums that are written with the jobs themselves.
	Days(ctx context.Context, n int, now time.Time) ([]engine.DaySum, error)
	Totals(ctx context.Context) (engine.Totals, error)
}

// stateName is where the monitor is stored.
const stateName = "alerts"

// How often the rules are evaluated, and the monitor saved.
const (
	evaluateEvery = 5 * time.Second
	saveEvery     = time.Minute
)

// RunnerOptions are what a Runner is made of. Monitor and Store are required; who
// only looks needs no more.
type RunnerOptions struct {
	Monitor *Monitor
	Store   Store
	// Calls gives the flight recorder's calls after a sequence, oldest first.
	Calls func(seq uint64) []engine.CallRow
	// Read takes a reading.
	Read   func(ctx context.Context, now time.Time) Reading
	OnNote func(engine.Note) // told when an alert begins to fire, and when it is over; must not block
	// OnRows gets every alert when they were loaded, and after each evaluation and command. It must not
	// block, nor change them.
	OnRows func([]engine.AlertRow)
	Log    zerolog.Logger
}

// Runner feeds a monitor in an engine, evaluates it every five seconds and keeps it
// over restarts. Its instants are those of the wall clock: that goes on while the machine
// sleeps, so that the gap is seen. Nothing that goes wrong here reaches the engine: it is logged, and
// the next evaluation tries again.
type Runner struct {
	opt RunnerOptions

	// An evaluation and a command take turns to work out rows and to show them, and
	// savers to read the state and to store it: what is older never comes last.
	turn   sync.Mutex
	saving chan struct{} // capacity 1: a disk may be slow

	mu   sync.Mutex
	rows []engine.AlertRow // of the last evaluation; never changed, only replaced
	on   map[string]string // alerts that were told to be firing, with their names
	fell bool              // that something fell over has been told
}

// NewRunner makes a runner. Load comes before everything else.
func NewRunner(o RunnerOptions) *Runner {
	if o.Calls == nil {
		o.Calls = func(uint64) []engine.CallRow { return nil }
	}
	if o.Read == nil {
		o.Read = func(context.Context, time.Time) Reading { return Reading{} }
	}
	if o.OnNote == nil {
		o.OnNote = func(engine.Note) {}
	}
	if o.OnRows == nil {
		o.OnRows = func([]engine.AlertRow) {}
	}
	return &Runner{opt: o, saving: make(chan struct{}, 1), on: map[string]string{}}
}

// Load takes over what was stored. What cannot be read is left behind: the windows
// fill again.
func (r *Runner) Load(ctx context.Context) {
	blob, err := r.opt.Store.LoadState(ctx, stateName)
	if err == nil && blob != nil {
		err = r.opt.Monitor.Load(blob)
	}
	if err != nil {
		r.opt.Log.Warn().Err(err).Msg("stored alerts could not be read; they begin anew")
	}
	now := wall.Now()
	if err := r.catchUp(ctx, now); err != nil {
		r.opt.Log.Warn().Err(err).Msg("stored sums could not be read; what a crash took from the last hour stays out")
	}
	rows := r.opt.Monitor.Rows(now)
	r.mu.Lock()
	r.rows = rows
	for i := range rows {
		if fires(rows[i].State) {
			r.on[rows[i].ID] = rows[i].Name()
		}
	}
	r.mu.Unlock()
	r.opt.OnRows(rows)
}

// catchUp counts what the process before has stored after its last save.
func (r *Runner) catchUp(ctx context.Context, now time.Time) error {
	days, err := r.opt.Store.Days(ctx, 2, now)
	if err != nil {
		return err
	}
	totals, err := r.opt.Store.Totals(ctx)
	if err == nil {
		r.opt.Monitor.CatchUp(now, days, totals.Success)
	}
	return err
}

// Publish takes the changes of one commit, in commit order. It does not block.
func (r *Runner) Publish(changes []engine.Change) {
	r.guard("fold a commit", func() { r.opt.Monitor.Changes(wall.Now(), changes) })
}

// Run evaluates until ctx ends, then once more, and saves: a run of a few seconds
// tells what it has met too. Let the store outlive it.
func (r *Runner) Run(ctx context.Context) error {
	tick := time.NewTicker(evaluateEvery)
	defer tick.Stop()
	saved := time.Now()
	r.saves(ctx) // from here on a crash is caught up with
	for {
		select {
		case <-ctx.Done():
			last := context.WithoutCancel(ctx)
			r.guard("evaluate the rules", func() { r.evaluate(last) })
			r.saves(last)
			return nil
		case <-tick.C:
		}
		r.guard("evaluate the rules", func() { r.evaluate(ctx) })
		if time.Since(saved) >= saveEvery {
			saved = time.Now()
			r.saves(ctx)
		}
	}
}

// evaluate feeds the monitor with the calls and a reading of now, and shows what it says. The feeding
// needs no turn: only what is shown must not come out of order.
func (r *Runner) evaluate(ctx context.Context) {
	m, now := r.opt.Monitor, wall.Now()
	m.Calls(r.opt.Calls(m.CallSeq()))
	m.Read(now, r.opt.Read(ctx, now))
	r.turn.Lock()
	defer r.turn.Unlock()
	r.show(m.Evaluate(now), now)
}

// show replaces the rows and tells what has begun and what is over.
func (r *Runner) show(rows []engine.AlertRow, now time.Time) {
	r.mu.Lock()
	r.rows = rows
	begun, over := r.turned(rows)
	r.mu.Unlock()
	r.opt.OnRows(rows)
	for _, a := range begun {
		r.opt.Log.Warn().Str("alert", a.ID).Str("value", a.Now()).Str("limit", a.Limits()).Msg("alert began to fire")
		r.opt.OnNote(engine.Note{At: now, Level: engine.LevelWarn, Text: beginning(a), Job: jobOf(a)})
	}
	for _, id := range slices.Sorted(maps.Keys(over)) {
		r.opt.Log.Info().Str("alert", id).Msg("alert ended")
		r.opt.OnNote(engine.Note{At: now, Level: engine.LevelOK, Text: "alert is over: " + over[id]})
	}
}

// turned compares the rows with what was told before; what is over has its name. A silenced alert says
// nothing, neither way, until it is heard again: one that has ended meanwhile is
// told to be over then.
func (r *Runner) turned(rows []engine.AlertRow) (begun []engine.AlertRow, over map[string]string) {
	here := map[string]bool{}
	over = map[string]string{}
	for _, a := range rows {
		here[a.ID] = true
		switch name, was := r.on[a.ID]; {
		case a.State == engine.AlertSilenced:
		case fires(a.State) && !was:
			r.on[a.ID] = a.Name()
			begun = append(begun, a)
		case !fires(a.State) && was:
			delete(r.on, a.ID)
			over[a.ID] = name
		}
	}
	for id, name := range r.on { // of several subjects that are ok one is told
		if !here[id] {
			delete(r.on, id)
			over[id] = name
		}
	}
	return begun, over
}

// fires reports whether an alert fires, seen by somebody or not.
func fires(s engine.AlertState) bool {
	return s == engine.AlertFiring || s == engine.AlertAcknowledged
}

// beginning says what fires and what to do. A rule that fires at the first is said
// without its value and its limit, and no job or call that speaks for it is named: a list of them is a key away.
//
//	alert: 503 burst per 1 min (europe): 3, fires above 2; it goes on by itself: the engine probes the host
//	alert: no valid key: Riot refuses the key, or there is none; paste a new key: every queue waits for it
func beginning(a engine.AlertRow) string {
	text, more := "alert: "+a.Name(), ": "
	if a.Unit != engine.AlertCount || a.Limit != 0 || a.Value != 1 {
		text, more = text+": "+a.Now(), "; "
	}
	if a.Limit != 0 {
		text += ", fires " + a.Limits()
	}
	if said := a.Said(); said != "" && a.Evidence[0].Kind != "job" && a.Evidence[0].Kind != "call" {
		text += more + said
	}
	if a.Next != "" {
		text += "; " + a.Next
	}
	return text
}

// jobOf is the job that a note about an alert leads to: the first that speaks for it, "" where it is
// none.
func jobOf(a engine.AlertRow) engine.JobID {
	if len(a.Evidence) > 0 && a.Evidence[0].Kind == "job" {
		return engine.JobID(a.Evidence[0].ID)
	}
	return ""
}

// Rows gives the alerts of the last evaluation, in its order. They are shared: the
// caller must not change them.
func (r *Runner) Rows() []engine.AlertRow {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rows
}

// Evaluated is the instant of the last evaluation, which may have been one of the
// process before; zero when there was none.
func (r *Runner) Evaluated() time.Time { return r.opt.Monitor.Seen() }

// Firing is how many alerts fire that nobody has acknowledged or silenced.
func (r *Runner) Firing() (n int) {
	for _, a := range r.Rows() {
		if a.State == engine.AlertFiring {
			n++
		}
	}
	return n
}

// Traffic is the half hour that has begun, up to the newest call and to how many matches are stored.
func (r *Runner) Traffic(stored int64) engine.TrafficSpan {
	m := r.opt.Monitor
	m.Calls(r.opt.Calls(m.CallSeq()))
	return m.Present(wall.Now(), stored)
}

// Metrics sums up a window that ends now, of the jobs of one kind or, for "", of all; at most maxWindow,
// else the error is a *engine.Problem.
func (r *Runner) Metrics(kind engine.Kind, window time.Duration) (engine.Metrics, error) {
	if window < 0 || window > maxWindow {
		return engine.Metrics{}, engine.Problemf(engine.ErrInvalid,
			"ask for at most an hour; the sums of days reach further back", "metrics over %s are not kept", human.Span(window))
	}
	if window == 0 {
		window = maxWindow
	}
	return r.opt.Monitor.Metrics(kind, wall.Now(), window), nil
}

// Acknowledge says that somebody has seen a firing alert, and stores that. Errors
// are *engine.Problem, or the store's.
func (r *Runner) Acknowledge(ctx context.Context, id string, by engine.Actor) (engine.Receipt, error) {
	return r.operate(ctx, func(now time.Time) (engine.Receipt, error) { return r.opt.Monitor.Acknowledge(id, by, now) })
}

// Silence keeps an alert silent until an instant, and stores that; an instant that
// has passed ends a silence. Errors are *engine.Problem, or the store's.
func (r *Runner) Silence(ctx context.Context, id string, until time.Time, by engine.Actor) (engine.Receipt, error) {
	return r.operate(ctx, func(now time.Time) (engine.Receipt, error) { return r.opt.Monitor.Silence(id, until, by, now) })
}

// operate carries out what an operator asks for and stores it before it answers. What cannot be stored
// holds until the process ends, and the error says so.
func (r *Runner) operate(ctx context.Context, do func(now time.Time) (engine.Receipt, error)) (engine.Receipt, error) {
	receipt, err := r.carryOut(do)
	if err != nil || receipt.Nothing {
		return receipt, err
	}
	if err := r.save(ctx); err != nil {
		return receipt, fmt.Errorf("%s, but a restart will not know: %w", receipt.Text, err)
	}
	return receipt, nil
}

// carryOut does what an operator has asked for, and shows it.
func (r *Runner) carryOut(do func(now time.Time) (engine.Receipt, error)) (engine.Receipt, error) {
	r.turn.Lock()
	defer r.turn.Unlock()
	now := wall.Now()
	receipt, err := do(now)
	if err == nil && !receipt.Nothing {
		r.show(r.opt.Monitor.Rows(now), now)
	}
	return receipt, err
}

// save stores the monitor as it is now, one save at a time.
func (r *Runner) save(ctx context.Context) error {
	select {
	case r.saving <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-r.saving }()
	blob, err := r.opt.Monitor.Save()
	if err != nil {
		return err
	}
	return r.opt.Store.SaveState(ctx, stateName, blob)
}

// saves is save for the runner itself: the next one tries again.
func (r *Runner) saves(ctx context.Context) {
	r.guard("save the alerts", func() {
		if err := r.save(ctx); err != nil && ctx.Err() == nil {
			r.opt.Log.Warn().Err(err).Msg("alerts could not be saved")
		}
	})
}

// guard lets the engine live on when alerts fall over. The first time, a person is
// told.
func (r *Runner) guard(what string, f func()) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		r.opt.Log.Error().Interface("panic", p).Bytes("stack", debug.Stack()).Msg("alerts failed to " + what)
		r.mu.Lock()
		first := !r.fell
		r.fell = true
		r.mu.Unlock()
		if first {
			r.opt.OnNote(engine.Note{At: wall.Now(), Level: engine.LevelErr,
				Text: fmt.Sprintf("alerts failed to %s: %v; the engine goes on without them", what, p)})
		}
	}()
	f()
}
