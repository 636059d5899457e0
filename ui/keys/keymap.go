package keys

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// Map is the table of keys, as built in or as the user's file changes it.
// Dispatch, hint line, help and palette read it.
type Map struct {
	List []Binding
	Own  map[page.Action]Command // commands of the user's own

	at map[Context]map[string]*Binding // by screen or overlay, then by key
}

// Builtin are the keys as they come. It is not to be changed: all consoles of a process share it.
var Builtin = New(bindings)

// New makes a table of bindings; of two for one key on one screen the last holds. Nothing is checked:
// a file's bindings are by Check.
func New(list []Binding) *Map {
	m := &Map{List: list, at: map[Context]map[string]*Binding{}}
	for at := onOverview; at <= InMenu; at <<= 1 {
		m.at[at] = map[string]*Binding{}
		for i := range list {
			if list[i].In&at == 0 {
				continue
			}
			for _, k := range list[i].Keys {
				m.at[at][k] = &list[i]
			}
		}
	}
	return m
}

// Meaning is what a key does in a context, which is one screen or one overlay; false = nothing.
func (m *Map) Meaning(at Context, key string) (page.Action, bool) {
	b, ok := m.at[at][key]
	if !ok {
		return "", false
	}
	return b.Act, true
}

// First is the key of an action in a context, or in the first of several, as Bubble Tea names it;
// "" = it has none.
func (m *Map) First(at Context, act page.Action) string {
	for i := range m.List {
		if b := &m.List[i]; b.In&at != 0 && b.Act == act {
			return b.Keys[0]
		}
	}
	return ""
}

// Hints are the keys of a context that the hint line shows; off says which of
// them cannot act now. They stay there, dimmed: a line whose keys come and go cannot be learnt. Those for
// the help and the way out are kept where there is little room. does says what one that can does here and now; "" = as always.
func (m *Map) Hints(at Context, off func(page.Action) bool, does func(page.Action) string) []part.Hint {
	var out []part.Hint
	for i := range m.List {
		b := &m.List[i]
		if b.In&at == 0 || b.Hint == "" {
			continue
		}
		h := part.Hint{
			Key: b.Keys[0], Does: b.Hint, Off: off(b.Act), Keep: b.Act == Help || b.Act == Quit,
			Click: func(int, int) string { return string(b.Act) },
		}
		if !h.Off {
			h.Does = cmp.Or(does(b.Act), h.Does)
		}
		out = append(out, h)
	}
	return out
}

// Groups are all keys of a context, for the help screen; off says which of them cannot act now.
func (m *Map) Groups(at Context, off func(page.Action) bool) []part.Group {
	var out []part.Group
	for _, name := range []string{groupAct, GroupMove, groupView, groupApp} {
		g := part.Group{Name: name}
		for i := range m.List {
			if b := &m.List[i]; b.In&at != 0 && b.Group == name {
				also := string(b.Act) + " " + b.Hint
				g.Hints = append(g.Hints, part.Hint{Key: Shown(b.Keys), Does: b.Help, Also: also, Off: off(b.Act)})
			}
		}
		out = append(out, g)
	}
	return out
}

// Named is the key of an action that is called as a keys file calls it, on a screen or,
// if it has none there, on any; {jobs/pause} names another screen. {:name} is a command
// as it is typed: the key of the palette and the name.
func (k *Map) Named(at Context, name string) string {
	if command, ok := strings.CutPrefix(name, ":"); ok {
		key := k.First(OnPages, Palette)
		if utf8.RuneCountInString(key) > 1 {
			key += " "
		}
		return key + command
	}
	if screen, action, ok := strings.Cut(name, "/"); ok {
		at, _ = sectionOf(screen) // none of that name: the action's key on any screen
		name = action
	}
	// On its own screen first; an action that is not there has its key on another one.
	for _, in := range []Context{at, OnPages} {
		for i := range k.List {
			if b := &k.List[i]; b.In&in != 0 && spoken(actionName(b.Act)) == name {
				return Shown(b.Keys[:1])
			}
		}
	}
	return name
}
