package page

import (
	"slices"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/ui/part"
)

// Evidence lists what speaks for an alert: each thing opens where it is seen.
type Evidence struct {
	Footed
	ListPage[engine.Evidence]
	alert engine.AlertRow
}

// NewEvidence makes the list of an alert.
func NewEvidence(r engine.AlertRow) *Evidence {
	p := &Evidence{alert: r, Footed: Footed{NewFoot()}}
	p.List = NewList(columns.Evidence, columns.EvidenceList, evidenceID)
	p.Is = ScreenOf[engine.Evidence]{
		Screen: ScreenEvidence, Crumb: columns.AlertName(&r), File: "evidence", Row: "evidence",
		Fill: func(v *View) {
			p.Put(v, MadeOf{version: v.Version}, func() []engine.Evidence { return p.now(v).Evidence })
		},
		Does: map[Action]func(*View, engine.Evidence) Effect{
			Open: func(v *View, _ engine.Evidence) Effect { return Effect{Open: p.page(v)} },
		},
		Cannot: func(v *View, a Action, _ engine.Evidence) string {
			if a == Open && p.page(v) == nil {
				return "there is no screen for this: its line says all that is known"
			}
			return ""
		},
	}
	return p
}

func evidenceID(e *engine.Evidence) string {
	return e.Kind + " " + e.ID + " " + e.At.UTC().Format("20060102T150405.000000")
}

// now is the alert as it stands: its evidence grows while it is looked at.
func (p *Evidence) now(v *View) *engine.AlertRow {
	if i := slices.IndexFunc(v.Alerts, func(r engine.AlertRow) bool { return r.ID == p.alert.ID }); i >= 0 {
		return &v.Alerts[i]
	}
	return &p.alert
}

// evidencePages open a thing by its kind.
var evidencePages = map[string]func(v *View, e engine.Evidence) *Target{
	"job":     func(_ *View, e engine.Evidence) *Target { return ToJob(engine.JobID(e.ID)) },
	"account": func(_ *View, e engine.Evidence) *Target { return toAccount(e.ID) },
	"queue":   func(_ *View, e engine.Evidence) *Target { return toQueue(engine.Queue(e.ID)) },
	"call":    openCall,
}

// openCall opens what is known about a 429, else the call's job. The evidence of
// a call names its job and its instant.
func openCall(v *View, e engine.Evidence) *Target {
	for i := range v.Calls {
		c := &v.Calls[i]
		if c.Status == 429 && c.At.Equal(e.At) && string(c.Job) == e.ID {
			return &Target{Screen: ScreenForensics, Seq: c.Seq}
		}
	}
	if e.ID == "" {
		return nil
	}
	return ToJob(engine.JobID(e.ID))
}

// page is what the selected thing opens; nil = nothing does.
func (p *Evidence) page(v *View) *Target {
	e, ok := p.Selected()
	open := evidencePages[e.Kind]
	if !ok || open == nil || e.ID == "" && e.Kind != "call" {
		return nil
	}
	return open(v, e)
}

// SelectedJob implements Jobber.
func (p *Evidence) SelectedJob(v *View) (engine.JobID, string) {
	p.Refresh(v)
	if e, ok := p.Selected(); ok && (e.Kind == "job" || e.Kind == "call") {
		return engine.JobID(e.ID), e.ID
	}
	return "", ""
}

// Draw implements Page.
func (p *Evidence) Draw(v *View) []string {
	p.Refresh(v)
	r := p.now(v)
	w := v.Inner(v.W)
	charted := v.Tall != Short && v.H > 3*tallestAlert
	head := []string{v.Row(w, append([]part.Cell{part.Plain(" ")}, alertStands(v, r)...)...)}
	for _, line := range part.Wrap("next: "+Or(r.Next, part.None), max(w-2, 10)) {
		head = append(head, v.Row(w, part.Plain(" "+line)))
	}
	panels := []part.Section{{Title: columns.AlertName(r), Rows: head, Height: len(head)}}
	h := max(v.H-len(head)-3, 1)
	if charted {
		chart := alertChart(v, r, w, tallestAlert+2)
		panels = append(panels, part.Section{Title: "LAST HOUR", Note: "per 5 min", Rows: chart, Height: len(chart)})
		h -= len(chart) + 2
	}
	empty := Or(p.List.Empty(v), "no evidence is kept: the alert never fired, or what spoke for it has gone")
	h, log := v.BeforeLog(h, len(p.Shown))
	return p.Foot.WithLog(v, log, append(panels,
		p.Section(v, w, h, empty, part.Section{Title: "EVIDENCE", Note: p.Note(v), Tail: p.About(v.Keyed("{open} opens it"))}))...)
}
