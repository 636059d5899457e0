package operation

import "github.com/farsight-console/farsight/engine"

var table = []Operation{
	{
		Op: engine.OpCancel, Does: "cancel", Did: "cancelled",
		States: engine.LiveStates(), Undo: true,
	},
	{
		Op: engine.OpRetry, Does: "retry", Did: "let run",
		States: []engine.State{engine.Retryable, engine.Scheduled, engine.Discarded, engine.Cancelled},
		ByName: []engine.State{engine.Cancelled}, Starts: true, Calls: true, Canary: true,
	},
	{
		Op: engine.OpForce, Does: "force", Did: "forced",
		States: []engine.State{engine.Retryable, engine.Scheduled, engine.Discarded, engine.Cancelled, engine.Completed},
		ByName: []engine.State{engine.Completed}, Starts: true, Calls: true,
	},
	{
		Op: engine.OpReschedule, Does: "reschedule", Did: "rescheduled",
		States: []engine.State{engine.Available, engine.Scheduled, engine.Retryable}, Only: "only a waiting job gets another time",
		Starts: true, Undo: true,
	},
	{
		Op: engine.OpReclass, Does: "open again", Did: "opened again",
		States: []engine.State{engine.Discarded}, Starts: true, Calls: true, Canary: true, Undo: true,
	},
	{Op: engine.OpUndo, Does: "undo"},

	{Op: engine.OpPause, Does: "pause", Undo: true},
	{Op: engine.OpResume, Does: "resume", Starts: true, Undo: true},
	{Op: engine.OpFreeze, Does: "freeze"},
	{Op: engine.OpThaw, Does: "thaw"},

	{Op: engine.OpTrigger, Does: "sync", Starts: true},
	{Op: engine.OpTrack, Does: "track"},
	{Op: engine.OpUntrack, Does: "stop tracking"},
	{Op: engine.OpTrackMany, Does: "track"},
	{Op: engine.OpReresolve, Does: "resolve again"},
	{Op: engine.OpForget, Does: "delete", Slow: true},

	{Op: engine.OpRunSchedule, Does: "run"},
	{Op: engine.OpPauseSchedule, Does: "pause", Undo: true},
	{Op: engine.OpResumeSchedule, Does: "resume", Undo: true},
	{Op: engine.OpEditSchedule, Does: "edit", Undo: true},

	{Op: engine.OpAck, Does: "acknowledge"},
	{Op: engine.OpSilence, Does: "silence"},

	{Op: engine.OpBackup, Does: "copy", Slow: true, About: "data directory"},
	{Op: engine.OpPrune, Does: "delete", Slow: true, About: "jobs"},

	{Op: engine.OpKey, Does: "replace"},
	{Op: engine.OpPage, Does: "tell"},
	{Op: engine.OpCall, Does: "call"},
}
