package ui

import (
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/keys"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// item is one line of a menu, and what choosing it does.
type item struct {
	name  string
	what  string // what it is or does, dim
	key   string // that does the same without the menu
	words string // more that typed text is compared with
	sign  string // in front: chosen, shown
	// it is dim, and says why when it is chosen
	off  bool                                  // it cannot act now
	show string                                // what it looks like, painted: the swatch of a theme
	do   func(m *model, now time.Time) tea.Cmd // carries it out; the menu is closed by then, unless it stays
}

// menu is a list that lies over the page: of columns, themes, or commands.
//
// It is one of two kinds: a list in which a key moves, or (typing) a line to type in with the list
// below it, which is narrowed by what is typed.
type menu struct {
	title string
	note  string // what of, behind the title
	all   []item
	shown []item
	at    int // the item of shown under the cursor
	top   int // the first that is drawn

	// A typing menu is narrowed by what is typed.
	typing bool
	input  part.Prompt
	wrong  string
	past   recall

	stays bool                   // choosing does not close it
	fresh func(m *model) []item  // of a menu that stays: the items anew
	moved func(m *model, i item) // the cursor has come to an item: a theme shows itself at once
	close func(m *model)         // when it is left without a choice
}

// openMenu puts a menu over the page, in place of what lies there.
func (m *model) openMenu(n *menu) {
	n.shown = n.all
	m.over = &overlay{menu: n}
}

// menuAct carries out a key in a menu.
func (m *model) menuAct(a page.Action, now time.Time) tea.Cmd {
	n := m.over.menu
	switch a {
	case keys.Close:
		m.over = nil
		// Themes are shown as the cursor moves, so leaving puts the old one back.
		if n.close != nil {
			n.close(m)
		}
		return nil
	case keys.Choose:
		return m.chooseItem(now)
	case page.Down:
		n.at = min(n.at+1, max(len(n.shown)-1, 0))
	case page.Up:
		n.at = max(n.at-1, 0)
	case page.Home:
		n.at = 0
	case page.End:
		n.at = max(len(n.shown)-1, 0)
	}
	if n.moved != nil && n.at < len(n.shown) {
		n.moved(m, n.shown[n.at])
	}
	return nil
}

// chooseItem carries out the item under the cursor. The menu is closed first: what the item does
// may open another one.
func (m *model) chooseItem(now time.Time) tea.Cmd {
	n := m.over.menu
	if n.at >= len(n.shown) {
		return nil
	}
	i := n.shown[n.at]
	if !n.stays {
		m.over = nil
	}
	cmd := i.do(m, now)
	// What was chosen has changed the items: a column is hidden now.
	if n.stays && n.fresh != nil {
		n.all = n.fresh(m)
		n.shown = n.all
	}
	return cmd
}

// mostItems is how many items of a menu are shown at once; it scrolls to the others.
const mostItems = 20

// menuPanel draws the menu in at most h rows. One that is narrowed by what is typed keeps its
// height: losing rows with each letter, it would move under the eyes of who types.
func (m *model) menuPanel(h int) (p sheet) {
	n, th := m.over.menu, m.theme.Raised()
	w := m.overWidth(n.width())
	inner, head := w-2*part.PanelPad, 0
	var rows []string
	if n.typing {
		input, _ := n.input.View(th, inner)
		rows = append(rows, input, part.NewLine(th, inner).Gap(1).Cells(part.As(themes.Err, n.wrong)).String())
		p.input, head = &n.input, len(rows)
	}
	// By all items, and not by those that fit: the panel keeps its height.
	room := max(min(len(n.all), mostItems, h-2-head), 1)
	// The cursor is always among the rows that are drawn.
	n.top = min(max(n.top, n.at-room+1), n.at)
	n.top = max(min(n.top, len(n.shown)-room), 0)
	name := nameWidth(n.shown, inner)
	for i := n.top; i < len(n.shown) && len(rows) < room+head; i++ {
		rows = append(rows, m.itemRow(n.shown[i], inner, name, i == n.at))
	}
	if len(n.shown) == 0 {
		rows = append(rows, part.Row(th, inner, part.As(themes.Dim, " "+n.bare())))
	}
	s := part.Section{Title: n.title, Note: n.note, Rows: rows, Height: room + head}
	if len(n.shown) > room {
		s.Tail = strconv.Itoa(n.at+1) + " of " + strconv.Itoa(len(n.shown))
	}
	// A click chooses at once, as the item under it is what is meant.
	s.Click = func(_, y int) string {
		at := n.top + y - head
		if y < head || at >= len(n.shown) {
			return ""
		}
		n.at = at
		return string(keys.Choose)
	}
	p.rows, p.inputAt = part.Panel(th, w, h, &p.hits, s)
	p.inputAt++
	return p
}

// How wide a menu is that is typed into or that shows what its items look like, and how wide any
// other is at least.
const (
	wideMenu   = 84
	narrowMenu = 44
)

// width is how wide the menu wants to be. It is no wider than it needs: the page beside it shows
// what is chosen.
func (n *menu) width() int {
	w := narrowMenu
	for _, i := range n.all {
		if n.typing || i.show != "" {
			return wideMenu
		}
		w = max(w, safe.Width(i.sign+i.name+i.what+i.key)+2*part.PanelPad+8)
	}
	return min(w, wideMenu)
}

// bare is what a menu says when no line fits. A verb with its argument is not in the list, and can
// be run all the same.
func (n *menu) bare() string {
	if at, arg := verbIn(n.input.Value()); at >= 0 && arg != "" {
		return "enter runs it: " + verbs[at].name + " " + verbs[at].ghost
	}
	return "nothing fits: backspace, or esc closes"
}

// overWidth is how wide a box over the page is that wants w cells. Where next to nothing of the
// page would be left beside it, it takes the whole width.
func (m *model) overWidth(w int) int { return human.Either(m.w <= w+8, m.w, w) }

// nameWidth is how wide the names of a menu are drawn.
func nameWidth(items []item, w int) int {
	longest := 0
	for _, i := range items {
		longest = max(longest, safe.Width(safe.Text(i.name)))
	}
	return max(min(longest, 34, w/2-4), 8)
}

// itemRow is one line: sign, name, what it is, and at the right end its key or its swatch.
func (m *model) itemRow(i item, w, nameWidth int, at bool) string {
	// On a narrow screen the swatch gives way to the name.
	if i.show != "" && w > 3*themes.SwatchWidth {
		w -= themes.SwatchWidth + 1
	} else {
		i.show = ""
	}
	l := part.NewLine(m.theme.Raised(), w)
	l.Reset(w, at)
	if at {
		l.Glyph(themes.Focus, m.theme.Glyphs.Cursor, 1)
	}
	l.To(1)
	name, key := themes.Text, themes.Accent
	if i.off {
		name, key = themes.Off, themes.Off
	}
	if i.sign != "" {
		l.Cells(part.As(themes.Accent, i.sign)).Gap(1)
	}
	l.Field(part.As(name, i.name), nameWidth, part.Words).Gap(2)
	what := max(l.Room()-safe.Width(i.key)-3, 0)
	l.Field(part.As(themes.Dim, i.what), what, part.Words)
	return l.Right(part.As(key, i.key), part.Plain(" ")).String() + human.If(i.show != "", i.show+m.theme.Raised().Close()+" ")
}

// openSort lets the operator choose the column that the list is sorted by.
func (m *model) openSort(time.Time) tea.Cmd {
	l, ok := m.page().(lists.Lister)
	if !ok {
		return nil
	}
	n := &menu{title: "SORT BY"}
	for i, c := range l.Columns() {
		if !c.Sortable {
			continue
		}
		it := item{name: c.Name, do: func(*model, time.Time) tea.Cmd { l.SortBy(i); return nil }}
		// The menu opens on the column in force, so that enter alone turns the order.
		if c.Sorted {
			it.what = "chosen now; again turns the order"
			n.at = len(n.all)
		}
		n.all = append(n.all, it)
	}
	m.openMenu(n)
	return nil
}

// openColumns lets the operator choose the columns of the list.
func (m *model) openColumns(time.Time) tea.Cmd {
	l, ok := m.page().(lists.Lister)
	if !ok {
		return nil
	}
	n := &menu{title: "COLUMNS", note: "of " + m.page().Screen().String(), stays: true, fresh: func(m *model) []item { return m.columnItems(l) }}
	n.all = m.columnItems(l)
	m.openMenu(n)
	return nil
}

// columnItems are the columns of a list, each with whether it is shown.
func (m *model) columnItems(l lists.Lister) []item {
	var out []item
	for i, c := range l.Columns() {
		it := item{name: c.Name, sign: m.theme.State("OK").Glyph, off: c.Pinned, do: func(*model, time.Time) tea.Cmd { l.ToggleColumn(i); return nil }}
		switch {
		case c.Pinned:
			it.what = "always shown"
		case c.Hidden:
			it.sign, it.what = m.theme.Glyphs.BarNone, "hidden"
		}
		out = append(out, it)
	}
	return out
}

// openThemes lets the operator choose a theme, and shows each as the cursor comes to it. Leaving
// the menu without a choice puts the look back that was there before.
func (m *model) openThemes(time.Time) tea.Cmd {
	// The user has said so for all programs, which counts more than a menu.
	if m.opt.Env("NO_COLOR") != "" {
		return m.showMessage("NO_COLOR is set: there is only the theme without colour")
	}
	before := m.picked
	n := &menu{title: "THEME", moved: func(m *model, i item) { m.useTheme(i.name) }, close: func(m *model) { m.useTheme(before) }}
	for _, name := range m.themeNames() {
		if name == m.theme.Name {
			n.at = len(n.all)
		}
		n.all = append(n.all, item{name: name, what: m.themeWord(name), show: m.swatch(name), do: func(m *model, _ time.Time) tea.Cmd { m.chooseTheme(name); return nil }})
	}
	m.openMenu(n)
	return nil
}

// themeNames are all themes, the user's own among them.
func (m *model) themeNames() []string {
	return append([]string{"auto"}, themes.Names(m.opt.Mine.Themes...)...)
}

// themeWord says what a theme is for, or what its colours cannot do.
func (m *model) themeWord(name string) string {
	word, builtIn := themeWords[name]
	if !builtIn {
		word = "your own"
	}
	if p, ok := m.themeOptions().Palette(name); ok && p.Short() != "" {
		return word + "; " + p.Short()
	}
	return word
}

// swatch shows a theme's colours on its own ground.
func (m *model) swatch(name string) string {
	if p, ok := m.themeOptions().Palette(name); ok {
		return themes.New(p, m.theme.Profile, true, m.theme.Glyphs).Swatch()
	}
	return ""
}

// chooseTheme shows a theme from now on, and at the next start too.
func (m *model) chooseTheme(name string) {
	m.useTheme(name)
	m.kept.Theme = name
}

// themeWords say what each built-in theme is for.
var themeWords = map[string]string{
	"auto": "what the terminal's background asks for", "dark": "on a dark ground", "light": "on a light ground",
	"cb-dark": "dark, for any colour vision", "cb-light": "light, for any colour vision",
	"hc-dark": "dark, most contrast", "hc-light": "light, most contrast", "mono": "bold, underline, reverse",
	"solarized-dark": "on blue green", "solarized-light": "on cream",
	"catppuccin": "mocha", "gruvbox": "dark and warm", "nord": "dark and cool", "tokyo-night": "night", "dracula": "dark", "rose-pine": "main",
}

// useTheme shows a theme until another is chosen; "" = the one that the options name.
func (m *model) useTheme(name string) {
	m.picked = name
	m.choose()
}

// rankItems are the items that typed letters fit, the best first. Items that fit equally well keep
// their order, which is that of the keys on the screen.
func rankItems(all []item, text string) []item {
	text = strings.ToLower(strings.TrimSpace(text))
	if text == "" {
		return all
	}
	type scored struct {
		item
		score int
	}
	var fit []scored
	for _, i := range all {
		if s := fuzzy(strings.ToLower(i.name+" "+i.words), text); s > 0 {
			fit = append(fit, scored{i, s})
		}
	}
	slices.SortStableFunc(fit, func(a, b scored) int { return b.score - a.score })
	out := make([]item, len(fit))
	for i := range fit {
		out[i] = fit[i].item
	}
	return out
}
