package ui

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/keys"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// draw paints the screen into m.frame.
//
// Its order is from top to bottom, because each part says where its clickable rectangles lie:
//
//	FARSIGHT  1 Overview  2 Accounts …                   ? keys
//	● LIVE  as fast as the limit allows     ⚠ 1   88/100   12:30
//	                                                 an empty row
//	the page
//	the watch strip, if it is on
//	the message
//	the keys
//
// The frame is a string of exactly m.h rows, which Bubble Tea compares with the one before it.
func (m *model) draw(now time.Time) {
	// Drawing sets all three anew.
	m.cursor, m.ticks, m.hits = nil, false, m.hits[:0]
	// Nothing is drawn before the terminal has told its size and, where it was asked, its ground.
	if m.asking || m.w <= 0 || m.h <= 0 {
		m.frame = ""
		return
	}
	v := m.view(now)
	// too small for any screen: the state, what is asked, and the newest message
	if m.tiny() {
		state := part.Row(m.theme, m.w, append([]part.Cell{part.Plain(" ")}, m.stateCells(v, now)...)...)
		asked := m.tinyAsked(v, 1)
		m.frame = part.Frame(m.theme, m.w, m.h, tinyRows(v, m.w, m.h, state, asked, m.notice(v).Text))
		m.ticks = v.Ticks
		return
	}
	v.Hits = &m.hits
	rows := append(make([]string, 0, m.h), m.head(v, now)...)
	v.Y = len(rows)
	// The page draws first: by then it knows its rows, its cursor and whether it counts seconds.
	body := block.Rest(v, m.page().Draw(v))
	if m.over != nil {
		m.hits = m.hits[:0] // what lies over the page takes the clicks
		body = m.drawOver(body, rows)
	} else {
		m.rest(0, len(rows), body)
	}
	rows = append(rows, body...)
	if m.stripHeight() > 0 {
		rows = append(rows, m.watch.strip(v))
	}
	rows = append(rows, m.messageRows(v, len(rows))...)
	rows = append(rows, m.hintRow(v, len(rows)))
	m.frame = part.Frame(m.theme, m.w, m.h, rows)
	// Something on it counts seconds: it is drawn again in a second without an update.
	m.ticks = v.Ticks && m.frozen == nil
}

// rest puts the terminal's cursor on the selected row, where screen readers and
// magnifiers look for it. A prompt takes it from there.
func (m *model) rest(left, top int, rows []string) {
	x, y, ok := part.SelectedAt(m.theme, rows)
	if !ok {
		return
	}
	m.cursor = tea.NewCursor(left+x, top+y)
	// A bar, as a block would hide the letter that it stands on.
	m.cursor.Shape, m.cursor.Blink = tea.CursorBar, false
}

// head is where one is and how the engine is: the screens, the state with the one sentence why it
// is not faster, and an empty row. A short screen has one row for all of it. Below a numbered
// screen the way back takes the sentence's place: "Jobs › match:KR_7214550881".
func (m *model) head(v *page.View, now time.Time) []string {
	state, slots := m.stateCells(v, now), m.slots(v, now)
	if m.tall == page.Short {
		tabs, active := m.topTabs()
		return []string{part.Short(v.Theme, m.w, &m.hits, tabs, active, m.paths(v), state, slots)}
	}
	text := m.sentence(v)
	var shorter []string
	if paths := m.paths(v); len(paths) > 0 {
		for i := range paths {
			paths[i] = m.tab.String() + " " + m.theme.Glyphs.Crumb + " " + paths[i]
		}
		text, shorter = paths[0], paths[1:]
	} else {
		shorter = m.shorter(v, text)
	}
	return []string{m.tabRow(v), part.Status(v.Theme, 1, m.w, &m.hits, state, slots, text, shorter...), ""}
}

var clauseEnds = strings.NewReplacer(": ", ": \x00", "; ", "; \x00", ", ", ", \x00")

