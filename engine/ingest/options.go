package ingest

import (
	"cmp"
	"context"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/route"
)

// Defaults of Options.
const (
	defaultCooldown = 5 * time.Minute
	defaultStale    = 24 * time.Hour
	defaultLatest   = 20                  // matches of one `latest` run
	defaultLookback = 30 * 24 * time.Hour // and how far it looks back
	DefaultSweep    = 100                 // matches of one sweep
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
	LeagueEntries(ctx context.Context, p route.Platform, puuid string) ([]riot.LeagueEntry, error)
	League(ctx context.Context, p route.Platform, queue, tier, division string, page int) ([]riot.LeagueEntry, error)
	Summoner(ctx context.Context, p route.Platform, puuid string) (riot.SummonerInfo, error)
	Probe(ctx context.Context, r route.Region, puuid string) error
}

var _ API = (*riot.Client)(nil)

// Options are what an Ingest is made of. Store, API and Limits are required.
type Options struct {
	Store     Store
	API       API
	Limits    *traffic.Limits
	Matches   league.Span // retention of matches; zero = off
	Timelines league.Span // of timelines; zero = off
	Zone      *time.Location
	Cooldown  time.Duration // between two syncs of an account; 0 = defaultCooldown, negative = none
	Stale     time.Duration // how old a sync may be before a login starts one; 0 = defaultStale

	LatestCount    int           // newest matches of a `latest` run; 0 = defaultLatest
	LatestLookback time.Duration // how far it looks back; 0 = defaultLookback
	Relist         time.Duration // after which an account's list is read whole again; 0 = never
	Attempts       int           // of a match in all, whoever tries it; 0 = as policy match ships
	SweepCount     int           // matches of one sweep; 0 = DefaultSweep
	// RetryMissing gives a match or timeline that answers 404 the whole table of
	// delays (RETRY_404=table); else that is final.
	RetryMissing bool
	// AskAgain are the ages, counted from its listing, at which a match that ended by 404 is asked for once
	// more by the sweep; nil = never.
	AskAgain []time.Duration
	// Prune deletes old ended jobs and says in words what it did; nil = nothing is
	// deleted, and no schedule asks for it.
	Prune func(context.Context) (done string, err error)
	// Compact archives closed months, likewise; nil = nobody does.
	Compact func(context.Context) (done string, err error)
	// Restored is when a backup was last put back in the store; zero = never. From
	// then on a payload is looked for before it is fetched (P3).
	Restored time.Time
	// Spare is how many bytes the disk takes before the engine stops; false = nobody knows. nil = what is stored
	// goes elsewhere.
	Spare func() (bytes int64, ok bool)
	// SyncOff refuses what schedules would start (SYNC_ENABLE=false).
	SyncOff bool
	// Late is told, inside the transaction, of a sync that has become complete after its
	// end; nil = nobody is.
	Late func(tx engine.Tx, m Milestone) error
	// Projects tells the projects of keys apart; nil = there is one project.
	Projects *Projects
}

// means are what all parts have in common. What calls learns of a lane by one of them holds for all.
type means struct {
	opt   *Options
	store Store
	api   API
	calls *traffic.Caller
}

// project names the API project of the key in use: PUUIDs are encrypted per project.
func (m means) project() string {
	if p := m.opt.Projects; p != nil {
		return p.Current()
	}
	return ""
}

// fillIn puts the defaults in. A negative Cooldown stays: it means that there is none.
func (o *Options) fillIn() {
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if o.Cooldown == 0 {
		o.Cooldown = defaultCooldown
	}
	o.Stale = cmp.Or(o.Stale, defaultStale)
	o.LatestCount = cmp.Or(o.LatestCount, defaultLatest)
	o.LatestLookback = cmp.Or(o.LatestLookback, defaultLookback)
	o.Attempts = cmp.Or(o.Attempts, engine.DefaultPolicies()[engine.PolicyMatch].Max)
	o.SweepCount = cmp.Or(o.SweepCount, DefaultSweep)
}
