package ui

import (
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/keys"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// overlay is what lies over the page: a question, the keys, or a menu.
//
// One of four is set: dialog, menu, card (the tour), or find (the help). While it is there all keys go to it, and
// only one is there at a time.
type overlay struct {
	dialog *part.Dialog
	yes    func() tea.Cmd // what agreeing does
	exit   bool           // ctrl+c means yes: it was asked for twice

	menu *menu

	card int // of the tour, from 1

	find  *part.Prompt // what is looked for, in the help
	words bool         // it shows the words of the screen in place of the keys
	whole bool         // both have room, side by side
	top   int          // first line shown, of the help
}

// confirmOver asks a question. One that a slip must not answer wants a word to be typed, which has
// no letter as its answer.
func confirmOver(c page.Confirm, yes func() tea.Cmd) *overlay {
	d := &part.Dialog{Title: c.Question, Body: c.Lines, Yes: answer("y", c.Yes, keys.Yes), No: answer("n", "no", keys.No)}
	if c.Word != "" {
		d.Word, d.Input, d.Yes, d.No = c.Word, &part.Prompt{}, part.Hint{Key: "enter", Does: c.Yes}, answer("esc", "no", keys.No)
	}
	return &overlay{dialog: d, yes: yes}
}

// confirm asks a question; its answer is what follows.
func (m *model) confirm(c page.Confirm, yes func() tea.Cmd) tea.Cmd {
	m.over = confirmOver(c, yes)
	return nil
}

// answer is one of the two answers of a dialog, which a click gives too.
func answer(key, does string, act page.Action) part.Hint {
	return part.Hint{Key: key, Does: does, Click: func(int, int) string { return string(act) }}
}

// word is what must be typed to agree; "" = nothing.
func (o *overlay) word() string {
	if o.dialog == nil {
		return ""
	}
	return o.dialog.Word
}

// wordKey takes a key while a word must be typed. No other key agrees, so that none does by
// accident.
func (m *model) wordKey(k tea.Key) tea.Cmd {
	d := m.over.dialog
	switch name := k.String(); {
	case k.Text != "":
		d.Input.Insert(k.Text)
	case name == "esc" || name == "ctrl+c":
		m.over = nil
		return nil
	case name == "enter":
		return m.agreeInWord()
	default:
		d.Input.Edit(name)
	}
	d.OnYes = d.Input.Value() == d.Word
	return nil
}

// agreeInWord agrees if the word was typed, and else says what is missing.
func (m *model) agreeInWord() tea.Cmd {
	d := m.over.dialog
	if d.Input.Value() == d.Word {
		return m.agree()
	}
	return m.showMessage("nothing was done: type the word that is shown, or leave by esc")
}

// context is that of the keys which hold while it is there.
func (o *overlay) context() keys.Context {
	switch {
	case o.dialog != nil:
		return keys.InDialog
	case o.menu != nil, o.card > 0:
		return keys.InMenu
	}
	return keys.InHelp
}

// overAct carries out a key while something lies over the page. The help is closed by the very keys
// that open it. ctrl+c over anything asks whether to quit; pressed once more, it quits.
func (m *model) overAct(a page.Action, now time.Time) tea.Cmd {
	o := m.over
	if o.menu != nil && a != keys.Exit {
		return m.menuAct(a, now)
	}
	if o.card > 0 && a != keys.Exit {
		m.cardAct(a)
		return nil
	}
	switch a {
	case keys.Yes:
		return m.agree()
	case keys.Reason:
		return m.askReason(now)
	case keys.Choose:
		if o.dialog.OnYes {
			return m.agree()
		}
		m.over = nil
	case keys.Switch:
		if o.dialog == nil {
			o.words, o.top = !o.words, 0
			return nil
		}
		o.dialog.OnYes = !o.dialog.OnYes
	case keys.No, keys.Close:
		m.over = nil
	case keys.Exit:
		if o.exit {
			return m.agree()
		}
		m.over = nil
		return m.exit(now)
	case page.Down:
		o.top++
	case page.Up:
		o.top = max(o.top-1, 0)
	case page.PageDown:
		o.top += max(m.bodyHeight()/2, 1)
	case page.PageUp:
		o.top = max(o.top-max(m.bodyHeight()/2, 1), 0)
	}
	return nil
}

// agree carries out what was asked. The question is closed first: what was agreed to may ask
// something else.
func (m *model) agree() tea.Cmd {
	yes := m.over.yes
	m.over = nil
	return yes()
}

// drawOver lays the overlay over the body, which stands below the rows of the head. The page below
// stays where it is, dimmed, so that what is asked about can still be read beside it.
func (m *model) drawOver(body, head []string) []string {
	var p sheet
	top := len(head)
	switch {
	case m.over.dialog != nil:
		d := m.asked()
		if p.rows, p.inputAt = d.View(m.theme, m.overWidth(part.DialogWidth), len(body), &p.hits); p.inputAt > 0 {
			p.input = d.Input
		}
	case m.over.menu != nil:
		p = m.menuPanel(len(body))
	case m.over.card > 0:
		p = m.cardPanel(len(body))
	default:
		p = m.helpPanel(len(body))
	}
	m.laid = place(top, len(body), m.w, p.rows)
	if m.over.card > 0 {
		m.pointTo(p.rows, slices.Concat(head, body), top)
	}
	m.hits.Lay(m.laid.x, m.laid.y, p.hits)
	if p.input != nil {
		_, x := p.input.View(m.theme, max(m.laid.w-2*part.PanelPad, 1))
		m.putCursor(m.laid.x+part.PanelPad+x, m.laid.y+p.inputAt)
	} else {
		m.rest(m.laid.x, m.laid.y, p.rows)
	}
	// Dimmed as rows of text: the page is not drawn a second time.
	if m.over.dims() {
		body = part.Dimmed(m.theme, m.w, body)
	}
	return part.Overlay(m.theme, m.w, len(body), body, p.rows, m.laid.x, m.laid.y-top)
}

// sheet is what lies over the page, drawn by itself: its cells and clicks count from its own
// corner.
type sheet struct {
	rows    []string
	hits    part.Hits
	input   *part.Prompt // what is typed into; nil = nothing is
	inputAt int          // the row of input
}

// dims reports whether the page below steps back. It does not below a menu that shows at once what
// is chosen, of columns or colours, nor below the tour: the page is what one looks at then.
func (o *overlay) dims() bool {
	return o.card == 0 && (o.menu == nil || !o.menu.stays && o.menu.moved == nil)
}

// place is where part.Overlay lays a box over a body of w x h cells below row top.
func place(top, h, w int, rows []string) (b box) {
	if len(rows) == 0 {
		return b
	}
	b.w, b.h = min(safe.Width(ansi.Strip(rows[0])), w), len(rows)
	b.x, b.y = (w-b.w)/2, top+max((h-b.h)/2, 0)
	return b
}

// asked is the question, with the reason that the answer will carry: one that was given before the
// question goes with its command, and so is shown with it.
func (m *model) asked() part.Dialog {
	d := *m.over.dialog
	if text := m.armed(); text != "" && !m.over.exit {
		d.Body = append(slices.Clone(d.Body), "Reason: "+text)
	}
	return d
}

// helpKey takes a key while the help is open. Letters look for something in it; those that open the
// help close it, until something was typed.
func (m *model) helpKey(k tea.Key, now time.Time) tea.Cmd {
	o := m.over
	name := k.String()
	act, ok := m.keys.Meaning(keys.InHelp, name)
	typed := o.find.Value() != ""
	switch {
	case k.Text != "" && (typed || !ok):
		if typed || strings.TrimSpace(k.Text) != "" {
			o.find.Insert(k.Text)
			o.top = 0
		}
	case act == keys.Close && typed:
		o.find.Set("")
		o.top = 0
	// A key of the help itself, such as one that moves in it.
	case ok:
		return m.overAct(act, now)
	case o.find.Edit(name):
		o.top = 0
	}
	return nil
}

// helpHints are the keys of the last row while the help is open.
func (m *model) helpHints() []part.Hint {
	esc := part.Hint{Key: "esc", Does: "close"}
	if m.over.find.Value() != "" {
		esc.Does = "show all"
	}
	move := keys.Shown([]string{m.keys.First(keys.InHelp, page.Down), m.keys.First(keys.InHelp, page.Up)})
	find := part.Hint{Key: "a-z", Does: "find a key by what it does"}
	if m.over.whole {
		return []part.Hint{find, esc}
	}
	return []part.Hint{find, m.helpTurns(), {Key: move, Does: "move"}, esc}
}

// helpTurns is the key to the half of the help that is not shown: its words, or its keys.
func (m *model) helpTurns() part.Hint {
	turn := part.Hint{Key: m.keys.First(keys.InHelp, keys.Switch), Does: "words"}
	if m.over.words {
		turn.Does = "keys"
	}
	return turn
}

// helpPanel is the help: the keys of the screen, with those dimmed that cannot act now, and beside
// them or in their place the words that stand on the screen. Once something was typed it is what
// fits of both. Riot's notice stands below where there is room.
func (m *model) helpPanel(h int) (p sheet) {
	th, o := m.theme.Raised(), m.over
	w := wholeHelp
	legal := part.Wrap(Notice, w-2*part.PanelPad-2)
	rows := m.helpWhole(th, h-len(legal)-6)
	tallest := len(rows)
	list := part.Section{Title: "HELP", Note: "of " + m.page().Screen().String()}
	if o.whole = rows != nil; !o.whole {
		w = m.overWidth(3*part.HelpColumn + 2*part.PanelPad)
		legal = part.Wrap(Notice, w-2*part.PanelPad-2)
		rows, tallest = m.helpHalf(th, w-2*part.PanelPad, &list)
	}
	inner := w - 2*part.PanelPad
	// Two titles, the line to type in and the empty rows between take six rows.
	room := min(tallest, h-len(legal)-6)
	if room < leastHelp {
		room, legal = min(tallest, h-2), nil
	}
	room = max(room, 1)
	list.Height = room + 1
	if text := o.find.Value(); strings.TrimSpace(text) != "" {
		rows = m.helpFound(th, inner, text)
	}
	o.top = max(min(o.top, len(rows)-room), 0)
	if below := len(rows) - o.top - room; below > 0 {
		list.Tail = strconv.Itoa(below) + " more" + strings.Repeat(" ", 3) + list.Tail
	}
	find, _ := o.find.View(th, inner)
	list.Rows = append([]string{find}, rows[o.top:min(o.top+room, len(rows))]...)
	sections := []part.Section{list}
	if len(legal) > 0 {
		small := part.Paragraph(th, inner, themes.Dim, Notice)
		sections = append(sections, part.Section{Title: "FARSIGHT", Note: m.opt.Version, Rows: small, Height: len(legal)})
	}
	p.input = o.find
	p.rows, p.inputAt = part.Panel(th, w, h, &p.hits, sections...)
	p.inputAt++
	return p
}

// helpHalf are the keys or the words, and how many rows the longer of the two takes. The panel
// keeps that height while it is searched and turned, so that nothing jumps under the eye.
func (m *model) helpHalf(th *themes.Theme, w int, list *part.Section) (rows []string, tallest int) {
	keyRows, wordRows := m.helpKeys(th, w, ""), m.helpWords(th, w, "")
	turn := m.helpTurns()
	list.Title, list.Tail, rows = "KEYS", turn.Key+" "+turn.Does, keyRows
	if m.over.words {
		list.Title, rows = "WORDS", wordRows
	}
	return rows, max(len(keyRows), len(wordRows))
}

// helpKeys are the keys of the screen that fit a text.
func (m *model) helpKeys(th *themes.Theme, w int, text string) []string {
	v := m.view(m.now())
	groups := fitting(m.keys.Groups(keys.On(m.page().Screen()), func(a page.Action) bool { return m.cannot(v, a) != "" }), text)
	if len(groups) == 0 {
		return nil
	}
	return append([]string{""}, part.Help(th, w, groups)...)
}

// helpWords are the words of the screen that fit a text, each with what it means.
func (m *model) helpWords(th *themes.Theme, w int, text string) []string {
	return part.Terms(th, w, filled(fitting(wordsOf(m.page().Screen()), text)))
}

// filled are the groups that have something in them.
func filled(groups []part.Group) []part.Group {
	return slices.DeleteFunc(groups, func(g part.Group) bool { return len(g.Hints) == 0 })
}

// How wide keys and words are where a screen has room for both, side by side.
const (
	wholeKeys  = 2*part.HelpColumn + 2
	wholeWords = 108
	wholeHelp  = wholeKeys + wholeWords + 2*part.PanelPad
)

// helpWhole are keys and words side by side; nil = they have no room in so many rows.
func (m *model) helpWhole(th *themes.Theme, room int) (rows []string) {
	if m.overWidth(wholeHelp) == m.w {
		return nil
	}
	words := wordsOf(m.page().Screen())
	words[0].Name = "Words"
	left, right := m.helpKeys(th, wholeKeys, ""), part.Terms(th, wholeWords, filled(words))
	if n := max(len(left), len(right)); n <= room {
		return part.Beside(part.Height(th, wholeKeys, n, left), part.Height(th, wholeWords, n, right))
	}
	return nil
}

// helpFound are the keys and words that fit a text; if there are none, where else to look.
func (m *model) helpFound(th *themes.Theme, w int, text string) []string {
	rows := append(m.helpKeys(th, w, text), m.helpWords(th, w, text)...)
	if len(rows) == 0 {
		return []string{"", part.Row(th, w, part.As(themes.Dim, m.keyed(" no key of this screen fits: {palette} looks through all commands")))}
	}
	return rows
}

// helpOver lists the keys of the screen.
func helpOver() *overlay {
	return &overlay{find: &part.Prompt{Label: "find", Ghost: "type what you want to do, or a key"}}
}

// tourCards are those of the screens that this console has.
func (m *model) tourCards() []card {
	tabs := m.shownTabs()
	return slices.DeleteFunc(slices.Clone(cards), func(c card) bool { return !slices.Contains(tabs, c.on) })
}

// tourTo shows a card of the tour, counted from 1, on its screen; behind the last one the tour ends.
func (m *model) tourTo(n int) {
	all := m.tourCards()
	if m.over = nil; n > len(all) {
		return
	}
	n = max(n, 1)
	m.goTo(all[n-1].on)
	m.over = &overlay{card: n}
}

// cardAct carries out a key while a card is shown.
func (m *model) cardAct(a page.Action) {
	switch a {
	case keys.Choose, page.Down:
		m.tourTo(m.over.card + 1)
	case page.Up:
		m.tourTo(m.over.card - 1)
	case keys.Close:
		m.over = nil
	}
}

// cardPanel draws the card in at most h rows.
func (m *model) cardPanel(h int) (p sheet) {
	all := m.tourCards()
	c, th := all[m.over.card-1], m.theme.Raised()
	w := m.overWidth(part.DialogWidth)
	inner := w - 2*part.PanelPad
	rows := part.Paragraph(th, inner, themes.Text, m.keyed(c.text))
	// The row below the page keeps its own keys, which the last card is about.
	hints := []part.Hint{{Key: "enter", Does: "next"}, {Key: "↑", Does: "back"}, {Key: "esc", Does: "ends the tour"}}
	if m.over.card == len(all) { // enter ends it, too
		hints = hints[1:]
	}
	own := part.Hints(th, 0, inner, nil, hints)
	rows = append(rows, "", own)
	p.rows, _ = part.Panel(th, w, h, &p.hits, part.Section{Title: c.title, Note: strconv.Itoa(m.over.card) + " of " + strconv.Itoa(len(all)), Rows: rows, Height: len(rows)})
	return p
}

// pointTo lays the card, drawn as panel, beside what it is about, and puts an arrow into its edge. Of
// rows, those of the screen, the card covers none of the first top ones.
func (m *model) pointTo(panel, rows []string, top int) {
	c := m.tourCards()[m.over.card-1]
	row, col := m.h-1, part.Margin(m.w)
	if c.at != "" {
		row, col = m.pointed(rows, c.at)
	}
	if row < 0 {
		return
	}
	th, b := m.theme.Raised(), &m.laid
	b.x = min(max(col-part.PanelPad, 0), m.w-b.w)
	// Above what it is about, where there is room, else below it.
	edge, sign := b.h-1, th.Glyphs.Down
	if b.y = min(row, len(rows)) - b.h; b.y < top || c.before != nil {
		b.y, edge, sign = max(row+1, top), 0, th.Glyphs.Up
	}
	for _, words := range c.before {
		if follows, _ := m.pointed(rows, words); follows > row {
			b.y = follows
			break
		}
	}
	b.y = min(b.y, len(rows)-b.h)
	panel[edge] = th.Base() + part.NewLine(th, b.w).Gap(min(col-b.x, b.w-1)).Cells(part.As(themes.Focus, sign)).String()
}

// pointed is where words of a screen stand: row and column; -1 = they do not.
func (m *model) pointed(rows []string, words string) (row, col int) {
	words = strings.ReplaceAll(words, "STATE", string(m.rows.Data.Engine.State))
	for i, r := range rows {
		if before, _, ok := strings.Cut(ansi.Strip(r), words); ok {
			return i, safe.Width(before)
		}
	}
	return -1, 0
}