// shorter are the forms of the engine's sentence for less room: of one that works its first clause says the least, and
// what waits is told last. Behind that a member tells who leads, as long as there is room.
func (m *model) shorter(v *page.View, text string) (forms []string) {
	if v.Engine.State != engine.EngineLive {
		return nil
	}
	leads := ""
	if t := v.Engine.Term; t != nil {
		if reason, both := strings.CutSuffix(text, "; "+t.String()); both {
			id, _, _ := strings.Cut(t.Leader, " on ")
			text, leads = reason, human.If(id != "", "; "+id+" leads")
		}
	}
	reasons := []string{text}
	clauses := strings.SplitAfter(clauseEnds.Replace(text), "\x00")
	for i := range clauses[1:] {
		reasons = append(reasons, strings.ReplaceAll(strings.Join(clauses[i+1:], ""), "\x00", ""))
	}
	if last := reasons[len(reasons)-1]; strings.Contains(last, " calls wait for ") { // and where 100 columns have no room for that
		reasons = append(reasons, strings.Replace(last, " calls wait for ", " wait for ", 1))
	}
	if leads == "" {
		return reasons[1:]
	}
	for _, reason := range reasons {
		forms = append(forms, reason+leads)
	}
	return append(forms, reasons...)
}

// paths are the way from the numbered screen to the page on top, from the longest form to the shortest: the page on top
// is the one that must be read. None = the numbered screen is on top.
func (m *model) paths(v *page.View) (forms []string) {
	var names []string
	for _, p := range m.stack {
		names = append(names, cmp.Or(p.Crumb(v), p.Screen().String()))
	}
	for i := range names {
		if i > 0 {
			names[i-1] = m.theme.Glyphs.Ellipsis
		}
		forms = append(forms, strings.Join(names[max(i-1, 0):], " "+m.theme.Glyphs.Crumb+" "))
	}
	return forms
}

// sentence is why the engine is not faster, or what the page on top says in its place.
func (m *model) sentence(v *page.View) string {
	if !v.Lost.IsZero() { // what the engine said last is no news
		return v.Gone()
	}
	if p, ok := m.page().(page.Teller); ok {
		if text := p.Tell(v); text != "" {
			return text
		}
	}
	return cmp.Or(v.Engine.Why, v.Engine.Pace)
}

// stateCells are the engine's state in one word, or what the view is instead (frozen,
// disconnected), and then what kind of console this is.
func (m *model) stateCells(v *page.View, now time.Time) []part.Cell {
	return []part.Cell{
		m.stateCell(v, now),
		part.If(m.demo(), part.As(themes.Accent, "  DEMO")),
		part.If(m.opt.ReadOnly, part.As(themes.Accent, "  READ ONLY")),
	}
}

// stateCell is that one word. What the console itself is comes first: rows that are frozen or old
// must not look live.
func (m *model) stateCell(v *page.View, now time.Time) part.Cell {
	switch {
	case m.frozen != nil:
		return part.As(themes.Held, m.theme.State("FROZEN").Glyph+" FROZEN "+m.since.Format("15:04:05"))
	case !m.rows.Data.Lost.IsZero():
		c := part.StateCell(m.theme, "DISCONNECTED")
		// The time since the engine was lost is counted in seconds.
		v.Ticks = true
		c.Text += " " + human.Stopwatch(now.Sub(m.rows.Data.Lost))
		return c
	case !v.Ready && v.Engine.State == "":
		return part.As(themes.Dim, "connecting"+m.theme.Glyphs.Ellipsis)
	}
	return part.StateCell(m.theme, string(v.Engine.State))
}

// slots are what stands at the right end of the state's row: the window that sets the pace, the
// alerts and the clock. The clock has no seconds, so that an idle screen is silent.
func (m *model) slots(v *page.View, now time.Time) part.Slots {
	s := part.Slots{Hatched: m.frozen != nil || v.Engine.State == engine.EnginePaused, Clock: now.Format("15:04"), Click: func(int, int) string { m.goTo(page.ScreenAlerts); return "" }}
	if b, ok := v.Limits.Pacing(""); ok {
		s.Window, s.Used, s.Limit = human.Window(b.Window), b.Counted(v.Now), b.Limit
	}
	if alerts := v.Firing(); alerts != "" {
		sign := m.theme.State("WARN")
		s.Alerts = part.As(sign.Token, sign.Glyph+alerts)
		// On a wide screen there is room for the word.
		if part.Margin(m.w) > 1 {
			s.Alerts.Text = sign.Glyph + " " + alerts + " alerts"
			if alerts == "1" {
				s.Alerts.Text = sign.Glyph + " 1 alert"
			}
		}
	}
	return s
}

