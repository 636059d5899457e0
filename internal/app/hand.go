package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/internal/logbook"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/storage/fleet"
	"github.com/farsight-console/farsight/storage/pg"
	"github.com/farsight-console/farsight/storage/river"
)

// hand is the part of a member that makes the calls which the leader lets go, whoever that is, and that hands
// them on while it leads.
type hand struct {
	carrier *river.Carrier
	reach   *river.Reach
	client  *riot.Client
	alone   func() bool   // reports whether no other member would make any
	stuck   func() string // see engine.MembersPage.Stuck
	idle    bool          // it makes none itself
}

// lend makes the hand of a member. A guest has none.
func (m *member) lend() error {
	// Asked anew with each call: a reload may bring another key.
	key := m.is().Key
	cfg, log := *m.config.Load(), logbook.Area(m.log, logbook.AreaJobs)
	// No limiter of its own lets these calls go: the leader does.
	client, err := riot.New(riot.Options{
		Keys: m.base.keys, Limiter: riot.LimitedBy(limit.New(limit.Options{})), Punctual: true, BaseURL: cfg.BaseURL, Timeout: cfg.Timeout,
		UserAgent: "farsight/" + version(), Transport: m.transport,
	})
	if err != nil {
		return usage(err)
	}
	h := &hand{client: client, reach: river.NewReach(client.Reach, log), alone: func() bool { return m.alone(key()) }, stuck: m.stuck}
	// How many the leader needs in all it does not say: it lets no more calls go than may.
	carries := workers(cfg.Workers, maxWorkers)
	if h.idle = m.noWork; h.idle {
		carries = 0
	}
	h.carrier, err = river.Open(context.Background(), river.Options{
		DB: m.db.server, Member: m.id, Key: key, TTL: fleet.UsualTTL, Workers: carries, Reach: h.reach, Relay: client.Relay, Log: log,
		Order: m.obey,
		// Other programs insert a row of River's, and this asks for the sync in their name.
		Trigger: func(ctx context.Context, riotID string, ask engine.SyncAsk) error {
			_, err := m.leads(ctx, engine.Command{Op: engine.OpTrigger, Account: riotID, Sync: ask, By: engine.Actor{User: "river", Via: "river"}})
			return err
		},
	})
	if err == nil {
		m.hand.Store(h)
	}
	return err
}

// errNotLeading is for what is asked of a leader whose term has ended meanwhile.
var errNotLeading = errors.New("this member does not lead any more")

// leads carries out in its term what was asked elsewhere.
func (m *member) leads(ctx context.Context, c engine.Command) (engine.Receipt, error) {
	at := m.engine.Load()
	if at == nil || at.term == nil {
		return engine.Receipt{}, errNotLeading
	}
	return at.control.Do(ctx, c)
}

// asked is what a member has the leader carry out, or write down of what it has done itself.
type asked struct {
	engine.Command
	Entry *engine.AuditEntry `json:"entry,omitempty"`
}

// orderResult is what became of an order.
type orderResult struct {
	Receipt engine.Receipt `json:"receipt,omitzero"`
	Problem *api.Problem   `json:"problem,omitempty"`
}

// obey carries an order out.
func (m *member) obey(ctx context.Context, args []byte) ([]byte, error) {
	var c asked
	if err := json.Unmarshal(args, &c); err != nil {
		return nil, err
	}
	var r engine.Receipt
	var err error
	if c.Entry != nil {
		r.Audit, err = operation.AddAudit(ctx, m.db, *c.Entry)
	} else {
		r, err = m.leads(ctx, c.Command)
	}
	if errors.Is(err, errNotLeading) || errors.Is(err, pg.ErrDeposed) {
		return nil, err
	}
	out := orderResult{Receipt: r}
	if err != nil {
		p := api.ProblemOf(err)
		out.Problem = &p
	}
	return json.Marshal(out)
}

// audit has the leader write an entry down.
func (m *member) audit(ctx context.Context, e engine.AuditEntry) (uint64, error) {
	r, err := m.order(ctx, asked{Entry: &e})
	return r.Audit, err
}

// order has the leader carry a command out.
func (m *member) order(ctx context.Context, c asked) (engine.Receipt, error) {
	args, err := json.Marshal(c)
	if err != nil {
		return engine.Receipt{}, engine.ProblemOf(err)
	}
	told, err := river.Give(ctx, m.db.server, args)
	if err != nil {
		return engine.Receipt{}, engine.ProblemOf(err)
	}
	var out orderResult
	if err := json.Unmarshal(told, &out); err != nil {
		return engine.Receipt{}, engine.ProblemOf(err)
	}
	if out.Problem != nil {
		return out.Receipt, out.Problem.AsError()
	}
	return out.Receipt, nil
}

// called notes a call that this process has made.
func (p *parts) called(c riot.Call) {
	p.limits.OnCall(c)
	if h := p.hand.Load(); h != nil && !c.Carried {
		h.reach.Note(c.Host, c.Status, c.Class)
	}
}

// close ends what may still be connected.
func (h *hand) close() {
	h.carrier.Close()
	h.client.CloseIdle()
}

// alone reports whether no other member lives that makes calls with the same key.
func (m *member) alone(key string) bool {
	v := m.seen.Load()
	// Before the first look nobody else is known, and a member without a key makes none.
	if v == nil || key == "" {
		return true
	}
	for _, p := range v.Members {
		// Members with another key make calls of another application, and are no help here.
		if p.Carries() && p.ID != m.id && p.Key == key {
			return false
		}
	}
	return true
}

// stuck says why no call is made while this member leads and cannot reach Riot; "" = somebody else
// may lead.
func (m *member) stuck() string {
	v := m.seen.Load()
	if v == nil || v.Leader != m.id {
		return ""
	}
	return v.Stuck()
}

// why says what keeps the leader from letting calls go; "" = nothing does.
func (h *hand) why() string {
	// It leads, makes no calls by --no-work, and nobody else is there to make them.
	if h.idle && h.alone() {
		return "no other member makes calls: start one without --no-work, on a machine that reaches Riot"
	}
	if !h.reach.CutOff().IsZero() { // else it was until just now
		return h.stuck()
	}
	return ""
}

// reigning is what an engine has of its term: the calls that it lets members make, and the orders from elsewhere.
type reigning struct {
	*traffic.Limits
	calls *river.Calls
	hand  *hand
}

// reigns gives that of an engine that leads a fleet; nil of any other.
func (p *parts) reigns() *reigning {
	h := p.hand.Load()
	if h == nil || p.term == nil {
		return nil
	}
	r := &reigning{hand: h}
	r.calls = h.carrier.Lead(p.term, func() (elsewhere, only bool) { return !h.alone(), h.idle || !h.alone() && !h.reach.CutOff().IsZero() }, func() { r.Signal() })
	return r
}

// halt says why no call may be made.
func (r *reigning) halt() string { return cmp.Or(r.calls.Halt(), r.hand.why()) }

// Restore implements [control.Limiter]: it counts what the leaders before have let go.
func (r *reigning) Restore(ctx context.Context, fresh bool, live iter.Seq2[engine.Job, error]) error {
	if err := r.Limits.Restore(ctx, fresh, live); err != nil {
		return err
	}
	return r.calls.Inherit(ctx, r.Limits)
}

// obeying takes orders while an engine runs.
type obeying struct{ *river.Carrier }

// Run implements [control.Runner].
func (o obeying) Run(ctx context.Context) error { return o.Obey(ctx) }
