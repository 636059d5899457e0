// Package alerts is the screen of every rule about every subject, and what speaks for one alert.
package alerts

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// screen lists every rule about every subject: how it stands, and what to do. One rule makes a row
// for each subject, such as each queue or each account, so the rows are more than the rules.
type screen struct {
	lists.Page[engine.AlertRow]
	page.Answer
	read []engine.AlertRow // of the answer, until Watch has told them
	at   time.Time         // of the last evaluation; zero = not known
}

// New makes the screen.
func New() page.Page {
	p := &screen{}
	p.List = lists.New(columns.Alerts, columns.AlertList.Drawn("hour", page.ByView(sparkCell)),
		func(r *engine.AlertRow) string { return r.ID })
	p.Is = lists.Declaration[engine.AlertRow]{
		Screen: page.ScreenAlerts, File: "alerts", Row: "alert",
		Fill: func(v *page.View) {
			p.Put(v, page.MadeOf{Version: v.Version, Came: p.Came}, func() []engine.AlertRow { return p.rows(v) })
		},
		Does: map[page.Action]func(*page.View, engine.AlertRow) page.Effect{
			page.Open: func(_ *page.View, r engine.AlertRow) page.Effect {
				return page.Effect{Open: &page.Target{Screen: page.ScreenEvidence, Row: r}}
			},
			page.Ack:     func(*page.View, engine.AlertRow) page.Effect { return acknowledge(p.Chosen()) },
			page.Silence: func(_ *page.View, r engine.AlertRow) page.Effect { return silence(r) },
		},
		Cannot: func(_ *page.View, a page.Action, r engine.AlertRow) string {
			// Marked alerts are not refused here: those that do not fire are left out when the
			// command is made.
			if a == page.Ack && p.Cur.MarkCount() == 0 && r.State != engine.AlertFiring {
				return columns.AlertName(&r) + " is " + columns.AlertWord(r.State) +
					": only a firing alert can be acknowledged"
			}
			return ""
		},
	}
	return p
}

// Want implements Page: Watch tells the alerts when one has changed; before that,
// and after a reload, they are asked for.
// A new snapshot (Restarts) may be of another engine, with other rules.
func (p *screen) Want(v *page.View) engine.Query {
	if v.Alerts != nil && p.Have || !p.Due(v, v.Restarts) {
		return nil
	}
	return engine.AlertsQuery{}
}

// Got implements Page.
func (p *screen) Got(v *page.View, q engine.Query, a engine.Answer, err error) {
	if _, ok := q.(engine.AlertsQuery); ok && p.Take(v, err) {
		got, _ := a.(engine.AlertsAnswer)
		p.read, p.at = got.Alerts, got.At
	}
}

// rows are those of Watch, else of the answer, in the order of what needs somebody first: firing,
// pending, acknowledged and so on, then by what they are about. Watch sends none before the first
// change, which on a quiet engine may be hours away.
func (p *screen) rows(v *page.View) []engine.AlertRow {
	from := v.Alerts
	if from == nil {
		from = p.read
	}
	// Rows of Watch are shared by all screens, and sorting works in place.
	rows := slices.Clone(from)
	page.SortRows(rows, func(a, b *engine.AlertRow) int {
		return cmp.Or(columns.AlertRank(a.State)-columns.AlertRank(b.State), strings.Compare(a.About, b.About),
			strings.Compare(a.ID, b.ID))
	})
	return rows
}

// sparkCell draws the values of an hour against the limit: what is far from it is
// low, however it moves.
func sparkCell(v *page.View, r *engine.AlertRow) part.Cell {
	token := human.Either(r.Holds, themes.Warn, themes.Run)
	return part.As(token, block.SparkText(v, r.History, max(r.Limit, leastScale(r))))
}

// acknowledge says of alerts that somebody has seen them; those that do not fire
// are left out.
// One command for each alert: the audit shall tell of each by itself.
func acknowledge(rows []engine.AlertRow) page.Effect {
	e := page.Effect{}
	for i := range rows {
		if rows[i].State == engine.AlertFiring {
			e.DoAll = append(e.DoAll, engine.Command{Op: engine.OpAck, Alert: rows[i].ID})
		}
	}
	if len(e.DoAll) == 0 {
		return page.Say("none of the marked alerts fires: there is nothing to acknowledge")
	}
	return e
}

