package remote

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
)

// table is where permits are written down.
type table interface {
	// Grant writes one, in the transaction of the claim.
	Grant(tx engine.Tx, g Grant) error
	// End ends one that is Unused or Lost; ErrMoved when it is not.
	End(tx engine.Tx, job engine.JobID, rev engine.Revision, how How) error
	// Look tells of all that are open, or that are named; why says what keeps members from taking
	// any up.
	Look(ctx context.Context, named []Grant) (all []Standing, why string, err error)
	// Ended tells of all that were let go since an instant of the wall clock and of which a report
	// was given.
	Ended(ctx context.Context, since time.Time) ([]Standing, error)
}

// returner gives jobs back whose attempts came to nothing: see local.Backend.
type returner interface {
	Return(
		ctx context.Context, id engine.JobID, rev engine.Revision, why string, gone bool,
		also func(tx engine.Tx) error,
	) error
}

// writer is the store of the leader's term.
type writer interface {
	Write(ctx context.Context, fn func(engine.Tx) error) error
}

// Options are what a Leader is made of. All but Target, Idle and Log are required.
type Options struct {
	Limits *traffic.Limits
	Table  table
	Store  writer
	// Carries reports whether members carry a kind out: its handler makes the one call of the job's
	// lane and no other.
	Carries func(engine.Kind) bool
	// Target is what the call of such a job asks for, as the recorder shows it; nil = nobody is told.
	Target func(engine.Job) string
	// Idle says why there is nobody to let a call go for; "" = there is. nil = there always is.
	Idle func() string
	Log  zerolog.Logger
}

// Leader is the Launcher of a fleet's leader, and its Admitter: it lets calls go for members to
// make, and folds what becomes of them into the limits. Make it for one term.
type Leader struct {
	*traffic.Limits
	opt  Options
	bell await.Bell

	mu      sync.Mutex
	open    map[named]*held
	stopped string // why no member takes calls up; "" = they do
}

// named is what names a permit.
type named struct {
	job engine.JobID
	rev engine.Revision
}

// held is the limiter's side of a permit.
type held struct {
	Grant
	permit   *limit.Permit
	target   string    // "" = it was taken over from the leader before
	owner    string    // likewise
	launched time.Time // zero = its claim is not on disk yet
	begun    time.Time // when it was first seen to be begun
	gone     time.Time // since when each look has shown its member to be gone
	bounded  bool      // it is silent, and counts from then on
	back     bool      // its job was given back
}

// NewLeader makes a Leader. It starts nothing.
func NewLeader(o Options) *Leader {
	if o.Idle == nil {
		o.Idle = func() string { return "" }
	}
	if o.Target == nil {
		o.Target = func(engine.Job) string { return "" }
	}
	return &Leader{Limits: o.Limits, opt: o, bell: await.NewBell(), open: map[named]*held{}}
}

// Claimed writes the permit of a claimed job down, if members carry it out.
func (l *Leader) Claimed(tx engine.Tx, j engine.Job) error {
	if h := l.take(j); h != nil {
		return l.opt.Table.Grant(tx, h.Grant)
	}
	return nil
}

// take gives the permit of a claimed job. A transaction that runs again gets the same.
func (l *Leader) take(j engine.Job) *held {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h := l.open[named{j.ID, j.Rev}]; h != nil || !l.opt.Carries(j.Kind) {
		return h
	}
	at, p := l.Take(j)
	if p == nil {
		return nil
	}
	h := &held{
		Grant:  Grant{Job: j.ID, Rev: j.Rev, Host: at.Host, Method: at.Method},
		permit: p, target: l.opt.Target(j), owner: j.Owner,
	}
	l.open[named{j.ID, j.Rev}] = h
	return h
}

// Dropped gives the permits back of a job that was not claimed.
func (l *Leader) Dropped(id engine.JobID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for at, h := range l.open {
		if at.job == id && h.launched.IsZero() {
			h.permit.Refund()
			delete(l.open, at)
		}
	}
}

// Launch leaves a claimed job to the members, if its permit is written down; else it runs here.
func (l *Leader) Launch(j engine.Job, run func()) (elsewhere bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.open[named{j.ID, j.Rev}]
	if h == nil {
		go run()
		return false
	}
	h.launched = time.Now()
	return true
}

