// Package forensics is the screen of one 429: our counts beside Riot's, and who spent them.
package forensics

import (
	"cmp"
	"strconv"
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

// Screen is what is known about one 429: our counts beside the server's, who spent them, and
// whether somebody else uses the key.
//
// Its one question is whether a 429 was our fault: if the server had counted more calls than we
// made, somebody else uses the key; if we had counted enough ourselves, the limiter is wrong.
type Screen struct {
	seq     uint64 // of the call; 0 = the latest 429
	windows lists.Pane
	page.Answer
	found engine.Forensics
}

// New makes the screen of a call in the flight recorder.
func New(seq uint64) *Screen { return &Screen{seq: seq} }

// Screen implements Page.
func (p *Screen) Screen() page.Screen { return page.ScreenForensics }

// Crumb implements Page.
func (p *Screen) Crumb(*page.View) string { return "429 of call " + strconv.FormatUint(p.seq, 10) }

// Want implements Page: what led to an answer does not change any more.
func (p *Screen) Want(v *page.View) engine.Query {
	return p.Ask(v, p.seq, engine.ForensicsQuery{Seq: p.seq})
}

// Got implements Page.
func (p *Screen) Got(v *page.View, q engine.Query, a engine.Answer, err error) {
	asked, ok := q.(engine.ForensicsQuery)
	if ok && asked.Seq == p.seq && p.Take(v, err) {
		p.found, _ = a.(engine.Forensics)
		// Asked for the latest 429 (0), the answer says which that is. The screen then stays with
		// it.
		p.seq = cmp.Or(p.found.Call.Seq, p.seq)
		p.Answer.Seq = p.seq
	}
}

// call is the call itself: the flight recorder has it before the answer does.
// With neither, only its number is known, and the facts stay empty.
func (p *Screen) call(v *page.View) engine.CallRow {
	if p.Have {
		return p.found.Call
	}
	for i := range v.Calls {
		if v.Calls[i].Seq == p.seq {
			return v.Calls[i]
		}
	}
	return engine.CallRow{Seq: p.seq}
}

// SelectedJob implements Jobber.
func (p *Screen) SelectedJob(v *page.View) (engine.JobID, string) {
	job := p.call(v).Job
	return job, string(job)
}

// Cannot implements Page.
func (p *Screen) Cannot(v *page.View, a page.Action) string {
	return human.If(a == page.Open && p.call(v).Job == "", "this call belongs to no job")
}

// Act implements Page.
func (p *Screen) Act(v *page.View, a page.Action) page.Effect {
	switch a {
	case page.Trigger:
		return page.Effect{Ask: page.AskSync}
	case page.Open:
		return page.Effect{Open: page.ToJob(p.call(v).Job)}
	case page.Recorder:
		return page.Effect{Open: &page.Target{Screen: page.ScreenLimits, Seq: p.seq}}
	}
	p.windows.Steer(p.windowSource(v), a)
	return page.Effect{}
}

// windowSource lists the windows that the call fell into: of the application and of the method.
func (p *Screen) windowSource(v *page.View) part.Slice[engine.WindowCount] {
	return part.Slice[engine.WindowCount]{
		Items: p.found.Windows,
		Key:   func(w engine.WindowCount) string { return w.Scope + "|" + w.Window.String() },
		Cells: func(w engine.WindowCount, cells []part.Cell) []part.Cell { return windowCells(v, w, cells) },
	}
}

// windowCells is a window with our count and the server's beside it; drift is by how much theirs is
// above ours.
// A window that the answer's headers did not name has a Server below 0.
func windowCells(v *page.View, w engine.WindowCount, cells []part.Cell) []part.Cell {
	fill := part.Cell{Text: part.None, Ratio: -1}
	if w.Limit > 0 {
		fill = part.Cell{Text: page.Count(w.Ours) + "/" + page.Count(w.Limit),
			Ratio: float64(w.Ours) / float64(w.Limit), Token: themes.Run}
	}
	server, drift := part.As(themes.Dim, "not told"), part.As(themes.Dim, part.None)
	if w.Server >= 0 {
		server, drift = part.Plain(page.Count(w.Server)), part.As(themes.OK, "0")
	}
	if d := w.Drift(); d != 0 {
		drift = part.As(themes.Warn, strconv.Itoa(d))
		if d > 0 {
			drift.Text = "+" + drift.Text
		}
	}
	return append(cells, part.Plain(columns.Versionless(w.Scope)), part.As(themes.Dim, human.Window(w.Window)), fill,
		server, drift, verdict(v, w))
}

// verdict says of a window whose count broke it.
// "Full at the server, not by our count" is the one that accuses: somebody else spent what is
// missing.
func verdict(v *page.View, w engine.WindowCount) part.Cell {
	switch {
	case w.Server < 0:
		return part.As(themes.Dim, "the answer did not count this window")
	case w.Limit > 0 && w.Server >= w.Limit && w.Ours < w.Limit:
		return part.As(themes.Warn, v.Theme.State("WARN").Glyph+" full at the server, not by our count")
	case w.Limit > 0 && w.Server >= w.Limit:
		return part.As(themes.Held, "full, and we knew")
	case w.Drift() > 0:
		return part.As(themes.Warn, "the server counted more than we did")
	}
	return part.As(themes.Dim, "room left")
}

// windowColumns go with windowCells.
var windowColumns = []part.Column{
	{Title: "SCOPE", Kind: part.Words, Min: 12, Width: 20},
	{Title: "WINDOW", Kind: part.Number, Min: 6, Width: 6},
	{Title: "OUR COUNT", Kind: part.Progress, Min: 11, Width: 24, Tail: 11},
	{Title: "SERVER", Kind: part.Number, Min: 8, Width: 8},
	{Title: "DRIFT", Kind: part.Number, Min: 5, Width: 5},
	{Title: "WHAT IT SAYS", Kind: part.Words, Min: 20, Width: 44, Flex: 1, Priority: 1},
}

// Draw implements Page.
// What the call was, then the counts of every window it fell into, then whose calls filled them.
func (p *Screen) Draw(v *page.View) []string {
	w := v.Inner(v.W)
	facts := p.facts(v, w)
	// A third of a low screen is enough: the windows scroll.
	windows := page.Clamp(len(p.found.Windows)+1, 2, max(v.H/3, 2))
	spent, log := block.BeforeLog(v, max(v.H-len(facts)-windows-5, 0), len(p.found.Spent))
	empty := human.Either(p.Have, "the recorder kept no counts of this call", "what led to it could not be read")
	if p.Loading() {
		empty = "loading what led to it…"
	}
	t := part.Table{Columns: windowColumns, Empty: empty}
	return block.WithLog(v, log,
		part.Section{Title: "RATE LIMIT HIT", Tail: cmp.Or(p.Told(v), v.Keyed("{open} opens its job")), Rows: facts,
			Height: len(facts)},
		p.windows.Section(v, t, w, windows, p.windowSource(v), part.Section{Title: "OUR COUNTS BESIDE THE SERVER'S"}),
		part.Section{Title: "WHO SPENT THE WINDOW", Rows: p.spentRows(v, w, spent), Height: spent})
}

// facts are the call and what follows from it.
// Three rows, then the engine's own sentence about it.
func (p *Screen) facts(v *page.View, w int) []string {
	c := p.call(v)
	head := v.Join(part.As(themes.Dim, clockMillis(v, c.At)), columns.StatusCell(&c), part.Plain(c.Host),
		part.Plain(columns.Versionless(c.Method)), part.Plain(c.Target), part.Plain(human.Millis(c.Took)))
	rows := []string{v.Row(w, append([]part.Cell{part.Plain(" ")}, head...)...)}
	// Until the answer is here the class of the call tells the kind: "429.app" is of the
	// application.
	kind := cmp.Or(p.found.Kind, strings.TrimPrefix(string(c.Class), "429."))
	fault := human.If(c.Unforeseen, "unexpected: by our count there was room")
	if c.Early > 0 { // a simulator tells of a client: no limiter of ours was there
		fault = "the client broke the limit"
	}
	why := []part.Cell{part.Plain(kind + " limit"),
		part.If(c.RetryAfter > 0, part.Plain("Retry-After "+human.Dur(c.RetryAfter))), part.As(themes.Err, fault)}
	for _, line := range [][]part.Cell{why, {p.foreign(v), p.clock()}} {
		rows = append(rows, v.Row(w, append([]part.Cell{part.Plain(" ")}, v.Join(line...)...)...))
	}
	return append(rows, v.Paragraph(w, themes.Text, p.found.Text)...)
}

// clockMillis is an instant to the millisecond: windows of a second are what this is about.
func clockMillis(v *page.View, at time.Time) string {
	return human.If(!at.IsZero(), at.In(v.Now.Location()).Format("15:04:05.000"))
}

// foreign is whether another process uses the key.
func (p *Screen) foreign(v *page.View) part.Cell {
	switch {
	case !p.Have:
		return part.Cell{}
	case p.found.Foreign:
		return part.As(themes.Warn, v.Theme.State("WARN").Glyph+" another process uses this key")
	}
	return part.As(themes.OK, "nobody else uses this key")
}

// clock is how far the server's clock is from ours. Windows end by the server's, so a clock that is
// seconds off explains a 429 by itself. 0 = it is not known, or there is nothing to tell.
func (p *Screen) clock() part.Cell {
	d := p.found.ClockOffset
	switch {
	case d == 0:
		return part.Cell{}
	case d < 0:
		return part.As(themes.Dim, "its clock is "+human.Secs(-d)+" behind ours")
	}
	return part.As(themes.Dim, "its clock is "+human.Secs(d)+" ahead of ours")
}

// spentRows are the methods that spent the window's calls, with their shares.
func (p *Screen) spentRows(v *page.View, w, h int) []string {
	// Shares are of the calls that were spent, and not of the limit.
	total := 0
	for _, s := range p.found.Spent {
		total += s.Calls
	}
	rows := make([]string, 0, max(h, 0))
	for _, s := range p.found.Spent[:min(len(p.found.Spent), max(h, 0))] {
		token, name := themes.Run, columns.Versionless(s.What)
		if s.What == "others" {
			token, name = themes.Warn, "others with this key"
		}
		share := float64(s.Calls) / float64(max(total, 1))
		l := part.NewLine(v.Theme, w).Gap(3).Field(part.Plain(name), 26, part.Words).Gap(1).
			Field(part.Plain(page.Count(s.Calls)), 6, part.Number).Gap(2)
		l.Bar(token, page.Clamp(l.Room()-8, 4, 60), share).Gap(1)
		rows = append(rows, l.Cells(part.As(themes.Dim, human.Percent(share))).String())
	}
	if len(rows) == 0 && h > 0 {
		none := human.Either(p.Loading(), "loading…", "nobody: the recorder has no call of that window any more")
		rows = append(rows, v.Row(w, part.As(themes.Dim, "   "+none)))
	}
	return rows
}