// silence asks until when an alert shall say nothing.
// Nothing is sent before the operator has typed an instant, or "now" to end a silence.
func silence(r engine.AlertRow) page.Effect {
	ghost := human.Either(r.State == engine.AlertSilenced, "now ends the silence; +30m or 14:00 is another end", "+30m or 14:00, then why")
	return page.AskArg(engine.Command{Op: engine.OpSilence, Alert: r.ID}, "silence "+r.Rule+" until", ghost)
}

// Draw implements Page.
// The selected alert stands below the list: in full where there is room, else its state, what to do
// next, and the latest evidence.
func (p *screen) Draw(v *page.View) []string {
	p.Refresh(v)
	note := p.Note(v, countsByState(p.Shown)...)
	// The detail below has at least 4 rows, and a third of a screen that is not short.
	least := human.Either(v.Tall != page.Short, min(max(v.H/3, 4), v.H-5), 4)
	h, below := p.Parts(v, least)
	list := p.Section(v, v.Inner(v.W), h, p.empty(v), part.Section{Title: "ALERTS", Note: note, Tail: p.tail(v)})
	r, _ := p.Selected()
	// 14 rows hold the state, the advice, a chart and a few rows of evidence.
	if below >= 14 && v.Size != page.S && r.ID != "" {
		return p.drawn(v, list, &r)
	}
	detail := part.Section{Title: cmp.Or(columns.AlertName(&r), "SELECTED"), Rows: summary(v, &r, v.Inner(v.W), below), Height: below}
	if left := below - len(detail.Rows) - 2; left >= leastLog { // nothing else is known of one that never held
		detail.Height = len(detail.Rows)
		return v.Whole(list, detail, block.LogPanel(v, v.Inner(v.W), left))
	}
	return v.Whole(list, detail)
}

// drawn is the list and, below it, all of the selected alert: how it stands, its last hour
// as a chart, and what speaks for it.
func (p *screen) drawn(v *page.View, list part.Section, r *engine.AlertRow) []string {
	w := v.Inner(v.W)
	next := block.LabelledRows(v, w, "next", part.Wrap(nextStep(r), max(w-block.DetailLabel-1, 10)))
	stands := append([]string{v.Row(w, append([]part.Cell{part.As(themes.Dim, " state    ")}, standing(v, r)...)...)},
		next...)
	// The four rows are two titles and the empty rows before and after the alert.
	top := list.Height + len(stands) + 4
	rows := append(v.Sections(0, 0, v.W, top, list,
		part.Section{Title: columns.AlertName(r), Rows: stands, Height: len(stands)}),
		v.Abreast(top, min(v.H-top, tallestChart+4), []func(w, h int) part.Section{
			func(w, h int) part.Section {
				return part.Section{Title: "HISTORY", Note: "per 5 min", Rows: historyChart(v, r, w, h)}
			},
			func(w, h int) part.Section {
				return part.Section{Title: "EVIDENCE", Note: page.Count(len(r.Evidence)),
					Tail: v.Keyed("{open} opens it"), Rows: evidenceRows(v, r, w, h, "")}
			},
		})...)
	return block.Fill(v, block.Trim(rows), func(w, h int) part.Section { return block.LogPanel(v, w, h) })
}

// tail says how old the list is, of an engine that does not send its alerts by itself.
// Alerts that come with Watch are always those of now and need no age.
func (p *screen) tail(v *page.View) string {
	if why := p.Answer.Told(v); why != "" && v.Alerts == nil {
		return why
	}
	if p.at.IsZero() || v.Alerts != nil {
		return ""
	}
	return "as of " + v.Clock(p.at)
}

// countsByState is 2 firing, 1 pending, 1 silenced.
func countsByState(rows []*engine.AlertRow) []string {
	n := map[engine.AlertState]int{}
	for i := range rows {
		n[rows[i].State]++
	}
	var out []string
	for _, s := range []engine.AlertState{engine.AlertFiring, engine.AlertPending, engine.AlertAcknowledged,
		engine.AlertSilenced} {
		// Alerts that are OK are most of them, and go unsaid.
		if n[s] > 0 {
			out = append(out, page.Count(n[s])+" "+string(s))
		}
	}
	return out
}