// Has reports whether the permit of a running job is open.
func (l *Leader) Has(j engine.Job) bool {
	if j.CancelAsked {
		j.Rev--
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open[named{j.ID, j.Rev}] != nil
}

// Admit admits nothing while no member takes calls up.
func (l *Leader) Admit(j engine.Job) engine.Admission {
	if why := l.halt(); why != "" && l.Lane(j) != "" {
		return engine.Admission{Reason: why}
	}
	return l.Limits.Admit(j)
}

// Held says what stands before all limits of a lane.
func (l *Leader) Held(lane string) engine.Held {
	if why := l.halt(); why != "" {
		return engine.Held{Reason: why, Stand: engine.StandHeld}
	}
	return l.Limits.Held(lane)
}

// Health is that of the calls, which stop while no member takes any up.
func (l *Leader) Health() (engine.EngineState, string) {
	state, why := l.Limits.Health()
	switch halt := l.halt(); {
	case halt == "":
	case state == engine.EngineLive:
		return engine.EnginePaused, halt
	case state == engine.EngineDegraded: // this machine has no network, of which the halt says more
		return state, halt
	}
	return state, why
}

// halt is why no member takes calls up; "" = they do.
func (l *Leader) halt() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stopped
}

// Withdraw gives an unused reservation back. It comes when an attempt has ended, wherever it was
// carried out: then there is a report to read.
func (l *Leader) Withdraw(id engine.JobID) {
	l.Limits.Withdraw(id)
	l.bell.Ring()
}

// Restore takes over from the leader before: what its limiter knew when it was saved last, what it
// has let go since and was answered, and what is open. Call it once, before the backend runs; see
// traffic.Limits.
func (l *Leader) Restore(ctx context.Context, fresh bool, live iter.Seq2[engine.Job, error]) error {
	if err := l.Limits.Restore(ctx, fresh, live); err != nil {
		return err
	}
	all, why, err := l.opt.Table.Look(ctx, nil)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = cmp.Or(why, l.opt.Idle())
	for _, s := range all {
		l.adopt(s)
	}
	if l.Stamp().IsZero() {
		return nil // all windows count as full, or no call was ever made
	}
	ended, err := l.opt.Table.Ended(ctx, l.Stamp()) // after those that are open: none ends in between
	for _, s := range ended {
		if l.open[named{s.Job, s.Rev}] == nil {
			conclude(l.adoption(s), s.Report)
		}
	}
	return err
}

// adopt takes over a permit that another leader has let go, or this one without knowing that its claim
// was written. The caller has the lock.
func (l *Leader) adopt(s Standing) *held {
	h := &held{Grant: s.Grant, launched: time.Now(), permit: l.adoption(s)}
	l.open[named{s.Job, s.Rev}] = h
	return h
}

// adoption is the limiter's side of such a permit: the call counts as in flight since it was granted.
func (l *Leader) adoption(s Standing) *limit.Permit {
	return l.Limits.Adopt(traffic.Lane{Host: s.Host, Method: s.Method}, s.Job, s.GrantedAgo)
}

// conclude ends a permit by the report of its call.
func conclude(p *limit.Permit, told Report) limit.Receipt {
	switch told.How {
	case Answered:
		header := http.Header{}
		for name, value := range told.Headers {
			header.Set(name, value)
		}
		return p.AnsweredAgo(told.Ago, told.Status, header)
	case Unused:
		return p.Refund()
	default:
		return p.Lost()
	}
}

// lookEvery is how often the permits are looked at that nobody has told of.
const lookEvery = 250 * time.Millisecond

// Fold takes in what becomes of the calls, and gives jobs back whose attempts came to nothing, until
// ctx ends. An error of a write ends it; while the store cannot be read it goes on.
func (l *Leader) Fold(ctx context.Context, b returner) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-l.bell:
		case <-tick.C:
		}
		if err := l.look(ctx, b); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// look reads how the permits stand, and does what follows.
func (l *Leader) look(ctx context.Context, b returner) error {
	all, why, err := l.opt.Table.Look(ctx, l.launched())
	if err != nil {
		l.opt.Log.Warn().Err(err).Msg("the permits cannot be read")
		return nil
	}
	l.halted(cmp.Or(why, l.opt.Idle()))
	for _, s := range all {
		if err := l.fold(ctx, b, s); err != nil {
			return err
		}
	}
	return nil
}

