package report

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// weeklyEvery is how long a list of weeks stays before it is read again: one is
// made a week.
const weeklyEvery = time.Minute

// weekly is the report of all tracked accounts, week by week.
// Weeks are read as they are looked at, never all of them.
type weekly struct {
	page.Answer
	weeks []engine.WeeklyReport // the newest first
	first int                   // of those, the newest that is shown
	end   bool                  // there is none older
	asked string                // week that is on its way; "" = the newest
}

// want asks for the newest week, then for as many older ones as are shown.
// Weeks are asked for one by one, by the Monday they begin on: a week without a report ends the
// list, so nobody has to know how many there are.
// The newest is asked for again once a minute only while there is none: a week that was made does
// not change.
func (p *weekly) want(v *page.View) engine.Query {
	if p.Pending || !v.Ready {
		return nil
	}
	stale := v.Now.Sub(p.At) >= weeklyEvery && !v.Frozen || !p.Have
	switch {
	case len(p.weeks) == 0 && (p.At.IsZero() || stale):
		p.asked = ""
	case len(p.weeks) > 0 && len(p.weeks) < p.first+shownWeeks(v) && !p.end:
		p.asked = weekBefore(p.weeks[len(p.weeks)-1].Week)
	default:
		return nil
	}
	// what failed is not asked again with each frame
	if p.Err != nil && v.Now.Sub(p.At) < page.ReloadEvery && !p.At.IsZero() {
		return nil
	}
	p.Pending, p.At = true, v.Now
	return engine.WeeklyQuery{Week: p.asked}
}

// shownWeeks is how many stand on the screen at once.
func shownWeeks(v *page.View) int { return human.Either(v.Size == page.L, charts.BesideWeeks, 1) }

// weekBefore is the Monday a week before one.
// Monday is "2026-11-16"; "" = it is no date.
func weekBefore(monday string) string {
	at, err := time.Parse(time.DateOnly, monday)
	if err != nil {
		return ""
	}
	return at.AddDate(0, 0, -7).Format(time.DateOnly)
}

// got takes a week in. One that is not there ends the list.
// A week that is not older than the last one ends the list too: an engine that knows no older one
// may answer with the nearest.
func (p *weekly) got(v *page.View, q engine.WeeklyQuery, a engine.Answer, err error) {
	if q.Week != p.asked {
		return
	}
	if errors.Is(err, engine.ErrNotFound) {
		p.end, err = true, nil
	}
	if !p.Take(v, err) {
		return
	}
	r, ok := weeklyOf(a)
	if !ok || len(p.weeks) > 0 && r.Week >= p.weeks[len(p.weeks)-1].Week {
		p.end = p.end || q.Week != ""
		return
	}
	p.weeks = append(p.weeks, r)
}

// weeklyOf takes both forms in which an answer comes: from this process as a pointer, over the
// socket as a value.
func weeklyOf(a engine.Answer) (engine.WeeklyReport, bool) {
	switch r := a.(type) {
	case *engine.WeeklyReport:
		if r != nil {
			return *r, r.Week != ""
		}
	case engine.WeeklyReport:
		return r, r.Week != ""
	}
	return engine.WeeklyReport{}, false
}

// step goes to an older or a newer week.
func (p *weekly) step(by int) { p.first = page.Clamp(p.first+by, 0, max(len(p.weeks)-1, 0)) }

// reload reads all weeks again.
func (p *weekly) reload() { *p = weekly{} }

// shown are the weeks on the screen, the newest first.
// They are fewer than have room as long as older ones are on their way.
func (p *weekly) shown(v *page.View) []engine.WeeklyReport {
	from := min(p.first, len(p.weeks))
	return p.weeks[from:min(from+shownWeeks(v), len(p.weeks))]
}

// asReport is a week in the form that the map is drawn of.
func asReport(w *engine.WeeklyReport) *engine.PlayReport {
	return &engine.PlayReport{Zone: w.Zone, Built: w.Built, Minutes: w.Minutes, Games: w.Games, Matches: w.Played}
}

