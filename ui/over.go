package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// overlay is what lies over the page: a question, the keys, or a menu.
type overlay struct {
	dialog *part.Dialog
	yes    func() tea.Cmd
	exit   bool // ctrl+c means yes: it was asked for twice

	menu *menu

	top int // first line shown, of the help
}

func helpOver() *overlay { return &overlay{} }

func confirmOver(c page.Confirm, yes func() tea.Cmd) *overlay {
	return &overlay{dialog: &part.Dialog{Title: c.Question, Body: c.Lines, Yes: "y " + c.Yes, No: "n no"}, yes: yes}
}

func (o *overlay) context() where {
	switch {
	case o.dialog != nil:
		return inDialog
	case o.menu != nil:
		return inMenu
	}
	return inHelp
}

// overAct carries out a key while something lies over the page.
func (m *Model) overAct(a page.Action, now time.Time) tea.Cmd {
	o := m.over
	if o.menu != nil && a != actExit {
		return m.menuAct(a, now)
	}
	switch a {
	case actYes:
		return m.agree()
	case actChoose:
		if o.dialog.OnYes {
			return m.agree()
		}
		m.over = nil
	case actSwitch:
		o.dialog.OnYes = !o.dialog.OnYes
	case actNo, actClose:
		m.over = nil
	case actExit:
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

func (m *Model) agree() tea.Cmd {
	yes := m.over.yes
	m.over = nil
	return yes()
}

// drawOver lays the overlay over the body, whose first row is the screen's row
// top.
func (m *Model) drawOver(v *page.View, body []string, top int) []string {
	var box []string
	switch {
	case m.over.dialog != nil:
		box = m.over.dialog.View(m.theme, m.w-4, len(body))
	case m.over.menu != nil:
		box = m.menuBox(v, len(body))
	default:
		box = m.helpBox(v, len(body))
	}
	m.restOver(top, len(body), box)
	return part.Overlay(m.theme, m.w, len(body), body, box)
}

// restOver puts the terminal's cursor in what lies over the page: where text is
// typed, else on the chosen line.
func (m *Model) restOver(top, h int, box []string) {
	if m.over.menu == nil || len(box) == 0 {
		return
	}
	left, y := (m.w-m.menuWidth())/2, top+max((h-len(box))/2, 0)
	if !m.over.menu.typing {
		m.rest(left, y, box)
		return
	}
	_, x := m.over.menu.input.View(m.theme, m.menuWidth()-2)
	m.putCursor(left+1+x, y+1)
}

// notice is what Riot asks every product to show where users can see it.
// Source: Riot Games developer portal, General Policies.
const notice = "Farsight is not endorsed by Riot Games and does not reflect the views or opinions of Riot Games or anyone officially involved in " +
	"producing or managing Riot Games properties. Riot Games and all associated properties are trademarks or registered trademarks of Riot Games, Inc."

// helpBox lists the keys of the screen, those that cannot act now dimmed, and
// Riot's notice.
func (m *Model) helpBox(v *page.View, h int) []string {
	columns := min(max((m.w-2)/part.HelpColumn, 1), 3)
	w := min(m.w, columns*part.HelpColumn+2)
	legal := part.Wrap(notice, w-4)
	groups := m.keys.groups(contextOf(m.page().Screen()), func(a page.Action) bool { return m.cannot(v, a) != "" })
	lines := part.HelpLines(groups)
	inner := min((lines+columns-1)/columns+1, h-len(legal)-3)
	if inner < 1 {
		inner = max(h-2, 0)
		legal = nil
	}
	m.over.top = min(m.over.top, max(lines-columns*inner, 0))
	rows := make([]string, 0, len(legal))
	for _, line := range legal {
		rows = append(rows, part.Row(m.theme, w-2, part.As(themes.Dim, " "+line)))
	}
	name := "Keys of " + m.page().Screen().String()
	panels := []part.Panel{{Title: name, Tail: "esc closes", Focus: true, Rows: part.Help(m.theme, w-2, inner, groups, m.over.top), Height: inner}}
	if len(legal) > 0 {
		panels = append(panels, part.Panel{Title: m.product(), Rows: rows, Height: len(legal)})
	}
	height := inner + 2
	if len(legal) > 0 {
		height += len(legal) + 1
	}
	return part.Box(m.theme, w, min(height, h), panels...)
}

func (m *Model) product() string {
	if m.opt.Version == "" {
		return "Farsight"
	}
	return "Farsight " + m.opt.Version
}
