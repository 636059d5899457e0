package ingest

import "github.com/farsight-console/farsight/engine/traffic"

// Ingest has the handlers. It starts nothing: a backend runs its Kinds. Its own methods
// are the commands and queries of the domain; its parts carry out the jobs.
type Ingest struct {
	means
	plan SchedulesConfig // as Schedules got it
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

// New makes an Ingest.
func New(o Options) *Ingest {
	o.fillIn()
	m := means{opt: &o, store: o.Store, api: o.API}
	known := witness{m}
	m.calls = traffic.NewCaller(traffic.CallerOptions{Limits: o.Limits, Prober: o.API, History: o.Store, Known: known.known,
		Attempts: o.Attempts})
	a, r, ids := &asks{m}, &ranges{m}, &identities{m}
	rep := &reports{m, a}
	s := &settlement{m, a, r, rep}
	return &Ingest{
		means: m, asks: a, ranges: r, reports: rep, identities: ids,
		syncs: &syncs{m, r, rep, s, ids}, fetches: &fetches{m, s}, ranks: &ranks{m}, upkeep: &upkeep{m, s},
		collects: &collects{means: m, ranges: r},
	}
}
