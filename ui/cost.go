package ui

import (
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
)

// costLine says in one line what a command will take before it is confirmed (I-2):
// the calls, when they are made, and what waits the longer for them. "" = nothing.
func costLine(t weighed, now time.Time) string {
	c := t.receipt.Cost
	if c == nil || c.Calls == 0 {
		return ""
	}
	if c.Bucket == "" {
		return page.Capital(c.CallsText()) + "; when it is done, and what it delays, is not known before the first answer tells its limits."
	}
	line := c.DoneText(now)
	if t.receipt.Text == "" || t.command.Op == engine.OpTrigger { // else the engine has told the calls
		line = c.CallsText() + " (" + c.Bucket + "), " + line
	}
	if delayed := c.Delayed(now); delayed != "" {
		line += "; " + delayed
	}
	return page.Capital(line) + "."
}
