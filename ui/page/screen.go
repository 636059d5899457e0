package page

import "github.com/farsight-console/farsight/engine"

// New makes the page of a screen: the one place that knows all of them.
func New(t *Target) Page {
	switch t.Screen {
	case ScreenOverview:
		return newOverviewPage()
	case ScreenAccounts:
		return NewAccounts()
	case ScreenRetries:
		return newRetryPage()
	case ScreenLogs:
		return NewLogs(engine.JobID(t.ID), t.Key)
	case ScreenAlerts:
		return newAlertPage()
	case ScreenAudit:
		return NewAudit()
	case ScreenMessages:
		return NewMessages()
	case ScreenMembers:
		return NewMembers()
	case ScreenChaos:
		return NewChaos()
	case ScreenJob:
		if t.Key != "" {
			return NewJobOf(t.Key)
		}
		return NewJob(engine.JobID(t.ID))
	case ScreenJobs:
		return newJobsOf(t)
	case ScreenAccount:
		return NewAccount(t.ID)
	case ScreenMatches:
		return newMatchPage(t.ID)
	case ScreenReports:
		return NewReports(t.ID)
	case ScreenLimits:
		if t.Seq == 0 {
			return newLimitPage()
		}
		return newLimitsAt(t.Seq)
	case ScreenForensics:
		return NewForensics(t.Seq)
	case ScreenClasses:
		return NewClasses(t.Queue)
	case ScreenEvidence:
		return NewEvidence(t.Row.(engine.AlertRow))
	case ScreenEntry:
		return NewEntry(t.Row.(engine.AuditEntry))
	case ScreenRecord:
		return newRecord(t.Row.(record))
	}
	return NewSchedules()
}

// newJobsOf lists jobs: of an error class, for a reason, or of a queue.
func newJobsOf(t *Target) Page {
	switch of := t.Row.(type) {
	case engine.ClassRow:
		return newJobsOfClass(t.Queue, of)
	case jobGroup:
		return newJobsOfGroup(t.Queue, of)
	}
	return newJobs(t.Queue, t.Shown)
}
