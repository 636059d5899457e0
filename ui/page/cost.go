package page

import (
	"time"

	"github.com/farsight-console/farsight/engine"
)

// CostLine says in one line what a command will take before it is confirmed, as its dry
// run has told: the calls, when they are made, and what waits the longer for them, such as
// "About 889 calls (app:asia 100/120s), done about 14:20; it delays nothing else." It is
// "" for one that takes no calls.
func CostLine(command engine.Command, r engine.Receipt, now time.Time) string {
	c := r.Cost
	if c == nil || c.Calls == 0 {
		return ""
	}
	if c.Bucket == "" {
		return Capital(c.CallsText()) + "; when it is done, and what it delays, is not known before the first answer tells its limits."
	}
	line := c.DoneText(now)
	if r.Text == "" || command.Op == engine.OpTrigger { // else the engine has told the calls
		line = c.CallsText() + " (" + c.Bucket + "), " + line
	}
	if delayed := c.Delayed(now); delayed != "" {
		line += "; " + delayed
	}
	return Capital(line) + "."
}
