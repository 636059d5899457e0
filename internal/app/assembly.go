package app

import (
	"net/http"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/pager"
	"github.com/farsight-console/farsight/internal/keyring"
)

// assembly says how an engine differs from the usual one.
type assembly struct {
	keys      *keyring.Ring
	demo      bool
	onlyOwn   bool               // only the runs that ownRun names are worked on
	attach    bool               // of onlyOwn: commands and consoles attach to it as to any other
	noLead    bool               // of a member: it follows for good
	noWork    bool               // of a member: it makes no calls for who leads
	guest     func() bool        // of a member: it looks on and gives orders, no more, until it reports false once; nil = no
	phone     *pager.CallOptions // whom a demo calls; nil = nobody
	transport http.RoundTripper  // nil = the hardened one
	dials     http.RoundTripper  // the pager's; nil = the hardened one
	speed     float64            // of the simulated Riot; 0 = the real one's
	moments   time.Duration      // between two that are kept for the time cursor; 0 = a second
	// watch sees every commit after the engine did; nil = nobody.
	watch func(seq uint64, changes []engine.Change)
	// Only the demo's chaos panel has these. stall comes before every commit, as slow
	// as it likes; spoil may put something else in the place of a handler.
	stall func()
	spoil func(engine.KindSpec) engine.KindSpec
}

// kinds are the kinds of jobs that this engine runs.
func (a assembly) kinds(all []engine.KindSpec) []engine.KindSpec {
	// Only a demo spoils any.
	if a.spoil == nil {
		return all
	}
	// A copy, whose handlers are exchanged: the specs belong to whoever made them.
	out := make([]engine.KindSpec, len(all))
	for i, k := range all {
		out[i] = a.spoil(k)
	}
	return out
}
