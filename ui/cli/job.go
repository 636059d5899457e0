package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
)

// Job tells of one job, by its id or its key, how it stands, and what became of each of its tries.
func Job(name string) List {
	q := engine.JobQuery{ID: engine.JobID(strings.TrimPrefix(name, "#"))}
	if strings.Contains(name, ":") { // keys have a colon, ids have none
		q = engine.JobQuery{Key: name}
	}
	return answered(q, func(o Out, d engine.JobDetail) error {
		j := &d.Job
		lines := []string{fmt.Sprintf("%s is %s: %d of %d tries used, queue %s",
			columns.JobKey(&j.Job), columns.StateWord(&j.Job), j.Tries, d.MaxAttempts, j.Queue)}
		if next := d.NextRetryAt; !next.IsZero() {
			lines = append(lines, "it is tried again in "+human.Span(time.Until(next))+", at "+human.Stamp(next))
		}
		if j.Why != "" {
			lines = append(lines, "it waits: "+engine.WhyUntil(j.Why, j.Until, time.Now()))
		}
		for _, a := range d.Attempts {
			lines = append(lines, tryText(a))
		}
		for _, line := range lines {
			if err := o.printSentence(line); err != nil {
				return err
			}
		}
		return nil
	})
}

// tryText says when a try was, what became of it, and what was decided then:
//
//	try 2, 2026-01-20 12:30:46: 503; retry in 10 s
func tryText(a engine.Attempt) string {
	text := fmt.Sprintf("try %d, %s: ", a.Number, human.Stamp(a.Start))
	if a.End.IsZero() {
		return text + "it runs"
	}
	// Without an error it was done, snoozed or cancelled.
	return text + cmp.Or(a.Err, string(a.Verb)) + human.If(a.Decision != "", "; "+a.Decision)
}
