package accounts

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// pace draws the calls of an account by steps of the forecast: those of the last minute,
// and those that are planned.
// The scale goes a little above what the account's region allows: an account that has all calls to
// itself does not reach the top, and one that shares them is seen to.
// The past and the plan come from one answer, so that no call is counted in both.
func (p *Account) pace(v *page.View, a engine.AccountRow, w, h int) part.Section {
	plan := &p.calls.Plan
	s := part.Section{Title: "PACE", Note: "calls per " + human.Dur(engine.ForecastStep), Height: h}
	if v.Size == page.S { // where the time goes has no section of its own
		s.Note = cmp.Or(p.pacedBy(v, tookOf(p.detail.Waits)), s.Note)
	}
	width := max(w-4, 1)
	// The forecast knows a minute of the past; a wider chart leaves cells before it empty, which keeps
	// "now" at about the same share of the width.
	back := min(engine.ForecastPast-1+width/60*4, width-1)
	axis := part.NewAxis(v.Now, engine.ForecastStep, back, width)
	values := make([]float64, width)
	for i := range values {
		// not known, which is drawn otherwise than none
		values[i] = math.NaN()
	}
	// What the region allows in one step of the forecast: 100 calls in 2 minutes are 4.2 in 5 s.
	even := 0.0
	for _, host := range plan.Hosts {
		if host.Host == a.Region && host.Window > 0 {
			even = float64(host.Limit) * float64(engine.ForecastStep) / float64(host.Window)
			n, whole := block.KeyAllows(host.Limit, host.Window, engine.ForecastStep)
			s.Tail = human.If(v.Size != page.S, human.Either(whole, "max ", "key allows ")+n)
		}
	}
	top := even * 1.15
	// Cells outside the chart are skipped: a forecast may be older than the frame and longer than
	// it.
	put := func(cell, n int) {
		if cell >= 0 && cell < width {
			values[cell] = float64(n)
			top = max(top, float64(n))
		}
	}
	var ends time.Time
	for _, row := range plan.Accounts {
		if row.Account != a.ID {
			continue
		}
		now := axis.At(plan.At)
		for i, n := range row.Past {
			put(now-len(row.Past)+i, n)
		}
		for i, n := range row.Planned {
			put(now+i, n)
		}
		ends = row.Ends
	}
	// A chart without a limit and without a call still needs a height above 0 to divide by.
	if top == 0 {
		top = 1
	}
	chart := part.NewChart(v.Theme, axis, h)
	chart.Area(0, h-1, part.Series{Values: values, Top: top})
	chart.Seam(0, h-1)
	chart.Put(h-1, 0, themes.Dim, v.Theme.Glyphs.Minus+human.Dur(time.Duration(back)*engine.ForecastStep))
	chart.Mid(h-1, back, themes.Figure, "now")
	if a.Status.Open() && ends.After(v.Now) {
		// never across the word "now"
		text, sign, at := v.Clock(ends), v.Theme.Glyphs.Mark, max(axis.At(ends), back+len("now"))
		if at >= width { // it lies beyond the chart
			sign, at = v.Theme.Glyphs.Focus, width-1
		}
		chart.Sign(h-1, at, themes.OK, sign)
		if !chart.Try(h-1, at+2, themes.Text, text) {
			chart.Put(h-1, at-1-len(text), themes.Text, text)
		}
	}
	for y := range h {
		s.Rows = append(s.Rows, chart.Row(part.NewLine(v.Theme, w).Gap(2), y).String())
	}
	return s
}

// took is what the parts of an attempt took, as medians.
// The line is the wait for a worker, the limiter that for a permit, http Riot's answer, and rest
// what was done with it: parsing and storing.
// Medians and not means: one attempt that hung until its timeout would move a mean far up.
type took struct {
	kind                      engine.Kind
	calls                     int
	since                     time.Time // of the oldest one
	line, limiter, http, rest time.Duration
}