// nextStep is what to do; of one that is quiet, if it fires.
func nextStep(r *engine.AlertRow) string {
	return human.If(r.Over(), "it is over: no more has come for some time; ") + human.If(quiet(r), "if it fires: ") + cmp.Or(r.Next, part.None)
}

func quiet(r *engine.AlertRow) bool { return r.State == engine.AlertOK && r.Next != "" }

// summary is how the selected alert stands, what to do about it, and its latest
// evidence.
// The chart needs the most rows, so it is given up first; its place takes one row of sparks.
func summary(v *page.View, r *engine.AlertRow, w, h int) []string {
	if r.ID == "" {
		return []string{v.Row(w, part.As(themes.Dim, " no alert is selected"))}
	}
	rows := block.LabelledRows(v, w, "next", part.Wrap(nextStep(r), max(w-block.DetailLabel-1, 10)))
	if h > len(rows)+2 {
		rows = append([]string{v.Row(w,
			append([]part.Cell{part.As(themes.Dim, " state    ")}, standing(v, r)...)...)}, rows...)
	}
	room, some := h-len(rows), page.Clamp(len(r.Evidence), 1, someEvidence)
	if left := room - some - 1; left >= leastChart && len(r.History) > 0 {
		rows = append(append(rows, evidenceRows(v, r, w, some, "evidence")...), "")
		return append(rows, historyChart(v, r, w, left)...)
	}
	rows = append(rows, evidenceRows(v, r, w, room-1, "evidence")...)
	if spark := sparkCell(v, r); strings.TrimSpace(spark.Text) != "" {
		rows = append(rows, v.Row(w, part.As(themes.Dim, " hour     "), spark))
	}
	return rows
}

// evidenceRows are the latest of what speaks for an alert, at most h; label, if there is
// one, stands before the first.
func evidenceRows(v *page.View, r *engine.AlertRow, w, h int, label string) (rows []string) {
	if len(r.Evidence) == 0 {
		return block.LabelledRows(v, w, label, []string{"none is kept: it never fired, or what spoke for it has gone"})
	}
	place, when := 0, 0
	if label != "" {
		place = block.DetailLabel - 1
	}
	shown := r.Evidence[:min(len(r.Evidence), max(h, 0))]
	for i := range shown {
		when = max(when, len(v.Clock(shown[i].At)))
	}
	for i := range shown {
		e := &shown[i]
		l := part.NewLine(v.Theme, w).Gap(1).Field(part.As(themes.Dim, label), place, part.Words)
		l.Field(part.As(themes.Dim, v.Clock(e.At)), when, part.Words).Gap(2)
		rows = append(rows, l.Field(part.As(themes.Dim, e.Kind), 8, part.Words).
			Cells(part.Plain(cmp.Or(e.Text, e.ID))).String())
		label = ""
	}
	return rows
}

// leastLog is how many rows an alert must leave empty for the log to be shown in them.
const leastLog = 4

// someEvidence is how many rows of evidence stand below the list, and leastChart the least that the chart of
// an alert takes below that.
const someEvidence, leastChart = 3, 4

// standing is FIRING, now 47, limit > 2, since 12:30:05.
func standing(v *page.View, r *engine.AlertRow) []part.Cell {
	since := part.As(themes.Dim, "since "+v.Clock(r.Since))
	return v.Join(columns.AlertSign(page.Pen{View: v}, r), part.Plain("now "+r.Now()),
		part.As(themes.Dim, "limit "+r.Bound()), part.If(r.State != engine.AlertOK && !r.Since.IsZero(), since))
}

// empty says why there is no row.
func (p *screen) empty(v *page.View) string {
	switch {
	case !p.Have && p.Answer.Err != nil && v.Alerts == nil:
		return v.Failed("the alerts")
	case p.Loading() && v.Alerts == nil:
		return "loading alerts…"
	}
	return cmp.Or(p.List.Empty(v), "no rule has been evaluated yet")
}
