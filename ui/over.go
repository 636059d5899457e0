package ui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/ui/keys"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// overlay is what lies over the page: a question, the keys, or a menu.
type overlay struct {
	dialog *part.Dialog
	yes    func() tea.Cmd
	exit   bool // ctrl+c means yes: it was asked for twice

	menu *menu

	find *part.Prompt // what is looked for, in the help
	top  int          // first line shown, of the help
}

func confirmOver(c page.Confirm, yes func() tea.Cmd) *overlay {
	d := &part.Dialog{Title: c.Question, Body: c.Lines, Yes: "y " + c.Yes, No: "n no"}
	if c.Word != "" {
		d.Word, d.Input, d.Yes, d.No = c.Word, &part.Prompt{}, "enter "+c.Yes, "esc no"
	}
	return &overlay{dialog: d, yes: yes}
}

// word is what must be typed to agree; "" = nothing.
func (o *overlay) word() string {
	if o.dialog == nil {
		return ""
	}
	return o.dialog.Word
}

// wordKey takes a key while a word must be typed: no other key agrees by accident.
func (m *Model) wordKey(k tea.Key) tea.Cmd {
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
func (m *Model) agreeInWord() tea.Cmd {
	d := m.over.dialog
	if d.Input.Value() == d.Word {
		return m.agree()
	}
	m.say("nothing was done: type the word that is shown, or leave by esc")
	return nil
}

func (o *overlay) context() keys.Context {
	switch {
	case o.dialog != nil:
		return keys.InDialog
	case o.menu != nil:
		return keys.InMenu
	}
	return keys.InHelp
}

// overAct carries out a key while something lies over the page.
func (m *Model) overAct(a page.Action, now time.Time) tea.Cmd {
	o := m.over
	if o.menu != nil && a != keys.Exit {
		return m.menuAct(a, now)
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

func (m *Model) agree() tea.Cmd {
	yes := m.over.yes
	m.over = nil
	return yes()
}

// drawOver lays the overlay over the body, whose first row is the screen's row
// top.
func (m *Model) drawOver(v *page.View, body []string, top int) []string {
	var laid []string
	switch {
	case m.over.dialog != nil:
		laid = m.asked().View(m.theme, m.w-4, len(body))
	case m.over.menu != nil:
		laid = m.menuBox(v, len(body))
	default:
		laid = m.helpBox(v, len(body))
	}
	m.restOver(top, len(body), laid)
	m.laid = place(top, len(body), m.w, laid)
	if m.over.dims() {
		body = part.Dimmed(m.theme, m.w, body)
	}
	return part.Overlay(m.theme, m.w, len(body), body, laid)
}

// dims reports whether the page below steps back while this is looked at. Below a
// menu that shows at once what is chosen, of columns or colours, it does not.
func (o *overlay) dims() bool {
	return o.menu == nil || !o.menu.stays && o.menu.moved == nil
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

// asked is the question with the reason that the answer will carry.
func (m *Model) asked() part.Dialog {
	d := *m.over.dialog
	if text := m.armed(); text != "" && !m.over.exit {
		d.Body = append(slices.Clone(d.Body), "Reason: "+text)
	}
	return d
}

// restOver puts the terminal's cursor in what lies over the page: where text is
// typed, else on the chosen line.
func (m *Model) restOver(top, h int, box []string) {
	if m.over.find != nil && len(box) > 0 {
		m.restInHelp(top, h, box)
		return
	}
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
