package ui

import (
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/part"
)

// costLine says in one line what a command will take before it is confirmed (I-2):
// the calls, when they are made, and what waits the longer for them. "" = nothing.
func costLine(t weighed, now time.Time) string {
	c := t.receipt.Cost
	if c == nil || c.Calls == 0 {
		return ""
	}
	calls := "1 call"
	if c.Calls != 1 {
		calls = part.Count(int64(c.Calls)) + " calls"
	}
	if c.Bucket == "" {
		return "About " + calls + "; when it is done, and what it delays, is not known before the first answer tells its limits."
	}
	calls += " (" + c.Bucket + ")"
	begin := "Done about "
	if t.receipt.Text == "" || t.command.Op == engine.OpTrigger { // else the engine has told the calls
		begin = "About " + calls + ", done about "
	}
	line := begin + engine.When(now.Add(c.Takes), now)
	if delayed := c.Delayed(now); delayed != "" {
		line += "; " + delayed
	}
	return line + "."
}