// shownTabs are the numbered screens that this console has. That of `farsight sim --watch` has one.
func (m *model) shownTabs() []page.Screen {
	return human.Either(m.opt.Only != "", []page.Screen{m.tab}, page.Tabs())
}

// topTabs are the screens of the first row.
func (m *model) topTabs() (tabs []part.Tab, active int) {
	for i, s := range m.shownTabs() {
		tabs = append(tabs, part.Tab{Key: strconv.Itoa(int(s) + 1), Name: s.String(), Click: func(int, int) string { m.goTo(s); return "" }})
		if s == m.tab {
			active = i
		}
	}
	return tabs, active
}

// tabRow is the first row: the screens, the key in use where there is room, and where help is.
func (m *model) tabRow(v *page.View) string {
	tabs, active := m.topTabs()
	right := []part.Cell{part.As(themes.Accent, m.keyed("{help}")), part.As(themes.Dim, " keys")}
	if text := keyText(v); m.size == page.L && text != "" {
		right = append([]part.Cell{part.As(themes.Dim, text+"   ")}, right...)
	}
	return part.Tabs(m.theme, 0, m.w, &m.hits, "FARSIGHT", tabs, active, right...)
}

// keyText tells the last characters of the key in use and for how long it is valid at most; "" =
// there is nothing to tell. With several engines, one of them may have no key while others do.
func keyText(v *page.View) string {
	if e := &v.Engine; e.Key == "" && e.Term != nil && !e.Term.Here {
		return "no key here" // the leader, another process, has its own
	} else if e.Key == "" {
		return ""
	}
	text := "key " + v.Engine.Key
	if left, ok := v.KeyLeft(); ok {
		// Riot does not say when a key ends, so its time is told as what it has at most.
		text += " ≤" + human.Dur(left.Truncate(time.Minute))
	}
	return text
}

// messageRows are the prompt, or the newest message with how much a frozen view hides. Where there
// is room for an empty row above them, a long message begins there.
func (m *model) messageRows(v *page.View, y int) []string {
	air := m.tall != page.Short
	if m.prompt != nil {
		// With air a row above the text is free, and what is wrong with it stands there.
		if air {
			return []string{m.wrongRow(), m.promptRow(y + 1)}
		}
		return []string{m.promptRow(y)}
	}
	t := m.notice(v)
	var right []part.Cell
	if m.frozen != nil {
		right = append(right, part.As(themes.Held, "+"+strconv.Itoa(m.changes)+" changes"), part.As(themes.Dim, m.keyed("  {live} live")))
	} else if t.More > 0 {
		right = append(right, part.As(themes.Accent, m.keyed("{messages}")), part.As(themes.Dim, " messages"))
	}
	// At which instant a frozen view stands has the row above the message. Where there is none a message comes first:
	// the title says FROZEN too.
	stands := func() part.Toast {
		return part.Toast{Word: "FROZEN", Text: m.timeCursor.text(m.theme, m.keyed)}
	}
	if !air {
		if m.frozen != nil && m.message().Text == "" {
			t = stands()
		}
		return []string{part.Message(m.theme, m.w, t, right...)}
	}
	rows := part.Messages(m.theme, m.w, t, right...)
	if m.frozen != nil && rows[0] == part.Row(m.theme, m.w) {
		rows[0] = part.Message(m.theme, m.w, stands())
	}
	return rows
}

// message is the newest message; without one, what the message line says for as long as it holds.
func (m *model) message() part.Toast {
	t := m.toasts.top(m.opt.Location())
	if t.Text == "" {
		return m.standing()
	}
	return t
}

