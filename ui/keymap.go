package ui

import (
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// keymap is the table of keys, as built in or as the user's file changes it.
// Dispatch, hint line, help and palette read it.
type keymap struct {
	list []binding
	at   map[where]map[string]*binding
	own  map[page.Action]ownCommand // commands of the user's own
}

// builtin are the keys as they come.
var builtin = newKeymap(bindings)

func newKeymap(list []binding) *keymap {
	m := &keymap{list: list, at: map[where]map[string]*binding{}}
	for at := onOverview; at <= inMenu; at <<= 1 {
		m.at[at] = map[string]*binding{}
		for i := range list {
			if list[i].in&at == 0 {
				continue
			}
			for _, k := range list[i].keys {
				m.at[at][k] = &list[i]
			}
		}
	}
	return m
}

// meaning is what a key does in a context.
func (m *keymap) meaning(at where, key string) (page.Action, bool) {
	b, ok := m.at[at][key]
	if !ok {
		return "", false
	}
	return b.act, true
}

// first is the key of an action in a context, as it is shown; "" = it has none.
func (m *keymap) first(at where, act page.Action) string {
	for i := range m.list {
		if b := &m.list[i]; b.in&at != 0 && b.act == act {
			return b.keys[0]
		}
	}
	return ""
}

// hints are the keys of a context that the hint line shows; off says which of
// them cannot act now.
func (m *keymap) hints(at where, off func(page.Action) bool) []part.Hint {
	var out []part.Hint
	for i := range m.list {
		b := &m.list[i]
		if b.in&at == 0 || b.hint == "" {
			continue
		}
		out = append(out, part.Hint{
			Key: b.keys[0], Does: b.hint, Off: off(b.act), Keep: b.act == actHelp || b.act == actQuit,
			Click: func(int, int) string { return string(b.act) },
		})
	}
	return out
}

// groups are all keys of a context, for the help screen.
func (m *keymap) groups(at where, off func(page.Action) bool) []part.Group {
	var out []part.Group
	for _, name := range []string{groupAct, groupMove, groupView, groupApp} {
		g := part.Group{Name: name}
		for i := range m.list {
			if b := &m.list[i]; b.in&at != 0 && b.group == name {
				g.Hints = append(g.Hints, part.Hint{Key: shownKeys(b.keys), Does: b.help, Also: string(b.act) + " " + b.hint, Off: off(b.act)})
			}
		}
		out = append(out, g)
	}
	return out
}
