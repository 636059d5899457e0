package ingest

import "github.com/farsight-console/farsight/engine/traffic"

// Ingest has the handlers. It starts nothing: a backend runs its Kinds. Its own methods
// are the commands and queries of the domain; its parts carry out the jobs, each on its
// share of the store.
type Ingest struct {
	opt   *Options
	store frontStore
	plan  SchedulesConfig // as Schedules got it
	*asks
	*ranges
	*reports
	*identities
	*syncs
	*fetches
	*ranks
	*upkeep
	*collects
}

// New makes an Ingest. The parts share one traffic.Caller, so that what one of them learns of a lane
// holds for all.
func New(o Options) *Ingest {
	o.fillIn()
	opt, store, api := &o, o.Store, o.API
	known := witness{opt: opt, store: store, api: api}
	calls := traffic.NewCaller(traffic.CallerOptions{Limits: o.Limits, Prober: api, History: store, Known: known.known,
		Attempts: o.Attempts})
	a := &asks{opt: opt, store: store}
	r := &ranges{opt: opt, store: store}
	rep := &reports{opt: opt, store: store, asks: a}
	s := &settlement{opt: opt, store: store, asks: a, ranges: r, reports: rep}
	ids := &identities{opt: opt, store: store, api: api, calls: calls}
	return &Ingest{
		opt: opt, store: store, asks: a, ranges: r, reports: rep, identities: ids,
		syncs: &syncs{opt: opt, store: store, api: api, calls: calls, ranges: r, reports: rep, settlement: s,
			identities: ids},
		fetches:  &fetches{opt: opt, store: store, api: api, calls: calls, settlement: s},
		ranks:    &ranks{opt: opt, store: store, api: api, calls: calls},
		upkeep:   &upkeep{opt: opt, store: store, settlement: s},
		collects: &collects{opt: opt, store: store, api: api, calls: calls, ranges: r},
	}
}
