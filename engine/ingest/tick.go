package ingest

import (
	"fmt"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/cron"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/league"
)

// maxStarts bounds the syncs that one tick of `latest` starts; the longest
// waiting ones come first, the others at the next tick.
const maxStarts = 1000

// bySchedule is who starts what a schedule starts. A person who runs a schedule now stands in the audit
// with it: "ana, by schedule latest".
func bySchedule(t cron.Tick) engine.Actor {
	a := engine.Actor{User: "schedule " + t.Schedule, Via: "cron"}
	if t.By.User != "" {
		a.User = t.By.User + ", by schedule " + t.Schedule
	}
	return a
}

const whySyncsOff = "syncs are switched off: set SYNC_ENABLE=true"

// fireLatest starts a `latest` run of every tracked account that is due. One that
// is being synced is skipped, whoever syncs it, and the tick
// tells why. All of it is the transaction of the tick: a crash starts all of them or none, and the
// schedule knows which.
func (in *Ingest) fireLatest(tx engine.Tx, t cron.Tick) (f cron.Fired, err error) {
	if in.opt.SyncOff {
		return cron.Fired{Reason: whySyncsOff}, nil
	}
	var why skips
	due, err := in.due(tx, &why, t.By.User != "", now())
	if err != nil {
		return f, err
	}
	if len(due) > maxStarts {
		why.add(fmt.Sprintf("%d accounts are due, the first %d are started", len(due), maxStarts), "")
		due = due[:maxStarts]
	}
	whole := 0
	for _, b := range due {
		want, err := in.relist(tx, b.account, in.complete(league.Ask{Mode: ModeLatest}, b.policy))
		if err != nil {
			return f, err
		}
		if want.Whole {
			whole++
		}
		out, err := in.start(tx, b.account, want, b.policy, bySchedule(t))
		if err != nil {
			return f, fmt.Errorf("start a sync of %s: %w", b.account.RiotID(), err)
		}
		if f.Jobs++; f.Jobs == 1 {
			f.Job = out.Job
		}
	}
	f.Reason = why.String()
	if why.resting > 0 {
		f.Reason = joinReasons(f.Reason, human.Counted(why.resting, "account is", "accounts are")+" not due by a cadence of their own")
	}
	if whole > 0 {
		f.Reason = joinReasons(f.Reason, human.Counted(whole, "of them reads its list", "of them read their lists")+" whole again")
	}
	if f.Jobs == 0 {
		f.Job = why.job
		if f.Reason == "" {
			f.Reason = "no tracked account is due"
		}
	}
	return f, nil
}

// due lists the accounts whose turn it is at an instant, the longest waiting first.
// atOnce means that a person asks: then cadence is no reason to wait.
func (in *Ingest) due(tx engine.Tx, why *skips, atOnce bool, at time.Time) (due []beat, err error) {
	plan, err := in.latestEvery(tx, at)
	if err != nil {
		return nil, err
	}
	for _, a := range in.trackedIn(tx) {
		if a.Status == engine.SyncPending.String() || a.Status == engine.Syncing.String() {
			if err := in.skip(tx, a, why); err != nil {
				return nil, err
			}
			continue
		}
		b, err := in.beatOf(tx, a, at, plan)
		if err != nil {
			return nil, err
		}
		if atOnce || b.isDue(at, in.opt.Cooldown) {
			due = append(due, b)
			continue
		}
		if b.policy.Cadence != 0 {
			why.resting++
		}
	}
	slices.SortStableFunc(due, func(a, b beat) int { return a.last.Compare(b.last) })
	return due, nil
}

// skip notes why a tracked account is not started: the sync that it has already.
func (in *Ingest) skip(tx engine.Tx, a league.Account, why *skips) error {
	run, err := in.store.Run(tx, a.Run)
	if err != nil {
		return fmt.Errorf("load run %s: %w", a.Run, err)
	}
	state := "runs"
	if a.Status == engine.SyncPending.String() {
		state = "waits for its turn"
	}
	why.add(fmt.Sprintf("the %s sync of %s still %s (job %s)", run.Ask.Mode, a.RiotID(), state, run.Job),
		engine.JobID(run.Job))
	return nil
}

// skips gathers why a tick did not start everything.
type skips struct {
	first string
	job   engine.JobID
	n     int

	resting int // whose own cadence says that they are not due
}

func (s *skips) add(why string, job engine.JobID) {
	if s.n++; s.n == 1 {
		s.first, s.job = why, job
	}
}

// String is the first reason, and how many more there are: "the full sync of Blue Heron#KR1 still runs (job
// b41), and 3 more".
func (s *skips) String() string {
	if s.n <= 1 {
		return s.first
	}
	return fmt.Sprintf("%s, and %d more", s.first, s.n-1)
}

// fireRanks asks for the ranks of every tracked account whose PUUID is known.
func (in *Ingest) fireRanks(tx engine.Tx, t cron.Tick) (f cron.Fired, err error) {
	if in.opt.SyncOff {
		return cron.Fired{Reason: whySyncsOff}, nil
	}
	var specs []engine.Spec
	unknown := 0
	project := in.project()
	for _, a := range in.trackedIn(tx) {
		if a.PUUIDs[project] == "" {
			unknown++
			continue
		}
		specs = append(specs, engine.Spec{
			Kind: KindRank, Queue: QueueRank, Key: rankJobKey(a.ID), Owner: a.ID, Priority: engine.PriorityNormal,
			Args: encode(rankArgs{Account: a.ID, Platform: a.Platform}),
		})
	}
	f, err = cron.Insert(func(cron.Tick) []engine.Spec { return specs })(tx, t)
	if err != nil {
		return f, err
	}
	if unknown > 0 {
		f.Reason = joinReasons(f.Reason, fmt.Sprintf("of %d the PUUID is not known yet", unknown))
	}
	if f.Jobs == 0 && f.Reason == "" {
		f.Reason = "no account is tracked"
	}
	return f, nil
}

// joinReasons adds a reason to another, if there is one: "job b41 of an earlier run is still running; of 3
// the PUUID is not known yet".
func joinReasons(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// fireWeekly asks for the report of the week before the tick.
func (in *Ingest) fireWeekly(tx engine.Tx, t cron.Tick) (cron.Fired, error) {
	week := in.lastWeek(t.Planned)
	return cron.Insert(func(cron.Tick) []engine.Spec {
		return []engine.Spec{weeklySpec(week)}
	})(tx, t)
}