// tookOf adds up the attempts of the kind of the newest one.
// Matches and timelines take different times: a median over both would be that of neither. spent
// has the newest first.
func tookOf(spent []engine.Spent) (t took) {
	if len(spent) == 0 {
		return t
	}
	t.kind = spent[0].Kind
	var line, limiter, http, rest []time.Duration
	for _, s := range spent {
		if s.Kind != t.kind {
			continue
		}
		t.calls++
		t.since = s.End
		line, limiter, http, rest = append(line, s.Line), append(limiter, s.Limiter), append(http, s.HTTP),
			append(rest, s.Rest)
	}
	t.line, t.limiter, t.http, t.rest = median(line), median(limiter), median(http), median(rest)
	return t
}

// median sorts all in place; of an even number it is the upper one. all must not be empty.
func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// tookTitles name what an attempt of a kind brings.
// A kind that is not listed has the title of a call.
var tookTitles = map[engine.Kind]string{"match.fetch": "ONE MATCH TAKES", "timeline.fetch": "ONE TIMELINE TAKES"}

// oneTakes says where the time of one match goes.
// Waiting for a turn has no bar: a job that stood in line behind ten thousand others would make
// the three that follow invisible.
func (p *Account) oneTakes(v *page.View, a engine.AccountRow, w, h int) part.Section {
	t := tookOf(p.detail.Waits)
	s := part.Section{Title: cmp.Or(tookTitles[t.kind], "ONE CALL TAKES"), Height: h, Empty: "no call of it is known yet"}
	if t.calls == 0 {
		return s
	}
	s.Note, s.Tail = "median of "+page.Count(t.calls), "since "+v.Clock(t.since)
	// The longest of the three fills the bar.
	high := max(t.limiter, t.http, t.rest)
	for i, one := range []struct {
		name string
		took time.Duration
	}{{"waits for its turn", t.line}, {"limiter paces", t.limiter}, {"Riot answers", t.http},
		{"parse, store", t.rest}} {
		token := human.Either(i == 0, themes.Text, themes.Figure)
		l := part.NewLine(v.Theme, w).Gap(1).Field(part.Plain(one.name), 18, part.Words).
			Field(part.As(token, fineSecs(one.took)), 9, part.Number).Gap(1)
		if bar := min(l.Room()-1, 24); i > 0 && bar >= 4 {
			l.Bar(themes.Run, bar, float64(one.took)/float64(max(high, 1)))
		}
		s.Rows = append(s.Rows, l.String())
	}
	s.Rows = append(s.Rows, v.Row(w, part.As(themes.Dim, " "+p.pacedBy(v, t))))
	if a.Calls > 0 {
		facts := []part.Cell{part.As(themes.Dim, human.Counted(a.Calls, "call", "calls")+" used"), block.Throttled(a)}
		s.Rows = append(s.Rows, v.Row(w, append([]part.Cell{part.Plain(" ")}, v.Join(facts...)...)...))
	}
	return s
}

// pacedBy is how much of an attempt was spent on waiting for a limit, and for which; "" = no
// attempt is known.
// The wait for a worker is left out of the whole: it depends on other accounts and not on the
// limit.
func (p *Account) pacedBy(v *page.View, t took) string {
	if t.limiter+t.http <= 0 {
		return ""
	}
	text := human.Percent(float64(t.limiter)/float64(t.limiter+t.http)) + " paced"
	if b := p.eta(v).Bucket; b != "" {
		text += " by " + v.WindowCalled(b)
	}
	return text
}

// fineSecs is a wait that was measured, with what is less than a hundredth: 0.004 s.
func fineSecs(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "<1 ms"
	case d < 10*time.Millisecond:
		return human.Millis(d)
	}
	return human.Secs(d)
}

