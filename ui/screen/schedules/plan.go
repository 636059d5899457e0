package schedules

import (
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// planned is the plan that is being typed for a schedule, and what the engine says
// of it.
// It lasts from the key that edits to the end of the prompt. The engine tries what is typed (a dry
// run) and names the next runs, so that nobody saves a plan that means something else.
type planned struct {
	name string // of the schedule; "" = none is being typed
	// nil = the engine has not answered yet.
	receipt *engine.Receipt
	// Why the text cannot be read; "" = it can.
	wrong  string
	asked  string // the text that was read last
	faulty string // the text that wrong is about
}

// ask makes the prompt for the plan of a schedule. What stands in it at first is the
// plan in force.
// An empty text takes the edit back: the configuration's plan is in force again.
func (p *planned) ask(r engine.ScheduleRow) *page.Text {
	*p = planned{name: r.Name}
	return &page.Text{
		Label: "edit " + r.Name,
		Ghost: "empty takes the edit back: " + r.ConfigExpr + " " + r.ConfigZone,
		Start: r.Expr + " " + r.Zone,
		Read: func(text string, now time.Time) (engine.Command, string) {
			c := engine.Command{Op: engine.OpEditSchedule, Schedule: r.Name}
			// The engine's reason stands above the prompt, in full; here is room for a few words.
			if p.wrong != "" && text == p.faulty {
				return c, "it cannot be read, the reason stands above"
			}
			p.asked = text
			wrong := page.ReadArg(&c, text, now)
			return c, wrong
		},
		Tried: func(got *engine.Receipt, wrong string) {
			p.receipt, p.wrong, p.faulty = got, wrong, p.asked
			// Both empty is how the prompt says that it was closed.
			if got == nil && wrong == "" {
				p.name = ""
			}
		},
	}
}

// draw shows when a schedule would run by the plan that is being typed; ok is false
// when none is.
func (p *planned) draw(v *page.View, name string, w int) (rows []string, ok bool) {
	switch {
	case p.name == "" || p.name != name:
		return nil, false
	case p.wrong != "":
		return v.Paragraph(w, themes.Err, p.wrong), true
	case p.receipt == nil:
		return []string{v.Row(w, part.As(themes.Dim, " asking the engine when it would run…"))}, true
	}
	utc := time.UTC.String()
	rows = []string{v.Row(w, p.runsIn(" would run ", p.receipt.Zone)...)}
	if p.receipt.Zone != utc {
		rows = append(rows, v.Row(w, p.runsIn("           ", utc)...))
	}
	return rows, true
}

// runsIn are the runs as a clock in a zone shows them.
// The zone [columns.HostZone] is that of the engine's machine, whose distance from UTC the receipt
// tells.
func (p *planned) runsIn(label, zone string) []part.Cell {
	cells, runs := []part.Cell{part.As(themes.Dim, label)}, p.receipt.Runs
	loc, err := time.LoadLocation(zone)
	switch {
	case zone == columns.HostZone:
		loc = time.FixedZone("", p.receipt.UTCOffset)
		zone = "local " + time.Time{}.In(loc).Format("-07:00")
	case err != nil: // the engine's machine knows more zones than this one
		return append(cells, part.As(themes.Dim, "this machine does not know the zone "+zone))
	}
	for _, at := range runs {
		cells = append(cells, part.Plain(at.In(loc).Format("Mon 02 Jan 15:04")+"  "))
	}
	if len(runs) == 0 {
		cells = append(cells, part.Plain("never  "))
	}
	return append(cells, part.As(themes.Dim, zone))
}

// editedText tells who edited a schedule and what the configuration says.
// Such as "edited by op, 2 h ago: fewer calls, config says 0 * * * * UTC".
func editedText(v *page.View, r *engine.ScheduleRow) string {
	text := "edited" + columns.ByUser(r.Edit.By) + ", " + v.Ago(r.Edit.At) + human.If(r.Edit.Reason != "", ": "+r.Edit.Reason)
	return text + ", config says " + r.ConfigExpr + " " + r.ConfigZone
}
