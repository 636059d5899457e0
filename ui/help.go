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

func helpOver() *overlay {
	return &overlay{find: &part.Prompt{Label: "find", Ghost: "type what you want to do, or a key"}}
}

// helpKey takes a key while the help is open: letters look for something in it. One
// that would open the help closes it, until something was typed.
func (m *Model) helpKey(k tea.Key, now time.Time) tea.Cmd {
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
	case ok:
		return m.overAct(act, now)
	case o.find.Edit(name):
		o.top = 0
	}
	return nil
}

func (m *Model) helpHints() []part.Hint {
	esc := part.Hint{Key: "esc", Does: "close"}
	if m.over.find.Value() != "" {
		esc.Does = "show all"
	}
	move := keys.Shown([]string{m.keys.First(keys.InHelp, page.Down), m.keys.First(keys.InHelp, page.Up)})
	return []part.Hint{{Key: "a-z", Does: "find a key by what it does"}, {Key: move, Does: "move"}, esc}
}

// fitting are the keys that fit what is looked for: by what they do, in every word
// of it, or by the key itself. Groups of which none fits are left out.
func fitting(groups []part.Group, text string) []part.Group {
	text = strings.TrimSpace(text)
	if text == "" {
		return groups
	}
	var out []part.Group
	for _, g := range groups {
		hints := slices.DeleteFunc(slices.Clone(g.Hints), func(h part.Hint) bool { return !fits(g.Name, h, text) })
		if len(hints) > 0 {
			out = append(out, part.Group{Name: g.Name, Hints: hints})
		}
	}
	return out
}

func fits(group string, h part.Hint, text string) bool {
	if slices.Contains(strings.Fields(h.Key), text) {
		return true
	}
	name := strings.ToLower(h.Does + " " + h.Also + " " + group)
	for _, word := range strings.Fields(strings.ToLower(text)) {
		if fuzzy(name, word) == 0 {
			return false
		}
	}
	return true
}

// restInHelp puts the terminal's cursor where the help's text is typed.
func (m *Model) restInHelp(top, h int, box []string) {
	at := place(top, h, m.w, box)
	_, x := m.over.find.View(m.theme, max(safe.Width(ansi.Strip(box[0]))-2, 1))
	m.putCursor(at.x+1+x, at.y+1)
}

// notice is what Riot asks every product to show where users can see it.
// Source: Riot Games developer portal, General Policies.
const notice = "Farsight is not endorsed by Riot Games and does not reflect the views or opinions of Riot Games or anyone officially involved in " +
	"producing or managing Riot Games properties. Riot Games and all associated properties are trademarks or registered trademarks of Riot Games, Inc."

// leastHelp is how many rows of keys the notice has to leave.
const leastHelp = 8

// helpBox lists the keys of the screen that fit what was typed, those that cannot
// act now dimmed, and Riot's notice.
func (m *Model) helpBox(v *page.View, h int) []string {
	columns := min(max((m.w-2)/part.HelpColumn, 1), 3)
	w := m.overWidth(columns*part.HelpColumn + 2)
	if columns == 1 {
		w = m.w
	}
	legal := part.Wrap(notice, w-4)
	all := m.keys.Groups(keys.On(m.page().Screen()), func(a page.Action) bool { return m.cannot(v, a) != "" })
	groups := fitting(all, m.over.find.Value())
	lines := part.HelpLines(groups)
	// The box keeps its height while it is searched: nothing jumps under the eye.
	inner := min((part.HelpLines(all)+columns-1)/columns+1, h-len(legal)-4)
	if inner < leastHelp {
		inner = max(h-3, 0)
		legal = nil
	}
	m.over.top = min(m.over.top, max(lines-columns*inner, 0))
	tail := "esc closes"
	switch below := lines - m.over.top - columns*inner; {
	case below > 0:
		tail = strconv.Itoa(below) + " more, " + keys.Shown([]string{m.keys.First(keys.InHelp, page.Down)}) + " goes down"
	case m.over.find.Value() != "":
		tail = m.keys.First(keys.InHelp, keys.Close) + " shows all"
	}
	find, _ := m.over.find.View(m.theme, w-2)
	rows := append([]string{find}, part.Help(m.theme, w-2, inner, groups, m.over.top)...)
	if len(groups) == 0 && inner > 0 {
		rows[1] = part.Row(m.theme, w-2, part.As(themes.Dim, m.keyed(" no key of this screen fits: {palette} looks through all commands")))
	}
	name := "Keys of " + m.page().Screen().String()
	panels := []part.Section{{Title: name, Tail: tail, Rows: rows, Height: inner + 1}}
	height := inner + 3
	if len(legal) > 0 {
		small := make([]string, 0, len(legal))
		for _, line := range legal {
			small = append(small, part.Row(m.theme, w-2, part.As(themes.Dim, " "+line)))
		}
		panels = append(panels, part.Section{Title: m.product(), Rows: small, Height: len(legal)})
		height += len(legal) + 1
	}
	return part.Over(m.theme, w, min(height, h), panels...)
}

func (m *Model) product() string {
	if m.opt.Version == "" {
		return "Farsight"
	}
	return "Farsight " + m.opt.Version
}