// storedColumns tell of a match that was stored what players ask first: W Soraka 6/12/2
// Ranked Solo.
var storedColumns = func() columns.List[engine.MatchRow] {
	l := columns.Matches.Pick("result champion score queue").
		Drawn("result", page.ByView(func(v *page.View, m *engine.MatchRow) part.Cell {
			result, token := columns.Result(m)
			if result == "" { // the player is not told to be in it
				return part.As(themes.Dim, v.Theme.Glyphs.Dash)
			}
			return part.As(token, strings.ToUpper(result[:1]))
		})).
		Drawn("queue", page.ByView(func(_ *page.View, m *engine.MatchRow) part.Cell {
			mode := columns.Mode(m) // Solo, Draft: the name of the champion needs the room
			return part.As(themes.Dim, strings.TrimPrefix(strings.TrimPrefix(mode, "Ranked "), "Normal "))
		}))
	// Widths of the result, the champion ("Heimerdinger"), the score ("12/10/15") and the mode.
	// They are fixed, as the table shares its columns with three blocks beside it and must not move
	// with its rows.
	for i, width := range []int{1, 12, 8, 9} {
		l[i].Head.Min, l[i].Head.Width, l[i].Head.Priority = width, width, 0
	}
	l[1].Head.Flex, l[2].Head.Kind = 1, part.Number
	return l
}()

// justStored lists the matches that were stored last, newest first.
// How many were won is of the rows that are shown, and says so.
func (p *Account) justStored(v *page.View, w, h int) part.Section {
	src := p.source(v)
	won, told := 0, 0
	for _, m := range src.Items[:min(len(src.Items), h)] {
		if m.Won != nil {
			told++
			won += page.Btoi(*m.Won)
		}
	}
	s := part.Section{Title: "JUST STORED"}
	if !p.row(v).Status.Open() {
		s.Title = "STORED LAST"
	}
	if told > 0 {
		s.Note = "won " + page.Count(won) + " of these " + page.Count(told)
	}
	t := part.Table{Columns: storedColumns.Heads(), Empty: p.empty(v), Failed: v.Unread(p.empty(v)), Still: p.still}
	s.Rows, s.Height = p.matches.Body(v, t, w, h, src), h
	s.Click = func(_, y int) string { return p.matches.Clicked(src, y) }
	return s
}

// lastSyncs lists the runs of an account, the newest first.
// Such as "✓ 12:30:46  full  +412  2m 10s", with what it could not have.
func (p *Account) lastSyncs(v *page.View, w, h int) part.Section {
	s := part.Section{Title: "LAST SYNCS", Height: h, Empty: "none yet"}
	for _, r := range p.detail.Runs[:min(len(p.detail.Runs), h)] {
		s.Rows = append(s.Rows, runLine(v, &r, w))
	}
	if p.Loading() {
		s.Empty = "loading its syncs…"
	}
	return s
}

// runLine is a run: what came of it, when, its kind, what it brought and how long it took.
func runLine(v *page.View, r *engine.RunRow, w int) string {
	// A run that is open, or that ended without having begun, is told by when it was asked for.
	word, at := runWord(r), r.Finished
	sign := v.Theme.State(word)
	if at.IsZero() {
		at = r.Triggered
	}
	l := part.NewLine(v.Theme, w).Gap(1).Glyph(sign.Token, sign.Glyph, 1).Gap(1).
		Field(part.Plain(v.Clock(at)), 12, part.Words).Gap(1)
	l.Field(part.As(themes.Dim, r.Kind), 6, part.Words).Gap(1)
	brought := human.Either(r.Matches.Stored > 0, part.As(themes.Figure, "+"+page.Count(r.Matches.Stored)), part.As(themes.Dim, part.None))
	l.Field(brought, 6, part.Number)
	if !r.Started.IsZero() && !r.Finished.IsZero() {
		l.Field(part.As(themes.Dim, human.Dur(r.Finished.Sub(r.Started))), 7, part.Number)
	}
	if more := cmp.Or(r.Error, r.Matches.Gaps()); more != "" && l.Room() > 10 {
		l.Gap(2).Put(themes.Dim, columns.InShort(more))
	}
	return l.String()
}

// runWord is the word of a run's result that themes know a sign for.
// Results that are no word of the table, such as "failed", are themselves words of the themes.
func runWord(r *engine.RunRow) string {
	switch r.Result {
	case "":
		return "OPEN"
	case "completed":
		return "DONE"
	}
	return r.Result
}
