package lists

import (
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/ui/page"
)

// How many rows a command may be on before it asks first. A cancel gives work up, so it asks for
// fewer.
const (
	askRetries = 100
	askCancels = 10
)

// Bulk acts on the marked jobs; hidden is how many of them the filter hides. The engine is given
// their ids and the revisions that were shown: a job that has moved on since is skipped, and the
// answer says so. A row that the action cannot change is left out from the start.
func Bulk(v *page.View, a page.Action, rows []engine.JobRow, hidden int) page.Effect {
	does := operation.Of(engine.Op(a)).Does
	sel := &engine.Selection{}
	running := 0
	var fit []engine.JobRow
	for _, j := range rows {
		// A frozen screen shows an old revision: the command is on the job as it is now.
		j = v.LiveJob(j)
		if page.CannotOn(a, j) != "" {
			continue
		}
		fit = append(fit, j)
		if j.State == engine.Running || j.Kind == "account.sync" {
			running++
		}
		sel.IDs, sel.Revs = append(sel.IDs, j.ID), append(sel.Revs, j.Rev)
	}
	if len(sel.IDs) == 0 {
		// All of them have moved on since they were marked.
		marked := human.Counted(len(rows), "marked job", "marked jobs")
		return page.Say("there is nothing to " + does + " among the " + marked)
	}
	e := page.Do(engine.Command{Op: engine.Op(a), Select: sel})
	most := human.Either(a == page.Cancel, askCancels, askRetries)
	if running == 0 && hidden == 0 && len(sel.IDs) <= most {
		return e
	}
	e.Try = true // the engine counts what it would change, and what that costs
	e.Confirm = &page.Confirm{Question: bulkQuestion(does, len(sel.IDs), "job", "jobs", hidden), Yes: does + " them"}
	named := examples(fit, func(j *engine.JobRow) string { return columns.JobKey(&j.Job) })
	e.Confirm.Lines = append(e.Confirm.Lines, named)
	if a == page.Cancel && running > 0 {
		what := human.Counted(running, "of them runs or is a sync", "of them run or are syncs")
		e.Confirm.Lines = append(e.Confirm.Lines, what+": what they do now is given up.")
	}
	if unfit := len(rows) - len(fit); unfit > 0 {
		what := human.Counted(unfit, "marked job", "marked jobs")
		e.Confirm.Lines = append(e.Confirm.Lines, what+" cannot be changed now and stay as they are.")
	}
	return e
}

// WordForAll asks for a typed word where everything there is would be given up, with
// no filter that narrows it down (P-32).
func WordForAll(e page.Effect, a page.Action, all bool) page.Effect {
	if a == page.Cancel && all && e.Confirm != nil {
		e.Confirm.Word = engine.ConfirmAll
	}
	return e
}

// bulkQuestion names the number, and how many of them the filter hides: "Cancel 14 jobs (3 not in
// this filter)?"
func bulkQuestion(verb string, n int, one, many string, hidden int) string {
	text := page.Capital(verb) + " " + human.Counted(n, one, many) + human.If(hidden > 0, " ("+page.Count(hidden)+" not in this filter)")
	return text + "?"
}

// examples names a few of the rows: match:KR_1, match:KR_2, match:KR_3 and 12 more.
func examples[T any](rows []T, name func(*T) string) string {
	named := make([]string, min(len(rows), 3))
	for i := range named {
		named[i] = name(&rows[i])
	}
	text := strings.Join(named, ", ")
	if more := len(rows) - len(named); more > 0 {
		text += " and " + page.Count(more) + " more"
	}
	return text
}

// BulkSyncs starts or cancels the syncs of the marked accounts.
func BulkSyncs(v *page.View, a page.Action, rows []engine.AccountRow, hidden int) page.Effect {
	e := page.Effect{}
	verb := "sync"
	for _, r := range rows {
		switch {
		case a == page.Trigger && !r.Status.Open():
			e.DoAll = append(e.DoAll, *page.StartSync(r).Do)
		case a == page.Cancel && r.Status.Open():
			e.DoAll = append(e.DoAll, *page.CancelSync(v, r).Do)
		}
	}
	if a == page.Cancel {
		verb = "cancel"
	}
	if len(e.DoAll) == 0 {
		marked := human.Counted(len(rows), "marked account", "marked accounts")
		return page.Say("there is nothing to " + verb + " among the " + marked)
	}
	lines := []string{examples(rows, func(a *engine.AccountRow) string { return a.RiotID })}
	if a == page.Cancel {
		lines = append(lines, "Their syncs end as CANCELLED; what is stored stays.")
	}
	e.Try = a == page.Trigger // the engine tells what they cost
	e.Confirm = &page.Confirm{
		Question: bulkQuestion(verb, len(e.DoAll), "account", "accounts", hidden),
		Lines:    lines, Yes: verb + " them",
	}
	return e
}
