package operation

import "github.com/farsight-console/farsight/engine"

func init() {
	table = []Operation{
		{
			Op: engine.OpCancel, run: (*Operator).onJobs, Does: "cancel", Did: "cancelled",
			States: engine.LiveStates(), Undo: true,
		},
		{
			Op: engine.OpRetry, run: (*Operator).onJobs, Does: "retry", Did: "let run",
			States: []engine.State{engine.Retryable, engine.Scheduled, engine.Discarded, engine.Cancelled},
			ByName: []engine.State{engine.Cancelled}, Starts: true, Calls: true, Canary: true,
		},
		{
			Op: engine.OpForce, run: (*Operator).onJobs, Does: "force", Did: "forced",
			States: []engine.State{engine.Retryable, engine.Scheduled, engine.Discarded, engine.Cancelled, engine.Completed},
			ByName: []engine.State{engine.Completed}, Starts: true, Calls: true,
		},
		{
			Op: engine.OpReschedule, run: (*Operator).onJobs, Does: "reschedule", Did: "rescheduled",
			States: []engine.State{engine.Available, engine.Scheduled, engine.Retryable}, Only: "only a waiting job gets another time",
			Starts: true, Undo: true,
		},
		{
			Op: engine.OpReclass, run: (*Operator).onJobs, Does: "open again", Did: "opened again",
			States: []engine.State{engine.Discarded}, Starts: true, Calls: true, Canary: true, Undo: true,
		},
		{Op: engine.OpUndo, run: (*Operator).undo, Does: "undo"},

		{Op: engine.OpPause, run: (*Operator).pause, Does: "pause", Undo: true},
		{Op: engine.OpResume, run: (*Operator).resume, Does: "resume", Starts: true, Undo: true},
		{Op: engine.OpFreeze, run: (*Operator).freeze, Does: "freeze"},
		{Op: engine.OpThaw, run: (*Operator).thaw, Does: "thaw"},

		{Op: engine.OpTrigger, run: (*Operator).trigger, Does: "sync", Starts: true},
		{Op: engine.OpTrack, run: (*Operator).track, Does: "track"},
		{Op: engine.OpUntrack, run: (*Operator).untrack, Does: "stop tracking"},
		{Op: engine.OpTrackMany, run: (*Operator).inDomain, Does: "track"},
		{Op: engine.OpReresolve, run: (*Operator).inDomain, Does: "resolve again"},
		{Op: engine.OpForget, run: (*Operator).forget, Does: "delete", Slow: true},

		{Op: engine.OpRunSchedule, run: (*Operator).onSchedule, Does: "run"},
		{Op: engine.OpPauseSchedule, run: (*Operator).onSchedule, Does: "pause", Undo: true},
		{Op: engine.OpResumeSchedule, run: (*Operator).onSchedule, Does: "resume", Undo: true},
		{Op: engine.OpEditSchedule, run: (*Operator).onSchedule, Does: "edit", Undo: true},

		{Op: engine.OpAck, run: (*Operator).ack, Does: "acknowledge"},
		{Op: engine.OpSilence, run: (*Operator).silence, Does: "silence"},

		{Op: engine.OpBackup, run: (*Operator).backup, Does: "copy", Slow: true, About: "data directory"},
		{Op: engine.OpPrune, run: (*Operator).prune, Does: "delete", Slow: true, About: "jobs"},

		{Op: engine.OpKey, run: (*Operator).replaceKey, Does: "replace"},
		{Op: engine.OpPage, run: (*Operator).page, Does: "tell"},
		{Op: engine.OpCall, run: (*Operator).call, Does: "call"},
	}
}
