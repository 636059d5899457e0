package ingest

import (
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// MilestoneKind says what programs elsewhere may be told of.
type MilestoneKind string

// Kinds of milestones.
const (
	SyncDone      MilestoneKind = "sync" // a sync came to its end
	SyncFailed    MilestoneKind = "sync.failed"
	SyncCancelled MilestoneKind = "sync.cancelled"
	ReportDone    MilestoneKind = "report" // a report was built
)

// modeWeekly is the mode of a weekly report's milestone.
const modeWeekly = "weekly"

// Milestone is what a move of a job has brought about. Programs elsewhere are told of it as an event of
// engine/pager.
type Milestone struct {
	Kind    MilestoneKind
	ID      string // the same for the same thing: a receiver knows it again
	At      time.Time
	Account string // id; "" = all tracked accounts
	Run     string
	Job     engine.JobID // of the sync or the weekly report
	Mode    string
	Result  string // of a sync: completed, incomplete, failed, cancelled
	Error   string // SyncFailed: why, as received
	Week    string // 2026-11-16, of a weekly report
}

// lateMilestone is of a run that has become complete after its end: its last gap is closed. Its id has the
// instant in it, since the run's own end was told before under sync:01JE….
func lateMilestone(run league.Run) Milestone {
	return Milestone{
		Kind: SyncDone, ID: fmt.Sprintf("%s:%s:%d", SyncDone, run.ID, run.Closed.UnixMilli()), At: run.Closed,
		Account: run.Account, Run: run.ID, Job: engine.JobID(run.Job), Mode: run.Ask.Mode, Result: run.Result,
	}
}

// syncMilestone tells how a sync has ended, and the moment at which it goes on to wait for
// timelines, since the outcome of that stores the report.
func syncMilestone(after engine.Job, o engine.Outcome) (MilestoneKind, bool) {
	switch {
	case after.Kind != KindSync:
		return "", false
	case after.State == engine.Completed:
		return SyncDone, true
	case after.State == engine.Discarded:
		return SyncFailed, true
	case after.State == engine.Cancelled:
		return SyncCancelled, true
	case o.Verb == engine.VerbWait && o.Group == league.GroupTimelines:
		return ReportDone, true
	}
	return "", false
}

func weeklyMilestone(after engine.Job) (m Milestone, ok bool) {
	args, err := decode[weeklyArgs](after)
	if err != nil || after.State != engine.Completed {
		return m, false
	}
	at := now()
	return Milestone{Kind: ReportDone, ID: fmt.Sprintf("%s:weekly:%s:%d", ReportDone, args.Week, at.UnixMilli()),
		At: at, Job: after.ID, Mode: modeWeekly, Week: args.Week}, true
}
