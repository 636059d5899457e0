// Package screen makes the page of a target: the one place that knows all screens. The rest of the
// console opens a screen by what it is of, so that screens may call for each other without importing
// each other.
package screen

import (
	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/inspector"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/screen/accounts"
	"github.com/farsight-console/farsight/ui/screen/alerts"
	"github.com/farsight-console/farsight/ui/screen/audit"
	"github.com/farsight-console/farsight/ui/screen/chaospanel"
	"github.com/farsight-console/farsight/ui/screen/classes"
	"github.com/farsight-console/farsight/ui/screen/collections"
	"github.com/farsight-console/farsight/ui/screen/forensics"
	"github.com/farsight-console/farsight/ui/screen/jobs"
	"github.com/farsight-console/farsight/ui/screen/limits"
	"github.com/farsight-console/farsight/ui/screen/logs"
	"github.com/farsight-console/farsight/ui/screen/matches"
	"github.com/farsight-console/farsight/ui/screen/members"
	"github.com/farsight-console/farsight/ui/screen/messages"
	"github.com/farsight-console/farsight/ui/screen/overview"
	"github.com/farsight-console/farsight/ui/screen/report"
	"github.com/farsight-console/farsight/ui/screen/retries"
	"github.com/farsight-console/farsight/ui/screen/schedules"
)

// New makes the page of a target. Screens know each other by targets alone, so that none imports
// another, and a new one is added here and in package page. A target's ID, Key or Row may be of
// something that has gone meanwhile: the page then says so, and is made all the same.
func New(t *page.Target) page.Page {
	switch t.Screen {
	case page.ScreenOverview:
		return overview.New()
	case page.ScreenAccounts:
		return accounts.New()
	case page.ScreenRetries:
		return retries.New()
	case page.ScreenLogs:
		return logs.New(engine.JobID(t.ID), t.Key)
	case page.ScreenAlerts:
		return alerts.New()
	case page.ScreenAudit:
		return audit.New()
	case page.ScreenMessages:
		return messages.New()
	case page.ScreenMembers:
		return members.New()
	case page.ScreenCollections:
		return collections.New()
	case page.ScreenCollection:
		return collections.NewOne(t.ID)
	case page.ScreenChaos:
		return chaospanel.New()
	case page.ScreenJob:
		// A match names its job by key: the id is looked up with the first answer.
		if t.Key != "" {
			return inspector.NewJobOf(t.Key)
		}
		return inspector.NewJob(engine.JobID(t.ID))
	case page.ScreenJobs:
		return newJobsOf(t)
	case page.ScreenAccount:
		return accounts.NewAccount(t.ID)
	// Of matches and reports an empty ID stands for all accounts, or for the first one.
	case page.ScreenMatches:
		return matches.New(t.ID)
	case page.ScreenReports:
		return report.New(t.ID)
	case page.ScreenLimits:
		// Calls are counted from 1.
		if t.Seq == 0 {
			return limits.New()
		}
		return limits.NewAt(t.Seq)
	case page.ScreenForensics:
		return forensics.New(t.Seq)
	case page.ScreenClasses:
		return classes.New(t.Queue)
	// The three below are opened by a row of their list alone: a Row of another type is a fault of the
	// program, and panics.
	case page.ScreenEvidence:
		return alerts.NewEvidence(t.Row.(engine.AlertRow))
	case page.ScreenEntry:
		return audit.NewEntry(t.Row.(engine.AuditEntry))
	case page.ScreenRecord:
		return logs.NewRecord(t.Row.(columns.Record))
	}
	// What has no case above is the calendar. It is also what a screen would open that somebody has
	// given a number in package page, and forgotten here.
	return schedules.New()
}

// newJobsOf lists jobs: of an error class, for a reason, or of a queue. Row says which: an error
// class, a group of the list, or nil.
func newJobsOf(t *page.Target) page.Page {
	// Both lists are of a part of the jobs, which no filter can name: see package jobs.
	switch of := t.Row.(type) {
	case engine.ClassRow:
		return jobs.OfClass(t.Queue, of)
	case block.JobGroup:
		return jobs.OfGroup(t.Queue, of)
	}
	return jobs.New(t.Queue, t.Shown)
}
