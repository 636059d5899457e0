package limits

import (
	"cmp"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// blocks are who gets the next calls, the next resets and the 429s, side by side.
// A small screen has no room for the resets: each bucket's row tells its own.
func (p *Screen) blocks(v *page.View, t *charts.Timetable, hits []hitRow, y, h int) []string {
	blocks := []func(w, h int) part.Section{
		func(w, h int) part.Section { return nextBlock(v, t, w, h) },
		func(w, h int) part.Section { return resetsBlock(v, t, w, h) },
		func(w, h int) part.Section { return p.hitsBlock(v, hits, w, h) },
	}
	if v.Size == page.S {
		blocks = append(blocks[:1], blocks[2])
	}
	return v.Abreast(y, h+1, blocks)
}

// nextBlock says who gets the next calls.
// A share is an account's, or that of all retries; they are those of the plan that the charts
// above draw.
func nextBlock(v *page.View, t *charts.Timetable, w, h int) part.Section {
	s := part.Section{Title: "NEXT CALLS", Height: h}
	switch {
	case v.Engine.State == engine.EngineBrowse:
		s.Empty = "no engine runs here to plan calls"
	case t.Plan == nil:
		s.Empty = cmp.Or(v.Waiting(), "nothing is planned yet")
	case t.Left == 0:
		s.Empty = "nothing waits"
	case t.Plan.Stuck:
		s.Note = page.BriefWhy(v, t.Plan.Why)
	}
	if s.Empty != "" {
		return s
	}
	all, calls := nextCalls(v, t)
	if n := len(all); n > h && all[n-1].retry { // they are among the others
		all = all[:n-1]
	}
	// They add up to what the title says.
	if left := all[min(len(all), max(h-1, 0)):]; len(left) > 1 {
		rest := callShare{name: "others"}
		for _, share := range left {
			rest.calls += share.calls
		}
		all = append(all[:len(all)-len(left)], rest)
	}
	s.Title, s.Note = "NEXT "+page.Count(calls)+" CALLS", cmp.Or(s.Note, "who gets them")
	const number, bar = 7, 10
	l := part.NewLine(v.Theme, w)
	for _, share := range all[:min(len(all), h)] {
		l.Reset(w, false)
		token, name := themes.Run, part.Plain(share.name)
		if share.retry {
			token, name.Token = themes.Retry, themes.Dim
		}
		l.Gap(1).Field(name, w-3-number-bar, part.Words).
			Field(part.As(themes.Figure, page.Count(share.calls)), number, part.Number).Gap(1)
		s.Rows = append(s.Rows, l.Bar(token, bar, float64(share.calls)/float64(calls)).String())
	}
	return s
}

// resetsBlock says which windows end next, and what that brings.
// Such as "0:04   match 10 s   +1420, 180 go": in four seconds 1420 places are free again, and 180
// calls go then.
func resetsBlock(v *page.View, t *charts.Timetable, w, h int) part.Section {
	s := part.Section{Title: "NEXT RESETS", Height: h, Empty: "no window has a call in it"}
	if len(page.HostsOf(v)) == 1 {
		s.Note = t.Host
	}
	all := nextResets(v, t)
	l := part.NewLine(v.Theme, w)
	for _, r := range all[:min(len(all), h)] {
		does := part.As(themes.Dim, " room")
		switch {
		case r.frozen:
			does = part.As(themes.Held, " frozen")
		case r.goes > 0:
			does.Text = ", " + page.Count(r.goes) + " go"
		}
		l.Reset(w, false)
		// 24 cells are the instant, the calls and what they bring; 16 without that.
		name := w - 24
		if s.Note == "" { // the names of hosts take the place of what it does
			name, does.Text = w-16, ""
		}
		l.Gap(1).Field(part.Plain(v.In(r.at)), 5, part.Number).Gap(2).Field(part.Plain(r.name), name, part.Words)
		l.Field(part.As(themes.Run, "+"+block.TallCount(int64(r.back))), 7, part.Number).Cells(does)
		s.Rows = append(s.Rows, l.String())
	}
	return s
}

// hitsBlock are the last 429s, each with what the server had counted beside us.
// A click on one puts the recorder's cursor on its call.
func (p *Screen) hitsBlock(v *page.View, all []hitRow, w, h int) part.Section {
	s := part.Section{Title: "429s", Note: howGood(v), Height: h, Empty: human.Either(v.Engine.Throttled == 0, "none since the start", "none of the last calls")}
	for _, hit := range all {
		if len(s.Rows) < h {
			s.Rows = append(s.Rows, hitRows(v, hit, w)...)
		}
	}
	s.Rows = s.Rows[:min(len(s.Rows), h)]
	s.Click = func(_, y int) string {
		if y >= 0 && y/2 < len(all) {
			p.seek, p.onCalls, p.moved = all[y/2].call.Seq, true, true
		}
		return ""
	}
	return s
}

// hitRows are a 429 in two rows: when, of what, for how long; and whose calls they were.
// Such as "‖ 12:30:05 app, held 10 s" and below it "Riot had 101, we 84    17 not ours".
func hitRows(v *page.View, hit hitRow, w int) []string {
	c := hit.call
	sign, note := v.Theme.State("PAUSED"), "expected: our count had it full"
	token := themes.Dim
	if c.Unforeseen {
		token, note = themes.Warn, "unexpected"
	}
	text := c.At.In(v.Now.Location()).Format("15:04:05") + " " + cmp.Or(charts.HitKind(c), "429") + human.If(!page.OneHost(v), " "+c.Host)
	text += human.If(c.RetryAfter > 0, ", held "+human.Dur(c.RetryAfter))
	foreign := ""
	// Early is told by a simulator, which knows when a call came before its Retry-After had passed.
	switch n := hit.worst; {
	case c.Early > 0:
		note = columns.NoteCell(c).Text
	case n.Limit > 0 && n.Server >= 0:
		note = "Riot had " + page.Count(n.Server) + ", we " + page.Count(n.Ours)
		if d := n.Drift(); d > 0 {
			foreign = page.Count(d) + " not ours"
		}
	case charts.HitKind(c) == "service":
		note = "Riot is busy; costs no try"
	}
	l := part.NewLine(v.Theme, w)
	second := l.Gap(3).Field(part.As(token, note), w-5-len(foreign), part.Words).
		Right(part.As(token, foreign+" ")).String()
	l.Reset(w, false)
	return []string{l.Gap(1).Glyph(themes.Warn, sign.Glyph, 1).Gap(1).
		Field(part.Plain(text), w-4, part.Words).String(), second}
}

// recorder is the flight recorder: the last calls as a ribbon, and the list of them.
// As long as nobody has moved in it, the list follows the newest call.
// A small screen has no ribbon; with few rows the list has no header either.
func (p *Screen) recorder(v *page.View, w int, at places) part.Section {
	src := p.source(v)
	if !p.moved {
		p.calls.Cur.Home(src, p.calls.Height)
	}
	p.sought(src)
	s := part.Section{Title: "FLIGHT RECORDER", Note: p.recorderNote(v, src), Focus: p.onCalls,
		Tail: page.Joined(v, charts.Median(v), p.follow(v, at.ribbon > 0))}
	if at.ribbon > 0 { // it goes the other way than the list
		s.Note = page.Joined(v, s.Note, "newest right", v.Theme.Glyphs.Above+" "+charts.WaitedLong)
		calls := human.Either(p.On(), src.Calls, p.ribbon.Take(v))
		for _, row := range charts.Ribbon(v, calls, w-2, at.ribbon-1, true) {
			s.Rows = append(s.Rows, " "+row)
		}
	}
	// Rows before the first call, for what is clicked.
	above := len(s.Rows)
	table := part.Table{Columns: block.RecorderColumns(v.Size), Blur: !p.onCalls, Empty: p.emptyCalls(v)}
	if at.calls >= headedCalls {
		s.Rows = append(s.Rows, p.calls.Table(v, table, w, at.calls, src)...)
		above++
	} else {
		s.Rows = append(s.Rows, p.calls.Body(v, table, w, at.calls, src)...)
	}
	s.Click = func(_, y int) string {
		p.onCalls, p.moved = true, true
		return p.calls.Clicked(src, y-above)
	}
	return s
}

// headedCalls is from how many rows on the list of calls has a header. Of fewer the titles would
// take a third.
const headedCalls = 5

// recorderNote is how many calls there are, or of how many a filter lets through.
func (p *Screen) recorderNote(v *page.View, src block.CallList) string {
	all := len(p.tape.Calls)
	if told := p.Told(); told != "" {
		return page.Count(src.Len()) + " of " + page.Count(all) + " " + v.Theme.Glyphs.Sep + " " + told
	}
	return human.Counted(all, "call", "calls")
}

// follow says that the list stands still, and the key that lets it follow again.
func (p *Screen) follow(v *page.View, ribbon bool) string {
	return human.Either(p.moved, v.Keyed("{first row} follows again"), human.If(ribbon, "list ")+"newest first")
}

// emptyCalls says why there is none.
// The key that clears the filter is named where it hides all of them.
func (p *Screen) emptyCalls(v *page.View) string {
	if p.On() && len(v.Calls) > 0 {
		return "0 of " + page.Count(len(v.Calls)) + " " + v.Theme.Glyphs.Sep + v.Keyed(" {back} clears ") + p.Used
	}
	return cmp.Or(v.Waiting(), v.Start("no call yet", "{sync} starts a sync"))
}