// drawWeekly draws the weeks, with one scale, and the accounts of the newest.
// One scale for all of them, or a quiet week would look as busy as the one beside it.
// On a wide screen the accounts have two thirds below the maps, and the modes the rest.
func (p *Screen) drawWeekly(v *page.View) []string {
	weeks := p.weekly.shown(v)
	if len(weeks) == 0 {
		return v.Whole(part.Section{
			Title: "WEEKLY REPORT", Tail: p.weekly.Told(v),
			Rows: v.Said(v.Inner(v.W), p.weeklyEmpty(v)),
		})
	}
	top := 1.0
	for i := range weeks {
		top = max(top, charts.CellTop(asReport(&weeks[i])))
	}
	// Places are made for as many weeks as are known, so that an only one has the whole width.
	beside := min(shownWeeks(v), len(p.weekly.weeks))
	w := v.W / beside
	rows := make([][]string, len(weeks))
	for i := range weeks {
		rows[i] = p.weekRows(v, &weeks[i], top, v.Inner(w))
	}
	h := len(rows[0]) + 2
	maps := besideWeeks(v, 0, h, beside, func(i, _ int) part.Section {
		if i < len(weeks) {
			return part.Section{Title: weekTitle(&weeks[i]), Rows: rows[i]}
		}
		return part.Section{Title: "NO OLDER WEEK"}
	})
	below := v.H - h
	if v.Size != page.L || below < 3 {
		return part.Stack(maps, p.weekAccounts(v, &weeks[0], below))
	}
	left := *v
	left.W = v.W * 2 / 3
	right := v.Sections(left.W, h, v.W-left.W, below, weekModes(v, &weeks[0], v.Inner(v.W-left.W)))
	return part.Stack(maps, part.Beside(p.weekAccounts(&left, &weeks[0], below), right))
}

// weekModes are the games of all accounts in a week by mode.
func weekModes(v *page.View, week *engine.WeeklyReport, w int) part.Section {
	sum := engine.PlayReport{ByQueue: map[int]int{}}
	for _, a := range week.Accounts {
		for queue, n := range a.ByQueue {
			sum.ByQueue[queue] += n
		}
	}
	return part.Section{Title: "GAMES BY MODE", Note: weekTitle(week),
		Rows: block.Bars(v, modeBars(&sum), themes.Run, w)}
}

// weeklyEmpty says why there is no week, and how to have one made now.
func (p *Screen) weeklyEmpty(v *page.View) string {
	switch {
	case p.weekly.Loading():
		return "loading the weekly report…"
	case !p.weekly.Have:
		return "the weekly report could not be read"
	}
	return v.Start("no weekly report yet",
		"it is made each Monday; to make it now press {overview}, {overview/schedules}, go to report.weekly and press {schedules/retry}")
}

// weekTitle names a week by its days.
func weekTitle(w *engine.WeeklyReport) string { return "Week " + weekDays(w) }

// weekDays names the first and the last day of a week.
func weekDays(w *engine.WeeklyReport) string {
	monday, err := time.Parse(time.DateOnly, w.Week)
	if err != nil {
		return "of " + w.Week
	}
	return monday.Format("2 Jan") + " to " + monday.AddDate(0, 0, 6).Format("2 Jan 2006")
}

// weekRows are a week's map with what it covers.
// A week is complete when the matches of all its accounts are stored.
func (p *Screen) weekRows(v *page.View, week *engine.WeeklyReport, top float64, w int) []string {
	r := asReport(week)
	cell := page.Clamp((w-charts.DayWidth-charts.TotalWidth)/24, 1, 6)
	still := charts.HeatMap{Day: -1, Numbers: p.Numbers} // the cursor of the play time is not on this map
	word, token := "COMPLETE", themes.OK
	sign := v.Theme.State("OK")
	switch {
	case len(week.Accounts) == 0: // nobody was tracked
		word, token, sign = "EMPTY", themes.Dim, v.Theme.State("QUEUED")
	case week.Complete < len(week.Accounts):
		word, sign = "PARTIAL", v.Theme.State("PARTIAL")
		token = sign.Token
	}
	rows := []string{
		v.Row(w, append([]part.Cell{part.Plain(" "), part.As(token, sign.Glyph+" "+word+" ")},
			v.Join(part.Plain(page.Count(week.Complete)+" of "+
				human.Counted(len(week.Accounts), "account", "accounts")),
				part.Plain(human.Counted(week.Played, "game", "games")))...)...),
		v.Row(w, append([]part.Cell{part.Plain(" ")},
			v.Join(part.As(themes.Dim, week.Zone), part.As(themes.Dim, "built "+v.Clock(week.Built)))...)...),
		still.HoursRow(v, cell, w),
	}
	for d := range r.Minutes {
		for line := range min(weekTall(v, len(week.Accounts)), p.Tallest()) {
			rows = append(rows, still.DayRow(v, r, d, line, cell, top, w))
		}
	}
	rows = append(rows, still.TotalRow(v, r, cell, w))
	// A scale with its steps has room below one map; of several one row tells the darkest.
	if shownWeeks(v) == 1 {
		return append(rows, still.ScaleRow(v, top, w))
	}
	return append(rows, v.Row(w, part.As(themes.Dim, "   one scale: "),
		part.As(charts.HeatToken(1), v.Theme.Glyphs.Shade[4]), part.As(themes.Dim,
			" = "+human.Dur(charts.SpanOf(top)))))
}

