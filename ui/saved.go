package ui

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/regular"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/ui/keys"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// savedVersion numbers the form of the file. A file of a later one is left alone.
const savedVersion = 1

// largestSaved bounds what is read of the file.
const largestSaved = 1 << 20

// saved is what a console remembers for its user from one start to the next.
type saved struct {
	Version int                          `json:"version"`
	Theme   string                       `json:"theme,omitempty"`
	Lists   map[string]page.ListState    `json:"lists,omitempty"`   // by screen
	Filters map[string]map[string]string `json:"filters,omitempty"` // by screen and name
	History []string                     `json:"history,omitempty"` // lines of the palette, oldest first
}

// stateFile is where it is kept. A file that could not be read is never written:
// it may be another version's, or mended by hand.
type stateFile struct {
	path string

	mu      sync.Mutex
	pending *saved // to be written; nil = nothing
	base    saved  // what this console has written, or read: what it changes since is its own
	locked  bool   // it could not be read
}

// load reads the file. One that is not there gives the defaults; one that cannot
// be used gives them too, with a sentence.
func (f *stateFile) load() (saved, error) {
	if f.path == "" {
		return saved{Version: savedVersion}, nil
	}
	s, err := readSaved(f.path)
	if err != nil {
		f.locked = true
		return saved{Version: savedVersion}, fmt.Errorf("what the console remembers cannot be read, so it begins afresh and saves nothing: %s: %w (move the file away to begin anew)", f.path, err)
	}
	s.Version = savedVersion
	f.base = s.clone()
	return s, nil
}

func errNewer(version int) error {
	return fmt.Errorf("it was written by a newer farsight (version %d)", version)
}

// clone shares nothing that is changed later.
func (s saved) clone() saved {
	s.Lists, s.History = maps.Clone(s.Lists), slices.Clone(s.History)
	s.Filters = maps.Clone(s.Filters) // the maps in it are replaced, never changed
	return s
}

// same reports whether two are as good as each other.
func (s saved) same(other saved) bool {
	return s.Theme == other.Theme && slices.Equal(s.History, other.History) && maps.EqualFunc(s.Lists, other.Lists, page.ListState.Equal) &&
		maps.EqualFunc(s.Filters, other.Filters, maps.Equal[map[string]string, map[string]string])
}

func readSmall(path string, most int64) ([]byte, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > most {
		return nil, fmt.Errorf("it is not a file of at most %s", human.Bytes(most))
	}
	return os.ReadFile(path)
}

// put makes s what the file shall hold; false when it does already.
func (f *stateFile) put(s saved) bool {
	if f.path == "" || f.locked {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.base
	if f.pending != nil {
		now = *f.pending
	}
	if s.same(now) {
		return false
	}
	s = s.clone()
	f.pending = &s
	return true
}

// flush writes what is to be written, whole or not at all, with what other consoles of
// the user have written meanwhile.
func (f *stateFile) flush() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pending == nil {
		return nil
	}
	mine := *f.pending
	f.pending = nil
	err := alone(f.path, func() error {
		theirs, err := readSaved(f.path)
		if err != nil { // somebody works on it by hand, or a newer version wrote it
			return err
		}
		text, err := json.MarshalIndent(merge(f.base, mine, theirs), "", "  ")
		if err != nil {
			return err
		}
		return regular.Replace(f.path, append(text, '\n'))
	})
	if err != nil {
		return fmt.Errorf("what the console remembers was not saved: %w", err)
	}
	f.base = mine
	return nil
}

// unsaved is what kept the file from being written.
type unsaved struct{ err error }