// launched are the permits that are on disk.
func (l *Leader) launched() []Grant {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []Grant
	for h := range maps.Values(l.open) {
		if !h.launched.IsZero() {
			all = append(all, h.Grant)
		}
	}
	return all
}

// halted notes why no member takes calls up.
func (l *Leader) halted(why string) {
	l.mu.Lock()
	changed := why != l.stopped
	l.stopped = why
	l.mu.Unlock()
	if changed {
		l.opt.Log.Warn().Str("why", why).Msg("calls stop or go on")
		l.Signal()
	}
}

// fold takes in how one permit stands.
func (l *Leader) fold(ctx context.Context, b returner, s Standing) error {
	l.mu.Lock()
	h := l.open[named{s.Job, s.Rev}]
	switch {
	case h == nil && s.Report.How != Open:
		l.mu.Unlock()
		return nil
	case h == nil:
		h = l.adopt(s) // its claim was written although that was not answered
	case h.launched.IsZero():
		l.mu.Unlock()
		return nil
	}
	l.mu.Unlock()
	switch {
	case s.Report.How != Open:
		return l.ended(ctx, b, h, s)
	case s.Begun:
		return l.silent(ctx, b, h, s)
	case s.Expired:
		return l.giveBack(ctx, b, h, Unused, "no member took it up")
	}
	return nil
}

// ended takes in a report.
func (l *Leader) ended(ctx context.Context, b returner, h *held, s Standing) error {
	r := conclude(h.permit, s.Report)
	l.mu.Lock()
	delete(l.open, named{s.Job, s.Rev})
	l.mu.Unlock()
	switch {
	case s.Report.How != Unused:
		call := callOf(r, s.Report)
		call.Target = h.target
		l.Told(traffic.Lane{Host: s.Host, Method: s.Method}, s.Job, h.owner, call)
	case !h.back:
		return l.returned(b.Return(ctx, s.Job, s.Rev, "its call was not made", false, func(engine.Tx) error { return nil }))
	}
	return nil
}

// callOf is the record of a call that a member has made.
func callOf(r limit.Receipt, told Report) riot.Call {
	return riot.Call{
		Receipt: r, At: time.Now().Add(-told.Ago - told.Latency), Latency: told.Latency, Bytes: told.Bytes, Class: told.Class,
		AppLimit: told.Headers[limit.Headers[0]], AppCount: told.Headers[limit.Headers[1]],
		MethodLimit: told.Headers[limit.Headers[2]], MethodCount: told.Headers[limit.Headers[3]],
		LimitType: told.Headers[limit.Headers[4]], RetryAfter: told.Headers[limit.Headers[5]],
	}
}

// silent is for a call that was begun and of which nothing was told.
func (l *Leader) silent(ctx context.Context, b returner, h *held, s Standing) error {
	now := time.Now()
	if h.begun.IsZero() {
		h.begun = now
	}
	if now.Sub(h.begun) < writeWithin+straggle || s.BegunAgo < writeWithin+straggle {
		return nil
	}
	if !h.bounded {
		h.bounded = true
		h.permit.FirstByte() // it has arrived by now, or never will
	}
	if !s.Gone {
		h.gone = time.Time{}
	} else if h.gone.IsZero() {
		h.gone = now
	}
	if (!s.Gone || now.Sub(h.gone) < stillGone) && s.BegunAgo < hopeless {
		return nil
	}
	return l.giveBack(ctx, b, h, Lost, "its member is gone")
}

// giveBack ends a permit, and gives its job back in the same transaction. What follows from its
// end, the next look shows.
func (l *Leader) giveBack(ctx context.Context, b returner, h *held, how How, why string) error {
	end := func(tx engine.Tx) error { return l.opt.Table.End(tx, h.Job, h.Rev, how) }
	err := b.Return(ctx, h.Job, h.Rev, why, how == Lost, end)
	if errors.Is(err, engine.ErrStale) || errors.Is(err, engine.ErrNotFound) {
		err = l.opt.Store.Write(ctx, end) // the job has moved on without it
	}
	h.back = h.back || err == nil
	l.bell.Ring()
	return l.returned(err)
}

// returned is the error of a return that is one.
func (l *Leader) returned(err error) error {
	for _, usual := range []error{engine.ErrStale, engine.ErrNotFound, ErrMoved} {
		if errors.Is(err, usual) {
			return nil
		}
	}
	return err
}