// notice is the message, or the sentence on the engine's state on a screen whose state has no room
// for it.
func (m *model) notice(v *page.View) part.Toast {
	t := m.message()
	if t.Text == "" && (m.tall == page.Short || m.tiny()) {
		if t.Text = m.sentence(v); t.Text != "" {
			t.Word = string(v.Engine.State)
		}
		for _, form := range m.shorter(v, t.Text) {
			if safe.Width(t.Text)+2*part.Margin(m.w)+2 > m.w {
				t.Text = form
			}
		}
	}
	return t
}

// standing is what the message line says for as long as it holds, in the order of what an operator
// must not miss.
func (m *model) standing() part.Toast {
	d := m.data()
	switch {
	case !m.rows.Data.Lost.IsZero():
		return part.Toast{Word: "WARN", Text: m.lostText(m.now())}
	case m.armed() != "":
		return part.Toast{Word: "INFO", Text: "what you do next is because: " + m.why.text + " · " + m.keys.First(keys.On(m.page().Screen()), keys.Reason) + " changes it"}
	// On a short screen the state has no sentence beside it.
	case d.Ready && d.Engine.State != engine.EngineLive && m.tall == page.Short: // elsewhere it stands beside the state
		return part.Toast{Word: string(d.Engine.State), Text: d.Engine.Why}
	}
	return m.guide(m.now())
}

// promptRow is the text that is being typed, with its cursor; of a filter, also how many rows fit.
func (m *model) promptRow(y int) string {
	p, margin := m.prompt, strings.Repeat(" ", part.Margin(m.w)-1)
	told := ""
	if p.filter != nil {
		shown, all := p.filter.Fit()
		told = human.Count(int64(shown)) + " of " + human.Count(int64(all))
	}
	room := max(m.w-2*len(margin)-len(told)-1, 1)
	row, x := p.View(m.theme, room)
	m.putCursor(len(margin)+x, y)
	return margin + row + part.Row(m.theme, len(told), part.As(themes.Dim, told))
}

// wrongRow is what is wrong with the text that is being typed. It stands above the text, and on a
// short screen in the row of hints.
func (m *model) wrongRow() string {
	if m.prompt.wrong == "" {
		return ""
	}
	margin := part.Margin(m.w)
	return part.NewLine(m.theme, m.w).Gap(margin).Cells(part.As(themes.Err, m.prompt.faultText(m.w-2*margin))).String()
}

// putCursor shows the terminal's own cursor where text is typed. It does not blink: a cursor that
// does would be all that moves on an idle screen.
func (m *model) putCursor(x, y int) {
	m.cursor = tea.NewCursor(x, y)
	m.cursor.Blink = false
}

// hintRow are the keys of whatever takes them now: the prompt, what lies over the page, or the
// page.
func (m *model) hintRow(v *page.View, y int) string {
	if m.prompt != nil && m.prompt.wrong != "" && m.tall == page.Short {
		return m.wrongRow()
	}
	if m.prompt != nil {
		return part.Hints(m.theme, y, m.w, &m.hits, promptHints(m.prompt))
	}
	if m.over != nil && m.over.menu != nil && m.over.menu.typing {
		return part.Hints(m.theme, y, m.w, &m.hits, []part.Hint{{Key: "enter", Does: "run"}, {Key: "↑", Does: "what was run before"}, {Key: "tab", Does: "complete"}, {Key: "esc", Does: "close"}})
	}
	if m.over != nil && m.over.word() != "" {
		return part.Hints(m.theme, y, m.w, &m.hits, []part.Hint{{Key: "enter", Does: "once the word is typed"}, {Key: "esc", Does: "no"}})
	}
	if m.over != nil && m.over.find != nil {
		return part.Hints(m.theme, y, m.w, &m.hits, m.helpHints())
	}
	at := keys.On(m.page().Screen())
	if m.over != nil && m.over.card == 0 {
		at = m.over.context()
	}
	hints := m.keys.Hints(at, func(a page.Action) bool { return m.over == nil && m.cannot(v, a) != "" }, func(a page.Action) string { return m.doesInstead(v, a) })
	return part.Hints(m.theme, y, m.w, &m.hits, hints)
}

