package app

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// sameCounts wants the hour's metrics, the day's sums and Prometheus to agree on how many
// jobs have ended and stay so.
func (r *alertRig) sameCounts(when string, kind engine.Kind, discarded, cancelled int) engine.Metrics {
	r.t.Helper()
	m := ask[engine.Metrics](r.t, r.front, engine.MetricsQuery{Days: 1})
	day := m.Days[0]
	for _, s := range []struct {
		state     engine.State
		hour, day int
		want      int
	}{
		{engine.Completed, m.Completed, int(day.Completed), -1},
		{engine.Discarded, m.Discarded, int(day.Discarded), discarded},
		{engine.Cancelled, m.Cancelled, int(day.Cancelled), cancelled},
	} {
		label := `state="` + s.state.String() + `"`
		prom := int(r.counted("farsight_jobs_ended_total", label) - r.counted("farsight_jobs_reopened_total", label))
		if s.hour != s.day || s.hour != prom || s.want >= 0 && s.hour != s.want {
			r.t.Errorf("%s: %s: the hour says %d, the day %d, Prometheus %d; want %d", when, s.state, s.hour, s.day, prom, s.want)
		}
	}
	if m.Retries != int(day.Retries) || m.RetriesWon != int(day.Won) {
		r.t.Errorf("%s: the hour says %d retries, %d won, the day %d, %d", when, m.Retries, m.RetriesWon, day.Retries, day.Won)
	}
	stored := 0
	for _, s := range ask[engine.Metrics](r.t, r.front, engine.MetricsQuery{Traffic: true}).Traffic {
		stored += s.Stored
	}
	if e := ask[engine.StatusAnswer](r.t, r.front, engine.StatusQuery{}).Engine; int(e.Stored) != stored {
		r.t.Errorf("%s: %d matches are stored, the last 24 hours say %d", when, e.Stored, stored)
	}
	return ask[engine.Metrics](r.t, r.front, engine.MetricsQuery{Kind: kind})
}

// TestS2_9_OneCountWhereverItIsCounted: jobs that are cancelled while they wait, that give
// up, that are opened again and that an undo brings back are counted alike by the metrics
// of the hour, the sums of the day and Prometheus; attempts of an end that was taken back
// are not counted a second time; and all of it can be had for one kind.
func TestS2_9_OneCountWhereverItIsCounted(t *testing.T) {
	who := player("Blue Heron#EUW", 12)
	inAlertRig(t, quick(who), func(t *testing.T, r *alertRig) {
		const kind = "match.fetch"
		ids := r.sim.MatchIDs(who.RiotID)
		for _, id := range ids[:5] {
			if err := r.sim.Inject(sim.Fault{Name: id, Kind: sim.EmptyObject, Match: sim.Match{Method: route.Match, ID: id}}); err != nil {
				t.Fatal(err)
			}
		}
		r.do(engine.Command{Op: engine.OpTrigger, Account: who.RiotID, Sync: engine.SyncAsk{Platform: "euw1", Mode: "full", Timelines: string(league.TimelinesNone)}})
		time.Sleep(20 * time.Second) // five wait for their second try
		cancelled := r.do(engine.Command{Op: engine.OpCancel, Select: &engine.Selection{IDs: []engine.JobID{r.job(ids[0]), r.job(ids[1])}}, Reason: "enough"})
		m := r.sameCounts("two cancelled while they waited", kind, 0, 2)
		if m.Cancelled != 2 || m.Completed != 7 || m.Kind != kind {
			t.Errorf("of the matches: %+v", m)
		}
		r.do(engine.Command{Op: engine.OpUndo, Audit: cancelled.Audit})
		r.sameCounts("undone", kind, 0, 0)
		time.Sleep(12 * time.Minute)
		m = r.sameCounts("all five gave up", kind, 5, 0)
		if want := float64(7+5*5) / 12; m.MeanAttempts != want || m.AtMax != 5 || m.Statuses["ok"] != 7 {
			t.Errorf("of the matches: %+v, want a mean of %g", m, want)
		}
		r.sim.Remove(ids[0])
		r.do(engine.Command{Op: engine.OpRetry, Job: r.job(ids[0])})
		time.Sleep(20 * time.Second)
		m = r.sameCounts("one was rescued", kind, 4, 0)
		if want := float64(7+4*5+1) / 12; m.MeanAttempts != want || m.AtMax != 4 || m.Completed != 8 {
			t.Errorf("of the matches: %+v, want a mean of %g", m, want)
		}
		r.restart(time.Second)
		synctest.Wait() // it counts what is stored
		if m := r.sameCounts("after a restart", kind, 4, 0); m.Completed != 8 {
			t.Errorf("of the matches after a restart: %+v", m)
		}
		if got := r.counted("farsight_kind_jobs_ended_total", `kind="`+kind+`"`, `state="completed"`); got != 8 {
			t.Errorf("Prometheus has %g matches", got)
		}
	})
}

// TestW10b_AKillTakesNothingFromTheHour: what was committed after the windows were saved last is in the
// sums of days, and the next process counts it in the hour and in the last 24 hours too, also what was
// taken back; a forced fetch stores no second match.
func TestW10b_AKillTakesNothingFromTheHour(t *testing.T) {
	who := player("Blue Heron#EUW", 12)
	inAlertRig(t, quick(who), func(t *testing.T, r *alertRig) {
		kill := func() {
			r.store.Abandon(errKilled)
			r.restart(10 * time.Minute)
			time.Sleep(10 * time.Second) // what was open is fetched now, and the next evaluation counts it
		}
		ids := r.sim.MatchIDs(who.RiotID)
		for i, id := range ids[:5] {
			f := sim.Fault{Name: id, Kind: sim.EmptyObject, Match: sim.Match{Method: route.Match, ID: id}}
			if i == 0 {
				f.Count = 1
			}
			if err := r.sim.Inject(f); err != nil {
				t.Fatal(err)
			}
		}
		sync := engine.SyncAsk{Platform: "euw1", Mode: "full", Timelines: string(league.TimelinesNone)}
		r.do(engine.Command{Op: engine.OpTrigger, Account: who.RiotID, Sync: sync})
		time.Sleep(40 * time.Second)
		kill()
		if m := r.sameCounts("killed in the first minute", "match.fetch", 0, 0); m.Completed > 8 {
			t.Errorf("of the matches: %+v", m)
		}
		time.Sleep(12 * time.Minute) // four give up
		r.do(engine.Command{Op: engine.OpForce, Job: r.job(ids[11]), Reason: "a test"})
		r.do(engine.Command{Op: engine.OpRetry, Job: r.job(ids[1])})
		kill()
		r.sameCounts("killed while one that gave up is tried again", "match.fetch", 3, 0)
	})
}

// job is the latest that fetches a match.
func (r *alertRig) job(match string) engine.JobID {
	r.t.Helper()
	return ask[engine.JobDetail](r.t, r.front, engine.JobQuery{Key: "match:" + match}).Job.ID
}
