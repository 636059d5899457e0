// Package report is the screen of when an account plays, and of the weeks of all tracked accounts.
package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// Screen shows when an account plays: a heat map of minutes, hour by weekday. Under its number it
// shows the first account that has a report; opened from an account, that one. The weeks of all
// tracked accounts are its other side.
type Screen struct {
	account string // id; "" = the first one there is
	own     bool   // opened from an account: the cursor stays on it
	none    bool   // the first account has no report: another is looked for
	charts.HeatMap
	utc bool // the zone is shown with its distance from UTC
	// of the account's detail
	page.Answer
	byWeek bool         // the weeks of all accounts are shown instead
	weekly weekly       // the weeks, and which of them are shown
	played block.Played // champions and modes, and the draft while a sync runs
	detail engine.AccountDetail
	of     string // the account that detail is of
	// "UTC+09:00".
	offset string // of the report's zone
}

// New makes the report of an account; "" is the numbered screen.
// Day -1 says that the cursor has not been put anywhere yet.
func New(account string) *Screen {
	return &Screen{account: account, own: account != "", HeatMap: charts.HeatMap{Day: -1}}
}

// Screen implements Page.
func (p *Screen) Screen() page.Screen { return page.ScreenReports }

// Crumb implements Page.
func (p *Screen) Crumb(*page.View) string { return "Report" }

// id is the account whose report is shown: the one that was chosen, else the first;
// when that has no report yet, the first one that has been synced.
// "" = no account is known.
func (p *Screen) id(v *page.View) string {
	switch {
	case p.account != "" || len(v.Accounts) == 0:
		return p.account
	case !p.none:
		return v.Accounts[0].ID
	}
	synced := slices.IndexFunc(v.Accounts, func(a engine.AccountRow) bool { return a.Status == engine.SyncCompleted })
	return v.Accounts[max(synced, 0)].ID
}

// Want implements Page.
// It asks for one thing at a time: the report first, then what stands beside it.
func (p *Screen) Want(v *page.View) engine.Query {
	if p.byWeek {
		return p.weekly.want(v)
	}
	id := p.id(v)
	if id == "" {
		return nil
	}
	if id != p.of {
		p.of, p.detail = id, engine.AccountDetail{}
		p.Answer = page.Answer{}
	}
	row, _ := v.Account(id)
	// The account's row changes when its report is made anew, and only then is it asked for again.
	if !p.Due(v, uint64(max(row.Updated.UnixMilli(), 0))) {
		return p.played.Want(v, row, p.detail.Report)
	}
	return engine.AccountQuery{ID: id}
}

// Got implements Page.
// An answer about an account that is not shown any more is dropped: keys are faster than the disk.
func (p *Screen) Got(v *page.View, q engine.Query, a engine.Answer, err error) {
	if week, ok := q.(engine.WeeklyQuery); ok {
		p.weekly.got(v, week, a, err)
		return
	}
	if play, ok := q.(engine.PlayQuery); ok && play.Account == p.of {
		p.played.Got(v, a, err)
		p.stand(v)
		return
	}
	asked, ok := q.(engine.AccountQuery)
	if !ok || asked.ID != p.of || !p.Take(v, err) {
		return
	}
	p.detail, _ = a.(engine.AccountDetail)
	r := p.detail.Report
	if r == nil {
		p.none = p.account == ""
		return
	}
	p.account = p.of // it stays when another one gets a report
	p.stand(v)
}

// stand puts the cursor on the busiest hour, the first time that there is one.
// A report that is read again leaves the cursor where it is.
func (p *Screen) stand(v *page.View) {
	r, _ := p.report(v)
	if r == nil || r.Matches == 0 {
		return
	}
	p.offset = offsetOf(r)
	if p.Day < 0 {
		p.Day, p.Hour = charts.Busiest(r)
	}
}