// remembers are the screens whose lists are saved, by the name in the file.
func (m *Model) remembers() map[string]page.Keeper {
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
func (m *Model) restore(s saved) {
	m.kept = s
	for name, k := range m.remembers() {
		if state, ok := s.Lists[name]; ok {
			k.Restore(state)
		}
	}
	m.past = slices.Clone(s.History[max(len(s.History)-keptLines, 0):])
}

// save writes what is remembered if it has changed.
func (m *Model) save() tea.Cmd {
	if m.opt.Mine.file == nil {
		return nil
	}
	s := m.kept
	s.Version, s.Lists, s.History = savedVersion, maps.Clone(m.kept.Lists), m.past
	if s.Lists == nil {
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
	if !file.put(s) {
		return nil
	}
	return func() tea.Msg {
		if err := file.flush(); err != nil {
			return unsaved{err}
		}
		return nil
	}
}

// longestName bounds the name of a filter.
const longestName = 32

// askSave saves the filter of the page under a name.
func (m *Model) askSave(time.Time) tea.Cmd {
	f, ok := m.page().(page.Filterer)
	if !ok || f.Filter() == "" {
		m.say(m.keyed("there is no filter to save here: {filter} sets one"))
		return nil
	}
	text, screen := f.Filter(), keys.Section(m.page().Screen())
	p := &prompt{Prompt: part.Prompt{Label: "save /" + text + " as", Ghost: m.keyed("a short name: {:f} NAME loads it")}}
	p.done = func(name string) (tea.Cmd, string) {
		name = strings.TrimSpace(name)
		if name == "" || len(name) > longestName || strings.ContainsAny(name, " \t") {
			return nil, fmt.Sprintf("give it a name of at most %d letters, without spaces", longestName)
		}
		m.keepFilter(screen, name, text)
		m.toasts.add(engine.Note{Level: engine.LevelOK, Text: m.keyed("saved: {:f} ") + name + " shows /" + text}, m.now())
		return nil, ""
	}
	m.prompt = p
	return nil
}

// keepFilter changes the saved filters of a screen; an empty text removes one.
func (m *Model) keepFilter(screen, name, text string) {
	all := maps.Clone(m.kept.Filters)
	if all == nil {
		all = map[string]map[string]string{}
	}
	own := maps.Clone(all[screen])
	if own == nil {
		own = map[string]string{}
	}
	own[name] = text
	if text == "" {
		delete(own, name)
	}
	all[screen] = own
	if len(own) == 0 {
		delete(all, screen)
	}
	m.kept.Filters = all
}

// loadFilter is `:f name`; `:f -name` forgets one.
func (m *Model) loadFilter(arg string, _ time.Time) (tea.Cmd, string) {
	screen := m.page().Screen()
	own := m.kept.Filters[keys.Section(screen)]
	if name, forget := strings.CutPrefix(arg, "-"); forget {
		if _, ok := own[name]; !ok {
			return nil, m.noFilter(screen, name)
		}
		m.keepFilter(keys.Section(screen), name, "")
		m.say("forgot the filter " + safe.Text(name))
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
	if err := f.SetFilter(text); err != nil {
		return nil, "the saved filter " + arg + " is wrong: " + err.Error()
	}
	return nil, ""
}

func (m *Model) noFilter(screen page.Screen, name string) string {
	names := slices.Sorted(maps.Keys(m.kept.Filters[keys.Section(screen)]))
	if len(names) == 0 {
		return "no filter is saved for " + screen.String() + m.keyed(": {save filter} saves the one in force")
	}
	return "no filter of " + screen.String() + " is called " + name + ": " + strings.Join(names, ", ")
}

// filterItems are the saved filters of the screen, for the palette.
func (m *Model) filterItems() []item {
	own := m.kept.Filters[keys.Section(m.page().Screen())]
	var out []item
	for _, name := range slices.Sorted(maps.Keys(own)) {
		out = append(out, item{name: "f " + name, what: "filter /" + own[name], do: func(m *Model, now time.Time) tea.Cmd {
			_, wrong := m.loadFilter(name, now)
			if wrong != "" {
				m.say(wrong)
			}
			return nil
		}})
	}
	return out
}
