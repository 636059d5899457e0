package alerts

import (
	"cmp"
	"slices"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// evidence lists what speaks for an alert: each thing opens where it is seen.
// It holds the alert as it was when the screen was opened: an alert may leave the rows of Watch,
// when its rule is removed, while somebody reads it.
type evidence struct {
	page.Quiet
	lists.Page[engine.Evidence]
	alert engine.AlertRow
}

// NewEvidence makes the list of an alert.
func NewEvidence(r engine.AlertRow) page.Page {
	p := &evidence{alert: r}
	p.List = lists.New(columns.Evidence, columns.EvidenceList, evidenceID)
	p.Is = lists.Declaration[engine.Evidence]{
		Screen: page.ScreenEvidence, Crumb: columns.AlertName(&r), File: "evidence", Row: "evidence",
		Fill: func(v *page.View) {
			p.Put(v, page.MadeOf{Version: v.Version}, func() []engine.Evidence { return p.now(v).Evidence })
		},
		Does: map[page.Action]func(*page.View, engine.Evidence) page.Effect{
			page.Open: func(v *page.View, _ engine.Evidence) page.Effect { return page.Effect{Open: p.page(v)} },
		},
		Cannot: func(v *page.View, a page.Action, _ engine.Evidence) string {
			if a == page.Open && p.page(v) == nil {
				return "there is no screen for this: its line says all that is known"
			}
			return ""
		},
	}
	return p
}

// evidenceID is the identity of a row: one job may speak for an alert several times, at different
// instants.
func evidenceID(e *engine.Evidence) string {
	return e.Kind + " " + e.ID + " " + e.At.UTC().Format("20060102T150405.000000")
}

// now is the alert as it stands: its evidence grows while it is looked at.
func (p *evidence) now(v *page.View) *engine.AlertRow {
	if i := slices.IndexFunc(v.Alerts, func(r engine.AlertRow) bool { return r.ID == p.alert.ID }); i >= 0 {
		return &v.Alerts[i]
	}
	return &p.alert
}

// evidencePages open a thing by its kind.
var evidencePages = map[string]func(v *page.View, e engine.Evidence) *page.Target{
	"job":     func(_ *page.View, e engine.Evidence) *page.Target { return page.ToJob(engine.JobID(e.ID)) },
	"account": func(_ *page.View, e engine.Evidence) *page.Target { return page.ToAccount(e.ID) },
	"queue":   func(_ *page.View, e engine.Evidence) *page.Target { return page.ToQueue(engine.Queue(e.ID)) },
	"call":    openCall,
}

// openCall opens what is known about a 429, else the call's job. The evidence of
// a call names its job and its instant.
// The recorder keeps the last calls only, so an old 429 leads to its job.
func openCall(v *page.View, e engine.Evidence) *page.Target {
	for i := range v.Calls {
		c := &v.Calls[i]
		if c.Status == 429 && c.At.Equal(e.At) && string(c.Job) == e.ID {
			return &page.Target{Screen: page.ScreenForensics, Seq: c.Seq}
		}
	}
	if e.ID == "" {
		return nil
	}
	return page.ToJob(engine.JobID(e.ID))
}

// page is what the selected thing opens; nil = nothing does.
func (p *evidence) page(v *page.View) *page.Target {
	e, ok := p.Selected()
	open := evidencePages[e.Kind]
	// A call without a job may still be found in the recorder by its instant.
	if !ok || open == nil || e.ID == "" && e.Kind != "call" {
		return nil
	}
	return open(v, e)
}

// SelectedJob implements Jobber.
func (p *evidence) SelectedJob(v *page.View) (engine.JobID, string) {
	p.Refresh(v)
	if e, ok := p.Selected(); ok && (e.Kind == "job" || e.Kind == "call") {
		return engine.JobID(e.ID), e.ID
	}
	return "", ""
}

// Draw implements Page.
func (p *evidence) Draw(v *page.View) []string {
	p.Refresh(v)
	r := p.now(v)
	w := v.Inner(v.W)
	// On lower screens the chart would leave the evidence, which the screen is opened for, a row or
	// two.
	charted := v.Tall != page.Short && v.H > 3*tallestChart
	head := []string{v.Row(w, append([]part.Cell{part.Plain(" ")}, standing(v, r)...)...)}
	head = append(head, v.Paragraph(w, themes.Text, "next"+human.Either(quiet(r), ", ", ": ")+nextStep(r))...)
	panels := []part.Section{{Title: columns.AlertName(r), Rows: head, Height: len(head)}}
	h := max(v.H-len(head)-3, 1)
	if charted {
		chart := historyChart(v, r, w, tallestChart+2)
		panels = append(panels, part.Section{Title: "HISTORY", Note: "per 5 min", Rows: chart, Height: len(chart)})
		h -= len(chart) + 2
	}
	empty := cmp.Or(p.List.Empty(v), "no evidence is kept: the alert never fired, or what spoke for it has gone")
	h, log := block.BeforeLog(v, h, len(p.Shown))
	return block.WithLog(v, log, append(panels,
		p.Section(v, w, h, empty, part.Section{Title: "EVIDENCE", Note: p.Note(v),
			Tail: p.About(v.Keyed("{open} opens it"))}))...)
}
