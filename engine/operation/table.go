package operation

import "github.com/farsight-console/farsight/engine"

// CanaryLine says before a canary is sent what that is.
const CanaryLine = "One of them goes first; " +
	"the others follow when it has succeeded, and stay as they are when it has not."

// AsConfigured is the plan of a schedule that takes an edit back.
const AsConfigured = "as configured"

// init fills the table. An entry without Line.Help is asked for by no line, one without Short has no
// command of its own making; the order is that in which lines and commands are listed.
func init() {
	table = []Operation{
		{
			Op: engine.OpCancel, run: (*Operator).onJobs, Does: "cancel", Did: "cancelled", Target: Job,
			States: engine.LiveStates(), Undo: true,
			Short: "End jobs for good",
			Long: "A sync takes the jobs along that only it wants. `farsight undo` brings waiting\n" +
				"jobs back as long as nothing has happened since.",
			Example: "farsight cancel match:KR_7214550881\nfarsight cancel --account 'Name#TAG' --dry-run",
			Line:    Line{Args: "job:KEY"},
		},
		{
			Op: engine.OpRetry, run: (*Operator).onJobs, Does: "retry", Did: "let run", Target: Job,
			States: []engine.State{engine.Retryable, engine.Scheduled, engine.Discarded, engine.Cancelled},
			ByName: []engine.State{engine.Cancelled}, Starts: true, Calls: true, Canary: true,
			Short: "Let jobs run now, in queue order, with a new round of attempts",
			Long: "Waiting and discarded jobs run when their turn comes, through the rate limiter.\n" +
				"Attempts they have used count no more. A match or timeline whose job was deleted gets another.",
			Example: "farsight retry match:KR_7214550881\nfarsight retry --class 5xx --canary",
			Line:    Line{Args: "job:KEY"},
		},
		{
			Op: engine.OpForce, run: (*Operator).onJobs, Does: "force", Did: "forced", Target: Job, Arg: Why,
			Needs:  "say why: the reason stays with the job and in the audit",
			States: []engine.State{engine.Retryable, engine.Scheduled, engine.Discarded, engine.Cancelled, engine.Completed},
			ByName: []engine.State{engine.Completed}, Starts: true, Calls: true,
			Short: "Run jobs again, completed ones too: a stored match is fetched again",
			Long: "It needs --reason, which is kept with the job. A match or timeline whose job was\n" +
				"deleted gets another.",
			Example: "farsight force match:KR_7214550881 --reason 'its payload is cut'",
			Line:    Line{Args: "job:KEY because why"},
		},
		{
			Op: engine.OpReschedule, run: (*Operator).onJobs, Does: "reschedule", Did: "rescheduled", Target: Job, Arg: When,
			Needs:  "write when: +10m, 14:00 or now",
			States: []engine.State{engine.Available, engine.Scheduled, engine.Retryable},
			Only:   "only a waiting job gets another time", Starts: true, Undo: true,
			Short:   "Move waiting jobs to another instant",
			Long:    "It needs --at or --in.",
			Example: "farsight reschedule match:KR_7214550881 --in 10m",
			Line:    Line{Args: "job:KEY +10m, 14:00 or now"},
		},
		{
			Op: engine.OpReclass, run: (*Operator).onJobs, Does: "open again", Did: "opened again", Target: Class,
			States: []engine.State{engine.Discarded}, Starts: true, Calls: true, Canary: true, Undo: true,
			Short:   "Open the discarded jobs of an error class again",
			Long:    "What they were about counts as unfetched again, and a new round begins.",
			Example: "farsight reclass --class 5xx --canary",
			Line:    Line{Args: "CLASS", Hint: "an error class, whose discarded jobs are opened again: reclass 404"},
			Ask:     Question{Text: "Open the discarded jobs of class %s again?", Yes: "open them", Lines: []string{CanaryLine}},
		},
		{
			Op: engine.OpUndo, run: (*Operator).undo, Does: "undo", Target: Entry,
			Example: "farsight undo 31",
			Line:    Line{Args: "[NUMBER]", Hint: "the number of a command, see Audit: undo 41"},
		},

		{
			Op: engine.OpPause, run: (*Operator).pause, Does: "pause", Undo: true, Target: Queue,
			Short:   "Keep the jobs of queues from starting, over restarts too",
			Example: "farsight pause ingest.summoner.full --reason 'patch day'",
			Line:    Line{Args: "a queue, because why"},
		},
		{
			Op: engine.OpResume, run: (*Operator).resume, Does: "resume", Starts: true, Undo: true, Target: Queue,
			Short:   "Let the jobs of paused queues start again",
			Example: "farsight resume ingest.summoner.full",
			Line:    Line{Args: "a queue"},
		},
		{
			Op: engine.OpFreeze, run: (*Operator).freeze, Does: "freeze", Target: Bucket, Arg: Share,
			Short:   "Stop the calls to a host or method, or cap them, until an instant",
			Example: "farsight freeze europe match-v5.match --for 10m",
			Line:    Line{Args: "host [method] 60% +10m or until 14:00, because why"},
		},
		{
			Op: engine.OpThaw, run: (*Operator).thaw, Does: "thaw", Target: Bucket,
			Short:   "End a freeze, a cap or a wait above ten minutes that Riot asked for",
			Example: "farsight thaw europe match-v5.match",
			Line:    Line{Args: "host [method]"},
		},

		{
			Op: engine.OpTrigger, run: (*Operator).trigger, Does: "sync", Starts: true, Target: Account,
			Line: Line{Word: "sync", Args: "Name#TAG platform"},
			Ask:  Question{Text: "Sync %s?", Yes: "sync it", Free: 100},
		},
		{
			Op: engine.OpTrack, run: (*Operator).track, Does: "track", Target: Account,
			Line: Line{Args: "Name#TAG platform"},
		},
		{
			Op: engine.OpUntrack, run: (*Operator).untrack, Does: "stop tracking", Target: Account,
			Line: Line{Args: "Name#TAG"},
		},
		{
			Op: engine.OpCollect, run: (*Operator).inDomain, Does: "collect", About: "collection", Target: Ladders,
			Line: Line{Args: "master+ --platform kr --since 14d", Hint: "tiers, then as the command: collect master+ --platform kr --since 14d"},
			Ask:  Question{Text: "Collect %s?", Yes: "collect them"},
		},
		{Op: engine.OpTrackMany, run: (*Operator).inDomain, Does: "track", About: "accounts"},
		{Op: engine.OpReresolve, run: (*Operator).inDomain, Does: "resolve again", About: "accounts"},
		{
			Op: engine.OpForget, run: (*Operator).forget, Does: "delete", Slow: true, Target: Stored,
			Line: Line{Args: "Name#TAG", Hint: "Name#TAG: delete all that is stored of the player, after a question"},
			Ask: Question{Text: "Delete all that is stored of %s?", Yes: "delete it", Word: "%s", Lines: []string{
				"Its matches that no other account has, its jobs, reports and ranks go. It cannot be undone. T" +
					engine.ForgetLeaves[1:] + ".",
			}},
		},

		{Op: engine.OpRunSchedule, run: (*Operator).onSchedule, Does: "run", Target: Schedule},
		{Op: engine.OpPauseSchedule, run: (*Operator).onSchedule, Does: "pause", Undo: true, Target: Schedule},
		{Op: engine.OpResumeSchedule, run: (*Operator).onSchedule, Does: "resume", Undo: true, Target: Schedule},
		{
			Op: engine.OpEditSchedule, run: (*Operator).onSchedule, Does: "edit", Undo: true, Target: Schedule, Arg: Plan,
			Needs: "write its plan behind the name, such as 0 */2 * * *, or " + AsConfigured,
			Line:  Line{Word: "schedule", Args: "edit, run, pause or resume NAME: schedule edit latest 0 */2 * * *"},
		},

		{
			Op: engine.OpAck, run: (*Operator).ack, Does: "acknowledge", Target: Alert,
			Short:   "Say that you have seen a firing alert, until it ends",
			Example: "farsight ack 429 --reason 'another program used the key'",
			Line:    Line{Args: "an alert: ack 429"},
		},
		{
			Op: engine.OpSilence, run: (*Operator).silence, Does: "silence", Target: Alert, Arg: When,
			Needs:   "write until when: +30m, 14:00, or now to end a silence",
			Short:   "Keep an alert, or all of a rule, silent for up to seven days",
			Example: "farsight silence key-expires --for 2h",
			Line:    Line{Args: "an alert and until when: silence 429 +30m, 14:00 or now"},
		},

		{Op: engine.OpBackup, run: (*Operator).backup, Does: "copy", Slow: true, About: "data directory"},
		{Op: engine.OpCompact, run: (*Operator).compact, Does: "archive", Slow: true, About: "closed months"},
		{
			Op: engine.OpPrune, run: (*Operator).prune, Does: "delete", Slow: true, About: "jobs",
			Line: Line{Word: "purge", Hint: "purge jobs that ended"},
			Ask: Question{Text: "Purge ended jobs?", Yes: "purge them", Word: "purge", Lines: []string{
				"Jobs that ended longer ago than the retention of jobs are deleted with their attempts, " +
					"as the schedule does it. It cannot be taken back; matches and accounts stay.",
			}},
		},

		{Op: engine.OpKey, run: (*Operator).replaceKey, Does: "replace"},
		{Op: engine.OpPage, run: (*Operator).page, Does: "tell"},
		{Op: engine.OpShell, run: (*Operator).shell, Does: "run"},
		{
			Op: engine.OpCall, run: (*Operator).call, Does: "call", Target: Number, Arg: Say,
			Needs: "write a number with its country and what to say: call +4930123456 The import is done.",
			Line:  Line{Args: "NUMBER TEXT", Hint: "NUMBER TEXT: call a number that you have allowed, after a question"},
			Ask:   Question{Text: "Call %s?", Yes: "call it"},
		},
	}
	for i := range table { // undo names the operations that it can take back, so the table must be full
		if table[i].Op == engine.OpUndo {
			table[i].Short = "Take a " + UndoWords("or") + " back, if nothing has happened since"
		}
	}
}
