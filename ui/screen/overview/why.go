package overview

import (
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/page"
)

// whyGroup is why some jobs do not run, in the words of the overview.
// Its row is that of the first reason; only the number of jobs is of all that share the text.
type whyGroup struct {
	engine.ReasonRow
	text string
}

// whyGroups puts the reasons together that are told with one text.
// Two hosts that back off, or ten thousand jobs that wait for their matches, are one line each.
func whyGroups(v *page.View, rows []engine.ReasonRow) (out []whyGroup) {
	at := map[string]int{}
	for _, r := range rows {
		text := whyText(v, &r)
		if i, ok := at[text]; ok {
			out[i].Jobs += r.Jobs
			continue
		}
		at[text] = len(out)
		out = append(out, whyGroup{r, text})
	}
	return out
}

// whyText is a reason in few words. Whoever stands in line waits for the window that sets the pace,
// such as "2 min window paces".
func whyText(v *page.View, r *engine.ReasonRow) string {
	switch b, known := v.Limits.Pacing(); {
	case r.Shape == engine.ShapeInLine && known:
		return human.Window(b.Window) + " window paces"
	case r.Shape == engine.ShapeInLine:
		return engine.ShapeInLine
	case r.First.State == engine.Pending:
		return "waiting for matches"
	case r.First.Hold == engine.HoldThrottled:
		return "held after a 429"
	}
	return strings.Replace(page.BriefWhy(v, r.Text), "backs off", "backing off", 1) // however many do
}
