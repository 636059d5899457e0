package app

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/sim"
)

// TestP16_Flow_DiscardedJobsOfAQueue: the queue says how many of its jobs were discarded, also
// after a restart, and no more of those that are let run again.
func TestP16_Flow_DiscardedJobsOfAQueue(t *testing.T) {
	who := flowPlayer("Winter Wren#FLOW", 6)
	inFlow(t, flowRiot("100:1", who), func(f *flow) {
		ids := f.failing(who, 2, sim.NotFound)
		says := func(want int) func() bool {
			return func() bool {
				for _, q := range ask[engine.StatusAnswer](t, f.task.front, engine.StatusQuery{}).Queues {
					if q.Name == "ingest.summoner.full" {
						return q.Counts[engine.Discarded] == want
					}
				}
				return want == 0
			}
		}
		f.sync(who)
		f.until("two discarded jobs", 10*time.Minute, says(2))
		f.stop()
		f.start()
		f.until("two after a restart", time.Minute, says(2))
		f.sim.Clear()
		f.do(engine.Command{Op: engine.OpForce, Job: f.job("match:" + ids[0]).Job.ID, Reason: "Riot has it"})
		f.until("one when the other has succeeded", time.Minute, says(1))
	})
}
