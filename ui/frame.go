package ui

import (
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// draw paints the screen into m.frame.
func (m *Model) draw(now time.Time) {
	m.cursor, m.ticks, m.hits = nil, false, m.hits[:0]
	if m.asking || m.w <= 0 || m.h <= 0 {
		m.frame = ""
		return
	}
	v := m.view(now)
	if m.tiny() {
		m.frame = part.Frame(m.theme, m.w, m.h, m.tinyRows(v, now))
		m.ticks = v.Ticks
		return
	}
	rows := make([]string, 0, m.h)
	rows = append(rows, m.title(v, now))
	if m.tall != page.Short {
		rows = append(rows, m.tabRow(len(rows)))
	}
	v.Y, v.Hits = len(rows), &m.hits
	body := exactly(m.page().Draw(v), v.H)
	if m.frozen != nil && v.H > 0 {
		body[v.H-1] = part.Row(m.theme, m.w, part.As(themes.Held, "  "+m.frozenText()))
	}
	if m.over != nil {
		body = m.drawOver(v, body, len(rows))
	} else {
		m.rest(0, len(rows), body)
	}
	rows = append(rows, body...)
	if m.stripHeight() > 0 {
		rows = append(rows, m.strip(v))
	}
	rows = append(rows, m.messageRow(len(rows)), m.hintRow(v))
	m.frame = part.Frame(m.theme, m.w, m.h, rows)
	m.ticks = v.Ticks && m.frozen == nil
}

// rest puts the terminal's cursor on the selected row, where screen readers and
// magnifiers look for it. A prompt takes it from there.
func (m *Model) rest(left, top int, rows []string) {
	x, y, ok := part.SelectedAt(m.theme, rows)
	if !ok {
		return
	}
	m.cursor = tea.NewCursor(left+x, top+y)
	m.cursor.Shape, m.cursor.Blink = tea.CursorBar, false
}

// exactly gives h rows: a page that drew fewer leaves the rest empty. Their width
// is Frame's business.
func exactly(rows []string, h int) []string {
	for len(rows) < h {
		rows = append(rows, "")
	}
	return rows[:h]
}

// title says where one is and how the engine is.
func (m *Model) title(v *page.View, now time.Time) string {
	return part.Title(m.theme, m.w, m.crumbs(v), m.pieces(v, now))
}

func (m *Model) crumbs(v *page.View) []string {
	tab := m.tab.String()
	if m.tall == page.Short {
		tab = strconv.Itoa(int(m.tab)+1) + " " + tab
	}
	path := []string{"FARSIGHT", tab}
	for _, p := range m.stack {
		crumb := p.Crumb(v)
		if crumb == "" {
			crumb = p.Screen().String()
		}
		path = append(path, crumb)
	}
	return path
}

// pieces are the facts at the right of the title. The first ones are dropped
// first; the engine's state and DEMO never are.
func (m *Model) pieces(v *page.View, now time.Time) []part.Piece {
	pieces := []part.Piece{m.statePiece(v, now)}
	e := v.Engine
	if e.Key != "" {
		pieces = append(pieces, m.keyPiece(v))
	}
	pieces = append(pieces, m.bucketPieces(v)...)
	if next := v.NextCalls(); next != "" {
		pieces = append(pieces, part.Piece{Cell: part.As(themes.Held, "next "+next), Short: next})
	}
	if alerts := v.Firing(); alerts != "" {
		sign := m.theme.State("WARN")
		name := " alerts"
		if alerts == "1" {
			name = " alert"
		}
		pieces = append(pieces, part.Piece{Cell: part.As(sign.Token, sign.Glyph+" "+alerts+name), Short: sign.Glyph + alerts})
	}
	if m.demo() {
		pieces = append(pieces, part.Piece{Cell: part.As(themes.Accent, "DEMO"), Keep: true})
	}
	if m.opt.ReadOnly {
		pieces = append(pieces, part.Piece{Cell: part.As(themes.Accent, "READ ONLY"), Keep: true})
	}
	zone, _ := now.Zone()
	return append(pieces, part.Piece{Cell: part.Plain(now.Format("15:04") + " " + zone), Short: now.Format("15:04")})
}

// statePiece is the one word of the engine, or what the view is instead.
func (m *Model) statePiece(v *page.View, now time.Time) part.Piece {
	switch {
	case m.frozen != nil:
		sign := m.theme.State("FROZEN")
		text := sign.Glyph + " FROZEN " + m.since.Format("15:04:05")
		return part.Piece{Cell: part.As(themes.Held, text), Keep: true}
	case !m.rows.data.Lost.IsZero():
		c := part.StateCell(m.theme, "DISCONNECTED")
		v.Ticks = true
		c.Text += " " + human.Stopwatch(now.Sub(m.rows.data.Lost))
		return part.Piece{Cell: c, Keep: true}
	case !v.Ready:
		return part.Piece{Cell: part.As(themes.Dim, "connecting"+m.theme.Glyphs.Ellipsis), Keep: true}
	}
	return part.Piece{Cell: part.StateCell(m.theme, string(v.Engine.State)), Keep: true}
}

func (m *Model) keyPiece(v *page.View) part.Piece {
	text := "key " + v.Engine.Key
	left, ok := v.KeyLeft()
	if ok {
		text += " ≤" + human.Dur(left.Truncate(time.Minute))
	}
	return part.Piece{Cell: part.As(themes.Dim, text)}
}

// bucketPieces are the application windows of the host that sets the pace.
func (m *Model) bucketPieces(v *page.View) []part.Piece {
	pacing, ok := v.Limits.Pacing()
	if !ok {
		return nil
	}
	var out []part.Piece
	for _, b := range v.Limits.Buckets {
		if b.Host != pacing.Host || b.Kind != "app" {
			continue
		}
		token := themes.Text
		if b.Used*5 >= b.Limit*4 {
			token = themes.Warn
		}
		piece := part.Piece{Cell: part.As(token, strconv.Itoa(b.Used)+"/"+strconv.Itoa(b.Limit)+m.theme.Glyphs.Sep+human.Tight(b.Window))}
		if len(out) == 0 {
			piece.Short, piece.Text = piece.Text, "app "+piece.Text
		}
		out = append(out, piece)
	}
	return out
}

// shownTabs are the numbered screens that this console has.
func (m *Model) shownTabs() []page.Screen {
	if m.opt.Only != "" {
		return []page.Screen{m.tab}
	}
	return page.Tabs()
}

func (m *Model) tabRow(y int) string {
	var tabs []part.Tab
	selected := 0
	for i, s := range m.shownTabs() {
		tabs = append(tabs, part.Tab{Key: strconv.Itoa(int(s) + 1), Name: s.String(), Click: func(int, int) string { m.goTo(s); return "" }})
		if s == m.tab {
			selected = i
		}
	}
	return part.Tabs(m.theme, y, m.w, &m.hits, tabs, selected, part.As(themes.Accent, "?"), part.As(themes.Dim, " help"))
}

// messageRow is the prompt, the newest message or how much a frozen view hides.
func (m *Model) messageRow(y int) string {
	if m.prompt != nil {
		return m.promptRow(y)
	}
	t := m.toasts.top()
	var right []part.Cell
	if m.frozen != nil {
		right = append(right, part.As(themes.Held, "+"+strconv.Itoa(m.changes)+" changes"), part.As(themes.Dim, m.keyed("  {live} live")))
	} else if t.More > 0 {
		right = append(right, part.As(themes.Accent, m.keyed("{messages}")), part.As(themes.Dim, " messages"))
	}
	if t.Text == "" {
		if why := m.standing(); why.Text != "" {
			t = why
		}
	}
	return part.Message(m.theme, m.w, t, right...)
}

// standing is what the message line says as long as it holds.
func (m *Model) standing() part.Toast {
	d := m.data()
	switch {
	case !m.rows.data.Lost.IsZero():
		return part.Toast{Word: "WARN", Text: m.lostText(m.now())}
	case m.armed() != "":
		return m.armedText()
	case !d.Ready || d.Engine.State == engine.EngineLive:
		return m.guide(m.now())
	case d.Engine.State == engine.EngineBrowse:
		return part.Toast{Word: "INFO", Text: or(d.Engine.Why, "no engine runs here: stored data only")}
	}
	return part.Toast{Word: "WARN", Text: string(d.Engine.State) + ": " + d.Engine.Why}
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// promptRow is the text that is being typed, with what is wrong with it at the
// right. A secret makes room for the whole sentence.
func (m *Model) promptRow(y int) string {
	p := m.prompt
	if p.filter != nil && p.wrong == "" {
		return m.filterRow(p, y)
	}
	row, x := p.View(m.theme, m.w)
	switch {
	case p.wrong == "", m.wrongBelow():
	case p.Mask || p.filter == nil && safe.Width(safe.Text(p.Value()+p.wrong)) > m.w*3/4:
		row = part.Row(m.theme, m.w, part.As(themes.Accent, " "+p.Label+"  "), part.As(themes.Err, p.wrong))
		x = 2 + len(p.Label)
	default:
		room := max(m.w-safe.Width(safe.Text(p.wrong))-2, m.w/3)
		row, x = p.View(m.theme, room)
		row += part.Row(m.theme, m.w-room, part.As(themes.Err, p.wrong))
	}
	m.putCursor(x, y)
	return row
}

// wrongBelow reports whether what is wrong with a filter has no room beside it: it
// is told in the row of hints then.
func (m *Model) wrongBelow() bool {
	p := m.prompt
	return p.filter != nil && p.wrong != "" && safe.Width(safe.Text(p.Value()+p.wrong)) > m.w-8
}

// putCursor shows the terminal's cursor where text is typed.
func (m *Model) putCursor(x, y int) {
	m.cursor = tea.NewCursor(x, y)
	m.cursor.Blink = false
}

// filterRow is the filter that is being typed, and how many rows fit.
func (m *Model) filterRow(p *prompt, y int) string {
	shown, all := p.filter.Fit()
	told := human.Count(int64(shown)) + " of " + human.Count(int64(all)) + " "
	row, x := p.View(m.theme, max(m.w-len(told)-1, 1))
	m.putCursor(x, y)
	return row + part.Split(m.theme, len(told)+1, nil, []part.Cell{part.As(themes.Dim, told)})
}

// hintRow are the keys of the screen.
func (m *Model) hintRow(v *page.View) string {
	if m.prompt != nil && m.wrongBelow() {
		return part.Row(m.theme, m.w, part.As(themes.Err, " "+m.prompt.told(m.w-2)))
	}
	if m.tourBelow() {
		return part.Message(m.theme, m.w, m.tourText())
	}
	if m.prompt != nil {
		return part.Hints(m.theme, m.w, promptHints(m.prompt))
	}
	if m.over != nil && m.over.menu != nil && m.over.menu.typing {
		return part.Hints(m.theme, m.w, []part.Hint{{Key: "enter", Does: "run"}, {Key: "↑", Does: "what was run before"}, {Key: "tab", Does: "complete"}, {Key: "esc", Does: "close"}})
	}
	if m.over != nil && m.over.word() != "" {
		return part.Hints(m.theme, m.w, []part.Hint{{Key: "enter", Does: "once the word is typed"}, {Key: "esc", Does: "no"}})
	}
	if m.over != nil && m.over.find != nil {
		return part.Hints(m.theme, m.w, m.helpHints())
	}
	at := contextOf(m.page().Screen())
	if m.over != nil {
		at = m.over.context()
	}
	return part.Hints(m.theme, m.w, m.keys.hints(at, func(a page.Action) bool { return m.over == nil && m.cannot(v, a) != "" }))
}

func promptHints(p *prompt) []part.Hint {
	hints := []part.Hint{{Key: "enter", Does: "accept"}, {Key: "esc", Does: "leave"}}
	if p.filter != nil {
		hints = append(hints, part.Hint{Key: "tab", Does: "complete"})
	}
	return hints
}