// report is what is shown: the report, or a draft of it, and what it is made of.
// r is nil when there is neither.
func (p *Screen) report(v *page.View) (r *engine.PlayReport, note string) {
	row, _ := v.Account(p.of)
	return p.played.Report(row, p.detail.Report)
}

// steps are the keys that move over the map.
// Home and End go to the ends of the day, and pages to the ends of the week: more than there is,
// which the caller clamps.
var steps = map[page.Action]struct{ day, hour int }{
	page.Up: {-1, 0}, page.Down: {1, 0}, page.Left: {0, -1}, page.Right: {0, 1}, page.Home: {0, -24},
	page.End: {0, 24}, page.PageUp: {-7, 0}, page.PageDown: {7, 0}, page.HalfUp: {-3, 0}, page.HalfDown: {3, 0},
}

// Cannot implements Page.
// A report is made by a sync: it cannot be retried or cancelled by itself.
func (p *Screen) Cannot(v *page.View, a page.Action) string {
	switch a {
	case page.Open:
		if p.id(v) == "" {
			return "there is no account yet"
		}
	case page.Previous, page.Next:
		if p.byWeek {
			return p.noWeek(a)
		}
		if len(v.Accounts) < 2 {
			return "there is no other account"
		}
	case page.Retry, page.Cancel, page.Pause:
		return v.Keyed("a report is made at the end of each sync: {sync} starts one")
	}
	return ""
}

// Act implements Page.
func (p *Screen) Act(v *page.View, a page.Action) page.Effect {
	if s, ok := steps[a]; ok {
		p.Day, p.Hour = page.Clamp(max(p.Day, 0)+s.day, 0, 6), page.Clamp(p.Hour+s.hour, 0, 23)
		return page.Effect{}
	}
	// Weeks go back in time with Previous: the newest is the first.
	if p.byWeek && (a == page.Previous || a == page.Next) {
		p.weekly.step(map[page.Action]int{page.Previous: 1, page.Next: -1}[a])
		return page.Effect{}
	}
	switch a {
	case page.States:
		p.byWeek = !p.byWeek
	case page.Numbers:
		p.Numbers = !p.Numbers
	case page.Zone:
		p.utc = !p.utc
	case page.Previous:
		p.step(v, -1)
	case page.Next:
		p.step(v, 1)
	case page.Open:
		return page.Effect{Open: page.ToAccount(p.id(v))}
	case page.Trigger:
		if row, ok := v.Account(p.id(v)); ok {
			return page.StartSync(row)
		}
		return page.Effect{Ask: page.AskSync}
	}
	return page.Effect{}
}

// step goes to another account, in the order of their names.
// The cursor goes to the busiest hour of each: what one looks for when going through them.
func (p *Screen) step(v *page.View, by int) {
	rows := p.byName(v)
	at := slices.IndexFunc(rows, func(a engine.AccountRow) bool { return a.ID == p.id(v) })
	p.account, p.Day = rows[(at+by+len(rows))%len(rows)].ID, -1
}

// byName are the accounts in the order of their names.
// The rows of Watch are in another order, and shared.
func (p *Screen) byName(v *page.View) []engine.AccountRow {
	rows := slices.Clone(v.Accounts)
	page.SortRows(rows, func(a, b *engine.AccountRow) int { return strings.Compare(a.RiotID, b.RiotID) })
	return rows
}

// noWeek says that there is no older or newer week; "" = there is.
// Only once a question has failed to find an older week is the oldest one known.
func (p *Screen) noWeek(a page.Action) string {
	switch w := &p.weekly; {
	case a == page.Next && w.first == 0:
		return "this is the newest week"
	case a == page.Previous && w.first >= len(w.weeks)-1 && w.end:
		return "there is no older week"
	}
	return ""
}

// Reload makes the page ask again at once.
func (p *Screen) Reload() {
	p.Forget()
	p.weekly.reload()
	p.played.Reload()
}