// weekTall is how many rows a day of the week gets: the accounts below have their
// rows first.
func weekTall(v *page.View, accounts int) int {
	return page.Clamp((v.H-9-max(accounts, 3))/7, 1, 3)
}

// weekAccounts lists what each account played in a week, the most first.
func (p *Screen) weekAccounts(v *page.View, week *engine.WeeklyReport, h int) []string {
	if h < 3 {
		return part.Height(v.Theme, v.W, max(h, 0), nil)
	}
	all := slices.Clone(week.Accounts)
	slices.SortStableFunc(all, func(a, b engine.WeeklyAccount) int {
		return cmp.Or(cmp.Compare(b.Minutes, a.Minutes), cmp.Compare(a.RiotID, b.RiotID))
	})
	w := v.Inner(v.W)
	// Bars are of the account that has played most.
	most := 0.0
	for _, a := range all {
		most = max(most, a.Minutes)
	}
	rows := make([]string, 0, h)
	for _, a := range all[:min(len(all), h-2)] {
		rows = append(rows, weekAccountRow(v, a, most, w))
	}
	if len(all) == 0 {
		rows = append(rows, v.Row(w, part.As(themes.Dim, "   no account was tracked in this week")))
	}
	return v.Sections(0, v.H-h, v.W, h, part.Section{
		Title: "ACCOUNTS", Note: page.Some(len(all)) + " in the week " + weekDays(week),
		Tail: v.Keyed("{previous item} {next item} other weeks ") + v.Theme.Glyphs.Sep +
			v.Keyed(" {states} play time"), Rows: rows,
	})
}

// weekAccountRow is what an account played: hours, a bar where there is room, games, how many were
// won, and what is missing of it.
func weekAccountRow(v *page.View, a engine.WeeklyAccount, most float64, w int) string {
	l := part.NewLine(v.Theme, w).Gap(3).Field(part.Plain(a.RiotID), page.Clamp(w/4, 14, 28), part.Words).Gap(1)
	l.Field(part.Plain(charts.Hours(a.Minutes)), 8, part.Number).Gap(2)
	if bar := w - 101; bar >= 8 { // what is missing needs room, too
		l.Bar(themes.Run, min(bar, 55), a.Minutes/max(most, 1)).Gap(2)
	}
	l.Field(part.Plain(human.Counted(a.Games, "game", "games")), 10, part.Number).Gap(2)
	won := block.WonCell(a.Wins, a.Games, a.Remakes)
	won.Text = cmp.Or(won.Text, part.None)
	l.Field(won, 18, part.Words).Gap(2)
	if a.Missing != "" {
		sign := v.Theme.State("PARTIAL")
		l.Cells(part.As(sign.Token, sign.Glyph+" "+a.Missing))
	}
	return l.String()
}

// exportWeek is the newest week that is shown as a table of accounts.
// Whole minutes, as [Reports.Export] has them.
func (p *Screen) exportWeek(v *page.View) [][]string {
	rows := [][]string{{"ACCOUNT", "WEEK", "MINUTES", "GAMES", "WINS", "MISSING"}}
	for _, w := range p.weekly.shown(v)[:min(1, len(p.weekly.shown(v)))] {
		for _, a := range w.Accounts {
			rows = append(rows, []string{a.RiotID, w.Week, strconv.Itoa(int(a.Minutes + 0.5)), strconv.Itoa(a.Games),
				strconv.Itoa(a.Wins), a.Missing})
		}
	}
	return rows
}
