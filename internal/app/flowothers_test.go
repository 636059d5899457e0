package app

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// TestFlow_WhatOthersDoIsSeenAtOnce: a job in line is no live row, of which every
// change is told; what somebody else does to it is on the screen all the same before
// the list would have been read again by itself.
func TestFlow_WhatOthersDoIsSeenAtOnce(t *testing.T) {
	who := flowPlayer("Blue Heron#FLOW", 30)
	inFlow(t, flowRiot("5:30", who), func(f *flow) {
		f.sync(who)
		f.until("matches in line", time.Minute, func() bool { return len(f.inLine()) > 10 })
		bo := f.sit("bo", 140, 40)
		defer bo.leave()
		f.do(engine.Command{Op: engine.OpPause, Queue: "ingest.summoner.full"}) // nothing moves now but by command
		job := f.inLine()[0]
		bo.press("3", "s", "s", "/")
		bo.types(job.Key)
		bo.sees("JOBS 1 of", "AVAILABLE")
		// A list is read again by itself at 2.1 s and 4.2 s after its last change: what is done
		// at 3 s would be seen 1.2 s late.
		const atOnce = time.Second
		for i := range 4 {
			time.Sleep(3*time.Second + time.Duration(i)*400*time.Millisecond) // at any moment of its turn
			cancelled := f.do(engine.Command{Op: engine.OpCancel, Job: job.ID})
			bo.seesWithin(atOnce, "CANCELLED", "script: cancel")
			time.Sleep(3 * time.Second)
			f.do(engine.Command{Op: engine.OpUndo, Audit: cancelled.Audit})
			bo.seesWithin(atOnce, "AVAILABLE")
		}
		time.Sleep(3 * time.Second)
		f.do(engine.Command{Op: engine.OpReschedule, Job: job.ID, At: time.Now().Add(time.Hour)})
		bo.seesWithin(atOnce, "SCHEDULED")
		bo.press("enter")
		bo.sees("asked for by script", "ask")
		bo.press("esc")
	})
}

// inLine are the matches that wait for their turn, the last of the line first.
func (f *flow) inLine() []engine.JobRow {
	f.t.Helper()
	q := engine.JobsQuery{Kind: "match.fetch", States: []engine.State{engine.Available}}
	return ask[engine.JobsPage](f.t, f.task.front, q).Jobs
}