// Export implements Exporter: the map as a table.
// In minutes, which is what the report counts: whole ones, so that sums of a spreadsheet differ
// from the report's by less than a minute for each hour.
func (p *Screen) Export(v *page.View, _ bool) (string, [][]string) {
	if p.byWeek {
		return "weekly", p.exportWeek(v)
	}
	head := []string{"DAY"}
	for h := range 24 {
		head = append(head, page.Two(h))
	}
	rows := [][]string{append(head, "TOTAL MINUTES")}
	r := p.detail.Report
	if r == nil {
		return "playtime", rows
	}
	days, _ := dayMinutes(r)
	for d, sum := range days {
		row := []string{charts.Weekdays[d]}
		for _, m := range r.Minutes[d] {
			row = append(row, strconv.Itoa(int(m+0.5)))
		}
		rows = append(rows, append(row, strconv.Itoa(int(sum+0.5))))
	}
	return "playtime", rows
}

// Draw implements Page.
// Bands are given up from the bottom where the screen is low: the map of the hours never is.
func (p *Screen) Draw(v *page.View) []string {
	if p.byWeek {
		return p.drawWeekly(v)
	}
	r, note := p.report(v)
	if r == nil || r.Matches == 0 {
		return p.drawNone(v)
	}
	// 12 rows hold title, head, seven days, totals, cursor and scale.
	w, heat := v.Inner(v.W), min(12, v.H)
	if v.Size != page.S && v.H >= 35 && !p.byWeek { // two rows for each day
		heat += 7
	}
	all := []page.Band{
		// whose report, and of how many matches
		{Least: 1, Most: 2, Keep: 1, Draw: func(int, int) []string { return v.Padded(p.head(v, r, note, w)) }},
		{Least: 5, Most: 5 + 2*int(v.Size), Keep: 2, Draw: func(y, h int) []string {
			return v.Sections(0, y, v.W, h,
				part.Section{Title: "HOURS", Note: "of all weeks", Rows: block.HourRows(v, r, w, h-1), Height: h - 1})
		}},
		{Least: heat, Most: heat, Draw: func(y, h int) []string { return p.drawHeat(v, r, y, h) }},
		{Least: 6, Most: 14, Keep: 3, Draw: func(y, h int) []string { return p.drawShares(v, r, y, h) }},
	}
	if v.Size == page.L {
		all = append(all, page.Band{Least: charts.WeekRows + 2, Most: charts.WeekRows + 2, Keep: 4,
			Draw: func(y, _ int) []string { return p.drawWeeks(v, y) }})
	}
	return v.Bands(all...)
}

// drawNone says why there is no report and how to get one, and how far the sync is that
// makes it.
// A sync shows its stages, as it ends with the report.
func (p *Screen) drawNone(v *page.View) []string {
	w := v.Inner(v.W)
	none := part.Section{Title: "PLAY TIME", Note: p.heading(v), Tail: p.tail(v), Rows: v.Said(w, p.empty(v))}
	row, ok := v.Account(p.id(v))
	if !ok || row.Job == "" {
		return v.Whole(none)
	}
	none.Height = len(none.Rows)
	return v.Whole(none, part.Section{Title: "SYNC", Note: row.Kind + ", " + v.SyncWord(row),
		Rows: append(block.StageList(v, row, w), block.AccountFacts(v, row, w)...)})
}

// head names the account and says of what its report is made.
// A draft is drawn like a report, but says in its first line that it is none.
func (p *Screen) head(v *page.View, r *engine.PlayReport, note string, w int) []string {
	row, _ := v.Account(p.id(v))
	l := part.NewLine(v.Theme, w).Gap(1).Put(themes.Figure, cmp.Or(row.RiotID, page.ShortID(r.Account))).Gap(3)
	if p.played.IsDraft(r) {
		sign := v.Theme.State("SYNCING")
		l.Cells(part.As(sign.Token, sign.Glyph+" DRAFT"), part.As(themes.Dim, "  "+note))
	} else {
		l.Cells(p.covers(v, r)...)
	}
	return []string{l.String(), p.madeRow(v, r, w)}
}