// doesInstead is what a key does where it would undo what stands; "" elsewhere.
func (m *model) doesInstead(v *page.View, a page.Action) string {
	if p, ok := m.page().(interface{ Timetable() bool }); ok && a == page.Timetable && p.Timetable() {
		return "board"
	}
	if a == keys.Quit && m.w >= 120 && !m.owns() && m.over == nil && len(m.stack) == 0 && v.Lost.IsZero() && v.Engine.State != engine.EngineBrowse {
		return "quit, engine goes on"
	}
	if a != page.Pause || m.over != nil {
		return ""
	}
	if c := m.page().Act(v, a).Do; c != nil {
		switch c.Op {
		case engine.OpResume, engine.OpResumeSchedule, engine.OpThaw:
			return "resume"
		}
	}
	return ""
}

// promptHints are the keys of a text that is typed.
func promptHints(p *prompt) []part.Hint {
	hints := []part.Hint{{Key: "enter", Does: "accept"}, {Key: "esc", Does: "leave"}}
	if p.filter != nil {
		hints = append(hints, part.Hint{Key: "tab", Does: "complete"}, part.Hint{Key: "↑", Does: "earlier ones"})
	}
	return hints
}

// lostText is the message line without an engine: when it is looked for next and
// how old what is shown is.
func (m *model) lostText(now time.Time) string {
	next := "connecting"
	if left := m.again.Sub(now); left > 0 {
		next = fmt.Sprintf("next try %d s", int((left+time.Second-1)/time.Second))
	}
	text := cmp.Or(m.absent, "the engine has gone") + "; " + next
	// How old the rows are is left out first: when the engine is looked for again matters more.
	whole := text + " " + m.theme.Glyphs.Sep + " data as of " + part.Clock(m.rows.Data.At, now)
	if !m.tiny() && safe.Width(safe.Text(whole)) > m.w-lostSign {
		return text
	}
	return whole
}

// lostSign is how many cells the message line has in front of its text, with a margin.
const lostSign = 10

// greeting is for how long after the very first start somebody is told where to begin.
const greeting = 5 * time.Minute

// guide is what the message line says to somebody who is new here; "" = nothing.
func (m *model) guide(now time.Time) part.Toast {
	at := keys.On(m.page().Screen())
	if m.opt.Mine.fresh && now.Sub(m.started) < greeting {
		key := func(a page.Action) string { return m.keys.First(at, a) }
		return part.Toast{Word: "NEW", Text: "try: " + key(page.Trigger) + " sync · " + key(keys.GoTo(page.ScreenLimits)) + " limits · " + key(keys.Help) + " keys · " + m.keyed("{:tour}")}
	}
	return part.Toast{}
}

// tinyAsked is what is being asked or typed on a window too small for a screen, from row y on; none
// = nothing is. A question must be answerable however small the window is, or no other key would do
// anything.
func (m *model) tinyAsked(v *page.View, y int) []string {
	row := func(t themes.Token, text string) string { return part.Row(m.theme, m.w, part.As(t, " "+text)) }
	switch {
	case m.prompt != nil:
		typed, x := m.prompt.View(m.theme, m.w)
		m.putCursor(x, y)
		rows := []string{typed}
		for _, line := range part.Wrap(m.prompt.wrong, max(m.w-1, 1)) {
			if line != "" {
				rows = append(rows, row(themes.Err, line))
			}
		}
		return append(rows, part.Hints(m.theme, 0, m.w, nil, promptHints(m.prompt)))
	case m.over == nil:
		return nil
	case m.over.dialog != nil:
		return append(m.asked().Lines(m.theme, m.w), m.hintRow(v, 0))
	case m.over.menu != nil:
		n := m.over.menu
		rows := []string{row(themes.Accent, n.title)}
		if n.typing {
			typed, x := n.input.View(m.theme, m.w)
			m.putCursor(x, y)
			rows[0] = typed
		}
		chosen := cmp.Or(n.wrong, "nothing fits")
		if n.at < len(n.shown) && n.wrong == "" {
			chosen = m.theme.Glyphs.Focus + " " + n.shown[n.at].name
		}
		return append(rows, row(themes.Text, chosen), m.hintRow(v, 0))
	}
	return []string{row(themes.Text, "this needs a larger window"), part.Hints(m.theme, 0, m.w, nil, []part.Hint{{Key: "esc", Does: "close"}})}
}
