package ingest

import (
	"context"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/route"
)

// Kinds of jobs.
const (
	KindSync     engine.Kind = "account.sync"
	KindMatch    engine.Kind = "match.fetch"
	KindTimeline engine.Kind = "timeline.fetch"
)

// Queues of syncs; the children of a sync run in its queue (S4-1).
const (
	QueueLatest engine.Queue = "ingest.summoner.latest"
	QueueFull   engine.Queue = "ingest.summoner.full"
)

// Modes of a sync.
const (
	ModeFull   = "full"
	ModeLatest = "latest"
)

// Defaults of Options.
const (
	DefaultCooldown = 5 * time.Minute
	DefaultStale    = 24 * time.Hour
	LatestCount     = 20                  // matches of one `latest` run
	LatestLookback  = 30 * 24 * time.Hour // and how far it looks back
	identityTTL     = 24 * time.Hour      // Riot ID -> PUUID (S4-8)
	attemptTimeout  = time.Minute         // of one attempt without the wait for a permit
)

// API is the part of Riot that ingestion calls. Every error is a *riot.Error or
// the cause of the context.
type API interface {
	AccountByRiotID(ctx context.Context, r route.Region, name, tag string) (riot.Account, error)
	AccountByPUUID(ctx context.Context, r route.Region, puuid string) (riot.Account, error)
	MatchIDs(ctx context.Context, r route.Region, puuid string, q riot.MatchIDsQuery) ([]string, error)
	Match(ctx context.Context, r route.Region, id string) (riot.Match, error)
	Timeline(ctx context.Context, r route.Region, id string) (riot.Timeline, error)
	Probe(ctx context.Context, r route.Region, puuid string) error
}

var _ API = (*riot.Client)(nil)

// Options are what an Ingest is made of. Store, API and Limits are required.
type Options struct {
	Store  Store
	API    API
	Limits *Limits
	// Project names the API project of the key in use: PUUIDs are encrypted per
	// project. nil = one project for all keys.
	Project func() string

	Matches   league.Span // retention of matches; zero = off
	Timelines league.Span // of timelines; zero = off
	Zone      *time.Location
	Cooldown  time.Duration // between two syncs of an account; 0 = DefaultCooldown, negative = none
	Stale     time.Duration // how old a sync may be before a login starts one; 0 = DefaultStale
}

// Ingest has the handlers. It starts nothing: a backend runs its Kinds.
type Ingest struct {
	opt   Options
	store Store
	api   API
	// probing lets one job at a time find out whether a key still works.
	probing chan struct{}
}

// New makes an Ingest.
func New(o Options) *Ingest {
	if o.Project == nil {
		o.Project = func() string { return "" }
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if o.Cooldown == 0 {
		o.Cooldown = DefaultCooldown
	}
	if o.Stale == 0 {
		o.Stale = DefaultStale
	}
	return &Ingest{opt: o, store: o.Store, api: o.API, probing: make(chan struct{}, 1)}
}

// Kinds are the job kinds that this package handles.
func (in *Ingest) Kinds() []engine.KindSpec {
	return []engine.KindSpec{
		{Kind: KindSync, Policy: engine.PolicyIngest, Timeout: attemptTimeout, Handler: in.sync, OnMove: in.syncMoved},
		{Kind: KindMatch, Policy: engine.PolicyMatch, Timeout: attemptTimeout, Handler: in.fetchMatch, OnMove: in.matchMoved},
		{Kind: KindTimeline, Policy: engine.PolicyMatch, Timeout: attemptTimeout, Handler: in.fetchTimeline, OnMove: in.timelineMoved},
	}
}

// now is the wall clock as rows keep it.
func now() time.Time { return time.Now().UTC() }
