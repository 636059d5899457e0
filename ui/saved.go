package ui

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/ui/keys"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
	"github.com/farsight-console/farsight/ui/saved"
)

// unsaved is why the file could not be written. The console goes on, and says so.
type unsaved struct{ err error }

// remembers are the screens whose lists are saved, by the name in the file.
func (m *model) remembers() map[string]page.Keeper {
	out := map[string]page.Keeper{}
	for s, p := range m.tabs {
		if k, ok := p.(page.Keeper); ok {
			out[keys.Section(s)] = k
		}
	}
	return out
}

// restore gives the screens what was saved of them. What does not fit any more,
// such as a column that has gone, is left out.
func (m *model) restore(s saved.State) {
	m.kept = s
	for name, k := range m.remembers() {
		if state, ok := s.Lists[name]; ok {
			k.Restore(state)
		}
	}
}

// save writes what is remembered, if it has changed. A list that is as it is made has no place in
// the file, so that it follows when a later version makes it otherwise.
func (m *model) save() tea.Cmd {
	if m.opt.Mine.file == nil {
		return nil
	}
	s := m.kept
	if s.Lists = maps.Clone(s.Lists); s.Lists == nil {
		s.Lists = map[string]page.ListState{}
	}
	for name, k := range m.remembers() {
		if state := k.State(); !state.Plain() {
			s.Lists[name] = state
		} else {
			delete(s.Lists, name)
		}
	}
	file := m.opt.Mine.file
	// Nothing has changed since it was last written.
	if !file.Put(s) {
		return nil
	}
	return func() tea.Msg {
		if err := file.Flush(); err != nil {
			return unsaved{err}
		}
		return nil
	}
}

// longestName is how long the name of a saved filter may be, in bytes.
const longestName = 32

// askSave saves the filter of the page under a name.
func (m *model) askSave(time.Time) tea.Cmd {
	f, ok := m.page().(page.Filterer)
	if !ok || f.Filter() == "" {
		return m.showMessage(m.keyed("there is no filter to save here: {filter} sets one"))
	}
	text, screen := f.Filter(), keys.Section(m.page().Screen())
	line := part.Prompt{Label: "save /" + text + " as", Ghost: m.keyed("a short name: {:f} NAME loads it")}
	m.openPrompt(line, "", func(name string) (tea.Cmd, string) {
		name = strings.TrimSpace(name)
		if name == "" || len(name) > longestName || strings.ContainsAny(name, " \t") {
			return nil, fmt.Sprintf("give it a name of at most %d letters, without spaces", longestName)
		}
		m.kept.KeepFilter(screen, name, text)
		m.toasts.add(engine.Note{Level: engine.LevelOK, Text: m.keyed("saved: {:f} ") + name + " shows /" + text}, m.now())
		return nil, ""
	})
	return nil
}

// loadFilter is `:f name`; `:f -name` forgets one.
func (m *model) loadFilter(arg string, _ time.Time) (tea.Cmd, string) {
	screen := m.page().Screen()
	own := m.kept.Filters[keys.Section(screen)]
	if name, forget := strings.CutPrefix(arg, "-"); forget {
		if _, ok := own[name]; !ok {
			return nil, m.noFilter(screen, name)
		}
		m.kept.KeepFilter(keys.Section(screen), name, "")
		m.showMessage("forgot the filter " + safe.Text(name))
		return nil, ""
	}
	text, ok := own[arg]
	if !ok {
		return nil, m.noFilter(screen, arg)
	}
	f, ok := m.page().(page.Filterer)
	if !ok {
		return nil, screen.String() + " takes no filter"
	}
	// A filter that an older version saved may name a column that has gone.
	if err := f.SetFilter(text); err != nil {
		return nil, "the saved filter " + arg + " is wrong: " + err.Error()
	}
	return nil, ""
}

// noFilter says that a screen has no saved filter of a name, and which ones it has.
func (m *model) noFilter(screen page.Screen, name string) string {
	names := slices.Sorted(maps.Keys(m.kept.Filters[keys.Section(screen)]))
	if len(names) == 0 {
		return "no filter is saved for " + screen.String() + m.keyed(": {save filter} saves the one in force")
	}
	return "no filter of " + screen.String() + " is called " + name + ": " + strings.Join(names, ", ")
}

// filterItems are the saved filters of the screen, for the palette.
func (m *model) filterItems() []item {
	own := m.kept.Filters[keys.Section(m.page().Screen())]
	var out []item
	for _, name := range slices.Sorted(maps.Keys(own)) {
		out = append(out, item{name: "f " + name, what: "filter /" + own[name], do: func(m *model, now time.Time) tea.Cmd {
			_, wrong := m.loadFilter(name, now)
			if wrong != "" {
				m.showMessage(wrong)
			}
			return nil
		}})
	}
	return out
}
