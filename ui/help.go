package ui

import (
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

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

// notice is what Riot asks every product to show where users can see it.
// Source: Riot Games developer portal, General Policies.
const notice = "Farsight is not endorsed by Riot Games and does not reflect the views or opinions of Riot Games or anyone officially involved in " +
	"producing or managing Riot Games properties. Riot Games and all associated properties are trademarks or registered trademarks of Riot Games, Inc."

// leastHelp is how many rows of keys the notice has to leave.
const leastHelp = 8

// helpPanel lists the keys of the screen that fit what was typed, those that cannot
// act now dimmed, the words that stand on it, and Riot's notice.
func (m *Model) helpPanel(h int) (p sheet) {
	th, o := m.theme.Raised(), m.over
	w := m.overWidth(3*part.HelpColumn + 2*part.PanelPad)
	inner := w - 2*part.PanelPad
	legal := part.Wrap(notice, inner-2)
	all := m.helpRows(th, inner, "")
	// The panel keeps its height while it is searched: nothing jumps under the eye.
	room := min(len(all), h-len(legal)-6)
	if room < leastHelp {
		room, legal = min(len(all), h-2), nil
	}
	room = max(room, 1)
	rows := all
	if text := o.find.Value(); strings.TrimSpace(text) != "" {
		rows = m.helpRows(th, inner, text)
	}
	o.top = max(min(o.top, len(rows)-room), 0)
	list := part.Section{Title: "KEYS", Note: "of " + m.page().Screen().String(), Height: room + 1}
	if below := len(rows) - o.top - room; below > 0 {
		list.Tail = strconv.Itoa(below) + " more"
	}
	find, _ := o.find.View(th, inner)
	list.Rows = append([]string{find}, rows[o.top:min(o.top+room, len(rows))]...)
	sections := []part.Section{list}
	if len(legal) > 0 {
		small := make([]string, 0, len(legal))
		for _, line := range legal {
			small = append(small, part.Row(th, inner, part.As(themes.Dim, " "+line)))
		}
		sections = append(sections, part.Section{Title: "FARSIGHT", Note: m.opt.Version, Rows: small, Height: len(legal)})
	}
	p.input = o.find
	p.rows, p.inputAt = part.Panel(th, w, h, &p.hits, sections...)
	p.inputAt++
	return p
}

// helpRows are the keys and words of the screen that fit a text.
func (m *Model) helpRows(th *themes.Theme, w int, text string) []string {
	s := m.page().Screen()
	groups := fitting(m.keys.Groups(keys.On(s), func(a page.Action) bool { return m.cannot(m.view(m.now()), a) != "" }), text)
	rows := []string{""}
	if len(groups) > 0 {
		rows = append(rows, part.Help(th, w, groups)...)
	}
	if words := fitting([]part.Group{wordsOf(s)}, text); len(words) > 0 && len(words[0].Hints) > 0 {
		rows = append(append(rows, ""), part.Terms(th, w, words[0])...)
	} else if len(groups) == 0 {
		rows = append(rows, part.Row(th, w, part.As(themes.Dim, m.keyed(" no key of this screen fits: {palette} looks through all commands"))))
	}
	return rows
}

// wordsOf are the words of a screen as the help shows them.
func wordsOf(s page.Screen) part.Group {
	g := part.Group{Name: "Words"}
	names, means := page.Words(s)
	for i := range names {
		g.Hints = append(g.Hints, part.Hint{Key: names[i], Does: means[i]})
	}
	return g
}
