package app

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/local"
	"github.com/farsight-console/farsight/engine/remote"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/internal/logbook"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/storage/fleet"
	"github.com/farsight-console/farsight/storage/river"
)

// hand is the part of a member that carries out what the leader has claimed, whoever that is.
type hand struct {
	parts   *parts
	backend *local.Backend
	carrier *river.Carrier
	reach   *remote.Reach
	alone   func() bool   // reports whether no other member would carry anything out
	stuck   func() string // see engine.MembersPage.Stuck
	idle    bool          // it carries nothing out itself
}

// carriedKinds make one call each, and whoever makes it needs no other.
var carriedKinds = map[engine.Kind]bool{ingest.KindMatch: true, ingest.KindTimeline: true}

// lend makes the hand of a member. A guest has none.
func (m *member) lend() error {
	// Asked anew with each attempt: a reload may bring another key.
	key := m.is().Key
	cfg, log := *m.config.Load(), logbook.Area(m.log, logbook.AreaJobs)
	// No limiter of its own lets these calls go: the leader does, by a permit for each attempt, and
	// remote.Calls carries the permit to the client. The limiter in p.limits only keeps the log of
	// calls.
	calls := remote.NewCalls()
	p := &parts{base: m.base, db: m.db}
	p.limits = traffic.New(traffic.Options{Limiter: limit.New(limit.Options{}), Store: m.db, Lanes: ingest.LaneOf, Patience: 2 * cfg.Policies[engine.PolicyMatch].Sum(), Speed: m.speed, Log: m.log})
	var err error
	p.client, err = riot.New(riot.Options{
		Keys: m.base.keys, Limiter: calls, Punctual: true, BaseURL: cfg.BaseURL, Timeout: cfg.Timeout,
		UserAgent: "farsight/" + version(), Transport: m.transport, OnCall: func(c riot.Call) {
			calls.Note(c)
			p.called(c)
		},
	})
	if err != nil {
		return usage(err)
	}
	in, kinds, err := p.handlers(cfg, m.assembly, func(area string) func(engine.Note) {
		return func(n engine.Note) { m.tale.Note(area, n) }
	})
	if err != nil {
		return err
	}
	h := &hand{parts: p, reach: remote.NewReach(p.client.Reach, log), alone: func() bool { return m.alone(key()) }, stuck: m.stuck}
	// How many the leader needs in all it does not say: it hands out no more attempts than may go.
	carries := workers(cfg.Workers, maxWorkers)
	if h.idle = m.noWork; h.idle {
		carries = 0
	}
	// A backend that claims nothing: the leader claims, this one runs the handlers.
	h.backend, err = local.New(local.Options{Store: m.db, Kinds: m.assembly.kinds(kinds), Policies: cfg.Policies, Boot: m.id, Log: log, NoRoom: noRoom})
	if err != nil {
		return err
	}
	h.carrier, err = river.Open(context.Background(), river.Options{
		DB: m.db, Member: m.id, Key: key, TTL: fleet.UsualTTL, Workers: carries, Rests: h.cutOff, Attempts: h.backend, Calls: calls, Log: log,
		// Other programs insert a row of River's, and this asks for the sync in their name.
		Trigger: func(ctx context.Context, riotID string, ask engine.SyncAsk) error {
			_, err := in.Trigger(ctx, riotID, ask, engine.Actor{User: "river", Via: "river"})
			return err
		},
	})
	if err == nil {
		m.hand.Store(h)
	}
	return err
}

// run carries out what is claimed until ctx ends.
func (h *hand) run(ctx context.Context) error {
	var g errgroup.Group
	g.Go(func() error { return h.backend.Follow(ctx) })
	g.Go(func() error { return h.carrier.Run(ctx) })
	g.Go(func() error { return h.reach.Run(ctx) })
	return g.Wait()
}

// cutOff reports whether this process cannot reach Riot.
func (h *hand) cutOff() bool { return !h.reach.CutOff().IsZero() }

// called notes a call that this process has made.
func (p *parts) called(c riot.Call) {
	p.limits.OnCall(c)
	if h := p.hand.Load(); h != nil {
		h.reach.Note(c)
	}
}

// close ends what may still be connected.
func (h *hand) close() {
	h.carrier.Close()
	h.parts.client.CloseIdle()
}

// alone reports whether no other member lives that makes calls with the same key.
func (m *member) alone(key string) bool {
	v := m.seen.Load()
	// Before the first look nobody else is known, and a member without a key carries nothing.
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

// launcher hands what is claimed in a term to the members; nil of an engine that has none.
func (p *parts) launcher() *remote.Leader {
	h := p.hand.Load()
	if h == nil || p.term == nil {
		return nil
	}
	return remote.NewLeader(remote.Options{
		Limits: p.limits, Table: h.carrier, Store: p.term.Store, Log: logbook.Area(p.log, logbook.AreaJobs),
		Carries: func(k engine.Kind) bool { return carriedKinds[k] && (h.idle || !h.alone()) },
		Target:  ingest.MatchOf,
		Idle:    h.why,
	})
}

// why says what keeps the leader from letting calls go; "" = nothing does.
func (h *hand) why() string {
	// It leads, makes no calls by --no-work, and nobody else is there to make them.
	if h.idle && h.alone() {
		return "no other member makes calls: start one without --no-work, on a machine that reaches Riot"
	}
	if h.cutOff() { // else it was until just now
		return h.stuck()
	}
	return ""
}

// carried folds what becomes of what members carry out.
type carried struct {
	leader *remote.Leader
	parts  *parts
}

// Run folds it until ctx ends.
func (c carried) Run(ctx context.Context) error {
	err := c.leader.Fold(ctx, c.parts.backend)
	// The term is over: it is the store that says so, and the engine ends in order.
	if errors.Is(err, engine.ErrShutdown) {
		return nil
	}
	return err
}