// drawHeat draws the map of the weekdays, on wide screens with what it comes to beside it.
// The panel beside the map holds the cell in words, which stands below the map elsewhere.
func (p *Screen) drawHeat(v *page.View, r *engine.PlayReport, y, h int) []string {
	w := human.Either(v.Size == page.L, 3*page.ColumnWidth, v.W)
	s := part.Section{Title: "BY WEEKDAY", Note: "minutes played in each hour", Rows: p.heat(v, r, v.Inner(w), h-1),
		Height: h - 1}
	if v.Size != page.L {
		return v.Sections(0, y, w, h, s)
	}
	return part.Beside(v.Sections(0, y, w, h, s), v.Sections(w, y, v.W-w, h, p.cellPanel(v, r, v.Inner(v.W-w))))
}

// drawShares draws how the games are shared: by mode, by champion and by day.
// Champions come second: where there is room for two blocks, they are wanted more than the days.
func (p *Screen) drawShares(v *page.View, r *engine.PlayReport, y, h int) []string {
	n := page.Clamp(v.W/page.ColumnWidth, 1, 3)
	w := v.W / n
	modes := part.Section{Title: "GAMES BY MODE", Rows: block.Bars(v, modeBars(r), themes.Run, v.Inner(w)),
		Height: h - 1}
	days := part.Section{Title: "HOURS BY DAY", Rows: block.Bars(v, dayBars(r), themes.Run, v.Inner(w)), Height: h - 1}
	blocks := [][]string{v.Sections(0, y, w, h, modes),
		v.Sections(w, y, w, h, p.played.Champions(v, v.Inner(w), h-1)), v.Sections(2*w, y, v.W-2*w, h, days)}
	return part.Beside(blocks[:n]...)
}

// tail says what is wrong with the answer, or which of the accounts this one is.
// By name, as [Previous] and [Next] go.
func (p *Screen) tail(v *page.View) string {
	told := p.Told(v)
	if told != "" || p.own || len(v.Accounts) < 2 {
		return told
	}
	row, _ := v.Account(p.id(v))
	at := 1
	for i := range v.Accounts {
		if v.Accounts[i].RiotID < row.RiotID {
			at++
		}
	}
	return "account " + page.Count(at) + " of " + page.Count(v.Known()) +
		v.Keyed(", {previous item} {next item} others")
}

// heading names the account where there is no report to do so.
// "" = the account is not known.
func (p *Screen) heading(v *page.View) string {
	row, ok := v.Account(p.id(v))
	if !ok {
		return ""
	}
	return "of " + row.RiotID
}

// empty says why there is no report, and what makes one.
// Of a sync that runs it says how far that is, as the report comes with its end.
func (p *Screen) empty(v *page.View) string {
	switch {
	case p.id(v) == "":
		return cmp.Or(v.Waiting(), v.Start("no account yet", "{sync} starts a sync of one"))
	case !p.Have && p.Err != nil:
		return "the report could not be read"
	case p.Loading():
		return "loading the report…"
	case p.detail.Report != nil:
		return "the report is empty: no match of this account is stored yet"
	}
	if row, ok := v.Account(p.id(v)); ok && row.Status.Open() {
		text := "the report is made when the matches of this sync are settled"
		if m := row.Matches; m.Total > 0 {
			text += ": " + page.Count(m.Done()) + " of " + page.Count(m.Total) + " so far"
		}
		return text
	}
	return v.Start("no report yet", "{sync} starts a sync, which makes one")
}

// Copies implements Copier: the report as it is stored.
// A draft is nowhere stored and is not copied.
func (p *Screen) Copies(v *page.View) []page.Copy {
	if p.detail.Report == nil {
		return nil
	}
	return page.CopiesOf(v, []any{*p.detail.Report}, func(int) string { return p.id(v) })
}

// SelectedAccount implements AccountHolder.
func (p *Screen) SelectedAccount(v *page.View) string { return p.id(v) }
