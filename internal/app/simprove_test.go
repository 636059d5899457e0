package app

import (
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/route"
)

// prove is what must hold when a stretch is over.
func (w *world) prove() {
	for _, fault := range w.check.report() {
		w.t.Error(fault)
	}
	w.proveCalls()
	w.proveNothingLost()
	w.proveTicks()
	st := w.sim.Stats()
	w.check.mu.Lock() // the engine commits still
	defer w.check.mu.Unlock()
	w.t.Logf("%d commits, %d moves, %d attempts, %d calls, %d matches, %d timelines, refused %v, %d deliveries lawfully repeated",
		w.check.commits, w.check.moves, w.check.attempts, st.Calls, st.Matches, st.Timelines, w.check.refusals, w.lawful)
}

// proveCalls looks at the simulator's side: no limit was broken, no wait that a
// 429 asked for was cut short, nothing that was delivered and stored was asked for
// again, and the match that always fails was called by its policy (P-11).
func (w *world) proveCalls() {
	st := w.sim.Stats()
	if st.Violations != 0 || st.Early != 0 || w.repeated != 0 {
		w.errorf("%d violations, %d calls before their time, %d repeated", st.Violations, st.Early, w.repeated)
	}
	policy := engine.DefaultPolicies()[engine.PolicyMatch]
	if f := w.sim.Fetched(route.Match, w.stubborn()); f.Calls != policy.Max {
		w.errorf("P-11: the match that always fails was called %d times, want %d", f.Calls, policy.Max)
	}
}

// proveNothingLost compares every player's history with what is stored.
func (w *world) proveNothingLost() {
	stored := w.matches()
	counts := map[string]int{}
	for _, p := range w.sim.Players() {
		row := w.accountRow(p.RiotID)
		if row.Status != engine.SyncCompleted {
			w.errorf("%s ended %s: %s", p.RiotID, row.Status, row.LastError)
		}
		for _, id := range w.sim.MatchIDs(p.RiotID) {
			m, listed := stored[id]
			if !listed {
				counts["lost"]++
				w.errorf("match %s of %s is not known", id, p.RiotID)
				continue
			}
			counts[m.Status]++
			w.proveMatch(p.RiotID, m)
		}
	}
	w.t.Logf("matches by status: %v", counts)
}

// proveMatch: it is stored, or it has a status that it came by lawfully. An
// outage is no such reason.
func (w *world) proveMatch(who string, m engine.MatchRow) {
	f := w.sim.Fetched(route.Match, m.ID)
	switch m.Status {
	case "success":
		if f.OK == 0 {
			w.errorf("P3: match %s of %s was never delivered, and is a success", m.ID, who)
		}
		w.proveTimeline(who, m)
	case "permanently_unfetchable":
		if f.Missing == 0 && m.ID != w.stubborn() {
			w.errorf("match %s of %s was buried: %d calls, %s", m.ID, who, f.Calls, m.LastError)
		}
	case "outside_retention_window":
		if f.Calls > 0 {
			w.errorf("S0-4: match %s of %s is outside retention and was called for", m.ID, who)
		}
	default:
		w.errorf("match %s of %s is %s at the end", m.ID, who, m.Status)
	}
}

func (w *world) proveTimeline(who string, m engine.MatchRow) {
	f := w.sim.Fetched(route.Timeline, m.ID)
	switch m.Timeline {
	case "success", "outside_retention_window":
	case "permanently_unfetchable":
		if f.Missing == 0 {
			w.errorf("timeline %s of %s was buried after %d calls", m.ID, who, f.Calls)
		}
	default:
		w.errorf("timeline %s of %s is %s, played %s", m.ID, who, m.Timeline, m.Played.Format(time.DateTime))
	}
}
