package page

import (
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Tried turns what a dry run has told of a command into the lines of the question before
// it, and reports whether it costs so little that no question is needed: at most free
// calls; 0 = always ask. What is confirmed is what was counted, so the command is narrowed
// to the rows that the dry run has selected.
func Tried(c *engine.Command, r engine.Receipt, free int, now time.Time) (lines []string, unasked bool) {
	if r.Select != nil {
		c.Select = r.Select
	}
	if r.Text != "" && c.Op != engine.OpTrigger { // the line of the cost says it all
		text := r.Text
		if strings.HasPrefix(text, "would ") {
			text = Capital(text)
		}
		lines = append(lines, strings.TrimRight(text, ".")+".")
	}
	if line := costLine(*c, r, now); line != "" {
		lines = append(lines, line)
	}
	return lines, free > 0 && (r.Cost == nil || r.Cost.Calls <= free)
}

// costLine says in one line what a command will take before it is confirmed, as its dry
// run has told: the calls, when they are made, and what waits the longer for them, such as
// "About 889 calls (app:asia 100/120s), done about 14:20; it delays nothing else." It is
// "" for one that takes no calls.
func costLine(command engine.Command, r engine.Receipt, now time.Time) string {
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
